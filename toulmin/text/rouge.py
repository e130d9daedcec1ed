"""ROUGE: how many word sequences a text shares with another (Lin 2004).

Counted as the `rouge-score` package counts with its stemmer on, to the last digit: only a to z and digits make words,
words over three letters are stemmed. `is_legible` tells texts of which too little is left for that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from toulmin.text.porter import porter_stem

_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Overlap:
    """What two texts share, in 0..1: as a part of the candidate, and as a part of the reference."""

    precision: float
    recall: float

    @property
    def fmeasure(self) -> float:
        """The harmonic mean; 0 where nothing is shared."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total > 0 else 0.0


def rouge_words(text: str) -> list[str]:
    """The words that ROUGE compares, in order."""
    return [word if len(word) <= 3 else porter_stem(word) for word in _WORD.findall(text.lower())]


def is_legible(text: str) -> bool:
    """Whether ROUGE's words hold at least half of the text's letters and digits; in most scripts they hold none."""
    held = sum(len(word) for word in _WORD.findall(text.lower()))
    return 2 * held >= sum(character.isalnum() for character in text)


def rouge_n(candidate: str, reference: str, n: int) -> Overlap:
    """ROUGE-n: the shared sequences of `n` words; nothing is shared by texts of fewer words."""
    return shared_sequences(rouge_words(candidate), rouge_words(reference), n)


def shared_sequences(candidate: Sequence[str], reference: Sequence[str], n: int) -> Overlap:
    """The sequences of `n` items that both hold, each as often as the text that holds it less often."""
    ours, theirs = _sequences(candidate, n), _sequences(reference, n)
    shared = (ours & theirs).total()
    return Overlap(shared / max(ours.total(), 1), shared / max(theirs.total(), 1))


def _sequences(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def rouge_l(candidate: str, reference: str) -> Overlap:
    """ROUGE-L: the longest sequence of words that stands in both, gaps allowed."""
    ours, theirs = rouge_words(candidate), rouge_words(reference)
    if not ours or not theirs:
        return Overlap(0.0, 0.0)
    shared = _rows(theirs, ours)[-1].bit_count()
    return Overlap(shared / len(ours), shared / len(theirs))


def rouge_l_sum(candidate: str, reference: str) -> Overlap:
    """ROUGE-L of whole summaries, one sentence a line: each line of the reference against all of the candidate."""
    ours = [rouge_words(line) for line in candidate.split("\n") if line]
    theirs = [rouge_words(line) for line in reference.split("\n") if line]
    left = [Counter(word for line in lines for word in line) for lines in (ours, theirs)]
    sizes = [counts.total() for counts in left]
    if not all(sizes):
        return Overlap(0.0, 0.0)
    shared = 0
    for line in theirs:
        for place in sorted({place for other in ours for place in _common_places(line, other)}):
            word = line[place]
            if all(counts[word] > 0 for counts in left):  # no word counts more often than either text holds it
                shared += 1
                for counts in left:
                    counts[word] -= 1
    return Overlap(shared / sizes[0], shared / sizes[1])


def _rows(a: Sequence[str], b: Sequence[str]) -> list[int]:
    """The steps of the longest common subsequences, a row of bits for each beginning of `a`, empty one included.

    Bit j of row i is set where that of `a[:i]` and `b[: j + 1]` is longer than that of `a[:i]` and `b[:j]`, so the bits
    below j count it (Hyyrö 2004: a row of the usual table is one addition of long numbers).
    """
    places: dict[str, int] = {}
    for j, word in enumerate(b):
        places[word] = places.get(word, 0) | 1 << j
    whole = (1 << len(b)) - 1
    level, rows = whole, [0]
    for word in a:
        met = level & places.get(word, 0)
        level = (level + met | level - met) & whole
        rows.append(whole ^ level)
    return rows


def _common_places(a: Sequence[str], b: Sequence[str]) -> list[int]:
    """Where in `a` the words of one longest common subsequence stand; of several, the one that `rouge-score` finds."""
    rows = _rows(a, b)
    places, i, j = [], len(a), len(b)
    while i and j:
        if a[i - 1] == b[j - 1]:
            i, j = i - 1, j - 1
            places.append(i)
        elif _length(rows[i], j - 1) > _length(rows[i - 1], j):
            j -= 1
        else:
            i -= 1
    return places


def _length(row: int, j: int) -> int:
    return (row & (1 << j) - 1).bit_count()
