"""Files that clients send: kept in a folder beside the index, under names of ours, and read into the index.

Rules of this file
* A client's name for a file is shown, and never used as a path: ours is a hash of the bytes, and letters and digits.
* A file that cannot be read is told of by its own name, and not kept.
* One update of the index runs at a time; whoever else uploads waits.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from starlette.datastructures import UploadFile

from toulmin.build import indexes
from toulmin.config import Settings
from toulmin.data import content_id
from toulmin.documents.loaders import SUFFIXES
from toulmin.errors import SourceError

KINDS = frozenset(kind for kind in SUFFIXES if not kind.endswith(".gz"))
MOST_FILES = 50  # of one request
MOST_BYTES = 100_000_000  # of one request
_LONGEST_NAME = 60
_CHUNK = 1 << 20


class Kept(NamedTuple):
    """A file of a client: what he calls it, and where it lies; or why it is not kept."""

    name: str
    path: Path | None
    reason: str | None = None


class Uploads:
    """The uploaded files of one index."""

    def __init__(self, index: Path, settings: Settings) -> None:
        self._index, self._settings = index, settings
        self.folder = index.parent / f"{index.name}-uploads"
        self._turn = asyncio.Lock()

    async def add(self, files: Sequence[UploadFile]) -> dict[str, Any]:
        """Keeps and reads the files; which were read, which not and why. Raises `SourceError` where none came."""
        if not files:
            raise SourceError("An upload should hold one file or more in fields called `file`, but none came.")
        async with self._turn:
            kept = [await asyncio.to_thread(self._keep, file) for file in files]
            skipped = await asyncio.to_thread(self._read) if any(one.path for one in kept) else {}
            told = [self._outcome(one, skipped) for one in kept]
            if skipped:  # whose files are gone now, and need not be remembered
                await asyncio.to_thread(self._read)
        return {
            "read": [name for name, reason in told if reason is None],
            "skipped": [{"name": name, "reason": reason} for name, reason in told if reason is not None],
        }

    def holds(self, path: str | None) -> bool:
        """Whether the file of that path was uploaded."""
        return path is not None and self.folder.resolve() in Path(path).resolve().parents

    async def remove(self, path: str) -> None:
        """Takes an uploaded file out of the index again. Raises `SourceError` for a file that was not uploaded."""
        if not self.holds(path):
            raise SourceError("That document was not uploaded; whoever keeps its file can take it out of the index.")
        async with self._turn:
            await asyncio.to_thread(shutil.rmtree, Path(path).resolve().parent)
            await asyncio.to_thread(self._read)

    def _keep(self, file: UploadFile) -> Kept:
        name = file.filename or "unnamed"
        kind = suffix_of(name)
        if kind is None:
            return Kept(name, None, f"unknown kind; known: {', '.join(sorted(KINDS))}")
        digest = hashlib.file_digest(file.file, "sha256").hexdigest()  # type: ignore[arg-type]
        file.file.seek(0)
        path = self.folder / digest[:16] / f"{slug(name)}{kind}"
        shutil.rmtree(path.parent, ignore_errors=True)  # the same bytes under another name
        path.parent.mkdir(parents=True)
        beside = path.with_name("coming")
        with beside.open("wb") as out:
            shutil.copyfileobj(file.file, out, _CHUNK)
        os.replace(beside, path)
        return Kept(name, path)

    def _read(self) -> dict[str, str]:
        """Brings the index up to date with the folder; the files that could not be read, by path."""
        report = indexes.update_index([str(self.folder)], self._index, self._settings)
        return {str(Path(skipped.path).resolve()): skipped.reason for skipped in report.skipped}

    def _outcome(self, kept: Kept, skipped: dict[str, str]) -> tuple[str, str | None]:
        if kept.path is None:
            return kept.name, kept.reason
        reason = skipped.get(str(kept.path.resolve()))
        if reason is not None:
            shutil.rmtree(kept.path.parent, ignore_errors=True)
            reason = reason.replace(str(kept.path.resolve()), kept.name)  # the client knows no folders of ours
        return kept.name, reason


def suffix_of(name: str) -> str | None:
    """The kind of a file by the end of its name; None for one that is not taken: packed ones may unpack without end."""
    return max((kind for kind in KINDS if name.casefold().endswith(kind)), key=len, default=None)


def slug(name: str) -> str:
    """A name of letters, digits and dashes: what a title can be made of, and no path."""
    stem = re.sub(r"\.[^.]*$", "", name.casefold())
    plain = re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:_LONGEST_NAME]
    return plain or f"file-{content_id(name)}"
