"""Kinds of files: documents read as documents, in blocks of words without marks, and what is said of bad ones."""

from __future__ import annotations

import csv
import io
import textwrap
from pathlib import Path

import pytest
from docx import Document as Writer
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds_parts import epub, odt, pptx, shape, xlsx, zipped
from pdf_writer import Line, lines, pdf, printed
from row_tables import table
from texts import LATIN, keeps_the_laws, latin_texts

from toulmin.data import Document, Passage, Source
from toulmin.documents.loaders import read_documents
from toulmin.documents.passages import cut
from toulmin.errors import SourceError
from toulmin.extractive.analysis import analyse
from toulmin.text.language import sentences

modest = settings(max_examples=30, deadline=None)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kinds")


def read(path: Path, content: bytes | str, limit: int = 10_000_000) -> Document:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    [document] = read_documents(path, limit=limit)
    assert keeps_the_laws(document, 20)
    return document


def blocks(path: Path, content: bytes | str) -> list[str]:
    return [block.strip() for block in read(path, content).text.split("\n\n") if block.strip()]


def refusal(path: Path, content: bytes | str, limit: int = 10_000_000) -> str:
    with pytest.raises(SourceError) as caught:
        read(path, content, limit)
    return str(caught.value)


# ---------------------------------------------------------------- wrapped text


@modest
@given(latin_texts(), st.integers(60, 100), st.sampled_from(["", "   "]))
def test_wrapped_lines_become_the_paragraphs_that_they_were(place: Path, text: str, width: int, indent: str) -> None:
    paragraphs = [words for words in (" ".join(paragraph.split()) for paragraph in text.split("\n\n")) if words]
    wrapped = "\n\n".join(
        textwrap.fill(words, width, initial_indent=indent, subsequent_indent=indent) for words in paragraphs
    )
    assert blocks(place / "a.txt", wrapped) == paragraphs


def test_headings_options_and_items_of_a_text_stand_by_themselves(place: Path) -> None:
    text = """NAME
----
lamp - lights a lamp

OPTIONS
-------
--slow::
    Lights the lamp slowly, as the keepers of old did when their oil
    was cold and the night was long.
--fast::
    Lights it at once.

1. Fill the lamp with oil from the barrel in the cellar below, and
   wipe it.
2. Light it.
"""
    assert blocks(place / "a.txt", text) == [
        "NAME\n----",
        "lamp - lights a lamp",
        "OPTIONS\n-------",
        "--slow::",
        "Lights the lamp slowly, as the keepers of old did when their oil was cold and the night was long.",
        "--fast::",
        "Lights it at once.",
        "1. Fill the lamp with oil from the barrel in the cellar below, and wipe it.",
        "2. Light it.",
    ]


def test_columns_code_and_addresses_keep_their_lines(place: Path) -> None:
    text = "lamp      oil\nwick      cotton\n\nfor lamp in lamps {\n  light(lamp);\n}\n\n1 Harbour Row\nDeptford\n"
    assert read(place / "a.txt", text).text == text


def test_soft_hyphens_are_taken_out(place: Path) -> None:
    assert read(place / "a.txt", "The light\u00ad\nhouse of prin\u00adciple.").text == "The lighthouse of principle."


def test_lines_of_a_script_without_spaces_are_joined_without_one(place: Path) -> None:
    line = "灯台は海の道しるべです、" * 5
    assert read(place / "a.txt", f"{line}\n{line}").text == line + line


# ---------------------------------------------------------------- marks


@modest
@given(st.lists(st.tuples(st.sampled_from(LATIN), st.sampled_from(["", "*", "**", "_", "`"])), min_size=1))
def test_markdown_leaves_the_words_and_no_marks(place: Path, pairs: list[tuple[str, str]]) -> None:
    text = " ".join(f"{mark}{word}{mark}" for word, mark in pairs)
    assert read(place / "a.md", text).text == " ".join(word for word, _ in pairs)


