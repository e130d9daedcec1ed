"""Retrieval by words, by meaning and by both: the pool per kind of question, and SciFact's nDCG.

    python benchmarks/hybrid.py --encoder onnx:FOLDER                  tuned on train, measured on dev, about an hour of
    CPU python benchmarks/hybrid.py --encoder onnx:FOLDER --part 6000      over a part of the pool, to look at while
    working python benchmarks/hybrid.py --encoder onnx:FOLDER --scifact        nDCG@10 over SciFact, at the settings
    chosen here

The figure of the pool is that of `retrieval.py`: the mean share of a question's gold records among those of the first
ten passages. A part of the pool is the gold passages of the questions that are asked, and others drawn at random up to
the number: figures over a part are comparable with each other only.

Vectors are kept under `--vectors` (default: a folder of the system's temporary one) by the hash of their text as
float16, a chunk at a time, so an interrupted run goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from tempfile import gettempdir
from typing import Any

import data
import numpy as np
import retrieval

from toulmin.build.encoding import encoder
from toulmin.config import Settings
from toulmin.data import Hit, Passage
from toulmin.documents.loaders import read_documents
from toulmin.documents.passages import cut
from toulmin.retrieval.bm25 import InMemory
from toulmin.retrieval.fusion import CONSTANT, DEPTH, FusionRanker, fuse_by_ranks
from toulmin.retrieval.links import LinkRanker
from toulmin.retrieval.vectors import DenseInMemory
from toulmin.runtime.encoder import Encoder, TitledText, Vectors

SEED = 7
CHUNK = 256
USUAL = 60.0  # the constant of most of the literature
BARS = {"short": 0.03, "long": 0.03, "retrieval-only": 0.08, "multihop": 0.0}
CONSTANTS = (0, 2, 5, 10, 20, 40, 60, 100)

Rows = list[list[Hit]]


class VectorStore:
    """An encoder whose vectors are kept in a folder."""

    def __init__(self, made: Encoder, folder: Path) -> None:
        self._made = made
        self.name, self.identity, self.dimension = made.name, made.identity, made.dimension
        self._folder = folder / made.identity[:16]
        self._folder.mkdir(parents=True, exist_ok=True)
        self._rows = self._read()

    def _read(self) -> dict[bytes, Any]:
        vectors: dict[bytes, Any] = {}
        size = 16 + 2 * self.dimension
        content = (self._folder / "rows").read_bytes() if (self._folder / "rows").exists() else b""
        for start in range(0, len(content) - size + 1, size):
            vectors[content[start : start + 16]] = np.frombuffer(content, np.float16, self.dimension, start + 16)
        return vectors

    def encode_queries(self, queries: Sequence[str]) -> Vectors:
        """As the encoder does."""
        return self._encode_all([("query", "", query) for query in queries], lambda chunk: self._queries(chunk))

    def _queries(self, chunk: Sequence[tuple[str, str, str]]) -> Vectors:
        return self._made.encode_queries([text for _, _, text in chunk])

    def encode_passages(self, passages: Sequence[TitledText]) -> Vectors:
        """As the encoder does."""
        return self._encode_all([("passage", p.title, p.text) for p in passages], lambda chunk: self._passages(chunk))

    def _passages(self, chunk: Sequence[tuple[str, str, str]]) -> Vectors:
        return self._made.encode_passages([Passage.of(text, title) for _, title, text in chunk])

    def _encode_all(self, texts: list[tuple[str, str, str]], encode: Callable[[Any], Vectors]) -> Vectors:
        keys = [hashlib.sha256("\0".join(text).encode("utf-8", "replace")).digest()[:16] for text in texts]
        missing = [at for at, key in enumerate(keys) if key not in self._rows]
        missing.sort(key=lambda at: len(texts[at][2]))
        chunks = [missing[start : start + CHUNK] for start in range(0, len(missing), CHUNK)]
        random.Random(SEED).shuffle(chunks)
        for done, chunk in enumerate(chunks):
            rows = encode([texts[at] for at in chunk]).astype(np.float16)
            with (self._folder / "rows").open("ab") as file:
                for at, row in zip(chunk, rows, strict=True):
                    self._rows[keys[at]] = row
                    file.write(keys[at] + row.tobytes())
            print(f"encoded {done + 1} of {len(chunks)} chunks", end="\r", flush=True)
        return np.array([self._rows[key] for key in keys], np.float32).reshape(len(keys), self.dimension)


# ---------------------------------------------------------------- the pool


def shares(rankings: Rows, asked: Sequence[dict[str, Any]]) -> dict[str, float]:
    """For each kind, the mean share of gold records in the first ten passages."""
    by_kind: dict[str, list[float]] = defaultdict(list)
    for row, hits in zip(asked, rankings, strict=True):
        gold = set(row["gold_passages"])
        seen = {hit.passage.source.record for hit in hits[: retrieval.FIRST]}
        by_kind[row["kind"]].append(len(gold & seen) / len(gold))
    return {kind: fmean(values) for kind, values in sorted(by_kind.items())}


class Rankings:
    """The rankings of one split by words and by meaning, ready to be fused at any setting."""

    def __init__(self, lexical: InMemory, dense: DenseInMemory, asked: list[dict[str, Any]]) -> None:
        questions = [row["question"] for row in asked]
        self.asked = asked
        self.lexical = lexical.search(questions, DEPTH)
        self.dense = dense.search(questions, DEPTH)

    def by_rank(self, constant: float) -> Rows:
        """Fused by reciprocal ranks."""
        return [fuse_by_ranks(rows, constant) for rows in zip(self.lexical, self.dense, strict=True)]


def best(settings: Sequence[float], measured: Rankings, fuse: Callable[[float], Rows]) -> float:
    """The setting with the best mean over the kinds; the first of equals."""
    outcomes = {setting: shares(fuse(setting), measured.asked) for setting in settings}
    for setting, means in outcomes.items():
        show(f"  train {setting:g}", means)
    return max(outcomes, key=lambda setting: fmean(outcomes[setting].values()))


def show(name: str, means: dict[str, float]) -> None:
    print(f"{name:22}" + "".join(f"  {kind} {value:.4f}" for kind, value in means.items()), flush=True)


def part_of(passages: list[Passage], asked: Sequence[dict[str, Any]], number: int) -> list[Passage]:
    """The gold passages of the questions, and others at random up to `number` in all."""
    gold = {record for row in asked for record in row["gold_passages"]}
    needed = [passage for passage in passages if passage.source.record in gold]
    others = [passage for passage in passages if passage.source.record not in gold]
    drawn = random.Random(SEED).sample(others, max(0, min(len(others), number - len(needed))))
    return needed + drawn


def pool(made: Encoder, part: int | None, sample: int | None) -> None:
    dev, train = retrieval.questions("dev"), retrieval.questions("train")
    if sample is not None:
        train = random.Random(SEED).sample(train, min(sample, len(train)))
    passages = list(retrieval.pool_passages())
    if part is not None:
        passages = part_of(passages, [*dev, *train], part)
    print(f"{len(passages)} passages, {len(train)} questions of train, {len(dev)} of dev, encoder {made.name}")
    lexical, dense = InMemory(passages), DenseInMemory(passages, made)
    tuning, measured = (Rankings(lexical, dense, rows) for rows in (train, dev))
    constant = best(CONSTANTS, tuning, tuning.by_rank)
    print(f"chosen on train: constant {constant:g}; dev:")
    ground = shares(measured.lexical, dev)
    show("lexical", ground)
    show("dense", shares(measured.dense, dev))
    for name, rows in (
        (f"rrf, constant {USUAL:g}", measured.by_rank(USUAL)),
        (f"rrf, constant {constant:g}", measured.by_rank(constant)),
    ):
        means = shares(rows, dev)
        show(name, means)
        show("  over lexical", {kind: value - ground[kind] for kind, value in means.items()})
    show("bars, over lexical", BARS)
    print("with what the first hits name (`links`), as a search does by itself:")
    for name, search in (
        ("lexical", lexical),
        (f"rrf, constant {CONSTANT:g}", FusionRanker((lexical, dense))),
    ):
        by_kind = retrieval.shares(LinkRanker(search, lexical), dev)
        show(name, {kind: fmean(by_kind[kind]) for kind in ground})


# ---------------------------------------------------------------- SciFact


def ndcg(records: Sequence[str | None], relevant: set[str], first: int = retrieval.FIRST) -> float:
    """nDCG with gains of 0 and 1 over distinct records, in the order in which they are met."""
    distinct = list(dict.fromkeys(records))[:first]
    gained = sum(1 / math.log2(rank + 1) for rank, record in enumerate(distinct, start=1) if record in relevant)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(first, len(relevant)) + 1))
    return gained / ideal


def scifact(made: Encoder) -> None:
    passages = [p for doc in read_documents(data.path("retrieval_scifact_corpus")) for p in cut(doc)]
    asked = [
        {"question": row["text"], "relevant": {str(record) for record in row["relevant"]}}
        for row in data.rows("retrieval_scifact_queries", "dev")
        if row["relevant"]
    ]
    measured = Rankings(InMemory(passages), DenseInMemory(passages, made), asked)
    print(f"SciFact, {len(asked)} claims of dev, {len(passages)} passages, encoder {made.name}: nDCG@10")
    for name, rankings in (
        ("BM25", measured.lexical),
        ("dense", measured.dense),
        (f"rrf, constant {CONSTANT:g}", measured.by_rank(CONSTANT)),
    ):
        values = [
            ndcg([hit.passage.source.record for hit in hits], row["relevant"])
            for row, hits in zip(asked, rankings, strict=True)
        ]
        print(f"{name:22}{fmean(values):.4f}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", required=True, help="onnx:FOLDER or transformer:FOLDER")
    parser.add_argument("--vectors", type=Path, default=Path(gettempdir()) / "toulmin-vectors")
    parser.add_argument("--part", type=int, help="how many passages of the pool")
    parser.add_argument("--sample", type=int, help="how many questions of train to tune on (default: all)")
    parser.add_argument("--scifact", action="store_true")
    options = parser.parse_args(arguments)
    one_core = Settings(servers={"onnx": {"threads": 1}})
    made = VectorStore(encoder(options.encoder, one_core), options.vectors)
    if options.scifact:
        scifact(made)
    else:
        pool(made, options.part, options.sample)


if __name__ == "__main__":
    main()
