"""Offsets in UTF-8 bytes and UTF-16 units."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate

Spans = list[tuple[int, int]]


def utf8_spans(text: str, spans: Iterable[tuple[int, int]]) -> Spans:
    """Spans of code points in UTF-8 bytes (Google); half a surrogate pair counts as U+FFFD, as it is written.

    Raises IndexError for a span that leaves the text.
    """
    return _convert(text, spans, _bytes)


def utf16_spans(text: str, spans: Iterable[tuple[int, int]]) -> Spans:
    """The same in UTF-16 units (browsers, Java)."""
    return _convert(text, spans, _units)


def _bytes(character: str) -> int:
    point = ord(character)
    return 1 if point < 0x80 else 2 if point < 0x800 else 3 if point < 0x10000 else 4


def _units(character: str) -> int:
    return 2 if ord(character) >= 0x10000 else 1


def _starts(text: str, width: Callable[[str], int]) -> list[int]:
    return [*range(len(text) + 1)] if text.isascii() else [*accumulate(map(width, text), initial=0)]


def _convert(text: str, spans: Iterable[tuple[int, int]], width: Callable[[str], int]) -> Spans:
    starts = _starts(text, width)
    offsets = []
    for start, end in spans:
        if start < 0 or end < 0:  # a list would count them from its end
            raise IndexError(f"offsets are 0 or more, not {start}..{end}")
        offsets.append((starts[start], starts[end]))
    return offsets
