"""Encoding ahead: an idle server encodes the passages of its index, so that no search by meaning waits for vectors.

The vectors are kept; a changed index is encoded again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import islice
from threading import Event, Thread
from typing import NamedTuple

from toulmin.errors import ModelError, ToulminError
from toulmin.indexing.corpus import AnyCorpus
from toulmin.retrieval.reranking import VectorCache

MOST = 200_000  # passages: an hour of two cores, 150 MB; a larger index is encoded on demand
_AT_ONCE = 8  # passages between two checks whether somebody asks
_LOOK_AFTER = 2.0  # seconds between two checks of the index
_BUSY = 0.05  # seconds between two checks of a busy server


class EncodingProgress(NamedTuple):
    """How many passages have vectors, and the seconds until all do (None: unknown)."""

    done: int
    total: int
    seconds_left: float | None


class Ahead:
    """Encodes in a separate thread between `start` and `stop`.

    `open_index` opens the current index; `is_idle` is true while nobody waits for an answer.
    """

    def __init__(
        self,
        open_index: Callable[[], AbstractContextManager[AnyCorpus]],
        vectors: VectorCache,
        is_idle: Callable[[], bool],
    ) -> None:
        self._open_index, self._vectors, self._is_idle = open_index, vectors, is_idle
        self._is_over = Event()
        self._thread = Thread(target=self._work, name="toulmin ahead", daemon=True)
        self.progress: EncodingProgress | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while not self._is_over.is_set():
            try:
                with self._open_index() as corpus:
                    if len(corpus) <= MOST and self._vectors.is_kept:
                        self._encode(corpus)
                    self._wait_for_change(corpus)
            except ModelError:  # the encoder does not load; answers report it
                return
            except ToulminError:  # the index is being rebuilt or damaged; answers report it
                self._is_over.wait(_LOOK_AFTER)

    def _encode(self, corpus: AnyCorpus) -> None:
        done, made, taken, passages = 0, 0, 0.0, corpus.every_passage()
        while part := list(islice(passages, _AT_ONCE)):
            while not self._is_idle():
                if self._is_over.wait(_BUSY):
                    return
            started = time.monotonic()
            new = self._vectors.make_ahead(part)
            made, taken = made + new, taken + (time.monotonic() - started if new else 0.0)
            done += len(part)
            left = (len(corpus) - done) * taken / made if made else None
            self.progress = EncodingProgress(done, len(corpus), left if done < len(corpus) else 0.0)
            if self._is_over.is_set():
                return

    def _wait_for_change(self, corpus: AnyCorpus) -> None:
        while not self._is_over.wait(_LOOK_AFTER) and corpus.stamp() == corpus.opened_at:
            pass
