"""Texts as the lexical judge reads them, and how much of a claim they cover.

A unit is the term of a word, or a whole number, date (key `#...`) or name (key `@...`).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import NamedTuple

from toulmin.text.language import STOPWORDS, Span, rarity, terms, words
from toulmin.text.names import Fact
from toulmin.text.overlap import longest_run
from toulmin.text.wording import wording

# ---------------------------------------------------------------- sentences of units


PREFIX = 5  # letters that related terms share
_LONGEST_TERM = 4  # words of a line that the next one explains
# Where a sentence may end early without another sense: not amid a list, nor before what takes it back.
_TAKES_BACK = r"(?:but|if|unless|except|though|although|or|which is|accord\w+|\S+ (?:says?|said|has it))\b"
_OPENING = re.compile(rf"[,;] (?!{_TAKES_BACK}|(?:\S+ ){{0,3}}(?:\S+,|and|or) )")
# Words that may stand for a figure.
COUNTS = dict.fromkeys(("one", "first", "once", "single", "sole"), "#1") | dict.fromkeys(
    ("second", "twice", "double", "both", "couple", "pair", "two-time"), "#2"
)


def figure_key(value: str) -> str:
    return "#" + value


def implications(value: str) -> tuple[str, ...]:
    """2007-06-29 implies 2007-06, 2007, --06-29, --06, 2000s and C21; Q3 implies 3."""
    if value[0] == "Q":
        return value, value[1]
    dates = [value]
    year, _, rest = ("", "", value[2:]) if value.startswith("--") else value.partition("-")
    if rest and (not year or len(year) == 4):
        parts = rest.split("-")
        dates += [f"{year}-{parts[0]}", year] if year else []
        dates += [f"--{rest}", f"--{parts[0]}"]
    if len(year) == 4 and year.isdecimal():
        dates += [f"{year[:3]}0s", f"C{(int(year) - 1) // 100 + 1}"]
    return tuple(dict.fromkeys(dates))


@dataclass(slots=True)
class Sentence:
    """A span of a text with its units: `keys` in order, `units` as a set, `content` those with content."""

    start: int
    end: int
    keys: list[str] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    facts: dict[int, Fact] = field(default_factory=dict)
    units: frozenset[str] = frozenset()
    content: frozenset[str] = frozenset()


class Reading(NamedTuple):
    """A text; `where` and `prefixes` map terms and figures to bit sets of sentences.

    `stated` contains the sentences and their openings, white space collapsed, also after the term that they define.
    """

    text: str
    sentences: tuple[Sentence, ...]
    facts: tuple[Fact, ...]
    where: dict[str, int]
    prefixes: dict[str, int]
    pairs: frozenset[str]
    stated: frozenset[str]

    def places(self, term: str) -> int:
        """The bits of the sentences with the term, or else with related terms."""
        return self.where.get(term) or self.prefixes.get(term[:PREFIX], 0)


def _read_sentence(text: str, span: Span, sentence_facts: Sequence[Fact]) -> Sentence:
    sentence = Sentence(*span)
    coming = iter(sentence_facts)
    fact, last = next(coming, None), None
    for a, b in words(text[span.start : span.end]):
        at, end = span.start + a, span.start + b
        while fact is not None and fact.end <= at:
            fact = next(coming, None)
        word_terms = terms(text[at:end])
        sentence.terms.extend(word_terms)
        if fact is None or at < fact.start:
            sentence.keys.extend(word_terms)
            sentence.shown.extend([text[at:end]] * len(word_terms))
        elif fact is not last:
            last = sentence.facts[len(sentence.keys)] = fact
            sentence.keys.append(f"@{fact.value}" if fact.kind == "name" else figure_key(fact.value))
            sentence.shown.append(text[fact.start : fact.end])
    sentence.units = frozenset(sentence.keys)
    telling = {shown for shown in set(sentence.shown) if shown.lower() not in STOPWORDS}
    sentence.content = frozenset(k for k, shown in zip(sentence.keys, sentence.shown, strict=True) if shown in telling)
    return sentence


def bits(places: int) -> Iterator[int]:
    """The positions of the bits that are set, lowest first."""
    while places:
        yield (places & -places).bit_length() - 1
        places &= places - 1


def _places(read_sentences: Sequence[Sentence]) -> dict[str, int]:
    where: dict[str, int] = {}
    for i, sentence in enumerate(read_sentences):
        for key in (*sentence.terms, *_figure_keys(sentence)):
            where[key] = where.get(key, 0) | (1 << i)
    return where


def _figure_keys(sentence: Sentence) -> Iterator[str]:
    for fact in sentence.facts.values():
        if fact.kind == "date":
            yield from map(figure_key, implications(fact.value))
        elif fact.kind == "number":
            yield figure_key(fact.value)
        elif fact.value[-1].isdecimal():
            yield figure_key(fact.value.rsplit(" ", 1)[-1])
    yield from (COUNTS[key] for key in sentence.keys if key in COUNTS)


def adjacent(items: Sequence[str]) -> Iterator[str]:
    return (f"{a} {b}" for a, b in pairwise(items))


def read(text: str) -> Reading:
    known = wording(text)
    read_sentences = tuple(_read_sentence(text, each.span, each.facts) for each in known.sentences)
    where = _places(read_sentences)
    prefixes: dict[str, int] = {}
    for term, places in where.items():
        if len(term) >= PREFIX:
            prefixes[term[:PREFIX]] = prefixes.get(term[:PREFIX], 0) | places
    pairs = frozenset(pair for sentence in read_sentences for pair in adjacent(sentence.terms))
    return Reading(text, read_sentences, known.facts, where, prefixes, pairs, frozenset(_stated(text, known.spans)))


def _stated(text: str, spans: Sequence[Span]) -> Iterator[str]:
    """Each sentence, its openings, and each after the short line above it, as in a list of definitions."""
    before = ""
    for span in spans:
        words = " ".join(text[span.start : span.end].split())
        yield words
        yield from (f"{words[: cut.start()]}." for cut in _OPENING.finditer(words, 20, 400))
        if before and "\n" in text[span.start - 2 : span.start]:
            yield f"{before} {words}"
        before = words if len(words.split()) <= _LONGEST_TERM and words[-1:].isalnum() else ""


# ---------------------------------------------------------------- shares of a claim that its sources have


FIGURE_WEIGHT = 6.0  # a number or date weighs as much as a fairly rare word
RUN = 500  # words compared for the longest common stretch: with repeated words the time is quadratic
DERIVED = 0.6  # weight of a term of which only a related form occurs ("election", "elected")


class Source(NamedTuple):
    text: Reading
    title: Reading


class Best(NamedTuple):
    """The sentence with most of the claim; `share` is without the title."""

    sentence: Sentence
    share: float


class Coverage(NamedTuple):
    """Shares of a claim, from 0 to 1, and the best sentence of each premise.

    Of the weighted terms: `single` by the best sentence with its title, `whole` by all sources, `tail` by all sources
    for the second half. `plain`: of all words; `pairs`: of adjacent words; `run`: the longest common stretch with the
    best sentence.
    """

    single: float
    whole: float
    tail: float
    plain: float
    pairs: float
    run: float
    best: tuple[Best | None, ...]

    def features(self) -> tuple[float, ...]:
        """The constant comes first."""
        return (1.0, self.single, self.tail, self.plain, self.pairs, self.run * self.run)


def weights(reading: Reading) -> dict[str, float]:
    """Weights by term; function words only if there is nothing else."""
    by_term: dict[str, float] = {}
    for sentence in reading.sentences:
        for at, key in enumerate(sentence.keys):
            fact = sentence.facts.get(at)
            if fact is None:
                by_term[key] = rarity(key)
            elif fact.kind == "name":
                by_term.update((term, rarity(term)) for term in terms(sentence.shown[at]))
            else:
                by_term[figure_key(fact.value)] = FIGURE_WEIGHT
    telling = {term: max(weight, 0.5) for term, weight in by_term.items() if term not in STOPWORDS}
    return telling or dict.fromkeys(by_term, 0.5)


def measure(claim: Reading, wanted: Mapping[str, float], sources: Sequence[Source]) -> Coverage:
    values = [  # lower if the sources contain only a derived form
        weight if any(term in s.text.where or term in s.title.where for s in sources) else weight * DERIVED
        for term, weight in wanted.items()
    ]
    term_weights = list(wanted.values())
    rows = [_rows(source, list(wanted), values) for source in sources]
    single = max((row for premise_rows in rows for row in premise_rows), key=lambda row: row.score, default=None)
    whole = reduce(or_, (row.mask for premise_rows in rows for row in premise_rows), 0)
    claimed = [term for sentence in claim.sentences for term in sentence.terms]
    half = len(term_weights) // 2
    total = sum(term_weights) or 1.0
    return Coverage(
        single=single.score / total if single else 0.0,
        whole=_weigh(whole, values) / total,
        tail=_weigh(whole >> half, values[half:]) / (sum(term_weights[half:]) or 1.0),
        plain=_share_in(claimed, [reading.where for source in sources for reading in source]),
        pairs=_share_in(list(adjacent(claimed)), [reading.pairs for source in sources for reading in source]),
        run=longest_run(claimed[:RUN], single.sentence.terms[:RUN]) / len(claimed) if single and claimed else 0.0,
        best=tuple(_best(premise_rows, claim, total) for premise_rows in rows),
    )


class _Row(NamedTuple):
    """Weight (`score`) and bits (`mask`) of the claim's terms in a sentence and its title."""

    sentence: Sentence
    score: float
    mask: int
    untitled: float


