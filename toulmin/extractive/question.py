"""What a question asks about and what kind of fact would answer it, read from its wording alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from toulmin.extractive.analysis import Find, Sentence, content_terms
from toulmin.text.facts import Kind


def _is_person(find: Find, sentence: Sentence) -> bool:
    """A name of two to four words that does not stand where a place would."""
    return find not in sentence.placed and 2 <= len(find.value.split()) <= 4


def _is_place(find: Find, sentence: Sentence) -> bool:
    return find in sentence.placed


def _any(_find: Find, _sentence: Sentence) -> bool:
    return True


_ASKED: tuple[tuple[re.Pattern[str], Kind, Callable[[Find, Sentence], bool]], ...] = (
    (re.compile(r"\bhow (?:many|much|long|old|far|tall|big|high|deep|fast|large|often|heavy|wide)\b"), "number", _any),
    (re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|century|decade|season)s?\b"), "date", _any),
    (re.compile(r"\bwhere\b"), "name", _is_place),
    (re.compile(r"\bwho\b|\bwhom\b|\bwhose\b"), "name", _is_person),
    (
        re.compile(
            r"\b(?:what|which) (?:actor|actress|singer|artist|author|writer|director|team|club|country|city|state"
            r"|county|town|place|player|person|people|man|woman|company|band|river|island|president|king|queen)s?\b"
        ),
        "name",
        _any,
    ),
)


@dataclass(frozen=True)
class Question:
    """A question's content terms, and the kind of fact that its wording asks for: None where it leaves that open."""

    text: str
    terms: frozenset[str]
    kind: Kind | None
    has_form: Callable[[Find, Sentence], bool]

    @classmethod
    def of(cls, text: str) -> Question:
        """The question as its words tell it; English question words only."""
        lower = text.lower()
        for pattern, kind, form in _ASKED:
            if pattern.search(lower):
                return cls(text, content_terms(text), kind, form)
        return cls(text, content_terms(text), None, _any)

    def is_answered_by(self, find: Find, sentence: Sentence) -> bool:
        """Whether a find of the sentence is of the kind that is asked for, and has its form: a person for "who"."""
        return find.kind == self.kind and self.has_form(find, sentence)
