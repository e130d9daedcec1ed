"""Simulation: a language model with set faults, for tests and benchmarks only.

It answers every typed prompt as text with `[n]` marks, from gold facts, with faults of the kinds that language models
show, at one `rate`. Nothing it says answers anybody; every figure made with it is a simulation.

What it does, and why. All of this was fixed before any method was run on it.

* It can tell truly only what a passage shown holds. Each such fact is left out with probability rate / 2 (an answer
  that is incomplete is commoner than harmful), and told with an unsupported claim in its place with probability rate.
  Half of these alter a detail, half come from memory (`slips`): VTG (2.3) and CaLM (1) blame parametric memory, and
  reviews of model answers find wrong details about as often as inventions.
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
* `small`: rate times (1 + 2 s), where s is the share of the passages shown that hold no fact of the question: near the
  large one where all are relevant, three times as faulty where none is (CaLM, 3.3 and Figure 2).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toulmin.data import Claim, Passage, Style, Tokens
from toulmin.errors import UsageError
from toulmin.grounding import prompts as ask
from toulmin.grounding.steps import Generate, Reply
from toulmin.language import sentences, terms
from toulmin.models.chance import Dice, asked
from toulmin.models.statements import Line, Matter, Seen, Statement, citations, matters, seen, stray, written
from toulmin.models.truth import Fact, holds, plain, supports

MISSED = 1 / 2  # of the rate: facts left out
ALTERED = 1 / 2  # of the unsupported claims: those that alter a detail; the others are from memory
GROWTH = 2.0  # of the small one's rate with the share of irrelevant passages
MOST = 0.95  # no rate is higher, however many passages mislead
KNOWN = 1 / 2  # of the facts: those that it could tell without passages
NOTICED, NOTICED_IF_LOW = 1 / 3, 2 / 3  # of its faulty claims, when asked, and when told that the score is low
BLAMED = 1 / 3  # of the rate: good claims that it finds fault with
TOKENS = 4 / 3  # a word, about; instructions and demonstrations are not counted


@dataclass(frozen=True, slots=True)
class Turn:
    """One request to the writer: its draws, and the rate of faults that its passages bring out."""

    dice: Dice
    rate: float


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
        self._facts, self._rate, self._small = facts, rate, small
        self._dice = Dice(f"faulty {seed} {small}")
        self._known: dict[tuple[str, Style], tuple[Matter, ...]] = {}
        self._sentences = {a: f.text for own in facts.values() for f in own for a in f.answers}

    def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        """One reply a request, in order."""
        return [self._reply(request) for request in requests]

    def _reply(self, request: Generate) -> Reply:
        prompt: Any = request.prompt
        handler = _HANDLERS.get(type(prompt))
        turn = Turn(self._dice.of(asked(prompt), request.sample), self._rate_for(prompt))
        text = handler(self, prompt, turn) if handler else ""
        return Reply(text, tokens=Tokens(_size(prompt), _counted(text)), model=self.name)

    def _rate_for(self, prompt: Any) -> float:
        passages, question = getattr(prompt, "passages", ()), getattr(prompt, "question", None)
        if not self._small or not passages or not question:
            return self._rate
        facts = self._facts.get(question, ())
        relevant = sum(any(holds(passage, fact.text) for fact in facts) for passage in passages)
        return min(MOST, self._rate * (1 + GROWTH * (1 - relevant / len(passages))))

    # -------------------------------------------------------------- what is said

    def matters_of(self, question: str, style: Style) -> tuple[Matter, ...]:
        """What it can say of the question in that style, for each of its facts."""
        key = question, style
        if key not in self._known:
            self._known[key] = matters(question, self._facts.get(question, ()), style, self._dice)
        return self._known[key]

    def _seen(self, question: str, passages: Sequence[Passage], style: Style) -> list[Seen]:
        return seen(self.matters_of(question, style), passages)

    def _told(self, item: Seen, turn: Turn) -> Statement | None:
        """The fact as it comes out: told, left out, or with an unsupported claim in its place."""
        if self._is_missed(item, turn):
            return None
        return _unsupported(item.matter, turn) or item.statement

    @staticmethod
    def _is_missed(item: Seen, turn: Turn) -> bool:
        return turn.dice.falls(turn.rate * MISSED, "missed", item.matter.n)

    def _lines(self, found: Iterable[Seen], passages: Sequence[Passage], turn: Turn) -> list[Line]:
        told = [self._told(item, turn) for item in found]
        return [self._line(statement, passages, turn) for statement in told if statement is not None]

    def _line(self, statement: Statement, passages: Sequence[Passage], turn: Turn) -> Line:
        return Line(statement.said, citations(statement.sentence, passages, turn.rate, turn.dice))

    def _astray(self, question: str, passages: Sequence[Passage], turn: Turn) -> list[Statement]:
        """What it says with no fact in sight: mostly nothing."""
        if not turn.dice.falls(turn.rate, "astray"):
            return []
        return [stray(question, passages, self._dice.of("belief", question))]

    # -------------------------------------------------------------- answers

    def _answer(self, prompt: ask.AnswerPrompt, turn: Turn) -> str:
        if not prompt.passages:
            return written(self._from_memory(prompt, turn), prompt.style, inline=False)
        lines = self._retold(prompt, turn) or self._drafted(prompt.question, prompt.passages, prompt.style, turn)
        return written(lines, prompt.style, inline=prompt.inline)

    def _drafted(self, question: str, passages: Sequence[Passage], style: Style, turn: Turn) -> list[Line]:
        found = self._seen(question, passages, style)
        if found:
            return self._lines(found, passages, turn)
        return [self._line(statement, passages, turn) for statement in self._astray(question, passages, turn)]

    def _retold(self, prompt: ask.AnswerPrompt, turn: Turn) -> list[Line]:
        """What a text already written says, drawn together: it is believed, and only its citations are drawn."""
        text = plain(prompt.written)
        own, long = self.matters_of(prompt.question, prompt.style), self.matters_of(prompt.question, "long")
        told = (
            said
            for matter, sentence in zip(own, long, strict=True)
            for said, whole in zip(matter.statements, sentence.statements, strict=False)
            if text and (said.said in text or whole.said in text)
        )
        return [self._line(statement, prompt.passages, turn) for statement in told]

    def _from_memory(self, prompt: ask.AnswerPrompt, turn: Turn) -> list[Line]:
        known = self.matters_of(prompt.question, prompt.style)
        told = [self._recalled(matter, prompt.question, turn) for matter in known]
        if not known:
            told = list(self._astray(prompt.question, (), turn))
        return [Line(statement.said) for statement in told if statement is not None]

    def _recalled(self, matter: Matter, question: str, turn: Turn) -> Statement | None:
        """A fact that it knows comes out as one that it reads; in place of one that it does not, at times, anything."""
        if self._dice.falls(KNOWN, "known", question, matter.n):
            return self._told(Seen(matter, matter.true), turn)
        return _unsupported(matter, turn)

    def _next_claim(self, prompt: ask.NextClaim, turn: Turn) -> str:
        text = plain(prompt.written)
        found = self._seen(prompt.question, prompt.passages, prompt.style)
        passed = [place for place, item in enumerate(found, 1) if item.matter.is_told_in(text)]
        for item in found[max(passed, default=0) :]:
            statement = self._told(item, turn)
            if statement is not None:
                return statement.said
        if not found and not text:
            return "".join(statement.said for statement in self._astray(prompt.question, prompt.passages, turn))
        return "END"

    def _cite(self, prompt: ask.Cite, turn: Turn) -> str:
        sentence = self._sentences.get(prompt.claim, prompt.claim)
        return "".join(f"[{n}]" for n in citations(plain(sentence), prompt.passages, turn.rate, turn.dice))

    def _queries(self, prompt: ask.Queries, turn: Turn) -> str:
        """The question again with the claim's words, what the claim says, and what it is about."""
        words = [word.strip(".,;:()\"'") for word in prompt.claim.split()]
        names = [word for word in words if word[:1].isupper() or word[:1].isdigit()]
        wanted = [
            f"{prompt.question.rstrip('?')} {' '.join(names[:4])}?",
            f"Is it true that {prompt.claim.rstrip('.')}?",
            f"What is known about {' '.join(names[:3]) or prompt.question.rstrip('?')}?",
        ]
        return "\n".join(f"{n}. {plain(query)}" for n, query in enumerate(wanted[: prompt.n], 1))

    # -------------------------------------------------------------- shortened passages

    def _summarise(self, prompt: ask.Summarise, turn: Turn) -> str:
        found = self._seen(prompt.question, (prompt.passage,), "long")
        if not found:
            return _irrelevant(prompt.passage, turn)
        said = [self._summed_up(item, turn) for item in found if not self._is_missed(item, turn)]
        return _within(said, prompt.words) or "Not relevant."

    def _summed_up(self, item: Seen, turn: Turn) -> str:
        """Who has one passage alone in view adds nothing from memory, but alters details as ever."""
        alters = turn.dice.falls(turn.rate * ALTERED, "altered", item.matter.n)
        return item.matter.altered.said if alters and item.matter.altered else item.statement.said

    def _extract(self, prompt: ask.Extract, turn: Turn) -> str:
        found = self._seen(prompt.question, (prompt.passage,), "long")
        if not found:
            return _irrelevant(prompt.passage, turn)
        kept = [item for item in found if not self._is_missed(item, turn)]
        return " ".join(item.statement.said for item in kept) or "Not relevant."

    # -------------------------------------------------------------- drafts made from drafts

    def _correct(self, prompt: ask.Correct, turn: Turn) -> str:
        kept = [self._kept(claim, prompt.passages, turn) for claim in prompt.draft]
        if kept:
            added = self._added(prompt.question, prompt.passages, prompt.draft, prompt.style, turn)
        else:
            added = self._drafted(prompt.question, prompt.passages, prompt.style, turn)
        text = written([*kept, *added], prompt.style)
        if prompt.style == "list":
            return f"The passages were read again for entities that the draft lacks.\nFinal Answer: {text}"
        return f"Corrected Answer: {text}"

    def _kept(self, claim: Claim, passages: Sequence[Passage], turn: Turn) -> Line:
        """The claim with its citations; where it cited something and none of it is shown, it is cited anew."""
        labels = tuple(n for n, passage in enumerate(passages, 1) if passage.id in claim.cited)
        if labels or not claim.cited:
            return Line(claim.text, labels)
        sentence = self._sentences.get(claim.text, claim.text)
        return self._line(Statement(claim.text, sentence), passages, turn)

    def _added(
        self, question: str, passages: Sequence[Passage], told: Sequence[Claim], style: Style, turn: Turn
    ) -> list[Line]:
        """The facts in sight that the claims do not tell in any way, with faults drawn anew."""
        text = _joined(told)
        new = [item for item in self._seen(question, passages, style) if not item.matter.is_told_in(text)]
        return self._lines(new, passages, turn)

    def _refine(self, prompt: ask.Refine, turn: Turn) -> str:
        remarks = plain(" ".join(prompt.feedback.values()))
        numbers = {int(n) for n in re.findall(r"\b(?:sentence|claim|statement|entity)\s+(\d{1,3})\b", remarks, re.I)}
        blamed = {n for n, c in enumerate(prompt.claims, 1) if n in numbers or f'"{plain(c.text)}"' in remarks}
        lines: list[Line] = []
        for n, claim in enumerate(prompt.claims, 1):
            lines += self._redone(claim, prompt, turn) if n in blamed else [self._kept(claim, prompt.passages, turn)]
        if re.search(r"\b(?:incomplete|miss(?:es|ing)|leaves out|omits)\b", remarks, re.I):
            lines += self._added(prompt.question, prompt.passages, prompt.claims, prompt.style, turn)
        return written(lines, prompt.style)

    def _redone(self, claim: Claim, prompt: ask.Refine, turn: Turn) -> list[Line]:
        """What stands in the place of a claim that was found fault with: its fact drawn anew, or nothing."""
        found = self._seen(prompt.question, prompt.passages, prompt.style)
        own = [item for item in found if item.matter.is_told_in(plain(claim.text))]
        return self._lines(own[:1], prompt.passages, turn)

    # -------------------------------------------------------------- judgements

    def _feedback(self, prompt: ask.Feedback, turn: Turn) -> str:
        targets = dict(prompt.targets)
        low = {name for name, score in prompt.scores if score < targets.get(name, 0.0)}
        names = [name for name, _ in prompt.scores] or ["answer"]
        return "\n".join(f"{name}: {self._remarks(prompt, name, name in low, turn)}" for name in names)

    def _remarks(self, prompt: ask.Feedback, aspect: str, is_low: bool, turn: Turn) -> str:
        noticed = NOTICED_IF_LOW if is_low else NOTICED
        dice = turn.dice.of(aspect)
        shown = {passage.id: passage for passage in prompt.passages}
        facts = self._facts.get(prompt.question, ())
        found = []
        for n, claim in enumerate(prompt.claims, 1):
            right = [supports(shown[id], claim.text, facts) for id in claim.cited if id in shown]
            if dice.falls(turn.rate * BLAMED if right and all(right) else noticed, n):
                found.append(f"Sentence {n} is not borne out by what it cites.")
        if self._is_incomplete(prompt) and dice.falls(noticed, "missing"):
            found.append("The answer is incomplete: the passages say more.")
        return " ".join(found) or "This is good as it is."

    def _is_incomplete(self, prompt: ask.Feedback) -> bool:
        """Whether the passages hold a fact that the claims do not tell, neither in a sentence nor in short."""
        text = _joined(prompt.claims)
        short = self.matters_of(prompt.question, "short")
        found = [item.matter for item in self._seen(prompt.question, prompt.passages, "long")]
        return any(not matter.is_told_in(text) and not short[matter.n].is_told_in(text) for matter in found)

    def _most_consistent(self, prompt: ask.MostConsistent, turn: Turn) -> str:
        """The candidate that shares most words with the others, or at the rate any."""
        if not prompt.candidates:
            return "None."
        bags = [frozenset(terms(_joined(claims))) for claims in prompt.candidates]
        agreement = [sum(_alike(bag, other) for other in bags) for bag in bags]
        best = agreement.index(max(agreement))
        astray = turn.dice.falls(turn.rate, "astray")
        return f"Answer {1 + (turn.dice.pick(range(len(bags)), 'any') if astray else best)}"

    def _judge(self, prompt: ask.JudgeClaim, turn: Turn) -> str:
        facts = self._facts.get(prompt.question or "", ())
        right = any(supports(passage, prompt.claim, facts) for passage in prompt.passages)
        return "Supported." if right != turn.dice.falls(turn.rate, "verdict") else "Unsupported."


