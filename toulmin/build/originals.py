"""The files behind answers, and drafts to check: whether they are unchanged, and what children read of them.

* Children take every file apart. A file has one slot, so that what waits for it holds up no other file.
* What failed is not tried again until the file changes; after a busy moment, for a quarter of an hour.
* A file is hashed in a thread of its own, which nothing waits for without end: a dead network drive never answers.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import time
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import astuple, replace
from functools import lru_cache
from pathlib import Path
from threading import Thread
from typing import Any, Literal, NamedTuple
from weakref import WeakValueDictionary

from toulmin.config import cache_folder
from toulmin.data import BELOW, Answer, Box, Citation, Passage, Quote
from toulmin.documents.confined import Children, Job
from toulmin.documents.loaders import largest
from toulmin.documents.plain import Overdue, Unavailable
from toulmin.errors import SourceError
from toulmin.indexing.catalogue import sha256_of
from toulmin.originals import printer_of
from toulmin.prose.blocks import Remark
from toulmin.prose.files import ProseFile, document_from

State = Literal["same", "changed", "gone"]
_Pointer = tuple[str, Quote | None]
LOG = logging.getLogger("toulmin.build")
_SHOWN = 16  # files at once, for two children
_REMEMBERED = 1_000  # digests, and failures
_PATIENCE = 20.0  # seconds for the digest of a file
_MOST_LOOKS = 32  # files that are hashed at once
_OVERDUE = 900.0  # seconds until a file that took too long is tried again


class NoReply(SourceError):
    """A file that can be neither opened nor refused, as on a dead network drive."""

    http_status = 503


class _Look(NamedTuple):
    began: float
    digest: Future[str | None]


class Originals:
    """Belongs to one event loop; close it."""

    def __init__(self) -> None:
        self._children = Children(_SHOWN)
        self._slots = WeakValueDictionary[str, asyncio.Lock]()
        self._failures: dict[tuple[str, ...], tuple[str, float]] = {}
        self._looks: dict[str, _Look] = {}
        self._tasks = set[asyncio.Future[Mapping[str, Any]]]()

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._children.__exit__()

    # ---------------------------------------------------------------- whether a file is unchanged

    async def state(self, path: str | None, digest: str) -> State:
        """Compares the file with that SHA-256; without a path it is always the same. Raises `NoReply`."""
        now = digest if path is None else await self._digest(path)
        return "gone" if now is None else "same" if now == digest else "changed"

    async def _digest(self, path: str) -> str | None:
        """None for what is no readable regular file."""
        look = self._looks.get(path)
        if look is None and len(self._looks) < _MOST_LOOKS:
            look = self._looks[path] = _Look(time.monotonic(), Future())
            look.digest.add_done_callback(lambda _: self._looks.pop(path))
            Thread(target=_look, args=(path, look.digest), daemon=True).start()
        if look is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(look.began + _PATIENCE - time.monotonic()):
                    return await asyncio.shield(asyncio.wrap_future(look.digest))
        raise NoReply(f"{path} does not answer; check the drive that it is on, and try again.")

    # ---------------------------------------------------------------- what children read

    async def ask(self, path: Path, digest: str, job: Job, *values: Any, part: str = "") -> Mapping[str, Any]:
        """What a child answers about the file with that digest. Raises `SourceError`.

        A failure is remembered for the job and the `part` of the file. The work goes on if the caller is cancelled.
        """
        task = asyncio.ensure_future(self._ask(path, (digest, job, part), values))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    async def _ask(self, path: Path, key: tuple[str, Job, str], values: Sequence[Any]) -> Mapping[str, Any]:
        digest, job, _ = key
        slot = self._slots.setdefault(digest, asyncio.Lock())
        async with slot:
            reason, until = self._failures.get(key, ("", 0.0))
            if time.monotonic() < until:
                raise SourceError(reason)
            try:
                return await asyncio.wrap_future(self._children.submit(path, job, *values))
            except SourceError as error:
                self._remember(key, error)
                raise

    def _remember(self, key: tuple[str, ...], error: SourceError) -> None:
        if isinstance(error, Unavailable) and not isinstance(error, Overdue):
            return
        if len(self._failures) >= _REMEMBERED:
            del self._failures[next(iter(self._failures))]
        seconds = _OVERDUE if isinstance(error, Overdue) else math.inf
        self._failures[key] = str(error), time.monotonic() + seconds

    async def draft(self, path: Path) -> ProseFile:
        """The document to check. Raises `SourceError` as `read_prose` does."""
        digest = await self._digest(str(path)) or str(path)
        return document_from(path, await self.ask(path, digest, "toulmin.prose.files.read_apart"))

    async def commented(self, path: Path, remarks: Iterable[Remark]) -> bytes:
        """As `prose.word.comment_on`."""
        rows = [[astuple(remark.place), remark.text] for remark in remarks]
        digest = await self._digest(str(path)) or str(path)
        return b64decode((await self.ask(path, digest, "toulmin.prose.word.commented", rows))["copy"])

    async def picture(self, path: Path, digest: str, page: int, width: int) -> bytes:
        """As `originals.pdf_places.page_picture`."""
        drawn = await self.ask(path, digest, "toulmin.originals.pdf_places.draw", page, width, part=str(page))
        return b64decode(drawn["picture"])

    async def look(self, path: Path, digest: str, words: Sequence[str], start: int, row: int) -> Mapping[str, Any]:
        """As `originals.looks.show`."""
        return await self.ask(path, digest, "toulmin.originals.looks.show", words, start, row)

    async def layout(self, path: Path, digest: str, boxes: Iterable[Box]) -> Mapping[str, Any]:
        """The sizes of a PDF's pages, and the marks of the boxes."""
        return await self.ask(path, digest, "toulmin.originals.pdf_places.lay_out", list(map(astuple, boxes)))

    # ---------------------------------------------------------------- where words are printed

    async def with_boxes(self, answer: Answer) -> Answer:
        """The answer with boxes and page labels, or cells after the sections; none for a changed or lost file."""
        cited = {(c.passage, c.quote): answer.passage(c.passage) for claim in answer.claims for c in claim.citations}
        prints = await self._prints(cited)

        def place(citation: Citation) -> Citation:
            boxes, label = prints.get((citation.passage, citation.quote), ((), ""))
            if not boxes and label:
                above = citation.section_in(answer.passage(citation.passage))
                return replace(citation, section=BELOW.join(filter(None, [above, label])))
            return replace(citation, boxes=boxes, page_label=label)

        claims = (replace(claim, citations=tuple(map(place, claim.citations))) for claim in answer.claims)
        return replace(answer, claims=tuple(claims))

    async def boxes_of_passage(self, passage: Passage, quote: Quote | None = None) -> tuple[Box, ...]:
        """As `with_boxes`, for a passage, or words of it."""
        return (await self._prints({(passage.id, quote): passage})).get((passage.id, quote), ((), ""))[0]

    async def _prints(self, cited: Mapping[_Pointer, Passage]) -> dict[_Pointer, tuple[tuple[Box, ...], str]]:
        """The boxes of words, and the printed label of their first page."""
        by_path: dict[tuple[str, str], list[_Pointer]] = {}
        for pointer, passage in cited.items():
            source = passage.source
            if source.path is not None and printer_of(source.path):
                by_path.setdefault((source.path, source.digest), []).append(pointer)
        prints: dict[_Pointer, tuple[tuple[Box, ...], str]] = {}
        for (path, digest), pointers in by_path.items():
            try:
                if await self.state(path, digest) == "same":
                    rows = [_row(cited[pointer], pointer[1]) for pointer in pointers]
                    values = digest, str(cache_folder() / "ocr"), rows
                    answer = await self.ask(Path(path), digest, str(printer_of(path)), *values)
                    printed = ((tuple(Box(*row) for row in each), label) for each, label in answer["prints"])
                    prints |= zip(pointers, printed, strict=True)
            except SourceError as error:  # an answer is useful without boxes
                LOG.warning("the words cited of %(path)s have no boxes: %(error)s", {"path": path, "error": error})
        return prints


def _row(passage: Passage, quote: Quote | None) -> list[Any]:
    return [passage.text, passage.source.page, [quote.start, quote.end] if quote else [0, 0], passage.source.headings]


@lru_cache(_REMEMBERED)
def _sha256(path: str, _mtime_ns: int, _size: int) -> str:
    return sha256_of(Path(path)).hex()


def _look(path: str, digest: Future[str | None]) -> None:
    result = None
    with suppress(OSError, ValueError):
        status = os.stat(path)
        is_small = status.st_size <= largest(Path(path))
        result = _sha256(path, status.st_mtime_ns, status.st_size) if is_small else ""
    digest.set_result(result)
