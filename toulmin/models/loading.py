"""Loading a transformers model and its tokenizer, and what its files say of it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import torch
from huggingface_hub import try_to_load_from_cache
from huggingface_hub.errors import HFValidationError
from transformers import AutoModelForCausalLM, AutoTokenizer

from toulmin.errors import ModelError, UsageError
from toulmin.grounding.reflection import is_framing

PRECISIONS = ("auto", "float32", "bfloat16", "float16")
_ENDLESS = 10**9  # tokenizers without a limit name one beyond this


class Loaded(NamedTuple):
    """A model, ready to answer, its tokenizer, and what tells it from another of the same name."""

    model: Any
    tokenizer: Any
    identity: str


def loaded(path: str | os.PathLike[str], device: str, precision: str, download: bool) -> Loaded:
    """The model of that folder or name; raises `ModelError` for what is none and `UsageError` for a wrong device."""
    on = _device(device)
    place = _place(path, download)
    options: dict[str, Any] = {"local_files_only": isinstance(place, Path), "trust_remote_code": False}
    try:
        tokenizer = AutoTokenizer.from_pretrained(os.fspath(place), padding_side="left", **options)
        dtype = precision if precision == "auto" else getattr(torch, precision)
        model: Any = AutoModelForCausalLM.from_pretrained(os.fspath(place), dtype=dtype, **options)
    except Exception as error:  # whatever a file of somebody else's makes the libraries raise
        raise ModelError(
            f"{place} holds no language model that transformers can load: expected config.json, a tokenizer and the"
            f" weights of a causal model, but {_first_line(error)}"
        ) from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    commit = getattr(model.config, "_commit_hash", None)
    return Loaded(model.eval().to(on), tokenizer, _digest(place) if isinstance(place, Path) else f"{place} {commit}")


def _place(path: str | os.PathLike[str], download: bool) -> Path | str:
    """The model's folder; its name, if it may be fetched.

    Names are looked up here: the libraries' own look-up goes to the network even for local files only.
    """
    folder = Path(path)
    if folder.is_dir():
        return folder
    if folder.exists():
        raise ModelError(f"A local model is a folder, but {folder} is a file; name the folder that it lies in.")
    name = os.fspath(path)
    if download:
        return name
    with suppress(HFValidationError):
        config = try_to_load_from_cache(name, "config.json")
        if isinstance(config, str):
            return Path(config).parent
    raise ModelError(
        f"{name} is neither a folder nor a model in the hub's cache on this machine; name a folder, or allow it to be"
        " fetched (download)."
    )


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().split(chr(10))[0]}"


def _device(wanted: str) -> torch.device:
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(wanted)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:  # torch asserts that it was built for the device
        raise UsageError(f"A local model's device should be one of this machine, not {wanted!r}: {error}") from error
    return device


def controls_of(tokenizer: Any) -> re.Pattern[str]:
    """Finds the texts that a tokenizer would read as control tokens.

    Reflection tokens are none: prompts for models that have them write them, and break up those of foreign text.
    """
    special = {str(token) for token in tokenizer.all_special_tokens}
    special |= {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
    control = (token for token in special if len(token) > 1 and not is_framing(token))
    written = sorted(control, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, written)) or r"(?!)")


def window_of(model: Any, tokenizer: Any, wanted: int | None) -> int | None:
    """The tokens that a model can hold: the least of what is said; None where nothing is."""
    check("window", wanted, wanted is None or wanted >= 2, "at least 2")
    positions = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    told = [size for size in (wanted, positions, tokenizer.model_max_length) if size and size < _ENDLESS]
    return min(told, default=None)


def _digest(folder: Path) -> str:
    """SHA-256, in hex, of the names, sizes and times of a folder's files: the weights may be too many to be read."""
    files = sorted(file for file in folder.iterdir() if file.is_file())
    told = [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def check(name: str, value: Any, holds: bool, expected: str) -> None:
    """Raises `UsageError` for a setting that does not hold."""
    if not holds:
        raise UsageError(f"A local model's {name} should be {expected}, not {value!r}.")
