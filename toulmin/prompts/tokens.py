"""Estimates token counts without a tokenizer."""

from __future__ import annotations

import re
from math import ceil

# A digit or sign is a token, and so is the space before it; the space before a word belongs to the word.
_OTHER = r"[^\sA-Za-z\x80-\U0010ffff]|[^\S\n]{2,}|[^\S\n](?=[^A-Za-z\s])"
_ENGLISH_PIECE = re.compile(rf"[A-Z]{{1,2}}(?![a-z])|[A-Za-z]{{1,4}}|{_OTHER}")
_FOREIGN_PIECE = re.compile(rf"[A-Za-z]{{1,2}}|{_OTHER}")
# Vocabularies hold whole English words, but split those of other languages, names and capitals into pieces.
_ENGLISH = frozenset(
    "the of and to in a an is was were for on that by with as are his her from at it its be or".split()
)
_ENGLISH_SHARE = 0.15

# Tokens per non-ASCII character. Vocabularies hold whole Cyrillic words, single Greek or Hebrew letters, and only
# the bytes of many scripts.
_WEIGHTS = (
    (re.compile(r"[\u0080-\u07ff]"), 1.5),
    (re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]"), 1.5),
    (re.compile(r"[\uac00-\ud7a3]"), 2.0),
    (re.compile(r"[\u0800-\u303f\u3100-\u4dff\ua000-\uabff\ud7a4-\uffff]"), 3.0),
    (re.compile(r"[\U00010000-\U0010ffff]"), 4.0),
)


def estimate_tokens(text: str) -> int:
    """About how many tokens the text takes; rarely too few, in any script.

    English prose comes out at 1.2 to 1.5 times its true number, most other languages at 1.2 to 2.5 times
    (`benchmarks/tokens.py`).
    """
    lines = text.split("\n")
    return ceil(sum(_of_line(line) for line in lines)) + len(lines) - 1


def _of_line(line: str) -> float:
    words = line.lower().split()
    is_english = sum(map(_ENGLISH.__contains__, words)) >= _ENGLISH_SHARE * len(words)
    size = len((_ENGLISH_PIECE if is_english else _FOREIGN_PIECE).findall(line))
    if line.isascii():
        return size
    return size + sum(weight * len(pattern.findall(line)) for pattern, weight in _WEIGHTS)
