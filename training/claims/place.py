"""Where a claim stands: the passages that say it, and what can be found in them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from claims.english import is_verb_form
from claims.pair import Label, Text
from claims.stock import Stock
from toulmin.text.language import Span, fold, sentences
from toulmin.text.names import Fact, facts

_ODD = re.compile(
    r"[\[\]<>{}|=\\^~*_#@•…?!\x00-\x1f]|\s[,.;:)’”]|\(\s|\.\.|https?:|www\.|``|''|\s-\s| -- |--|\s['\"]\s"
)
_OPENS_OUTSIDE = re.compile(
    r"(?:However|Therefore|Thus|Moreover|Furthermore|Additionally|Also|But|And|So|Then|This|That|These|Those|Here|There"
    r"|Instead|Meanwhile|Otherwise|Nevertheless|Hence|Such|Both|They|We|I|You|Another|Other|Others|Later)\b"
)
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|had|can|will|may|does|did|[a-z]{2,}ed)\b")
_HEADING = re.compile(r"[A-Z]{4,}\b")


@dataclass(frozen=True)
class Ground:
    """The passages that a claim is judged by, with their facts read once."""

    passages: tuple[Text, ...]

    @cached_property
    def text(self) -> str:
        """All titles and texts, in one."""
        return "\n".join(f"{one.title or ''}\n{one.text}" for one in self.passages)

    @cached_property
    def lower(self) -> str:
        """The whole text folded, to look for words in."""
        return fold(self.text)

    @cached_property
    def found(self) -> tuple[Fact, ...]:
        """Numbers, dates and names of all the text."""
        return facts(self.text)

    @cached_property
    def values(self) -> frozenset[str]:
        """The numbers and dates, in the one spelling of `figures`."""
        return frozenset(fact.value for fact in self.found if fact.kind != "name")

    @cached_property
    def years(self) -> frozenset[str]:
        """All runs of four digits."""
        return frozenset(re.findall(r"\d{4}", self.text))

    def says(self, words: str) -> bool:
        """Whether these words stand anywhere in the text, whatever their case."""
        return re.search(rf"(?<!\w){re.escape(fold(words))}(?!\w)", self.lower) is not None


@dataclass(frozen=True)
class Place:
    """A claim that its ground supports, and what other pages offer to put into it."""

    claim: str
    ground: Ground
    title: str
    stock: Stock = field(default_factory=Stock)

    @cached_property
    def found(self) -> tuple[Fact, ...]:
        """The numbers, dates and names of the claim."""
        return facts(self.claim)


Edit = Callable[[Place, random.Random], str | None]  # the edited claim, or None where the rule is unsure


@dataclass(frozen=True, slots=True)
class Kind:
    """A way of editing a claim, and what the ground then says about it."""

    name: str
    edit: Edit
    label: Label


def put(text: str, start: int, end: int, new: str) -> str:
    """The text with `new` in place of a range."""
    return text[:start] + new + text[end:]


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def is_clean(sentence: str) -> bool:
    """Whether a sentence can stand as a claim: whole, of ordinary marks and length, not hanging on the one before."""
    if (
        not 35 <= len(sentence) <= 320
        or not sentence.endswith(".")
        or not (sentence[0].isupper() or sentence[0] == '"')
    ):
        return False
    if _ODD.search(sentence) or _OPENS_OUTSIDE.match(sentence) or _HEADING.match(sentence) or sentence.count('"') % 2:
        return False
    is_balanced = sentence.count("(") == sentence.count(")")
    return is_balanced and len(sentence.split()) >= 6 and _is_told(sentence)


def _is_told(sentence: str) -> bool:
    """Whether some word is surely a verb."""
    return _VERB.search(sentence) is not None or any(is_verb_form(word) for word in sentence.split())


def spans(text: str) -> Iterator[Span]:
    """The spans of the sentences that can stand as claims."""
    for span in sentences(text):
        if is_clean(text[span.start : span.end]):
            yield span
