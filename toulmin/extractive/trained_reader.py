"""A trained reader: the words that answer a question, or none.

The network reads the question with each window of sentences and scores each token as beginning and end; the first
token stands for no answer. The best span of all windows wins; `confidence.json` calibrates its confidence.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toulmin.data import Passage
from toulmin.errors import ModelError, UsageError
from toulmin.extractive.calibration import CutRank, weigh
from toulmin.runtime.network import Network, Row, Tokens
from toulmin.runtime.shipped import Part, part, settings
from toulmin.runtime.windows import heading, windows
from toulmin.steps import Cut, Span, chance

KIND = "reader"
FILE = "confidence.json"
LONGEST = 30  # tokens of an answer
_TRIED = 20  # best beginnings and ends that are paired
SIGNS = ("constant", "margin", "share", "windows", "odds")
_FARTHEST = 20.0  # log odds


class Frame(NamedTuple):
    """Makes rows of a question and a passage, in training and reading."""

    tokens: Tokens

    def views(self, question: str, passage: Passage) -> list[View]:
        room = self.tokens.room(question)
        title = heading(passage) if self.tokens.count(heading(passage)) * 2 <= room else ""
        left = room - (self.tokens.count(title) + 1 if title else 0)
        cut = windows([Passage.of(passage.text)], left, self.tokens.count)
        parts = (part for window in cut for part in window.parts)
        texts = ((part.start, title + passage.text[part.start : part.end]) for part in parts)
        return [View(self.tokens.row(question, text), passage, start, len(title)) for start, text in texts]

    def view(self, question: str, cut: Cut) -> View:
        """One row, after the passage's title."""
        title = f"{cut.passage.title}: " if cut.passage.title else ""
        row = self.tokens.row(question, title + cut.passage.text[cut.start : cut.end])
        return View(row, cut.passage, cut.start, len(title))


class View(NamedTuple):
    """A row; `start` is its window's offset in the passage, `title` the length of the title before it."""

    row: Row
    passage: Passage
    start: int
    title: int

    def characters(self, first: int, last: int) -> tuple[int, int]:
        """Start and end in the passage."""
        spans = self.row.spans
        begin, end = spans[first - self.row.second][0], spans[last - self.row.second][1]
        return begin - self.title + self.start, end - self.title + self.start

    @property
    def readable(self) -> range:
        spans = self.row.spans
        first = next((n for n, span in enumerate(spans) if span[0] >= self.title), len(spans))
        return range(self.row.second + first, self.row.second + len(spans))


class Best(NamedTuple):
    """The best span of a view: `margin` (logits) over no answer, `share` among the view's spans, log `odds` that the
    view answers.
    """

    view: View
    first: int
    last: int
    margin: float
    share: float
    odds: float


def best(view: View, logits: NDArray[np.float32]) -> Best | None:
    """The best span of at most `LONGEST` tokens; None without text. `logits` has the shape tokens x 2."""
    places = view.readable
    if not places:
        return None
    begins, ends = logits[:, 0], logits[:, 1]
    low, high = places.start, places.stop
    firsts = low + np.argsort(-begins[low:high], kind="stable")[:_TRIED]
    lasts = low + np.argsort(-ends[low:high], kind="stable")[:_TRIED]
    pairs = [(int(a), int(b)) for a in firsts for b in lasts if a <= b < a + LONGEST]
    pairs = pairs or [(int(firsts[0]), int(firsts[0]))]
    first, last = max(pairs, key=lambda pair: (begins[pair[0]] + ends[pair[1]], -pair[0], -pair[1]))
    score = float(begins[first] + ends[last])
    whole = float(_log_sum(begins)) + float(_log_sum(ends))
    none = float(begins[0] + ends[0])
    odds = math.log(max(math.expm1(min(whole - none, _FARTHEST)), math.exp(-_FARTHEST)))
    return Best(view, first, last, score - none, math.exp(min(0.0, score - whole)), min(_FARTHEST, odds))


