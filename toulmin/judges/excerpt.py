"""The sentences that a small judge reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from toulmin.data import Passage
from toulmin.runtime.windows import Part, Window, heading, pieces, with_short_titles
from toulmin.text.language import STOPWORDS, rarity, terms
from toulmin.text.wording import wording

Count = Callable[[str], int]
_COVERED_AGAIN = 0.15  # weight of a term that a taken sentence already has
_BESIDE = 0.25  # bonus for being next to a taken sentence, as a share of the claim's weight
_TELLS_LITTLE = 0.5  # the least weight of a term, and that of function words if a claim has nothing else
_SHARED = 2  # words that two sentences have in common at least if one says something of the other
_QUOTED = 0.2  # least share of the claim in a quoted sentence
_LEAST_SHARE = 0.25  # least share of the claim in an excerpt after the first


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The passages as shown, long titles cut, and the parts read."""

    passages: Sequence[Passage]
    window: Window

    @property
    def text(self) -> str:
        below: dict[int, list[str]] = {}
        for part in self.window.parts:
            below.setdefault(part.place, []).append(self.passages[part.place].text[part.start : part.end])
        return "\n".join(heading(self.passages[place]) + "\n".join(texts) for place, texts in below.items())

    @property
    def sentences(self) -> list[Part]:
        return self.window.sentences(self.passages)

    def decisive(self, claim: str) -> dict[int, Part]:
        """By passage index, the sentence with most of the claim, if at least a fifth."""
        best: dict[int, tuple[float, Part]] = {}
        for share, part in self._shares(claim):
            if share >= _QUOTED and share > best.get(part.place, (0.0, part))[0]:
                best[part.place] = (share, part)
        return {place: part for place, (_, part) in best.items()}

    def nearest(self, claim: str, least: float) -> str | None:
        """The sentence of all passages with most of the claim; None if none has that share of its words by weight, and
        two of them.
        """
        share, part = max(self._shares(claim), key=lambda pair: pair[0], default=(0.0, None))
        if part is None or share < least:
            return None
        sentence = self.passages[part.place].text[part.start : part.end]
        return sentence if len(_weights(claim).keys() & set(terms(sentence))) >= _SHARED else None

    def _shares(self, claim: str) -> Iterator[tuple[float, Part]]:
        weights = _weights(claim)
        whole = sum(weights.values()) or 1.0
        for part in self.sentences:
            shared_terms = weights.keys() & set(terms(self.passages[part.place].text[part.start : part.end]))
            yield sum(weights[term] for term in shared_terms) / whole, part


class _Unit:
    __slots__ = ("at", "part", "size", "taken", "terms")

    def __init__(self, at: int, part: Part, claim_terms: frozenset[str], size: int) -> None:
        self.at, self.part, self.terms, self.size, self.taken = at, part, claim_terms, size, False


def excerpts(claim: str, premises: Sequence[Passage], room: int, count: Count, most: int = 1) -> list[Excerpt]:
    """One to `most` excerpts of at most `room` tokens each, by `count`.

    Premises that fit are read whole. Later excerpts have at least a quarter of the claim's weight.
    """
    passages = with_short_titles(premises, max(room, 1), count)
    titles = [count(heading(passage)) + 1 if passage.title else 0 for passage in passages]
    weights = _weights(claim)
    units = _units(passages, weights, titles, room, count)
    if sum(unit.size for unit in units) + sum(titles) <= room:
        return [Excerpt(passages, Window(tuple(Part(n, 0, len(p.text)) for n, p in enumerate(passages) if p.text)))]
    selection: list[Excerpt] = []
    while len(selection) < most:
        taken = _choose([unit for unit in units if not unit.taken], weights, titles, room)
        covered = frozenset().union(*(unit.terms for unit in taken))
        if selection and sum(weights[term] for term in covered) < _LEAST_SHARE * sum(weights.values()):
            break
        selection.append(Excerpt(passages, _join(taken)))
    return selection


def _weights(claim: str) -> dict[str, float]:
    every = dict.fromkeys(terms(claim))
    telling = {term: max(rarity(term), _TELLS_LITTLE) for term in every if term not in STOPWORDS}
    return telling or dict.fromkeys(every, _TELLS_LITTLE)


def _units(
    passages: Sequence[Passage], weights: Mapping[str, float], titles: Sequence[int], room: int, count: Count
) -> list[_Unit]:
    units: list[_Unit] = []
    for place, passage in enumerate(passages):
        for each in wording(passage.text).sentences:
            for span, size in pieces(passage.text, each.span, room - titles[place], count):
                piece = each.term_set if span == each.span else frozenset(terms(passage.text[span.start : span.end]))
                units.append(_Unit(len(units), Part(place, *span), piece & weights.keys(), size + 1))
    return units


def _choose(units: Sequence[_Unit], weights: Mapping[str, float], titles: Sequence[int], room: int) -> list[_Unit]:
    total = sum(weights.values()) or 1.0
    covered: set[str] = set()
    places: set[int] = set()
    beside: set[int] = set()
    taken: list[_Unit] = []

    def cost(unit: _Unit) -> int:
        return unit.size + (0 if unit.part.place in places else titles[unit.part.place])

    def worth(unit: _Unit) -> tuple[float, int]:
        share = sum(weights[term] * (_COVERED_AGAIN if term in covered else 1.0) for term in unit.terms) / total
        return share + (_BESIDE * (unit.at in beside)), -unit.at

    waiting = list(units)
    while waiting := [unit for unit in waiting if not unit.taken and cost(unit) <= room]:
        best = max(waiting, key=worth)
        room -= cost(best)
        best.taken = True
        taken.append(best)
        covered |= best.terms
        places.add(best.part.place)
        beside |= {best.at - 1, best.at + 1}
    return sorted(taken, key=lambda unit: unit.at)


def _join(units: Sequence[_Unit]) -> Window:
    parts: list[Part] = []
    for before, unit in zip([None, *units], units, strict=False):
        if before is not None and unit.at == before.at + 1 and unit.part.place == before.part.place:
            parts[-1] = Part(unit.part.place, parts[-1].start, unit.part.end)
        else:
            parts.append(unit.part)
    return Window(tuple(parts))
