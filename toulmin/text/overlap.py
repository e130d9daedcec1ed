"""The overlap of two texts; ROUGE is in `rouge`."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from difflib import SequenceMatcher
from typing import NamedTuple

from toulmin.text.language import rarity, terms
from toulmin.text.wording import wording


class Block(NamedTuple):
    """`a[a_start:a_end]` replaces `b[b_start:b_end]`."""

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
    edits = (places for tag, *places in matcher.get_opcodes() if tag != "equal")
    return tuple(Block(head + a1, head + a2, head + b1, head + b2) for a1, a2, b1, b2 in edits)


def longest_run(a: Sequence[str], b: Sequence[str]) -> int:
    return SequenceMatcher(None, a, b, autojunk=False).find_longest_match().size


_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalise(text: str) -> str:
    """As SQuAD and ALCE compare answers: in lower case, without ASCII punctuation ("twenty-one" is "twentyone") and
    articles, with single spaces; may be empty.
    """
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def bag_f1(ours: Counter[str], theirs: Counter[str]) -> float:
    """In 0..1; two empty bags agree."""
    if not ours or not theirs:
        return float(ours == theirs)
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def token_f1(a: str, b: str) -> float:
    """Of normalised words with repetitions, in 0..1; two empty texts agree."""
    return bag_f1(Counter(normalise(a).split()), Counter(normalise(b).split()))


def entity(text: str) -> str:
    """A name for comparison: normalised, or in lower case if nothing would be left ("The The")."""
    return normalise(text) or " ".join(text.casefold().split())


def entity_f1(a: Iterable[str], b: Iterable[str]) -> float:
    """Of two sets of names, in 0..1; two empty sets agree."""
    return bag_f1(Counter({entity(name) for name in a}), Counter({entity(name) for name in b}))


_PER_TERM = 0.02  # subtracted a word: else a page of code has words of everything


def nearest(text: str, texts: Sequence[str]) -> int | None:
    """The position of the text with most of the first one's words, by rarity; a long text must contain more of them."""
    wanted = {term: 0.1 + rarity(term) for term in {*terms(text)}}
    term_lists = [terms(other) for other in texts]
    scores = [
        sum(wanted[t] for t in sorted(wanted.keys() & {*listed})) - _PER_TERM * len(listed) for listed in term_lists
    ]
    return max(range(len(texts)), key=lambda n: (scores[n], -n), default=None)


def has_most_of(text: str, wanted: Set[str], share: float, at_least: int = 0) -> bool:
    """Whether a text contains that share of the terms, and at least so many."""
    return len(wanted & wording(text).terms) >= max(at_least, share * len(wanted))
