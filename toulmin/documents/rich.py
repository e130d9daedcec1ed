"""RTF: the words of a rich text, without its fonts, pictures and other instructions."""

from __future__ import annotations

import re
from pathlib import Path

from toulmin.data import Document
from toulmin.documents.plain import cannot_read, check_size, empty, repair_text, title_from

_TOKEN = re.compile(rb"\\([a-z]{1,32})(-?\d{1,9})? ?|\\'([0-9a-fA-F]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)")
_SIGNS = dict.fromkeys(("par", "sect", "page", "row"), "\n\n") | {"line": "\n", "tab": "\t", "cell": " | "}
_SIGNS |= {
    "emdash": "—",
    "endash": "–",
    "bullet": "•",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
}
_SYMBOLS = {b"~": "\u00a0", b"_": "-", b"\n": "\n\n", b"\r": "\n\n", b"\\": "\\", b"{": "{", b"}": "}"}
_UNSEEN = frozenset(
    "fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl footerr footerf"
    " footnote annotation listtable listoverridetable rsidtbl generator themedata datastore latentstyles xmlnstbl "
    "fldinst nonshppict bkmkstart bkmkend".split()
)


def rich_document(path: Path, limit: int) -> Document:
    """An RTF file's text without footnotes, blank lines between paragraphs; the title comes from the file's name."""
    check_size(path, path.stat().st_size, limit)
    data = path.read_bytes()
    if not data.startswith(b"{\\rtf"):
        raise cannot_read(path, "is no RTF: it should begin with {\\rtf", "save it again as RTF")
    lines = "\n".join(line.strip(" |\t") for line in repair_text(_words(data)).split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", lines).strip()
    if not text:
        raise empty(path)
    return Document(text, title_from(path), repair_text(str(path)))


def _words(data: bytes) -> str:
    parts: list[str] = []
    codepage, to_skip = "cp1252", 0
    hidden, fallback, groups = False, 1, list[tuple[bool, int]]()
    for token in _TOKEN.finditer(data):
        word, number, code, symbol, brace, run = token.groups()
        name, value = (word or b"").decode(), int(number or 0)
        if brace == b"{":
            groups.append((hidden, fallback))
        elif brace:
            hidden, fallback = groups.pop() if groups else (False, 1)
        elif name in _UNSEEN or symbol == b"*":
            hidden = True
        elif name == "uc":
            fallback = value
        elif name == "ansicpg" and number:
            codepage = f"cp{value}"
        elif not hidden:
            text = _text(name, value, code, symbol, run, codepage)
            if run or code:  # what stands in for a character, for programs without Unicode
                text, to_skip = text[to_skip:], max(0, to_skip - len(text))
            parts.append(text)
            to_skip = fallback if name == "u" else to_skip
    return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(name: str, value: int, code: bytes | None, symbol: bytes | None, run: bytes | None, codepage: str) -> str:
    if name == "u":
        return chr(value % 0x10000)
    try:
        return (bytes.fromhex(code.decode()) if code else run or b"").decode(codepage, "replace") or (
            _SIGNS.get(name, "") or _SYMBOLS.get(symbol or b"", "")
        )
    except LookupError:
        return (run or b"").decode("cp1252", "replace")
