"""What a dialect is, and how documents in one are checked: structure and types, limits, and every offset.

Each dialect adds its own checks. Problems are sentences. Documents of any origin can be checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from toulmin.formats.shapes import Shape, misfits

Problems = Callable[[Any], list[str]]


def of_lines(check: Problems) -> Callable[[bytes], list[str]]:
    """Each problem names its line."""

    def problems(data: bytes) -> list[str]:
        numbered = enumerate(data.split(b"\n"), start=1)
        return [f"line {n}: {problem}" for n, line in numbered if line.strip() for problem in _read(line, check)]

    return problems


def of_document(check: Problems) -> Callable[[bytes], list[str]]:
    return lambda data: _read(data, check)


def _read(data: bytes, check: Problems) -> list[str]:
    try:
        document = json.loads(data.decode("utf-8"))
    except ValueError as error:
        return [f"JSON in UTF-8 was expected: {error}."]
    return check(document)


def checker(shape: Shape, deeper: Callable[[Any], Iterator[str]]) -> Problems:
    """Checks the structure and, where that is right, the content with `deeper`."""

    def problems(document: Any) -> list[str]:
        return list(misfits(document, shape)) or list(deeper(document))

    return problems


def selection(at: str, text: str, start: int, end: int, expected: str) -> Iterator[str]:
    """A problem if `text[start:end]`, in code points, is not `expected`."""
    if not 0 <= start <= end <= len(text):
        yield f"{at} points to {start}..{end} in a text of {len(text)} characters."
    elif text[start:end] != expected:
        yield f"{at} points to {text[start:end]!r} and says {expected!r}."


def byte_selection(at: str, text: str, start: int, end: int, expected: str) -> Iterator[str]:
    """The same for UTF-8 bytes."""
    data = text.encode("utf-8", "surrogatepass")
    if not 0 <= start <= end <= len(data):
        yield f"{at} points to the bytes {start}..{end} of {len(data)}."
    elif data[start:end] != expected.encode("utf-8", "surrogatepass"):
        yield f"{at} points to {data[start:end].decode('utf-8', 'replace')!r} and says {expected!r}."


def positions(at: str, places: list[int], size: int, what: str) -> Iterator[str]:
    """Problems of positions in a list: outside or repeated."""
    for place in places:
        if place >= size:
            yield f"{at} names {what} {place}, but there are {size}, counted from 0."
    if len(set(places)) < len(places):
        yield f"{at} names the same one twice: {places}."


def scores(at: str, scores: list[float]) -> Iterator[str]:
    for score in scores:
        if not 0 <= score <= 1:
            yield f"{at} should be in 0..1, not {score}."
