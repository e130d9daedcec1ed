"""Values made to hurt, in every text that a person or a document brings: no command, report, export or route fails of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from dialect_parts import ANSWER

import toulmin
from toulmin.checking.findings import UnreadFiles
from toulmin.cli import run
from toulmin.cli.terminal import printable
from toulmin.data import Answer, Passage
from toulmin.formats import answer_json
from toulmin.formats.export import DIALECTS
from toulmin.formats.press import FORMS, export_answer

# What a library refuses as an address, a path or a text, what a program may run, and what has no end.
ADDRESSES = (
    *("http://[", "http://[::1", "file://[", "//[", "http://h:99999999/", "http://℀.com/", "%", "%00", "a%00b.md"),
    *("a%ED%A0%80b.md", "~", "~nobody/a.md", "../" * 50 + "etc/passwd", "a/" * 5_000, "x" * 300 + ".md", "javascript:x"),
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
    "text.tex": "\\begin{{document}}The lamp \\href{{{}}}{{was}} lit \\cite{{{}}}.\\bibliography{{{}}}\\end{{document}}",
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
