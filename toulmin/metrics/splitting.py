"""Sentences for the `alce` profile: NLTK's Punkt if it is installed with its data, else our own rule.

Report `splitter_note` with numbers that depend on `sentences`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from toulmin.text import language


def sentences(text: str) -> list[str]:
    return (_punkt() or language.sentence_texts)(text)


def splitter_note() -> str | None:
    """A note for tables; None if sentences are cut as in ALCE."""
    if _punkt() is not None:
        return None
    return (
        "Sentences were cut by Toulmin's own rule, not by NLTK's Punkt as in ALCE, so numbers that depend on sentences"
        " may differ a little: install `toulmin[alce]` and NLTK's data `punkt_tab`."
    )


@cache
def _punkt() -> Callable[[str], list[str]] | None:
    """`nltk.sent_tokenize` for English, with the data (`punkt_tab`) of NLTK or of an installed `llama_index`."""
    try:
        import nltk.data
        from nltk.tokenize.punkt import PunktTokenizer
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "nltk":
            raise
        return None
    package = find_spec("llama_index")
    places = (package.submodule_search_locations if package else None) or ()
    # NLTK refuses to open data elsewhere.
    nltk.data.path += [str(Path(place, "core", "_static", "nltk_cache")) for place in places]
    try:
        return PunktTokenizer("english").tokenize  # type: ignore[no-any-return]
    except LookupError:
        return None
