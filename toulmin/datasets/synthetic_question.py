"""A question made from a statement."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from toulmin.datasets.synthetic_kinds import is_person, is_profession, kind_of_thing, may_be_person
from toulmin.datasets.synthetic_statements import Statement
from toulmin.text.names import name_value

_BRACKET = re.compile(r" ?\((?:\d{4} )?(?:[A-Za-z]+ )*(?P<what>[a-z]+)\)$")
AnswerKind = Literal["date", "number", "person", "place", "thing"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as `before + subject + after`; `answers` are aliases of its one answer, the fullest first.

    `relation` is the base of the verb, or the noun, that joins subject and answer. `sort` is the subject's kind of
    thing, None if unsure: only the same sort may replace it.
    """

    statement: Statement
    rule: str
    before: str
    subject: str
    after: str
    answers: tuple[str, ...]
    kind: AnswerKind
    relation: str
    sort: str | None

    @property
    def question(self) -> str:
        return f"{self.before}{self.subject}{self.after}"


def of_subject(
    statement: Statement,
    rule: str,
    before: str,
    after: str,
    answers: tuple[str, ...],
    kind: AnswerKind,
    relation: str,
) -> Asked:
    return Asked(statement, rule, before, statement.subject, after, answers, kind, relation, sort_of(statement))


def sort_of(statement: Statement) -> str | None:
    """Either "person" or a kind of thing, where that is certain."""
    if statement.verb is None and is_profession(statement.clause) and may_be_person(statement.name):
        return "person"
    if statement.verb is None and (kind := kind_of_thing(statement.clause)):
        return None if is_person(statement.name) else kind
    bracket = _BRACKET.search(statement.passage.title)
    is_titled = bracket and name_value(statement.name) == name_value(statement.passage.title[: bracket.start()])
    if bracket and is_titled and (kind := kind_of_thing(f"a {bracket['what']}")):
        return kind
    if is_person(statement.name):
        return "person"
    return kind_of_thing(f"a {statement.name}") if statement.verb else None
