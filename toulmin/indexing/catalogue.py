"""The SQLite file of an index: files, documents and passages, and the transaction that makes an update visible.

* The row of `state` names the generation of the term index that belongs to these rows, and changes with them: a
  reader sees both old or both new, also after a crash or on a full disk.
* Write-ahead logging lets readers work beside the one writer. The system releases the lock of a dead writer.
* A row of `passages` holds the compressed text since the previous passage. Without its first `lead` characters it is
  the passage.
* A first update makes whole files visible now and then; the row of `part` counts them.
* Within a long file it commits too, to keep the log short. So tables without a `state` come from a killed update.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from toulmin.documents.plain import open_regular
from toulmin.errors import IndexDamaged, SourceError, cause_of, disk_full, is_disk_full
from toulmin.text.language import TERMS_VERSION

FILE = "corpus.sqlite"
FORMAT = 8  # raise it when the tables, the packing of terms or the weight of titles change
WRITER_WAIT_SECONDS = 5.0
_APPLICATION = 0x546F756C  # "Toul", which marks our SQLite files
_PAGE_BYTES = 8192  # rows of 700 bytes leave less of it empty than of SQLite's default of 4096
_READER_KILOBYTES = 16_000  # with SQLite's default of 2 MB each search reads its pages anew
_CACHE_KILOBYTES = 256_000  # room for the keys of ten million passages, which arrive in random order
# Of zlib: 4 KB of window, as a passage has 700 bytes; a larger one is slow to clear.
_LEVEL, _WINDOW, _MEMORY = 6, 12, 5
_CONTENT_ID = re.compile("[0-9a-f]{16}")


class Closable(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class NoIndex(SourceError):
    pass


class BeingWritten(SourceError):
    pass


@dataclass(slots=True)
class State:
    """Settings and totals of an index: distinct passages, their terms, and completed updates."""

    passage_words: int
    terms_version: int = TERMS_VERSION
    generation: int = 0
    passages: int = 0
    terms: int = 0
    updates: int = 0


class Rejection(NamedTuple):
    """Why a file is left out, and a digest of its content and of the program that tried."""

    reason: str
    tried: bytes


class Part(NamedTuple):
    """How much of a first update can be searched: `read` of the `files` files below `paths`."""

    paths: tuple[str, ...]
    read: int
    files: int

    def __str__(self) -> str:
        return f"Answered from {self.read} of {self.files} files; the rest is not indexed yet."


_STATE = ", ".join(column.name for column in fields(State))


# ---------------------------------------------------------------- opening


def how_to_make(index: Path | str) -> str:
    return f"run: toulmin index PATH --into {index}"


def open_for_reading(index: Path) -> sqlite3.Connection:
    """Opens a read-only connection. Raises SourceError if there is no index."""
    _check_folder(index)
    if not (index / FILE).is_file():
        raise no_index(index)
    with clear_errors(index):
        try:
            return _reader(index, "?mode=rw")
        except sqlite3.OperationalError as error:
            # A full or read-only disk has no room for a log, and needs none while there is nothing in it.
            log = index / f"{FILE}-wal"
            is_held = isinstance(_from_sqlite(index, error), BeingWritten)
            if is_held or (log.exists() and log.stat().st_size):
                raise
            return _reader(index, "?mode=ro&immutable=1")


def _reader(index: Path, mode: str) -> sqlite3.Connection:
    with close_on_error(_connect(index, mode)) as connection:
        connection.execute("PRAGMA query_only = 1")
        connection.execute(f"PRAGMA cache_size = -{_READER_KILOBYTES}")
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # the first access opens the log
        return connection


def open_for_writing(index: Path) -> sqlite3.Connection:
    """Opens a connection in a transaction that excludes other writers; creates a missing folder.

    Raises SourceError if the folder holds something else, or another process writes.
    """
    _check_folder(index)
    with clear_errors(index):
        index.mkdir(parents=True, exist_ok=True)
        if not (index / FILE).exists() and any(index.iterdir()):
            raise SourceError(f"{index} holds other files and no index; name a new or empty folder with --into.")
        with close_on_error(_connect(index, "?mode=rwc")) as connection:
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KILOBYTES}")
            connection.execute("BEGIN IMMEDIATE")
            return connection


def shut_others_out(connection: sqlite3.Connection) -> None:
    """Restarts the open transaction. Until `let_others_in` nobody else reads or writes, even after a commit."""
    connection.execute("ROLLBACK")
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN IMMEDIATE")


def let_others_in(connection: sqlite3.Connection) -> None:
    """Call it outside a transaction."""
    connection.execute("PRAGMA locking_mode = NORMAL")
    connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # the next access releases the locks


@contextmanager
def close_on_error(thing: C) -> Iterator[C]:
    try:
        yield thing
    except BaseException:
        thing.close()
        raise


def _connect(index: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        (index / FILE).absolute().as_uri() + mode,
        uri=True,
        timeout=WRITER_WAIT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )


def _check_folder(index: Path) -> None:
    if index.exists() and not index.is_dir():
        raise SourceError(f"{index} is a file; an index is a folder. Name a folder with --index or --into.")


def no_index(index: Path) -> SourceError:
    if any(index.glob("*.lance")):
        return SourceError(f"{index} holds a shared corpus of LanceDB; name it lance:{index}")
    return NoIndex(f"There is no index in {index}; to make one, {how_to_make(index)}")


# ---------------------------------------------------------------- state


def read_state(connection: sqlite3.Connection, index: Path) -> State:
    """Raises SourceError for no index or a foreign file, IndexDamaged for another version."""
    if is_new(connection, index):
        raise no_index(index)
    state = usable_state(connection)
    if state is None:
        raise IndexDamaged(f"The index in {index} was written by another version; {how_to_make(index)}")
    return state


def usable_state(connection: sqlite3.Connection) -> State | None:
    """None if written with another format or other terms."""
    if value(connection, "PRAGMA user_version") != FORMAT:
        return None
    row = connection.execute(f"SELECT {_STATE} FROM state").fetchone()
    return State(*row) if row and row[1] == TERMS_VERSION else None


def value(connection: sqlite3.Connection, query: str) -> Any:
    return connection.execute(query).fetchone()[0]


def is_new(connection: sqlite3.Connection, index: Path) -> bool:
    """Whether no update has finished. Raises SourceError for a foreign file."""
    if is_empty(connection):
        return True
    check_ours(connection, index)
    return is_unfinished(connection)


def is_empty(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever committed."""
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None