def _log_sum(values: NDArray[np.float32]) -> float:
    top = float(values.max())
    return top + math.log(float(np.exp(values - top).sum()))


def signs(read: Sequence[Best]) -> tuple[float, ...]:
    """In the order of `SIGNS`; `read` has the likeliest first."""
    top = read[0]
    return (1.0, top.margin, top.share, math.log(len(read)), max(span.odds for span in read))


class Confidence(NamedTuple):
    """A logistic regression over `SIGNS`, and the least confidence that counts as an answer."""

    weights: tuple[float, ...]
    least: float

    def chance(self, values: Sequence[float]) -> float:
        return chance(weigh(self.weights, values))


def read_confidence(reader_part: Part) -> Confidence:
    """Raises `ModelError` if the part has none."""
    path = reader_part.file(FILE)
    try:
        fields = json.loads(path.read_text("utf-8"))
        confidence = Confidence(tuple(map(float, fields["weights"])), float(fields["least"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"{path} should hold a calibration by training/reader.py: {error!r}; export the reader again."
        ) from error
    weights, least = confidence
    if len(weights) != len(SIGNS) or not all(map(math.isfinite, weights)) or not 0 <= least <= 1:
        raise ModelError(f"{path} should weigh {', '.join(SIGNS)} by finite numbers; export the reader again.")
    return confidence


class TrainedReader:
    """The reader of a folder, or the installed one. Not thread-safe.

    Answers with a confidence below `least` (default: the calibration's) count as none. Raises `ModelError` if weights
    or libraries are missing, `UsageError` if `least` is not in 0..1.
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None = None, least: float | None = None, threads: int | None = None
    ) -> None:
        if least is not None and not 0 <= least <= 1:
            raise UsageError(f"A reader's least confidence should be in 0..1, not {least!r}.")
        reader_part = part(KIND, folder)
        self.name = reader_part.name
        self._confidence = read_confidence(reader_part)
        self.least = self._confidence.least if least is None else least
        self._frame = Frame(Tokens(reader_part.file("tokenizer.json"), settings(reader_part).max_tokens))
        self._network = Network(reader_part.file("model.onnx"), threads)

    def read(self, questions: Sequence[tuple[str, Sequence[Passage]]]) -> list[Span | None]:
        spans = self._spans(questions)
        return [span if span is not None and span.confidence >= self.least else None for span in spans]

    def likeliest(self, question: str, passages: Sequence[Passage]) -> Span | None:
        """However unlikely; None if there is no text."""
        return self._spans([(question, passages)])[0]

    def rank(self, question: str, cuts: Sequence[Cut]) -> list[CutRank] | None:
        """None by a network without the output for it."""
        if not self._network.ranks:
            return None
        views = [self._frame.view(question, cut) for cut in cuts]
        pairs = zip(views, self._network.outputs([view.row for view in views]), strict=True)
        return [CutRank(float(odds), partial(self._span, [(view, logits)])) for view, (logits, odds) in pairs]

    def _spans(self, questions: Sequence[tuple[str, Sequence[Passage]]]) -> list[Span | None]:
        seen = [
            [view for p in passages if question.strip() and p.text.strip() for view in self._frame.views(question, p)]
            for question, passages in questions
        ]
        logits = iter(self._network.logits([view.row for views in seen for view in views]))
        return [self._span([(view, next(logits)) for view in views]) for views in seen]

    def _span(self, read: Sequence[tuple[View, NDArray[np.float32]]]) -> Span | None:
        ranked = likeliest(read)
        if not ranked:
            return None
        top = ranked[0]
        quote = top.view.passage.quote(*top.view.characters(top.first, top.last))
        return Span(top.view.passage.id, quote, self._confidence.chance(signs(ranked)))


def likeliest(read: Sequence[tuple[View, NDArray[np.float32]]]) -> list[Best]:
    spans = [span for view, logits in read if (span := best(view, logits)) is not None]
    return sorted(spans, key=lambda span: -span.margin)
