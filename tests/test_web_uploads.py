"""Files that clients send: read, told of by their own names, and never a way to anywhere else."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import damage
import pytest

pytest.importorskip("fastapi", reason="needs fastapi")

import httpx2
from web_parts import Served, served, until

from toulmin.build.indexes import update_index
from toulmin.config import Settings
from toulmin.indexing.store import open_index
from toulmin.server.uploads import Uploads, slug

TOKEN = "a-token-of-some-length"
BIRDS = b"Cormorants nest on Kettle Rock in May.\n"


@pytest.fixture
def index(notes: Path, tmp_path: Path) -> Path:
    made = tmp_path / "library"
    update_index([str(notes)], made, Settings())
    return made


@pytest.fixture
def server(index: Path) -> Iterator[Served]:
    with served(index, token=TOKEN) as found:
        yield found


def send(server: Served, *files: tuple[str, bytes]) -> dict[str, list]:
    reply = server.client.post("/v1/documents", files=[("file", file) for file in files])
    assert reply.status_code == 200, reply.text
    found: dict[str, list] = reply.json()
    return found


def found(server: Served, query: str) -> list[str]:
    hits = server.client.post("/v1/search", json={"query": query}).json()["hits"]
    return [hit["passage"]["title"] for hit in hits]


def test_an_uploaded_file_is_found_at_once_under_its_name(server: Served):
    assert send(server, ("birds-of-the-rock.txt", BIRDS)) == {"read": ["birds-of-the-rock.txt"], "skipped": []}
    assert found(server, "cormorants") == ["Birds of the rock"]


def test_a_full_disk_refuses_uploads_but_answers_questions(server: Served):
    with damage.full_disk():
        reply = server.client.post("/v1/documents", files=[("file", ("birds.txt", BIRDS))])
        answer = server.client.post("/v1/answers", json={"question": "Who built Kettle Rock Tower?"})
    assert (reply.status_code, "The disk is full" in reply.text) == (507, True)
    assert "claims" in answer.text, answer.text
    assert send(server, ("birds.txt", BIRDS))["read"] == ["birds.txt"]


def test_what_was_there_before_stays(server: Served):
    send(server, ("birds.txt", BIRDS))
    assert server.client.post("/v1/answers", json={"question": "Who built Kettle Rock Tower?"}).json()["claims"]


def test_a_text_that_needs_no_ending_is_read(server: Served):
    assert send(server, ("README", BIRDS))["read"] == ["README"]


def test_a_bad_file_is_told_of_and_the_others_are_read(server: Served, index: Path):
    report = send(
        server, ("broken.pdf", b"%PDF-1.4 nothing"), ("birds.txt", BIRDS), ("run.exe", b"MZ"), ("x.tsv.gz", b"x")
    )
    assert report["read"] == ["birds.txt"]
    reasons = {one["name"]: one["reason"] for one in report["skipped"]}
    assert reasons.keys() == {"broken.pdf", "run.exe", "x.tsv.gz"}
    assert "unknown kind" in reasons["run.exe"]
    assert reasons["broken.pdf"].startswith("broken.pdf is a damaged PDF")
    kept = [path.name for path in (index.parent / "library-uploads").rglob("*") if path.is_file()]
    assert kept == ["birds.txt"]


def test_an_upload_of_nothing_but_a_bad_file_says_why(server: Served):
    (skipped,) = send(server, ("broken.pdf", b"%PDF-1.4 nothing"))["skipped"]
    assert skipped["reason"].startswith("broken.pdf is a damaged PDF")
    assert server.client.get("/v1/documents").json()["skipped"] == []


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd.txt", "/etc/cron.d/job.txt", "..\\..\\windows.txt", "a/../../b.txt", "CON.txt", "\x00.txt",
     ".txt", "<script>alert(1)</script>.txt", "\u202egnp.txt", "x" * 400 + ".txt", "$(reboot).txt", "%2e%2e%2f.txt"],
)  # fmt: skip
def test_a_name_is_never_a_path(server: Served, index: Path, tmp_path: Path, name: str):
    before = {path for path in tmp_path.rglob("*") if "library" not in str(path)}
    send(server, (name, BIRDS))
    uploads = index.parent / "library-uploads"
    (kept,) = [path for path in uploads.rglob("*") if path.is_file()]
    assert kept.read_bytes() == BIRDS
    assert set(kept.stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert {path for path in tmp_path.rglob("*") if "library" not in str(path)} == before


def test_an_upload_can_be_taken_back(server: Served):
    send(server, ("birds.txt", BIRDS))
    listed = server.client.get("/v1/documents", params={"limit": 200}).json()["documents"]
    (number,) = [one["number"] for one in listed if one["title"] == "Birds"]
    assert server.client.delete(f"/v1/documents/{number}").status_code == 204
    assert found(server, "cormorants") == []


def test_an_upload_that_was_left_unread_can_be_deleted(server: Served, index: Path):
    left = index.parent / "library-uploads" / "0123456789abcdef" / "left.pdf"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"%PDF-1.4 nothing")  # as a server leaves it that is killed while it reads
    send(server, ("birds.txt", BIRDS))
    (skipped,) = server.client.get("/v1/documents").json()["skipped"]
    assert server.client.delete(f"/v1/uploads/{skipped['upload']}").status_code == 204
    assert (server.client.get("/v1/documents").json()["skipped"], left.exists()) == ([], False)


@pytest.mark.parametrize("id", ["0123456789abcdef", "..", "%2e%2e", "x"])
def test_no_other_folder_can_be_deleted(server: Served, index: Path, id: str):
    send(server, ("birds.txt", BIRDS))
    assert server.client.delete(f"/v1/uploads/{id}").status_code in (404, 405)
    assert len([path for path in (index.parent / "library-uploads").rglob("*") if path.is_file()]) == 1


def test_a_document_of_the_owner_s_cannot_be_taken_away(server: Served, notes: Path):
    listed = server.client.get("/v1/documents").json()["documents"]
    reply = server.client.delete(f"/v1/documents/{listed[0]['number']}")
    assert (reply.status_code, "was not uploaded" in reply.text) == (404, True)
    assert len(list(notes.iterdir())) == 2


def test_the_same_bytes_under_another_name_are_one_document(server: Served):
    send(server, ("birds.txt", BIRDS))
    send(server, ("cormorants-in-may.txt", BIRDS))
    assert found(server, "cormorants") == ["Cormorants in may"]


def test_an_upload_without_a_file_is_told_so(server: Served):
    reply = server.client.post("/v1/documents", data={"text": "no file"})
    assert "in a form field `file`" in reply.json()["error"]["message"]


def test_an_upload_whose_client_goes_away_is_nothing_for_the_log(server: Served, caplog: pytest.LogCaptureFixture):
    address = httpx2.URL(server.url)
    head = f"POST /v1/documents HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 99\r\n"
    kind = "Content-Type: multipart/form-data; boundary=x\r\nExpect: 100-continue\r\n\r\n--x"
    with socket.create_connection((address.host, address.port or 0)) as client:
        client.sendall((head + kind).encode())
        assert client.recv(100).startswith(b"HTTP/1.1 100")
    gone = 'route="/v1/documents",status="499"} 1.0'
    assert until(lambda: gone in server.client.get("/metrics").text)
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


def test_an_upload_that_the_server_s_end_cuts_reads_no_further_file(index: Path):
    async def cut() -> None:
        uploads = Uploads(index, Settings())
        (uploads.folder / "0").mkdir(parents=True)
        for number in range(400):
            (uploads.folder / "0" / f"{number}.txt").write_text(f"Bird {number} nests here. " * 100)
        update = asyncio.create_task(uploads._update())
        await asyncio.sleep(0.01)
        update.cancel()
        await asyncio.wait([update])

    asyncio.run(cut())  # which waits for the thread
    with open_index(index) as corpus:
        assert corpus.stats.documents == 2


def test_ones_own_machine_needs_no_token_and_no_other_page_may_upload(index: Path):
    with served(index) as server:
        foreign = {"Origin": "http://elsewhere.example"}
        reply = server.client.post("/v1/documents", files=[("file", ("birds.txt", BIRDS))], headers=foreign)
        assert reply.status_code == 403
        assert send(server, ("birds.txt", BIRDS))["read"] == ["birds.txt"]


@pytest.mark.parametrize(
    ("door", "settings"),
    [
        ({"proxies": ("127.0.0.1",)}, Settings()),
        ({"hosts": ("docs.example",)}, Settings()),
        ({"root": "/docs"}, Settings()),
        ({"origins": ("http://elsewhere.example",)}, Settings()),
        ({}, Settings(uploads_mb=0)),
        ({"token": TOKEN}, Settings(uploads_mb=0)),
    ],
    ids=["proxy", "other name", "path behind a proxy", "other page", "turned off", "turned off with a token"],
)
def test_nothing_can_be_uploaded(door: dict[str, Any], settings: Settings, index: Path):
    with served(index, settings, **door) as server:
        reply = server.client.post("/v1/documents", files=[("file", ("birds.txt", BIRDS))])
        assert reply.status_code in (404, 405, 413)
        assert not (index.parent / "library-uploads").exists()


def test_a_slug_says_what_a_name_said():
    assert slug("Annual Report (2024) é.pdf") == "annual-report-2024"
    assert slug("海.txt").startswith("file-")
