"""Train the judge: a cross-encoder of a claim and an excerpt of its passages, with three outcomes.

    python training/judge.py --pairs DIR --out RUN --epochs 1 --minutes 140      a session; the next adds --resume
    python training/judge.py --pairs DIR --out RUN --minutes 140                 a schedule by the clock
    python training/judge.py --pairs DIR --out RUN3 --epochs 1 --folds 5 --fold 3    one of five for cross-fitting

`DIR` is what `training/corpora.py` wrote. Natural claims that people only called "not supported" cost what their two
other outcomes together lack; all others cost their own outcome. At the end `RUN` holds the weights, the tokenizer, the
settings, and `scores.jsonl`: what the network says of every natural pair that was held out, for `training/stack.py`.
`training/README.md` says how long it takes and what to choose.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

import model as networks
import numpy as np
import pairs
import torch
from claims.pair import Family
from figures import auc, ece
from learning import Run, ask_quietly, options, plan, tensors, write_network
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from toulmin.judges.embedded import denial_of
from toulmin.judges.trained import OUTCOMES, Frame
from toulmin.runtime.network import Row, Tokens
from toulmin.runtime.shipped import RULE
from toulmin.runtime.windows import hypothesis
from toulmin.steps import Pair

ASKED_AT_ONCE = 32
MARKS = 0.5  # what a claim's marks cost beside its outcome


class Example(NamedTuple):
    """A pair as it is learnt; `wrong` are the places in the row of tokens that are not backed, None if not known."""

    row: Row
    label: int
    is_vague: bool
    wrong: frozenset[int] | None

    @property
    def rows(self) -> tuple[Row, ...]:
        return (self.row,)


class Verdicts:
    """The task: three outcomes a pair. At most `assessed` of the held pairs are looked at on the way.

    Only the first excerpt of the frame's is learnt from; held pairs are judged by all of them, as the judge will do it.
    """

    def __init__(self, parts: pairs.Parts, frame: Frame, drawing: pairs.Drawing, seed: int, assessed: int) -> None:
        self._first = Frame(frame.tokens)
        self.parts, self._frame, self._drawing, self._seed = parts, frame, drawing, seed
        natural = [entry for entry in parts.held if entry.family == "natural"]
        self._assessed = natural[:: max(1, len(natural) // assessed)][:assessed]

    def draw(self, epoch: int) -> list[int]:
        """Every training pair as often as it is to be drawn."""
        return pairs.epoch(self.parts.train, self._drawing, self._seed, epoch)

    def examples(self, places: Sequence[int]) -> list[Example]:
        """The pairs at these places of the training part."""
        return [self.example(self.parts.train[place]) for place in places]

    def example(self, entry: pairs.Entry) -> Example:
        """One pair, laid before the network as the judge will do it."""
        pair, wrong = pairs.texts(entry)
        row = self._first.views(pair)[0].row
        return Example(row, entry.label, entry.is_vague, None if wrong is None else self._places(pair, wrong, row))

    def _places(self, pair: Pair, wrong: Sequence[tuple[int, int]], row: Row) -> frozenset[int]:
        """The tokens of the row's first text that stand in these characters of the claim."""
        text = hypothesis(pair)
        before = len(text) - len(pair.claim)
        spans = self._frame.tokens.spans(text)[: row.second - 2]
        marked = [(start + before, end + before) for start, end in wrong]
        return frozenset(n for n, (start, end) in enumerate(spans, 1) if any(a < end and start < b for a, b in marked))

    def loss(self, model: Any, inputs: dict[str, Tensor], examples: Sequence[Example]) -> Tensor:
        """Cross entropy, of a vague pair that of "not supported"; and what the marks of the claim's tokens cost."""
        logits, marks = model.outcomes_and_marks(**inputs)
        outcome = costs(logits.float(), [each.label for each in examples], [each.is_vague for each in examples])
        return outcome.sum() + MARKS * costs_of_marks(marks.float(), examples).sum()

    def assess(self, model: networks.Network) -> dict[str, float]:
        """The mean of the sources' AUC, the cost and the calibration error on held natural pairs."""
        shares = np.array(self.shares(model, [pairs.pair(entry) for entry in self._assessed]))
        return figures(shares, self._assessed) if self._assessed else {}

    def shares(self, model: networks.Network, texts: Sequence[Pair]) -> list[list[float]]:
        """The shares of each pair's outcomes, by the excerpt that supports most."""
        seen = [(n, view.row) for n, pair in enumerate(texts) for view in self._frame.views(pair)]
        seen.sort(key=lambda view: len(view[1].ids))
        best: dict[int, list[float]] = {}
        device = next(model.parameters()).device
        for start in range(0, len(seen), ASKED_AT_ONCE):
            part = seen[start : start + ASKED_AT_ONCE]
            logits = model(**tensors([row for _, row in part], device))
            for (n, _), shares in zip(part, logits.float().softmax(-1).tolist(), strict=True):
                best[n] = max(best.get(n, shares), shares)  # the first share is that of support
        return [best[n] for n in range(len(texts))]