def test_markdown_becomes_blocks_of_words(place: Path) -> None:
    text = """# The lamp #

It was **lit** in [1882](http://x.example/a_(b) "title") by _Douglass_ &
<b>crew</b>; see ![the plan](plan.png) and <http://y.example>.

> Quoted *words*
> go on.

Wicks
-----
- one `wick`
- two wicks

| Year | Fuel |
|------|:----:|
| 1800 | oil  |

```python
if a * b * c:
    snake_case = __init__
```
"""
    assert blocks(place / "a.md", text) == [
        "The lamp",
        "It was lit in 1882 by Douglass &\ncrew; see the plan and http://y.example.",
        "Quoted words\ngo on.",
        "Wicks",
        "- one wick",
        "- two wicks",
        "Year: 1800; Fuel: oil",
        "if a * b * c:\n    snake_case = __init__",
    ]


@pytest.mark.parametrize("words", ["2 * 3 * 4", "snake_case_name", "__init__", "a_b and c_d", "5 ** 2 ** 2"])
def test_signs_that_are_no_marks_stay(place: Path, words: str) -> None:
    assert read(place / "a.md", words).text == words


def test_restructured_text_becomes_blocks_of_words(place: Path) -> None:
    text = """.. _top:

========
The lamp
========

It was *lit* by ``douglass``, see :ref:`the plan <plan>` and `a page <http://x.example>`_ [1]_.

.. note:: Oil is **dear**.

.. toctree::
   :maxdepth: 1

   other

.. code-block:: python
   :linenos:

   light(*lamps)
"""
    document = read(place / "a.rst", text)
    assert document.title == "The lamp"
    assert blocks(place / "a.rst", text) == [
        "The lamp",
        "It was lit by douglass, see the plan and a page.",
        "Oil is dear.",
        "light(*lamps)",
    ]


def test_asciidoc_becomes_blocks_of_words(place: Path) -> None:
    text = """= The lamp
:author: Ann

[[top]]
It was *lit* in `1882`, see link:plan.html[the plan] and <<oil,Oil>>.

--slow::
Lights slowly.

----
a *b* c
----

Old
---
Kept as _heading_.
"""
    assert read(place / "a.adoc", text).title == "The lamp"
    assert blocks(place / "a.adoc", text) == [
        "The lamp",
        "It was lit in 1882, see the plan and Oil.",
        "--slow",
        "Lights slowly.",
        "a *b* c",
        "Old",
        "Kept as heading.",
    ]


# ---------------------------------------------------------------- manual pages

MAN = r""".\" a comment
.TH LAMP "1" "May 1882"
.de XX
hidden
..
.SH NAME
lamp \- lights a lamp
.SH OPTIONS
.TP
\fB\-s\fR, \fB\-\-slow\fR
Lights it
.B slowly
and \(lqwell\(rq.
.IP \(bu 2
.RB ( oil )
.nf
a
  b
.fi
"""
MDOC = """.Dd May 18, 1882
.Dt LAMP 8
.Sh NAME
.Nm lamp
.Nd lights a lamp
.Sh DESCRIPTION
.Nm
lights.
.Bl -tag
.It Fl s Ar speed
How fast.
.El
"""


def test_a_manual_page_gives_each_option_with_what_it_does(place: Path) -> None:
    assert read(place / "lamp.1", MAN).title == "lamp(1)"
    assert blocks(place / "lamp.1", MAN) == [
        "NAME",
        "lamp - lights a lamp",
        "OPTIONS",
        "-s, --slow: Lights it slowly and “well”.",
        "• (oil)",
        "a\n  b",
    ]


def test_a_manual_page_of_bsd_is_read_too(place: Path) -> None:
    assert read(place / "lamp.8", MDOC).title == "lamp(8)"
    assert blocks(place / "lamp.8", MDOC) == [
        "NAME",
        "lamp – lights a lamp",
        "DESCRIPTION",
        "lamp lights.",
        "-s speed: How fast.",
    ]


# ---------------------------------------------------------------- tables

cells = st.text(st.sampled_from('ab ,;"|\n1.'), max_size=8)


