"""Sources that disagree: the claim is disputed, both are named, the newer one is known, a strict check fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from shared_parts import run

import toulmin
from toulmin.data import Answer, Citation, Claim, Metadata, Passage, Quote, Source, Support
from toulmin.errors import BudgetEnded
from toulmin.formats import answer_json
from toulmin.formats.answer_reading import read_answer
from toulmin.methods.disputes import note_disputes
from toulmin.steps import Entail, Verdict

OLD, NEW = "The daily allowance for meals is 40 euros.", "The daily allowance for meals is 55 euros."
AGAINST = Verdict("contradicted", 0.1, 0.8, "a judge", (Quote(0, len(NEW), NEW),))
OPEN = Verdict("unsupported", 0.2, 0.3, "a judge", (None,))


def passage(text: str, title: str, date: str = "", *, is_file_date: bool = False) -> Passage:
    about = Metadata(date=date, is_file_date=is_file_date)
    return Passage.of(text, title, Source(0, len(text), f"{title}.md", metadata=about))


def answer_of(*passages: Passage, text: str = OLD, style: Any = "long") -> Answer:
    first = passages[0].id
    claim = Claim(text, (Citation(first),), Support("supported", 0.98, "a judge", (first,)))
    return Answer("How much?", style, "best", "answered", passages=passages, claims=(claim,))


def noted(answer: Answer, *verdicts: Verdict) -> Answer:
    """With these verdicts on the other passages."""
    program, asked = note_disputes(answer), 0
    try:
        step = next(program)
        while True:
            assert isinstance(step, Entail)
            asked += len(step.pairs)
            step = program.send(verdicts)
    except StopIteration as end:
        assert asked == len(verdicts)
        return end.value


def test_a_claim_that_another_passage_contradicts_is_disputed_and_both_are_its_evidence():
    old, new = passage(OLD, "Policy of 2022", "2022-02-01"), passage(NEW, "Policy of 2025", "2025-01-15")
    made = noted(answer_of(old, new), AGAINST)
    support = made.claims[0].support
    assert support is not None
    assert (support.label, support.score, support.evidence) == ("disputed", 0.98, (old.id, new.id))
    assert support.reason == f"“Policy of 2025” (2025-01-15, newer) says “{NEW}”"
    assert not made.claims[0].is_supported
    assert read_answer(answer_json.dumps(made)).claims == made.claims


@pytest.mark.parametrize(
    ("ours", "theirs", "age"),
    [
        ({"date": "2025"}, {"date": "2022"}, " (2022, older)"),
        ({"date": "2025"}, {"date": "2025"}, ""),
        ({}, {"date": "2022"}, ""),
        ({"date": "2022", "is_file_date": True}, {"date": "2025"}, ""),
    ],
)
def test_an_age_is_told_only_where_both_documents_state_their_dates(
    ours: dict[str, Any], theirs: dict[str, Any], age: str
):
    made = noted(answer_of(passage(OLD, "Rules 1", **ours), passage(NEW, "Rules 2", **theirs)), AGAINST)
    assert made.claims[0].support is not None
    assert made.claims[0].support.reason == f"“Rules 2”{age} says “{NEW}”"


def test_what_is_left_open_or_says_the_same_disputes_nothing():
    answer = answer_of(passage(OLD, "Rules 1"), passage(NEW, "Rules 2"))
    assert noted(answer, OPEN) == answer


@pytest.mark.parametrize(
    "others",
    [
        (passage("Hotels cost up to 120 euros a night.", "About something else"),),
        (passage(f"{OLD} Receipts are kept.", "Rules 2"),),
        (passage(NEW, "Leaflet"),),  # perhaps of another firm
        (),
    ],
)
def test_passages_about_something_else_and_copies_are_not_judged(others: tuple[Passage, ...]):
    answer = answer_of(passage(OLD, "Rules 1"), *others)
    assert noted(answer) == answer


@pytest.mark.parametrize(
    ("theirs", "title", "is_judged"),
    [
        ("Meals: the daily allowance is 55 euros.", "Rules 2", True),  # an edition says it in its own words
        ("Meals: the daily allowance is 55 euros.", "Rules on travel", False),
        (NEW, "Rules on travel", True),  # like titles, and sentences that begin so
    ],
)
def test_sentences_on_one_thing_are_judged(theirs: str, title: str, is_judged: bool):
    answer = answer_of(passage(OLD, "Rules 1"), passage(theirs, title))
    assert noted(answer, *([OPEN] if is_judged else ())) == answer


@pytest.mark.parametrize(("named", "is_judged"), [("Gannet Point", True), ("Rowan Head", False)])
def test_a_document_with_another_title_is_heard_on_what_has_a_name(named: str, is_judged: bool):
    text = "The lighthouse on Gannet Point stands 38 metres tall."
    theirs = passage(f"From base to lantern the lighthouse on {named} stands 31 metres tall.", "Guide to the harbour")
    answer = answer_of(passage(text, "Museum leaflet"), theirs, text=text)
    assert noted(answer, *([OPEN] if is_judged else ())) == answer


@pytest.mark.parametrize(("room", "is_judged"), [("Room 12", True), ("Room 21", False)])
def test_another_number_is_another_thing(room: str, is_judged: bool):
    text = "Room 12 of the centre seats 80 people in rows."
    theirs = passage(f"{room} of the centre seats 45 people in rows.", "Room list 2024")
    answer = answer_of(passage(text, "Room list 2022"), theirs, text=text)
    assert noted(answer, *([OPEN] if is_judged else ())) == answer


@pytest.mark.parametrize(("question", "is_judged"), [("How much?", True), ("How much at Rowan Head?", False)])
def test_a_passage_without_what_the_question_names_is_not_judged(question: str, is_judged: bool):
    answer = replace(answer_of(passage(OLD, "Rules 1"), passage(NEW, "Rules 2")), question=question)
    assert noted(answer, *([OPEN] if is_judged else ())) == answer


def test_of_an_answer_only_the_first_passages_are_heard_and_of_a_check_all():
    between = [passage(f"Hotels, note {n}.", f"Note {n}") for n in range(9)]
    answer = answer_of(passage(OLD, "Rules 1"), *between, passage(NEW, "Rules 2"))
    assert noted(answer) == answer
    assert noted(replace(answer, question=""), OPEN).claims == answer.claims


def test_a_budget_that_ends_in_the_comparison_leaves_the_answer_whole():
    answer = answer_of(passage(OLD, "Rules 1"), passage(NEW, "Rules 2"))
    program = note_disputes(answer)
    next(program)
    with pytest.raises(StopIteration) as end:
        program.throw(BudgetEnded("The deadline has passed."))
    assert end.value.value == answer


def test_a_sentence_that_leans_on_another_is_not_compared():
    text = "It has a daily allowance for meals of 40 euros."
    answer = answer_of(passage(text, "Rules 1"), passage(text.replace("40", "55"), "Rules 2"), text=text)
    assert noted(answer) == answer


def test_entities_of_a_list_are_not_compared():
    answer = answer_of(passage(OLD, "Rules 1"), passage(NEW, "Rules 2"), style="list")
    assert noted(answer) == answer


# ---------------------------------------------------------------- from the folder to the exit code


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    for year, euros in ((2022, 40), (2025, 55)):
        head = f"---\ntitle: Travel policy {year}\ndate: {year}-02-01\n---\n# Travel policy {year}\n\n"
        text = f"The daily allowance for meals on business trips is {euros} euros. Receipts are not needed."
        (tmp_path / f"policy_{year}.md").write_text(head + text, "utf-8")
    return tmp_path


def test_an_answer_from_sources_that_disagree_says_so(policies: Path):
    answer = toulmin.ask("What is the daily allowance for meals on business trips?", docs=policies)
    labels = {claim.text: claim.support.label for claim in answer.claims if claim.support}
    assert "disputed" in labels.values()
    assert labels.get("Receipts are not needed.", "supported") == "supported"
    assert "[disputed]" in answer.text


@pytest.mark.parametrize(("options", "code"), [(["--strict"], 6), (["--fail-on", "disputed"], 6), ([], 0)])
def test_a_strict_check_fails_on_a_dispute(
    policies: Path, tmp_path_factory: pytest.TempPathFactory, options: list[str], code: int
):
    text = tmp_path_factory.mktemp("text") / "claim.txt"
    text.write_text("The daily allowance for meals on business trips is 40 euros.", "utf-8")
    assert run("check", str(text), "--docs", str(policies), *options) == code
