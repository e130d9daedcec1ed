"""Language models as judges, with scripted ones."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from toulmin.data import Passage
from toulmin.errors import ModelError
from toulmin.judges.asked import ModelJudge
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import JudgeClaim
from toulmin.steps import Generate, Pair, Verdict

PASSAGE = Passage.of("The tower was lit in 1824.", "Kettle Rock")
PAIRS = tuple(Pair((PASSAGE,), f"It was lit in {year}.") for year in range(1820, 1828))


def asked(write: Callable[[Generate], str | Reply], **options) -> ModelJudge:
    return ModelJudge(ScriptedModel(write, **options))


def judged(judge: ModelJudge, pairs: Sequence[Pair] = PAIRS[:1]) -> list[Verdict]:
    return asyncio.run(judge.judge(pairs))


@pytest.mark.parametrize(
    ("reply", "label", "support", "contradiction"),
    [
        ("supported", "supported", 1.0, 0.0),
        ("Verdict: contradicted", "contradicted", 0.0, 1.0),
        ("unsupported.", "unsupported", 0.0, 0.0),
        ("The claim is not supported by the passages.", "unsupported", 0.0, 0.0),
        ("unsure", "unsure", 0.5, 0.0),
        ("partially supported", "unsure", 0.5, 0.0),
    ],
)
def test_a_reply_is_read_as_a_verdict(reply: str, label: str, support: float, contradiction: float):
    (verdict,) = judged(asked(lambda request: reply))
    assert (verdict.label, verdict.support, verdict.contradiction) == (label, support, contradiction)


def test_the_prompt_holds_claim_passages_and_question():
    seen: list[Generate] = []
    judged(asked(lambda request: seen.append(request) or "supported"), [Pair((PASSAGE,), "1824", "When was it lit?")])
    assert [request.prompt for request in seen] == [JudgeClaim("1824", (PASSAGE,), "When was it lit?")]


def test_verdicts_come_in_the_order_of_their_pairs():
    judge = asked(lambda request: "supported" if "1824" in request.prompt.claim else "unsupported")
    assert [verdict.entails for verdict in judged(judge, PAIRS)] == ["1824" in pair.claim for pair in PAIRS]


def test_equal_pairs_are_asked_once():
    claims: list[str] = []
    judge = asked(lambda request: claims.append(request.prompt.claim) or "supported")
    assert (len(judged(judge, PAIRS[:1] * 3)), len(claims)) == (3, 1)


def test_no_pair_is_no_request():
    assert judged(asked(lambda request: 1 / 0), []) == []


def test_a_verdict_names_the_model():
    assert judged(asked(lambda request: "supported", name="someone"))[0].judge == "model:someone"


# ---------------------------------------------------------------- replies that say nothing


def test_a_reply_that_cannot_be_read_is_drawn_once_more():
    (verdict,) = judged(asked(lambda request: "supported" if request.sample else "Bananas grow."))
    assert verdict.label == "supported"


def test_two_replies_that_cannot_be_read_are_unsure_with_the_reason():
    (verdict,) = judged(asked(lambda request: "Bananas\ngrow."))
    assert (verdict.label, verdict.reason) == (
        "unsure",
        "scripted gave no verdict that can be read: 'Bananas grow.'",
    )


def test_a_model_that_says_unsure_is_asked_once():
    samples: list[int] = []
    judged(asked(lambda request: samples.append(request.sample) or "unsure"))
    assert samples == [0]


def test_passages_that_the_model_could_not_hold_are_told():
    (verdict,) = judged(asked(lambda request: Reply("unsupported", omitted=2)))
    assert verdict.reason == "scripted could not hold 2 of the passages"


# ---------------------------------------------------------------- failures


def failing(request: Generate) -> str:
    if "1824" in request.prompt.claim:
        raise ModelError("the model is down")
    return "supported"


class Counting(ScriptedModel):
    """Counts the requests by claim."""

    def __init__(self, write: Callable[[Generate], str]) -> None:
        super().__init__(write)
        self.counts: Counter[str] = Counter()

    def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        self.counts.update(request.prompt.claim for request in requests)
        return super().generate(requests)


def test_a_failed_request_is_the_models_error():
    with pytest.raises(ModelError, match="the model is down"):
        judged(asked(failing), PAIRS)


def test_what_was_judged_beside_a_failure_is_not_asked_again():
    model = Counting(failing)
    judge = ModelJudge(model)
    with pytest.raises(ModelError):
        judged(judge, PAIRS)
    judged(judge, [pair for pair in PAIRS if "1824" not in pair.claim])
    assert set(model.counts.values()) == {1}


def test_a_pair_is_asked_anew_once_its_verdict_was_handed_out():
    model = Counting(lambda request: "supported")
    judge = ModelJudge(model)
    judged(judge)
    judged(judge)
    assert set(model.counts.values()) == {2}


def test_a_foreign_error_names_the_model():
    with pytest.raises(ModelError, match="The model scripted failed: ZeroDivisionError"):
        judged(asked(lambda request: str(1 / 0)))


# ---------------------------------------------------------------- calls


class Slow:
    """Answers after a moment and knows how many requests it served at once, and in calls of what size."""

    name = "slow"

    def __init__(self, concurrency: int, batch: int = 1) -> None:
        self.concurrency, self.batch = concurrency, batch
        self.most = self._now = 0
        self.sizes: list[int] = []

    async def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        self._now += 1
        self.most = max(self.most, self._now)
        self.sizes.append(len(requests))
        await asyncio.sleep(0.001)
        self._now -= 1
        return [Reply("supported") for _ in requests]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_the_model_is_asked_as_often_at_once_as_it_takes(concurrency: int):
    model = Slow(concurrency)
    judged(ModelJudge(model), PAIRS)
    assert model.most == concurrency


def test_the_limit_holds_over_calls_of_the_judge():
    model = Slow(2)
    judge = ModelJudge(model)

    async def several() -> None:
        await asyncio.gather(*(judge.judge([pair]) for pair in PAIRS))

    asyncio.run(several())
    assert model.most == 2


def test_a_model_that_takes_several_requests_gets_them_in_one_call():
    model = Slow(1, batch=len(PAIRS))
    judged(ModelJudge(model), PAIRS)
    assert model.sizes == [len(PAIRS)]


def test_a_judge_serves_several_event_loops_in_turn():
    judge = ModelJudge(Slow(1))
    assert [len(judged(judge, PAIRS)) for _ in range(2)] == [len(PAIRS)] * 2


def test_other_models_are_other_keys():
    assert ModelJudge(Slow(1)).key != asked(lambda request: "", name="other").key
