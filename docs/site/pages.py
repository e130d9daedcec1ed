"""Lay out the Markdown of the site in `build/pages`: the pages of `docs/`, some of elsewhere, some made of the code.

A page of `docs/site/` is prose with comments `made: NAME`, in whose places this writes what the code, the README or the
results say. A link between files of the repository becomes one between pages, or one to the code host for a file that
is no page. A link to nothing stops this. `mkdocs.yml` makes a site of the folder. `bash .ci/site` runs all.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import posixpath
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from toulmin.cli import run
from toulmin.cli.serve_command import app
from toulmin.config import PREFIX, Settings
from toulmin.formats.answer_reading import answer_schema

ROOT = Path(__file__).parents[2]
HOST = "https://github.com/toulmin/toulmin"
DOCS = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md")]
# The page that each file becomes.
PAGES = {path: path.removeprefix("docs/").removeprefix("site/") for path in DOCS} | {
    "docs/index.md": "overview.md",
    "docs/decisions": "decisions/index.md",
    "benchmarks/RESULTS.md": "results.md",
    "experiments/README.md": "experiments.md",
    "weights/judge/src/toulmin_weights/card.md": "model-card.md",
    **{f"{name}.md": f"{name.lower()}.md" for name in ("CONTRIBUTING", "SECURITY", "CHANGELOG")},
}
# Parts of the README, which is no page of its own, and where the site has them.
README = {
    "": "index.md",
    "#try-it": "index.md#install",
    "#what-is-guaranteed-and-what-is-not": "error-rates.md#what-is-guaranteed-and-what-is-not",
}
CODE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)(#[^)]*)?(?=\))")
MADE = re.compile(r"<!-- made: (\w+) -->")
PICTURE = re.compile(r'<picture>\s*<source [^>]*srcset="([^"]+)">\s*<img src="([^"]+)"[^>]*alt="([^"]+)">\s*</picture>')


# ---------------------------------------------------------------- links and Markdown


def page_link(link: str, anchor: str, source: Path, uri: str) -> str:
    """A link in the file `source`, as it is in the page `uri`. Raises FileNotFoundError if it leads nowhere."""
    target = (source.parent / link).resolve(strict=True)
    path = target.relative_to(ROOT).as_posix()
    if path == "README.md":
        page = README[anchor]
    elif path in PAGES:
        page = PAGES[path] + anchor
    elif path.startswith("docs/") and target.suffix in {".json", ".png", ".svg"}:
        page = path.removeprefix("docs/") + anchor
    else:
        return f"{HOST}/{'tree' if target.is_dir() else 'blob'}/main/{path}{anchor}"
    return posixpath.relpath(page, posixpath.dirname(uri) or ".")


def site_markdown(text: str, source: Path, uri: str) -> str:
    """The text as a code host reads it, in the dialect of the site."""

    def change(prose: str) -> str:
        prose = re.sub(r"<!--(?! made: ).*?-->", "", prose, flags=re.DOTALL)
        prose = PICTURE.sub(r"![\3](\2#only-light)\n![\3](\1#only-dark)", prose)
        prose = LINK.sub(lambda match: page_link(match[1], match[2] or "", source, uri), prose)
        prose = re.sub(r"^ {2,3}(?=\S)", "    ", prose, flags=re.MULTILINE)  # what belongs to an item of a list
        return re.sub(r"`[^`\n]*`", lambda match: match[0].replace(r"\|", "|"), prose)

    parts = [part if index % 2 else change(part) for index, part in enumerate(CODE.split(text))]
    return MADE.sub(lambda match: PARTS[match[1]](), "".join(parts))


def section(path: str, heading: str) -> str:
    """The text under a heading of a file, up to the next one of its level. Raises ValueError if there is no one."""
    text = (ROOT / path).read_text("utf-8")
    _, level, rest = re.split(rf"^(#+) {re.escape(heading)}$", text, flags=re.MULTILINE)
    return re.split(rf"^#{{1,{len(level)}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0].strip()


# ---------------------------------------------------------------- what is made of the code


def homes(path: str) -> dict[str, str]:
    """Each name that a module imports for its users, and where it is defined."""
    nodes = ast.parse((ROOT / path).read_text("utf-8")).body
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module != "__future__"]
    return {alias.name: f"{node.module}.{alias.name}" for node in imports for alias in node.names}


def entries(names: Iterable[str]) -> str:
    """The docstrings of these names, for mkdocstrings."""
    return "\n\n".join(f"::: {name}" for name in names)


def functions(path: str, kind: type[ast.FunctionDef | ast.AsyncFunctionDef] = ast.FunctionDef) -> list[str]:
    return [node.name for node in ast.parse((ROOT / path).read_text("utf-8")).body if isinstance(node, kind)]


PUBLIC, EXTENSION = homes("toulmin/__init__.pyi"), homes("toulmin/ext.py")
DATA = sorted(name for name in {*PUBLIC.values(), *EXTENSION.values()} if name.startswith("toulmin.data."))
# Most functions are made of their namesakes in `aio` when the module is imported, and have their docstrings there.
PLAIN, COROUTINES = functions("toulmin/sync.py"), functions("toulmin/aio.py", ast.AsyncFunctionDef)
FUNCTIONS = [f"toulmin.{'sync' if name in PLAIN else 'aio'}.{name}" for name in PUBLIC if name in PLAIN + COROUTINES]
TYPES = [home for home in PUBLIC.values() if home not in DATA and not home.startswith(("toulmin.sync.", "toulmin.aio"))]
OF_EXTENSIONS = [home for home in EXTENSION.values() if home not in {*DATA, *TYPES} and "prompts.types" not in home]


def settings() -> str:
    rows = ["| setting | type | default | in the environment |\n|---|---|---|---|"]
    for field in fields(Settings):
        factory = field.default_factory
        default = f"`{field.default}`" if factory is MISSING else "`{}`" if factory is dict else "by what is installed"
        rows.append(f"| `{field.name}` | `{field.type}` | {default} | `{PREFIX}{field.name.upper()}` |")
    return "\n".join(rows)


def help_texts() -> str:
    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1"}
    parts = []
    for name in filter(str.isalpha, app):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            run([name, "--help"])
        parts.append(f"## toulmin {name}\n\n```text\n{printed.getvalue().strip()}\n```")
    return "\n\n".join(parts)


def kind_of(value: dict[str, Any]) -> str:
    """The type of a field of a schema, with links to the objects."""
    if "anyOf" in value:
        return " or ".join(kind_of(choice) for choice in value["anyOf"])
    if "$ref" in value:
        return re.sub(r".*/(.*)", lambda match: f"[{match[1]}](#{match[1].lower()})", value["$ref"])
    if "enum" in value:
        return ", ".join(f"`{choice}`" for choice in value["enum"])
    return f"list of {kind_of(value['items'])}" if value.get("type") == "array" else str(value.get("type", "any"))


def schema_tables() -> str:
    parts = []
    for name, value in {"Answer": answer_schema(), **answer_schema()["$defs"]}.items():
        kinds = {key: kind_of(kind) for key, kind in value["properties"].items()}
        rows = [
            f"| `{key}` | {kind}{'' if key in value.get('required', ()) else ', or left out'} |"
            for key, kind in kinds.items()
        ]
        parts.append(f"## {name}\n\n{value['description']}\n\n" + "\n".join(("| field | type |\n|---|---|", *rows)))
    return "\n\n".join(parts)


def decisions() -> str:
    titles = {path.name: path.read_text("utf-8").splitlines()[0][2:] for path in ROOT.glob("docs/decisions/*.md")}
    return "\n".join(f"* {name[:3]} [{title}]({name})" for name, title in sorted(titles.items()))


def rates(path: str, heading: str) -> str:
    """A section of another page, on the page of error rates."""
    text = section(path, heading).replace("](#", f"]({Path(path).name}#")
    return site_markdown(text, ROOT / path, "error-rates.md")


# What the comments `made: NAME` of `docs/site/` stand for.
PARTS: dict[str, Callable[[], str]] = {
    "coroutines": partial(entries, sorted({f"toulmin.aio.{name}" for name in COROUTINES} - {*FUNCTIONS})),
    "data_classes": partial(entries, DATA),
    "decisions": decisions,
    "extension": partial(entries, OF_EXTENSIONS),
    "figures": partial(rates, "benchmarks/RESULTS.md", "The figures that matter"),
    "functions": partial(entries, FUNCTIONS),
    "guarantees": partial(rates, "README.md", "What is guaranteed, and what is not"),
    "help_texts": help_texts,
    "install_line": lambda: CODE.split(section("README.md", "Try it"))[1],
    "kept_claims": partial(rates, "docs/keep-true.md", "How often it errs"),
    "schema_tables": schema_tables,
    "settings": settings,
    "types": partial(entries, TYPES),
}


# ---------------------------------------------------------------- the folder


def list_of_pages() -> str:
    """`llms.txt`: the pages as the site's menu has them, each by the Markdown beside it."""
    config = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), Loader=yaml.BaseLoader)
    parts = [f"# {config['site_name']}\n\n> {config['site_description']}"]
    for (title, items), *_ in (entry.items() for entry in config["nav"]):
        menu = items if isinstance(items, list) else [{title: items}]
        parts.append(
            f"## {title}\n\n" + "\n".join(f"- [{name}]({uri})" for entry in menu for name, uri in entry.items())
        )
    return "\n\n".join(parts)


def lay_out(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.py", "*.md", "__pycache__"))
    for path, uri in PAGES.items():
        if path.endswith(".md"):
            (folder / uri).parent.mkdir(exist_ok=True)
            text = site_markdown((ROOT / path).read_text("utf-8"), ROOT / path, uri)
            (folder / uri).write_text(text.rstrip() + "\n", "utf-8")
    (folder / "llms.txt").write_text(list_of_pages() + "\n", "utf-8")


if __name__ == "__main__":
    lay_out(ROOT / "build" / "pages")
