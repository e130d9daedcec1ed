"""The stand-ins of the small form: a few questions of the shared evaluation data in place of the papers' datasets.

They and a small index over a part of `pool_corpus` are made once in a folder and used by every experiment that is run
with the same `--out`. Where the data has no such dataset, another one stands in and says so.
"""

from __future__ import annotations

import gzip
import json
import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import toulmin
from toulmin.config import Settings

DATA = "TOULMIN_DATA"
SEED = 7
MOST = 20  # questions of a stand-in
OTHERS = 1_000  # passages of the index that hold no answer to them
LEAST_RECORDS = 4  # that bear a title, for it to be a topic


@dataclass(frozen=True, slots=True)
class Place:
    """Where a dataset lies, and the index that its questions are searched in (None: they bring their passages)."""

    path: Path
    index: str | None = None
    stands_in: str | None = None


TOPICS = ("wiki-event", "wiki-ent", "researcher", "news-events")
_ASQA = "qa_asqa_passages: ASQA with passages of several retrievers"
_SEARCHED = "searched in a part of pool_corpus"
_WORDS = {
    "asqa": _ASQA,
    "asqa-dpr": _ASQA,
    "asqa-gtr": _ASQA,
    "eli5": f"alce_eli5_questions, {_SEARCHED}",
    "qampari": f"alce_qampari_questions, {_SEARCHED}",
    "qampari-dpr": f"alce_qampari_questions, {_SEARCHED}",
    "qampari-gtr": f"alce_qampari_questions, {_SEARCHED}",
    "nq": f"questions of the kind short of pool_questions, {_SEARCHED}",
    "webq": f"other NQ questions, the kind short of pool_questions (there is no WebQ), {_SEARCHED}",
    "2wiki": f"HotpotQA and MuSiQue questions, the kind multihop of pool_questions, {_SEARCHED}",
    **dict.fromkeys(TOPICS, f"titles of pool_corpus, drawn at random, {_SEARCHED}"),
}


def places(folder: Path) -> Mapping[str, Place]:
    """Every stand-in by the name of what it stands for, made in `folder` unless it is there already.

    Raises `SourceError` where the shared data is not there.
    """
    made = folder / "made.json"
    if not made.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        _make(folder)
        made.write_text(json.dumps({"seed": SEED, "questions": MOST, "others": OTHERS}), "utf-8")
    index = str(folder / "index")
    files = {"asqa": _file("qa_asqa_passages"), "qampari": _file("alce_qampari_questions")}
    files["eli5"] = _file("alce_eli5_questions")
    found = {}
    for name, words in _WORDS.items():
        dataset = name if name in TOPICS else name.partition("-")[0]
        path = files.get(dataset, folder / f"{dataset}.jsonl")
        found[name] = Place(path, None if dataset == "asqa" else index, words)
    return found


def _make(folder: Path) -> None:
    """Writes the questions that are cut out of a file of several kinds, and the index that all of them share."""
    rows = list(_rows("pool_questions"))
    short = [row for row in rows if row["kind"] == "short" and row["split"] == "train"]
    multihop = [row for row in rows if row["kind"] == "multihop" and row["split"] == "train"]
    chosen = {"nq": short[:MOST], "webq": short[MOST : 2 * MOST], "2wiki": multihop[:MOST]}
    for name, questions in chosen.items():
        _write(folder / f"{name}.jsonl", ({**row, "style": "short"} for row in questions))
    corpus = list(_rows("pool_corpus"))
    topics = _topics(corpus)
    for name, titles in topics.items():
        _write(folder / f"{name}.jsonl", ({"id": str(n), "question": title} for n, title in enumerate(titles)))
    golds = {id for questions in chosen.values() for row in questions for id in row["gold_passages"]}
    titled = {title for titles in topics.values() for title in titles}
    wanted = [row for row in corpus if row["id"] in golds or row["title"] in titled]
    others = random.Random(SEED).sample(corpus, min(OTHERS, len(corpus)))
    kept = {row["id"]: row for row in (*wanted, *others)}.values()
    lines = ({"_id": row["id"], "title": row["title"], "text": row["text"]} for row in kept)
    _write(folder / "corpus.jsonl", lines)
    toulmin.index([folder / "corpus.jsonl"], into=folder / "index", settings=Settings())


def _topics(corpus: Iterable[Mapping[str, Any]]) -> Mapping[str, list[str]]:
    """For each list of topics its own titles, of those that several records bear."""
    borne = Counter(row["title"] for row in corpus)
    known = sorted(title for title, records in borne.items() if records >= LEAST_RECORDS and title)
    drawn = random.Random(SEED).sample(known, MOST * len(TOPICS))
    return {name: drawn[n * MOST : (n + 1) * MOST] for n, name in enumerate(TOPICS)}


def _file(name: str) -> Path:
    path = Path(os.environ.get(DATA, "../shared/data")) / f"{name}.jsonl.gz"
    if not path.is_file():
        raise toulmin.SourceError(
            f"The small form needs {path}, which is not there; set {DATA} to the folder of the evaluation data, or name"
            " datasets with --data and leave --small out."
        )
    return path


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(_file(name), "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
