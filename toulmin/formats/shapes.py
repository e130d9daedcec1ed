"""Shapes of JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Shape = type | frozenset[Any] | list[Any] | Mapping[str, Any]

_NAMES = {str: "a text", int: "a whole number, 0 or more", float: "a number", bool: "true or false", dict: "an object"}


def misfits(value: Any, shape: Shape, at: str = "") -> Iterator[str]:
    """What does not fit, with its place (`choices[0].message`), what was expected and what came.

    A shape is a type (`str`, `int`, `float`, `bool`, `dict`), a set of allowed values, a list of one shape, or a dict
    from field to shape. A field ending in `?` may be missing or null; others may hold anything. Integers are never
    negative: they are counts and offsets.
    """
    if isinstance(shape, Mapping):
        yield from _in_object(value, shape, at)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield _misfit(at, "a list", value)
            return
        for i, inner in enumerate(value):
            yield from misfits(inner, shape[0], f"{at}[{i}]")
    elif isinstance(shape, frozenset):
        if isinstance(value, list | dict) or value not in shape:
            yield _misfit(at, " or ".join(sorted(map(repr, shape))), value)
    elif not _has_type(value, shape):
        yield _misfit(at, _NAMES[shape], value)


def _in_object(value: Any, shape: Mapping[str, Any], at: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _misfit(at, "an object", value)
        return
    for name, inner in shape.items():
        field = name.removesuffix("?")
        place = f"{at}.{field}" if at else field
        if value.get(field) is not None:
            yield from misfits(value[field], inner, place)
        elif not name.endswith("?"):
            yield f"{place} is missing."


def _has_type(value: Any, kind: type) -> bool:
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and value >= 0
    return isinstance(value, int | float) if kind is float else isinstance(value, kind)


def _misfit(at: str, expected: str, value: Any) -> str:
    literal = repr(value)
    return (
        f"{at or 'the document'} should be {expected}, not {literal if len(literal) <= 60 else literal[:57] + '...'}."
    )
