"""Files that are made to hurt who reads them, by rule: small ones that cost memory or time without end."""

from __future__ import annotations

import zipfile
from io import BytesIO

from tests.pdf_writer import Line, pdf

_STYLES = '<w:p xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:r><w:t>{}</w:t></w:r></w:p>'


def forms(depth: int) -> bytes:
    """A PDF whose page draws a form that draws the next one twice, to this depth; at 0 it draws itself."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>"]
    objects.append(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /XObject << /X 6 0 R >>"
        " /Font << /F 5 0 R >> >> >>"
    )
    objects.append(_stream("/X Do /X Do BT /F 12 Tf 72 720 Td (The lamp was lit in 1871.) Tj ET"))
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for level in range(max(depth, 1)):
        inner = 6 if depth == 0 else 7 + level
        is_last = depth and level == depth - 1
        drawn = "BT /F 12 Tf 72 700 Td (Deep.) Tj ET" if is_last else "/X Do /X Do"
        names = "/Font << /F 5 0 R >>" if is_last else f"/XObject << /X {inner} 0 R >>"
        objects.append(_stream(drawn, f"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << {names} >>"))
    return _numbered(objects)


def _stream(content: str, names: str = "") -> str:
    return f"<< /Length {len(content)} {names} >>\nstream\n{content}\nendstream"


def _numbered(objects: list[str]) -> bytes:
    out, places = "%PDF-1.7\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n"
    return f"{out}{end}%%EOF".encode()


def long_line(letters: int) -> bytes:
    """A PDF of one line of letters without a space."""
    return pdf([[Line("The lamp was lit."), Line("a" * letters, y=700, size=0.01)]])


def formatted(tags: int, closing: str = "") -> bytes:
    """A page whose formatting tags are never closed, so that each paragraph opens them all again."""
    opened = "".join(f"<b id={n}>{closing}" for n in range(tags))
    return f"<p>The lamp was lit.{opened}{'<p>x' * tags}".encode()


def swollen(name: str = "word/media/picture.bin", megabytes: int = 600) -> bytes:
    """A Word document with a part that unpacks to so much."""
    import docx

    file, out = BytesIO(), BytesIO()
    document = docx.Document()
    document.add_paragraph("The lamp was lit.")
    document.save(file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename == "[Content_Types].xml":
                data = data.replace(b"</Types>", b'<Default Extension="bin" ContentType="a/b"/></Types>')
            if entry.filename == "word/_rels/document.xml.rels":
                kind = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"
                one = b'<Relationship Id="x" Type="%s" Target="%s"/>' % (kind, name.removeprefix("word/").encode())
                data = data.replace(b"</Relationships>", one + b"</Relationships>")
            new.writestr(entry.filename, data)
        with new.open(name, "w", force_zip64=True) as part:
            for _ in range(megabytes):
                part.write(bytes(1 << 20))
    return out.getvalue()
