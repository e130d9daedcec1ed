"""The vectors of an index on disk: a folder, named by the database, whose files are never edited.

* The row of `vectors` changes in the transaction that makes an update visible. An index without vectors has no row,
  and perhaps no table.
* An update keeps the vectors of unchanged passages and encodes the rest. The next update uses what a killed one
  encoded, from a folder of parts.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from toulmin.indexing.catalogue import among, damage_error, has_table, next_number, sha256_of, text_of
from toulmin.indexing.packed_vectors import CANDIDATES, Keys, PackedVectors, Places, best, pack
from toulmin.runtime.encoder import Encoder, Vectors

if TYPE_CHECKING:
    from toulmin.indexing.nearest import Nearest

_PARTS = "vectors-parts"
_BLOCK = 65_536  # vectors that are gathered at once
_CHUNK = 128  # passages encoded before their vectors are written to disk
_NEAREST = "nearest.faiss"
_ARRAYS = ("keys", "scales", "codes")
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (folder TEXT, label TEXT, digests TEXT)"


OnEncoded = Callable[[int, int], None]
"""Receives the counts of encoded passages and of all."""


@dataclass(frozen=True, slots=True)
class Label:
    """The encoder that made the vectors."""

    identity: str
    name: str
    spec: str
    dimension: int


class EncoderChoice(NamedTuple):
    """`spec` is how the encoder was requested."""

    encoder: Encoder
    spec: str

    @property
    def label(self) -> Label:
        return Label(self.encoder.identity, self.encoder.name, self.spec, self.encoder.dimension)


class VectorEntry(NamedTuple):
    """The database's entry; `digests` are the SHA-256 of each file."""

    folder: str
    label: Label
    digests: Mapping[str, str]


class _Text(NamedTuple):
    title: str
    text: str


# ---------------------------------------------------------------- reading


def current_vectors(connection: sqlite3.Connection) -> VectorEntry | None:
    """None without vectors. Raises sqlite3.DatabaseError for an unreadable entry."""
    if not has_table(connection, "vectors"):
        return None
    row = connection.execute("SELECT folder, label, digests FROM vectors").fetchone()
    try:
        return VectorEntry(str(row[0]), Label(**json.loads(row[1])), dict(json.loads(row[2]))) if row else None
    except (ValueError, TypeError) as error:
        raise sqlite3.DatabaseError(f"what it says of its vectors cannot be read ({error})") from error


