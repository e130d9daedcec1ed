"""Copying a shared corpus into an embedded index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from toulmin.data import Document
from toulmin.indexing.catalogue import clear_errors
from toulmin.indexing.update import IndexReport, Progress
from toulmin.indexing.vector_files import EncoderChoice
from toulmin.indexing.writer import CorpusWriter, Stamp
from toulmin.stores.contents import FileRow, StoredCorpus


def copy_corpus(
    corpus: StoredCorpus,
    into: Path,
    *,
    vectors: EncoderChoice | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> IndexReport:
    """Makes the index hold exactly the corpus: the same passages, ids and sources.

    Skips unchanged files; encodes passages here. Raises what `indexing.update` raises for folders and disks.
    """
    with CorpusWriter(into, corpus.passage_words) as writer, clear_errors(into):
        paths = {row.path for row in corpus.files.values() if row.file}
        job = _Copying(writer, on_progress or (lambda progress: None), len(paths))
        for file, documents in corpus.whole_documents():
            job.keep(file, documents)
        job.remove_others(paths)
        skipped = tuple(corpus.skipped())
        writer.note_skipped([Path(Path(into).absolute().anchor)], skipped, {})
        encoded = writer.renew_vectors(vectors, lambda done, total: None)
        totals = writer.commit()
    name = vectors.encoder.name if vectors else None
    counts = (job.read, job.unchanged, job.removed, skipped, totals.documents, totals.passages)
    return IndexReport(*counts, encoder=name, encoded=encoded, notes=corpus.notes())


class _Copying:
    def __init__(self, writer: CorpusWriter, on_progress: Callable[[Progress], None], total: int) -> None:
        self._writer, self._on_progress, self._total = writer, on_progress, total
        self.read = self.unchanged = self.removed = self._passages = 0

    def keep(self, file: FileRow, documents: list[Document]) -> None:
        self._on_progress(Progress(file.path, self.read + self.unchanged, self._total, self._passages))
        path, old = Path(file.path), self._writer.stamp(Path(file.path))
        if old is not None and old.digest == file.digest and path not in self._writer.outdated:
            self.unchanged += 1
            return
        stamp = Stamp(0, file.size or 0, file.mtime_ns or 0, file.digest or b"")
        number = self._writer.add_file(path, stamp)
        self._writer.add_documents(number, documents, self._count)
        if old is not None:
            self._writer.remove_file(old.number)
        self.read += 1

    def _count(self) -> None:
        self._passages += 1

    def remove_others(self, paths: set[str]) -> None:
        for number, path in self._writer.files():
            if path not in paths:
                self._writer.remove_file(number)
                self.removed += 1
