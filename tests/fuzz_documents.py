"""Documents of every kind that is read, and pages of the web."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from fuzz_parsers import PART, Parser, written
from kinds_parts import epub, odt, pptx, shape, xlsx, zipped
from pdf_writer import lines, pdf

from toulmin.documents.html import page_document
from toulmin.documents.loaders import read_documents
from toulmin.documents.passages import cut


def document(name: str, data: bytes) -> None:
    for made in read_documents(written(name, data)):
        cut(made)


def archive(name: str, parts: Sequence[str], data: bytes) -> None:
    texts = zip(parts, data.decode("utf-8", "replace").split(PART.decode()), strict=False)
    document(name, zipped({part: text for part, text in texts if text}))


def any_archive(data: bytes) -> None:
    """The first byte chooses the kind."""
    kind = [*ARCHIVES][data[0] % len(ARCHIVES) if data else 0]
    document(f"a.{kind}", data[1:])


def parts_of(data: bytes, names: Sequence[str]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return PART.join(file.read(name) if name in file.namelist() else b"" for name in names)


PROSE = "The lamp was lit in 1871. It burns still;\nthree keepers lived there.\n\n- one item\n- another\n\n1. first\n"
MARKUP = {
    "txt": [PROSE, "TITLE\n=====\n\nA \u00ad line — “quoted”.\n\n    $ code\n\n| a | b |\n"],
    "md": [
        f"---\na: b\n---\n# Lamp\n\n{PROSE}\n**bold** _it_ `code` [link](http://a.b (c)) ![i](j)\n\n```py\nx\n```\n",
        "Head\n---\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n> quoted &amp; <b>tag</b> <!-- c -->\n\n[r]: http://a.b\n",
    ],
    "rst": [
        f"Lamp\n====\n\n{PROSE}\n.. code-block:: py\n   :a: b\n\n   x = 1\n\n``lit`` :ref:`a <b>` `c`_ [1]_ |d|\n",
        ".. image:: a\n   :alt: b\n\n.. note:: A **note**::\n\n    code\n\n.. [1] foot\n.. _t: http://a\n",
    ],
    "adoc": [f"= Lamp\n:a: b\n\n{PROSE}\n----\ncode\n----\n\nlink:a[b] <<c,d>> `e` +f+ *g* _h_\n\nterm:: words\n"],
    "man": [
        '.TH LAMP 1 "2020" "x"\n.SH NAME\nlamp \\- a \\fBlight\\fR\n.SH OPTIONS\n.TP\n.B \\-a \\(bu\nAll.\n.IP 1. 4\nx',
        ".Dd June\n.Dt LAMP 1\n.Os\n.Sh NAME\n.Nm lamp\n.Nd a light\n.Bl -tag\n.It Fl a Op Ar b\nAll \\[u2014].\n.El\n",
    ],
    "html": [
        f"<title>Lamp</title><nav>n</nav><h1>Lamp</h1><p>{PROSE}<table><caption>c</caption><tr><th>a<th>b<th>c<tr>"
        "<td>1<td>2<td>3</table><pre>x\n y</pre><ul><li>i</ul><div hidden>h</div>",
        "<meta charset=koi8-r><p style='display : none'>x</p><b><i>y</b>z&nbsp;&#0;"
        "<script>s</script><table><tr><td><table>",
    ],
    "rtf": ["{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0 A;}}{\\pard Lamp \\b x\\b0 \\'e9\\u8212?\\par}\\trowd a\\cell\\row}"],
    "eml": [
        f"From: A <a@b.c>\nTo: d@e.f\nDate: Mon, 1 Jan 2024 10:00:00 +0000\nSubject: =?utf-8?b?TGFtcA==?=\n\n{PROSE}",
        "From: a@b\nSubject: x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=q\n\n--q\nContent-Type:"
        " text/html; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n<p>a=E9</p>\n--q\n"
        "Content-Disposition: attachment; filename*=utf-8''a%20b.txt\nContent-Transfer-Encoding: base64\n"
        "\nTGFtcA==\n--q--\n",
    ],
    "csv": ['name;year\nlamp;1871\n"a ""b""\nc";2\n', "a,b,c\n1,2\n,,\n"],
    "py": ["# code\ndef a():\n    return 'é'\n"],
    "jsonl": [
        '{"_id": "1", "title": "Lamp", "text": "Lit."}\n{"text": "\\ud83d", "url": "http://a"}\n',
        '{"docs":[{"text":"a"}]}\n',
    ],
    "tsv": ['id\ttext\ttitle\n1\t"The ""lamp"""\tLamp\n', "1\ta\tb\n2\tc\n"],
    "json": ['[{"question":"Q?","docs":[{"title":"a","text":"b"}]}]', '{"a":[1,{}],"data":[{"text":"x","id":5}]}'],
}
ARCHIVES = {
    "odt": ["content.xml", "meta.xml"],
    "pptx": ["ppt/presentation.xml", "ppt/_rels/presentation.xml.rels", "ppt/slides/slide1.xml", "docProps/core.xml"],
    "xlsx": [
        "xl/workbook.xml",
        "xl/_rels/workbook.xml.rels",
        "xl/worksheets/s0.xml",
        "xl/sharedStrings.xml",
        "xl/styles.xml",
    ],
    "epub": ["META-INF/container.xml", "OEBPS/book.opf", "OEBPS/a .xhtml"],
    "docx": [
        "word/document.xml",
        "word/styles.xml",
        "word/_rels/document.xml.rels",
        "[Content_Types].xml",
        "_rels/.rels",
    ],
}


