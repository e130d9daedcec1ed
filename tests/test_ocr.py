"""Scanned pages are read by optical character recognition, and say so."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pypdfium2
import pytest

import toulmin
from tests.pdf_writer import lines, pdf
from toulmin.data import BELOW, READ_BY_OCR, Source
from toulmin.documents import ocr
from toulmin.documents.confined import Children
from toulmin.documents.loaders import read_documents
from toulmin.documents.ocr import Ocr, Recogniser, choose_ocr, lines_kept
from toulmin.errors import UsageError

pytest.importorskip("rapidocr", reason="pip install 'toulmin[ocr]'")
image = pytest.importorskip("PIL.Image", reason="pip install 'toulmin[docs]'")

SENTENCES = (
    "Before there was a better way, navigators found their",
    "place by dead reckoning. They started from a known",
    "position and kept account of the course steered.",
)
TEXT = " ".join(SENTENCES)


def scan(*pages: Sequence[str]) -> bytes:
    """A PDF of pictures of pages, 200 dots to the inch."""
    from PIL import Image, ImageDraw, ImageFont

    pictures = []
    for page in pages:
        picture = Image.new("L", (1000, 600), 255)
        for n, line in enumerate(page):
            ImageDraw.Draw(picture).text((50, 100 + 50 * n), line, font=ImageFont.load_default(32), fill=0)
        pictures.append(picture)
    file = BytesIO()
    pictures[0].save(file, "PDF", save_all=True, append_images=pictures[1:], resolution=200)
    return file.getvalue()


def joined(*files: bytes) -> bytes:
    """The pages of several PDFs in one."""
    whole, out = pypdfium2.PdfDocument.new(), BytesIO()
    for file in files:
        whole.import_pages(pypdfium2.PdfDocument(file))
    whole.save(out)
    return out.getvalue()


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def recogniser(path: Path, folder: Path, engine: str = "rapidocr") -> Recogniser:
    return Recogniser(Ocr(engine, str(folder)), hashlib.sha256(path.read_bytes()).hexdigest())


def test_a_scan_is_read_without_a_network_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("something was to be fetched")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    path = write(tmp_path / "a.pdf", scan(SENTENCES))
    [document] = read_documents(path, recogniser=recogniser(path, tmp_path / "kept"))
    assert document.text == TEXT


def test_a_title_that_is_only_the_file_s_name_is_written_as_words(tmp_path: Path) -> None:
    path = write(tmp_path / "dead_reckoning.pdf", pdf([lines("This page was typed.")], title="dead_reckoning"))
    [document] = read_documents(path)
    assert document.title == "Dead reckoning"


def test_how_surely_a_page_was_read_is_no_heading_of_its_document() -> None:
    source = Source(0, 1, section=f"{READ_BY_OCR} 0.97{BELOW}Dead reckoning")
    assert source.headings == "Dead reckoning"


def test_tesseract_reads_a_scan_too(tmp_path: Path) -> None:
    if choose_ocr(None, tmp_path) is None or not ocr._is_installed("tesseract"):
        pytest.skip("apt-get install tesseract-ocr")
    path = write(tmp_path / "a.pdf", scan(SENTENCES))
    [document] = read_documents(path, recogniser=recogniser(path, tmp_path / "kept", "tesseract"))
    assert document.text == TEXT


def test_passages_of_scanned_pages_say_that_they_were_read_by_ocr(tmp_path: Path) -> None:
    typed = pdf([lines("This page was typed, and not scanned.")])
    path = write(tmp_path / "a.pdf", joined(typed, scan(SENTENCES), typed))
    with Children(1, Ocr("rapidocr", str(tmp_path / "kept"))) as children:
        [document] = children.documents_of(path)()
    headings = [(document.text[heading.start :][:6], heading.words[:24]) for heading in document.headings]
    assert headings == [("Before", "read by OCR, confidence "), ("This p", "")]
    assert document.remarks == ("1 page read by OCR, a guess",)
    [unread] = read_documents(path)
    assert unread.remarks == ("1 page without text, perhaps scanned: not read",)


def test_the_evidence_of_an_answer_over_a_scan_says_how_surely_it_was_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pdf", scan(SENTENCES))
    answer = toulmin.ask("How did navigators find their place?", docs=[path])
    [passage] = answer.cited
    assert passage.source.section.startswith("read by OCR, confidence 0.9")


def test_what_was_read_is_kept_with_the_place_of_each_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pdf", scan(SENTENCES))
    reader = recogniser(path, tmp_path / "kept")
    list(read_documents(path, recogniser=reader))
    kept = lines_kept(tmp_path / "kept", reader.digest, 1)
    assert [line.text for line in kept] == list(SENTENCES)
    # The first line is drawn 50 dots from the left and 100 from the top; 600 dots are 216 points.
    first, second = kept[0].box, kept[1].box
    assert (first.left, first.top) == pytest.approx((18, 216 - 38), abs=5)
    assert first.bottom > second.bottom


def test_a_scan_is_not_read_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pdf", scan(SENTENCES))
    list(read_documents(path, recogniser=recogniser(path, tmp_path / "kept")))
    [kept] = (tmp_path / "kept").rglob("*.json")
    kept.write_text(kept.read_text().replace("Before", "Long before"))
    [document] = read_documents(path, recogniser=recogniser(path, tmp_path / "kept"))
    assert document.text.startswith("Long before there was")


def test_unread_scan_is_retried_when_a_reader_appears(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pdf", scan(SENTENCES))
    typed = write(tmp_path / "b.txt", b"Typed words.")
    first = toulmin.index([path, typed], into=tmp_path / "index", ocr="off")
    assert "pip install 'toulmin[ocr]'" in first.skipped[0].reason
    second = toulmin.index([path, typed], into=tmp_path / "index", ocr="rapidocr")
    assert (second.skipped, second.read) == ((), 1)


@pytest.mark.parametrize(
    ("wanted", "expected"), [("magic", "ocr is rapidocr, tesseract"), ("tesseract:../x", "not 'tesseract:../x'")]
)
def test_a_wrong_name_is_refused_with_the_right_ones(tmp_path: Path, wanted: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        choose_ocr(wanted, tmp_path)


def test_tesseract_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="install the program tesseract"):
        choose_ocr("tesseract", tmp_path)
