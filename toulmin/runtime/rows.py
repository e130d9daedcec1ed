"""Texts as rows of tokens"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from toulmin.errors import ModelError

try:
    from tokenizers import Tokenizer
except ImportError as absent:
    raise ModelError(
        "The trained parts need tokenizers and onnxruntime, but tokenizers is not installed;"
        " run: pip install 'toulmin[embedded]'"
    ) from absent

_CONTROLS = 3  # [CLS], [SEP], [SEP]
_COUNTED = 65_536  # texts whose token counts are cached
_LEAST_ROOM = 16  # tokens of the second text, however long the first is


class Row(NamedTuple):
    """Token ids `[CLS] first [SEP] second [SEP]`; `second` is the second text's start, `spans` its tokens'
    characters.
    """

    ids: list[int]
    second: int
    spans: list[tuple[int, int]]


class Tokens:
    def __init__(self, path: Path, most: int) -> None:
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises plain Exception
            raise ModelError(f"{path} should be a tokenizer of the tokenizers library: {error}") from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True
        self._most = most
        self._cls, self._sep = (self._control(name) for name in ("[CLS]", "[SEP]"))
        self.count = lru_cache(maxsize=_COUNTED)(self._count)

    def _control(self, name: str) -> int:
        token_id = self._tokenizer.token_to_id(name)
        if token_id is None:
            raise ModelError(f"The tokenizer of a trained part should know {name}; export the part again.")
        return int(token_id)

    def _count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def spans(self, text: str) -> list[tuple[int, int]]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)

    def room(self, first: str) -> int:
        """The tokens left for the second text; at least a few."""
        return max(self._most - _CONTROLS - self.count(first), min(_LEAST_ROOM, self._most - _CONTROLS))

    def alone(self, text: str) -> Row:
        """One text, cut at its end to fit."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        ids = [self._cls, *encoding.ids[: self._most - 2], self._sep]
        return Row(ids, len(ids), [])

    def row(self, first: str, second: str) -> Row:
        """Two texts, both cut at their ends to fit."""
        encoding = self._tokenizer.encode(second, add_special_tokens=False)
        room = self.room(first)
        asked = self._tokenizer.encode(first, add_special_tokens=False).ids[: self._most - _CONTROLS - room]
        ids = [self._cls, *asked, self._sep, *encoding.ids[:room], self._sep]
        return Row(ids, len(asked) + 2, encoding.offsets[:room])
