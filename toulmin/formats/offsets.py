"""Offsets at the edge: code points inside this project, UTF-8 bytes for Google, UTF-16 units for browsers and Java.

Both functions go over the text once, however many spans there are. Half a surrogate pair counts as U+FFFD does, with
which it is written (3 bytes, 1 unit), so that offsets hold in what is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate

Spans = list[tuple[int, int]]


def utf8_spans(text: str, spans: Iterable[tuple[int, int]]) -> Spans:
    """Spans of code points as spans of UTF-8 bytes. Raises IndexError for one that leaves the text."""
    return _counted(text, spans, _bytes)


def utf16_spans(text: str, spans: Iterable[tuple[int, int]]) -> Spans:
    """Spans of code points as spans of UTF-16 units. Raises IndexError for one that leaves the text."""
    return _counted(text, spans, _units)


def _bytes(character: str) -> int:
    point = ord(character)
    return 1 if point < 0x80 else 2 if point < 0x800 else 3 if point < 0x10000 else 4


def _units(character: str) -> int:
    return 2 if ord(character) >= 0x10000 else 1


def _starts(text: str, width: Callable[[str], int]) -> list[int]:
    """Where each code point begins, and where the last one ends."""
    return [*range(len(text) + 1)] if text.isascii() else [*accumulate(map(width, text), initial=0)]


def _counted(text: str, spans: Iterable[tuple[int, int]], width: Callable[[str], int]) -> Spans:
    starts = _starts(text, width)
    found = []
    for start, end in spans:
        if start < 0 or end < 0:  # a list would count them from its end
            raise IndexError(f"offsets are 0 or more, not {start}..{end}")
        found.append((starts[start], starts[end]))
    return found
