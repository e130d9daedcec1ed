"""Verdicts kept on disk: a pair that a judge has decided before, it does not decide again.

Rules of this file
* A verdict is kept under everything that determines it: the judge, and the titles, texts, claim and question of the
  pair. Where the passages came from is none of it.
* A row that does not prove itself by its digest is as good as none, and the next verdict takes its place.
* A database that is not ours is left as it is.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Protocol
from weakref import finalize

from toulmin.data import Quote
from toulmin.errors import ModelError, SourceError
from toulmin.grounding.steps import Pair, Verdict

FORMAT = "1"  # of keys; a verdict under a key of another one is never found
MARK = 0x746D656D  # SQLite's application id, by which a file is known to be ours
PATIENCE = 10.0  # seconds to wait for another process that writes
_ASKED_AT_ONCE = 500  # keys in a query; old builds of SQLite take 999


class Asked(Protocol):
    """The judge behind a memo: a `Judge`, which may have a `key`, a text of all that its verdicts depend on."""

    @property
    def name(self) -> str:
        """What a verdict calls it."""
        ...

    def judge(self, pairs: Sequence[Pair]) -> Any:
        """One verdict a pair, plain or to be awaited."""
        ...


class Remembered:
    """A judge whose verdicts are kept in the file at `path`, for this and later processes.

    Judges are told apart by their `key` (weights, precision, prompt), or by their name where they have none. Of equal
    pairs in one call the judge sees one. Verdicts of a call that raises are not kept. The file is made for its owner
    alone, since it quotes documents; several processes may share it, and deleting it, while nobody uses it, forgets
    everything. `asked` counts the pairs that the judge itself decided. Raises `SourceError` for a file that is no such
    memo, or that cannot be read or written.
    """

    def __init__(self, judge: Asked, path: str | os.PathLike[str]) -> None:
        self._judge = judge
        self._rows = Rows(Path(path))
        self._identity = str(getattr(judge, "key", judge.name))
        self.name = judge.name
        self.key = self._identity
        self.asked = 0

    async def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """One verdict a pair, in order."""
        keys = _keys(self._identity, pairs)
        found = self._rows.verdicts(dict.fromkeys(keys))
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in found}
        if missing:
            new = dict(zip(missing, await self._decided(list(missing.values())), strict=True))
            self._rows.keep(new)
            found |= new
        return [found[key] for key in keys]

    async def _decided(self, pairs: Sequence[Pair]) -> list[Verdict]:
        given = self._judge.judge(pairs)
        verdicts = list(await given if inspect.isawaitable(given) else given)
        if len(verdicts) != len(pairs) or not all(isinstance(verdict, Verdict) for verdict in verdicts):
            raise ModelError(
                f"The judge {self.name} gave {len(verdicts)} results for {len(pairs)} pairs; expected a Verdict each."
            )
        self.asked += len(pairs)
        return verdicts

    def close(self) -> None:
        """Closes the file."""
        self._rows.close()


def _keys(identity: str, pairs: Sequence[Pair]) -> list[str]:
    """SHA-256, in hex, of all that determines each verdict."""
    texts: dict[tuple[str, str], str] = {}
    keys = []
    for pair in pairs:
        for premise in pair.premises:
            shown = (premise.title, premise.text)
            if shown not in texts:
                texts[shown] = _sha(shown)
        premises = [texts[premise.title, premise.text] for premise in pair.premises]
        keys.append(_sha([FORMAT, identity, premises, pair.claim, pair.question]))
    return keys


def _sha(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode("ascii")).hexdigest()


# ---------------------------------------------------------------- the file


class Rows:
    """The verdicts of one file by key. Raises `SourceError` for a file that is no memo or cannot be used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._clearly():
            _make_for_owner(path)
            self._file = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            finalize(self, self._file.close)
            self._file.text_factory = lambda raw: raw.decode("ascii", "replace")  # damaged text is no crash
            self._prepare()

    def _prepare(self) -> None:
        """Makes the file a memo if it is empty; several processes may come at the same moment."""
        with self._file:
            self._file.execute("BEGIN IMMEDIATE")
            (mark,) = self._file.execute("PRAGMA application_id").fetchone()
            (tables,) = self._file.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if tables and mark != MARK:
                raise SourceError(f"{self._path} is a database, but no memo of verdicts; name another file.")
            self._file.execute(f"PRAGMA application_id = {MARK}")
            self._file.execute("CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, verdict TEXT, digest TEXT)")
        self._let_others_read()

    def _let_others_read(self) -> None:
        """Turns on the log by which others read while one writes; SQLite does not wait for its turn here by itself."""
        end = monotonic() + PATIENCE
        while True:
            try:
                self._file.execute("PRAGMA journal_mode = WAL")
                self._file.execute("PRAGMA synchronous = NORMAL")  # a power cut may cost the last verdicts, no more
                return
            except sqlite3.OperationalError:
                if monotonic() > end:
                    raise
                sleep(0.01)

    def verdicts(self, keys: Iterable[str]) -> dict[str, Verdict]:
        """Those of the keys that the file holds, damaged rows left out."""
        wanted = list(keys)
        found: dict[str, Verdict] = {}
        with self._clearly():
            for start in range(0, len(wanted), _ASKED_AT_ONCE):
                part = wanted[start : start + _ASKED_AT_ONCE]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, verdict, digest FROM verdicts WHERE key IN ({marks})"
                for key, text, digest in self._file.execute(query, part):
                    with suppress(ValueError, TypeError, AttributeError, KeyError):
                        if digest == _digest(key, text):
                            found[key] = _verdict(json.loads(text))
        return found

    def keep(self, verdicts: Mapping[str, Verdict]) -> None:
        """Keeps all of them in one step; a verdict takes the place of what stood under its key."""
        rows = [(key, text, _digest(key, text)) for key, verdict in verdicts.items() for text in [_text(verdict)]]
        with self._clearly(), self._file:
            self._file.execute("BEGIN IMMEDIATE")
            self._file.executemany("INSERT OR REPLACE INTO verdicts (key, verdict, digest) VALUES (?, ?, ?)", rows)

    @property
    def size(self) -> int:
        """How many rows there are."""
        with self._clearly():
            (count,) = self._file.execute("SELECT count(*) FROM verdicts").fetchone()
            return int(count)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    @contextmanager
    def _clearly(self) -> Iterator[None]:
        """Foreign errors as ours, saying which file and what to do."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # the last for a message of damaged bytes
            raise SourceError(
                f"The memo of verdicts {self._path} cannot be used: {error}. Delete it if it is one, or name another"
                " file."
            ) from error


def _make_for_owner(path: Path) -> None:
    """An empty file that only its owner may read; SQLite gives the files beside it the same rights."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _digest(key: str, text: str) -> str:
    return hashlib.sha256(f"{key} {text}".encode("ascii")).hexdigest()


def _text(verdict: Verdict) -> str:
    quotes = [quote and [quote.start, quote.end, quote.text] for quote in verdict.quotes]
    row = [verdict.label, verdict.support, verdict.contradiction, verdict.judge, quotes, verdict.reason]
    return json.dumps(row)


def _verdict(row: Sequence[Any]) -> Verdict:
    label, support, contradiction, judge, quotes, reason = row
    return Verdict(label, support, contradiction, judge, tuple(quote and Quote(*quote) for quote in quotes), reason)
