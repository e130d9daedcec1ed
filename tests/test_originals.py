"""Where cited words are printed on a PDF's pages, and the originals that the server shows."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import astuple
from io import BytesIO
from pathlib import Path

import pypdfium2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds_parts import XLS, ods, ods_cells, sheet_rows, xlsx
from pdf_writer import Line, Stroke, lines, pdf, printed
from PIL import Image, ImageOps
from texts import latin_texts

import toulmin
from toulmin.data import Box, Passage, Quote, Source
from toulmin.documents.loaders import read_documents
from toulmin.documents.ocr import ReadLine
from toulmin.documents.passages import cut
from toulmin.documents.pdf import pdf_document
from toulmin.originals.looks import print_cells
from toulmin.originals.pdf_places import PdfQuote, boxes_of, lay_out, letters_of, page_picture
from toulmin.originals.readable import Mark
from toulmin.text.language import sentences


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("places")


def written(tmp_path: Path, *pages: Sequence[Line | Stroke]) -> Path:
    path = tmp_path / "book.pdf"
    path.write_bytes(pdf(pages))
    return path


def cited(path: Path, words: str, size: int = 100) -> PdfQuote:
    """The first passage of a PDF's text that holds the words, and where they are in it."""
    for passage in cut(pdf_document(path, 10**8), size):
        start = passage.text.find(words)
        if start >= 0:
            return PdfQuote(passage, Quote(start, start + len(words), words))
    raise AssertionError(f"{words!r} is not in the text: {pdf_document(path, 10**8).text!r}")


def under(path: Path, boxes: Sequence[Box]) -> str:
    """What a PDF's pages say under the boxes."""
    with pypdfium2.PdfDocument(path) as file:
        return "".join(
            file[box.page - 1].get_textpage().get_text_bounded(box.left, box.bottom, box.right, box.top)
            for box in boxes
        )


def boxes(path: Path, words: str) -> tuple[Box, ...]:
    return boxes_of(path, [cited(path, words)])[0]


def assert_marks(path: Path, words: str) -> tuple[Box, ...]:
    found = boxes(path, words)
    assert letters_of(under(path, found)).text == letters_of(words).text
    return found


# ---------------------------------------------------------------- cells


@pytest.mark.parametrize(
    ("words", "section", "label"),
    [
        ("Fee: 9", "Fees", "D7"),
        ("Deal; Year: 2021", "Fees", "row 7"),
        ("Fee: 5", "Fees", "D5"),
        ("Fee: 5", "Fees › row 1", "D5"),
        ("Fee: 5", "", ""),  # which two sheets have
        ("All fees in pounds", "Fees", "B1"),
        ("none of it", "Fees", ""),
    ],
)
def test_words_of_a_workbook_have_their_cell(tmp_path: Path, words: str, section: str, label: str):
    rows = ["", "All fees in pounds"], ["", "Harbour", "Year", "Fee"], ["", "Wells", "2019", "5"]
    fees = {1: rows[0], 4: rows[1], 5: rows[2], 7: ["", "Deal", "2021", "9"]}
    copy = xlsx({"Fees": sheet_rows(fees), "Copy": sheet_rows({1: rows[1], 2: rows[2]})})
    (tmp_path / "a.xlsx").write_bytes(copy)
    assert cell(tmp_path / "a.xlsx", words, section) == label


def test_rows_that_an_open_workbook_repeats_are_counted(tmp_path: Path):
    empty = '<table:table-row table:number-rows-repeated="40"><table:table-cell/></table:table-row>'
    (tmp_path / "a.ods").write_bytes(ods(ods_cells("Lamp", "Fee"), empty, ods_cells("Deal", "9")))
    assert cell(tmp_path / "a.ods", "Fee: 9") == "B42"
    (tmp_path / "a.xls").write_bytes(XLS)
    assert cell(tmp_path / "a.xls", "0.255") == "C3"


def cell(path: Path, words: str, section: str = "") -> str:
    text = f"{next(read_documents(path)).text}\n\nnone of it"
    start = text.index(words)
    row = [text, None, [start, start + len(words)], section]
    (printed,) = print_cells(path, 0, "", "", [row])["prints"]
    return str(printed[1])


# ---------------------------------------------------------------- boxes


def test_a_sentence_over_two_lines_has_a_box_for_each(tmp_path: Path):
    path = written(tmp_path, lines("Before it. The tower was lit on", "3 May 1824 by Hannah Pell. After it."))
    found = assert_marks(path, "The tower was lit on 3 May 1824 by Hannah Pell.")
    assert [(box.page, box.top > box.bottom) for box in found] == [(1, True), (1, True)]


def test_columns_have_boxes_of_their_own(tmp_path: Path):
    left = lines("The keeper wrote every night", "of the storms that passed the", "rock and of the ships.")
    right = lines("The lamp burned whale oil", "until the year of the war, and", "then paraffin from town.", x=330)
    path = written(tmp_path, [*left, *right])
    found = assert_marks(path, "The keeper wrote every night of the storms that passed the rock and of the ships.")
    assert max(box.right for box in found) < 330
    assert_marks(path, "The lamp burned whale oil until the year of the war, and then paraffin from town.")


