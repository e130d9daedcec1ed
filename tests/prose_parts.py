"""What the tests of readers of prose look at: sentences, what stands at their places, what they cite."""

from __future__ import annotations

import re

from toulmin.prose.blocks import Prose
from toulmin.text.language import sentences


def at(prose: Prose, start: int, end: int) -> str:
    """What stands in the file at the place of `text[start:end]`."""
    place = prose.place(start, end)
    lines = prose.source.splitlines(keepends=True)
    before = sum(map(len, lines[: place.line - 1])) + place.column - 1
    until = sum(map(len, lines[: place.end_line - 1])) + place.end_column - 1
    return prose.source[before:until]


def texts(prose: Prose) -> list[str]:
    return [prose.text[start:end] for start, end in sentences(prose.text)]


def places(prose: Prose) -> list[tuple[int, int]]:
    """The line and column of each sentence."""
    return [(place.line, place.column) for place in (prose.place(*span) for span in sentences(prose.text))]


def cited(prose: Prose) -> list[str]:
    return [pointer.target for pointer in prose.pointers if pointer.is_citation]


def links(prose: Prose) -> dict[str, str]:
    pointers = [pointer for pointer in prose.pointers if not pointer.is_citation]
    return {prose.text[pointer.start : pointer.end]: pointer.target for pointer in pointers}


def skipped(prose: Prose) -> dict[str, str]:
    """The reason for each sentence that is left out."""
    reasons = {prose.text[start:end]: prose.why_skipped(start, end) for start, end in sentences(prose.text)}
    return {text: reason for text, reason in reasons.items() if reason is not None}


def is_in_order(words: str, source: str) -> bool:
    """Whether the source has all words in order, from its beginning (after the mark of an item) to its end."""
    wanted = map(re.escape, re.findall(r"\w+|[^\w\s]", words.removeprefix("- ")))
    return re.fullmatch(r"(?:(?:-|\d+\.) )?" + ".*?".join(wanted), source, re.DOTALL) is not None
