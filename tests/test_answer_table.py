"""Tables: the same questions to each document, as csv, workbook, HTML and JSON."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from contracts import Contract, write_as
from python_calamine import CalamineWorkbook
from selectolax.lexbor import LexborHTMLParser

import toulmin
from toulmin.cli import INTERRUPTED, run
from toulmin.cli.tables import answers
from toulmin.data import Answer, Citation, Claim, Passage, Quote, Source, Support
from toulmin.documents.loaders import read_documents
from toulmin.formats.answer_table import FORMS, Row

KINDS = ("md", "docx", "pdf", "html", "txt", "xlsx")
QUESTIONS = ["What is the annual fee?", "Who is the data protection officer?"]
OFFICERS = ("Mara Lindqvist", "Tomas Okafor", "Ines Baptista", "Wen Zhao", "Priya Raman", "Olga Petrova")
SHARED = "Each party keeps the confidential information of the other party secret for five years."


def agreement(n: int) -> Contract:
    """Only the third has no officer."""
    officer = "" if n == 2 else f"The data protection officer is {OFFICERS[n]}. "
    sections = {
        "Fees": f"The annual fee is {n + 1}2,000 euros. It is due in January.",
        "Personal data": f"{officer}A breach of security is reported within 72 hours.",
        "Confidentiality": SHARED,
    }
    return Contract("Service agreement", {}, sections)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six agreements of six kinds, all under one title."""
    docs = tmp_path / "agreements"
    docs.mkdir()
    for n, kind in enumerate(KINDS):
        write_as(docs / f"{n}.{kind}", agreement(n))
    return docs


def quoting(question: str, *, style: str = "short"):
    """Answers with the sentence that has the question's last word, and is silent without one."""
    from toulmin.ext import search, verify

    word = question.rstrip("?").split()[-1]
    passages = tuple(hit.passage for hit in (yield from search(question, 30)))
    for passage in passages:
        for match in re.finditer(rf"[^.]*\b{word}\b[^.]*", passage.text):
            citation = Citation(passage.id, Quote(*match.span(), match[0]))
            claim = Claim(" ".join(match[0].split()), (citation,))
            claims = yield from verify([claim], {p.id: p for p in passages}, question, style)
            return Answer(question, style, "quoting", "answered", tuple(claims), passages)
    return Answer(question, style, "quoting", "abstained", passages=passages, notes=("The document does not say.",))


def table(folder: Path, **options) -> list[Row]:
    return toulmin.table(QUESTIONS, docs=folder, **{"method": quoting, "judge": "lexical", **options})


def test_each_cell_is_answered_from_its_own_document(folder: Path):
    rows = table(folder)
    assert [row.document for row in rows] == [f"{n}.{kind}" for n, kind in enumerate(KINDS)]
    for n, row in enumerate(rows):
        fee, officer = row.answers
        assert f"{n + 1}2,000 euros" in fee.claims[0].text
        assert {passage.source.path for answer in row.answers for passage in answer.passages} == {row.place}
        assert (OFFICERS[n] in officer.text) == (n != 2)
        assert fee.claims[0].support.label == "supported"


def test_a_cell_without_an_answer_is_blank_and_keeps_the_reason(folder: Path, tmp_path: Path):
    table(folder, out=tmp_path / "t.csv")
    row = list(csv.reader(io.StringIO((tmp_path / "t.csv").read_text("utf-8"))))[3]
    assert row[6:10] == ["", "abstained", "", "The document does not say."]


def test_text_that_documents_share_is_searched_in_each(folder: Path):
    rows = toulmin.table(["What is secret?"], docs=folder, method=quoting, judge="lexical")
    assert [row.answers[0].status for row in rows] == ["answered"] * 6


def test_the_default_method_answers_a_document_alone(folder: Path):
    rows = toulmin.table(QUESTIONS[1:], docs=folder, style="long", judge="lexical")
    for n, row in enumerate(rows):
        assert all(name not in row.answers[0].text for i, name in enumerate(OFFICERS) if i != n)
    assert OFFICERS[0] in rows[0].answers[0].text


