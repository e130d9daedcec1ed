"""Train the reader: a span of the passage, or none, on SQuAD and Natural Questions.

    python training/reader.py --data DIR --out RUN --epochs 2 --minutes 140      a session; the next adds --resume

`DIR` is the folder of the evaluation data (TOULMIN_DATA by default). A passage that is longer than a window is learnt
from window by window: one that does not hold the answer says "none". At the end the confidence is fitted on one half
of the held-out questions, by a hash of the question, and measured on the other; `RUN` then holds what
`training/export.py` reads.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import model as networks
import numpy as np
import questions
import torch
from figures import auc, ece, logistic
from learning import Run, ask_quietly, complete, options, plan, tensors, write_network
from questions import Item
from torch import Tensor
from torch.nn import functional as F

from toulmin.extractive.trained_reader import FILE, SIGNS, Confidence, Frame, View, likeliest, signs
from toulmin.runtime.network import Row, Tokens
from toulmin.runtime.shipped import RULE
from toulmin.text.overlap import normalise, token_f1

ASKED_AT_ONCE = 32
RIGHT = 0.5  # F1 from which an answer is right


class Example(NamedTuple):
    """A window, and the tokens at which the answer begins and ends: the first token for none."""

    row: Row
    first: int
    last: int

    @property
    def rows(self) -> tuple[Row, ...]:
        return (self.row,)


class Spans:
    """The task: where the answer begins and ends in each window."""

    def __init__(self, train: Sequence[Item], held: Sequence[Item], frame: Frame, seed: int, assessed: int) -> None:
        self._frame, self._seed, self.held = frame, seed, list(held)
        self._assessed = self.held[:: max(1, len(self.held) // assessed)][:assessed]
        self._windows = [(item, view) for item in train for view in frame.views(item.question, item.passage)]

    def draw(self, epoch: int) -> list[int]:
        """Every window once."""
        drawn = list(range(len(self._windows)))
        random.Random(f"{self._seed} {epoch}").shuffle(drawn)
        return drawn

    def examples(self, places: Sequence[int]) -> list[Example]:
        """The windows at these places."""
        return [example(*self._windows[place]) for place in places]

    def loss(self, model: Any, inputs: dict[str, Tensor], examples: Sequence[Example]) -> Tensor:
        """Cross entropy over the row's tokens of beginning and of end, their mean."""
        output = model(**inputs).float()
        width = output.shape[1]
        sizes = torch.tensor([len(example.row.ids) for example in examples], device=output.device)
        outside = torch.arange(width, device=output.device)[None, :] >= sizes[:, None]
        logits = output.masked_fill(outside[:, :, None], -1e4)
        wanted = torch.tensor([(example.first, example.last) for example in examples], device=output.device)
        return F.cross_entropy(logits.transpose(1, 2).flatten(0, 1), wanted.flatten(), reduction="sum") / 2

    def assess(self, model: networks.Network) -> dict[str, float]:
        """Token F1 of answerable questions, and the AUC of the margin for "is answerable"."""
        outcomes = [
            outcome(item, read) for item, read in zip(self._assessed, self.read(model, self._assessed), strict=True)
        ]
        return figures(outcomes) if outcomes else {}

    def read(self, model: networks.Network, items: Sequence[Item]) -> list[list[Any]]:
        """Of each item its windows with what the network says of their tokens."""
        device = next(model.parameters()).device
        views = [(n, view) for n, item in enumerate(items) for view in self._frame.views(item.question, item.passage)]
        by_item: list[list[Any]] = [[] for _ in items]
        for start in range(0, len(views), ASKED_AT_ONCE):
            part = views[start : start + ASKED_AT_ONCE]
            output = model(**tensors([view.row for _, view in part], device))
            logits = (output[0] if isinstance(output, tuple) else output).float().cpu().numpy()  # a ranker says more
            for (n, view), row in zip(part, logits, strict=True):
                by_item[n].append((view, row[: len(view.row.ids)]))
        return by_item


def example(item: Item, view: View) -> Example:
    """The window with the first of the answers that it holds whole."""
    for start, end in item.places:
        held = [n for n in view.readable if _is_within(view.characters(n, n), start, end)]
        if held and view.characters(held[0], held[-1]) == (start, end):
            return Example(view.row, held[0], held[-1])
    return Example(view.row, 0, 0)


def _is_within(characters: tuple[int, int], start: int, end: int) -> bool:
    return start <= characters[0] and characters[1] <= end


# ---------------------------------------------------------------- how well it reads


class Outcome(NamedTuple):
    """A held-out item, what was read of it, and the signs of how sure that is."""

    item: Item
    text: str
    signs: tuple[float, ...]

    @property
    def f1(self) -> float:
        """With the nearest answer."""
        return max((token_f1(self.text, answer) for answer in self.item.answers), default=0.0)

    @property
    def is_right(self) -> bool:
        """Whether the words answer."""
        return bool(self.item.places) and self.f1 >= RIGHT