@modest
@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=5))
def test_each_cell_of_a_csv_comes_after_its_column(place: Path, rows: list[tuple[str, str, str]]) -> None:
    file = io.StringIO()
    csv.writer(file).writerows([("Name", "Lit in", "Note"), *rows, ("end", "end", "end")])
    heads = ("Name", "Lit in", "Note")
    tables = [list(zip(heads, (" ".join(cell.split()) for cell in row), strict=True)) for row in [*rows, ("end",) * 3]]
    expected = ["; ".join(f"{head}: {cell}" for head, cell in row if cell) for row in tables]
    expected = [row for row in expected if row]
    assert blocks(place / "a.csv", file.getvalue()) == expected


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_csv_without_heads_gives_its_cells(place: Path, mark: str) -> None:
    assert blocks(place / "a.csv", f"1{mark}oil\n2{mark}gas\n") == ["1 | oil", "2 | gas"]


def test_long_heads_are_not_said_again_in_each_row(place: Path) -> None:
    text = f"{'x' * 2000},b\n" + "1,2\n" * 100
    assert len(read(place / "a.csv", text).text) < 2 * len(text)


def test_a_workbook_gives_its_sheets_with_dates_as_dates(place: Path) -> None:
    rows = """<row><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>Lit</t></is></c></row>
    <row><c r="A2" t="s"><v>1</v></c><c r="B2" s="1"><v>36526</v></c><c r="D2"><v>7</v></c></row>
    <row><c r="B3" s="2"><v>0.5</v></c></row><row><c r="A4" t="b"><v>1</v></c></row>"""
    strings = ["<t>Name</t>", "<r><t>Bell </t></r><r><t>Rock</t></r><rPh><t>aloud</t></rPh>"]
    book = xlsx({"Towers": rows, "Empty": ""}, strings, ["yyyy-mm-dd", '"days" 0.0'])
    assert blocks(place / "a.xlsx", book) == ["Towers", "Bell Rock | 2000-01-01 | 7", "Lit: days 0.5", "Name: TRUE"]


RAISED = [
    ("41,200<sup><a href='#n3'>3</a></sup> euros", "41,200[3] euros"),
    ("41,200<a href='#n3'><sup>3</sup></a> euros", "41,200[3] euros"),
    ("41,200<sup>[<a href='#n3'>3</a>]</sup> euros", "41,200[3] euros"),
    ("4<sup>50</sup> and <b>m</b><sup> 2 </sup>", "4^50 and m^2"),
    ("lit in 1882.<sup>3</sup> The 1<sup>st</sup> of May", "lit in 1882.[3] The 1st of May"),
    ("of <sup>14</sup>C and a<sup>3</sup><sup>4</sup>", "of 14C and a^3[4]"),
]


@pytest.mark.parametrize(("markup", "text"), RAISED)
def test_a_raised_number_of_a_page_stands_apart(place: Path, markup: str, text: str) -> None:
    assert blocks(place / "a.html", f"<p>{markup}</p><table><tr><td>{markup}</table>") == [text, text]
    assert blocks(place / "a.epub", epub({"c": f"<p>{markup}</p>"}, ["c"])) == [text]


def test_a_raised_number_of_markdown_stands_apart(place: Path) -> None:
    text = "It cost 41,200<sup>[3](#n3)</sup> euros, 5<sup><a href='#n4'>4</a></sup> or 10<sup>4</sup>."
    assert blocks(place / "a.md", text) == ["It cost 41,200[3] euros, 5[4] or 10^4."]


@pytest.mark.parametrize(("raised", "text"), [("3", "41,200^3 euros"), ("st", "41,200st euros")])
def test_a_raised_number_of_documents_stands_apart(place: Path, raised: str, text: str) -> None:
    paragraph = Writer().add_paragraph("41,200")
    for digit in raised:
        paragraph.add_run(digit).font.superscript = True
    paragraph.add_run(" euros")
    paragraph.part.save(place / "a.docx")
    run = "<a:r>{}<a:t>{}</a:t></a:r>".format
    runs = run("", "41,200") + run('<a:rPr baseline="30000"/>', raised) + run('<a:rPr baseline="-25000"/>', " euros")
    style = '<style:style style:name="T1"><style:text-properties style:text-position="super 58%"/></style:style>'
    body = f'{style}<text:p>41,200<text:span text:style-name="T1">{raised}</text:span> euros</text:p>'
    slide = shape("").replace("<a:r><a:t></a:t></a:r>", runs)
    assert blocks(place / "a.pptx", pptx([slide])) == [text]
    assert blocks(place / "a.odt", odt(body)) == [text]
    assert next(read_documents(place / "a.docx")).text == text


