"""Self-RAG from segment to segment: its beam, what it tells, and whole answers."""

from __future__ import annotations

import asyncio
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table
from selfrag_parts import (
    CRITIC,
    LAST,
    LIT,
    MORE,
    QUESTION,
    A,
    B,
    C,
    Judge,
    Run,
    always,
    by_passage,
    in_turn,
    reply,
)
from transcripts import from_json

from toulmin.data import STYLES, Passage
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Driver, Job
from toulmin.driver.journal import to_json
from toulmin.driver.kit import Kit
from toulmin.errors import UsageError
from toulmin.extractive.writer import Extractive
from toulmin.formats import answer_json
from toulmin.methods.direct import vanilla
from toulmin.methods.selfrag import NO_ODDS, NO_TOKENS, self_rag
from toulmin.methods.vtg import vtg
from toulmin.prompts.reflection import NextSegment
from toulmin.prompts.replies import Reply
from toulmin.retrieval.bm25 import StaticRanking

# ---------------------------------------------------------------- segment after segment


def test_the_model_goes_on_from_what_it_wrote_with_its_tokens():
    run = always(in_turn({"A": MORE.format("One.")}, {"B": LAST.format("Two.")}))
    assert {prompt.written for prompt in run.prompts} == {"", "[Relevant]One.[Fully supported]"}


def test_each_segment_cites_its_own_passage():
    assert always(in_turn({"A": MORE.format("One.")}, {"B": LAST.format("Two.")})).claims == [
        ("One.", "A"),
        ("Two.", "B"),
    ]


def test_an_answer_is_complete_where_the_model_asks_for_no_further_search():
    run = always(in_turn({"A": LAST.format("One.")}, {"A": LAST.format("Never.")}))
    assert (run.claims, len(run.asked)) == ([("One.", "A")], 3)


def test_an_answer_is_complete_where_nothing_new_is_said():
    run = always(lambda p: MORE.format("One.") if p.passage == A else "")
    assert (run.claims, len(run.asked)) == ([("One.", "A")], 6)


GARDEN_PATH = (
    {"A": "[Relevant]First.[Fully supported][Retrieval]", "B": "[Relevant]Second.[Partially supported][Retrieval]"},
    {},
)


def garden_path(prompt: NextSegment) -> str:
    """The better beginning (A) goes on badly, the worse one (B) well."""
    if not prompt.written:
        return GARDEN_PATH[0].get(prompt.passage.title, "")
    if prompt.passage != C:
        return ""
    if "First" in prompt.written:
        return "[Irrelevant]Dead end.[No support / Contradictory][Utility:1]"
    return LAST.format("Well.")


@pytest.mark.parametrize(
    ("beam", "claims"), [(1, [("First.", "A"), ("Dead end.", "C")]), (2, [("Second.", "B"), ("Well.", "C")])]
)
def test_a_wider_beam_finds_what_a_greedy_choice_misses(beam: int, claims: list[tuple[str, str]]):
    assert always(garden_path, beam=beam).claims == claims


def test_answers_are_compared_by_the_mean_of_their_segments():
    run = always(garden_path)
    assert [told.scores["score"] for told in run.rounds("claim") if told.chosen] == [1.5, 2.5]


def test_a_finished_answer_stays_in_the_beam_beside_those_that_go_on():
    run = always(in_turn({"A": LAST.format("Done."), "B": MORE.format("Begun.")}, {"C": "[Irrelevant]Worse."}))
    assert run.claims == [("Done.", "A")]


def test_a_longer_answer_is_no_better_for_its_length():
    run = always(
        in_turn({"A": LAST.format("Done."), "B": MORE.format("Begun.")}, {"C": "[Relevant]More.[Fully supported]"})
    )
    assert run.claims == [("Done.", "A")]


def test_answers_that_read_the_same_are_one():
    run = always(in_turn({"A": MORE.format("One."), "B": MORE.format("One.")}, {"C": LAST.format("Two.")}))
    assert (run.claims, len(run.asked)) == ([("One.", "A"), ("Two.", "C")], 6)


