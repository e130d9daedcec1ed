"""A run folder: what was asked of whom (`run.json`, `items.jsonl`), and what came of it.

    run.json        every setting, versions, the dataset's hash, the index; written first and never changed
    items.jsonl     the questions with their gold answers, so that the run can be scored without its dataset
    journal.sqlite  each answer and its transcript, as soon as it is there
    answers.jsonl   one Answer document a line, in the order of the dataset; written when the run ends or is interrupted
    scores.json     the metrics, once scored; `reasons-*.jsonl` beside it say why

A run of several seeds is a folder with such a folder for each (`seed-1`, `seed-2`, ...).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from toulmin.data import Answer
from toulmin.datasets.documents import item_document, item_of
from toulmin.datasets.item import Item
from toulmin.errors import SourceError, UsageError
from toulmin.evaluation.run_journal import entries
from toulmin.formats import answer_json

ABOUT, ITEMS, JOURNAL, ANSWERS, SCORES = "run.json", "items.jsonl", "journal.sqlite", "answers.jsonl", "scores.json"
FORM = 1  # of run.json
# What a run's answers hang on; the rest of run.json only tells where and when they were made.
DECISIVE = ("toulmin", "dataset", "index", "settings", "parts")
_MOVABLE = re.compile(r"(dataset|index)\.path|settings\.servers\..*\.base_url")  # what lies there decides, not where
# What a process that is killed before it has said what it runs leaves behind.
_BEFORE_ABOUT = {f"{ABOUT}.new", "journal.lock", "journal.lock-journal", JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}-shm"}
_SEED = re.compile(r"seed-(-?\d+)")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run as it lies on disk: what `run.json` says, and each question's item with its answer, in order.

    Questions that have no answer yet are not among `answers`.
    """

    folder: Path
    about: Mapping[str, Any]
    items: tuple[Item, ...]
    answers: tuple[Answer, ...]


def is_run(folder: Path) -> bool:
    """Whether that folder holds a run."""
    return (folder / ABOUT).is_file()


def seed_folders(folder: Path) -> list[Path]:
    """The runs of a folder that holds one for each seed, by seed."""
    found = [(int(m[1]), path) for path in folder.glob("seed-*") if (m := _SEED.fullmatch(path.name)) and is_run(path)]
    return [path for _, path in sorted(found)]


def run_folders(folder: Path) -> list[Path]:
    """The folder itself if it holds a run, or its seeds' folders; raises `SourceError` for anything else."""
    found = [folder] if is_run(folder) else seed_folders(folder)
    if not found:
        raise SourceError(
            f"{folder} should be a run folder (one with {ABOUT}), but is none; make one with"
            f" toulmin run DATASET --out {folder}."
        )
    return found


def check(folder: Path, about: Mapping[str, Any], items: Sequence[Item]) -> None:
    """Raises where these questions cannot be answered into that folder; changes nothing.

    `UsageError` where the run in it is another one, naming what differs, or one of more questions than `items`;
    `SourceError` for a folder that holds other things. A run that has answered nothing yet may become another one.
    """
    if is_run(folder):
        ended = _ended(folder)
        if ended:
            _check_same(folder, read_about(folder), about)
        if not ended <= {item.id for item in items}:
            raise UsageError(
                f"{folder} holds answers to {len(ended)} questions, more than were asked for now ({len(items)}); leave"
                " --limit out, or set it as high as before."
            )
    elif seed_folders(folder):
        raise UsageError(f"{folder} holds runs of several seeds; name --seed twice or more, or another folder.")
    elif folder.exists() and (not folder.is_dir() or {path.name for path in folder.iterdir()} - _BEFORE_ABOUT):
        raise SourceError(f"{folder} should be a new folder or that of a run, but holds other things; name another.")


def begin(folder: Path, about: Mapping[str, Any], items: Sequence[Item]) -> None:
    """Says in the folder what is run, or goes on with the run in it; raises as `check` does.

    For whoever holds the journal: two processes must not begin different runs in one folder.
    """
    check(folder, about, items)
    if not is_run(folder) or not _ended(folder):
        replace_file(folder / ABOUT, json.dumps(about, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    replace_file(folder / ITEMS, b"".join(_line(item_document(item)) for item in items))


def _ended(folder: Path) -> set[str]:
    """The questions that have ended."""
    return {entry.id for entry in entries(folder / JOURNAL)} if (folder / JOURNAL).is_file() else set()


def made(folder: Path) -> None:
    """Makes the folder; raises `SourceError` where that cannot be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(f"The run folder {folder} cannot be made: {error}. Name another.") from error


def _check_same(folder: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    was = dict(_flat({name: before.get(name) for name in DECISIVE}))
    is_ = dict(_flat({name: now.get(name) for name in DECISIVE}))
    different = [n for n in dict.fromkeys([*was, *is_]) if was.get(n) != is_.get(n) and not _MOVABLE.fullmatch(n)]
    if different:
        told = "; ".join(f"{name} was {was.get(name)!r} and is {is_.get(name)!r}" for name in different)
        raise UsageError(
            f"{folder} holds another run: {told}. Name another folder with --out, or ask as before to go on with it."
        )


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", list(value) if isinstance(value, tuple) else value


def write_answers(folder: Path) -> None:
    """Writes `answers.jsonl` from the journal, in one step."""
    replace_file(folder / ANSWERS, (entry.answer + b"\n" for entry in entries(folder / JOURNAL)))


def read_about(folder: Path) -> Mapping[str, Any]:
    """What `run.json` says."""
    try:
        about = json.loads((folder / ABOUT).read_bytes())
    except (OSError, ValueError) as error:
        raise SourceError(f"{folder / ABOUT} should say what was run, but cannot be read: {error}.") from error
    if not isinstance(about, dict) or about.get("run") != FORM:
        raise SourceError(f"{folder / ABOUT} was not written by this version of toulmin; run it again.")
    return about


def read_run(folder: Path) -> Recorded:
    """The run in that folder, from its journal where that is there (a run that was killed has nothing else)."""
    about = read_about(folder)
    items = tuple(item_of(document) for document in _documents(folder / ITEMS))
    if not (folder / JOURNAL).is_file() and not (folder / ANSWERS).is_file():
        answers: tuple[Answer, ...] = ()  # begun, and killed or refused before the first question
    elif (folder / JOURNAL).is_file():
        answers = tuple(answer_json.parse(entry.answer) for entry in entries(folder / JOURNAL))
    else:
        answers = tuple(answer_json.parse(document) for document in _documents(folder / ANSWERS))
    return Recorded(folder, about, items, answers)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file with one a line; raises `SourceError` naming the line."""
    return _documents(path)


def _documents(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open("rb") as lines:
            for n, line in enumerate(lines, start=1):
                document = orjson.loads(line)
                if not isinstance(document, dict):
                    raise ValueError(f"line {n} is no object")
                yield document
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} belongs to a run, but cannot be read: {error}.") from error


def _line(document: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # half a character, or a number beyond 64 bits, in somebody's record
        return json.dumps(document).encode("ascii") + b"\n"


def replace_file(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Writes the file in one step: a reader sees the old one or the whole new one.

    A pipe or a device is written into, not replaced, and a link keeps pointing where it points.
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
        os.replace(aside, whole)
    except OSError as error:
        raise SourceError(f"{path} cannot be written: {error}.") from error
