"""The encoder that this project makes, run by onnxruntime: `model.onnx`, `tokenizer.json` and a card in one folder.

The graph takes `input_ids` and `attention_mask` and gives the finished rows (pooled, of length one). Its weights may be
stored in 8 bits; they are unpacked when it is loaded and the arithmetic is that of float32. `training/encoder.py` makes
such a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Encoding, Tokenizer

from toulmin.encoders.encoder import Titled, Vectors, in_batches, joined
from toulmin.errors import ModelError, UsageError

CARD = "encoder.json"
FILES = ("model.onnx", "tokenizer.json")
FORMAT = 1
_BATCH_TOKENS = 4096
_QUIET = 3  # onnxruntime's word for errors only


@dataclass(frozen=True, slots=True)
class Card:
    """What the folder says of its encoder; `sha256` holds the hash of each file, in hex."""

    name: str
    dimension: int
    window: int
    query_prefix: str
    passage_prefix: str
    sha256: Mapping[str, str]


class OnnxEncoder:
    """An encoder in a folder of ours."""

    def __init__(
        self, folder: str | os.PathLike[str], *, threads: int | None = None, batch_tokens: int = _BATCH_TOKENS
    ) -> None:
        """Loads it and compares its files with their hashes; without `threads` it takes every core.

        Raises `ModelError` for a folder that holds no such encoder, or another than its card says.
        """
        if batch_tokens < 1 or (threads is not None and threads < 1):
            raise UsageError(f"An encoder's threads and batch_tokens count from 1, not {threads} and {batch_tokens}.")
        place = Path(folder)
        self._card = _read_card(place)
        files = {name: _content(place, name, self._card) for name in FILES}
        self._batch_tokens = batch_tokens
        self._tokenizer, self._pad = _tokenizer(place, files["tokenizer.json"], self._card.window)
        self._session = _session(place, files["model.onnx"], threads)
        self.name = self._card.name
        told = [dict(self._card.sha256), self._card.window, self._card.query_prefix, self._card.passage_prefix]
        self.identity = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    @property
    def dimension(self) -> int:
        """How many numbers a row has."""
        return self._card.dimension

    def encode_queries(self, queries: Sequence[str]) -> Vectors:
        """One row a query, in order."""
        return self._encode([self._card.query_prefix + query for query in queries])

    def encode_passages(self, passages: Sequence[Titled]) -> Vectors:
        """One row a passage, in order."""
        return self._encode([self._card.passage_prefix + joined(passage) for passage in passages])

    def _encode(self, texts: Sequence[str]) -> Vectors:
        # A lone surrogate has no UTF-8, which the tokenizer is handed.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        read = self._tokenizer.encode_batch_fast(clean) if clean else []

        def rows_at(batch: list[int]) -> Vectors:
            return self._rows([read[at] for at in batch])

        lengths = [len(one.ids) for one in read]
        return in_batches(
            lengths, self.dimension, self._batch_tokens, lambda batch: self._rows([read[at] for at in batch])
        )

    def _rows(self, read: Sequence[Encoding]) -> Vectors:
        longest = max(len(one.ids) for one in read)
        ids = np.full((len(read), longest), self._pad, np.int64)
        mask = np.zeros((len(read), longest), np.int64)
        for row, one in enumerate(read):
            ids[row, : len(one.ids)] = one.ids
            mask[row, : len(one.ids)] = 1
        try:
            (rows,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
        except Exception as error:  # onnxruntime has a dozen types of its own
            raise ModelError(f"The encoder {self.name} failed: {_first_line(error)}") from error
        if rows.shape != (len(read), self.dimension):
            raise ModelError(
                f"The encoder {self.name} gave {rows.shape}, but its card says {self.dimension} numbers a row."
            )
        return np.asarray(rows, np.float32)


def _read_card(folder: Path) -> Card:
    try:
        told = json.loads((folder / CARD).read_text("utf-8"))
        if told["format"] != FORMAT:
            raise ModelError(f"{folder / CARD} is of format {told['format']}, this program reads {FORMAT}; update it.")
        return Card(
            name=str(told["name"]),
            dimension=int(told["dimension"]),
            window=int(told["window"]),
            query_prefix=str(told["query_prefix"]),
            passage_prefix=str(told["passage_prefix"]),
            sha256={name: str(told["sha256"][name]) for name in FILES},
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"{folder} holds no encoder of ours: expected {CARD} beside {' and '.join(FILES)}"
            f" ({type(error).__name__}: {error}); other people's models are named transformer:FOLDER."
        ) from error


def _content(folder: Path, name: str, card: Card) -> bytes:
    try:
        content = (folder / name).read_bytes()
    except OSError as error:
        raise ModelError(f"{folder / name} cannot be read ({error.strerror}); get the encoder anew.") from error
    if hashlib.sha256(content).hexdigest() != card.sha256[name]:
        raise ModelError(f"{folder / name} is not the file that {CARD} tells of; get the encoder anew.")
    return content


def _tokenizer(folder: Path, content: bytes, window: int) -> tuple[Tokenizer, int]:
    """The tokenizer, cutting at the window, and the id that fills rows up."""
    try:
        made = Tokenizer.from_str(content.decode("utf-8"))
    except Exception as error:  # the library raises plain exceptions
        raise ModelError(f"{folder / 'tokenizer.json'} holds no tokenizer: {_first_line(error)}") from error
    pad = made.padding["pad_id"] if made.padding else 0
    made.no_padding()
    made.enable_truncation(window)
    return made, int(pad)


def _session(folder: Path, content: bytes, threads: int | None) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _QUIET
    if threads is not None:
        options.intra_op_num_threads = threads
    # A thread that waits sleeps: others may have use for the core.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Unpacks weights of 8 bits once, at loading; otherwise they are unpacked again for every batch.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a dozen types of its own
        raise ModelError(f"{folder / 'model.onnx'} cannot be loaded: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
