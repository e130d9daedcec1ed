"""A PDF's pages as displayed, cropped and turned: sizes, pictures, and places of boxes."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from io import BytesIO
from itertools import starmap
from pathlib import Path
from typing import Any

import pypdfium2

from toulmin.data import Box
from toulmin.documents.pdf import open_pdf
from toulmin.documents.plain import cannot_read
from toulmin.originals.readable import Mark

_FINE = 1_000_000  # places are measured in such parts of a page's width and height
_PADDING = 0.15  # of a box's thickness; a mark is so much larger than the letters' ink
# WebP of this quality has half the bytes of PNG and is made in the same time (RESULTS.md).
_QUALITY, _EFFORT = 80, 0
_MOST_PIXELS = 16_000_000


def lay_out(path: Path, _most: int, boxes: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """For a child process: width and height of every page in points, and the marks of rows of boxes on displayed pages.

    Loads only pages with boxes. Raises `SourceError`.
    """
    with open_pdf(path) as pdf:
        marks = [_mark(pdf[box.page - 1], box) for box in starmap(Box, boxes) if box.page <= len(pdf)]
        return {"sizes": [pdf.get_page_size(n) for n in range(len(pdf))], "marks": list(map(asdict, marks))}


def page_picture(path: Path, page: int, width: int) -> bytes:
    """A displayed page as WebP of that width in pixels (less for a very long page).

    Raises `SourceError`, also for a missing page.
    """
    with open_pdf(path) as pdf:
        pdf.init_forms()  # so that what is filled in is drawn
        if not 1 <= page <= len(pdf):
            raise cannot_read(path, f"has {len(pdf)} pages, and no page {page}", "ask for one of them")
        across, along = pdf.get_page_size(page - 1)
        scale = min((width - 0.01) / max(across, 1), (_MOST_PIXELS / max(across * along, 1)) ** 0.5)  # rounded up
        picture = pdf[page - 1].render(scale=scale).to_pil()
    out = BytesIO()
    picture.save(out, "WEBP", quality=_QUALITY, method=_EFFORT)
    return out.getvalue()


def draw(path: Path, _most: int, page: int, width: int) -> dict[str, str]:
    """`page_picture` for a child process."""
    return {"picture": b64encode(page_picture(path, page, width)).decode("ascii")}


def _mark(page: pypdfium2.PdfPage, box: Box) -> Mark:
    """The box on the displayed page, a little larger than the letters."""
    pad = _PADDING * min(box.right - box.left, box.top - box.bottom)
    corners = [(x, y) for x in (box.left - pad, box.right + pad) for y in (box.bottom - pad, box.top + pad)]
    places = pypdfium2.PdfPosConv(page, (0, 0, _FINE, _FINE, 0))
    points = ([min(1.0, max(0.0, n / _FINE)) for n in places.to_bitmap(*corner)] for corner in corners)
    xs, ys = zip(*points, strict=True)
    return Mark(box.page, min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
