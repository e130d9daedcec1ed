"""Questions that their sources do not answer, beside such that they do: who answers, who is silent, and who is wrong.

    python benchmarks/unanswerable.py [--limit 100] [--methods best,vanilla] [--json FILE]

`toulmin.ask` as people get it (the embedded writer, its reader and judge, words ranked anew by the encoder), dev parts:

* `qa_clapnq`: each question over the one passage that is given with it.
* `qa_mtrag_un`: the last turn of each conversation, by itself, over all passages that come with any conversation of
  its collection; those of unanswerable turns come with none. Partly answerable and underspecified turns are left out.
* `pool_questions` over `pool_corpus`: those of the kind unanswerable, beside as many short ones and those of two steps.
  Nobody has read all of the corpus, so it may hold an answer to some of the former.

An answer to an unanswerable question is wrong. One to an answerable question is right if it holds a short answer
(pool), or if a claim of it is one of the sentences that people marked as answering, or a part of one, or holds one
(CLAPnq); for MTRAG-UN, which marks nothing in its passages, it is only known that there is one. `failed` is neither.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from data import path, rows
from headings import heading
from writer_sets import normalised, passage

import toulmin
from toulmin.data import Answer, Passage

SEED = 4
Result = Literal["right", "wrong", "answered", "silent", "failed"]


class Asked(NamedTuple):
    """A question with where `toulmin.ask` finds its sources; `is_right` is None where nobody can say."""

    text: str
    sources: dict[str, Any]
    is_answerable: bool
    is_right: Callable[[Answer], bool] | None = None

    def result(self, answer: Answer) -> Result:
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
        marked = [text for answer in row["answers"] for text in answer["selected_sentences"]]
        sources = {"passages": [passage(each) for each in row["passages"]]}
        yield Asked(row["question"], sources, row["answerable"], _holds_sentence(marked))


def mtrag(folder: Path) -> Iterator[Asked]:
    by_collection = defaultdict[str, dict[str, Passage]](dict)
    for row in [*rows("qa_mtrag_un", "dev"), *rows("qa_mtrag_un", "train")]:
        by_collection[row["collection"]].update({each.id: each for each in map(passage, row["contexts"])})
    for name, passages in by_collection.items():
        records = ({"_id": each.id, "title": each.title, "text": each.text} for each in passages.values())
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
        toulmin.index(folder / f"{name}.jsonl", into=folder / name)
    for row in rows("qa_mtrag_un", "dev"):
        if row["answerability"][0] in ("ANSWERABLE", "UNANSWERABLE"):
            is_answerable = row["answerability"][0] == "ANSWERABLE"
            yield Asked(row["turns"][-1]["text"], {"index": folder / row["collection"]}, is_answerable)


def pool(index: Path, kind: str) -> Iterator[Asked]:
    """The unanswerable questions, and as many of a kind."""
    asked = list(rows("pool_questions", "dev"))
    without = [row for row in asked if row["kind"] == "unanswerable"]
    others = [row for row in asked if row["kind"] == kind]
    drawn = random.Random(SEED).sample(others, min(len(without), len(others)))
    for row in [*without, *drawn]:
        answers = [alias for aliases in row.get("answers") or () for alias in aliases]
        yield Asked(row["question"], {"index": index}, row["kind"] == kind, _holds_answer(answers))


def _holds_sentence(marked: Sequence[str]) -> Callable[[Answer], bool]:
    wanted = [words for words in map(_words, marked) if words]

    def holds(answer: Answer) -> bool:
        texts = [words for claim in answer.claims if (words := _words(claim.text))]
        return any(sentence in text or text in sentence for sentence in wanted for text in texts)

    return holds


def _words(text: str) -> str:
    """The words alone, so that tokenised and plain texts compare."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _holds_answer(answers: Sequence[str]) -> Callable[[Answer], bool]:
    wanted = [f" {words} " for words in map(normalised, answers) if words]

    def holds(answer: Answer) -> bool:
        text = f" {normalised(' '.join(claim.text for claim in answer.claims))} "
        return any(words in text for words in wanted)

    return holds


def limited(asked: Sequence[Asked], limit: int | None) -> list[Asked]:
    """At most `limit` answerable and as many unanswerable ones, each drawn with a fixed seed."""
    kinds = [[each for each in asked if each.is_answerable is kind] for kind in (True, False)]
    return [
        each
        for kind in kinds
        for each in (kind if limit is None else random.Random(SEED).sample(kind, min(limit, len(kind))))
    ]


# ---------------------------------------------------------------- the runs


class Shares(NamedTuple):
    """The results of the answerable and of the unanswerable questions by one method."""

    set: str
    method: str
    answerable: Counter[Result]
    unanswerable: Counter[Result]

    def line(self) -> str:
        able, unable = self.answerable, self.unanswerable
        n, m = able.total(), unable.total()
        spoken = able["right"] + able["wrong"] + able["answered"]
        right, wrong = ("-", "-") if able["answered"] else (_share(able["right"], n), _share(able["wrong"], n))
        balanced = (spoken / n + unable["silent"] / m) / 2
        return (
            f"{self.method:<20}{_share(spoken, n):>9}{right:>7}{wrong:>7}{_share(able['silent'], n):>8}"
            f"{_share(unable['wrong'], m):>16}{_share(unable['silent'], m):>8}"
            f"{100 * balanced:>10.1f}{_share(able['failed'] + unable['failed'], n + m):>8}"
        )


def _share(count: int, of: int) -> str:
    return f"{100 * count / of:.1f}"


def run(name: str, asked: Sequence[Asked], methods: Sequence[str]) -> list[Shares]:
    print(f"\n{name}: {sum(each.is_answerable for each in asked)} answerable of {len(asked)} questions\n{HEAD}")
    lines = []
    for method in methods:
        counts: dict[bool, Counter[Result]] = {True: Counter(), False: Counter()}
        for each in asked:
            answer = toulmin.ask(each.text, method=method, **each.sources)
            counts[each.is_answerable][each.result(answer)] += 1
        lines.append(Shares(name, method, counts[True], counts[False]))
        print(lines[-1].line(), flush=True)
    return lines


# ---------------------------------------------------------------- main

HEAD = f"{'':<20}{'answerable':<31}{'unanswerable':>16}\n{'method':<20} answered  right  wrong  silent" + (
    f"{'wrong':>16}  silent  balanced  failed"
)
SETTINGS = (
    "As shipped; dev, style long; of 100 questions of that kind.\n"
    "Balanced is the mean of answered where there is an answer and silent where there is none."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, help="most answerable, and most unanswerable, questions of a set")
    parser.add_argument("--methods", default="best,vanilla")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(heading("unanswerable.py", SETTINGS))
    lines = []
    with TemporaryDirectory() as place:
        folder = Path(place)
        toulmin.index(path("pool_corpus"), into=folder / "pool")
        sets = {
            "qa_clapnq": clapnq(),
            "qa_mtrag_un": mtrag(folder),
            "pool_questions, short": pool(folder / "pool", "short"),
            "pool_questions, two steps": pool(folder / "pool", "multihop"),
        }
        for name, questions in sets.items():
            lines += run(name, limited(list(questions), options.limit), options.methods.split(","))
    print("```")
    if options.json:
        options.json.write_text(json.dumps([line._asdict() for line in lines], indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
