"""Questions that their sources do not answer, beside such that they do: who answers, who is silent, and who is wrong.

    python benchmarks/unanswerable.py [--limit 100] [--json FILE]

Every method with the embedded writer, judge and reader, style long, on dev splits:

* `qa_clapnq`: each question over the one passage that is given with it.
* `qa_mtrag_un`: the last turn of each conversation, by itself, over all passages that come with any conversation of
  its collection; those of unanswerable turns come with none. Partly answerable and underspecified turns are left out.
* `pool_questions` of the kind unanswerable, and as many short ones, drawn with a fixed seed, over BM25 on
  `pool_corpus`. Nobody has read all of it, so it may hold an answer to some of the former.

An answer to an unanswerable question is wrong. One to an answerable question is right if it holds a short answer
(pool), or if a claim of it is one of the sentences that people marked as answering, or a part of one, or holds one
(CLAPnq); for MTRAG-UN, which marks nothing in its passages, it is only told that there is one. `failed` is neither.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from data import rows
from headings import heading
from methods import ROWS
from simulation import POLICY, STYLE, Row, kit, pool_index, program
from writer_sets import normalised, passage

from toulmin.data import Answer, Passage
from toulmin.driver.drive import Driver, Job
from toulmin.extractive.writer import Extractive
from toulmin.retrieval.bm25 import Given, InMemory

SEED = 4
Result = Literal["right", "wrong", "answered", "silent", "failed"]


@dataclass(frozen=True)
class Asked:
    """A question over its sources; `is_right` tells of an answer's claims, None where nobody can."""

    text: str
    sources: Any
    is_answerable: bool
    is_right: Callable[[Answer], bool] | None = None

    def result(self, answer: Answer) -> Result:
        """What became of it."""
        if answer.status != "answered":
            return "failed" if answer.status == "failed" else "silent"
        if not self.is_answerable:
            return "wrong"
        if self.is_right is None:
            return "answered"
        return "right" if self.is_right(answer) else "wrong"


# ---------------------------------------------------------------- the sets


def clapnq() -> Iterator[Asked]:
    for row in rows("qa_clapnq", "dev"):
        marked = [text for one in row["answers"] for text in one["selected_sentences"]]
        sources = Given([passage(given) for given in row["passages"]])
        yield Asked(row["question"], sources, row["answerable"], _holding_sentence(marked))


def mtrag() -> Iterator[Asked]:
    given = defaultdict[str, dict[str, Passage]](dict)
    for row in [*rows("qa_mtrag_un", "dev"), *rows("qa_mtrag_un", "train")]:
        found = map(passage, row["contexts"])
        given[row["collection"]].update({one.id: one for one in found})
    sources = {name: InMemory(list(passages.values())) for name, passages in given.items()}
    for row in rows("qa_mtrag_un", "dev"):
        if row["answerability"][0] in ("ANSWERABLE", "UNANSWERABLE"):
            is_answerable = row["answerability"][0] == "ANSWERABLE"
            yield Asked(row["turns"][-1]["text"], sources[row["collection"]], is_answerable)


def pool(retriever: Any) -> Iterator[Asked]:
    asked = list(rows("pool_questions", "dev"))
    without = [row for row in asked if row["kind"] == "unanswerable"]
    short = [row for row in asked if row["kind"] == "short"]
    for row in [*without, *random.Random(SEED).sample(short, min(len(without), len(short)))]:
        answers = [alias for aliases in row.get("answers") or () for alias in aliases]
        yield Asked(row["question"], retriever, row["kind"] == "short", _holding_answer(answers))


def _holding_sentence(marked: Sequence[str]) -> Callable[[Answer], bool]:
    wanted = [words for words in map(_words, marked) if words]

    def holds(answer: Answer) -> bool:
        told = [words for claim in answer.claims if (words := _words(claim.text))]
        return any(one in other or other in one for one in wanted for other in told)

    return holds


