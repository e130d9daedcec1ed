"""Decodes bytes to text, and reads txt and md. Every loader sends its text through `repair_text`, so that it
can be stored as UTF-8.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from toulmin.data import Document
from toulmin.errors import SourceError

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNSTORABLE = re.compile("[\ud800-\udfff\0]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_FRONT_MATTER = re.compile(r"(?s)\A(---|\+\+\+)[^\S\n]*\n.*?^\1[^\S\n]*(?:\n|\Z)", re.MULTILINE)
_FENCE = re.compile(r"(?ms)^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)")
_HEADING = re.compile(r"(?m)^ {0,3}#{1,6}[^\S\n]+(.+)$|^ {0,3}(\S.*)\n {0,3}(?:=+|--+)[^\S\n]*$")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_LONGEST_TITLE = 300


def cannot_read(path: Path, came: str, remedy: str) -> SourceError:
    return SourceError(f"{repair_text(str(path))} {came}; {remedy}.")


def check_size(path: Path, size: int, limit: int) -> None:
    """Raises `SourceError` for more than `limit` bytes, and for none."""
    if size > limit:
        came = f"holds {size / 1e6:,.1f} MB, and at most {limit / 1e6:,.1f} MB are read"
        raise cannot_read(path, came, "split it, or raise the limit")
    if not size:
        raise empty(path)


def empty(path: Path) -> SourceError:
    return cannot_read(path, "is empty: text was expected", "remove it, or write something into it")


def repair_text(text: str) -> str:
    r"""The text with `\n` line ends; lone surrogates and null characters become U+FFFD."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isascii() and "\0" not in text else _UNSTORABLE.sub("\ufffd", text)


def as_title(text: str) -> str:
    """The text on one line of at most 300 characters."""
    return " ".join(repair_text(text[: 2 * _LONGEST_TITLE]).split())[:_LONGEST_TITLE].strip()


def title_from(path: Path) -> str:
    """A title made from a file's name: `annual_report.txt` gives "Annual report"."""
    spaced = repair_text(path.stem).replace("_", " ")
    title = " ".join(re.sub(r"(?<=[^\W\d])-(?=[^\W\d])", " ", spaced).split())
    return title[:1].upper() + title[1:] if title.islower() else title


def decode(data: bytes, path: Path, declared: str | None = None) -> str:
    """Decodes bytes by byte order mark, as UTF-8, as `declared`, or else as Windows-1252.

    Raises `SourceError` for binary content and if nothing fits.
    """
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if marked is None and b"\0" in data:
        raise cannot_read(path, "holds null bytes: text was expected, not binary content", "save it as UTF-8 text")
    tried = [marked] if marked else ["utf-8", *([declared] if declared else []), "cp1252"]
    for name in tried:
        text = _try_decode(data, name)
        if text is not None:
            return repair_text(text)
    came = f"cannot be decoded (tried {', '.join(tried)})"
    raise cannot_read(path, came, "save it as UTF-8 text")


def _try_decode(data: bytes, name: str) -> str | None:
    try:
        text = data.decode(name)
    except (UnicodeDecodeError, LookupError):
        return None
    # Windows-1252 decodes almost any bytes; control characters show that it is the wrong encoding.
    return None if name == "cp1252" and _CONTROL.search(text) else text


def read_text(path: Path, limit: int) -> str:
    """The decoded text of a file; raises `SourceError` without words or above `limit` bytes."""
    check_size(path, path.stat().st_size, limit)
    text = decode(path.read_bytes(), path)
    if not text.strip():
        raise empty(path)
    return text


def text_document(path: Path, limit: int) -> Document:
    """A text file; the title comes from the file's name."""
    return Document(read_text(path, limit), title_from(path), repair_text(str(path)))


def markdown_document(path: Path, limit: int) -> Document:
    """A Markdown file with its markup, without front matter; the title is its first heading."""
    text = _FRONT_MATTER.sub("", read_text(path, limit), count=1)
    if not text.strip():
        raise empty(path)
    return Document(text, _first_heading(text) or title_from(path), repair_text(str(path)))


def _first_heading(text: str) -> str:
    match = _HEADING.search(_FENCE.sub("", text))
    heading = as_title(match[1] or match[2]) if match else ""
    return _LINK.sub(r"\1", heading).replace("*", "").replace("`", "").rstrip("# ")
