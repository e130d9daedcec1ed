"""Bytes from elsewhere: one file, link, pipe or killed parent holds up, fills or outlives nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import httpx2
import pytest

pytest.importorskip("fastapi", reason="needs fastapi")

from hostile_files import slow_pdf
from pdf_writer import lines, pdf
from web_parts import Served, free_port, served, until

from toulmin.data import Answer, Claim
from toulmin.documents import confined
from toulmin.documents.archive import xml_part
from toulmin.documents.loaders import find_files
from toulmin.errors import SourceError
from toulmin.evaluation.feedback import Feedback
from toulmin.indexing import update as updating
from toulmin.indexing.update import update
from toulmin.prose import markdown, word
from toulmin.server.shelf import Shelf

GOOD = "The lamp was lit in 1871."
TOKEN = "sixteen-letters-"
linux = pytest.mark.skipif(sys.platform != "linux", reason="children are limited on Linux")


def seconds(run: Callable[[], Any]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def word_file(path: Path, body: str, comments: str = "") -> Path:
    """A Word document with that XML as its body; `comments` are ids and words."""
    made = docx.Document()
    made.add_paragraph("x")
    made.add_comment(made.paragraphs[0].runs, "y", "z")
    whole = BytesIO()
    made.save(whole)
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name).decode("utf-8", "replace") if name.endswith(".xml") else old.read(name)
            if name == "word/document.xml":
                start, end = str(data).index("<w:body>") + 8, str(data).rindex("<w:sectPr")
                data = f"{data[:start]}{body}{data[end:]}"
            elif name == "word/comments.xml" and comments:
                start, end = str(data).index("<w:comment "), str(data).rindex("</w:comments>")
                data = f"{data[:start]}{comments}{data[end:]}"
            new.writestr(name, data)
    return path


def endless_picture() -> bytes:
    """A PDF whose text is read at once, and whose shading calculates each pixel for ever."""
    sums = b"{ pop " + b"dup mul sqrt " * 2_500 + b"dup dup }"
    shading = b"<< /ShadingType 1 /ColorSpace /DeviceRGB /Domain [0 1 0 1] /Matrix [612 0 0 792 0 0] /Function 5 0 R >>"
    page = b"BT /F1 12 Tf 72 720 Td (" + GOOD.encode() + b") Tj ET\n" + b"/Sh1 sh\n" * 50
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    function = b"/FunctionType 4 /Domain [0 1 0 1] /Range [0 1 0 1 0 1]"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 " + font + b" >> /Shading << /Sh1 " + shading + b" >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(page), page),
        b"<< %s /Length %d >>\nstream\n%s\nendstream" % (function, len(sums), sums),
    ]
    whole, offsets = b"%PDF-1.4\n", []
    for n, made in enumerate(objects, start=1):
        offsets.append(len(whole))
        whole += b"%d 0 obj\n%s\nendobj\n" % (n, made)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    return whole + head + table + b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(whole)


# ---------------------------------------------------------------- drafts


@linux
def test_a_draft_that_unpacks_to_millions_of_paragraphs_is_refused_within_limits(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(confined, "_SECONDS", 4.0)
    path = word_file(tmp_path / "wide.docx", "<w:p/>" * 4_000_000)  # 24 MB, packed to 40 kB
    before = confined._peak()
    with served(notes) as server:
        reply = server.client.post("/v1/check/document", content=path.read_bytes(), timeout=100)
        assert server.client.get("/healthz").is_success
    limits = ("640 MB", "seconds of computing", "in time")
    assert (reply.status_code, any(limit in reply.text for limit in limits)) == (422, True), reply.text
    assert confined._peak() - before < 150_000  # kilobytes


def test_comments_that_are_never_ended_cost_no_square(tmp_path: Path):
    def read(comments: int) -> float:
        ids = range(10, 10 + comments)
        about = "".join(
            f'<w:comment w:id="{n}"><w:p><w:r><w:t>toulmin: skip a</w:t></w:r></w:p></w:comment>' for n in ids
        )
        body = "".join(f'<w:p><w:commentRangeStart w:id="{n}"/><w:r><w:t>A lamp.</w:t></w:r></w:p>' for n in ids)
        path = word_file(tmp_path / f"{comments}.docx", body, about)
        return min(seconds(lambda: word.read(path)) for _ in range(3))

    read(10)  # loads what is needed
    short, long = read(800), read(3_200)
    assert long < 8 * short


def test_a_comment_of_blanks_costs_no_square():
    def read(blanks: int) -> float:
        return seconds(lambda: markdown.read(f"<!-- toulmin: skip a{' ' * blanks}b -->\n\nThe lamp was lit.\n"))

    read(10)
    assert read(80_000) < 10 * max(read(20_000), 0.01)
    (skip,) = markdown.read("<!-- toulmin: skip  because \n it is -->\n\nThe lamp was lit.\n").skips
    assert skip.reason == "because it is"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be"])
def test_entities_are_refused_in_every_encoding(encoding: str):
    text = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    whole = BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("a.xml", (b"\xfe\xff" if encoding == "utf-16-be" else b"") + text.encode(encoding))
    with zipfile.ZipFile(whole) as archive, pytest.raises(ValueError, match="declares entities"):
        xml_part(archive, "a.xml")


# ---------------------------------------------------------------- files that are none, or too large


@linux
def test_a_file_that_became_a_pipe_holds_up_neither_its_routes_nor_the_end(tmp_path: Path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text(GOOD)
    update(tmp_path / "library", [folder])
    began = time.monotonic()
    with served(tmp_path / "library") as server:
        (folder / "a.txt").unlink()
        os.mkfifo(folder / "a.txt")
        (document,) = server.client.get("/v1/documents").json()["documents"]
        place = f"/v1/documents/{document['number']}"
        assert server.client.get(f"{place}/original").json()["state"] == "gone"
        assert [server.client.get(f"{place}/{what}").status_code for what in ("readable", "file")] == [409, 409]
    assert time.monotonic() - began < 15


def test_a_file_too_large_to_be_read_is_not_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(path: Path) -> bytes:
        raise AssertionError(f"{path} was hashed")

    monkeypatch.setattr(updating, "sha256_of", refuse)
    for name in ("a.pdf", "b.txt"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(10 << 30)
    report = update(tmp_path.parent / "library", [tmp_path])
    assert ["10,737.4 MB, and at most" in skip.reason for skip in report.skipped] == [True, True]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path):
    secret, folder = tmp_path / "secret", tmp_path / "folder"
    for place in (secret, folder):
        place.mkdir()
        (place / "a.txt").write_text(GOOD)
    (folder / "key.txt").symlink_to(secret / "a.txt")
    (folder / "all").symlink_to(secret)
    (folder / "same.txt").symlink_to(folder / "a.txt")
    files, skipped = find_files([folder])
    assert (files, {Path(skip.path).name for skip in skipped}) == ([folder / "a.txt"], {"key.txt", "all"})
    assert len(find_files([folder, secret])[0]) == 2  # what is named may be linked to


# ---------------------------------------------------------------- slots and what is remembered


@linux
def test_a_pdf_that_is_drawn_without_end_holds_up_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "endless.pdf").write_bytes(endless_picture())
    (folder / "good.pdf").write_bytes(pdf([lines(GOOD)]))
    monkeypatch.setattr(confined, "_SECONDS", 4.0)
    assert update(tmp_path / "library", [folder]).documents == 2
    with served(tmp_path / "library", token=TOKEN) as server:
        numbers = {
            Path(row["path"]).name: row["number"] for row in server.client.get("/v1/documents").json()["documents"]
        }

        def get(name: str, width: int) -> tuple[int, float]:
            began = time.monotonic()
            reply = server.client.get(f"/v1/documents/{numbers[name]}/pages/1", params={"width": width}, timeout=100)
            return reply.status_code, time.monotonic() - began

        statuses: list[int] = []
        hostile = [
            threading.Thread(target=lambda n=n: statuses.append(get("endless.pdf", n)[0])) for n in range(900, 904)
        ]
        for thread in hostile:
            thread.start()
        began = time.monotonic()
        time.sleep(0.5)
        status, _ = get("good.pdf", 300)
        assert (status, statuses) == (200, [])  # none of the others has ended
        for thread in hostile:
            thread.join()
        all_took = time.monotonic() - began
        again, took = get("endless.pdf", 910)
        assert (statuses, again, took < all_took / 4) == ([404] * 4, 404, True), (took, all_took)


@linux
def test_a_file_that_was_late_is_tried_again_in_a_quarter_of_an_hour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "slow.pdf").write_bytes(slow_pdf(150_000))

    def reason() -> str:
        (skip,) = update(tmp_path / "index", [folder]).skipped
        return skip.reason

    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0)
    with monkeypatch.context() as busy:
        busy.setattr(confined, "_PATIENCE", 0.01)
        late = reason()
    assert "was not read in time; try again in a quarter of an hour" in late
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    assert reason() == late
    monkeypatch.setattr(time, "time", lambda: 1_800_000_901.0)
    assert "no process could be started" in reason()


READING = "import sys, toulmin; toulmin.index([sys.argv[1]], into=sys.argv[2])"


@linux
def test_children_end_with_a_killed_parent(tmp_path: Path):
    (tmp_path / "slow.pdf").write_bytes(slow_pdf(200_000))
    parent = subprocess.Popen([sys.executable, "-c", READING, str(tmp_path / "slow.pdf"), str(tmp_path / "index")])
    end, busy = time.monotonic() + 60, list[int]()
    while not busy and time.monotonic() < end:
        time.sleep(0.1)
        busy = [pid for pid in children_of(parent.pid) if computed(pid) > 1.0]
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    time.sleep(0.5)
    assert (len(busy) > 0, [pid for pid in busy if is_running(pid)]) == (True, [])


@linux
def test_sigterm_ends_a_server_that_reads_a_hostile_draft(notes: Path, tmp_path: Path):
    draft = word_file(tmp_path / "long.docx", "<w:p><w:r><w:t>A lamp was lit.</w:t></w:r></w:p>" * 100_000)
    url = f"http://127.0.0.1:{(port := free_port())}/"
    command = f"serve --docs {notes} --port {port} --grace 1 --judge lexical --set reader=lexical".split()
    homes = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("STATE", "CACHE")}
    server = subprocess.Popen([sys.executable, "-m", "toulmin", *command], env={**os.environ, **homes})

    def is_ready() -> bool:
        with suppress(httpx2.TransportError):
            return httpx2.get(f"{url}readyz").is_success
        return False

    try:
        assert until(is_ready)
        with ThreadPoolExecutor(1) as thread:
            reply = thread.submit(httpx2.post, f"{url}v1/check/document", content=draft.read_bytes(), timeout=60)
            assert until(lambda: any(computed(pid) > 0.3 for pid in children_of(server.pid)))
            server.send_signal(signal.SIGTERM)
            assert server.wait(20) == 0
            with suppress(httpx2.TransportError):
                assert reply.result().status_code in (422, 499, 503)
    finally:
        server.kill()
        server.wait()


def children_of(pid: int) -> list[int]:
    try:
        return [int(n) for task in Path(f"/proc/{pid}/task").iterdir() for n in (task / "children").read_text().split()]
    except OSError:
        return []


def computed(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


# ---------------------------------------------------------------- totals

CLAIM = {"question": "Q", "text": "A lamp. " * 100, "passages": [], "support": None}


def test_feedback_is_read_once(tmp_path: Path):
    path = tmp_path / "a.feedback.jsonl"
    rows = (json.dumps(CLAIM | {"answer": f"a{n}", "claim": 0, "says": "right"}) for n in range(20_000))
    path.write_text("\n".join(rows) + "\n")
    feedback = Feedback(path, 10**9)
    first = seconds(lambda: feedback.of_answer("a7"))
    assert seconds(lambda: [feedback.of_answer(f"a{n}") for n in range(20)]) < first
    with path.open("a") as file:
        file.write(json.dumps(CLAIM | {"answer": "a7", "claim": 0, "says": "wrong"}) + "\n")
        file.write(json.dumps(CLAIM | {"answer": "a8", "claim": 0, "says": None}) + "\nnot a row\n")
    assert [feedback.of_answer(id) for id in ("a6", "a7", "a8")] == [{0: "right"}, {0: "wrong"}, {}]
    path.write_text(json.dumps(CLAIM | {"answer": "b", "claim": 1, "says": "right"}) + "\n")  # it was moved away
    assert [feedback.of_answer(id) for id in ("a7", "b")] == [{}, {1: "right"}]


def test_full_feedback_is_refused_with_the_setting(tmp_path: Path):
    feedback = Feedback(tmp_path / "a.feedback.jsonl", 10)
    answer = Answer("Q?", "long", "best", "answered", (Claim("A lamp."),), id="a")
    feedback.add(answer, 0, "right")
    with pytest.raises(SourceError, match=r"Feedback has reached .* raise feedback_mb") as refusal:
        feedback.add(answer, 0, "wrong")
    assert refusal.value.http_status == 507


def test_uploads_beyond_their_total_are_refused_with_the_setting(notes: Path, tmp_path: Path):
    from toulmin.config import Settings

    update(tmp_path / "library", [notes])
    with served(tmp_path / "library", Settings(uploads_mb=1), token=TOKEN) as server:
        statuses = [send(server, f"{name}.txt", name) for name in ("one", "two")]
        assert statuses == [200, 507]
        listed = server.client.get("/v1/documents", params={"limit": 200}).json()["documents"]
        (number,) = [row["number"] for row in listed if row["title"] == "One"]
        server.client.delete(f"/v1/documents/{number}")
        assert send(server, "two.txt", "two") == 200


def send(server: Served, name: str, words: str) -> int:
    reply = server.client.post("/v1/documents", files=[("file", (name, f"{words} ".encode() * 150_000))], timeout=60)
    assert reply.status_code == 200 or "raise uploads_mb" in reply.text
    return reply.status_code


def test_kept_answers_have_a_total(tmp_path: Path):
    shelf = Shelf(tmp_path / "answers.sqlite", most=100, size=1_000)
    for n in range(5):
        shelf.put(str(n), b"x" * 400)
    assert [n for n in range(5) if shelf.get(str(n))] == [3, 4]
    shelf.put("large", b"x" * 5_000)
    assert (shelf.get("large"), shelf.get("4")) == (b"x" * 5_000, None)
    shelf.close()


# ---------------------------------------------------------------- what the server's process loads

PARSERS = "pypdfium2 docx lxml selectolax nh3 mammoth striprtf markdown_it pylatexenc xml.etree".split()
SERVING = """
import asyncio, json, sys
from pathlib import Path
import httpx2
from toulmin.build.sources import Sources
from toulmin.config import Settings
from toulmin.server.counters import Figures
from toulmin.server.desk import Desk
from toulmin.server.engine import Engine
from toulmin.server.guard import Rules
from toulmin.server.routes import application
from toulmin.server.shelf import Shelf
from toulmin.server.uploads import Uploads