def outcome(item: Item, read: Sequence[Any]) -> Outcome:
    """What the likeliest span of the windows says."""
    ranked = likeliest(read)
    if not ranked:
        return Outcome(item, "", (1.0,) + (0.0,) * (len(SIGNS) - 1))
    start, end = ranked[0].view.characters(ranked[0].first, ranked[0].last)
    return Outcome(item, item.passage.text[start:end], signs(ranked))


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Before anything is left unanswered."""
    able = np.array([bool(each.item.places) for each in outcomes])
    odds = np.array([each.signs[SIGNS.index("odds")] for each in outcomes])
    exact = [normalise(each.text) in map(normalise, each.item.answers) for each in outcomes if each.item.places]
    return {
        "f1": float(np.mean([each.f1 for each in outcomes if each.item.places])) if able.any() else float("nan"),
        "em": float(np.mean(exact)) if exact else float("nan"),
        "auc_answerable": auc(odds, able) if able.any() and not able.all() else float("nan"),
    }


def calibrate(outcomes: Sequence[Outcome]) -> Confidence:
    """The chance that the words answer; and the level at which answering and keeping silent are right most often.

    Sources with questions of both kinds count alike: where all can be answered, any silence would look wrong.
    """
    x = np.array([each.signs for each in outcomes])
    right = np.array([each.is_right for each in outcomes])
    able = np.array([bool(each.item.places) for each in outcomes])
    sources = np.array([each.item.source for each in outcomes])
    if right.all() or not right.any():
        return Confidence((0.0,) * len(SIGNS), 0.0)
    made = Confidence(tuple(map(float, logistic(x, right))), 0.0)
    chances = np.array([made.chance(each.signs) for each in outcomes])
    by_source = [sources == name for name in dict.fromkeys(sources)]
    mixed = [each for each in by_source if able[each].any() and not able[each].all()] or [np.ones(len(outcomes), bool)]

    def fair(level: float) -> float:
        answered = chances >= level
        sides = [side for each in mixed for side in (answered[each & able], ~answered[each & ~able]) if side.size]
        return float(np.mean([side.mean() for side in sides]))

    return made._replace(least=float(max(np.arange(0.05, 0.95, 0.01), key=fair)))


def quality(outcomes: Sequence[Outcome], confidence: Confidence) -> dict[str, float]:
    """SQuAD 2.0's F1 (silence is right where there is no answer), fairness of silence, and the calibration error."""
    chances = np.array([confidence.chance(each.signs) for each in outcomes])
    able = np.array([bool(each.item.places) for each in outcomes])
    answered = chances >= confidence.least
    f1 = [each.f1 * spoke if each.item.places else 1.0 - spoke for each, spoke in zip(outcomes, answered, strict=True)]
    right = np.array([each.is_right for each in outcomes])
    sides = [each.mean() for each in (answered[able], ~answered[~able]) if each.size]
    return {
        "f1_with_silence": float(np.mean(f1)),
        "silence_balanced": float(np.mean(sides)),
        "ece": ece(chances, right),
        **figures(outcomes),
    }


# ---------------------------------------------------------------- the command


def finish(run: Run, task: Spans, out: Path, start: Path, settings: dict[str, Any]) -> None:
    """Writes what `training/export.py` reads, and prints the figures of the half that fitted nothing."""
    write_network(run.model, out, start, settings)
    held: list[Outcome] = []

    def ask(model: networks.Network) -> dict[str, float]:
        held.extend(outcome(item, read) for item, read in zip(task.held, task.read(model, task.held), strict=True))
        return {}

    ask_quietly(run.model, ask)
    halves: tuple[list[Outcome], list[Outcome]] = [], []
    for each in held:
        halves[zlib.crc32(each.item.question.encode()) % 2].append(each)
    confidence = calibrate(halves[0])
    (out / FILE).write_text(json.dumps({"signs": SIGNS, **confidence._asdict()}, indent=1), "utf-8")
    for source in (*dict.fromkeys(each.item.source for each in halves[1]), None):
        part = [each for each in halves[1] if source in (None, each.item.source)]
        print(json.dumps({"source": source or "all", "n": len(part), **quality(part, confidence)}), flush=True)


def digest(items: Sequence[Item]) -> str:
    """What tells these items from others: SHA-256, in hex, of questions, passages and places."""
    sha = hashlib.sha256()
    for item in items:
        sha.update(f"{item.question}\n{item.passage.id}\n{item.places}\n".encode())
    return sha.hexdigest()


def main(arguments: Sequence[str]) -> None:
    """Trains, or goes on."""
    parser = argparse.ArgumentParser(
        parents=[options()], description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("TOULMIN_DATA", "../shared/data")))
    parser.add_argument("--max-tokens", type=int, default=192)
    parser.add_argument("--held", type=int, default=300, help="held-out questions that each checkpoint looks at")
    chosen = parser.parse_args(arguments)
    how, start = plan(chosen), chosen.start or networks.start_folder()
    train, held = (questions.items(chosen.data, split) for split in ("train", "dev"))
    frame = Frame(Tokens(start / "tokenizer.json", chosen.max_tokens))
    task = Spans(train, held, frame, chosen.seed, chosen.held)
    torch.manual_seed(chosen.seed)
    identity = {"items": digest([*train, *held]), "tokens": chosen.max_tokens}
    run = Run(networks.Reader(networks.backbone_from(start)), task, how, chosen.out, identity)
    print(f"{len(train):,} questions to learn from, {len(held):,} held out", flush=True)
    settings = {"max_tokens": chosen.max_tokens, "excerpts": 1, "rule": RULE, "seed": chosen.seed, **identity}
    complete(run, chosen.resume, lambda: finish(run, task, chosen.out, start, settings))


if __name__ == "__main__":
    main(sys.argv[1:])
