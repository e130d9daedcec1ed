"""Reads documents from their files, with their bibliographies and their dead paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from toulmin.documents.loaders import SUFFIXES, find_files
from toulmin.documents.plain import MOST_OF_A_TEXT, cannot_read, empty, read_text
from toulmin.errors import SourceError, cause_of
from toulmin.prose.blocks import Pointer, Prose, Skip, bibliography, numbered_entries
from toulmin.text.names import split_address

# The module of this room that reads files of an ending.
READERS = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html"}
READERS |= {".docx": "word", ".tex": "latex"}
_IN_FOLDERS = frozenset((*READERS, ".txt"))
_BIBLIOGRAPHIES = (".bib", ".json", ".yaml", ".yml")
# In front matter, of which a list may go on in lines of its own, and in LaTeX.
_BIBLIOGRAPHY = re.compile(
    r"^bibliography:(.*(?:\n\s*-.*)*)|\\(?:bibliography|addbibresource)\{([^{}]+)\}", re.MULTILINE
)


class ProseFile(NamedTuple):
    """A document and its citations; `name` is its path from the working directory, if it is below that.

    `books` are the entries of its bibliographies by key, `lost` the missing paths by the words of the citation.
    """

    path: Path
    name: str
    prose: Prose
    books: Mapping[str, str]
    lost: Mapping[str, str]


def files_to_check(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """The named files, and the files of known forms in named folders. Raises `SourceError` without any."""
    named = [Path(path) for path in paths]
    files, _ = find_files([path for path in named if path.is_dir()])
    listed = (path for path in files if path.suffix.lower() in _IN_FOLDERS)
    chosen = list(dict.fromkeys([*(path for path in named if not path.is_dir()), *listed]))
    if not chosen:
        kinds = ", ".join(sorted(_IN_FOLDERS))
        raise SourceError(f"Files of {kinds} were expected in {', '.join(map(str, named))}; there are none.")
    return chosen


def read_document(path: Path) -> ProseFile:
    """Raises `SourceError` as `read_prose` does."""
    prose = read_prose(path)
    words = [*(each.target for each in prose.pointers if each.is_citation), *prose.entries.values()]
    paths = {each: path_ for each in words if (path_ := _path_in(each)) and not os.path.exists(path.parent / path_)}
    # A Word document has no front matter, and a server's clients send it: it may name no other file.
    books = {} if READERS.get(path.suffix.lower()) == "word" else _bibliographies(path, prose.source)
    return ProseFile(path, name_of(path), prose, books, paths)


def read_apart(path: Path, most: int) -> dict[str, Any]:
    """`read_document` for a child process; `document_from` is the inverse."""
    read = read_document(path)
    if len(read.prose.source) > most:
        raise cannot_read(path, f"unpacks to more than {most / 1e6:,.0f} million characters", "split it")
    prose = read.prose
    rows = [list(map(list, values)) for values in (prose.starts, prose.pointers, prose.skips, prose.entries.items())]
    return {"prose": [prose.text, prose.source, *rows], "books": read.books, "lost": read.lost}


def document_from(path: Path, answer: Mapping[str, Any]) -> ProseFile:
    text, source, starts, pointers, skips, entries = answer["prose"]
    rows = tuple(map(tuple, starts)), tuple(map(Pointer._make, pointers)), tuple(map(Skip._make, skips))
    return ProseFile(path, name_of(path), Prose(text, source, *rows, dict(entries)), answer["books"], answer["lost"])


def name_of(path: Path) -> str:
    """The path from the working directory, if it is below that."""
    relative = os.path.relpath(path)
    return Path(path if relative.startswith("..") else relative).as_posix()


def _path_in(words: str) -> str:
    """The missing relative path that a footnote or an entry is or links to."""
    last = words.split()[-1].strip("<>") if "](" in words or len(words.split()) == 1 else ""
    path = unquote(last.partition("#")[0])
    is_relative = not (split_address(path).scheme or path.startswith("/"))
    return path if is_relative and Path(path).suffix.lower() in SUFFIXES else ""


def _bibliographies(path: Path, source: str) -> dict[str, str]:
    """The entries of the document's front matter and of its bibliographies that exist."""
    entries = bibliography(source) if re.search(r"(?m)^references:\s*$", source) else {}
    for names in _BIBLIOGRAPHY.findall(source):
        for name in re.findall(r"[^\s\"',\[\]-][^\s\"',\[\]]*", names[0] or names[1]):
            file = path.parent / name
            file = file if file.suffix in _BIBLIOGRAPHIES else Path(f"{file}.bib")
            # Whatever the name is: `Path.is_file` raises for a long one.
            if os.path.isfile(file) and file.stat().st_size <= MOST_OF_A_TEXT:
                entries |= bibliography(file.read_text("utf-8", "replace"))
    return entries


def read_prose(path: Path) -> Prose:
    """Reads a file by its ending; takes all text of unknown kinds.

    Raises `SourceError` for a file that is unreadable, no text, or empty.
    """
    try:
        reader = READERS.get(path.suffix.lower())
        read: Any = import_module(f"toulmin.prose.{reader}").read if reader else _all_of
        prose: Prose = read(path if reader == "word" else read_text(path, MOST_OF_A_TEXT))
    except FileNotFoundError as error:
        raise SourceError(f"There is no file {path}; check its name.") from error
    except OSError as error:
        raise SourceError(f"{path} should be a document to check, but cannot be read ({cause_of(error)}).") from error
    if not prose.source.strip():
        raise empty(path)
    return prose


def _all_of(source: str) -> Prose:
    return Prose(source, source, entries=numbered_entries(source))
