"""The log of a command on standard error, as lines for a person or as JSON objects for a program."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from toulmin.cli.serve_command import app
from toulmin.cli.terminal import printable

__all__ = ["app"]

Level = Literal["debug", "info", "warning", "error"]
Format = Literal["text", "json"]

# Never the root: at debug, libraries of others write what is sent to models, and headers.
OTHERS = ("asyncio", "uvicorn")

app.meta.group_parameters = Group("Log", sort_key=1)


@app.meta.default
def launch(
    *words: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    log_level: Level | None = None,
    log_format: Format | None = None,
) -> int:
    """Runs a command with its log.

    Parameters
    ----------
    log_level
        Also write a log to standard error, of this level and above (default: none).
    log_format
        Lines of text or JSON objects (default: json where `serve` does not write to a terminal, else text).
    """

    def command() -> int:
        return app(words, exit_on_error=False, print_error=False, result_action="return_value") or 0

    if log_level is None:
        return command()
    is_server = words[:1] == ("serve",) and not sys.stderr.isatty()
    with logging_to_stderr(log_level, log_format or ("json" if is_server else "text")):
        return command()


@contextmanager
def logging_to_stderr(level: Level, form: Format) -> Iterator[None]:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Objects() if form == "json" else Lines())
    handler.setLevel(level.upper())
    levels = {"toulmin": handler.level, **dict.fromkeys(OTHERS, max(handler.level, logging.WARNING))}
    before = {name: logging.getLogger(name).level for name in levels}
    for name, least in levels.items():
        logging.getLogger(name).addHandler(handler)
        logging.getLogger(name).setLevel(least)
    try:
        yield
    finally:
        for name, least in before.items():
            logging.getLogger(name).removeHandler(handler)
            logging.getLogger(name).setLevel(least)


class Lines(logging.Formatter):
    """One line a record, whatever its words hold; only a traceback follows on lines of its own."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = printable(record.message).replace("\n", "\\n")
        return super().formatMessage(record)


class Objects(logging.Formatter):
    """One JSON object a record: time, level, logger, message, then the fields that the message was made of."""

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
