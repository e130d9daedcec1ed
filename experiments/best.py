"""Whether `best` is best: each method with the same model, scored by gold labels and not by a judge.

    python $TOULMIN_DATA/folder/fetch_folder.py docs --cache debs
    python experiments/best.py docs --model llama:qwen2.5-coder-1.5b --questions 30

A third of the questions each: answerable ones of the folder, ASQA with its passages, and lists of MultiSpanQA among
passages of other lists. Every row reads `K` passages; where a row has another model in a role, its name says so.
Claims that the product's judge does not support are dropped in every row.

* `right`: every fact of a folder question, any short answer of ASQA, every item of a list is in the text.
* `F1`: of the citations. Precision is the share of those whose passage holds a gold sentence (of the folder) or an
  answer; recall the share of claims with such a citation. Silence has 0, so that no method gains by it.
* `judged`: the share of claims that `--judge` supports, which corrected no row; without one it is left out.
* `tokens`, `s`: of all models, read and written, a question.

Below stands what each row has more or less than `best`, question by question, with 95 % intervals. Runs are kept in
`--out`, where the same command continues.
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
from statistics import fmean
from typing import Any

import toulmin
from toulmin.config import parse_options
from toulmin.data import Answer
from toulmin.evaluation.run_folder import read_run
from toulmin.text.language import content_terms

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))

from headings import heading
from intervals import difference, interval

DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
sys.path.append(str(DATA / "folder"))
PARTS = ("folder", "asqa", "lists")
K = 5
SMALL_VERIFIER = "llama:smollm2"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Writer:
    """A row of the table; `ours` is what it is asked with beside the model. One that is not usual needs `--only`."""

    name: str
    method: str
    ours: Mapping[str, Any] = field(default_factory=dict)
    is_usual: bool = True


WRITERS = (
    Writer("embedded writer", "best", {"model": "extractive"}),
    Writer("best", "best"),
    Writer("vanilla", "vanilla"),
    Writer("calm, small verifier", "calm", {"verifier": SMALL_VERIFIER}),
    Writer("calm, itself", "calm"),
    Writer("vtg", "vtg"),
    Writer("plan", "plan"),
    Writer("a2r", "a2r"),
    Writer("best, no quotes", "best", {"quotes": False}),
    Writer("best, model rewrites", "best", {"rewriter": "MODEL"}),
    Writer("best, one draft", "best", {"quotes": False, "max_rounds": 0}),
    Writer("best, lexical judge", "best", {"judge": "lexical"}),
    Writer("best, its own k", "best", {"k": None}, is_usual=False),
)


# ---------------------------------------------------------------- questions and their gold


def questions(part: str, count: int) -> list[Row]:
    """The first questions of a part, in its own order but the folder's, which is by kind and so is spread."""
    if part == "asqa":
        return list(_rows("qa_asqa_passages"))[:count]
    if part == "lists":
        return _lists([row for row in _rows("qa_multispanqa") if row["split"] == "dev"], count)
    folder = [row for row in _rows("folder_questions") if row["answerable"] and row["split"] == "dev"]
    return [folder[n * len(folder) // count] for n in range(min(count, len(folder)))]


def _lists(rows: Sequence[Row], count: int) -> list[Row]:
    """Each with its own passage among the others' that share most words with the question, that one in the middle."""
    made: list[Row] = []
    for row in rows[:count]:
        terms = content_terms(row["question"])
        others = sorted(
            {other["context"] for other in rows} - {row["context"]},
            key=lambda text: (-len(terms & content_terms(text)), text),
        )
        texts = [*others[: K // 2], row["context"], *others[K // 2 : K - 1]]
        pairs = [{"short_answers": [answer]} for answer in row["answers"]]
        docs = [{"title": "", "text": text} for text in texts]
        made.append({**row, "style": "list", "qa_pairs": pairs, "docs": docs})
    return made


def _rows(name: str) -> Iterator[Row]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def is_right(question: Row, text: str) -> bool:
    """Whether the text has what the question asks for; of a list every item."""
    if question.get("style") != "list":
        return is_hit(question, text)
    return all(is_hit({**question, "qa_pairs": [pair]}, text) for pair in question["qa_pairs"])


def is_hit(question: Row, text: str) -> bool:
    if "docs" in question:
        return any(_says(text, name) for name in _short_answers(question))
    from score_folder import present  # type: ignore[import-not-found]

    return all(present(fact, text) for fact in question["answers"])


def is_gold(question: Row, passage: Any) -> bool:
    """Whether the passage holds a gold sentence of the folder's question, or a short answer."""
    if "docs" in question:
        return any(_says(passage.text, name) for name in _short_answers(question))
    from score_folder import in_passage

    shown = {"text": passage.text, "file": passage.source.path}
    return any(in_passage(gold, shown) for gold in question["gold"])


def _short_answers(question: Row) -> list[str]:
    return [name for pair in question["qa_pairs"] for name in pair["short_answers"]]


def _says(text: str, name: str) -> bool:
    return f" {_plain(name)} " in f" {_plain(text)} "


def _plain(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in text.lower()).split())


# ---------------------------------------------------------------- runs and figures


@dataclass(frozen=True)
class Figures:
    """Of each question in order, in per cent; `judged` of each part with claims."""

    right: list[float]
    f1: list[float]
    judged: list[float]
    silent: int
    tokens: float
    seconds: float


def figures(writer: Writer, asked: Mapping[str, Sequence[Row]], chosen: argparse.Namespace) -> Figures:
    """Has the row's answers made where they are not there yet, and scores them."""
    answers: list[tuple[Row, Answer]] = []
    judged: list[float] = []
    for part, rows in asked.items():
        folder = _run(writer, part, rows, chosen)
        made = {answer.id: answer for answer in read_run(folder).answers}
        answers += [(row, made[row["id"]]) for row in rows]
        if chosen.judge and any(answer.claims for answer in made.values()):
            metric = toulmin.score(folder, judge=chosen.judge)["metrics"]["citation_rec"]
            judged += [metric["value"]]
    each = [answer for _, answer in answers]
    return Figures(
        right=[100.0 * (bool(answer.claims) and is_right(row, answer.text)) for row, answer in answers],
        f1=[100 * citation_f1(row, answer) for row, answer in answers],
        judged=judged,
        silent=sum(not answer.claims for answer in each),
        tokens=fmean(sum(role.input + role.output for role in answer.usage.tokens.values()) for answer in each),
        seconds=fmean(answer.usage.seconds for answer in each),
    )


def _run(writer: Writer, part: str, rows: Sequence[Row], chosen: argparse.Namespace) -> Path:
    folder: Path = chosen.out / f"{writer.name.replace(', ', '-').replace(' ', '-')}-{part}"
    dataset = chosen.out / f"{part}.jsonl"
    dataset.write_text("".join(f"{json.dumps(_question(row))}\n" for row in rows), "utf-8")
    row_settings = {name: chosen.model if value == "MODEL" else value for name, value in writer.ours.items()}
    settings = {"model": chosen.model, "method": writer.method, "k": K, "unsupported": "drop"}
    index = _index(chosen) if part == "folder" else None
    given = parse_options(tuple(chosen.set))
    report = toulmin.run(dataset, out=folder, index=index, concurrency=1, **{**settings, **given, **row_settings})
    if report.error is not None:
        raise report.error
    return folder


def _index(chosen: argparse.Namespace) -> Path:
    """Brought up to date at each call, as an earlier one may have ended halfway."""
    index: Path = chosen.out / "index"
    toulmin.index(chosen.docs, into=index)
    return index


def _question(row: Row) -> dict[str, Any]:
    asked = {"id": row["id"], "question": row["question"]}
    if "docs" in row:
        asked["docs"] = [{"title": doc["title"], "text": doc["text"]} for doc in row["docs"][:K]]
    return asked | ({"style": row["style"]} if "style" in row else {})


def citation_f1(question: Row, answer: Answer) -> float:
    """Of one answer's citations, by the gold labels of the passages; 0 where it cites none that holds gold."""
    gold = {passage.id for passage in answer.passages if is_gold(question, passage)}
    cited = [id in gold for claim in answer.claims for id in claim.cited]
    if not any(cited):
        return 0.0
    precision, recall = fmean(cited), fmean(any(id in gold for id in claim.cited) for claim in answer.claims)
    return 2 * precision * recall / (precision + recall)


# ---------------------------------------------------------------- the table


def main() -> None:
    """Prints a row for each writer as soon as it is there, then how they differ from `best`."""
    chosen = _parser().parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    asked = {part: questions(part, chosen.questions // len(PARTS)) for part in PARTS}
    print(heading("best.py", f"{sum(map(len, asked.values()))} questions; figures in per cent.", "experiments"))
    print(f"{'':21} {'right':20}  {'F1':20}  judged  silent  tokens       s")
    rows: dict[str, Figures] = {}
    for writer in WRITERS:
        if writer.name in chosen.only if chosen.only else writer.is_usual:
            row = rows[writer.name] = figures(writer, asked, chosen)
            judged = f"{fmean(row.judged):6.1f}" if row.judged else "     -"
            counts = f"{judged}  {row.silent:6}  {row.tokens:6.0f}  {row.seconds:6.1f}"
            print(f"{writer.name:21} {interval(row.right)!s:20}  {interval(row.f1)!s:20}  {counts}", flush=True)
    ours = rows.pop("best", None)
    if ours is not None:
        print("\nmore or less than best")
        for name, row in rows.items():
            print(f"{name:21} {difference(row.right, ours.right)!s:20}  {difference(row.f1, ours.f1)!s:20}")
    print("```")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docs", type=Path, help="the folder of documents that the folder's questions are about")
    parser.add_argument("--model", default="llama:qwen2.5-coder-1.5b", metavar="SPEC", help="writes (%(default)s)")
    parser.add_argument("--judge", metavar="SPEC", help="judges the claims afterwards, such as asked:MODEL")
    parser.add_argument("--questions", type=int, default=30, metavar="N", help="of all three parts (%(default)s)")
    parser.add_argument("--only", nargs="+", choices=[writer.name for writer in WRITERS], metavar="ROW", help="rows")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of every run")
    parser.add_argument("--out", type=Path, default=Path("runs/best"), metavar="DIR", help="where runs are kept")
    return parser


if __name__ == "__main__":
    main()
