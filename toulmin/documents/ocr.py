"""Reads scanned pages by optical character recognition (OCR): with RapidOCR (the extra `ocr`) or tesseract.

* Nothing is downloaded: RapidOCR's networks are in its wheel and are named by path.
* Lines and their boxes are kept by the file's SHA-256 and the page, since a page takes seconds.
"""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from shutil import which
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from toulmin.data import Box
from toulmin.errors import SourceError, UsageError

if TYPE_CHECKING:
    import pypdfium2

ENGINES = ("rapidocr", "tesseract")
SECONDS_A_PAGE = 60.0  # of computing, at most
_LANGUAGES = re.compile(r"[A-Za-z_+]*")
_DOTS_PER_POINT = 200 / 72
_MOST_PIXELS = 25_000_000  # of a page; a larger one is scaled down
_DEPTH = 3  # nested forms that may contain a page's image
_LEAST_CONFIDENCE = 0.5  # of a line; below are drawings and dirt


class ReadLine(NamedTuple):
    """A line that was read on a page; `confidence` is in 0..1."""

    text: str
    confidence: float
    box: Box


@dataclass(frozen=True, slots=True)
class Ocr:
    """The engine, and the folder of kept lines; `languages` are tesseract's (`deu+eng`)."""

    engine: str
    folder: str
    languages: str = "eng"


def choose_ocr(wanted: str | None, folder: Path) -> Ocr | None:
    """The engine to use. `wanted` is an engine, `tesseract:LANGUAGES`, "off", or None for the first installed one.

    Raises `UsageError` for an unknown engine and for one that is not installed.
    """
    if wanted == "off":
        return None
    engine, _, languages = (wanted or next(filter(_is_installed, ENGINES), "")).partition(":")
    if not engine:
        return None
    if engine not in ENGINES or not _LANGUAGES.fullmatch(languages):
        raise UsageError(
            f"ocr is {', '.join(ENGINES)}, tesseract:LANGUAGES such as tesseract:deu+eng, or off, not {wanted!r}."
        )
    if not _is_installed(engine):
        remedy = "pip install 'toulmin[ocr]'" if engine == "rapidocr" else "install the program tesseract"
        raise UsageError(f"ocr is set to {engine}, which is not installed: {remedy}, or set another.")
    return Ocr(engine, str(folder), languages or "eng")


def _is_installed(engine: str) -> bool:
    return which("tesseract") is not None if engine == "tesseract" else find_spec("rapidocr") is not None


def has_image(page: pypdfium2.PdfPage) -> bool:
    import pypdfium2.raw as pdfium  # here, as every update imports this module

    return next(page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=_DEPTH), None) is not None


def lines_kept(folder: Path, digest: str, page: int) -> list[ReadLine]:
    """The latest lines of a page, from 1, of the file with that SHA-256 in hex; empty if it was not read."""
    paths = _folder_of(folder, digest).glob(f"{page}.*.json")
    newest = max(paths, key=lambda path: path.stat().st_mtime_ns, default=None)
    return (newest and _load(newest, page)) or []


def _folder_of(folder: Path, digest: str) -> Path:
    return folder / digest[:2] / digest


def _load(path: Path, page: int) -> list[ReadLine] | None:
    try:
        rows = orjson.loads(path.read_bytes())
        return [ReadLine(text, confidence, Box(page, *box)) for text, confidence, box in rows]
    except (OSError, ValueError, TypeError):
        return None


@dataclass
class Recogniser:
    """Reads the scanned pages of one file; `confidences` are means by page, from 1."""

    ocr: Ocr
    digest: str
    confidences: dict[int, float] = field(default_factory=dict)

    def read(self, page: pypdfium2.PdfPage, number: int) -> Sequence[ReadLine]:
        kept = _folder_of(Path(self.ocr.folder), self.digest) / f"{number}.{self.ocr.engine}-{self.ocr.languages}.json"
        lines = _load(kept, number)
        if lines is None:
            lines = _engine(self.ocr.engine, self.ocr.languages).read(page, number)
            _keep(kept, lines)
        if lines:
            self.confidences[number] = fmean(line.confidence for line in lines)
        return lines


