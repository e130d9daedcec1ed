"""Record files: one document a record, streamed, since a file may be larger than memory.

    jsonl   one object a line with `text`, and optionally `title`, `url` and `_id` or `id` (BEIR)
    tsv     `id`, text, title, as DPR ships Wikipedia; a header may name another order
    json    a list of items, or {"data": [...]}, each with `docs` of `title` and `text` (ALCE)

Both JSON forms may hold records or items with `docs`. A record without an id gets a content id. Files may be gzipped.
One bad record refuses the whole file.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

import orjson

from toulmin.data import Document, content_id
from toulmin.documents.plain import cannot_read, empty, open_regular, repair_text
from toulmin.errors import SourceError

# ---------------------------------------------------------------- streaming a JSON list


_CHUNK = 1 << 20
_MARK = re.compile(r"[^ \t\r\n]")


def stream_list(file: IO[str], limit: int) -> Iterator[Any]:
    """Streams the values of a top-level list, or of the list under "data"; reads nothing after it.

    Raises `ValueError` for anything else, and for a value over `limit` characters.
    """
    stream = _Stream(file, limit)
    is_inner = stream.next_mark() == "{"
    if is_inner:
        _find_data(stream)
    stream.expect("[")
    if stream.next_mark() == "]":
        stream.expect("]")
    else:
        yield stream.value()
        while stream.expect(",", "]") == ",":
            yield stream.value()
    if not is_inner:
        stream.expect("")


def _find_data(stream: _Stream) -> None:
    stream.expect("{")
    while True:
        key = stream.value()
        stream.expect(":")
        if key == "data":
            return
        stream.value()
        stream.expect(",")


class _Stream:
    def __init__(self, file: IO[str], limit: int) -> None:
        self._file, self._limit = file, limit
        self._text, self._at, self._ended = "", 0, False
        self._decoder = json.JSONDecoder()

    def next_mark(self) -> str:
        while True:
            mark = _MARK.search(self._text, self._at)
            self._at = mark.start() if mark else len(self._text)
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._read_on()

    def expect(self, *marks: str) -> str:
        """Consumes one of these marks; "" is the end of the text."""
        mark = self.next_mark()
        if mark not in marks:
            wanted, actual = (" or ".join(repr(m) if m else "the end" for m in seen) for seen in (marks, [mark]))
            raise ValueError(f"{wanted} expected, found {actual}")
        self._at += len(mark)
        return mark

    def value(self) -> Any:
        self.next_mark()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except ValueError:
                # A value that is cut off looks damaged until the text has ended.
                if self._ended:
                    raise
            else:
                # A number at the end of the text read so far may continue.
                if end < len(self._text) or self._ended:
                    self._at = end
                    return value
            self._read_on()

    def _read_on(self) -> None:
        # At least doubles the text, so that a long value is not parsed too often.
        self._text, self._at = self._text[self._at :], 0
        if len(self._text) > self._limit:
            raise ValueError(f"longer than {self._limit / 1e6:,.1f} million characters, or damaged")
        more = self._file.read(max(_CHUNK, len(self._text)))
        self._ended = not more
        self._text += more


# ---------------------------------------------------------------- records


LONGEST = 20_000_000  # bytes of one record: JSON may take 30 times its size in memory
_SHORT, _SWELLING = 1_000_000, 100  # bytes that any gzip file may unpack to, and that it may for each of its own
_COLUMNS = ("id", "text", "title")
BIBLIOGRAPHIES = (".bib", ".ris", ".json")
"""Their endings; a file of JSON may be of another kind."""
_BEGINNING = 65_536  # bytes in which CSL-JSON is told from records
_CSL, _OURS = re.compile(rb'"(?:issued|family|DOI|container-title)"\s*:'), re.compile(rb'"(?:text|docs)"\s*:')


Item = tuple[str, Any]
"""Where a JSON value stands, in words, and the value."""


def is_bibliography(path: Path) -> bool:
    """By its ending; CSL-JSON by its beginning."""
    if path.suffix.lower() == ".json":
        with suppress(OSError), open_regular(path) as file:
            beginning = file.read(_BEGINNING)
            return _CSL.search(beginning) is not None and _OURS.search(beginning) is None
    return path.suffix.lower() in (".bib", ".ris")


def record_documents(path: Path, limit: int, form: str) -> Iterator[Document]:
    """The documents with words of a ".jsonl", ".tsv" or ".json" file; those of an ALCE file each once, none of a
    bibliography.

    `limit` counts bytes of a line, or characters of a JSON item.
    """
    if is_bibliography(path):
        return
    items = {".jsonl": jsonl_items, ".tsv": _tsv_items, ".json": json_items}[form](path, min(limit, LONGEST))
    documents = (document for document in _documents(path, items) if document.text.strip())
    first = next(documents, None)
    if first is None:
        raise empty(path)
    yield first
    yield from documents


# ---------------------------------------------------------------- records


def _documents(path: Path, items: Iterator[Item]) -> Iterator[Document]:
    seen: set[str] = set()
    for where, item in items:
        docs = item.get("docs") if isinstance(item, dict) else None
        if not isinstance(docs, list):
            yield _record(path, where, item)
            continue
        for n, doc in enumerate(docs, start=1):
            document = _record(path, f"{where}, document {n}", doc)
            content = content_id(document.title, document.text)
            if content not in seen:
                seen.add(content)
                yield document


def _record(path: Path, where: str, row: object) -> Document:
    if not isinstance(row, dict):
        raise _bad(path, where, f"an object was expected, not {_kind_in_words(row)}")
    text, title = row.get("text"), row.get("title") or ""
    if not isinstance(text, str) or not isinstance(title, str):
        name, value = ("title", title) if isinstance(text, str) else ("text", text)
        raise _bad(path, where, f"the field `{name}` should hold words, not {_kind_in_words(value)}")
    record_id = row.get("_id", row.get("id"))
    if not isinstance(record_id, str | int | None) or isinstance(record_id, bool):
        raise _bad(path, where, f"the field `_id` should hold words or a number, not {_kind_in_words(record_id)}")
    text, title, url = repair_text(text), " ".join(repair_text(title).split()), row.get("url")
    text = text if text.strip() else title
    record = repair_text("" if record_id is None else str(record_id)) or content_id(title, text)
    address = repair_text(url) if url and isinstance(url, str) else None
    return Document(text, title, repair_text(str(path)), address, record)


def _bad(path: Path, where: str, problem: str) -> SourceError:
    return cannot_read(path, f"is damaged at {where}: {problem}", "fix or remove that entry")


def _kind_in_words(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), "a number")


# ---------------------------------------------------------------- lines


class _UnpackedStream(io.RawIOBase):
    # What a gzip file holds, unless it swells without end.

    def __init__(self, path: Path, packed: IO[bytes]) -> None:
        self._path, self._packed, self._size = path, packed, 0
        self._file = gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._size += len(data)
        if self._size > _SHORT + _SWELLING * self._packed.tell():
            came = f"unpacks to more than {_SWELLING} times its size"
            raise cannot_read(self._path, came, "it may be made to harm: unpack it if you trust it")
        return len(data)


@contextmanager
def open_record_file(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed; raises `SourceError` if they are damaged or swell."""
    try:
        with path.open("rb") as file:
            yield io.BufferedReader(_UnpackedStream(path, file), _CHUNK) if path.suffix.lower() == ".gz" else file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise cannot_read(path, f"is damaged gzip ({error})", "fetch or compress it again") from error