class VectorStore:
    """The vectors of an index, open for reading; thread-safe."""

    def __init__(self, index: Path, named: VectorEntry) -> None:
        """Raises `IndexDamaged`."""
        self.label = named.label
        self._index, self._folder, self._digests = index, index / named.folder, named.digests
        try:
            # Mapped, so an update may delete the folder while it is read.
            arrays = [np.load(self._folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in _ARRAYS]
        except (OSError, ValueError, EOFError) as error:
            raise damage_error(index, f"its vectors in {named.folder} cannot be read ({error})") from error
        self.packed = PackedVectors(*arrays)
        count = len(self.packed.keys)
        if self.packed.codes.shape != (count, named.label.dimension) or self.packed.scales.shape != (count,):
            raise damage_error(index, f"the files of {named.folder} are not of one size")
        self._nearest: Nearest | None = None
        self._places: Places | None = None  # rows of a limited search

    def limit(self, keys: Keys) -> VectorStore:
        """Only the vectors of these keys, all of which are compared with a query."""
        view = copy(self)
        view._places = np.searchsorted(self.packed.keys, keys)
        return view

    def nearest(self) -> Nearest | None:
        """None without faiss, or if the index was made without it."""
        path = self._folder / _NEAREST
        if self._nearest is None and find_spec("faiss") is not None and path.is_file():
            from toulmin.indexing.nearest import Nearest

            self._nearest = Nearest(self._index, path, len(self.packed.keys))
        return self._nearest

    @property
    def is_scanned(self) -> bool:
        return self._places is None and self.nearest() is None

    def rank(self, rows: Vectors, k: int) -> list[list[tuple[str, float]]]:
        nearest = self.nearest() if self._places is None else None
        if nearest is None:
            packed = self.packed if self._places is None else self.packed.at(self._places)
            return [best(packed.keys, scores, k) for scores in packed.scores(rows)]
        candidates = map(self.packed.at, nearest.places(rows, CANDIDATES * k))
        return [best(near.keys, near.scores(row[None])[0], k) for row, near in zip(rows, candidates, strict=True)]

    def verify(self, keys: Keys) -> None:
        """Raises `IndexDamaged` unless files and `keys` are as written."""
        if not np.array_equal(self.packed.keys, keys):
            raise damage_error(self._index, "the vectors are not those of its passages")
        if _digests(self._folder) != self._digests:
            raise damage_error(self._index, "the files of its vectors are not as they were written")


def keys_in(connection: sqlite3.Connection) -> Keys:
    """The distinct keys, ascending."""
    rows = connection.execute("SELECT DISTINCT key FROM passages ORDER BY key")
    return np.fromiter((key for (key,) in rows), np.int64)


# ---------------------------------------------------------------- writing


def forget(connection: sqlite3.Connection) -> None:
    if current_vectors(connection) is not None:
        connection.execute("DELETE FROM vectors")


def renew(index: Path, connection: sqlite3.Connection, wanted: EncoderChoice, on_encoded: OnEncoded) -> int:
    """Updates the vectors inside the open transaction; returns how many passages were encoded.

    The encoder's errors pass through and change nothing.
    """
    label, keys, named = wanted.label, keys_in(connection), current_vectors(connection)
    before = []
    if named is not None and named.label.identity == label.identity:
        before.append(VectorStore(index, named).packed)
        is_whole = find_spec("faiss") is None or _NEAREST in named.digests  # faiss may be installed since
        if np.array_equal(before[0].keys, keys) and is_whole:
            connection.execute("UPDATE vectors SET label = ?", (json.dumps(asdict(label)),))
            return 0
    known = np.concatenate([source.keys for source in (*before, _read_parts(index, label))])
    missing = np.setdiff1d(keys, known)
    for start in range(0, len(missing), _CHUNK):
        batch = missing[start : start + _CHUNK]
        on_encoded(start, len(missing))
        vectors = wanted.encoder.encode_passages(_texts(connection, batch.tolist()))
        _add_part(index, label, pack(batch, vectors))
    if len(missing):
        on_encoded(len(missing), len(missing))
    _write(index, connection, label, keys, [*before, _read_parts(index, label)])
    return len(missing)


def _texts(connection: sqlite3.Connection, keys: Sequence[int]) -> list[_Text]:
    columns = "SELECT p.key, d.title, p.text, p.lead FROM passages AS p JOIN documents AS d ON d.number = p.document"
    rows = connection.execute(f"{columns} WHERE {among(keys, 'p.key')}", keys)
    texts = {key: _Text(title, text_of(kept)[lead:]) for key, title, kept, lead in rows}
    return [texts[key] for key in keys]


def _write(
    index: Path, connection: sqlite3.Connection, label: Label, keys: Keys, sources: Sequence[PackedVectors]
) -> None:
    """Writes a new folder and names it; the sources must cover all keys."""
    folder = index / f"vectors-{next_number(index, 'vectors'):08d}"
    folder.mkdir()
    vectors = _gather(folder, label, keys, sources)
    if find_spec("faiss") is not None and len(keys):
        from toulmin.indexing.nearest import build

        build(vectors, folder / _NEAREST)
    for path in folder.iterdir():
        with path.open("rb+") as file:
            _flush_to_disk(file)
    connection.execute(_TABLE)
    connection.execute("DELETE FROM vectors")
    row = (folder.name, json.dumps(asdict(label)), json.dumps(_digests(folder)))
    connection.execute("INSERT INTO vectors VALUES (?, ?, ?)", row)


def _gather(folder: Path, label: Label, keys: Keys, sources: Sequence[PackedVectors]) -> PackedVectors:
    """Copies block by block; sources and arrays are mapped, not read."""
    count = len(keys)
    np.save(folder / "keys.npy", keys)
    scales = _array(folder / "scales.npy", np.float32, (count,))
    codes = _array(folder / "codes.npy", np.int8, (count, label.dimension))
    known = np.concatenate([source.keys for source in sources])
    order = np.argsort(known, kind="stable")
    places = order[np.searchsorted(known, keys, sorter=order)]
    first = 0
    for source in sources:
        mine = np.flatnonzero((places >= first) & (places < first + len(source.keys)))
        for start in range(0, len(mine), _BLOCK):
            at = mine[start : start + _BLOCK]
            scales[at], codes[at] = source.scales[places[at] - first], source.codes[places[at] - first]
        first += len(source.keys)
    return PackedVectors(keys, scales, codes)


def _array(path: Path, kind: npt.DTypeLike, shape: tuple[int, ...]) -> Any:
    if 0 in shape:
        np.save(path, np.empty(shape, kind))
        return np.empty(shape, kind)
    array = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=shape)
    if hasattr(os, "posix_fallocate"):  # to write into a mapped file that has no room ends the process
        with path.open("rb+") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return array


def _flush_to_disk(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())


def _digests(folder: Path) -> dict[str, str]:
    return {path.name: sha256_of(path).hex() for path in sorted(folder.iterdir())}


# ---------------------------------------------------------------- parts


def _part(index: Path, label: Label) -> tuple[Path, np.dtype[Any]]:
    record = np.dtype([("key", "<i8"), ("scale", "<f4"), ("codes", "i1", (label.dimension,))])
    return index / _PARTS / f"{label.identity[:32]}.bin", record


def _add_part(index: Path, label: Label, vectors: PackedVectors) -> None:
    path, record = _part(index, label)
    path.parent.mkdir(exist_ok=True)
    rows = np.empty(len(vectors.keys), record)
    rows["key"], rows["scale"], rows["codes"] = vectors.keys, vectors.scales, vectors.codes
    with path.open("ab") as file:
        file.write(rows.tobytes())
        _flush_to_disk(file)


def _read_parts(index: Path, label: Label) -> PackedVectors:
    """Cuts off a record that a killed update left unfinished."""
    path, record = _part(index, label)
    whole = path.stat().st_size // record.itemsize if path.is_file() else 0
    if not whole:
        rows: Any = np.empty(0, record)
    else:
        os.truncate(path, whole * record.itemsize)
        rows = np.memmap(path, record, "r", shape=(whole,))
    return PackedVectors(rows["key"], rows["scale"], rows["codes"])


def remove_parts(index: Path) -> None:
    shutil.rmtree(index / _PARTS, ignore_errors=True)
