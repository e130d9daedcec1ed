"""Kinds of files: documents read as documents, in blocks of words without marks, and what is said of bad ones."""

from __future__ import annotations

import csv
import io
import textwrap
import zipfile
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest
from docx import Document as Writer
from docx.document import Document as WordDocument
from docx.oxml.parser import parse_xml
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds_parts import XLS, epub, ods, ods_cells, odt, pptx, shape, xlsx, zipped
from outlook_file import msg
from pdf_writer import Image, Line, lines, pdf, printed
from row_tables import table
from texts import LATIN, keeps_the_laws, latin_texts

from toulmin.data import Document, Heading, Passage, Source
from toulmin.documents.loaders import read_documents
from toulmin.documents.passages import cut
from toulmin.errors import SourceError
from toulmin.extractive.analysis import analyse
from toulmin.indexing.update import update
from toulmin.originals.looks import look_of
from toulmin.text.language import sentences

modest = settings(max_examples=30, deadline=None)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kinds")


def read_all(path: Path, content: bytes | str, limit: int = 10_000_000) -> list[Document]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    documents = list(read_documents(path, limit=limit))
    assert all(keeps_the_laws(document, 20) for document in documents)
    return documents


def read(path: Path, content: bytes | str, limit: int = 10_000_000) -> Document:
    [document] = read_all(path, content, limit)
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


def test_a_long_title_stands_apart_from_the_indented_text_below_it(place: Path) -> None:
    question = "OIL: The lamp of the old harbour won't burn any more. (winter only)"
    answer = "    This may happen if the keeper thinks that the oil of the old harbour\n    was cold."
    assert blocks(place / "a.txt", f"{question}\n{answer}") == [question, " ".join(answer.split())]
    asked = question.replace(" (winter only)", " Why?")
    assert blocks(place / "a.txt", f"{asked}\n{answer}") == [asked, " ".join(answer.split())]
    assert blocks(place / "a.txt", f"{question[:-1]}\n{answer.lower()}") == [
        " ".join(f"{question[:-1]} {answer.lower()}".split())
    ]


def test_one_backslash_at_a_line_end_leaves_the_other_lines_wrapped(place: Path) -> None:
    text = "The lamp of the harbour burns as long as the keeper turns\nit with the key \\\nand fills it with oil that"
    text += " he carries up the steps\nof the tower."
    assert read(place / "a.txt", text).text == text.replace("turns\n", "turns ").replace("steps\n", "steps ")
    code = "light --with the oil --of the harbour --at night of the year \\\n  --slow the lamp \\\n  --all"
    assert read(place / "a.txt", code).text == code


def test_a_semicolon_or_a_wide_gap_after_a_stop_leaves_the_other_lines_wrapped(place: Path) -> None:
    text = "1. The keeper is elected by the harbour, in an election that is held;\n   candidates use this time"
    text += " for a walk up the tower. If\n   there are none then it is done again.   Then all vote on it, also those\n"
    text += "   who are at sea."
    assert blocks(place / "a.txt", text) == [text.replace("\n   ", " ")]
    code = "int lamp_of_the_old_harbour = OIL_OF_THE_CELLAR;\nint wick_of_the_old_harbour = COTTON;"
    assert read(place / "a.txt", code).text == code


def test_rows_of_columns_keep_their_lines_among_wrapped_ones(place: Path) -> None:
    text = "The lamp of the harbour burns whale oil, as the keepers of old\nwanted, and needs:\n"
    rows = "oil of the whale, fresh from the barrel     4 gallons\ncotton of the best kind, in a roll          2 wicks"
    more = "so that it lasts the whole night, also in winter, when the nights\nare long and oil is dear."
    expected = f"{text.replace(chr(10), ' ', 1)}{rows}\n{more.replace(chr(10), ' ')}"
    assert read(place / "a.txt", f"{text}{rows}\n{more}").text == expected


def test_numbers_of_sections_and_settings_of_a_shell_begin_lines(place: Path) -> None:
    contents = "1.11 Why does the lamp of the harbour not burn at night?\n1.12 Where is the oil of the lamp kept?"
    assert blocks(place / "a.txt", contents) == contents.split("\n")
    prose = "The lamp of the harbour burns since its keeper installed\n3.11 of the program, and not before."
    assert blocks(place / "a.txt", prose) == [prose.replace("\n", " ")]
    shell = 'export LAMP="/usr/share/harbour/lamps/of/old"\nexport WICK="/usr/share/harbour/wicks"\nlight --all'
    assert read(place / "a.txt", shell).text == shell


