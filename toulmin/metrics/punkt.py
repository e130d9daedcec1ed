"""NLTK's Punkt sentence splitter for English, by which ALCE cuts texts into sentences.

Its data (`punkt_tab`) are taken from wherever NLTK looks for data, else from an installed `llama_index`, which carries
them; that package is looked up, not imported. NLTK opens no file outside its own places, so that copy is read here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer, PunktTokenizer


def punkt() -> Callable[[str], list[str]] | None:
    """A function from a text to its sentences as `nltk.sent_tokenize` cuts it; None where no data are found."""
    try:
        return PunktTokenizer("english").tokenize  # type: ignore[no-any-return]
    except LookupError:
        folder = _carried()
    return PunktSentenceTokenizer(_parameters(folder)).tokenize if folder else None


def _carried() -> Path | None:
    package = find_spec("llama_index")
    for place in (package.submodule_search_locations if package else None) or ():
        folder = Path(place, "core", "_static", "nltk_cache", "tokenizers", "punkt_tab", "english")
        if folder.is_dir():
            return folder
    return None


def _parameters(folder: Path) -> PunktParameters:
    """What Punkt learned of English: words with a full stop of their own, pairs around one, words that begin."""

    def rows(name: str) -> list[tuple[str, ...]]:
        lines = (folder / name).read_text("utf-8").split("\n")
        return [tuple(line.split("\t")) for line in lines if line]

    found = PunktParameters()
    found.abbrev_types = {word for (word,) in rows("abbrev_types.txt")}
    found.sent_starters = {word for (word,) in rows("sent_starters.txt")}
    found.collocations = set(rows("collocations.tab"))
    found.ortho_context = defaultdict(int, {word: int(flags) for word, flags in rows("ortho_context.tab")})
    return found
