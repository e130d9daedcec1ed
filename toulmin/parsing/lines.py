"""The lines of a model's reply: items, headings and continuations.

List markers ("1.", "-", "*"), Markdown headings and labels ("Paragraph 2:") are not part of the words.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["heading", "label", "number", "bullet", "plain"]

# A line at least this long was broken because it was full.
_FULL_LINE = 50

_NEW_ITEM = re.compile(
    r"(?P<indent>[^\S\n]{0,40})(?:>[^\S\n]?){0,3}(?:"
    r"(?P<heading>#{1,6}[^\S\n]+)"
    r"|(?P<label>(?:\*\*)?(?:paragraph|section|question|query|part"
    r"|step)[^\S\n]+\d{1,3}(?:\*\*)?[^\S\n]?[:.)–-](?:\*\*)?[^\S\n]+)"
    r"|(?P<number>(?:\*\*)?\(?\d{1,3}[.)](?:\*\*)?(?:[^\S\n]+|$))"
    r"|(?P<bullet>(?:[-*•·‣–+▪●○◦■►➤](?:[^\S\n]+|$)|・)))",
    re.IGNORECASE | re.MULTILINE,
)
_RULE = re.compile(r"[^\S\n]*([-*_=])(?:[^\S\n]*\1){2,}[^\S\n]*")
_BOLD = re.compile(r"\*\*(?=\S)([^*\n]+)\*\*")
_ITALIC = re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^*\n]{1,300})(?<=\S)\*(?![\w*])")
_ALL_BOLD = re.compile(r"[^\S\n]*\*\*[^*\n]{1,80}\*\*:?[^\S\n]*")
_PREAMBLE = re.compile(
    r"\W*(?:here (?:are|is)|here's|sure|certainly|of course|okay|the following|below (?:are|is))\b", re.IGNORECASE
)
_REFERENCES = re.compile(
    r"^[^\S\n]{0,3}(?:#{1,6}[^\S\n]+)?(?:\*\*)?(?:references|sources|citations|bibliography|works cited)"
    r"(?:\*\*)?:?(?:\*\*)?[^\S\n]*\n(?=\s{0,9}(?:[-*•][^\S\n]+)?(?:[\[【［]\^?\d|\d{1,3}[.)]\s))",
    re.IGNORECASE | re.MULTILINE,
)
_FOOTNOTE = re.compile(r"^[^\S\n]{0,3}\[\^?\d{1,3}\]:[^\n]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Line:
    """A line with words: `text[start:end]` without its marker; `line` is where it begins, marker included."""

    line: int
    start: int
    end: int
    kind: Kind
    indent: int
    after_blank: bool
    is_bold: bool


class Block(NamedTuple):
    """Consecutive lines that form one text; `line` is where the first begins, marker included."""

    line: int
    start: int
    end: int
    is_item: bool
    is_heading: bool


def has_words(text: str) -> bool:
    return re.search(r"[^\W_]", text) is not None


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


def without_emphasis(text: str) -> str:
    return _ITALIC.sub(r"\1", _BOLD.sub(r"\1", text))


def without_references(text: str) -> str:
    """The text up to a numbered list under "References" or "Sources", without footnotes such as "[1]: Title"."""
    listed = _REFERENCES.search(text)
    return _FOOTNOTE.sub("", text[: listed.start()] if listed else text)


def read_lines(text: str) -> Iterator[Line]:
    offset, blank = 0, True
    for raw in text.split("\n"):
        line = None if not raw.strip() or _RULE.fullmatch(raw) else _line(raw, offset, blank)
        if line is not None:
            yield line
        blank = line is None
        offset += len(raw) + 1


def _line(raw: str, offset: int, after_blank: bool) -> Line:
    marker = _NEW_ITEM.match(raw)
    is_bold = _ALL_BOLD.fullmatch(raw) is not None
    kind: Kind = "heading" if is_bold else "plain"
    start = len(raw) - len(raw.lstrip())
    indent = start
    if marker is not None and marker.lastgroup is not None:
        kind = marker.lastgroup  # type: ignore[assignment]  # the groups are named after the kinds
        start, indent = marker.end(), len(marker["indent"])
    end = max(start, len(raw.rstrip()))
    return Line(offset, offset + start, offset + end, kind, indent, after_blank, is_bold)


def blocks(text: str) -> list[Block]:
    """The paragraphs and list items; a full line continues in the next."""
    parts: list[Block] = []
    lines = list(read_lines(text))
    for i, line in enumerate(lines):
        if i and _goes_on(text, lines[i - 1], line):
            parts[-1] = parts[-1]._replace(end=line.end)
        else:
            is_last = i == len(lines) - 1
            heading = line.kind == "heading" and not (line.is_bold and is_last)
            parts.append(Block(line.line, line.start, line.end, line.kind in ("label", "number", "bullet"), heading))
    return parts


def _goes_on(text: str, before: Line, line: Line) -> bool:
    if line.after_blank or line.kind != "plain" or before.kind == "heading":
        return False
    return before.end - before.start >= _FULL_LINE or text[line.start : line.start + 1].islower()


# ---------------------------------------------------------------- lists


def list_items(text: str) -> tuple[str, ...]:
    """The distinct items of a numbered, bulleted, titled or plain list, as single lines without Markdown.

    Lines indented or right below an item continue it. Text before the first item, after the last item's paragraph,
    and a first line such as "Here are the questions:" are dropped.
    """
    listed = read_items(text)
    plain = () if listed else without_preamble(text)
    items = [*map(_join_item, listed), *(_words(text, line) for line in plain)]
    return tuple(dict.fromkeys(item for item in items if re.search(r"\w", item)))


class Item(NamedTuple):
    """The words of an item's own line, and of the lines below that continue it."""

    head: str
    below: tuple[str, ...]
    is_titled: bool


def read_items(text: str) -> list[Item]:
    """The items of a list with markers, titles or labels; empty if there is none."""
    lines = list(read_lines(text))
    kind = _kind_of_items(lines)
    if kind is None:
        return []
    items: list[list[str]] = []
    margin = next(line.indent for line in lines if line.kind == kind)
    is_open = False
    for line in lines:
        if line.kind == kind and line.indent <= margin + 1:
            items.append([_words(text, line)])
            is_open = True
            continue
        is_open = is_open and (not line.after_blank or line.indent > margin or kind in ("heading", "label"))
        if is_open:
            items[-1].append(_words(text, line))
    return [Item(head, tuple(below), kind == "heading") for head, *below in items]


def _kind_of_items(lines: list[Line]) -> Kind | None:
    """The highest kind that occurs twice (a single heading titles a list), else any."""
    counts = Counter(line.kind for line in lines)
    ranked: tuple[Kind, ...] = ("heading", "label", "number", "bullet")
    repeated = [kind for kind in ranked if counts[kind] > 1]
    single = [kind for kind in ranked[1:] if counts[kind]]
    return next(iter(repeated + single), None)


def _words(text: str, line: Line) -> str:
    return " ".join(without_emphasis(text[line.start : line.end]).split())


def _join_item(item: Item) -> str:
    if item.is_titled and item.below:
        return f"{item.head.rstrip(':. ')}: {' '.join(item.below)}"
    return " ".join([item.head, *item.below])


def without_preamble(text: str) -> list[Line]:
    """The lines without a first one that only announces the rest."""
    lines = list(read_lines(text))
    if len(lines) < 2 or lines[0].kind != "plain":
        return lines
    first = _words(text, lines[0])
    return lines[1:] if first.endswith(":") or _PREAMBLE.match(first) else lines
