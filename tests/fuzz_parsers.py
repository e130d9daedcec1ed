"""What a parser of text that others wrote is here, a function of bytes with inputs to begin from, and its files."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from toulmin.errors import ToulminError

# A line that parts what is put into several files, so that an input of bytes can stand for an archive or a folder.
PART = b"\n\x1e\n"
ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Parser:
    """Refuses an input by an error of ours, or by one of its `refusals`.

    `is_confined`: the product reads it in a child process, which names the file where the reader breaks.
    """

    read: Callable[[bytes], object]
    seeds: Sequence[bytes]
    refusals: tuple[type[Exception], ...] = (ToulminError,)
    is_confined: bool = False


_folders: list[tempfile.TemporaryDirectory[str]] = []


@cache
def folder() -> Path:
    """Of this process, in memory where the system has such a place."""
    fast = Path("/dev/shm")
    _folders.append(tempfile.TemporaryDirectory(prefix="fuzz-", dir=fast if fast.is_dir() else None))
    return Path(_folders[0].name)


def written(name: str, data: bytes) -> Path:
    path = folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def write_all(place: str, names: Sequence[str], data: bytes) -> Path:
    """The parts of the bytes under these names in a folder."""
    for name, part in zip(names, [*data.split(PART), *[b""] * len(names)], strict=False):
        written(f"{place}/{name}", part)
    return folder() / place


def rows(*items: object) -> bytes:
    return b"".join(json.dumps(item).encode() + b"\n" for item in items)


# Modules beside this one, each loading only what it needs, and the parsers in their `PARSERS`.
NAMES = {
    "fuzz_documents": "txt md rst adoc man html rtf eml csv py jsonl tsv json jsonl.gz pdf odt pptx xlsx epub docx"
    " archive page",
    "fuzz_replies": "reply structured dataset results beir prompts alce_prompts script settings environment",
    "fuzz_kept": "answer transcript run journal preferences exported",
    "fuzz_http": "received wire request",
}


def names() -> list[str]:
    return [name for listed in NAMES.values() for name in listed.split()]


def parser_of(name: str) -> Parser:
    module = next(module for module, listed in NAMES.items() if name in listed.split())
    parser: Parser = import_module(module).PARSERS[name]()
    return parser
