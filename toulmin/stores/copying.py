"""Copying a shared corpus into an embedded index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from toulmin.indexing.catalogue import clear_errors
from toulmin.indexing.update import IndexReport, Progress
from toulmin.indexing.vector_files import EncoderChoice
from toulmin.indexing.writer import CorpusWriter, Stamp
from toulmin.stores.contents import StoredCorpus


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
    counts, show = Counter[str](), on_progress or (lambda progress: None)
    with CorpusWriter(into, corpus.passage_words) as writer, clear_errors(into):
        paths = {row.path for row in corpus.files.values() if row.file}
        for file, documents in corpus.whole_documents():
            show(Progress(file.path, counts["read"] + counts["unchanged"], len(paths), counts["passages"]))
            path, old = Path(file.path), writer.stamp(Path(file.path))
            if old is not None and old.digest == file.digest and path not in writer.outdated:
                counts["unchanged"] += 1
                continue
            number = writer.add_file(path, Stamp(0, file.size or 0, file.mtime_ns or 0, file.digest or b""))
            writer.add_documents(number, documents, lambda: counts.update(passages=1))
            if old is not None:
                writer.remove_file(old.number)
            counts["read"] += 1
        gone = [number for number, path in writer.files() if path not in paths]
        for number in gone:
            writer.remove_file(number)
        skipped = tuple(corpus.skipped())
        writer.note_skipped([Path(Path(into).absolute().anchor)], skipped, {})
        encoded = writer.renew_vectors(vectors, lambda done, total: None)
        totals = writer.commit()
    name = vectors.encoder.name if vectors else None
    files = (counts["read"], counts["unchanged"], len(gone), skipped)
    return IndexReport(*files, totals.documents, totals.passages, encoder=name, encoded=encoded, notes=corpus.notes())
