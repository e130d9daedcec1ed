"""The plugin of pytest, as it works in a project of somebody else: each run is a process of its own there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import fork_server
import pytest

from tests.test_layers import loaded_by
from toulmin import demo
from toulmin.checking.findings import RULES

# An installation that is older than the plugin's entry point does not load it by itself.
IS_INSTALLED = any(point.name == "toulmin" for point in entry_points(group="pytest11"))
PLUGIN = () if IS_INSTALLED else ("-p", "toulmin.testing.pytest_plugin")
# Other plugins that the environment may have are left out: pytest compiles each of them again for every run.
OTHERS = "schemathesis hypothesispytest cacheprovider anyio platformdirs xdist xdist.looponfail".split()
LEFT_OUT = [word for name in OTHERS for word in ("-p", f"no:{name}")]
OPTIONS = (*LEFT_OUT, "--strict-markers", "-W", "error", "--junitxml=run.xml")

PAGE = """\
# The story of longitude

The Longitude Act was passed in 1714. The Board of Longitude was dissolved in 1728.

- Harrison flew to the Moon in 1750.

<!-- toulmin: skip a matter of taste -->
Nobody liked longitude.
"""
TRUE = "# The Act\n\nThe Longitude Act was passed in 1714.\n\nThe Board of Longitude was dissolved in 1828.\n"
VAGUE = "Penguins like ice.\n"
BASELINE = """\
[[claim]]
file = "page.md"
text = "The Board of Longitude was dissolved in 1728."
reason = "the museum is asked"

[[claim]]
file = "page.md"
text = "Harrison flew to the Moon in 1750."
reason = "it is a joke"
"""
PASSAGES = ["The tower is 38 metres tall.", "It was lit in 1824."]

PYTEST = "import runpy; runpy.run_module('pytest', run_name='__main__', alter_sys=True)"
# Nothing of Toulmin: pytest warns of plugins that are imported before it.
WARM = "pytest _pytest.doctest _pytest.legacypath _pytest.junitxml numpy pydantic tantivy orjson selectolax.lexbor"
WARM += " markdown_it mdit_py_plugins Stemmer asyncio sqlite3 concurrent.futures.process xml.etree.ElementTree"


class Run(NamedTuple):
    """The exit code, what was printed, and each test with what became of it and the message."""

    code: int
    text: str
    outcomes: dict[str, str]
    messages: dict[str, str]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, no_weights: Path) -> Callable[..., Run]:
    """Runs files of tests in a project that has `notes/`, `page.md`, `true.md` and a baseline."""
    project = tmp_path_factory.mktemp("project")
    shutil.copytree(demo.FOLDER, project / "notes")
    for name, text in {
        "README.md": TRUE,
        "page.md": PAGE,
        "true.md": TRUE,
        "vague.md": VAGUE,
        "baseline.toml": BASELINE,
    }.items():
        (project / name).write_text(text, "utf-8")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("TOULMIN_", "PYTEST_"))}
    environ |= {"XDG_CACHE_HOME": str(project / "cache"), "PYTHONPATH": str(no_weights), "COLUMNS": "100"}
    environ["PYTHONDONTWRITEBYTECODE"] = "1"  # files of tests are written anew within a second

    def run(*tests: str, options: tuple[str, ...] = (), ini: str = "", under: str = ".") -> Run:
        files = [project / f"test_{n}.py" for n in range(len(tests))]
        for file, text in zip(files, tests, strict=True):
            file.write_text(f"import pytest\nPASSAGES = {PASSAGES}\n{text}", "utf-8")
        (project / "pytest.ini").write_text(f"[pytest]\n{ini}\n", "utf-8")
        report = project / under / "run.xml"
        report.unlink(missing_ok=True)
        words = (*PLUGIN, *OPTIONS, *options, *map(str, files))
        command = fork_server.python(PYTEST, *words, warm=WARM)
        process = subprocess.run(command, cwd=report.parent, env=environ, capture_output=True, text=True, timeout=120)
        return read_run(process, report)

    return run


def read_run(process: subprocess.CompletedProcess[str], report: Path) -> Run:
    outcomes, messages = {}, {}
    for case in ElementTree.parse(report).iter("testcase") if report.exists() else ():
        name, element = case.get("name", ""), next(iter(case), None)
        outcomes[name] = "passed" if element is None else element.tag
        message = None if element is None else element.get("message") if element.tag == "skipped" else element.text
        messages[name] = message or ""
    return Run(process.returncode, process.stdout + process.stderr, outcomes, messages)


# ---------------------------------------------------------------- documents and texts


TESTS = """
def test_true(grounded):
    checked = grounded("true.md", docs="notes/", judge="lexical")
    assert [claim.support.label for claim in checked.answer.claims] == ["supported"] * 2

def test_page(grounded):
    grounded("page.md", docs="notes/", judge="lexical")

def test_fail_on(grounded):
    grounded("page.md", docs=["notes/"], judge="lexical", fail_on="contradicted")

