"""Values made to hurt, in every text that people and documents bring: no command, report, export or route fails."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import pytest

pytest.importorskip("fastapi", reason="needs fastapi (extra: server)")

from dialect_parts import ANSWER
from web_parts import served

import toulmin
from toulmin.cli import run, show
from toulmin.cli.terminal import printable
from toulmin.data import Answer, Citation, Passage, Source
from toulmin.formats import answer_json
from toulmin.formats.export import DIALECTS, export_answers
from toulmin.formats.press import FORMS, export_answer

# What a library refuses as an address, a path or a text, what a program may run, and what has no end.
ADDRESSES = (
    *("http://[", "http://[::1", "file://[", "//[", "http://h:99999999/", "http://℀.com/", "%", "%00", "a%00b.md"),
    *(
        "a%ED%A0%80b.md",
        "~",
        "~nobody/a.md",
        "../" * 50 + "etc/passwd",
        "a/" * 2_500,
        "x" * 300 + ".md",
        "javascript:x",
    ),
)
TEXTS = (
    *("::add-mask::x", "##[add-mask]x", "=1+1", "@SUM(1)", "\x00", "a\ud800b", "\udcff", "\u202ex", "\x1b]8;;x\x07"),
    *("]]>", "%s{0}${x}", "a\nb\r\nc", "'; DROP TABLE x", "-", "--help", "[1]", "x" * 1_000_000),
)
VALUES = (*ADDRESSES, *TEXTS)
WRONG = "The lamp was lit in 1999."
# Places for an address in a kept document.
PLACES = {
    "link.md": "The lamp was lit [then]({}).\n",
    "angle.md": "The lamp was lit <{}>.\n",
    "note.md": "The lamp was lit.[^1]\n\n[^1]: {}\n",
    "noted link.md": "The lamp was lit.[^1]\n\n[^1]: [x]({})\n",
    "reference.md": "The lamp was lit [1].\n\n[1]: {}\n",
    "list.md": "The lamp was lit [1].\n\n## References\n\n1. {}\n",
    "front.md": "---\nbibliography: {}\n---\n\nThe lamp was lit [@{}].\n",
    "page.html": '<p>The lamp was lit <a href="{}">then</a>.</p>',
    "link.tex": "\\begin{{document}}The lamp \\href{{{}}}{{was}} lit.\\end{{document}}",
    "key.tex": "\\begin{{document}}It was lit \\cite{{{}}}.\\bibliography{{{}}}\\end{{document}}",
}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "lamp.md").write_text("The lamp was lit in 1824.\n", "utf-8")
    return folder


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with a document of each address in each place, and one with a claim that fails."""
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "z.md").write_text(f"{WRONG}\n", "utf-8")
    (folder / "long.md").write_text(PLACES["link.md"].format("x" * 1_000_000), "utf-8")
    for n, address in enumerate(ADDRESSES):
        for name, form in PLACES.items():
            (folder / f"{n} {name}").write_text(form.format(address, address, address), "utf-8")
    return folder


# ---------------------------------------------------------------- reports


