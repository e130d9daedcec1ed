"""Files that are made to hurt who reads them, by rule: of every kind that is read, the same ones on every machine."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.hostile_parts import formatted, forms, long_line
from tests.kinds_parts import epub, odt, pptx, shape, xlsx, zipped
from tests.pdf_writer import lines, pdf

WORDS = "The lamp was lit in 1871. "
# A text of about so many characters that costs a careless reader the square of its time, or many times its memory.
SHAPES: Mapping[str, Callable[[int], str]] = {
    "letters": lambda n: "a" * n,
    "brackets": lambda n: "[" * n,
    "links": lambda n: "[a](" * (n // 4),
    "tags": lambda n: "<b>" * (n // 3),
    "stars": lambda n: "*a" * (n // 2),
    "backticks": lambda n: "`" * n,
    "marks": lambda n: "a" + "\u0301" * n,
    "blanks": lambda n: f"a{' ' * n}b",
    "lines": lambda n: "a\n" * (n // 2),
    "quotes": lambda n: '"(' * (n // 2),
    "pipes": lambda n: "|a" * (n // 2) + "\n" + "|-" * (n // 2) + "|\n",
    "underlines": lambda n: "a\n=\n" * (n // 4),
    "dots": lambda n: "A. " * (n // 3),
    "unspaced": lambda n: "日" * n,
}
# Bytes that are no text, or text of another kind than they seem.
BYTES: Mapping[str, Callable[[random.Random], bytes]] = {
    "null": lambda chance: b"The lamp\0was lit.",
    "noise": lambda chance: chance.randbytes(20_000),
    "half_utf16": lambda chance: b"\xff\xfe" + WORDS.encode("utf-16-le") + b"a",
    "utf32": lambda chance: b"\xff\xfe\0\0" + chance.randbytes(401),
    "surrogates": lambda chance: WORDS.encode() + b"\xed\xa0\x80\xed\xb0\x80",
    "empty": lambda chance: b"",
}
HEADS = {"man": ".TH A 1\n.SH B\n", "eml": "From: a\nSubject: b\n\n", "rtf": "{\\rtf1 ", "html": "<p>", "py": "#"}
TEXTS = ("txt", "md", "rst", "adoc", "man", "html", "rtf", "eml", "csv", "py")
RECORDS = ("jsonl", "tsv", "json")


def hostile_files(folder: Path, letters: int = 200_000) -> list[Path]:
    """Writes at least 200 files into the folder; `letters` is the size of those that are long texts."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, data in _files(letters):
        paths.append(folder / name)
        paths[-1].write_bytes(data)
    return paths


def _files(letters: int) -> Iterator[tuple[str, bytes]]:
    for kind in (*TEXTS, *RECORDS):
        for shape_name, make in SHAPES.items():
            yield f"{shape_name}.{kind}", _text_file(kind, make(letters)).encode()
        for bytes_name, make_bytes in BYTES.items():
            yield f"{bytes_name}.{kind}", make_bytes(random.Random(f"{bytes_name} {kind}"))
    yield from _pages(letters)
    yield from _record_files(letters)
    yield from _archives(letters)
    yield from _pdfs(letters)


def _text_file(kind: str, text: str) -> str:
    if kind == "tsv":
        return "1\t" + text.replace("\n", " ")
    if kind in RECORDS:
        record = json.dumps({"text": text}, ensure_ascii=False)
        return f"[{record}]" if kind == "json" else record
    return HEADS.get(kind, "") + text


