"""DOC: Word documents before 2007, which LibreOffice converts where it is installed."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from shutil import copyfile, which
from tempfile import TemporaryDirectory

from toulmin.data import Document
from toulmin.documents.archive import OLE
from toulmin.documents.office import rich_document
from toulmin.documents.plain import Unavailable, cannot_read, check_size
from toulmin.documents.word import word_document

# Seconds of a conversion, and for each megabyte: less than the reader of the file gets, so that it ends what it began.
_SECONDS, _SECONDS_A_MEGABYTE = 60.0, 48.0


def old_word_document(path: Path, limit: int) -> Document:
    """As `word_document`, of what LibreOffice makes of the file; rich text and docx are named doc too.

    Raises `Unavailable` where LibreOffice is not installed.
    """
    with path.open("rb") as file:
        beginning = file.read(len(OLE))
    if beginning.startswith((b"PK", b"{\\rt")):
        return word_document(path, limit) if beginning.startswith(b"PK") else rich_document(path, limit)
    if beginning != OLE:
        raise cannot_read(path, "is no Word document", "rename it by its kind")
    check_size(path, path.stat().st_size, limit)
    office = program()
    if office is None:
        remedy = "install LibreOffice, which reads it for Toulmin, or save it as .docx"
        raise cannot_read(path, "is an older Word document", remedy, Unavailable)
    with TemporaryDirectory() as folder:
        copy = Path(folder, "a.doc")  # alone, as an older document may name what lies beside it
        copyfile(path, copy)
        _convert(office, copy)
        made = copy.with_suffix(".docx")
        if not made.exists():
            raise cannot_read(path, "could not be converted by LibreOffice", "open it there and save it as .docx")
        return word_document(path, limit, made)


def program() -> str | None:
    """The path of LibreOffice; None where it is not installed."""
    return which("soffice") or which("libreoffice")


def _convert(office: str, path: Path) -> None:
    # With settings of its own, as no two programs can share them, by which nothing that the file links to is fetched;
    # in a group of its own, as the program starts another.
    settings = path.with_name("profile") / "user" / "registrymodifications.xcu"
    settings.parent.mkdir(parents=True)
    copyfile(Path(__file__).with_name("offline.xcu"), settings)
    profile = f"-env:UserInstallation={settings.parents[1].as_uri()}"
    command = [office, profile, "--headless", "--convert-to", "docx", "--outdir", str(path.parent), str(path)]
    nothing = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_SECONDS + _SECONDS_A_MEGABYTE * path.stat().st_size / 1e6)
    with suppress(OSError, AttributeError):  # it has ended, or the system knows no groups
        os.killpg(process.pid, signal.SIGKILL)
