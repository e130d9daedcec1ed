"""Turns tables into text: a line for each row, each cell after its column's name.

* "Year: 2019; Revenue: 3.4" is clear by itself. A cell without a column name stands alone, as in "France; 2019: 3.4"; a
  table without names gives "2019 | 3.4".
* Several header rows are read from the top down: "Revenue 2019". A cell over several columns or rows is repeated in
  each; one over a whole row stands once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

LONGEST_HEADS = 1000  # characters of all column names, which each row repeats
_NUMBER = re.compile(r"[^\w]*\d[\d.,:/\s%^\[\]-]*")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?:[/–-]\d{2,4})?")
# Columns and rows that a cell may span, and characters of a repeated cell: a hostile page could fill the memory.
MOST_SPANNED, LONGEST_REPEATED = 100, 200
_MOST_NOTES = 10  # rows that may stand before a sheet's table


class Cell(NamedTuple):
    text: str
    columns: int = 1
    rows: int = 1


def row_text(cells: Sequence[str], heads: Sequence[str] = ()) -> str:
    """A row on one line: "Head: cell; Head: cell", or "cell | cell" unless each cell has a head."""
    return ("; " if len(heads) == len(cells) else " | ").join(filter(None, cell_texts(cells, heads)))


def cell_texts(cells: Sequence[str], heads: Sequence[str]) -> list[str]:
    """The parts of `row_text`, "" for an empty cell; each ends with the cell's own words."""
    cells = [" ".join(cell.split()) for cell in cells]
    if len(heads) != len(cells):
        return cells
    return [f"{head}: {cell}" if head and cell else cell for head, cell in zip(heads, cells, strict=True)]


def table_text(rows: Iterable[Sequence[str]]) -> str:
    """A block for each row with words, after the column names that the first rows give. Rows may differ in length, and
    a caption before the table may be a row with one cell.
    """
    captions, table = _split_captions(rows)
    return "\n\n".join(chain(map(row_text, captions), table_rows(table)))


def table_of(rows: Iterable[Sequence[str]]) -> tuple[list[str], list[Sequence[str]]]:
    """The column names, if any, and the rows of `table_text`."""
    captions, table = _split_captions(rows)
    names, body = _names_apart(table, guess_heads(table))
    return names, [*captions, *body]


def _names_apart(rows: Sequence[Sequence[str]], heads: int) -> tuple[list[str], Sequence[Sequence[str]]]:
    """The column names by the first `heads` rows, and the rows below; no names if they are too long or name nothing."""
    names, body = column_names(rows[:heads]), rows[heads:]
    return (names, body) if body and sum(map(len, names)) <= LONGEST_HEADS else ([], rows)


def _split_captions(rows: Iterable[Sequence[str]]) -> tuple[list[list[str]], list[list[str]]]:
    table = [cells for cells in ([cell.strip() for cell in row] for row in rows) if any(cells)]
    left = empty_columns(table)
    table = [cells[left:] for cells in table]
    first = _first_row(table)
    captions, table = table[:first], table[first:]
    named = len(_without_empty_ends(table[0])) if table else 0
    if not all(table[0][1:named] if table else ()):  # a name over several columns leaves those after it empty
        named = max([named, *(len(_without_empty_ends(cells)) for cells in table[1:2])])
    return captions, [padded(cells, named) for cells in table]


def empty_columns(rows: Iterable[Sequence[str]]) -> int:
    """How many there are before a sheet's table."""
    return min((n for row in rows for n, cell in enumerate(row) if cell.strip()), default=0)


def _first_row(table: Sequence[Sequence[str]]) -> int:
    """Where a sheet's table begins: at two cells or more or, below several lines of notes, at a full row of names."""
    filled = [sum(map(bool, cells)) for cells in table]
    width = max(filled, default=0)
    if width < 3:
        return 0
    names = next((n for n in range(min(_MOST_NOTES, len(table))) if filled[n] == width and are_names(table[n])), 0)
    return names if names > 1 else next(n for n, count in enumerate(filled) if count > 1)


def table_rows(rows: Sequence[Sequence[str]], heads: int | None = None) -> list[str]:
    """A text for each row below the first `heads`, which name the columns; their number is guessed by default."""
    names, body = _names_apart(rows, guess_heads(rows) if heads is None else heads)
    unused = [] if any(len(cells) == len(names) for cells in body) else rows[: len(rows) - len(body)]
    return list(filter(None, (*map(row_text, unused), *(row_text(cells, names) for cells in body))))


