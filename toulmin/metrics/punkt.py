"""NLTK's Punkt, ALCE's sentence splitter"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer, PunktTokenizer


def punkt() -> Callable[[str], list[str]] | None:
    """`nltk.sent_tokenize` for English; None without its data.

    The data (`punkt_tab`) are NLTK's, else those in an installed `llama_index`, which NLTK does not open itself.
    """
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
    def rows(name: str) -> list[tuple[str, ...]]:
        lines = (folder / name).read_text("utf-8").split("\n")
        return [tuple(line.split("\t")) for line in lines if line]

    parameters = PunktParameters()
    parameters.abbrev_types = {word for (word,) in rows("abbrev_types.txt")}
    parameters.sent_starters = {word for (word,) in rows("sent_starters.txt")}
    parameters.collocations = set(rows("collocations.tab"))
    parameters.ortho_context = defaultdict(int, {word: int(flags) for word, flags in rows("ortho_context.tab")})
    return parameters
