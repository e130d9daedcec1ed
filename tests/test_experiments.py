"""Every experiment runs to its end in its small form, and says what the papers print."""

from __future__ import annotations

import importlib
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from row_tables import table as table_of
from stub_server import Rule, running_stub

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "experiments"
DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
WANTED = (
    *(f"calm_table{n}" for n in range(2, 7)),
    *("calm_figure2", "calm_figure4", "vtg_figure3", "vtg_figure4"),
    *(f"vtg_table{n}" for n in range(1, 5)),
    *(f"plan_table{n}" for n in range(1, 11)),
    *(f"a2r_table{n}" for n in range(3, 6)),
)
needs_data = pytest.mark.skipif(not (DATA / "pool_corpus.jsonl.gz").exists(), reason="needs pool_corpus (TOULMIN_DATA)")

# Copied from the papers a second time, by hand: panel, row, whose figure, column, figure.
PRINTED = {
    "calm_table2": [
        ("DPR as retriever", "ICLCite", "GPT-3.5-Turbo-1106", "MAUVE", 74.73),
        ("DPR as retriever", "CaLM", "text-unicorn", "EM Rec.", 42.24),
        ("GTR as retriever", "ICLCite + USC", "GPT-3.5-Turbo-1106", "Citation Rec.", 71.64),
        ("GTR as retriever", "Snippet + ICLCite", "text-unicorn", "Average", 60.59),
        ("GTR as retriever", "CaLM", "GPT-3.5-Turbo-1106", "Citation Prec.", 72.59),
        ("GTR as retriever", "Self-RAG (13B)", "its paper", "EM Rec.", 31.7),
    ],
    "calm_table3": [
        ("DPR as retriever", "Summ + ICLCite", "GPT-3.5-Turbo-1106", "Rec.-5", 4.97),
        ("DPR as retriever", "ICLCite", "text-unicorn", "Citation Prec.", 15.77),
        ("GTR as retriever", "CaLM", "GPT-3.5-Turbo-1106", "Prec.", 26.71),
        ("GTR as retriever", "Snippet + ICLCite", "text-unicorn", "Citation Rec.", 25.55),
    ],
    "calm_table4": [
        ("BM25 as retriever", "Snippet + ICLCite", "text-unicorn", "MAUVE", 47.43),
        ("BM25 as retriever", "CaLM", "GPT-3.5-Turbo-1106", "Citation Rec.", 51.90),
        ("BM25 as retriever", "ICLCite + USC", "text-unicorn", "Claim", 12.29),
    ],
    "calm_table5": [
        ("GTR as retriever", "tulu-2-dpo-7b", "GPT-3.5-Turbo-1106", "Prec.", 25.36),
        ("GTR as retriever", "tulu-2-dpo-70b", "text-unicorn", "Citation Rec.", 26.88),
        ("GTR as retriever", "the main model", "text-unicorn", "Rec.-5", 23.44),
    ],
    "calm_table6": [
        ("GTR as retriever", "Only cited documents", "text-unicorn", "Average", 27.49),
        ("GTR as retriever", "Same as the main LM", "text-unicorn", "Rec.-5", 23.26),
    ],
    "vtg_table1": [
        ("Wikihop, Vicuna-13B-v1.5-16k", "Rerank", "Vicuna-13B-v1.5-16k", "Citation Prec", 47.53),
        ("Wikihop, Text-Davinci-003", "VTG", "Text-Davinci-003", "F1", 40.19),
        ("WebQ, Text-Davinci-003", "Snippet", "Text-Davinci-003", "Citation Rec", 65.41),
        ("NQ, Vicuna-13B-v1.5-16k", "Summ", "Vicuna-13B-v1.5-16k", "Citation F1", 51.88),
        ("NQ, Text-Davinci-003", "VTG", "Text-Davinci-003", "EM", 63.0),
    ],
    "vtg_table2": [
        ("ASQA, Vicuna-13B-v1.5-16k", "Vanilla", "Vicuna-13B-v1.5-16k", "D-F1", 27.52),
        ("ASQA, Text-Davinci-003", "VTG", "Text-Davinci-003", "DR", 35.55),
        ("ELI5, Vicuna-13B-v1.5-16k", "VTG", "Vicuna-13B-v1.5-16k", "Claim", 14.73),
        ("ELI5, Text-Davinci-003", "Summ", "Text-Davinci-003", "Citation Prec", 31.81),
        ("Overall, Text-Davinci-003", "VTG", "Text-Davinci-003", "Citation F1", 80.09),
    ],
    "vtg_table3": [
        ("2WikiMultihopQA, Vicuna-13B-v1.5-16k", "w/o Simplifier", "Vicuna-13B-v1.5-16k", "Citation Prec", 28.61),
        ("2WikiMultihopQA, Vicuna-13B-v1.5-16k", "w/o Diverse QG", "Vicuna-13B-v1.5-16k", "F1", 18.99),
    ],
    "vtg_table4": [
        ("2WikiMultihopQA, Vicuna-13B-v1.5-16k", "T = 1", "Vicuna-13B-v1.5-16k", "Trials", 1.82),
        ("2WikiMultihopQA, Vicuna-13B-v1.5-16k", "T = 4", "Vicuna-13B-v1.5-16k", "Citation Rec", 51.37),
    ],
    "plan_table1": [
        ("Wiki-Event", "Plan-based (Var.A)", "text-bison-001", "AIS strict", 89.99),
        ("Wiki-Ent", "One-Retrieval (2x snippets)", "text-bison-001", "micro", 86.67),
        ("Researcher", "No Retrieval", "text-bison-001", "R2 prec.", 17.85),
        ("News Events", "Plan-based (Var.B)", "text-bison-001", "words", 124.67),
    ],
    "plan_table2": [
        ("Wiki-Event", "No Retrieval", "text-unicorn-001", "macro", 25.8),
        ("Wiki-Ent", "Plan-based (Var.B)", "text-unicorn-001", "words", 164.23),
        ("Researcher", "Plan-based (Var.A)", "text-unicorn-001", "RL prec.", 98.07),
        ("News Events", "One-Retrieval", "text-unicorn-001", "R1 prec.", 95.83),
    ],
    "plan_table3": [("Wiki-Ent", "w/o 2nd search", "text-bison-001", "R2 prec.", 80.05)],
    "plan_table4": [
        ("Researcher", "w/o unanswerable", "text-unicorn-001", "words", 108.28),
        ("News Events", "w/o unanswerable", "text-unicorn-001", "AIS strict", 76.92),
    ],
    "plan_table5": [("News Events", "w/o plan", "text-unicorn-001", "macro", 86.38)],
    "plan_table6": [("News Events", "One-Retrieval, expanded", "text-unicorn-001", "R2 prec.", 88.48)],
    "plan_table7": [
        ("Wiki-Ent", "One-Retrieval (2x snippets)", "Mistral-7B-Instruct-v0.3", "AIS strict", 20.3),
        ("Wiki-Ent", "Plan-based (Var.B)", "Mistral-7B-Instruct-v0.3", "words", 161.8),
    ],
    "plan_table8": [("text-unicorn-001 (first half)", "News Events", "people", "no preference", 84)],
    "plan_table9": [("text-unicorn-001 (first half)", "Wiki-Event", "people", "Plan-based", 75)],
    "plan_table10": [
        ("News Events", "Plan-based (Var.A)", "text-unicorn-001", "1-gram", 66.53),
        ("Wiki-Event", "One-Retrieval", "text-bison-001", "3-gram", 98.67),
    ],
    "a2r_table3": [
        ("ELI5", "Intrinsic, K=1", "GPT-3.5-Turbo-16k", "MAUVE", 61.4),
        ("ELI5", "A2R, K=2", "GPT-3.5-Turbo-16k", "Citation Precision", 32.3),
    ],
    "a2r_table4": [
        ("QAMPARI", "Intrinsic, K=2", "GPT-3.5-Turbo-16k", "Recall@5", 4.8),
        ("QAMPARI", "A2R, K=1", "GPT-3.5-Turbo-16k", "Precision", 24.4),
    ],
    "a2r_table5": [
        ("ASQA", "A2R, K=1", "GPT-3.5-Turbo-16k", "EM Recall", 21.9),
        ("ASQA", "Intrinsic, K=1", "GPT-3.5-Turbo-16k", "Citation Precision", 51.9),
    ],
}

