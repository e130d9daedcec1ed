"""What a newcomer waits for: a first answer over a folder, with and without an index, and what search and indexing add.

    python benchmarks/first_minutes.py FOLDER [--runs 5]
    python benchmarks/first_minutes.py FOLDER --model llama:qwen2.5-coder-1.5b

FOLDER is that of `folder.py`. Whole processes, the file cache warm. Without an index the time is that until the answer
is printed; the process then reads the rest. Search: each question of `pool_questions` dev by words, with what the
first hits name, only in documents of one title, and by tantivy alone, in turn. Indexing: `toulmin.index` of
`pool_corpus` in one process, and tantivy alone, which stems and stores title and text with one thread, in turn.
With `--model` only what one waits for with it: 40 train questions of `folder.py` over the folder, in a warm process,
then one question over each of five indexes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from timeit import timeit
from typing import Any

import data
import tantivy
from folder import questions_of
from headings import heading
from startup import CLI

import toulmin
from toulmin.data import Answer
from toulmin.indexing.store import Corpus, open_index
from toulmin.indexing.update import update
from toulmin.retrieval.bm25 import Bm25, Titles
from toulmin.retrieval.links import LinkRanker

Times = list[float]
Search = Callable[[list[str]], object]  # of questions
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


def milliseconds(corpus: Corpus, raw: Search, dev: list[str], train: list[str]) -> list[Times]:
    """By words, with links, in one document and by tantivy alone, after other questions that warm the cache."""
    plain, one = Bm25(corpus), Bm25(corpus.limit([f"title:{next(corpus.documents()).title}"]))
    linked = LinkRanker(plain, Titles(corpus))
    ways: list[Search] = [*(partial(each.search, k=10) for each in (plain, linked, one)), raw]
    for way in ways:
        way(train)
    return list(map(list, zip(*[[milliseconds_of(way, [question]) for way in ways] for question in dev], strict=True)))


def milliseconds_of(way: Search, questions: list[str]) -> float:
    return 1000 * timeit(lambda: way(questions), number=1)


def search_by_tantivy(folder: Path) -> Search:
    """Title and text of the first ten records for each question, as tantivy itself reads it."""
    opened = tantivy.Index.open(str(folder))
    searcher = opened.searcher()

    def search(questions: list[str]) -> object:
        queries = [opened.parse_query(re.sub(r"[^\w\s]", " ", q), ["title", "text"]) for q in questions]
        return [[searcher.doc(at).to_dict() for _, at in searcher.search(query, 10).hits] for query in queries]

    return search


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
        dev, train = ([row["question"] for row in data.rows("pool_questions", part)] for part in ("dev", "train"))
        by_tantivy = search_by_tantivy(Path(place) / "raw-0")
        with open_index(Path(place) / "0") as corpus:
            words, links, limited, alone = milliseconds(corpus, by_tantivy, dev, train)
            batch = milliseconds_of(lambda q: Bm25(corpus).search(q, 10), dev)
        batch_alone = milliseconds_of(by_tantivy, dev)
    p95, p95_linked = (statistics.quantiles(times, n=20)[-1] for times in (words, links))
    show("search by words, p95, ms", p95)
    show("with links, p95, ms", p95_linked)
    show("search by words over tantivy alone, p50", statistics.median(words) / statistics.median(alone), "at most 1.3")
    show("limited to a title over by words, p50", statistics.median(limited) / statistics.median(words), "at most 2")
    show("questions a second in a batch, over tantivy", batch_alone / batch, "at least 1")
    show("indexing the pool, seconds", statistics.median(ours))
    show("tantivy alone, seconds", statistics.median(raw))
    show("indexing over tantivy alone", statistics.median(ours) / statistics.median(raw), "at most 2.5")


def show_model(folder: Path, spec: str) -> None:
    with TemporaryDirectory() as place, get_context("spawn").Pool(1) as pool:
        os.environ["XDG_CACHE_HOME"] = str(Path(place) / "cache")
        folders = [folder, *sorted(each for each in folder.iterdir() if each.is_dir())][:5]
        indexes = [Path(place) / str(n) for n in range(len(folders))]
        for files, index in zip(folders, indexes, strict=True):
            toulmin.index(files, into=index)
        questions = [question["question"] for question in questions_of("A", "train")[:40]]
        waits, megabytes = pool.apply(_waits, (questions, indexes, spec))
    for (what, target), seconds in zip(_WAITED.items(), zip(*waits, strict=True), strict=True):
        known = [each for each in seconds if each is not None]
        show(f"{what}, seconds ({len(known)} of {len(waits)})", statistics.median(known), target)
    for count, size in megabytes.items():
        show(f"peak memory after {count} indexes, GB", size, "at most 2.5")


_WAITED = {
    "the quoted block": "at most 2",
    "a sentence of the model that holds": "at most 10",
    "the whole answer": "at most 15",
}


def _waits(questions: list[str], indexes: list[Path], spec: str) -> tuple[list[list[float | None]], dict[int, float]]:
    """Of each question the seconds of `_WAITED`; the memory by number of indexes."""
    toulmin.ask("What is this?", index=indexes[0], model=spec)  # loads everything
    waits, megabytes = [_waits_of(question, indexes[0], spec) for question in questions], {}
    for count, index in enumerate(indexes, start=1):
        toulmin.ask(questions[0], index=index, model=spec)
        megabytes[count] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return waits, {count: size for count, size in megabytes.items() if count in (2, 5)}


def _waits_of(question: str, index: Path, spec: str) -> list[float | None]:
    """None where the model has no sentence that holds, or where nothing is quoted."""
    seen: list[tuple[float, Answer]] = []
    began = perf_counter()
    toulmin.ask(question, index=index, model=spec, on_draft=lambda draft: seen.append((perf_counter() - began, draft)))
    ended = perf_counter() - began
    drafts = [(at, {claim.text for claim in draft.claims if claim.is_supported}) for at, draft in seen]
    quoted = next((texts for _, texts in drafts if texts), set[str]())
    first = next((at for at, texts in drafts if texts), None)
    return [first, next((at for at, texts in drafts if texts - quoted), None), ended]


def show(what: str, figure: float, target: str = "") -> None:
    print(f"{what:44}{figure:>14.2f}{target:>14}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--model", metavar="SPEC", help="only what one waits for with this model")
    options = parser.parse_args()
    if options.model:
        print(heading("first_minutes.py", f"With {options.model}, medians.\n"))
        show_model(options.folder.resolve(), options.model)
        print("```")
        return
    print(heading("first_minutes.py", f"Medians of {options.runs} runs.\n"))
    show_first_answers(options.folder.resolve(), options.runs)
    show_search_and_indexing(options.runs)
    print("```")


if __name__ == "__main__":
    main()
