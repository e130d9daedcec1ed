"""ROUGE (Lin 2004): the word sequences that two texts share, equal to `rouge-score` with its stemmer, to the last
digit.

Words are a to z and digits, stemmed if over three letters. `is_legible` finds texts of which too little is left.
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
    """The share in 0..1 of the candidate (precision) and of the reference (recall)."""

    precision: float
    recall: float

    @property
    def fmeasure(self) -> float:
        """0 where nothing is shared."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total > 0 else 0.0


def rouge_words(text: str) -> list[str]:
    return [word if len(word) <= 3 else porter_stem(word) for word in _WORD.findall(text.lower())]


def is_legible(text: str) -> bool:
    """Whether ROUGE's words hold at least half of the letters and digits; in most scripts they hold none."""
    count = sum(len(word) for word in _WORD.findall(text.lower()))
    return 2 * count >= sum(character.isalnum() for character in text)


def rouge_n(candidate: str, reference: str, n: int) -> Overlap:
    """ROUGE-n: shared sequences of `n` words; 0 for shorter texts."""
    return sequence_overlap(rouge_words(candidate), rouge_words(reference), n)


def sequence_overlap(candidate: Sequence[str], reference: Sequence[str], n: int) -> Overlap:
    """Sequences of `n` items in both, each counted as in the text that has fewer."""
    ours, theirs = _sequences(candidate, n), _sequences(reference, n)
    shared = (ours & theirs).total()
    return Overlap(shared / max(ours.total(), 1), shared / max(theirs.total(), 1))


def _sequences(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def rouge_l(candidate: str, reference: str) -> Overlap:
    """ROUGE-L: the longest sequence of words in both, gaps allowed."""
    ours, theirs = rouge_words(candidate), rouge_words(reference)
    if not ours or not theirs:
        return Overlap(0.0, 0.0)
    shared = _rows(theirs, ours)[-1].bit_count()
    return Overlap(shared / len(ours), shared / len(theirs))


def rouge_l_sum(candidate: str, reference: str) -> Overlap:
    """ROUGE-L of summaries, one sentence per line: each reference line against the whole candidate."""
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
    """The steps of the longest common subsequences (LCS): a row of bits per prefix of `a`, the empty one included.

    Bit j of row i is set if the LCS of `a[:i]` and `b[: j + 1]` is longer than that with `b[:j]`, whose length the bits
    below j count (Hyyrö 2004: a row of the table is one addition of long integers).
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
    """Positions in `a` of one longest common subsequence: the one that `rouge-score` finds."""
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
