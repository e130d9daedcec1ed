"""A small language model as the writer: its raw answers, and what the methods make of them, by gold and not by a judge.

    python $TOULMIN_DATA/folder/fetch_folder.py docs --cache debs
    python benchmarks/small_model.py docs --model llama:smollm2 [--questions 100] [--split dev] [--only best raw]

Half of the questions are answerable ones of the folder, half ASQA's with five passages. The first row is the embedded
writer alone; it and `best` read as many passages of the folder as they usually do, of which the model is shown three;
the other rows show it five. `hit`: every fact of a folder question, any short answer of an ASQA question, is in the
text. `valid`: of the claims, those that cite a passage that was shown. `gold`: of the citations, those whose passage
holds a gold sentence (ASQA: a short answer); `chance`: the same of passages drawn at random from those shown. Silence
is no hit; it has no claims and no citations. Runs are kept in `--out`, where the same command goes on.

On a machine with many cores, make the index with `--only "embedded writer"`, then run one process for each row and half
(`--only vtg --half asqa --concurrency 16 --set llama.parallel=16`), and at the end the command without `--only` and
`--half`, but with the same `--set`: it prints the table from the runs in `--out`, whose seconds are of where each ran.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from headings import heading
from intervals import difference, interval

import toulmin
from toulmin.config import parse_options
from toulmin.data import Answer
from toulmin.evaluation.run_folder import read_run

DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
sys.path.append(str(DATA / "folder"))
EMBEDDED = "extractive"
K = 5


@dataclass(frozen=True)
class Asking:
    """Where and how every writer is asked; `settings` are beside its own."""

    index: Path
    out: Path
    model: str
    concurrency: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Writer:
    """A row of the table; `ours` is what it is asked with beside the model. One that is not usual needs `--only`."""

    name: str
    method: str
    ours: Mapping[str, Any] = field(default_factory=dict)
    is_usual: bool = True


WRITERS = (
    Writer("embedded writer", "best", {"model": EMBEDDED, "k": None}),
    Writer("raw, as text", "vanilla", {"structured": False, "unsupported": "keep"}),
    Writer("raw, full prompts", "vanilla", {"prompts": "full", "unsupported": "keep"}, is_usual=False),
    Writer("raw", "vanilla", {"unsupported": "keep"}),
    Writer("best", "best", {"k": None}),
    Writer("calm", "calm"),
    Writer("vtg", "vtg"),
    Writer("a2r", "a2r"),
)


# ---------------------------------------------------------------- questions and their gold


HALVES = ("folder", "asqa")


def questions(split: str, count: int, halves: Sequence[str] = HALVES) -> dict[str, dict[str, Any]]:
    """The questions of these halves by id, spread over each of them."""
    rows = {"folder": lambda: _folder(split), "asqa": _asqa}
    return {question["id"]: question for half in halves for question in _spread(rows[half](), count // 2)}


def _spread(rows: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    number = min(count, len(rows))
    return [rows[n * len(rows) // number] for n in range(number)]


def _folder(split: str) -> list[dict[str, Any]]:
    rows = _rows("folder_questions.jsonl.gz")
    return [row for row in rows if row["answerable"] and row["split"] == split]


def _asqa() -> list[dict[str, Any]]:
    return list(_rows("qa_asqa_passages.jsonl.gz"))


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def is_hit(question: Mapping[str, Any], text: str) -> bool:
    if "docs" in question:
        return any(_says(text, name) for name in _short_answers(question))
    from score_folder import present  # type: ignore[import-not-found]

    return all(present(fact, text) for fact in question["answers"])


def is_gold(question: Mapping[str, Any], passage: Any) -> bool:
    if "docs" in question:
        return any(_says(passage.text, name) for name in _short_answers(question))
    from score_folder import in_passage

    shown = {"text": passage.text, "file": passage.source.path}
    return any(in_passage(gold, shown) for gold in question["gold"])


def _short_answers(question: Mapping[str, Any]) -> list[str]:
    return [name for pair in question["qa_pairs"] for name in pair["short_answers"]]


def _says(text: str, name: str) -> bool:
    return f" {_plain(name)} " in f" {_plain(text)} "


def _plain(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in text.lower()).split())


# ---------------------------------------------------------------- runs


def answers(writer: Writer, asked: Mapping[str, Any], how: Asking) -> dict[str, Answer]:
    """One for each question, from the run's folder where it is already there."""
    made: dict[str, Answer] = {}
    for name in HALVES:
        rows = [row for row in asked.values() if ("docs" in row) == (name == "asqa")]
        if rows:
            folder = how.out / f"{writer.name.replace(', ', '-').replace(' ', '-')}-{name}"
            settings = {"model": how.model, "method": writer.method, "k": K, "unsupported": "drop", **writer.ours}
            toulmin.run(
                _dataset(how.out / f"{name}.jsonl", rows),
                out=folder,
                index=how.index if name == "folder" else None,
                concurrency=how.concurrency,
                **{**how.settings, **settings},
            )
            made |= {answer.id: answer for answer in read_run(folder).answers}
    return made


