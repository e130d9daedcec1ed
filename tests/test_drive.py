"""The driver, through its public door: real programs over small real parts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcripts import from_json

from toulmin.data import Answer, Claim, Hit, Passage, Tokens
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Driver, Job, Outcome
from toulmin.driver.journal import to_json
from toulmin.driver.kit import Kit
from toulmin.driver.transcript import Transcript
from toulmin.errors import BudgetEnded, ModelError, UsageError
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Finish, Reply
from toulmin.prompts.types import Extract, NextClaim
from toulmin.steps import Generate, Pair, Program, Show, Verdict, entail, generate, search, together

PASSAGES = [Passage.of(f"The {word} stands on the hill.", title=word) for word in ("mill", "tower", "church")]


class Shelf:
    """Finds the passages whose title stands in the query; remembers the sizes of its batches."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        self.batches.append(len(queries))
        if any("fire" in query for query in queries):
            raise ModelError("the shelf is on fire")
        return [[Hit(p, 1.0) for p in PASSAGES if p.title in query][:k] for query in queries]


class Literal:
    """Supports a claim exactly if some premise holds it word for word; remembers the sizes of its batches."""

    name = "literal"

    def __init__(self) -> None:
        self.batches: list[int] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        self.batches.append(len(pairs))
        return [self._verdict(pair) for pair in pairs]

    def _verdict(self, pair: Pair) -> Verdict:
        holds = any(pair.claim in passage.text for passage in pair.premises)
        return Verdict("supported" if holds else "unsupported", float(holds), 0.0, self.name)


def echo(request: Generate) -> str:
    return f"{type(request.prompt).__name__} {request.sample}"


def kit(write=echo, **parts) -> Kit:
    return Kit(parts.get("retriever", Shelf()), parts.get("judge", Literal()), {"main": ScriptedModel(write)})


def told(question: str) -> Program[Answer]:
    """Asks once of everything: a search, a text, a verdict."""
    hits = yield from search(question, 2)
    text = yield from generate(Extract(question, hits[0].passage if hits else PASSAGES[0]))
    verdicts = yield from entail([Pair((PASSAGES[0],), str(text))])
    passages = tuple(hit.passage for hit in hits)
    claim = Claim(f"{text} {verdicts[0].label} {len(hits)}")
    return Answer(question, "long", "told", "answered", (claim,), passages)


def job(question: str = "the mill", program=told, **options) -> Job:
    return Job(question, "told", "long", lambda: program(question), **options)


def answered(kit_: Kit, *jobs: Job, **options) -> list[Outcome]:
    async def collect() -> list[Outcome]:
        return [outcome async for outcome in Driver(kit_, **options).answers(jobs)]

    return asyncio.run(collect())


def test_a_program_is_sent_the_replies_to_what_it_asks():
    assert answered(kit(), job())[0].answer.claims[0].text == "Extract 0 unsupported 1"


def test_searches_of_all_running_programs_are_one_batch():
    shelf = Shelf()
    answered(kit(retriever=shelf), *[job(f"the mill {n}") for n in range(20)])
    assert shelf.batches == [20]


def test_equal_judgements_of_many_programs_are_asked_once():
    judge = Literal()
    answered(kit(judge=judge), *[job(f"the mill {n}") for n in range(20)])
    assert judge.batches == [1]


def test_a_batch_is_no_larger_than_its_limit():
    shelf = Shelf()
    answered(kit(retriever=shelf), *[job(f"the mill {n}") for n in range(20)], batch=8)
    assert max(shelf.batches) == 8


def test_no_more_programs_run_than_allowed():
    shelf = Shelf()
    answered(kit(retriever=shelf), *[job(f"the mill {n}") for n in range(10)], programs=3)
    assert max(shelf.batches) <= 3


def test_jobs_are_taken_from_their_source_only_as_places_become_free():
    taken: list[int] = []

    def source():
        for n in range(50):
            taken.append(n)
            yield job(f"the mill {n}")

    async def first() -> None:
        async for _ in Driver(kit(), programs=4).answers(source()):
            break

    asyncio.run(first())
    assert len(taken) <= 8


