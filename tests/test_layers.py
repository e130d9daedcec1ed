"""The shape of the house: who imports whom, how large things are, and what is public."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import toulmin

PACKAGE = Path(toulmin.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

GROUND = {"data", "errors", "language"}
# Room -> the rooms it may import beside itself. An edge may import everything.
MAY_IMPORT = {
    "data": set(),
    "errors": set(),
    "language": set(),
    "database": {"errors"},
    "demo": set(),
    "reading": GROUND,
    "grounding": GROUND | {"reading"},
    "methods": GROUND | {"grounding", "reading"},
    "weights": GROUND,
    "shipped": {"errors"},
    "graph": {"errors"},
    "encoders": GROUND | {"graph", "shipped", "weights"},
    "models": GROUND | {"database", "grounding", "reading", "weights"},
    "extractive": GROUND | {"encoders", "grounding", "reading"},
    "simulation": GROUND | {"grounding", "reading"},
    "judges": GROUND | {"database", "driver", "graph", "grounding", "reading", "shipped", "weights"},
    "corpus": GROUND | {"encoders", "grounding"},
    "driver": GROUND | {"grounding"},
    "wire": GROUND | {"grounding"},
    "shared": GROUND | {"corpus", "encoders"},
    "postgres": GROUND | {"corpus", "encoders", "shared"},
    "adapters": GROUND | {"corpus", "postgres", "shared"},
    "config": GROUND | {"shipped"},
    "indexes": GROUND | {"adapters", "config", "corpus", "encoding", "many_writers", "shared", "spread"},
    "many_writers": GROUND | {"adapters", "config", "corpus", "driver", "encoding", "spread"},
    "encoding": GROUND | {"adapters", "config", "corpus", "encoders", "extractive", "shared", "shipped"},
    "providers": GROUND | {"config", "encoding", "extractive", "grounding", "judges", "models", "driver"},
    "searchable": GROUND | {"config", "corpus", "driver", "encoding", "indexes"},
    "build": GROUND
    | {
        "encoding",
        "grounding",
        "methods",
        "models",
        "judges",
        "driver",
        "config",
        "providers",
        "searchable",
        "shipped",
    },
    "datasets": GROUND | {"corpus", "grounding"},
    "testsets": GROUND | {"datasets", "grounding"},
    "runs": GROUND | {"database", "datasets", "driver", "grounding", "wire"},
    "metrics": GROUND | {"datasets", "driver", "grounding", "reading", "weights"},
    "evaluate": GROUND | {"datasets", "driver", "grounding", "metrics", "runs"},
    "report": GROUND | {"datasets", "evaluate", "metrics", "grounding", "runs", "wire"},
    "dialects": GROUND | {"datasets", "evaluate", "metrics", "runs", "wire"},
    "asking": GROUND | {"build", "config", "corpus", "datasets", "driver", "evaluate", "methods", "searchable"},
    "spread": GROUND | {"driver"},
    "spreading": GROUND
    | {"asking", "build", "config", "datasets", "driver", "grounding", "runs", "searchable", "spread"},
    "studies": GROUND
    | {
        "asking",
        "build",
        "config",
        "corpus",
        "datasets",
        "driver",
        "evaluate",
        "judges",
        "methods",
        "metrics",
        "indexes",
        "runs",
        "searchable",
        "shared",
        "shipped",
        "spread",
        "spreading",
        "testsets",
    },
    "comparisons": GROUND | {"datasets", "dialects", "evaluate", "metrics", "report", "runs", "studies", "wire"},
    "aio": GROUND
    | {"asking", "build", "comparisons", "config", "corpus", "driver", "evaluate", "metrics", "methods", "runs"}
    | {"indexes", "searchable", "shared", "spread", "studies"},
    "verbs": GROUND | {"aio", "build", "config", "driver", "searchable"},
}
EDGES = {"cli", "web", "__init__", "__main__"}
# Libraries that are slow to load or belong to one job: the modules that may name them.
HOMES = {
    "tantivy": {"corpus"},
    "faiss": {"corpus"},
    "sqlite3": {"corpus", "database", "runs"},
    "pypdfium2": {"corpus"},
    "selectolax": {"corpus"},
    "docx": {"corpus"},
    "Stemmer": {"language"},
    "rich": {"cli"},
    "cyclopts": {"cli"},
    "asyncio": {"driver", "judges", "models", "evaluate", "metrics", "corpus", "runs", "build"}
    | {"comparisons", "many_writers", "spread", "spreading", "studies", "aio", "verbs", "cli", "web"},
    "openai": {"models"},
    "httpx2": {"models", "corpus"},
    "lancedb": {"shared"},
    "psycopg": {"postgres"},
    "stamina": {"models", "corpus", "postgres", "shared"},
    "torch": {"encoders", "metrics", "judges", "models", "weights"},
    "transformers": {"encoders", "metrics", "judges", "models", "weights"},
    "onnxruntime": {"graph"},
    "tokenizers": {"encoders", "judges"},
    "nltk": {"metrics"},
    "mauve": {"metrics"},
    "matplotlib": {"report"},
    "pydantic": {"datasets", "driver", "web", "wire"},
    "pyarrow": {"shared", "spread"},
    "ray": {"spread"},
    "platformdirs": {"cli", "searchable", "studies", "web"},
    "fastapi": {"web"},
    "mcp": {"web"},
    "prometheus_client": {"web"},
    "starlette": {"web"},
    "uvicorn": {"web"},
}


def room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Full names of the modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            module = node.module or ""
            names.update(f"toulmin.{alias.name}" for alias in node.names) if module == "toulmin" else names.add(module)
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_room_imports_only_the_rooms_below_it(path: Path):
    here = room(path)
    if here in EDGES:
        return
    rooms = {name.split(".")[1] for name in imported(path) if name.startswith("toulmin.")} - {"__version__"}
    assert rooms - {here} <= MAY_IMPORT[here]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_library_is_named_only_where_it_belongs(path: Path):
    libraries = {name.split(".")[0] for name in imported(path)}
    strays = {library for library in libraries & HOMES.keys() if room(path) not in HOMES[library]}
    assert strays == set()


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_file_passes_500_lines(path: Path):
    assert len(path.read_text("utf-8").splitlines()) <= 500


def functions() -> list[tuple[str, int]]:
    """Each function of the package and how many lines its body has, docstring left out."""
    found = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
                lines = (node.end_lineno or 0) - first.lineno + 1
                found.append((f"{path.relative_to(PACKAGE)}:{node.name}", lines))
    return found


def test_no_function_passes_60_lines():
    assert [name for name, lines in functions() if lines > 60] == []


def test_nine_of_ten_functions_stay_under_30_lines():
    sizes = sorted(lines for _, lines in functions())
    assert sizes[int(0.9 * len(sizes))] < 30


# ---------------------------------------------------------------- public names

PUBLIC = """
    Answer Budget BudgetEnded Citation Claim Hit IndexDamaged Judge Kit LanguageModel ModelError Passage Quote
    Reader Retriever Settings Source SourceError Support ToulminError Usage UsageError aio ask ask_all check compare
    export index questions run score search stream
