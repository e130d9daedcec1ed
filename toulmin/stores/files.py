"""Which files a shared corpus holds, from the rows that writers added: the newest row of a path is what is true.

Nobody edits a row. A changed file is added anew under another number, a file that is gone gets a row without one, and
what is superseded is deleted later. So writers never undo one another's work: two that read the same file at once leave
two rows, of which one is the newer, and everybody chooses the same. `at` counts microseconds, but always more than the
row that its writer knew of, so a clock that is slow cannot put an older text in place of a newer one.
"""

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
    """A file as one writer saw it: what was read of it has the number `file`, 0 where nothing was.

    `reason` says why it could not be read when it was last looked at. Without a number and a reason it is gone.
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
        """Whether nothing is known of the path any more."""
        return not self.file and self.reason is None


COLUMNS = ("mark", "file", "path", "at", "size", "mtime_ns", "digest", "reason")


def number() -> int:
    """A number that nobody else has, above 0, such as JSON can hold."""
    return _random.getrandbits(52) + 1


def after(known: FileRow | None, path: str, **changes: Any) -> FileRow:
    """A newer row of the path: like the one known but for the changes."""
    now = max(time.time_ns() // 1000, known.at + 1 if known else 0)
    row = known or FileRow(0, 0, path, 0)
    return replace(row, mark=number(), at=now, **changes)


def newest(rows: Iterable[FileRow]) -> dict[str, FileRow]:
    """The newest row of each path, also of paths that are gone."""
    found: dict[str, FileRow] = {}
    for row in rows:
        other = found.get(row.path)
        if other is None or (other.at, other.mark) < (row.at, row.mark):
            found[row.path] = row
    return found


@dataclass(frozen=True, slots=True)
class Waste:
    """Rows that mean nothing any more: the marks of file rows, and the numbers of files whose other rows go too."""

    marks: Sequence[int]
    files: Sequence[int]


def waste(rows: Sequence[FileRow]) -> list[Waste]:
    """What is superseded, a path each: its rows must go together, or an older one would come to life again."""
    by_path: Mapping[str, list[FileRow]] = defaultdict(list)
    for row in rows:
        by_path[row.path].append(row)
    found = []
    for path, last in newest(rows).items():
        old = [row for row in by_path[path] if row.mark != last.mark]
        files = {row.file for row in old} - {0, last.file}
        marks = [row.mark for row in old] + ([last.mark] if last.is_gone else [])
        if marks:
            found.append(Waste(marks, sorted(files)))
    return found
