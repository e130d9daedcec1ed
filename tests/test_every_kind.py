"""One table of small files of every kind that is read: the text that each gives, where its words stand, and what must
not appear. A value that is missing from a file's text is missing from every answer.
"""

from __future__ import annotations

import gzip
import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import docx
import pytest
from kinds_parts import XLS, epub, ods, ods_cells, odt, pptx, shape, xlsx
from outlook_file import msg
from pdf_writer import Line, Stroke, lines, pdf, printed
from row_tables import table
from test_kinds import CHART, contract, mail

from toulmin.data import Document
from toulmin.documents.confined import Children
from toulmin.documents.loaders import SUFFIXES
from toulmin.documents.passages import page_at
from toulmin.formats.clean_text import page_of, record_in


class Case(NamedTuple):
    """A file: its name and content, blocks of its text in their order, a quote, its page, section or record, and words
    that are not in the text.
    """

    name: str
    content: bytes | str | Callable[[Path], None]
    blocks: Sequence[str]
    quote: str
    place: str = ""
    absent: Sequence[str] = ()


# ---------------------------------------------------------------- what is made by hand


def word(write: Callable[[docx.document.Document], None]) -> bytes:
    document, file = docx.Document(), BytesIO()
    write(document)
    document.save(file)
    return file.getvalue()


def with_power(document: docx.document.Document) -> None:
    paragraph = document.add_paragraph("The load is 10")
    paragraph.add_run("4").font.superscript = True
    paragraph.add_run(" newtons.")


def with_struck(document: docx.document.Document) -> None:
    paragraph = document.add_paragraph("It costs ")
    paragraph.add_run("200 ").font.strike = True
    paragraph.add_run("99 ").font.double_strike = True
    paragraph.add_run("260 euros.").font.strike = False