def test_the_segments_end_at_their_most_with_a_note():
    run = always(lambda p: MORE.format(f"Sentence {p.written.count('.')} on {p.passage.title}."), max_segments=3)
    assert (len(run.claims), run.answer.notes[-1].startswith("max_segments ended the answer after 3")) == (3, True)


def test_the_calls_are_bounded_by_beam_and_passages():
    run = Run(lambda p: MORE.format(f"{p.written.count('.')} {p.passage.title}.") if p.passage else "[Retrieval]")
    assert run.answer.usage.calls == {"main": 1 + 3 + 6 * 2 * 3}


def test_all_segments_have_the_passages_of_one_search():
    run = always(in_turn({"A": MORE.format("One.")}, {"B": LAST.format("Two.")}))
    assert (run.corpus.asked, run.answer.usage.searches, len(run.rounds("search"))) == ([QUESTION], 1, 1)


def test_a_search_anew_takes_the_segment_before_along():
    run = always(in_turn({"A": MORE.format("One.")}, {"B": LAST.format("No."), "C": LAST.format("Two.")}), requery=True)
    assert (run.corpus.asked, run.claims) == ([QUESTION, f"{QUESTION} One."], [("One.", "A"), ("Two.", "C")])


def no_retrieval(search: float) -> Reply:
    odds = {"[No Retrieval]": 1 - search, "[Retrieval]": search}
    return reply("[Relevant]", "One.", "[Fully supported]", ("[No Retrieval]", odds), "Two.")


@pytest.mark.parametrize(
    ("retrieve", "search", "claims"),
    [
        ("adaptive", 0.1, [("One.", "A"), ("Two.", "")]),
        ("adaptive", 0.3, [("One.", "A"), ("Next.", "B")]),
        ("always", 0.1, [("One.", "A"), ("Next.", "B")]),
    ],
)
def test_no_retrieval_ends_a_segment_that_wants_search(retrieve: str, search: float, claims: list[tuple[str, str]]):
    def write(prompt: NextSegment) -> str | Reply:
        if prompt.passage is None:
            return "[Retrieval]"
        if not prompt.written:
            return no_retrieval(search) if prompt.passage == A else ""
        return LAST.format("Next.") if prompt.passage == B else ""

    assert Run(write, retrieve=retrieve).claims == claims


# ---------------------------------------------------------------- what is told


def test_each_segment_that_was_tried_is_a_round_with_its_passage():
    run = always(by_passage(A=LIT, B="[Irrelevant]Other."))
    assert [(told.read, told.text, told.chosen) for told in run.rounds("claim")] == [
        ((A.id,), "Lit in 1824.", True),
        ((B.id,), "Other.", False),
        ((C.id,), None, False),
    ]


def test_rounds_are_told_in_the_order_in_which_they_came():
    run = Run(in_turn({"A": MORE.format("One.")}, {"C": LAST.format("Two.")}), requery=True)
    assert [told.kind for told in run.answer.rounds] == [
        "assess",
        "search",
        *["claim"] * 3,
        "search",
        "claim",
        "verify",
    ]


def test_a_draft_is_shown_after_each_segment():
    run = always(in_turn({"A": MORE.format("One.")}, {"B": LAST.format("Two.")}))
    assert [len(draft.claims) for draft in run.drafts] == [1, 2]


def test_the_judge_has_the_last_word_on_each_claim():
    assert [claim.support.judge for claim in always(by_passage(A=LIT)).answer.claims] == ["oracle"]


def test_a_model_without_reflection_tokens_is_noted():
    run = Run(lambda p: "Lit in 1824." if p.passage else "Long ago.")
    assert (run.claims, run.answer.notes) == ([("Lit in 1824.", "A")], (NO_TOKENS,))


def test_tokens_without_probabilities_are_noted():
    assert always(by_passage(A=LIT)).answer.notes == (NO_ODDS,)


def test_nothing_is_noted_where_tokens_have_probabilities():
    assert always(by_passage(A=CRITIC)).answer.notes == ()


# ---------------------------------------------------------------- whole answers


