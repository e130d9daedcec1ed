"""What extensions import, and a package of somebody else's whose parts are found by name everywhere."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fork_server
import pytest
from web_parts import served

import toulmin
from toulmin import ext
from toulmin.build import encoding, exporting, jobs, parts, sources
from toulmin.build.session import Session
from toulmin.build.sources import Sources
from toulmin.build.specs import Registry
from toulmin.config import Settings
from toulmin.errors import ModelError, UsageError

THEIRS = Path(__file__).parent / "theirs"
QUESTION = "When was Kettle Rock Tower lit for the first time?"
REGISTRIES = (
    parts.JUDGES,
    parts.MODELS,
    parts.READERS,
    encoding.ENCODERS,
    jobs.METHODS,
    exporting.FORMATS,
    sources.RETRIEVERS,
)


@pytest.fixture
def theirs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Somebody else's package on the path of this process, as an installed one is."""
    monkeypatch.syspath_prepend(str(THEIRS))
    for registry in REGISTRIES:
        registry.__dict__.pop("_entry_points", None)
    yield
    for registry in REGISTRIES:
        registry.__dict__.pop("_entry_points", None)
    sys.modules.pop("theirs", None)


def command(no_weights: Path, *words: object, beside: Path = THEIRS) -> subprocess.CompletedProcess[str]:
    line = fork_server.toulmin(*map(str, words))
    path = {"PYTHONPATH": f"{beside}:{no_weights}:{Path(toulmin.__file__).parent.parent}"}
    return subprocess.run(line, capture_output=True, text=True, env={**os.environ, **path})


# ---------------------------------------------------------------- what extensions import


def test_every_name_of_extensions_is_meant_for_them():
    assert sorted(ext.__all__) == sorted(name for name in vars(ext) if not name.startswith("_"))


def test_examples_of_the_documentation_import_public_names_only():
    text = (Path(__file__).parent.parent / "docs" / "python.md").read_text("utf-8")
    lines = [line.split()[1] for line in text.splitlines() if line.startswith("from toulmin")]
    assert set(lines) <= {"toulmin", "toulmin.ext"}


# ---------------------------------------------------------------- names of other packages


@pytest.mark.parametrize("spec", ["mine:twice"])
def test_a_method_of_another_package_answers(theirs: None, notes: Path, spec: str):
    answer = toulmin.ask(QUESTION, docs=notes, method=spec, judge="lexical")
    assert (answer.method, answer.status) == ("mine:twice", "answered")


def test_a_judge_of_another_package_judges_with_its_settings(theirs: None, notes: Path):
    settings = Settings(servers={"theirs": {"mark": "!"}})
    answer = toulmin.ask(QUESTION, docs=notes, judge="theirs:large", settings=settings)
    assert {claim.support.judge for claim in answer.claims if claim.support} == {"literal-large!"}


def test_a_model_a_reader_and_an_encoder_of_another_package_are_found(theirs: None):
    assert parts.model("echo", Settings()).name == "echo"
    assert type(parts.reader("first", Settings())).__name__ == "First"
    assert encoding.encoder("lengths", Settings()).dimension == 2


@pytest.mark.parametrize("fusion", ["rerank", "ranks"])
def test_an_index_that_changed_is_searched_with_the_encoder_that_is_loaded(
    theirs: None, notes: Path, tmp_path: Path, fusion: str
):
    index, encoders = tmp_path / "library", list[object]()
    settings = Settings(encoder="lengths", fusion=fusion)
    toulmin.index(notes, into=index, encoder="lengths")
    with Session(Sources(index=str(index)), settings) as session:
        for number in range(3):
            session.rank(["tower"], 1)
            encoders += [one for one in gc.get_objects() if type(one).__name__ == "Lengths"]
            (notes / f"{number}.txt").write_text(f"Tower {number} stands.", "utf-8")
            toulmin.index(notes, into=index)
            asyncio.run(session.refresh())
    assert len({id(one) for one in encoders}) == 1


def test_a_run_is_exported_in_a_format_of_another_package(theirs: None, notes: Path, tmp_path: Path):
    (tmp_path / "q.jsonl").write_text(json.dumps({"id": "1", "question": QUESTION, "answers": ["1824"]}) + "\n")
    toulmin.run(tmp_path / "q.jsonl", out=tmp_path / "run", docs=notes, judge="lexical")
    (file,) = toulmin.export(tmp_path / "run", "titles").files
    assert (file.name, "Kettle Rock Tower" in json.loads(file.read_text("utf-8"))) == ("titles.jsonl", True)


def test_another_packages_names_are_near_names(theirs: None):
    with pytest.raises(UsageError, match="Did you mean theirs"):
        parts.JUDGES.find("their")


def test_a_method_that_the_package_lacks_is_refused_by_name(theirs: None):
    with pytest.raises(UsageError, match="no method called 'thrice'"):
        jobs.method("mine:thrice")


def test_a_package_that_does_not_load_is_named(theirs: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "theirs", None)
    with pytest.raises(ModelError, match="theirs:make_judge does not load"):
        parts.JUDGES.find("theirs")


def test_the_command_line_finds_them(notes: Path, no_weights: Path):
    words = ("ask", QUESTION, "--docs", notes, "--method", "mine:twice", "--judge", "theirs:large", "--json")
    done = command(no_weights, *words)
    document: dict[str, Any] = json.loads(done.stdout)
    judges = {claim["support"]["judge"] for claim in document["claims"]}
    assert (done.returncode, document["method"], judges) == (0, "mine:twice", {"literal-large"})


