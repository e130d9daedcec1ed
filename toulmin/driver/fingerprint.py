"""Fingerprints of steps and prompts"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from toulmin.data import Passage


def fingerprint(value: Any) -> str:
    """128 bits of SHA-256, in hex, of a step or a prompt: stable between processes, machines and versions.

    A passage counts by its id. Fields with default values do not count.
    """
    text = json.dumps(_plain(value), ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


def _plain(value: Any) -> Any:
    if isinstance(value, Passage):
        return value.id
    if is_dataclass(value) and not isinstance(value, type):
        values = {f.name: getattr(value, f.name) for f in fields(value)}
        named = {f.name: _plain(values[f.name]) for f in fields(value) if values[f.name] != _default(f)}
        return [type(value).__name__, named]
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default
