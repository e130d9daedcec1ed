"""A judge and a reader that ask a language model."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Sequence
from statistics import fmean

from toulmin.data import Label, Passage, Quote
from toulmin.driver.batches import Calls
from toulmin.driver.kit import LanguageModel
from toulmin.errors import ToulminError
from toulmin.prompts.types import AnswerPrompt, JudgeClaim
from toulmin.steps import Generate, Pair, Span, Verdict, close

ROLE, READER = "judge", "reader"
_DRAWS = 2  # for one prompt, until the reply counts as unreadable
_SHOWN = 80  # characters of such a reply
_FORMAT = "judge-claim-1"
_DOUBT = re.compile(
    r"\b(?:unsure|uncertain|unclear|undecided|part(?:ly|ial(?:ly)?)|whether|ambiguous|cannot (?:decide|say|tell))\b",
    re.IGNORECASE,
)
# Support and contradiction by label: a prompted model gives no probabilities.
_MEANS: dict[Label, tuple[float, float]] = {
    "supported": (1.0, 0.0),
    "unsure": (0.5, 0.0),
    "unsupported": (0.0, 0.0),
    "contradicted": (0.0, 1.0),
}


class _Asking:
    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.name = f"model:{model.name}"
        self._calls: Calls | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def aclose(self) -> None:
        await close(self._model)

    def _turn(self) -> Calls:
        """One object for each event loop, so that the model's limit holds."""
        loop = asyncio.get_running_loop()
        if self._calls is None or self._loop is not loop:
            self._calls, self._loop = Calls(self._model), loop
        return self._calls


class ModelJudge(_Asking):
    """Asks the model `JudgeClaim` for each pair; `support` is 1.0, 0.5 (unsure) or 0.0.

    After a second unreadable reply the verdict is unsure, with the reason.
    """

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        key = getattr(model, "key", None)
        asked = key(Generate(JudgeClaim("", ()), ROLE)) if key else model.name
        self.key = json.dumps([_FORMAT, asked])
        self._judged: dict[Pair, Verdict] = {}  # from calls that failed, until asked for again

    async def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Raises the error of the first pair that fails; the next call reuses the other verdicts."""
        wanted = list(dict.fromkeys(pairs))
        results = await asyncio.gather(*map(self._verdict, wanted))
        by_pair = dict(zip(wanted, results, strict=True))
        for result in results:
            if isinstance(result, ToulminError):
                self._judged |= {pair: verdict for pair, verdict in by_pair.items() if isinstance(verdict, Verdict)}
                raise result
        return [verdict for pair in pairs if isinstance(verdict := by_pair[pair], Verdict)]

    async def _verdict(self, pair: Pair) -> Verdict | ToulminError:
        known = self._judged.pop(pair, None)
        if known is not None:
            return known
        try:
            return await self._ask(pair)
        except ToulminError as error:
            return error

    async def _ask(self, pair: Pair) -> Verdict:
        prompt = JudgeClaim(pair.claim, pair.premises, pair.question)
        text = ""
        for sample in range(_DRAWS):
            reply = await self._turn().ask(Generate(prompt, ROLE, sample))
            text, label = reply.text, prompt.read(reply.text)
            if label != "unsure" or _DOUBT.search(text):
                left_out = f"{self._model.name} could not hold {reply.omitted} of the passages"
                return self._build_verdict(pair, label, left_out if reply.omitted else None)
        shown = " ".join(text.split())[:_SHOWN]
        return self._build_verdict(pair, "unsure", f"{self._model.name} gave no verdict that can be read: {shown!r}")

    def _build_verdict(self, pair: Pair, label: Label, reason: str | None = None) -> Verdict:
        support, contradiction = _MEANS[label]
        return Verdict(label, support, contradiction, self.name, (None,) * len(pair.premises), reason)


class ModelReader(_Asking):
    """Asks for a short answer from each passage.

    The confidence is the geometric mean of the token probabilities, or 1 if the model gives none.
    """

    async def read(self, questions: Sequence[tuple[str, Sequence[Passage]]]) -> list[Span | None]:
        asked = list(dict.fromkeys((question, passage) for question, passages in questions for passage in passages))
        spans = dict(zip(asked, await asyncio.gather(*(self._span(*each) for each in asked)), strict=True))
        found = [[span for p in passages if (span := spans[question, p])] for question, passages in questions]
        return [max(each, key=lambda span: span.confidence, default=None) for each in found]

    async def _span(self, question: str, passage: Passage) -> Span | None:
        prompt = AnswerPrompt(question, (passage,), "short", inline=False)
        reply = await self._turn().ask(Generate(prompt, READER, logprobs=1))
        claims = prompt.read(reply.text).claims if reply.value is None else reply.value.claims
        words = r"\W+".join(re.findall(r"\w+", claims[0].text)) if claims else ""
        place = re.search(rf"\b{words}\b", passage.text, re.IGNORECASE) if words else None
        chances = [token.logprob for token in reply.logprobs or ()] or [0.0]
        sure = math.exp(min(0.0, fmean(chances)))
        return place and Span(passage.id, Quote(place.start(), place.end(), place[0]), sure)
