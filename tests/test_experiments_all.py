"""The command that runs the method and a baseline of every table, and goes on where it ended."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.test_experiments import FOLDER, ROOT, WANTED, needs_data

ALONE = {"calm_figure2"}  # its rows are families of models, so one model makes one row


@pytest.fixture
def every(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the command; the files of `experiments/` import each other by their bare names."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("all")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all runs, so that one index serves them."""
    return tmp_path_factory.mktemp("every")


@pytest.fixture
def sweep(every: Any, out: Path, tmp_path: Path) -> Callable[..., Any]:
    """A sweep of the embedded writer over the small index."""

    def make(clock: Callable[[], float] | None = None, hours: float | None = None, **choices: Any) -> Any:
        given = every.parser().parse_args(
            ["--model", "extractive", "--judge", "lexical", "--limit", "1", "--out", str(out)]
        )
        chosen = replace(every.choices_of(given), whole=False, **choices)
        return every.Sweep(chosen, tmp_path / "RESULTS.md", hours, **({"clock": clock} if clock else {}))

    return make


def answers(sweep: Any) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sweep.choices.out.glob("runs/*/answers.jsonl")}


def answered(page: str) -> list[str]:
    """The rows with figures of ours, the last of which are the seconds."""
    return re.findall(r"^(\S.*?) {2,}ours .*\d\.\d+$", page, re.MULTILINE)


@needs_data
def test_a_table_says_where_its_answers_were_made_if_not_here(sweep: Callable[..., Any]):
    made = sweep()
    made.answered = "16 cores"
    made.run(["a2r_table5"])
    page = made.results.read_text("utf-8")
    assert "\n* answered on: 16 cores\n* model: `extractive`; verifier: `extractive`; judge: `lexical`\n" in page


def test_tables_of_other_runs_stay_on_the_page(sweep: Callable[..., Any]):
    made = sweep()
    standing = "## CaLM, Table 3: QAMPARI\n\n* date: long ago\n\n```\nfigures\n```\n"
    made.results.write_text(f"# Before\n\n{standing}", "utf-8")
    made.run(["plan_table8"])
    page = made.results.read_text("utf-8")
    assert f"\n{standing}\n## " in page
    assert "\n## Plan-based retrieval, Table 8" in page
    assert "calm_table3" not in page.partition("## ")[0]
    assert "Before" not in page


# ---------------------------------------------------------------- which rows


def test_every_experiment_has_its_rows(every: Any):
    assert sorted(every.ROWS) == sorted(WANTED)


def test_each_papers_main_table_comes_first(every: Any):
    assert list(every.ROWS)[:4] == ["calm_table2", "vtg_table1", "plan_table1", "a2r_table3"]


@pytest.mark.parametrize("name", WANTED)
def test_the_method_and_a_baseline_are_run_in_every_panel(every: Any, sweep: Callable[..., Any], name: str):
    whole = every.EXPERIMENTS[name]
    chosen = every.choose_rows(whole, sweep().choices)
    assert [panel.title for panel in chosen.panels] == [panel.title for panel in whole.panels]
    assert set(every.ROWS[name]) <= {row.name for panel in whole.panels for row in panel.rows}
    if every.ROWS[name]:
        assert {len(panel.rows) for panel in chosen.panels} == {1 if name in ALONE else 2}


@pytest.mark.parametrize(("verifier", "model"), [(None, "extractive"), ("openai:second", "openai:second")])
def test_a_row_named_after_a_model_says_which_took_its_place(
    every: Any, sweep: Callable[..., Any], verifier: str | None, model: str
):
    chosen = every.choose_rows(every.EXPERIMENTS["calm_table5"], sweep(verifier=verifier).choices)
    assert f"tulu-2-dpo-13b: {model} takes the place of this model" in chosen.ours


# ---------------------------------------------------------------- running


@needs_data
def test_tables_are_written_with_figures_and_with_what_is_missing(every: Any, sweep: Callable[..., Any]):
    made = sweep()
    assert made.run(["a2r_table5", "plan_table8"])
    page = made.results.read_text("utf-8")
    assert page.index("\n## A2R, Table 5: ASQA\n") < page.index("* missing: MAUVE of ASQA: the metric needs a model")
    assert "\n## Plan-based retrieval, Table 8" in page
    assert "toulmin prefer" in page
    assert "\n* not begun: calm_table2, vtg_table1, " in page
    assert answered(page) == ["ChatGPT, K=0", "A2R, K=2"]
    assert page.count("s a question") == 2  # in the head, and over its column


