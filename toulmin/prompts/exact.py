"""Requests in JSON types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from toulmin.errors import ModelError


def exact_form(value: Any) -> Any:
    """The value in JSON types, the same in every process; raises `ModelError` for other types."""
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        return [f"{kind.__module__}.{kind.__qualname__}", [exact_form(getattr(value, f.name)) for f in fields(value)]]
    if isinstance(value, Mapping):  # in its own order, which may show in a prompt
        return ["mapping", [[exact_form(name), exact_form(item)] for name, item in value.items()]]
    if isinstance(value, tuple | list):
        return [exact_form(item) for item in value]
    if value is None or type(value) in (str, int, float, bool):
        return value
    raise ModelError(
        f"A cache cannot tell requests apart by a {type(value).__qualname__}; give the prompt fields of plain"
        " values, or the model a method key(request) -> str."
    )
