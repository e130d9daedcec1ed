"""The command line: runs a command and returns its exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

INTERRUPTED = 130
_REPORT = "Please report it with what `--log-level debug` adds; saved work is kept."


def main(arguments: Sequence[str] | None = None) -> None:
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


def run(arguments: list[str]) -> int:
    """The exit code: 0 done, 2 wrong usage, 3 unusable file, 130 interrupted, 1 a defect of ours, or the error's."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return _fail("Interrupted; finished work is kept.", INTERRUPTED)
    except BrokenPipeError:
        # Nobody reads our output any more; its buffer must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        from toulmin.errors import cause_of

        what = f"{error.filename} cannot be used" if error.filename else "A file or stream cannot be used"
        return _fail(f"{what}: {cause_of(error)}. Check its name, its owner and the free space.", 3)
    except Exception as error:
        import traceback

        if any(word.startswith("--log-level") for word in arguments):
            traceback.print_exc()
        return _fail(f"A defect of Toulmin: {type(error).__name__}: {error}. {_REPORT}", 1)


def _run(arguments: list[str]) -> int:
    from cyclopts import CycloptsError

    from toulmin.cli.log import start
    from toulmin.errors import ToulminError, UsageError

    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
        raise OSError("standard input, output or error is closed")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return start(arguments)
    except CycloptsError as error:
        return _fail(f"{error} See: toulmin --help", UsageError.exit_code)
    except ToulminError as error:
        return _fail(str(error), error.exit_code)


def _fail(message: str, code: int) -> int:
    from toulmin.cli.terminal import printable

    print(f"toulmin: {printable(message)}", file=sys.stderr)
    return code
