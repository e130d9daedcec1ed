"""Scores, comparisons, exports and made test sets, through the verbs and the command line."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from dialect_checks import problems

import toulmin
from toulmin.build.study import Without
from toulmin.cli import run as command
from toulmin.data import Passage, Source
from toulmin.errors import ModelError, SourceError, UsageError
from toulmin.evaluation.running import Limits
from toulmin.evaluation.scores import current_scores, digest, read_scorable
from toulmin.retrieval.bm25 import InMemory
from toulmin.steps import Pair, Verdict

YEARS = {"North": 1821, "South": 1834, "East": 1850, "West": 1866, "Old": 1790, "New": 1911}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Questions about towers, with passages of their own and, for ALCE, a reference answer each."""
    rows = [
        {
            "id": name,
            "question": f"When was the {name} Tower lit?",
            "style": "long",
            "qa_pairs": [{"question": f"When was the {name} Tower lit?", "short_answers": [str(year)]}],
            "references": [f"The {name} Tower was lit in {year}."],
            "docs": [
                {"title": f"{name} Tower", "text": f"The {name} Tower was lit in {year}. It stands on a rock."},
                {"title": "Lamps", "text": "Lamps of towers burn oil."},
            ],
        }
        for name, year in YEARS.items()
    ]
    file = tmp_path / "towers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


@pytest.fixture
def run(dataset: Path, tmp_path: Path) -> Path:
    toulmin.run(dataset, out=tmp_path / "a", method="vanilla")
    return tmp_path / "a"


class Strict:
    """A judge that counts what it is asked, and fails at what it is told to fail at."""

    name = "strict"
    key = "strict"

    def __init__(self, failing: str | None = None) -> None:
        self.asked, self.failing = 0, failing

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Support where the claim's last word stands in a premise."""
        self.asked += len(pairs)
        return [self._verdict(pair) for pair in pairs]

    def _verdict(self, pair: Pair) -> Verdict:
        if self.failing is not None and self.failing in pair.claim:
            raise ModelError("The judge is away.")
        held = pair.claim.split()[-1].strip(".") in " ".join(p.text for p in pair.premises)
        return Verdict("supported" if held else "unsupported", float(held), 0.0, self.name)


def reasons(run: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / name).read_text("utf-8").splitlines()]


# ---------------------------------------------------------------- scores


def test_a_score_has_the_form_that_the_contract_names(run: Path):
    score = toulmin.score(run)
    assert (score["profile"], score["judge"], score["n"], score["failed"]) == ("honest", "lexical-3", 6, 0)
    assert {"str_em", "rougeLsum", "citation_rec", "citation_prec", "length"} <= score["metrics"].keys()
    assert set(score["metrics"]["str_em"]) >= {"value", "low", "high", "n"}


def test_scores_of_profiles_and_judges_stand_side_by_side(run: Path):
    for profile in ("honest", "alce"):
        toulmin.score(run, profile=profile)
    toulmin.score(run, judge="none")
    toulmin.score(run)
    kept = json.loads((run / "scores.json").read_text("utf-8"))["scores"]
    found = {(one["profile"], one["judge"]) for one in kept}
    assert found == {("honest", "lexical-3"), ("alce", "lexical-3"), ("honest", None)}
    assert len(kept) == 3


def test_every_question_has_its_values_and_why(run: Path):
    score = toulmin.score(run)
    rows = reasons(run, "reasons-honest-lexical-3.jsonl")
    assert [row["id"] for row in rows] == list(YEARS)
    mean = sum(row["values"]["citation_rec"] for row in rows) / len(rows)
    assert score["metrics"]["citation_rec"]["value"] == pytest.approx(100 * mean)
    assert {"text", "outcome", "citations"} <= rows[0]["statements"][0].keys()


def test_without_a_judge_the_citation_metrics_are_left_out_by_name(run: Path):
    score = toulmin.score(run, judge="none")
    assert "citation_rec" not in score["metrics"]
    assert any("Citation metrics are left out" in note for note in score["notes"])


def test_the_same_run_has_the_same_digits(run: Path):
    assert toulmin.score(run, memo=False) == toulmin.score(run, memo=False)


def test_verdicts_are_kept_for_another_time(run: Path, tmp_path: Path):
    first, second = Strict(), Strict()
    before = toulmin.score(run, judge=first, memo=tmp_path / "memo.sqlite")
    assert toulmin.score(run, judge=second, memo=tmp_path / "memo.sqlite") == before
    assert first.asked > 0
    assert second.asked == 0