def test_raised_digits_of_a_pdf_stand_apart(place: Path) -> None:
    parts = [("It cost 41,200", 12, 0), ("3", 7, 4), (" euros, H", 12, 0), ("2", 7, -2), ("O, in 1882.", 12, 0)]
    assert blocks(place / "a.pdf", pdf([printed([*parts, ("12", 7, 4), (" It", 12, 0)])])) == [
        "It cost 41,200^3 euros, H2O, in 1882.[12] It"
    ]


def test_slides_are_pages_in_the_order_of_the_talk(place: Path) -> None:
    table = "<a:tbl><a:tr><a:tc><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:tc><a:tc><a:p/></a:tc></a:tr></a:tbl>"
    slides = [shape("Lamps", "A talk"), shape("7", placeholder="sldNum"), shape("Fuel") + table.format("oil")]
    document = read(place / "a.pptx", pptx(slides))
    assert (document.text, document.title) == ("Lamps\n\nA talk\n\nFuel\n\noil", "Lamps")
    assert document.pages == (0, 15, 15)


def test_an_open_document_gives_paragraphs_lists_and_rows(place: Path) -> None:
    body = """<text:h>The lamp</text:h><text:p>It was <text:span>lit</text:span><text:s/>in
    1882<text:note><text:p>foot</text:p></text:note>.</text:p><text:tracked-changes><text:p>gone</text:p>
    </text:tracked-changes><text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>
    <table:table><table:table-row><table:table-cell><text:p>Year</text:p></table:table-cell><table:table-cell>
    <text:p>Fuel</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>1800</text:p>
    </table:table-cell><table:table-cell><text:p>oil</text:p></table:table-cell></table:table-row></table:table>"""
    document = read(place / "a.odt", odt(body))
    assert document.text == "The lamp\n\nIt was lit in 1882.\n\none\n\nYear: 1800; Fuel: oil"
    assert document.title == "The lamp"


def test_a_book_is_read_in_the_order_of_its_spine(place: Path) -> None:
    chapters = {"b": "<h1>Two</h1><p>Later.</p>", "cover": "<img src='x'/>", "a": "<p>First.</p>"}
    document = read(place / "a.epub", epub(chapters, ["cover", "a", "b", "a"], "A Book of Lamps"))
    assert (document.text, document.title) == ("First.\n\nTwo\n\nLater.", "A Book of Lamps")


# ---------------------------------------------------------------- mail, rich text, code

HEADS = "From: Ann <ann@lamp.example>\nSubject: =?utf-8?q?The_caf=C3=A9?=\n"


def test_a_mail_gives_its_heads_text_and_the_names_of_what_is_attached(place: Path) -> None:
    parts = """MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

The lamp of the caf=C3=A9 was lit at six in the evening, by the oldest
keeper.
--b
Content-Type: application/pdf
Content-Disposition: attachment; filename="plan.pdf"

x
--b--
"""
    document = read(place / "a.eml", HEADS + parts)
    assert document.title == "The café"
    assert document.text.split("\n\n") == [
        "From: Ann <ann@lamp.example>; Subject: The café",
        "The lamp of the café was lit at six in the evening, by the oldest keeper.",
        "Attached: plan.pdf",
    ]


def test_a_mail_in_html_gives_what_is_seen(place: Path) -> None:
    page = HEADS + "MIME-Version: 1.0\nContent-Type: text/html; charset=latin-1\n\n<p>Lit.<p hidden>no"
    assert blocks(place / "a.eml", page)[1:] == ["Lit."]


def test_rich_text_gives_its_paragraphs(place: Path) -> None:
    pytest.importorskip("striprtf", reason="needs striprtf (extra: office)")
    text = r"{\rtf1\ansi{\fonttbl{\f0 Times;}}\f0 The \b lamp\b0  of caf\'e9\par Lit \u8220?well\u8221?.\par}"
    assert blocks(place / "a.rtf", text) == ["The lamp of café", "Lit “well”."]


def test_source_code_is_kept_as_it_is(place: Path) -> None:
    code = "def light(lamp):\n    # Lights a lamp that is\n    # filled.\n    return lamp * 2 * 3\n"
    document = read(place / "light_lamp.py", code)
    assert (document.text, document.title) == (code, "light_lamp.py")


