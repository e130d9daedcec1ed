"""File rows: the newest of a path counts."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import SystemRandom
from typing import Any

_random = SystemRandom()


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as one writer saw it; `file` numbers what was read of it, 0 for nothing.

    `reason` says why the last attempt failed; with neither, the file is gone.
    """

    mark: int
    file: int
    path: str
    at: int
    size: int | None = None
    mtime_ns: int | None = None
    digest: bytes | None = None
    reason: str | None = None

    @property
    def is_gone(self) -> bool:
        return not self.file and self.reason is None


COLUMNS = ("mark", "file", "path", "at", "size", "mtime_ns", "digest", "reason")


def number() -> int:
    """A unique number from 1 to 2**52, which JSON can hold."""
    return _random.getrandbits(52) + 1


def after(known: FileRow | None, path: str, **changes: Any) -> FileRow:
    now = max(time.time_ns() // 1000, known.at + 1 if known else 0)
    row = known or FileRow(0, 0, path, 0)
    return replace(row, mark=number(), at=now, **changes)


def newest(rows: Iterable[FileRow]) -> dict[str, FileRow]:
    """The newest row of each path, including removed files."""
    by_path: dict[str, FileRow] = {}
    for row in rows:
        other = by_path.get(row.path)
        if other is None or (other.at, other.mark) < (row.at, row.mark):
            by_path[row.path] = row
    return by_path


@dataclass(frozen=True, slots=True)
class Waste:
    """Superseded rows of a path: marks of file rows, and numbers of files whose other rows go too."""

    marks: Sequence[int]
    files: Sequence[int]


def waste(rows: Sequence[FileRow]) -> list[Waste]:
    """What is superseded. All of a path must be deleted together, or an older row would become valid again."""
    by_path: Mapping[str, list[FileRow]] = defaultdict(list)
    for row in rows:
        by_path[row.path].append(row)
    superseded = []
    for path, last in newest(rows).items():
        old = [row for row in by_path[path] if row.mark != last.mark]
        files = {row.file for row in old} - {0, last.file}
        marks = [row.mark for row in old] + ([last.mark] if last.is_gone else [])
        if marks:
            superseded.append(Waste(marks, sorted(files)))
    return superseded