def test_no_address_of_a_document_stops_a_check(kept: Path, sources: Path):
    files = sorted(kept.iterdir())
    checks = toulmin.check_files(*files, docs=sources, judge="lexical", memo=False)
    assert len(checks) == len(files) == 2 + len(PLACES) * len(ADDRESSES)
    assert WRONG in [finding.claim.text for check in checks for finding in check.findings]


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "github"])
def test_every_report_holds_what_the_other_files_failed(
    form: str, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    for name in ("::add-mask::s.md", "##[add-mask]s.md", "a,b%0A::error::.md", "=1.md"):
        Path(name).write_text(f"{WRONG} See [x](http://[) and ::add-mask::it.\n", "utf-8")
    Path("damaged.docx").write_bytes(b"no archive")
    code = run(["check", ".", "--docs", str(sources), "--format", form, "--fail-on", "unsupported"])
    out = capsys.readouterr().out
    assert (code, out.count("1999") >= 4) == (3, True)
    if form == "junit":
        ElementTree.fromstring(out)
    if form in ("json", "sarif"):
        json.loads(out)
    else:
        assert not re.search(r"(?m)^\s*::add-mask|##\[add-mask\](?!.*::error)", out if form == "text" else "")


@pytest.mark.parametrize("text", ["::add-mask::x", "::set-output name=a::b", "##[error]x", " ::STOP-COMMANDS::x"])
def test_a_terminal_gets_no_workflow_command(text: str):
    assert not re.search(r"(?i)::(?:add|set|stop)|##\[", printable(text))
    assert printable("std::vector<std::error_code> a::b #[x]") == "std::vector<std::error_code> a::b #[x]"


# ---------------------------------------------------------------- exports


FIELDS = ("url", "path", "record", "section", "title", "text", "question", "id", "method", "note", "reason", "judge")


def answer_with(field: str, value: str) -> Answer:
    """An answer with this value in one text, of which a program may have any."""
    text = value or "x"
    passage = ANSWER.cited[0]
    place = Source(0, len(text)) if field == "text" else passage.source
    source = replace(place, **{field: value}) if field in ("url", "path", "record", "section") else place
    cited = Passage.of(
        text if field == "text" else passage.text,
        value if field == "title" else passage.title,
        source,
    )
    first = ANSWER.claims[0]
    verdict = replace(
        first.support, evidence=(), label="unsure", **{field: value} if field in ("reason", "judge") else {}
    )
    claim = replace(
        first, text=text if field == "text" else first.text, citations=(Citation(cited.id),), support=verdict
    )
    own = {field: text} if field in ("question", "id", "method") else {}
    return replace(
        ANSWER, claims=(claim,), passages=(cited,), notes=(value,), settings={"model": value, value: 1}, **own
    )


@pytest.mark.parametrize("field", FIELDS)
def test_every_export_takes_every_value(field: str):
    for value in VALUES:
        if not value.strip():
            continue
        answer = answer_with(field, value)
        assert answer_json.parse(answer_json.dumps(answer)).status == "answered"
        for form in FORMS if len(value) < 10**5 else ("md", "html"):
            assert export_answer(answer, form)
        for name in DIALECTS:
            assert export_answers([answer], [], name, run_id=value).data or name.startswith("trec")


@pytest.mark.parametrize("explain", [False, True])
def test_a_terminal_shows_every_value(explain: bool, capsys: pytest.CaptureFixture[str]):
    for field in FIELDS:
        for value in VALUES:
            show.answer(answer_with(field, value), as_json=len(value) > 10**5, explain=explain)
            shown = capsys.readouterr().out
            assert not re.search(r"[\x00\x1b\u202e]|(?m:^\s*::add-mask)", shown)


# ---------------------------------------------------------------- commands

# No program can be given a null character or what is no byte.
ARGUMENTS = (
    "http://[",
    "a%00b.md",
    "~nobody/a.md",
    "x" * 300 + ".md",
    "\udcff",
    "::add-mask::x",
    "\x1b]8;;x\x07",
    "-",
    "%s{0}",
)
COMMANDS = (
    ["ask", "{}", "--docs", "notes"],
    ["ask", "When?", "--docs", "{}"],
    ["ask", "When?", "--index", "{}"],
    *(
        ["ask", "When?", "--docs", "notes", option, "{}"]
        for option in ("--model", "--judge", "--method", "--set", "--save")
    ),
    ["ask", "When?", "--docs", "notes", "--set", "reader={}"],
    ["search", "{}", "--docs", "notes"],
    ["index", "{}", "--into", "library"],
    ["index", "notes", "--into", "{}"],
    ["check", "{}", "--docs", "notes"],
    ["check", "notes/lamp.md", "--docs", "notes", "--fail-on", "absent", "--baseline", "{}"],
    ["check", "notes/lamp.md", "--docs", "notes", "--passages", "{}"],
    ["check", "notes/lamp.md", "--docs", "notes", "--save", "{}"],
    ["recheck", "{}", "--docs", "notes"],
    ["export", "{}", "--as", "md"],
    ["run", "{}", "--docs", "notes", "--out", "out"],
    ["score", "{}"],
    ["compare", "{}", "{}"],
    ["completion", "{}"],
    ["{}"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_takes_every_value_or_says_why_not(
    command: list[str],
    tmp_path: Path,
    sources: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    sources.rename("notes")
    for value in ARGUMENTS:
        code = run([word.format(value) for word in command])
        said = capfd.readouterr().err
        assert code in (0, 2, 3, 4, 6), (value[:40], said[-500:])
        assert not re.search(r"Traceback|\[Errno|\x1b|\x00", said), (value[:40], said[-500:])
        if code in (2, 3, 4):
            assert "toulmin: " in said


# ---------------------------------------------------------------- routes


def problem(reply: Any, value: str) -> str:
    """What is wrong with the reply, if anything is: a defect, another form of error, or a folder of the server."""
    if reply.status_code < 400:
        return ""
    try:
        message = reply.json()["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return f"{reply.status_code} {reply.text[:80]}"
    is_ours = reply.status_code in (400, 404, 405, 413, 422) and "/pytest" not in message.replace(value, "")
    return "" if is_ours else f"{reply.status_code} {message[:200]}"


def requests_of(value: str) -> Iterator[tuple[str, str, Any]]:
    whole, address = (
        {"text": value or "x", "title": value[:2000], "id": value[:200]},
        quote(value[:300], safe="", errors="replace"),
    )
    yield "POST", "v1/answers", {"question": value}
    yield "POST", "v1/answers", {"question": "When?", "method": value, "history": [{"question": value, "id": value}]}
    yield "POST", "v1/answers", {"question": "When was it lit?", "options": {value: value}}
    yield "POST", "v1/search", {"query": value}
    yield "POST", "v1/check", {"text": f"The lamp {value[:500]} was lit in 1824 [1].", "passages": [whole]}
    yield "POST", "v1/check", {"text": value}
    yield "POST", "v1/chat/completions", {"model": "best", "messages": [{"role": "user", "content": value}]}
    yield "GET", f"v1/answers/{address}", None
    yield "GET", f"v1/answers/{address}/export?format={address}&style={address}", None
    yield "GET", f"v1/passages/{address}", None
    yield "GET", f"v1/documents?name={address}", None
    yield "GET", address, None


def test_every_route_takes_every_value_or_says_why_not(tmp_path: Path):
    records = [{"_id": v, "title": v, "url": v, "text": f"Lamp {n} was lit in 18{n:02}."} for n, v in enumerate(VALUES)]
    (tmp_path / "docs").mkdir()
    rows = "".join(f"{json.dumps(row)}\n" for row in records if len(row["_id"]) < 10**5)
    (tmp_path / "docs" / "records.jsonl").write_text(rows, "utf-8")
    with served(tmp_path / "docs") as server:
        server.client.timeout = 120.0  # of a busy machine
        for value in VALUES:
            for method, path, body in requests_of(value):
                content = None if body is None else json.dumps(body)
                reply = server.client.request(
                    method, path, content=content, headers={"Content-Type": "application/json"}
                )
                assert problem(reply, value) == "", (method, path[:80], value[:40])
        for n in range(len(ADDRESSES)):
            answer = server.client.post("v1/answers", json={"question": f"When was lamp {n} lit?"}).json()
            assert answer["status"] == "answered"
            for form in FORMS:
                exported = server.client.get(f"v1/answers/{answer['id']}/export", params={"format": form})
                assert exported.status_code == 200, (form, VALUES[n])


TOOLS = {"ask": ("question", "method"), "check": ("text",), "search": ("query",), "fetch": ("id",)}


def test_every_tool_takes_every_value_or_says_why_not(sources: Path):
    pytest.importorskip("mcp", reason="needs mcp (extra: mcp)")
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with served(sources) as server:
        server.client.timeout = 120.0
        for value, (name, fields) in product(VALUES, TOOLS.items()):
            for field in fields:
                arguments = {"question": "When was it lit?", field: value} if name == "ask" else {field: value}
                call = {"method": "tools/call", "params": {"name": name, "arguments": arguments}}
                content = json.dumps({"jsonrpc": "2.0", "id": 1, **call})
                reply = server.client.post("mcp", content=content, headers=headers)
                assert reply.status_code < 500, (name, field, value[:40], reply.text[:300])
                assert re.search(r'"(?:result|error)"', reply.text), (name, field, value[:40], reply.text[:300])
                assert not re.search(r"Traceback|pydantic|\[Errno|/pytest", reply.text.replace(value, ""))
