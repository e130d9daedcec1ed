"""What holds of every method whatever models write, judges say and budgets allow."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import MARK_LIKE, WORDS
from typed_prompts import HOSTILE

from simulations.chance import ChanceJudge
from toulmin.data import STYLES, Answer, Passage
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Driver, Job, Outcome
from toulmin.driver.kit import Judge, Kit
from toulmin.errors import ModelError
from toulmin.extractive.evidence import SentenceReader
from toulmin.formats import answer_json
from toulmin.judges.lexical import Lexical
from toulmin.methods import METHODS, load_method
from toulmin.methods.reporting import rescue_draft
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.retrieval.bm25 import InMemory
from toulmin.steps import Generate, Pair, Verdict
from toulmin.verify import hypothesis

QUESTION = "Who built the tower of Hull, and when?"
TRUE = [
    "Hannah Pell built the tower of Hull in 1824.",
    "The tower of Hull was lit by whale oil until 1861.",
    "The keepers of Hull watched the lamp at night.",
]
FALSE = ["Hannah Pell built the tower of Hull in 1842.", "Nobody ever lived in Hull."]
PASSAGES = [Passage.of(f"It is told often. {text} No more is known.", f"Hull {n}") for n, text in enumerate(TRUE)]

SENTENCES = st.builds(
    lambda text, marks: f"{text[:-1]} {''.join(f'[{n}]' for n in marks)}.",
    st.sampled_from([*TRUE, *FALSE]),
    st.lists(st.integers(0, 5), max_size=3),
)
REFLECTIONS = "[Retrieval]|[No Retrieval]|[Relevant]|[Fully supported]|[Utility:5]|[Continue to Use Evidence]".split(
    "|"
)
SIGNS = [
    "\n",
    "\n\n",
    "1. Who built it?\n",
    "## Title\n",
    "Final Answer:",
    "END",
    '{"answer": "',
    "citation recall: bad",
]
PIECES = st.one_of(SENTENCES, SENTENCES, st.sampled_from([*HOSTILE, *MARK_LIKE, *WORDS, *REFLECTIONS, *SIGNS]))
TEXTS = st.lists(PIECES, max_size=6).map(" ".join)
REPLIES = st.one_of(
    TEXTS,
    TEXTS,
    st.builds(Reply, TEXTS, omitted=st.integers(0, 2), finish=st.sampled_from([None, "length", "refused"])),
    st.just(ModelError("The model is down.")),
)
RUNS = st.fixed_dictionaries(
    {
        "replies": st.lists(REPLIES, min_size=1, max_size=6),
        "judge": st.sampled_from([Lexical(), ChanceJudge()]),
        "calls": st.none() | st.integers(1, 6),
        "style": st.sampled_from(STYLES),
        "unsupported": st.sampled_from(["keep", "flag", "drop"]),
        "variant": st.sampled_from("AB"),
    }
)


def run(
    name: str, replies: Sequence[Any], judge: Judge, calls: int | None, style: Any, unsupported: Any, variant: str
) -> Outcome:
    asked = iter(range(10**6))

    def write(_: Generate) -> str | Reply:
        reply = replies[next(asked) % len(replies)]
        if isinstance(reply, ModelError):
            raise reply
        return reply

    model = ScriptedModel(write)
    kit = Kit(InMemory(PASSAGES), judge, {"main": model, "verifier": model}, SentenceReader())
    options = {"style": style, "k": 2, "unsupported": unsupported, **({"variant": variant} if name == "plan" else {})}
    rescue = partial(rescue_draft, policy=unsupported)
    job = Job(QUESTION, name, style, lambda: load_method(name)(QUESTION, **options), Budget(calls=calls), rescue=rescue)
    return asyncio.run(Driver(kit).answer(job))


def has_true_labels(answer: Answer, judge: Judge) -> bool:
    """Whether the judge supports every claim that is called supported, by exactly the passages that it cites.

    Read together, as the papers do, or each document alone: what is rescued at the end of a budget follows `weigh`.
    """
    by_id = {passage.id: passage for passage in answer.passages}
    pairs = [hypothesis(c, by_id, answer.question, answer.style) for c in answer.claims if c.is_supported]
    is_weighed = answer.method == "best" or any("further steps were left out" in note for note in answer.notes)
    return all(any(verdict.entails for verdict in _judged(judge, readings(pair, is_weighed))) for pair in pairs)


def readings(pair: Pair, is_weighed: bool) -> list[Pair]:
    """The pair, and where documents are weighed also with each passage alone; every passage here is a document."""
    alone = [replace(pair, premises=(passage,)) for passage in pair.premises]
    return [pair, *(alone if is_weighed else [])]


def _judged(judge: Judge, pairs: Sequence[Pair]) -> Sequence[Verdict]:
    verdicts = judge.judge(pairs)
    assert isinstance(verdicts, Sequence)
    return verdicts


law = settings(deadline=None, max_examples=25)
every_method = pytest.mark.parametrize("name", METHODS)


@every_method
@law
@example(  # a sentence on the way to a short answer is supported, but does not answer
    {
        "replies": ["</passage> Hannah Pell built the tower of Hull in 1824 ."],
        "judge": Lexical(),
        "calls": 2,
        "style": "short",
        "unsupported": "keep",
        "variant": "A",
    }
)
@example(  # a word of a section answers no question
    {
        "replies": ["Hannah Pell built the tower of Hull in 1824 [0]. żółw"],
        "judge": ChanceJudge(),
        "calls": None,
        "style": "report",
        "unsupported": "keep",
        "variant": "A",
    }
)
@given(RUNS)
def test_what_is_called_supported_is_so_by_its_very_citations(name: str, drawn: dict[str, Any]):
    assert has_true_labels(run(name, **drawn).answer, drawn["judge"])


@every_method
@law
@given(RUNS)
def test_no_passage_is_cited_that_no_round_tells_to_have_been_read(name: str, drawn: dict[str, Any]):
    answer = run(name, **drawn).answer
    read = {id for step in answer.rounds for id in step.read}
    assert {id for claim in answer.claims for id in claim.cited} <= read


@every_method
@law
@given(RUNS)
def test_the_end_is_a_valid_document_within_the_calls_granted(name: str, drawn: dict[str, Any]):
    outcome = run(name, **drawn)
    answer_json.parse(answer_json.dumps(outcome.answer))
    calls = sum(outcome.answer.usage.calls.values())
    assert (outcome.answer.status == "failed", calls <= (drawn["calls"] or calls)) == (
        outcome.exit_code in (4, 5),
        True,
    )


@every_method
@law
@given(RUNS)
def test_under_drop_nothing_stays_but_what_is_supported(name: str, drawn: dict[str, Any]):
    answer = run(name, **{**drawn, "unsupported": "drop"}).answer
    assert all(claim.is_supported for claim in answer.claims)
