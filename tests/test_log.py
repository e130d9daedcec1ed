"""The log: which lines come at which level, and what is in none of them."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import fork_server
import httpx2
import pytest
from stub_server import Rule, running_stub
from web_parts import PATIENCE, free_port, served

import toulmin
from toulmin.cli import run
from toulmin.cli.log import Lines, Objects
from toulmin.errors import ModelError
from toulmin.models.remote import Chat
from toulmin.models.server import Key, Server
from toulmin.prompts.types import Extract
from toulmin.steps import Generate, Pair, Verdict

PACKAGE = Path(toulmin.__file__).parent
QUESTION = "When was Kettle Rock Tower first lit?"
CONTENT = re.compile(r"kettle|lit\b|1824|hannah|ashby", re.IGNORECASE)  # of the question and of `notes`
LINE = re.compile(r"\d{4}-\d\d-\d\d \S+ (DEBUG|INFO|WARNING|ERROR) (toulmin\.\w+): (.*)")
SECRET = "sk-a-secret-of-this-test"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ask(notes: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[str, str]:
    """Standard output and error of a question, without what differs from run to run."""
    assert run(["ask", QUESTION, "--docs", str(notes), *options]) == 0
    captured = capsys.readouterr()
    return re.sub(r"\d+\.\d\d s\b", "", captured.out), captured.err


def lines(text: str) -> list[tuple[str, str, str]]:
    """Level, logger and message of each line."""
    matches = [LINE.fullmatch(line) for line in text.splitlines()]
    assert None not in matches, text
    return [match.groups() for match in matches if match]  # type: ignore[misc]


# ---------------------------------------------------------------- loggers


def test_every_logger_is_named_after_its_room():
    names = {
        (path.relative_to(PACKAGE).parts[0], name)
        for path in PACKAGE.rglob("*.py")
        for name in re.findall(r'getLogger\("toulmin\.(\w+)"\)', path.read_text("utf-8"))
    }
    assert {room for room, _ in names} >= {"driver", "models", "indexing", "stores", "server"}
    assert {(room, name) for room, name in names if room != name} == set()


def test_a_program_that_sets_up_no_log_sees_nothing():
    code = """
import toulmin
class Broken:
    name = "broken"
    def judge(self, pairs): raise ValueError("no")
