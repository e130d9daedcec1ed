"""Uploaded files, in a folder beside the index.

Rules of this file
* A client's file name is shown but never used as a path; our path is a hash of the bytes plus letters and digits.
* An unreadable file is reported by the client's name and not kept.
* All uploads together have a limit; what exceeds it is refused whole.
* One update of the index runs at a time; other uploads wait.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from starlette.datastructures import UploadFile

from toulmin.build import indexes
from toulmin.config import Settings
from toulmin.data import content_id
from toulmin.documents.loaders import SUFFIXES, suffix_of
from toulmin.errors import DiskFull, SourceError

KINDS = frozenset(kind for kind in SUFFIXES if not kind.endswith(".gz"))
MOST_FILES = 50  # of one request
MOST_BYTES = 100_000_000  # of one request
_LONGEST_NAME = 60
_CHUNK = 1 << 20


class Upload(NamedTuple):
    """The client's name and our path, or the reason for skipping the file."""

    name: str
    path: Path | None
    reason: str | None = None


class Uploads:
    def __init__(self, index: Path, settings: Settings) -> None:
        self._index, self._settings = index, settings
        self.folder = index.parent / f"{index.name}-uploads"
        self._turn = asyncio.Lock()

    async def add(self, files: Sequence[UploadFile]) -> dict[str, Any]:
        """The names of read and of skipped files, with reasons. Raises `SourceError` without files."""
        if not files:
            raise SourceError("An upload needs at least one file in a form field `file`, but none came.")
        async with self._turn:
            await asyncio.to_thread(self._check_room, sum(file.size or 0 for file in files))
            kept = [await asyncio.to_thread(self._keep, file) for file in files]
            skipped = await self._update() if any(upload.path for upload in kept) else {}
            outcomes = [self._outcome(upload, skipped) for upload in kept]
            if skipped:  # their files are deleted, so the index can drop them
                await self._update()
        return {
            "read": [name for name, reason in outcomes if reason is None],
            "skipped": [{"name": name, "reason": reason} for name, reason in outcomes if reason is not None],
        }

    def holds(self, path: str | None) -> bool:
        return path is not None and self.folder.resolve() in Path(path).resolve().parents

    def id_of(self, path: str) -> str | None:
        return Path(path).resolve().parent.name if self.holds(path) else None

    async def discard(self, id: str) -> None:
        if not re.fullmatch("[0-9a-f]{16}", id) or not (self.folder / id).is_dir():
            raise SourceError(f"There is no upload {id!r}; GET /v1/documents lists the unreadable ones.")
        await self.remove(str(self.folder / id / "file"))

    async def remove(self, path: str) -> None:
        """Deletes the file, also from the index. Raises `SourceError` if it is no upload."""
        if not self.holds(path):
            raise SourceError("That document was not uploaded; to remove it, delete its file and index again.")
        async with self._turn:
            await asyncio.to_thread(shutil.rmtree, Path(path).resolve().parent)
            await self._update()

    def _check_room(self, coming: int) -> None:
        held = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        if held + coming > self._settings.uploads_mb * 1_000_000:
            came = f"may hold {self._settings.uploads_mb:,} MB, not {held / 1e6:,.1f} and {coming / 1e6:,.1f} more"
            raise DiskFull(f"Uploads {came}: remove some (DELETE /v1/documents/N), or raise uploads_mb.")

    def _keep(self, file: UploadFile) -> Upload:
        name = file.filename or "unnamed"
        # None for unknown kinds and for packed files, which may unpack without end.
        if (kind := suffix_of(Path(name))) not in KINDS:
            return Upload(name, None, f"unknown kind; known: {', '.join(sorted(KINDS))}")
        digest = hashlib.file_digest(file.file, "sha256").hexdigest()  # type: ignore[arg-type]
        file.file.seek(0)
        path = self.folder / digest[:16] / f"{slug(name)}{kind}"
        shutil.rmtree(path.parent, ignore_errors=True)  # the same bytes under another name
        path.parent.mkdir(parents=True)
        beside = path.with_name("coming")
        with beside.open("wb") as out:
            shutil.copyfileobj(file.file, out, _CHUNK)
        os.replace(beside, path)
        return Upload(name, path)

    async def _update(self) -> dict[str, str]:
        return await indexes.until_cancelled(self._read)

    def _read(self, go_on: Callable[[object], None]) -> dict[str, str]:
        try:
            report = indexes.update_index([str(self.folder)], self._index, self._settings, go_on)
        except SourceError:
            if any(path.is_file() for path in self.folder.rglob("*")):
                raise
            return {}  # no upload is left, and the index knows it
        return {str(Path(skipped.path).resolve()): skipped.reason for skipped in report.skipped}

    def _outcome(self, kept: Upload, skipped: dict[str, str]) -> tuple[str, str | None]:
        if kept.path is None:
            return kept.name, kept.reason
        reason = skipped.get(str(kept.path.resolve()))
        if reason is not None:
            shutil.rmtree(kept.path.parent, ignore_errors=True)
            reason = reason.replace(str(kept.path.resolve()), kept.name)  # clients should not see our folders
        return kept.name, reason


def slug(name: str) -> str:
    stem = re.sub(r"\.[^.]*$", "", name.casefold())
    return re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:_LONGEST_NAME] or f"file-{content_id(name)}"
