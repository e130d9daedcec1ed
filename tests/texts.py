"""Random texts in many scripts, and the laws that every cut document keeps."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from toulmin.data import Document
from toulmin.documents.passages import cut

LATIN = "keepers watched the lamp while storms broke over harbour walls and ships passed unseen before morning".split()
SCRIPTS = [
    *LATIN[:6],
    "été",
    "e\u0301te\u0301",
    "Żółw",
    "Маяк",
    "φάρος",
    "灯台",
    "灯台は海の道しるべ",
    "등대지기",
    "प्रकाशस्तंभ",
    "ประภาคาร",
    "مَنَارَة",
    "מגדלור",
    "😀",
    "👩‍👩‍👧",
    "🇫🇷",
    "o\u0308\u0323",
    "3,141.5",
    "half-light",
    "[3]",
    "don't",
]
ENDS = [". ", ". ", ". ", "! ", "? ", "。", "। ", ", ", "\n", "\n\n", ".\n\n", " "]


def _text(parts: list[tuple[list[str], str]]) -> str:
    return "".join(" ".join(words) + end for words, end in parts)


def _texts(words: list[str], ends: list[str], most: int) -> st.SearchStrategy[str]:
    sentence = st.tuples(st.lists(st.sampled_from(words), min_size=1, max_size=25), st.sampled_from(ends))
    # Few sentences, drawn again and again: repetition is what loses an offset that is searched for.
    pools = st.lists(sentence, min_size=1, max_size=6)
    return pools.flatmap(lambda pool: st.lists(st.sampled_from(pool), min_size=1, max_size=most)).map(_text)


def texts(most: int = 40) -> st.SearchStrategy[str]:
    """Texts of any script with repeated sentences, paragraphs, marks and emoji; never blank."""
    return _texts(SCRIPTS, ENDS, most)


def latin_texts(most: int = 40) -> st.SearchStrategy[str]:
    """English-like texts of sentences and paragraphs."""
    return _texts(LATIN, [". ", ". ", ".\n\n"], most)


def unspaced(text: str) -> str:
    """The text without white space: what must come through whole."""
    return "".join(text.split())


def keeps_the_laws(document: Document, size: int = 100) -> bool:
    """Whether its passages stand at their offsets, in order, without overlap, and hold every word."""
    passages = cut(document, size)
    in_place = all(document.text[p.source.start : p.source.end] == p.text for p in passages)
    in_order = all(a.source.end <= b.source.start for a, b in pairwise(passages))
    return in_place and in_order and unspaced("".join(p.text for p in passages)) == unspaced(document.text)
