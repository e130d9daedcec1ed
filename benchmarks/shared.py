"""A shared corpus beside the embedded index: are the first ten the same, and what does it cost?

    python benchmarks/shared.py                over `pool_corpus`, in a folder, in PostgreSQL and on an S3 server
    python benchmarks/shared.py --in postgres  in one of the three: lance, postgres, s3
    python benchmarks/shared.py --part 3000    over so many records of it, to look at while working

Questions are those of `pool_questions` dev, on the S3 server every fiftieth of them. Times are wall clock; that server
is moto on loopback, one Python process that takes its share of the same cores, so its figures say how many requests
there are rather than what a network costs. PostgreSQL is pgserver's, on the same machine; it never waits for the disk.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

import data
import orjson
from lancedb.otel import snapshot_lancedb_metrics
from retrieval import questions

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.postgres_server import postgres_server
from toulmin.data import Hit
from toulmin.indexing.corpus import AnyCorpus
from toulmin.indexing.store import open_index
from toulmin.indexing.update import update
from toulmin.retrieval.bm25 import Bm25
from toulmin.stores.adapters import adapter

STORES = ("lance", "postgres", "s3")
FIRST = 10
TARGET = 0.9
REQUESTS, BYTES = "lance_object_store_requests_total", "lance_object_store_request_bytes_total"
EVERY = 50  # which of the questions are asked on the S3 server


def time_queries(corpus: AnyCorpus, asked: list[str]) -> tuple[list[list[Hit]], list[float]]:
    """The hits of each question, asked one by one, and how many seconds each took."""
    ranker, hits, seconds = Bm25(corpus), [], []
    for question in asked:
        begun = time.perf_counter()
        hits.append(ranker.search([question], FIRST)[0])
        seconds.append(time.perf_counter() - begun)
    return hits, seconds


def print_times(name: str, seconds: list[float], beside: list[float] | None = None) -> None:
    p50, p95 = median(seconds) * 1000, quantiles(seconds, n=20)[-1] * 1000
    ratio = "" if beside is None else f"   p50 {median(seconds) / median(beside):.0f} times the embedded index's"
    print(f"{name:24} a query: p50 {p50:7.1f} ms, p95 {p95:7.1f} ms{ratio}")


def compare(
    place: str, files: Path, asked: list[str], local: list[list[Hit]], beside: tuple[float, list[float]]
) -> None:
    indexing, seconds_of_local = beside
    library = adapter(place)
    begun = time.perf_counter()
    library.update(place, [files])
    took = time.perf_counter() - begun
    print(f"{place}\nindexing {took:.1f} s, {took / indexing:.2f} times the embedded index's", flush=True)
    begun = time.perf_counter()
    library.update(place, [files])
    print(f"a second update, with nothing changed: {time.perf_counter() - begun:.2f} s")
    begun = time.perf_counter()
    with library.open(place) as corpus:
        opened = time.perf_counter() - begun
        first = time.perf_counter()
        Bm25(corpus).search(asked[:1], FIRST)
        print(f"opened in {opened:.2f} s, the first question {time.perf_counter() - first:.2f} s")
        before = traffic()
        hits, seconds = time_queries(corpus, asked)
        requests, megabytes = (now - then for now, then in zip(traffic(), before, strict=True))
        print_times("one after the other", seconds, seconds_of_local)
        if requests:  # a folder has none
            print(f"{requests / len(asked):.1f} requests and {megabytes / len(asked):.2f} MB a question")
        begun = time.perf_counter()
        library.abreast(Bm25(corpus)).search(asked, FIRST)
        print(f"all at once, again: {len(asked) / (time.perf_counter() - begun):.0f} queries a second")
    equal = [ids(here) == ids(other) for here, other in zip(hits, local, strict=True)]
    scores = [here == other for here, other in zip(hits, local, strict=True)]
    print(f"the same first {FIRST} for {sum(equal) / len(equal):.4f} of {len(equal)} questions (wanted: {TARGET}),")
    print(f"with the same scores and sources for {sum(scores) / len(scores):.4f}")
    for question, here, other in islice(zip(asked, hits, local, strict=True), len(asked)):
        if ids(here) != ids(other):
            place_ = next((n for n, (a, b) in enumerate(zip(ids(here), ids(other), strict=False), 1) if a != b), 0)
            print(f"  another passage from place {place_} on: {question[:70]}")


def traffic() -> tuple[float, float]:
    """Requests and megabytes so far, from and to object stores."""
    points = [point for point in snapshot_lancedb_metrics() if point.attributes.get("base") == "s3"]
    counted = {name: sum(point.value or 0 for point in points if point.name == name) for name in (REQUESTS, BYTES)}
    return counted[REQUESTS], counted[BYTES] / 1e6


def ids(hits: list[Hit]) -> list[str]:
    return [hit.passage.id for hit in hits]


@contextmanager
def s3_server(folder: Path) -> Iterator[None]:
    """An S3 server on loopback, in a process of its own, to which the environment leads."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ |= {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1"}
    os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{port}"
    with (folder / "s3.log").open("wb") as log:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            time.sleep(0.1)
        import boto3

        boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"]).create_bucket(Bucket="library")
        yield
    finally:
        process.terminate()
        process.wait()


def part(folder: Path, most: int | None) -> Path:
    """The file of the corpus, or its first records."""
    if most is None:
        return data.path("pool_corpus")
    file = folder / "part.jsonl"
    file.write_bytes(b"\n".join(orjson.dumps(row) for row in islice(data.rows("pool_corpus"), most)))
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", type=int)
    parser.add_argument("--in", dest="stores", action="append", choices=STORES)
    chosen = parser.parse_args()
    asked = [row["question"] for row in questions("dev")][: chosen.part]
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = part(folder, chosen.part)
        begun = time.perf_counter()
        update(folder / "index", [files])
        indexing = time.perf_counter() - begun
        with open_index(folder / "index") as corpus:
            print(f"{len(corpus)} passages, {len(asked)} questions; the embedded index: indexing {indexing:.1f} s")
            local, seconds = time_queries(corpus, asked)
        print_times("embedded", seconds)
        stores = chosen.stores or STORES
        if "lance" in stores:
            compare(f"lance:{folder}/shared", files, asked, local, (indexing, seconds))
        if "postgres" in stores:
            with postgres_server() as server:
                os.environ |= server.environment
                compare("postgresql:///postgres/shared", files, asked, local, (indexing, seconds))
        if "s3" in stores:
            with s3_server(folder):
                compare("s3://library/shared", files, asked[::EVERY], local[::EVERY], (indexing, seconds))


if __name__ == "__main__":
    main()