place, parsers = Path(sys.argv[1]), sys.argv[2:]

async def main():
    settings = Settings(judge="lexical", reader="lexical", index=str(place / "library"))
    engine = Engine(Sources(index=str(place / "library")), settings)
    desk = Desk(engine, Shelf(place / "answers.sqlite"), Rules(upload=10**8), Figures(lambda: engine.running))
    transport = httpx2.ASGITransport(application(desk, Uploads(place / "library", settings)))
    await engine.start()
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=100) as client:
        statuses = [(await client.post("/v1/answers", json={"question": "When was the lamp lit?"})).status_code]
        files = [("file", (path.name, path.read_bytes())) for path in (place / "folder").iterdir()]
        statuses.append((await client.post("/v1/documents", files=files)).status_code)
        for row in (await client.get("/v1/documents")).json()["documents"]:
            for what in ("original", "readable", "pages/1", "file"):
                statuses.append((await client.get(f"/v1/documents/{row['number']}/{what}")).status_code)
        (hit,) = (await client.post("/v1/search", json={"query": "lamp", "k": 1})).json()["hits"]
        about = {"start": 0, "end": 8}
        shown = await client.get(f"/v1/passages/{hit['passage']['id']}/original", params=about)
        draft = (place / "folder" / "draft.docx").read_bytes()
        checked = await client.post("/v1/check/document", content=draft)
        statuses += [shown.status_code, checked.status_code]
    await engine.stop()
    print(json.dumps([sorted(set(statuses)), [name for name in parsers if name in sys.modules]]))

asyncio.run(main())
"""


def test_the_server_s_process_loads_no_parser_of_foreign_formats(tmp_path: Path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(pdf([lines(GOOD)]))
    (folder / "a.html").write_text(f"<p>{GOOD}")
    (folder / "a.md").write_text(f"# Lamp\n\n{GOOD}")
    word_file(folder / "draft.docx", f"<w:p><w:r><w:t>{GOOD}</w:t></w:r></w:p>")
    update(tmp_path / "library", [folder])
    command = [sys.executable, "-c", SERVING, str(tmp_path), *PARSERS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == [[200, 404], []]  # 404: what is no PDF has no pages
