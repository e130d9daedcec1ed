"""The spans of a sentence that could be a short answer, and their features.

Punctuation and function words split a sentence into runs. A candidate is a part of a run, runs joined by "of",
"and" or a comma, or a fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from toulmin.data import Passage
from toulmin.text.language import STOP_TERMS, STOPWORDS, Span, sentences, terms, words
from toulmin.text.names import Fact, facts

Kind = Literal["name", "date", "number", "plain"]

_LONGEST = 7  # words in a part of a run
_MOST_WORDS = 120  # in a sentence that is searched for candidates
_JOINERS = frozenset("of and or the a an to for in at on & de la du von van del di with by".split())
_FUNCTION = STOPWORDS | frozenset(
    "because although though since until unless while whereas upon within without among amongst per via despite along"
    " across around against behind beyond near toward towards became become becomes made called named known whether"
    " including include includes included however therefore thus although also both either neither".split()
)
_GLUE = re.compile(r"\s*|[-‐‑–'’./&]")  # between words of a run
_LISTS = re.compile(r"\s*,?\s*")  # between words of joined runs
_CURRENCY = re.compile(r"(?:US|A|C)?[$£€¥₹]$")
_SIGN = re.compile(r"\s?(?:%|°\s?[CF]?\b)")
_SIZES = "metres? meters? m km miles? mi feet foot ft kilomet\\w+ acres? inch(?:es)? degrees? kg mph tons? tonnes?"
_UNITS = {
    "money": re.compile(r"[$£€¥₹]|\b(?:dollars?|euros?|pounds?|cents?)\b"),
    "share": re.compile(r"%|\bper ?cent\b|\b(?:half|third|quarter|percentage)\b"),
    "time": re.compile(r"\b(?:years?|months?|weeks?|days?|hours?|minutes?|seconds?|decades?|centur(?:y|ies))\b"),
    "size": re.compile(rf"°|\b(?:{_SIZES.replace(' ', '|')}|square)\b"),
    "times": re.compile(r"\b(?:times|once|twice|every|annually|weekly|daily)\b"),
}


class Word(NamedTuple):
    """A word, with its offsets in the passage."""

    start: int
    end: int
    lower: str
    terms: tuple[str, ...]
    is_function: bool
    is_capital: bool
    fact: Fact | None


class Candidate(NamedTuple):
    """Words `first` to before `last`, at `passage.text[start:end]`."""

    first: int
    last: int
    start: int
    end: int
    kind: Kind
    is_joined: bool
    cuts: bool  # whether it has only a part of a fact
    unit: str  # what it counts, if its words say: "money", "time"; "things" for a bare number


@dataclass(frozen=True, slots=True)
class Sentence:
    """`terms` are the content terms."""

    start: int
    end: int
    words: tuple[Word, ...]
    terms: frozenset[str]
    gaps: tuple[str, ...]  # the text before each word, and after the last one
    candidates: tuple[Candidate, ...]


@lru_cache(maxsize=512)
def sentences_of(passage: Passage) -> tuple[Sentence, ...]:
    """The last 512 passages are cached."""
    return tuple(_sentence(passage.text, span) for span in sentences(passage.text))


def _sentence(text: str, span: Span) -> Sentence:
    words = _words(text, span)
    ends = [span.start, *(word.end for word in words)]
    starts = [*(word.start for word in words), span.end]
    gaps = tuple(text[end:start] for end, start in zip(ends, starts, strict=True))
    telling_terms = frozenset(term for word in words for term in word.terms if term not in STOP_TERMS)
    candidates = tuple(_candidates(text, span, words, gaps)) if len(words) <= _MOST_WORDS else ()
    return Sentence(span.start, span.end, words, telling_terms, gaps, candidates)


def _words(text: str, span: Span) -> tuple[Word, ...]:
    piece = text[span.start : span.end]
    known = {at: fact for fact in facts(text, (span,)) for at in range(fact.start, fact.end)}
    items = []
    for start, end in words(piece):
        word, at = piece[start:end], span.start + start
        is_function = word.lower() in _FUNCTION and not (word.isupper() and len(word) > 1)
        spelling = word.lower(), tuple(terms(word)), is_function, word[0].isupper()
        items.append(Word(at, at + len(word), *spelling, known.get(at)))
    return tuple(items)


# ---------------------------------------------------------------- candidates


def _candidates(text: str, span: Span, words: Sequence[Word], gaps: Sequence[str]) -> Iterator[Candidate]:
    runs = _runs(words, gaps)
    seen: set[tuple[int, int]] = set()
    for first, last, is_joined in (*_parts(runs), *_chains(runs, words, gaps), *_of_facts(words)):
        if (first, last) not in seen:
            seen.add((first, last))
            yield _candidate(text, span, words, first, last, is_joined)


def _runs(words: Sequence[Word], gaps: Sequence[str]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for n, word in enumerate(words):
        if word.is_function and word.fact is None:
            continue
        if runs and runs[-1][1] == n and _GLUE.fullmatch(gaps[n]):
            runs[-1] = (runs[-1][0], n + 1)
        else:
            runs.append((n, n + 1))
    return runs


def _parts(runs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
    for start, end in runs:
        for first in range(start, end):
            for last in range(first + 1, min(end, first + _LONGEST) + 1):
                yield first, last, False


def _chains(
    runs: Sequence[tuple[int, int]], words: Sequence[Word], gaps: Sequence[str]
) -> Iterator[tuple[int, int, bool]]:
    """Neighbouring runs with at most two joining words or a comma between."""
    for n, (start, end) in enumerate(runs):
        last = end
        for follower, after in runs[n + 1 : n + 4]:
            if not _joins(words, gaps, last, follower):
                break
            last = after
            for first in range(max(start, end - 3), end):
                yield first, last, True


def _joins(words: Sequence[Word], gaps: Sequence[str], end: int, start: int) -> bool:
    between = words[end:start]
    if len(between) > 2 or any(word.lower not in _JOINERS for word in between):
        return False
    return all(map(_LISTS.fullmatch, gaps[end : start + 1]))


def _of_facts(words: Sequence[Word]) -> Iterator[tuple[int, int, bool]]:
    for first, word in enumerate(words):
        if word.fact is not None and (not first or word.fact is not words[first - 1].fact):
            last = next((n for n in range(first, len(words)) if words[n].fact is not word.fact), len(words))
            yield first, last, False


def _candidate(text: str, span: Span, words: Sequence[Word], first: int, last: int, is_joined: bool) -> Candidate:
    start, end = words[first].start, words[last - 1].end
    currency = _CURRENCY.search(text, max(span.start, start - 3), start)
    sign = _SIGN.match(text, end, span.end)
    facts_at_ends = [fact for fact in (words[first].fact, words[last - 1].fact) if fact is not None]
    cuts = any(fact.start < start or fact.end > end for fact in facts_at_ends)
    start, end = currency.start() if currency else start, sign.end() if sign else end
    kind = _kind(words[first:last])
    return Candidate(first, last, start, end, kind, is_joined, cuts, _unit(text[start:end].lower(), kind))


def _unit(lower: str, kind: Kind) -> str:
    units = (name for name, pattern in _UNITS.items() if pattern.search(lower))
    return next(units, "things") if kind == "number" else ""


def _kind(words: Sequence[Word]) -> Kind:
    kinds = {word.fact.kind for word in words if word.fact is not None}
    for kind in ("date", "number"):
        if kind in kinds:
            return kind
    return "name" if words[0].fact is not None or words[-1].fact is not None else "plain"
