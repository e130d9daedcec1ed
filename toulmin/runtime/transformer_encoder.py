"""Third-party encoders by torch and transformers: sentence-transformers folders, GTR, E5, and DPR's two.

Importing this loads torch. Nothing is fetched unless the caller allows it, and a model's own code never runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModel, DPRContextEncoder, DPRQuestionEncoder, T5EncoderModel

from toulmin.errors import ModelError, UsageError
from toulmin.runtime.encoder import TitledText, Vectors, full_text
from toulmin.runtime.torch_models import in_batches, load_model, window_of

# ---------------------------------------------------------------- the layout of an encoder's folder


POOLINGS = ("cls", "max", "mean", "mean_sqrt_len_tokens", "lasttoken")
_E5 = re.compile(r"\be5-(?:small|base|large)(?!.*instruct)", re.IGNORECASE)
_QUERY_PROMPTS = ("query", "queries")
_PASSAGE_PROMPTS = ("passage", "document", "passages", "documents", "corpus")


@dataclass(frozen=True, slots=True)
class Layout:
    transformer: Path
    pooling: tuple[str, ...]
    dense: tuple[Path, ...]
    is_normalised: bool
    window: int | None
    query_prefix: str
    passage_prefix: str
    dpr: str | None = None  # "question" or "passage" of DPR's two encoders


def read_layout(folder: Path, name: str = "") -> Layout:
    """The layout of a sentence-transformers folder.

    Without `modules.json` a row is the mean of the tokens, at length one. DPR uses the first token, not normalised
    (Karpukhin et al. 2020, section 3). E5's prefixes (Wang et al. 2022, section 4.1) are missing in its folders and
    follow from the model's `name`. Raises `ModelError` for unknown steps or poolings.
    """
    config = _read(folder / "config.json")
    steps = folder / "modules.json"
    if config.get("model_type") == "dpr" and not steps.is_file():
        role = "question" if any("Question" in name for name in config.get("architectures") or ()) else "passage"
        return Layout(folder, ("cls",), (), False, None, "", "", dpr=role)
    settings = _read(folder / "config_sentence_transformers.json")
    query, passage = _prefixes(settings, name or folder.name)
    if not steps.is_file():
        return Layout(folder, ("mean",), (), True, None, query, passage)
    return _from_steps(folder, steps, settings, (query, passage))


def _from_steps(folder: Path, steps: Path, settings: Mapping[str, Any], prefixes: tuple[str, str]) -> Layout:
    transformer, dense = folder, []
    pooling: tuple[str, ...] = ("mean",)
    is_normalised = settings.get("similarity_fn_name") == "cosine"
    modules = _read_json(steps)
    if not isinstance(modules, list) or not all(isinstance(step, Mapping) for step in modules):
        raise ModelError(f"{steps} should contain a list of steps, each with its type and path.")
    for step in modules:
        kind, place = str(step.get("type", "")).rpartition(".")[2], _inside(folder, str(step.get("path", "")))
        if kind == "Transformer":
            transformer = place
        elif kind == "Pooling":
            pooling = _pooling(place / "config.json")
        elif kind == "Dense":
            dense.append(place)
        elif kind == "Normalize":
            is_normalised = True
        else:
            raise ModelError(
                f"{steps} lists the step {kind!r}; an encoder may have Transformer, Pooling, Dense and Normalize. Name"
                " another model."
            )
    window = _read(transformer / "sentence_bert_config.json").get("max_seq_length")
    return Layout(transformer, pooling, tuple(dense), is_normalised, window, *prefixes)


def _pooling(path: Path) -> tuple[str, ...]:
    config = _read(path)
    named = config.get("pooling_mode")
    start = "pooling_mode_"
    modes = [key.removeprefix(start) for key, value in config.items() if key.startswith(start) and value is True]
    kinds = [named] if isinstance(named, str) else modes
    kinds = [kind.removesuffix("_token").removesuffix("_tokens") if kind != POOLINGS[3] else kind for kind in kinds]
    unknown = [kind for kind in kinds if kind not in POOLINGS]
    if unknown or not kinds:
        asked = ", ".join(unknown) or "none"
        raise ModelError(f"{path} sets the pooling {asked}; known are {', '.join(POOLINGS)}. Name another model.")
    return tuple(sorted(kinds, key=POOLINGS.index))  # the order in which sentence-transformers concatenates them


def _prefixes(settings: Mapping[str, Any], name: str) -> tuple[str, str]:
    prompts = settings.get("prompts")
    prompts = prompts if isinstance(prompts, Mapping) else {}
    query = next((str(prompts[key]) for key in _QUERY_PROMPTS if prompts.get(key)), "")
    passage = next((str(prompts[key]) for key in _PASSAGE_PROMPTS if prompts.get(key)), "")
    if not (query or passage) and _E5.search(name):
        return "query: ", "passage: "
    return query, passage


def _inside(folder: Path, path: str) -> Path:
    place = folder / path
    if not place.resolve().is_relative_to(folder.resolve()):
        raise ModelError(f"{folder / 'modules.json'} names {path!r}, which lies outside of the model's folder.")
    return place


def _read(path: Path) -> Mapping[str, Any]:
    content = _read_json(path) if path.is_file() else {}
    if not isinstance(content, Mapping):
        raise ModelError(f"{path} should contain a JSON object, not a {type(content).__name__}.")
    return content


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} should contain JSON, but cannot be read: {error}.") from error


# ---------------------------------------------------------------- transformer encoder


BATCH_TOKENS = 4096
_DPR = {"question": DPRQuestionEncoder, "passage": DPRContextEncoder}
_ACTIVATIONS = {"Identity": torch.nn.Identity, "Tanh": torch.nn.Tanh, "ReLU": torch.nn.ReLU, "GELU": torch.nn.GELU}


class TransformerEncoder:
    def __init__(
        self,
        folder: str | os.PathLike[str],
        questions: str | os.PathLike[str] | None = None,
        *,
        device: str = "auto",
        precision: str = "auto",
        batch_tokens: int = BATCH_TOKENS,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        download: bool = False,
    ) -> None:
        """`questions` is the folder of the question encoder if it is another model; prefixes replace the folder's.

        The rest, and what is raised, is as in `load_model`; also `UsageError` for one half of DPR, `ModelError` for
        vectors of two sizes.
        """
        if batch_tokens < 1:
            raise UsageError(f"An encoder's batch_tokens should be at least 1, not {batch_tokens}.")
        tower = partial(_Tower, device=device, precision=precision, download=download, batch_tokens=batch_tokens)
        self._passages = tower(folder, prefix=("passage_prefix", passage_prefix))
        _check_dpr(self._passages.layout, "passage", questions)
        if questions is None:
            self._queries = self._passages.with_prefix(("query_prefix", query_prefix))
        else:
            self._queries = tower(questions, prefix=("query_prefix", query_prefix))
            _check_dpr(self._queries.layout, "question", questions)
        if self._queries.dimension != self._passages.dimension:
            sizes = f"{self._queries.dimension} and {self._passages.dimension}"
            raise ModelError(f"The encoders of questions and passages return {sizes} numbers; name a matching pair.")
        self.name = f"transformer:{Path(folder).name}"
        parts = [self._passages.identity_parts, self._queries.identity_parts]
        self.identity = hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def dimension(self) -> int:
        return self._passages.dimension

    def encode_queries(self, queries: Sequence[str]) -> Vectors:
        return self._queries.encode([(query,) for query in queries])

    def encode_passages(self, passages: Sequence[TitledText]) -> Vectors:
        is_dpr = self._passages.layout.dpr  # which reads title and text as a pair
        return self._passages.encode([(p.title, p.text) if is_dpr else (full_text(p),) for p in passages])


def _check_dpr(layout: Layout, wanted: str, questions: Any) -> None:
    if layout.dpr not in (None, wanted) or (layout.dpr and questions is None):
        raise UsageError(
            f"{layout.transformer} is the {layout.dpr} encoder of DPR; name its passage (context) encoder, and its"
            " question encoder with the setting transformer.questions."
        )


class _Tower:
    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        prefix: tuple[str, str | None],
        batch_tokens: int,
        download: bool,
        **options: Any,
    ) -> None:
        place = _place(folder, download)
        layout = read_layout(place, os.fspath(folder))
        made = load_model(layout.transformer, _family(layout), "encoder", **options)
        self._model, self._tokenizer = made.model, made.tokenizer
        self._dense = [_dense(step, made.model.device) for step in layout.dense]
        self._batch_tokens, self._weights = batch_tokens, made.identity
        window = window_of(made.model, made.tokenizer, None)
        self._window = min(size for size in (layout.window, window, 512) if size)
        self.layout = layout
        self.prefix = _prefix(layout, prefix)
        size = made.model.config.get_text_config()
        hidden = int(getattr(size, "hidden_size", 0)) * len(layout.pooling)
        self.dimension = int(self._dense[-1][0].out_features) if self._dense else hidden

    def with_prefix(self, prefix: tuple[str, str | None]) -> _Tower:
        other = copy(self)
        other.prefix = _prefix(self.layout, prefix)
        return other

    @property
    def identity_parts(self) -> list[Any]:
        steps = [_digest(step) for step in self.layout.dense]
        layout = replace(self.layout, transformer=Path(), dense=(), query_prefix="", passage_prefix="")
        return [self._weights, repr(layout), steps, self.prefix, self._window, str(self._model.dtype)]

    def encode(self, texts: Sequence[tuple[str, ...]]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        columns = [list(column) for column in zip(*texts, strict=True)]
        columns[0] = [self.prefix + text for text in columns[0]]
        read = self._tokenizer(*columns, truncation=True, max_length=self._window)
        rows = [{name: values[at] for name, values in read.items()} for at in range(len(texts))]
        vectors = in_batches(rows, _length, self._batch_tokens, lambda batch: list(self._rows(batch)), "the encoder")
        return np.stack(vectors)

    @torch.inference_mode()
    def _rows(self, rows: list[dict[str, list[int]]]) -> Vectors:
        batch = self._tokenizer.pad(rows, return_tensors="pt").to(self._model.device)
        out = self._model(**batch)
        if self.layout.dpr:
            vectors = out.pooler_output
        else:
            vectors = _pool(out.last_hidden_state, batch["attention_mask"], self.layout.pooling)
        vectors = vectors.float()
        for linear, activation in self._dense:
            vectors = activation(linear(vectors))
        if self.layout.is_normalised:
            vectors = torch.nn.functional.normalize(vectors, dim=1)
        result: Vectors = vectors.cpu().numpy()
        return result


def _length(row: Mapping[str, list[int]]) -> int:
    return len(row["input_ids"])


def _pool(states: Any, mask: Any, kinds: Sequence[str]) -> Any:
    weights = mask.unsqueeze(-1).to(states.dtype)
    total, count = (states * weights).sum(1), weights.sum(1).clamp(min=1)
    last = mask.shape[1] - 1 - mask.flip(1).argmax(1)
    first = mask.argmax(1)
    every = torch.arange(len(states), device=states.device)
    by_kind = {
        "cls": lambda: states[every, first],
        "max": lambda: states.masked_fill(weights == 0, float("-inf")).amax(1),
        "mean": lambda: total / count,
        "mean_sqrt_len_tokens": lambda: total / count.sqrt(),
        "lasttoken": lambda: states[every, last],
    }
    return torch.cat([by_kind[kind]() for kind in kinds], dim=1)


def _place(folder: str | os.PathLike[str], download: bool) -> Path:
    if Path(folder).is_dir():
        return Path(folder)
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(os.fspath(folder), local_files_only=not download))
    except Exception as error:  # the hub's client raises many kinds of error
        raise ModelError(
            f"{os.fspath(folder)} is neither a folder nor a model in the hub's cache on this machine"
            f" ({type(error).__name__}); name a folder, or allow the download (transformer.download)."
        ) from error


def _family(layout: Layout) -> Any:
    if layout.dpr:
        return _DPR[layout.dpr]
    try:
        kind = AutoConfig.from_pretrained(layout.transformer, local_files_only=True, trust_remote_code=False).model_type
    except Exception as error:  # the library raises many kinds of error for bad files
        raise ModelError(f"{layout.transformer} holds no encoder: its config.json cannot be read ({error}).") from error
    return T5EncoderModel if kind == "t5" else AutoModel


def _prefix(layout: Layout, wanted: tuple[str, str | None]) -> str:
    name, override = wanted
    return str(getattr(layout, name)) if override is None else override


def _dense(folder: Path, device: Any) -> tuple[Any, Any]:
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        activation = str(config.get("activation_function", "Identity")).rpartition(".")[2]
        linear = torch.nn.Linear(
            int(config["in_features"]), int(config["out_features"]), bool(config.get("bias", True))
        )
        weights = folder / "model.safetensors"
        if weights.is_file():
            saved = load_file(weights)
        else:
            saved = torch.load(folder / "pytorch_model.bin", map_location="cpu", weights_only=True)
        linear.load_state_dict({name.removeprefix("linear."): tensor.float() for name, tensor in saved.items()})
        return linear.to(device).eval(), _ACTIVATIONS[activation]()
    except Exception as error:  # the libraries raise many kinds of error for bad files
        raise ModelError(
            f"{folder} contains no dense layer: expected config.json and weights of its size, but"
            f" {type(error).__name__}: {error}"
        ) from error


def _digest(folder: Path) -> str:
    files = sorted(file for file in folder.iterdir() if file.is_file())
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
