"""Checks of options"""

from __future__ import annotations

from toulmin.errors import UsageError


def check_whole(least: int, **options: object) -> None:
    """Raises `UsageError` unless each option is a whole number of at least `least`."""
    for name, value in options.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise UsageError(f"The option {name!r} must be a whole number of at least {least}, not {value!r}.")
