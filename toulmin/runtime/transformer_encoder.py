"""Third-party encoders: sentence-transformers runs their folders (GTR, E5, DPR, all-MiniLM).

Importing this loads torch. Nothing is fetched unless the caller allows it, and a model's own code never runs.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from huggingface_hub import snapshot_download
from sentence_transformers import SentenceTransformer

from toulmin.errors import ModelError, first_line
from toulmin.runtime.encoder import TitledText, Vectors, full_text
from toulmin.runtime.torch_models import PRECISIONS, check, check_weights, device_of, digest_of, in_batches, move

logging.getLogger("sentence_transformers").setLevel(logging.ERROR)  # our errors report problems

BATCH_TOKENS = 4096
WINDOW = 512
_E5 = re.compile(r"\be5-(?:small|base|large)(?!.*instruct)", re.IGNORECASE)
# The library misses a folder's "passage": its own "document" comes first and is empty.
_PROMPTS = {"query": ("query", "queries"), "document": ("passage", "document", "passages", "documents", "corpus")}


class TransformerEncoder:
    def __init__(
        self,
        folder: str | os.PathLike[str],
        questions: str | os.PathLike[str] | None = None,
        *,
        batch_tokens: int = BATCH_TOKENS,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        **options: Any,
    ) -> None:
        """`questions` is the folder of the question encoder if it is another model; prefixes replace the folder's.

        The rest, and what is raised, is as in `load_model`; also `ModelError` for vectors of two sizes.
        """
        check("batch_tokens", batch_tokens, batch_tokens >= 1, "at least 1")
        self._batch_tokens = batch_tokens
        self._passages = _Tower(folder, **options)
        self._queries = self._passages if questions is None else _Tower(questions, **options)
        self.dimension = self._passages.dimension
        if self._queries.dimension != self.dimension:
            sizes = f"{self._queries.dimension} and {self.dimension}"
            raise ModelError(f"The encoders of questions and passages return {sizes} numbers; name a matching pair.")
        self.query_prefix = self._queries.prompt("query") if query_prefix is None else query_prefix
        self.passage_prefix = self._passages.prompt("document") if passage_prefix is None else passage_prefix
        self.name = f"transformer:{Path(folder).name}"
        parts = [self._passages.identity, self.passage_prefix, self._queries.identity, self.query_prefix]
        self.identity = hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def encode_queries(self, queries: Sequence[str]) -> Vectors:
        return self._queries.encode(queries, "query", self.query_prefix, self._batch_tokens)

    def encode_passages(self, passages: Sequence[TitledText]) -> Vectors:
        texts = list(map(full_text, passages))
        return self._passages.encode(texts, "document", self.passage_prefix, self._batch_tokens)


class _Tower:
    """The encoder of queries, of passages, or of both."""

    def __init__(
        self, folder: str | os.PathLike[str], *, device: str = "auto", precision: str = "auto", download: bool = False
    ) -> None:
        check("precision", precision, precision in PRECISIONS, f"one of {', '.join(PRECISIONS)}")
        place, on = _place(folder, download), device_of(device)
        self._name = os.fspath(folder)
        try:
            model = move(_load(place, precision), on, place)
            self._is_unit = _is_unit(place)
            model.max_seq_length = min(model.max_seq_length or WINDOW, WINDOW)
            self.dimension = int(model.get_embedding_dimension())
        except ModelError:
            raise
        except Exception as error:  # the libraries raise many kinds of error for bad files
            raise ModelError(
                f"{place} holds no encoder that sentence-transformers can load: {type(error).__name__}:"
                f" {first_line(error)}"
            ) from error
        folders = [place, *sorted(step for step in place.iterdir() if step.is_dir())]
        self._model = model
        self.identity = [*map(digest_of, folders), str(model.dtype), model.max_seq_length]

    def prompt(self, kind: str) -> str:
        """The folder's; E5's (Wang et al. 2022, section 4.1) are missing in its folders and follow from the name."""
        prompts = self._model.prompts
        if not any(prompts.values()) and _E5.search(self._name):
            return "query: " if kind == "query" else "passage: "
        return next((str(prompts[name]) for name in _PROMPTS[kind] if prompts.get(name)), "")

    def encode(self, texts: Sequence[str], task: str, prefix: str, batch_tokens: int) -> Vectors:
        model = self._model
        encode = model.encode_query if task == "query" else model.encode_document

        def run(batch: list[str]) -> list[Any]:
            options = {"batch_size": len(batch), "show_progress_bar": False, "convert_to_tensor": True}
            vectors = encode(batch, prompt=prefix, normalize_embeddings=self._is_unit, **options)
            return list(vectors.float().cpu().numpy())

        def length(text: str) -> int:
            return min(len(model.tokenizer.encode(prefix + text)), int(model.max_seq_length))

        rows = in_batches(texts, length, batch_tokens, run, "the encoder")
        return np.array(rows, np.float32).reshape(len(texts), self.dimension)


def _load(place: Path, precision: str) -> Any:
    dtype = {"dtype": precision}
    model: Any = SentenceTransformer(str(place), device="cpu", local_files_only=True, model_kwargs=dtype)
    if not model.supports("text"):
        raise ModelError(f"{place} holds no encoder of text that sentence-transformers can run; name a folder of its.")
    # The library fills missing weights with noise; transformers marks those that it read. No vector uses the pooler.
    weights = dict(model.transformers_model.named_parameters())
    read = {name for name, weight in weights.items() if getattr(weight, "_is_hf_initialized", False)}
    if read:
        check_weights(place, "encoder", [name for name in weights.keys() - read if not name.startswith("pooler.")])
    return model


def _is_unit(place: Path) -> bool:
    path = place / "config_sentence_transformers.json"
    settings = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return not (place / "modules.json").is_file() or settings.get("similarity_fn_name") == "cosine"


def _place(folder: str | os.PathLike[str], download: bool) -> Path:
    if Path(folder).is_dir():
        return Path(folder)
    try:
        return Path(snapshot_download(os.fspath(folder), local_files_only=not download))
    except Exception as error:  # the hub's client raises many kinds of error
        raise ModelError(
            f"{os.fspath(folder)} is neither a folder nor a model in the hub's cache on this machine"
            f" ({type(error).__name__}); name a folder, or allow the download (transformer.download)."
        ) from error