def _unsupported(matter: Matter, turn: Turn) -> Statement | None:
    """An unsupported claim in the place of the fact; None where the draw is for the truth."""
    dice = turn.dice.of("fact", matter.n)
    if not dice.falls(turn.rate, "unsupported"):
        return None
    return matter.altered if matter.altered and dice.falls(ALTERED, "altered") else matter.remembered


def _alike(bag: frozenset[str], other: frozenset[str]) -> float:
    """The share of words in common; two abstentions agree."""
    return len(bag & other) / len(bag | other) if bag or other else 1.0


def _irrelevant(passage: Passage, turn: Turn) -> str:
    spans = sentences(passage.text)
    if not spans or not turn.dice.falls(turn.rate, "taken for relevant"):
        return "Not relevant."
    return plain(passage.text[spans[0].start : spans[0].end])


def _within(said: Sequence[str], words: int) -> str:
    """As many whole statements as fit; the first in any case."""
    kept = list(said[:1])
    for text in said[1:]:
        if len(" ".join([*kept, text]).split()) <= words:
            kept.append(text)
    return " ".join(kept)


def _joined(claims: Sequence[Claim]) -> str:
    return plain(" ".join(claim.text for claim in claims))


def _counted(text: str) -> int:
    return round(TOKENS * len(text.split()))


