"""What an update makes of the files of a shared corpus, before anybody sees it: one new row for each path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from toulmin.documents.loaders import Skipped, is_under
from toulmin.indexing.update import IndexReport, Progress, Writer, brought_up_to_date
from toulmin.indexing.vector_files import Wanted
from toulmin.indexing.writer import Stamp
from toulmin.stores import files
from toulmin.stores.files import FileRow


class SeveralWrite(Writer, Protocol):
    """A writer of a corpus to which others write too; left without `commit` it has changed nothing."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def notes(self) -> tuple[str, ...]:
        """What went wrong and was put right."""
        ...


def written(
    writer: SeveralWrite,
    paths: Sequence[Path],
    vectors: Wanted | None,
    on_progress: Callable[[Progress], None] | None,
) -> IndexReport:
    """Makes the writer's corpus hold what the files and folders of `paths` hold now; as `indexing.update` does.

    What a corpus was made with it keeps: the length of its passages, and its encoder. Several may write at once:
    nothing of either is lost, and of a path that both read one reading stays.

    Raises SourceError for paths and addresses that cannot be used, or an encoder or a length that is not the corpus's;
    IndexDamaged for one of another version; UsageError for less than one word.
    """
    with writer:
        report = brought_up_to_date(writer, paths, vectors=vectors, on_progress=on_progress)
        return replace(report, notes=writer.notes())


class Changes:
    """The half of `indexing.Writer` that is about files: `new` by path, and what was added and `dropped` again."""

    outdated: frozenset[Path] = frozenset()

    def __init__(self, rows: Iterable[FileRow]) -> None:
        """`rows` are those that the corpus held when the update began."""
        self.known = files.newest(rows)
        self.new: dict[str, FileRow] = {}
        self.dropped: set[int] = set()
        self._by_number = {row.file: row for row in self.known.values() if row.file}

    def files(self) -> list[tuple[int, str]]:
        """The number and path of every file that the corpus held."""
        return [(row.file, row.path) for row in self.known.values() if row.file]

    def path(self, number: int) -> str:
        """The path of a file."""
        return self._by_number[number].path

    def stamp(self, path: Path) -> Stamp | None:
        """The file as it was when it was read, or None."""
        row = self.known.get(str(path))
        if row is None or not row.file or row.size is None or row.mtime_ns is None or row.digest is None:
            return None
        return Stamp(row.file, row.size, row.mtime_ns, row.digest)

    def note_time(self, stamp: Stamp) -> None:
        """Keeps the time of a file whose content is as it was."""
        row = self._by_number[stamp.number]
        self.new[row.path] = files.after(row, row.path, size=stamp.size, mtime_ns=stamp.mtime_ns)

    def add_file(self, path: Path, stamp: Stamp) -> int:
        """A new file, without documents yet; gives its number."""
        told = {"size": stamp.size, "mtime_ns": stamp.mtime_ns, "digest": stamp.digest, "reason": None}
        row = files.after(self.known.get(str(path)), str(path), file=files.number(), **told)
        self.new[row.path] = row
        self._by_number[row.file] = row
        return row.file

    def remove_file(self, number: int) -> None:
        """Takes out a file, or one that was added a moment ago."""
        row = self._by_number[number]
        added = self.new.get(row.path)
        if added is not None and added.file == number:
            del self.new[row.path]
            self.dropped.add(number)
        elif added is None:
            gone = {"file": 0, "size": None, "mtime_ns": None, "digest": None, "reason": None}
            self.new[row.path] = files.after(row, row.path, **gone)

    def note_skipped(self, roots: Sequence[Path], skipped: Sequence[Skipped]) -> None:
        """Keeps what was not read now, by path; what is known of elsewhere stays."""
        reasons = {one.path: one.reason for one in skipped}
        for path, row in self.known.items():
            if row.reason is not None and path not in reasons and path not in self.new and is_under(Path(path), roots):
                self.new[path] = files.after(row, path, reason=None)
        for path, reason in reasons.items():
            known = self.new.get(path) or self.known.get(path)
            if known is None or known.reason != reason:
                self.new[path] = files.after(known, path, reason=reason)