def test_a_judgement_that_fails_leaves_its_question_out_and_counts_it(run: Path):
    score = toulmin.score(run, judge=Strict(failing="East"), memo=False)
    assert score["failed"] == 1
    assert score["metrics"]["citation_rec"]["n"] == 5
    assert not any(math.isnan(one["value"] or 0) for one in score["metrics"].values())


def test_a_judge_that_fails_at_every_pair_scores_nothing(run: Path):
    with pytest.raises(ModelError, match=r"strict returned no verdict.*The judge is away\."):
        toulmin.score(run, judge=Strict(failing=""), memo=False)
    assert not (run / "scores.json").exists()


@pytest.mark.parametrize("other", ["strict_1", "strict/" + "1" * 90])
def test_judges_with_similar_names_keep_separate_reasons(run: Path, other: str):
    name = "strict/1" if other == "strict_1" else other + "2"
    for one in (name, other):
        judge = Strict()
        judge.name = one
        toulmin.score(run, judge=judge, memo=False)
    both = current_scores(run, 6, digest(read_scorable(run)))
    told = [{statement["judge"] for row in kept.reasons for statement in row["statements"]} for kept in both]
    assert told == [{name}, {other}]


def test_empty_answers_are_listed_where_they_count(tmp_path: Path):
    file = tmp_path / "given.json"
    items = [{"id": name, "question": "Which?", "docs": [], "output": text} for name, text in (("a", ""), ("b", "So."))]
    file.write_text(json.dumps({"data": items}), "utf-8")
    score = toulmin.score(file, memo=False)
    assert "1 empty answers count as 0 in the citation metrics." in score["notes"]
    assert [row.get("absence") for row in reasons(tmp_path, "given.json.reasons-honest-lexical-3.jsonl")] == [
        "empty",
        None,
    ]


def test_several_seeds_are_scored_one_by_one_and_together(dataset: Path, tmp_path: Path):
    toulmin.run(dataset, out=tmp_path / "s", method="vanilla", seeds=(1, 2))
    score = toulmin.score(tmp_path / "s")
    assert (score["n"], score["metrics"]["str_em"]["n"]) == (6, 6)
    assert (tmp_path / "s" / "scores.json").is_file()
    assert (tmp_path / "s" / "seed-2" / "scores.json").is_file()


def test_a_result_file_of_alce_is_scored_beside_itself(tmp_path: Path):
    docs = [{"title": "Tower", "text": "The tower was lit in 1821."}]
    item = {"question": "When?", "qa_pairs": [{"question": "When?", "short_answers": ["1821"]}], "docs": docs}
    annotations = [{"long_answer": "In 1821."}] * 2
    entry = {**item, "annotations": annotations, "answer": "In 1821.", "output": "The tower was lit in 1821 [1]."}
    file = tmp_path / "result.json"
    file.write_text(json.dumps({"args": {}, "data": [entry]}), "utf-8")
    score = toulmin.score(file, profile="alce")
    assert score["metrics"]["str_em"]["value"] == 100.0
    assert score["metrics"]["citation_rec"]["value"] == 100.0
    assert (tmp_path / "result.json.scores.json").is_file()


def test_a_run_that_has_not_ended_says_how_much_is_missing(dataset: Path, tmp_path: Path):
    class Away:
        name, concurrency = "away", 1

        def generate(self, requests: Sequence[Any]) -> Any:
            raise ModelError("The server is away.")

    limits = Limits(failures=2)
    toulmin.run(dataset, out=tmp_path / "a", method="vanilla", model=Away(), limits=limits, concurrency=1)
    score = toulmin.score(tmp_path / "a")
    assert any("have no answer yet" in note for note in score["notes"])
    assert score["metrics"]["failed"]["value"] == 100.0


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"profile": "fair"}, UsageError),
        ({"judge": "lexicle"}, UsageError),
        pytest.param({"judge": "seq2seq:nowhere"}, ModelError, marks=pytest.mark.slow),  # loads torch
    ],
    ids=["profile", "judge", "model"],
)
def test_a_score_by_nobody_is_refused(run: Path, change: dict[str, Any], error: type[Exception]):
    with pytest.raises(error):
        toulmin.score(run, **change)


def test_what_is_no_run_is_told(tmp_path: Path):
    with pytest.raises(SourceError, match="should be a run folder"):
        toulmin.score(tmp_path)


