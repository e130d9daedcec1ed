"""The terms by which the index finds a passage, and their packed codes.

It imports neither numpy nor tantivy, so that processes with little memory can use it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from toulmin.data import Passage
from toulmin.text.language import common_terms, search_terms

# How often a title's terms count; chosen on the train split by benchmarks/retrieval.py.
TITLE_WEIGHT = 4
SECTION_WEIGHT = 1
CODE_BYTES = 4
COMMON_BYTES = 2
COUNT = struct.Struct("<I")
_UNCOMMON = 1 << 16  # the least code of a term that is not common
_KEPT = 1 << 18  # stretches in each of two generations; 150 MB together at most
_LONGEST_KEPT = 40  # characters; in scripts without spaces a stretch can be longer than a line


def passage_terms(passage: Passage, title_weight: int = TITLE_WEIGHT) -> list[str]:
    """The terms of text and section once, those of the title `title_weight` times."""
    section = search_terms(passage.source.headings) * SECTION_WEIGHT
    return search_terms(passage.title) * title_weight + section + search_terms(passage.text)


@cache
def _common_codes() -> dict[str, int]:
    return {term: place for place, term in enumerate(common_terms())}


def term_code(term: str) -> int:
    """A term as 32 bits: common English terms by their position in a table, others by a checksum.

    Two terms of a query share a code once in about five million passages.
    """
    code = _common_codes().get(term)
    return zlib.crc32(term.encode("utf-8", "surrogatepass")) | _UNCOMMON if code is None else code


class Findable(NamedTuple):
    """A passage's terms, joined by spaces, and their codes for `unpack`."""

    terms: str
    packed: bytes


def findable(passage: Passage) -> Findable:
    """The `passage_terms` of a passage as the index stores them."""
    places = passage.title.split() * TITLE_WEIGHT + passage.source.headings.split() * SECTION_WEIGHT
    entries = list(map(_stretches.__getitem__, places + passage.text.split()))  # no word has white space in it
    words, common, others = zip(*entries, strict=True) if entries else ((), (), ())
    packed = COUNT.pack(sum(map(len, common)) // COMMON_BYTES)  # of common terms: two bytes each, before the others
    return Findable(" ".join(filter(None, words)), b"".join((packed, *common, *others)))


class _Stretches(dict[str, tuple[str, bytes, bytes]]):
    """For each stretch without white space: its terms, joined, and the codes of the common and of the other ones.

    Most stretches occur again; those that have not for long are forgotten.
    """

    def __init__(self) -> None:
        super().__init__()
        self._before: dict[str, tuple[str, bytes, bytes]] = {}

    def __missing__(self, stretch: str) -> tuple[str, bytes, bytes]:
        entry = self._before.get(stretch) or _encode(search_terms(stretch))
        if len(stretch) <= _LONGEST_KEPT:
            if len(self) >= _KEPT:
                self._before = dict(self)
                self.clear()
            self[stretch] = entry
        return entry


def _encode(stretch_terms: Sequence[str]) -> tuple[str, bytes, bytes]:
    codes = list(map(term_code, stretch_terms))
    common = [code.to_bytes(COMMON_BYTES, "little") for code in codes if code < _UNCOMMON]
    others = [code.to_bytes(CODE_BYTES, "little") for code in codes if code >= _UNCOMMON]
    return " ".join(stretch_terms), b"".join(common), b"".join(others)


_stretches = _Stretches()


def length(packed: bytes) -> int:
    """The number of terms in packed codes."""
    common: int = COUNT.unpack_from(packed)[0]
    return common + (len(packed) - COUNT.size - common * COMMON_BYTES) // CODE_BYTES
