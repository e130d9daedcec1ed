"""The error tree. Foreign exceptions become one of these where the foreign library is called.

    ToulminError            1   a defect of ours when it reaches a person as such
    ├── UsageError          2   a wrong word, option or value
    ├── SourceError         3   a file, folder or index that cannot be used
    │   ├── IndexDamaged    3
    │   └── StoreAway       3   an object store or a database that does not answer now
    ├── ModelError          4   a model that cannot be reached, or that refused
    └── BudgetEnded         5   calls, tokens or seconds are spent

Every message says what was expected, what came, and what to do.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from difflib import get_close_matches

# What goes wrong and is survived is logged. A program that set up no log sees nothing; Python would print warnings.
logging.getLogger("toulmin").addHandler(logging.NullHandler())


class ToulminError(Exception):
    """Anything this package raises on purpose; `exit_code` and `http_status` say how an edge reports it."""

    exit_code = 1
    http_status = 500


class UsageError(ToulminError):
    """The request cannot mean anything: an unknown name, a value out of range."""

    exit_code = 2
    http_status = 422


class SourceError(ToulminError):
    """A document, folder or index cannot be used as a source."""

    exit_code = 3
    http_status = 404


class IndexDamaged(SourceError):
    """The index on disk is broken or was written by another version; it says how to make it anew."""


class StoreAway(SourceError):
    """An object store or a database does not answer, or fails; what was opened before may be used on."""

    http_status = 503


class ModelError(ToulminError):
    """A model could not be reached, refused, or replied with nothing that can be used."""

    exit_code = 4
    http_status = 502


class BudgetEnded(ToulminError):
    """The calls, tokens or seconds that were granted are spent."""

    exit_code = 5
    http_status = 504


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """An error for a name that is not one of `known`; it suggests the nearest ones."""
    names = sorted(known)
    near = get_close_matches(name, names, n=2)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names)}."
    return UsageError(f"There is no {kind} called {name!r}; {hint}")
