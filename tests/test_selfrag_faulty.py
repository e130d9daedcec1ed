"""The simulated model with reflection tokens: what it tells of a passage, and how weak its word on itself is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from simulations.faulty import Faulty
from simulations.truth import Fact, holds
from toulmin.data import Answer, Passage
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit
from toulmin.judges.lexical import Lexical
from toulmin.methods.selfrag import self_rag
from toulmin.prompts.reflection import NextSegment, ReflectedText
from toulmin.retrieval.bm25 import StaticRanking
from toulmin.steps import Generate

RATE = 0.3
NUMBERS = range(300)
OTHER = Passage.of("A rock is a rock, and nothing more is told of it.", "Rock")


def question(n: int) -> str:
    return f"What is known about town {n}?"


def sentences(n: int) -> tuple[str, str]:
    return (
        f"The bridge of Town {n} was opened in {1500 + n}.",
        f"The tower of Town {n} was lit by Anna Reed in {1900 + n}.",
    )


def passages(n: int) -> tuple[Passage, ...]:
    return tuple(Passage.of(f"It is a town. {text} No more is told.", f"Town {n}") for text in sentences(n))


FACTS = {question(n): tuple(Fact(text, (), f"Town {n}") for text in sentences(n)) for n in NUMBERS}


def said(prompt: NextSegment, rate: float = RATE) -> ReflectedText:
    return prompt.read(Faulty(FACTS, rate).generate([Generate(prompt)])[0].text)


def segments(rate: float = RATE) -> Iterator[tuple[Passage, ReflectedText]]:
    """What it says first of the first passage of each question."""
    for n in NUMBERS:
        passage = passages(n)[0]
        yield passage, said(NextSegment(question(n), "", passage), rate)


def answered(n: int, rate: float, *sources: Passage) -> Answer:
    kit = Kit(StaticRanking(sources), Lexical(), {"main": Faulty(FACTS, rate)})
    job = Job(question(n), "self-rag", "long", lambda: self_rag(question(n)))
    return asyncio.run(Driver(kit).answer(job)).answer


def test_it_wishes_to_search():
    assert said(NextSegment(question(0))).text == "[Retrieval]"


def test_from_memory_it_answers_as_a_single_prompt_from_memory_does():
    known = [said(NextSegment(question(n), from_memory=True), 0.0).pieces(False) for n in NUMBERS]
    assert 0.3 < sum(map(bool, known)) / len(NUMBERS) < 0.9


def test_faultless_model_states_one_fact_and_wants_another():
    assert said(NextSegment(question(7), "", passages(7)[0]), 0.0).text == (
        f"[Relevant]{sentences(7)[0]}[Fully supported][Retrieval]"
    )


def test_what_is_written_is_not_told_again():
    assert said(NextSegment(question(7), sentences(7)[0], passages(7)[0]), 0.0).text == "[Relevant][Utility:5]"


def test_it_ends_with_the_last_fact():
    assert said(NextSegment(question(7), sentences(7)[0], passages(7)[1]), 0.0).text.endswith("[Utility:5]")


def test_without_faults_nothing_is_said_of_an_irrelevant_passage():
    assert said(NextSegment(question(7), "", OTHER), 0.0).text == "[Irrelevant][Utility:5]"


def test_without_faults_the_answer_tells_every_fact_from_its_passage():
    answer = answered(7, 0.0, OTHER, *passages(7))
    assert [(claim.text, claim.cited) for claim in answer.claims] == [
        (text, (passage.id,)) for text, passage in zip(sentences(7), passages(7), strict=True)
    ]


def test_what_it_makes_of_a_passage_does_not_change_when_it_is_asked_again():
    first, again = (said(NextSegment(question(n), t, passages(n)[0])).pieces(True) for n in [3] for t in ("", "Well."))
    assert [piece.words for piece in first] == [piece.words for piece in again]


def critiques(is_right: bool) -> list[str]:
    """Its word on support of each sentence that its passage holds, or of each that it does not."""
    pieces = ((passage, piece) for passage, told in segments() for piece in told.pieces(True))
    return [p.support.token for passage, p in pieces if p.support and holds(passage, p.words) is is_right]


@pytest.mark.parametrize(
    ("is_right", "token", "share"),
    [(False, "[No support / Contradictory]", 1 / 3), (True, "[Partially supported]", 0.1)],
)
def test_it_judges_itself_as_weakly_as_in_its_feedback(is_right: bool, token: str, share: float):
    found = critiques(is_right)
    assert len(found) > 40
    assert found.count(token) / len(found) == pytest.approx(share, abs=0.15 if not is_right else 0.07)


def test_a_question_without_facts_strays_at_the_rate():
    unknown = [f"What is known about lake {n}?" for n in NUMBERS]
    both = [[bool(said(NextSegment(q, "", p)).pieces(True)) for p in (OTHER, passages(0)[0])] for q in unknown]
    assert all(first == second for first, second in both)
    assert sum(first for first, _ in both) / len(both) == pytest.approx(RATE, abs=0.08)
