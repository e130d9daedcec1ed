"""Simulation: a language model with set faults, for tests and benchmarks only.

It answers every typed prompt as text with `[n]` marks, from gold facts, with faults of the kinds that language models
show, at one `rate`. Nothing it says answers anybody; every figure made with it is a simulation.

What it does, and why. All of this was fixed before any method was run on it; since then two defects were mended:
independent models shared the wording of their inventions, and abstentions did not count as agreeing.

* It can tell truly only what a passage shown holds. Each such fact is left out with probability rate / 2, and told with
  an unsupported claim in its place with probability rate. Half of these alter a detail, half come from memory
  (`faulty_slips`): VTG (2.3) and CaLM (1) blame parametric memory. No source gives such shares; halves favour no check.
* Each true claim's citation is wrong, missing or accompanied by a superfluous one, rate / 3 each: the three ways in
  which ALCE's recall and precision lose. A false claim is always cited, and as well as can be.
* With no fact in sight it says nothing with probability 1 - rate, else one unsupported claim.
* Claims and citations asked for apart (`NextClaim`, `Cite`) have the same rates as both asked for together
  (`AnswerPrompt`). `NextClaim` goes through the facts in the order in which the answer does and does not come back to
  one that it passed by, else step-wise methods would be given second chances that the single prompt has not.
* A summary misses facts and alters details as an answer does; an extract copies and only misses: CaLM (6.1) finds that
  keeping the words keeps the evidence. With probability rate an irrelevant passage is taken for a relevant one.
* Correcting keeps the draft as it stands, for copying what stands in the prompt is easy, and adds what the passages
  hold beside it, with faults drawn anew. Refining redraws the claims that the feedback names and keeps the others.
* Its judgement of itself is weak: of its faulty claims it notices one in three, two in three when told that the score
  is low (A2R: intrinsic feedback gains little; Table 7: it contradicts its score), and it blames good ones at rate / 3.
* As a model with reflection tokens it tells a fact a segment and judges itself no better (`faulty_reflecting`).
* It plans a text with the same rates, and what it writes from a plan is as faulty as any answer (`faulty_planning`).
* `small`: rate times (1 + 2 s), where s is the share of the passages shown that hold no fact of the question: near the
  large one where all are relevant, three times as faulty where none is (CaLM, 3.3 and Figure 2).

What it is not. When it errs is drawn anew with each sample, so methods that draw again gain more than with a model that
errs on the same things each time. It knows nothing but the gold evidence, so a method that reads on finds nothing new
once that was read. It never paraphrases: a judge that compares words has an easy task, and so has a contrast of words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simulations.answers import answer, cite, extract, next_claim, queries, summarise
from simulations.author import Author, Turn
from simulations.chance import Dice, prompt_key
from simulations.drafts import correct, feedback, judge, most_consistent, refine
from simulations.planning import outline, questions, write
from simulations.reflecting import logprobs, next_segment
from simulations.statements import Matter
from simulations.truth import Fact, holds
from toulmin.data import Claim, Passage, Style, Tokens
from toulmin.errors import UsageError
from toulmin.prompts import types as ask
from toulmin.prompts.reflection import NextSegment
from toulmin.prompts.replies import Reply
from toulmin.steps import Generate

GROWTH = 2.0  # of the small one's rate with the share of irrelevant passages
MOST = 0.95  # no rate is higher, however many passages mislead
TOKENS = 4 / 3  # a word, about; instructions and demonstrations are not counted


class Faulty:
    """A `LanguageModel` with faults at `rate` (0 to 1), knowing the gold `facts` by question.

    Another `seed` is another, independent model. `small` is easily misled by irrelevant passages. It never raises for
    a prompt; one of a type that it does not know gets an empty reply.
    """

    def __init__(
        self,
        facts: Mapping[str, Sequence[Fact]],
        rate: float,
        seed: int = 0,
        *,
        small: bool = False,
        concurrency: int = 64,
    ) -> None:
        if not 0 <= rate <= 1:
            raise UsageError(f"rate: expected a probability from 0 to 1, not {rate}.")
        self.name = f"simulation: {'small ' if small else ''}writer with faults at {rate:g}, seed {seed}"
        self.concurrency = concurrency
        self._rate, self._small = rate, small
        self._author = Author(facts, Dice(f"faulty {seed} {small}"))

    def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        """One reply a request, in order."""
        return [self._reply(request) for request in requests]

    def matters_of(self, question: str, style: Style = "long") -> tuple[Matter, ...]:
        """All that it may say of the question: for each fact the truth, its slip and its invention."""
        return self._author.matters_of(question, style)

    def _reply(self, request: Generate) -> Reply:
        prompt: Any = request.prompt
        handler = _HANDLERS.get(type(prompt))
        turn = Turn(self._author.dice.of(prompt_key(prompt), request.sample), self._rate_for(prompt))
        text = handler(self._author, prompt, turn) if handler else ""
        odds = logprobs(self._author, prompt, text) if request.logprobs and isinstance(prompt, NextSegment) else None
        return Reply(text, tokens=Tokens(_size(prompt), _token_count(text)), logprobs=odds, model=self.name)

    def _rate_for(self, prompt: Any) -> float:
        passages = getattr(prompt, "passages", ())
        question = getattr(prompt, "question", None) or getattr(prompt, "topic", None)
        if not self._small or not passages or not question:
            return self._rate
        facts = self._author.facts_of(question)
        relevant = sum(any(holds(passage, fact.text) for fact in facts) for passage in passages)
        return min(MOST, self._rate * (1 + GROWTH * (1 - relevant / len(passages))))


# A prompt that is not here gets an empty reply.
_HANDLERS: Mapping[type[Any], Callable[[Author, Any, Turn], str]] = {
    ask.AnswerPrompt: answer,
    ask.NextClaim: next_claim,
    ask.Cite: cite,
    ask.Queries: queries,
    ask.Summarise: summarise,
    ask.Extract: extract,
    ask.Correct: correct,
    ask.Refine: refine,
    ask.Feedback: feedback,
    ask.MostConsistent: most_consistent,
    ask.JudgeClaim: judge,
    ask.Outline: outline,
    ask.Questions: questions,
    ask.Write: write,
    NextSegment: next_segment,
}


def _token_count(text: str) -> int:
    return round(TOKENS * len(text.split()))


def _size(prompt: Any) -> int:
    """About how many tokens of content a prompt has."""
    if isinstance(prompt, str):
        return _token_count(prompt)
    if isinstance(prompt, Passage):
        return _token_count(f"{prompt.title} {prompt.text}")
    if isinstance(prompt, Claim):
        return _token_count(prompt.text)
    if isinstance(prompt, Mapping):
        return sum(map(_size, prompt.values()))
    if isinstance(prompt, tuple):
        return sum(map(_size, prompt))
    return sum(_size(getattr(prompt, name)) for name in getattr(type(prompt), "__slots__", ()))