def _words(text: str) -> str:
    """The words alone, so that tokenised and plain texts compare."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _holding_answer(answers: Sequence[str]) -> Callable[[Answer], bool]:
    wanted = [f" {words} " for words in map(normalised, answers) if words]

    def holds(answer: Answer) -> bool:
        told = f" {normalised(' '.join(claim.text for claim in answer.claims))} "
        return any(words in told for words in wanted)

    return holds


def limited(asked: Sequence[Asked], limit: int | None) -> list[Asked]:
    """At most `limit` answerable and as many unanswerable ones, in the order of the file."""
    return [q for kind in (True, False) for q in [q for q in asked if q.is_answerable is kind][:limit]]


# ---------------------------------------------------------------- the runs


@dataclass(frozen=True)
class Shares:
    """What became of the answerable and of the unanswerable questions under one method: shares of 0 to 1."""

    set: str
    method: str
    answerable: dict[str, float]
    unanswerable: dict[str, float]
    is_judged: bool  # whether an answer to an answerable one is known to be right or wrong

    def line(self) -> str:
        """The method as a line of the table."""
        answerable, unanswerable = self.answerable, self.unanswerable
        told = sum(answerable.get(name, 0.0) for name in ("right", "wrong", "answered"))
        right, wrong = (_cell(answerable, name) if self.is_judged else "-" for name in ("right", "wrong"))
        failed = answerable.get("failed", 0.0) + unanswerable.get("failed", 0.0)
        return (
            f"{self.method:<20}{100 * told:>9.1f}{right:>7}{wrong:>7}{_cell(answerable, 'silent'):>8}"
            f"{_cell(unanswerable, 'wrong'):>16}{_cell(unanswerable, 'silent'):>8}"
            f"{50 * (told + unanswerable.get('silent', 0.0)):>10.1f}{100 * failed:>8.1f}"
        )


def _cell(shares: dict[str, float], name: str) -> str:
    return f"{100 * shares.get(name, 0.0):.1f}"


async def results(row: Row, asked: Sequence[Asked], drivers: Sequence[Driver]) -> list[Result]:
    found = []
    for question, driver in zip(asked, drivers, strict=True):
        job = Job(question.text, row.method, STYLE, program(row, question.text))
        found.append(question.result((await driver.answer(job)).answer))
    return found


async def measured(name: str, asked: Sequence[Asked]) -> list[Shares]:
    """Every method over one set; questions over the same sources share a driver."""
    models = {"main": Extractive()}
    by_sources = {id(sources): Driver(kit(sources, models)) for sources in (question.sources for question in asked)}
    drivers = [by_sources[id(question.sources)] for question in asked]
    is_judged = any(question.is_right for question in asked)
    found = []
    for row in ROWS:
        became = await results(row, asked, drivers)
        split = [[r for r, q in zip(became, asked, strict=True) if q.is_answerable is kind] for kind in (True, False)]
        found.append(Shares(name, row.name, _shares(split[0]), _shares(split[1]), is_judged))
        print(found[-1].line(), flush=True)
    return found


def _shares(became: Sequence[Result]) -> dict[str, float]:
    return {name: became.count(name) / len(became) for name in dict.fromkeys(became)}


# ---------------------------------------------------------------- main

HEAD = f"{'':<20}{'answerable':<31}{'unanswerable':>16}\n{'method':<20} answered  right  wrong  silent" + (
    f"{'wrong':>16}  silent  balanced  failed"
)

SETTINGS = (
    f"Embedded writer, judge and reader; dev, style {STYLE}, --unsupported {POLICY}; of 100 questions of that kind.\n"
    "Balanced is the mean of answered where there is an answer and silent where there is none."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, help="most answerable, and most unanswerable, questions of a set")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    started, found = perf_counter(), []
    print(heading("unanswerable.py", SETTINGS))
    with pool_index() as retriever:
        sets = {"qa_clapnq": clapnq(), "qa_mtrag_un": mtrag(), "pool_questions": pool(retriever)}
        for name, questions in sets.items():
            asked = limited(list(questions), options.limit)
            without = sum(not q.is_answerable for q in asked)
            print(f"\n{name}: {len(asked) - without} answerable and {without} unanswerable questions\n{HEAD}")
            found += asyncio.run(measured(name, asked))
    print(f"\n{perf_counter() - started:.0f} s\n```")
    if options.json:
        options.json.write_text(json.dumps([asdict(line) for line in found], indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
