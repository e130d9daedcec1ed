"""Bringing an index of shards up to date: one process reads, and a worker of its own writes each shard.

* `shards.place_of` assigns documents; every shard knows every file, by the same number.
* A document's number modulo the number of shards is its shard, so numbers follow the order of reading.
* All shards are written to disk, then made visible within milliseconds. An update killed in between leaves shards
  of different moments, which nobody reads and the next update rebuilds.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol

from toulmin.data import Document
from toulmin.documents.loaders import SkippedFile
from toulmin.errors import SourceError, ToulminError
from toulmin.indexing.catalogue import Rejection, clear_errors, close_on_error
from toulmin.indexing.shards import lay_out, place_of
from toulmin.indexing.update import IndexReport, Progress, bring_up_to_date
from toulmin.indexing.vector_files import EncoderChoice, OnEncoded
from toulmin.indexing.writer import CorpusWriter, Stamp, Totals, check_passage_words

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_CALLS = 200  # calls sent to a worker together
_CHARACTERS = 500_000  # of documents in one batch, about
_BEHIND = 40  # unanswered batches of a worker: as much as others do while it waits some seconds for the disk
_LOOK_SECONDS = 0.5
_PATIENCE_SECONDS = 20.0
_GONE = (EOFError, OSError)

Call = tuple[str, tuple[Any, ...]]


# ---------------------------------------------------------------- in the worker


@dataclass(frozen=True, slots=True)
class Known:
    """What a shard holds when an update begins. Only the first sends what all have."""

    stamps: dict[str, Stamp]
    rejections: dict[str, Rejection]
    outdated: frozenset[Path]
    updates: int
    last_document: int
    encoder: str | None


class Shard:
    """Writes one shard in the worker's process."""

    def __init__(self, folder: Path, passage_words: int | None, wanted: Callable[[], EncoderChoice | None]) -> None:
        """Waits for another writer; `wanted` makes the encoder. Raises what it and `CorpusWriter` raise."""
        self._folder, self._vectors = folder, wanted()
        with clear_errors(folder):
            self._writer = CorpusWriter(folder, passage_words)
        self._passages = 0
        self.on_encoded: OnEncoded = lambda done, total: None

    def do(self, calls: Sequence[Call]) -> tuple[int, Any]:
        """Runs calls of this class or the writer in order; returns the number of passages added and the last result."""
        self._passages, result = 0, None
        with clear_errors(self._folder):
            for name, values in calls:
                result = getattr(self if hasattr(self, name) else self._writer, name)(*values)
        return self._passages, result

    def known(self, is_first: bool) -> Known:
        writer, name = self._writer, self._vectors.encoder.name if self._vectors else None
        stamps, rejections = (writer.stamps(), writer.rejections) if is_first else ({}, {})
        return Known(stamps, rejections, writer.outdated, writer.updates, writer.last_document, name)

    def add_document(self, file: int, document: Document, number: int) -> None:
        self._writer.add_document(file, document, self._count, number)

    def _count(self) -> None:
        self._passages += 1

    def renew_vectors(self) -> int:
        return self._writer.renew_vectors(self._vectors, self.on_encoded)

    def leave(self) -> None:
        """Rolls back uncommitted changes."""
        self._writer.__exit__(None, None, None)


class Hand(Protocol):
    """A worker as the reading process sees it."""

    def send(self, calls: Sequence[Call]) -> None: ...

    def receive(self) -> tuple[int, Any]:
        """Waits for the result of `Shard.do` for the earliest unanswered calls; raises what it raised."""

    def is_done(self, seconds: float) -> bool:
        """Whether a result is ready, after waiting at most that many seconds."""

    def encoding_progress(self) -> tuple[int, int]:
        """The number of passages encoded, and of those to encode."""

    def close(self) -> None:
        """Ends the worker; uncommitted changes are lost."""


Hire = Callable[[Callable[[], Shard]], Hand]
"""Starts a worker; the function makes its shard there and must be picklable."""


# ---------------------------------------------------------------- in the reading process


def _none() -> None:
    """No encoder."""


