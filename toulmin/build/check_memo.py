"""Checks of whole files kept on disk: where neither a file nor any source changed, nothing is done again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from toulmin import __version__
from toulmin.data import Answer
from toulmin.errors import UsageError
from toulmin.formats import answer_json
from toulmin.formats.findings import Finding
from toulmin.runtime.database import KeyedRows, Kind, row_digest

_KIND = Kind(
    "memo of checks",
    0x746D6368,
    "checks (key TEXT PRIMARY KEY, state TEXT, checked TEXT, digest TEXT)",
    "Delete it if it is one, or name another file.",
)

FORMAT = "5"  # raised with every change of what a check says; checks of another one are done again


def digest(*parts: str) -> str:
    """SHA-256, in hex, of parts, of the program's version and of the format."""
    return hashlib.sha256(json.dumps([__version__, FORMAT, *parts]).encode("ascii")).hexdigest()


class Checks(KeyedRows):
    """The last check of each file by the same settings, with the state of file and sources that it is of.

    The file of verdicts at `path` has this one beside it.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path.with_name(f"{path.stem}-checks{path.suffix}"), _KIND)

    def find(self, key: str, state: str) -> tuple[Answer, tuple[Finding, ...]] | None:
        """The check of that state; None where there is none, or it is damaged."""
        with self._clearly():
            row = self._file.execute("SELECT state, checked, digest FROM checks WHERE key = ?", (key,)).fetchone()
        if row is None or row[0] != state or row[2] != row_digest(key, row[1]):
            return None
        with suppress(ValueError, TypeError, KeyError, IndexError, UsageError):
            document, rows = json.loads(row[1])
            answer = answer_json.parse(document)
            passages = {passage.id: passage for passage in answer.passages}
            return answer, tuple(Finding(answer.claims[n], rule, passages.get(id), near) for n, rule, id, near in rows)
        return None

    def keep(self, key: str, state: str, answer: Answer, findings: Sequence[Finding]) -> None:
        """Replaces the check before."""
        numbers = {id(claim): n for n, claim in enumerate(answer.claims)}
        rows = [[numbers[id(f.claim)], f.rule, f.passage and f.passage.id, f.near] for f in findings]
        text = json.dumps([answer_json.document(answer), rows])
        with self._if_there_is_room(), self._file:
            statement = "INSERT OR REPLACE INTO checks (key, state, checked, digest) VALUES (?, ?, ?, ?)"
            self._file.execute(statement, (key, state, text, row_digest(key, text)))
