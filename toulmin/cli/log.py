"""The log of a command on standard error: lines for people or JSON objects for programs."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from toulmin.cli.commands import app
from toulmin.cli.terminal import printable

Level = Literal["debug", "info", "warning", "error"]
Format = Literal["text", "json"]

# Never the root: at debug, other libraries log headers and what is sent to models.
OTHERS = ("asyncio", "mcp", "uvicorn")

app.meta.group_parameters = Group("Log", sort_key=1)
app.meta.suppress_keyboard_interrupt = False  # `cli.run` reports the interruption


@app.meta.default
def launch(
    *words: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    log_level: Level | None = None,
    log_format: Format | None = None,
) -> int:
    """Run a command with its log.

    Parameters
    ----------
    log_level
        Log to standard error from this level on (default: no log).
    log_format
        Log lines of text or JSON objects (default: json for `serve` outside a terminal, else text).
    """
    is_server = words[:1] == ("serve",) and not sys.stderr.isatty()
    with logging_to_stderr(log_level, log_format or ("json" if is_server else "text")):
        return app(words, exit_on_error=False, print_error=False, result_action="return_value") or 0


def start(words: list[str]) -> int:
    """Runs a command; parses the log's options only if one is named or help is asked for."""
    is_plain = bool(words) and not any(word.startswith(("--log", "--help", "-h", "--version")) for word in words)
    if not is_plain or words[0] not in app:
        import_module("toulmin.cli.serve_command")  # which imports every other module of commands
    if is_plain:
        return launch(*words)
    return app.meta(words, exit_on_error=False, print_error=False, result_action="return_value") or 0


@contextmanager
def logging_to_stderr(level: Level | None, form: Format) -> Iterator[None]:
    """Writes nothing without a level, even if a library such as `mcp` gives the root a handler."""
    handler = logging.NullHandler() if level is None else logging.StreamHandler(sys.stderr)
    handler.setFormatter(Objects() if form == "json" else Lines())
    loggers = [logging.getLogger(name) for name in (("toulmin",) if level is None else ("toulmin", *OTHERS))]
    before = [(logger, logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
        if level is not None:
            handler.setLevel(level.upper())
            logger.setLevel(handler.level if logger.name == "toulmin" else max(handler.level, logging.WARNING))
    try:
        yield
    finally:
        for logger, least, propagates in before:
            logger.removeHandler(handler)
            logger.setLevel(least)
            logger.propagate = propagates


class Lines(logging.Formatter):
    """One line a record, line ends escaped; a traceback follows on more lines."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = printable(record.message).replace("\n", "\\n")
        return super().formatMessage(record)


class Objects(logging.Formatter):
    """One JSON object a record: time, level, logger, message, then the message's fields."""

    def format(self, record: logging.LogRecord) -> str:
        row = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields = record.args if isinstance(record.args, Mapping) else {}
        trace = {"exception": self.formatException(record.exc_info)} if record.exc_info else {}
        return json.dumps({**row, **fields, **trace}, default=repr)