def test_vague_page(grounded):
    grounded("vague.md", docs="notes/", judge="lexical")

def test_vague_page_by_rule(grounded):
    grounded("vague.md", docs="notes/", judge="lexical", fail_on="unsupported")

def test_vague_reply(grounded):
    grounded(text="Penguins like ice.", passages=PASSAGES, judge="lexical")

def test_threshold(grounded):
    grounded("true.md", docs="notes/", judge="lexical", threshold=0.999)

def test_baseline(grounded):
    checked = grounded("page.md", docs="notes/", judge="lexical", baseline="baseline.toml")
    assert [finding.excuse for finding in checked.findings] == ["the museum is asked", "it is a joke"]

def test_baseline_and_threshold(grounded):
    grounded("page.md", docs="notes/", judge="lexical", baseline="baseline.toml", threshold=0.5)

def test_reply(grounded):
    checked = grounded(text="The tower is 38 metres tall [1].", passages=PASSAGES, judge="lexical")
    assert checked.answer.claims[0].support.label == "supported"

def test_wrong_reply(grounded):
    grounded(text="The tower is 48 metres tall [1]. It is red [3].", passages=PASSAGES, judge="lexical")

def test_reply_by_documents(grounded):
    grounded(text="Sure! The Longitude Act was passed in 1714.", docs="notes/", judge="lexical")

def test_rule(grounded):
    grounded("true.md", docs="notes/", fail_on="absnt")

def test_high_threshold(grounded):
    grounded("true.md", docs="notes/", threshold=3)

def test_no_file(grounded):
    grounded("missing.md", docs="notes/")

def test_no_docs(grounded):
    grounded("true.md", docs="missing/")

def test_nothing(grounded):
    grounded(docs="notes/")

def test_folder(grounded):
    grounded("notes", docs="notes/")

def test_text_and_baseline(grounded):
    grounded(text="It was lit in 1824.", passages=PASSAGES, baseline="baseline.toml")

def test_one_passage(grounded):
    grounded(text="It was lit in 1824.", passages="It was lit in 1824.")

def test_wrong_option(grounded):
    grounded("true.md", docs="notes/", jugde="lexical")

class Broken:
    name = "broken"
    def judge(self, pairs):
        raise RuntimeError("out of order")

def test_broken_judge(grounded):
    grounded(text="The tower is 38 metres tall.", passages=PASSAGES, judge=Broken())
