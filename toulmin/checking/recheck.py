"""Checks whether the current sources still support the claims of saved answers.

A judge is asked only if the evidence of a claim changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from toulmin.checking.places import Place, QuoteTarget, find_quote
from toulmin.data import Answer, Citation, Claim, Passage
from toulmin.formats import answer_json
from toulmin.methods.reporting import conclude
from toulmin.steps import Program
from toulmin.text.language import STOPWORDS, sentences, terms, words
from toulmin.text.overlap import has_most_of, nearest
from toulmin.text.wording import has_facts
from toulmin.verify import smallest_support, weigh

State = Literal["current", "moved", "holds", "stale", "contradicted", "gone"]
_COMPLETE = 0.8  # of a claim's terms, in a quote that is evidence by itself
_SAME = 0.6  # of a sentence's words, in its new version
_SURE = 0.75  # support by another sentence, if the cited one changed its words
_SMALL = STOPWORDS - frozenset("on off in out up down before after above below over under not no only all any".split())
_DENIALS = frozenset("not no never cannot nor neither".split())
FALLEN: frozenset[State] = frozenset({"stale", "contradicted", "gone"})


@dataclass(frozen=True, slots=True)
class ClaimRecheck:
    """A claim of a saved answer as it `was`, and with its citations and verdict `now`.

    `state` is None if it was not supported when saved; `passages` are its evidence now, or the nearest ones; `says` is
    the nearest sentence if they do not support it.
    """

    was: Claim
    now: Claim
    state: State | None
    passages: tuple[Passage, ...] = ()
    says: str | None = None


@dataclass(frozen=True, slots=True)
class Recheck:
    """A saved answer, the file that it was read from, and the state of each claim.

    `pairs` counts the pairs that were judged; `mended` is the updated answer, if requested; `edited` counts saved
    claims that the Markdown file at `path` no longer contains: they are not among `claims`.
    """

    answer: Answer
    claims: tuple[ClaimRecheck, ...]
    pairs: int = 0
    path: str | None = None
    mended: Answer | None = None
    edited: int = 0

    @property
    def counts(self) -> Mapping[str, int]:
        return Counter(claim.state for claim in self.claims if claim.state is not None)

    @property
    def has_fallen(self) -> bool:
        return any(claim.state in FALLEN for claim in self.claims)

    @property
    def document(self) -> dict[str, Any]:
        """As plain JSON values."""
        claims = [_claim_document(claim) for claim in self.claims]
        about = {"id": self.answer.id, "path": self.path, "question": self.answer.question}
        numbers = {"counts": dict(self.counts), "judge_pairs": self.pairs, "edited": self.edited}
        return {**about, **numbers, "claims": claims}


def _claim_document(claim: ClaimRecheck) -> dict[str, Any]:
    passages = [answer_json.passage_document(passage, None) for passage in claim.passages]
    now = {"citations": answer_json.plain(claim.now.citations), "support": answer_json.plain(claim.now.support)}
    return {"text": claim.was.text, "state": claim.state, "now": now, "says": claim.says, "passages": passages}


# ---------------------------------------------------------------- a whole answer


def evidence_ids(answers: Iterable[Answer]) -> list[str]:
    return list(dict.fromkeys(id for answer in answers for claim in answer.claims for id in _evidence_of(claim)))


def evidence_of(answer: Answer, there: Collection[str]) -> list[tuple[QuoteTarget, ...]]:
    """The evidence of each claim; for passages that are not `there`, only the decisive words if these are enough."""
    return [_cited_by(claim, answer, there) for claim in answer.claims]


@dataclass(frozen=True)
class Case:
    """A saved answer, the evidence of each claim, and where that is now."""

    answer: Answer
    resting: Sequence[tuple[QuoteTarget, ...]]
    places: Mapping[QuoteTarget, Place]

    @cached_property
    def _settled(self) -> Sequence[ClaimRecheck | None]:
        pairs = zip(self.answer.claims, self.resting, strict=True)
        return [_find_again(claim, cited, self.places) for claim, cited in pairs]

    @property
    def needs_judge(self) -> bool:
        return None in self._settled

    def judge(self) -> Program[Answer]:
        """The claims whose evidence changed, judged by the current passages."""
        rows = zip(self.answer.claims, self.resting, self._settled, strict=True)
        sets = [(claim, self._passages(cited)) for claim, cited, settled in rows if settled is None]
        bare = [(replace(claim, citations=(), support=None), passages) for claim, passages in sets]
        claims = yield from weigh(smallest_support(bare, self.answer.question, self.answer.style))
        read = {passage.id: passage for _, passages in sets for passage in passages}
        empty = Answer(self.answer.question, self.answer.style, "recheck", "abstained", passages=tuple(read.values()))
        return conclude(empty, claims, "keep")

    def recheck(self, judged: Answer | None, path: str | None, edited: int) -> Recheck:
        now = iter(judged.claims if judged else ())
        claims = []
        for claim, settled, cited in zip(self.answer.claims, self._settled, self.resting, strict=True):
            is_left = any(self.places[each].state != "gone" for each in cited)
            claims.append(settled or _judged(claim, next(now), self._passages(cited), is_left=is_left))
        return Recheck(self.answer, tuple(claims), judged.usage.judge_pairs if judged else 0, path, edited=edited)

    def _passages(self, cited: Sequence[QuoteTarget]) -> tuple[Passage, ...]:
        return tuple(dict.fromkeys(passage for each in cited for passage in self.places[each].passages))


def mend_answer(recheck: Recheck, repairs: Sequence[Answer]) -> Recheck:
    """Adds the updated answer: with current citations, and each fallen claim as in its repair."""
    claims: list[Claim] = []
    passages = {passage.id: passage for claim in recheck.claims for passage in claim.passages}
    notes, left = list[str](), iter(repairs)
    for claim in recheck.claims:
        if claim.state not in FALLEN:
            claims.append(claim.now)
            continue
        repair = next(left)
        kept = [replace(each, section=claim.was.section) for each in repair.claims if each.is_supported]
        claims += kept
        passages |= {passage.id: passage for passage in repair.passages}
        written = " ".join(each.text for each in kept)
        if written != claim.was.text:
            after = f"Now: “{written}”" if written else "Left out."
            notes.append(f"Its source no longer says: “{claim.was.text}” {after}")
    cited = {id for claim in claims for id in (*claim.cited, *(claim.support.evidence if claim.support else ()))}
    of_old = {passage.id: passage for passage in recheck.answer.passages}
    answer = replace(
        recheck.answer,
        status="answered" if claims else "abstained",
        claims=tuple(claims),
        passages=tuple(passage for id, passage in (of_old | passages).items() if id in cited),
        notes=(*recheck.answer.notes, *notes),
        relevance=None,
        id="",
    )
    return replace(recheck, mended=answer)


# ---------------------------------------------------------------- one claim


def _evidence_of(claim: Claim) -> tuple[str, ...]:
    """Empty for a claim that was not supported."""
    if claim.fails or not claim.citations:
        return ()
    return tuple(dict.fromkeys((*claim.cited, *(claim.support.evidence if claim.support else ()))))


def _cited_by(claim: Claim, answer: Answer, there: Collection[str]) -> tuple[QuoteTarget, ...]:
    quotes = {citation.passage: citation.quote for citation in claim.citations if citation.passage not in there}
    enough = {id: quote for id, quote in quotes.items() if quote and _says_all(quote.text, claim.text)}
    return tuple(QuoteTarget(answer.passage(id), enough.get(id)) for id in _evidence_of(claim))


def _says_all(quote: str, claim: str) -> bool:
    """Whether the quote is evidence without the text around it."""
    return has_facts(quote, claim) and has_most_of(quote, {*terms(claim)} - STOPWORDS, _COMPLETE)


def _find_again(claim: Claim, cited: Sequence[QuoteTarget], places: Mapping[QuoteTarget, Place]) -> ClaimRecheck | None:
    """The state of the claim; None if that needs a judge."""
    if not cited:
        return ClaimRecheck(claim, claim, None)
    passages = tuple(dict.fromkeys(passage for each in cited for passage in places[each].passages))
    states = {places[each].state for each in cited}
    if states == {"current"}:
        return ClaimRecheck(claim, claim, "current", passages)
    if states <= {"current", "moved"}:
        return ClaimRecheck(claim, _moved(claim, {each.passage: places[each] for each in cited}), "moved", passages)
    if not passages:
        return ClaimRecheck(claim, claim, "gone" if states == {"gone"} else "stale")
    return None


def _moved(claim: Claim, places: Mapping[Passage, Place]) -> Claim:
    was = {passage.id: passage for passage in places}
    now = {passage.id: place.passages[0] for passage, place in places.items()}
    citations = {}
    for citation in claim.citations:
        passage = now[citation.passage]
        quote = find_quote(QuoteTarget(was[citation.passage], citation.quote), passage.text) if citation.quote else None
        citations[passage.id] = Citation(passage.id, quote)
    evidence = [now[id].id for id in claim.support.evidence] if claim.support else []
    support = replace(claim.support, evidence=tuple(dict.fromkeys(evidence))) if claim.support else None
    return replace(claim, citations=tuple(citations.values()), support=support)


def _judged(claim: Claim, now: Claim, passages: Sequence[Passage], *, is_left: bool) -> ClaimRecheck:
    """The state of a claim after its judgement; `is_left`: at least one of its documents still exists."""
    shown = {*now.cited, *(now.support.evidence if now.support else ())}
    read = tuple(passage for passage in passages if passage.id in shown)
    said = [passage.text[start:end] for passage in passages for start, end in sentences(passage.text)]
    if now.is_supported and now.support is not None:
        doubt = _doubt(claim, now, said)
        if doubt is None:
            return ClaimRecheck(claim, now, "holds", read)
        now = replace(now, support=replace(now.support, label="unsure", reason=doubt[1]))
        return ClaimRecheck(claim, now, "stale", read, doubt[0])
    is_against = now.support is not None and now.support.label == "contradicted"
    state: State = "contradicted" if is_against else "stale" if is_left else "gone"
    return ClaimRecheck(claim, now, state, read, _nearest(claim.text, said))


def _nearest(text: str, said: Sequence[str]) -> str | None:
    near = nearest(text, said)
    return None if near is None else said[near]


def _doubt(claim: Claim, now: Claim, said: Sequence[str]) -> tuple[str, str] | None:
    """The new version of the cited sentence, and why it does not support the claim, whatever the judge decides.

    It lost words of the claim, or denies something, and no other sentence clearly supports the claim.
    """
    for quote in (citation.quote.text for citation in claim.citations if citation.quote):
        heir, had = _nearest(quote, said), {*_words(quote)}
        if heir is None or len(had & {*_words(heir)}) < _SAME * len(had) or heir == quote:
            continue
        lost = [word for word in dict.fromkeys(_words(claim.text)) if word in had - {*_words(heir)} - _SMALL]
        denied = [word for word in _words(heir) if word in _DENIALS - {*_words(claim.text)}]
        is_other = any(c.quote and " ".join(c.quote.text.split()) != " ".join(heir.split()) for c in now.citations)
        if (lost or denied) and not (is_other and now.support and now.support.score >= _SURE):
            change = f"no longer has “{lost[0]}”" if lost else f"now has “{denied[0]}”"
            return heir, f"the sentence that it was taken from {change}"
    return None


def _words(text: str) -> list[str]:
    return [text[start:end].casefold() for start, end in words(text)]
