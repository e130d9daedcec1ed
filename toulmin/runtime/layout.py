"""What a folder of a sentence encoder says of itself: how token vectors become one, its window and its prefixes.

The layout is that of sentence-transformers: `modules.json` lists the steps and the folder of each. A folder without it
is a bare transformer: the mean of its tokens, at length one, as sentence-transformers takes such a folder for cosines.
DPR's encoders are bare too, but were trained on the vector of the first token, without a length (Karpukhin et al.,
2020, section 3). E5's folders do not name the prefixes that the model was trained with (Wang et al., 2022, section
4.1), so they are known here by the model's name.
"""

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
    """How an encoder is run: the folder of its transformer, and what is done with the token vectors, in order."""

    transformer: Path
    pooling: tuple[str, ...]
    dense: tuple[Path, ...]
    is_normalised: bool
    window: int | None
    query_prefix: str
    passage_prefix: str
    dpr: str | None = None  # "question" or "passage" of DPR's two encoders


def read_layout(folder: Path, name: str = "") -> Layout:
    """The layout of an encoder's folder; `name` is what the model is called, where the folder is not called so.

    Raises `ModelError` for files that say what this program cannot do: another kind of step or of pooling.
    """
    config = _read(folder / "config.json")
    steps = folder / "modules.json"
    if config.get("model_type") == "dpr" and not steps.is_file():
        role = "question" if any("Question" in name for name in config.get("architectures") or ()) else "passage"
        return Layout(folder, ("cls",), (), False, None, "", "", dpr=role)
    said = _read(folder / "config_sentence_transformers.json")
    query, passage = _prefixes(said, name or folder.name)
    if not steps.is_file():
        return Layout(folder, ("mean",), (), True, None, query, passage)
    return _from_steps(folder, steps, said, (query, passage))


def _from_steps(folder: Path, steps: Path, said: Mapping[str, Any], prefixes: tuple[str, str]) -> Layout:
    transformer, dense = folder, []
    pooling: tuple[str, ...] = ("mean",)
    is_normalised = said.get("similarity_fn_name") == "cosine"
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
    """The kinds of pooling, whose vectors are put side by side where there are several."""
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
    return tuple(sorted(kinds, key=POOLINGS.index))  # the order in which sentence-transformers puts them together


def _prefixes(said: Mapping[str, Any], name: str) -> tuple[str, str]:
    """What is written before a query and before a passage."""
    prompts = said.get("prompts")
    prompts = prompts if isinstance(prompts, Mapping) else {}
    query = next((str(prompts[key]) for key in _QUERY_PROMPTS if prompts.get(key)), "")
    passage = next((str(prompts[key]) for key in _PASSAGE_PROMPTS if prompts.get(key)), "")
    if not (query or passage) and _E5.search(name):
        return "query: ", "passage: "
    return query, passage


def _inside(folder: Path, path: str) -> Path:
    """A step's folder, which lies in the model's."""
    place = folder / path
    if not place.resolve().is_relative_to(folder.resolve()):
        raise ModelError(f"{folder} / modules.json names {path!r}, which lies outside of the model's folder.")
    return place


def _read(path: Path) -> Mapping[str, Any]:
    """The JSON object of a file; nothing where there is no file."""
    found = _read_json(path) if path.is_file() else {}
    if not isinstance(found, Mapping):
        raise ModelError(f"{path} should hold a JSON object, not a {type(found).__name__}.")
    return found


def _read_steps(path: Path) -> list[Mapping[str, Any]]:
    found = _read_json(path)
    if not isinstance(found, list) or not all(isinstance(step, Mapping) for step in found):
        raise ModelError(f"{path} should hold a list of steps, each with its type and path.")
    return found


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} should hold JSON, but could not be read: {error}.") from error
