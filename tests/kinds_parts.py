"""Small files of the office kinds, made by hand: what a reader of them may rely on, and no more."""

from __future__ import annotations

import re
import zipfile
from base64 import b85decode
from collections.abc import Mapping, Sequence
from io import BytesIO
from xml.sax.saxutils import escape, quoteattr
from zlib import decompress

_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"


def zipped(parts: Mapping[str, str]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return file.getvalue()


def _relations(targets: Sequence[str]) -> str:
    kinds = [f"{_RELATIONS}/{re.sub(r'.*/|[^A-Za-z/].*', '', target)}" for target in targets]
    pairs = enumerate(zip(kinds, targets, strict=True))
    listed = "".join(f'<Relationship Id="r{n}" Type="{kind}" Target="{target}"/>' for n, (kind, target) in pairs)
    return f'<Relationships xmlns="{_PACKAGE}">{listed}</Relationships>'


def sheet_rows(rows: Mapping[int, Sequence[str]]) -> str:
    """The XML of these rows of words, by their numbers."""
    cells = {
        n: "".join(f'<c t="inlineStr"><is><t>{escape(words)}</t></is></c>' for words in row) for n, row in rows.items()
    }
    return "".join(f'<row r="{n}">{row}</row>' for n, row in cells.items())


def xlsx(
    sheets: Mapping[str, str],
    strings: Sequence[str] = (),
    formats: Sequence[str] = (),
    merged: Sequence[str] = (),
    hidden: Sequence[str] = (),
    columns: str = "",
) -> bytes:
    """A workbook of these sheets, each the XML of its rows, some of them hidden; cell style n + 1 shows the n-th
    format.
    """
    merges = "".join(f'<mergeCell ref="{cells}"/>' for cells in merged)
    states = dict.fromkeys(hidden, ' state="hidden"')
    names = "".join(
        f'<sheet name="{escape(name)}"{states.get(name, "")} r:id="r{n}"/>' for n, name in enumerate(sheets)
    )
    kinds = "".join(f'<numFmt numFmtId="{200 + n}" formatCode={quoteattr(kind)}/>' for n, kind in enumerate(formats))
    styles = "".join(f'<xf numFmtId="{200 + n}"/>' for n in range(len(formats)))
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_RELATIONS}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relations([f"worksheets/s{n}.xml" for n in range(len(sheets))]),
        "xl/sharedStrings.xml": f'<sst xmlns="{_SHEET}">' + "".join(f"<si>{text}</si>" for text in strings) + "</sst>",
        "xl/styles.xml": f'<styleSheet xmlns="{_SHEET}"><numFmts>{kinds}</numFmts>'
        f'<cellXfs><xf numFmtId="0"/>{styles}</cellXfs></styleSheet>',
    }
    for n, rows in enumerate(sheets.values()):
        parts[f"xl/worksheets/s{n}.xml"] = f'<worksheet xmlns="{_SHEET}">{columns}<sheetData>{rows}</sheetData>' + (
            f"<mergeCells>{merges}</mergeCells></worksheet>"
        )
    return zipped(parts)


def pptx(slides: Sequence[str], chart: str = "", notes: str = "") -> bytes:
    """A presentation of these slides, each the XML of its shapes; the last file is the first slide. The chart and the
    notes are those of the last one.
    """
    files = [f"slides/slide{len(slides) - n}.xml" for n in range(len(slides))]
    order = "".join(f'<p:sldId r:id="r{n}"/>' for n in range(len(slides)))
    head = f'xmlns:p="{_SLIDE}" xmlns:a="{_DRAWING}" xmlns:r="{_RELATIONS}"'
    return zipped(
        {
            "ppt/presentation.xml": f"<p:presentation {head}><p:sldIdLst>{order}</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": _relations(files),
            "ppt/slides/_rels/slide1.xml.rels": _relations(["../charts/chart.xml", "../notesSlides/notesSlide.xml"]),
            "ppt/charts/chart.xml": f'<c:chartSpace xmlns:c="{_CHART}" {head}>{chart}</c:chartSpace>',
            "ppt/notesSlides/notesSlide.xml": f"<p:notes {head}>{notes}</p:notes>",
            **{f"ppt/{file}": f"<p:sld {head}>{slide}</p:sld>" for file, slide in zip(files, slides, strict=True)},
        }
    )


def shape(*paragraphs: str, placeholder: str = "body") -> str:
    """A shape of a slide with these paragraphs."""
    texts = "".join(f"<a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p>" for text in paragraphs)
    kind = f'<p:nvSpPr><p:nvPr><p:ph type="{placeholder}"/></p:nvPr></p:nvSpPr>'
    return f"<p:sp>{kind}<p:txBody>{texts}</p:txBody></p:sp>"


