"""Tables on PDF pages: where they are, and the text of each row with its column names.

* A table lies between ruling lines of equal width, one above the other. Vertical lines, or white space that runs down,
  part its columns. Two columns of prose, and framed listings, are no tables.
* A row becomes "Head: cell; Head: cell" (`tables.row_text`). The heads are printed only once, above, so no place on the
  page holds the whole row; `cell_boxes` finds its cells.
* Rotated pages, and tables without ruling lines, stay ordinary text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

import pypdfium2

from toulmin.data import Box
from toulmin.documents.pdf_print import DIVIDED, SAME, Line, Rule, Upright, Word, lines_of, rules_of, words_of
from toulmin.documents.plain import is_known
from toulmin.documents.tables import are_names, cell_texts, column_names, has_numbers, is_number, row_text
from toulmin.text.language import Span

_DIVISION = re.compile(rf"([^\W\d_]+){DIVIDED} ([^\W\d_]+)")
# Points: the least length of a rule; the largest distance between the ends of two rules that end alike.
_LONG, _ALIKE = 40.0, 2.0
_GAP = 0.75  # of a line's height: the gap between columns is wider, between words narrower
_TALLEST = 0.5  # of a page's height: two rules further apart belong to the page's head and foot
_MOST = 0.7  # of a table's height: a vertical line of this length separates columns
_MOST_COLUMNS, _PROSE = 40, 7  # columns of a table; median words of a cell from which it is two columns of prose


class Piece(NamedTuple):
    """A cell's words: `text[start:end]` of its row, and their lines on the page."""

    start: int
    end: int
    boxes: tuple[Box, ...]


class Row(NamedTuple):
    text: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class PdfTable:
    """A table's box, in points from the page's lower left corner, and its rows from the top down."""

    left: float
    bottom: float
    right: float
    top: float
    rows: tuple[Row, ...]


Cells = list[Line]  # the words of each column


def cell_boxes(page: pypdfium2.PdfPage, number: int, row: str, start: int, end: int) -> tuple[Box, ...]:
    """The boxes of the cells that hold `row[start:end]`, where `row` is the whole text of a table row on that page; of
    every cell if that is a column's name. Empty without such a row.
    """
    textpage = page.get_textpage()
    rows = [other for table in page_tables(page, textpage, number) for other in table.rows if other.text == row]
    textpage.close()
    pieces = rows[0].pieces if rows else ()
    within = [piece for piece in pieces if piece.start < end and start < piece.end]
    return tuple(box for piece in within or pieces for box in piece.boxes)


def quote_boxes(pdf: pypdfium2.PdfDocument, first: int, text: str, start: int, end: int) -> tuple[Box, ...]:
    """The boxes of the cells in `text[start:end]`. Rows are blocks of `text`, a passage that begins on page `first`;
    each row is searched on that page and the next two.
    """
    boxes = list[Box]()
    for begin, block, part in blocks_in(text, start, end):
        pages = range(first, min(first + 2, len(pdf)) + 1) if "; " in block else ()
        places = part.start - begin, part.end - begin
        on_pages = (cell_boxes(pdf[number - 1], number, block, *places) for number in pages)
        boxes += next(filter(None, on_pages), ())
    return tuple(boxes)


def blocks_in(text: str, start: int, end: int) -> Iterator[tuple[int, str, Span]]:
    """The blocks of `text[start:end]`: where each begins, its whole words, and its part of the range."""
    begin = 0
    for block in text.split("\n\n"):
        part = Span(max(start, begin), min(end, begin + len(block)))
        if part.start < part.end:
            yield begin, block, part
        begin += len(block) + 2


def page_tables(page: pypdfium2.PdfPage, textpage: pypdfium2.PdfTextPage, number: int) -> list[PdfTable]:
    """The tables of a page from the top down; `number` is the page's, from 1."""
    if page.get_rotation():
        return []
    rules, uprights = rules_of(page)
    tallest = _TALLEST * page.get_height()
    stacks = [stack for stack in _stacks(rules) if len(stack) > 2 or _may_be_a_table(stack, uprights, tallest)]
    stacks.sort(key=len, reverse=True)  # so that a frame round others comes after them
    lines = lines_of(words_of(textpage)) if stacks else []
    tables: list[PdfTable] = []
    for stack in stacks:
        for table in _tables(stack, rules, uprights, lines, number):
            if not any(other.bottom < table.top and table.bottom < other.top for other in tables):
                tables.append(table)
    return sorted(tables, key=lambda table: -table.top)