"""


@pytest.fixture(scope="module")
def ran(run: Callable[..., Run]) -> Run:
    return run(TESTS)


@pytest.mark.parametrize(
    "name", ["test_true", "test_baseline", "test_baseline_and_threshold", "test_reply", "test_reply_by_documents"]
)
def test_what_the_sources_say_passes(name: str, ran: Run):
    assert ran.outcomes[name] == "passed", ran.messages[name]


def test_a_failing_page_lists_claims_places_and_reasons(ran: Run):
    assert ran.messages["test_page"] == (
        "page.md: 2 of 3 claims fail.\n\n"
        "page.md:3:39: contradicted: the source says 1828, the claim says 1728\n"
        "  the claim:    “The Board of Longitude was dissolved in 1728.”\n"
        "  the nearest:  “The Board of Longitude was dissolved in 1828, after it had paid out more than 100,000 pounds"
        " in rewards and grants.” notes/longitude_act.md\n\n"
        "page.md:5:3: absent: 1750 is in none of the 2 passages read\n"
        "  the claim:    “Harrison flew to the Moon in 1750.”\n"
        "  the nearest:  “On the way home Harrison's reckoning placed the ship more truly than the officers' own, and"
        " the Board of Longitude gave him money to go on.” notes/harrison_sea_clocks.md\n\n"
        "To leave out a claim, write a comment before it (`toulmin: skip REASON`) or a baseline."
    )


def test_a_reply_fails_by_its_passages(ran: Run):
    assert ran.messages["test_wrong_reply"] == (
        "the text: 2 of 2 claims fail.\n\n"
        "the text:1:1: contradicted: the source says 38, the claim says 48\n"
        "  the claim:    “The tower is 48 metres tall.”\n"
        "  the nearest:  “The tower is 38 metres tall.”\n\n"
        "the text:1:34: citation: cites [3], and 2 passages were given\n"
        "  the claim:    “It is red.”"
    )


def test_a_rule_lets_pass_what_is_less_grave(ran: Run):
    assert ran.messages["test_fail_on"].startswith("page.md: 1 of 3 claims fails.\n\npage.md:3:39: contradicted")


def test_absent_claims_fail_only_where_the_rule_asks(ran: Run):
    names = ["test_vague_page", "test_vague_page_by_rule", "test_vague_reply"]
    assert [ran.outcomes[name] for name in names] == ["passed", "failure", "failure"]


def test_a_threshold_fails_what_is_supported_less_surely(ran: Run):
    message = ran.messages["test_threshold"]
    assert message.startswith("true.md: 2 of 2 claims fail.")
    assert ", and the threshold 0.999" in message
    assert "  the nearest:  “The Board of Longitude was dissolved in 1828" in message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("test_rule", "There is no rule called 'absnt'; did you mean absent?"),
        ("test_high_threshold", "A threshold is a support score from 0 to 1, not 3.0."),
        ("test_nothing", 'Give grounded() one of a file and a text: grounded("README.md"), grounded(text=reply).'),
        ("test_folder", "grounded() takes one file, but notes is a folder; call it for each file."),
        ("test_text_and_baseline", "A baseline names claims of files, but a text came; give one of the two."),
        ("test_one_passage", "Passages are a list of texts, but one text came; write passages=[text]."),
        ("test_wrong_option", "There is no setting called 'jugde'; did you mean judge?"),
        ("test_broken_judge", "The judge broken failed: RuntimeError: out of order"),
    ],
)
def test_a_mistake_fails_by_a_sentence_that_says_what_to_do(name: str, message: str, ran: Run):
    assert ran.outcomes[name] == "failure"
    assert ran.messages[name].endswith(message)
    assert "\n" not in ran.messages[name]


@pytest.mark.parametrize("name", ["test_no_file", "test_no_docs"])
def test_a_path_that_is_not_there_is_named_with_the_folder_that_it_is_of(name: str, ran: Run):
    path, _, folder = ran.messages[name].partition(" Relative paths are those of pytest's root folder, ")
    assert f"{folder.removesuffix('.')}/missing" in path


def test_paths_are_those_of_the_project_wherever_pytest_is_called(run: Callable[..., Run]):
    call = "grounded('true.md', docs='notes/', judge='lexical')"
    assert run(f"def test_it(grounded): {call}", under="notes").outcomes == {"test_it": "passed"}


# ---------------------------------------------------------------- options


def outcomes(run: Callable[..., Run], *calls: str, options: tuple[str, ...] = (), ini: str = "") -> list[str]:
    tests = "\n".join(f"def test_{n}(grounded): grounded({call})" for n, call in enumerate(calls))
    return list(run(tests, options=options, ini=ini).outcomes.values())


def test_the_command_line_is_before_the_settings_and_a_call_before_both(run: Callable[..., Run]):
    ini = "grounded_judge = lexical\ngrounded_fail_on = absent"
    text = "text='It is wide.', passages=PASSAGES"
    assert outcomes(run, text, "'page.md', docs='notes/'", ini=ini) == ["passed", "failure"]
    option = ("--grounded-fail-on=unsupported",)
    assert outcomes(run, text, f"{text}, fail_on='absent'", options=option, ini=ini) == ["failure", "passed"]


def test_a_judge_a_threshold_and_a_baseline_may_be_options(run: Callable[..., Run]):
    page, true = "'page.md', docs='notes/'", "'true.md', docs='notes/'"
    options = ("--grounded-judge=lexical", "--grounded-threshold=0.999", "--grounded-baseline=baseline.toml")
    assert outcomes(run, f"{page}, threshold=0.1", true, options=options) == ["passed", "failure"]
    ini = "grounded_judge = lexical\ngrounded_threshold = 0.999\ngrounded_baseline = baseline.toml"
    assert outcomes(run, f"{page}, threshold=0.1", true, ini=ini) == ["passed", "failure"]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--grounded-fail-on=absnt", "ERROR: There is no rule called 'absnt'; did you mean absent?"),
        ("--grounded-threshold=high", "ERROR: A threshold is a support score from 0 to 1, not 'high'."),
    ],
)
def test_a_wrong_option_ends_the_run_at_once(option: str, message: str, run: Callable[..., Run]):
    ended = run("def test_it(): pass", options=(option,))
    assert (ended.code, message in ended.text) == (pytest.ExitCode.USAGE_ERROR, True)


def test_the_help_has_the_options(run: Callable[..., Run]):
    assert "--grounded-fail-on" in run("", options=("--help",)).text


# ---------------------------------------------------------------- the examples of the docs

DOCS = (Path(__file__).parent.parent / "docs" / "testing.md").read_text("utf-8")


def test_the_tests_of_the_docs_pass(run: Callable[..., Run]):
    examples = re.findall(r"^```python\n(.*?)^```$", DOCS, re.MULTILINE | re.DOTALL)
    ran = run(*examples, options=("--grounded-judge=lexical",))
    assert set(ran.outcomes.values()) == {"passed"}, ran.text
    assert len(ran.outcomes) == 3


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_in_the_docs(rule: str):
    assert f"* `{rule}`: " in DOCS


# ---------------------------------------------------------------- what it costs those who do not use it


def test_the_plugin_loads_no_heavy_library():
    loaded = loaded_by("import toulmin.testing.pytest_plugin")
    assert loaded & {"numpy", "pydantic", "tantivy", "asyncio", "rich", "toulmin.aio", "toulmin.data"} == set()
