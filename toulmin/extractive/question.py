"""What a question asks for: its terms, and the form or kind of fact that answers it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Literal

from toulmin.extractive.analysis import Find, Sentence
from toulmin.text.language import STOP_TERMS, content_terms, rarity, stem, terms, words
from toulmin.text.names import Kind

# ---------------------------------------------------------------- the form and weighted terms of a question


Form = Literal["who", "when", "where", "count", "which", "what", "why", "how", "whether", "open"]

_MEASURES = (
    "percentage|percent|number|amount|population|age|temperature|distance|length|height|size|cost|price|score|speed"
    "|weight|width|depth|area|rate|fraction|proportion|portion"
)
_PEOPLE = (
    "actor|actress|singer|artist|author|writer|director|player|person|people|man|woman|president|king|queen|emperor"
    "|pope|scientist|composer|leader|general|philosopher|mathematician|physicist|minister|character|family|rapper"
)
_PLACES = "country|city|state|county|town|place|river|island|continent|region|province|village|capital|location|area"
_TIMES = "year|date|day|month|century|decade|season|time|era|period"

# The pattern that matches earliest in the text decides; at the same place, the first one here. A question in another
# language, or a text that is no question, is open.
_FORMS: tuple[tuple[re.Pattern[str], Form], ...] = (
    (re.compile(r"\b(?:how (?:many|much|long|old|far|tall|big|high|deep|fast|large|often|heavy|wide|hot))\b"), "count"),
    (re.compile(rf"\b(?:what|which)(?: (?:is|was|are|were) the)?(?: \w+)? (?:{_MEASURES})s?\b"), "count"),
    (re.compile(rf"\bwhen\b|\b(?:what|which) (?:{_TIMES})s?\b"), "when"),
    (re.compile(rf"\b(?:what|which)(?: \w+)? (?:{_PLACES}|countries|cities|counties)s?\b|\bwhere\b"), "where"),
    (re.compile(rf"\b(?:who|whom|whose)\b|\b(?:what|which)(?: \w+)? (?:{_PEOPLE})s?\b"), "who"),
    (re.compile(r"\bwhy\b|\bfor what (?:reason|purpose)\b|\bwhat (?:causes?|caused|led)\b"), "why"),
    (
        re.compile(r"\bwhich\b|\bwhat (?!(?:is|was|are|were|did|do|does|has|have|had|can|could|would|will)\b)\w"),
        "which",
    ),
    (re.compile(r"\bwhat\b"), "what"),
    (re.compile(r"\bhow\b"), "how"),
    (re.compile(r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may)\b"), "whether"),
)
_FAMILY = 5  # first characters that related terms share: "discover", "discoveri"
_MONEY = r"\b(?:how much (?:money|did .* (?:cost|pay|sell|earn|spend))|cost|price|worth|salary|revenue)\b"
_TIME = r"\bhow long (?:ago|did|does|do|was|is|were|has|have|after|before|until)\b|\bhow old\b|\bage\b"
_SIZE = r"\bhow (?:far|tall|big|high|deep|large|wide|heavy|fast|hot)\b|\b(?:height|length|area|temperature|distance)\b"
_COUNTED = {
    "share": re.compile(r"\b(?:percent|percentage|proportion|fraction|portion|share|rate)\b"),
    "money": re.compile(_MONEY),
    "time": re.compile(_TIME),
    "size": re.compile(_SIZE),
    "times": re.compile(r"\bhow (?:often|many times)\b"),
}
_SUBORDINATE = re.compile(r"\W*(?:when|where|while|if|after|before|in|on|at|of|besides|unlike)\b[^,?]*,")
_ASKS = re.compile(r"\b(?:who|whom|whose|what|which|when|where|why|how)\b")
_HEAD = re.compile(r"\b(?:what|which|how many|how much)((?:\s+[\w'’-]+){1,3})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReaderQuestion:
    """A question as the reader sees it: `weights` are its content terms by rarity, `neighbours` adjacent pairs of them.

    `head` holds the terms of what is asked for ("river" in "Which river ...?"), `measure` what is counted, `opening`
    and `closing` the first and last content term.
    """

    text: str
    form: Form
    weights: dict[str, float]
    neighbours: frozenset[tuple[str, str]]
    head: frozenset[str]
    measure: str
    opening: str
    closing: str

    @property
    def whole(self) -> float:
        return sum(self.weights.values()) or 1.0

    def share(self, term_set: frozenset[str] | set[str]) -> float:
        """The share of the question's weight in these terms: 0 to 1."""
        return sum(weight for term, weight in self.weights.items() if term in term_set) / self.whole

    def terms_in(self, term_set: frozenset[str]) -> frozenset[str]:
        """Its terms among these, related forms included."""
        families = {term[:_FAMILY] for term in term_set if len(term) >= _FAMILY}
        return frozenset(t for t in self.weights if t in term_set or (len(t) >= _FAMILY and t[:_FAMILY] in families))

    def weights_in(self, term_set: frozenset[str]) -> dict[str, float]:
        """The weights of those terms that the question has, related forms included."""
        kindred = {term[:_FAMILY]: weight for term, weight in self.weights.items() if len(term) >= _FAMILY}
        pairs = ((term, self.weights.get(term) or kindred.get(term[:_FAMILY], 0.0)) for term in term_set)
        return {term: weight for term, weight in pairs if weight}


@lru_cache(maxsize=1024)
def parse_question(text: str) -> ReaderQuestion:
    """Question words are known in English only."""
    all_terms = terms(text)
    telling = [term for term in all_terms if term not in STOP_TERMS] or all_terms
    weights = {term: 0.5 + rarity(term) for term in telling}
    form = _form(text.lower())
    measures = (name for name, pattern in _COUNTED.items() if form == "count" and pattern.search(text.lower()))
    ends = (telling[0], telling[-1]) if telling else ("", "")
    return ReaderQuestion(text, form, weights, frozenset(pairwise(telling)), _head(text), next(measures, ""), *ends)


def _form(lower: str) -> Form:
    clause = _SUBORDINATE.match(lower)
    asking = lower[clause.end() :] if clause and _ASKS.search(lower, clause.end()) else lower
    matches = ((match.start(), n) for n, (pattern, _) in enumerate(_FORMS) if (match := pattern.search(asking)))
    first = min(matches, default=None)
    return "open" if first is None else _FORMS[first[1]][1]


def _head(text: str) -> frozenset[str]:
    match = _HEAD.search(text)
    stems = (stem(match[1][start:end]) for start, end in words(match[1])) if match else ()
    return frozenset(takewhile(lambda word: word not in STOP_TERMS, stems))


# ---------------------------------------------------------------- the kind of fact that answers a question


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
