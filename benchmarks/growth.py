"""How the embedded index grows: time, memory and disk to make it, and how fast it answers, from 100,000 passages on.

    python benchmarks/growth.py [--sizes 0.1 1 5 21] [--into DIR] [--kept FILE]

Sizes are in millions of passages. Those that FILE keeps from an earlier run are taken from there, so that the largest
can be measured by itself.

Passages are splices of the sentences of `pool_corpus`, drawn with a fixed seed by Zipf's law (the r-th sentence with
a weight of 1 / r^0.7), to about 100 words under a title of the pool and a number, as one tab-separated file in the form
of DPR's Wikipedia. They repeat the pool's words, so the vocabulary does not grow with the corpus as that of real text
does.

The index is made by `toulmin index`; its memory is the greatest that its processes had together, with their
shares of what they share and of files that are mapped (PSS), looked at twice a second. A first search and a first
answer are those of a new process each; the file cache is whatever is left of making the index. Queries are
`pool_questions` dev, first hits 10. The exponent is the slope of seconds over passages, both as logarithms, by least
squares and between the two largest sizes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import data
import numpy as np
from indexing import milliseconds_a_query, queries_a_second, size
from processes import tree
from startup import CLI, QUESTION, seconds

from toulmin.indexing.store import open_index
from toulmin.text.language import sentences

SIZES = (0.1, 1.0, 5.0, 21.0)
WORDS, STEEPNESS, SEED = 100, 0.7, 0
CHUNK = 10_000  # passages whose sentences are drawn at once
QUERIES, BATCH, COLD = 300, 1_000, 5


@dataclass(frozen=True)
class Grown:
    """One size: passages, megabytes of text, what making the index took, and milliseconds of queries in order."""

    passages: int
    text: float
    making: dict[str, float]
    index: float
    cold: float
    queries: list[float]
    rate: float
    ask: float


# ---------------------------------------------------------------- the corpus


def pool() -> tuple[list[str], list[str]]:
    """The sentences and the titles of the pool, each once, in their order."""
    texts: dict[str, None] = {}
    titles: dict[str, None] = {}
    for row in data.rows("pool_corpus"):
        text = row["text"]
        texts.update((" ".join(text[span.start : span.end].split()), None) for span in sentences(text))
        titles[" ".join(row["title"].split())] = None
    return [text for text in texts if text], [text for text in titles if text]


def splice(count: int) -> Iterator[tuple[str, str]]:
    """So many passages, as (text, title); the first of a larger number are those of a smaller one."""
    texts, titles = pool()
    lengths = np.array([len(text.split()) for text in texts])
    draw = np.random.default_rng(SEED)
    order = draw.permutation(len(texts))
    weights = np.arange(1, len(texts) + 1) ** -STEEPNESS
    upto = np.cumsum(weights / weights.sum())
    each = math.ceil(2 * WORDS / lengths.mean())  # more sentences than are needed; what is too much is left
    for start in range(0, count, CHUNK):
        drawn = order[np.searchsorted(upto, draw.random((CHUNK, each)), side="right").clip(max=len(texts) - 1)]
        needed = (np.cumsum(lengths[drawn], axis=1) < WORDS).sum(axis=1) + 1
        headed = draw.integers(len(titles), size=CHUNK)
        for n in range(min(CHUNK, count - start)):
            yield " ".join(texts[at] for at in drawn[n, : needed[n]]), f"{titles[headed[n]]} {start + n}"


def write(file: Path, count: int) -> float:
    """Writes the corpus; gives the megabytes of its titles and texts."""
    size_of_text = 0
    with file.open("w", encoding="utf-8") as lines:
        lines.write("id\ttext\ttitle\n")
        for n, (text, title) in enumerate(splice(count), start=1):
            quoted = text.replace('"', '""')
            lines.write(f'{n}\t"{quoted}"\t{title}\n')
            size_of_text += len(text.encode()) + len(title.encode())
    return size_of_text / 1e6


# ---------------------------------------------------------------- one size


def make_index(index: Path, file: Path) -> dict[str, float]:
    """Makes the index; gives the seconds, those of processors, and the greatest megabytes that it took."""
    before, started, most = os.times(), perf_counter(), 0.0
    with subprocess.Popen([*CLI, "index", str(file), "--into", str(index)]) as process:
        while process.poll() is None:
            most = max(most, sum(map(megabytes, tree(process.pid))))
            try:
                process.wait(0.5)
            except subprocess.TimeoutExpired:
                continue
    if process.returncode:
        raise SystemExit(f"toulmin index ended with exit code {process.returncode}")
    after, seconds = os.times(), perf_counter() - started
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"seconds": seconds, "cpu": cpu, "megabytes": most}


def megabytes(pid: int) -> float:
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1000 for line in rollup.splitlines() if line.startswith("Pss:")), 0.0)


def grown(count: int, folder: Path, questions: Sequence[str]) -> Grown:
    file, index = folder / "passages.tsv", folder / "index"
    text = write(file, count)
    making = make_index(index, file)
    file.unlink()  # what is measured needs it no more, and the disk may need its place
    return Grown(count, text, making, **answering(index, questions))


def answering(index: Path, questions: Sequence[str]) -> dict[str, Any]:
    """How large an index is, and how fast it answers, as the fields of `Grown` of those names."""
    search = [*CLI, "search", QUESTION, "--index", str(index)]
    ask = [*CLI, "ask", QUESTION, "--index", str(index)]
    cold = statistics.median(seconds(search) for _ in range(COLD))
    whole = statistics.median(seconds(ask) for _ in range(COLD))
    with open_index(index) as corpus:
        each = milliseconds_a_query(corpus, list(questions[:QUERIES]))
        rate = queries_a_second(corpus, list(questions[:BATCH]))
    return {"index": size(index) / 1e6, "cold": cold, "queries": each, "rate": rate, "ask": whole}


def read_sizes(kept: Path | None) -> dict[int, Grown]:
    """What was measured before, by the number of passages."""
    if kept is None or not kept.exists():
        return {}
    sizes = [Grown(**json.loads(result)) for result in kept.read_text("utf-8").splitlines()]
    return {result.passages: result for result in sizes}


def line(row: Grown) -> str:
    making = row.making
    return (
        f"{row.passages:>11,}{row.text:>9,.0f}{making['seconds']:>10,.0f}{making['cpu']:>9,.0f}"
        f"{making['megabytes']:>9,.0f}{row.index:>10,.0f}{row.index / row.text:>7.2f}{row.cold:>8.2f}"
        f"{statistics.median(row.queries):>8.1f}{row.queries[int(0.95 * len(row.queries))]:>8.1f}{row.rate:>9.0f}"
        f"{row.ask:>7.2f}"
    )


HEAD = (
    f"{'passages':>11}{'text MB':>9}{'index s':>10}{'CPU s':>9}{'peak MB':>9}{'index MB':>10}{'ratio':>7}{'cold s':>8}"
    f"{'p50 ms':>8}{'p95 ms':>8}{'batch/s':>9}{'ask s':>7}"
)


def exponents(sizes: Sequence[Grown]) -> tuple[float, float]:
    """How steeply seconds grow with passages: over all sizes, and between the two largest."""
    xs = np.log([result.passages for result in sizes])
    ys = np.log([result.making["seconds"] for result in sizes])
    return float(np.polyfit(xs, ys, 1)[0]), float((ys[-1] - ys[-2]) / (xs[-1] - xs[-2]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=float, nargs="+", default=list(SIZES), help="in millions of passages")
    parser.add_argument("--into", type=Path, help="where corpora and indexes lie meanwhile")
    parser.add_argument("--kept", type=Path, help="a file of what was measured before")
    chosen = parser.parse_args()
    questions = [row["question"] for row in data.rows("pool_questions", "dev")]
    sizes = []
    kept = read_sizes(chosen.kept)
    print(HEAD, flush=True)
    for millions in sorted(chosen.sizes):
        count = round(millions * 1e6)
        if count in kept:
            sizes.append(kept[count])
        else:
            with tempfile.TemporaryDirectory(dir=chosen.into) as place:
                sizes.append(grown(count, Path(place), questions))
            if chosen.kept:
                with chosen.kept.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(asdict(sizes[-1])) + "\n")
        print(line(sizes[-1]), flush=True)
    if len(sizes) > 1:
        overall, last = exponents(sizes)
        print(f"index seconds grow as n^{overall:.2f}; between the two largest as n^{last:.2f}")


if __name__ == "__main__":
    main()