OPEN = "http://schemas.openxmlformats.org"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def word() -> bytes:
    """The least that is a Word document."""
    kinds = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{WORD}.{kind}+xml"/>'
        for name, kind in (("document", "document.main"), ("styles", "styles"))
    )
    rels = f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{kinds}'
    package, office = f"{OPEN}/package/2006", f"{OPEN}/officeDocument/2006/relationships"
    link = '<Relationships xmlns="{}/relationships"><Relationship Id="r1" Type="{}/{}" Target="{}"/></Relationships>'
    head = '<w:p><w:pPr><w:pStyle w:val="h1"/></w:pPr><w:r><w:t>Lamp</w:t></w:r></w:p>'
    cells = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    named = f'xmlns:w="{OPEN}/wordprocessingml/2006/main"'
    style = '<w:style w:type="paragraph" w:styleId="h1"><w:name w:val="heading 1"/></w:style>'
    text = "<w:p><w:r><w:t>It was</w:t><w:tab/><w:br/><w:t>lit.</w:t></w:r></w:p>"
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types">{rels}</Types>',
            "_rels/.rels": link.format(package, office, "officeDocument", "word/document.xml"),
            "word/document.xml": f"<w:document {named}><w:body>{head}{text}{cells}</w:body></w:document>",
            "word/_rels/document.xml.rels": link.format(package, office, "styles", "styles.xml"),
            "word/styles.xml": f"<w:styles {named}>{style}</w:styles>",
        }
    )


CELLS = '<row><c r="A1" t="s"><v>0</v></c><c r="C1" s="1"><v>45000.5</v></c></row>'
TABLE = "<table:table><table:table-row><table:table-cell>{}</table:table-cell></table:table-row></table:table>"
OFFICE: dict[str, Callable[[], bytes]] = {
    "docx": word,
    "odt": lambda: odt(
        '<text:h text:outline-level="2">Lamp</text:h><text:p>a<text:s/>b</text:p>' + TABLE.format("<text:p>c</text:p>")
    ),
    "pptx": lambda: pptx([shape("Lamp", "It was lit.")]),
    "xlsx": lambda: xlsx({"s": CELLS}, ["<t>lit</t>"], ["yyyy"]),
    "epub": lambda: epub({"a": "<h1>Lamp</h1><p>It was lit."}, ["a"], "Book"),
}
FORM_PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
    b"4 0 obj<</Length 88>>stream\n"
    b"BT /F 12 Tf 72 720 Td (The lamp was lit in) Tj 0 -14 Td (1871. It burns still-) Tj ET\nendstream endobj\n"
    b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n6 0 obj<</First 7 0 R/Last 7 0 R/Count 1>>endobj\n"
    b"7 0 obj<</Title(The lamp)/Parent 6 0 R/Dest[3 0 R/Fit]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
)


def text_parser(kind: str) -> Parser:
    seeds = [text.encode() for text in MARKUP[kind]]
    if kind == "txt":
        seeds += [PROSE.encode("utf-16"), "Größe, été".encode("cp1252")]
    return Parser(partial(document, f"a.{kind}"), seeds, is_confined=kind in ("html", "rtf", "eml"))


def pdf_parser() -> Parser:
    printed = pdf([lines("The lamp was lit.", "It burns.")], title="Lamp", outline=[("The lamp", 0)])
    return Parser(partial(document, "a.pdf"), [FORM_PDF, printed], is_confined=True)


def archive_parser(kind: str) -> Parser:
    names = ARCHIVES[kind]
    return Parser(partial(archive, f"a.{kind}", names), [parts_of(OFFICE[kind](), names)], is_confined=True)


def any_archive_parser() -> Parser:
    return Parser(any_archive, [bytes([n]) + OFFICE[kind]() for n, kind in enumerate(ARCHIVES)], is_confined=True)


def packed_parser() -> Parser:
    return Parser(partial(document, "a.jsonl.gz"), [gzip.compress(MARKUP["jsonl"][0].encode(), mtime=0)])


def page(data: bytes) -> None:
    """A page of HTML, of a charset that a mail names in the first line."""
    charset, _, rest = data.partition(b"\n")
    page_document(rest, Path("page"), charset.decode("latin-1"))


def page_parser() -> Parser:
    return Parser(page, [b"koi8-r\n" + text.encode() for text in MARKUP["html"]])


PARSERS: dict[str, Callable[[], Parser]] = {
    **{kind: partial(text_parser, kind) for kind in MARKUP},
    **{kind: partial(archive_parser, kind) for kind in ARCHIVES},
    "pdf": pdf_parser,
    "archive": any_archive_parser,
    "jsonl.gz": packed_parser,
    "page": page_parser,
}
