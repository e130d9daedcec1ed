"""From labels to the passages offered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from toulmin.data import Citation, Claim, Passage
from toulmin.parsing.lines import without_emphasis
from toulmin.parsing.marks import LabelRange, find_marks

# Of a range wider than this that exceeds what was offered ("[1-999999]"), only the ends are read.
_WIDEST_RANGE = 100

# Possessive, so that digits match whole or not at all, never in many ways.
_RUN = r"((?:\d++\s*+(?:[,;&–-]|and\b)?+\s*+)++)"
_NAMED = re.compile(rf"\b(?:document|doc|passage|source|reference|citation)s?\s*+[#:]?\s*+{_RUN}", re.IGNORECASE)
_GAP = re.compile(r"(?<=\d)\s+(?=\d)")
_BARE = re.compile(rf"\W*+{_RUN}[\s.]*+", re.IGNORECASE)

_CLAUSE_END = re.compile(r"(?<=[.;!?。])\s+|,?\s\b(?:while|whereas|but|although|though|however)\b")
_DENIES = re.compile(
    r"\b(?:do|does|did)(?: not|n['’]t) (?:\w{2,12}ly )?(?:support|mention|contain|address|confirm|state|back"
    r"|provide|say)"
    r"|\bnone of (?:the|these)\b|\bneither\b|\bnot (?:\w{2,12}ly )?(?:support|relevant|related)|\birrelevant\b"
    r"|\bunrelated\b"
    r"|\bno (?:passage|document|source)s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Labels:
    """Cited passages by id, in order, each once; `invalid` counts labels that were not offered."""

    ids: tuple[str, ...] = ()
    invalid: int = 0


def read_labels(text: str, offered: Sequence[Passage]) -> Labels:
    """The passages that a reply names as support: by marks, else by "passages 1 and 3", else by bare numbers.

    A clause that denies support ("but [1] does not mention it") names none.
    """
    assertions = "\n".join(clause for clause in _CLAUSE_END.split(text) if not _DENIES.search(clause))
    labels = [label for mark in find_marks(assertions, len(offered)) for label in mark.labels]
    return resolve_labels(labels or list(_labels_in_words(assertions, len(offered))), offered)


def _labels_in_words(text: str, offered: int) -> Iterator[LabelRange]:
    bare = _BARE.fullmatch(text)
    for run in [bare[1]] if bare else _NAMED.findall(text):
        for mark in find_marks(f"[{_GAP.sub(', ', run.strip(' ,;&–-'))}]", offered):
            yield from mark.labels


def resolve_labels(labels: Iterable[LabelRange], offered: Sequence[Passage]) -> Labels:
    """The passages of labels, which count from 1."""
    ids: dict[str, None] = {}
    invalid, seen = 0, set()
    for label in labels:
        named, beyond = _expand(label, len(offered))
        invalid += beyond
        if label not in seen:
            seen.add(label)
            ids.update((offered[n - 1].id, None) for n in named)
    return Labels(tuple(ids), invalid)


def _expand(label: LabelRange, offered: int) -> tuple[Sequence[int], int]:
    first, last = label
    is_slip = last < first or (last > offered and last - first > _WIDEST_RANGE)
    if is_slip:
        ends = [n for n in (first, last) if 1 <= n <= offered]
        return ends, 2 - len(ends)
    named = range(max(first, 1), min(last, offered) + 1)
    return named, last - first + 1 - len(named)


def build_claim(words: str, labels: Sequence[LabelRange], offered: Sequence[Passage], section: str | None) -> Claim:
    """A claim on one line, without Markdown, that cites what the labels name."""
    ids = resolve_labels(labels, offered).ids
    return Claim(" ".join(without_emphasis(words).split()), tuple(Citation(id) for id in ids), section=section)
