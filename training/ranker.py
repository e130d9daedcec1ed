"""Train the ranker: which window of sentences answers a question, whether it does at all, and by which words.

    python training/ranker.py --data DIR --out RUN --minutes 100 --batch 8 --micro 8 --rate 6e-5 --dropout 0 --bf16

A reader with a second head (`networks.Ranker`). It starts from the shipped reader (`--reader`, its weights unpacked
from 8 bits), or from any run with `--start`. A batch is of groups: one window that answers and up to five that do
not. The cost is that of picking the right one, half that of saying of each whether it answers, and a third of the
reader's own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import model as networks
import numpy as np
import onnx
import questions
import torch
from figures import auc
from learning import Run, complete, options, plan, tensors
from reader import Spans, finish
from torch import Tensor
from torch.nn import functional as F
from windows import Group, groups

from toulmin.extractive.trained_reader import Frame
from toulmin.runtime.network import Row, Tokens
from toulmin.runtime.shipped import RULE, part

KNOWN, ANSWERS = 0.3, 0.5  # the shares of spans and of answering in the cost
READ = 160  # tokens of a row that it reads when it has learnt
EVERY = 8  # of the held-out questions, one in so many calibrates its spans
_RARE = 3.0  # one window in six answers


class Example(NamedTuple):
    """A group as rows; `spans` are the first and last token of each answer, -1 where they are not known."""

    rows: tuple[Row, ...]
    answers: tuple[bool, ...]
    spans: tuple[tuple[int, int], ...]


class Windows:
    """The task: the window that answers, before the others."""

    def __init__(self, train: Sequence[Group], held: Sequence[Group], tokens: Tokens, seed: int) -> None:
        self._train, self._held, self._tokens, self._seed = train, held, tokens, seed

    def draw(self, epoch: int) -> list[int]:
        """Every group once."""
        drawn = list(range(len(self._train)))
        Random(f"{self._seed} {epoch}").shuffle(drawn)
        return drawn

    def examples(self, places: Sequence[int]) -> list[Example]:
        """The groups at these places."""
        return [example(self._train[place], self._tokens) for place in places]

    def loss(self, model: Any, inputs: dict[str, Tensor], examples: Sequence[Example]) -> Tensor:
        """The sum over the groups of what was said wrong of their windows."""
        places, odds = (logits.float() for logits in model(**inputs))
        answers = torch.tensor([flag for each in examples for flag in each.answers], device=odds.device).float()
        sizes = [len(each.rows) for each in examples]
        sides = zip(torch.split(odds, sizes), torch.split(answers, sizes), strict=True)
        picking = [F.cross_entropy(logits, wanted.argmax()) for logits, wanted in sides if wanted.any()]
        rare = torch.tensor(_RARE, device=odds.device)
        answering = F.binary_cross_entropy_with_logits(odds, answers, pos_weight=rare)
        cost = ANSWERS * answering + KNOWN * spans_cost(places, examples)
        return (cost + torch.stack(picking).mean() if picking else cost) * len(examples)

    def assess(self, model: Any) -> dict[str, float]:
        """How often the answering window is first, and the AUC of the best window for "is answered here"."""
        device = next(model.parameters()).device
        right, best, able = [], [], []
        for group in self._held:
            made = example(group, self._tokens)
            odds = model(**tensors(made.rows, device))[1].float().cpu().numpy()
            answers = np.array(made.answers)
            best.append(float(odds.max()))
            able.append(bool(answers.any()))
            right += [bool(answers[odds.argmax()])] if able[-1] else []
        return {"first": float(np.mean(right)), "auc": auc(np.array(best), np.array(able))} if right else {}


def spans_cost(places: Tensor, examples: Sequence[Example]) -> Tensor:
    """Cross entropy over the row's tokens of beginning and of end, where the answer's place is known."""
    rows = [row for each in examples for row in each.rows]
    sizes = torch.tensor([len(row.ids) for row in rows], device=places.device)
    outside = torch.arange(places.shape[1], device=places.device)[None, :] >= sizes[:, None]
    logits = places.masked_fill(outside[:, :, None], -1e4)
    wanted = torch.tensor([span for each in examples for span in each.spans], device=places.device)
    return F.cross_entropy(logits.transpose(1, 2).flatten(0, 1), wanted.flatten(), ignore_index=-1)


def example(group: Group, tokens: Tokens) -> Example:
    """The group's windows after its question, each under its title."""
    rows, spans = [], []
    for window in group.windows:
        head = f"{window.title}: " if window.title else ""
        row = tokens.row(group.question, head + window.text)
        first, last = (place + len(head) for place in window.span or (0, -1))
        held = [n for n, (start, end) in enumerate(row.spans) if window.span and first <= start and end <= last]
        unknown = (-1, -1) if window.answers else (0, 0)  # the first token says that there is none
        rows.append(row)
        spans.append((row.second + held[0], row.second + held[-1]) if held else unknown)
    return Example(tuple(rows), tuple(window.answers for window in group.windows), tuple(spans))


