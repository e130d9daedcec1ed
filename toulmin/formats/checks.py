"""How documents in a dialect are checked: their structure and types, their limits, and every offset.

Each dialect says beside its writing what a document of it should be; here is what they share. Problems are words, one
sentence each, and documents of any origin may be looked at, not only ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from toulmin.formats.shapes import Shape, misfits

Problems = Callable[[Any], list[str]]


def of_lines(check: Problems) -> Callable[[bytes], list[str]]:
    """The problems of a file of JSON lines, each with the number of its line."""

    def problems(data: bytes) -> list[str]:
        numbered = enumerate(data.split(b"\n"), start=1)
        return [f"line {n}: {found}" for n, line in numbered if line.strip() for found in _read(line, check)]

    return problems


def of_document(check: Problems) -> Callable[[bytes], list[str]]:
    """The problems of a file that is one JSON document."""
    return lambda data: _read(data, check)


def _read(data: bytes, check: Problems) -> list[str]:
    try:
        document = json.loads(data.decode("utf-8"))
    except ValueError as error:
        return [f"JSON in UTF-8 was expected: {error}."]
    return check(document)


def checked(shape: Shape, deeper: Callable[[Any], Iterator[str]]) -> Problems:
    """The problems of the structure, or, where there are none, those of what it says."""

    def problems(document: Any) -> list[str]:
        return list(misfits(document, shape)) or list(deeper(document))

    return problems


def selection(at: str, text: str, start: int, end: int, said: str) -> Iterator[str]:
    """A problem if the code points from `start` to `end` are not what is said to stand there."""
    if not 0 <= start <= end <= len(text):
        yield f"{at} points to {start}..{end} in a text of {len(text)} characters."
    elif text[start:end] != said:
        yield f"{at} points to {text[start:end]!r} and says {said!r}."


def byte_selection(at: str, text: str, start: int, end: int, said: str) -> Iterator[str]:
    """The same for UTF-8 bytes."""
    data = text.encode("utf-8", "surrogatepass")
    if not 0 <= start <= end <= len(data):
        yield f"{at} points to the bytes {start}..{end} of {len(data)}."
    elif data[start:end] != said.encode("utf-8", "surrogatepass"):
        yield f"{at} points to {data[start:end].decode('utf-8', 'replace')!r} and says {said!r}."


def positions(at: str, places: list[int], size: int, what: str) -> Iterator[str]:
    """Problems of positions in a list: outside of it, or twice the same."""
    for place in places:
        if place >= size:
            yield f"{at} names {what} {place}, but there are {size}, counted from 0."
    if len(set(places)) < len(places):
        yield f"{at} names the same one twice: {places}."


def scores(at: str, scores: list[float]) -> Iterator[str]:
    """Problems of probabilities that are none."""
    for score in scores:
        if not 0 <= score <= 1:
            yield f"{at} should lie in 0..1, not be {score}."