def _size(prompt: Any) -> int:
    """About how many tokens of content a prompt has."""
    if isinstance(prompt, str):
        return _counted(prompt)
    if isinstance(prompt, Passage):
        return _counted(f"{prompt.title} {prompt.text}")
    if isinstance(prompt, Claim):
        return _counted(prompt.text)
    if isinstance(prompt, Mapping):
        return sum(map(_size, prompt.values()))
    if isinstance(prompt, tuple):
        return sum(map(_size, prompt))
    return sum(_size(getattr(prompt, name)) for name in getattr(type(prompt), "__slots__", ()))


# A prompt that is not here gets an empty reply; those of the planning methods belong here when there are such.
_HANDLERS: Mapping[type[Any], Callable[[Faulty, Any, Turn], str]] = {
    ask.AnswerPrompt: Faulty._answer,
    ask.NextClaim: Faulty._next_claim,
    ask.Cite: Faulty._cite,
    ask.Queries: Faulty._queries,
    ask.Summarise: Faulty._summarise,
    ask.Extract: Faulty._extract,
    ask.Correct: Faulty._correct,
    ask.Refine: Faulty._refine,
    ask.Feedback: Faulty._feedback,
    ask.MostConsistent: Faulty._most_consistent,
    ask.JudgeClaim: Faulty._judge,
}