def grid_rows(rows: Iterable[Sequence[Cell]], heads: int | None = None) -> list[str]:
    """The rows of a table in a text, whose cells may span others and whose heads may be marked. There, two columns
    without numbers are a list without heads.
    """
    table = [cells for cells in spread(rows) if any(cells)]
    is_list = max(map(len, table), default=0) <= 2 and not has_numbers(table[1:])
    return table_rows(table, 0 if is_list and not heads else heads or None)


def has_numbers(rows: Sequence[Sequence[str]]) -> bool:
    width = max(map(len, rows), default=0)
    columns = ([is_number(row[n]) for row in rows if n < len(row) and row[n]] for n in range(width))
    return any(2 * sum(column) > len(column) for column in columns)


def column_names(heads: Sequence[Sequence[str]]) -> list[str]:
    """The name of each column from header rows, outermost first; an outer name also covers the empty cells after it."""
    width = max(map(len, heads), default=0)
    rows = [*map(_carried_on, heads[:-1]), *heads[-1:]]
    columns = ([row[column] for row in rows if column < len(row)] for column in range(width))
    return [" ".join(" ".join(dict.fromkeys(filter(None, column))).split()) for column in columns]


def _carried_on(row: Sequence[str]) -> list[str]:
    return [next(filter(None, reversed(row[: n + 1])), "") for n in range(len(row))]


def guess_heads(rows: Sequence[Sequence[str]]) -> int:
    """How many rows name the columns: none, one, or two if the first names groups of columns."""
    if len(rows) < 2 or not rows[0]:
        return 0
    top, below = list(rows[0]), list(rows[1])
    is_grouped = any(a == b or not b for a, b in pairwise(top)) and len(below) == len(top)
    both = column_names([top, below])
    if is_grouped and len(rows) > 2 and len(set(both)) == len(both) and are_names(both) and are_names(below, 0):
        return 2
    return int(are_names(top))


def are_names(cells: Sequence[str], least: int = 2) -> bool:
    """Whether the cells can name columns: no numbers except years in order; only the first may be empty."""
    years = [cell for cell in cells if _YEAR.fullmatch(cell)]
    numbers = [cell for cell in cells if is_number(cell)]
    is_ordered = len(years) > 1 and years in (sorted(years), sorted(years, reverse=True))
    if years and least and (not is_ordered or is_number(cells[0])):
        return False
    is_filled = least == 0 or (len(cells) >= least and all(cells[1:]) and (bool(cells[0]) or len(cells) > 2))
    return is_filled and len(numbers) == len(years)


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _without_empty_ends(cells: Sequence[str]) -> list[str]:
    last = max((n for n, cell in enumerate(cells) if cell), default=-1)
    return list(cells[: last + 1])


def padded(cells: Sequence[str], width: int) -> list[str]:
    cells = _without_empty_ends(cells)
    return cells + [""] * (width - len(cells))


def spread(rows: Iterable[Sequence[Cell]]) -> list[list[str]]:
    """The texts of a table with spanning cells, repeated in each place that they cover; a row that is one cell over all
    columns stays one cell.
    """
    over: dict[int, Cell] = {}  # by column, the cells above that reach down
    table = []
    for row in rows:
        places = list(_places(row, over))
        over = {column: cell for column, cell in enumerate(places) if cell.rows > 1}
        table.append(places)
    width = max(map(len, table), default=0)
    shown = (row[:1] if width > 1 and row and row[0].columns >= width else row for row in table)
    return [[cell.text for cell in row] for row in shown]


def _places(row: Sequence[Cell], over: dict[int, Cell]) -> Iterator[Cell]:
    waiting, column = list(reversed(row)), 0
    while waiting or column in over:
        if column in over:
            cell = over[column]
            yield cell._replace(rows=cell.rows - 1, text=cell.text if len(cell.text) <= LONGEST_REPEATED else "")
            column += 1
            continue
        cell = waiting.pop()
        cell = cell._replace(columns=min(cell.columns, MOST_SPANNED), rows=min(cell.rows, MOST_SPANNED))
        repeated = cell if len(cell.text) <= LONGEST_REPEATED else cell._replace(text="")
        yield from (cell, *[repeated] * (cell.columns - 1))
        column += max(cell.columns, 1)