""".split()


def test_the_public_names_are_these():
    assert sorted(toulmin.__all__) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_can_be_imported(name: str):
    assert getattr(toulmin, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = toulmin.nothing


def loaded_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after the statement."""
    code = f"import sys; {statement}; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(out.stdout.split())


def test_importing_the_package_loads_no_heavy_library():
    assert loaded_by("import toulmin") & {"numpy", "pydantic", "tantivy", "rich", "asyncio", "cyclopts"} == set()


def test_help_loads_no_heavy_library():
    loaded = loaded_by("import toulmin.cli.commands")
    assert loaded & {"numpy", "pydantic", "tantivy", "toulmin.build.parts", "toulmin.extractive.writer"} == set()


def test_a_search_loads_nothing_that_answers_or_indexes(tmp_path: Path):
    (tmp_path / "note.md").write_text("Harrison built the sea clock.")
    toulmin.index([tmp_path / "note.md"], into=tmp_path / "index")
    words = ["search", "clock", "--index", str(tmp_path / "index")]
    loaded = loaded_by(f"from toulmin.cli import run; assert run({words}) == 0")
    assert "toulmin.retrieval.bm25" in loaded
    others = {"toulmin.build.parts", "toulmin.methods", "toulmin.prompts.types", "toulmin.indexing.writer"}
    assert loaded & {"asyncio", "pydantic", *others} == set()