# ---------------------------------------------------------------- html


def test_rows_of_a_page_carry_the_names_of_their_columns(place: Path) -> None:
    page = """<table><caption>Towers</caption><thead><tr><th>Name<th>Lit<th>Fuel</thead>
    <tr><td><p>Bell Rock</p><td>1811<td><tr><td>Eddystone<td><p>1882</p><td>oil</table><p>After."""
    rows = ["Towers", "Name: Bell Rock; Lit: 1811", "Name: Eddystone; Lit: 1882; Fuel: oil", "After."]
    assert blocks(place / "a.html", page) == rows


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<table><tr><th>Level<th>Use<tr><td><p>DEBUG<td><p>Details.</table>", "Level\nUse\n\nDEBUG\nDetails."),
        ("<table><tr><th>a<th>b<th>c<tr><td colspan=3>d</table>", "a | b | c\n\nd"),
        ("<table><tr><th>a<th>b<th>c<tr><td>1<td>2<td><table><tr><td>3</table></table>", "a | b | c\n\n1 | 2\n\n3"),
        ("<table><tr><td>a<td>b<td>c<tr><td>1<td>2<td>3</table>", "a | b | c\n\n1 | 2 | 3"),
    ],
)
def test_rows_without_names_of_three_columns_stay_as_they_are(place: Path, page: str, text: str) -> None:
    assert read(place / "a.html", page).text == text


def test_no_sentence_of_a_page_runs_over_two_blocks(place: Path) -> None:
    page = (
        "<h2>Locks</h2><p>A lock is held<ul><li>by one<li>by two</ul><dl><dt>Shared<dd>Many read.</dl><pre>x = 1</pre>"
    )
    text = read(place / "a.html", page).text
    found = [text[span.start : span.end] for span in sentences(text)]
    assert found == ["Locks", "A lock is held", "by one", "by two", "Shared", "Many read.", "x = 1"]


# ---------------------------------------------------------------- pdf


def test_heads_beside_page_numbers_are_dropped(place: Path) -> None:
    heads = ["Lamps 5", "6 A history of lamps", "Lamps 7", "8 A history of lamps"]
    pages = [lines(head, "", f"The {word} keeper of the", "lamp") for head, word in zip(heads, LATIN, strict=False)]
    text = read(place / "a.pdf", pdf(pages)).text
    assert not any(char.isdigit() for char in text)
    assert "history" not in text


def test_lines_that_end_in_a_number_are_no_heads(place: Path) -> None:
    pages = [lines(f"The keepers lit lamps in {year}", "of that kind.") for year in (1811, 1759, 1882, 1901)]
    text = read(place / "a.pdf", pdf(pages)).text
    assert [word for word in text.split() if word.isdigit()] == ["1811", "1759", "1882", "1901"]


def test_roman_page_numbers_are_dropped(place: Path) -> None:
    pages = [lines(f"The {LATIN[n]} lamp was lit.", "", number) for n, number in enumerate(["i", "ii", "iii", "iv"])]
    assert "ii" not in read(place / "a.pdf", pdf(pages)).text.split()


def test_a_sentence_runs_on_past_the_footnotes_of_its_page(place: Path) -> None:
    page = lines("The first paragraph of it goes", "on for three lines and", "ends here.", "", "The keeper1 of the")
    first = [*page, Line("1Ann Lee was one.", y=100, size=8)]
    text = read(place / "a.pdf", pdf([first, lines("lamp was old.")])).text
    assert text.split("\n\n") == [
        "The first paragraph of it goes on for three lines and ends here.",
        "1 Ann Lee was one.",
        "The keeper1 of the lamp was old.",
    ]


def test_captions_and_lines_of_contents_are_paragraphs(place: Path) -> None:
    page = lines(
        "1.1 Lamps . . . . . . . . 3", "1.2 Oil . . . . . . . . . . 4", "which is seen in", "Figure 2: A lamp."
    )
    assert blocks(place / "a.pdf", pdf([page])) == [
        "1.1 Lamps . . . . . . . . 3",
        "1.2 Oil . . . . . . . . . . 4",
        "which is seen in",
        "Figure 2: A lamp.",
    ]