def _rows(source: Source, wanted: Sequence[str], values: Sequence[float]) -> list[_Row]:
    text, title = source.text, source.title
    masks = [0] * len(text.sentences)
    title_mask = 0
    for k, term in enumerate(wanted):
        bit = 1 << k
        if term in title.where:
            title_mask |= bit
        for n in bits(text.places(term)):
            masks[n] |= bit
    return [
        _Row(sentence, _weigh(mask | title_mask, values), mask | title_mask, _weigh(mask, values))
        for sentence, mask in zip(text.sentences, masks, strict=True)
    ]


def _weigh(mask: int, values: Sequence[float]) -> float:
    total = 0.0
    for n in bits(mask):
        total += values[n]
    return total


def _best(rows: Sequence[_Row], claim: Reading, total: float) -> Best | None:
    top = max((row.untitled for row in rows), default=0.0)
    if top <= 0 or not claim.sentences:
        return None
    units = claim.sentences[0].units
    equals = [row for row in rows if row.untitled >= top - 1e-9]
    best = max(equals, key=lambda row: len(units & row.sentence.units) / len(units | row.sentence.units))
    return Best(best.sentence, best.untitled / total)


def _share_in(wanted: Sequence[str], holders: Sequence[Container[str]]) -> float:
    absent = list(wanted)
    for holder in holders:
        absent = [item for item in absent if item not in holder]
    return 1 - len(absent) / len(wanted) if wanted else 0.0
