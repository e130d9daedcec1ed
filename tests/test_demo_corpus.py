"""The corpus that ships in the package."""

from __future__ import annotations

from pathlib import Path

from row_tables import table

from toulmin import ask
from toulmin.demo import FOLDER, QUESTION, UNANSWERED
from toulmin.documents.loaders import find_files, read_documents
from toulmin.text.language import STOPWORDS, terms

FILES = sorted(FOLDER.iterdir())


def words_asked(question: str) -> set[str]:
    return set(terms(question)) - STOPWORDS


def test_every_file_of_the_demo_is_read() -> None:
    assert find_files([FOLDER]) == (FILES, [])


@table("path", FILES, ids=lambda path: path.name)
def test_a_document_of_the_demo_is_a_short_read(path: Path) -> None:
    [document] = read_documents(path)
    assert 120 <= len(document.text.split()) <= 300


def test_the_question_is_answered_from_the_documents() -> None:
    assert "20,000 pounds" in ask(QUESTION, docs=FOLDER).text


def test_the_unanswered_question_asks_for_what_no_document_names() -> None:
    told = set(terms(" ".join(path.read_text("utf-8") for path in FILES)))
    assert words_asked(UNANSWERED) - told >= {"satellit", "gps"}
