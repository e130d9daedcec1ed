"""Bibliographies beside documents: BibTeX, RIS and CSL-JSON, as Zotero and others export them.

An entry describes the file that it names: at that path or, where there is none, of that name in the folder of the
bibliography or below. The only entry of `paper.bib` or `paper.pdf.json` describes `paper.pdf` beside it. Else an entry
describes the documents with its DOI.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import orjson

from toulmin.data import Document, Metadata, content_id
from toulmin.documents.confined import Children
from toulmin.documents.loaders import SkippedFile
from toulmin.documents.metadata import Fields, from_json, metadata_of, to_json
from toulmin.documents.plain import as_title, cannot_read, counted, read_text
from toulmin.errors import SourceError

_RIS_FIELD = re.compile(r"(?m)^([A-Z][A-Z0-9])  -[ \t]*(\S.*)$")
_RIS = {"TI": "title", "T1": "title", "AU": "author", "A1": "author", "DA": "date", "PY": "date", "Y1": "date"}
_RIS |= {"DO": "doi", "KW": "tags", "LA": "language", "L1": "file", "L2": "file"}


class Entry(NamedTuple):
    """What a bibliography states of a work."""

    title: str = ""
    metadata: Metadata = Metadata()


class Bibliographies:
    """Those at the paths, which children read when an entry is first looked for; remarks on them are added."""

    def __init__(self, paths: Iterable[Path], children: Children, remarks: list[SkippedFile]) -> None:
        self._paths, self._children, self._remarks = sorted(paths), children, remarks

    def entry_for(self, path: str, doi: str) -> Entry:
        """An empty one if no bibliography describes the document."""
        whole = Path(normalize("NFC", path))
        names = (str(whole), str(whole.with_suffix("")), *(f"{folder}/**/{whole.name}" for folder in whole.parents))
        return next(filter(None, map(self._entries.get, (*names, doi))), Entry())

    def describe(self, document: Document) -> Document:
        """With what its entry states; a record of a file has none."""
        if document.record is not None or not document.path:
            return document
        title, about = self.entry_for(document.path, document.metadata.doi)
        stated = {field: value for field, value in asdict(about).items() if value}
        stated |= {"is_file_date": False} if about.date else {}
        return replace(document, title=title or document.title, metadata=replace(document.metadata, **stated))

    @cached_property
    def _entries(self) -> Mapping[str, Entry]:
        """By what names a document: its path, perhaps without its ending, folder and name, or DOI; the first counts."""
        entries: dict[str, Entry] = {}
        jobs = [(path, self._children.submit(path, f"{__name__}.read_entries")) for path in self._paths]
        for path, job in jobs:
            try:
                works, remarks = job.result()["works"], job.result()["remarks"]
            except SourceError as error:
                works, remarks = [], [str(error).removeprefix(f"{path} ")]
            self._remarks += [SkippedFile(str(path), remark) for remark in remarks]
            beside = [str(path.with_suffix(""))] if len(works) == 1 else []
            for title, metadata, files in works:
                about = from_json(metadata)
                for name in filter(None, (*(_place(path.parent, file) for file in files), *beside, about.doi)):
                    entries.setdefault(normalize("NFC", name), Entry(title, about))
        return entries


def _place(folder: Path, file: str) -> str:
    path = os.path.normpath(folder / file)
    return path if os.path.exists(path) else "/**/".join((str(folder), re.split(r"[/\\]", file)[-1]))


# ---------------------------------------------------------------- in a child


def read_entries(path: Path, most: int) -> Mapping[str, Any]:
    """Raises `SourceError` for a bibliography without entries."""
    read = {".bib": _bibtex, ".ris": _ris, ".json": _csl}[path.suffix.lower()]
    fields = list(read(read_text(path, most)))
    works = [_work(work) for work in fields if work]
    if not works:
        raise cannot_read(path, "holds no entries of a bibliography", "export it again")
    return {"works": works, "remarks": counted(len(fields) - len(works), "damaged reference", "left out")}


def _work(fields: Fields) -> tuple[str, str, list[str]]:
    titles, files = ([str(value) for name, value in fields if name == wanted] for wanted in ("title", "file"))
    title, about = as_title("".join(titles[:1])), metadata_of(fields)
    return title, to_json(replace(about, entry=content_id(title, to_json(about)))), list(filter(None, files))


def _ris(text: str) -> Iterator[Fields]:
    for record in re.split(r"(?m)^ER  -.*$", text)[:-1]:
        yield [(_RIS[tag], value) for tag, value in _RIS_FIELD.findall(record) if tag in _RIS]


def _csl(text: str) -> Iterator[Fields]:
    data = orjson.loads(text)
    for item in data if isinstance(data, list) else [data]:
        issued = item.get("issued") or {}
        parts = issued.get("date-parts", [()])[0]
        yield [*item.items(), ("date", "-".join(str(part).zfill(2) for part in parts) or issued.get("raw"))]


def _bibtex(text: str) -> Iterator[Fields]:
    """Nothing for a damaged block."""
    from bibtexparser import middlewares, parse_string  # type: ignore[attr-defined] # for these files alone

    library = parse_string(text, append_middleware=[middlewares.MonthIntMiddleware()])
    for entry in library.entries:
        fields = defaultdict(str, {field.key.lower(): str(field.value) for field in entry.fields})
        month = f"-{int(fields['month']):02}" if fields["month"].isdecimal() else ""
        yield [
            ("date", fields["date"] or fields["year"] + month),
            *((name, _without_tex(fields[name])) for name in ("title", "doi", "keywords", "language", "version")),
            *_authors(fields["author"]),
            *_files(fields["file"]),
        ]
    yield from [()] * len(library.failed_blocks)


def _authors(text: str) -> Fields:
    from bibtexparser.middlewares.names import parse_single_name_into_parts, split_multiple_persons_names

    names = (parse_single_name_into_parts(name, strict=False) for name in split_multiple_persons_names(text))
    return [("author", _without_tex(name.merge_last_name_first)) for name in names if name.last != ["others"]]


def _files(text: str) -> Fields:
    """Each is "its title:its path:its kind" or a path."""
    parts = (re.split(r"(?<!\\):", link.strip()) for link in re.split(r"(?<!\\);", text))
    paths = (link[1] if len(link) > 2 else ":".join(link) for link in parts)
    return [("file", re.sub(r"\\([:;\\])", r"\1", path)) for path in paths]


def _without_tex(text: str) -> str:
    from pylatexenc.latex2text import LatexNodes2Text  # type: ignore[import-untyped]

    if "\\" in text:
        text = LatexNodes2Text(strict_latex_spaces=True).latex_to_text(text, tolerant_parsing=True)
    return re.sub("[{}]", "", text).replace("~", " ")
