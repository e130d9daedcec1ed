"""The stand-ins for the papers' datasets: questions of the shared evaluation data, and the index that they share.

They are made once in a folder and serve every experiment with the same `--out`: the small form searches a part of
`pool_corpus`, `all.py` the whole of it. Where the data lacks a dataset, another one replaces it, and the table names
it. Questions are of the dev parts, which nothing that ships was trained on.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import toulmin
from toulmin.config import Settings
from toulmin.demo import FOLDER
from toulmin.metrics.splitting import sentences

DATA = "TOULMIN_DATA"
SEED = 7
MOST = 100  # questions of a stand-in
OTHERS = 1_000  # passages of the small form's index that hold no answer to them
LEAST_RECORDS = 2  # that bear a title, for it to be a topic
CLAIMS = 3  # of a gold answer, as ALCE's ELI5 has them


@dataclass(frozen=True, slots=True)
class Place:
    """Where a dataset lies, and the index that its questions are searched in (None: they bring their passages)."""

    path: Path
    index: str | None = None
    stands_in: str | None = None


Rows = Sequence[Mapping[str, Any]]
PEOPLE, EVENTS = ("wiki-ent", "researcher"), ("wiki-event", "news-events")
_ASQA = "qa_asqa_passages: ASQA with passages of several retrievers"
_LISTS = "qa_multispanqa: MultiSpanQA, questions with several answers (ALCE's QAMPARI comes without passages)"
_WORDS = {
    "asqa": _ASQA,
    "asqa-dpr": _ASQA,
    "asqa-gtr": _ASQA,
    "eli5": f"CLAPnq questions of pool_questions, the first {CLAIMS} sentences of a person's answer taken for the gold"
    " claims (ALCE's ELI5 comes without passages)",
    "qampari": _LISTS,
    "qampari-dpr": _LISTS,
    "qampari-gtr": _LISTS,
    "nq": "NQ questions of pool_questions",
    "webq": "other NQ questions of pool_questions (there is no WebQ)",
    "2wiki": "HotpotQA questions of pool_questions (the 2WikiMultihopQA questions there have no answers)",
    **dict.fromkeys(PEOPLE, "people, by titles of pool_corpus whose text begins with their years"),
    **dict.fromkeys(EVENTS, "events, by titles of pool_corpus that read so"),
}


def places(folder: Path, *, whole: bool = False) -> Mapping[str, Place]:
    """Every stand-in by the name of what it stands for, made in `folder` unless it is there already.

    With `whole` all of `pool_corpus` is searched. Where the shared data is not there, the small form asks about the
    demo's documents; else it raises `SourceError`.
    """
    if not whole and not _path("pool_corpus").is_file():
        return _demo(folder.with_name("demo"))
    made = folder / "made.json"
    if not made.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        _make(folder, whole=whole)
        made.write_text(json.dumps({"seed": SEED, "questions": MOST, "whole": whole}), "utf-8")
    searched = f"searched in {'pool_corpus' if whole else 'a part of pool_corpus'}"
    places = {}
    for name, words in _WORDS.items():
        if name.startswith("asqa"):
            places[name] = Place(_file("qa_asqa_passages"), None, words)
        else:
            path = folder / f"{re.sub('-(dpr|gtr)$', '', name)}.jsonl"
            places[name] = Place(path, str(folder / "index"), f"{words}, {searched}")
    return places


def _make(folder: Path, *, whole: bool) -> None:
    """Writes the questions, and the index that all of them share."""
    corpus, listed = list(_rows("pool_corpus")), list(_rows("qa_multispanqa"))
    topics = _topics(corpus)
    questions = _questions()
    for name, rows in {**questions, **topics, "qampari": _lists(listed)}.items():
        _write(folder / f"{name}.jsonl", rows)
    golds = {id for rows in questions.values() for row in rows for id in row["gold_passages"]}
    titles = {row["question"] for rows in topics.values() for row in rows}
    wanted = [row for row in corpus if row["id"] in golds or row["title"] in titles]
    others = corpus if whole else random.Random(SEED).sample(corpus, min(OTHERS, len(corpus)))
    contexts = [{"id": f"multispanqa:{row['id']}", "title": "", "text": row["context"]} for row in listed]
    kept = {row["id"]: row for row in (*wanted, *others, *contexts)}.values()
    lines = ({"_id": row["id"], "title": row["title"], "text": row["text"]} for row in kept)
    _write(folder / "corpus.jsonl", lines)
    toulmin.index([folder / "corpus.jsonl"], into=folder / "index", settings=Settings())


def _demo(folder: Path) -> Mapping[str, Place]:
    """The questions of `demo.toml`, in the forms of the datasets that they stand in for."""
    asked = tomllib.loads(Path(__file__).with_name("demo.toml").read_text("utf-8"))
    texts = {path.stem.replace("_", " "): path.read_text("utf-8") for path in sorted(FOLDER.iterdir())}
    docs = [{"title": title, "text": part} for title, text in texts.items() for part in text.split("\n\n")]
    rows: Mapping[str, Rows] = {
        "asqa": [{"qa_pairs": row["parts"], "docs": docs} | _fields(row, "answer") for row in asked["questions"]],
        "eli5": [_fields(row, "answer", "claims") for row in asked["questions"]],
        "nq": [{"style": "short"} | _fields(row, "answers") for row in asked["questions"]],
        "qampari": [
            {**row, "answers": [[one] for one in row["answers"]], "answer": ", ".join(row["answers"])}
            for row in asked["lists"]
        ],
        "topics": [{"question": topic} for topic in asked["topics"]],
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, listed in rows.items():
        _write(folder / f"{name}.jsonl", listed)
    toulmin.index([FOLDER], into=folder / "index", settings=Settings())
    of = {**dict.fromkeys((*PEOPLE, *EVENTS), "topics"), "webq": "nq", "2wiki": "nq"}
    files = {name: of.get(name, name.partition("-")[0]) for name in _WORDS}
    index = str(folder / "index")
    return {
        name: Place(folder / f"{file}.jsonl", None if file == "asqa" else index, "questions about the demo's documents")
        for name, file in files.items()
    }


def _fields(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in ("question", *names)}


def _questions() -> Mapping[str, Rows]:
    """What is cut out of `pool_questions`, by the names of its sets there."""
    sets = defaultdict(list)
    for row in _rows("pool_questions"):
        if row["split"] == "dev" and row["kind"] in ("short", "long", "multihop"):
            sets[row["id"].partition(":")[0]].append(row)
    short = [{**row, "style": "short"} for row in sets["nqgold"]]
    hops = [{**row, "style": "short"} for row in sets["hotpot"]]
    return {"nq": short[:MOST], "webq": short[MOST : 2 * MOST], "2wiki": hops[:MOST], "eli5": _long(sets["clapnq"])}


def _long(rows: Rows) -> Rows:
    """Questions in the form of ALCE's ELI5."""
    return [
        {
            "id": row["id"],
            "question": row["question"],
            "answer": row["long_answers"][0],
            "claims": sentences(row["long_answers"][0])[:CLAIMS],
            "gold_passages": row["gold_passages"],
        }
        for row in rows[:MOST]
    ]


