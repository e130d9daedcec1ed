"""Sentences for the `alce` profile: NLTK's Punkt if it is installed with its data, else our own rule.

Report `splitter_note` with numbers that depend on `sentences`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toulmin.text import language

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktParameters


class _Splitter(NamedTuple):
    name: str
    split: Callable[[str], list[str]]


def sentences(text: str) -> list[str]:
    return _splitter().split(text)


def splitter_name() -> str:
    """Either "punkt" (as in ALCE) or "toulmin" (our own rule)."""
    return _splitter().name


def splitter_note() -> str | None:
    """A note for tables; None if sentences are cut as in ALCE."""
    if splitter_name() == "punkt":
        return None
    return (
        "Sentences were cut by Toulmin's own rule, not by NLTK's Punkt as in ALCE, so numbers that depend on sentences"
        " may differ a little: install `toulmin[alce]` and NLTK's data `punkt_tab`."
    )


@cache
def _splitter() -> _Splitter:
    try:
        punkt_split = _punkt()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "nltk":
            raise
        punkt_split = None
    return _Splitter("punkt", punkt_split) if punkt_split else _Splitter("toulmin", language.sentence_texts)


def _punkt() -> Callable[[str], list[str]] | None:
    """`nltk.sent_tokenize` for English, with the data (`punkt_tab`) of NLTK or of an installed `llama_index`, which
    NLTK refuses to open.
    """
    from nltk.tokenize.punkt import PunktSentenceTokenizer, PunktTokenizer

    try:
        return PunktTokenizer("english").tokenize  # type: ignore[no-any-return]
    except LookupError:
        folder = _llama_index_folder()
    return PunktSentenceTokenizer(_parameters(folder)).tokenize if folder else None


def _llama_index_folder() -> Path | None:
    package = find_spec("llama_index")
    for place in (package.submodule_search_locations if package else None) or ():
        folder = Path(place, "core", "_static", "nltk_cache", "tokenizers", "punkt_tab", "english")
        if folder.is_dir():
            return folder
    return None


def _parameters(folder: Path) -> PunktParameters:
    from nltk.tokenize.punkt import PunktParameters

    def rows(name: str) -> list[tuple[str, ...]]:
        lines = (folder / name).read_text("utf-8").split("\n")
        return [tuple(line.split("\t")) for line in lines if line]

    parameters = PunktParameters()
    parameters.abbrev_types = {word for (word,) in rows("abbrev_types.txt")}
    parameters.sent_starters = {word for (word,) in rows("sent_starters.txt")}
    parameters.collocations = set(rows("collocations.tab"))
    parameters.ortho_context = defaultdict(int, {word: int(flags) for word, flags in rows("ortho_context.tab")})
    return parameters
