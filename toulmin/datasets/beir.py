"""BEIR folders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from toulmin.datasets.fields import Record, id_of
from toulmin.datasets.files import readable, records
from toulmin.documents.plain import cannot_read
from toulmin.documents.records import opened
from toulmin.errors import SourceError, unknown_name

_SPLITS = ("test", "dev", "train")
_HEADER = ["query-id", "corpus-id", "score"]


class Folder:
    """A BEIR folder: `queries.jsonl`, `corpus.jsonl` and, for each split, `qrels/SPLIT.tsv`; each may be gzipped.

    Without a `split` it is the first of test, dev and train. Raises `SourceError` for another kind of folder, and
    `UsageError` for a missing split.
    """

    def __init__(self, path: Path, split: str | None) -> None:
        self.queries, self.corpus = (_data_file(path, f"{name}.jsonl") for name in ("queries", "corpus"))
        known = _splits(path)
        if not known:
            raise _not_beir(path, "qrels/SPLIT.tsv")
        if split is None:
            split = next((name for name in _SPLITS if name in known), min(known))
        elif split not in known:
            raise unknown_name(f"split of {path}", split, known)
        self.qrels = known[split]

    @property
    def files(self) -> list[Path]:
        return sorted([self.queries, self.corpus, self.qrels])

    def records(self) -> Iterator[Record]:
        """The queries that the split judges, in file order, with `relevant` records."""
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


def _splits(path: Path) -> dict[str, Path]:
    files = [*path.glob("qrels/*.tsv"), *path.glob("qrels/*.tsv.gz")]
    return {file.name.removesuffix(".gz").removesuffix(".tsv"): file for file in sorted(files, reverse=True)}


def _judgements(path: Path) -> dict[str, list[str]]:
    relevant: dict[str, list[str]] = {}
    with readable(path), opened(path) as file:
        for n, line in enumerate(file, start=1):
            fields = _columns(path, n, line)
            if not fields or (n == 1 and fields == _HEADER):
                continue
            query, record, score = fields
            record_ids = relevant.setdefault(query, [])
            if _score(path, n, score) > 0:
                record_ids.append(record)
    return relevant


def _columns(path: Path, n: int, line: bytes) -> list[str]:
    try:
        fields = [field.strip() for field in line.decode("utf-8-sig" if n == 1 else "utf-8").split("\t")]
    except UnicodeDecodeError as error:
        raise cannot_read(path, f"is not UTF-8 at line {n}", "save it as UTF-8 text") from error
    if fields == [""]:
        return []
    if len(fields) != len(_HEADER):
        came = f"is damaged at line {n}: {', '.join(_HEADER)} separated by tabs were expected, not {len(fields)} fields"
        raise cannot_read(path, came, "fix or remove that line")
    return fields


def _score(path: Path, n: int, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        came = f"is damaged at line {n}: the field `score` should hold a number, not {text!r}"
        raise cannot_read(path, came, "fix or remove that line") from error
