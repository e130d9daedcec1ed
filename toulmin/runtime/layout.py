"""The layout of an encoder's folder"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toulmin.errors import ModelError

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
    """Reads the layout of a sentence-transformers folder, of a model called `name`.

    Without `modules.json` it is a bare transformer: the mean of its tokens, at length one. DPR uses the first
    token, not normalised (Karpukhin et al. 2020, section 3). E5's folders lack its prefixes (Wang et al. 2022,
    section 4.1); they are known by the model's name. Raises `ModelError` for unknown steps or poolings.
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
    for step in _read_steps(steps):
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
                f"{steps} names the step {kind!r}; an encoder here is made of Transformer, Pooling, Dense and"
                " Normalize. Name another model."
            )
    window = _read(transformer / "sentence_bert_config.json").get("max_seq_length")
    return Layout(transformer, pooling, tuple(dense), is_normalised, window, *prefixes)


def _pooling(path: Path) -> tuple[str, ...]:
    config = _read(path)
    named = config.get("pooling_mode")
    if isinstance(named, str):
        kinds = [named]
    else:
        start = "pooling_mode_"
        kinds = [key.removeprefix(start) for key, value in config.items() if key.startswith(start) and value is True]
    kinds = [kind.removesuffix("_token").removesuffix("_tokens") if kind != POOLINGS[3] else kind for kind in kinds]
    unknown = [kind for kind in kinds if kind not in POOLINGS]
    if unknown or not kinds:
        asked = ", ".join(unknown) or "none"
        raise ModelError(f"{path} asks for the pooling {asked}; known are {', '.join(POOLINGS)}. Name another model.")
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
        raise ModelError(f"{folder} / modules.json names {path!r}, which lies outside of the model's folder.")
    return place


def _read(path: Path) -> Mapping[str, Any]:
    content = _read_json(path) if path.is_file() else {}
    if not isinstance(content, Mapping):
        raise ModelError(f"{path} should hold a JSON object, not a {type(content).__name__}.")
    return content


def _read_steps(path: Path) -> list[Mapping[str, Any]]:
    steps = _read_json(path)
    if not isinstance(steps, list) or not all(isinstance(step, Mapping) for step in steps):
        raise ModelError(f"{path} should hold a list of steps, each with its type and path.")
    return steps


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} should hold JSON, but could not be read: {error}.") from error