def test_a_failed_request_fails_only_the_program_that_asked():
    outcomes = answered(kit(), job("the mill"), job("fire"), job("the tower"))
    statuses = {outcome.job.question: outcome.answer.status for outcome in outcomes}
    assert statuses == {"the mill": "answered", "fire": "failed", "the tower": "answered"}


def test_a_failed_answer_says_why():
    assert answered(kit(), job("fire"))[0].answer.notes == ("the shelf is on fire",)


def test_a_foreign_exception_names_the_part_that_failed():
    def broken(request: Generate) -> str:
        raise ValueError("no such thing")

    assert "model scripted failed: ValueError: no such thing" in answered(kit(broken), job())[0].answer.notes[0]


def test_a_part_that_gives_too_few_results_is_named():
    class Short(Shelf):
        def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
            return []

    assert "returned 0 results for 1" in answered(kit(retriever=Short()), job())[0].answer.notes[0]


def misbehaving(how: str):
    def judge(pairs: Sequence[Pair]):
        if how == "times out":
            raise TimeoutError
        if how == "a wrong label":
            return [Verdict("maybe", 0.5, 0.0, "odd") for _ in pairs]
        return {"nothing": None, "floats": [0.5 for _ in pairs], "too few": []}[how]

    return type("Odd", (), {"name": "odd", "judge": staticmethod(judge)})()


@pytest.mark.parametrize("how", ["times out", "a wrong label", "nothing", "floats", "too few"])
def test_whatever_a_judge_does_the_job_ends_as_failed(how: str):
    outcomes = answered(kit(judge=misbehaving(how)), job("the mill"), job("the tower"))
    assert [outcome.answer.status for outcome in outcomes] == ["failed", "failed"]


@pytest.mark.parametrize("row", [None, [PASSAGES[0]]])
def test_whatever_a_retriever_finds_the_job_ends_as_failed(row):
    retriever = type("Odd", (), {"search": staticmethod(lambda queries, k: [row for _ in queries])})()
    assert answered(kit(retriever=retriever), job("the mill"))[0].answer.status == "failed"


def test_outcomes_come_in_order_where_asked():
    async def collect() -> list[str]:
        jobs = [job("fire"), job("the mill"), job("the mill")]
        return [outcome.job.question async for outcome in Driver(kit()).in_order(jobs)]

    assert asyncio.run(collect()) == ["fire", "the mill", "the mill"]


def test_a_program_may_go_on_after_a_failed_request():
    def stubborn(question: str) -> Program[Answer]:
        try:
            yield from search("fire", 1)
        except ModelError as error:
            return Answer(question, "long", "told", "abstained", notes=(f"went on after: {error}",))
        raise AssertionError

    assert answered(kit(), job(program=stubborn))[0].answer.notes == ("went on after: the shelf is on fire",)