def _segments(line: Line) -> list[Line]:
    segments = [[word] for word in line[:1]]
    for before, word in pairwise(line):
        if word.left - before.right > _GAP * (before.top - before.bottom):
            segments.append([word])
        else:
            segments[-1].append(word)
    return segments


# ---------------------------------------------------------------- stacks of rules


def _stacks(rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    """Long rules that begin and end alike, two or more, from the top down; double ones count once."""
    stacks: list[list[Rule]] = []
    for rule in rules:
        if rule.right - rule.left < _LONG:
            continue
        for stack in stacks:
            if abs(stack[0].left - rule.left) <= _ALIKE and abs(stack[0].right - rule.right) <= _ALIKE:
                if stack[-1].y - rule.y > SAME:
                    stack.append(rule)
                break
        else:
            stacks.append([rule])
    return (stack for stack in stacks if len(stack) > 1)


def _may_be_a_table(stack: Sequence[Rule], uprights: Sequence[Upright], tallest: float) -> bool:
    """Whether two rules with nothing between them may be a table's rather than a frame's."""
    top, bottom = stack[0].y, stack[1].y
    sides = [x for x in _crossing(uprights, top, bottom) if stack[0].left - SAME <= x <= stack[0].right + SAME]
    inner = [x for x in sides if stack[0].left + SAME < x < stack[0].right - SAME]
    return bool(inner) or (not sides and top - bottom < tallest)


# ---------------------------------------------------------------- tables


@dataclass(frozen=True, slots=True)
class _Band:
    top: float
    bottom: float
    lines: list[Line]


def _tables(
    stack: Sequence[Rule], rules: Sequence[Rule], uprights: Sequence[Upright], lines: Sequence[Line], number: int
) -> Iterator[PdfTable]:
    """The tables between the rules of a stack: runs of bands that vertical lines cross or, if none are crossed, that
    hold more than lines of prose.
    """
    sides = (stack[0].left - SAME, stack[0].right + SAME)
    reaching = [line for line in uprights if sides[0] <= line.x <= sides[1]]
    inner = [line for line in reaching if sides[0] + 2 * SAME < line.x < sides[1] - 2 * SAME]
    spans = list(pairwise([rule.y for rule in stack]))
    if crossed := [span for span in spans if _parts_words(_crossing(inner, *span), _band(lines, *span, *sides))]:
        runs = [list(run) for is_crossed, run in groupby(spans, crossed.__contains__) if is_crossed]
        runs = [_with_open_ends(run, inner, len(inner) < len(reaching)) for run in runs]
        found_bands = [[_band(lines, *span, *sides) for span in run] for run in runs]
    else:
        bands = groupby([_band(lines, *span, *sides) for span in spans], _may_be_of_a_table)
        found_bands = [list(run) for is_table, run in bands if is_table]
    tables = (_table(bands, sides, rules, inner, number) for bands in found_bands)
    return (table for table in tables if table is not None)


def _with_open_ends(
    spans: list[tuple[float, float]], uprights: Sequence[Upright], is_framed: bool
) -> list[tuple[float, float]]:
    """Adds the row above the first rule, as far as vertical lines reach up, and the one below the last."""
    first, last = spans[0][0], spans[-1][1]
    above = [(line.top, first) for line in uprights if line.bottom - SAME < first < line.top - 2 * SAME]
    below = [(last, line.bottom) for line in uprights if line.bottom + 2 * SAME < last < line.top + SAME]
    if not below and not is_framed and len(spans) > 2:  # without a frame the last row may have no lines at all
        below = [(last, last - min(top - bottom for top, bottom in spans))]
    return [*above[:1], *spans, *below[:1]]


def _band(lines: Sequence[Line], top: float, bottom: float, left: float, right: float) -> _Band:
    def is_within(word: Word) -> bool:
        return bottom < (word.top + word.bottom) / 2 < top

    near = (line for line in lines if line[0].bottom < top and bottom < line[0].top)
    within = [[word for word in line if is_within(word)] for line in near]
    reaching = [line for line in within if line and line[0].right > left and line[-1].left < right]
    return _Band(
        top, bottom, [[word for word in line if word.left >= left and word.right <= right] for line in reaching]
    )


def _may_be_of_a_table(band: _Band) -> bool:
    lines = [line for line in band.lines if line]
    if not lines:
        return band.top - band.bottom < 3 * SAME
    return 2 * sum(len(_segments(line)) > 1 for line in lines) >= len(lines) or len(lines) == 1


def _table(
    bands: Sequence[_Band], sides: tuple[float, float], rules: Sequence[Rule], uprights: Sequence[Upright], number: int
) -> PdfTable | None:
    filled = [band for band in bands if any(band.lines)]
    if not filled:
        return None
    grid = _crossing(uprights, filled[0].top, filled[-1].bottom)
    borders = _borders(filled, grid)
    if grid and len(filled) > 1 and not _is_row(filled[-1], borders):  # text below the table looked like a last row
        filled.pop()
    if not 1 <= len(borders) < _MOST_COLUMNS:
        return None
    heads, body = _heads_apart(filled, borders, bool(grid), rules)
    if not body or _is_prose(body, len(filled)):
        return None
    if len(filled) == 1 and not has_numbers([list(map(_text, cells)) for cells in body]):
        return None
    rows = tuple(_row(cells, heads, number) for cells in body if any(cells))
    return PdfTable(sides[0], filled[-1].bottom, sides[1], filled[0].top, rows)


def _parts_words(borders: Sequence[float], band: _Band) -> bool:
    return bool(borders) and not any(
        w.left < x - 1 and x + 1 < w.right for line in band.lines for w in line for x in borders
    )


def _is_row(band: _Band, borders: Sequence[float]) -> bool:
    words = [word for line in band.lines for word in line]
    return _parts_words(borders, band) and sum(map(bool, _cells(words, borders))) > 1


def _is_prose(rows: Sequence[Cells], bands: int) -> bool:
    lengths = [len(cell) for cells in rows for cell in cells if cell]
    return bands < 4 and len(rows) > 4 and median(lengths) >= _PROSE


def _borders(bands: Sequence[_Band], grid: list[float]) -> list[float]:
    """Where columns part: at vertical lines and, unless rows are ruled too, at white space that runs down through the
    body, and through the heads too if each stands over one column.
    """
    if grid and len(bands) > 3:
        return grid
    body = _gaps([line for band in bands[len(bands) > 1 :] for line in band.lines if line])
    with_heads = _gaps([line for band in bands for line in band.lines if line])
    gaps = with_heads if len(with_heads) == len(body) else body
    white = [(left + right) / 2 for left, right in gaps if not any(left - SAME < x < right + SAME for x in grid)]
    return sorted((*grid, *white))


def _crossing(uprights: Sequence[Upright], top: float, bottom: float) -> list[float]:
    places: dict[float, float] = {}
    for line in uprights:
        reach = min(top, line.top) - max(bottom, line.bottom)
        if reach > 0:
            near = next((x for x in places if abs(x - line.x) <= SAME), line.x)
            places[near] = places.get(near, 0.0) + reach
    return sorted(x for x, reach in places.items() if reach > _MOST * (top - bottom))


def _gaps(lines: Sequence[Line]) -> list[tuple[float, float]]:
    """Lines of one piece do not count."""
    parted = [segments for segments in map(_segments, lines) if len(segments) > 1] or [[line] for line in lines]
    spans = sorted((segment[0].left, segment[-1].right) for segments in parted for segment in segments)
    height = median([word.top - word.bottom for line in lines for word in line] or [10.0])
    gaps, reach = [], spans[0][1] if spans else 0.0
    for left, right in spans:
        if left - reach > _GAP * height / 2:
            gaps.append((reach, left))
        reach = max(reach, right)
    return gaps


# ---------------------------------------------------------------- rows


def _heads_apart(
    bands: Sequence[_Band], borders: Sequence[float], has_grid: bool, rules: Sequence[Rule]
) -> tuple[list[str], list[Cells]]:
    first, rest = bands[0], bands[1:]
    rows = [row for band in rest for row in _band_rows(band, borders, has_grid, len(bands))]
    lines = [line for line in first.lines if line]
    if rest and len(lines) <= 4:
        names = column_names([_head_cells(line, borders, rules, bands) for line in lines])
        ended = (name for name in names if name.endswith((":", ".", ",")))
        if any(len(name.split()) > (1 if name.endswith(":") else 3) for name in ended):
            return [], []  # a frame round something else
        if not _is_list(names, rows) and (are_names(names) or not any(map(is_number, names))):
            return names, rows
    own = _band_rows(first, borders, has_grid, len(bands))
    names = [_text(cell) for cell in own[0]] if own else []
    if are_names(names) and (rest or len(own) > 2) and not _is_list(names, own[1:] + rows):
        return names, own[1:] + rows
    return ([], own + rows) if has_grid or rest else ([], [])


def _is_list(first: Sequence[str], rows: Sequence[Cells]) -> bool:
    """Whether two columns of words begin with an ordinary row, not with their names."""
    is_long = any(len(text.split()) > 3 for text in first)
    return is_long and not has_numbers([list(map(_text, cells)) for cells in rows]) and len(first) == 2


def _head_cells(line: Line, borders: Sequence[float], rules: Sequence[Rule], bands: Sequence[_Band]) -> list[str]:
    cells = [""] * (len(borders) + 1)
    segments = _segments(line)
    bottom, top = line[0].bottom, line[0].top
    for n, segment in enumerate(segments):
        text, left, right = _text(segment), segment[0].left, segment[-1].right
        near = (rule for rule in rules if bottom - (top - bottom) < rule.y <= bottom + SAME)
        below = [rule for rule in near if rule.left <= right and left <= rule.right]
        short = [rule for rule in below if rule.right - rule.left < 0.9 * _width(bands)]
        if short:
            left, right = min(left, short[0].left), max(right, short[0].right)
        columns = _columns(left, right, borders)
        if not short and len(segments) in (len(cells), len(cells) - 1):
            columns = [n + len(cells) - len(segments)]
        for column in columns:
            cells[column] = f"{cells[column]} {text}".strip()
    return cells


def _width(bands: Sequence[_Band]) -> float:
    words = [word for band in bands for line in band.lines for word in line]
    return max(word.right for word in words) - min(word.left for word in words)


def _columns(left: float, right: float, borders: Sequence[float]) -> list[int]:
    edges = [float("-inf"), *borders, float("inf")]
    return [n for n, (a, b) in enumerate(pairwise(edges)) if left < b and a < right]


def _band_rows(band: _Band, borders: Sequence[float], has_grid: bool, bands: int) -> list[Cells]:
    lines = [_cells(line, borders) for line in band.lines if line]
    numbers = [{n for n, cell in enumerate(cells) if is_number(_text(cell))} for cells in lines]
    holds_rows = any(a & b for a, b in pairwise(numbers))
    if not holds_rows and bands >= (3 if has_grid else 5):
        return [_joined(lines)] if lines else []
    rows: list[list[Cells]] = []
    for cells in lines:
        if rows and _goes_on(cells, rows[-1][-1]):
            rows[-1].append(cells)
        else:
            rows.append([cells])
    return list(map(_joined, rows))


def _goes_on(cells: Cells, above: Cells) -> bool:
    texts = [(_text(cell), _text(over)) for cell, over in zip(cells, above, strict=True) if cell]
    if any(is_number(text) for text, _ in texts):
        return False
    return not cells[0] or (len(texts) < len(cells) and all(text[0].islower() and over for text, over in texts))


def _joined(lines: Sequence[Cells]) -> Cells:
    return [[word for cell in column for word in cell] for column in zip(*lines, strict=True)]


def _cells(line: Line, borders: Sequence[float]) -> Cells:
    cells: Cells = [[] for _ in range(len(borders) + 1)]
    for word in line:
        cells[_columns((word.left + word.right) / 2 - 0.01, (word.left + word.right) / 2, borders)[0]].append(word)
    return cells


def _text(words: Sequence[Word]) -> str:
    return _DIVISION.sub(_undivided, " ".join(word.text for word in words)).replace(DIVIDED, "-")


def _undivided(match: re.Match[str]) -> str:
    return match[1] + match[2] if is_known(match[1] + match[2]) else f"{match[1]}-{match[2]}"


def _row(cells: Cells, heads: Sequence[str], number: int) -> Row:
    texts = [_text(cell) for cell in cells]
    is_group = len(cells) > 2 and not any(cells[1:])
    names = heads if len(heads) == len(cells) and not is_group else ()
    pieces, position = [], 0
    for text, shown, words in zip(texts, cell_texts(texts, names), cells, strict=True):
        if text:
            end = position + len(shown)
            pieces.append(Piece(end - len(text), end, tuple(_line_boxes(words, number))))
            position = end + len("; " if names else " | ")
    return Row(row_text(texts, names), tuple(pieces))


def _line_boxes(words: Sequence[Word], number: int) -> Iterator[Box]:
    for line in lines_of(words):
        bottom, top = min(word.bottom for word in line), max(word.top for word in line)
        yield Box(number, line[0].left, bottom, line[-1].right, top)