def test_lines_written_across_both_columns_have_a_box_in_each(tmp_path: Path):
    path = written(tmp_path, [Line("The lamp was lit", 72, 720), Line("by Hannah Pell today.", 330, 720)])
    passage = cut(pdf_document(path, 10**8))[0]
    found = boxes_of(path, [PdfQuote(passage)])[0]
    assert len(found) == 2
    assert all(box.right < 330 or box.left >= 330 for box in found)


def test_a_word_divided_at_a_line_end_is_found(tmp_path: Path):
    path = written(tmp_path, lines("The keepers of the tower had extra-", "ordinary patience with visitors."))
    assert_marks(path, "The keepers of the tower had extraordinary patience with visitors.")


def test_ligatures_are_found_as_letters(tmp_path: Path):
    path = written(tmp_path, lines("Five oﬃcers saw the ﬁrst light", "of the ﬂagship at the reef."))
    assert_marks(path, "Five officers saw the first light of the flagship at the reef.")


def test_of_a_repeated_sentence_the_cited_one_is_marked(tmp_path: Path):
    rows = ["The lamp was lit. Hannah Pell kept it.", "It was put out.", "The lamp was lit. John Roe kept it then."]
    path = written(tmp_path, lines(*rows, leading=30))
    passage = cut(pdf_document(path, 10**8))[0]
    ys = []
    for start in (passage.text.index("The lamp was lit."), passage.text.rindex("The lamp was lit.")):
        quote = Quote(start, start + 17, "The lamp was lit.")
        ys += [box.top for box in boxes_of(path, [PdfQuote(passage, quote)])[0]]
    assert (len(ys), ys[0] - ys[1]) == (2, 60)


def test_a_sentence_over_a_page_turn_skips_foot_and_running_head(tmp_path: Path):
    def page(n: int, *texts: str) -> list[Line]:
        head, foot = Line("A History of Lighthouses", 72, 760, 9), Line(str(n), 300, 40, 9)
        return [head, *lines(*texts, top=720), foot]

    pages = [page(n, f"Chapter {n} tells of a storm in the year {1800 + n}.") for n in range(1, 5)]
    pages[1][1:-1] = lines("In that winter the keeper of the tower went", top=720)
    pages[2][1:-1] = lines("down to the harbour and came back alone.", "Nobody asked him why.", top=720)
    path = written(tmp_path, *pages)
    found = assert_marks(path, "In that winter the keeper of the tower went down to the harbour and came back alone.")
    assert [box.page for box in found] == [2, 3]


def test_a_sentence_with_raised_digits_has_its_box(tmp_path: Path):
    line = [("The tower cost 41,200", 12, 0), ("3", 7, 4), (" euros.", 12, 0), ("4", 7, 4), (" It stands.", 12, 0)]
    path = written(tmp_path, printed(line))
    found = boxes(path, "The tower cost 41,200^3 euros.[4]")
    assert under(path, found).strip() == "The tower cost 41,2003 euros.4"


def test_footnotes_that_were_moved_are_stepped_over(tmp_path: Path):
    rows = ["The keeper counted the ships", "that came by.", "", "He did so for twenty years without pay,"]
    body = lines(*rows, top=720)
    notes = [Line("1 Pell says that there were two keepers.", 72, 80, 8)]
    after = lines("as his father had done before him.", "Nobody knew.", top=720)
    path = written(tmp_path, [*body, *notes], after)
    assert_marks(path, "He did so for twenty years without pay, as his father had done before him.")
    assert_marks(path, "1 Pell says that there were two keepers.")


def test_a_whole_passage_is_marked_without_a_quote(tmp_path: Path):
    path = written(tmp_path, lines("The keeper counted the ships.", "He did so for twenty years."))
    passage = cut(pdf_document(path, 10**8))[0]
    assert letters_of(under(path, boxes_of(path, [PdfQuote(passage)])[0])).text == letters_of(passage.text).text


def test_words_that_are_not_there_have_no_box(tmp_path: Path):
    path = written(tmp_path, lines("The keeper counted the ships."))
    assert boxes_of(path, [PdfQuote(Passage.of("The keeper counted the sheep."))]) == [()]


def test_text_that_runs_upwards_has_a_box_that_stands(tmp_path: Path):
    rows = ("The keeper wrote every night of the", "storms that passed the rock.")
    path = written(tmp_path, [Line(text, 100 + 16 * n, 100, runs_up=True) for n, text in enumerate(rows)])
    found = assert_marks(path, " ".join(rows))
    assert [box.top - box.bottom > 5 * (box.right - box.left) for box in found] == [True, True]


def test_a_large_first_letter_has_a_box_of_its_own(tmp_path: Path):
    path = written(tmp_path, [Line("T", 72, 690, 40), *lines("he keeper wrote", "every night of storms.", x=100)])
    passage = cut(pdf_document(path, 10**8))[0]
    found = boxes_of(path, [PdfQuote(passage)])[0]
    assert sorted(letters_of(under(path, found)).text) == sorted(letters_of(passage.text).text)