def _dataset(file: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Written only where it is not there already: another process may be reading it."""
    words = "".join(json.dumps(_dataset_row(row)) + "\n" for row in rows)
    if not file.exists() or file.read_text("utf-8") != words:
        file.write_text(words, "utf-8")
    return file


def _dataset_row(row: Mapping[str, Any]) -> dict[str, Any]:
    docs = {"docs": [{"title": doc["title"], "text": doc["text"]} for doc in row["docs"][:K]]} if "docs" in row else {}
    return {"id": row["id"], "question": row["question"], **docs}


# ---------------------------------------------------------------- figures


@dataclass(frozen=True)
class Figures:
    """Of each question in order; None where it has no claims or no citations."""

    hit: list[float]
    valid: list[float | None]
    gold: list[float | None]
    chance: list[float | None]
    supported: int
    claims: int
    failed: int
    seconds: float


def figures(asked: Mapping[str, Any], made: Mapping[str, Answer]) -> Figures:
    rows = [_of_answer(question, made[id]) for id, question in asked.items()]
    each = [made[id] for id in asked]
    claims = [claim for answer in each for claim in answer.claims]
    return Figures(
        hit=[row[0] for row in rows],
        valid=[row[1] for row in rows],
        gold=[row[2] for row in rows],
        chance=[row[3] for row in rows],
        supported=sum(claim.support is not None and claim.support.label == "supported" for claim in claims),
        claims=len(claims),
        failed=sum(answer.status == "failed" for answer in each),
        seconds=mean(answer.usage.seconds for answer in each),
    )


def _of_answer(question: Mapping[str, Any], answer: Answer) -> tuple[float, float | None, float | None, float | None]:
    known = {passage.id: is_gold(question, passage) for passage in answer.passages}
    cited = [id for claim in answer.claims for id in claim.cited]
    valid = [any(id in known for id in claim.cited) for claim in answer.claims]
    share = mean(known.values()) if known and cited else None
    return (
        float(bool(answer.claims) and is_hit(question, answer.text)),
        mean(valid) if valid else None,
        mean(known.get(id, False) for id in cited) if cited else None,
        share,
    )


def _percent(values: Sequence[float | None]) -> str:
    percents = [100 * value for value in values if value is not None]
    return str(interval(percents)) if percents else "none"


def show(name: str, row: Figures) -> None:
    parts = [_percent(values) for values in (row.hit, row.valid, row.gold, row.chance)]
    counts = f"{row.supported:4} of {row.claims:4}  {row.failed:3}  {row.seconds:6.1f}"
    print(f"{name:17} {'  '.join(f'{part:20}' for part in parts)}  {counts}", flush=True)


def compare(name: str, row: Figures, raw: Figures) -> None:
    """Against the raw answers, over the questions where both cite."""
    both = [(a, b) for a, b in zip(row.gold, raw.gold, strict=True) if a is not None and b is not None]
    gold = difference([100 * a for a, _ in both], [100 * b for _, b in both]) if both else None
    hit = difference([100 * value for value in row.hit], [100 * value for value in raw.hit])
    cited = f"{gold} over {len(both)}" if gold else "none"
    print(f"{name:17} hit {hit}, gold {cited}")


def main() -> None:
    """Runs and prints a row for each writer, then what changed against the raw answers."""
    chosen = _parser().parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    asked = questions(chosen.split, chosen.questions, chosen.half)
    settings = parse_options(tuple(chosen.set))
    how = Asking(chosen.out / "index", chosen.out, chosen.model, chosen.concurrency, settings)
    if not how.index.exists():
        toulmin.index(chosen.docs, into=how.index)
    print(heading("small_model.py", f"{len(asked)} questions; figures in per cent."))
    print(f"{'':17} {'hit':20}  {'valid':20}  {'gold':20}  {'chance':20}  supported    failed  s")
    rows: dict[str, Figures] = {}
    for writer in WRITERS:
        if writer.name in chosen.only if chosen.only else writer.is_usual:
            rows[writer.name] = figures(asked, answers(writer, asked, how))
            show(writer.name, rows[writer.name])
    for name in rows.keys() - {"raw"} if "raw" in rows else ():
        compare(name, rows[name], rows["raw"])
    print("```")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docs", type=Path)
    parser.add_argument("--model", default="llama:smollm2")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--split", choices=("train", "dev"), default="dev", help="of the folder; ASQA has dev alone")
    parser.add_argument("--only", nargs="+", choices=[writer.name for writer in WRITERS])
    parser.add_argument("--half", nargs="+", choices=HALVES, default=HALVES, help="of the questions (both)")
    parser.add_argument("--concurrency", type=int, default=1, metavar="N", help="questions at once (%(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of every run")
    parser.add_argument("--out", type=Path, default=Path("runs/small_model"))
    return parser


if __name__ == "__main__":
    main()