def odt(body: str) -> bytes:
    """An OpenDocument text with this body; its prefixes are office, text, table and style."""
    names = " ".join(f'xmlns:{name}="{_ODF}:{name}:1.0"' for name in ("office", "text", "table", "style"))
    inner = f"<office:body><office:text>{body}</office:text></office:body>"
    return zipped({"content.xml": f"<office:document-content {names}>{inner}</office:document-content>"})


def ods(*rows: str, columns: str = "") -> bytes:
    """A workbook of one sheet S, each row the XML of its cells; its prefixes are office, text and table."""
    names = " ".join(f'xmlns:{name}="{_ODF}:{name}:1.0"' for name in ("office", "text", "table"))
    table = "".join(
        row if row.startswith("<table:table-row") else f"<table:table-row>{row}</table:table-row>" for row in rows
    )
    inner = f'<office:spreadsheet><table:table table:name="S">{columns}{table}</table:table></office:spreadsheet>'
    content = f"<office:document-content {names}><office:body>{inner}</office:body></office:document-content>"
    return zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content})


def ods_cells(*texts: str, about: str = 'office:value-type="string"') -> str:
    return "".join(f"<table:table-cell {about}><text:p>{escape(text)}</text:p></table:table-cell>" for text in texts)


# Written by xlwt: a title over three columns, a name over three rows and one over two columns, durations, 25.5%, days.
XLS = decompress(
    b85decode(
        "c-rk)O-NKx6#nj;XU>d&<1}MvFbsm0red@x0v!v=Rid^qvM6l^M{H(faAS+I%w-U?D%uG4x3SvvLnZxef&!%$K@ezB8&^R=3-xu*nfGY47dT)-"
        "@xI}nckg%4x%a$#&pYqVo0%@19lu*KhZSgs3rmIv8?rb>#bY&mpnk*Ps&#c!F&z9;@VIFsH{{__(d&HPL*DN>Xt<+4BME$@as-2DOC@9Bb;Mrr"
        "p+~U~O(Yer5>t$F@yajqgvgB|Z;R$*kuAbp5ZOe!v+6LWBW<<2%qTvjRZ3qmc-;G9^In+k2;wD2@tKP%qnn34>HeORPRHsyLV6)4K+)71OUBaN"
        "F2FSotnT>H-HAj<_ux8ops}H`Dx{a-2E4#9p+1qQk48g!5H~r!{G!6~I2q0&K%-3HyAcMyS$XJb*x}cgS0Mh!az6hLyqk93j^_}t<GpCG<qIfE"
        "?D#?|c6<?q&`SQ2MnN|M<G7@gG4f$&UM6r4E}(`ZQVIoXXKXN)9+FC5e=13AS1LU~%56l)z5E)KwCP)xHj5;k6q1ahMCzrIRD84w3%9<$Indi4"
        "IVQ}Ayecy<)GGE02F|ht85c{BI7Y8vpjIrli99ExZkBq5$N*{5wYoiMR`!pI&Uxvrrg?S<-bS`$)wfc8Y`)_`XzWv@hU$~8bEg86?;_)<q*aNM"
        "J^w~gr|Q&|%Z!H+>#EG;`$1&+Z;9Bg`Apvp^VCp+MSj8wr6Q-K#jC^X!}`ibUx_};Ov_r$De_lQ&9c>OY&Egv)jO?uWj*}pCeo#G%Gb!#PP+H`"
        "j+qFL;94;P&)_n>eL|KlvJaq-T0uO2p_%jQHdeZ6#k1;URfbo{%&L>sCQ<c=zO;O%-E$G6n^B<Tjxx~Dtod<Ink`v}FE1Q8aNxj!0|yS)1WJw^"
        "nWLs|9z6Lln{R&CS){V$d?xvC(TNoOhUl--J|yXy#&AyYQ-(Zcjipv;V|_1VbkXc-44_y17|1z(>CcGDzMoYa`qu6d%60ywT>SjY^Zx{-Dj1j"
    )
)


def epub(chapters: Mapping[str, str], spine: Sequence[str], title: str = "", pictures: int = 0) -> bytes:
    """A book whose chapters are bodies of pages, read in the order of the spine."""
    items = "".join(f'<item id="{name}" href="{name}%20.xhtml"/>' for name in chapters)
    items += '<item href="a.png" media-type="image/png"/>' * pictures
    order = "".join(f'<itemref idref="{name}"/>' for name in spine)
    about = f'<metadata><dc:title xmlns:dc="http://purl.org/dc/elements/1.1/">{title}</dc:title></metadata>'
    package = f"<package>{about}<manifest>{items}</manifest><spine>{order}</spine></package>"
    container = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    pages = {f"OEBPS/{name} .xhtml": f"<html><body>{body}</body></html>" for name, body in chapters.items()}
    return zipped({"META-INF/container.xml": container, "OEBPS/book.opf": package, **pages})