def test_divided_words_of_a_text_are_whole_again(place: Path) -> None:
    text = """The keeper of the old harbour of the town was se-
lective with oil, and a friend, as all know, of well-
known kinds of it, and of as many of the short-
and long-burning wicks, which the anarcho-
syndicalists of the town gave him for the Anglo-
Saxon lamp, which burns with whale oil at night --
mostly."""
    words = ["was selective", "well-known", "short- and", "anarcho-syndicalists", "Anglo-Saxon", "night -- mostly"]
    document = read(place / "a.txt", text)
    assert [each for each in words if each not in document.text] == []


def test_percent_signs_part_what_stands_around_them(place: Path) -> None:
    text = "%%%%\nQ:oil\n\nWhich oil would you give to a keeper?\n%%%%\nA:oil\n\nWhale oil."
    assert blocks(place / "a.txt", text) == [
        "%%%%",
        "Q:oil",
        "Which oil would you give to a keeper?",
        "%%%%",
        "A:oil",
        "Whale oil.",
    ]


def test_the_number_of_a_picture_without_caption_is_left_out(place: Path) -> None:
    page = "<p>It burns.</p><p class=title><b>Figure 3.12. </b></p><p>Figure 3.13. A lamp</p>"
    assert blocks(place / "a.html", page) == ["It burns.", "Figure 3.13. A lamp"]


def test_letters_that_several_lines_share_are_bullets(place: Path) -> None:
    text = "  o Fill the lamp.\n  o Light it with a match that lies\n    near.\n      ? Is it lit?\n      ? Is it warm?"
    items = ["o Fill the lamp.", "o Light it with a match that lies near.", "? Is it lit?", "? Is it warm?"]
    assert blocks(place / "a.txt", text) == items
    spanish = "Enciende la lámpara vieja con el aceite del barril\no de la botella, y la limpia con un paño muy seco\no"
    assert "\n" not in read(place / "a.txt", f"{spanish} con papel.").text


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

-s
   Lights slowly,
   and not by day.

1. An item that
   goes on.
"""
    document = read(place / "a.rst", text)
    assert document.title == "The lamp"
    assert blocks(place / "a.rst", text) == [
        "The lamp",
        "It was lit by douglass, see the plan and a page.",
        "Oil is dear.",
        "light(*lamps)",
        "-s: Lights slowly, and not by day.",
        "1. An item that goes on.",
    ]


def test_asciidoc_becomes_blocks_of_words(place: Path) -> None:
    text = """= The lamp
:author: Ann

[[top]]
It was *lit* in `1882`, see link:plan.html[the plan] and <<oil,Oil>>.

-s::
--slow::
Lights slowly,
  and not at all by day.

Oil:: Of a whale.

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
        "-s, --slow: Lights slowly, and not at all by day.",
        "Oil: Of a whale.",
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
.It Ic dim Xo
.Op Fl a
.Op Ar lamp
.Xc
Dims it.
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
        "dim [-a] [lamp]: Dims it.",
    ]


def manual(place: Path, source: str) -> list[str]:
    return blocks(place / "lamp.1", f".TH LAMP 1\n.SH NAME\n{source}\n")[1:]


