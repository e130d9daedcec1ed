"""Planning before retrieval: an outline, its questions, their passages, and how far each is answered.

A question of several parts ("When and where was she born?") is answered when all of them are.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from toulmin.data import Dropped, Passage, Round
from toulmin.methods.evidence import evidence, failure_notes, search_failures
from toulmin.methods.reporting import ids, omissions, read_by
from toulmin.methods.sentence_wording import wording_of
from toulmin.parsing.citing import without_marks
from toulmin.prompts.types import Outline, Paragraph, Questions
from toulmin.steps import Exchange, Program, exchange, together

Kind = Literal["person", "event", "other"]
# What the outline is about; the paper's prompt plans "a bio about" its entity (A.2.3).
PLANNED: Mapping[Kind, str] = {"person": "a biography of {}", "event": "an account of {}", "other": "{}"}

LONGEST_TITLE = 60  # characters; without titles a paragraph begins with what it should say


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question, the paragraphs that asked it (positions from 0), and its passages."""

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
    """At most `most` paragraphs, each with a short title of its own."""
    done = yield from exchange(Outline(PLANNED[kind].format(topic), first))
    paragraphs = _title_paragraphs(done.value[:most], done.prompt, topic)
    beyond = tuple(Dropped(paragraph.title, f"more than {most} paragraphs") for paragraph in done.value[most:])
    titles = tuple(paragraph.title for paragraph in paragraphs)
    plan_round = Round("plan", role="main", read=read_by(done.prompt), kept=titles, dropped=(*omissions(done), *beyond))
    return Plan(paragraphs, rounds=(plan_round,))


def _title_paragraphs(paragraphs: Sequence[Paragraph], asked: object, topic: str) -> tuple[Paragraph, ...]:
    """An unnamed paragraph is called by the topic."""
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
    lists = [done.value[:most] or _instead(part, topic) for part, done in zip(parts, replies, strict=True)]
    plan = replace(plan, inquiries=_inquiries(lists, merge=merge))
    rounds = [_questions_round(plan, n, lists[n], done, most) for n, done in enumerate(replies)]
    return replace(plan, rounds=(*plan.rounds, *rounds))


def _instead(part: Paragraph | None, topic: str) -> tuple[str, ...]:
    return (part.description or part.title,) if part else (topic,)


def _inquiries(lists: Sequence[Sequence[str]], *, merge: bool) -> tuple[Inquiry, ...]:
    inquiries: dict[Hashable, Inquiry] = {}
    for position, questions in enumerate(lists):
        for number, text in enumerate(questions):
            key = wording_of(text) if merge else (position, number)
            asked_by = inquiries[key].asked_by if key in inquiries else ()
            known = inquiries.get(key, Inquiry(text, ()))
            inquiries[key] = replace(known, asked_by=tuple(dict.fromkeys((*asked_by, position))))
    return tuple(inquiries.values())


def _questions_round(
    plan: Plan, position: int, questions: Sequence[str], done: Exchange[tuple[str, ...]], most: int
) -> Round:
    new = {inquiry.text for inquiry in plan.inquiries if inquiry.asked_by[0] == position}
    again = [Dropped(text, _where_before(plan, position, text)) for text in questions if text not in new]
    beyond = [Dropped(text, f"more than {most} questions") for text in done.value[most:]]
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
    same = next(
        inquiry
        for inquiry in plan.inquiries
        if position in inquiry.asked_by and wording_of(inquiry.text) == wording_of(question)
    )
    first = same.asked_by[0]
    return "asked already" + (f" for “{plan.paragraphs[first].title}”" if first != position else "")


# ---------------------------------------------------------------- second search


def search_questions(plan: Plan, per_question: int) -> Program[Plan]:
    """Searches for every question, side by side; a failed search is noted."""
    results = yield from evidence([inquiry.text for inquiry in plan.inquiries], per_question)
    inquiries = tuple(
        replace(inquiry, passages=result.passages) for inquiry, result in zip(plan.inquiries, results, strict=True)
    )
    rounds = [
        Round("search", n, read=ids(result.passages), queries=(result.query,), dropped=search_failures([result]))
        for n, result in enumerate(results, start=1)
    ]
    return replace(
        plan, inquiries=inquiries, rounds=(*plan.rounds, *rounds), notes=(*plan.notes, *failure_notes(results))
    )


def resting_on(plan: Plan, first: tuple[Passage, ...]) -> Plan:
    """The plan with the first search's passages for every question (Table 3, "w/o 2nd search")."""
    return replace(plan, inquiries=tuple(replace(inquiry, passages=first) for inquiry in plan.inquiries))
