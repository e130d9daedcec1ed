"""Boxes round cited words on PDF pages, read back by PDFium, and how soon a server shows them.

    python benchmarks/originals.py [--cache FOLDER] [--sentences 200]

Ten PDFs of different makers: seven from Debian packages (`apt-get download` puts those that the cache lacks into it),
and three made here: by Chromium (right to left, two columns), by reportlab (forms, text turned on the page; `pip
install reportlab`), and by PDFium (pages turned and cropped). Of each, one sentence of every page and others at
random, at least `--sentences` where it has as many. A sentence counts as marked if the text under its boxes is the
sentence, white space and hyphens aside; `near` has letters of others too or too few, `other` is another sentence;
`page` counts those whose page, as an answer says it, is that of their first box.
Targets: 99 of 100 marked, none other.

Then `toulmin serve` over the longest of them: what a click on a sentence asks for (target: both under 0.5 s).
"""

from __future__ import annotations

import argparse
import gzip
import html
import random
import re
import shutil
import statistics
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import httpx2
import pypdfium2
from headings import heading
from served import Server

from toulmin.data import Quote
from toulmin.documents.html import html_document
from toulmin.documents.passages import cut, page_at
from toulmin.documents.pdf import pdf_document
from toulmin.indexing.update import update
from toulmin.originals.pdf_places import PdfQuote, boxes_of, letters_of
from toulmin.text.language import sentences

LIMIT = 10**9
COLUMN_NAME = re.compile(r"(?:^|; )[^:;]{1,200}: ")
SHORTEST = 20  # characters of a sentence
DOC, TEX, BOOK = "usr/share/doc", "usr/share/doc/texlive-doc", "usr/share/doc/debian-handbook/html"
RCPP, GUIDE = "usr/lib/R/site-library/Rcpp/doc", "usr/share/developers-reference/developers-reference.pdf"


@dataclass(frozen=True, slots=True)
class PdfFile:
    """A PDF: its name and maker, the package and the file in it that it is, or is made of, and what makes it."""

    name: str
    maker: str
    package: str
    file: str
    make: Callable[[Path, Path], None]


# ---------------------------------------------------------------- the files


def unpack(file: Path, into: Path) -> None:
    into.write_bytes(gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes())


def persian(folder: Path, into: Path) -> None:
    """The Persian paragraphs of a book in two columns, as Chromium prints them."""
    paragraphs = [paragraph for file in sorted(folder.glob("*.html")) for paragraph in paragraphs_of(file)]
    chosen = [words for words in dict.fromkeys(paragraphs) if is_right_to_left(words) and len(words) > 120][:150]
    body = "".join(f"<p>{html.escape(words)}</p>" for words in chosen)
    style = "body { font: 11px DejaVu Sans; column-count: 2 }"
    page = into.with_suffix(".html")
    page.write_text(f'<!DOCTYPE html><html dir="rtl"><meta charset="utf-8"><style>{style}</style>{body}', "utf-8")
    chromium = shutil.which("chromium") or "chromium"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={into}"]
    subprocess.run([chromium, *options, str(page)], check=True, capture_output=True)
    page.unlink()


def paragraphs_of(file: Path) -> list[str]:
    return html_document(file, LIMIT).text.split("\n\n")


def is_right_to_left(words: str) -> bool:
    return 2 * sum("\u0590" <= letter <= "\u08ff" for letter in words) > len(words.replace(" ", ""))


def form(folder: Path, into: Path) -> None:
    """Two columns with fields to fill in between, and every third page with its text turned."""
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.pdfgen.canvas import Canvas
    from reportlab.platypus import Frame, Paragraph

    canvas, style = Canvas(str(into), pagesize=(595, 842)), getSampleStyleSheet()["BodyText"]
    words = [text for file in sorted(folder.glob("sect.*.html"))[:30] for text in paragraphs_of(file)]
    story = [Paragraph(html.escape(text), style) for text in words if 150 < len(text) < 1_500][:120]
    number = 0
    while story:
        number += 1
        width = 595
        if number % 3 == 0:
            canvas.rotate(90)
            canvas.translate(0, -595)
            width = 842
        height = 595 + 842 - width
        for column in range(2):
            frame = Frame(40 + column * (width - 60) / 2, 90, (width - 100) / 2, height - 130)
            frame.addFromList(story, canvas)
        canvas.acroForm.textfield(name=f"name{number}", x=60, y=40, width=200, height=20, value="A name")
        canvas.acroForm.checkbox(name=f"agreed{number}", x=300, y=40)
        canvas.drawString(330, 46, "The reader agrees to what is written above on this page.")
        canvas.showPage()
    canvas.save()


