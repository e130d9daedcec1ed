"""Every example of the README and the docs runs, and says what it is shown to say."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import get_args

import fork_server
import pytest

from tests.test_layers import FILES, MAY_IMPORT, PACKAGE
from toulmin import demo
from toulmin.build.encoding import ENCODERS
from toulmin.build.jobs import METHODS
from toulmin.build.parts import JUDGES, MODELS, READERS
from toulmin.build.specs import Registry
from toulmin.cli.commands import index
from toulmin.cli.options import JudgeSpec, Method
from toulmin.cli.serve_command import app
from toulmin.config import Settings
from toulmin.evaluation.report_contents import METRICS
from toulmin.formats.export import DIALECTS
from toulmin.formats.press import FORMS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r"\b\d+\.\d\d\ss\b")  # a line may end within


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
    parts = [str(ROOT / "weights" / place) for place in ("src", "judge/src")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(parts))  # as if the trained parts were installed
    return tmp_path


@pytest.mark.parametrize("code", examples("python"))
def test_a_python_example_runs(code: str, folder: Path):
    done = subprocess.run(fork_server.python(code), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def commands(block: str) -> list[tuple[str, str]]:
    """Each `$ command` of a terminal block, with the output shown under it."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("block", examples("console"))
def test_a_terminal_example_prints_what_it_shows(block: str, folder: Path):
    entry = shlex.join(fork_server.toulmin())
    for command, shown in commands(block):
        line = re.sub(r"(?:^|(?<=[|;&] ))toulmin\b", lambda _: entry, command)
        done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=120)
        if os.environ.get("WRITE_DOCS"):
            _replace_in_pages(f"$ {command}\n", shown, "\n".join(_plain(done.stdout + done.stderr)))
            continue
        printed = SECONDS.sub("0.00 s", done.stdout + done.stderr)
        assert _plain(printed) == _plain(SECONDS.sub("0.00 s", shown)), command


def _replace_in_pages(line: str, shown: str, printed: str):
    for page in PAGES:
        text = page.read_text("utf-8")
        page.write_text(text.replace(line + shown.strip("\n"), line + printed), "utf-8")