def _keep(path: Path, lines: Sequence[ReadLine]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(orjson.dumps([(line.text, line.confidence, astuple(line.box)[1:]) for line in lines]))
    part.replace(path)


# ---------------------------------------------------------------- pictures of pages


class _Picture:
    def __init__(self, page: pypdfium2.PdfPage, number: int) -> None:
        width, height = page.get_size()
        scale = min(_DOTS_PER_POINT, (_MOST_PIXELS / max(width * height, 1.0)) ** 0.5)
        bitmap = page.render(scale=scale, grayscale=True)
        self.dots = bitmap.to_numpy().squeeze()
        self.height, self.width = self.dots.shape
        self._places, self._number = bitmap.get_posconv(page), number

    def box(self, left: float, top: float, right: float, bottom: float) -> Box:
        """The page's box for a rectangle of pixels, counted from the upper left corner."""
        corners = (self._places.to_page(round(x), round(y)) for x, y in ((left, top), (right, bottom)))
        xs, ys = ([round(place, 2) for place in places] for places in zip(*corners, strict=True))
        return Box(self._number, min(xs), min(ys), max(xs), max(ys))


# ---------------------------------------------------------------- engines


@lru_cache(maxsize=1)
def _engine(name: str, languages: str) -> _RapidOcr | _Tesseract:
    return _RapidOcr() if name == "rapidocr" else _Tesseract(languages)


class _RapidOcr:
    def __init__(self) -> None:
        import rapidocr

        models = Path(rapidocr.__file__).parent / "models"
        params: dict[str, Any] = {"Global.log_level": "critical", "Global.use_cls": False}
        for part, pattern in (("Det", "*_det_*.onnx"), ("Rec", "*_rec_*.onnx"), ("Cls", "*_cls_*.onnx")):
            params[f"{part}.model_path"] = str(next(models.glob(pattern)))
        self._read = rapidocr.RapidOCR(params=params)

    def read(self, page: pypdfium2.PdfPage, number: int) -> list[ReadLine]:
        import numpy as np

        picture = _Picture(page, number)
        # Without the network that turns lines upside down: it turns upright ones now and then.
        result: Any = self._read(np.repeat(picture.dots[:, :, None], 3, axis=2), use_cls=False)
        if result.boxes is None:
            return []
        parts = []
        for corners, text, confidence in zip(result.boxes, result.txts, result.scores, strict=True):
            (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
            if text.strip() and confidence >= _LEAST_CONFIDENCE:
                parts.append(ReadLine(text.strip(), float(confidence), picture.box(left, top, right, bottom)))
        return parts


class _Tesseract:
    def __init__(self, languages: str) -> None:
        self._command = ["tesseract", "stdin", "stdout", "-l", languages, "--psm", "3", "--dpi", "200", "tsv"]

    def read(self, page: pypdfium2.PdfPage, number: int) -> list[ReadLine]:
        picture = _Picture(page, number)
        data = b"P5 %d %d 255\n" % (picture.width, picture.height) + picture.dots.tobytes()
        environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
        done = subprocess.run(self._command, input=data, capture_output=True, env=environment, check=False)
        if done.returncode:
            came = " ".join(done.stderr.decode("utf-8", "replace").split())
            raise SourceError(f"tesseract could not read page {number}: {came:.200}")
        rows = csv.DictReader(
            io.StringIO(done.stdout.decode("utf-8", "replace")), delimiter="\t", quoting=csv.QUOTE_NONE
        )
        words = [row for row in rows if row["level"] == "5" and (row["text"] or "").strip()]
        lines = groupby(words, lambda row: (row["block_num"], row["par_num"], row["line_num"]))
        found_lines = (_line(list(line), picture) for _, line in lines)
        return [line for line in found_lines if line.confidence >= _LEAST_CONFIDENCE]


def _line(words: Sequence[dict[str, Any]], picture: _Picture) -> ReadLine:
    sides = [[int(word[name]) for name in ("left", "top", "width", "height")] for word in words]
    right, bottom = (max(side[n] + side[n + 2] for side in sides) for n in (0, 1))
    confidence = fmean(float(word["conf"]) for word in words) / 100
    box = picture.box(min(side[0] for side in sides), min(side[1] for side in sides), right, bottom)
    return ReadLine(" ".join(word["text"].strip() for word in words), max(confidence, 0.0), box)
