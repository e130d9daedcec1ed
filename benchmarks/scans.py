"""The demo's texts printed, scanned and read by OCR: the words that are right, and questions answered as before.

    python benchmarks/scans.py [--engine rapidocr|tesseract] [--dots 200]

Each text is drawn on pages by pillow's own font, turned by a third of a degree, with grey dots on the paper, and bound
as a PDF of pictures alone. Words are compared in order (`difflib`). A question is answered as over the text if the
answer over the scans says what that over the text says first, white space and signs aside. Of `--sentences` random
sentences of what was read, the letters that were drawn under their boxes are compared with them: `words` are right if
all their words lie there, and no whole word of another sentence.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import textwrap
import time
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from headings import heading
from PIL import Image, ImageDraw, ImageFont

import toulmin
from toulmin.build.indexes import open_index
from toulmin.config import cache_folder
from toulmin.data import Quote
from toulmin.documents.confined import Children
from toulmin.documents.loaders import read_documents
from toulmin.documents.ocr import choose_ocr, lines_kept
from toulmin.originals.pdf_places import PdfQuote, boxes_of
from toulmin.text.language import sentences

DEMO = Path(toulmin.__file__).parent / "demo" / "longitude"
QUESTIONS = (
    "How did Harrison solve the longitude problem?",
    "Who was the first to publish the method of lunar distances?",
    "Why was dead reckoning dangerous?",
    "When did the Longitude Act offer its prize, and how much was it?",
    "What happened off the Isles of Scilly in 1707?",
    "How were the moons of Jupiter used to find longitude?",
    "What did Kendall's copy of H4 show on Cook's voyage?",
    "Why does the prime meridian run through Greenwich?",
)
PAGE, MARGIN, STEP, COLUMNS, LINES = (8.27, 11.69), 0.9, 0.21, 82, 46  # inches, and letters and lines of a page
TURN = 0.33  # degrees


def scan(text: str, target: Path, dots: int) -> None:
    """Writes the text as a PDF of pictures, `dots` to the inch."""
    noise = random.Random(target.name)
    lines = lines_of(text)
    pictures = [_page(lines[start : start + LINES], dots, noise) for start in range(0, len(lines), LINES)]
    pictures[0].save(target, "PDF", save_all=True, append_images=pictures[1:], resolution=dots)


def _page(lines: list[str], dots: int, noise: random.Random) -> Image.Image:
    width, height = (round(side * dots) for side in PAGE)
    page = Image.new("L", (width, height), 250)
    draw, font = ImageDraw.Draw(page), _font(dots)
    for n, line in enumerate(lines):
        draw.text((MARGIN * dots, (MARGIN + STEP * n) * dots), line, font=font, fill=30)
    for _ in range(width * height // 2000):
        page.putpixel((noise.randrange(width), noise.randrange(height)), noise.randrange(120, 240))
    return page.rotate(TURN, fillcolor=250, resample=Image.Resampling.BICUBIC)


def _font(dots: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(round(0.145 * dots))
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


class WordOnPage(NamedTuple):
    """A word that was drawn, and its middle in points from the page's lower left corner."""

    text: str
    page: int
    x: float
    y: float


def drawn_words(text: str, dots: int) -> Iterator[WordOnPage]:
    """The words of a text in order, where `scan` draws them."""
    font, (middle_x, middle_y) = _font(dots), (36 * side for side in PAGE)
    turn = math.radians(TURN)
    for n, line in enumerate(lines_of(text)):
        for match in re.finditer(r"\S+", line):
            inches = (font.getlength(line[: match.start()]) + font.getlength(line[: match.end()])) / 2 / dots
            x = 72 * (MARGIN + inches) - middle_x
            y = middle_y - 72 * (MARGIN + STEP * (n % LINES) + 0.07)
            yield WordOnPage(
                match[0],
                n // LINES + 1,
                middle_x + x * math.cos(turn) - y * math.sin(turn),
                middle_y + x * math.sin(turn) + y * math.cos(turn),
            )


def lines_of(text: str) -> list[str]:
    return [line for block in text.split("\n\n") for line in (*textwrap.wrap(" ".join(block.split()), COLUMNS), "")]


