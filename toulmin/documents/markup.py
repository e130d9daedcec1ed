"""Markdown, reStructuredText and AsciiDoc without marks: headings and items become blocks, code stays as it is."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from toulmin.data import Document
from toulmin.documents.plain import make_document, marked, read_text, reflow
from toulmin.documents.tables import row_text

FRONT_MATTER = re.compile(r"(?s)\A(---|\+\+\+)[^\S\n]*\n.*?^\1[^\S\n]*(?:\n|\Z)", re.MULTILINE)
# A field's name, what stands beside it and the list below it; items of a list beside and below it.
_FIELD = re.compile(r"(?m)^([\w.-]+)[^\S\n]*[:=][^\S\n]*(.*)((?:\n[^\S\n]*-[^\S\n].*)*)")
_ITEM = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|[^,\s][^,\n]*")
_BELOW = re.compile(r"-[^\S\n]+(?:name:[^\S\n]*)?(.*)")
_UNDERLINED = re.compile(r"(?m)^[ ]{0,3}(\S.*)\n[ ]{0,3}([-=~^\"'`#*+.:_])\2+[^\S\n]*$")
_RULE = re.compile(r"(?m)^[ ]{0,3}([-=~^\"'`#*+.:_])(?:[ ]?\1){2,}[^\S\n]*$")
_TABLE = re.compile(r"(?m)^(?=[^|\n]*\|).*\n[ ]*\|?(?:[ ]*:?-+:?[ ]*\|)+(?:[ ]*:?-+:?)?[^\S\n]*(?:\n(?=[^|\n]*\|).*$)*")
_ENDS = re.compile(r"^\s*\|?|(?<!\\)\|\s*$")
_COLUMN = re.compile(r"(?<!\\)\|")


_Replacement = str | Callable[[re.Match[str]], str]


@dataclass(frozen=True, slots=True)
class _Language:
    """How code is fenced (group `code`), what opens a heading (group 1: its words), which marks are replaced, in order,
    and which signs underline headings, outermost first, unless the file decides.
    """

    fence: re.Pattern[str]
    heading: re.Pattern[str]
    marks: tuple[tuple[re.Pattern[str], _Replacement], ...]
    lines: str = ""


def _marks(*pairs: tuple[str, _Replacement]) -> tuple[tuple[re.Pattern[str], _Replacement], ...]:
    return tuple((re.compile(pattern, re.MULTILINE), words) for pattern, words in pairs)


# Indented lines, of no list and with no term of their own, that explain a term.
_LINE = r"(?![-*+.]\s|.*(?:::|;;)[^\S\n]*$)\S.*"
_EXPLAINED = rf"[^\S\n]+(?P<said>{_LINE}(?:\n[^\S\n]+{_LINE})*)"
_FOLLOWING = rf"(?:[^\S\n]+|[^\S\n]*\n[^\S\n]*)(?P<said>{_LINE}(?:\n[^\S\n]*{_LINE})*)"  # perhaps not indented


def _after_term(entry: re.Match[str]) -> str:
    return f"{entry['term'] or ''}: {' '.join(entry['said'].split())}"


_TAGS = (
    "a|b|br|center|code|dd|del|details|div|dl|dt|em|font|h[1-6]|hr|i|img|ins|kbd|li|ol|p|picture|pre|s|small|source|span"
    "|strong|sub|summary|sup|table|tbody|td|th|thead|tr|tt|u|ul|video"
)
# Marks of emphasis touch their words: snake_case, 2 * 3 and __init__ stay.
_STRONG = (r"(?<![\w*\\])(\*{1,3})(?=[^\s*])([^*\n]+(?:\n[^*\n]+)*?)(?<=\S)\1(?![\w*])", r"\2")
_ITALIC = (r"(?<![\w_\\])_(?=\w)([^_\n]+(?:\n[^_\n]+)*?)(?<=\w)_(?!\w)", r"\1")
# A paragraph in bold type, below all other headings; no item of a list of them, and no statement.
_BOLD_LINE = r"(?<![^\n]\n)^ {0,3}(?:[*+-] +)?\*\*([^*\n]{3,150}[^*\n.!:])\*\*[^\S\n]*\n[^\S\n]*\n(?!\s*[*+-] +\*\*)"
_BOLD_HEADING = (_BOLD_LINE, marked(7, r"\1") + "\n\n")

_MARKDOWN = _Language(
    re.compile(r"(?ms)^ {0,3}(```+(?!`)|~~~+(?!~))[^\n]*\n(?P<code>.*?)(?:^ {0,3}\1|\Z)"),
    re.compile(r"(?m)^ {0,3}#{1,6}[^\S\n]+(.+?)(?:[^\S\n]+#+)?[^\S\n]*$"),
    _marks(
        (r"^ {0,3}\[(?!\^)[^\]\n]+\]:[^\S\n]+\S.*$", ""),
        (r"(?<=[\w)])<sup>([+\u2212-]?\d{1,4})</sup>", r"^\1"),
        (r"(?<=[^\s([])<sup>(?:<a\s[^<>]*>|\[)?(\d{1,4})(?:</a>|\]\([^()\s]{0,500}\))?</sup>", r"[\1]"),
        (rf"<!--[^<>]*-->|</?(?:{_TAGS})(?:\s[^<>]*|/)?>", ""),
        (r"<((?:https?://|[\w.+-]+@)[^<>\s]+)>", r"\1"),
        (r"!?\[(?!\^)([^\[\]]*)\](?:\([^()]{0,500}(?:\([^()\n]{0,500}\)[^()\n]{0,500})?\)|\[(?!\^)[^\]\n]*\])", r"\1"),
        (r"\[\^([^\]\s]+)\]:?", r"[\1]"),
        (r"(?<=[^\s:.!?])\n: {1,3}(?=\S)", ": "),  # a term, and what it means
        (r"^(?: {0,3}>)+ ?", ""),
        (r"(?<!`)(`+)(?!`)[ ]?([^`\n]+?)[ ]?\1(?!`)", r"\2"),
        (r"~~(?<![~\\]~~)(?=[^\s~])[^~\n]+(?<=\S)~~(?!~)[ ]?", ""),  # what its author has struck out
        (r"\*(?<![\d*\\]\*)(\*?)([^\W\d_]+)\1\*(?![\d*])", r"\2"),
        (r"\*\*_(?=\S)([^*]+?)(?<=\S)_\*\*", r"\1"),
        _BOLD_HEADING,
        _STRONG,
        _ITALIC,
        (r"\\([!-/:-@\[-`{-~])", r"\1"),
    ),
    "=-",
)
_INDENTED = r"(?:\n(?:[^\S\n]+\S.*|[^\S\n]*(?=\n[^\S\n]+\S)))*"
_RST = _Language(
    re.compile(
        r"(?m)^[^\S\n]*\.\. (?:code|code-block|sourcecode)::.*\n(?:[^\S\n]+:[\w-]+:.*\n)*"
        r"(?P<code>(?:[^\S\n]+\S.*\n?|[^\S\n]*\n)*)"
    ),
    re.compile(r"(?!)()"),  # headings are underlined
    _marks(
        (rf"^(?P<term>(?!\w+[.)]\s)(?:[\w`(]|--?(?=\w)).{{0,78}}[^\s.:!?])\n{_EXPLAINED}", _after_term),
        (rf"^[^\S\n]*\.\. (?:image|include|raw|index|toctree|contents)::.*{_INDENTED}", ""),
        (r"^[^\S\n]*\.\. (?:_[^\n]*:|(?:only|module|currentmodule|highlight)::).*$", ""),
        (r"^([^\S\n]*)\.\. (?:\|[^|\n]+\| )?[\w:-]+::[^\S\n]*(.*)(?:\n[^\S\n]+:[\w-]+:.*)*$", r"\1\2"),
        (r"^\.\. (?!\[).*(?:\n[^\S\n]+.*)*|^\.\. (?=\[)", ""),
        (r"``(.+?)``", r"\1"),
        (r"(?::[\w+:-]{1,60}:)?`([^`<]+?)\s*(?:<[^>`]*>)?`(?:__?|:[\w-]{1,60}:)?", r"\1"),
        (r"`([^`]+)`", r"\1"),
        (r"\s?\[(?:\d+|#\w*|\*)\]_", ""),
        (r"(?<=\w)__?(?!\w)", ""),
        _STRONG,
        (r"(?:(?<=\s)|^)::[^\S\n]*$|(?<=:):[^\S\n]*$", ""),
        (r"\\([^\w\s])", r"\1"),
    ),
)
_ASCIIDOC = _Language(
    # The line under a heading is no fence: a fence follows an empty line or an option.
    re.compile(r"(?m)(?:\A|(?<=\n\n)|(?<=[\]+]\n))(----+|\.\.\.\.+)[^\S\n]*\n(?P<code>(?:.*\n)*?)(?:\1[^\S\n]*$|\Z)"),
    re.compile(r"(?m)^={1,6}[^\S\n]+(.+?)(?:[^\S\n]+=+)?[^\S\n]*$"),
    _marks(
        (r"^(?://(?!/).*|:!?[\w-]+!?:.*|\[.*\]|\|===+|\w+::[^\s\[]*\[[^\]\n]*\]|\+)[^\S\n]*$", ""),
        (r"^(\*{2,}|\.+)(?=\s)", "*"),
        (r"<<[^<,>\n]+,([^<>]+)>>|<<([^<,>\n]+)>>", r"\1\2"),
        (r"(?:link:|xref:|mailto:|https?://)[^\s\[\]]*\[([^\[\]\n]+)\]", r"\1"),
        (r"(?<=[^\s:])(?:::++|;;)[^\S\n]*\n(?=\S.*?[^\s:](?:::++|;;)[^\S\n]*$)", ", "),  # two terms of one entry
        (rf"(?P<term>(?<=[^\s:]))(?:::++|;;){_FOLLOWING}", _after_term),
        (r"([^\s:])(::++|;;)[^\S\n]*$", r"\1\n"),
        (r"(?:link|xref):([^\s\[]+)\[\]", r"\1"),
        (r"`\+?([^`\n]+?)\+?`|(?<![\w+])\+(?=\S)([^+\n]+)(?<=\S)\+(?![\w+])", r"\1\2"),
        _STRONG,
        _ITALIC,
    ),
    "=-~^+",
)


def _document(path: Path, limit: int, language: _Language) -> Document:
    """The text without marks and front matter; the title is the first heading, else that of the front matter."""
    whole = read_text(path, limit)
    source = FRONT_MATTER.sub("", whole, count=1)
    fields = list(_fields(whole[: len(whole) - len(source)]))
    blocks = (block for block in _blocks(source, language) if block.strip())
    text = re.sub(r"\n(?:[^\S\n]*\n){2,}", "\n\n", "\n\n".join(blocks))
    return make_document(text, _title(source, language) or dict(fields).get("title", ""), path, fields=fields)


def _fields(front: str) -> Iterator[tuple[str, Any]]:
    """The names and values of front matter in YAML or TOML, as far as they are texts or lists of texts."""
    for name, value, items in _FIELD.findall(front):
        listed = _ITEM.findall(value.strip("[] ")) if value.startswith("[") else _BELOW.findall(items) or [value]
        yield from ((name.lower(), text.strip().strip("\"'")) for text in listed)


markdown_document = partial(_document, language=_MARKDOWN)
rst_document = partial(_document, language=_RST)
asciidoc_document = partial(_document, language=_ASCIIDOC)


def _blocks(source: str, language: _Language) -> Iterator[str]:
    end, lines = 0, list(language.lines)
    for fence in language.fence.finditer(source):
        yield _words(source[end : fence.start()], language, lines)
        yield fence["code"].strip("\n")
        end = fence.end()
    yield _words(source[end:], language, lines)


def _words(source: str, language: _Language, lines: list[str]) -> str:
    """`lines` collects the signs that underline headings; their order is that of the levels."""

    def underlined(heading: re.Match[str]) -> str:
        if heading[2] not in lines:
            lines.append(heading[2])
        return f"\n\n{marked(1 + lines.index(heading[2]), heading[1])}\n\n"

    def opened(heading: re.Match[str]) -> str:
        sign = heading[0].lstrip()
        return f"\n\n{marked(len(sign) - len(sign.lstrip(sign[0])), heading[1])}\n\n"

    source = language.heading.sub(opened, _UNDERLINED.sub(underlined, source))
    return reflow(html.unescape(_unmark(_RULE.sub("", _TABLE.sub(_rows, source)), language))).strip("\n")


def _unmark(text: str, language: _Language) -> str:
    for mark, words in language.marks:
        text = mark.sub(words, text)
    return text


def _rows(table: re.Match[str]) -> str:
    heads, _, *rows = ([cell.strip() for cell in _COLUMN.split(_ENDS.sub("", row))] for row in table[0].split("\n"))
    return "\n\n".join(row_text(row, heads) for row in rows) or row_text(heads)


def _title(source: str, language: _Language) -> str:
    text = language.fence.sub("", source)
    headings = [match for match in (language.heading.search(text), _UNDERLINED.search(text)) if match]
    first = min(headings, key=lambda match: match.start(), default=None)
    return _unmark(first[1], language) if first else ""