# ---------------------------------------------------------------- what is no claim


def soundness(text: str) -> float:
    return min(sentence.soundness for sentence in analyse(Passage.of(text)))


@table(
    "text",
    [
        "© Copyright 2001-2024, Lamp Software Foundation.",
        "Copyright (C) 1999 the keepers of the lamp.",
        "All rights reserved by the keepers of lamps.",
        "Table 1: Lamps that were lit in each year.",
        "Fig. 2. Lamps that were lit in each year.",
        "F.4 Main Results of the lamp",
        "Fitting Linear Lamps Using Several Wicks",
        "1.1 What is a lamp? . . . . . . . . . 1",
        "THE LAMP IS PROVIDED WITHOUT ANY WARRANTY OF ANY KIND.",
        "Previous | Next: lamps and how they burn",
        "HOW THE LAMP IS LIT ------------------",
        "Wicks and Oil, 92(2), 351–370.",
        "The journal of lamps is found under doi:10.1093/lamps/92.2.351.",
        "Σθ = σ 2ΛθΛ ⊤ θ",
    ],
)
def test_notices_captions_headings_entries_and_formulas_are_unsound(text: str) -> None:
    assert soundness(text) <= 0.2


@pytest.mark.parametrize(
    "text",
    [
        "Copyright law protects the songs of lamp keepers.",
        "Table 1 shows that the lamps were lit in 1882.",
        "Figure skating began on frozen harbours.",
        "The Linux Foundation published the Filesystem Hierarchy Standard in 2015.",
        "IN WINTER the keepers lit the lamp earlier.",
        "The lamp burned from 1821 (3 May) to 1978.",
    ],
)
def test_sentences_that_look_like_them_are_sound(text: str) -> None:
    assert soundness(text) == 1.0


# ---------------------------------------------------------------- what cannot be read

