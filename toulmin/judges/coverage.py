"""Texts as the lexical judge reads them, and how much of a claim their sentences cover.

A unit is a word's term, or a whole number, date or name: "June 29, 2007" equals "29 June 2007". Keys of figures
begin with `#`, of names with `@`.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import NamedTuple

from toulmin.judges.reading import PREFIX, Reading, Sentence, adjacent, figure_key
from toulmin.text.language import STOPWORDS, rarity, terms
from toulmin.text.overlap import longest_run

FIGURE_WEIGHT = 6.0  # a number or date weighs as much as a fairly rare word
RUN = 500  # words compared for the longest common stretch: with repeated words the time is quadratic
DERIVED = 0.6  # weight of a term of which only a related form occurs ("election", "elected")


class Source(NamedTuple):
    text: Reading
    title: Reading


@dataclass(frozen=True, slots=True)
class Best:
    """The sentence that covers most of the claim, and its share, title aside."""

    sentence: Sentence
    share: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares of a claim, from 0 to 1, and the best sentence of each premise.

    `single`: of the weighted terms, by the best sentence with its title; `whole`: by all sources; `tail`: the same of
    the second half, often what is new; `plain`: of all words; `pairs`: of adjacent words; `run`: the longest stretch in
    the best sentence; `denied`: 1 if only the claim denies.
    """

    single: float
    whole: float
    tail: float
    plain: float
    pairs: float
    run: float
    denied: float
    best: tuple[Best | None, ...]

    def features(self) -> tuple[float, ...]:
        """The constant comes first."""
        return (1.0, self.single, self.tail, self.plain, self.pairs, self.run * self.run, self.denied)


def weights(reading: Reading) -> dict[str, float]:
    """The claim's weighted terms; function words only if there is nothing else."""
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
    """`wanted` has the claim's weighted terms."""
    values = _term_values(wanted, sources)
    asked = list(wanted.values())
    rows = [_rows(source, list(wanted), values) for source in sources]
    single = max((row for premise_rows in rows for row in premise_rows), key=lambda row: row.score, default=None)
    whole = reduce(or_, (row.mask for premise_rows in rows for row in premise_rows), 0)
    claimed = [term for sentence in claim.sentences for term in sentence.terms]
    half = len(asked) // 2
    total = sum(asked) or 1.0
    return Coverage(
        single=single.score / total if single else 0.0,
        whole=_weigh(whole, values) / total,
        tail=_weigh(whole >> half, values[half:]) / (sum(asked[half:]) or 1.0),
        plain=_share_in(claimed, [reading.where for source in sources for reading in source]),
        pairs=_share_in(list(adjacent(claimed)), [reading.pairs for source in sources for reading in source]),
        run=longest_run(claimed[:RUN], single.sentence.terms[:RUN]) / len(claimed) if single and claimed else 0.0,
        denied=_denial(claim, single.sentence) if single else 0.0,
        best=tuple(_best(premise_rows, claim, total) for premise_rows in rows),
    )


class _Row(NamedTuple):
    """A sentence; weight and bits of the claim's terms in it or its title; its own weight."""

    sentence: Sentence
    score: float
    mask: int
    own: float


def _term_values(wanted: Mapping[str, float], sources: Sequence[Source]) -> list[float]:
    """The terms' weights, lower where the sources have only a derived form."""
    return [
        weight if any(term in s.text.where or term in s.title.where for s in sources) else weight * DERIVED
        for term, weight in wanted.items()
    ]


def _rows(source: Source, wanted: Sequence[str], values: Sequence[float]) -> list[_Row]:
    text, title = source.text, source.title
    masks = [0] * len(text.sentences)
    title_mask = 0
    for k, term in enumerate(wanted):
        bit = 1 << k
        if term in title.where:
            title_mask |= bit
        places = text.where.get(term) or text.prefixes.get(term[:PREFIX], 0)
        while places:
            lowest = places & -places
            masks[lowest.bit_length() - 1] |= bit
            places ^= lowest
    return [
        _Row(sentence, _weigh(mask | title_mask, values), mask | title_mask, _weigh(mask, values))
        for sentence, mask in zip(text.sentences, masks, strict=True)
    ]


def _weigh(mask: int, values: Sequence[float]) -> float:
    total = 0.0
    while mask:
        lowest = mask & -mask
        total += values[lowest.bit_length() - 1]
        mask ^= lowest
    return total


def _best(rows: Sequence[_Row], claim: Reading, total: float) -> Best | None:
    top = max((row.own for row in rows), default=0.0)
    if top <= 0 or not claim.sentences:
        return None
    claim_units = claim.sentences[0].held
    equals = [row for row in rows if row.own >= top - 1e-9]
    best = max(equals, key=lambda row: len(claim_units & row.sentence.held) / len(claim_units | row.sentence.held))
    return Best(best.sentence, best.own / total)


def _share_in(wanted: Sequence[str], holders: Sequence[Container[str]]) -> float:
    absent = list(wanted)
    for holder in holders:
        absent = [item for item in absent if item not in holder]
    return 1 - len(absent) / len(wanted) if wanted else 0.0


def _denial(claim: Reading, best: Sentence) -> float:
    reached = {reach[0] for sentence in claim.sentences for reach in sentence.denials.values() if reach}
    return float(not best.denials and not reached.isdisjoint(best.held))