def test_the_place_is_that_of_the_quote(folder: Path, tmp_path: Path):
    table(folder, out=tmp_path / "t.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "t.csv").read_text("utf-8"))))
    assert rows[0][2:6] == [QUESTIONS[0], "verdict", "place", "quote"]
    assert rows[3][4] == "p. 1"
    assert "The annual fee is 12,000 euros" in rows[1][5]


def test_an_unreadable_file_has_cells_that_name_the_failure(folder: Path):
    (folder / "broken.docx").write_bytes(b"PK no archive")
    rows = table(folder)
    assert len(rows) == 7
    broken = rows[-1]
    assert broken.document == "broken.docx"
    assert [answer.status for answer in broken.answers] == ["failed", "failed"]
    assert "is a damaged Word document" in broken.answers[0].notes[0]


def test_what_fails_in_one_document_does_not_end_the_table(folder: Path):
    def choosy(question: str):
        answer = yield from quoting(question)
        if any("32,000" in passage.text for passage in answer.passages):
            raise toulmin.ModelError("The model refused.")
        return answer

    statuses = [[answer.status for answer in row.answers] for row in table(folder, method=choosy)]
    assert statuses == [["failed"] * 2 if n == 2 else ["answered"] * 2 for n in range(6)]


# ---------------------------------------------------------------- the forms


EVIL = '=HYPERLINK("http://evil.example","<script>alert(1)</script>")'


def evil_rows(text: str = EVIL) -> list[Row]:
    passage = Passage.of(text, text, Source(0, len(text), path=f"/docs/{text[:1]}<b>.md"))
    claim = Claim(
        text, (Citation(passage.id, Quote(0, len(text), text)),), Support("supported", 0.9, "=j", (passage.id,))
    )
    answer = Answer(f"{text}?", "short", "best", "answered", (claim,), (passage,), id="1")
    silent = Answer(f"+{text}?", "short", "best", "abstained", notes=(f"-{text}",), id="2")
    return [Row(text, passage.source.path or "", (answer, silent))]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\x00=1", "＝1", " =1"])
def test_no_text_is_a_formula_in_csv(text: str):
    rows = list(csv.reader(io.StringIO(FORMS[".csv"](evil_rows(text)).decode())))
    assert [cell for row in rows for cell in row if cell[:1] in tuple("=+-@＝\t\r\x00 ")] == []
    assert f"'{text.strip(' ').lstrip(chr(9) + chr(13) + chr(0))}" in rows[1]


def test_a_workbook_has_texts_and_no_formula(tmp_path: Path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(FORMS[".xlsx"](evil_rows("=1+1\x00\ud800<&>")))
    lines = CalamineWorkbook.from_path(str(path)).get_sheet_by_name("Answers").to_python()
    assert lines[1][0] == "=1+1\ufffd<&>"
    assert b"<f>" not in path.read_bytes()


def test_a_workbook_can_be_read_again_as_a_document(folder: Path, tmp_path: Path):
    table(folder, out=tmp_path / "t.xlsx")
    (document,) = read_documents(tmp_path / "t.xlsx")
    assert "The annual fee is 12,000 euros" in document.text


def test_the_page_escapes_what_documents_say():
    page = FORMS[".html"](evil_rows()).decode()
    tree = LexborHTMLParser(page)
    assert tree.css("script, img, b, iframe") == []
    assert EVIL in tree.css_first("td details bdi").text()
    assert {link.attributes["href"] for link in tree.css("a")} == {"/docs/%3D%3Cb%3E.md"}
    assert tree.css_first("td details.claim .sign").attributes["title"] == "supported"
    assert f"-{EVIL}" in tree.css("td")[-1].text()
    assert "default-src 'none'" in page


def test_json_has_the_answer_documents(folder: Path, tmp_path: Path):
    rows = table(folder, out=tmp_path / "t.json")
    written = json.loads((tmp_path / "t.json").read_text("utf-8"))
    assert [row["document"] for row in written] == [row.document for row in rows]
    assert written[0]["answers"][0]["claims"][0]["text"] == rows[0].answers[0].claims[0].text


def test_another_ending_is_refused_before_anything_is_read(tmp_path: Path):
    with pytest.raises(toulmin.UsageError, match=r"\.csv, \.html, \.json, \.xlsx"):
        table(tmp_path / "nowhere", out=tmp_path / "t.doc")


# ---------------------------------------------------------------- going on


ENDING = """
import os, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_answer_table import quoting
begun = 0

def ending(question, *, style="short"):
    global begun
    begun += 1
    if begun > 6 + 16 and Path("signal").exists():  # after six trials, 16 run side by side
        number = int(Path("signal").read_text())
        Path("signal").unlink()
        os.kill(os.getpid(), number)
    return (yield from quoting(question, style=style))
"""


@pytest.fixture
def command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `toulmin table` over the agreements, with a method that ends it once if there is a file `signal`."""
    monkeypatch.chdir(folder.parent)
    Path("ending.py").write_text(ENDING.format(tests=str(Path(__file__).parent)), "utf-8")
    more = [f"What is due in {month}?" for month in ("January", "May", "June", "July")]
    Path("questions.txt").write_text("\n".join(["# Fees", *QUESTIONS, "", *more]), "utf-8")

    def start(*words: str) -> subprocess.CompletedProcess[str]:
        line = ["questions.txt", "--docs", "agreements", "--method", "./ending.py:ending", "--judge", "lexical", *words]
        # As in a foreground: whoever started the tests in a background left SIGINT ignored.
        code = "import signal as s; s.signal(s.SIGINT, s.default_int_handler); from toulmin.cli import main; main()"
        return subprocess.run([sys.executable, "-c", code, "table", *line], capture_output=True, text=True)

    return start


def cells_in(journal: str) -> int:
    with sqlite3.connect(journal) as file:
        return file.execute("SELECT count(*) FROM answers").fetchone()[0]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_a_stopped_table_goes_on_to_an_equal_one(number: signal.Signals, command: Callable):
    Path("signal").write_text(str(int(number)))
    stopped = command("--out", "stopped.csv")
    assert stopped.returncode == (INTERRUPTED if number == signal.SIGINT else -number)
    assert ("the same command continues" in stopped.stderr) == (number == signal.SIGINT)
    assert not Path("stopped.csv").exists()
    assert 0 < cells_in("stopped.csv.cells") < 36
    assert command("--out", "stopped.csv").returncode == 0
    assert command("--out", "whole.csv").returncode == 0
    assert Path("stopped.csv").read_bytes() == Path("whole.csv").read_bytes()


def test_only_what_changed_is_asked_again(folder: Path, tmp_path: Path):
    asked: list[str] = []

    def counting(question: str):
        asked.append(question)
        return (yield from quoting(question))

    table(folder, method=counting, out=tmp_path / "t.csv")
    begun = len(asked)
    (folder / "4.txt").write_text("The annual fee is 7 euros.", "utf-8")
    rows = table(folder, method=counting, out=tmp_path / "t.csv")
    assert "7 euros" in rows[4].answers[0].text
    assert len(asked) - begun == 2 + len(QUESTIONS)  # each question is also tried before anything is read


def test_a_table_among_its_documents_is_no_document(folder: Path):
    for _ in range(2):
        rows = table(folder, out=folder / "t.csv")
    assert [row.document for row in rows] == [f"{n}.{kind}" for n, kind in enumerate(KINDS)]


def test_a_table_of_nothing_but_itself_is_refused(tmp_path: Path):
    (tmp_path / "t.csv").write_text("document,file\n1,2\n")
    with pytest.raises(toulmin.SourceError, match="at least one document"):
        table(tmp_path, out=tmp_path / "t.csv")


def test_a_terminal_shows_why_a_cell_has_no_answer(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch):
    (folder / "broken.docx").write_bytes(b"PK no archive")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    answers(table(folder), None, as_json=False)
    out = " ".join(capsys.readouterr().out.split())
    assert [words for words in ("✓ ", "12,000", "– The document", "damaged") if words not in out] == []


# ---------------------------------------------------------------- the command


def test_without_a_file_the_command_prints_csv(folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"# Fees\n\nWhat is the annual fee?\n")))
    assert run(["table", "-", "--docs", str(folder), "--judge", "lexical"]) == 0
    out, err = capfd.readouterr()
    rows = list(csv.reader(io.StringIO(out)))
    assert (len(rows), rows[0][2]) == (7, QUESTIONS[0])
    assert "6 documents, 1 question: " in err


def test_only_the_documents_that_pass_are_asked(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    (tmp_path / "q.txt").write_text(f"\ufeff{QUESTIONS[0]}\n", "utf-8")
    words = ["table", str(tmp_path / "q.txt"), "--docs", str(folder), "--judge", "lexical"]
    assert run([*words, "--only", "not:kind:md", "--only", "not:kind:pdf"]) == 0
    rows = list(csv.reader(io.StringIO(capfd.readouterr().out)))
    assert (rows[0][2], [row[0] for row in rows[1:]]) == (QUESTIONS[0], ["1.docx", "3.html", "4.txt", "5.xlsx"])


@pytest.mark.parametrize(("content", "words"), [(None, "There is no file"), (b"\xff\xfeW\x00", "text file in UTF-8")])
def test_a_file_of_questions_that_cannot_be_read_is_an_error(
    content: bytes | None, words: str, folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    if content:
        (tmp_path / "q.txt").write_bytes(content)
    assert run(["table", str(tmp_path / "q.txt"), "--docs", str(folder)]) == 3
    assert words in capfd.readouterr().err


def test_with_json_the_command_prints_one_document(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    (tmp_path / "q.txt").write_text(QUESTIONS[0])
    assert run(["table", str(tmp_path / "q.txt"), "--docs", str(folder), "--judge", "lexical", "--json"]) == 0
    assert len(json.loads(capfd.readouterr().out)) == 6


def test_a_file_without_questions_is_wrong_usage(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    (tmp_path / "q.txt").write_text("# nothing\n")
    assert run(["table", str(tmp_path / "q.txt"), "--docs", str(folder)]) == 2
    assert "at least one question" in capfd.readouterr().err


def test_a_failed_cell_is_told_by_the_exit_code(folder: Path, tmp_path: Path):
    (tmp_path / "q.txt").write_text(QUESTIONS[0])
    words = ["table", str(tmp_path / "q.txt"), "--docs", str(folder), "--model", "openai:none"]
    os.environ.pop("OPENAI_API_KEY", None)
    assert run([*words, "--set", "openai.base_url=http://127.0.0.1:9/v1", "--out", str(tmp_path / "t.csv")]) == 4