# ---------------------------------------------------------------- where it starts


def read_weights(folder: Path) -> dict[str, Tensor]:
    """The weights of an exported reader, from its 8 bits; names and shapes as in `networks.Reader`."""
    graph = onnx.load(folder / "model.onnx").graph
    stored = {each.name: onnx.numpy_helper.to_array(each).astype(np.float32) for each in graph.initializer}

    def weights(name: str) -> Any:
        return (stored[f"{name}_quantized"] - stored[f"{name}_zero_point"]) * stored[f"{name}_scale"]

    ours = (name for name in stored if name.startswith(("backbone.", "span.")))
    made = {name: stored[name] for name in ours if name.endswith((".bias", ".weight"))}
    made |= {f"backbone.{name}.weight": weights(f"backbone.{name}.weight") for name in ("words", "places", "kinds")}
    for node in graph.node:
        place, is_product, _ = node.name.strip("/").partition("/MatMul_quant_scales_mul")
        if is_product:
            made[f"{place.replace('/', '.')}.weight"] = weights(node.input[1].removesuffix("_scale")).T
    return {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in made.items()}


def ranker_from(start: Path, reader: Path | None, dropout: float) -> networks.Ranker:
    """A ranker with the starting weights, and the reader's where one is named."""
    model = networks.Ranker(networks.backbone_from(start, dropout))
    if reader is not None:
        model.load_state_dict(read_weights(reader), strict=False)
    return model


def main(arguments: Sequence[str]) -> None:
    """Trains, or goes on."""
    parser = argparse.ArgumentParser(
        parents=[options()], description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("TOULMIN_DATA", "../shared/data")))
    parser.add_argument("--max-tokens", type=int, default=112)
    parser.add_argument("--reader", type=Path, help="an exported reader to start from (default: the installed one)")
    parser.add_argument("--share", type=float, default=1.0, help="of the mixture, for a trial")
    chosen = parser.parse_args(arguments)
    how, start = plan(chosen), chosen.start or networks.start_folder()
    train, held = (groups(chosen.data, split, chosen.seed, chosen.share) for split in ("train", "dev"))
    torch.manual_seed(chosen.seed)
    reader = chosen.reader or (None if chosen.start else part("reader").file("model.onnx").parent)
    task = Windows(train, held, Tokens(start / "tokenizer.json", chosen.max_tokens), chosen.seed)
    identity = {"groups": digest([*train, *held]), "tokens": chosen.max_tokens}
    run = Run(ranker_from(start, reader, chosen.dropout), task, how, chosen.out, identity)
    print(f"{len(train):,} questions to learn from, {len(held):,} held out", flush=True)
    settings = {"max_tokens": chosen.max_tokens, "excerpts": 1, "rule": RULE, "seed": chosen.seed, **identity}
    frame = Frame(Tokens(start / "tokenizer.json", READ))
    spans = Spans((), questions.items(chosen.data, "dev")[::EVERY], frame, chosen.seed, 1)
    complete(run, chosen.resume, lambda: finish(run, spans, chosen.out, start, {**settings, "max_tokens": READ}))


def digest(made: Sequence[Group]) -> str:
    """What tells these groups from others: SHA-256, in hex."""
    return hashlib.sha256(json.dumps(made).encode()).hexdigest()


if __name__ == "__main__":
    main(sys.argv[1:])