def words(text: str) -> list[str]:
    return re.findall(r"\w+(?:[’'.,-]\w+)*", text)


def right_words(expected: str, read: str) -> int:
    matcher = SequenceMatcher(None, words(expected), words(read), autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks())


def sentences_of(answer: toulmin.Answer) -> list[str]:
    """The sentences of the answer, in words."""
    return [" ".join(words(claim.text)).lower() for claim in answer.claims] or ["(the sources do not say)"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="rapidocr")
    parser.add_argument("--dots", type=int, default=200)
    parser.add_argument("--sentences", type=int, default=200)
    args = parser.parse_args()
    print(heading("scans.py", f"By {args.engine}, {args.dots} dots to the inch; method best, the embedded default.\n"))
    with TemporaryDirectory() as work:
        texts, scans = Path(work, "texts"), Path(work, "scans")
        texts.mkdir()
        scans.mkdir()
        for path in sorted(DEMO.iterdir()):
            if path.suffix in (".md", ".txt"):
                text = next(read_documents(path)).text
                (texts / f"{path.stem}.txt").write_text(text, "utf-8")
                scan(text, scans / f"{path.stem}.pdf", args.dots)
        _print_words(texts, scans, Path(work, "kept"), args.engine)
        _print_answers(texts, scans, Path(work), args.engine)
        _print_boxes(texts, Path(work), args)


def _read(scans: Path, kept: Path, engine: str) -> Iterator[tuple[str, str]]:
    paths = sorted(scans.iterdir())
    with Children(len(paths), choose_ocr(engine, kept)) as children:
        for path in paths:
            yield from ((path.stem, document.text) for document in children.documents_of(path)())


def _print_words(texts: Path, scans: Path, kept: Path, engine: str) -> None:
    began, right, every = time.monotonic(), 0, 0
    for name, read in _read(scans, kept, engine):
        expected = (texts / f"{name}.txt").read_text("utf-8")
        right += right_words(expected, read)
        every += len(words(expected))
    print(f"words right {right} of {every} ({right / every:.2%}), read in {time.monotonic() - began:.0f} s")


def _print_answers(texts: Path, scans: Path, work: Path, engine: str) -> None:
    toulmin.index([texts], into=work / "of-texts")
    toulmin.index([scans], into=work / "of-scans", ocr=engine)
    first = anywhere = 0
    for question in QUESTIONS:
        over_text, over_scan = (
            sentences_of(toulmin.ask(question, index=work / name)) for name in ("of-texts", "of-scans")
        )
        first += over_text[0] == over_scan[0]
        anywhere += over_text[0] in over_scan
        if over_text[0] != over_scan[0]:
            print(f"differs: {question}\n    text: {over_text[0]}\n    scan: {over_scan[0]}")
    print(f"what is said first over the text is said first {first}, and at all {anywhere}, of {len(QUESTIONS)}")


def _print_boxes(texts: Path, work: Path, args: argparse.Namespace) -> None:
    drawn = {path.stem: list(drawn_words(path.read_text("utf-8"), args.dots)) for path in texts.iterdir()}
    with open_index(str(work / "of-scans")) as corpus:
        passages = list(corpus.every_passage())
    cited = [(passage, span) for passage in passages for span in sentences(passage.text) if span.end - span.start > 20]
    right = missing = 0
    chosen = random.Random(0).sample(cited, min(args.sentences, len(cited)))
    for passage, (start, end) in chosen:
        words = PdfQuote(passage, Quote(start, end, passage.text[start:end]))
        kept = partial(lines_kept, cache_folder() / "ocr", passage.source.digest)
        (boxes,) = boxes_of(Path(passage.source.path or ""), [words], kept)
        under = [
            word.text
            for word in drawn[Path(passage.source.path or "").stem]
            if any(b.page == word.page and b.left <= word.x <= b.right and b.bottom <= word.y <= b.top for b in boxes)
        ]
        missing += not boxes
        right += letters(" ".join(under)) == letters(passage.text[start:end])
    print(f"words under the boxes of a sentence right {right}, none {missing}, of {len(chosen)}\n```")


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


if __name__ == "__main__":
    main()
