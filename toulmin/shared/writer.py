"""Changing a shared corpus: what is new is collected beside, and added in one commit that readers see whole.

* The rows go to a file in a temporary folder first, so memory does not grow with what is read; passages are encoded on
  the way, where the corpus has vectors.
* One commit adds everything, also the rows that say which files are gone. Commits that only add never stand in each
  other's way. Adding twice, where a first reply was lost, changes nothing: readers count equal rows once.
* Deleting what is superseded, and folding new rows into the term index, is tidying: readers see the same before, in
  between and after. Where another writer is at it, or dies in it, the next one does it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from toulmin.corpus.catalogue import key_of
from toulmin.corpus.indexing import IndexReport, Progress, brought_up_to_date
from toulmin.corpus.lexicon import pack, passage_terms
from toulmin.corpus.passages import cut
from toulmin.corpus.readers import Skipped, is_under
from toulmin.corpus.vector_files import Label, Wanted
from toulmin.corpus.writer import PASSAGE_WORDS, Stamp, Totals
from toulmin.data import Document, Passage
from toulmin.errors import SourceError, UsageError
from toulmin.shared import files, table
from toulmin.shared.address import Address, address
from toulmin.shared.corpus import SharedCorpus
from toulmin.shared.files import FileRow, Waste
from toulmin.shared.table import DOCUMENT, FILE, PASSAGE, About, Passing

_BATCH = 1000  # rows that wait in memory
_AT_ONCE = 1000  # superseded paths that one commit deletes


def update_shared(
    place: str,
    paths: Sequence[Path],
    *,
    passage_words: int | None = None,
    vectors: Wanted | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> IndexReport:
    """Makes the corpus at that address hold what the files and folders of `paths` hold now; as `indexing.update` does.

    What a corpus was made with it keeps: the length of its passages, and its encoder. Several may write at once:
    nothing of either is lost, and of a path that both read one reading stays.

    Raises SourceError for paths and addresses that cannot be used, or an encoder or a length that is not the corpus's;
    IndexDamaged for one of another version; UsageError for less than one word.
    """
    if passage_words is not None and passage_words < 1:
        raise UsageError(f"A passage needs at least 1 word, not {passage_words}.")
    with SharedWriter(address(place), passage_words, vectors) as writer:
        report = brought_up_to_date(writer, paths, vectors=vectors, on_progress=on_progress)
        return replace(report, notes=writer.notes())


class SharedWriter:
    """A writer of a shared corpus, for use in a `with`; leaving it without `commit` changes nothing."""

    def __init__(self, where: Address, passage_words: int | None, vectors: Wanted | None) -> None:
        self._where, self._vectors = where, vectors
        self._repeats = table.Repeats()
        label = _label(vectors)
        self._table = table.made(where, lambda: About(passage_words or PASSAGE_WORDS, label))
        self._about = table.about(self._table, where)
        self._check(passage_words, label)
        self._rows = self._known_rows()
        self._known = files.newest(self._rows)
        self._by_number = {row.file: row for row in self._known.values() if row.file}
        self._new: dict[str, FileRow] = {}
        self._dropped: set[int] = set()
        self._documents: dict[int, int] = {}
        self._waiting: list[dict[str, Any]] = []
        self._encoded = 0
        self._folder = TemporaryDirectory(prefix="toulmin-", ignore_cleanup_errors=True)
        self._schema = self._table.schema
        self._spool = Path(self._folder.name) / "rows.arrow"
        self._stream = pa.ipc.new_stream(str(self._spool), self._schema)
        self.outdated: frozenset[Path] = frozenset()

    def _check(self, passage_words: int | None, label: Label | None) -> None:
        held = self._about
        if passage_words not in (None, held.passage_words):
            raise SourceError(
                f"The passages of {self._where} have about {held.passage_words} words, not {passage_words}, as others"
                " may be reading them; leave passage_words out, or make a corpus at another address."
            )
        if (held.label.identity if held.label else None) != (label.identity if label else None):
            made = f"with the vectors of {held.label.name}" if held.label else "without vectors"
            asked = label.name if label else "none"
            raise SourceError(
                f"{self._where} was made {made}, and the encoder asked for is {asked}. A shared corpus keeps what it"
                " was made with; make one at another address."
            )

    def _known_rows(self) -> list[FileRow]:
        def work() -> Any:
            asked = self._table.search().where(f"kind = {FILE}").select(list(files.COLUMNS))
            return asked.to_arrow().to_pylist()

        return [FileRow(**row) for row in table.repeated(self._where, work)]

    def __enter__(self) -> SharedWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
        self._folder.cleanup()

    def notes(self) -> tuple[str, ...]:
        """What went wrong and was put right meanwhile."""
        return self._repeats.notes()

    # ------------------------------------------------------------ files

    def files(self) -> list[tuple[int, str]]:
        """The number and path of every file that the corpus held."""
        return [(row.file, row.path) for row in self._known.values() if row.file]

    def stamp(self, path: Path) -> Stamp | None:
        """The file as it was when it was read, or None."""
        row = self._known.get(str(path))
        if row is None or not row.file or row.size is None or row.mtime_ns is None or row.digest is None:
            return None
        return Stamp(row.file, row.size, row.mtime_ns, row.digest)

    def note_time(self, stamp: Stamp) -> None:
        """Keeps the time of a file whose content is as it was."""
        row = self._by_number[stamp.number]
        self._new[row.path] = files.after(row, row.path, size=stamp.size, mtime_ns=stamp.mtime_ns)

    def add_file(self, path: Path, stamp: Stamp) -> int:
        """A new file, without documents yet; gives its number."""
        told = {"size": stamp.size, "mtime_ns": stamp.mtime_ns, "digest": stamp.digest, "reason": None}
        row = files.after(self._known.get(str(path)), str(path), file=files.number(), **told)
        self._new[row.path] = row
        self._by_number[row.file] = row
        return row.file

    def remove_file(self, number: int) -> None:
        """Takes out a file, or one that was added a moment ago."""
        row = self._by_number[number]
        added = self._new.get(row.path)
        if added is not None and added.file == number:
            del self._new[row.path]
            self._dropped.add(number)
        elif added is None:
            gone = {"file": 0, "size": None, "mtime_ns": None, "digest": None, "reason": None}
            self._new[row.path] = files.after(row, row.path, **gone)

    def note_skipped(self, roots: Sequence[Path], skipped: Sequence[Skipped]) -> None:
        """Keeps what was not read now, by path; what is known of elsewhere stays."""
        reasons = {one.path: one.reason for one in skipped}
        for path, row in self._known.items():
            if row.reason is not None and path not in reasons and path not in self._new and is_under(Path(path), roots):
                self._new[path] = files.after(row, path, reason=None)
        for path, reason in reasons.items():
            known = self._new.get(path) or self._known.get(path)
            if known is None or known.reason != reason:
                self._new[path] = files.after(known, path, reason=reason)

    # ------------------------------------------------------------ documents and passages

    def add_document(self, file: int, document: Document, on_passage: Callable[[], None]) -> None:
        """Cuts a document of a file into passages and keeps them; `on_passage` is called after each."""
        passages = cut(document, self._about.passage_words)
        place = self._documents[file] = self._documents.get(file, -1) + 1
        end = passages[-1].source.end if passages else 0
        shared = {
            "file": file,
            "path": self._by_number[file].path,
            "document": place,
            "title": document.title,
            "url": document.url,
            "record": document.record,
        }
        told = {"pages": json.dumps(document.pages), "tail": document.text[end:], "passages": len(passages)}
        self._add({"kind": DOCUMENT, **shared, **told})
        before = 0
        for number, passage in enumerate(passages):
            self._add(_passage_row(passage, document.text, before) | {"number": number, **shared})
            on_passage()
            before = passage.source.end

    def _add(self, row: dict[str, Any]) -> None:
        self._waiting.append(row)
        if len(self._waiting) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        """Writes what waits, with the vectors of its passages."""
        rows, self._waiting = self._waiting, []
        if not rows:
            return
        made = pa.RecordBatch.from_pylist(rows, self._plain())
        if self._vectors is not None:
            made = made.append_column("vector", self._encode(rows))
        self._stream.write_batch(pa.RecordBatch.from_arrays(made.columns, schema=self._schema))

    def _plain(self) -> pa.Schema:
        """The columns but for the vectors, which come last."""
        return pa.schema([field for field in self._schema if field.name != "vector"])

    def _encode(self, rows: Sequence[dict[str, Any]]) -> Any:
        assert self._vectors is not None
        at = [place for place, row in enumerate(rows) if row["kind"] == PASSAGE]
        kind = self._schema.field("vector").type
        flat = np.zeros((len(rows), kind.list_size), np.float16)
        if at:
            flat[at] = self._vectors.encoder.encode_passages([rows[place]["passage"] for place in at])
            self._encoded += len(at)
        missing = np.ones(len(rows), np.bool_)
        missing[at] = False
        return pa.FixedSizeListArray.from_arrays(pa.array(flat.ravel()), type=kind, mask=pa.array(missing))

    def renew_vectors(self, wanted: Wanted | None, on_encoded: Callable[[int, int], None]) -> int:
        """How many passages were encoded; that was done when they were added."""
        self._flush()
        return self._encoded

    # ------------------------------------------------------------ the end

    def commit(self) -> Totals:
        """Makes everything visible in one step."""
        self._flush()
        self._stream.close()
        if self._new:
            table.repeated(self._where, lambda: self._table.add(pa.RecordBatchReader.from_batches(*self._batches())))
            self._tidy()
        with SharedCorpus(self._where, table.opened(self._where), self._repeats) as now:
            held = now.stats
        return Totals(held.documents, held.passages)

    def _batches(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """What was collected, and last what is true of each file."""

        def collected() -> Iterator[pa.RecordBatch]:
            with pa.ipc.open_stream(str(self._spool)) as stream:
                for batch in stream:
                    yield self._kept(batch)
            told = [{"kind": FILE, **asdict(row)} for row in self._new.values()]
            yield pa.RecordBatch.from_pylist(told, self._schema)

        return self._schema, collected()

    def _kept(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows but for those of files that turned out to be unreadable."""
        if not self._dropped:
            return batch
        return batch.filter(pa.array(~np.isin(batch["file"].to_numpy(), list(self._dropped))))

    def _tidy(self) -> None:
        """Deletes what is superseded and folds in what is new; left to the next writer where others are at it now."""
        with suppress(Passing):
            table.repeated(self._where, self._table.checkout_latest)
            superseded = files.waste(self._known_rows())
            for start in range(0, len(superseded), _AT_ONCE):
                condition = _all_of(superseded[start : start + _AT_ONCE])
                table.repeated(self._where, lambda condition=condition: self._table.delete(condition))  # type: ignore[misc]
            table.repeated(self._where, self._table.optimize)


def _all_of(superseded: Sequence[Waste]) -> str:
    marks = ", ".join(str(mark) for one in superseded for mark in one.marks)
    numbers = ", ".join(str(number) for one in superseded for number in one.files)
    return f"mark IN ({marks})" + (f" OR (kind > {FILE} AND file IN ({numbers}))" if numbers else "")


def _label(vectors: Wanted | None) -> Label | None:
    if vectors is None:
        return None
    encoder = vectors.encoder
    return Label(encoder.identity, encoder.name, vectors.spec, encoder.dimension)


def _passage_row(passage: Passage, text: str, before: int) -> dict[str, Any]:
    """A passage as the table keeps it: its text begins where that of the passage before it ends."""
    found_by = passage_terms(passage)
    start, end = passage.source.start, passage.source.end
    return {
        "kind": PASSAGE,
        "key": key_of(passage.id),
        "start": start,
        "lead": start - before,
        "page": passage.source.page,
        "length": len(found_by),
        "codes": pack(found_by),
        "terms": " ".join(found_by),
        "text": text[before:end],
        "passage": passage,
    }