def _lines(path: Path, limit: int) -> Iterator[tuple[int, str]]:
    with open_record_file(path) as file:
        for n, line in enumerate(iter(partial(file.readline, limit + 1), b""), start=1):
            if len(line) > limit and not line.isspace():
                raise _bad(path, f"line {n}", f"it is longer than {limit / 1e6:,.1f} MB")
            text = _line_text(path, n, line)
            if text.strip():
                yield n, text


def _line_text(path: Path, n: int, line: bytes) -> str:
    if b"\0" in line:
        raise cannot_read(path, f"holds null bytes at line {n}: text was expected", "save it as UTF-8 text")
    try:
        return line.decode("utf-8-sig" if n == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise cannot_read(path, f"is not UTF-8 at line {n}", "save it as UTF-8 text") from error


def jsonl_items(path: Path, limit: int) -> Iterator[Item]:
    """Raises `SourceError` for invalid JSON and a line over `limit` bytes."""
    for n, line in _lines(path, limit):
        try:
            yield f"line {n}", _loads(line)
        except (ValueError, RecursionError) as error:
            raise _bad(path, f"line {n}", f"one JSON object was expected ({error})") from error


def _loads(line: str) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        # Escaped lone surrogates are common in scraped text; the standard library accepts them, and they are replaced.
        return json.loads(line)


def _tsv_items(path: Path, limit: int) -> Iterator[Item]:
    columns: tuple[str, ...] = _COLUMNS
    for n, line in _lines(path, limit):
        fields = [_unquote(field) for field in line.split("\t")]
        header = tuple(field.strip().lower() for field in fields)
        if n == 1 and {"id", "text"} <= set(header):
            columns = header
        elif len(fields) < 2 or len(fields) > len(columns):
            problem = f"{len(columns)} fields parted by tabs were expected ({', '.join(columns)}), not {len(fields)}"
            raise _bad(path, f"line {n}", problem)
        else:
            row = dict(zip(columns, fields, strict=False))
            yield f"line {n}", {name: row.get(name, "") for name in _COLUMNS}


def _unquote(field: str) -> str:
    is_quoted = len(field) >= 2 and field[0] == field[-1] == '"' and '"' not in field[1:-1].replace('""', "")
    return field[1:-1].replace('""', '"') if is_quoted else field


def json_items(path: Path, limit: int) -> Iterator[Item]:
    """The values of a JSON list, or of the list under "data".

    Raises `SourceError` for damage and values over `limit` characters.
    """
    n = 0
    with open_record_file(path) as file, io.TextIOWrapper(file, "utf-8-sig") as text:
        try:
            for n, item in enumerate(stream_list(text, limit), start=1):
                yield f"item {n}", item
        except UnicodeDecodeError as error:
            raise cannot_read(path, f"is not UTF-8 at item {n + 1}", "save it as UTF-8 text") from error
        except (ValueError, RecursionError) as error:
            form = 'a list of items with `docs`, or {"data": [...]}, was expected'
            raise _bad(path, f"item {n + 1}", f"{form} ({error})") from error
