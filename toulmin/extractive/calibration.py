"""A reader's scores of windows as chances: that a window answers, and that the words in it are right.

Both are logistic regressions, fitted by `training/fit_silence.py` to sets in which half of the questions have an
answer. A network trained on single windows is too sure of a near miss among many; the window's share of the question
separates the two. Long questions, mostly of two steps, have no window that answers them wholly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from toulmin.extractive.analysis import weight
from toulmin.steps import Cut, Rating, Span, chance
from toulmin.text.language import content_terms


class CutRank:
    """The log odds that a cut answers, and the likeliest words, which a reader may find on demand."""

    def __init__(self, odds: float, span: Span | Callable[[], Span | None] | None) -> None:
        self.odds = odds
        self._span = span

    @cached_property
    def span(self) -> Span | None:
        return self._span() if callable(self._span) else self._span


# A constant, the log odds of the window, its share of the question, and the question's terms beyond five.
ANSWERS = (-0.9, 0.41, 1.94, 0.17)
WHOLE = (-1.04, 0.46, 2.5, -0.51)  # the same for a single passage
# A constant, the log odds of the reader's confidence and of the window, the numbers of the answer's words and of the
# question's terms.
RIGHT = (0.37, 0.42, 0.16, -0.22, -0.14)
_USUAL_TERMS = 5
# Weights of the log odds that a window answers and of its cosine (by the installed encoder) with the question, and a
# constant; chosen on the train questions of two folders.
_ODDS, _COSINE, _BAR = 0.5, 7.5, -3.7
_LARGER = 0.5  # the weight of a larger network's log odds, and the constant beside them; chosen likewise


def answering_odds(question: str, cut: Cut, odds: float, weights: Sequence[float] = ANSWERS) -> float:
    """From the log odds that a reader gives the cut."""
    return weigh(weights, answering_signs(question, cut, odds))


def with_closeness(odds: float, cosine: float) -> float:
    """Joins the log odds that a window answers with its cosine to the question."""
    return _ODDS * odds + _COSINE * cosine + _BAR


def with_larger(odds: float, larger: float) -> float:
    """Joins the log odds with those of a larger network that read the block."""
    return odds + _LARGER * larger + _LARGER


def answering_signs(question: str, cut: Cut, odds: float) -> tuple[float, ...]:
    asked = content_terms(question)
    share = weight(content_terms(cut.passage.text[cut.start : cut.end]) & asked) / (weight(asked) or 1.0)
    return (1.0, odds, share, max(0, len(asked) - _USUAL_TERMS))


def calibrate(question: str, ranked: CutRank) -> Span | None:
    """The reader's words, with the chance that they are right as their confidence."""
    if ranked.span is None:
        return None
    return replace(ranked.span, confidence=chance(weigh(RIGHT, right_signs(question, ranked.span, ranked.odds))))


def right_signs(question: str, span: Span, odds: float) -> tuple[float, ...]:
    confidence = math.log(max(span.confidence, 1e-9) / max(1 - span.confidence, 1e-9))
    return (1.0, confidence, odds, len(span.quote.text.split()), len(content_terms(question)))


def rating(
    reader: str,
    question: str,
    cuts: Sequence[Cut],
    ranked: Sequence[CutRank] | None,
    cosines: Sequence[float] = (),
    larger: Sequence[float] = (),
) -> Rating | None:
    """The reader's scores of the cuts as chances, with the cosines and a larger network's log odds if there are any;
    None without scores.
    """
    if ranked is None:
        return None
    odds = [answering_odds(question, cut, each.odds) for cut, each in zip(cuts, ranked, strict=True)]
    if cosines:
        odds = list(map(with_closeness, odds, cosines))
    if larger:
        odds = list(map(with_larger, odds, larger))
    return Rating(reader, tuple(map(chance, odds)), tuple(calibrate(question, each) for each in ranked))


def weigh(weights: Sequence[float], signs: Sequence[float]) -> float:
    return sum(weight * sign for weight, sign in zip(weights, signs, strict=True))
