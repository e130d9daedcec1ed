"""Sentences as the `alce` profile counts them: NLTK's Punkt where it is installed with its data, else our own rule.

Which of them it is depends on what is installed alone and is settled once a process, so that no number depends on what
was scored before. Whoever reports numbers that rest on `sentences` tells `splitter_note` with them.
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
    """The sentences of a text, in order, without the white space around them."""
    return _splitter().split(text)


def splitter_name() -> str:
    """What cuts the sentences: "punkt" (as in ALCE) or "toulmin" (our own rule)."""
    return _splitter().name


def splitter_note() -> str | None:
    """What a table must say of the sentences; None where they are cut as ALCE cuts them."""
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
        found = None
    else:
        found = punkt()
    return _Splitter("punkt", found) if found else _Splitter("toulmin", _own)


def _own(text: str) -> list[str]:
    return [text[span.start : span.end] for span in language.sentences(text)]