modest = settings(max_examples=40, deadline=None)


@modest
@given(latin_texts(), st.integers(25, 60), st.integers(4, 40), st.data())
def test_any_sentence_of_any_pages_is_under_its_boxes(
    places: Path, text: str, width: int, rows: int, data: st.DataObject
):
    printed = [row for paragraph in text.split("\n\n") for row in (*textwrap.wrap(paragraph, width), "")]
    pages = [lines(*printed[n : n + rows], top=740) for n in range(0, len(printed), rows)]
    path = written(places, *pages)
    passages = cut(pdf_document(path, 10**8), 20)
    passage = data.draw(st.sampled_from(passages))
    start, end = data.draw(st.sampled_from(sentences(passage.text)))
    quote = Quote(start, end, passage.text[start:end])
    found = boxes_of(path, [PdfQuote(passage, quote)])[0]
    assert letters_of(under(path, found)).text == letters_of(quote.text).text


def test_a_row_of_a_table_has_boxes_at_its_cells(tmp_path: Path):
    rows = [("Country", "Year", "Height"), ("France", "2019", "3.4"), ("Italy", "2019", "2.2")]
    cells = [Line(cell, 100 + 100 * n, 676 - 14 * m) for m, row in enumerate(rows) for n, cell in enumerate(row)]
    rules = [Stroke(95, y, 400, y) for y in (690, 672, 644)]
    path = written(tmp_path, [*lines("The lamp is high. It was measured.", top=730), *cells, *rules])
    words = next(block for block in pdf_document(path, 10**8).text.split("\n\n") if "Italy" in block)
    found = boxes(path, words)
    assert under(path, found).split() == ["Italy", "2019", "2.2"]


def test_words_of_a_scan_are_where_they_were_read(tmp_path: Path):
    path = written(tmp_path, [])
    read = [
        ReadLine("The keeper wrote. The lamp", 0.9, Box(1, 100, 700, 360, 712)),
        ReadLine("was lit. Nobody came.", 0.9, Box(1, 100, 680, 310, 692)),
    ]
    text = "The keeper wrote. The lamp was lit. Nobody came."
    passage = Passage.of(text, "", Source(0, len(text), page=1))
    start = text.index("The lamp")
    found = boxes_of(path, [PdfQuote(passage, Quote(start, start + 17, "The lamp was lit."))], lambda page: read)[0]
    assert [(box.page, box.bottom, box.top) for box in found] == [(1, 700, 712), (1, 680, 692)]
    assert (found[0].right, found[1].left) == (360, 100)
    # Where Helvetica, which nobody knows of, has the words' ends.
    assert (found[0].left, found[1].right) == (pytest.approx(273.4, abs=5), pytest.approx(165.6, abs=5))


# ---------------------------------------------------------------- pages as they are displayed


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_mark_is_where_the_words_are_displayed(tmp_path: Path, turn: int):
    path = written(tmp_path, [Line("The lamp was lit.", 100, 700)])
    with pypdfium2.PdfDocument(path) as file:
        page = file[0]
        page.set_cropbox(50, 60, 500, 760)
        page.set_rotation(turn)
        file.save(tmp_path / "turned.pdf")
    turned = tmp_path / "turned.pdf"
    found = assert_marks(turned, "The lamp was lit.")
    layout = lay_out(turned, 0, map(astuple, found))
    (mark,) = (Mark(**mark) for mark in layout["marks"])
    picture = Image.open(BytesIO(page_picture(turned, 1, 900))).convert("L")
    assert layout["sizes"] == [(450, 700) if turn % 180 == 0 else (700, 450)]
    assert picture.width == 900
    ink = ImageOps.invert(picture).point(lambda shade: 255 * (shade > 128)).getbbox()
    assert ink is not None
    x, y = mark.x * picture.width, mark.y * picture.height
    assert ink == pytest.approx((x, y, x + mark.width * picture.width, y + mark.height * picture.height), abs=12)


# ---------------------------------------------------------------- answers


def test_an_answer_says_where_its_words_are_printed(tmp_path: Path):
    path = written(tmp_path, lines("Sea."), lines("The tower was lit on 3 May 1824", "by Hannah Pell. She was old."))
    answer = toulmin.ask("Who lit the tower?", docs=path)
    citation = answer.claims[0].citations[0]
    assert citation.quote is not None
    assert letters_of(under(path, citation.boxes)).text == letters_of(citation.quote.text).text


def test_an_answer_over_a_file_that_changed_has_no_boxes(tmp_path: Path):
    path = written(tmp_path, lines("The tower was lit on 3 May 1824 by Hannah Pell."))
    toulmin.index([path], into=tmp_path / "index")
    path.write_bytes(pdf([lines("The tower was lit on 3 May 1824 by Hannah Pell. Or not.")]))
    answer = toulmin.ask("Who lit the tower?", index=tmp_path / "index")
    assert [citation.boxes for claim in answer.claims for citation in claim.citations] == [()]
