"""How fast documents are read and cut into passages, and how even the passages are.

    python benchmarks/reading.py

Uses `pool_corpus` of the data folder (TOULMIN_DATA, default ../shared/data). Times are CPU seconds of one process.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from html import escape
from pathlib import Path
from statistics import mean

import data

from toulmin.data import Document, Passage
from toulmin.documents.loaders import read_documents
from toulmin.documents.passages import cut

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from pdf_writer import lines, pdf  # type: ignore[import-not-found]


def time_reading(work: Callable[[], list[Document]]) -> tuple[list[Document], list[Passage], float, float]:
    """Documents and passages with the seconds that reading and cutting took."""
    start = time.process_time()
    documents = work()
    read = time.process_time()
    passages = [passage for document in documents for passage in cut(document)]
    return documents, passages, read - start, time.process_time() - read


def row(name: str, path: Path) -> None:
    """One line of the table: the file is read once to warm up and once to measure."""
    list(read_documents(path))
    documents, passages, reading, cutting = time_reading(lambda: list(read_documents(path)))
    sizes = [len(passage.text.split()) for passage in passages]
    pages = sum(len(document.pages) for document in documents)
    small = sum(size < 50 for size in sizes) / len(sizes)
    print(
        f"{name:<12}{len(documents):>10,}{pages:>8,}{len(passages):>10,}{reading:>9.2f}{cutting:>9.2f}"
        f"{mean(sizes):>11.0f}{max(sizes):>6}{small:>10.3f}"
    )


def html(texts: list[str]) -> bytes:
    """One page of many paragraphs."""
    return "".join(f"<p>{escape(text)}</p>\n" for text in texts).encode()


def pdf_of(texts: list[str]) -> bytes:
    """A page a text, in lines of twelve words."""
    words = [text.split() for text in texts]
    pages = [lines(*(" ".join(page[i : i + 12]) for i in range(0, len(page), 12))) for page in words]
    return bytes(pdf(pages))


def main() -> None:
    corpus = data.path("pool_corpus")
    texts = [document.text for document in read_documents(corpus)]
    print("file         documents   pages  passages  read s   cut s  mean words   max  under 50")
    row("records", corpus)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (
            ("a.txt", "\n\n".join(texts[:5000]).encode()),
            ("a.md", "\n\n".join(f"## Part\n\n{text}" for text in texts[:5000]).encode()),
            ("a.html", html(texts[:5000])),
            ("a.pdf", pdf_of(texts[:1000])),
        ):
            path = Path(folder) / name
            path.write_bytes(content)
            row(f"{len(content) / 1e6:.1f} MB {path.suffix[1:]}", path)
    print("target: 26,000 records read and cut in a few seconds; no passage under half its size but where a text ends")


if __name__ == "__main__":
    main()