def _lists(rows: Rows) -> Rows:
    """Questions in the form of ALCE's QAMPARI."""
    return [
        {
            "id": row["id"],
            "question": row["question"],
            "answers": [[answer] for answer in row["answers"]],
            "answer": f"{', '.join(row['answers'])}.",
        }
        for row in rows
        if row["split"] == "dev"
    ][:MOST]


# ---------------------------------------------------------------- topics

_YEARS = re.compile(r"[^.]{0,60}\((?:[^()]*[;,] )?(?:born\b|[^()]*\b\d{4}\s*[–-]\s*[^()]*\d{4}\s*\))")
_EVENT = re.compile(
    r"\d{4} .*(?:election|Cup|Olympics|Games|Series|Final|earthquake|hurricane)"
    r"|(?:\w+ )?(?:Battle|Siege|Treaty|Fire|Massacre) of .*"
    r"|Hurricane .*\(\d{4}\)|Super Bowl [IVXL]+"
    r"|(?:\w+ ){1,4}(?:Civil War|Punic War|Revolution|Rebellion|Purchase|shooting)"
)


def _topics(corpus: Rows) -> Mapping[str, Rows]:
    """For each list of topics its own titles, of those that several records bear."""
    texts = defaultdict(list)
    for row in corpus:
        texts[row["title"]].append(row["text"])
    known = {title: bearing for title, bearing in sorted(texts.items()) if len(bearing) >= LEAST_RECORDS}
    people = [title for title, bearing in known.items() if any(_is_life(title, text) for text in bearing)]
    events = [title for title in known if _EVENT.fullmatch(title) and title not in people]
    return {**_halves(people, PEOPLE), **_halves(events, EVENTS)}


def _is_life(title: str, text: str) -> bool:
    """Whether the text begins as a biography of that name; a title with years is that of an age."""
    family = re.sub(r" \(.*", "", title).split(" ")[-1]
    begins = _YEARS.match(text)
    named = " " in title and not re.search(r"\d", title)
    return named and begins is not None and family in begins[0]


def _halves(titles: Sequence[str], lists: Sequence[str]) -> Mapping[str, Rows]:
    drawn = random.Random(SEED).sample(titles, len(titles))
    return {
        name: [{"id": str(n), "question": title} for n, title in enumerate(drawn[at :: len(lists)][:MOST])]
        for at, name in enumerate(lists)
    }


# ---------------------------------------------------------------- files


def _path(name: str) -> Path:
    return Path(os.environ.get(DATA, "../shared/data")) / f"{name}.jsonl.gz"


def _file(name: str) -> Path:
    path = _path(name)
    if not path.is_file():
        raise toulmin.SourceError(
            f"The stand-ins need {path}, which is not there; set {DATA} to the folder of the evaluation data, or name"
            " datasets with --data and leave --small out."
        )
    return path


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(_file(name), "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
