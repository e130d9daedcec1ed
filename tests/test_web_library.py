"""The list of documents by name and kind, and questions to begin with."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs fastapi")

from web_parts import Served, served

from toulmin.config import Settings


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("library")
    (folder / "deep").mkdir()
    (folder / "tower.md").write_text("# How was the tower built?\n\nThe tower was built of granite.\n", "utf-8")
    (folder / "deep" / "Keepers.txt").write_text("Three keepers lived there.\n", "utf-8")
    (folder / "deep" / "Lamps.txt").write_text("The lamp was lit in 1824.\n", "utf-8")
    (folder / "rows.jsonl").write_text('{"title": "Tides", "text": "Tides follow the moon."}\n', "utf-8")
    with served(folder) as found:
        yield found


def titles(server: Served, **asked: str | int) -> list[str]:
    return [one["title"] for one in server.client.get("/v1/documents", params=asked).json()["documents"]]


def test_documents_are_found_by_words_of_their_title_and_path(server: Served):
    assert titles(server, name="keep") == ["Keepers"]
    assert titles(server, name="DEEP txt") == ["Keepers", "Lamps"]
    assert titles(server, name="nothing") == []


def test_documents_are_found_by_kind(server: Served):
    listed = server.client.get("/v1/documents", params={"kind": "txt", "limit": 1, "offset": 1}).json()
    assert ([one["title"] for one in listed["documents"]], listed["total"]) == (["Lamps"], 2)
    assert listed["kinds"] == {"txt": 2, "md": 1, "record": 1}
    assert server.client.get("/v1/documents", params={"name": "keep"}).json()["kinds"] == {"txt": 1}


def test_documents_are_limited_by_filters(server: Served):
    asked = {"only": ["kind:txt", "not:title:lamps"], "limit": 1}
    listed = server.client.get("/v1/documents", params=asked).json()
    assert ([one["title"] for one in listed["documents"]], listed["total"]) == (["Keepers"], 1)
    assert listed["kinds"] == {"txt": 1}
    page = server.client.get("/v1/documents", params={"only": "deep/*", "limit": 1, "offset": 1}).json()
    assert ([one["title"] for one in page["documents"]], page["total"]) == (["Lamps"], 2)
    assert server.client.get("/v1/documents", params={"only": "deep/*", "name": "keep"}).json()["total"] == 1


def test_a_server_that_is_limited_lists_what_it_reads(tmp_path: Path):
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "Ann <a@b.c>", "Lamps"
    mail.set_content("See below.")
    mail.add_attachment("Oil costs 7.", filename="oil.txt")
    (tmp_path / "a.eml").write_bytes(mail.as_bytes())
    (tmp_path / "b.md").write_text("The moon.", "utf-8")
    with served(tmp_path, Settings(only=("kind:eml",))) as limited:
        listed = limited.client.get("/v1/documents").json()
        assert (listed["total"], listed["kinds"]) == (2, {"eml": 2})
        assert [(one["title"], one["record"]) for one in listed["documents"]] == [
            ("Lamps", None),
            ("Oil", "attached oil.txt"),
        ]


@pytest.mark.parametrize(
    ("only", "words"),
    [
        (["colour:blue"], "not 'colour:blue'"),
        (["kind:pdf"], "None of the 4 documents passes kind:pdf"),
        (["kind:txt"] * 21, "at most 20 items"),
        (["x" * 301], "at most 300 characters"),
    ],
)
def test_filters_that_do_not_work_are_refused(server: Served, only: list[str], words: str):
    reply = server.client.get("/v1/documents", params={"only": only})
    assert reply.status_code == 422
    assert words in reply.json()["error"]["message"]


def test_paths_have_their_folder_in_common(server: Served):
    listed = server.client.get("/v1/documents").json()
    assert all(one["path"].startswith(listed["folder"] + "/") for one in listed["documents"])


def test_questions_come_from_headings_that_ask_and_from_definitions(tmp_path: Path):
    texts = {
        "tower": "# How was the tower built?\n\nThe tower was built of granite.",
        "sextant": "# Sextant\n\nA sextant is an instrument that measures angles.",
        "contract": "# Contract\n\nThe keeper signs here.",
        "works": "# How longitude works\n\nClocks tell it.",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.md").write_text(f"{text}\n", "utf-8")
    with served(tmp_path) as found:
        known = found.client.get("/v1/examples").json()
    assert (known["documents"], known["examples"]) == (4, ["How was the tower built?", "What is Sextant?"])
