"""Model calls as the driver makes them: batches, errors in place, stand-ins, cancelling, and what a failure leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

import pytest
from transcripts import from_json

import toulmin
from toulmin.data import Answer, Citation, Claim, Hit, Passage, Round, Source
from toulmin.driver.drive import Driver, Job, Outcome
from toulmin.driver.journal import to_json
from toulmin.driver.kit import Kit
from toulmin.driver.transcript import fingerprint
from toulmin.errors import ModelError
from toulmin.judges.lexical import Lexical
from toulmin.methods.reporting import rescue_draft
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import AnswerPrompt, Cite, Extract, Queries
from toulmin.steps import Generate, Program, Show, exchange, generate

PASSAGE = Passage.of("The mill stands on the hill.", title="mill")


class Nothing:
    """A retriever that finds nothing and a judge that is never asked."""

    name = "nothing"

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [[] for _ in queries]

    def judge(self, pairs: Sequence[object]) -> list[object]:
        raise AssertionError("nothing here is to be judged")


class Batched:
    """Takes several requests in a call; fails those whose question says so, by an error in place or as a whole."""

    name = "batched"
    concurrency = 1
    batch = 4

    def __init__(self, whole: bool = False) -> None:
        self.sizes: list[int] = []
        self._whole = whole

    async def generate(self, requests: Sequence[Generate]) -> list[Reply | ModelError]:
        self.sizes.append(len(requests))
        await asyncio.sleep(0.001)
        if self._whole and any("bad" in r.prompt.question for r in requests):
            raise ModelError("no")
        return [ModelError("no") if "bad" in r.prompt.question else Reply(r.prompt.question) for r in requests]


def copied(question: str) -> Program[Answer]:
    text = yield from generate(Extract(question, PASSAGE))
    return Answer(question, "long", "copied", "answered", (Claim(str(text)),))


def kit(**models) -> Kit:
    return Kit(Nothing(), Nothing(), models)


def job(question: str, program=copied) -> Job:
    return Job(question, "copied", "long", lambda: program(question))


def outcomes(parts: Kit, *questions: str, program=copied) -> list[Outcome]:
    async def collect() -> list[Outcome]:
        return [outcome async for outcome in Driver(parts).in_order(job(q, program) for q in questions)]

    return asyncio.run(collect())


def test_a_model_that_takes_batches_gets_what_waits_in_one_call():
    model = Batched()
    outcomes(kit(main=model), *"abcdefghij")
    assert model.sizes == [4, 4, 2]


def test_every_request_of_a_batch_gets_its_own_reply():
    assert [o.answer.claims[0].text for o in outcomes(kit(main=Batched()), "a", "b", "c")] == ["a", "b", "c"]


@pytest.mark.parametrize("whole", [False, True])
def test_one_failed_request_of_a_batch_fails_no_other(whole: bool):
    done = outcomes(kit(main=Batched(whole)), "a", "bad", "c")
    assert [o.answer.status for o in done] == ["answered", "failed", "answered"]


def test_main_model_plays_unset_roles_with_a_note():
    def contrasted(question: str) -> Program[Answer]:
        text = yield from generate(Extract(question, PASSAGE), role="verifier")
        return Answer(question, "long", "contrasted", "answered", (Claim(str(text)),))

    done = outcomes(kit(main=ScriptedModel(lambda _: "yes", name="big")), "q", program=contrasted)
    assert done[0].answer.notes == ("No model is set as verifier; the main model, big, is used.",)


def test_passages_that_the_window_could_not_hold_are_told():
    def drafted(question: str) -> Program[Answer]:
        yield from generate(AnswerPrompt(question, (PASSAGE, Passage.of("Another."))))
        return Answer(question, "long", "drafted", "abstained", notes=("nothing",))

    done = outcomes(kit(main=ScriptedModel(lambda _: Reply("A [1].", omitted=1), name="small")), "q", program=drafted)
    assert done[0].answer.notes[-1] == "The passages exceed the window of small; the last ones were left out."


def test_a_label_of_a_passage_that_was_left_out_was_never_offered():
    def drafted(question: str) -> Program[Answer]:
        done = yield from exchange(AnswerPrompt(question, (PASSAGE, Passage.of("Another."))))
        notes = (f"{done.value.invalid} {len(done.prompt.passages)}",)
        return Answer(question, "long", "drafted", "abstained", notes=notes)

    done = outcomes(kit(main=ScriptedModel(lambda _: Reply("A thing [2].", omitted=1))), "q", program=drafted)
    assert done[0].answer.notes[0] == "1 1"


def test_a_cancelled_job_cancels_its_call():
    ended: list[str] = []

    class Hanging:
        name, concurrency = "hanging", 2

        async def generate(self, requests: Sequence[Generate]) -> list[Reply]:
            try:
                await asyncio.sleep(60)
            finally:
                ended.append("cancelled")
            return []

    async def cancelled() -> None:
        task = asyncio.create_task(Driver(kit(main=Hanging())).answer(job("q")))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0)

    asyncio.run(cancelled())
    assert ended == ["cancelled"]


def test_a_failed_answer_keeps_the_rounds_of_its_last_draft():
    def failing(question: str) -> Program[Answer]:
        yield Show(Answer(question, "long", "failing", "abstained", rounds=(Round("search", queries=("q",)),)))
        yield from generate(Extract("bad", PASSAGE))
        raise AssertionError("not reached")

    done = outcomes(kit(main=Batched()), "q", program=failing)[0].answer
    assert (done.status, done.rounds[0].queries, done.notes) == ("failed", ("q",), ("no",))


def test_one_reply_without_a_price_leaves_the_cost_unknown():
    def twice(question: str) -> Program[Answer]:
        yield from generate(Extract("priced", PASSAGE))
        yield from generate(Extract("free", PASSAGE))
        return Answer(question, "long", "twice", "abstained")

    writer = ScriptedModel(lambda r: Reply("x", usd=0.5 if r.prompt.question == "priced" else None))
    assert outcomes(kit(main=writer), "q", program=twice)[0].answer.usage.usd is None


def test_remarks_of_the_driver_replay_with_the_transcript():
    def contrasted(question: str) -> Program[Answer]:
        yield from generate(Extract(question, PASSAGE), role="verifier")
        return Answer(question, "long", "contrasted", "abstained")

    parts = kit(main=ScriptedModel(lambda _: "yes"))
    done = outcomes(parts, "q", program=contrasted)[0]
    recorded = from_json(to_json(done.transcript))
    again = asyncio.run(Driver(kit()).answer(job("q", contrasted), replay=recorded))
    assert again.answer == done.answer


def test_a_fingerprint_counts_what_a_passage_says_and_not_where_it_lies():
    here = Passage.of("A.", source=Source(0, 2, path="here.txt"))
    there = Passage.of("A.", source=Source(0, 2, path="there.txt"))
    assert fingerprint(Extract("q", here)) == fingerprint(Extract("q", there))


def test_a_fingerprint_leaves_out_what_holds_its_default():
    named = fingerprint(Generate(Queries("q", "", "c"), sample=0, temperature=None))
    assert named == fingerprint(Generate(Queries("q", "", "c")))


def test_other_steps_have_other_fingerprints():
    steps = [Generate(Queries("q", "", "c"), sample=n) for n in range(3)]
    assert len({fingerprint(step) for step in steps}) == 3


# ---------------------------------------------------------------- what is left when a budget ends


@pytest.fixture
def tower() -> dict:
    return {"question": "When was the tower lit?", "passages": [toulmin.Passage.of("The tower was lit on 3 May 1824.")]}


def claims_of(*texts: str) -> ScriptedModel:
    """Writes these sentences one by one and cites the one passage for each."""
    told = iter(texts)
    return ScriptedModel(lambda r: "[1]" if isinstance(r.prompt, Cite) else next(told, "END"))


def test_a_budget_that_ends_leaves_the_claims_that_were_verified(tower: dict):
    writer = claims_of("The tower was lit on 3 May 1824.", "It burned in 1900.")
    answer = toulmin.ask(**tower, model=writer, method="vtg", budget=toulmin.Budget(calls=3))
    assert [claim.is_supported for claim in answer.claims] == [True]


def test_an_answer_that_a_budget_cut_short_says_so(tower: dict):
    writer = claims_of("The tower was lit on 3 May 1824.", "It burned in 1900.")
    answer = toulmin.ask(**tower, model=writer, method="vtg", budget=toulmin.Budget(calls=3))
    assert any("The limit of 3 model calls is reached" in note for note in answer.notes)


def test_a_budget_that_ends_before_anything_was_verified_fails_the_answer(tower: dict):
    answer = toulmin.ask(**tower, model=claims_of("It burned in 1900."), method="vtg", budget=toulmin.Budget(calls=3))
    assert (answer.status, answer.claims) == ("failed", ())


def test_a_draft_that_was_not_judged_yet_is_judged_when_calls_run_out(tower: dict):
    writer = ScriptedModel(lambda _: "The tower was lit on 3 May 1824 [1].")
    answer = toulmin.ask(**tower, model=writer, method="self-refine", budget=toulmin.Budget(calls=1))
    assert answer.claims[0].is_supported


def test_a_rescued_answer_replays_with_its_transcript(tower: dict):
    claim = Claim("The tower was lit on 3 May 1824.", (Citation(tower["passages"][0].id),))

    def drafting(question: str) -> Program[Answer]:
        draft = Answer(question, "long", "drafting", "answered", (claim,), tuple(tower["passages"]))
        yield Show(draft)
        yield from generate(Extract("a", PASSAGE))
        yield from generate(Extract("b", PASSAGE))
        return draft

    rescue = partial(rescue_draft, policy="keep")
    one = Job("q", "drafting", "long", lambda: drafting("q"), budget=toulmin.Budget(calls=1), rescue=rescue)
    parts = Kit(Nothing(), Lexical(), {"main": ScriptedModel(lambda _: "x")})
    done = asyncio.run(Driver(parts).answer(one))
    again = asyncio.run(Driver(kit()).answer(one, replay=from_json(to_json(done.transcript))))
    assert (again.answer, done.answer.status) == (done.answer, "answered")


def test_a_method_that_returns_something_else_is_wrong_usage():
    def silly(question: str) -> Program[Answer]:
        yield from generate(Extract(question, PASSAGE))
        return "an answer"

    done = outcomes(kit(main=ScriptedModel(lambda _: "x")), "q", program=silly)[0]
    assert (done.exit_code, done.answer.notes) == (2, ("The method 'copied' should return an Answer, not a str.",))


def test_a_model_that_names_no_concurrency_is_called_one_by_one():
    class Plain:
        name = "plain"

        def generate(self, requests: Sequence[Generate]) -> list[Reply]:
            return [Reply(request.prompt.question) for request in requests]

    assert [o.answer.claims[0].text for o in outcomes(kit(main=Plain()), "a", "b")] == ["a", "b"]
