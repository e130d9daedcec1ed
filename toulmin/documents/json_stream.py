"""Streaming a JSON list"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Any

_CHUNK = 1 << 20
_MARK = re.compile(r"[^ \t\r\n]")


def stream_list(file: IO[str], limit: int) -> Iterator[Any]:
    """Streams the values of a top-level list, or of the list under "data" of a top-level object.

    What follows that list is not read. Raises `ValueError` for anything else, and for a value over `limit`
    characters.
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
        """Consumes one of these marks; the empty mark is the end of the text."""
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
        """At least doubles the text, so that a long value is not parsed too often."""
        self._text, self._at = self._text[self._at :], 0
        if len(self._text) > self._limit:
            raise ValueError(f"longer than {self._limit / 1e6:,.1f} million characters, or damaged")
        more = self._file.read(max(_CHUNK, len(self._text)))
        self._ended = not more
        self._text += more
