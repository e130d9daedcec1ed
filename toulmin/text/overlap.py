"""How two texts overlap, by terms or other units; ROUGE is in `rouge`."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import SequenceMatcher

from toulmin.text.language import rarity, terms
from toulmin.text.wording import wording


@dataclass(frozen=True, slots=True)
class Block:
    """Where two sequences differ: `a[a_start:a_end]` replaces `b[b_start:b_end]`."""

    a_start: int
    a_end: int
    b_start: int
    b_end: int


def differences(a: Sequence[str], b: Sequence[str]) -> tuple[Block, ...]:
    head = 0
    while head < len(a) and head < len(b) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    a_end, b_end = len(a) - tail, len(b) - tail
    if head in (a_end, b_end):
        return () if head == a_end == b_end else (Block(head, a_end, head, b_end),)
    matcher = SequenceMatcher(None, a[head:a_end], b[head:b_end], autojunk=False)
    return tuple(
        Block(head + a1, head + a2, head + b1, head + b2)
        for tag, a1, a2, b1, b2 in matcher.get_opcodes()
        if tag != "equal"
    )


def longest_run(a: Sequence[str], b: Sequence[str]) -> int:
    """The length of the longest stretch that both share."""
    places: dict[str, list[int]] = {}
    for j, item in enumerate(b):
        places.setdefault(item, []).append(j)
    best = 0
    before: dict[int, int] = {}
    for item in a:
        before = {j: before.get(j - 1, 0) + 1 for j in places.get(item, ())}
        if before:
            best = max(best, max(before.values()))
    return best


_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalise(text: str) -> str:
    """The text as SQuAD and ALCE compare answers: lower case, no ASCII punctuation, no articles, single spaces.

    Punctuation is deleted, not replaced ("twenty-one" is "twentyone"); the result may be empty.
    """
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def bag_f1(ours: Counter[str], theirs: Counter[str]) -> float:
    """The F1 of two bags of words, in 0..1; two empty bags agree."""
    if not ours or not theirs:
        return float(ours == theirs)
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def token_f1(a: str, b: str) -> float:
    """The F1, in 0..1, of normalised words with repetitions; two empty texts agree."""
    return bag_f1(Counter(normalise(a).split()), Counter(normalise(b).split()))


def entity(text: str) -> str:
    """A name for comparison: normalised, or just in lower case if nothing would be left ("The The")."""
    return normalise(text) or " ".join(text.casefold().split())


def entity_f1(a: Iterable[str], b: Iterable[str]) -> float:
    """The F1 of two sets of names, in 0..1; two empty sets agree."""
    return bag_f1(Counter({entity(name) for name in a}), Counter({entity(name) for name in b}))


_PER_TERM = 0.02  # of what a shared word counts: else a page of code has words of everything


def nearest(text: str, texts: Sequence[str]) -> int | None:
    """Which of the texts has most of the first one's words, rare ones before all; a long one must have more of them."""
    wanted = {term: 0.1 + rarity(term) for term in sorted({*terms(text)})}
    scores = []
    for other in texts:
        spoken = terms(other)
        scores.append(sum(wanted[term] for term in sorted(wanted.keys() & {*spoken})) - _PER_TERM * len(spoken))
    return max(range(len(texts)), key=lambda n: (scores[n], -n), default=None)


def has_most_of(text: str, wanted: AbstractSet[str], share: float, at_least: int = 0) -> bool:
    """Whether a text has that share of the terms, and so many of them."""
    return len(wanted & wording(text).terms) >= max(at_least, share * len(wanted))