# ---------------------------------------------------------------- comparison


@pytest.fixture
def other(dataset: Path, tmp_path: Path) -> Path:
    toulmin.run(dataset, out=tmp_path / "b", method="vanilla", k=1)
    return tmp_path / "b"


def test_a_comparison_is_of_the_same_questions(run: Path, other: Path):
    found = toulmin.compare(run, other)
    assert [one["name"] for one in found["runs"]] == ["a", "b"]
    between = found["differences"][0]
    assert (between["run"], between["than"], between["judge"]) == ("b", "a", "lexical-3")
    assert set(between["metrics"]["length"]) == {"difference", "low", "high", "probability", "n"}


def test_a_comparison_takes_the_scores_that_all_runs_have(run: Path, other: Path):
    judge = Strict()
    toulmin.score(run, judge=judge, memo=False)
    toulmin.score(other, judge=judge, memo=False)
    asked = judge.asked
    found = toulmin.compare(run, other)
    assert [one["judge"] for one in found["differences"]] == ["strict"]
    assert judge.asked == asked


def test_a_score_of_fewer_answers_is_out_of_date(dataset: Path, tmp_path: Path, other: Path):
    toulmin.run(dataset, out=tmp_path / "c", method="vanilla", limit=3)
    toulmin.score(tmp_path / "c")
    toulmin.run(dataset, out=tmp_path / "c", method="vanilla")
    found = toulmin.compare(tmp_path / "c", other)
    assert found["runs"][0]["scores"][0]["n"] == 6