def test_a_defect_of_a_method_is_not_hidden():
    def wrong(question: str) -> Program[Answer]:
        yield from search(question, 1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        answered(kit(), job(program=wrong))


def test_something_that_is_no_step_is_a_usage_error():
    def odd(question: str):
        yield "please search"

    assert isinstance(answered(kit(), job(program=odd))[0].error, UsageError)


# ---------------------------------------------------------------- together


def several(question: str) -> Program[Answer]:
    found = yield from together([search(word, 1) for word in ("mill", "tower", "church")])
    text = ", ".join(hits[0].passage.title for hits in found)
    return Answer(question, "long", "several", "answered", (Claim(text),))


def test_programs_run_together_give_their_results_in_order():
    assert answered(kit(), job(program=several))[0].answer.claims[0].text == "mill, tower, church"


def test_programs_run_together_share_a_batch():
    shelf = Shelf()
    answered(kit(retriever=shelf), job(program=several))
    assert shelf.batches == [3]


def test_an_error_in_one_of_several_is_raised_in_the_program_that_ran_them():
    def risky(question: str) -> Program[Answer]:
        yield from together([search("mill", 1), search("fire", 1)])
        raise AssertionError

    assert isinstance(answered(kit(), job(program=risky))[0].error, ModelError)


# ---------------------------------------------------------------- concurrency


class Slow:
    """A model whose replies wait for a turn of the loop; remembers how many were in flight at once."""

    name = "slow"

    def __init__(self, concurrency: int) -> None:
        self.concurrency = concurrency
        self.now = self.most = 0

    async def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        return [Reply("done") for _ in requests]


def test_a_model_that_serves_several_roles_has_one_limit():
    def roles(question: str) -> Program[Answer]:
        yield from together([generate(Extract(question, PASSAGES[0]), role) for role in ("main", "verifier", "other")])
        return Answer(question, "long", "roles", "answered", (Claim("done"),))

    model = Slow(1)
    answered(Kit(Shelf(), Literal(), {"main": model, "verifier": model}), job(program=roles))
    assert model.most == 1


@pytest.mark.parametrize("limit", [1, 4])
def test_a_model_gets_as_many_requests_at_once_as_it_takes(limit: int):
    model = Slow(limit)
    answered(Kit(Shelf(), Literal(), {"main": model}), *[job(f"the mill {n}") for n in range(12)])
    assert model.most == limit


def test_a_program_goes_on_while_another_waits_for_its_model():
    class Uneven(Slow):
        async def generate(self, requests: Sequence[Generate]) -> list[Reply]:
            await asyncio.sleep(0.05 if "slow" in requests[0].prompt.question else 0)
            return [Reply("x")]

    outcomes = answered(Kit(Shelf(), Literal(), {"main": Uneven(9)}), job("slow mill"), job("quick mill"))
    assert [outcome.job.question for outcome in outcomes] == ["quick mill", "slow mill"]


def test_the_first_of_many_programs_does_not_wait_for_the_last():
    """A model that works in this process brings one reply a turn, so it is never quiet before the last."""
    asked = 0

    def write(request: Generate) -> str:
        nonlocal asked
        asked += 1
        time.sleep(0.01)  # longer than a batch lingers, as in a model that computes here
        return f"{request.prompt.question} {asked}"

    async def first() -> int:
        model = ScriptedModel(write, concurrency=1)
        driver = Driver(Kit(Shelf(), Literal(), {"main": model}))
        async for _ in driver.answers(job(f"the mill {n}") for n in range(40)):
            return asked
        raise AssertionError

    assert asyncio.run(first()) < 20


def test_cancelling_a_job_leaves_the_others_their_results():
    async def race() -> Outcome:
        driver = Driver(Kit(Shelf(), Literal(), {"main": Slow(9)}))
        first = asyncio.create_task(driver.answer(job("the mill")))
        second = asyncio.create_task(driver.answer(job("the mill")))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(race()).answer.status == "answered"


# ---------------------------------------------------------------- budget and usage


def chatty(question: str) -> Program[Answer]:
    for sample in range(5):
        yield from generate(NextClaim(question, "", ()), sample=sample)
    return Answer(question, "long", "chatty", "answered", (Claim("talked"),))


def test_model_calls_never_exceed_the_budget():
    outcome = answered(kit(), job(program=chatty, budget=Budget(calls=3)))[0]
    assert outcome.answer.usage.calls == {"main": 3}


def test_a_spent_budget_fails_the_answer_with_exit_code_5():
    outcome = answered(kit(), job(program=chatty, budget=Budget(calls=3)))[0]
    assert (outcome.answer.status, outcome.error.exit_code) == ("failed", 5)


def test_no_call_follows_the_last_token_granted():
    calls = []

    def reply(request: Generate) -> Reply:
        calls.append(request)
        return Reply("x", tokens=Tokens(40, 10))

    answered(kit(reply), job(program=chatty, budget=Budget(tokens=100)))
    assert len(calls) == 2


def test_tokens_count_towards_the_budget():
    outcome = answered(
        kit(lambda request: Reply("x", tokens=Tokens(40, 10))), job(program=chatty, budget=Budget(tokens=120))
    )[0]
    assert outcome.answer.usage.tokens == {"main": Tokens(120, 30)}


def test_a_method_may_return_what_it_has_when_the_budget_ends():
    def careful(question: str) -> Program[Answer]:
        said = 0
        try:
            while True:
                yield from generate(NextClaim(question, "", ()), sample=said)
                said += 1
        except BudgetEnded as error:
            return Answer(question, "long", "careful", "answered", (Claim(f"said {said}"),), notes=(str(error),))

    outcome = answered(kit(), job(program=careful, budget=Budget(calls=2)))[0]
    assert outcome.answer.claims[0].text == "said 2"


def test_a_deadline_ends_a_hanging_model():
    class Hanging(Slow):
        async def generate(self, requests: Sequence[Generate]) -> list[Reply]:
            await asyncio.sleep(3600)
            return []

    outcome = answered(Kit(Shelf(), Literal(), {"main": Hanging(1)}), job(budget=Budget(seconds=0.05)))[0]
    assert isinstance(outcome.error, BudgetEnded)


def test_a_budget_of_nothing_is_a_usage_error():
    with pytest.raises(UsageError, match="above 0"):
        Budget(calls=0)


def test_usage_counts_searches_calls_and_distinct_pairs():
    def repeated(question: str) -> Program[Answer]:
        yield from entail([Pair(tuple(PASSAGES), "a"), Pair(tuple(PASSAGES), "a"), Pair(tuple(PASSAGES), "b")])
        return (yield from told(question))

    usage = answered(kit(), job(program=repeated))[0].answer.usage
    assert (usage.searches, dict(usage.calls), usage.judge_pairs) == (1, {"main": 1}, 3)


def test_drafts_reach_whoever_watches_with_the_usage_so_far():
    def shown(question: str) -> Program[Answer]:
        yield from search(question, 1)
        yield Show(Answer(question, "long", "shown", "answered", (Claim("so far"),)))
        return Answer(question, "long", "shown", "answered", (Claim("so far"), Claim("done")))

    seen: list[Answer] = []
    asyncio.run(Driver(kit()).answer(job(program=shown), seen.append))
    assert [(len(draft.claims), draft.usage.searches) for draft in seen] == [(1, 1)]


# ---------------------------------------------------------------- transcripts


def nested(question: str) -> Program[Answer]:
    parts = yield from together([told(question), told("the tower"), several(question)])
    claims = tuple(claim for part in parts for claim in part.claims)
    passages = tuple({p.id: p for part in parts for p in part.passages}.values())
    return Answer(question, "long", "nested", "answered", claims, passages)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(["the mill", "the tower and the church", "nothing", "fire"]), min_size=1, max_size=4),
    st.integers(1, 5),
    st.sampled_from([nested, chatty]),
)
def test_a_transcript_replays_to_the_identical_answer_without_any_part(questions: list[str], calls: int, program):
    outcomes = answered(kit(), *[job(q, program, budget=Budget(calls=calls)) for q in questions])
    empty = Driver(Kit(None, None))  # type: ignore[arg-type]
    replayed = [asyncio.run(empty.answer(o.job, replay=from_json(to_json(o.transcript)))) for o in outcomes]
    assert [o.answer for o in replayed] == [o.answer for o in outcomes]