def with_table(document: docx.document.Document) -> None:
    made = document.add_table(3, 3)
    rows = [("Region", "2019", "2019"), ("Region", "Sales", "Cost"), ("North", "1,200", "7")]
    for row, texts in zip(made.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    made.cell(0, 1).merge(made.cell(0, 2)).text = "2019"
    made.cell(0, 0).merge(made.cell(1, 0)).text = "Region"


def with_note(path: Path) -> None:
    """A footnote, as Word stores it."""
    from toulmin.data import Answer, Citation, Claim, Passage, Quote
    from toulmin.formats.press import export_answer

    passage = Passage.of("It lost five seconds.", "The sea watch")
    claim = Claim("It was good.", (Citation(passage.id, Quote(0, 21, passage.text)),))
    path.write_bytes(export_answer(Answer("How?", "long", "best", "answered", (claim,), (passage,)), "docx"))


COLUMNS = [f"The left column has line {n} of the lamps" for n in range(6)] + ["and ends at 1824."]
OTHERS = [f"The right one has line {n} of the boats" for n in range(6)] + ["and ends at 1790."]


def columns(is_across: bool) -> bytes:
    left, right = lines(*COLUMNS, size=10), lines(*OTHERS, x=330, size=10)
    drawn = [line for row in zip_longest(left, right) for line in row if line] if is_across else [*left, *right]
    return pdf([drawn])


IN_COLUMNS = ["The left column has line 0 of the lamps The left", "ends at 1824.", "The right one has line 0"]
FIELDS = [
    "/Subtype /Widget /FT /Tx /T (nm) /Rect [150 690 250 710] /V (Ann Smith)",
    "/Subtype /Widget /FT /Tx /T (born) /TU (Date of birth) /Rect [150 620 250 640] /V (1 May 1980)",
    "/Subtype /Widget /FT /Btn /T (agreed) /Rect [150 560 250 580] /V /Yes /AS /Yes",
]
RULED = [Stroke(72, y, 400, y) for y in (715, 697, 679, 661)] + [Stroke(x, 661, x, 715) for x in (72, 180, 290, 400)]
GRID = [Line(text, x, y, 10) for y, row in ((702, "Year Fuel Cost"), (684, "1800 oil 7.5"), (666, "1850 gas 3.25"))
        for text, x in zip(row.split(), (76, 184, 294), strict=True)]  # fmt: skip
SHEET = (
    '<row r="1"><c t="str"><v>Name</v></c><c t="str"><v>Share</v></c><c t="str"><v>Price</v></c><c t="str"><v>Time</v>'
    '</c></row><row r="2"><c t="str"><v>Lamp</v></c><c s="1"><v>0.255</v></c><c s="2"><v>1200</v></c><c s="3"><v>1.5'
    '</v></c></row><row r="3"><c t="str"><v>Bell</v></c><c t="e"><v>#N/A</v></c><c><f>B2*2</f><v>0.51</v></c>'
    '<c t="b"><v>1</v></c></row>'
)
HEAD = "From: Ann <ann@lamp.example>\nTo: Bob\nDate: Mon, 1 May 2000 10:00:00 +0000\nSubject: Oil\n"
MIXED = ("The café of Zoë was lit. " * 3 + "\n").encode() + "It cost £7 in Málaga, said Señor Peña.\n".encode("latin-1")
CHINESE = "灯塔于一八二四年第一次点亮，守塔人记录了每天的天气和来往的船只。灯油每年花费四万一千二百元。"
GERMAN = "Der Turm wurde im Jahre 1824 für die Schifffahrt errichtet; die Kosten betrugen 41.200 Taler."
RUSSIAN = "Маяк был впервые зажжён третьего мая 1824 года, и смотритель записывал погоду каждый день."

# ---------------------------------------------------------------- the table

TEXTS = [
    Case("a.txt", "The tower was lit\nin 1824 and cost\n41,200 euros.\n\nIt fell.", ["It fell."], "41,200 euros"),
    Case("bom.txt", "It cost £7.".encode("utf-16"), ["It cost £7."], "£7", absent=["\ufeff"]),
    Case("utf8.txt", b"\xef\xbb\xbfIt cost \xc2\xa37.", ["It cost £7."], "£7", absent=["\ufeff"]),
    Case("gb.txt", CHINESE.encode("gb18030"), [CHINESE], "四万一千二百元"),
    Case("cp1252.txt", GERMAN.encode("cp1252"), [GERMAN], "41.200 Taler"),
    Case("cp1251.txt", RUSSIAN.encode("cp1251"), [RUSSIAN], "третьего мая 1824"),
    Case("mixed.txt", MIXED, ["The café of Zoë", "It cost £7 in Málaga, said Señor Peña."], "£7", absent=["Ã",
         "\ufffd"]),
    Case("hyphen.txt", "The light\u00adhouse stood.", ["The lighthouse stood."], "lighthouse", absent=["\u00ad"]),
    Case("a.md", "# Lamps\n\nIt cost **41,200** euros[^1].\n\n[^1]: In *1824*.\n\n## Oil\n\nTrain `oil`.", ["Lamps",
         "It cost 41,200 euros[1].", "[1] In 1824.", "Oil", "Train oil."], "Train oil", "Oil", ["**", "`"]),
    Case("struck.md", "It costs ~~200~~ 260 euros, or 10<sup>4</sup>.", ["It costs 260 euros, or 10^4."], "260", "",
         ["200"]),
    Case("notes.md", "It cost 5[^a][^2], [said][^2] Ann.\n\n[^a]: Not so.\n[^2]: In 1824.\n\n[x]: http://lamp.example",
         ["It cost 5[a][2], [said][2] Ann.", "[a] Not so.", "[2] In 1824."], "In 1824", absent=["^", "http"]),
    Case("table.md", "| Year | Fuel |\n|---|---|\n| 1800 | oil |\n| 1850 | gas |", ["Year: 1850; Fuel: gas"],
         "Fuel: gas"),
    Case("front.md", "---\ntitle: Lamps\ndraft: 99\n---\nIt was lit.", ["It was lit."], "lit", absent=["draft", "99"]),
    Case("a.rst",
         "Lamps\n=====\n\n.. note:: It cost *41,200* euros.\n\n.. image:: x.png\n\nOil\n---\n\nTrain oil [1]_.",
         ["Lamps", "It cost 41,200 euros.", "Oil", "Train oil."], "Train oil", "Oil", ["x.png", "[1]"]),
    Case("a.adoc", "= Lamps\n\n== Oil\n\nIt cost *41,200* euros.\n\n// hidden\n", ["Oil", "It cost 41,200 euros."],
         "41,200", "Oil", ["hidden", "*"]),
    Case("lamp.1", ".TH LAMP 1\n.SH NAME\nlamp \\- light\n.SH OPTIONS\n.TP\n\\fB\\-w\\fR\nburns 3\\-4 wicks",
         ["lamp - light", "-w: burns 3-4 wicks"], "3-4 wicks", "OPTIONS", ["\\f", ".TP"]),
    Case("bsd.8", ".Dd May 1\n.Dt LAMPD 8\n.Sh NAME\n.Nm lampd\n.Nd lights\n.Sh DESCRIPTION\nIt burns\n.Ar oil .",
         ["It burns oil."], "burns oil", "DESCRIPTION", [".Ar"]),
    Case("a.py", "LIMIT = 41_200  # euros\n", ["LIMIT = 41_200  # euros"], "41_200"),
    Case("a.toml", "[lamp]\nwicks = 4\n", ["[lamp]\nwicks = 4"], "wicks = 4"),
]  # fmt: skip
PAGES = [
    Case("a.html", "<title>Lamps</title><nav>Home</nav><h1>Lamps</h1><p>It cost 41,200<sup>3</sup> euros.<h2>Oil</h2>"
         "<p>Train<br>oil.<p style='display:none'>secret<script>x()</script>", ["It cost 41,200^3 euros.", "Oil",
         "Train\noil."], "Train", "Oil", ["Home", "secret", "x()"]),
    Case("table.html",
         "<table><tr><th rowspan=2>Region<th colspan=2>2019<tr><th>Sales<th>Cost<tr><td>North<td>1<td>2</table>",
         ["Region: North; 2019 Sales: 1; 2019 Cost: 2"], "2019 Cost: 2"),
    Case("struck.html", "<p>It costs <del>200</del><s>210</s><strike>99</strike>260 euros.",
         ["It costs 260 euros."], "260", absent=["200", "210", "99"]),
    Case("a.htm", '<meta charset="iso-8859-1"><p>Caf\xe9 &euro;7'.encode("latin-1"), ["Café €7"], "€7"),
    Case("a.epub", epub({"two": "<h1>Wick</h1><p>Of cotton.", "one": "<h1>Oil</h1><p>It cost 7."}, ["one", "two"],
         "Lamps"), ["Oil", "It cost 7.", "Wick", "Of cotton."], "Of cotton", "Wick"),
    Case("note.epub", epub({"a": "<p>It cost 41,200<a epub:type='noteref' href='#n'>1</a> euros.<p>Or 5."}, ["a"]),
         ["It cost 41,200[1] euros.", "Or 5."], "41,200", absent=["2001"]),
]  # fmt: skip
OFFICE = [
    Case("clauses.docx", contract, ["2.2 Late payment costs 4%.", "(a) In May.", "7. Elsewhere."], "costs 4%",
         "2. Payment", [" and hidden", "Really?"]),
    Case("power.docx", word(with_power), ["The load is 10^4 newtons."], "10^4", absent=["104"]),
    Case("note.docx", with_note, ["It was good.", "“It lost five seconds.”"], "It lost five seconds"),
    Case("struck.docx", word(with_struck), ["It costs 260 euros."], "260", absent=["200", "99"]),
    Case("table.docx", word(with_table), ["Region: North; 2019 Sales: 1,200; 2019 Cost: 7"], "Sales: 1,200"),
    Case("a.odt",
         odt("<text:h>Oil</text:h><text:p>It cost<text:s/>7<text:note><text:note-body><text:p>Not so.</text:p>"
         "</text:note-body></text:note> euros.</text:p><text:list><text:list-item><text:p>Train oil.</text:p>"
         "</text:list-item></text:list>"), ["Oil", "It cost 7 euros.", "Not so.", "Train oil."], "7 euros", "Oil"),
    Case("a.rtf", rb"{\rtf1\ansi{\*\generator Nobody;}It cost {\b 41,200} euros.\par Caf\'e9.}",
         ["It cost 41,200 euros.", "Café."], "41,200", absent=["Nobody", "\\"]),
    Case("raised.rtf", r"{\rtf1\ansi 10{\rtlch\af0 \super\insrsid1 4} N cost 41,200.\super 12\nosupersub  H{\sub 2}O}",
         ["10^4 N cost 41,200.[12] H2O"], "41,200", absent=["104"]),
    Case("raised.odt", odt('<style:style style:name="T"><style:text-properties style:text-position="super 58%"/>'
         '</style:style><text:p>10<text:span text:style-name="T">4</text:span> N</text:p>'), ["10^4 N"], "10^4"),
    Case("a.pptx", pptx([shape("Lamps"), shape("It was lit in 1824."), shape("Oil", "It cost 7.")]), ["Lamps",
         "It was lit in 1824.", "It cost 7."], "in 1824", "slide 2"),
    Case("chart.pptx", pptx([shape("First"), shape("Last") + shape("9", placeholder="sldNum")], CHART,
         shape("Say this.")), ["Sales", "2019; South: 7", "2020; North: 25.5%", "Notes: Say this."], "25.5%",
         "slide 2", ["0.255", "\n9"]),
    Case("a.xlsx", xlsx({"Prices": SHEET, "Empty": ""}, formats=["0.0%", "[$€-2]\\ #,##0.00", "[h]:mm"]), ["Prices",
         "Name: Lamp; Share: 25.5%; Price: € 1,200.00; Time: 36:00",
         "Name: Bell; Share: #N/A; Price: 0.51; Time: TRUE"], "36:00", "Prices", ["0.255", "B2*2"]),
    Case("hidden.xlsx", xlsx({"S": SHEET.replace('<row r="3"', '<row r="3" hidden="1"'), "T": SHEET},
         formats=["0%", "0", "[h]:mm"], hidden=["T"], columns='<cols><col min="3" max="3" hidden="1"/></cols>'), ["S",
         "Lamp | 26% | 36:00"], "36:00", "S", ["Bell", "1200", "T\n"]),
    Case("raised.xlsx", xlsx({"S": '<row r="1"><c t="s"><v>0</v></c></row>'}, strings=["<r><t>Load of 10</t></r>"
         '<r><rPr><vertAlign val="superscript"/></rPr><t>4</t></r><r><t> N</t></r>']), ["Load of 10^4 N"], "10^4", "S"),
    Case("merged.xlsx", xlsx({"S": SHEET.replace("<v>Bell</v>", "<v></v>")}, formats=["0%", "0", "[h]:mm"],
         merged=["A2:A3"]), ["Name: Lamp; Share: 26%", "Name: Lamp; Share: #N/A"], "Share: #N/A", "S"),
    Case("a.xls", XLS, ["Region: North; Work: 36:00; Work: 0.255", "Region: North; Work: 6:00; Work: 2024-01-05"],
         "36:00", "S"),
    Case("a.ods", ods(ods_cells("Name", "Share", "Time"), ods_cells("Lamp", "25,5 %") + ods_cells("36:30",
         about='office:time-value="PT36H30M"')), ["Name: Lamp; Share: 25,5 %; Time: 36:30"], "36:30", "S", ["PT36H"]),
    Case("a.csv", 'Name;Price\n"Lamp; new";"1.200,00"\nBell;7\n', ["Name: Lamp; new; Price: 1.200,00",
         "Name: Bell; Price: 7"], "1.200,00", absent=['"']),
    Case("notes.csv", "Prices of lamps\n\nName,2019,2020\nBell,7,8\n", ["Prices of lamps",
         "Name: Bell; 2019: 7; 2020: 8"], "2020: 8"),
]  # fmt: skip
PRINT = [
    Case("a.pdf", pdf([lines("It was lit in 1824."), lines("It cost 41,200 euros in all", "and a year's oil.")]),
         ["It was lit in 1824.", "It cost 41,200 euros in all and a year's oil."], "41,200", "page 2"),
    Case("across.pdf", columns(True), IN_COLUMNS, "ends at 1790", "page 1"),
    Case("apart.pdf", columns(False), IN_COLUMNS, "ends at 1790", "page 1"),
    Case("raised.pdf", pdf([printed([("It cost 10", 12, 0), ("4", 7, 4), (" euros.", 12, 0), ("12", 7, 4), (" H", 12,
         0), ("2", 7, -2), ("O", 12, 0)])]), ["It cost 10^4 euros.[12] H2O"], "10^4", "page 1", ["104", "euros.12"]),
    Case("form.pdf", pdf([[Line("Name:", 100, 700)], [Line("The end.", 100, 700)]], annotations=FIELDS),
         ["Name: Ann Smith", "Date of birth: 1 May 1980", "agreed: Yes", "The end."], "1 May 1980", "page 1"),
    Case("grid.pdf", pdf([[*RULED, *GRID]]), ["Year: 1800; Fuel: oil; Cost: 7.5", "Year: 1850; Fuel: gas; Cost: 3.25"],
         "Cost: 3.25", "page 1"),
    Case("heads.pdf", pdf([lines("The Lamp", "", text, "", str(n)) for n, text in enumerate(("One.", "Two.", "Three.",
         "Four."), 1)]), ["One.", "Two.", "Three.", "Four."], "Three.", "page 3", ["4"]),
    Case("outline.pdf", pdf([lines("Lamps", "They were lit."), lines("Oil", "It cost 7.")], outline=[("Lamps", 0),
         ("Oil", 1)]), ["They were lit.", "It cost 7."], "It cost 7", "page 2, Oil"),
    Case("divided.pdf", pdf([lines("The well-", "known light-", "house of 1914-", "18 stood.")]),
         ["The well-known lighthouse of 1914-18 stood."], "1914-18", "page 1"),
]  # fmt: skip
MAILS = [
    Case("a.eml", f"{HEAD}\nThe oil costs 7.\n\n> It was 6.\n", ["The oil costs 7.", "> It was 6."], "costs 7"),
    Case("html.eml", f"{HEAD}MIME-Version: 1.0\nContent-Type: text/html\n\n<p>It costs <b>7</b>.<style>x</style>",
         ["It costs 7."], "7."),
    Case("parts.eml", bytes(mail("Outer", "See below.", mail("Within", "42 lamps."), ("a.csv",
         b"Name,Price\nBell,7\n"), ("pic.jpg", b"\xff\xd8"))), ["See below.", "42 lamps.", "Name: Bell; Price: 7"],
         "Price: 7", "attached a.csv"),
    Case("coded.eml", "From: Ann\nSubject: =?utf-8?q?Caf=C3=A9?=\nMIME-Version: 1.0\nContent-Type: text/plain;"
         ' charset="iso-8859-1"\nContent-Transfer-Encoding: quoted-printable\n\nIt cost =A37.', ["It cost £7."], "£7"),
    Case("a.msg", msg("Oil", "It costs £7.\r\n\r\nBuy it.", ("notes.md", b"# Wicks\n\nOf cotton."), to=["Bob"]),
         ["From: Ann <ann@lamp.example>; To: Bob <bob@lamp.example>; Subject: Oil", "It costs £7.", "Buy it.",
         "Attached: notes.md", "Wicks"], "Of cotton", "Wicks, attached notes.md"),
    Case("a.mbox", b"".join(b"From a@b\n" + bytes(mail(each, f"About {each}.")) + b"\n" for each in ("oil", "wicks")),
         ["About oil.", "About wicks."], "About wicks", "record 2"),
    Case("a.vtt",
         "WEBVTT\n\n00:01.000 --> 00:04.000\n<v Ann>It was lit\nin 1824.\n\n01:00:02.000 --> 01:00:04.000\n&pound;7.",
         ["It was lit in 1824. £7."], "£7", "1:00:02", ["<v", "-->"]),
    Case("a.srt",
         "1\n00:00:01,000 --> 00:00:04,000\n{\\an8}It was <i>lit</i>.\n\n2\n00:00:05,000 --> 00:00:06,000\nIt cost 7.",
         ["It was lit. It cost 7."], "cost 7", "0:00:05", ["an8", "<i>"]),
]  # fmt: skip
ROWS = [{"_id": "d1", "title": "Oil", "text": "It cost 7."}, {"_id": 2, "title": "Wick", "text": "Of cotton, 41,200."}]
RECORDS = [
    Case("a.jsonl", "\n".join(map(json.dumps, ROWS)), ["It cost 7.", "Of cotton, 41,200."], "41,200", "record 2"),
    Case("a.jsonl.gz", gzip.compress("\n".join(map(json.dumps, ROWS)).encode()), ["It cost 7."], "It cost 7",
         "record d1"),
    Case("a.tsv", 'd1\tIt cost 7.\tOil\nd2\t"Of ""fine"" cotton."\tWick\n', ["It cost 7.", 'Of "fine" cotton.'],
         "fine", "record d2"),
    Case("a.tsv.gz", gzip.compress(b"text\tid\nIt cost 7.\td9\n"), ["It cost 7."], "cost 7", "record d9"),
    Case("a.json", json.dumps([{"question": "q", "docs": [{"title": "Oil", "text": "It cost 7."}]}]), ["It cost 7."],
         "cost 7", "record c9ff196de1143754", ["question"]),
    Case("a.json.gz", gzip.compress(json.dumps({"data": ROWS}).encode()), ["Of cotton, 41,200."], "41,200", "record 2"),
]  # fmt: skip
CASES = [*TEXTS, *PAGES, *OFFICE, *PRINT, *MAILS, *RECORDS]


@table("case", CASES, [case.name for case in CASES])
def test_a_file_gives_its_words_and_their_place(tmp_path_factory: pytest.TempPathFactory, case: Case):
    path = tmp_path_factory.mktemp("kinds") / case.name
    if callable(case.content):
        case.content(path)
    else:
        path.write_bytes(case.content if isinstance(case.content, bytes) else case.content.encode())
    with Children(1) as children:
        documents = list(children.documents_of(path)())
    text, end = "\n\n".join(document.text for document in documents), 0
    for block in case.blocks:
        assert block in text[end:], (block, text)
        end += text[end:].index(block) + len(block)
    assert [words for words in case.absent if words in text] == [], text
    (place,) = [place_of(document, case.quote) for document in documents if case.quote in document.text]
    assert place == case.place


def place_of(document: Document, quote: str) -> str:
    at = document.text.index(quote)
    above = [heading.words for heading in document.headings][: bisect_right([h.start for h in document.headings], at)]
    record = [record_in(document.record)] if document.record else []
    return ", ".join(filter(None, [page_of(document.path, page_at(at, document.pages)), *above[-1:], *record]))


def test_every_kind_that_holds_words_of_its_own_is_in_the_table():
    alike = "text markdown asciidoc man 2 3 4 5 6 7 xhtml xlsb".split()
    elsewhere = ["bib", "ris", "doc"]  # in test_bibliographies.py and test_old_word.py
    code = (
        "c cc cpp cs go h hpp java js jsx kt lua php pl r rb rs scala sh sql swift ts tsx cfg conf ini yaml yml".split()
    )
    endings = {"." + case.name.partition(".")[2] for case in CASES}
    assert SUFFIXES - endings == {f".{kind}" for kind in (*alike, *elsewhere, *code)}
