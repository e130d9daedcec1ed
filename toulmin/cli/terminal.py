"""Terminal output: control characters made visible, text never taken for markup."""

from __future__ import annotations

import re
import sys
from typing import Any

import rich.console
from rich.text import Text

WIDEST = 100  # columns

# Control characters, and those that reorder text: they could colour a terminal or make it show other words.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f]")


def printable(text: str) -> str:
    """The text with control and reordering characters escaped."""
    shown = _UNPRINTABLE.sub(lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 256 else f"\\u{ord(m[0]):04x}", text)
    return shown.encode("utf-8", "replace").decode("utf-8")


def words(text: str, style: str = "") -> Text:
    return Text(printable(" ".join(text.split())), style)


class Console(rich.console.Console):
    """At most `WIDEST` columns, without markup."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, emoji=False, markup=False)
        self.width = min(self.width, WIDEST)

    def on_broken_pipe(self) -> None:
        """Raises `BrokenPipeError`, which ends the command quietly."""
        raise BrokenPipeError


def print_json(document: Any) -> None:
    import orjson

    sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()
