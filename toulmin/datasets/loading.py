"""Reads datasets of all forms, BEIR folders, and ALCE's result files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, NamedTuple

from toulmin.data import Passage
from toulmin.datasets.fields import Record, digest, id_of, readable, records
from toulmin.datasets.from_records import QUERIES, form_of, item_of
from toulmin.datasets.item import Dataset, Item
from toulmin.documents.plain import cannot_read
from toulmin.documents.records import open_record_file
from toulmin.errors import SourceError, UsageError, unknown_name

# ---------------------------------------------------------------- BEIR folders


_SPLITS = ("test", "dev", "train")
_HEADER = ["query-id", "corpus-id", "score"]


class Folder:
    """A BEIR folder: `queries.jsonl`, `corpus.jsonl` and, for each split, `qrels/SPLIT.tsv`; each may be gzipped.

    The default split is the first of test, dev and train. Raises `SourceError` for another folder, `UsageError` for a
    missing split.
    """

    def __init__(self, path: Path, split: str | None) -> None:
        self.queries, self.corpus = (_data_file(path, f"{name}.jsonl") for name in ("queries", "corpus"))
        files = [*path.glob("qrels/*.tsv"), *path.glob("qrels/*.tsv.gz")]
        known = {file.name.removesuffix(".gz").removesuffix(".tsv"): file for file in sorted(files, reverse=True)}
        if not known:
            raise _not_beir(path, "qrels/SPLIT.tsv")
        if split is None:
            split = next((name for name in _SPLITS if name in known), min(known))
        elif split not in known:
            raise unknown_name(f"split of {path}", split, known)
        self.qrels = known[split]

    def records(self) -> Iterator[Record]:
        """The queries of the split, in file order, with `relevant` records."""
        relevant = _judgements(self.qrels)
        missing = dict.fromkeys(relevant)
        for record in records(self.queries):
            name = id_of(record)
            if name in relevant:
                missing.pop(name, None)
                yield replace(record, fields={**record.fields, "relevant": relevant[name]})
        if missing:
            problem = f"judges the query {next(iter(missing))!r}, which {self.queries.name} does not hold"
            raise cannot_read(self.qrels, problem, "fetch the folder again, or remove those lines")


def _data_file(path: Path, name: str) -> Path:
    for file in (path / name, path / f"{name}.gz"):
        if file.is_file():
            return file
    raise _not_beir(path, name)


def _not_beir(path: Path, missing: str) -> SourceError:
    came = f"is a folder without {missing}, which a dataset in a folder needs (BEIR)"
    return cannot_read(path, came, "name a file of questions, or a BEIR folder")


def _judgements(path: Path) -> dict[str, list[str]]:
    relevant: dict[str, list[str]] = {}
    with readable(path), open_record_file(path) as file:
        for n, line in enumerate(file, start=1):
            try:
                fields = [field.strip() for field in line.decode("utf-8-sig" if n == 1 else "utf-8").split("\t")]
                if fields == [""] or (n == 1 and fields == _HEADER):
                    continue
                query, record, score = fields
                relevant.setdefault(query, []).extend([record] if float(score) > 0 else [])
            except ValueError as error:
                wanted = f"{', '.join(_HEADER)} (a number) separated by tabs, in UTF-8, were expected"
                raise cannot_read(
                    path, f"is damaged at line {n}: {wanted}, not {line[:80]!r}", "fix or remove that line"
                ) from error
    return relevant


# ---------------------------------------------------------------- loading


def read(path: str | os.PathLike[str], *, limit: int | None = None, split: str | None = None) -> Dataset:
    """The first `limit` questions of a file or a BEIR folder.

    The fields of the first record decide the form, not the file's name. `split` selects records by their field `split`,
    or a BEIR folder's judgements (default: test, dev or train). A question without an id gets its record's number, from
    0. Unknown fields stay in `Item.record`.

    Raises `SourceError`, naming record and field, for an unreadable or misspelt field, a repeated id or no questions;
    `UsageError` for an unknown split or a `limit` below 1.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"The limit should be a number of questions from 1, not {limit}; leave it out to read all.")
    place, name = Path(path), os.fspath(path)
    if place.is_dir():
        folder = Folder(place, split)
        first = islice(_items(place, folder.records(), QUERIES), limit)
        sha256 = digest(sorted([folder.queries, folder.corpus, folder.qrels]))
        return Dataset(name, "beir", sha256, tuple(item for item, _ in first), str(folder.corpus))
    form, file_records = _detect_form(place, records(place))
    chosen = file_records if split is None else _of_split(place, file_records, split)
    first = islice(_items(place, chosen, form), limit)
    return Dataset(name, form, digest([place]), tuple(item for item, _ in first))


def _detect_form(path: Path, file_records: Iterator[Record]) -> tuple[str, Iterator[Record]]:
    for first in file_records:
        return form_of(first), chain([first], file_records)
    raise _without_questions(path)


def _items(path: Path, file_records: Iterator[Record], form: str) -> Iterator[tuple[Item, Record]]:
    """Raises `SourceError` for a repeated id (unless verbatim), or without items."""
    places: dict[str, str] = {}
    for record in file_records:
        item = item_of(record, form)
        if item.id in places and record.verbatim:
            item = replace(item, id=next(id for n in count(2) if (id := f"{item.id}#{n}") not in places))
        if item.id in places:
            problem = f"the id {item.id!r} is already used at {places[item.id]}"
            raise record.refusal(problem, "give each record its own id")
        places[item.id] = record.where
        yield item, record
    if not places:
        raise _without_questions(path)


def _without_questions(path: Path) -> SourceError:
    return cannot_read(path, "holds no questions", "name a file or folder that does")


def _of_split(path: Path, file_records: Iterator[Record], split: str) -> Iterator[Record]:
    """Raises `UsageError` at the end if no record had the split."""
    known: set[str] = set()
    for record in file_records:
        belongs = record.optional("split", record.words)
        known.update([belongs] if belongs is not None else [])
        if belongs == split:
            yield record
    if not known:
        raise UsageError(f"No record of {path} has a field `split`, so {split!r} selects nothing; leave the split out.")
    if split not in known:
        raise unknown_name(f"split of {path}", split, known)


# ---------------------------------------------------------------- result files


class Result(NamedTuple):
    """An entry of ALCE's result file: a system's output and passages; `[n]` cites `docs[n - 1]`."""

    item: Item
    output: str
    docs: tuple[Passage, ...]
    final: str | None = None


def result_items(path: str | os.PathLike[str]) -> Iterator[Result]:
    """The entries of a result file in order, as ALCE's evaluator reads them.

    Every character stays; a title of null is "None" in `docs`; a repeated id gets a number. Raises `SourceError`, while
    iterated, as `read` does, and for an entry without `output` or with several samples.
    """
    place = Path(path)
    form, file_records = _detect_form(place, (replace(record, verbatim=True) for record in records(place)))
    for item, record in _items(place, file_records, form):
        output, final = _output(record, record.get("output")), record.optional("final", record.words)
        yield Result(item, output, _docs(record, item.passages or ()), final)


def _docs(record: Record, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
    pairs = zip(passages, record.get("docs") or [{}] * len(passages), strict=True)
    return tuple(replace(p, title="None") if doc.get("title", "") is None else p for p, doc in pairs)


def _output(record: Record, output: Any) -> str:
    if isinstance(output, list):
        problem = f"the field `output` holds {len(output)} samples; one text was expected"
        raise record.refusal(problem, "rerank first, and keep one of them")
    if not isinstance(output, str):
        raise record.fault("output", "the text that a system wrote", output)
    return output
