"""Changes a LanceDB corpus: collects new rows in a file and adds them in one commit.

* Memory does not grow with what is read. Passages are encoded on the way.
* Commits that only add never conflict. Adding twice, after a lost reply, changes nothing: readers count equal rows
  once.
* Deleting old rows and updating the search indexes afterwards changes nothing for readers; if a writer fails at it,
  the next one does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from toulmin.data import Document
from toulmin.documents.metadata import to_json
from toulmin.indexing.codes import findable, length
from toulmin.indexing.preparation import Piece, pieces
from toulmin.indexing.vector_files import EncoderChoice
from toulmin.indexing.writer import Totals
from toulmin.stores import contents, lance_table
from toulmin.stores.address import address
from toulmin.stores.changes import Changes, run_update
from toulmin.stores.contents import FileRow, Passing, Waste
from toulmin.stores.lance_corpus import SharedCorpus
from toulmin.stores.lance_table import DOCUMENT, FILE, PASSAGE

_BATCH = 1000  # rows that wait in memory
_AT_ONCE = 1000  # superseded paths that one commit deletes


class SharedWriter(Changes):
    def __init__(self, place: str, passage_words: int | None, vectors: EncoderChoice | None) -> None:
        self._where = where = address(place)
        self._vectors = vectors
        asked = contents.about_for(passage_words, vectors)
        self._table = lance_table.ensure_table(where, asked)
        self._about = lance_table.about(self._table, where)
        contents.check_about(self._about, asked, passage_words, where)
        super().__init__(self._file_rows())
        self._waiting: list[dict[str, Any]] = []
        self._folder = TemporaryDirectory(prefix="toulmin-", ignore_cleanup_errors=True)
        self._schema = self._table.schema
        self._spool = Path(self._folder.name) / "rows.arrow"
        self._stream = pa.ipc.new_stream(str(self._spool), self._schema)

    def _file_rows(self) -> list[FileRow]:
        query = self._table.search().where(f"kind = {FILE}").select(list(contents.COLUMNS))
        return [FileRow(**row) for row in lance_table.retry(self._where, query.to_arrow).to_pylist()]

    def described(self) -> Iterator[tuple[str, str]]:
        query = self._table.search().where(f"kind = {DOCUMENT} AND record IS NULL")
        rows = lance_table.retry(self._where, query.select(["file", "path", "metadata"]).to_arrow).to_pylist()
        return ((row["path"], row["metadata"]) for row in rows if row["file"] in self._by_number)

    def close(self) -> None:
        self._stream.close()
        self._folder.cleanup()

    # ------------------------------------------------------------ documents and passages

    def add_document(self, file: int, document: Document, on_passage: Callable[[], None]) -> None:
        cut_pieces, tail = pieces(document, self._about.passage_words)
        shared = {
            "file": file,
            "path": self.path(file),
            "document": self.next_document(file),
            "title": document.title,
            "url": document.url,
            "record": document.record,
            "metadata": to_json(document.metadata, document.remarks),
        }
        pages, headings = contents.places(document)
        details = {"pages": pages, "headings": headings, "tail": tail, "passages": len(cut_pieces)}
        self._add({"kind": DOCUMENT, **shared, **details})
        for piece in cut_pieces:
            self._add(_passage_row(piece) | shared)
            on_passage()

    def _add(self, row: dict[str, Any]) -> None:
        self._waiting.append(row)
        if len(self._waiting) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        rows, self._waiting = self._waiting, []
        if not rows:
            return
        plain = pa.schema([field for field in self._schema if field.name != "vector"])  # which comes last
        made = pa.RecordBatch.from_pylist(rows, plain)
        if self._vectors is not None:
            made = made.append_column("vector", self._encode(rows))
        self._stream.write_batch(pa.RecordBatch.from_arrays(made.columns, schema=self._schema))

    def _encode(self, rows: Sequence[dict[str, Any]]) -> Any:
        assert self._vectors is not None
        at = [place for place, row in enumerate(rows) if row["kind"] == PASSAGE]
        kind = self._schema.field("vector").type
        flat = np.zeros((len(rows), kind.list_size), np.float16)
        if at:
            flat[at] = self._vectors.encoder.encode_passages([rows[place]["passage"] for place in at])
            self.encoded += len(at)
        missing = np.ones(len(rows), np.bool_)
        missing[at] = False
        return pa.FixedSizeListArray.from_arrays(pa.array(flat.ravel()), type=kind, mask=pa.array(missing))

    # ------------------------------------------------------------ committing

    def commit(self) -> Totals:
        self.flush()
        self._stream.close()
        now = self._write()
        if not {row.path for row in self.new.values() if not row.is_gone} <= now.files.keys():
            # LanceDB makes a table by overwriting what is there: of two first writers one may undo the other's commit.
            now = self._write()
        stats = now.stats
        return Totals(stats.documents, stats.passages)

    def _write(self) -> SharedCorpus:
        if self.new:
            lance_table.retry(self._where, self._add_rows)
            self._tidy()
        return SharedCorpus(self._where, lance_table.open_table(self._where))

    def _add_rows(self) -> None:
        self._table.checkout_latest()
        self._table.add(pa.RecordBatchReader.from_batches(self._schema, self._batches()))

    def _batches(self) -> Iterator[pa.RecordBatch]:
        with pa.ipc.open_stream(str(self._spool)) as stream:
            for batch in stream:
                yield batch.filter(pa.array(~np.isin(batch["file"].to_numpy(), list(self.dropped))))
        file_rows = [{"kind": FILE, **asdict(row)} for row in self.new.values()]
        yield pa.RecordBatch.from_pylist(file_rows, self._schema)

    def _tidy(self) -> None:
        """Left to the next writer if others are busy with it."""
        patiently = partial(lance_table.retry, self._where, attempts=3)
        with suppress(Passing):
            patiently(self._table.checkout_latest)
            superseded = contents.waste(self._file_rows())
            for start in range(0, len(superseded), _AT_ONCE):
                patiently(partial(self._table.delete, _delete_condition(superseded[start : start + _AT_ONCE])))
            patiently(self._table.optimize)


def _delete_condition(superseded: Sequence[Waste]) -> str:
    marks = ", ".join(str(mark) for group in superseded for mark in group.marks)
    numbers = ", ".join(str(number) for group in superseded for number in group.files)
    return f"mark IN ({marks})" + (f" OR (kind > {FILE} AND file IN ({numbers}))" if numbers else "")


def _passage_row(piece: Piece) -> dict[str, Any]:
    found_by = findable(piece.passage)
    return {
        "kind": PASSAGE,
        "key": piece.key,
        "number": piece.number,
        "start": piece.passage.source.start,
        "lead": piece.lead,
        "page": piece.passage.source.page,
        "section": piece.passage.source.section,
        "length": length(found_by.packed),
        "codes": found_by.packed,
        "terms": found_by.terms,
        "text": piece.text,
        "passage": piece.passage,
    }


update_shared = partial(run_update, SharedWriter)