def test_a_transcript_of_another_question_is_noticed():
    outcome = answered(kit(), job("the mill"))[0]
    other = asyncio.run(Driver(kit()).answer(job("the tower"), replay=outcome.transcript))
    assert "another question" in other.answer.notes[0]


def test_a_file_that_is_no_transcript_is_a_usage_error():
    with pytest.raises(UsageError, match="transcript"):
        from_json(b'{"entries": [{"place": [0], "kind": "os.system", "digest": ""}], "seconds": 0}')


def test_embedded_parts_make_the_driver_deterministic():
    jobs = [job(f"the mill {n}", nested) for n in range(6)]
    runs = [answered(kit(), *jobs) for _ in range(2)]
    without_time = [[replace(o.answer, usage=replace(o.answer.usage, seconds=0)) for o in run] for run in runs]
    assert without_time[0] == without_time[1]


def test_an_empty_transcript_holds_nothing():
    assert from_json(to_json(Transcript())).entries == {}


@pytest.mark.parametrize(("finish", "is_told"), [("stop", False), ("length", True)])
def test_an_answer_says_that_a_reply_was_cut_off(finish: Finish, is_told: bool):
    notes = answered(kit(lambda request: Reply("The mill", finish=finish)), job())[0].answer.notes
    assert any("cut off" in note for note in notes) is is_told
