"""Tables of every kind of file: each row says its cells with the words that head their columns."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import docx
import pypdfium2
import pytest

from tests.pdf_writer import Line, Stroke, lines, pdf
from toulmin.data import Box
from toulmin.documents.loaders import read_documents
from toulmin.documents.pdf_tables import cell_boxes, quote_boxes
from toulmin.documents.tables import Cell, grid_rows
from toulmin.text.language import sentence_texts

HEADS = ("Country", "Year", "Revenue")
ROWS = (("France", "2018", "3.1"), ("France", "2019", "3.4"), ("Italy", "2019", "2.2"))
SAID = [f"Country: {country}; Year: {year}; Revenue: {revenue}" for country, year, revenue in ROWS]
COLUMNS = (100, 200, 300)


def blocks(path: Path, content: bytes | str) -> list[str]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    [document] = read_documents(path)
    return document.text.split("\n\n")


def print_rows(rows: Sequence[Sequence[str]], top: float, step: float = 14) -> list[Line]:
    return [
        Line(text, x, top - n * step, 10) for n, row in enumerate(rows) for x, text in zip(COLUMNS, row, strict=False)
    ]


def across(*heights: float, left: float = 95, right: float = 400) -> list[Stroke]:
    return [Stroke(left, y, right, y) for y in heights]


def booktabs() -> list[Line | Stroke]:
    return [*print_rows([HEADS, *ROWS], 600), *across(612, 596, 550)]


# ---------------------------------------------------------------- PDF


def test_a_table_between_three_rules_says_its_heads_with_each_cell(tmp_path: Path) -> None:
    page = [*lines("We sold lamps in two countries, and", "this is what they brought us."), *booktabs()]
    assert blocks(tmp_path / "a.pdf", pdf([page])) == [
        "We sold lamps in two countries, and this is what they brought us.",
        *SAID,
    ]


def test_the_caption_of_a_table_is_a_paragraph_of_its_own_beside_its_rows(tmp_path: Path) -> None:
    page = [
        *booktabs(),
        Line("Table 1: What the lamps brought us.", 100, 530),
        *lines("We went on to sell oil, which", "brought us more than the", "lamps.", top=500),
    ]
    expected = [
        *SAID,
        "Table 1: What the lamps brought us.",
        "We went on to sell oil, which brought us more than the lamps.",
    ]
    assert blocks(tmp_path / "a.pdf", pdf([page])) == expected


def test_cells_of_a_ruled_grid_may_have_several_lines(tmp_path: Path) -> None:
    rows = [
        ("Name", "Use", "Height"),
        ("Bell Rock", "warns of", "35"),
        ("", "a reef", ""),
        ("Eddystone", "a light", "49"),
    ]
    rules = across(612, 596, 568, 554)
    sides = [Stroke(x, 554, x, 612) for x in (95, 195, 295, 400)]
    assert blocks(tmp_path / "a.pdf", pdf([[*print_rows(rows, 600), *rules, *sides]])) == [
        "Name: Bell Rock; Use: warns of a reef; Height: 35",
        "Name: Eddystone; Use: a light; Height: 49",
    ]


def test_heads_over_several_columns_are_said_before_those_below_them(tmp_path: Path) -> None:
    rows = [("", "", ""), ("Country", "2018", "2019"), ("France", "3.1", "3.4"), ("Italy", "2.0", "2.2")]
    page = [
        *print_rows(rows, 600),
        Line("Revenue", 240, 600, 10),
        *across(612, 583, 550),
        *across(598, left=195, right=330),
    ]
    assert blocks(tmp_path / "a.pdf", pdf([page])) == [
        "Country: France; Revenue 2018: 3.1; Revenue 2019: 3.4",
        "Country: Italy; Revenue 2018: 2.0; Revenue 2019: 2.2",
    ]


def test_prose_between_rules_stays_prose(tmp_path: Path) -> None:
    prose = lines("The lamps were lit in the evening and", "put out in the morning by a keeper.", top=600, x=100)
    assert blocks(tmp_path / "a.pdf", pdf([[*prose, *across(620, 560)]])) == [
        "The lamps were lit in the evening and put out in the morning by a keeper."
    ]


def test_two_columns_of_prose_under_a_running_head_are_no_table(tmp_path: Path) -> None:
    left = lines(*["The lamps were lit in the evening by a keeper"] * 8, top=700, x=72, size=8)
    right = lines(*["and were put out in the morning by another one"] * 8, top=700, x=320, size=8)
    text = "\n".join(blocks(tmp_path / "a.pdf", pdf([[*left, *right, *across(720, 580, left=70, right=540)]])))
    assert " | " not in text
    assert "; " not in text


def read_box(path: Path, box: Box) -> str:
    with pypdfium2.PdfDocument(path) as document:
        textpage = document[box.page - 1].get_textpage()
        text = textpage.get_text_bounded(box.left, box.bottom, box.right, box.top)
        textpage.close()
    return " ".join(text.split())


@pytest.mark.parametrize("cell", ["3.4", "2019", "France"])
def test_the_box_of_a_cell_holds_its_words_and_no_others(tmp_path: Path, cell: str) -> None:
    path, row = tmp_path / "a.pdf", SAID[1]
    path.write_bytes(pdf([lines("Nothing here."), booktabs()]))
    start = row.index(cell)
    with pypdfium2.PdfDocument(path) as document:
        boxes = cell_boxes(document[1], 2, row, start, start + len(cell))
    assert [read_box(path, box) for box in boxes] == [cell]


def test_a_quote_of_a_whole_row_has_the_boxes_of_all_its_cells(tmp_path: Path) -> None:
    path, row = tmp_path / "a.pdf", SAID[2]
    path.write_bytes(pdf([booktabs()]))
    with pypdfium2.PdfDocument(path) as document:
        boxes = cell_boxes(document[0], 1, row, 0, len(row))
    assert [read_box(path, box) for box in boxes] == ["Italy", "2019", "2.2"]


@pytest.mark.parametrize(("quote", "cells"), [(SAID[1], ["France", "2019", "3.4"]), ("3.4", ["3.4"])])
def test_the_cells_of_a_quote_are_found_in_a_passage_of_several_rows(
    tmp_path: Path, quote: str, cells: list[str]
) -> None:
    path, text = tmp_path / "a.pdf", "\n\n".join(["Lamps.", *SAID])
    path.write_bytes(pdf([lines("Lamps."), booktabs()]))
    start = text.index(quote)
    with pypdfium2.PdfDocument(path) as document:
        boxes = quote_boxes(document, 1, text, start, start + len(quote))
    assert [read_box(path, box) for box in boxes] == cells


# ---------------------------------------------------------------- Word, HTML, sheets


def test_a_word_table_says_its_heads_also_where_cells_are_merged(tmp_path: Path) -> None:
    book, file = docx.Document(), BytesIO()
    table = book.add_table(4, 3)
    texts = [("Country", "Revenue", ""), ("", "2018", "2019"), ("France", "3.1", "3.4"), ("Italy", "2.0", "2.2")]
    for row, cells in zip(table.rows, texts, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(0, 0).merge(table.cell(1, 0))
    book.save(file)
    assert blocks(tmp_path / "a.docx", file.getvalue()) == [
        "Country: France; Revenue 2018: 3.1; Revenue 2019: 3.4",
        "Country: Italy; Revenue 2018: 2.0; Revenue 2019: 2.2",
    ]


def test_a_page_says_heads_of_two_rows_names_of_rows_and_groups(tmp_path: Path) -> None:
    page = """<table><caption>Money</caption><tr><th rowspan=2>Country<th colspan=2>Revenue<tr><th>2018<th>2019
    <tr><td colspan=3>Europe<tr><th rowspan=2>Italy<td>5<td>6<tr><td>7<td>8</table>"""
    assert blocks(tmp_path / "a.html", page) == [
        "Money",
        "Europe",
        "Country: Italy; Revenue 2018: 5; Revenue 2019: 6",
        "Country: Italy; Revenue 2018: 7; Revenue 2019: 8",
    ]


@pytest.mark.parametrize(
    ("page", "rows"),
    [
        ("<table><tr><td><th>2018<th>2019<tr><th>Oil<td>1<td>2</table>", ["Oil; 2018: 1; 2019: 2"]),
        ("<table><thead><tr><td>Year<td>Oil</thead><tr><td>1990<td>3.4</table>", ["Year: 1990; Oil: 3.4"]),
        ("<table><tr><th>a<th>b<th>c<tr><td rowspan=9999999 colspan=9999999>d</table>", ["a | b | c", "d"]),
    ],
)
def test_heads_of_a_page_may_be_years_or_in_its_thead(tmp_path: Path, page: str, rows: list[str]) -> None:
    assert blocks(tmp_path / "a.html", page) == rows


def test_a_figure_of_a_page_has_its_caption_as_a_paragraph(tmp_path: Path) -> None:
    page = "<p>Before.<figure><img src=x><figcaption>A lamp.</figcaption></figure><p>After."
    assert blocks(tmp_path / "a.html", page) == ["Before.", "A lamp.", "After."]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (",2018,2019\nOil,1,2\n", ["Oil; 2018: 1; 2019: 2"]),
        ("Money of the lamps\n\nWhat,2018,2019\nOil,1,2\n", ["Money of the lamps", "What: Oil; 2018: 1; 2019: 2"]),
        (
            ",Oil,,Gas,\nCountry,2018,2019,2018,2019\nItaly,1,2,3,4\n",
            ["Country: Italy; Oil 2018: 1; Oil 2019: 2; Gas 2018: 3; Gas 2019: 4"],
        ),
    ],
)
def test_heads_of_a_csv_may_be_years_below_a_title_or_in_two_rows(tmp_path: Path, text: str, rows: list[str]) -> None:
    assert blocks(tmp_path / "a.csv", text) == rows


def test_the_heads_of_a_text_s_table_are_guessed_where_they_are_not_marked() -> None:
    rows = [[Cell("Country"), Cell("Revenue", columns=2)], [Cell(""), Cell("2018"), Cell("2019")]]
    rows.append([Cell("Italy"), Cell("1"), Cell("2")])
    assert grid_rows(rows) == ["Country: Italy; Revenue 2018: 1; Revenue 2019: 2"]


# ---------------------------------------------------------------- answers


@pytest.mark.parametrize(
    "row",
    [
        "Country: Italy; Revenue in mill.: 2.2",
        "A:B; Std. Error: 6.55; Pr(>|t|): 0.13",
        "Offset: 21; Size: 1; Description: Embedded payload fraction. Must be 64.",
    ],
)
def test_a_row_is_one_sentence_whatever_stops_it_holds(row: str) -> None:
    assert sentence_texts(f"Before it. A lamp.\n\n{row}\n\nAfter it.") == ["Before it.", "A lamp.", row, "After it."]


def test_prose_with_colons_and_semicolons_is_cut_as_before() -> None:
    text = "He had one aim: to win. She left; he stayed. So it was."
    assert sentence_texts(text) == ["He had one aim: to win.", "She left; he stayed.", "So it was."]