def test_runs_over_other_questions_cannot_be_compared(run: Path, tmp_path: Path):
    docs = [{"title": "T", "text": "In 1."}]
    line = {"id": "z", "question": "When?", "answers": ["1"], "style": "long", "docs": docs}
    (tmp_path / "z.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    toulmin.run(tmp_path / "z.jsonl", out=tmp_path / "z", method="vanilla")
    with pytest.raises(UsageError, match="share no question"):
        toulmin.compare(run, tmp_path / "z")


def test_models_of_one_name_are_told_apart(run: Path, other: Path):
    for place, key in ((run, "weights a"), (other, "weights b")):
        judge = Strict()
        judge.key = key
        toulmin.score(place, judge=judge, memo=False)
    assert any("scored by different models" in note for note in toulmin.compare(run, other)["notes"])


def test_one_run_is_no_comparison(run: Path):
    with pytest.raises(UsageError, match="two runs or more"):
        toulmin.compare(run)


def test_the_same_run_twice_is_no_comparison(run: Path):
    with pytest.raises(UsageError, match="named twice"):
        toulmin.compare(run, run)


def test_the_report_and_its_plots_are_written(run: Path, other: Path, tmp_path: Path):
    toulmin.compare(run, other, html=tmp_path / "out" / "report.html", plots=tmp_path / "plots")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "Content-Security-Policy" in page
    assert "North Tower" in page
    assert {path.suffix for path in (tmp_path / "plots").iterdir()} == {".svg", ".png"}


# ---------------------------------------------------------------- export, test sets


@pytest.mark.parametrize("dialect", ["alce", "trec24", "trec25", "openai", "anthropic"])
def test_a_run_is_exported_in_every_dialect(run: Path, dialect: str):
    made = toulmin.export(run, dialect)
    assert problems(dialect, made.files[0].read_bytes()) == []


def test_the_alce_export_scores_as_the_run_does(dataset: Path, run: Path, tmp_path: Path):
    file = toulmin.export(run, "alce", out=tmp_path / "exported.json").files[0]
    ours, theirs = (toulmin.score(place, profile="alce")["metrics"] for place in (run, file))
    assert {name: one["value"] for name, one in theirs.items()} == {name: one["value"] for name, one in ours.items()}


def test_an_unknown_dialect_names_near_ones(run: Path):
    with pytest.raises(UsageError, match="Did you mean"):
        toulmin.export(run, "trec26")


@pytest.fixture
def dated(notes: Path) -> Path:
    (notes / "lamp.txt").write_text("Kettle Rock Tower was opened in 1824. Kettle Rock Tower was closed in 1978.")
    return notes


def test_a_test_set_made_of_a_folder_can_be_run_over_it(dated: Path, tmp_path: Path):
    report = toulmin.questions(dated, out=tmp_path / "q.jsonl", n=5)
    assert report.total >= 1
    done = toulmin.run(tmp_path / "q.jsonl", out=tmp_path / "r", docs=dated, method="vanilla")
    assert done.progress.done == report.total
    assert "em" in toulmin.score(tmp_path / "r")["metrics"]


def test_a_test_set_can_be_made_of_an_index(dated: Path, tmp_path: Path):
    toulmin.index(dated, into=tmp_path / "library")
    toulmin.questions(tmp_path / "library", out=tmp_path / "a.jsonl", n=5)
    toulmin.questions(dated, out=tmp_path / "b.jsonl", n=5)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_documents_that_nothing_can_be_asked_of_are_told(tmp_path: Path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "list.txt").write_text("milk, eggs, bread", "utf-8")
    with pytest.raises(SourceError, match="No question could be made"):
        toulmin.questions(tmp_path / "notes", out=tmp_path / "q.jsonl")


# ---------------------------------------------------------------- withheld passages


def test_more_is_searched_until_enough_is_left():
    texts = [f"The tower stands, says line {n}." for n in range(30)]
    passages = [Passage.of(text, "T", Source(0, len(text), record=str(n % 3))) for n, text in enumerate(texts)]
    found = asyncio.run(Without(InMemory(passages), {"0"}).search(["tower"], 15))[0]
    assert len(found) == 15
    assert all(hit.passage.source.record != "0" for hit in found)


# ---------------------------------------------------------------- the command line


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_lead_from_a_dataset_to_a_report(dataset: Path, place: Path, capsys: pytest.CaptureFixture[str]):
    for out, k in (("a", "2"), ("b", "1")):
        assert command(["run", str(dataset), "--out", out, "--method", "vanilla", "--k", k]) == 0
    assert command(["score", "a"]) == 0
    assert "citation_rec" in capsys.readouterr().out
    assert command(["compare", "a", "b", "--html", "r.html"]) == 0
    assert "real" in capsys.readouterr().out
    assert command(["export", "a", "--as", "openai"]) == 0
    assert (place / "r.html").is_file()
    assert (place / "a" / "openai.jsonl").is_file()


COMMANDS = [["run", "DATA", "--out", "a"], ["score", "a"], ["compare", "a", "b"]]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_json_prints_one_document_and_nothing_else(
    words: list[str], dataset: Path, place: Path, capsys: pytest.CaptureFixture[str]
):
    for out, k in (("a", "2"), ("b", "1")):
        assert command(["run", str(dataset), "--out", out, "--method", "vanilla", "--k", k]) == 0
    capsys.readouterr()
    given = [str(dataset) if word == "DATA" else word for word in words]
    more = ["--method", "vanilla", "--k", "2"] if words[0] == "run" else []
    assert command([*given, *more, "--json"]) == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


def test_a_run_that_stopped_early_leaves_with_the_code_of_its_reason(
    dataset: Path, place: Path, capsys: pytest.CaptureFixture[str]
):
    given = ["run", str(dataset), "--out", "a", "--method", "vanilla", "--stop-calls", "2", "--concurrency", "1"]
    assert command(given) == 5
    assert "are left" in capsys.readouterr().out
    assert command(given[:-4]) == 0


def test_preferences_need_a_person(run: Path, other: Path, capsys: pytest.CaptureFixture[str]):
    assert command(["prefer", str(run), str(other)]) == 2
    assert "needs a terminal" in capsys.readouterr().err
    assert command(["prefer", str(run), str(other), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 0


def test_a_judge_that_is_away_ends_the_scoring(dataset: Path, tmp_path: Path):
    rows = [json.loads(line) for line in dataset.read_text("utf-8").splitlines()]
    many = [{**row, "id": f"{row['id']}{n}", "question": f"{row['question']} {n}"} for n in range(5) for row in rows]
    docs = [[{**doc, "text": f"{doc['text']} Line {n}."} for doc in row["docs"]] for n, row in enumerate(many)]
    lines = (json.dumps({**row, "docs": own}) + "\n" for row, own in zip(many, docs, strict=True))
    (tmp_path / "many.jsonl").write_text("".join(lines), "utf-8")
    toulmin.run(tmp_path / "many.jsonl", out=tmp_path / "m", method="vanilla")
    with pytest.raises(ModelError, match=r"failed for all .* pairs of a batch"):
        toulmin.score(tmp_path / "m", judge=Strict(failing=""), memo=False)
