"""Verdicts cached on disk.

* A key covers the judge and the pair's titles, texts, claim and question, but not the origin of the passages.
* A row with a wrong digest counts as missing; the next verdict replaces it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from toulmin.data import Quote
from toulmin.driver.kit import Judge, results_of
from toulmin.runtime.database import Kind, RowCache, row_digest
from toulmin.steps import Pair, Verdict
from toulmin.text.language import chunks

FORMAT = "1"  # of keys; verdicts with keys of another format are never found
_KIND = Kind("memo of verdicts", 0x746D656D, "verdicts (key TEXT PRIMARY KEY, verdict TEXT, digest TEXT)")
_ASKED_AT_ONCE = 500  # keys in a query; old builds of SQLite allow 999


class CachedJudge:
    """A judge whose verdicts are kept in the file at `path`, which only the owner may read, since it quotes documents.

    Judges differ by `key`, else by name. The judge sees equal pairs of a call once; `asked` counts the pairs that it
    decides. A call that raises keeps nothing. Processes may share the file. Raises `SourceError` for a file of another
    kind, or one that cannot be read or written.
    """

    def __init__(self, judge: Judge, path: str | os.PathLike[str]) -> None:
        self._judge = judge
        self._rows = Rows(Path(path))
        self.key = str(getattr(judge, "key", judge.name))
        self.name = judge.name
        self.asked = 0

    async def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        keys = _keys(self.key, pairs)
        verdicts = self._rows.verdicts(dict.fromkeys(keys))
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in verdicts}
        if missing:
            new = dict(zip(missing, await self._decide(list(missing.values())), strict=True))
            self._rows.keep(new)
            verdicts |= new
        return [verdicts[key] for key in keys]

    async def _decide(self, pairs: Sequence[Pair]) -> list[Verdict]:
        verdicts = await results_of(f"judge {self.name}", self._judge.judge, pairs, Verdict)
        self.asked += len(pairs)
        return verdicts

    def close(self) -> None:
        self._rows.close()


def _keys(identity: str, pairs: Sequence[Pair]) -> list[str]:
    """SHA-256, in hex."""
    digest = cache(_sha)  # pairs share premises
    texts = [[[digest((p.title, p.text)) for p in group] for group in (pair.premises, pair.read)] for pair in pairs]
    rows = zip(texts, pairs, strict=True)
    return [_sha([FORMAT, identity, digests, pair.claim, pair.question]) for digests, pair in rows]


def _sha(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode("ascii")).hexdigest()


class Rows(RowCache):
    def __init__(self, path: Path) -> None:
        super().__init__(path, _KIND)

    def verdicts(self, keys: Iterable[str]) -> dict[str, Verdict]:
        """Damaged rows are left out."""
        by_key: dict[str, Verdict] = {}
        with self._clearly():
            for part in chunks(keys, _ASKED_AT_ONCE):
                marks = ",".join("?" * len(part))
                query = f"SELECT key, verdict, digest FROM verdicts WHERE key IN ({marks})"
                for key, text, digest in self._file.execute(query, part):
                    with suppress(ValueError, TypeError, AttributeError, KeyError):
                        if digest == row_digest(key, text):
                            by_key[key] = _verdict(json.loads(text))
        return by_key

    def keep(self, verdicts: Mapping[str, Verdict]) -> None:
        """Replaces older verdicts, in one transaction."""
        rows = [(key, text, row_digest(key, text)) for key, verdict in verdicts.items() for text in [_text(verdict)]]
        with self._if_there_is_room(), self._file:
            self._file.execute("BEGIN IMMEDIATE")
            self._file.executemany("INSERT OR REPLACE INTO verdicts (key, verdict, digest) VALUES (?, ?, ?)", rows)


def _text(verdict: Verdict) -> str:
    quotes = [quote and [quote.start, quote.end, quote.text] for quote in verdict.quotes]
    row = [verdict.label, verdict.support, verdict.contradiction, verdict.judge, quotes, verdict.reason]
    return json.dumps(row)


def _verdict(row: Sequence[Any]) -> Verdict:
    label, support, contradiction, judge, quotes, reason = row
    return Verdict(label, support, contradiction, judge, tuple(quote and Quote(*quote) for quote in quotes), reason)
