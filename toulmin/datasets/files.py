"""Records of a file, and its digest."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from toulmin.datasets.fields import Record
from toulmin.documents.plain import cannot_read, empty
from toulmin.documents.records import json_items, jsonl_items, opened

LONGEST = 200_000_000  # bytes of one record
_BEGINNING = 1 << 20
_KEY = re.compile(r'[\s,]*"([^"\\]*)"\s*:\s*')
_OBJECTS = re.compile(r"\[\s*[{\]]")
_DECODER = json.JSONDecoder()


def records(path: Path) -> Iterator[Record]:
    """Raises `SourceError`, while iterated, for a file that cannot be read."""
    with readable(path):
        is_listed = _is_list(path)
        items = json_items(path, LONGEST) if is_listed else jsonl_items(path, LONGEST)
        for n, (where, fields) in enumerate(items):
            record = Record(path, where, n, fields if isinstance(fields, dict) else {}, is_listed)
            if not isinstance(fields, dict):
                raise record.refusal("an object with a `question` was expected")
            yield record


def digest(paths: Iterable[Path]) -> str:
    """The SHA-256, in hex, of the files' bytes on disk, one after the other."""
    whole = hashlib.sha256()
    for path in paths:
        with readable(path), path.open("rb") as file:
            while chunk := file.read(_BEGINNING):
                whole.update(chunk)
    return whole.hexdigest()


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns system errors into `SourceError`; a pipe is not a file."""
    try:
        if path.exists() and not path.is_file():
            raise cannot_read(path, "is not a regular file", "name a file of questions, or a BEIR folder")
        yield
    except (OSError, ValueError) as error:
        cause = (isinstance(error, OSError) and error.strerror) or str(error)
        raise cannot_read(path, f"cannot be opened ({cause})", "check the name and that you may read it") from error


def _is_list(path: Path) -> bool:
    with opened(path) as file:
        beginning = file.read(_BEGINNING).decode("utf-8-sig", "replace").lstrip()
    if not beginning:
        raise empty(path)
    return beginning.startswith("[") or (beginning.startswith("{") and _has_data(beginning))


def _has_data(text: str) -> bool:
    at = 1  # a record mostly has `question` before any list of objects
    while (key := _KEY.match(text, at)) and key[1] != "question":
        at = key.end()
        if key[1] == "data" and _OBJECTS.match(text, at):
            return True
        try:
            at = _DECODER.raw_decode(text, at)[1]
        except (ValueError, RecursionError):
            return False
    return False