BILLION = '<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>'


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.1", "Some log of lamps.", "is no manual page"),
        ("a.csv", "a,b\n" + '"' + "x" * 200_000, "is a damaged csv"),
        ("a.csv", ",,\n", "is empty"),
        ("a.md", "<!-- nothing -->", "is empty"),
        ("a.eml", "just words", "is no mail"),
        ("a.rtf", "just words", "striprtf is not installed|is no RTF"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0", "is encrypted, or an older .xls"),
        ("a.xlsx", b"PK no more", "is a damaged workbook"),
        ("a.xlsx", zipped({"xl/workbook.xml": "<x/>"}), "is empty"),
        ("a.xlsx", xlsx({"Empty": ""}), "is empty"),
        ("a.pptx", pptx([shape(" ")]), "is empty"),
        ("a.odt", zipped({"content.xml": BILLION}), "content.xml declares entities"),
        ("a.odt", zipped({"content.xml": "<x>" * 100_000}), "is a damaged OpenDocument text"),
        ("a.odt", odt("<text:span>" * 20_000 + "</text:span>" * 20_000), "is a damaged OpenDocument text"),
        ("a.epub", zipped({"a.xml": "x"}), "is a damaged electronic book"),
        ("a.epub", epub({"a": "<img/>"}, ["a"]), "is empty"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_in_words(place: Path, name: str, content: bytes | str, expected: str) -> None:
    words = refusal(place / name, content)
    assert any(part in words for part in expected.split("|"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.odt", odt("<text:p>" + "many words " * 20_000 + "</text:p>")),
        ("a.epub", epub({"a": "many words " * 20_000}, ["a"])),
    ],
)
def test_what_unpacks_to_too_much_is_refused(place: Path, name: str, content: bytes) -> None:
    assert "at most" in refusal(place / name, content, limit=100_000)


# ---------------------------------------------------------------- headings

OUTLINES = {
    "a.md": "# The tower\n\nIt is old.\n\n## Its **lamp**\n\nIt was lit.\n\nIts oil\n-------\n\nTrain oil.\n",
    "a.html": "<h1>The tower</h1><p>It is old.<h2>Its <b>lamp</b></h2><p>It was lit.<h2>Its oil</h2><p>Train oil.",
    "a.rst": "The tower\n=========\n\nIt is old.\n\nIts lamp\n~~~~~~~~\n\nLit.\n\nIts oil\n~~~~~~~\n\nTrain oil.\n",
    "a.adoc": "= The tower\n\nIt is old.\n\n== Its lamp\n\nIt was lit.\n\n== Its oil\n\nTrain oil.\n",
}


@pytest.mark.parametrize("name", OUTLINES)
def test_headings_stand_where_they_say(name: str, tmp_path: Path):
    (tmp_path / name).write_text(OUTLINES[name], "utf-8")
    [document] = read_documents(tmp_path / name)
    assert [(heading.level, heading.words) for heading in document.headings] == [
        (1, "The tower"),
        (2, "Its lamp"),
        (2, "Its oil"),
    ]
    assert all(document.text[start:].startswith(words) for start, _, words in document.headings)
    assert "\x02" not in document.text


def test_a_passage_knows_the_headings_that_it_stands_under(tmp_path: Path):
    body = "The lamp of the tower was lit by a keeper every evening of the year. " * 3
    parts = ("# Lights", "## Kettle Rock", body, "### The lamp", body, "## Pell Point", body)
    (tmp_path / "lights.md").write_text("\n\n".join(parts), "utf-8")
    [document] = read_documents(tmp_path / "lights.md")
    sections = {passage.source.section: passage.text for passage in cut(document, 40)}
    assert list(sections) == ["", "Kettle Rock › The lamp", "Pell Point"]  # the title is no section of itself


def test_equal_passages_under_other_headings_are_two():
    text = "It was lit."
    under = [Passage.of(text, "Lights", Source(0, len(text), section=section)) for section in ("Kettle Rock", "Pell")]
    assert len({passage.id for passage in (*under, Passage.of(text, "Lights"))}) == 3


def test_headings_of_a_manual_a_text_and_a_book_are_known(tmp_path: Path):
    (tmp_path / "lamp.1").write_text(
        ".TH LAMP 1\n.SH NAME\nlamp \\- light\n.SH OPTIONS\n.SS Oil\nBurns oil.\n", "utf-8"
    )
    [manual] = read_documents(tmp_path / "lamp.1")
    assert [heading[1:] for heading in manual.headings] == [(1, "NAME"), (1, "OPTIONS"), (2, "Oil")]
    text = '<text:h text:outline-level="2">Its lamp</text:h><text:p>It was lit.</text:p>'
    (tmp_path / "a.odt").write_bytes(odt(text))
    [written] = read_documents(tmp_path / "a.odt")
    assert written.headings == ((0, 2, "Its lamp"),)
    chapters = {"one.xhtml": "<h1>Oil</h1><p>Train oil.</p>", "two.xhtml": "<h1>Wick</h1><p>Of cotton.</p>"}
    (tmp_path / "a.epub").write_bytes(epub(chapters, list(chapters)))
    [book] = read_documents(tmp_path / "a.epub")
    assert [(book.text[start:].split()[0], level) for start, level, _ in book.headings] == [("Oil", 1), ("Wick", 1)]


def test_headings_of_a_word_document_are_known(tmp_path: Path):
    docx = pytest.importorskip("docx")
    word = docx.Document()
    word.add_heading("Lights", 1)
    word.add_paragraph("They were lit.")
    word.add_heading("Kettle Rock", 2)
    word.save(str(tmp_path / "a.docx"))
    [document] = read_documents(tmp_path / "a.docx")
    assert [heading[1:] for heading in document.headings] == [(1, "Lights"), (2, "Kettle Rock")]


def test_the_outline_of_a_pdf_gives_its_headings(tmp_path: Path):
    pages = [lines("Lights", "They were lit by keepers."), lines("2 Kettle Rock", "It stands on a rock.")]
    outline = [("Kettle Rock", 1), ("Not printed", 1), ("Elsewhere", 0)]
    (tmp_path / "a.pdf").write_bytes(pdf(pages, outline=outline))
    [document] = read_documents(tmp_path / "a.pdf")
    turned = document.pages[1]
    assert document.text[turned:].startswith("2 Kettle Rock")
    assert document.headings == ((0, 1, "Elsewhere"), (turned, 1, "Kettle Rock"), (turned, 1, "Not printed"))
