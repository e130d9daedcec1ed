"""The routes that show a citation's original: pages of a PDF with marks, readable documents, and the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs fastapi")
pytest.importorskip("PIL", reason="needs pillow")

from pdf_writer import lines, pdf
from PIL import Image
from web_parts import Served, served

from toulmin.indexing.update import update
from toulmin.originals.readable import LARGEST

TOKEN = "a token for this test alone"
SENTENCE = "Kettle Rock Tower was lit for the first time on 3 May 1824."
MARKED = f'<mark class="toulmin" id="marked">{SENTENCE}</mark>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    book = pdf([lines("A first page about the sea."), lines("Before it.", SENTENCE, "Nobody was there.")])
    (folder / "book.pdf").write_bytes(book)
    (folder / "tower.txt").write_text(f"On towers.\n\nThey are tall. {SENTENCE} It <b>stands</b> still.\n", "utf-8")
    update(tmp_path / "index", [folder])
    return folder


@pytest.fixture
def server(folder: Path) -> Iterator[Served]:
    with served(folder.parent / "index", token=TOKEN) as server:
        yield server


def get(server: Served, path: str, **params: Any) -> Any:
    return server.client.get(path, params=params)


def original(server: Served, ending: str, words: str = SENTENCE) -> dict[str, Any]:
    """What the route says of those words in the file of that ending."""
    hits = server.client.post("/v1/search", json={"query": words, "k": 10}).json()["hits"]
    passage = next(hit["passage"] for hit in hits if hit["passage"]["source"]["path"].endswith(ending))
    start = passage["text"].index(words)
    found: dict[str, Any] = get(
        server, f"/v1/passages/{passage['id']}/original", start=start, end=start + len(words)
    ).json()
    return found


def test_a_pdf_is_shown_by_its_pages_with_the_words_marked(server: Served):
    found = original(server, ".pdf")
    assert (found["kind"], found["state"], found["reason"], found["page"]) == ("pages", "same", None, 2)
    assert found["sizes"] == [[612, 792], [612, 792]]
    (mark,), (box,) = found["marks"], found["boxes"]
    assert (mark["page"], box["page"]) == (2, 2)
    assert mark["x"] * 612 == pytest.approx(box["left"], abs=3)
    assert (1 - mark["y"]) * 792 == pytest.approx(box["top"], abs=3)


def test_a_page_comes_as_a_picture_of_the_asked_width(server: Served):
    found = original(server, ".pdf")
    reply = get(server, f"/v1/documents/{found['number']}/pages/2", width=300)
    picture = Image.open(BytesIO(reply.content))
    assert (reply.headers["content-type"], picture.size) == ("image/webp", (300, 389))


def test_a_page_that_is_not_there_is_refused(server: Served):
    found = original(server, ".pdf")
    reply = get(server, f"/v1/documents/{found['number']}/pages/3")
    assert (reply.status_code, "2 pages" in reply.json()["error"]["message"]) == (404, True)


def test_a_text_is_readable_with_the_words_marked(server: Served):
    found = original(server, ".txt")
    assert (found["kind"], found["sizes"], found["marks"]) == ("text", [], [])
    page = get(server, f"/v1/documents/{found['number']}/readable", start=found["start"], end=found["end"]).text
    assert f"{MARKED} It &lt;b&gt;stands" in page


@pytest.mark.parametrize("span", [{"start": 3}, {"start": 5, "end": 5}, {"start": 0, "end": 10**6}])
def test_a_span_that_is_none_is_refused(server: Served, span: dict[str, int]):
    number = original(server, ".txt")["number"]
    assert get(server, f"/v1/documents/{number}/readable", **span).status_code == 422


def test_a_page_is_readable_as_it_looks_and_runs_nothing(tmp_path: Path):
    (tmp_path / "a.html").write_text(f"<h1>On towers</h1><script>alert(1)</script><p>It <b>is</b>. {SENTENCE}", "utf-8")
    with served(tmp_path) as server:
        found = original(server, ".html")
        span = {"start": found["start"], "end": found["end"]}
        page = get(server, f"/v1/documents/{found['number']}/readable", **span).text
    assert f"<b>is</b>. {MARKED}" in page
    assert "alert" not in page


def test_a_page_that_is_a_trap_is_shown_as_text(tmp_path: Path):
    (tmp_path / "a.html").write_text(f"<p>{SENTENCE}</p>{''.join(f'<p><b id={n}>' for n in range(300))}", "utf-8")
    with served(tmp_path) as server:
        found = original(server, ".html")
        page = get(server, f"/v1/documents/{found['number']}/readable", start=found["start"], end=found["end"]).text
    assert ('<body class="text">' in page, MARKED in page) == (True, True)


def test_of_a_file_that_is_too_large_the_text_is_shown_with_the_reason(tmp_path: Path):
    (tmp_path / "a.html").write_text(f"<p><b>Towers.</b> {SENTENCE}<!--{'x' * LARGEST}-->", "utf-8")
    with served(tmp_path) as server:
        found = original(server, ".html")
        page = get(server, f"/v1/documents/{found['number']}/readable", start=found["start"], end=found["end"]).text
    assert (found["state"], "8.0 MB" in found["reason"]) == ("same", True)
    assert MARKED in page
    assert "<b>" not in page


def test_a_record_is_shown_as_its_text_alone(tmp_path: Path):
    records = [{"id": "1", "text": "Another record."}, {"id": "2", "text": f"<i>Towers.</i> {SENTENCE}"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)), "utf-8")
    with served(tmp_path) as server:
        found = original(server, ".jsonl")
        page = get(server, f"/v1/documents/{found['number']}/readable", start=found["start"], end=found["end"]).text
    assert "&lt;i&gt;Towers.&lt;/i&gt;" in page
    assert "Another record" not in page


def test_of_a_changed_file_nothing_is_shown(server: Served, folder: Path):
    (folder / "book.pdf").write_bytes(pdf([lines("Something else.")]))
    found = original(server, ".pdf")
    assert (found["state"], found["sizes"], found["marks"], found["boxes"]) == ("changed", [], [], [])
    assert "changed" in found["reason"]
    number = found["number"]
    assert [get(server, f"/v1/documents/{number}/{what}").status_code for what in ("pages/1", "readable", "file")] == [
        409,
        409,
        409,
    ]


def test_of_a_file_that_is_gone_nothing_is_shown(server: Served, folder: Path):
    (folder / "tower.txt").unlink()
    found = original(server, ".txt")
    assert (found["state"], get(server, f"/v1/documents/{found['number']}/file").status_code) == ("gone", 409)


def test_the_file_itself_comes_with_what_keeps_a_browser_from_running_it(server: Served, folder: Path):
    for ending, kind in ((".pdf", "application/pdf"), (".txt", "text/plain; charset=utf-8")):
        found = original(server, ending)
        reply = get(server, f"/v1/documents/{found['number']}/file")
        assert reply.content == Path(found["path"]).read_bytes()
        assert (reply.headers["content-type"], reply.headers["x-content-type-options"]) == (kind, "nosniff")
        assert reply.headers["content-disposition"].startswith("inline")
        assert "default-src 'none'" in reply.headers["content-security-policy"]


@pytest.mark.parametrize("what", ["original", "pages/1", "readable", "file"])
def test_nothing_is_shown_without_the_token(server: Served, what: str):
    assert get(server, f"/v1/documents/1/{what}").status_code == 200 or what == "pages/1"
    server.client.headers.pop("Authorization")
    assert get(server, f"/v1/documents/1/{what}").status_code == 401


def test_an_unknown_document_is_refused(server: Served):
    assert get(server, "/v1/documents/999/original").status_code == 404
