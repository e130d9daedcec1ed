"""The GitHub Action and the pre-commit hook: what they run, with what arguments, and what no input can do.

Then the project's own workflows, forms, hooks and citation: that they can be read, and that what they name exists.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from toulmin import __version__
from toulmin.checking.findings import RULES
from toulmin.cli import run

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
EXPRESSION = re.compile(r"\$\{\{ *([^}]*?) *\}\}")
# Writes its arguments down, one call a line, says its format, and ends as it is told to.
STUB = """#!{python}
import json, os, sys
with open(os.environ["CALLS"], "a") as calls:
    print(json.dumps(sys.argv), file=calls)
print("report", *sys.argv[-1:])
sys.exit(int(os.environ.get("CODE", "0")))
"""


@dataclass(frozen=True)
class StepRun:
    """A step that has run: its exit code, what it printed, the calls of programs, its outputs, and its folder."""

    code: int
    printed: str
    calls: list[list[str]]
    outputs: str
    folder: Path


def environment(step: dict[str, Any], inputs: dict[str, str]) -> dict[str, str]:
    """The variables of a step, with the expressions evaluated as GitHub does."""
    defaults = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()}
    values = {f"inputs.{name}": value for name, value in {**defaults, **inputs}.items()}
    values["github.action_path"] = "/the action"
    return {name: EXPRESSION.sub(lambda m: values[m[1]], text) for name, text in step["env"].items()}


def run_step(name: str, folder: Path, code: int = 0, **inputs: str) -> StepRun:
    step = STEPS[name]
    programs, temporary, project = folder / "bin", folder / "temporary files", folder / "project"
    for path in (programs, temporary, project):
        path.mkdir()
    for program in ("toulmin", "python"):
        (programs / program).write_text(STUB.format(python=sys.executable))
        (programs / program).chmod(0o755)
    calls, outputs = folder / "calls", folder / "outputs"
    variables = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(temporary),
        "GITHUB_OUTPUT": str(outputs),
        "CALLS": str(calls),
        "CODE": str(code),
        **environment(step, {key.replace("_", "-"): value for key, value in inputs.items()}),
    }
    # As GitHub calls the shell `bash`.
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(bash, env=variables, cwd=project, capture_output=True, text=True, check=False)
    lines = calls.read_text("utf-8").splitlines() if calls.exists() else []
    arguments = [[Path(call[0]).name, *call[1:]] for call in map(json.loads, lines)]
    written = outputs.read_text("utf-8") if outputs.exists() else ""
    return StepRun(done.returncode, done.stdout, arguments, written, project)


HOSTILE = ["$(touch x)", "`touch x`", "a b.md", "it's.md", 'a".md', "x; touch x", "$HOME/*.md", "été.md", "\\n.md"]


# ---------------------------------------------------------------- the action


def test_the_action_has_these_inputs():
    assert set(ACTION["inputs"]) == {"files", "docs", "fail-on", "baseline", "args", "python", "package"}
    assert {name for name, about in ACTION["inputs"].items() if about.get("required")} == {"files", "docs"}


def test_no_script_holds_an_expression():
    assert [name for name, step in STEPS.items() if EXPRESSION.search(step.get("run", ""))] == []


def test_every_other_action_is_named_by_its_commit():
    uses = [step["uses"] for step in STEPS.values() if "uses" in step]
    assert [name for name in uses if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name)] == []


def test_the_rules_are_listed_with_the_input():
    listed = re.findall(r"\b(?:" + "|".join(RULES) + r")\b", ACTION["inputs"]["fail-on"]["description"])
    assert listed == list(RULES)


def test_every_input_is_used():
    used = set(re.findall(r"inputs\.([\w-]+)", json.dumps(ACTION["runs"])))
    assert used == set(ACTION["inputs"])


def test_its_default_rule_is_one():
    assert ACTION["inputs"]["fail-on"]["default"] in RULES


def test_files_and_sources_are_checked_for_a_sarif_file_and_for_the_log(tmp_path: Path):
    done = run_step("Check", tmp_path, files="README.md\ndocs\n", docs="sources\nmore sources")
    command = ["toulmin", "check", "README.md", "docs", "--docs", "sources", "--docs", "more sources"]
    command += ["--fail-on", "absent", "--format"]
    assert done.calls == [[*command, "sarif"], [*command, "github"]]
    assert (done.code, done.printed) == (0, "report github\n")


def test_the_sarif_file_is_an_output(tmp_path: Path):
    done = run_step("Check", tmp_path, files="README.md", docs="sources")
    name, _, path = done.outputs.strip().partition("=")
    assert (name, Path(path).read_text("utf-8")) == ("sarif", "report sarif\n")


def test_a_failing_claim_fails_the_step_after_both_reports(tmp_path: Path):
    done = run_step("Check", tmp_path, code=6, files="README.md", docs="sources")
    assert (done.code, len(done.calls), done.outputs[:6]) == (6, 2, "sarif=")


def test_a_file_that_cannot_be_read_fails_the_step_after_both_reports(tmp_path: Path):
    done = run_step("Check", tmp_path, code=3, files="README.md\ndamaged.docx", docs="sources")
    assert (done.code, len(done.calls), done.outputs[:6]) == (3, 2, "sarif=")


def test_what_goes_wrong_fails_the_step_without_a_report(tmp_path: Path):
    done = run_step("Check", tmp_path, code=2, files="README.md", docs="sources")
    assert (done.code, len(done.calls), done.outputs) == (2, 1, "")
    assert list((tmp_path / "temporary files").iterdir()) == []


def test_other_options_are_passed_on(tmp_path: Path):
    options = {"fail_on": "unsure", "baseline": "known findings.json", "args": "--k\r\n5\n"}
    done = run_step("Check", tmp_path, files="README.md\r\n", docs="sources", **options)
    rest = ["--fail-on", "unsure", "--baseline", "known findings.json", "--k", "5", "--format", "sarif"]
    assert done.calls[0] == ["toulmin", "check", "README.md", "--docs", "sources", *rest]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_input_is_run_or_split(tmp_path: Path, text: str):
    done = run_step("Check", tmp_path, files=text, docs=text, fail_on=text, baseline=text, args=text)
    options = ["--docs", text, "--fail-on", text, "--baseline", text, text, "--format", "sarif"]
    assert done.calls[0] == ["toulmin", "check", text, *options]
    assert list(done.folder.iterdir()) == []


def test_a_file_is_no_option(tmp_path: Path):
    done = run_step("Check", tmp_path, files="--baseline=all.md", docs="-d")
    assert done.calls[0][2:5] == ["./--baseline=all.md", "--docs", "./-d"]


def test_the_action_installs_its_own_version_with_the_trained_parts(tmp_path: Path):
    locked, own = run_step("Install Toulmin", tmp_path).calls
    sets = [word for name in ("build", "server") for word in ("-r", f"/the action/requirements/{name}.txt")]
    assert locked == ["python", "-m", "pip", "install", "-q", "--require-hashes", *sets]
    places = ["/the action", "/the action/weights", "/the action/weights/judge"]
    assert own[4:] == ["-q", "--no-deps", "--no-build-isolation", *places]


def test_what_is_installed_can_be_chosen(tmp_path: Path):
    (call,) = run_step("Install Toulmin", tmp_path, package="toulmin[embedded]>=0.1, <1\n$(touch x)\n").calls
    assert call[5:] == ["toulmin[embedded]>=0.1, <1", "$(touch x)"]
    assert not (tmp_path / "project" / "x").exists()


# ---------------------------------------------------------------- the hook


def test_the_hook_runs_once_over_documents_in_an_environment_of_its_own():
    assert (HOOK["id"], HOOK["language"], HOOK["types_or"]) == ("toulmin-check", "python", ["markdown", "html"])
    assert HOOK["require_serial"]


def test_the_hook_fails_by_a_rule_that_exists():
    words = HOOK["entry"].split()
    assert words[:2] == ["toulmin", "check"]
    assert words[words.index("--fail-on") + 1] in RULES


# ---------------------------------------------------------------- both


def test_every_option_that_they_name_exists(capsys: pytest.CaptureFixture[str]):
    assert run(["check", "--help"]) == 0
    known = set(re.findall(r"--[a-z][a-z-]*", capsys.readouterr().out))
    named = set(re.findall(r"--[a-z][a-z-]*", f"{STEPS['Check']['run']} {HOOK['entry']} {HOOK['description']}"))
    assert named >= {"--docs", "--fail-on", "--baseline", "--format"}
    assert named - known == set()


# ---------------------------------------------------------------- the project's own workflows


GITHUB = ROOT / ".github"
WORKFLOWS = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in (GITHUB / "workflows").glob("*.yml")}
JOBS = {f"{name} {job}": about for name, flow in WORKFLOWS.items() for job, about in flow["jobs"].items()}
WORKFLOW_STEPS = [(name, step) for name, job in JOBS.items() for step in job.get("steps", [])]
SCRIPTS = [(name, step["run"]) for name, step in WORKFLOW_STEPS if "run" in step]
HOSTING = [
    *(path for path in GITHUB.rglob("*") if path.is_file()),
    *(ROOT / name for name in (".pre-commit-config.yaml", "CITATION.cff", "docs/release.md", ".ci/build")),
]


def test_there_are_workflows_for_tests_release_and_documentation():
    assert set(WORKFLOWS) == {"tests.yml", "release.yml", "docs.yml", "site.yml"}


def test_every_script_that_a_workflow_runs_exists():
    scripts = {path for _, script in SCRIPTS for path in re.findall(r"bash (\S+)", script)}
    assert {path for path in scripts if not (ROOT / path).is_file()} == set()
    assert scripts >= {".ci/run", ".ci/build", ".ci/claims"}


def test_every_part_that_the_tests_run_is_one_of_the_whole_check():
    parts = JOBS["tests.yml part"]["strategy"]["matrix"]["part"]
    script = "\n".join(path.read_text("utf-8").lower() for path in (ROOT / ".ci").iterdir() if path.is_file())
    assert [part for part in parts if not re.search(rf"\b{part}\b", script)] == []


def test_every_test_file_that_a_workflow_names_exists():
    files = {path for _, script in SCRIPTS for path in re.findall(r"tests/\S+\.py", script)}
    assert {path for path in files if not (ROOT / path).is_file()} == set()


def test_workflows_install_extras_that_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lists = re.findall(r"'\.\[([a-z,]+)\]'", " ".join(script for _, script in SCRIPTS))
    assert {extra for names in lists for extra in names.split(",")} <= project["optional-dependencies"].keys()


def test_no_script_of_a_workflow_holds_an_expression():
    assert [name for name, script in SCRIPTS if EXPRESSION.search(script)] == []


def test_workflows_name_other_actions_by_commit_and_each_other_by_path():
    uses = [step["uses"] for _, step in WORKFLOW_STEPS if "uses" in step]
    assert [name for name in uses if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name)] == []
    called = [job["uses"] for job in JOBS.values() if "uses" in job]
    assert [path for path in called if not (ROOT / path).is_file()] == []


def test_only_jobs_that_publish_may_do_more_than_read():
    assert all(flow["permissions"] == {"contents": "read"} for flow in WORKFLOWS.values())
    permissions = {name: job["permissions"] for name, job in JOBS.items() if "permissions" in job}
    assert permissions == {
        "release.yml publish": {"id-token": "write"},
        "site.yml publish": {"id-token": "write", "pages": "write"},
    }


def test_nothing_is_published_before_it_is_checked_and_built():
    assert set(JOBS["release.yml publish"]["needs"]) == {"check", "build", "image"}


def test_every_distribution_is_published_from_an_environment_of_its_own():
    places = ("", "weights/", "weights/judge/", "integrations/*/")
    projects = [path for place in places for path in ROOT.glob(f"{place}pyproject.toml")]
    names = {tomllib.loads(path.read_text("utf-8"))["project"]["name"] for path in projects}
    publish = JOBS["release.yml publish"]
    assert set(publish["strategy"]["matrix"]["project"]) == names
    assert publish["environment"] == "release-${{ matrix.project }}"
    page = (ROOT / "docs" / "release.md").read_text("utf-8")
    assert [name for name in names if f"`{name}`" not in page] == []


@pytest.mark.parametrize("path", HOSTING, ids=lambda path: path.name)
def test_no_registry_is_named_by_its_host(path: Path):
    assert re.findall(r"[\w.-]*\bpypi\.org\b|pythonhosted\.org|index-url", path.read_text("utf-8")) == []


def test_issue_forms_ask_for_what_is_needed():
    forms = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml")}
    assert set(forms) == {"bug", "feature", "config"}
    assert {"name", "description", "body"} <= forms["bug"].keys() & forms["feature"].keys()
    labels = [field["attributes"].get("label", "") for field in forms["bug"]["body"]]
    assert any("toulmin doctor" in label for label in labels)


# ---------------------------------------------------------------- the project's own hooks and citation


def test_the_hooks_of_the_project_are_local_and_run_its_tools():
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert repository["repo"] == "local"
    tools = {hook["id"]: hook["entry"].split()[0] for hook in repository["hooks"]}
    assert tools == {
        "ruff-check": ".venv/bin/ruff",
        "ruff-format": ".venv/bin/ruff",
        "fast-tests": ".venv/bin/pytest",
    }


def test_the_citation_has_what_its_format_requires():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert (citation["cff-version"], citation["type"]) == ("1.2.0", "software")
    assert (citation["version"], citation["license"]) == (__version__, project["license"])
    assert all(author.keys() >= {"name"} for author in citation["authors"])


# ---------------------------------------------------------------- the check of this project


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    return importlib.import_module("parts")


def test_a_hash_changes_with_names_and_contents_but_not_with_pages(check: Any, tmp_path: Path):
    (tmp_path / "folder" / "__pycache__").mkdir(parents=True)
    file = tmp_path / "folder" / "a.py"
    file.write_text("1")
    first = check.hash_of(["folder", "missing"], tmp_path)
    (tmp_path / "folder" / "README.md").write_text("a page")
    (tmp_path / "folder" / "__pycache__" / "a.pyc").write_text("compiled")
    assert check.hash_of(["folder", "missing"], tmp_path) == first
    assert check.hash_of(["folder", "folder/*.md"], tmp_path) != first  # pages that are named count
    file.write_text("2")
    second = check.hash_of(["folder"], tmp_path)
    file.rename(file.with_name("b.py"))
    assert len({first, second, check.hash_of(["folder"], tmp_path)}) == 3


def test_each_folder_beside_the_package_has_tests(check: Any):
    assert [name for name in check.FOLDERS if not check.test_files([name])] == []
    assert [place for places in check.FOLDERS.values() for place in places.split() if not list(ROOT.glob(place))] == []


def test_a_part_without_a_change_is_left_out_of_the_whole_check(check: Any):
    todo, folders = check.choose([], {"oldest", "training"})
    assert set(todo) == set(check.parts()) - {"oldest"}
    assert folders == set(check.FOLDERS) - {"training"}


def test_a_part_that_is_named_runs_with_what_it_needs(check: Any):
    assert list(check.choose(["style"], {"style"})[0]) == ["install", "style"]
    todo, folders = check.choose(["training"], {"training"})
    assert (list(todo), folders) == (["browser", "install", "tests"], {"training"})
    assert "tests/test_training.py" in todo["tests"].command


def test_a_part_whose_need_fails_does_not_start(check: Any, capsys: pytest.CaptureFixture[str]):
    first, second = check.Part("echo broken; exit 3"), check.Part("echo never", ("first",))
    assert check.run_parts({"first": first, "second": second, "third": check.Part("echo fine")}).keys() == {
        "first",
        "second",
        "third",
    }
    printed = capsys.readouterr().out
    assert "broken" in printed
    assert "fine" in printed
    assert "+ second" not in printed
