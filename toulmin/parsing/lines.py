"""The lines of a text: items, headings and continuations, and lines that name things without saying anything of them.

List markers ("1.", "-", "*"), Markdown headings and labels ("Paragraph 2:") are not part of the words.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from toulmin.data import BELOW
from toulmin.text.language import sentences

Kind = Literal["heading", "label", "number", "bullet", "plain"]

# A line at least this long continues in the next.
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


class Line(NamedTuple):
    """A line with words: `text[start:end]` without its marker, which begins at `line`."""

    line: int
    start: int
    end: int
    kind: Kind
    indent: int
    after_blank: bool
    is_bold: bool


class Block(NamedTuple):
    """Consecutive lines that form one text; `line` is the start with its marker."""

    line: int
    start: int
    end: int
    is_item: bool
    is_heading: bool


def label(names: str) -> re.Pattern[str]:
    """Matches "Name:" at the head of a line, in bold type or not."""
    return re.compile(rf"^\W{{0,6}}(?:{names})[*_\"”]{{0,3}}\s?[:：][*_#>\s]{{0,6}}", re.IGNORECASE | re.MULTILINE)


def has_words(text: str) -> bool:
    return re.search(r"[^\W_]", text) is not None


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


def without_emphasis(text: str) -> str:
    return _ITALIC.sub(r"\1", _BOLD.sub(r"\1", text))


def without_references(text: str) -> str:
    """The text before a numbered list of references; footnotes such as "[1]: Title" become spaces."""
    listed = _REFERENCES.search(text)
    return _FOOTNOTE.sub(lambda note: " " * len(note[0]), text[: listed.start()] if listed else text)


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
    parts: list[Block] = []
    lines = list(read_lines(text))
    for i, line in enumerate(lines):
        if i and _goes_on(text, lines[i - 1], line):
            parts[-1] = parts[-1]._replace(end=line.end)
        else:
            heading = line.kind == "heading" and not (line.is_bold and i == len(lines) - 1)
            parts.append(Block(line.line, line.start, line.end, line.kind in ("label", "number", "bullet"), heading))
    return parts


def _goes_on(text: str, before: Line, line: Line) -> bool:
    if line.after_blank or line.kind != "plain" or before.kind == "heading":
        return False
    return before.end - before.start >= _FULL_LINE or text[line.start : line.start + 1].islower()


# ---------------------------------------------------------------- lists


def list_items(text: str) -> tuple[str, ...]:
    """The distinct items of a numbered, bulleted, titled or plain list, as single lines without Markdown.

    Lines that are indented or right below an item continue it; text around the list is dropped.
    """
    listed = read_items(text)
    plain = () if listed else without_preamble(text)
    items = [*map(_join_item, listed), *(_words(text, line) for line in plain)]
    return tuple(dict.fromkeys(item for item in items if re.search(r"\w", item)))


class Item(NamedTuple):
    head: str
    below: tuple[str, ...]
    is_titled: bool


def read_items(text: str) -> list[Item]:
    """The items of a list with markers, titles or labels."""
    lines = list(read_lines(text))
    # The highest kind that occurs twice, else any but a heading, which may title a list.
    counts = Counter(line.kind for line in lines)
    ranked: tuple[Kind, ...] = ("heading", "label", "number", "bullet")
    repeated = [kind for kind in ranked if counts[kind] > 1]
    kind = next(iter([*repeated, *(kind for kind in ranked[1:] if counts[kind])]), None)
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


def _words(text: str, line: Line) -> str:
    return " ".join(without_emphasis(text[line.start : line.end]).split())


def _join_item(item: Item) -> str:
    if item.is_titled and item.below:
        return f"{item.head.rstrip(':. ')}: {' '.join(item.below)}"
    return " ".join([item.head, *item.below])


def without_preamble(text: str) -> list[Line]:
    """Drops a first line that only announces the rest."""
    lines = list(read_lines(text))
    if len(lines) < 2 or lines[0].kind != "plain":
        return lines
    first = _words(text, lines[0])
    return lines[1:] if first.endswith(":") or _PREAMBLE.match(first) else lines


# ---------------------------------------------------------------- lists of references, copyright and licences


_LISTED = r"(?:(?:selected |annotated )?(?:references|bibliography)|(?:works|literature) cited|further reading)"
_LIST_HEADING = re.compile(rf"^[^\S\n]*(?:#+ ?|\d+\.? )?{_LISTED}[^\S\n]*:?[^\S\n]*$", re.IGNORECASE | re.MULTILINE)
_YEAR = r"\b(?:1[5-9]|20)\d\d[a-z]?\b"
_INITIALS = r"[A-Z]\.?(?:[ -]?[A-Z]\.?){0,2}(?![\w.])"
_SURNAME = r"[A-Z][\w'’-]+"
_AUTHOR = rf"(?:{_SURNAME},? {_INITIALS}|(?:[A-Z]\.[ -]?){{1,3}}{_SURNAME})"
_FIRST = rf"(?:{_SURNAME}, {_INITIALS}|(?:[A-Z]\.[ -]?){{1,3}}{_SURNAME}|{_AUTHOR}(?=,|;| and| &| et al))"
_WHOLE_NAME = rf"{_SURNAME}, [A-Z]\w+(?=,? et al|\.? ?(?:[“\"]|\({_YEAR}))|{_SURNAME}(?= et al)"
_NUMBER = r"(?:\[\w{1,12}\] ?|\(?\d{1,3}[.)] )"
_ENTRY = re.compile(
    rf"[^\S\n]*(?:[-*•] )?(?:{_NUMBER}?(?:{_FIRST}|{_WHOLE_NAME})|{_NUMBER}{_AUTHOR})"
    rf"(?:(?:,|;|,? and|,? &)? ?{_AUTHOR})*(?:,? et al\.?)?\s?[.,:]?\s(?:\({_YEAR}\)[.,:]?\s)?(?=[A-Z“\"*_])"
)
_ENTRY_START = re.compile(rf"\n[^\S\n]*\n|\n(?={_ENTRY.pattern}|[^\S\n]*\[)|(?<=\s)(?=\[\d{{1,3}}\] [A-Z])")
_TITLE_END = re.compile(r"[\w”\"?!)][.,]?[\"”]?[.,]? [A-Z“\"*_]")
_IN_PROSE = "".join(rf"(?<!\b{word} )" for word in "in since until by of to from and before after".split())
_PUBLISHED = re.compile(
    rf"\({_YEAR}\)|{_IN_PROSE}{_YEAR}[)\]]?\W*$|{_YEAR}[;:,] ?\d|\d+ ?\(\d+\)|\bdoi\b|https?://|\barxiv\b|\b(?:vol|pp|eds?)\.",
    re.IGNORECASE,
)
# Lines of copyright and of licence terms, and the claims for which these are evidence.
_RIGHTS = (
    (
        re.compile(rf"©|\(c\) ?{_YEAR}|\bcopyright\b:? ?(?:\(c\)|{_YEAR})|all rights reserved", re.IGNORECASE),
        re.compile(r"©|\bcopyright|\brights\b", re.IGNORECASE),
    ),
    (
        re.compile(
            r"\blicen[cs]ed under\b|general public licen[cs]e|spdx-license|this is free software"
            r"|\bno warranty\b|without (?:any |even the implied )?warranty|permission is (?:hereby )?granted"
            r"|redistribution and use in|provided [\"“'`]{0,2}as[ -]is",
            re.IGNORECASE,
        ),
        re.compile(r"\b(?:licen[cs]|warrant|redistribut|permission|[al]?gpl\b|free software)", re.IGNORECASE),
    ),
)
_LINE = re.compile(r".+")
_OF_SOURCES = re.compile(r"\b(?:cites?|citing|bibliograph\w*|reference list|list of references)\b", re.IGNORECASE)


def is_about_sources(text: str) -> bool:
    """Whether a text is about what is cited, or begins with authors, as an entry of a list of references does."""
    return _OF_SOURCES.search(text) is not None or _ENTRY.match(text) is not None


@lru_cache(maxsize=10_000)
def blank_references(text: str, section: str = "") -> str:
    """The text with spaces for entries of reference lists; `section` is the path of headings over it.

    Under a heading such as "References" that is all up to the last entry, elsewhere each entry with authors and a year
    or place of publication. A text that is mostly entries is all blank: its ends may be parts of others.
    """
    heading = _LIST_HEADING.search(text)
    is_under = bool(section) and _LIST_HEADING.fullmatch(section.rsplit(BELOW, 1)[-1]) is not None
    zone = 0 if is_under else heading.start() if heading else len(text)
    cuts = sorted({0, zone, len(text), *(match.end() for match in _ENTRY_START.finditer(text))})
    parts = list(pairwise(cuts))
    last = max((end for start, end in parts if start >= zone and _PUBLISHED.search(text[start:end].strip())), default=0)
    lines = [part for part in parts if zone <= part[0] < last or (part[1] <= zone and _is_entry(text[slice(*part)]))]
    rest = _blank(text, lines)
    is_list = zone == len(text) and len(lines) > 1 and 2 * len(rest.split()) < len(text.split())
    return _blank(text, parts) if is_list else rest


def _is_entry(text: str) -> bool:
    entry = _ENTRY.match(text)
    rest = text[entry.end() :].strip() if entry else ""
    return bool(_TITLE_END.search(rest) and _PUBLISHED.search(text.strip()))


def blank_rights(text: str, claim: str) -> str:
    """The text with spaces for lines of copyright and licence terms, unless the claim is about them."""
    for lines, words in _RIGHTS:
        if lines.search(text) and not words.search(claim):
            parts = (match.span() for span in sentences(text) for match in _LINE.finditer(text, *span))
            text = _blank(text, [part for part in parts if lines.search(text, *part)])
    return text


def _blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + re.sub(r"\S", " ", text[start:end]) + text[end:]
    return text
