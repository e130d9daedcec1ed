"""What models cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from toulmin.data import Tokens
from toulmin.errors import UsageError

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float

    def of(self, tokens: Tokens) -> float:
        return (self.input * tokens.input + self.output * tokens.output) / _MILLION


def read_prices(table: Mapping[str, Any]) -> Mapping[str, Price]:
    """Prices by model name, from `{"a-model": {"input": 0.25, "output": 2.0}}`; raises `UsageError` for any other
    entry.
    """
    return {name: _price(name, entry) for name, entry in table.items()}


def _price(name: str, entry: Any) -> Price:
    if isinstance(entry, Mapping) and set(entry) == {"input", "output"} and all(map(_is_amount, entry.values())):
        return Price(float(entry["input"]), float(entry["output"]))
    raise UsageError(
        f"The price of {name!r} should be a table like {{input = 0.25, output = 2.0}}"
        f" (US dollars per million tokens), not {entry!r}."
    )


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0
