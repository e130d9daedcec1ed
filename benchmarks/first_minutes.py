"""What a newcomer waits for: a first answer over a folder, with and without an index, and what search and indexing add.

    python benchmarks/first_minutes.py FOLDER [--runs 5]

FOLDER is that of `folder.py`. Whole processes, the file cache warm. Without an index the time is that until the answer
is printed; the process then reads the rest. Links: each question of `pool_questions` dev is searched by words alone and
with what the first hits name, in turn. Indexing: `toulmin.index` of `pool_corpus` in one process, and tantivy alone,
which stems and stores title and text with one thread, in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import data
import tantivy
from headings import heading
from startup import CLI

from toulmin.indexing.store import Corpus, open_index
from toulmin.indexing.update import update
from toulmin.retrieval.bm25 import Bm25, Titles
from toulmin.retrieval.fusion import Ranker
from toulmin.retrieval.links import LinkRanker

QUESTION = "How do I find out which package a file belongs to?"


def seconds_to_answer(options: list[str], cache: Path) -> tuple[float, float, dict[str, Any]]:
    """Until the answer is printed, and until the process ends; and the answer."""
    command = [*CLI, "ask", QUESTION, "--json", "--no-wait", *options]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    started = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line == b"}\n":
                break
        answered = perf_counter() - started
    return answered, perf_counter() - started, json.loads(b"".join(lines))


def show_first_answers(folder: Path, runs: int) -> None:
    with TemporaryDirectory() as place:
        index = Path(place) / "index"
        subprocess.run([*CLI, "index", str(folder), "--into", str(index)], check=True, stdout=subprocess.DEVNULL)
        with_index = [seconds_to_answer(["--index", str(index)], Path(place))[0] for _ in range(runs)]
        without = [seconds_to_answer(["--docs", str(folder)], Path(place) / str(run)) for run in range(runs)]
    show("first answer with an index, seconds", statistics.median(with_index), "under 2")
    show("first answer without one, seconds", statistics.median(first for first, _, _ in without), "under 15")
    show("until the rest is read too, seconds", statistics.median(end for _, end, _ in without))
    notes = [note for note in without[-1][2]["notes"] if note.startswith("Answered from")]
    print(*notes or ["All files were read before the first answer."])


def p95_milliseconds(corpus: Corpus, questions: list[str], before: list[str]) -> tuple[float, float]:
    """By words, and with links; each question by both, in turn, after others that bring the file into memory."""
    plain = Bm25(corpus)
    rankers: tuple[Ranker, Ranker] = (plain, LinkRanker(plain, Titles(corpus)))
    plain.search(questions, 10)
    rankers[1].search(before, 10)
    taken: tuple[list[float], list[float]] = ([], [])
    for question in questions:
        for ranker, times in zip(rankers, taken, strict=True):
            started = perf_counter()
            ranker.search([question], 10)
            times.append(1000 * (perf_counter() - started))
    return statistics.quantiles(taken[0], n=20)[-1], statistics.quantiles(taken[1], n=20)[-1]


def index_by_tantivy(folder: Path) -> None:
    builder = tantivy.SchemaBuilder()
    for field in ("title", "text"):
        builder.add_text_field(field, stored=True, tokenizer_name="en_stem")
    folder.mkdir()
    writer = tantivy.Index(builder.build(), str(folder)).writer(num_threads=1)
    for row in data.rows("pool_corpus"):
        writer.add_document(tantivy.Document(title=row["title"], text=row["text"]))
    writer.commit()
    writer.wait_merging_threads()


def show_search_and_indexing(runs: int) -> None:
    ours, raw = [], []
    with TemporaryDirectory() as place:
        for run in range(runs):
            started = perf_counter()
            update(Path(place) / str(run), [data.path("pool_corpus")])
            ours.append(perf_counter() - started)
            started = perf_counter()
            index_by_tantivy(Path(place) / f"raw-{run}")
            raw.append(perf_counter() - started)
        with open_index(Path(place) / "0") as corpus:
            dev, train = ([row["question"] for row in data.rows("pool_questions", part)] for part in ("dev", "train"))
            words, links = p95_milliseconds(corpus, dev, train)
    show("search by words, p95, ms", words)
    show("with links, p95, ms", links)
    show("with links over by words", links / words, "at most 2")
    show("indexing the pool, seconds", statistics.median(ours))
    show("tantivy alone, seconds", statistics.median(raw))
    show("indexing over tantivy alone", statistics.median(ours) / statistics.median(raw), "at most 4")


def show(what: str, figure: float, target: str = "") -> None:
    print(f"{what:44}{figure:>14.2f}{target:>14}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print(heading("first_minutes.py", f"Medians of {options.runs} runs.\n"))
    show_first_answers(options.folder.resolve(), options.runs)
    show_search_and_indexing(options.runs)
    print("```")


if __name__ == "__main__":
    main()
