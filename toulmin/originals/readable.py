"""Texts as readable HTML, and the marks of cited words. Needs no parser, so that a server may use it.

Of what runs, is fetched or leads away nothing is left, and the page's policy forbids it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toulmin.data import Document, Heading

LARGEST = 8_000_000  # bytes of a file, and characters of its markup, that is shown as it looks
MOST_SHOWN = 400_000  # characters of a text; of a longer one those round the mark
_PARAGRAPHS = re.compile(r"\n(?:[^\S\n]*\n)+")
# No inline style: the page that frames this one forbids it.
_STYLE = "/readable.css"
_POLICY = "default-src 'none'; style-src 'self'; img-src data:"


@dataclass(frozen=True, slots=True)
class Mark:
    """A rectangle on a displayed page, in shares of its width and height from the upper left corner."""

    page: int
    x: float
    y: float
    width: float
    height: float


def page_of(title: str, body: str, kind: str = "") -> str:
    """A whole HTML document of a sanitised body."""
    return (
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<title>{html.escape(title)}</title><link rel="stylesheet" href="{_STYLE}"></head>'
        f'<body class="{kind}">\n{body}\n</body></html>\n'
    )


def text_body(document: Document, start: int | None, end: int | None) -> str:
    """The text in paragraphs under its headings, with the words from `start` to `end` marked."""
    text, mark = document.text, (start or 0, end or 0)
    first, last = _window(text, *mark)
    body = [_note("The text before this is left out.")] if first else []
    headings = {each.start: each for each in document.headings if text.startswith(each.words, each.start)}
    is_first = True
    for begin, stop in _paragraphs(text, first, last):
        body.append(_paragraph(text, begin, stop, mark, headings.get(begin), is_first))
        is_first = is_first and "<mark" not in body[-1]
    if last < len(text):
        body.append(_note("The text after this is left out."))
    return "\n".join(body)


def _note(words: str) -> str:
    return f'<p class="left-out">{words}</p>'


def _window(text: str, start: int, end: int) -> tuple[int, int]:
    """The part of a long text around the marked words, in whole paragraphs if they are short enough."""
    if len(text) <= MOST_SHOWN:
        return 0, len(text)
    first, last = max(0, start - MOST_SHOWN // 2), min(len(text), end + MOST_SHOWN // 2)
    gap = _PARAGRAPHS.search(text, first, start) if first else None
    ending = text.rfind("\n\n", end, last) if last < len(text) else last
    return gap.end() if gap else first, ending if ending > 0 else last


def _paragraphs(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    begin = first
    for gap in _PARAGRAPHS.finditer(text, first, last):
        yield begin, gap.start()
        begin = gap.end()
    yield begin, last


def _paragraph(text: str, begin: int, stop: int, mark: tuple[int, int], heading: Heading | None, is_first: bool) -> str:
    tag = f"h{min(heading.level, 6)}" if heading else "p"
    start, end = max(begin, mark[0]), min(stop, mark[1])
    if start >= end:
        return f"<{tag}>{html.escape(text[begin:stop])}</{tag}>"
    parts: Sequence[str] = [html.escape(text[a:b]) for a, b in ((begin, start), (start, end), (end, stop))]
    return f"<{tag}>{parts[0]}{opening(is_first)}{parts[1]}</mark>{parts[2]}</{tag}>"


def opening(is_first: bool) -> str:
    """A viewer scrolls to the first mark."""
    return '<mark class="toulmin" id="marked">' if is_first else '<mark class="toulmin">'
