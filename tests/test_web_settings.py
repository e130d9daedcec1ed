"""The web as a source: what the settings may say, and a question answered from a search server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from web_server import Server, results, running_server

import toulmin
from toulmin.cli import run
from toulmin.config import Settings, to_tables
from toulmin.errors import UsageError

QUESTION = "When was Kettle Rock Tower lit?"


@pytest.fixture
def server() -> Iterator[Server]:
    found = ("Kettle Rock", "Kettle Rock Tower was lit in 1824.", "https://example.org/tower")
    with running_server() as server:
        server.say("/search", results(found))
        yield server


def test_dotted_names_are_settings_of_the_web():
    assert to_tables({"web.url": "http://here", "web.pages": 2}) == {"web": {"url": "http://here", "pages": 2}}


def test_a_question_is_answered_from_the_web_where_nothing_else_is_named(server: Server):
    answer = toulmin.ask(QUESTION, settings=Settings(web={"url": server.url}))
    assert answer.passages[0].source.url == "https://example.org/tower"


def test_documents_that_are_named_go_before_the_web(server: Server):
    passages = [toulmin.Passage.of("Kettle Rock Tower was lit in 1830.")]
    toulmin.ask(QUESTION, passages=passages, settings=Settings(web={"url": server.url}))
    assert server.asked == []


def test_the_command_line_takes_the_address(server: Server, capsys: pytest.CaptureFixture[str]):
    assert run(["ask", QUESTION, "--web", server.url]) == 0
    assert "https://example.org/tower" in "".join(capsys.readouterr().out.split())


def test_a_wrong_setting_of_the_web_is_named():
    chosen = Settings(web={"url": "http://localhost:1", "allow": "example.org", "speed": 3})
    with pytest.raises(UsageError, match="setting of web called 'speed'"):
        toulmin.ask(QUESTION, settings=chosen)


def test_where_the_web_was_searched_does_not_go_into_the_answer(server: Server):
    assert "web" not in toulmin.ask(QUESTION, settings=Settings(web={"url": server.url})).settings
