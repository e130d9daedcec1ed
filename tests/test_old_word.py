"""Older Word documents, which LibreOffice converts; the tests that need it are skipped where it is not installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO
from pathlib import Path
from shutil import which
from threading import Thread

import docx
import pytest

from toulmin.data import Document
from toulmin.documents.confined import Children
from toulmin.errors import SourceError

OFFICE = which("soffice") or which("libreoffice")
needs_office = pytest.mark.skipif(OFFICE is None, reason="LibreOffice is not installed")
Convert = Callable[[str, bytes], Path]


@pytest.fixture
def older(tmp_path: Path) -> Convert:
    """Makes a doc file of another kind's content."""

    def convert(name: str, content: bytes) -> Path:
        path = tmp_path / "made" / name
        path.parent.mkdir()
        path.write_bytes(content)
        place = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
        of_html = ["--infilter=HTML (StarWriter)"] if path.suffix == ".html" else []
        command = [OFFICE or "", place, "--headless", *of_html, "--convert-to", "doc", "--outdir", str(tmp_path)]
        subprocess.run([*command, str(path)], check=True, capture_output=True, timeout=120)
        return (tmp_path / name).with_suffix(".doc")

    return convert


def read(path: Path) -> Document:
    with Children(1) as children:
        (document,) = children.documents_of(path)()
    return document


def rules() -> bytes:
    document, data = docx.Document(), BytesIO()
    document.core_properties.title, document.core_properties.author = "Rules of the harbour", "Ann Lee"
    document.add_heading("Fees", 1)
    document.add_paragraph("A boat pays 41 euros a night.")
    for item in ("Pay first.", "Then moor."):
        document.add_paragraph(item, style="List Number")
    table = document.add_table(2, 2)
    for n, words in enumerate(("Berth", "Euros", "A1", "55")):
        table.cell(n // 2, n % 2).text = words
    document.add_paragraph("The warden keeps the list.")
    document.save(data)
    return data.getvalue()


@needs_office
def test_an_older_document_has_text_headings_lists_tables_and_a_record(older: Convert) -> None:
    path = older("harbour.docx", rules())
    assert path.read_bytes().startswith(b"\xd0\xcf\x11\xe0")
    document = read(path)
    assert (document.title, document.metadata.authors) == ("Rules of the harbour", ("Ann Lee",))
    assert [heading.words for heading in document.headings] == ["Fees"]
    assert document.path == str(path)
    assert document.text.split("\n\n") == [
        "Fees",
        "A boat pays 41 euros a night.",
        "1. Pay first.",
        "2. Then moor.",
        "Berth: A1; Euros: 55",
        "The warden keeps the list.",
    ]


@needs_office
def test_what_an_older_document_links_to_is_not_fetched(older: Convert) -> None:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_HEAD = do_OPTIONS = do_GET

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/seen.png"
        path = older("link.html", f'<p>Words before.</p><img src="{address}" width=9 height=9>'.encode())
        assert asked, "the picture of the file that was converted should be linked"
        asked.clear()
        assert "Words before." in read(path).text
        server.shutdown()
    assert asked == []


@needs_office
def test_a_damaged_older_document_is_refused_in_words(older: Convert) -> None:
    path = older("harbour.docx", rules())
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(SourceError, match="could not be converted by LibreOffice; open it there"):
        read(path)


@pytest.mark.parametrize("content", [rules(), b"{\\rtf1 A boat pays 41 euros a night.\\par}"], ids=["docx", "rtf"])
def test_other_kinds_that_are_named_doc_need_no_libreoffice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / "harbour.doc"
    path.write_bytes(content)
    assert "A boat pays 41 euros a night." in read(path).text


@pytest.mark.skipif(sys.platform == "win32", reason="programs are not found by PATH alone")
def test_without_libreoffice_the_file_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / "a.doc"
    path.write_bytes(b"\xd0\xcf\x11\xe0 and more")
    with pytest.raises(SourceError, match=r"is an older Word document; install LibreOffice, .* or save it as \.docx"):
        read(path)
