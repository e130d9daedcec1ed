"""The cited files: whether they are unchanged, and where the words are on their pages.

A file is compared with the indexed one by SHA-256.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

from toulmin.config import cache_folder
from toulmin.data import Answer, Box, Passage, Quote, has_pages

State = Literal["same", "changed", "gone"]
LOG = logging.getLogger("toulmin.originals")
_REMEMBERED = 1_000  # digests of files


def state_of(path: str | None, digest: str) -> State:
    """Compares the file with that SHA-256; without a path it is always the same."""
    if path is None:
        return "same"
    try:
        status = Path(path).stat()
        now = _digest(path, status.st_mtime_ns, status.st_size)
    except OSError:
        return "gone"
    return "same" if now == digest else "changed"


@lru_cache(_REMEMBERED)
def _digest(path: str, _mtime_ns: int, _size: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def with_boxes(answer: Answer) -> Answer:
    """The answer with the boxes of its citations in PDFs; none for a file that is unreadable or changed."""
    cited = (citation for claim in answer.claims for citation in claim.citations)
    boxes = _boxes({(each.passage, each.quote): answer.passage(each.passage) for each in cited})
    if not boxes:
        return answer
    claims = (
        replace(claim, citations=tuple(replace(c, boxes=boxes.get((c.passage, c.quote), ())) for c in claim.citations))
        for claim in answer.claims
    )
    return replace(answer, claims=tuple(claims))


def boxes_of_passage(passage: Passage, quote: Quote | None = None) -> tuple[Box, ...]:
    """As `with_boxes`, for a passage, or words of it."""
    return _boxes({(passage.id, quote): passage}).get((passage.id, quote), ())


_Pointer = tuple[str, Quote | None]


def _boxes(cited: Mapping[_Pointer, Passage]) -> dict[_Pointer, tuple[Box, ...]]:
    by_path: dict[str, list[_Pointer]] = {}
    for pointer, passage in cited.items():
        source = passage.source
        if source.path is not None and has_pages(source.path) and state_of(source.path, source.digest) == "same":
            by_path.setdefault(source.path, []).append(pointer)
    boxes: dict[_Pointer, tuple[Box, ...]] = {}
    for path, pointers in by_path.items():
        from toulmin.documents.ocr import lines_kept
        from toulmin.originals.pdf_places import PdfQuote, boxes_of  # an answer without PDFs loads no PDFium

        scans = partial(lines_kept, cache_folder() / "ocr", cited[pointers[0]].source.digest)
        try:
            printed = boxes_of(Path(path), [PdfQuote(cited[pointer], pointer[1]) for pointer in pointers], scans)
        except Exception as error:  # an answer is useful without boxes
            LOG.warning("the words cited of %(path)s have no boxes: %(error)s", {"path": path, "error": error})
            continue
        boxes |= dict(zip(pointers, printed, strict=True))
    return boxes