def costs(logits: Tensor, labels: Sequence[int], vague: Sequence[bool]) -> Tensor:
    """What each row of logits costs, B; a vague row's cost is that of not being supported."""
    wanted = torch.tensor(labels, device=logits.device)
    logs = F.log_softmax(logits, -1)
    of_label = -logs.gather(1, wanted[:, None])[:, 0]
    others = -logs[:, 1:].logsumexp(-1)
    return torch.where(torch.tensor(vague, device=logits.device), others, of_label)


def costs_of_marks(marks: Tensor, examples: Sequence[Example]) -> Tensor:
    """What the marks of each row cost, B: the wrong tokens together as much as the others; nothing if not known."""
    wanted, weight = np.zeros((2, *marks.shape), np.float32)
    for n, example in enumerate(examples):
        size = example.row.second - 2
        if example.wrong is None or size < 1:
            continue
        weight[n, 1 : size + 1] = 1 / size
        for place in example.wrong:
            wanted[n, place] = 1
            weight[n, place] = 1 / len(example.wrong)
    each = F.binary_cross_entropy_with_logits(marks, torch.from_numpy(wanted).to(marks.device), reduction="none")
    return (each * torch.from_numpy(weight).to(marks.device)).sum(1)


# ---------------------------------------------------------------- figures


def figures(shares: NDArray[np.float64], entries: Sequence[pairs.Entry]) -> dict[str, float]:
    """AUC of support (the mean of the sources that have both kinds, and pooled), cost and calibration error."""
    support = shares[:, 0]
    truth = np.array([OUTCOMES[entry.label] == "supported" for entry in entries])
    by_source: dict[str, list[int]] = defaultdict(list)
    for place, entry in enumerate(entries):
        by_source[entry.source].append(place)
    both = [rows for rows in by_source.values() if truth[rows].any() and not truth[rows].all()]
    areas = [auc(support[rows], truth[rows]) for rows in both]
    chance = np.clip(np.where(truth, support, 1 - support), 1e-6, None)
    mixed = truth.any() and not truth.all()
    return {
        "auc_mean": float(np.mean(areas)) if areas else float("nan"),
        "auc_pooled": auc(support, truth) if mixed else float("nan"),
        "cost": float(-np.log(chance).mean()),
        "ece": ece(support, truth),
    }


# ---------------------------------------------------------------- the command


def finish(run: Run, task: Verdicts, out: Path, start: Path, settings: dict[str, Any]) -> None:
    """Writes what `training/export.py` and `training/stack.py` read; of a denial also what it denies is scored."""
    write_network(run.model, out, start, settings)
    held = [(entry, pairs.pair(entry)) for entry in task.parts.held if entry.family == "natural"]
    asked = [(entry.id, pair) for entry, pair in held]
    asked += [(denial_id(entry.id), replace(pair, claim=d.positive)) for entry, pair in held if (d := denial_of(pair))]

    def score(model: networks.Network) -> dict[str, float]:
        with (out / "scores.jsonl").open("w", encoding="utf-8") as lines:
            for (id, _), shares in zip(asked, task.shares(model, [pair for _, pair in asked]), strict=True):
                lines.write(json.dumps({"id": id, "shares": shares}) + "\n")
        return {}

    ask_quietly(run.model, score)


def denial_id(id: str) -> str:
    """The id of what a pair's claim denies."""
    return f"{id} denied"


def main(arguments: Sequence[str]) -> None:
    """Trains, or goes on."""
    parser = argparse.ArgumentParser(
        parents=[options()], description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument(
        "--excerpts", type=int, default=1, help="how many of a pair are judged; the first is learnt from"
    )
    parser.add_argument(
        "--families", nargs="+", choices=get_args(Family), help="only these, and no page that a natural pair is about"
    )
    parser.add_argument("--folds", type=int)
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--held", type=int, default=600, help="held-out pairs that each checkpoint looks at")
    chosen = parser.parse_args(arguments)
    how, start = plan(chosen), chosen.start or networks.start_folder()
    every = pairs.entries(chosen.pairs)
    parts = pairs.parts_of(every, chosen.folds, chosen.fold)
    if chosen.families:
        parts = parts._replace(train=pairs.before_folds(parts.train, every, chosen.families))
    frame = Frame(Tokens(start / "tokenizer.json", chosen.max_tokens), chosen.excerpts)
    drawing = pairs.drawing(chosen.pairs)
    task = Verdicts(parts, frame, drawing, chosen.seed, chosen.held)
    torch.manual_seed(chosen.seed)
    judge = networks.judge(start, chosen.dropout)
    identity = {
        "pairs": pairs.digest(every),
        "fold": [chosen.folds, chosen.fold],
        "tokens": chosen.max_tokens,
        "families": chosen.families,
        "start": chosen.start and chosen.start.name,
    }
    run = Run(judge, task, how, chosen.out, identity)
    print(f"{len(parts.train):,} pairs to learn from, {len(parts.held):,} held out", flush=True)
    if run.train(chosen.resume):
        settings = {
            "max_tokens": chosen.max_tokens,
            "excerpts": chosen.excerpts,
            "rule": RULE,
            "seed": chosen.seed,
            **identity,
        }
        finish(run, task, chosen.out, start, settings)
        print(f"Finished: {chosen.out}", flush=True)
    else:
        print("Not finished; run the same command with --resume.", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
