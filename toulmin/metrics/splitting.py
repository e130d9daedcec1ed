"""Sentences for the `alce` profile: NLTK's Punkt if installed with its data, else our own rule.

The choice depends only on what is installed. Report `splitter_note` with numbers that rest on `sentences`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from toulmin.text import language


class _Splitter(NamedTuple):
    name: str
    split: Callable[[str], list[str]]


def sentences(text: str) -> list[str]:
    """In order, stripped."""
    return _splitter().split(text)


def splitter_name() -> str:
    """Either "punkt" (as in ALCE) or "toulmin" (our own rule)."""
    return _splitter().name


def splitter_note() -> str | None:
    """A note for tables; None if sentences are cut as in ALCE."""
    if splitter_name() == "punkt":
        return None
    return (
        "Sentences were cut by a rule of our own, not by NLTK's Punkt as in ALCE, so numbers that rest on sentences may"
        " differ a little: install `toulmin[alce]` and NLTK's data `punkt_tab`."
    )


@cache
def _splitter() -> _Splitter:
    try:
        from toulmin.metrics.punkt import punkt
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "nltk":
            raise
        punkt_split = None
    else:
        punkt_split = punkt()
    return _Splitter("punkt", punkt_split) if punkt_split else _Splitter("toulmin", language.sentence_texts)
