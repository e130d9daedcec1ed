"""Premises and hypotheses as trained judges read them (ALCE, Gao et al. 2023), and windows of premises that fit.

A window consists of whole sentences in order, each passage below its title; only a sentence longer than a window is
cut. Neighbouring windows share a sentence, because two sentences together may support a claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from toulmin.data import Passage
from toulmin.steps import Pair
from toulmin.text.language import Span
from toulmin.text.wording import wording

# ---------------------------------------------------------------- premise and hypothesis of a pair


def premise(passages: Sequence[Passage]) -> str:
    """The passages in order, each under its title if it has one."""
    return "\n".join(f"{heading(passage)}{passage.text}" for passage in passages)


def heading(passage: Passage) -> str:
    return f"Title: {passage.title}\n" if passage.title else ""


def hypothesis(pair: Pair) -> str:
    return f"{pair.question} {pair.claim}" if pair.question else pair.claim


# ---------------------------------------------------------------- windows


Count = Callable[[str], int]
_JOINT = 1  # tokens that joining two texts may add


@dataclass(frozen=True, slots=True)
class Part:
    """Characters of premise number `place`, from 0."""

    place: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Window:
    parts: tuple[Part, ...]

    def text(self, passages: Sequence[Passage]) -> str:
        return "\n".join(part_text(passages, part) for part in self.parts)

    def sentences(self, passages: Sequence[Passage]) -> list[Part]:
        return [
            Part(part.place, part.start + span.start, part.start + span.end)
            for part in self.parts
            for span in wording(passages[part.place].text[part.start : part.end]).spans
        ]


def part_text(passages: Sequence[Passage], part: Part) -> str:
    passage = passages[part.place]
    return f"{heading(passage)}{passage.text[part.start : part.end]}"


def whole(passages: Sequence[Passage]) -> Window:
    return Window(tuple(Part(place, 0, len(passage.text)) for place, passage in enumerate(passages)))


def windows(passages: Sequence[Passage], room: int, count: Count) -> list[Window]:
    """At least one window, of at most `room` tokens. Titles must take at most half of it (`with_short_titles`)."""
    if count(whole(passages).text(passages)) <= room:
        return [whole(passages)]
    titles = [count(heading(passage)) + _JOINT if passage.title else 0 for passage in passages]
    results: list[Window] = []
    units: list[tuple[Part, int]] = []
    for place, passage in enumerate(passages):
        for span, size in _units(passage.text, room - titles[place], count):
            unit = (Part(place, *span), size + _JOINT)
            if units and _size([*units, unit], titles) > room:
                results.append(_join_units(units))
                units = units[-1:] if len(units) > 1 and _size([units[-1], unit], titles) <= room else []
            units.append(unit)
    return [*results, *([_join_units(units)] if units else [])] or [Window(())]


def with_short_titles(passages: Sequence[Passage], room: int, count: Count) -> list[Passage]:
    """Cuts titles to half of the room."""
    return [_with_short_title(passage, room // 2, count) for passage in passages]


def _with_short_title(passage: Passage, room: int, count: Count) -> Passage:
    while passage.title and count(heading(passage)) + _JOINT > room:
        passage = replace(passage, title=passage.title[: len(passage.title) // 2].rstrip())
    return passage


def _size(units: Sequence[tuple[Part, int]], titles: Sequence[int]) -> int:
    return sum(size for _, size in units) + sum(titles[place] for place in {part.place for part, _ in units})


def _units(text: str, room: int, count: Count) -> Iterator[tuple[Span, int]]:
    for span in wording(text).spans:
        yield from pieces(text, span, room, count)


def pieces(text: str, span: Span, room: int, count: Count) -> Iterator[tuple[Span, int]]:
    """The span and its token count; halves, cut between words, if it does not fit."""
    size = count(text[span.start : span.end])
    if size + _JOINT <= room or span.end - span.start < 2:
        yield span, size
        return
    middle = (span.start + span.end) // 2
    space = text.rfind(" ", span.start + 1, middle + 1)
    cut = space if space > span.start else middle
    yield from pieces(text, Span(span.start, cut), room, count)
    yield from pieces(text, Span(cut, span.end), room, count)


def _join_units(units: Sequence[tuple[Part, int]]) -> Window:
    runs = [[part for part, _ in run] for _, run in groupby(units, key=lambda unit: unit[0].place)]
    return Window(tuple(Part(run[0].place, run[0].start, run[-1].end) for run in runs))
