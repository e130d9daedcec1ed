"""The records of a file of questions, read as a stream, and the fingerprint of the files.

A file holds one JSON object a line, or one JSON list, or an object with a list under "data"; which of them it is, its
beginning tells, not its name. A name that ends in `.gz` is unpacked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from toulmin.corpus.plain import cannot_read, empty
from toulmin.corpus.records import json_items, jsonl_items, opened
from toulmin.datasets.fields import Record

LONGEST = 200_000_000  # bytes of one record
_BEGINNING = 1 << 20
_DATA = re.compile(rb'"data"\s*:\s*\[')


def records(path: Path) -> Iterator[Record]:
    """The records of a file in order; raises `SourceError` for a file that cannot be read, while it is iterated."""
    with readable(path):
        is_listed = _is_list(path)
        items = json_items(path, LONGEST) if is_listed else jsonl_items(path, LONGEST)
        for n, (where, fields) in enumerate(items):
            record = Record(path, where, n, fields if isinstance(fields, dict) else {}, is_listed)
            if not isinstance(fields, dict):
                raise record.refusal("an object with a `question` was expected")
            yield record


def digest(paths: Iterable[Path]) -> str:
    """The SHA-256, in hex, over the bytes of the files, one after the other, as they are on disk."""
    whole = hashlib.sha256()
    for path in paths:
        with readable(path), path.open("rb") as file:
            while chunk := file.read(_BEGINNING):
                whole.update(chunk)
    return whole.hexdigest()


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns what the system says of a file that cannot be opened into our error; a pipe is no file."""
    try:
        if path.exists() and not path.is_file():
            raise cannot_read(path, "is not a regular file", "name a file of questions, or a BEIR folder")
        yield
    except (OSError, ValueError) as error:
        cause = (isinstance(error, OSError) and error.strerror) or str(error)
        raise cannot_read(path, f"cannot be opened ({cause})", "check the name and that you may read it") from error


def _is_list(path: Path) -> bool:
    """Whether a file is one JSON text with a list of records; in a line of its own, `question` would come first."""
    with opened(path) as file:
        beginning = file.read(_BEGINNING).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not beginning:
        raise empty(path)
    if beginning.startswith(b"["):
        return True
    data, question = _DATA.search(beginning), beginning.find(b'"question"')
    return data is not None and (question < 0 or data.start() < question)
