"""What documents say of themselves, from the names and values of any format, and filters on it.

Filters that search only some documents: `contracts/*.md`, `tag:policy`, `after:2024-01-01`, `not:kind:pdf`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from pathlib import PurePath
from typing import Any, NamedTuple

from toulmin.data import Metadata
from toulmin.errors import UsageError

Fields = Sequence[tuple[str, Any]]
# The names of authors, date, version, language, DOI and tags in the formats that are read; the first date counts.
_NAMES = (
    "authors author creator dc.creator citation_author initial-creator from",
    "date datepublished article:published_time issued created creation-date creationdate modified moddate",
    "version softwareversion",
    "language lang inlanguage",
    "doi citation_doi dc.identifier prism.doi identifier",
    "tags keywords keyword article:tag subject",
)
_ISO = re.compile(r"(?:D:)?(\d{4})(?:[-/.]?(0[1-9]|1[0-2])(?:[-/.]?(0[1-9]|[12]\d|3[01]))?)?")
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>,;]*[^\W_]")
_MOST, _LONGEST = 50, 300  # authors or tags, and characters of each
_REMARKS = "remarks"  # kept beside the metadata


def metadata_of(fields: Fields) -> Metadata:
    """From names, in any case, and values: texts, or lists or objects with a `name` of them."""
    texts: dict[str, list[str]] = {}
    for name, value in fields:
        texts.setdefault(name.lower(), []).extend(_texts(value))
    authors, dates, *others, tags = ([t for name in names.split() for t in texts.get(name, ())] for names in _NAMES)
    version, language, _ = ("".join(values[:1]) for values in others)
    day, dois = next(filter(None, map(iso_date, dates)), ""), dois_in(" ".join(others[2]))
    language = language.replace("_", "-") if re.match("[A-Za-z]{2,3}(?![A-Za-z])", language) else ""
    return Metadata(_split(";", authors), day, False, version, language, _split("[,;]", tags), "".join(dois[:1]))


def dois_in(text: str) -> list[str]:
    """The distinct DOIs of a text, in small letters."""
    return list(dict.fromkeys(match.lower() for match in _DOI.findall(text)))


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for item in value[:_MOST] for text in _texts(item)]
    if isinstance(value, dict):  # of JSON-LD or CSL-JSON
        parts = ", ".join(filter(None, map(value.get, ("family", "given"))))
        value = value.get("name") or parts or value.get("literal")
    return [" ".join(str(value or "").split())[:_LONGEST]] if value else []


def _split(separator: str, texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(str.strip, re.split(separator, ";".join(texts))))))[:_MOST]


def iso_date(text: str) -> str:
    """The date at the beginning or in the words of a text: "2024", "2024-01" or "2024-01-05"; empty for none."""
    from toulmin.text.figures import figures  # not at the top: a search reads no date

    values = (fact.value for fact in figures(text) if fact.kind == "date")
    match = _ISO.match(text) or next(filter(None, map(_ISO.fullmatch, values)), None)
    return "-".join(filter(None, match.groups())) if match else ""


def _first_day(day: str) -> str:
    return day + "-01-01"[len(day) - 4 :]


@lru_cache(maxsize=20_000)  # the records of a file share one
def to_json(metadata: Metadata, remarks: tuple[str, ...] = ()) -> str:
    """Without empty fields; with the remarks on the document."""
    return json.dumps({name: value for name, value in {**asdict(metadata), _REMARKS: remarks}.items() if value})


@lru_cache(maxsize=20_000)
def changed_on(day: str, metadata: Metadata) -> Metadata:
    """With the day on which the file changed as its date."""
    return replace(metadata, date=day, is_file_date=True)


@lru_cache(maxsize=20_000)
def from_json(text: str) -> Metadata:
    fields: Any = {name: tuple(v) if isinstance(v, list) else v for name, v in json.loads(text).items()}
    fields.pop(_REMARKS, None)
    return Metadata(**fields)


def remarks_in(text: str) -> tuple[str, ...]:
    """Those of `to_json`."""
    return tuple(json.loads(text).get(_REMARKS, ()))


# ---------------------------------------------------------------- filters


class Candidate(NamedTuple):
    """What a filter looks at."""

    path: str
    title: str
    metadata: Metadata


_FORMS: Mapping[str, Callable[[str, Candidate], bool]] = {
    "tag": lambda word, one: word in map(str.casefold, one.metadata.tags),
    "author": lambda word, one: any(  # "Jane Smith" finds "Smith, Jane" too
        word in f"{name}\n{' '.join(reversed(name.split(', ')))}".casefold() for name in one.metadata.authors
    ),
    "title": lambda word, one: word in one.title.casefold(),
    "kind": lambda word, one: one.path.casefold().endswith(f".{word.lstrip('.')}"),
    "language": lambda word, one: f"{one.metadata.language.casefold()}-".startswith(f"{word}-"),
    "after": lambda day, one: bool(one.metadata.date) and _first_day(one.metadata.date) >= _first_day(day),
    "before": lambda day, one: bool(one.metadata.date) and _first_day(one.metadata.date) < _first_day(day),
}
_SHOWN = (
    "a path (contracts/*.md), tag:policy, author:smith, title:word, kind:pdf, language:de, after:2024-01-01 (that day"
    " too), before:2024-12; not: before any of them turns it round"
)


def select(every: Sequence[Candidate], only: Sequence[str]) -> tuple[list[int], str]:
    """Where those stand that pass every filter, and a note. Raises `UsageError` for a wrong filter, and for none."""
    paths = [one.path for one in every if one.path]
    # The folder that holds all: the first and the last in order have no more in common.
    root = os.path.commonpath([min(paths), max(paths)]) if paths else ""
    checks, asked = [_filter(text, root) for text in only], ", ".join(only)
    places = [place for place, one in enumerate(every) if all(check(one) for check in checks)]
    if not places:
        example = f" One of them is {_in_words(every[0])}." if every else ""
        raise UsageError(f"None of the {len(every):,} documents passes {asked}.{example}")
    return places, f"Asked of {len(places):,} of {len(every):,} documents: {asked}."


def _filter(text: str, root: str) -> Callable[[Candidate], bool]:
    plain = text.removeprefix("not:").strip()
    form, _, value = plain.partition(":")
    value = value.strip().casefold()
    if value and form in _FORMS and not (form in ("after", "before") and iso_date(value) != value):
        passes = partial(_FORMS[form], value)
    elif PurePath(plain).name and not re.match("[a-z]{2,}:", plain):
        passes = partial(_is_at, plain, root)
    else:
        raise UsageError(f"A filter should be {_SHOWN}; not {text!r}.")
    return lambda one: passes(one) != text.startswith("not:")


def _is_at(pattern: str, root: str, one: Candidate) -> bool:
    return PurePath(one.path).match(pattern) or fnmatchcase(one.path[len(root) :].lstrip("/\\"), pattern)


def _in_words(one: Candidate) -> str:
    named = {"author": one.metadata.authors, "date": [one.metadata.date], "tag": one.metadata.tags}
    fields = (f"{name}: {', '.join(values)}" for name, values in named.items() if any(values))
    return "; ".join([PurePath(one.path).name or one.title, *fields])
