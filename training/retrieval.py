"""Teach the encoder which passages answer a question: contrast with other questions' passages and with near misses.

    python training/retrieval.py --data DIR --out RUN --epochs 1 --minutes 40 --batch 48 --rate 2e-5
    python training/encoder.py --folder RUN/encoder --out encoder/

`DIR` is the folder of the evaluation data (TOULMIN_DATA by default). A question of a train split stands beside each of
its gold passages, and beside a passage that BM25 ranks high and that holds no gold: of all passages of a batch the
question's own must be nearest. Cosines are sharpened as the starting weights were (by 20). At the end `RUN/encoder`
holds a folder as sentence-transformers lays it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import model as networks
import numpy as np
import torch
from claims.sources import rows, terms_of
from learning import Run, asked_quietly, complete, options, plan, tensors
from pairs import is_kept
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional as F

from toulmin.data import Passage
from toulmin.retrieval.bm25 import InMemory
from toulmin.runtime.encoder import full_text
from toulmin.runtime.network import Row, Tokens

SHARPNESS = 20.0
NEAR = 30  # passages of BM25 among which a near miss is looked for
HELD = 400  # questions that a checkpoint looks at


class Asked(NamedTuple):
    """A question, a passage that answers it, and one that does not though it looks like it."""

    question: str
    gold: Passage
    miss: Passage | None


class Example(NamedTuple):
    """The rows of a question and of its passages, the gold one first."""

    row: Row
    passages: tuple[Row, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        return (self.row,)


def gathered(data: Path, split: str, seed: int = 0) -> list[Asked]:
    """The questions of a split of all sets whose terms allow weights to be given away, one for each gold passage."""
    terms, found = terms_of(), list[Asked]()
    if all(terms[name].ship for name in ("pool_questions", "pool_corpus")):
        found += _of_pool(data, split, seed)
    if all(terms[name].ship for name in ("attr_scifact_train", "retrieval_scifact_corpus")):
        found += _of_scifact(data, split, seed)
    for name in ("squad1_mrqa", "squad2_devhalf"):
        if terms[name].ship:
            found += _of_squad(data, name, split)
    return [one for one in found if not is_kept(one.gold.title, one.gold.text)]


def _of_pool(data: Path, split: str, seed: int) -> Iterator[Asked]:
    passages = {row["id"]: Passage.of(row["text"], row["title"]) for row in rows(data, "pool_corpus")}
    asked = [row for row in rows(data, "pool_questions") if row["split"] == split and row["gold_passages"]]
    yield from _contrasted(
        [(row["question"], [passages[one] for one in row["gold_passages"] if one in passages]) for row in asked],
        list(passages.values()),
        seed,
    )


def _of_scifact(data: Path, split: str, seed: int) -> Iterator[Asked]:
    passages = {row["_id"]: Passage.of(row["text"], row["title"]) for row in rows(data, "retrieval_scifact_corpus")}
    asked = [row for row in rows(data, "retrieval_scifact_queries") if row["split"] == split]
    yield from _contrasted(
        [(row["text"], [passages[str(one)] for one in row["relevant"] if str(one) in passages]) for row in asked],
        list(passages.values()),
        seed,
    )


def _contrasted(asked: Sequence[tuple[str, list[Passage]]], passages: Sequence[Passage], seed: int) -> Iterator[Asked]:
    ranked = InMemory(passages).search([question for question, _ in asked], NEAR)
    chance = random.Random(f"{seed} misses")
    for (question, gold), hits in zip(asked, ranked, strict=True):
        own = {passage.id for passage in gold} | {passage.title for passage in gold}
        near = [hit.passage for hit in hits if hit.passage.id not in own and hit.passage.title not in own]
        for passage in gold:
            yield Asked(question, passage, chance.choice(near) if near else None)


def _of_squad(data: Path, name: str, split: str) -> Iterator[Asked]:
    for row in rows(data, name):
        if row["split"] == split and row["answers"]:
            yield Asked(row["question"], Passage.of(row["context"], row.get("title", "").replace("_", " ")), None)


class Nearest:
    """The task: of the passages of a batch, its own is the question's nearest."""

    def __init__(self, train: Sequence[Asked], held: Sequence[Asked], tokens: Tokens, seed: int) -> None:
        self._train, self._tokens, self._seed = list(train), tokens, seed
        self._held = list(held)[:: max(1, len(held) // HELD)][:HELD]

    def drawn(self, epoch: int) -> list[int]:
        """Every question once for each of its gold passages."""
        places = list(range(len(self._train)))
        random.Random(f"{self._seed} {epoch}").shuffle(places)
        return places

    def examples(self, places: Sequence[int]) -> list[Example]:
        """Those questions with their passages."""
        return [self._example(self._train[place]) for place in places]

    def _example(self, one: Asked) -> Example:
        passages = (one.gold,) if one.miss is None else (one.gold, one.miss)
        return Example(
            self._tokens.alone(one.question), tuple(self._tokens.alone(full_text(each)) for each in passages)
        )

    def loss(self, model: Any, inputs: dict[str, Tensor], examples: Sequence[Example]) -> Tensor:
        """Cross entropy of the question's own passage among all of the batch; equal ones are not held against it."""
        device = inputs["ids"].device
        laid = [passage for one in examples for passage in one.passages[:1]]
        laid += [passage for one in examples for passage in one.passages[1:]]
        scores = SHARPNESS * model(**inputs) @ model(**tensors(laid, device)).T
        same = torch.tensor([[a.ids == b.ids for b in laid] for a in laid[: len(examples)]], device=device)
        same &= ~torch.eye(len(examples), len(laid), dtype=torch.bool, device=device)
        scores = scores.masked_fill(same, -1e4)
        return F.cross_entropy(scores, torch.arange(len(examples), device=device), reduction="sum")

    def assess(self, model: Any) -> dict[str, float]:
        """How often the own passage is the nearest among those of all held-out questions and their near misses."""
        if not self._held:
            return {}
        device = next(model.parameters()).device
        examples = [self._example(one) for one in self._held]

        def read(rows_: Sequence[Row]) -> Any:
            parts = [model(**tensors(rows_[at : at + 32], device)) for at in range(0, len(rows_), 32)]
            return torch.cat(parts).float().cpu().numpy()

        asked, gold = read([one.row for one in examples]), read([one.passages[0] for one in examples])
        misses = [one.passages[1] for one in examples if len(one.passages) > 1]
        every = np.concatenate([gold, read(misses)]) if misses else gold
        scores = asked @ every.T
        own = scores[np.arange(len(asked)), np.arange(len(asked))]
        rank = (scores > own[:, None] + 1e-6).sum(1)
        return {"nearest": float((rank == 0).mean()), "in_ten": float((rank < 10).mean())}


def write_folder(run: Run, start: Path, out: Path, told: Mapping[str, Any]) -> None:
    """`encoder`, the starting folder with the weights that were learnt, and what is told of the run."""
    (out / "settings.json").write_text(json.dumps(told, indent=1), "utf-8")
    folder = out / "encoder"
    shutil.copytree(start, folder, dirs_exist_ok=True)
    held = load_file(start / "model.safetensors")
    learnt = run.model.backbone.state_dict()
    held |= {networks.their_name(name): value.cpu().contiguous() for name, value in learnt.items()}
    save_file(held, folder / "model.safetensors", metadata={"format": "pt"})


def digest(every: Sequence[Asked]) -> str:
    """What tells these questions from others: SHA-256, in hex."""
    told = hashlib.sha256()
    for one in every:
        told.update(f"{one.question}\n{one.gold.id}\n{one.miss.id if one.miss else ''}\n".encode())
    return told.hexdigest()


def main(arguments: Sequence[str]) -> None:
    """Trains, or goes on."""
    parser = argparse.ArgumentParser(
        parents=[options()], description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("TOULMIN_DATA", "../shared/data")))
    parser.add_argument("--max-tokens", type=int, default=128)
    chosen = parser.parse_args(arguments)
    how, start = plan(chosen), chosen.start or networks.start_folder()
    train, held = (gathered(chosen.data, split, chosen.seed) for split in ("train", "dev"))
    tokens = Tokens(start / "tokenizer.json", chosen.max_tokens)
    torch.manual_seed(chosen.seed)
    encoder = networks.Encoder(networks.started(start, chosen.dropout))
    identity = {"questions": digest([*train, *held]), "tokens": chosen.max_tokens}
    task = Nearest(train, held, tokens, chosen.seed)
    run = Run(encoder, task, how, chosen.out, identity)
    print(f"{len(train):,} questions to learn from, {len(held):,} held out", flush=True)
    if not chosen.resume:
        print("before:", json.dumps(asked_quietly(run.model, task.assess)), flush=True)
    complete(run, chosen.resume, lambda: write_folder(run, start, chosen.out, {"seed": chosen.seed, **identity}))


if __name__ == "__main__":
    main(sys.argv[1:])
