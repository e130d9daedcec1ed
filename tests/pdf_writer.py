"""Small PDFs for the tests: lines of any script at any place, in one composite font with a table to Unicode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """A line of print: its words, the place of its beginning in points, its size, and whether it runs upwards."""

    text: str
    x: float = 72
    y: float = 720
    size: float = 12
    runs_up: bool = False


@dataclass(frozen=True)
class Stroke:
    """A ruling line between two points."""

    x: float
    y: float
    to_x: float
    to_y: float


@dataclass(frozen=True)
class Image:
    """A grey square with this side, in points."""

    side: float


def lines(*texts: str, top: float = 720, x: float = 72, size: float = 12, leading: float = 14) -> list[Line]:
    """Lines under one another; an empty text leaves a gap."""
    return [Line(text, x, top - i * leading, size) for i, text in enumerate(texts) if text]


def printed(parts: Sequence[tuple[str, float, float]], x: float = 72, y: float = 720) -> list[Line]:
    """One line of parts: words, their size and how far they are raised."""
    line = []
    for text, size, rise in parts:
        line.append(Line(text, x, y + rise, size))
        x += len(text) * size / 2  # the width of every letter of the font
    return line


def pdf(
    pages: Sequence[Sequence[Line | Stroke | Image]],
    *,
    title: str = "",
    trailer: str = "",
    outline: Sequence[tuple[str, int]] = (),
    annotations: Sequence[str] = (),
    labels: str = "",
) -> bytes:
    """A PDF of these pages; `trailer` is put into the trailer dictionary as it is; `outline` has entries and pages;
    `annotations` are what stands in the dictionaries of those on the first page, fields of its form among them;
    `labels` is the number tree of printed page numbers.
    """
    glyphs = sorted({char for page in pages for line in page if isinstance(line, Line) for char in line.text})
    codes = {char: code for code, char in enumerate(glyphs, start=1)}
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /Identity-H"
        b" /DescendantFonts [4 0 R] /ToUnicode 5 0 R >>",
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Any /DW 500 /FontDescriptor 6 0 R"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
        _stream(_to_unicode(codes)),
        b"<< /Type /FontDescriptor /FontName /Any /Flags 4 /FontBBox [0 -200 1000 800] /Ascent 800"
        b" /Descent -200 /CapHeight 700 /StemV 80 /ItalicAngle 0 >>",
        b"<< /Title <feff" + title.encode("utf-16-be", "surrogatepass").hex().encode() + b"> >>",
    ]
    kids = []
    for page in pages:
        objects.append(_stream(b"\n".join(_shown(line, codes) for line in page)))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F 3 0 R >> >>"
            b" /Contents %d 0 R >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    if outline:
        root = len(objects) + 1
        last = root + len(outline)
        objects[0] = b"<< /Type /Catalog /Pages 2 0 R /Outlines %d 0 R >>" % root
        objects.append(b"<< /Type /Outlines /First %d 0 R /Last %d 0 R /Count %d >>" % (root + 1, last, len(outline)))
        for n, (words, at) in enumerate(outline, start=root + 1):
            after = b"/Next %d 0 R" % (n + 1) if n < last else b""
            objects.append(
                b"<< /Title (%s) /Parent %d 0 R /Dest [%s /Fit] %s >>" % (words.encode(), root, kids[at], after)
            )
    if labels:
        objects[0] = objects[0].removesuffix(b">>") + f"/PageLabels << /Nums [{labels}] >> >>".encode()
    if annotations:
        numbers = range(len(objects) + 1, len(objects) + 1 + len(annotations))
        listed = b" ".join(b"%d 0 R" % n for n in numbers)
        fields = b" ".join(b"%d 0 R" % n for n, words in zip(numbers, annotations, strict=True) if "/FT" in words)
        for n, entry in (
            (0, b"/AcroForm << /Fields [%s] >>" % fields),
            (int(kids[0].split()[0]) - 1, b"/Annots [%s]" % listed),
        ):
            objects[n] = objects[n].removesuffix(b">>") + entry + b" >>"
        objects += [f"<< /Type /Annot {words} >>".encode() for words in annotations]
    return _file(objects, trailer.encode())


def encrypted(pages: Sequence[Sequence[Line]]) -> bytes:
    """A PDF that asks for a password, which no one knows."""
    key = "0" * 32
    return pdf(pages, trailer=f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O ({key}) /U ({key}) >> /ID [(a) (a)]")


def _stream(content: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n" % len(content) + content + b"\nendstream"


def _shown(line: Line | Stroke | Image, codes: dict[str, int]) -> bytes:
    if isinstance(line, Stroke):
        return f"{line.x} {line.y} m {line.to_x} {line.to_y} l S".encode()
    if isinstance(line, Image):
        return b"q %f 0 0 %f 72 72 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q" % (line.side, line.side)
    glyphs = "".join(f"{codes[char]:04x}" for char in line.text)
    turn = "0 1 -1 0" if line.runs_up else "1 0 0 1"
    return f"BT /F {line.size} Tf {turn} {line.x} {line.y} Tm <{glyphs}> Tj ET".encode()


def _to_unicode(codes: dict[str, int]) -> bytes:
    entries = list(codes.items())
    blocks = []
    for i in range(0, len(entries), 100):
        rows = [f"<{code:04x}> <{char.encode('utf-16-be').hex()}>" for char, code in entries[i : i + 100]]
        blocks.append(f"{len(rows)} beginbfchar\n" + "\n".join(rows) + "\nendbfchar")
    head = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def"
    space = "1 begincodespacerange <0000> <ffff> endcodespacerange"
    return "\n".join([head, space, *blocks, "endcmap end end"]).encode()


def _file(objects: list[bytes], trailer: bytes) -> bytes:
    out, places = b"%PDF-1.7\n", []
    for n, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n" % n + content + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return out + (
        b"xref\n0 %d\n0000000000 65535 f \n" % size
        + table
        + b"trailer << /Size %d /Root 1 0 R /Info 7 0 R %s >>\nstartxref\n%d\n%%%%EOF" % (size, trailer, len(out))
    )