def test_a_verbatim_block_of_perl_keeps_its_lines(place: Path) -> None:
    assert manual(place, "Levels:\n\n.Vb 2\n\\&    1  Quiet\n\\&    2  Loud\n.Ve\n\nThe end\nis wrapped.") == [
        "Levels:",
        "1  Quiet\n    2  Loud",
        "The end is wrapped.",
    ]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\(+-5 \(<= 2, 3 \(mu 4, \(~~ 70%, a\(12", "±5 ≤ 2, 3 × 4, ≈ 70%, a½"),
        (r"\(*m\(di2\(de \[char247] \N'34'", 'μ÷2° ÷ "'),
        (r"don\'t \(fo\`a\`\(fc C:\\n \&.\|x", "don't ‹`a`› C:\\n .x"),
        (r"\(u2 \[sunny] of \*(no", r"\(u2 \[sunny] of"),
    ],
)
def test_every_sign_of_a_manual_page_is_read_or_shown(place: Path, source: str, text: str) -> None:
    assert manual(place, source) == [text]


def test_a_string_that_a_manual_page_defines_is_put_in(place: Path) -> None:
    assert manual(place, '.ds n wick\n.ds n other\n.ds OI "oil lamp\nThe \\*n of the \\*(OI.') == [
        "The wick of the oil lamp."
    ]


def test_a_quote_of_a_manual_page_may_stay_open(place: Path) -> None:
    assert manual(place, '.BI \\-machine " machinetype') == ["-machine machinetype"]


def test_a_line_of_a_manual_page_goes_on_after_a_backslash(place: Path) -> None:
    assert manual(place, '.BI "char " wick "[" size "], \\\nint " oil );') == ["char wick[size], int oil);"]


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
    assert found == ["Locks", "A lock is held", "by one", "by two", "Shared: Many read.", "x = 1"]


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


def test_small_capitals_at_the_start_of_a_line_begin_no_paragraph(place: Path) -> None:
    rows = [[("The lamp goes out at the keys ", 12, 0)], [("CONTROL", 9, 0), ("-Q, as the keeper wished", 12, 0)]]
    page = [part for n, parts in enumerate(rows) for part in printed(parts, y=700 - 14 * n)]
    (place / "a.pdf").write_bytes(pdf([[*page, *lines("and lit it.", top=672)]]))
    assert next(read_documents(place / "a.pdf")).text == (
        "The lamp goes out at the keys CONTROL-Q, as the keeper wished and lit it."
    )


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


def test_underlined_lines_of_a_text_are_headings(place: Path) -> None:
    news = "Lamps 1.2\n=========\n\nFixes\n-----\nIt burns.\n\nLamps 1.1\n=========\n\nIt is lit."
    others = "$ lit it\n--------\n\nOil   Gas\n---------\n\nIt went out.\n------------\n\nlamp --all the oil\n-----"
    document = read(place / "a.txt", f"{news}\n\n{others}")
    assert [heading[1:] for heading in document.headings] == [(1, "Lamps 1.2"), (2, "Fixes"), (1, "Lamps 1.1")]
    assert document.text == f"{news}\n\n{others}".replace("-----\nIt", "-----\n\nIt")


def test_lines_with_the_number_of_a_section_are_headings(place: Path) -> None:
    contents = "Lamps\n=====\n\n1.1. Oil\n\n1.2. Wicks"
    sections = (
        "1.1. Oil\n\n1. It burns.\n\n  1.2. Wicks\n\n1.2.1 Of cotton\n\nIt went out.\n\n2.5 lamps\n\n1.3 It is lit."
    )
    document = read(place / "a.txt", f"{contents}\n\n{sections}")
    assert [heading[1:] for heading in document.headings] == [
        (1, "Lamps"),
        (3, "1.1. Oil"),
        (3, "1.2. Wicks"),
        (4, "1.2.1 Of cotton"),
    ]


@pytest.mark.parametrize(
    ("bold", "heads"),
    [
        ("  * **1.1 What is it?**", ["Lamps", "1.1 What is it?"]),
        ("**Oil and gas**", ["Lamps", "Oil and gas"]),
        ("**It burns.**", ["Lamps"]),
        ("* **Lamp oil**\n\n* **Lamp gas**", ["Lamps", "Lamp gas"]),
    ],
)
def test_a_paragraph_of_markdown_in_bold_type_is_a_heading(place: Path, bold: str, heads: list[str]) -> None:
    document = read(place / "a.md", f"# Lamps\n\n{bold}\n\n  It is a lamp.\n")
    assert [heading.words for heading in document.headings] == heads


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


# ---------------------------------------------------------------- nothing is lost


def numbers(*cells: tuple[str, str]) -> str:
    """Rows of a sheet: a text beside a number, in the style of the row."""
    rows = (f'<c t="str"><v>{name}</v></c><c s="{n}"><v>{value}</v></c>' for n, (name, value) in enumerate(cells, 1))
    return "".join(f"<row>{row}</row>" for row in rows)


DISPLAYED = [
    ("0.0%", "0.255", "25.5%"),
    ("0%", "0.145", "15%"),
    ("#,##0", "41200", "41,200"),
    ("0.00", "1.005", "1.01"),
    ("0.0#", "2.5", "2.5"),
    ("[$€-2]\\ #,##0.00", "1200", "€ 1,200.00"),
    ("#,##0.00\\ [$€-407]", "-1200.5", "-1,200.50 €"),
    ('_-* #,##0.00 "kr"_-;-* #,##0.00 "kr"_-', "-7", "-7.00 kr"),
    ("$#,##0_);($#,##0)", "-5", "($5)"),
    ('"Yes";"No";"None"', "0", "None"),
    ('#,##0,"K"', "1234567", "1,235K"),
    ("00000", "123", "00123"),
    ('General" kg"', "5", "5 kg"),
    ("0.00E+00", "12345", "12345"),
    ("# ?/?", "0.5", "0.5"),
    ("000-00-0000", "123456789", "123456789"),
    ("0.00", "1e300", "1e300"),
    ("d mmm yyyy", "36526", "2000-01-01"),
    ("[h]:mm", "1.5", "36:00"),
    ("[h]:mm:ss;@", "0.25", "6:00:00"),
    ("[mm]:ss.0", "0.01", "14:24"),
    ('[h]" Std. "mm\\m', "-1.2", "-28 Std. 48m"),
    ("[s]", "0.001", "86"),
    ("[Red]h:mm", "0.5", "12:00:00"),
]


@table("code, value, text", DISPLAYED)
def test_a_number_of_a_sheet_is_read_as_it_is_displayed(place: Path, code: str, value: str, text: str) -> None:
    assert blocks(place / "a.xlsx", xlsx({"S": numbers(("It", value))}, formats=[code])) == ["S", f"It | {text}"]


def test_formats_without_a_code_are_those_of_excel(place: Path) -> None:
    book = xlsx({"S": numbers(("A", "0.255"), ("B", "1200"), ("C", "0.30000000000000004"))}, formats=["x", "y", "0.0"])
    for kind, other in ((200, 10), (201, 7), (202, 0)):
        book = replaced(book, f'<xf numFmtId="{kind}"/>', f'<xf numFmtId="{other}"/>')
    assert blocks(place / "a.xlsx", book) == ["S", "A | 25.50%", "B | $1,200.00", "C | 0.3"]


def replaced(archive: bytes, old: str, new: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(archive)) as parts:
        return zipped({name: parts.read(name).decode().replace(old, new) for name in parts.namelist()})


def test_a_merged_value_counts_in_each_row_and_column(place: Path) -> None:
    rows = [["Report", "", ""], ["Region", "2019", ""], ["", "Sales", "Cost"], ["North", "1", "2"], ["", "3", "4"]]
    cells = "".join(
        f'<row r="{n}">' + "".join(f'<c t="str"><v>{cell}</v></c>' for cell in row) + "</row>"
        for n, row in enumerate(rows, 1)
    )
    far = '<row r="1048576"><c r="B1048576"><v>9</v></c></row>'
    book = xlsx({"S": cells + far}, merged=["A1:C1", "B2:C2", "A2:A3", "A4:A1048576"])
    assert blocks(place / "a.xlsx", book) == [
        "S",
        "Report",
        "Region: North; 2019 Sales: 1; 2019 Cost: 2",
        "Region: North; 2019 Sales: 3; 2019 Cost: 4",
        "Region: North; 2019 Sales: 9",
    ]


def test_formulas_without_values_are_counted(place: Path) -> None:
    rows = '<row><c t="str"><f>A2</f><v></v></c><c><f>1+1</f></c><c><f>1+1</f><v>2</v></c></row>'
    document = read(place / "a.xlsx", xlsx({"S": rows}))
    assert (document.text, document.remarks) == ("S\n\n2", ("1 formula without values",))


def test_hidden_parts_of_a_workbook_are_counted(place: Path) -> None:
    rows = '<row><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row><row hidden="1"><c r="A2"><v>3</v></c></row>'
    columns = '<cols><col min="2" max="9" hidden="1"/></cols>'
    document = read(place / "a.xlsx", xlsx({"S": rows, "T": rows}, hidden=["T"], columns=columns))
    gone = tuple(f"1 hidden {what} left out" for what in ("sheet", "row", "column"))
    assert (document.text, document.remarks) == ("S\n\n1", gone)
    unseen = f'<table:table-row table:visibility="filter">{ods_cells("Bell", "7")}</table:table-row>'
    rows = ods_cells("Lamp", "9", "Hull"), unseen
    document = read(place / "a.ods", ods(*rows))
    assert (document.text, document.remarks) == ("S\n\nLamp | 9 | Hull", ("1 hidden row left out",))
    columns = '<table:table-column/><table:table-column table:visibility="collapse"/>'
    document = read(place / "a.ods", ods(*rows, columns=columns))
    assert document.text == "S\n\nLamp | Hull"
    assert document.remarks == ("1 hidden row left out", "1 hidden column left out")


def test_an_open_workbook_is_read_as_it_is_displayed(place: Path) -> None:
    head = (
        ods_cells("Region")
        + ods_cells("2019", about='table:number-columns-spanned="2"')
        + "<table:covered-table-cell/>"
    )
    names = "<table:covered-table-cell/>" + ods_cells("Share", "Time")
    head = head.replace("<table:table-cell office", '<table:table-cell table:number-rows-spanned="2" office', 1)
    north = ods_cells("North", "25.5%") + ods_cells("36:30", about='office:time-value="PT36H30M00S"')
    day = ods_cells("05.01.24", about='office:date-value="2024-01-05T10:00:00"')
    same = (
        ods_cells("1.200,00 €", about='table:number-columns-repeated="2"')
        + "<table:table-cell table:number-columns-repeated='16381'/>"
    )
    empty = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
    twice = f'<table:table-row table:number-rows-repeated="2">{ods_cells("Spit") + same}</table:table-row>'
    document = read(place / "a.ods", ods(head, names, north, ods_cells("South") + day, twice, empty))
    assert document.text.split("\n\n") == [
        "S",
        "Region: North; 2019 Share: 25.5%; 2019 Time: 36:30",
        "Region: South; 2019 Share: 2024-01-05 10:00:00",
        *["Region: Spit; 2019 Share: 1.200,00 €; 2019 Time: 1.200,00 €"] * 2,
    ]
    assert document.remarks == ()


def test_an_old_workbook_has_merged_values_durations_and_days(place: Path) -> None:
    document = read(place / "a.xls", XLS)
    assert document.text.split("\n\n") == [
        "S",
        "Report",
        "Region: North; Work: 36:00; Work: 0.255",
        "Region: North; Work: 6:00; Work: 2024-01-05",
        "Region: North; Work: 12:00:00; Work: 2024-01-05 13:30:00",
    ]
    assert document.remarks == ("percentages and currencies read as plain numbers",)


@pytest.mark.parametrize("kind", ["xls", "xlsb"])
def test_a_broken_workbook_of_another_kind_is_refused(place: Path, kind: str) -> None:
    assert "is damaged or encrypted" in refusal(place / f"a.{kind}", b"\xd0\xcf\x11\xe0" + bytes(600))


LEVELS = """<w:abstractNum xmlns:w="{0}" w:abstractNumId="90">
<w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:pStyle w:val="Heading1"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>
<w:lvl w:ilvl="2"><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%3)"/></w:lvl>
<w:lvl w:ilvl="3"><w:start w:val="4"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%4)"/></w:lvl>
<w:lvl w:ilvl="4"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>"""
LIST = '<w:num xmlns:w="{0}" w:numId="{1}"><w:abstractNumId w:val="90"/>{2}</w:num>'
AGAIN = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def contract(path: Path) -> None:
    """A document with clauses in two lists, hidden words, a comment and styles that are based on each other."""
    word = Writer()
    numbering = word.part.numbering_part.element
    numbering.insert(0, parse_xml(LEVELS.format(WORD)))
    for name, changes in ((91, ""), (92, AGAIN)):
        numbering.append(parse_xml(LIST.format(WORD, name, changes)))
    heading = word.styles["Heading 1"].element
    heading.get_or_add_pPr().get_or_add_numPr().get_or_add_numId().val = 91
    word.styles["Heading 2"].element.basedOn.val = "Heading3"
    word.styles["Heading 3"].element.basedOn.val = "Heading2"
    word.add_heading("Scope")
    clause(word, "It binds both.", 1)
    word.add_heading("Payment")
    for words, level in (
        ("Payment is due at once.", 1),
        ("Late payment costs 4%.", 1),
        ("In May.", 2),
        ("In June.", 2),
    ):
        clause(word, words, level)
    for words, level in (("Fourth.", 3), ("Dot.", 4), ("More.", 1), ("Again.", 2)):
        clause(word, words, level)
    clause(word, "Elsewhere.", 0, 92)
    clause(word, "Of no list.", 0, 93)
    paragraph = word.add_paragraph("Seen")
    paragraph.add_run(" and hidden").font.hidden = True
    paragraph.add_run(".")
    word.add_comment(paragraph.runs, "Really?")
    word.add_heading("Looped", 2)
    word.save(str(path))


def clause(word: WordDocument, words: str, level: int, name: int = 91) -> None:
    numbers = word.add_paragraph(words)._p.get_or_add_pPr().get_or_add_numPr()
    numbers.get_or_add_ilvl().val, numbers.get_or_add_numId().val = level, name


CLAUSES = [
    *("1. Scope", "1.1 It binds both.", "2. Payment", "2.1 Payment is due at once.", "2.2 Late payment costs 4%."),
    *("(a) In May.", "(b) In June.", "IV) Fourth.", "Dot.", "2.3 More.", "(a) Again.", "7. Elsewhere.", "Of no list."),
    *("Seen.", "Looped"),
]


def test_automatic_numbers_stand_before_clauses_and_hidden_words_are_counted(place: Path) -> None:
    contract(place / "a.docx")
    [document] = read_documents(place / "a.docx")
    assert document.text.split("\n\n") == CLAUSES
    assert [heading.words for heading in document.headings] == ["1. Scope", "2. Payment", "Looped"]
    assert document.remarks == ("1 hidden passage left out", "1 comment left out")
    assert keeps_the_laws(document, 20)


def test_a_numbered_clause_is_found_in_the_look_of_its_document(place: Path) -> None:
    contract(place / "a.docx")
    body = look_of(place / "a.docx", "word_document", ["2.2 Late payment costs 4%.", "", ""], 0)
    assert body is not None
    assert '<p><mark class="toulmin" id="marked">2.2 Late payment costs 4%.</mark></p>' in body
    assert "hidden" not in body


CHART = """<c:chart><c:title><a:t>Sales</a:t></c:title>
<c:ser><c:tx><c:v>North</c:v></c:tx>
<c:cat><c:pt idx="0"><c:v>2019</c:v></c:pt><c:pt idx="1"><c:v>2020</c:v></c:pt></c:cat>
<c:val><c:formatCode>0.0%</c:formatCode><c:pt idx="1"><c:v>0.255</c:v></c:pt></c:val></c:ser>
<c:ser><c:tx><c:v>South</c:v></c:tx><c:val><c:pt idx="0"><c:v>7</c:v></c:pt></c:val></c:ser></c:chart>"""


def test_a_slide_has_the_values_of_its_chart_and_its_notes(place: Path) -> None:
    notes = shape("Say this.", "And that.") + shape("3", placeholder="sldNum")
    document = read(place / "a.pptx", pptx([shape("First"), shape("Last") + "<p:pic/>"], CHART, notes))
    shown = "Last\n\nSales\n\n2019; South: 7\n\n2020; North: 25.5%\n\nNotes: Say this.\nAnd that."
    assert (document.text, document.pages) == (f"First\n\n{shown}", (0, 7))
    assert document.remarks == ("1 image without text",)


PICTURED = {
    "a.html": "<p>Lit.<img src=a><img src=b alt='A lamp'><img src=c alt=''><table><tr><th>A<th>B<tr><td>1"
    "<td>2 <img src=d></table><nav><img src=e></nav><p hidden>Gone.<p style='display: none'>Gone.<p hidden><i></i>",
    "a.odt": odt("<text:p>Lit.</text:p><text:p><image/><image/></text:p><text:p><image/></text:p>"),
    "a.epub": epub({"1": "<p>Lit.</p>"}, ["1"], pictures=3),
    "a.pdf": pdf([[*lines("Lit."), *map(Image, (90, 90, 30))], [*lines("Lit."), Image(90)]]),
}


@pytest.mark.parametrize("name", PICTURED)
def test_images_and_what_is_hidden_are_counted(place: Path, name: str) -> None:
    hidden = ["2 hidden passages left out"] if name == "a.html" else []
    assert read(place / name, PICTURED[name]).remarks == ("3 images without text", *hidden)


def mail(subject: str, text: str, *attached: tuple[str, bytes] | EmailMessage) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"] = "Ann <a@lamp.example>", subject
    message.set_content(text)
    for part in attached:
        if isinstance(part, EmailMessage):
            message.add_attachment(part)
        else:
            message.add_attachment(part[1], maintype="application", subtype="octet-stream", filename=part[0])
    return message


def test_attachments_and_mails_in_a_mail_are_documents_of_their_own(place: Path) -> None:
    contract(place / "a.docx")
    inner = mail("Within", "42 lamps.", ("notes.md", b"# Oil\n\nIt is dear."))
    files = [
        ("contract.docx", (place / "a.docx").read_bytes()),
        ("pic.jpg", b"\xff\xd8"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0"),
        ("notes.md", b"Wicks are cheap."),
    ]
    whole = mail("Outer", "See below.", inner, *files)
    whole["Date"] = "Mon, 02 Mar 2026 10:00:00 +0000"
    outer, *attached = read_all(place / "a.eml", bytes(whole))
    assert [(each.record, each.title) for each in attached] == [
        ("attached Within", "Within"),
        ("attached Within attached notes.md", "Oil"),
        ("attached contract.docx", "Scope"),
        ("attached notes.md", "Notes"),
    ]
    assert {each.path for each in attached} == {outer.path}
    assert (outer.record, outer.metadata.date, attached[1].metadata.date) == (None, "2026-03-02", "2026-03-02")
    assert not attached[1].metadata.is_file_date
    assert [heading.words for heading in attached[2].headings] == ["1. Scope", "2. Payment", "Looped"]
    assert "2.2 Late payment costs 4%." in attached[2].text
    assert outer.remarks == (
        "pic.jpg not read: is of an unknown kind",
        "a.xlsx not read: is encrypted, or an older .xls",
    )
    assert attached[2].remarks == ("contract.docx: 1 hidden passage left out", "contract.docx: 1 comment left out")


def test_attachments_of_one_name_are_told_apart_and_their_pages_are_counted(place: Path) -> None:
    plan = pdf([lines(["First page of the plan."]), lines(["Second page."])])
    files = ("plan.pdf", plan), ("plan.pdf", plan)
    _, first, second = read_all(place / "a.eml", bytes(mail("Plans", "Two.", *files)))
    assert (first.record, second.record) == ("attached plan.pdf", "attached plan.pdf (2)")
    assert [len(first.pages), first.text[first.pages[1] :].strip()] == [2, "Second page."]


@pytest.mark.parametrize("kind", ["b" * 400, "b\0", "..", "/../../x"])
def test_an_attachment_of_a_strange_name_leaves_the_mail_readable(place: Path, kind: str) -> None:
    whole = bytes(mail("Lamp", "It was lit in 1824.", ("plan.pdf", b"%PDF"))).replace(b"plan.pdf", f"a.{kind}".encode())
    document = read(place / "a.eml", whole)
    assert "It was lit in 1824." in document.text
    assert len(document.remarks) == 1
    assert not document.remarks[0].endswith(": ")


def test_the_words_of_others_in_a_mail_are_marked(place: Path) -> None:
    line = "The lamp was lit in the year of our lord eighteen hundred and eighty"
    text = f"I agree.\n\nBob wrote:\n> {line}\n> two.\n>\n>> Earlier.\n> Bye.\n\nAnn\n"
    assert blocks(place / "a.eml", bytes(mail("Re", text)))[1:] == [
        *("I agree.", "Bob wrote:", f"> {line} two.", ">> Earlier.", "> Bye.", "Ann")
    ]


def test_a_mail_nested_fifty_deep_is_read_to_the_tenth(place: Path) -> None:
    message = mail("0", "Deep.")
    for n in range(1, 51):
        message = mail(str(n), f"Level {n}.", message)
    mails = read_all(place / "a.eml", bytes(message))
    assert [each.title for each in mails] == [str(n) for n in range(50, 39, -1)]
    assert mails[-1].remarks == ("a mail not read: lies more than 10 mails deep",)


def test_a_mailbox_gives_a_document_a_mail(place: Path) -> None:
    mails = [bytes(mail(subject, f"About {subject}.")) for subject in ("oil", "wicks")]
    (place / "a.mbox").write_bytes(b"".join(b"From a@lamp.example\n" + each + b"\n" for each in [*mails, b"broken"]))
    documents = list(read_documents(place / "a.mbox"))
    assert [(document.title, document.record) for document in documents] == [
        ("oil", "1"),
        ("wicks", "2"),
        ("mail 3", "3"),
    ]
    assert documents[1].text.endswith("About wicks.")
    assert [document.remarks[0][:15] for document in documents[2:]] == ["mail 3 not read"]
    assert "holds no mail" in refusal(place / "a.mbox", "words")


def test_a_mail_of_outlook_has_its_date_its_sender_and_a_remark_on_what_is_attached_by_reference(place: Path) -> None:
    sent = datetime(2024, 5, 3, 10, tzinfo=UTC)
    parts = ("terms.csv", b"Name;Price\nLamp;7\nBell;9\n"), ("far.docx", b"")
    document, *prices = read_all(place / "a.msg", msg("Oil", "x" * 5_000, *parts, to=["Bob", "Eve"], sent=sent))
    assert "To: Bob <bob@lamp.example>, Eve <eve@lamp.example>" in document.text
    text = "Name: Lamp; Price: 7\n\nName: Bell; Price: 9"
    assert [(each.record, each.text) for each in prices] == [("attached terms.csv", text)]
    assert (document.title, document.metadata.authors, document.metadata.date) == ("Oil", ("Ann",), "2024-05-03")
    assert document.remarks == ("far.docx not read: is a mail within this one, or is kept elsewhere",)
    (place / "a.msg").write_bytes((place / "a.msg").read_bytes()[:3_000])
    assert "is a damaged mail" in refusal(place / "a.msg", (place / "a.msg").read_bytes())


CUES = """WEBVTT

00:00:01.000 --> 00:00:04.000 align:start
<v Ann>The lamp was lit
in the year

00:04.000 --> 00:06.000
of 1882. It burned

01:00:06.500 --> 01:00:08.000
oil &amp; gas.
"""


@pytest.mark.parametrize("kind", ["vtt", "srt"])
def test_the_cues_of_subtitles_are_sentences_with_their_time(place: Path, kind: str) -> None:
    document = read(
        place / f"a.{kind}", CUES if kind == "vtt" else CUES.replace(".000 ", ",000 ").replace("WEBVTT", "1")
    )
    assert document.text == "The lamp was lit in the year of 1882. It burned oil & gas."
    assert document.headings == (Heading(0, 1, "0:00:01"), Heading(29, 1, "0:00:04"), Heading(48, 1, "1:00:06"))
    assert "holds no subtitles" in refusal(place / f"a.{kind}", "words")


PLAIN = [Line(f"On day {n} the keeper wrote down the weather.", 72, 500 - 14 * n) for n in range(9)]


@table(
    "first, title",
    [
        ([Line("Working paper 7", 72, 760), Line("Lamps of the North:", 72, 720, 20), Line("A History", 72, 696, 20)],
         "Lamps of the North: A History"),
        ([Line("Σ", 72, 720, 40), Line("Lamps of the North", 72, 680, 18)], "Lamps of the North"),
        ([Line("Lamps of the North", 72, 680, 13)], "My notes"),
        ([Line("x" * 60, 72, 700 - 30 * n, 20) for n in range(4)], "My notes"),
        ([], "My notes"),
    ],
)  # fmt: skip
def test_a_pdf_without_a_title_has_that_of_its_first_page(place: Path, first: list[Line], title: str) -> None:
    (place / "my_notes.pdf").write_bytes(pdf([[*first, *PLAIN], PLAIN]))
    [document] = read_documents(place / "my_notes.pdf")
    assert document.title == title


def test_the_values_of_a_form_and_notes_on_a_page_are_read(place: Path) -> None:
    def field(name: str, more: str, x: int, y: int, kind: str = "Tx") -> str:
        return f"/Subtype /Widget /FT /{kind} /T ({name}) /Rect [{x} {y} {x + 100} {y + 20}] {more}"

    page = [Line("Name:", 100, 700), Line("City:", 300, 700)]
    fields = [
        field("nm", "/V (Ann Smith)", 150, 690),
        field("city", "/V (Deptford)", 340, 690),
        field("born", "/TU (Date of birth) /V (1 May 1980)", 150, 620),
        field("empty", "", 150, 590),
        field("agreed", "/V /Yes /AS /Yes", 150, 560, "Btn"),
        field("refused", "/V /Off /AS /Off", 150, 530, "Btn"),
        "/Subtype /Text /Contents (Check this.) /Rect [50 50 70 70]",
    ]
    (place / "form.pdf").write_bytes(pdf([page, [Line("The end.", 100, 700)]], annotations=fields))
    [document] = read_documents(place / "form.pdf")
    filled = ["Name: Ann Smith", "City: Deptford", "Date of birth: 1 May 1980", "agreed: Yes", "Note: Check this."]
    assert document.text.split("\n\n") == ["Name: City:", *filled, "The end."]
    assert document.pages == (0, document.text.index("The end."))
    assert document.remarks == ("1 form field without a label",)  # the box that is ticked has a name alone
    assert keeps_the_laws(document, 20)


@table(
    "source, text",
    [
        ("It costs ~~200~~ 260 euros.", "It costs 260 euros."),
        ("a ~ b and a ~~ b ~~ c", "a ~ b and a ~~ b ~~ c"),
        ("An *anemo*meter, un*believ*able and ab**sol**ute.", "An anemometer, unbelievable and absolute."),
        ("2*3*4 = 24", "2*3*4 = 24"),
        ("Year | Fuel\n--- | ---:\n1800 | oil", "Year: 1800; Fuel: oil"),
        ("| A | B |\n|---|---|\n| a \\| x | 2 |", "A: a | x; B: 2"),
        ("a | b is no table", "a | b is no table"),
    ],
)
def test_a_passage_of_markdown_shows_no_marks(place: Path, source: str, text: str) -> None:
    assert read(place / "a.md", source).text == text


def test_an_index_lists_what_it_did_not_read(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    contract(tmp_path / "docs" / "a.docx")
    report = update(tmp_path / "index", [tmp_path / "docs"])
    path = tmp_path / "docs" / "a.docx"
    assert report.notes == (f"{path}: 1 hidden passage left out", f"{path}: 1 comment left out")


def test_a_chapter_after_numbered_sections_ends_the_last_of_them(tmp_path: Path):
    path = tmp_path / "guide.txt"
    path.write_text(
        "1. The tower\n\nIt stands on a rock.\n\n1.1. Its lamp\n\nThe lamp was lit in 1824.\n\n"
        "2. The harbour\n\nThe harbour is older.\n\n4. Ships\n\nThey bring oil and rope.\n",
        "utf-8",
    )
    (document,) = read_documents(path)
    found = [(heading.level, document.text[heading.start :].split("\n")[0]) for heading in document.headings]
    assert found == [(1, "1. The tower"), (2, "1.1. Its lamp"), (1, "2. The harbour")]