def update_shards(
    index: Path,
    paths: Sequence[Path],
    *,
    shards: int,
    hire: Hire,
    passage_words: int | None = None,
    wanted: Callable[[], EncoderChoice | None] = _none,
    on_progress: Callable[[Progress], None] | None = None,
) -> IndexReport:
    """Updates an index of that many shards as `indexing.update` does.

    `wanted` is called in each worker and must be picklable. Raises what `indexing.update` and `hire` raise, and
    `SourceError` for another number of shards.
    """
    check_passage_words(passage_words)
    makes = [partial(Shard, folder, passage_words, wanted) for folder in lay_out(index, shards)]
    with ShardedWriter(makes, hire) as writer:
        report = bring_up_to_date(writer, paths, on_progress=on_progress, index_folder=index)
        return replace(report, encoder=writer.encoder)


class ShardedWriter(AbstractContextManager["ShardedWriter"]):
    """The writer of an index of shards; leaving the `with` without `commit` changes nothing."""

    def __init__(self, makes: Sequence[Callable[[], Shard]], hire: Hire) -> None:
        self._hands: list[_Busy] = []
        with close_on_error(self):
            # The first worker locks out other updates before they could lock the second shard.
            self._hands.append(_Busy(hire(makes[0])))
            first = self._hands[0].ask("known", True)
            self._hands += [_Busy(hire(make)) for make in makes[1:]]
            self._begin([first, *self._ask_each("known", False, of=self._hands[1:])])

    def _begin(self, known: Sequence[Known]) -> None:
        self.outdated: frozenset[Path] = frozenset().union(*(shard.outdated for shard in known))
        self.encoder = known[0].encoder
        self._stamps, self._rejections = known[0].stamps, known[0].rejections
        self._updates = 1 + max(shard.updates for shard in known)
        is_whole = len({shard.updates for shard in known}) == 1
        if not is_whole or (self.outdated and not self._stamps):
            self.outdated = frozenset().union(*self._ask_each("begin_anew"))
            self._stamps = {}
        self._files = max((stamp.number for stamp in self._stamps.values()), default=0)
        self._documents = max(shard.last_document for shard in known) // len(known)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for hand in self._hands:
            hand.close()

    def _ask_each(self, name: str, *values: Any, of: Sequence[_Busy] | None = None) -> list[Any]:
        hands = self._hands if of is None else of
        for hand in hands:
            hand.call(name, *values)
            hand.flush()
        return [hand.answer() for hand in hands]

    def _call_each(self, name: str, *values: Any) -> None:
        for hand in self._hands:
            hand.call(name, *values)

    # ------------------------------------------------------------ files and documents

    def files(self) -> list[tuple[int, str]]:
        return [(stamp.number, path) for path, stamp in self._stamps.items()]

    def stamp(self, path: Path) -> Stamp | None:
        return self._stamps.get(str(path))

    def rejected(self, path: Path) -> Rejection | None:
        return self._rejections.get(str(path))

    def note_time(self, stamp: Stamp) -> None:
        self._call_each("note_time", stamp)

    def add_file(self, path: Path, stamp: Stamp) -> int:
        self._files += 1
        self._call_each("add_file", path, stamp, self._files)
        return self._files

    def remove_file(self, number: int) -> None:
        self._call_each("remove_file", number)

    def add_document(self, file: int, document: Document, on_passage: Callable[[], None]) -> None:
        """Sends a document to its shard; `on_passage` is called later."""
        count = len(self._hands)
        place = place_of(document, count)
        self._documents += 1
        hand = self._hands[place]
        hand.on_passage = on_passage
        hand.call("add_document", file, document, self._documents * count + place, size=len(document.text))

    def note_skipped(self, roots: Sequence[Path], skipped: Sequence[SkippedFile], tried: Mapping[str, bytes]) -> None:
        self._call_each("note_skipped", roots, skipped, tried)

    # ------------------------------------------------------------ committing

    def renew_vectors(self, wanted: EncoderChoice | None, on_encoded: OnEncoded) -> int:
        """Ignores `wanted`: each worker has its encoder."""
        self._call_each("renew_vectors")
        for hand in self._hands:
            hand.flush()
        if self.encoder is not None:
            while not all(hand.is_done(_LOOK_SECONDS) for hand in self._hands):
                progress = [hand.encoding_progress() for hand in self._hands]
                on_encoded(sum(done for done, _ in progress), sum(total for _, total in progress))
        return sum(hand.answer() for hand in self._hands)

    def commit(self) -> Totals:
        self._ask_each("prepare", self._updates)
        totals = self._ask_each("commit")
        return Totals(sum(part.documents for part in totals), sum(part.passages for part in totals))


