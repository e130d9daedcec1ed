"""Which few sentences of ranked passages say most to a question.

What a sentence would add to an answer are its *finds*: facts and terms that the question does not hold. A find is
worth the evidence of all sentences that hold it, so what many passages say about the question weighs most; and a
sentence earns only the finds that no chosen one holds yet, so an answer gathers new answers rather than dissimilar
sentences. The constants were chosen on train splits (`benchmarks/writer.py --train`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from toulmin.data import Passage
from toulmin.models.analysis import Find, Sentence
from toulmin.models.evidence import Entry, expected_kind, gather

_EXPECTED = 5.0  # a find of the kind that the question asks for
_WORTH = {"name": 1.0, "number": 1.0, "date": 2.0, "term": 0.2}
_VOTES = 0.8  # power of the summed evidence of the sentences that hold a find
_EVIDENCE = 3.0  # what a sentence's own evidence counts beside its finds
_SOUND_ENOUGH = 0.3
_OVER = 0.08  # a text may end this share above the words asked for: its sentences are whole
_FULL = 0.92  # and is complete from this share on


@dataclass(frozen=True, slots=True)
class _Told:
    """What the chosen sentences say already; of a name told in full, a part is nothing new."""

    finds: frozenset[Find]
    names: frozenset[str]

    @classmethod
    def by(cls, chosen: Sequence[Entry]) -> _Told:
        finds = frozenset(find for entry in chosen for find in entry.finds)
        names = (find.terms for find in finds if find.kind == "name")
        return cls(finds, frozenset[str]().union(*names))

    def holds(self, find: Find) -> bool:
        return find in self.finds or (find.kind == "name" and find.terms <= self.names)


class Survey:
    """The sentences of `passages` (best first) as `question` sees them."""

    def __init__(self, question: str, passages: Sequence[Passage]) -> None:
        self.question = question
        self.kind = expected_kind(question)
        self.entries = gather(question, passages)
        self.worth = self._worths()

    @property
    def coverage(self) -> float:
        """How much of the question, by rarity, the best single sentence holds itself, 0 to 1.

        A term of the sentence's title counts half: a sentence need not repeat what it is about.
        """
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
        unused = [entry for entry in self.entries if entry.sentence.text not in out]
        sound = [entry for entry in unused if entry.sentence.soundness >= _SOUND_ENOUGH]
        able = sound if sound or chosen or barred else unused
        fitting = [entry for entry in able if entry.sentence.length <= room]
        if not fitting and not chosen:
            fitting = sorted(able, key=lambda entry: entry.sentence.length)[:1]
        told = _Told.by(chosen)
        gains = [(self._gain(entry, told), entry) for entry in fitting]
        return [entry for _, entry in sorted(gains, key=lambda pair: -pair[0])]

    def _gain(self, entry: Entry, told: _Told) -> float:
        """What the sentence adds for each of its words."""
        new = sum(self.worth[find] for find in entry.finds if not told.holds(find))
        return (_EVIDENCE * entry.evidence + new) / entry.sentence.length

    def _worths(self) -> dict[Find, float]:
        votes: dict[Find, float] = {}
        for entry in self.entries:
            for find in entry.finds:
                votes[find] = votes.get(find, 0.0) + entry.evidence
        return {find: vote**_VOTES * self._factor(find) for find, vote in votes.items()}

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