def is_unfinished(connection: sqlite3.Connection) -> bool:
    is_ours = value(connection, "PRAGMA user_version") == FORMAT
    return is_ours and connection.execute("SELECT 1 FROM state").fetchone() is None


def check_ours(connection: sqlite3.Connection, index: Path) -> None:
    """Raises SourceError for a file of another program."""
    if value(connection, "PRAGMA application_id") != _APPLICATION:
        raise SourceError(f"{index / FILE} belongs to another program; name another folder with --into.")


def make_tables(connection: sqlite3.Connection) -> None:
    """Replaces all tables by empty ones, inside the open transaction."""
    drop_tables(connection)
    for statement in resources.files("toulmin.indexing").joinpath("tables.sql").read_text("utf-8").split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def drop_tables(connection: sqlite3.Connection) -> None:
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    for (name,) in connection.execute(tables).fetchall():
        connection.execute(f'DROP TABLE "{name}"')


def give_back_space(connection: sqlite3.Connection) -> None:
    """Shrinks the file once a quarter of it is empty."""
    if 4 * value(connection, "PRAGMA freelist_count") > value(connection, "PRAGMA page_count"):
        # Run as a script, outside any transaction: `execute` would stop after the first page.
        connection.executescript("PRAGMA incremental_vacuum")


def write_state(connection: sqlite3.Connection, state: State) -> None:
    connection.execute("DELETE FROM state")
    connection.execute(f"INSERT INTO state ({_STATE}) VALUES (?, ?, ?, ?, ?, ?)", astuple(state))


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    # An index of an earlier version lacks some.
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone() is not None


def write_skipped(connection: sqlite3.Connection, reasons: Mapping[str, str], tried: Mapping[str, bytes]) -> None:
    connection.execute("DELETE FROM skipped")
    connection.execute("DELETE FROM rejected")
    connection.executemany("INSERT INTO skipped VALUES (?, ?)", sorted(reasons.items()))
    connection.executemany("INSERT INTO rejected VALUES (?, ?)", sorted(tried.items()))


