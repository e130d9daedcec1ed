"""What a model has written so far is judged and shown while it writes on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from stub_server import Rule, Stub, running_stub

import toulmin
from toulmin import demo
from toulmin.data import Answer, Passage
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit
from toulmin.errors import ModelError
from toulmin.judges.lexical import Lexical
from toulmin.models.received import ReplyBuilder
from toulmin.models.remote import Chat
from toulmin.models.server import Server
from toulmin.prompts.replies import Reply, Result
from toulmin.prompts.types import AnswerPrompt, NextClaim
from toulmin.retrieval.bm25 import InMemory
from toulmin.steps import Generate, Program, Tries, exchange, show

QUESTION = "When was the sea watch H4 finished?"
PARTS: dict[str, Any] = {
    "rewriter": "extractive",
    "judge": "lexical",
    "reader": "lexical",
    "method": "best",
    "quotes": True,
}
TRUE, FALSE = "In 1759 the sea watch H4 was finished", "It was stolen by 1,200 pirates"
PASSAGE = Passage.of("The tower was lit for the first time on 3 May 1824. It was built by Hannah Pell.", "Kettle Rock")


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with running_stub() as stub:
        yield stub


class Slow:
    """Writes on only when what it wrote first is shown."""

    name, concurrency = "slow", 1

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces
        self.may_go_on = asyncio.Event()

    async def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        (request,) = requests
        if request.tries.hear:
            request.tries.hear("".join(self.pieces[:-1]))
        await asyncio.wait_for(self.may_go_on.wait(), 20)
        return [Reply("".join(self.pieces))]


def ask_slowly(model: Slow, sign: str, **options: Any) -> tuple[Answer, list[Answer]]:
    """The answer, and the drafts, the first of which with `sign` lets the model go on."""
    shown: list[Answer] = []

    def see(draft: Answer) -> None:
        shown.append(draft)
        if any(sign in claim.text for claim in draft.claims):
            model.may_go_on.set()

    return toulmin.ask(QUESTION, docs=demo.FOLDER, on_draft=see, model=model, **{**PARTS, **options}), shown


@pytest.mark.parametrize("quotes", [True, False])
def test_a_sentence_that_holds_is_shown_before_the_reply_ends(quotes: bool) -> None:
    answer, shown = ask_slowly(Slow(f"{TRUE} [1]. ", "It w", "as lost [1]."), TRUE, quotes=quotes)
    early = next(draft for draft in shown if TRUE in draft.claims[0].text)
    assert all(claim.is_supported for claim in early.claims)
    assert TRUE in answer.claims[0].text


def test_quotes_stand_beside_it_while_it_is_written() -> None:
    _, shown = ask_slowly(Slow(f"{TRUE} [1]. ", "It was lost [1]."), TRUE)
    early = next(draft for draft in shown if TRUE in draft.claims[0].text)
    assert len(early.claims) > 1


def test_what_fails_is_not_shown_on_the_way() -> None:
    _, shown = ask_slowly(Slow(f"{FALSE} [1]. {TRUE} [1]. ", "It was lost [1]."), TRUE)
    assert not any(FALSE in claim.text for draft in shown for claim in draft.claims)


def test_claims_in_json_are_heard_one_by_one() -> None:
    pieces = f'{{"claims": [{{"text": "{TRUE}.", "passages": [1]}}', ', {"text": "It was', ' lost.", "passages": [1]}]}'
    answer, _ = ask_slowly(Slow(*pieces), TRUE)
    assert TRUE in answer.claims[0].text


def test_an_answer_is_the_same_whether_or_not_somebody_watches() -> None:
    model = Slow(f"{TRUE} [1]. {FALSE} [1]. ", "It was lost [1].")
    model.may_go_on.set()
    alone = toulmin.ask(QUESTION, docs=demo.FOLDER, **PARTS, model=model)
    watched, _ = ask_slowly(Slow(*model.pieces), TRUE)
    assert (alone.claims, alone.rounds, alone.notes) == (watched.claims, watched.rounds, watched.notes)
    assert replace(alone.usage, seconds=0) == replace(watched.usage, seconds=0)


# ---------------------------------------------------------------- whole sentences


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("The tower was l", None),
        ("The tower was lit in 1824 [1]. It was bu", ["The tower was lit in 1824."]),
        ('{"claims": [{"text": "The tower was li', []),
        ('{"claims": [{"text": "The tower was lit.", "passages": [1]}, {"te', ["The tower was lit."]),
    ],
)
def test_only_whole_sentences_are_read(text: str, claims: list[str] | None) -> None:
    begun = AnswerPrompt("When was it lit?", (PASSAGE,)).read_begun(text)
    assert [claim.text for claim in begun.claims] == claims if begun else claims is None


def test_a_claim_that_ends_the_reply_is_read_as_before() -> None:
    assert NextClaim("When?", "", (PASSAGE,)).read_begun("The tower was lit in 1824.") == "The tower was lit in 1824."


def test_a_reply_is_heard_at_the_ends_of_its_sentences() -> None:
    heard: list[str] = []
    reply = ReplyBuilder(heard.append)
    for piece in ("The tower", " was lit", ". It", " was white", ".\n"):
        reply.add({"choices": [{"delta": {"content": piece}}]})
    assert heard == ["The tower was lit. It", "The tower was lit. It was white.\n"]


def test_a_look_that_fails_harms_no_answer() -> None:
    """Whoever reads the whole reply is told of the fault."""

    def look(text: str) -> Program[None]:
        raise ModelError("The judge is gone.")
        yield from show(Answer(QUESTION, "long", "mine", "abstained"))

    def program() -> Program[Answer]:
        done = yield from exchange(AnswerPrompt(QUESTION, (PASSAGE,)), listener=look)
        return Answer(QUESTION, "long", "mine", "answered", claims=done.value.claims)

    model = Slow("It was lit. ", "It was built by Hannah Pell.")
    model.may_go_on.set()
    job = Job(QUESTION, "mine", "long", program)
    kit = Kit(InMemory((PASSAGE,)), Lexical(), {"main": model})
    outcome = asyncio.run(Driver(kit).answer(job, lambda draft: None))
    assert (outcome.error, len(outcome.answer.claims)) == (None, 2)


# ---------------------------------------------------------------- models that write in pieces


def test_a_server_is_heard_and_from_the_start_after_a_break(stub: Stub) -> None:
    long = f"{TRUE} [1]. {TRUE} [1]. {TRUE} [1]."
    stub.script(Rule(reply=long, fault="cut", times=1), Rule(reply=long))
    heard: list[str] = []
    tries = Tries()
    tries.hear = heard.append
    request = Generate(AnswerPrompt("When was it lit?", (PASSAGE,)), tries=tries)

    async def reply_of(model: Chat) -> Result:
        try:
            return (await model.generate([request]))[0]
        finally:
            await model.aclose()

    reply = asyncio.run(reply_of(Chat("stub", Server(base_url=stub.url, pause=0.01))))
    assert isinstance(reply, Reply)
    assert [text for text in heard if not long.startswith(text)] == []
    assert heard.count(heard[0]) == 2
    assert heard[-1] == reply.text == long
