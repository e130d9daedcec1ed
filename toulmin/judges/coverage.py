"""How much of a claim the sentences of its sources cover."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from toulmin.grounding.overlap import longest_run
from toulmin.judges.oppositions import opposites
from toulmin.judges.reading import Reading, Sentence, adjacent, figure_key
from toulmin.language import STOPWORDS, rarity, stem, terms

FIGURE_WEIGHT = 6.0  # a number or date tells about as much as a fairly rare word
DERIVED = 0.6  # what a term counts for where only a longer or shorter form of it stands ("election", "elected")
PREFIX = 5
_ONLY = frozenset(map(stem, "only solely exclusively entirely merely just strictly purely".split()))
LEADING = 4  # sentences tried as the better half of a pair


@dataclass(frozen=True, slots=True)
class Source:
    """One premise: its text and its title, both read."""

    text: Reading
    title: Reading


@dataclass(frozen=True, slots=True)
class Best:
    """The sentence of one premise that covers most of the claim, and the share it covers, title aside."""

    sentence: Sentence
    share: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """What of a claim was found; all but the counts are shares of its weighted terms, from 0 to 1.

    `single`: by the best sentence with its title; `double`: by the best two; `whole`: by all sources together;
    `pairs`: of neighbouring terms; `run`: the longest stretch in the best sentence; `gap`: the weight of the
    rarest term not found; `plain`: of all words, function words too; `opposed`: 1 where a missing term's opposite
    stands in the best sentence; `denied`: 1 where one of claim and best sentence denies what the other says;
    `exclusive`: 1 where the claim says "only" and the best sentence does not.
    """

    single: float
    double: float
    whole: float
    pairs: float
    run: float
    gap: float
    plain: float
    opposed: float
    denied: float
    exclusive: float
    size: int
    sentences: int
    best: tuple[Best | None, ...]

    def features(self) -> tuple[float, ...]:
        """The numbers that the judge's regression weighs."""
        return (
            1.0,
            self.single,
            self.double,
            self.whole,
            self.pairs,
            self.run,
            self.gap,
            self.plain,
            self.opposed,
            self.denied,
            self.exclusive,
            math.log1p(self.size),
            math.log1p(self.sentences),
            1.0 if self.whole > 0.999 else 0.0,
            self.single * self.single,
        )


def weights(reading: Reading) -> dict[str, float]:
    """What is to be found of a claim, and how much each part tells; function words only where there is nothing else."""
    found: dict[str, float] = {}
    for sentence in reading.sentences:
        for at, key in enumerate(sentence.keys):
            fact = sentence.facts.get(at)
            if fact is None:
                found[key] = rarity(key)
            elif fact.kind == "name":
                found.update((term, rarity(term)) for term in terms(sentence.shown[at]))
            else:
                found[figure_key(fact.value)] = FIGURE_WEIGHT
    telling = {term: max(weight, 0.5) for term, weight in found.items() if term not in STOPWORDS}
    return telling or {term: 0.5 for term in found}


def measure(claim: Reading, wanted: Mapping[str, float], sources: Sequence[Source]) -> Coverage:
    """How the sources cover the claim, whose terms are `wanted`."""
    total = sum(wanted.values()) or 1.0
    values = _found_values(wanted, sources)
    rows = [_rows(source, list(wanted), values) for source in sources]
    leading = sorted((row for found in rows for row in found), key=lambda row: -row.score)[:LEADING]
    single = leading[0] if leading else None
    whole = 0
    for row in (row for found in rows for row in found):
        whole |= row.mask
    terms_there = single.sentence.terms if single else []
    claimed = [term for sentence in claim.sentences for term in sentence.terms]
    return Coverage(
        single=single.score / total if single else 0.0,
        double=max((_weigh(row.mask | leading[0].mask, values) for row in leading), default=0.0) / total,
        whole=_weigh(whole, values) / total,
        pairs=_paired(claimed, sources),
        run=longest_run(claimed, terms_there) / len(claimed) if claimed else 0.0,
        gap=max((w for k, w in enumerate(wanted.values()) if not whole >> k & 1), default=0.0) / 9.5,
        plain=_plain(claimed, sources),
        opposed=_opposed(wanted, single.sentence) if single else 0.0,
        denied=_denied(claim, single.sentence) if single else 0.0,
        exclusive=_exclusive(claimed, terms_there),
        size=len(wanted),
        sentences=sum(len(found) for found in rows),
        best=tuple(_best(found, claim, total) for found in rows),
    )


class _Row(NamedTuple):
    """A sentence, the weight of the claim's terms in it or its title, those terms as bits, and its own weight."""

    sentence: Sentence
    score: float
    mask: int
    own: float


def _found_values(wanted: Mapping[str, float], sources: Sequence[Source]) -> list[float]:
    """What each term counts for where it is found: less if the sources hold only a form derived from it."""
    return [
        weight if any(term in s.text.where or term in s.title.where for s in sources) else weight * DERIVED
        for term, weight in wanted.items()
    ]


def _rows(source: Source, wanted: Sequence[str], values: Sequence[float]) -> list[_Row]:
    """One row a sentence of the premise."""
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
    """The sentence with most of the claim; of equals, the one most like it."""
    top = max((row.own for row in rows), default=0.0)
    if top <= 0 or not claim.sentences:
        return None
    held = claim.sentences[0].held
    equals = [row for row in rows if row.own >= top - 1e-9]
    best = max(equals, key=lambda row: len(held & row.sentence.held) / len(held | row.sentence.held))
    return Best(best.sentence, best.own / total)


def _paired(claimed: Sequence[str], sources: Sequence[Source]) -> float:
    pairs = list(adjacent(claimed))
    found = sum(any(pair in s.text.pairs or pair in s.title.pairs for s in sources) for pair in pairs)
    return found / len(pairs) if pairs else 0.0


def _opposed(wanted: Mapping[str, float], best: Sentence) -> float:
    return float(any(not opposites(term).isdisjoint(best.held) for term in wanted if term not in best.held))


def _plain(claimed: Sequence[str], sources: Sequence[Source]) -> float:
    found = sum(any(term in s.text.where or term in s.title.where for s in sources) for term in claimed)
    return found / len(claimed) if claimed else 0.0


def _denials(sentence: Sentence) -> set[str]:
    return {key for reach in sentence.denials.values() for key in reach}


def _denied(claim: Reading, best: Sentence) -> float:
    theirs = _denials(best)
    return float(any(key in best.held for said in claim.sentences for key in said.held & (_denials(said) ^ theirs)))


def _exclusive(claimed: Sequence[str], best: Sequence[str]) -> float:
    return float(not _ONLY.isdisjoint(claimed) and _ONLY.isdisjoint(best))
