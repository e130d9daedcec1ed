"""The choice of sentences for a question."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from toulmin.data import Passage
from toulmin.extractive.analysis import Find, Sentence
from toulmin.extractive.evidence import Entry, gather
from toulmin.extractive.meaning import Meaning, SpanReader
from toulmin.extractive.question import Question
from toulmin.steps import Span

_SHARE = {"name": 1.0, "number": 1.0, "date": 2.0, "term": 0.2}
_LIKELY = 5.0  # factor for the share of a find that has the form asked for
_UNFOUND = 2.0  # the share of a sentence's evidence for an answer that is none of its finds
_LENGTH = 0.75  # power of the length that divides a sentence's gain
_WORTH_SAYING = 2.0  # divided by the words asked for, the least gain for which a sentence is added
_SOUND_ENOUGH = 0.3
_ALIKE = 4.0  # power of the cosine with the nearest chosen sentence: only near copies lose much
_OVER = 0.08  # a text may exceed the words asked for by this share, since its sentences are whole
_FULL = 0.92  # from this share of the words on, a text is complete
_READ = 3  # passages that a reader reads, about 30 ms each
_READ_FOR_LISTS = 10


@dataclass(frozen=True, slots=True)
class _Content:
    """What the chosen sentences say; a part of a full name is nothing new."""

    finds: frozenset[Find]
    names: frozenset[str]

    @classmethod
    def by(cls, chosen: Sequence[Entry]) -> _Content:
        finds = frozenset(find for entry in chosen for find in entry.finds)
        names = (find.terms for find in finds if find.kind == "name")
        return cls(finds, frozenset[str]().union(*names))

    def holds(self, find: Find) -> bool:
        return find in self.finds or (find.kind == "name" and find.terms <= self.names)


class Survey:
    """The sentences of `passages` (best first) as `question` sees them."""

    def __init__(
        self,
        question: str,
        passages: Sequence[Passage],
        meaning: Meaning | None = None,
        reader: SpanReader | None = None,
    ) -> None:
        self.question = question
        self._reader = reader
        self.asked = Question.of(question)
        self.entries = gather(self.asked, passages, meaning=meaning)
        self.worth = self._worths()

    @property
    def coverage(self) -> float:
        """The best single sentence's share of the question, by rarity, 0 to 1; terms of its title count half."""
        return max((entry.covered for entry in self.entries), default=0.0)

    @cached_property
    def span(self) -> Span | None:
        """The likeliest span of the best passages, however unlikely; None without a reader."""
        return self._reader.likeliest(self.question, self._best(_READ)) if self._reader else None

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """The likeliest span of each of the best passages, surest first; empty without a reader."""
        if self._reader is None:
            return ()
        read = [self._reader.likeliest(self.question, (passage,)) for passage in self._best(_READ_FOR_LISTS)]
        return tuple(sorted((span for span in read if span is not None), key=lambda span: -span.confidence))

    def _best(self, number: int) -> list[Passage]:
        by_evidence = sorted(self.entries, key=lambda entry: (-entry.evidence, entry.rank))
        return list(dict.fromkeys(entry.sentence.passage for entry in by_evidence))[:number]

    def choose(self, words: int, barred: Collection[Sentence] = ()) -> list[Entry]:
        """The sentences that say most in about `words` words, in the order chosen."""
        chosen: list[Entry] = []
        while (entry := self.next(chosen, words, barred)) is not None:
            chosen.append(entry)
        return chosen

    def next(self, chosen: Sequence[Entry], words: int, barred: Collection[Sentence] = ()) -> Entry | None:
        """The sentence that adds most; None if full or nothing is added."""
        ranked = self.rank_entries(chosen, words, barred)
        return ranked[0] if ranked else None

    def rank_entries(self, chosen: Sequence[Entry], words: int, barred: Collection[Sentence] = ()) -> list[Entry]:
        """The sentences that may follow within `words`, by what they add."""
        used = sum(entry.sentence.length for entry in chosen)
        if chosen and used >= _FULL * words:
            return []
        room = (1 + _OVER) * words - used
        out = {entry.sentence.text for entry in chosen} | {sentence.text for sentence in barred}
        unused = [entry for entry in self.entries if entry.sentence.text not in out]
        sound = [entry for entry in unused if entry.sentence.soundness >= _SOUND_ENOUGH]
        able = sound if sound or chosen or barred else unused
        fitting = [entry for entry in able if entry.sentence.length <= room]
        if not fitting and not chosen:
            fitting = sorted(able, key=lambda entry: entry.sentence.length)[:1]
        content = _Content.by(chosen)
        gains = [(self._gain(entry, content) * _novelty(entry, chosen), entry) for entry in fitting]
        enough = _WORTH_SAYING / words if chosen else 0.0
        worthy = [(gain / entry.sentence.length**_LENGTH, entry) for gain, entry in gains if gain >= enough]
        return [entry for _, entry in sorted(worthy, key=lambda pair: -pair[0])]

    def _gain(self, entry: Entry, content: _Content) -> float:
        return sum(self.worth[find] for find in entry.finds if not content.holds(find))

    def _worths(self) -> dict[Find, float]:
        chances: dict[Find, float] = {}
        for entry in self.entries:
            shares = [(find, self._share(find, entry.sentence)) for find in entry.finds]
            part = entry.evidence / (_UNFOUND + sum(share for _, share in shares))
            for find, share in shares:
                chances[find] = chances.get(find, 0.0) + part * share
        return chances

    def _share(self, find: Find, sentence: Sentence) -> float:
        return _SHARE[find.kind] * (_LIKELY if self.asked.is_answered_by(find, sentence) else 1.0)


def _novelty(entry: Entry, chosen: Sequence[Entry]) -> float:
    """1 without a similar chosen sentence, or without an encoder."""
    nearest = max((entry.near.get(other.place, 0.0) for other in chosen), default=0.0)
    kept: float = 1.0 - max(0.0, nearest) ** _ALIKE
    return kept


def in_reading_order(chosen: Sequence[Entry]) -> list[Entry]:
    """Grouped by title, in the order of first choice; by position within a passage."""
    first: dict[str, int] = {}
    for n, entry in enumerate(chosen):
        first.setdefault(_topic(entry), n)
    return sorted(chosen, key=lambda entry: (first[_topic(entry)], entry.rank, entry.sentence.position))


def _topic(entry: Entry) -> str:
    return entry.sentence.passage.title or entry.sentence.passage.id