@table("style", ["long", "list", "short", "report"])
@table("retrieve", ["adaptive", "always", "never"])
def test_the_embedded_writer_ends_in_a_valid_answer(style: str, retrieve: str):
    lit = Passage.of("The tower was lit on 3 May 1824 by Hannah Pell.", "Tower")
    kit = Kit(StaticRanking((lit,)), Judge(), {"main": Extractive()})
    program = lambda: self_rag("When was the tower lit?", style=style, retrieve=retrieve)  # noqa: E731
    answer = asyncio.run(Driver(kit).answer(Job(QUESTION, "self-rag", style, program))).answer
    assert answer.status == ("abstained" if retrieve == "never" else "answered")


def test_a_recorded_run_replays_to_the_same_answer():
    run = Run(garden_path)
    again = asyncio.run(Driver(Kit(StaticRanking(()), Judge(), {})).answer(run.job, replay=run.outcome.transcript))
    assert again.answer == run.answer


@pytest.mark.parametrize("method", [self_rag, vanilla, vtg])
def test_a_transcript_of_typed_replies_comes_back_from_its_file(method: Any):
    lit = Passage.of("The tower was lit on 3 May 1824 by Hannah Pell.", "Tower")
    job = Job(QUESTION, "any", "long", lambda: method(QUESTION))
    first = asyncio.run(Driver(Kit(StaticRanking((lit,)), Judge(), {"main": Extractive()})).answer(job))
    kept = from_json(to_json(first.transcript))
    assert asyncio.run(Driver(Kit(StaticRanking(()), Judge(), {})).answer(job, replay=kept)).answer == first.answer


def test_a_transcript_of_probabilities_comes_back_from_its_file():
    run = always(by_passage(A=CRITIC))
    kept = from_json(to_json(run.outcome.transcript))
    assert asyncio.run(Driver(Kit(StaticRanking(()), Judge(), {})).answer(run.job, replay=kept)).answer == run.answer


def test_the_same_replies_give_the_same_answer():
    assert [Run(garden_path).answer.claims for _ in range(2)] == [Run(garden_path).answer.claims] * 2


def test_the_answer_is_a_document():
    answer = Run(garden_path).answer
    assert answer_json.parse(answer_json.dumps(answer)).claims == answer.claims


@pytest.mark.parametrize("calls", range(1, 9))
def test_a_budget_is_never_exceeded(calls: int):
    run = Run(garden_path, budget=Budget(calls=calls))
    assert sum(run.answer.usage.calls.values()) <= calls


@pytest.mark.parametrize(
    "options",
    [
        {"k": 0},
        {"beam": 0},
        {"max_segments": 0},
        {"segment_tokens": 0},
        {"logprobs": 0},
        {"threshold": 1.5},
        {"relevance": -1},
        {"utility": float("nan")},
        {"retrieve": "sometimes"},
    ],
)
def test_a_value_that_means_nothing_is_an_error_that_names_it(options: dict[str, Any]):
    run = Run(by_passage(A=LIT), **options)
    assert isinstance(run.error, UsageError)
    assert next(iter(options)) in str(run.error)


PARTS = ["[No Retrieval]", "[Fully supported]", "[No support / Contradictory]", "[Continue to Use Evidence]"]
PARTS += "[Retrieval] [Relevant] [Irrelevant] [Utility:1] [Utility:5] </s> [".split()
REPLIES = st.lists(st.sampled_from([*PARTS, "Lit. ", "Built [2]. ", "x", "\n"]), max_size=8).map("".join)


@given(
    st.lists(REPLIES, min_size=1, max_size=12),
    st.sampled_from(["adaptive", "always", "never"]),
    st.sampled_from(STYLES),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
)
@settings(deadline=None, max_examples=80)
def test_every_reply_gives_valid_answer_citing_read_passages(
    replies: list[str], retrieve: str, style: str, beam: int, requery: bool, hard: bool
):
    said = cycle(replies)
    run = Run(lambda _: next(said), retrieve=retrieve, style=style, beam=beam, requery=requery, hard=hard)
    read = {id for told in run.rounds("search") for id in told.read}
    assert run.error is None
    assert {id for claim in run.answer.claims for id in claim.cited} <= read
    assert run.answer.usage.calls.get("main", 0) <= 1 + 3 + 6 * beam * 3
