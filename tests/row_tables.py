"""A table of rows as one test: every row runs, and the failure names each row that fails."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def table(names: str | Sequence[str], rows: Iterable[Any], ids: Any = None) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a test as `pytest.mark.parametrize` does. Rows share fixtures: for tests that keep no state."""
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    labels = ids if callable(ids) or ids is None else list(itertools.islice(ids, 100_000))
    labelled = [_labelled(row, labels, number, len(keys)) for number, row in enumerate(rows)]
    assert labelled, f"no rows of {keys}"

    def decorate(test: Callable[..., Any]) -> Callable[..., None]:
        signature = inspect.signature(test)
        fixtures = [parameter for key, parameter in signature.parameters.items() if key not in keys]
        assert len(fixtures) + len(keys) == len(signature.parameters), f"{test.__name__} does not take all of {keys}"

        @functools.wraps(test)
        def every_row(**others: Any) -> None:
            failures = []
            for label, values in labelled:
                try:
                    test(**others, **dict(zip(keys, values, strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    failure = AssertionError(f"[{label}] {type(error).__name__}: {error}")
                    failures.append(failure.with_traceback(error.__traceback__))
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(labelled)} rows fail", failures)

        every_row.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return every_row

    return decorate


def _labelled(row: Any, labels: Any, number: int, width: int) -> tuple[str, tuple[Any, ...]]:
    if isinstance(row, ParameterSet):
        assert not row.marks, "a row of a table has no marks"
        values, label = tuple(row.values), row.id
    else:
        values, label = (tuple(row) if width > 1 else (row,)), None
    if label is None and isinstance(labels, list):
        label = labels[number]
    if label is None:
        label = "-".join(str(labels(value)) if callable(labels) else ascii(value)[:60] for value in values)
    return f"{number}: {label}", values
