"""What the figures of the simulation rest on: how an answer is held against the known truth, and the intervals."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simulations.truth import Fact
from toulmin.data import Answer, Citation, Claim, Passage

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"

LIT = Passage.of("The tower was lit for the first time in 1824.", "Kettle Rock")
BUILT = Passage.of("The tower was built by Hannah Pell.", "Kettle Rock")
OTHER = Passage.of("Three keepers swam every day.", "Keepers")
READ = (LIT, BUILT, OTHER)


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of `benchmarks/`, whose scripts import each other by their bare names."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


@pytest.fixture
def score(benchmark: Any) -> Any:
    """Scores claims, each a text and the passages that it cites, under a kind of question."""
    gold, scoring = benchmark("gold"), benchmark("scoring")

    def scored(*claims: tuple[str, Sequence[Passage]], kind: str = "short", status: str = "") -> Any:
        facts = {
            "short": (Fact(LIT.text, ("1824",)),),
            "long": (Fact(LIT.text), Fact(BUILT.text)),
            "unanswerable": (),
        }
        question = gold.Question("q", "When was the tower lit?", kind, facts[kind])
        made = tuple(Claim(text, tuple(Citation(passage.id) for passage in cited)) for text, cited in claims)
        outcome: Any = status or ("answered" if made else "abstained")
        notes = ("why",) if outcome == "failed" else ()
        return scoring.score(question, Answer("", "long", "m", outcome, made, READ, notes=notes))

    return scored


TRUE, FALSE = LIT.text, "The tower was lit for the first time in 1842."


def test_a_true_claim_cited_rightly_scores_all(score: Any):
    found = score((TRUE, [LIT]))
    assert (found.recall, found.precision, found.f1, found.correctness) == (1, 1, 1, 1)


def test_a_wrong_citation_costs_recall_and_not_correctness(score: Any):
    found = score((TRUE, [OTHER]))
    assert (found.recall, found.precision, found.correctness) == (0, 0, 1)


def test_a_superfluous_citation_costs_precision_alone(score: Any):
    found = score((TRUE, [LIT, OTHER]))
    assert (found.recall, found.precision) == (1, 0.5)


def test_a_missing_citation_costs_recall_alone(score: Any):
    found = score((TRUE, [LIT]), (BUILT.text, []))
    assert (found.recall, found.precision) == (0.5, 1)


def test_an_altered_claim_is_neither_supported_nor_correct(score: Any):
    found = score((FALSE, [LIT]))
    assert (found.f1, found.correctness) == (0, 0)


def test_true_sentence_off_topic_is_cited_but_answers_nothing(score: Any):
    found = score((OTHER.text, [OTHER]))
    assert (found.f1, found.correctness) == (1, 0)


def test_a_long_answer_is_as_correct_as_the_share_of_facts_it_tells(score: Any):
    assert score((TRUE, []), kind="long").correctness == 0.5


def test_an_abstention_scores_nothing_where_there_is_an_answer(score: Any):
    found = score()
    assert (found.recall, found.precision, found.f1, found.correctness) == (0, 0, 0, 0)


def test_an_abstention_scores_all_where_there_is_none(score: Any):
    found = score(kind="unanswerable")
    assert (found.f1, found.correctness, found.abstained) == (1, 1, True)


def test_an_answer_where_there_is_none_is_incorrect(score: Any):
    assert score((OTHER.text, [OTHER]), kind="unanswerable").correctness == 0


def test_a_failed_answer_is_no_abstention(score: Any):
    assert score(kind="unanswerable", status="failed").f1 == 0


def test_an_interval_holds_its_mean(benchmark: Any):
    found = benchmark("intervals").interval([0.0, 1.0] * 50)
    assert found.low < found.mean == 0.5 < found.high


def test_an_interval_is_about_as_wide_as_the_normal_one(benchmark: Any):
    found = benchmark("intervals").interval([0.0, 1.0] * 50)
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.05, rel=0.05)


def test_a_difference_is_paired(benchmark: Any):
    values = [n % 7 / 7 for n in range(100)]
    found = benchmark("intervals").difference([value + 0.1 for value in values], values)
    assert (found.low, found.high) == (pytest.approx(0.1), pytest.approx(0.1))


def test_an_answer_stands_in_a_sentence_as_whole_words(benchmark: Any):
    is_in = benchmark("gold").is_in
    assert (is_in("no", "He is not known."), is_in("The Tower", "a tower, tall")) == (False, True)


# ---------------------------------------------------------------- what was wanted


@pytest.fixture
def lines(benchmark: Any, score: Any) -> Any:
    """Lines of the methods table by name, each with an F1, the same correctness for all, and a number of calls."""
    lines, simulation = benchmark("lines"), benchmark("simulation")

    def made(**methods: tuple[Sequence[float], int]) -> dict[str, Any]:
        def line(name: str, f1: Sequence[float], calls: int) -> Any:
            scores = tuple(replace(score((TRUE, [LIT])), f1=value, calls={"main": calls}) for value in f1)
            row = simulation.Row(name, name)
            return lines.Line("faults at 30%", row, (simulation.Run(row, scores),))

        return {name: line(name, *given) for name, given in methods.items()}

    return made


LOW, HIGH = [0.1, 0.2, 0.3] * 20, [0.7, 0.8, 0.9] * 20


@pytest.mark.parametrize(("best", "holds"), [(HIGH, True), (LOW, False)])
def test_best_is_held_against_its_strongest_rival(benchmark: Any, lines: Any, best: list[float], holds: bool):
    rivals = benchmark("wanted").rivals("faults at 30%", lines(best=(best, 1), vtg=([0.5] * 60, 6), usc=(LOW, 9)))
    told = next(line for line in rivals if "vtg, the strongest (F1)" in line)
    assert told.endswith("DOES NOT HOLD") is not holds


def test_every_rival_to_which_best_loses_is_named(benchmark: Any, lines: Any):
    rivals = benchmark("wanted").rivals("faults", lines(best=(LOW, 1), vtg=([0.5] * 60, 6), usc=(HIGH, 9)))
    assert sum("DOES NOT HOLD" in line for line in rivals) == 2


@pytest.mark.parametrize(("calls", "holds"), [(3, True), (4, False)])
def test_best_may_make_half_of_the_calls_of_vtg(benchmark: Any, lines: Any, calls: int, holds: bool):
    *_, told = benchmark("wanted").rivals("faults", lines(best=(HIGH, calls), vtg=(LOW, 6)))
    assert told.endswith("DOES NOT HOLD") is not holds


def test_every_method_that_loses_where_nothing_is_wrong_is_named(benchmark: Any, lines: Any):
    given = {"vanilla": (HIGH, 1), "vtg": (LOW, 6), "usc": (HIGH, 9)}
    told = [line for line in benchmark("wanted").losses(lines(**given)) if "DOES NOT HOLD" in line]
    assert [line.split()[2] for line in told] == ["vtg"]
