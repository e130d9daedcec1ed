"""Readers of a shared corpus."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Self

from toulmin.data import Passage
from toulmin.documents.loaders import Skipped
from toulmin.indexing.catalogue import key_of
from toulmin.indexing.store import in_order
from toulmin.stores.contents import About
from toulmin.stores.files import FileRow, newest


class Reader(ABC):
    """One moment of a shared corpus. Close it, or use it in a `with`."""

    folder: str
    files: Mapping[str, FileRow]  # by path, without removed files
    _about: About
    _passages: int  # distinct ones
    _terms: int  # in them

    def _take(self, rows: Iterable[FileRow]) -> None:
        self.files = {path: row for path, row in newest(rows).items() if not row.is_gone}

    def __len__(self) -> int:
        return self._passages

    @property
    def average_terms(self) -> float:
        return self._terms / max(1, self._passages)

    @property
    def passage_words(self) -> int:
        return self._about.passage_words

    def passage(self, passage_id: str) -> Passage:
        return self.passages([passage_id])[0]

    def passages(self, passage_ids: Sequence[str]) -> list[Passage]:
        return in_order(self._passages_of(keys_of(passage_ids)), passage_ids, self.folder)

    @abstractmethod
    def _passages_of(self, keys: Sequence[int]) -> Mapping[str, Passage]:
        """The existing passages, by id."""

    def skipped(self) -> list[Skipped]:
        return [Skipped(path, row.reason) for path, row in sorted(self.files.items()) if row.reason is not None]

    @property
    def contents(self) -> str:
        digests = sorted(row.digest for row in self.files.values() if row.file and row.digest is not None)
        return hashlib.sha256(b"".join(digests)).hexdigest()

    @abstractmethod
    def close(self) -> None:
        """Nothing may be asked afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def keys_of(passage_ids: Sequence[str]) -> list[int]:
    """The distinct keys; skips malformed ids."""
    keys = []
    for passage_id in dict.fromkeys(passage_ids):
        try:
            keys.append(key_of(passage_id))
        except ValueError:
            continue
    return keys
