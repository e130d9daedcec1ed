"""The error tree, with exit codes. Foreign exceptions become one of these where the foreign library is called.

    ToulminError            1
    ├── UsageError          2
    │   ├── UnknownPart     2
    │   └── CodeRefused     2
    ├── SourceError         3
    │   ├── IndexDamaged    3
    │   ├── DiskFull        3
    │   └── StoreAway       3
    ├── ModelError          4
    └── BudgetEnded         5

Every message says what was expected, what came, and what to do.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterable

# Survived errors are logged, and stamina logs each retry. Without these handlers Python would print them for programs
# without a log.
for _name in ("toulmin", "stamina"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


class ToulminError(Exception):
    """Base of all errors raised on purpose; raised itself it is a defect of ours."""

    exit_code = 1
    http_status = 500


class UsageError(ToulminError):
    """An unknown name, or a value out of range."""

    exit_code = 2
    http_status = 422


class UnknownPart(UsageError):
    """An unknown judge, model, method ...; the message has three lines."""


class CodeRefused(UsageError):
    """A request names code; only the owner of the process may."""

    http_status = 400


class SourceError(ToulminError):
    """A document, folder or index cannot be used."""

    exit_code = 3
    http_status = 404


class IndexDamaged(SourceError):
    """The index is damaged or of another version; the message names the command that rebuilds it."""


class DiskFull(SourceError):
    """No room to write, or none that the settings allow; existing data is safe."""

    http_status = 507


class StoreAway(SourceError):
    """An object store or database does not answer, or fails; open sources stay usable."""

    http_status = 503


class ModelError(ToulminError):
    """A model could not be reached, refused, or sent no usable reply."""

    exit_code = 4
    http_status = 502


class BudgetEnded(ToulminError):
    """The calls, tokens or seconds of the budget are spent."""

    exit_code = 5
    http_status = 504


def disk_full(what: object) -> DiskFull:
    return DiskFull(f"The disk is full: {what} could not be written. Make room and try again; nothing was lost.")


def is_disk_full(error: BaseException) -> bool:
    no_room = getattr(error, "errno", None) in {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
    name = getattr(error, "sqlite_errorname", "")
    return no_room or name in {"SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_SHMOPEN"}


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """The error suggests near names."""
    from difflib import get_close_matches  # only an error needs it

    names = sorted(known)
    near = get_close_matches(name, names, n=2)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names)}."
    return UsageError(f"There is no {kind} called {name!r}; {hint}")


def first_line(error: BaseException) -> str:
    """The first line of the message, else the type."""
    return (str(error).strip() or type(error).__name__).split("\n")[0]


def cause_of(error: Exception) -> str:
    """The message; of an error of the system its words alone, without number and path."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def missing_libraries(part: str, absent: ImportError, extra: str, needs: str = "transformers and torch") -> ModelError:
    """The error for a part without its libraries."""
    what = f"{part} needs {needs}, but {absent.name or absent} is not installed"
    return ModelError(f"{what}; run: pip install 'toulmin[{extra}]'")