def test_the_server_lists_and_answers_with_them(theirs: None, notes: Path):
    with served(notes, Settings(judge="theirs:large")) as server:
        asked = {"question": QUESTION, "method": "mine:twice"}
        listed = {method["name"] for method in server.client.get("/v1/methods").json()}
        document = server.client.post("/v1/answers", json=asked, timeout=60).json()
    judges = {claim["support"]["judge"] for claim in document["claims"]}
    assert (document["method"], judges) == ("mine:twice", {"literal-large"})
    assert {"best", "once"} <= listed
    assert "mine" not in listed


def test_a_retriever_of_another_package_finds_passages(theirs: None):
    assert [hit.passage.text[:17] for hit in toulmin.search("tower", retriever="tower")] == ["Kettle Rock Tower"]


def test_the_package_of_the_page_judges_by_name(notes: Path, no_weights: Path, tmp_path: Path):
    """It is installed as `pip install -e` leaves it: its folder on the path, beside what names its entry points."""
    page = (Path(__file__).parent.parent / "docs" / "python.md").read_text("utf-8")
    section = page.split("## A package of your own")[1]
    table, code = (section.split(f"```{language}\n")[1].split("```")[0] for language in ("toml", "python"))
    about = tomllib.loads(table)["project"]
    (tmp_path / f"{about['name']}.py").write_text(code, "utf-8")
    folder = tmp_path / f"{about['name']}-{about['version']}.dist-info"
    folder.mkdir()
    lines = [f"[{group}]\n{name} = {place}" for group, e in about["entry-points"].items() for name, place in e.items()]
    (folder / "entry_points.txt").write_text("\n".join(lines), "utf-8")
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: 1.0\n", "utf-8")
    words = ("ask", QUESTION, "--docs", notes, "--judge", "literal", "--set", "servers.literal.fold=true", "--json")
    done = command(no_weights, *words, beside=tmp_path)
    judges = {claim["support"]["judge"] for claim in json.loads(done.stdout)["claims"]}
    assert (done.returncode, judges) == (0, {"literal-fold"})


# ---------------------------------------------------------------- code in a file


MINE = """
from theirs import Echo, First, Literal as Word, Tower, twice

class Literal(Word):
    def __init__(self):
        super().__init__("mine")

def make(text, settings):
    return Word("made")

class Nothing:
    pass
"""


@pytest.fixture
def mine(theirs: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(MINE, "utf-8")
    (tmp_path / "broken.py").write_text("import no_such_module", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "mine.py"


@pytest.mark.parametrize("place", ["./mine.py", "{folder}/mine.py"])
def test_a_method_and_a_judge_of_a_file_answer(mine: Path, notes: Path, place: str):
    file = place.format(folder=mine.parent)
    answer = toulmin.ask(QUESTION, docs=notes, method=f"{file}:twice", judge=f"{file}:Literal")
    judges = {claim.support.judge for claim in answer.claims if claim.support}
    assert (answer.settings["method"], judges) == (f"{file}:twice", {"mine"})


def test_parts_of_every_kind_are_named_by_file_or_module(mine: Path):
    settings = Settings()
    assert parts.judge("./mine.py:make", settings).name == "made"
    assert parts.model("theirs:Echo", settings).name == "echo"
    assert type(parts.reader("./mine.py:First", settings)).__name__ == "First"
    assert toulmin.search("tower", retriever="./mine.py:Tower")[0].score == 1.0


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("./none.py:Judge", UsageError, "There is no file ./none.py that could hold the judge 'Judge'"),
        ("./broken.py:Judge", ModelError, "'./broken.py:Judge' does not load: ModuleNotFoundError"),
        ("./mine.py:Judge", UsageError, "./mine.py has no 'Judge', only Echo"),
        ("./mine.py:Nothing", UsageError, "is no judge: it has no method `judge`"),
    ],
)
def test_a_file_that_brings_no_judge_is_refused(mine: Path, spec: str, error: type[Exception], message: str):
    with pytest.raises(error, match=re.escape(message)):
        parts.judge(spec, Settings())


def test_an_encoder_names_no_code_since_an_index_may_name_it(mine: Path):
    with pytest.raises(UsageError, match=r"no encoder called '\./mine\.py:Literal'"):
        encoding.encoder("./mine.py:Literal", Settings())


@pytest.mark.parametrize("method", ["./mine.py:twice", "theirs_too:twice", "os:system"])
def test_a_request_names_no_code(mine: Path, notes: Path, method: str):
    with served(notes) as server:
        asked = {"question": QUESTION, "method": method}
        answers = [
            server.client.post("/v1/answers", json=asked),
            server.client.post(
                "/v1/chat/completions", json={"model": method, "messages": [{"role": "user", "content": "Why?"}]}
            ),
        ]
    assert [answer.status_code for answer in answers] == [400, 400]


# ---------------------------------------------------------------- registries


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_name_has_a_line_of_help(registry: Registry):
    assert all(spec.help.endswith(".") for spec in registry.specs)


def test_an_unknown_name_is_three_lines_that_end_with_the_door():
    with pytest.raises(UsageError) as caught:
        parts.JUDGES.find("nothing-like-it")
    first, second, third = str(caught.value).split("\n")
    assert (first, second[:15]) == ("There is no judge called 'nothing-like-it'.", "Known: lexical,")
    assert "./FILE.py:NAME" in third
    assert "toulmin.judges" in third


def test_a_near_name_is_suggested_once():
    with pytest.raises(UsageError, match=r"Did you mean lexical\?"):
        parts.JUDGES.find("lexicl")


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_form_is_found(registry: Registry):
    for spec in registry.specs:
        assert [registry.find(form).spec for form in spec.forms] == [spec] * len(spec.forms)
