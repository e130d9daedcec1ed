"""Every example of the README and the docs runs, and says what it is shown to say."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from toulmin import demo
from toulmin.cli.evaluation_commands import app
from toulmin.config import Settings
from toulmin.evaluation.report_contents import METRICS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r"\b\d+\.\d\d s\b")


def examples(language: str) -> list:
    found = []
    for page in PAGES:
        blocks = [match[2] for match in FENCE.finditer(page.read_text("utf-8")) if match[1] == language]
        found += [pytest.param(b, id=f"{page.relative_to(ROOT)}-{n}") for n, b in enumerate(blocks, start=1)]
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with `notes/`, as the pages assume: the documents of the demo."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for file in Path(str(demo.FOLDER)).iterdir():
        if file.suffix in {".md", ".txt"}:
            shutil.copy(file, notes)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "weights" / "src"))  # as if the trained parts were installed
    return tmp_path


@pytest.mark.parametrize("code", examples("python"))
def test_a_python_example_runs(code: str, folder: Path):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def commands(block: str) -> list[tuple[str, str]]:
    """Each `$ command` of a terminal block, with the output shown under it."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("block", examples("console"))
def test_a_terminal_example_prints_what_it_shows(block: str, folder: Path):
    entry = f'{sys.executable} -c "from toulmin.cli import main; main()"'
    for command, shown in commands(block):
        line = re.sub(r"\btoulmin\b", lambda _: entry, command, count=1)
        done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=120)
        printed = SECONDS.sub("0.00 s", done.stdout + done.stderr)
        assert _plain(printed) == _plain(SECONDS.sub("0.00 s", shown)), command


def _plain(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def text_of_the_pages() -> str:
    return "\n".join(page.read_text("utf-8") for page in PAGES)


@pytest.mark.parametrize("command", sorted(name for name in app if not name.startswith("-")))
def test_every_command_is_in_the_docs(command: str):
    assert f"toulmin {command}" in text_of_the_pages()


@pytest.mark.parametrize("setting", sorted(Settings.__dataclass_fields__))
def test_every_setting_is_in_the_docs(setting: str):
    assert f"`{setting}`" in text_of_the_pages()


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_every_metric_is_in_the_docs(metric: str):
    assert f"`{metric}`" in (ROOT / "docs" / "evaluation.md").read_text("utf-8")


def test_every_link_between_the_pages_leads_somewhere():
    links = [
        (page, link)
        for page in PAGES
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", FENCE.sub("", page.read_text("utf-8")))
    ]
    assert [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()] == []


def test_the_two_commands_of_the_readme_are_one_line_each():
    readme = (ROOT / "README.md").read_text("utf-8")
    for heading in ("Try it", "Run the tests"):
        section = readme.split(f"## {heading}", 1)[1].split("\n## ", 1)[0]
        assert len(FENCE.search(section)[2].strip().splitlines()) == 1