class _Busy:
    """Sends a worker its calls in batches and limits the backlog."""

    def __init__(self, hand: Hand) -> None:
        self._hand = hand
        self._calls: list[Call] = []
        self._characters = 0
        self._unanswered = 0
        self._last: Any = None
        self.on_passage: Callable[[], None] = lambda: None
        self.is_done, self.encoding_progress, self.close = hand.is_done, hand.encoding_progress, hand.close

    def call(self, name: str, *values: Any, size: int = 0) -> None:
        self._calls.append((name, values))
        self._characters += size
        if len(self._calls) >= _CALLS or self._characters >= _CHARACTERS:
            self.flush()
            while self._unanswered > _BEHIND:
                self._receive()

    def flush(self) -> None:
        if self._calls:  # the answer to an empty batch would hide that of the last call
            self._hand.send(self._calls)
            self._calls, self._characters = [], 0
            self._unanswered += 1

    def answer(self) -> Any:
        """Waits for all sent calls; returns the last result."""
        while self._unanswered:
            self._receive()
        return self._last

    def ask(self, name: str, *values: Any) -> Any:
        self.call(name, *values)
        self.flush()
        return self.answer()

    def _receive(self) -> None:
        passages, self._last = self._hand.receive()
        self._unanswered -= 1
        for _ in range(passages):
            self.on_passage()


# ---------------------------------------------------------------- workers that are local processes


class Process:
    """A worker in a process; a script that uses one needs `if __name__ == "__main__":`."""

    def __init__(self, make: Callable[[], Shard]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._encoded = context.Array("q", 2)
        self._process = context.Process(target=_work, args=(make, other, self._encoded), daemon=True)
        self._process.start()
        other.close()

    def send(self, calls: Sequence[Call]) -> None:
        with suppress(*_GONE):  # its last message can still be received
            self._pipe.send(calls)

    def receive(self) -> tuple[int, Any]:
        try:
            reply = self._pipe.recv()
        except _GONE as error:
            self._process.join(_PATIENCE_SECONDS)
            raise SourceError(
                f"A process that wrote a part of the index ended (exit code {self._process.exitcode}). Is memory"
                " short, or does the script that started it lack `if __name__ == '__main__':`? Nothing was changed;"
                " index again."
            ) from error
        if isinstance(reply, BaseException):
            raise reply
        result: tuple[int, Any] = reply
        return result

    def is_done(self, seconds: float) -> bool:
        return self._pipe.poll(seconds)

    def encoding_progress(self) -> tuple[int, int]:
        return self._encoded[0], self._encoded[1]

    def close(self) -> None:
        self._pipe.close()
        self._process.join(_PATIENCE_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _work(make: Callable[[], Shard], pipe: Connection, encoded: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the reading process is interrupted too, and closes the pipe
    # A worker makes many small values and no cycles; the garbage collector would scan them over and over.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    with suppress(*_GONE):
        try:
            _serve(make(), pipe, encoded)
        except ToulminError as error:
            pipe.send(error)
        except _GONE:
            raise
        except Exception as error:
            pipe.send(RuntimeError(f"{type(error).__name__}: {error}"))
            raise


def _serve(shard: Shard, pipe: Connection, encoded: Any) -> None:
    def note(done: int, total: int) -> None:
        encoded[:] = (done, total)

    shard.on_encoded = note
    waiting: Queue[Sequence[Call] | None] = Queue()
    Thread(target=_take_in, args=(pipe, waiting), daemon=True).start()
    try:
        while (calls := waiting.get()) is not None:
            pipe.send(shard.do(calls))
    finally:
        shard.leave()


def _take_in(pipe: Connection, waiting: Queue[Sequence[Call] | None]) -> None:
    """Reads calls while the shard waits for the disk, so the sender, which limits the backlog, is not blocked."""
    with suppress(*_GONE):
        while True:
            waiting.put(pipe.recv())
    waiting.put(None)
