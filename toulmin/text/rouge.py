"""ROUGE (Lin 2004), equal to `rouge-score` with its stemmer to the last digit.

Words are a to z and digits, stemmed if over three letters. `is_legible` finds texts of which too little is left.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"[a-z0-9]+")

# ---------------------------------------------------------------- Porter's stemmer, as ROUGE uses it


def _rules(text: str) -> dict[str, str]:
    pairs = (rule.split(":") for rule in text.split())
    return dict(sorted(((ending, new) for ending, new in pairs), key=lambda rule: -len(rule[0])))


_IRREGULAR = _rules(
    "sky:sky news:news howe:howe inning:inning outing:outing canning:canning proceed:proceed exceed:exceed"
    " succeed:succeed skies:sky dying:die lying:lie tying:tie innings:inning outings:outing cannings:canning"
)
_STEP_1A = _rules("sses:ss ies:i ss:ss s:")
_STEP_2 = _rules(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble entli:ent eli:e ousli:ous ization:ize ation:ate"
    " ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble fulli:ful"
)
_STEP_3 = _rules("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
_STEP_4 = _rules(
    "al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ou: ism: ate: iti: ous: ive: ize:"  # and -sion, -tion
)


@lru_cache(maxsize=100_000)
def porter_stem(word: str) -> str:
    """The stem of a lower-case word of Latin letters and digits, equal to NLTK's; a search uses `language.stem`.

    M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, whose steps are numbered here, with NLTK's
    extensions: irregular words, short words in -ies and -ied, another rule for -y, and -bli, -fulli and -logi.
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    is_short = len(word) == 4 and word.endswith(("ies", "ied"))
    word = _step_1c(word[:-1] if is_short else _step_1b(_replace_ending(word, _STEP_1A, -1)))
    word = _replace_ending(_step_2(word), _STEP_3, 0)
    return _step_5(_step_4(word))


def _shape(stem: str) -> str:
    """A `c` a consonant, a `v` a vowel; y is a vowel after a consonant."""
    shape = ""
    for letter in stem:
        shape += "v" if letter in "aeiou" or (letter == "y" and shape.endswith("c")) else "c"
    return shape


def _measure(stem: str) -> int:
    return _shape(stem).count("vc")


def _is_short(stem: str) -> bool:
    """Porter's *o, or just vowel and consonant."""
    shape = _shape(stem)
    return (shape.endswith("cvc") and stem[-1] not in "wxy") or shape == "vc"


def _replace_ending(word: str, rules: Mapping[str, str], above: int) -> str:
    for ending, new in rules.items():
        if word.endswith(ending):
            stem = word[: -len(ending)]
            return stem + new if _measure(stem) > above else word
    return word


def _step_1b(word: str) -> str:
    if word.endswith("ied"):
        return word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if stem != word and "v" in _shape(stem):
            return _repair_stem(stem)
    return word


def _repair_stem(stem: str) -> str:
    """hopp(ing): hop; fil(ing): file; conflat(ed): conflate."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if stem[-2:-1] == stem[-1] and _shape(stem).endswith("c"):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _is_short(stem) else stem


def _step_1c(word: str) -> str:
    stem = word.removesuffix("y")
    return stem + "i" if stem != word and len(stem) > 1 and _shape(stem).endswith("c") else word


def _step_2(word: str) -> str:
    word = _replace_ending(word, {"alli": "al"}, 0)
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replace_ending(word, _STEP_2, 0)


def _step_4(word: str) -> str:
    if word.endswith(("sion", "tion")):
        return word[:-3] if _measure(word[:-3]) > 1 else word
    return _replace_ending(word, _STEP_4, 1)


def _step_5(word: str) -> str:
    stem = word.removesuffix("e")
    if stem != word and (_measure(stem) > 1 or (_measure(stem) == 1 and not _is_short(stem))):
        word = stem
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


# ---------------------------------------------------------------- the measures


@dataclass(frozen=True, slots=True)
class Overlap:
    """The shared part of the candidate (precision) and of the reference (recall), in 0..1."""

    precision: float
    recall: float

    @property
    def fmeasure(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total > 0 else 0.0


def rouge_words(text: str) -> list[str]:
    return [word if len(word) <= 3 else porter_stem(word) for word in _WORD.findall(text.lower())]


def is_legible(text: str) -> bool:
    """Whether ROUGE's words contain at least half of the letters and digits; in most scripts they contain none."""
    count = sum(len(word) for word in _WORD.findall(text.lower()))
    return 2 * count >= sum(character.isalnum() for character in text)


def rouge_n(candidate: str, reference: str, n: int) -> Overlap:
    """0 for texts of fewer than `n` words."""
    return sequence_overlap(rouge_words(candidate), rouge_words(reference), n)


def sequence_overlap(candidate: Sequence[str], reference: Sequence[str], n: int) -> Overlap:
    ours, theirs = _sequences(candidate, n), _sequences(reference, n)
    shared = (ours & theirs).total()
    return Overlap(shared / max(ours.total(), 1), shared / max(theirs.total(), 1))


def _sequences(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def rouge_l_sum(candidate: str, reference: str) -> Overlap:
    """ROUGE-Lsum, one sentence a line: each reference line against the whole candidate."""
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
            if all(counts[word] > 0 for counts in left):  # a word counts at most as often as in either text
                shared += 1
                for counts in left:
                    counts[word] -= 1
    return Overlap(shared / sizes[0], shared / sizes[1])


def _common_places(a: Sequence[str], b: Sequence[str]) -> list[int]:
    """Positions in `a` of the longest common subsequence that `rouge-score` finds."""
    # The table of longest common subsequences (LCS): a row of bits for each prefix of `a`, also the empty one. Bit j of
    # row i is set if the LCS of `a[:i]` and `b[: j + 1]` is longer than that with `b[:j]` (Hyyrö 2004).
    bits: dict[str, int] = {}
    for j, word in enumerate(b):
        bits[word] = bits.get(word, 0) | 1 << j
    whole = (1 << len(b)) - 1
    level, rows = whole, [0]
    for word in a:
        met = level & bits.get(word, 0)
        level = (level + met | level - met) & whole
        rows.append(whole ^ level)
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
