"""Small files of the office kinds, made by hand: what a reader of them may rely on, and no more."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from xml.sax.saxutils import escape, quoteattr

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


def xlsx(
    sheets: Mapping[str, str], strings: Sequence[str] = (), formats: Sequence[str] = (), merged: Sequence[str] = ()
) -> bytes:
    """A workbook of these sheets, each the XML of its rows; cell style n + 1 shows the n-th format."""
    merges = "".join(f'<mergeCell ref="{cells}"/>' for cells in merged)
    names = "".join(f'<sheet name="{escape(name)}" r:id="r{n}"/>' for n, name in enumerate(sheets))
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
        parts[f"xl/worksheets/s{n}.xml"] = f'<worksheet xmlns="{_SHEET}"><sheetData>{rows}</sheetData>' + (
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


def epub(chapters: Mapping[str, str], spine: Sequence[str], title: str = "") -> bytes:
    """A book whose chapters are bodies of pages, read in the order of the spine."""
    items = "".join(f'<item id="{name}" href="{name}%20.xhtml"/>' for name in chapters)
    order = "".join(f'<itemref idref="{name}"/>' for name in spine)
    about = f'<metadata><dc:title xmlns:dc="http://purl.org/dc/elements/1.1/">{title}</dc:title></metadata>'
    package = f"<package>{about}<manifest>{items}</manifest><spine>{order}</spine></package>"
    container = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    pages = {f"OEBPS/{name} .xhtml": f"<html><body>{body}</body></html>" for name, body in chapters.items()}
    return zipped({"META-INF/container.xml": container, "OEBPS/book.opf": package, **pages})