def turn(file: Path, into: Path) -> None:
    """The pages turned by a quarter, a half and three quarters, and cropped."""
    with pypdfium2.PdfDocument(file) as pdf:
        for n, page in enumerate(pdf):
            left, bottom, right, top = page.get_mediabox()
            page.set_cropbox(left + 30, bottom + 20, right - 10, top - 40)
            page.set_rotation(90 * (n % 4))
        pdf.save(into)


FILES = (
    PdfFile("bashref", "pdfTeX (Texinfo)", "bash-doc", f"{DOC}/bash/bashref.pdf", unpack),
    PdfFile("bash", "groff, Ghostscript", "bash-doc", f"{DOC}/bash/bash.pdf", unpack),
    PdfFile("policy", "xdvipdfmx (Sphinx)", "debian-policy", f"{DOC}/debian-policy/policy.pdf.gz", unpack),
    PdfFile("fhs", "Apache FOP (DocBook)", "debian-policy", f"{DOC}/debian-policy/fhs/fhs-3.0.pdf.gz", unpack),
    PdfFile("rcpp", "TeX, Ghostscript (2 columns)", "r-cran-rcpp", f"{RCPP}/Rcpp-introduction.pdf", unpack),
    PdfFile("luatex", "LuaTeX (ConTeXt)", "texlive-base", f"{TEX}/luatex/base/luatex.pdf", unpack),
    PdfFile("makeindex", "Acrobat Distiller", "texlive-base", f"{TEX}/support/makeindex/makeindex.pdf", unpack),
    PdfFile("persian", "Chromium (right to left)", "debian-handbook", f"{BOOK}/fa-IR", persian),
    PdfFile("form", "reportlab (form, turned text)", "debian-handbook", f"{BOOK}/en-US", form),
    PdfFile("turned", "pdfTeX, PDFium (turned, cropped)", "developers-reference", GUIDE, turn),
)


def package(name: str, cache_folder: Path) -> Path:
    """The package in the cache, fetched if it is not there."""
    if not list(cache_folder.glob(f"{name}_*.deb")):
        subprocess.run(["apt-get", "download", "-q", name], cwd=cache_folder, check=True, capture_output=True)
    return next(cache_folder.glob(f"{name}_*.deb"))


def make_files(cache_folder: Path, into: Path) -> Iterator[tuple[PdfFile, Path]]:
    for made in FILES:
        tree = into / made.package
        if not tree.exists():
            subprocess.run(["dpkg-deb", "-x", str(package(made.package, cache_folder)), str(tree)], check=True)
        path = into / f"{made.name}.pdf"
        made.make(tree / made.file, path)
        yield made, path


# ---------------------------------------------------------------- boxes read back


@dataclass
class MarkCounts:
    """How many sentences were marked right, nearly, as another one, or not at all, how many with the right page; and
    the computing time of each.
    """

    pages: int = 0
    sentences: int = 0
    right: int = 0
    near: int = 0
    other: int = 0
    none: int = 0
    paged: int = 0
    milliseconds: float = 0.0


def choose(path: Path, least: int) -> tuple[Sequence[int], list[PdfQuote]]:
    """Where the pages begin in the text, and a sentence of every page with others at random."""
    document = pdf_document(path, LIMIT)
    every = [
        PdfQuote(passage, Quote(start, end, passage.text[start:end]))
        for passage in cut(document)
        for start, end in sentences(passage.text)
        if end - start >= SHORTEST
    ]
    random.Random(7).shuffle(every)
    by_page = {each.passage.source.page: each for each in every}
    rest = [each for each in every if each not in by_page.values()]
    cited_sentences = [*by_page.values(), *rest[: max(0, least - len(by_page))]]
    return document.pages, sorted(cited_sentences, key=lambda each: each.passage.source.start)


