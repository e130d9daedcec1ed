"""Planning before retrieval: an outline, its questions, their passages and outcomes.

A question of several parts ("When and where was she born?") is answered if all parts are.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple

from toulmin.data import Claim, Omission, Outcome, Passage, Round, SubQuestion
from toulmin.methods.evidence import evidence, failure_notes, search_round
from toulmin.methods.reporting import ids, omissions, read_by, wording_of
from toulmin.parsing.citing import without_marks
from toulmin.prompts.types import Finding, Outline, Paragraph, Questions
from toulmin.steps import Exchange, Program, Span, exchange, read, together
from toulmin.text.language import STOP_TERMS, rarity, terms
from toulmin.text.names import Kind as FactKind
from toulmin.text.names import facts

Kind = Literal["person", "event", "other"]
# What the outline is about; the paper's prompt plans "a bio about" its entity (A.2.3).
PLANNED: Mapping[Kind, str] = {"person": "a biography of {}", "event": "an account of {}", "other": "{}"}

LONGEST_TITLE = 60  # characters; without titles a paragraph begins with what it should say


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question, the positions (from 0) of its paragraphs, and its passages."""

    text: str
    asked_by: tuple[int, ...]
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan so far; without an outline there are no paragraphs."""

    paragraphs: tuple[Paragraph, ...] = ()
    inquiries: tuple[Inquiry, ...] = ()
    rounds: tuple[Round, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def passages(self) -> tuple[Passage, ...]:
        return tuple(passage for inquiry in self.inquiries for passage in inquiry.passages)

    def of(self, position: int) -> tuple[Inquiry, ...]:
        return tuple(inquiry for inquiry in self.inquiries if position in inquiry.asked_by)


# ---------------------------------------------------------------- outline


def make_outline(topic: str, kind: Kind, first: tuple[Passage, ...], most: int) -> Program[Plan]:
    """At most `most` paragraphs with short, distinct titles."""
    done = yield from exchange(Outline(PLANNED[kind].format(topic), first))
    paragraphs = _title_paragraphs(done.value[:most], done.prompt, topic)
    beyond = tuple(Omission(paragraph.title, f"more than {most} paragraphs") for paragraph in done.value[most:])
    titles = tuple(paragraph.title for paragraph in paragraphs)
    plan_round = Round("plan", role="main", read=read_by(done.prompt), kept=titles, dropped=(*omissions(done), *beyond))
    return Plan(paragraphs, rounds=(plan_round,))


def _title_paragraphs(paragraphs: Sequence[Paragraph], asked: object, topic: str) -> tuple[Paragraph, ...]:
    """The topic is the title of an unnamed paragraph."""
    taken: set[str] = set()
    titled = []
    for paragraph in paragraphs:
        named = replace(paragraph, title=topic) if paragraph.title == getattr(asked, "topic", None) else paragraph
        titled.append(_distinct(_shorten_title(named, topic), taken))
    return tuple(titled)


def _shorten_title(paragraph: Paragraph, topic: str) -> Paragraph:
    title = " ".join(without_marks(paragraph.title).split()) or topic
    if len(title) <= LONGEST_TITLE:
        return replace(paragraph, title=title)
    short = title[:LONGEST_TITLE].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"
    return Paragraph(short, f"{title} {paragraph.description}".strip())


def _distinct(paragraph: Paragraph, taken: set[str]) -> Paragraph:
    """A claim names its section by title, so no two may be equal."""
    title, number = paragraph.title, 1
    while title.casefold() in taken:
        number += 1
        title = f"{paragraph.title} ({number})"
    taken.add(title.casefold())
    return replace(paragraph, title=title)


# ---------------------------------------------------------------- questions


def add_questions(plan: Plan, topic: str, first: tuple[Passage, ...], most: int, *, merge: bool) -> Program[Plan]:
    """Asks for the questions of all paragraphs side by side, at most `most` each.

    A paragraph without questions is searched for by its description. Without an outline the questions are about the
    topic, which replaces missing ones. `merge` makes one inquiry of equal questions, whatever their case and
    punctuation.
    """
    parts: tuple[Paragraph | None, ...] = plan.paragraphs or (None,)
    replies = yield from together([exchange(Questions(topic, first, part)) for part in parts])
    instead = [(part.description or part.title) if part else topic for part in parts]
    lists = [done.value[:most] or (text,) for text, done in zip(instead, replies, strict=True)]
    plan = replace(plan, inquiries=_inquiries(lists, merge=merge))
    rounds = [_questions_round(plan, n, lists[n], done, most) for n, done in enumerate(replies)]
    return replace(plan, rounds=(*plan.rounds, *rounds))


def _inquiries(lists: Sequence[Sequence[str]], *, merge: bool) -> tuple[Inquiry, ...]:
    inquiries: dict[Hashable, Inquiry] = {}
    for position, questions in enumerate(lists):
        for number, text in enumerate(questions):
            key = wording_of(text) if merge else (position, number)
            known = inquiries.get(key, Inquiry(text, ()))
            inquiries[key] = replace(known, asked_by=tuple(dict.fromkeys((*known.asked_by, position))))
    return tuple(inquiries.values())


def _questions_round(
    plan: Plan, position: int, questions: Sequence[str], done: Exchange[tuple[str, ...]], most: int
) -> Round:
    new = {inquiry.text for inquiry in plan.inquiries if inquiry.asked_by[0] == position}
    again = [Omission(text, _where_before(plan, position, text)) for text in questions if text not in new]
    beyond = [Omission(text, f"more than {most} questions") for text in done.value[most:]]
    return Round(
        "plan",
        position + 1,
        role="main",
        read=read_by(done.prompt),
        text=plan.paragraphs[position].title if plan.paragraphs else None,
        kept=tuple(text for text in questions if text in new),
        dropped=(*omissions(done), *again, *beyond),
    )


def _where_before(plan: Plan, position: int, question: str) -> str:
    wording = wording_of(question)
    first = next(inquiry.asked_by[0] for inquiry in plan.of(position) if wording_of(inquiry.text) == wording)
    return "asked already" + (f" for “{plan.paragraphs[first].title}”" if first != position else "")


# ---------------------------------------------------------------- second search


def search_questions(plan: Plan, per_question: int) -> Program[Plan]:
    """Searches for all questions side by side; a failure becomes a note."""
    results = yield from evidence([inquiry.text for inquiry in plan.inquiries], per_question)
    inquiries = tuple(
        replace(inquiry, passages=result.passages) for inquiry, result in zip(plan.inquiries, results, strict=True)
    )
    rounds = (search_round([result], n) for n, result in enumerate(results, start=1))
    notes = (*plan.notes, *failure_notes(results))
    return replace(plan, inquiries=inquiries, rounds=(*plan.rounds, *rounds), notes=notes)


def resting_on(plan: Plan, first: tuple[Passage, ...]) -> Plan:
    """The plan with the first search's passages for every question (Table 3, "w/o 2nd search")."""
    return replace(plan, inquiries=tuple(replace(inquiry, passages=first) for inquiry in plan.inquiries))


