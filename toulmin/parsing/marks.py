"""Citation marks in a text. Every pattern here is bounded, so that no text takes more than linear time.

Marks are `[1]`, `[1, 2]`, `[1; 2]`, `[1 and 2]`, `[1-3]` with any dash, `[1][2]`, `[[1]]`, `[^1]`, `【1】`,
`【1†source】`, `[Document 1]` and similar, `(2)` right after a bracketed mark, and a rendering's flags (`[unsure]`).

Text is what a backslash escapes, a range from 0 ("[0-9]"), and numbers from 1000 to 2999 alone, if fewer passages
were offered ("[2018]").

In a reply `bracket_marks` first puts other forms in brackets: `(Document 1)`, `[1, Kettle Rock]`, `(see [2])`;
"According to Document 1, ..."; superscripts after a stop or a word of four letters ("m²" is none); `(1)` before a
stop, if the reply has no bracketed mark and no such number exceeds the passages offered. Titles stay text: several
passages may share one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from toulmin.data import MARK_OPENING

_FLAGS = frozenset(("unsure", "unsupported", "contradicted"))
_OUT_OF_ALL_BOUNDS = 10**9

_ESCAPED = rf"(?<!\\)(?P<slashes>(?:\\\\)*)\\(?P<bracket>[\[【［])(?={MARK_OPENING})"
_BODY = r"[^\[\]【】［］\n]{1,300}"
_TOKEN = re.compile(
    rf"(?P<escaped>{_ESCAPED})|\[\[(?P<double>{_BODY})\]\]|[\[【［](?P<single>{_BODY})[\]】］]", re.IGNORECASE
)
_UNESCAPE = re.compile(_ESCAPED, re.IGNORECASE)
_LINK_TARGET = re.compile(r"\((?:https?:|#)[^()\s]{0,500}\)")
_PARENTHESIS = re.compile(r"[^\S\n]?\(([\d,; ]{1,100})\)")
_BETWEEN_MARKS = re.compile(r"[^\S\n]{0,2}(?:[,;]|,?[^\S\n]?(?:and|&))?[^\S\n]{0,2}")

_WORD = r"(?:(?:documents?|docs?|passages?|sources?|references?|refs?|citations?|cites?|snippets?)\.?\s*[#:]?\s*)?"
_LABEL = re.compile(rf"{_WORD}[#^]?(\d+)(?:\s*[-‐‑–—]\s*{_WORD}(\d+))?(?:†[^,;]*)?", re.IGNORECASE)
_LABEL_BREAK = re.compile(r"\s*(?:[,;、，；]|\band\b|&)\s*")
_ONLY_NUMBERS = re.compile(r"[\d\s,;‐‑–—-]+")
_ENDED = re.compile(r"(?<![.!?])[.!?]$")
_ENDED_IN_QUOTES = re.compile(r"[.!?][\"'”’»)]?$")


class LabelRange(NamedTuple):
    """The labels from `first` to `last`; a single label is a range of one."""

    first: int
    last: int


class Mark(NamedTuple):
    """Neighbouring marks as one, with the labels they name in order (a flag names none)."""

    start: int
    end: int
    labels: tuple[LabelRange, ...]


class Placed(NamedTuple):
    """A removed mark, by its position in the remaining text."""

    position: int
    labels: tuple[LabelRange, ...]


class Lifted(NamedTuple):
    """A text without its marks, and the marks in order."""

    text: str
    marks: tuple[Placed, ...]


def _number(digits: str) -> int:
    return int(digits) if len(digits) <= 9 else _OUT_OF_ALL_BOUNDS


def _labels(body: str, offered: int) -> tuple[LabelRange, ...] | None:
    """The labels inside a bracket; None if it is no mark."""
    if body.strip().lower() in _FLAGS:
        return ()
    pieces = [_LABEL.fullmatch(piece) for piece in _LABEL_BREAK.split(body.strip())]
    ranges = [LabelRange(_number(p[1]), _number(p[2] or p[1])) for p in pieces if p is not None]
    if len(ranges) < len(pieces) or any(pair.first == 0 < pair.last for pair in ranges):
        return None
    if _ONLY_NUMBERS.fullmatch(body) and all(_is_year(n, offered) for pair in ranges for n in pair):
        return None
    return tuple(ranges)


def _is_year(number: int, offered: int) -> bool:
    return 1000 <= number <= 2999 and number > offered


def _single_marks(text: str, offered: int) -> Iterator[Mark]:
    for token in _TOKEN.finditer(text):
        body = token["double"] or token["single"]
        labels = None if body is None else _labels(body, offered)
        if labels is None:
            continue
        target = _LINK_TARGET.match(text, token.end())
        end = target.end() if target else token.end()
        while more := _PARENTHESIS.match(text, end):
            others = _labels(more[1], offered)
            if not others:
                break
            labels, end = labels + others, more.end()
        yield Mark(token.start(), end, labels)


def _belong_together(text: str, before: Mark, after: Mark) -> bool:
    gap = text[before.end : after.start] if after.start - before.end <= 10 else "too far"
    return _BETWEEN_MARKS.fullmatch(gap) is not None


def find_marks(text: str, offered: int = 0) -> list[Mark]:
    """The marks in order, with neighbours joined ("[1], [2]" is one) and parentheses that hold only marks included."""
    marks: list[Mark] = []
    gathered: list[LabelRange] = []
    for mark in _single_marks(text, offered):
        if marks and _belong_together(text, marks[-1], mark):
            gathered.extend(mark.labels)
            marks[-1] = Mark(marks[-1].start, mark.end, ())
        else:
            _close(marks, gathered)
            marks.append(mark)
            gathered = list(mark.labels)
    _close(marks, gathered)
    return [_with_parentheses(text, mark) for mark in marks]


def has_marks(text: str, offered: int = 0) -> bool:
    return next(_single_marks(text, offered), None) is not None


def _close(marks: list[Mark], gathered: list[LabelRange]) -> None:
    if marks:
        marks[-1] = marks[-1]._replace(labels=tuple(gathered))


def _with_parentheses(text: str, mark: Mark) -> Mark:
    inside = text[max(0, mark.start - 1) : mark.start] == "(" and text[mark.end : mark.end + 1] == ")"
    return Mark(mark.start - 1, mark.end + 1, mark.labels) if inside else mark


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return _UNESCAPE.sub(lambda m: m["slashes"][: len(m["slashes"]) // 2] + m["bracket"], text)


def lift(text: str, offered: int = 0) -> Lifted:
    """Removes the marks, each with one space before it, and the backslashes of escaped ones. `offered`, the number
    of passages, only decides what is a year.
    """
    pieces: list[str] = []
    placed: list[Placed] = []
    size = start = 0
    for mark in find_marks(text, offered):
        piece = _before(text, start, mark)
        pieces.append(_unescape(piece))
        size += len(pieces[-1])
        placed.append(Placed(size, mark.labels))
        joint, start = _after(text, piece, mark.end)
        pieces.append(joint)
        size += len(joint)
    pieces.append(_unescape(text[start:]))
    return Lifted("".join(pieces), tuple(placed))


def _before(text: str, start: int, mark: Mark) -> str:
    piece = text[start : mark.start]
    dangling = text[mark.end : mark.end + 1] in (".", ",", ";", ":", "!", "?")
    if piece.endswith((" ", "\t", "\xa0")) or (dangling and piece.endswith("\n")):
        return piece[:-1]
    return piece


def _after(text: str, before: str, end: int) -> tuple[str, int]:
    """What replaces a mark, and where the text continues: "One. [1]. Two" has a stop too many."""
    follower = text[end : end + 2]
    if follower[:1] == "." and follower != ".." and _ENDED.search(before[-2:]):
        return "", end + 1
    if follower[:1].isalnum() and _ENDED_IN_QUOTES.search(before[-2:]):
        return " ", end
    return "", end
