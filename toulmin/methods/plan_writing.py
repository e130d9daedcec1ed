"""Parts, drafted and judged side by side"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from toulmin.data import Answer, Claim, Dropped, Passage, Round, Style, SubQuestion
from toulmin.errors import ModelError
from toulmin.methods.direct import show_draft
from toulmin.methods.plan_prompts import Part, titles
from toulmin.methods.reporting import add_draft, draft_round, ids, in_sections, read_by, unsaid
from toulmin.methods.sentence_wording import wording_of
from toulmin.parsing.citing import Draft
from toulmin.steps import Exchange, Program, exchange, together
from toulmin.verify import smallest_support, verify

Outcomes = Callable[[Sequence[Claim]], tuple[SubQuestion, ...]]


def write_parts(answer: Answer, parts: Sequence[Part], outcomes: Outcomes, *, inline: bool) -> Program[Answer]:
    """Drafts, shows and judges all parts side by side and joins them in the answer.

    A part for which the model fails is left out with a note; if it fails for all, its error is raised. `outcomes`
    says how far the claims answer the plan's questions.
    """
    growing = _Growing(answer, parts, outcomes)
    asked = [n for n, part in enumerate(parts) if part.prompt is not None]
    yield from together([_part(growing, n, inline=inline) for n in asked])
    failures = growing.failures
    if failures and len(failures) == len(asked):
        raise failures[asked[0]]
    notes = [f"Not written: {growing.name(n)}. {failures[n]}" for n in sorted(failures)]
    done = growing.answer
    return replace(done, notes=(*answer.notes, *notes, *(() if done.claims else growing.unsaid)))


@dataclass(frozen=True, slots=True)
class _Written:
    claims: tuple[Claim, ...]
    round: Round
    invalid: int = 0
    unsaid: tuple[str, ...] = ()


class _Growing:
    """A text that grows part by part, in any order; at any time it is a whole answer."""

    def __init__(self, answer: Answer, parts: Sequence[Part], outcomes: Outcomes) -> None:
        self.parts = parts
        self.failures: dict[int, ModelError] = {}
        self.style = answer.style
        self._answer, self._outcomes = answer, outcomes
        nothing = [n for n, part in enumerate(parts) if part.prompt is None]
        self._drafts = {n: self._nothing(n, "none of its questions is answered") for n in nothing}

    def name(self, n: int) -> str:
        paragraph = self.parts[n].paragraph
        return paragraph.title if paragraph else "the text"

    def give_up(self, n: int, error: ModelError) -> None:
        self.failures[n] = error
        self._drafts[n] = self._nothing(n, str(error))

    def _nothing(self, n: int, why: str) -> _Written:
        return _Written((), Round("draft", n + 1, dropped=(Dropped(self.name(n), why),)))

    def put(self, n: int, draft: _Written) -> None:
        self._drafts[n] = draft

    @property
    def unsaid(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(note for n in sorted(self._drafts) for note in self._drafts[n].unsaid))

    @property
    def draft(self) -> Answer:
        return in_sections(self.answer, titles(self.parts))

    @property
    def answer(self) -> Answer:
        answer = self._answer
        for draft in _without_repetitions([self._drafts[n] for n in sorted(self._drafts)]):
            answer = add_draft(answer, (*answer.claims, *draft.claims), draft.round, draft.invalid)
        sections = tuple(part.section for part in self.parts if part.section)
        return replace(answer, sections=sections, questions=self._outcomes(answer.claims))


def _part(growing: _Growing, n: int, *, inline: bool) -> Program[None]:
    part = growing.parts[n]
    if part.prompt is None:
        return
    try:
        done = yield from exchange(part.prompt)
    except ModelError as error:
        growing.give_up(n, error)
        return
    draft = _draft(part, done, growing.style, n, inline=inline)
    growing.put(n, draft)
    yield from show_draft(growing.draft)
    answer = growing.answer
    if inline:
        claims = yield from verify(draft.claims, {p.id: p for p in part.context}, answer.question, answer.style)
    else:
        seen = _visible_passages(part, done)
        asked = [(claim, seen) for claim in draft.claims]
        claims = yield from smallest_support(asked, answer.question, answer.style)
    growing.put(n, replace(draft, claims=claims))
    yield from show_draft(growing.draft)


def _draft(part: Part, done: Exchange[Draft], style: Style, n: int, *, inline: bool) -> _Written:
    title = part.paragraph.title if part.paragraph else None
    claims = tuple(
        replace(claim, citations=claim.citations if inline else (), support=None, section=title)
        for claim in done.value.claims
    )
    entry = draft_round(replace(done, value=replace(done.value, claims=claims)), style, n=n + 1)
    entry = replace(entry, read=read_by(done.prompt) or ids(part.shown))
    return _Written(claims, entry, done.value.invalid, unsaid(done))


def _visible_passages(part: Part, done: Exchange[Draft]) -> tuple[Passage, ...]:
    left = set(read_by(part.prompt)) - set(read_by(done.prompt)) if part.prompt else set()
    return tuple(passage for passage in part.context if passage.id not in left)


def _without_repetitions(drafts: Sequence[_Written]) -> Iterator[_Written]:
    """Of sentences in the same words keeps the first supported one, else the first."""
    staying: dict[tuple[str, ...], Claim] = {}
    for claim in (claim for draft in drafts for claim in draft.claims):
        known = staying.setdefault(wording_of(claim.text), claim)
        if claim.is_supported and not known.is_supported:
            staying[wording_of(claim.text)] = claim
    for draft in drafts:
        places = [(claim, staying[wording_of(claim.text)]) for claim in draft.claims]
        kept = tuple(claim for claim, original in places if claim is original)
        dropped = [_repetition(claim, original) for claim, original in places if claim is not original]
        story = draft.round
        entry = replace(story, kept=tuple(claim.text for claim in kept), dropped=(*story.dropped, *dropped))
        yield replace(draft, claims=kept, round=entry)


def _repetition(claim: Claim, staying: Claim) -> Dropped:
    elsewhere = staying.section is not None and staying.section != claim.section
    return Dropped(claim.text, f"stands under “{staying.section}” too" if elsewhere else "stands here already")
