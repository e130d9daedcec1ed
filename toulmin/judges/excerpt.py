"""What a small trained judge reads of the premises: the sentences that hold most of the claim, in their order.

Rules of this file
* Whole sentences, of all passages together: first the one that covers the claim best, then whichever adds most of
  what is still uncovered; a sentence beside one that was taken is preferred to a stranger, for what it refers to.
* A sentence that the room does not hold is cut between words, and its pieces compete.
* What is taken of a passage stands under its title, line by line where sentences between were left out.
* What was taken is not taken again: a second excerpt holds other sentences, for claims that could be judged by them.

Training and judging cut alike, by this file; a change here asks for new weights (`RULE`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from toulmin.data import Passage
from toulmin.runtime.premises import heading
from toulmin.runtime.windows import Part, Window, with_short_titles
from toulmin.text.language import STOPWORDS, Span, rarity, sentences, terms

Count = Callable[[str], int]
_COVERED_AGAIN = 0.15  # what a term counts for that a taken sentence holds already
_BESIDE = 0.25  # what standing beside a taken sentence counts for, as a share of the claim's weight
_TELLS_LITTLE = 0.5  # the weight of a claim's function words, where it has nothing else
_QUOTED = 0.2  # of the claim, in a sentence that is quoted
_LEAST_SHARE = 0.25  # of the claim, in an excerpt after the first


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The passages as they are shown (titles cut where they are endless), and the parts of them that are read."""

    passages: Sequence[Passage]
    window: Window

    @property
    def text(self) -> str:
        """As the judge reads it."""
        below: dict[int, list[str]] = {}
        for part in self.window.parts:
            below.setdefault(part.place, []).append(self.passages[part.place].text[part.start : part.end])
        return "\n".join(heading(self.passages[place]) + "\n".join(texts) for place, texts in below.items())

    @property
    def sentences(self) -> list[Part]:
        """The sentences that are read, in order."""
        return self.window.sentences(self.passages)

    def decisive(self, claim: str) -> dict[int, Part]:
        """By the place of its passage, the sentence that holds most of the claim; none that holds little of it."""
        weights = _weights(claim)
        least = _QUOTED * sum(weights.values())
        best: dict[int, tuple[float, Part]] = {}
        for part in self.sentences:
            held = weights.keys() & set(terms(self.passages[part.place].text[part.start : part.end]))
            worth = sum(weights[term] for term in held)
            if held and worth >= least and worth > best.get(part.place, (0.0, part))[0]:
                best[part.place] = (worth, part)
        return {place: part for place, (_, part) in best.items()}


class _Unit:
    """A sentence, or a piece of one: where it stands, what of the claim it holds, and its tokens."""

    __slots__ = ("at", "held", "part", "size", "taken")

    def __init__(self, at: int, part: Part, held: frozenset[str], size: int) -> None:
        self.at, self.part, self.held, self.size = at, part, held, size
        self.taken = False


def excerpts(claim: str, premises: Sequence[Passage], room: int, count: Count, most: int = 1) -> list[Excerpt]:
    """At least one excerpt of at most `room` tokens, as `count` counts those of a text, and at most `most`.

    Premises that the room holds whole are read whole. An excerpt after the first holds at least a quarter of the
    claim's weight; where nothing does there is none.
    """
    passages = with_short_titles(premises, max(room, 1), count)
    titles = [count(heading(passage)) + 1 if passage.title else 0 for passage in passages]
    weights = _weights(claim)
    units = _units(passages, weights, titles, room, count)
    if sum(unit.size for unit in units) + sum(titles) <= room:
        return [Excerpt(passages, Window(tuple(Part(n, 0, len(p.text)) for n, p in enumerate(passages) if p.text)))]
    found: list[Excerpt] = []
    while len(found) < most:
        taken = _chosen([unit for unit in units if not unit.taken], weights, titles, room)
        held = frozenset().union(*(unit.held for unit in taken))
        if found and sum(weights[term] for term in held) < _LEAST_SHARE * sum(weights.values()):
            break
        found.append(Excerpt(passages, _joined(taken)))
    return found


def _weights(claim: str) -> dict[str, float]:
    every = dict.fromkeys(terms(claim))
    telling = {term: max(rarity(term), _TELLS_LITTLE) for term in every if term not in STOPWORDS}
    return telling or dict.fromkeys(every, _TELLS_LITTLE)


@lru_cache(maxsize=4_096)
def _sentences(text: str) -> tuple[tuple[Span, frozenset[str]], ...]:
    """Kept, because many claims are judged by the same passages."""
    return tuple((span, frozenset(terms(text[span.start : span.end]))) for span in sentences(text))


def _units(
    passages: Sequence[Passage], weights: Mapping[str, float], titles: Sequence[int], room: int, count: Count
) -> list[_Unit]:
    units: list[_Unit] = []
    for place, passage in enumerate(passages):
        for span, held in _sentences(passage.text):
            for start, end, size in _pieces(passage.text, span, room - titles[place], count):
                own = held if (start, end) == span else frozenset(terms(passage.text[start:end]))
                units.append(_Unit(len(units), Part(place, start, end), own & weights.keys(), size + 1))
    return units


def _pieces(text: str, span: Span, room: int, count: Count) -> list[tuple[int, int, int]]:
    """The sentence with its tokens; halves of it, between words, where the room does not hold it."""
    start, end = span
    size = count(text[start:end])
    if size < room or end - start < 2:
        return [(start, end, size)]
    middle = (start + end) // 2
    space = text.rfind(" ", start + 1, middle + 1)
    cut = space if space > start else middle
    return [piece for half in (Span(start, cut), Span(cut, end)) for piece in _pieces(text, half, room, count)]


def _chosen(units: Sequence[_Unit], weights: Mapping[str, float], titles: Sequence[int], room: int) -> list[_Unit]:
    """Takes unit after unit while the room lasts; in the order of the premises."""
    total = sum(weights.values()) or 1.0
    covered: set[str] = set()
    places: set[int] = set()
    beside: set[int] = set()
    taken: list[_Unit] = []

    def cost(unit: _Unit) -> int:
        return unit.size + (0 if unit.part.place in places else titles[unit.part.place])

    def worth(unit: _Unit) -> tuple[float, int]:
        share = sum(weights[term] * (_COVERED_AGAIN if term in covered else 1.0) for term in unit.held) / total
        return share + (_BESIDE * (unit.at in beside)), -unit.at

    waiting = list(units)
    while waiting := [unit for unit in waiting if not unit.taken and cost(unit) <= room]:
        best = max(waiting, key=worth)
        room -= cost(best)
        best.taken = True
        taken.append(best)
        covered |= best.held
        places.add(best.part.place)
        beside |= {best.at - 1, best.at + 1}
    return sorted(taken, key=lambda unit: unit.at)


def _joined(units: Sequence[_Unit]) -> Window:
    """Units that follow each other in one passage become one part, with what stands between them."""
    parts: list[Part] = []
    last: _Unit | None = None
    for unit in units:
        if last is not None and unit.at == last.at + 1 and unit.part.place == last.part.place:
            parts[-1] = Part(unit.part.place, parts[-1].start, unit.part.end)
        else:
            parts.append(unit.part)
        last = unit
    return Window(tuple(parts))
