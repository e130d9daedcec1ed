"""Loads transformers models and tokenizers, and batches rows to fit the device's memory.

Importing this loads torch. Nothing is fetched unless the caller allows it, and a model's own code never runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
from huggingface_hub import try_to_load_from_cache
from huggingface_hub.errors import HFValidationError
from transformers import AutoTokenizer
from transformers.utils import logging

from toulmin.errors import ModelError, UsageError, first_line

# Our errors report problems; progress bars and log lines would end up in the caller's output.
logging.disable_progress_bar()  # type: ignore[no-untyped-call]
logging.set_verbosity_error()  # type: ignore[no-untyped-call]

PRECISIONS = ("auto", "float32", "bfloat16", "float16")
_ENDLESS = 10**9  # tokenizers without a limit give a number above this
_NAMED = 3  # missing weights that a message names


class LoadedModel(NamedTuple):
    """`identity` differs between models of the same name."""

    model: Any
    tokenizer: Any
    identity: str


def load_model(
    path: str | os.PathLike[str],
    family: Any,
    kind: str,
    *,
    device: str = "auto",
    precision: str = "auto",
    download: bool = False,
    padding: str = "right",
) -> LoadedModel:
    """Loads a folder or name as `family`, a class such as transformers' `AutoModelForCausalLM`.

    `device` "auto" is the first GPU, else the CPU; `precision` "auto" is as saved; `padding` is a side. Raises
    `UsageError` for a wrong device, `ModelError` for no such model or missing weights, which transformers would fill
    with noise.
    """
    check("precision", precision, precision in PRECISIONS, f"one of {', '.join(PRECISIONS)}")
    on = device_of(device)
    place = _place(path, download)
    options: dict[str, Any] = {"local_files_only": isinstance(place, Path), "trust_remote_code": False}
    try:
        tokenizer = AutoTokenizer.from_pretrained(os.fspath(place), padding_side=padding, **options)
        dtype = precision if precision == "auto" else getattr(torch, precision)
        model, report = family.from_pretrained(os.fspath(place), dtype=dtype, output_loading_info=True, **options)
    except Exception as error:  # the libraries raise many kinds of error for bad files
        raise ModelError(
            f"{place} holds no {kind} that transformers can load: expected config.json, a tokenizer and its"
            f" weights, but {type(error).__name__}: {first_line(error)}"
        ) from error
    check_weights(place, kind, report["missing_keys"])
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    commit = getattr(model.config, "_commit_hash", None)
    identity = digest_of(place) if isinstance(place, Path) else f"{place} {commit}"
    return LoadedModel(move(model.eval(), on, place), tokenizer, identity)


def check_weights(place: Path | str, kind: str, missing: Collection[str]) -> None:
    """Raises `ModelError`."""
    if missing:
        named = ", ".join(sorted(missing)[:_NAMED]) + " and more" * (len(missing) > _NAMED)
        what = f"{place} holds no {kind}: its weights lack {named}"
        raise ModelError(f"{what}; name the folder of a model that was trained as one.")


def move(model: Any, on: torch.device, place: Path | str) -> Any:
    try:
        return model.to(on)
    except torch.OutOfMemoryError as error:
        size = sum(weight.nbytes for weight in model.parameters()) / 2**30
        raise ModelError(
            f"The {size:.1f} GiB of {place} exceed the memory of {on}; set a smaller precision (bfloat16) or"
            " another device."
        ) from error


def _place(path: str | os.PathLike[str], download: bool) -> Path | str:
    """Looks up names without the network, which the libraries use even for local files."""
    folder = Path(path)
    if folder.is_dir():
        return folder
    if folder.exists():
        raise ModelError(f"A local model is a folder, but {folder} is a file; name its folder.")
    name = os.fspath(path)
    if download:
        return name
    with suppress(HFValidationError):
        config = try_to_load_from_cache(name, "config.json")
        if isinstance(config, str):
            return Path(config).parent
    raise ModelError(
        f"{name} is neither a folder nor a model in the hub's cache on this machine; name a folder, or allow the"
        " download (download)."
    )


def device_of(wanted: str) -> torch.device:
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(wanted)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:  # torch asserts that it was built for the device
        raise UsageError(f"A local model's device should be one of this machine, not {wanted!r}: {error}") from error
    return device


def breaker_of(tokenizer: Any, is_spared: Callable[[str], bool] = lambda token: False) -> Callable[[str], str]:
    """Splits the control tokens in a text, except those spared, so that the tokenizer reads none as one."""
    special = {str(token) for token in tokenizer.all_special_tokens}
    special |= {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
    control = (token for token in special if len(token) > 1 and not is_spared(token))
    pattern = re.compile("|".join(map(re.escape, sorted(control, key=len, reverse=True))) or r"(?!)")
    return partial(pattern.sub, lambda control: f"{control[0][0]} {control[0][1:]}")


def window_of(model: Any, tokenizer: Any, wanted: int | None) -> int | None:
    """The least limit of `wanted`, model and tokenizer, in tokens."""
    check("window", wanted, wanted is None or wanted >= 2, "at least 2")
    positions = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    capacity = positions and positions - _unusable_positions(model)
    limits = [size for size in (wanted, capacity, tokenizer.model_max_length) if size and size < _ENDLESS]
    return min(limits, default=None)


def _unusable_positions(model: Any) -> int:
    """RoBERTa and similar models count positions from after the padding position."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            return int(module.padding_idx) + 1
    return 0


def digest_of(folder: Path) -> str:
    files = sorted(file for file in folder.iterdir() if file.is_file())
    stamps = [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    return hashlib.sha256(json.dumps(stamps).encode()).hexdigest()


def check(name: str, value: Any, holds: bool, expected: str) -> None:
    if not holds:
        raise UsageError(f"A local model's {name} should be {expected}, not {value!r}.")


# ---------------------------------------------------------------- batches of rows that fit a memory


R = TypeVar("R")
T = TypeVar("T")
MULTIPLE = 8  # rows are padded to a multiple of this, which tensor cores compute faster


def row_width(length: int) -> int:
    return -(-length // MULTIPLE) * MULTIPLE


def batches(lengths: Sequence[int], most: int) -> list[list[int]]:
    """The row indices of each batch, the longest rows first; a batch has at most `most` padded tokens, or one row."""
    groups: list[list[int]] = []
    width = 0
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if not groups or (len(groups[-1]) + 1) * width > most:
            groups.append([])
            width = row_width(lengths[place])
        groups[-1].append(place)
    return groups


def in_batches(
    rows: Sequence[R], length: Callable[[R], int], most: int, run: Callable[[list[R]], Sequence[T]], who: str
) -> list[T]:
    """The results of `run`, in row order; halves a batch that exceeds the device's memory.

    Raises `ModelError`, naming `who`, if a single row exceeds it.
    """
    results: dict[int, T] = {}
    lengths = [length(row) for row in rows]
    waiting = batches(lengths, most)[::-1]
    while waiting:
        places = waiting.pop()
        try:
            outputs = run([rows[place] for place in places])
        except torch.OutOfMemoryError as error:
            if len(places) == 1:
                raise ModelError(
                    f"The device's memory does not hold a text of {lengths[places[0]]} tokens for {who}; set a smaller"
                    " precision (bfloat16), another device, or use shorter passages."
                ) from error
            half = len(places) // 2
            waiting += [places[half:], places[:half]]
        else:
            results.update(zip(places, outputs, strict=True))
    return [results[place] for place in range(len(rows))]
