"""A run folder: the settings and questions of a run, its answers and scores.

    run.json        settings, versions, dataset hash, index; fixed once a question has ended
    items.jsonl     questions with gold answers
    journal.sqlite  each answer and its transcript
    answers.jsonl   Answer documents in dataset order; written when the run ends or is interrupted
    scores.json     the metrics, explained by `reasons-*.jsonl`

A run of several seeds has such a folder for each (`seed-1`, `seed-2`, ...).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from toulmin.data import Answer
from toulmin.datasets.item import Item, item_document, parse_item
from toulmin.errors import SourceError, UsageError, cause_of, disk_full, is_disk_full
from toulmin.evaluation.run_journal import entries
from toulmin.formats import answer_json

ABOUT, ITEMS, JOURNAL, ANSWERS = "run.json", "items.jsonl", "journal.sqlite", "answers.jsonl"
FORM = 1  # of run.json
# What a run's answers depend on; the rest of run.json only says where and when they were made.
DECISIVE = ("toulmin", "dataset", "index", "settings", "parts")
_MOVABLE = re.compile(r"(dataset|index)\.path|settings\.servers\..*\.base_url")  # the content decides, not the place
# Files of a process that was killed before it wrote run.json; SQLite adds these endings.
_BESIDE = ("", "-journal", "-wal", "-shm")
_BEFORE_ABOUT = {f"{ABOUT}.new", *(f"{name}{end}" for name in ("journal.lock", JOURNAL) for end in _BESIDE)}
_SEED = re.compile(r"seed-(-?\d+)")


class RunRecord(NamedTuple):
    """A run on disk; `about` is `run.json`, `answers` are those so far, in dataset order."""

    about: Mapping[str, Any]
    items: tuple[Item, ...]
    answers: tuple[Answer, ...]


def is_run(folder: Path) -> bool:
    return (folder / ABOUT).is_file()


def seed_folders(folder: Path) -> list[Path]:
    seeds = [(int(m[1]), path) for path in folder.glob("seed-*") if (m := _SEED.fullmatch(path.name)) and is_run(path)]
    return [path for _, path in sorted(seeds)]


def run_folders(folder: Path) -> list[Path]:
    """The folder, or its seeds' folders. Raises `SourceError` without a run."""
    folders = [folder] if is_run(folder) else seed_folders(folder)
    if not folders:
        raise SourceError(
            f"{folder} should be a run folder (one with {ABOUT}), but is none; make one with"
            f" toulmin run DATASET --out {folder}."
        )
    return folders


def check(folder: Path, about: Mapping[str, Any], items: Sequence[Item]) -> None:
    """Raises if these questions cannot be answered into that folder; changes nothing.

    `UsageError` for another run, several seeds, or answers to questions not in `items`; `SourceError` for other
    content. A run without answers may become another.
    """
    if is_run(folder):
        answer_ids = _journal_ids(folder)
        if answer_ids:
            _check_same(folder, read_about(folder), about)
        if not answer_ids <= {item.id for item in items}:
            raise UsageError(
                f"{folder} holds answers to {len(answer_ids)} questions, more than were asked for now ({len(items)});"
                " leave out --limit, or set it at least as high as before."
            )
    elif seed_folders(folder):
        raise UsageError(f"{folder} holds runs of several seeds; name --seed twice or more, or another folder.")
    elif folder.exists() and (not folder.is_dir() or {path.name for path in folder.iterdir()} - _BEFORE_ABOUT):
        raise SourceError(f"{folder} should be a new folder or a run's, but contains other files; name another.")


def begin(folder: Path, about: Mapping[str, Any], items: Sequence[Item]) -> None:
    """Writes `run.json` and `items.jsonl`, or continues the folder's run. Raises as `check` does.

    The caller must hold the journal.
    """
    check(folder, about, items)
    if not is_run(folder) or not _journal_ids(folder):
        replace_file(folder / ABOUT, json.dumps(about, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    replace_file(folder / ITEMS, (orjson.dumps(item_document(item)) + b"\n" for item in items))


def _journal_ids(folder: Path) -> set[str]:
    return {entry.id for entry in entries(folder / JOURNAL)} if (folder / JOURNAL).is_file() else set()


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(f"The folder {folder} cannot be created: {cause_of(error)}. Name another.") from error


def _check_same(folder: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    was = dict(_flat({name: before.get(name) for name in DECISIVE}))
    is_ = dict(_flat({name: now.get(name) for name in DECISIVE}))
    different = [n for n in dict.fromkeys([*was, *is_]) if was.get(n) != is_.get(n) and not _MOVABLE.fullmatch(n)]
    if different:
        changes = "; ".join(f"{name} was {was.get(name)!r} and is {is_.get(name)!r}" for name in different)
        raise UsageError(
            f"{folder} holds another run: {changes}. Name another folder with --out, or use its settings to continue."
        )


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", list(value) if isinstance(value, tuple) else value


def write_answers(folder: Path) -> None:
    replace_file(folder / ANSWERS, (entry.answer + b"\n" for entry in entries(folder / JOURNAL)))


def read_about(folder: Path) -> Mapping[str, Any]:
    """`run.json`. Raises `SourceError` if damaged or of another version."""
    try:
        about: dict[str, Any] = json.loads((folder / ABOUT).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise SourceError(
            f"{folder / ABOUT} should describe the run, but cannot be read: {cause_of(error)}."
        ) from error
    dataset = about.get("dataset") if isinstance(about, dict) and about.get("run") == FORM else None
    if not isinstance(dataset, dict) or "path" not in dataset:
        raise SourceError(f"{folder / ABOUT} was not written by this version of toulmin; run it again.")
    return about


def read_run(folder: Path) -> RunRecord:
    """From the journal if there is one: a killed run has nothing else."""
    about = read_about(folder)
    items = tuple(parse_item(document) for document in read_lines(folder / ITEMS))
    documents: Iterable[bytes | dict[str, Any]] = ()  # the run ended before its first question
    if (folder / JOURNAL).is_file():
        documents = (entry.answer for entry in entries(folder / JOURNAL))
    elif (folder / ANSWERS).is_file():
        documents = read_lines(folder / ANSWERS)
    return RunRecord(about, items, tuple(map(answer_json.parse, documents)))


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, one a line. Raises `SourceError`."""
    try:
        with path.open("rb") as lines:
            for n, line in enumerate(lines, start=1):
                document = orjson.loads(line)
                if not isinstance(document, dict):
                    raise ValueError(f"line {n} is not an object")
                yield document
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} belongs to a run, but cannot be read: {cause_of(error)}.") from error


def replace_file(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Writes the file in one step: readers see the old content or the new. Raises `SourceError`.

    Writes into pipes and devices; a link keeps its target.
    """
    parts = [content] if isinstance(content, bytes) else content
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as stream:
                stream.writelines(parts)
            return
        whole = path.resolve()
        aside = whole.with_name(f"{whole.name}.new")
        with aside.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())  # else a crash of the system may leave an empty file under the new name
        os.replace(aside, whole)
    except OSError as error:
        what = f"{path} cannot be written: {cause_of(error)}."
        raise disk_full(path) if is_disk_full(error) else SourceError(what) from error