# ---------------------------------------------------------------- how far claims answer the questions


# For variant A, which has no reader; ours: the share of a question's words that a claim must contain.
ADDRESSED = 0.5

_WH = r"(?:who|whom|whose|what|which|when|where|why|how(?: (?:many|much|long|old|far|often))?)"
_TWO_HEADS = re.compile(rf"(?P<one>{_WH}) (?:and|or) (?P<two>{_WH}) (?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_NEXT = re.compile(rf"(?<=[?？؟])\s*(?=\S)|,? (?:and|or) (?={_WH}\b)", re.IGNORECASE)
_MOST_PARTS = 4  # a question that seems to have more is not split
# The kinds of fact that an answer must add to the question's own words.
_WANTED: tuple[tuple[re.Pattern[str], frozenset[FactKind]], ...] = (
    (re.compile(r"(?:when|(?:in|on|since) (?:what|which) (?:year|date|day)|what year)\b", re.I), frozenset({"date"})),
    (re.compile(r"how (?:many|much|long|old|far|often)\b", re.I), frozenset({"number", "date"})),
    (re.compile(r"(?:by |to |with )?(?:who|whom|whose)\b|(?:from )?where\b", re.I), frozenset({"name"})),
)


def parts_of(question: str) -> tuple[str, ...]:
    heads = _TWO_HEADS.fullmatch(question.strip())
    if heads:
        return (f"{heads['one']} {heads['rest']}", f"{heads['two']} {heads['rest']}")
    parts = tuple(part for piece in _NEXT.split(question) if re.search(r"\w", part := piece.strip()))
    return parts if 1 < len(parts) <= _MOST_PARTS else (question,)


def outcome(best: Sequence[float], threshold: float) -> Outcome:
    """The outcome for parts answered with these confidences, 0 without an answer."""
    if all(confidence >= threshold for confidence in best):
        return "answered"
    return "partly" if any(confidence >= threshold / 2 for confidence in best) else "unanswerable"


def question_outcomes(inquiries: Sequence[Inquiry], topic: str, claims: Sequence[Claim]) -> tuple[SubQuestion, ...]:
    """How far supported claims that cite each question's passages answer it.

    A part is answered if such a claim contains a share `ADDRESSED` of its words beyond the topic's, weighted by rarity;
    without the requested kind of fact (a date for "when"), only in part.
    """
    supported = [claim for claim in claims if claim.is_supported]
    return tuple(_question_outcome(supported, inquiry, topic) for inquiry in inquiries)


def _question_outcome(supported: Sequence[Claim], inquiry: Inquiry, topic: str) -> SubQuestion:
    sources = {passage.id for passage in inquiry.passages}
    resting = [claim for claim in supported if sources & set(claim.cited)]
    parts = parts_of(inquiry.text)
    shares = [[_share(part, claim.text, topic) for part in parts] for claim in resting]
    result = outcome([max((row[n] for row in shares), default=0.0) for n in range(len(parts))], ADDRESSED)
    least = ADDRESSED if result == "answered" else ADDRESSED / 2
    useful = [claim for claim, row in zip(resting, shares, strict=True) if max(row) >= least]
    cited = dict.fromkeys(id for claim in useful for id in claim.cited if id in sources)
    return SubQuestion(inquiry.text, result, tuple(cited))


def _share(question: str, claim: str, topic: str) -> float:
    asked = _terms(question) - STOP_TERMS
    asked = asked - _terms(topic) or asked
    whole = sum(map(rarity, asked))
    share = sum(map(rarity, asked & _terms(claim))) / whole if whole else 0.0
    return share if share <= ADDRESSED / 2 or _holds_what_is_wanted(question, claim) else ADDRESSED / 2


@lru_cache(maxsize=4_096)
def _terms(text: str) -> frozenset[str]:
    """Cached, because every claim meets every question."""
    return frozenset(terms(text))


def _holds_what_is_wanted(question: str, claim: str) -> bool:
    wanted = next((kinds for pattern, kinds in _WANTED if pattern.match(question)), None)
    known = {fact.value for fact in facts(question)}
    return wanted is None or any(fact.kind in wanted and fact.value not in known for fact in facts(claim))


# ---------------------------------------------------------------- variant B: the reader's answers


class Reading(NamedTuple):
    """A question with the spans for each of its parts, surest first."""

    inquiry: Inquiry
    parts: tuple[tuple[Span, ...], ...]
    threshold: float

    @property
    def kept(self) -> tuple[Span, ...]:
        return tuple(span for part in self.parts for span in part if span.confidence >= self.threshold)

    @property
    def result(self) -> SubQuestion:
        best = [part[0].confidence if part else 0.0 for part in self.parts]
        near = [span for part in self.parts for span in part if span.confidence >= self.threshold / 2]
        passages = dict.fromkeys(span.passage for span in self.kept or near)
        return SubQuestion(self.inquiry.text, outcome(best, self.threshold), tuple(passages))

    @property
    def finding(self) -> Finding:
        answers = {wording_of(span.quote.text): span.quote.text for span in reversed(self.kept)}
        holding = {span.passage for span in self.kept}
        passages = tuple(passage for passage in self.inquiry.passages if passage.id in holding)
        return Finding(self.inquiry.text, tuple(reversed(answers.values())), passages)

    def as_round(self, n: int) -> Round:
        spans = [span for part in self.parts for span in part]
        weak = [span for span in spans if span.confidence < self.threshold]
        why = f"is below the threshold of {self.threshold:.2f}"
        dropped = [Omission(span.quote.text, f"a confidence of {span.confidence:.2f} {why}") for span in weak]
        if not self.kept:
            dropped.append(Omission(self.inquiry.text, "not enough information in the passages found for it"))
        return Round(
            "assess",
            n,
            role="reader",
            read=ids(self.inquiry.passages),
            queries=(self.inquiry.text,),
            kept=self.finding.answers,
            dropped=tuple(dropped),
            scores={"confidence": max((span.confidence for span in spans), default=0.0)},
        )


def readings(inquiries: Sequence[Inquiry], threshold: float) -> Program[tuple[Reading, ...]]:
    reads = [read(part, (p,)) for inquiry in inquiries for part in parts_of(inquiry.text) for p in inquiry.passages]
    spans = iter((yield from together(reads)))
    results = []
    for inquiry in inquiries:
        groups = [[next(spans) for _ in inquiry.passages] for _ in parts_of(inquiry.text)]
        parts = tuple(_exact_spans(group, inquiry.passages) for group in groups)
        results.append(Reading(inquiry, parts, threshold))
    return tuple(results)


def _exact_spans(spans: Sequence[Span | None], passages: Sequence[Passage]) -> tuple[Span, ...]:
    """Drops misquotes."""
    exact = [
        span
        for span, passage in zip(spans, passages, strict=True)
        if span is not None
        and span.passage == passage.id
        and passage.text[span.quote.start : span.quote.end] == span.quote.text
        and 0 < span.confidence <= 1
        and re.search(r"\w", span.quote.text)
    ]
    return tuple(sorted(exact, key=lambda span: -span.confidence))
