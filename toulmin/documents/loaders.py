"""Finds files and reads documents from them.

A file that cannot be read raises one `SourceError` that names it. Only hidden entries are skipped silently.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toulmin.data import Document
from toulmin.documents.metadata import changed_on
from toulmin.documents.plain import MOST_OF_A_TEXT, Unavailable, cannot_read, decode, read_text, repair_text
from toulmin.errors import SourceError, cause_of

if TYPE_CHECKING:
    from toulmin.documents.ocr import Recogniser

MOST_BYTES = 200_000_000  # of a file, or of a record
# Milliseconds: the longest burst of changes, the rest after its last one, between looks without a change reported.
_BURST, _REST, _MINUTE, _POLLED = 3_000, 400, 60_000, 2_000


@dataclass(frozen=True, slots=True)
class SkippedFile:
    path: str
    reason: str


_NAMED = 3  # files listed for a reason; the others are counted


def by_reason(files: Iterable[SkippedFile]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for entry in files:
        reasons.setdefault(entry.reason.removeprefix(f"{entry.path} "), []).append(entry.path)
    return [f"{_listed(paths)}: {reason}" for reason, paths in reasons.items()]


def _listed(paths: Sequence[str]) -> str:
    others = len(paths) - _NAMED
    return ", ".join(paths) if others < 2 else f"{', '.join(paths[:_NAMED])} and {others} others"


# ---------------------------------------------------------------- finding


def is_under(path: Path, roots: Iterable[Path]) -> bool:
    return any(root == path or root in path.parents for root in roots)


def find_files(paths: Iterable[Path]) -> tuple[list[Path], list[SkippedFile]]:
    """The files to read, sorted, each once, and the skipped paths.

    Searches folders without hidden entries unless named, and follows no link that leads out of what is named: a folder
    may be somebody else's. Raises `SourceError` for a missing path.
    """
    files: set[Path] = set()
    paths = [_existing(Path(path)) for path in paths]
    inside = [Path(os.path.realpath(path)) for path in paths]
    skipped: set[tuple[str, str]] = set()
    for named in paths:
        for path in _under(named, inside, skipped):
            reason = _why_not(path, inside)
            if reason is None:
                files.add(path)
            else:
                skipped.add((repair_text(str(path)), reason))
    by_target = {os.path.realpath(path): path for path in sorted(files, reverse=True)}
    return sorted(by_target.values()), [SkippedFile(*pair) for pair in sorted(skipped)]


def _existing(path: Path) -> Path:
    try:
        path.stat()
    except FileNotFoundError as error:
        raise cannot_read(path, "does not exist", "check the name") from error
    except (OSError, ValueError) as error:
        raise cannot_read(path, f"cannot be opened ({cause_of(error)})", "check its name and permissions") from error
    return path


def _under(root: Path, inside: Sequence[Path], skipped: set[tuple[str, str]]) -> Iterator[Path]:
    """Every file below the root, or the root itself; each folder is entered once, so loops end."""
    waiting, entered = [root], set[str]()
    while waiting:
        path = waiting.pop()
        if not os.path.isdir(path):
            yield path
            continue
        real = os.path.realpath(path)
        if not is_under(Path(real), inside):
            yield path
            continue
        if real not in entered:
            entered.add(real)
            waiting += _entries(path, skipped)


def _entries(folder: Path, skipped: set[tuple[str, str]]) -> list[Path]:
    try:
        return [folder / name for name in os.listdir(folder) if not name.startswith(".")]
    except OSError as error:
        skipped.add((repair_text(str(folder)), f"the folder cannot be opened ({cause_of(error)})"))
        return []


_KNOWN = "`toulmin index --help` lists what is read"
_SAVED_AS = ((".docx", ".pages"), (".pptx", ".ppt .key"), (".xlsx", ".numbers"))
_HINTS = {kind: f"save it as {other}" for other, kinds in _SAVED_AS for kind in kinds.split()}


def _why_not(path: Path, inside: Sequence[Path]) -> str | None:
    if not os.path.exists(path):
        return "a link that points nowhere" if os.path.islink(path) else "it cannot be opened (no permission)"
    if os.path.islink(path) and not is_under(Path(os.path.realpath(path)), inside):
        return "a link out of the folder; name what it points to as well"
    if not os.path.isfile(path):
        return "not a regular file"
    if repair_text(str(path)) != str(path):
        return "its name is not valid UTF-8; rename it"
    if suffix_of(path) is None:
        return f"unknown kind; {_HINTS.get(path.suffix.lower(), _KNOWN)}"
    return None


def watch(roots: Iterable[str], ignored: Path) -> list[AsyncIterator[object]]:
    """Yields each time that files changed and then rest, and once a minute, as some disks report no change.

    An iterator for folders and one for single files. Raises OSError where a root cannot be watched.
    """
    paths = [Path(os.path.abspath(root)) for root in roots]
    folders, files = [path for path in paths if path.is_dir()], {path for path in paths if not path.is_dir()}
    watches = [_watch(folders, lambda path: ignored not in path.parents, True)] if folders else []
    if files:  # which an editor may replace
        watches.append(_watch([*{path.parent for path in files}], files.__contains__, False))
    return watches


async def _watch(places: Sequence[Path], is_wanted: Callable[[Path], bool], is_deep: bool) -> AsyncIterator[object]:
    from watchfiles import awatch

    options: dict[str, Any] = {"recursive": is_deep, "debounce": _BURST, "step": _REST, "rust_timeout": _MINUTE}
    options |= {"watch_filter": lambda _, path: is_wanted(Path(path)), "yield_on_timeout": True}
    try:
        async for changes in awatch(*places, **options):
            yield changes
    except OSError:  # no watches are left
        async for changes in awatch(*places, force_polling=True, poll_delay_ms=_POLLED, **options):
            yield changes


# ---------------------------------------------------------------- reading


def read_documents(path: Path, *, limit: int = MOST_BYTES, recogniser: Recogniser | None = None) -> Iterator[Document]:
    """The documents of one file: one for a text, page or book, or one a record.

    `limit` is in bytes, of the file or of one record (record files are streamed). `recogniser` reads scanned pages of a
    PDF. May raise `SourceError` after some records; the caller must then discard them.
    """
    suffix = suffix_of(path)
    if suffix is None:
        raise cannot_read(path, "is of an unknown kind", _HINTS.get(path.suffix.lower(), _KNOWN))
    if not _existing(path).is_file():
        raise cannot_read(path, "is not a regular file", "name a file")
    try:
        changed = f"{datetime.fromtimestamp(path.stat().st_mtime, UTC):%Y-%m-%d}"
        for n, document in enumerate(_documents(suffix, path, limit, recogniser)):
            said = document.metadata
            document = document if said.date else replace(document, metadata=changed_on(changed, said))
            guess = None if n else _guess_of(path)
            yield replace(document, remarks=(*document.remarks, guess)) if guess else document
    except OSError as error:
        remedy = "check that it exists and that you may read it"
        raise cannot_read(path, f"cannot be opened ({cause_of(error)})", remedy, Unavailable) from error


def largest(path: Path) -> float:
    """The bytes of a file beyond which nobody reads it, so that it need not be hashed either."""
    module = reader_of(path)[0]
    return math.inf if module == "records" else MOST_OF_A_TEXT if module in _TEXTS - {"html"} else MOST_BYTES


def text_now(path: str) -> str:
    """Empty unless the source is a text file."""
    try:
        return read_text(Path(path), MOST_OF_A_TEXT) if suffix_of(Path(path)) in TEXT_SUFFIXES else ""
    except (OSError, SourceError):
        return ""


def _guess_of(path: Path) -> str | None:
    # In words, how the encoding of a plain text was guessed; None if it is known.
    if reader_of(path)[0] in _TEXTS - {"html"}:
        with suppress(OSError, SourceError):
            return decode(path.read_bytes(), path).guess
    return None


def is_foreign(path: Path) -> bool:
    """Whether a library parses its format."""
    return reader_of(path)[0] in _FOREIGN


def reader_of(path: Path) -> tuple[str, str]:
    """The module and function that read this kind of file; those of plain text for an unknown kind."""
    return _READERS[suffix_of(path) or ".txt"]


# Texts that by convention have no ending, or one such as .Debian or .1 of a version; no licence, Makefile or log.
_TEXT_NAME = re.compile(
    r"(?=[A-Z\d]|readme|changelog|todo)(?i:(?:\w+[_-]|\d+)?(?:read.?me|news|todo|faq|history|authors|credits|thanks|hacking"
    r"|change(?:s|log)|install(?:ation|ing)?|contributing|bugs|features|upgrading|how.?to|quick.?start|manual|guide|notes))"
    r"(?:[_-][\w-]*)?(?:(?:\.[A-Z\d]\w*)*|(?<=README)\.(?!\w*z\d?$|bz2$|zip$)\w+)"
)


def suffix_of(path: Path) -> str | None:
    name = path.name.lower()
    suffix = max((suffix for suffix in SUFFIXES if name.endswith(suffix)), key=len, default=None)
    is_text = (suffix is None or name[-3:-2].isdigit()) and _TEXT_NAME.fullmatch(path.name)  # a version is no section
    return ".txt" if is_text else suffix


def _documents(suffix: str, path: Path, limit: int, recogniser: Recogniser | None) -> Iterator[Document]:
    module, function = _READERS[suffix]
    reader = getattr(import_module(f"toulmin.documents.{module}"), function)
    of_parts = partial(read_documents, limit=limit)
    options: dict[str, list[Any]] = {"records": [suffix.removesuffix(".gz")], "pdf": [recogniser], "mail": [of_parts]}
    documents = reader(path, limit, *options.get(module, ()))
    yield from [documents] if isinstance(documents, Document) else documents


# The endings of each kind, and the module and function that read it.
_KINDS = {
    ".txt .text": ("plain", "text_document"),
    ".md .markdown": ("markup", "markdown_document"),
    ".vtt .srt": ("plain", "subtitles_document"),
    ".rst": ("markup", "rst_document"),
    ".adoc .asciidoc": ("markup", "asciidoc_document"),
    ".man .1 .2 .3 .4 .5 .6 .7 .8": ("manual", "manual_document"),
    ".html .htm .xhtml": ("html", "html_document"),
    ".pdf": ("pdf", "pdf_document"),
    ".docx": ("word", "word_document"),
    ".doc": ("old_word", "old_word_document"),
    ".odt": ("office", "odt_document"),
    ".pptx": ("office", "slides_document"),
    ".xlsx .xls .xlsb .ods": ("office", "sheets_document"),
    ".epub": ("office", "book_document"),
    ".rtf": ("office", "rich_document"),
    ".eml": ("mail", "mail_documents"),
    ".mbox": ("mail", "mailbox_documents"),
    ".msg": ("mail", "outlook_documents"),
    ".csv": ("plain", "csv_document"),
    ".jsonl .jsonl.gz .tsv .tsv.gz .json .json.gz .bib .ris": ("records", "record_documents"),
    ".c .cc .cpp .cs .go .h .hpp .java .js .jsx .kt .lua .php .pl .py .r .rb .rs .scala .sh .sql .swift .ts .tsx"
    " .cfg .conf .ini .toml .yaml .yml": ("plain", "code_document"),
}
_FOREIGN = {"html", "pdf", "word", "old_word", "office", "mail"}
_READERS = {suffix: reader for suffixes, reader in _KINDS.items() for suffix in suffixes.split()}
SUFFIXES = frozenset(_READERS)
"""The endings of the names of files that can be read, in lower case with their dot."""
_TEXTS = {"plain", "markup", "manual", "html"}
TEXT_SUFFIXES = frozenset(suffix for suffix, (module, _) in _READERS.items() if module in _TEXTS)
"""Those of files that are text as they lie."""