@needs_data
def test_panels_that_are_one_run_are_one_panel(sweep: Callable[..., Any]):
    made = sweep(verifier="extractive")
    assert made.run(["calm_table2"])
    page = made.results.read_text("utf-8")
    title = "\nDPR as retriever; GTR as retriever: one run here, as their questions are the same\n"
    assert page.count(title) == 1
    assert answered(page) == ["ICLCite", "CaLM"]
    assert page.count("paper: text-unicorn, GTR as retriever") == 2
    assert "* missing: Average of DPR as retriever; GTR as retriever: a mean with a metric" in page


@needs_data
def test_the_same_command_makes_no_whole_table_again(sweep: Callable[..., Any], capsys: pytest.CaptureFixture[str]):
    assert sweep().run(["a2r_table5"])
    before = answers(sweep())
    page = sweep().results.read_text("utf-8")
    capsys.readouterr()
    assert sweep().run(["a2r_table5"])
    assert (answers(sweep()), capsys.readouterr().err) == (before, "")
    assert sweep().results.read_text("utf-8") == page


@needs_data
def test_a_row_out_of_time_resumes_between_questions(
    every: Any, sweep: Callable[..., Any], capsys: pytest.CaptureFixture[str]
):
    told: list[str] = []

    def clock() -> float:
        """Jumps once the first of three questions is answered."""
        told.append(capsys.readouterr().err)
        return 7200.0 if "K=0: 1 of 3 questions" in "".join(told) else 0.0

    stopped = sweep(clock, 1.0, limit=3)
    assert not stopped.run(["a2r_table5"])
    assert "2 of 3" not in "".join(told)
    assert f"* missing: ASQA, ChatGPT, K=0: {every.NOT_YET}\n" in stopped.results.read_text("utf-8")
    capsys.readouterr()
    assert sweep(limit=3).run(["a2r_table5"])
    assert "K=0: 0 of 3" not in capsys.readouterr().err  # the first answer was kept
    assert every.NOT_YET not in stopped.results.read_text("utf-8")


@needs_data
def test_a_row_that_fails_says_why_and_the_others_go_on(sweep: Callable[..., Any]):
    made = sweep(verifier="llama:nowhere.gguf")
    assert not made.run(["calm_table4"])
    page = made.results.read_text("utf-8")
    assert "nowhere.gguf" in page[page.index("* missing: BM25 as retriever, CaLM: ") :].split("\n* ")[0]
    assert answered(page) == ["ICLCite"]


@needs_data
def test_a_finished_table_stays_while_another_is_run(sweep: Callable[..., Any]):
    made = sweep()
    made.run(["a2r_table5"])
    made.run(["plan_table9"])
    page = made.results.read_text("utf-8")
    assert page.index("## A2R, Table 5") < page.index("## Plan-based retrieval, Table 9")


def test_the_command_ends_well_where_nothing_is_missing(tmp_path: Path):
    command = [sys.executable, str(FOLDER / "all.py"), "--only", "plan_table8", "--model", "extractive"]
    places = ["--out", str(tmp_path / "out"), "--results", str(tmp_path / "RESULTS.md")]
    ended = subprocess.run([*command, *places], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert "* model: `extractive`;" in (tmp_path / "RESULTS.md").read_text("utf-8")


# ---------------------------------------------------------------- the data


@needs_data
def test_stand_ins_have_what_the_tables_measure(every: Any, out: Path):
    """Gold claims for ELI5, several answers for QAMPARI, one for the others, and topics that differ."""
    places = importlib.import_module("stand_ins").places(out / "stand-ins" / "small")

    def rows(name: str) -> list[Any]:
        return [json.loads(line) for line in places[name].path.read_text("utf-8").splitlines()]

    assert all(1 <= len(row["claims"]) <= 3 for row in rows("eli5"))
    assert all(len(row["answers"]) >= 2 for row in rows("qampari-gtr"))
    assert all(row["answers"][0] for name in ("nq", "webq", "2wiki") for row in rows(name))
    topics = [row["question"] for name in ("wiki-ent", "researcher", "wiki-event", "news-events") for row in rows(name)]
    assert len(topics) == len(set(topics)) >= 100
