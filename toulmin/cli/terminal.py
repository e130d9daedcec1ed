"""Terminal output: control characters are escaped, and text is never read as markup."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import rich.console
from rich.text import Text

WIDEST = 100  # columns

# Control characters and those that reorder text could colour a terminal or make it show other words.
_UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f]"
    # GitHub runs `::name ...::` at the start of a line of a log, and `##[name]` anywhere in it.
    r"|[:#](?=(?::|#\[)(?:add-\w+|debug|echo|endgroup|error|group|internal-[\w-]+|notice|remove-matcher|save-state"
    r"|set-\w+|stop-commands|warning)[ :\]])",
    re.IGNORECASE,
)


def printable(text: str) -> str:
    """Escapes control and reordering characters, and the signs of workflow commands."""
    shown = _UNPRINTABLE.sub(lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 256 else f"\\u{ord(m[0]):04x}", text)
    return shown.encode("utf-8", "replace").decode("utf-8")


def count_of(n: int, noun: str, plural: str = "s") -> str:
    return f"{n} {noun}{'' if n == 1 else plural}"


def words(text: str, style: str = "") -> Text:
    return Text(printable(" ".join(text.split())), style)


class Console(rich.console.Console):
    """At most `WIDEST` columns, without markup."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, emoji=False, markup=False)
        self.width = min(self.width, WIDEST)

    def print(self, *objects: Any, **options: Any) -> None:
        """Without the blanks that fill a terminal's lines, where there is none."""
        if self.is_terminal:
            super().print(*objects, **options)
            return
        with self.capture() as captured:
            super().print(*objects, **options)
        self.file.write(re.sub(r"[ \t]+(?=\n)", "", captured.get()))
        self.file.flush()

    def say(self, text: str, style: str = "") -> None:
        self.print(words(text, style))

    def on_broken_pipe(self) -> None:
        """Raises `BrokenPipeError`, which ends the command quietly."""
        raise BrokenPipeError


@contextmanager
def progress_bar(
    before: str = "", after: str = "", *, width: int = 24, is_timed: bool = True, **fields: Any
) -> Iterator[Callable[..., None] | None]:
    """Shows a bar with two `TextColumn` templates on standard error; yields its update, or None outside a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    first, last = (TextColumn(text) if text else None for text in (before, after))
    columns = (first, BarColumn(width), MofNCompleteColumn(), last, TimeRemainingColumn() if is_timed else None)
    with Progress(*filter(None, columns), console=console, transient=True) as bar:
        yield partial(bar.update, bar.add_task("", total=None, **fields))


def print_json(document: Any) -> None:
    import orjson

    sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()
