"""Parameters by dataset (Tables 6 and 7)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from toulmin.errors import unknown_name
from toulmin.methods.options import check_whole

# The least value of each number.
_LEAST = {"max_trials": 0, "queries": 1, "per_query": 1, "k": 1}


@dataclass(frozen=True, slots=True)
class Parameters:
    """The numbers of Algorithm 1: T (`max_trials`), M (`queries`), N (`per_query`) and k. Raises `UsageError`."""

    max_trials: int
    queries: int
    per_query: int
    k: int = 5

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            check_whole(least, **{name: getattr(self, name)})

    def attempts(self, *, strict: bool) -> int:
        """The most attempts at one claim, at least one.

        Algorithm 1 gives up when t > T, checked after a failure with t counted from 0: T + 2 attempts, as Table 4
        needs too. `strict` follows the paper's prose: T.
        """
        return max(1, self.max_trials) if strict else self.max_trials + 2


PRESETS: Mapping[str, Parameters] = {
    # Table 6: Text-Davinci-003.
    "2wiki-davinci": Parameters(max_trials=5, queries=2, per_query=4),
    "asqa-davinci": Parameters(max_trials=2, queries=4, per_query=2),
    "eli5-davinci": Parameters(max_trials=3, queries=2, per_query=2),
    "nq-davinci": Parameters(max_trials=3, queries=2, per_query=3),
    "webq-davinci": Parameters(max_trials=3, queries=4, per_query=2),
    # Table 7: Vicuna-13B-v1.5-16k.
    "2wiki-vicuna": Parameters(max_trials=5, queries=4, per_query=2),
    "asqa-vicuna": Parameters(max_trials=3, queries=2, per_query=4),
    "eli5-vicuna": Parameters(max_trials=5, queries=2, per_query=4),
    "nq-vicuna": Parameters(max_trials=3, queries=3, per_query=3),
    "webq-vicuna": Parameters(max_trials=3, queries=3, per_query=3),
}

# ASQA asks for long cited answers, the default style; the paper's analyses use Vicuna (section 3.5).
DEFAULT = "asqa-vicuna"


def parameters(preset: str | None, **by_hand: int | None) -> Parameters:
    """The preset's values (`DEFAULT` if None), replaced by arguments that are not None. Raises `UsageError`."""
    name = DEFAULT if preset is None else preset
    if name not in PRESETS:
        raise unknown_name("preset of vtg", name, PRESETS)
    values = {field.name: by_hand.get(field.name) for field in fields(Parameters)}
    return replace(PRESETS[name], **{key: value for key, value in values.items() if value is not None})