# Where a paper's own figure does not follow from the others of its line: panel, row, whose figure, the figure.
SLIPS = {
    ("DPR as retriever", "CaLM", "GPT-3.5-Turbo-1106", 64.71),
    ("GTR as retriever", "CaLM", "GPT-3.5-Turbo-1106", 68.98),
    ("BM25 as retriever", "Summ + ICLCite", "GPT-3.5-Turbo-1106", 26.40),
    ("2WikiMultihopQA, Vicuna-13B-v1.5-16k", "w/o Simplifier", "Vicuna-13B-v1.5-16k", 36.00),
}


@pytest.fixture
def experiment(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """The experiment of that name; the files of `experiments/` import each other by their bare names."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return lambda name: importlib.import_module("run").EXPERIMENTS[name]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the runs of all experiments, so that one index serves them all."""
    return tmp_path_factory.mktemp("experiments")


@pytest.fixture
def table(
    experiment: Callable[[str], Any], out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """Runs an experiment; its table in words (`text`) and as a document."""

    def run(name: str, *options: str) -> Any:
        file = tmp_path / "table.json"
        words = [*experiment(name).name.split("_"), "--out", str(out), "--json", str(file), *options]
        importlib.import_module("run").main(words)
        return json.loads(file.read_text("utf-8")) | {"text": capsys.readouterr().out}

    return run


def lines(experiment: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Each line that the paper prints: its panel, its row, and the line."""
    for panel in experiment.panels:
        for row in panel.rows:
            for line in row.printed:
                yield panel, row, line


def by_title(panel: Any, line: Any) -> dict[str, Any]:
    return {column.title: figure for column, figure in zip(panel.columns, line.figures, strict=True)}


# ---------------------------------------------------------------- what the papers print


def test_every_table_and_figure_can_be_run_by_its_name(experiment: Callable[[str], Any]):
    assert experiment(WANTED[0])
    assert sorted(importlib.import_module("run").EXPERIMENTS) == sorted(WANTED)


@pytest.mark.parametrize("name", WANTED)
def test_an_experiment_says_what_the_papers_setting_is(experiment: Callable[[str], Any], name: str):
    assert experiment(name).name == name
    assert "The paper's setting" in experiment(name).about


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_the_papers_figures_are_those_of_a_second_reading(experiment: Callable[[str], Any], name: str):
    found = {
        (panel.title, row.name, line.by, title): figure
        for panel, row, line in lines(experiment(name))
        for title, figure in by_title(panel, line).items()
    }
    assert {cell[:4]: found.get(cell[:4]) for cell in PRINTED[name]} == {cell[:4]: cell[4] for cell in PRINTED[name]}


@pytest.mark.parametrize("name", ["calm_table2", "calm_table3", "calm_table4", "calm_table5", "calm_table6"])
def test_calms_averages_are_those_of_its_columns(experiment: Callable[[str], Any], name: str):
    for panel, row, line in lines(experiment(name)):
        figures = {c.metric: f for c, f in zip(panel.columns, line.figures, strict=True)}
        parts = [figures[metric] for column in panel.columns for metric in column.mean_of]
        place = (panel.title, row.name, line.by, figures["average"])
        assert (fmean(parts) == pytest.approx(figures["average"], abs=0.06)) != (place in SLIPS), place


@pytest.mark.parametrize("name", ["vtg_table1", "vtg_table2", "vtg_table3", "vtg_table4"])
def test_vtgs_citation_f1_is_the_harmonic_mean(experiment: Callable[[str], Any], name: str):
    for panel, row, line in lines(experiment(name)):
        told = by_title(panel, line)
        if "Citation Rec" in told:
            recall, precision = told["Citation Rec"], told["Citation Prec"]
            f1 = 2 * recall * precision / (recall + precision)
            place = (panel.title, row.name, line.by, told["Citation F1"])
            assert (f1 == pytest.approx(told["Citation F1"], abs=0.03)) != (place in SLIPS), place


def test_vtgs_overall_figures_are_means_over_its_datasets(experiment: Callable[[str], Any]):
    told: dict[tuple[str, str], list[tuple[float, float]]] = {}
    overall = {}
    for name in ("vtg_table1", "vtg_table2"):
        for panel, row, line in lines(experiment(name)):
            first, last = line.figures[0], line.figures[-1]
            if panel.title.startswith("Overall"):
                overall[line.by, row.name] = (first, last)
            else:
                told.setdefault((line.by, row.name), []).append((first, last))
    means = {key: tuple(map(fmean, zip(*pairs, strict=True))) for key, pairs in told.items()}
    assert len(overall) == 10
    for key, pair in overall.items():
        assert means[key] == pytest.approx(pair, abs=0.03), key


def test_vtgs_dr_is_the_mean_of_its_parts(experiment: Callable[[str], Any]):
    for panel, row, line in lines(experiment("vtg_table2")):
        told = by_title(panel, line)
        if "DR" in told:
            assert fmean([told["D-F1"], told["R-L"]]) == pytest.approx(told["DR"], abs=0.03), (panel.title, row.name)


def test_rows_that_two_tables_print_agree(experiment: Callable[[str], Any]):
    def cells(name: str, panel: str, row: str, by: str) -> dict[str, Any]:
        for place, one, line in lines(experiment(name)):
            if (place.title, one.name, line.by) == (panel, row, by):
                return by_title(place, line)
        raise AssertionError((name, panel, row, by))

    for name, panel, row, by, other in (
        ("plan_table3", "Wiki-Ent", "Plan-based (Var.B)", "text-bison-001", "plan_table1"),
        ("plan_table4", "Researcher", "Plan-based (Var.B)", "text-unicorn-001", "plan_table2"),
        ("plan_table5", "News Events", "Plan-based (Var.A)", "text-unicorn-001", "plan_table2"),
        ("calm_table5", "GTR as retriever", "tulu-2-dpo-13b", "text-unicorn", "calm_table3"),
    ):
        same = "CaLM" if row.startswith("tulu") else row
        assert cells(name, panel, row, by).items() <= cells(other, panel, same, by).items()


# ---------------------------------------------------------------- the small form


@needs_data
@pytest.mark.parametrize("name", WANTED)
def test_every_experiment_runs_to_its_end_in_its_small_form(
    experiment: Callable[[str], Any], table: Callable[..., Any], name: str
):
    made = table(name, "--small", "--limit", "2")
    expected = [(panel.title, row.name) for panel in experiment(name).panels for row in panel.rows]
    assert [(row["panel"], row["name"]) for row in made["rows"]] == expected
    for row in made["rows"]:
        assert (row["ours"] is None) == bool(row["why"]), row
        if row["ours"] is not None:
            values = [one["value"] for one in row["ours"].values() if one is not None]
            assert values or row["name"] == "No Retrieval", row  # the embedded writer has no memory to tell
            assert all(map(math.isfinite, values)), row
    assert "say nothing about the paper's" in " ".join(made["text"].split())
    assert not re.search(r"\bnan\b", made["text"], re.IGNORECASE)


@needs_data
def test_only_rows_that_need_somebody_or_something_else_have_no_figures(table: Callable[..., Any]):
    made = table("calm_table2", "--small", "--limit", "2")
    assert [row["name"] for row in made["rows"] if row["ours"] is None] == ["Self-RAG (7B)", "Self-RAG (13B)"]


@needs_data
def test_a_second_call_answers_nothing_again(table: Callable[..., Any]):
    made = table("a2r_table4", "--small", "--limit", "2")
    answers = {row["folder"]: (Path(row["folder"]) / "answers.jsonl").read_bytes() for row in made["rows"]}
    assert table("a2r_table4", "--small", "--limit", "2") == made
    assert {folder: (Path(folder) / "answers.jsonl").read_bytes() for folder in answers} == answers  # seconds and all


@needs_data
def test_several_seeds_are_several_runs(table: Callable[..., Any]):
    made = table("plan_table6", "--small", "--limit", "2", "--seeds", "2")
    folders = sorted(path.name for path in Path(made["rows"][0]["folder"]).glob("seed-*"))
    assert folders == ["seed-1", "seed-2"]
    assert made["differs"]["runs"] == {"paper": "3", "here": "2"}


@needs_data
def test_means_over_datasets_are_those_of_the_rows(table: Callable[..., Any]):
    rows = table("vtg_table2", "--small", "--limit", "2", "--only", "Text-Davinci-003 VTG")["rows"]
    rows += table("vtg_table1", "--small", "--limit", "2", "--only", "Text-Davinci-003 VTG")["rows"]
    told = {row["panel"].partition(",")[0]: row["ours"] for row in rows}
    mean = told.pop("Overall")["Correct EM"]["value"]
    correct = [(one.get("EM") or one.get("Claim"))["value"] for one in told.values()]
    assert len(correct) == 5
    assert mean == pytest.approx(fmean(correct))


@needs_data
def test_the_oracle_is_asked_in_a2rs_rows_alone(table: Callable[..., Any]):
    made = table("a2r_table5", "--small", "--limit", "2")
    about = {row["name"]: json.loads((Path(row["folder"]) / "run.json").read_text("utf-8")) for row in made["rows"]}
    guided = {name for name, one in about.items() if one["settings"]["options"].get("correctness") == "oracle"}
    assert guided == {"A2R, K=1", "A2R, K=2"}


@table_of("name", ["calm_table3", "calm_figure2", "vtg_figure4", "plan_table7", "a2r_table3", "a2r_table5"])
def test_the_small_form_runs_without_any_data(
    table: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
):
    monkeypatch.setenv("TOULMIN_DATA", str(tmp_path))
    made = table(name, "--small", "--limit", "1", "--out", str(tmp_path / "out"))
    assert "the demo's documents" in made["differs"]["passages"]["here"]
    assert {row["name"] for row in made["rows"] if row["ours"] is None} <= {"Self-RAG (7B)", "Self-RAG (13B)"}


AS_INSTALLED = """
import sys, runpy, toulmin
from pathlib import Path
folder, *words = sys.argv[1:]
sys.path[:] = [folder, *(path for path in sys.path if path and not Path(path, "simulations").is_dir())]
sys.argv = ["run.py", *words]
runpy.run_path(f"{folder}/run.py", run_name="__main__")
"""


def test_the_runner_finds_the_simulations_beside_it(tmp_path: Path):
    command = [sys.executable, "-c", AS_INSTALLED, str(FOLDER), "calm", "figure2", "--help"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


def test_figure_2_prints_which_questions_it_asks(experiment: Callable[[str], Any]):
    assert any("passages hold all their answers" in words for words in experiment("calm_figure2").ours)


@needs_data
def test_the_runner_is_a_command(out: Path):
    command = [sys.executable, str(FOLDER / "run.py"), "a2r", "table3", "--small", "--limit", "1", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("A2R, Table 3")


@needs_data
def test_a_language_model_is_asked_as_the_papers_asked_theirs(
    table: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked = ("--small", "--limit", "1", "--model", "openai:stub", "--out", str(tmp_path))
    with running_stub() as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        table("a2r_table4", *asked, "--only", "K=0")
        table("calm_table6", *asked, "--only", "Only cited")
        first, *others = [each["body"] for each in stub.asked() if "messages" in each["body"]]
    assert first["temperature"] == 0.7
    assert {sum(m["role"] == "assistant" for m in body["messages"]) for body in others} == {2}  # demonstrations


@needs_data
def test_a2rs_rows_make_as_many_refinements_as_they_say_from_one_draft(
    table: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The model words every reply anew; each row is the beginning of the next."""
    with running_stub() as stub:
        ends = {"Answer:": "Draft", "New answer:": "Refinement", "Feedback:": "Correctness: Name the year of draft"}
        stub.script(*(Rule(rf"\n{end}$", f"{what} {n} [1].", times=1) for end, what in ends.items() for n in range(30)))
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        rows = table("a2r_table5", "--small", "--limit", "1", "--model", "openai:stub", "--out", str(tmp_path))["rows"]
    texts = {}
    for row in rows:
        (line,) = (Path(row["folder"]) / "answers.jsonl").read_text("utf-8").splitlines()
        rounds = json.loads(line)["rounds"]
        texts[row["name"]] = [each["text"] for each in rounds if each["kind"] in ("draft", "refine")]
    assert {name: len(each) - 1 for name, each in texts.items()} == {
        "ChatGPT, K=0": 0,
        "Intrinsic, K=1": 1,
        "Intrinsic, K=2": 2,
        "A2R, K=1": 1,
        "A2R, K=2": 2,
    }
    for method in ("Intrinsic", "A2R"):
        assert texts["ChatGPT, K=0"] == texts[f"{method}, K=1"][:1]
        assert texts[f"{method}, K=1"] == texts[f"{method}, K=2"][:2]


# ---------------------------------------------------------------- what is asked wrongly, or lacks something


def test_without_data_the_papers_figures_stand_beside_the_reason(table: Callable[..., Any]):
    made = table("calm_table4")
    (why,) = {row["why"] for row in made["rows"]}
    assert why.startswith("no dataset was named: --data eli5=PATH")
    assert "https://huggingface.co/datasets/princeton-nlp/ALCE-data" in why
    assert made["rows"][0]["paper"]["GPT-3.5-Turbo-1106"]["Average"] == 33.05


def test_a_member_that_nobody_named_is_told(table: Callable[..., Any], tmp_path: Path):
    made = table("calm_table5", "--data", f"qampari={tmp_path}/qampari.json", "--only", "tulu-2-dpo-7b")
    assert "--member tulu-2-dpo-7b=SPEC" in made["rows"][0]["why"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--data", "nq=x"), 2),
        (("--member", "gpt=x"), 2),
        (("--limit", "0"), 2),
        (("--set", "x"), 2),
        (("--data", "eli5=nowhere.json"), 3),
    ],
)
def test_wrong_words_end_with_their_exit_code(table: Callable[..., Any], options: tuple[str, ...], code: int):
    with pytest.raises(SystemExit) as ended:
        table("calm_table4", *options)
    assert ended.value.code == code


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "required: paper, name"),
        (["calm"], "required: name"),
        (["bert", "table2"], "invalid choice: 'bert'"),
        (["a2r", "table9"], "a2r has table3, table4, table5, not 'table9'"),
    ],
)
def test_a_paper_or_name_that_is_not_there_ends_with_those_that_are(
    experiment: Callable[[str], Any], words: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    assert experiment(WANTED[0])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module("run").main(words)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_the_readme_lists_every_experiment():
    listed = re.findall(r"^\| `(\w+) (\w+)` \|", (FOLDER / "README.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(map("_".join, listed)) == sorted(WANTED)


# ---------------------------------------------------------------- what is searched, and by what


def test_no_reproduction_follows_links_unless_told(experiment: Callable[[str], Any], tmp_path: Path):
    assert experiment(WANTED[0])
    bench = importlib.import_module("bench")
    works = importlib.import_module("frame").Answers("nq", "vtg")
    choices = {"data": {"nq": "nq.jsonl"}, "out": tmp_path}
    links = [
        bench.Bench(experiment("vtg_table1"), bench.Choices(**choices, settings=given)).request(works).options["links"]
        for given in ({}, {"links": True})
    ]
    assert links == [False, True]


@needs_data
def test_a_table_names_what_ranked_its_passages(table: Callable[..., Any]):
    made = table("vtg_table3", "--small", "--limit", "1", "--only", "w/o Memory", "--set", "bm25_k1=1.5")
    here = made["differs"]["passages"]["here"]
    assert "for questions and evidence, by BM25 (k1 1.5, b 0.75)" in here
    about = json.loads((Path(made["rows"][0]["folder"]) / "run.json").read_text("utf-8"))
    assert about["settings"]["links"] is False


@needs_data
def test_a_table_says_where_evidence_came_from_the_questions_own_passages(table: Callable[..., Any]):
    made = table("vtg_figure3", "--small", "--limit", "1", "--only", "M = 1")
    assert "evidence for claims is sought within them too, by BM25" in made["differs"]["passages"]["here"]
    assert "evidence for claims is sought within them too" in " ".join(made["text"].split())