answer = toulmin.ask("Who built the mill?", passages=[toulmin.Passage.of("Ann built the mill.")], judge=Broken())
assert answer.status == "failed"
"""
    process = subprocess.run(fork_server.python(code), capture_output=True, text=True)
    assert (process.returncode, process.stdout + process.stderr) == (0, "")


def test_importing_the_package_loads_neither_logging_nor_opentelemetry():
    code = "import sys, toulmin; print({'logging', 'opentelemetry'} & set(sys.modules))"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert process.stdout.strip() == "set()"


# ---------------------------------------------------------------- the command line


def test_without_the_option_there_is_no_log(notes, capsys):
    _, err = ask(notes, capsys)
    assert "toulmin." not in err


def test_a_question_is_one_line_at_info(notes, capsys):
    _, err = ask(notes, capsys, "--log-level", "info")
    answers = [message for level, logger, message in lines(err) if (level, logger) == ("INFO", "toulmin.driver")]
    assert len(answers) == 1
    assert re.match(r"answer - by best: answered in \d+\.\d\d s; model calls: 1, tokens: 0 in", answers[0])
    assert "claims: 2 supported, 0 likely, 0 disputed, 0 unsure" in answers[0]


def test_an_update_of_the_index_is_one_line_at_info(notes, capsys):
    _, err = ask(notes, capsys, "--log-level", "info")
    updates = [message for _, logger, message in lines(err) if logger == "toulmin.indexing"]
    assert len(updates) == 1
    assert updates[0].startswith("update: 2 files read, 0 unchanged, 0 removed, 0 skipped; 2 documents, 2 passages")


def test_the_log_changes_nothing_on_standard_output(notes, capsys):
    ask(notes, capsys)
    assert ask(notes, capsys, "--log-level", "debug")[0] == ask(notes, capsys)[0]


@pytest.mark.parametrize("form", ["text", "json"])
def test_nothing_of_documents_and_questions_is_in_the_log_above_debug(notes, capsys, form):
    _, err = ask(notes, capsys, "--log-level", "info", "--log-format", form)
    assert "toulmin.driver" in err
    assert CONTENT.findall(err) == []


def test_debug_has_the_words_of_searches_and_replies(notes, capsys):
    _, err = ask(notes, capsys, "--log-level", "debug")
    debug = [message for level, _, message in lines(err) if level == "DEBUG"]
    assert any(message.startswith("search: ") and QUESTION in message for message in debug)
    assert any(message.startswith("model extractive as main: ") and "3 May 1824" in message for message in debug)


def test_the_level_hides_what_is_below_it(notes, capsys):
    (notes / "empty.txt").write_text("", "utf-8")
    _, err = ask(notes, capsys, "--log-level", "warning")
    levels = {match[1] for line in err.splitlines() if (match := LINE.fullmatch(line))}
    assert levels == {"WARNING"}


def test_a_file_that_cannot_be_read_is_a_warning(notes, capsys):
    (notes / "empty.txt").write_text("", "utf-8")
    _, err = ask(notes, capsys, "--log-level", "warning")
    assert f"WARNING toulmin.indexing: could not read {notes / 'empty.txt'}: is empty" in err


def test_json_lines_have_the_fields_beside_the_message(notes, capsys):
    _, err = ask(notes, capsys, "--log-level", "info", "--log-format", "json")
    rows = [json.loads(line) for line in err.splitlines()]
    assert all({"time", "level", "logger", "message"} <= row.keys() for row in rows)
    (answer,) = [row for row in rows if row["logger"] == "toulmin.driver"]
    chosen = {name: answer[name] for name in ("level", "method", "status", "supported", "calls")}
    assert chosen == {"level": "info", "method": "best", "status": "answered", "supported": 2, "calls": 1}


def test_the_option_stands_before_or_after_the_command(notes, capsys):
    assert run(["--log-level", "info", "ask", QUESTION, "--docs", str(notes)]) == 0
    assert " INFO toulmin.driver: answer" in capsys.readouterr().err


def test_after_two_dashes_words_are_no_options(notes, capsys):
    assert run(["search", "--docs", str(notes), "--", "--log-level"]) == 0
    assert "toulmin." not in capsys.readouterr().err


def test_another_level_is_wrong_usage(capsys):
    assert run(["demo", "--log-level", "loud"]) == 2
    assert "debug" in capsys.readouterr().err


def test_a_handler_of_the_root_gets_nothing_of_a_command(notes, capsys, caplog):
    """The library of the Model Context Protocol gives it one that writes to standard error."""
    (notes / "empty.txt").write_text("", "utf-8")
    ask(notes, capsys)
    ask(notes, capsys, "--log-level", "debug")
    assert [line for line in caplog.records if line.name.startswith("toulmin")] == []


def test_the_log_ends_with_the_command(notes, capsys):
    ask(notes, capsys, "--log-level", "debug")
    assert logging.getLogger("toulmin").level == logging.NOTSET
    _, err = ask(notes, capsys)
    assert "toulmin." not in err


# ---------------------------------------------------------------- the form of a line


def record(message: str, *args: object) -> logging.LogRecord:
    return logging.LogRecord("toulmin.driver", logging.INFO, "", 1, message, args, None)


def test_a_line_stays_one_line_whatever_it_says():
    line = Lines().format(record("%(reason)s", {"reason": "first\nINFO second\x1b[31m"}))
    assert line.endswith("toulmin.driver: first\\nINFO second\\x1b[31m")


def test_a_json_line_holds_what_json_does_not_know():
    row = json.loads(Objects().format(record("%(reason)s", {"reason": "\udc80\n", "request": Path("a")})))
    assert (row["reason"], row["request"]) == ("\udc80\n", repr(Path("a")))


# ---------------------------------------------------------------- what fails


def warnings(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(line.name, line.getMessage()) for line in caplog.records if line.levelno == logging.WARNING]


def reply(server: Server) -> object:
    async def generate() -> object:
        model = Chat("stub", server)
        try:
            return (await model.generate([Generate(Extract("Who?", toulmin.Passage.of("Ann did.")))]))[0]
        finally:
            await model.aclose()

    return asyncio.run(generate())


def test_a_retry_is_a_warning_with_its_wait_and_reason(caplog):
    caplog.set_level(logging.WARNING, "toulmin")
    with running_stub() as stub:
        stub.script(Rule(fault="status", status=503, times=1))
        reply(Server(base_url=stub.url, pause=0.01))
    ((logger, message),) = [entry for entry in warnings(caplog) if entry[0].startswith("toulmin")]
    assert logger == "toulmin.models"
    assert re.match(r"model stub: try 2 after a wait of \d\.\d s; .* answered 503", message)


async def ask_and_close(model: Chat) -> None:
    try:
        await toulmin.aio.ask("Who built it?", passages=[toulmin.Passage.of("Ann built the mill.")], model=model)
    finally:
        await model.aclose()


def test_no_key_is_in_the_log_at_any_level(caplog):
    caplog.set_level(logging.DEBUG, "toulmin")
    with running_stub() as stub:
        stub.script(Rule(fault="status", status=503, body={"error": {"message": f"bad key {SECRET}"}}))
        model = Chat("stub", Server(base_url=stub.url, key=Key(SECRET), pause=0.01, retries=1))
        asyncio.run(ask_and_close(model))
    records = [line for line in caplog.records if line.name.startswith("toulmin")]
    assert {line.name for line in records} >= {"toulmin.models", "toulmin.driver"}
    texts = [Lines().format(line) + Objects().format(line) for line in records]
    assert [text for text in texts if SECRET in text or "Authorization" in text or "Bearer" in text] == []


class Failing:
    """A judge that fails with the words of the claim in its error."""

    name = "failing"

    def __init__(self, kind: type[Exception]) -> None:
        self._kind = kind

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Verdict]:
        raise self._kind(f"no verdict on {pairs[0].claim}")


def judge_with(kind: type[Exception]) -> None:
    toulmin.ask("Who built the mill?", passages=[toulmin.Passage.of("Ann built the mill.")], judge=Failing(kind))


def test_a_batch_that_the_judge_failed_is_a_warning(caplog):
    judge_with(ModelError)
    logger, message = warnings(caplog)[-1]
    assert logger == "toulmin.driver"
    assert re.match(r"judge failing failed for (\d) of \1 requests: no verdict", message)


def test_of_a_foreign_error_only_the_type_is_in_the_log(caplog):
    judge_with(ValueError)
    _, message = warnings(caplog)[-1]
    assert message.endswith("ModelError for a ValueError")


# ---------------------------------------------------------------- the server


def messages(caplog: pytest.LogCaptureFixture, logger: str) -> list[str]:
    return [line.getMessage() for line in caplog.records if line.name == logger]


def test_a_request_is_a_line_with_the_template_of_its_path(notes, caplog):
    caplog.set_level(logging.INFO, "toulmin")
    with served(notes) as server:
        server.client.post("/v1/search", json={"query": "Hannah Pell"})
        server.client.get("/v1/passages/hannah?query=ashby", headers={"X-Request-Id": "of-a-client.2"})
    first, second = messages(caplog, "toulmin.server")
    assert re.fullmatch(r"POST /v1/search: 200 in \d+\.\d ms \([\w-]{12}\)", first)
    assert re.fullmatch(r"GET /v1/passages/\{id\}: 404 in \d+\.\d ms \(of-a-client\.2\)", second)


def test_a_request_that_is_refused_is_a_line_without_its_token(notes, caplog):
    caplog.set_level(logging.DEBUG, "toulmin")
    with served(notes, token=SECRET) as server:
        headers = {"Authorization": f"Bearer {SECRET}x", "X-Request-Id": "lit 1824"}
        id = server.client.get("/v1/methods", headers=headers).headers["x-request-id"]
    assert messages(caplog, "toulmin.server") == [f"a request was refused: 401 ({id})"]
    assert id != "lit 1824"
    assert SECRET not in caplog.text


@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT")
def test_the_server_writes_json_where_it_writes_to_no_terminal(notes):
    port = free_port()
    words = ["serve", "--docs", str(notes), "--port", str(port), "--log-level", "info"]
    process = subprocess.Popen(fork_server.toulmin(*words), stderr=subprocess.PIPE, text=True)
    try:
        body = {"question": QUESTION}
        assert _posted(f"http://127.0.0.1:{port}/v1/answers", body).json()["status"] == "answered"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    rows = [json.loads(line) for line in err.splitlines()]
    assert {"toulmin.cli", "toulmin.driver", "toulmin.indexing", "toulmin.server"} == {row["logger"] for row in rows}
    (request,) = [row for row in rows if "route" in row]
    assert (request["method"], request["route"], request["status"]) == ("POST", "/v1/answers", 200)
    assert CONTENT.findall(err) == []


def _posted(url: str, body: dict[str, str]) -> httpx2.Response:
    end = time.monotonic() + PATIENCE
    with httpx2.Client(timeout=PATIENCE) as client:
        while True:
            try:
                reply = client.post(url, json=body)
                if reply.status_code != 503:  # it opens its index
                    return reply
            except httpx2.ConnectError:
                pass
            assert time.monotonic() < end, "the server did not start"
            time.sleep(0.05)
