"""Text to claims and back: against human citations, on real sentences, and how fast.

    python benchmarks/citing.py [--split dev] [--answers 2000]

* LFRQA's answers carry human marks and, beside them, a list with the first label of every sentence: do the claims that
  are read open with the same labels?
* Sentences of `pool_corpus`, as the embedded writer would quote them, are rendered with marks and read back: are the
  claims the same? Three sentences an answer, citing their own passages.
* Characters a second of `sentences` and of `read_draft`, in one process. Target for `sentences`: 10 MB/s.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from time import process_time
from typing import Any

import data

from toulmin.data import Citation, Claim, Passage, render
from toulmin.parsing.citing import read_draft
from toulmin.text.language import sentences

OFFERED = [Passage.of(f"Passage {n}") for n in range(1, 101)]
LABEL = {passage.id: n for n, passage in enumerate(OFFERED, start=1)}


def first_labels(text: str) -> list[list[int]]:
    return [[LABEL[id] for id in claim.cited][:1] for claim in read_draft(text, OFFERED, "long").claims]


def as_annotated(split: str) -> tuple[str, str]:
    rows = list(data.rows("style_lfrqa_cited_answers", split))
    wanted = [[labels[:1] for labels in row["citation_numbers"]] for row in rows]
    found = [first_labels(row["cited_answer"]) for row in rows]
    count = sum(len(a) == len(b) for a, b in zip(wanted, found, strict=True))
    same = sum(a == b for a, b in zip(wanted, found, strict=True))
    return share(count, len(rows)), share(same, len(rows))


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} % of {whole}"


def quoted_answers(n: int) -> list[tuple[Claim, ...]]:
    """Answers of three sentences, each quoted from a passage of its own, the same at every run."""
    texts = [row["text"] for row in data.rows("pool_corpus")]
    choose = random.Random(1)
    labels = [choose.sample(range(100), 3) for _ in range(n)]
    return [tuple(quoted(choose.choice(texts), label, choose) for label in three) for three in labels]


def quoted(text: str, label: int, choose: random.Random) -> Claim:
    start, end = choose.choice(sentences(text))
    return Claim(" ".join(text[start:end].split()), (Citation(OFFERED[label].id),))


def reread(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    by_id = {passage.id: passage for passage in OFFERED}
    offered = [by_id[claim.cited[0]] for claim in claims]
    return read_draft(render(claims, "long").text, offered, "long").claims


def speed(work: Callable[[], Any], size: int) -> str:
    started = process_time()
    work()
    return f"{size / 1e6 / (process_time() - started):.1f} M characters/s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", default="dev", choices=["train", "dev"])
    parser.add_argument("--answers", type=int, default=2000)
    options = parser.parse_args()
    count, same = as_annotated(options.split)
    answers = quoted_answers(options.answers)
    kept = sum(reread(claims) == claims for claims in answers)
    corpus = "\n\n".join(row["text"] for row in data.rows("pool_corpus"))[:5_000_000]
    marked = "\n\n".join(render(claims, "long").text for claims in answers)
    print(f"LFRQA {options.split}: as many claims as annotated sentences   {count}")
    print(f"LFRQA {options.split}: every claim opens with the same label   {same}")
    print(f"quoted sentences rendered and read back unchanged   {share(kept, len(answers))}")
    print(f"sentences()   {speed(lambda: sentences(corpus), len(corpus))}   (target 10)")
    print(f"read_draft()  {speed(lambda: read_draft(marked, OFFERED, 'long'), len(marked))}")


if __name__ == "__main__":
    main()
