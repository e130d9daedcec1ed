"""Reads the records of a file as a stream, field by field, so that every error names record and field.

A file contains one JSON object a line, a JSON list, or an object with a list under "data", by its first bytes. A name
with `.gz` is unpacked.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

from toulmin.documents.plain import cannot_read, empty, repair_text
from toulmin.documents.records import LONGEST, json_items, jsonl_items, open_record_file
from toulmin.errors import SourceError, cause_of

T = TypeVar("T")
Read = Callable[[str, Any], T]


@dataclass(frozen=True, slots=True)
class Record:
    """The `n`-th JSON object of a file, from 0; `is_listed`: in a JSON list (ALCE), not on a line.

    The methods take a value and its field as a path ("docs[2].title"), and raise `SourceError` for another kind of
    value. In words, lone surrogates and null characters become U+FFFD, unless `verbatim`.
    """

    path: Path
    where: str
    n: int
    fields: Mapping[str, Any]
    is_listed: bool = False
    verbatim: bool = False

    def get(self, name: str) -> Any:
        return self.fields.get(name)

    def optional(self, name: str, read: Read[T]) -> T | None:
        value = self.fields.get(name)
        return None if value is None else read(name, value)

    def words(self, field: str, value: Any) -> str:
        text = self._check(field, value, str, "words")
        return text if self.verbatim else repair_text(text)

    def nonblank_words(self, field: str, value: Any) -> str:
        text = self.words(field, value)
        if not text.strip():
            raise self.fault(field, "words", value)
        return text

    def name(self, field: str, value: Any) -> str:
        """Words or a whole number."""
        return str(value) if type(value) is int else repair_text(self.nonblank_words(field, value))

    def text(self, field: str, value: Any) -> str:
        """Words or a number."""
        return str(value) if type(value) in (int, float) else self.words(field, value)

    def _check(self, field: str, value: Any, kind: type[T], wanted: str) -> T:
        if not isinstance(value, kind):
            raise self.fault(field, wanted, value)
        return value

    def truth(self, field: str, value: Any) -> bool:
        return self._check(field, value, bool, "true or false")

    def entry(self, field: str, value: Any) -> Mapping[str, Any]:
        return self._check(field, value, dict, "an object")

    def objects(self, field: str, value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The objects of a list, each with its field."""
        for i, entry in enumerate(self.entries(field, value)):
            yield f"{field}[{i}]", self.entry(f"{field}[{i}]", entry)

    def entries(self, field: str, value: Any) -> list[Any]:
        return self._check(field, value, list, "a list")

    def all_words(self, field: str, value: Any) -> tuple[str, ...]:
        return tuple(self.words(f"{field}[{i}]", entry) for i, entry in enumerate(self.entries(field, value)))

    def names(self, field: str, value: Any) -> tuple[str, ...]:
        """Words or whole numbers, without repetitions."""
        entries = enumerate(self.entries(field, value))
        return tuple(dict.fromkeys(self.name(f"{field}[{i}]", entry) for i, entry in entries))

    def fault(self, field: str, wanted: str, value: Any) -> SourceError:
        return self.refusal(f"the field `{field}` should hold {wanted}, not {_describe(value)}")

    def refusal(self, problem: str, remedy: str = "fix or remove that record") -> SourceError:
        return cannot_read(self.path, f"cannot be read at {self.place}: {problem}", remedy)

    @property
    def place(self) -> str:
        record_id = next((self.fields[name] for name in ID_FIELDS if self.fields.get(name) is not None), None)
        return self.where if record_id is None else f"{self.where} (id {str(record_id)[:80]!r})"


ID_FIELDS = ("sample_id", "id", "_id", "example_id")


def id_of(record: Record) -> str:
    """The first of `ID_FIELDS` in the record, else its number, from 0."""
    ids = (record.optional(name, record.name) for name in ID_FIELDS)
    return next((record_id for record_id in ids if record_id is not None), str(record.n))


def begins_with(value: Any, kind: type) -> TypeGuard[list[Any]]:
    return isinstance(value, list) and bool(value) and isinstance(value[0], kind)


def _describe(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return f"{value[:40]!r}" if value.strip() else "blank text"
    names = {dict: "an object", list: "a list", bool: "true or false"}
    return names.get(type(value), f"the number {value}")


# ---------------------------------------------------------------- records of a file, and its digest


_BEGINNING = 1 << 20
_KEY = re.compile(r'[\s,]*"([^"\\]*)"\s*:\s*')
_OBJECTS = re.compile(r"\[\s*[{\]]")
_DECODER = json.JSONDecoder()


def records(path: Path) -> Iterator[Record]:
    """Raises `SourceError`, while iterated."""
    with readable(path):
        with open_record_file(path) as file:
            beginning = file.read(_BEGINNING).decode("utf-8-sig", "replace").lstrip()
        if not beginning:
            raise empty(path)
        is_listed = beginning.startswith("[") or (beginning.startswith("{") and _has_data(beginning))
        items = json_items(path, LONGEST) if is_listed else jsonl_items(path, LONGEST)
        for n, (where, fields) in enumerate(items):
            record = Record(path, where, n, fields if isinstance(fields, dict) else {}, is_listed)
            if not isinstance(fields, dict):
                raise record.refusal("an object with a `question` was expected")
            yield record


def digest(paths: Iterable[Path]) -> str:
    """The SHA-256, in hex, of the files' bytes, one after the other."""
    whole = hashlib.sha256()
    for path in paths:
        with readable(path), path.open("rb") as file:
            hashlib.file_digest(file, lambda: whole)
    return whole.hexdigest()


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns system errors into `SourceError`; refuses a pipe."""
    try:
        if path.exists() and not path.is_file():
            raise cannot_read(path, "is not a regular file", "name a file of questions, or a BEIR folder")
        yield
    except (OSError, ValueError) as error:
        raise cannot_read(
            path, f"cannot be opened ({cause_of(error)})", "check the name and that you may read it"
        ) from error


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
