"""What holds of `best` whatever models reply, judges say and budgets allow; and from end to end with real parts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulations.chance import ChanceJudge
from simulations.faulty import Faulty
from simulations.truth import Fact
from toulmin.data import Answer, Label, Passage, Style
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Driver, Job, Outcome
from toulmin.driver.kit import Judge, Kit, LanguageModel
from toulmin.errors import ModelError
from toulmin.extractive.writer import Extractive
from toulmin.formats import answer_json
from toulmin.judges.lexical import Lexical
from toulmin.methods.best import best
from toulmin.methods.reporting import rescue_draft
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.retrieval.bm25 import InMemory
from toulmin.steps import Generate, Pair
from toulmin.verify import hypothesis

QUESTION = "Who built the tower of Hull, and when?"
TRUE = [
    "Hannah Pell built the tower of Hull in 1824.",
    "The tower of Hull was lit by whale oil until 1861.",
    "Storms broke over the harbour of Hull in 1830.",
    "The keepers of Hull watched the lamp at night.",
]
PASSAGES = [Passage.of(f"It is told often. {text} No more is known.", f"Hull {n}") for n, text in enumerate(TRUE)]
FALSE = [
    "Hannah Pell built the tower of Hull in 1842.",
    "Nobody ever lived in Hull.",
    "The lamp was sold to Ned Marsh.",
]
# Half of it stands in a passage: the lexical judge is unsure of such things.
HALF = "Hannah Pell built the tower of Hull in 1824 with money that she had borrowed from sailors."

SENTENCES = st.builds(
    lambda text, marks: f"{text[:-1]} {''.join(f'[{n}]' for n in marks)}.",
    st.sampled_from([*TRUE, *FALSE, HALF]),
    st.lists(st.integers(0, 6), max_size=3),
)
ODD = [
    "",
    "END",
    "1. Life: a\n2. Work: b",
    "The sources do not say.",
    "…",
    "[1][2]",
    "{}",
    "red [1], blue [2]",
    "- a\n- b",
]
REPLIES = st.one_of(
    st.lists(SENTENCES, max_size=4).map(" ".join),
    st.sampled_from(ODD),
    st.text(max_size=40),
    st.integers(0, 3).map(lambda n: Reply(f"{TRUE[0][:-1]} [{n}].", omitted=n)),
    st.just(ModelError("The model is down.")),
)
STYLES: list[Style] = ["long", "long", "list", "short", "report"]
OPTIONS = st.fixed_dictionaries(
    {
        "style": st.sampled_from(STYLES),
        "k": st.integers(1, 3),
        "max_rounds": st.integers(0, 3),
        "contrast": st.booleans(),
        "doubt_to": st.sampled_from([0.65, 1.0]),
        "unsupported": st.sampled_from(["keep", "flag", "drop"]),
    }
)
BUDGETS = st.one_of(
    st.sampled_from([Budget(), Budget(seconds=1e-9)]),
    st.integers(1, 7).map(lambda calls: Budget(calls=calls)),
    st.integers(1, 2_000).map(lambda tokens: Budget(tokens=tokens)),
)


def model(replies: Sequence[Any]) -> LanguageModel:
    """Gives the replies in turn, over and over; an exception is raised."""
    asked = iter(range(10**6))

    def write(_: Generate) -> str | Reply:
        reply = replies[next(asked) % len(replies)]
        if isinstance(reply, ModelError):
            raise reply
        return reply if isinstance(reply, Reply) else str(reply)

    return ScriptedModel(write)


def run(
    main: LanguageModel, judge: Judge, budget: Budget, options: dict[str, Any], question: str = QUESTION
) -> Outcome:
    kit = Kit(InMemory(PASSAGES), judge, {"main": main, "verifier": main})
    rescue = partial(rescue_draft, policy=options.get("unsupported", "keep"))
    style = options.get("style", "long")
    job = Job(QUESTION, "best", style, lambda: best(QUESTION, **options), budget, rescue=rescue)
    return asyncio.run(Driver(kit).answer(job))


def supported_by_judge(answer: Answer, judge: Judge) -> list[bool]:
    """Of each claim that is called supported, whether the judge supports it by exactly what it cites."""
    by_id = {passage.id: passage for passage in answer.passages}
    claims = [claim for claim in answer.claims if claim.is_supported]
    style: Style = "long" if answer.style == "report" else answer.style
    question = "" if answer.style == "report" else answer.question  # a word of a section answers no question
    pairs: list[Pair] = [hypothesis(claim, by_id, question, style) for claim in claims]
    verdicts = judge.judge(pairs)
    assert isinstance(verdicts, Sequence)
    return [verdict.entails for verdict in verdicts]


@settings(max_examples=120, deadline=None)
@given(st.lists(REPLIES, min_size=1, max_size=6), st.sampled_from([Lexical, ChanceJudge]), BUDGETS, OPTIONS)
def test_only_the_judge_in_use_makes_claims_supported(
    replies: list[Any], judge: type[Any], budget: Budget, options: dict[str, Any]
):
    assert all(supported_by_judge(run(model(replies), judge(), budget, options).answer, judge()))


@settings(max_examples=120, deadline=None)
@given(st.lists(REPLIES, min_size=1, max_size=6), BUDGETS, OPTIONS)
def test_the_policy_decides_which_unsupported_claims_stay(replies: list[Any], budget: Budget, options: dict[str, Any]):
    answer = run(model(replies), Lexical(), budget, options).answer
    tolerated = {"drop": {"supported"}, "flag": {"supported", "unsure"}}.get(
        options["unsupported"], set(get_args(Label))
    )
    assert {claim.support.label if claim.support else "unjudged" for claim in answer.claims} <= tolerated


@settings(max_examples=60, deadline=None)
@given(st.lists(REPLIES, min_size=1, max_size=6), st.integers(1, 7), OPTIONS)
def test_no_budget_of_calls_is_exceeded(replies: list[Any], calls: int, options: dict[str, Any]):
    answer = run(model(replies), Lexical(), Budget(calls=calls), options).answer
    assert sum(answer.usage.calls.values()) <= calls


@settings(max_examples=60, deadline=None)
@given(st.lists(REPLIES, min_size=1, max_size=6), BUDGETS, OPTIONS)
def test_whatever_happens_the_answer_is_a_valid_document(replies: list[Any], budget: Budget, options: dict[str, Any]):
    outcome = run(model(replies), Lexical(), budget, options)
    document = answer_json.document(outcome.answer)
    assert answer_json.document(answer_json.parse(answer_json.dumps(outcome.answer))) == document


@settings(max_examples=60, deadline=None)
@given(st.lists(REPLIES, min_size=1, max_size=6), BUDGETS, OPTIONS)
def test_an_answer_fails_exactly_with_an_error(replies: list[Any], budget: Budget, options: dict[str, Any]):
    outcome = run(model(replies), Lexical(), budget, options)
    assert (outcome.answer.status == "failed") == (outcome.exit_code in (4, 5))


@settings(max_examples=40, deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=4).map(" ".join), st.integers(1, 3), st.integers(1, 2))
def test_a_budget_that_ends_takes_nothing_away_that_held(draft: str, calls: int, k: int):
    """What a smaller budget shows to hold of a first draft stands in the answer of a larger one too."""
    small = run(model([draft, ""]), Lexical(), Budget(calls=calls), {"k": k}).answer
    large = run(model([draft, ""]), Lexical(), Budget(calls=calls + 1), {"k": k}).answer
    assert {claim.text for claim in small.claims if claim.is_supported} <= {claim.text for claim in large.claims}


@settings(max_examples=40, deadline=None)
@given(st.floats(0.0, 0.9), st.integers(0, 10_000), BUDGETS, OPTIONS)
def test_a_writer_with_any_faults_leads_to_no_false_support(
    rate: float, seed: int, budget: Budget, options: dict[str, Any]
):
    writer = Faulty({QUESTION: tuple(Fact(text, (), "Hull") for text in TRUE[:3])}, rate, seed)
    answer = run(writer, Lexical(), budget, options).answer
    assert all(supported_by_judge(answer, Lexical()))


@pytest.mark.parametrize("style", ["long", "list", "short"])
def test_the_embedded_writer_needs_no_second_call_for_an_answer(style: str):
    answer = run(Extractive(), Lexical(), Budget(), {"style": style, "k": 4}).answer
    assert (answer.status, answer.usage.calls) == ("answered", {"main": 1})