def _pages(letters: int) -> Iterator[tuple[str, bytes]]:
    yield "unclosed.html", formatted(letters // 44)
    yield "misclosed.html", formatted(letters // 44, "</i>")
    yield "nested.html", b"<div>" * (letters // 5)
    yield "tables.html", b"<table><tr><td>" * (letters // 15)
    yield "attributes.html", b"<p " + b" ".join(b"a%d=1" % n for n in range(letters // 8)) + b">x"
    yield "groups.rtf", b"{\\rtf1 " + b"{\\b " * (letters // 4)
    yield "numbers.rtf", b"{\\rtf1 \\u" + b"9" * letters + b" x}"
    parts = "".join(f"--{n}\nContent-Type: multipart/mixed; boundary={n + 1}\n\n" for n in range(2000))
    yield "nested.eml", f"From: a\nContent-Type: multipart/mixed; boundary=0\n\n{parts}".encode()
    yield "heads.eml", b"From: " + b"=?utf-8?q?a?= " * (letters // 14) + b"\n\nx"
    yield "addresses.eml", b"From: a\nTo: " + b"(a" * (letters // 2) + b"\n\nx"
    yield "rows.csv", b"a,b\n" + b"," * letters
    yield "quoted.csv", b'a,"' + b"b\n" * (letters // 2)


def _record_files(letters: int) -> Iterator[tuple[str, bytes]]:
    for kind in ("json", "jsonl"):
        yield f"deep.{kind}", b'{"text":' + b"[" * letters
        yield f"deep_objects.{kind}", b'{"a":' * (letters // 5)
        yield f"numbers.{kind}", b'{"text":"a","n":[' + b"{}," * (letters // 3) + b"0]}"
        yield f"long_number.{kind}", b'[{"text":"a","id":' + b"9" * letters + b"}]"
        yield f"half_pairs.{kind}", b'{"text":"' + b"\\ud83d" * (letters // 6) + b'"}'
    many = gzip.compress(b'{"text":"a"}\n' * (20 * letters), mtime=0)
    blanks = gzip.compress(b"\n" * (1000 * letters), mtime=0)
    for kind in RECORDS:
        yield f"many.{kind}.gz", many
        yield f"blanks.{kind}.gz", blanks
        yield f"cut.{kind}.gz", many[:-20]
        yield f"twice.{kind}.gz", blanks + b"x"


def _archives(letters: int) -> Iterator[tuple[str, bytes]]:
    for kind, make in _OFFICE.items():
        whole = make(WORDS)
        chance = random.Random(kind)
        yield f"cut.{kind}", whole[: len(whole) // 2]
        yield f"zeros.{kind}", whole[:30] + bytes(len(whole))
        for n in range(3):
            flipped = bytearray(whole)
            for at in chance.sample(range(len(whole)), 20):
                flipped[at] ^= 1 << chance.randrange(8)
            yield f"flipped_{n}.{kind}", bytes(flipped)
        yield f"letters.{kind}", make("a" * letters)
        yield f"ole.{kind}", b"\xd0\xcf\x11\xe0" + chance.randbytes(512)
        yield f"empty.{kind}", zipped({})
        yield f"entities.{kind}", zipped(dict.fromkeys(_MAIN[kind], _ENTITIES))
        yield f"deep.{kind}", zipped(dict.fromkeys(_MAIN[kind], "<a>" * 50_000))
        yield f"wide.{kind}", zipped(dict.fromkeys(_MAIN[kind], f"<a>{'<b/>' * letters}</a>"))
        yield f"bomb.{kind}", zipped({"bomb.bin": "0" * (1050 * letters)})


def _word(text: str) -> str:
    return (
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>'
        f"{text}</w:t></w:r></w:p></w:body></w:document>"
    )


def _docx(text: str) -> bytes:
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    rels = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    override = f'<Override PartName="/word/document.xml" ContentType="{kind}"/>'
    link = f'<Relationship Id="r1" Type="{office}" Target="word/document.xml"/>'
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types">{rels}{override}</Types>',
            "_rels/.rels": f'<Relationships xmlns="{package}/relationships">{link}</Relationships>',
            "word/document.xml": _word(text),
        }
    )


_OFFICE: Mapping[str, Callable[[str], bytes]] = {
    "docx": _docx,
    "odt": lambda text: odt(f"<text:p>{text}</text:p>"),
    "pptx": lambda text: pptx([shape(text)]),
    "xlsx": lambda text: xlsx({"s": '<row><c t="s"><v>0</v></c></row>'}, [f"<t>{text}</t>"]),
    "epub": lambda text: epub({"a": f"<p>{text}"}, ["a"]),
}
_MAIN = {
    "docx": ["[Content_Types].xml", "_rels/.rels", "word/document.xml"],
    "odt": ["content.xml"],
    "pptx": ["ppt/presentation.xml", "ppt/_rels/presentation.xml.rels"],
    "xlsx": ["xl/workbook.xml", "xl/_rels/workbook.xml.rels"],
    "epub": ["META-INF/container.xml"],
}
_ENTITIES = (
    '<!DOCTYPE a [<!ENTITY b0 "lamp">'
    + "".join(f'<!ENTITY b{n} "{f"&b{n - 1};" * 10}">' for n in range(1, 12))
    + "]><a>&b11;</a>"
)


def _pdfs(letters: int) -> Iterator[tuple[str, bytes]]:
    whole = pdf([lines(WORDS, WORDS)], title="Lamp", outline=[("Lamp", 0)])
    chance = random.Random("pdf")
    yield "forms.pdf", forms(24)
    yield "itself.pdf", forms(0)
    yield "line.pdf", long_line(letters // 5)
    yield "cut.pdf", whole[: len(whole) // 2]
    yield "noise.pdf", b"%PDF-1.7\n" + chance.randbytes(5000)
    yield "head.pdf", b"%PDF-1.7\n%%EOF"
    for n in range(8):
        flipped = bytearray(whole)
        for at in chance.sample(range(len(whole)), 30):
            flipped[at] ^= 1 << chance.randrange(8)
        yield f"flipped_{n}.pdf", bytes(flipped)
    yield "kids.pdf", whole.replace(b"/Kids [", b"/Kids [2 0 R ")
    yield "count.pdf", whole.replace(b"/Count 1", b"/Count 999999999")
    yield "box.pdf", whole.replace(b"[0 0 612 792]", b"[0 0 1e38 1e38]")
    yield "outline.pdf", whole.replace(b"/Title (Lamp)", b"/Title (Lamp) /Next 9 0 R /First 9 0 R")
    yield "nested.pdf", _page(b"[" * letters)
    yield "states.pdf", _page(b"q " * (letters // 2))
    yield "bomb.pdf", _page(zlib.compress(b" " * (1000 * letters)), b"/Filter /FlateDecode")
    yield "operators.pdf", _page(b"BT /F 12 Tf 72 720 Td " + b"(a) Tj " * (letters // 7) + b"ET")
    yield "far_apart.pdf", _page(b"BT /F 12 Tf " + b"99999 -99999 Td (a) Tj " * (letters // 23) + b"ET")


def slow_pdf(texts: int) -> bytes:
    """A page of so many texts, each in its place: a hundred thousand take seconds to read."""
    placed = (b"1 0 0 1 %d %d Tm (a%d) Tj " % (n % 600, n % 800, n) for n in range(texts))
    return _page(b"BT /F 1 Tf " + b"".join(placed) + b"ET")


def _page(content: bytes, about: bytes = b"") -> bytes:
    about += b"/Length %d" % len(content)
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        b"/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
        b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
        b"4 0 obj<<" + about + b">>stream\n" + content + b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
    )
