"""What a question asks for: its terms, and the kind of fact that answers it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from toulmin.extractive.analysis import Find, Sentence
from toulmin.text.language import content_terms
from toulmin.text.names import Kind


def _is_person(find: Find, sentence: Sentence) -> bool:
    return find not in sentence.place_finds and 2 <= len(find.value.split()) <= 4


def _any(_find: Find, _sentence: Sentence) -> bool:
    return True


_ASKED: tuple[tuple[re.Pattern[str], Kind, Callable[[Find, Sentence], bool]], ...] = (
    (re.compile(r"\bhow (?:many|much|long|old|far|tall|big|high|deep|fast|large|often|heavy|wide)\b"), "number", _any),
    (re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|century|decade|season)s?\b"), "date", _any),
    (re.compile(r"\bwhere\b"), "name", lambda find, sentence: find in sentence.place_finds),
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
    """A question's content terms, and the kind of fact it asks for: None if open."""

    text: str
    terms: frozenset[str]
    kind: Kind | None
    has_form: Callable[[Find, Sentence], bool]

    @classmethod
    def of(cls, text: str) -> Question:
        lower = text.lower()
        kinds = ((kind, has_form) for pattern, kind, has_form in _ASKED if pattern.search(lower))
        return cls(text, content_terms(text), *next(kinds, (None, _any)))

    def is_answered_by(self, find: Find, sentence: Sentence) -> bool:
        """Whether kind and form are those asked for: a person for "who"."""
        return find.kind == self.kind and self.has_form(find, sentence)