def _plain(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def text_of_the_pages() -> str:
    return "\n".join(page.read_text("utf-8") for page in PAGES)


def test_every_command_is_in_the_docs():
    text = text_of_the_pages()
    assert [name for name in app if not name.startswith("-") and f"toulmin {name}" not in text] == []


def test_every_setting_is_in_the_docs():
    text = text_of_the_pages()
    assert [name for name in Settings.__dataclass_fields__ if f"`{name}`" not in text] == []


def test_every_metric_is_in_the_docs():
    text = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    assert [name for name in METRICS if f"`{name}`" not in text] == []


def test_every_link_between_the_pages_leads_somewhere():
    links = [
        (page, link)
        for page in PAGES
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", FENCE.sub("", page.read_text("utf-8")))
    ]
    assert [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()] == []


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_anchor_is_that_of_a_heading():
    known, strays = {page.resolve(): anchors(page) for page in [*PAGES, RESULTS]}, []
    for page in [*PAGES, RESULTS]:
        links = re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", FENCE.sub("", page.read_text("utf-8")))
        for link, anchor in links:
            target = (page.parent / link if link else page).resolve()
            if anchor not in (known[target] if target in known else anchors(target)):
                strays.append(f"{page.name}: {link}#{anchor}")
    assert strays == []


def test_keeping_documents_true_begins_with_the_documents_of_the_demo():
    page = (ROOT / "docs" / "keep-true.md").read_text("utf-8")
    (line,) = re.findall(r"^cp -r (\S+) notes$", page, re.MULTILINE)
    assert (ROOT / line).resolve() == Path(str(demo.FOLDER)).resolve()
    assert page.index(line) < page.index("toulmin check")


def test_the_two_commands_of_the_readme_are_one_line_each():
    readme = (ROOT / "README.md").read_text("utf-8")
    for heading in ("Try it", "Run the tests"):
        section = readme.split(f"## {heading}", 1)[1].split("\n## ", 1)[0]
        assert len(FENCE.search(section)[2].strip().splitlines()) == 1


# ---------------------------------------------------------------- what is named, and what is generated


DOCS = ROOT / "docs"
REGISTRIES = {
    "methods": (METHODS, "methods.md", "## {}\n"),
    "models": (MODELS, "models.md", "| `{}"),
    "judges": (JUDGES, "evaluation.md", "| `{}"),
    "readers": (READERS, "commands.md", "`{}"),
    "encoders": (ENCODERS, "retrieval.md", "| `{}"),
}
NAMES = [(spec.name, page, form) for registry, page, form in REGISTRIES.values() for spec in registry.specs]
NAMES += [(name, "export.md", "`{}`") for name in (*DIALECTS, *FORMS)]


def test_whatever_can_be_named_is_in_its_page():
    texts = {page: without_generated((DOCS / page).read_text("utf-8")) for page in {page for _, page, _ in NAMES}}
    assert [f"{page}: {name}" for name, page, form in NAMES if form.format(name) not in texts[page]] == []


@pytest.mark.parametrize(
    ("text", "registry"),
    [
        (get_args(Method)[1].help, METHODS),
        (get_args(JudgeSpec)[1].help, JUDGES),
        (index.__doc__, ENCODERS),
    ],
    ids=("method", "judge", "encoder"),
)
def test_the_help_of_an_option_names_its_choices(text: str, registry: Registry):
    assert [spec.name for spec in registry.specs if spec.name not in text] == []


def formats_table() -> str:
    rows = (f"| `{name}` | {dialect.form} | {dialect.unit or 'none'} |" for name, dialect in DIALECTS.items())
    return "\n".join(("| name | file | offsets count |", "|---|---|---|", *rows))


def import_lines() -> str:
    """A line for each room and root module: whom it imports."""
    lines = [f"{room:<11} {', '.join(sorted(others)) or '-'}" for room, others in MAY_IMPORT.items()]
    wrapped = [textwrap.fill(line, 98, subsequent_indent=" " * 12) for line in lines]
    return "\n".join(("```text", *wrapped, "```"))


def registry_table(kind: str) -> str:
    return f"| {kind.removesuffix('s')} | what it is |\n|---|---|\n{REGISTRIES[kind][0].table()}"


GENERATED: dict[tuple[str, str], Callable[[], str]] = {
    ("architecture.md", "imports"): import_lines,
    ("commands.md", "formats"): formats_table,
    **{("commands.md", kind): partial(registry_table, kind) for kind in REGISTRIES},
}
BLOCK = re.compile(r"(?<=<!-- generated: )(\w+)( -->\n)(.*?)(?=<!-- end -->)", re.DOTALL)


def without_generated(text: str) -> str:
    return BLOCK.sub("", text)


@pytest.mark.parametrize("page", sorted({page for page, _ in GENERATED}))
def test_generated_blocks_say_what_the_code_says(page: str):
    """With WRITE_DOCS in the environment the blocks are written before they are compared."""
    path = DOCS / page
    text = path.read_text("utf-8")
    made = BLOCK.sub(lambda match: f"{match[1]}{match[2]}{GENERATED[page, match[1]]()}\n", text)
    if os.environ.get("WRITE_DOCS"):
        path.write_text(made, "utf-8")
        text = made
    assert {match[1] for match in BLOCK.finditer(text)} == {name for named, name in GENERATED if named == page}
    assert text == made


ARCHITECTURE = (DOCS / "architecture.md").read_text("utf-8")


def test_every_room_has_its_paragraph():
    rooms = {path.relative_to(PACKAGE).parts[0] for path in FILES if path.parent != PACKAGE} - {"demo"}
    assert [room for room in sorted(rooms) if f"\n## {room}\n" not in ARCHITECTURE] == []


def test_the_architecture_names_no_file_that_is_gone():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    files = {path.name for path in ROOT.rglob("*.py") if ".venv" not in path.parts}
    assert {Path(name).name for name in re.findall(r"`([a-z_/]+\.py)`", text)} <= files


def test_no_line_of_the_architecture_is_wider_than_a_screen():
    assert [line for line in ARCHITECTURE.splitlines() if len(line) > 100] == []