def part_of(connection: sqlite3.Connection) -> Part | None:
    """None for a complete index."""
    row = connection.execute("SELECT paths, read, files FROM part").fetchone()
    return Part(tuple(json.loads(row[0])), *row[1:]) if row else None


def write_part(connection: sqlite3.Connection, part: Part | None) -> None:
    connection.execute("DELETE FROM part")
    if part is not None:
        connection.execute("INSERT INTO part VALUES (?, ?, ?)", (json.dumps(part.paths), part.read, part.files))


# ---------------------------------------------------------------- texts and keys


def compress(text: str) -> bytes:
    packing = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY)
    return packing.compress(text.encode()) + packing.flush()


def text_of(kept: bytes) -> str:
    """The inverse of `compress`; raises sqlite3.DatabaseError."""
    try:
        return zlib.decompress(kept).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise sqlite3.DatabaseError(f"the text of a passage cannot be unpacked ({error})") from error


def key_of(passage_id: str) -> int:
    """A content id as a signed 64-bit key. Raises ValueError for another kind of id."""
    if not _CONTENT_ID.fullmatch(passage_id):
        raise ValueError(f"a content id is 16 hexadecimal digits, not {passage_id!r}")
    return int.from_bytes(bytes.fromhex(passage_id), "big", signed=True)


def keys_of(passage_ids: Iterable[str]) -> list[int]:
    """The distinct keys, without malformed ids."""
    return [key_of(passage_id) for passage_id in dict.fromkeys(passage_ids) if _CONTENT_ID.fullmatch(passage_id)]


def id_of(key: int) -> str:
    return key.to_bytes(8, "big", signed=True).hex()


def among(keys: Sequence[int | str], column: str = "key") -> str:
    """An SQL condition for that many keys."""
    return f"{column} IN ({', '.join('?' * len(keys))})"


# ---------------------------------------------------------------- folders beside the database, named by a number


def numbered_folders(index: Path, kind: str) -> dict[str, int]:
    """The numbers of the folders of a kind ("terms", "vectors"), by name."""
    numbers = ((folder.name, folder.name.removeprefix(f"{kind}-")) for folder in index.glob(f"{kind}-*"))
    return {name: int(number) for name, number in numbers if number.isdigit()}


def next_number(index: Path, kind: str) -> int:
    """One above all folders, as a killed update may have left some."""
    return 1 + max(numbered_folders(index, kind).values(), default=0)


def remove_folders(index: Path, kind: str, keep: str | None) -> None:
    """Deletes all folders of a kind but one; open and mapped files stay readable."""
    for name in numbered_folders(index, kind).keys() - {keep}:
        shutil.rmtree(index / name, ignore_errors=True)


def sha256_of(path: Path) -> bytes:
    """Raises `OSError` for what is no regular file, without waiting for it."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").digest()


# ---------------------------------------------------------------- errors


@contextmanager
def clear_errors(index: Path) -> Iterator[None]:
    """Turns errors of SQLite and the file system into ours."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a bug of ours, such as using a closed corpus
    except sqlite3.Error as error:
        raise _from_sqlite(index, error) from error
    except OSError as error:
        raise disk_full(index) if is_disk_full(error) else cannot_write(index, cause_of(error)) from error


def cannot_write(index: Path, what: str) -> SourceError:
    return SourceError(f"{index} cannot be used ({what}); check the disk, and that the folder can be read and written.")


def damage_error(index: Path | str, what: str) -> IndexDamaged:
    return IndexDamaged(f"The index in {index} is damaged: {what}. Delete that folder and {how_to_make(index)}")


def _from_sqlite(index: Path, error: sqlite3.Error) -> SourceError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return BeingWritten(f"Another process is writing to {index}; wait until it has ended and try again.")
    if is_disk_full(error):
        return disk_full(index)
    # A file that ends too early is damaged; other read and write errors come from the disk.
    is_disk = name.startswith("SQLITE_IOERR") and name != "SQLITE_IOERR_SHORT_READ"
    if is_disk or name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH")):
        return cannot_write(index, str(error))
    return damage_error(index, str(error))
