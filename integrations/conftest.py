"""What the tests of all integrations share: the demo's documents, no network, and the examples of the pages."""

from __future__ import annotations

import asyncio
import os
import re
import runpy
import shutil
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from toulmin import demo

# Read when the frameworks are imported: none of them reports to its authors from here.
os.environ |= {"HAYSTACK_TELEMETRY_ENABLED": "False", "LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"}
os.environ |= {"RAGAS_DO_NOT_TRACK": "true", "DEEPEVAL_TELEMETRY_OPT_OUT": "1"}

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "integrations.md"
EXAMPLE = re.compile(r"^```py\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples_of(*headings: str, readme: Path | None = None) -> list[object]:
    """The examples under these headings of the page, and those of a README, each with what it prints."""
    sections = dict(section.split("\n", 1) for section in PAGE.read_text("utf-8").split("\n## ")[1:])
    texts = {heading: sections[heading] for heading in headings}
    if readme is not None:
        texts["README"] = readme.read_text("utf-8")
    examples = []
    for name, text in texts.items():
        blocks = EXAMPLE.findall(text)
        assert 0 < len(blocks) == text.count("```py\n"), f"each example of {name} shows what it prints"
        examples += [pytest.param(*block, id=f"{name}-{n}") for n, block in enumerate(blocks, start=1)]
    return examples


def run_beside_clock(work: Awaitable[Any]) -> tuple[int, Any]:
    """How often a clock in the same event loop ticks during the work (never, if the work blocks it), and its result."""

    async def main() -> tuple[int, Any]:
        task, ticks = asyncio.ensure_future(work), 0
        while not task.done():
            await asyncio.sleep(0)  # as often as it can: a short work must be seen, too
            ticks += 1
        return ticks, task.result()

    return asyncio.run(main())


@pytest.fixture
def run_example(notes: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str, str], dict[str, Any]]:
    """Runs an example, compares what it prints, and returns its names."""

    def run(code: str, printed: str) -> dict[str, Any]:
        file = notes.parent / "example.py"  # smolagents reads the source of a tool
        file.write_text(code, "utf-8")
        names = runpy.run_path(str(file))
        assert capsys.readouterr().out == printed
        return names

    return run


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with `notes/`: the documents of the demo."""
    shutil.copytree(str(demo.FOLDER), tmp_path / "notes")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "notes"


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whoever asks for another machine fails, and the test with it."""
    attempts: list[object] = []

    def refuse(host: object, *rest: object, **options: object) -> list[object]:
        attempts.append(host)
        raise OSError(f"no test asks for {host}")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield
    assert attempts == []
