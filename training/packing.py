"""Lessons as arrays: `python training/packing.py --start BASE --out DIR --rows 60000`.

`DIR` gets `rows.npz`, each lesson once; `order-0.npy` and so on, the rows as each of `--runs` runs reads them, with
repetitions; and `dev.npz`, at most `--each` dev claims of each natural set. Token ids take two bytes. A row is
`claim or question, evidence`, both between the tokenizer's control tokens; of evidence that is too long the excerpt is
read that the judge would choose.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from claims.mixture import SHARES
from lessons import Lesson, default_data, learnable, mixture, natural_dev
from numpy.typing import NDArray
from packs import UNKNOWN, Pack

from toulmin.judges.trained import Excerpt, excerpts
from toulmin.runtime.network import Row, Tokens
from toulmin.runtime.windows import heading, hypothesis
from toulmin.text.language import STOPWORDS, terms


def pack(lessons: Sequence[Lesson], tokens: Tokens, processes: int = 1) -> tuple[Pack, list[int]]:
    """The rows of lessons, and the lesson of each; a block that does not fit is left out."""
    names = list(dict.fromkeys(lesson.source for lesson in lessons))
    if processes == 1:
        read = [_row(lesson, tokens) for lesson in lessons]
    else:
        with Pool(processes, _begin, (tokens,)) as pool:
            read = pool.map(_read, lessons, 256)
    kept = [n for n, row in enumerate(read) if row is not None]
    rows = [(lessons[n], row) for n in kept if (row := read[n]) is not None]
    answers = [_answer(lesson, row, excerpt) for lesson, (row, excerpt) in rows]
    known = [lesson for lesson, _ in rows]
    numbers = {asked: n for n, asked in enumerate(dict.fromkeys(lesson.asked for lesson in known if lesson.asked))}
    packed = Pack(
        ids=np.array([token for _, (row, _) in rows for token in row.ids], np.uint16),
        marks=np.concatenate([_marks(lesson, row, tokens) for lesson, (row, _) in rows]),
        sizes=np.array([len(row.ids) for _, (row, _) in rows]),
        second=np.array([row.second for _, (row, _) in rows]),
        verdict=np.array([lesson.verdict for lesson in known]),
        vague=np.array([int(lesson.vague) for lesson in known]),
        block=np.array([lesson.block for lesson in known]),
        first=np.array([first for first, _ in answers]),
        last=np.array([last for _, last in answers]),
        source=np.array([names.index(lesson.source) for lesson in known]),
        question=np.array([numbers[lesson.asked] if lesson.asked else -1 for lesson in known]),
        teacher=np.full(len(rows), np.nan, np.float32),
        overlap=np.array([overlap(lesson) for lesson in known], np.float32),
        names=names,
    )
    return packed, kept


def _begin(tokens: Tokens) -> None:
    global _tokens
    _tokens = tokens


def _read(lesson: Lesson) -> tuple[Row, Excerpt] | None:
    return _row(lesson, _tokens)


_tokens: Tokens  # of a process that reads lessons


def _row(lesson: Lesson, tokens: Tokens) -> tuple[Row, Excerpt] | None:
    claim = hypothesis(lesson.pair)
    views = excerpts(claim, lesson.pair.premises, tokens.room(claim), tokens.count)
    if not views or not views[0].window.parts:
        return None
    part, text = views[0].window.parts[0], lesson.pair.premises[0].text
    if lesson.block >= 0 and (part.start, part.end) != (0, len(text)):  # its answer may be what was left out
        return None
    return tokens.row(claim, views[0].text), views[0]


def _answer(lesson: Lesson, row: Row, excerpt: Excerpt) -> tuple[int, int]:
    """The first and last token of the first answer."""
    if not lesson.spans:
        return (-1, -1) if lesson.spans is None else (0, 0)
    before = len(heading(excerpt.passages[0]))
    start, end = (place + before for place in lesson.spans[0])
    held = [row.second + n for n, (a, b) in enumerate(row.spans) if a < end and start < b]
    return (held[0], held[-1]) if held else (-1, -1)


def _marks(lesson: Lesson, row: Row, tokens: Tokens) -> NDArray[np.uint8]:
    marks = np.full(len(row.ids), UNKNOWN, np.uint8)
    if lesson.wrong is not None:
        claim = hypothesis(lesson.pair)
        before = len(claim) - len(lesson.pair.claim)
        spans = tokens.row("", claim).spans[: row.second - 2]
        marks[1 : row.second - 1] = [
            any(a < end + before and start + before < b for start, end in lesson.wrong) for a, b in spans
        ]
    return marks


def overlap(lesson: Lesson) -> float:
    """The share of the claim's words that its evidence has."""
    claim = set(terms(lesson.pair.claim)) - STOPWORDS
    evidence = {term for passage in lesson.pair.premises for term in terms(f"{passage.title} {passage.text}")}
    return len(claim & evidence) / max(len(claim), 1)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--start", type=Path, required=True, help="folder of the base, for its tokenizer")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--feedback", type=Path, nargs="+", default=[], help="files of readers' feedback on answers")
    parser.add_argument("--records", type=int, help="of every set, at most")
    parser.add_argument("--tokens", type=int, default=256, help="of a row, at most")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--each", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shares", nargs="+", default=[], metavar="FAMILY=X", help="other shares than mixture.py has")
    options = parser.parse_args(arguments)
    data, tokens = default_data(), Tokens(options.start / "tokenizer.json", options.tokens)
    shares = SHARES | {name: float(share) for name, _, share in (each.partition("=") for each in options.shares)}
    options.out.mkdir(parents=True, exist_ok=True)
    pack(natural_dev(data, options.each), tokens, options.processes)[0].save(options.out / "dev.npz")
    lessons = learnable(data, most=options.records, feedback=options.feedback)
    rows, kept = pack(lessons, tokens, options.processes)
    rows.save(options.out / "rows.npz")
    place = {lesson: row for row, lesson in enumerate(kept)}
    for run in range(options.runs):
        order = [place[n] for n in mixture(lessons, options.rows, options.seed + run, shares) if n in place]
        np.save(options.out / f"order-{run}.npy", np.array(order, np.int32))
        counts = dict(zip(rows.names, np.bincount(rows.source[order]).tolist(), strict=False))
        print(json.dumps({"rows": len(order), "tokens": int(rows.sizes[order].sum()), "sources": counts}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
