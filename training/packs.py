"""Rows of tokens as arrays, in files that `packing.py` writes. It needs numpy only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

UNKNOWN = 255  # of a token's mark
Rows = NDArray[np.int64]


class Pack(NamedTuple):
    """Rows of tokens, flat, and what is known of each: all arrays but `ids` and `marks` have one value a row.

    `first` and `last` are the answer's tokens, 0 for none, -1 if unknown; `teacher` a probability of support, or NaN;
    `overlap` the share of the claim's words in its evidence; `marks` 1 for a token of the claim that is wrong;
    `question` the same number for all blocks of a question, -1 for a claim.
    """

    ids: NDArray[np.uint16]
    marks: NDArray[np.uint8]
    sizes: Rows
    second: Rows
    verdict: Rows
    vague: Rows
    block: Rows
    first: Rows
    last: Rows
    source: Rows
    question: Rows
    teacher: NDArray[np.float32]
    overlap: NDArray[np.float32]
    names: list[str]

    @property
    def starts(self) -> Rows:
        return np.cumsum(self.sizes) - self.sizes

    def save(self, file: Path) -> None:
        """Writes the rows, as narrow as they are."""
        small = {name: value.astype(np.int16) for name, value in self._asdict().items() if name in _NARROW}
        wide = {name: getattr(self, name) for name in ("ids", "marks", "teacher", "overlap")}
        wide["question"] = self.question.astype(np.int32)
        np.savez_compressed(file, **small, **wide, names=np.array(self.names))


_NARROW = ("sizes", "second", "verdict", "vague", "block", "first", "last", "source")
_ROWS = (*_NARROW, "question")


def load(files: Sequence[Path]) -> Pack:
    """The rows of these files, one after the other."""
    parts = [np.load(file) for file in files]
    names = list(dict.fromkeys(str(name) for part in parts for name in part["names"]))
    columns: dict[str, Any] = {}
    for name in Pack._fields[:-1]:
        arrays = [part[name] for part in parts]
        if name == "source":
            arrays = [np.array([names.index(str(n)) for n in part["names"]])[part[name]] for part in parts]
        if name == "question":  # the files number theirs alike
            arrays = [np.where(part >= 0, part * len(parts) + n, -1) for n, part in enumerate(arrays)]
        columns[name] = np.concatenate(arrays).astype(np.int64 if name in _ROWS else arrays[0].dtype)
    return Pack(**columns, names=names)