def mark(path: Path, least: int) -> MarkCounts:
    pages, cited_sentences = choose(path, least)
    began = process_time()
    boxes = boxes_of(path, cited_sentences)
    spent = 1000 * (process_time() - began) / len(cited_sentences)
    figures = MarkCounts(len(pages), len(cited_sentences), milliseconds=spent)
    with pypdfium2.PdfDocument(path) as pdf:
        textpage = cache(lambda page: pdf[page - 1].get_textpage())
        for cited, marks in zip(cited_sentences, boxes, strict=True):
            assert cited.quote is not None
            under = "".join(textpage(b.page).get_text_bounded(b.left, b.bottom, b.right, b.top) for b in marks)
            outcome = outcome_of(letters_of(under).text, cited.quote.text)
            setattr(figures, outcome, getattr(figures, outcome) + 1)
            said = page_at(cited.passage.source.start + cited.quote.start, pages)
            figures.paged += bool(marks) and said == marks[0].page
    return figures


def outcome_of(under: str, quote: str) -> str:
    """Of a row of a table the cells are enough: their heads are said again in its text, and no bar is printed."""
    words, cells = letters_of(quote).text, letters_of(COLUMN_NAME.sub(" ", quote).replace("|", " ")).text
    if under in (words, cells):
        return "right"
    if not under:
        return "none"
    matching = SequenceMatcher(None, under, words, autojunk=False).get_matching_blocks()
    return "near" if 2 * sum(block.size for block in matching) >= len(words) else "other"


# ---------------------------------------------------------------- a server


def time_clicks(path: Path, folder: Path) -> Iterator[str]:
    """What a click asks for: the place of a sentence, then the picture of its page."""
    update(folder / "index", [path])
    _, cited_sentences = choose(path, 0)
    server = Server("--index", str(folder / "index"))
    server.start()
    try:
        with httpx2.Client(base_url=server.url, timeout=60) as client:
            rows = [click(client, cited) for cited in random.Random(7).sample(cited_sentences, 30)]
    finally:
        server.end()
    pages = rows[0][3]
    for name, column in (("place", 0), ("picture", 1), ("both", 2)):
        first, *others = (row[column] for row in rows)
        yield f"{name:<8} first {first:.3f} s, then median {statistics.median(others):.3f}, most {max(others):.3f}"
    yield f"({pages} pages; pictures 900 pixels wide, {statistics.mean(row[4] for row in rows) / 1000:.0f} KB each)"


def click(client: httpx2.Client, cited: PdfQuote) -> tuple[float, float, float, int, int]:
    assert cited.quote is not None
    began = perf_counter()
    span = {"start": cited.quote.start, "end": cited.quote.end}
    place = client.get(f"/v1/passages/{cited.passage.id}/original", params=span).json()
    middle = perf_counter()
    picture = client.get(f"/v1/documents/{place['number']}/pages/{place['page']}", params={"width": 900})
    picture.raise_for_status()
    end = perf_counter()
    return middle - began, end - middle, end - began, len(place["sizes"]), len(picture.content)


# ---------------------------------------------------------------- printing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, help="a folder of Debian packages")
    parser.add_argument("--sentences", type=int, default=200)
    options = parser.parse_args()
    print(heading("originals.py", "A sentence of every page and others at random; read back by PDFium.\n"))
    print(
        f"{'PDF':<10} {'maker':<33} {'pages':>5} {'sentences':>9} {'right':>7} {'near':>5} {'other':>5} {'none':>5}"
        f" {'page':>5}  ms"
    )
    with TemporaryDirectory() as folder:
        cache_folder = options.cache or Path(folder) / "packages"
        cache_folder.mkdir(parents=True, exist_ok=True)
        longest, most, total = Path(), 0, MarkCounts()
        for made, path in make_files(cache_folder.resolve(), Path(folder)):
            figures = mark(path, options.sentences)
            show(made.name, made.maker, figures)
            for name in ("pages", "sentences", "right", "near", "other", "none", "paged"):
                setattr(total, name, getattr(total, name) + getattr(figures, name))
            if figures.pages > most:
                longest, most = path, figures.pages
        show("all", "", total)
        print("\nA click on a sentence of the longest, over HTTP:")
        for line in time_clicks(longest, Path(folder)):
            print(line)
    print("```")


def show(name: str, maker: str, figures: MarkCounts) -> None:
    share = f"{100 * figures.right / max(1, figures.sentences):.1f}%"
    print(
        f"{name:<10} {maker:<33} {figures.pages:>5} {figures.sentences:>9} {share:>7} {figures.near:>5}"
        f" {figures.other:>5} {figures.none:>5} {figures.paged:>5}  {figures.milliseconds:.1f}"
    )


if __name__ == "__main__":
    main()
