"""How the sentences of ranked passages answer one question, and which few of them say most.

A sentence is *evidence* as far as it covers the question. What it would add to an answer are its *finds*: facts and
terms that the question does not hold. A find is worth the evidence of all sentences that hold it, so what many
passages say about the question weighs most; and a sentence earns only the finds that no chosen one holds yet, so an
answer gathers new answers rather than dissimilar sentences.

The constants were chosen on the train splits of `qa_feedback`, `qa_asqa` and `pool_questions` (`benchmarks/writer.py`
reports on other questions).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from toulmin.data import Passage
from toulmin.grounding.facts import Kind
from toulmin.language import rarity
from toulmin.models.analysis import Find, Sentence, analyse, content_terms, title_terms

# How much of a question's term counts by where it stands: the sentence, its title, a neighbour, the passage.
_TITLE, _NEIGHBOUR, _PASSAGE = 0.9, 0.2, 0.1
_SHARPNESS = 4  # evidence is coverage to this power: half covered is a sixteenth of the evidence
_RANK, _POSITION = 0.1, 0.06  # how fast evidence falls with the rank of the passage, with the place in it
_SOUNDNESS = 1.5
_EXPECTED = 4.0  # a find of the kind that the question asks for
_WORTH = {"name": 1.0, "number": 1.0, "date": 2.0, "term": 0.1}
_EVIDENCE = 3.0  # what a sentence's own evidence counts beside the finds
_SOUND_ENOUGH = 0.3
_FLOOR = 0.01  # sentences with less than this share of the best one's evidence are not looked at
_OVER = 0.08  # a text may end this share above the words asked for: its sentences are whole
_FULL = 0.92  # and is complete from this share on

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


@dataclass(frozen=True, eq=False)
class Entry:
    """A sentence as one question sees it: its passage's rank from 0, its evidence, and what it would add."""

    sentence: Sentence
    rank: int
    covered: float
    evidence: float
    asked: frozenset[str]

    @cached_property
    def finds(self) -> tuple[Find, ...]:
        """What the sentence would add: its facts and terms that are not the question's own."""
        return tuple(find for find in self.sentence.finds if not find.terms <= self.asked)


class Survey:
    """The sentences of `passages` (best first) as `question` sees them."""

    def __init__(self, question: str, passages: Sequence[Passage]) -> None:
        self.question = question
        self.kind = expected_kind(question)
        self.asked = {term: rarity(term) for term in content_terms(question)}
        self._asked_terms = frozenset(self.asked)
        self._whole = sum(self.asked.values()) or 1.0
        self.entries = self._entries(passages)
        self.worth = self._worths()

    @property
    def coverage(self) -> float:
        """How much of the question, by rarity, the best single sentence holds without its title, 0 to 1."""
        return max((entry.covered for entry in self.entries), default=0.0)

    def choose(self, words: int, barred: Collection[Sentence] = ()) -> list[Entry]:
        """Sentences that say most in about `words` words, in the order chosen; none of the barred."""
        chosen: list[Entry] = []
        while (entry := self.next(chosen, words, barred)) is not None:
            chosen.append(entry)
        return chosen

    def next(self, chosen: Sequence[Entry], words: int, barred: Collection[Sentence] = ()) -> Entry | None:
        """The sentence that adds most to the chosen ones; None when they fill `words` or nothing adds anything."""
        ranked = self.ranked(chosen, words, barred)
        return ranked[0] if ranked else None

    def ranked(self, chosen: Sequence[Entry], words: int, barred: Collection[Sentence] = ()) -> list[Entry]:
        """The sentences that may follow the chosen ones within `words`, those that add most first."""
        used = sum(entry.sentence.length for entry in chosen)
        if chosen and used >= _FULL * words:
            return []
        room = (1 + _OVER) * words - used
        out = {entry.sentence.text for entry in chosen} | {sentence.text for sentence in barred}
        open_ = [entry for entry in self.entries if entry.evidence > 0 and entry.sentence.text not in out]
        sound = [entry for entry in open_ if entry.sentence.soundness >= _SOUND_ENOUGH]
        fitting = [entry for entry in sound or open_ if entry.sentence.length <= room]
        if not fitting and not chosen:
            fitting = sorted(sound or open_, key=lambda entry: entry.sentence.length)[:1]
        seen = {find for entry in chosen for find in entry.finds}
        gains = [(self._gain(entry, seen), entry) for entry in fitting]
        return [entry for _, entry in sorted(gains, key=lambda pair: -pair[0])]

    def _gain(self, entry: Entry, seen: Collection[Find]) -> float:
        """What the sentence adds for each of its words."""
        new = sum(self.worth[find] for find in entry.finds if find not in seen)
        return (_EVIDENCE * entry.evidence + new) / entry.sentence.length

    def _entries(self, passages: Sequence[Passage]) -> list[Entry]:
        entries: dict[str, Entry] = {}
        for rank, passage in enumerate(passages):
            for entry in self._of_passage(passage, rank):
                entries.setdefault(entry.sentence.text, entry)
        floor = _FLOOR * max((entry.evidence for entry in entries.values()), default=0.0)
        return [entry for entry in entries.values() if entry.evidence > floor]

    def _of_passage(self, passage: Passage, rank: int) -> Iterator[Entry]:
        found = analyse(passage)
        held = [self._asked_terms & sentence.terms for sentence in found]
        anywhere = frozenset().union(*held)
        title = self._asked_terms & title_terms(passage.title)
        if not anywhere and not title:
            return
        for n, sentence in enumerate(found):
            near = frozenset().union(*held[max(0, n - 1) : n + 2])
            coverage = self._coverage(((1.0, held[n]), (_TITLE, title), (_NEIGHBOUR, near), (_PASSAGE, anywhere)))
            fall = (1 + _RANK * rank) * (1 + _POSITION * n)
            evidence = coverage**_SHARPNESS * sentence.soundness**_SOUNDNESS / fall
            yield Entry(sentence, rank, self._coverage(((1.0, held[n]),)), evidence, self._asked_terms)

    def _coverage(self, places: Iterable[tuple[float, frozenset[str]]]) -> float:
        """The share of the question, by rarity, that is found; a term counts for the first place that holds it."""
        found = 0.0
        done: frozenset[str] = frozenset()
        for worth, terms in places:
            for term in terms - done:
                found += worth * self.asked[term]
            done |= terms
        return found / self._whole

    def _worths(self) -> dict[Find, float]:
        votes: dict[Find, float] = {}
        for entry in self.entries:
            for find in entry.finds:
                votes[find] = votes.get(find, 0.0) + entry.evidence
        return {find: vote * self._factor(find) for find, vote in votes.items()}

    def _factor(self, find: Find) -> float:
        return _WORTH[find.kind] * (_EXPECTED if find.kind == self.kind else 1.0)


def in_reading_order(chosen: Sequence[Entry]) -> list[Entry]:
    """The chosen sentences, those of one title together, those of one passage as they stand there."""
    first: dict[str, int] = {}
    for n, entry in enumerate(chosen):
        first.setdefault(_topic(entry), n)
    return sorted(chosen, key=lambda entry: (first[_topic(entry)], entry.rank, entry.sentence.position))


def _topic(entry: Entry) -> str:
    return entry.sentence.passage.title or entry.sentence.passage.id
