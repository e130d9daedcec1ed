"""How far each sentence of ranked passages bears on a question: its evidence.

A sentence covers the question as far as it holds the question's terms, weighted by how rare they are in the language
and in these passages. Evidence is a high power of that, less for later passages, later sentences, and sentences
without a fact of the kind asked for. The constants were chosen on train splits (`benchmarks/writer.py --train`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from toulmin.data import Passage
from toulmin.grounding.facts import Kind
from toulmin.language import rarity
from toulmin.models.analysis import Find, Sentence, analyse, content_terms, title_terms

_NEIGHBOUR, _PASSAGE = 0.4, 0.1  # what a term counts that stands in the next sentence, or elsewhere in the passage
_NOTHING = 0.05  # the coverage of a sentence that holds no term at all
_LOCAL = 0.3  # power of a term's rarity among these sentences, beside that in the language
_SHARPNESS = 4  # evidence is coverage to this power: half covered is a sixteenth of the evidence
# A passage's evidence is divided by 1 + this times its rank; without a kind of fact to look for, the rank says more.
_RANK, _RANK_OF_OPEN = 0.2, 0.8
_POSITION = 0.7  # and a sentence's by its place, from 1, to this power
_OTHER_KIND = 0.7
_FLOOR = 0.01  # sentences with less than this share of the best one's evidence are not looked at
_IN_TITLE = 0.5  # what abstention asks for a term of the title: a sentence need not repeat what it is about

_KINDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"\bhow (?:many|much|long|old|far|tall|big|high|deep|fast|large|often|heavy|wide)\b"), "number"),
    (re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|century|decade|season)s?\b"), "date"),
    (re.compile(r"\bwho\b|\bwhom\b|\bwhose\b|\bwhere\b"), "name"),
    (
        re.compile(
            r"\b(?:what|which) (?:actor|actress|singer|artist|author|writer|director|team|club|country|city|state"
            r"|county|town|place|player|person|people|man|woman|company|band|river|island|president|king|queen)s?\b"
        ),
        "name",
    ),
)


def expected_kind(question: str) -> Kind | None:
    """The kind of fact that the question's wording asks for; None where it leaves that open."""
    lower = question.lower()
    return next((kind for pattern, kind in _KINDS if pattern.search(lower)), None)


@dataclass(frozen=True)
class Entry:
    """A sentence as one question sees it: its passage's rank from 0, its evidence, and what it would add.

    `covered` is the share of the question that it holds itself, without its title: what abstention looks at.
    """

    sentence: Sentence
    rank: int
    covered: float
    evidence: float
    asked: frozenset[str]

    @cached_property
    def finds(self) -> tuple[Find, ...]:
        """What the sentence would add: its facts and terms that are not the question's own."""
        return tuple(find for find in self.sentence.finds if not find.terms <= self.asked)


@dataclass(frozen=True, slots=True)
class _Look:
    """A passage's sentences, and which of the question's terms stand in each and in the title."""

    rank: int
    sentences: tuple[Sentence, ...]
    held: tuple[frozenset[str], ...]
    title: frozenset[str]

    @classmethod
    def at(cls, passage: Passage, rank: int, asked: frozenset[str]) -> _Look:
        found = analyse(passage)
        return cls(rank, found, tuple(asked & s.terms for s in found), asked & title_terms(passage.title))

    def entries(self, asked: frozenset[str], weights: Mapping[str, float], fall: float) -> Iterator[Entry]:
        """One a sentence; none from a passage that shares no word with the question."""
        anywhere = frozenset[str]().union(*self.held)
        whole = sum(weights.values())
        if not anywhere and not self.title:
            return
        wanted = {term: rarity(term) * (_IN_TITLE if term in self.title else 1.0) for term in asked}
        for n, sentence in enumerate(self.sentences):
            near = frozenset[str]().union(*self.held[max(0, n - 1) : n + 2])
            places = ((1.0, self.held[n] | self.title), (_NEIGHBOUR, near), (_PASSAGE, anywhere))
            coverage = _NOTHING + _found(places, weights) / whole
            place: float = (1 + fall * self.rank) * (1 + n) ** _POSITION
            evidence = coverage**_SHARPNESS * sentence.soundness / place
            covered = sum(map(wanted.__getitem__, self.held[n])) / sum(wanted.values())
            yield Entry(sentence, self.rank, covered, evidence, asked)


def gather(question: str, passages: Sequence[Passage]) -> list[Entry]:
    """The sentences that bear on the question, equal ones once, in the order of the passages."""
    asked, kind = content_terms(question), expected_kind(question)
    looks = [_Look.at(passage, rank, asked) for rank, passage in enumerate(passages)]
    weights, fall = _weights(asked, looks), _RANK if kind else _RANK_OF_OPEN
    entries: dict[str, Entry] = {}
    for entry in (entry for look in looks for entry in look.entries(asked, weights, fall)):
        entries.setdefault(entry.sentence.text, entry)
    floor = _FLOOR * max((entry.evidence for entry in entries.values()), default=0.0)
    return [_for_kind(entry, kind) for entry in entries.values() if entry.evidence > floor]


def _weights(asked: frozenset[str], looks: Sequence[_Look]) -> dict[str, float]:
    """How much each term tells: its rarity in the language, and among the sentences at hand."""
    count = Counter(term for look in looks for held in look.held for term in held | look.title)
    total = sum(len(look.sentences) for look in looks)
    return {term: rarity(term) * math.log(1 + total / (1 + count[term])) ** _LOCAL for term in asked}


def _found(places: Sequence[tuple[float, frozenset[str]]], weights: Mapping[str, float]) -> float:
    """The weight of the terms that are found; a term counts for the first place that holds it."""
    found, done = 0.0, frozenset[str]()
    for worth, terms in places:
        found += worth * sum(map(weights.__getitem__, terms - done))
        done |= terms
    return found


def _for_kind(entry: Entry, kind: Kind | None) -> Entry:
    if kind is None or any(find.kind == kind for find in entry.finds):
        return entry
    return replace(entry, evidence=_OTHER_KIND * entry.evidence)
