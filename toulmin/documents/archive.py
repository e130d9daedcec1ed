"""Opens documents that are zip archives of XML, within limits, and reads their parts."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

from toulmin.documents.metadata import Fields
from toulmin.documents.plain import cannot_read, check_size
from toulmin.errors import SourceError

# Office encrypts by wrapping the file into an OLE container; the formats before 2007 are OLE too.
OLE = b"\xd0\xcf\x11\xe0"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


@contextmanager
def open_archive(path: Path, limit: int, kind: str) -> Iterator[zipfile.ZipFile]:
    """Opens a zip document; `kind` names it in errors.

    Raises `SourceError` if it is encrypted, unpacks to more than `limit` bytes, or is damaged; any error in the `with`
    block counts as damage.
    """
    check_size(path, path.stat().st_size, limit)
    with path.open("rb") as file:
        is_ole = file.read(4) == OLE
    suffix = path.suffix.lower()
    if is_ole:
        came = f"is encrypted, or an older {suffix.removesuffix('x')}"
        raise cannot_read(path, came, f"save it as {suffix} without a password")
    try:
        with zipfile.ZipFile(path) as archive:
            check_size(path, sum(entry.file_size for entry in archive.infolist()), limit)  # a part may have any name
            yield archive
    except (SourceError, OSError, MemoryError):
        raise
    # The libraries raise many kinds of error for damaged files.
    except Exception as error:
        raise cannot_read(path, f"is a damaged {kind} ({error})", "save it again") from error


def xml_part(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    """The root of a part. Raises `ValueError` if it declares entities, which can grow without limit."""
    data = archive.read(name)
    if b"<!ENTITY" in data.replace(b"\0", b""):  # UTF-16 too
        raise ValueError(f"{name} declares entities")
    return ElementTree.fromstring(data)


def properties(archive: zipfile.ZipFile, part: str) -> Fields:
    """The names and texts of the elements of a part, which may be missing."""
    root = xml_part(archive, part) if part in archive.namelist() else ElementTree.Element("none")
    return [(name_of(element), element.text or "") for element in root.iter()]


def core_properties(archive: zipfile.ZipFile) -> Fields:
    """Those of an Office file; some programs name the part by a number ("...psmdcp")."""
    names = [name for name in archive.namelist() if name.endswith((".psmdcp", "docProps/core.xml"))]
    return properties(archive, names[0]) if names else []


def name_of(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def parts_in_order(archive: zipfile.ZipFile, whole: str, element: str) -> list[tuple[str, str]]:
    """The name and part of each such element of an Office part, such as the sheets of a workbook."""
    targets = {key: target for key, _, target in _relations(archive, whole)}
    entries = xml_part(archive, whole).iterfind(f".//{{*}}{element}")
    listed = [(entry.get("name", ""), entry.get(_RELATION)) for entry in entries]
    parts = {targets[key]: name for name, key in listed if key in targets}  # each once
    return [(name, part) for part, name in parts.items()]


def related_parts(archive: zipfile.ZipFile, whole: str, *kinds: str) -> list[list[ElementTree.Element]]:
    """For each kind, the roots of the parts that an Office part refers to, such as the charts of a slide."""
    related = [(target, type.rpartition("/")[2]) for _, type, target in _relations(archive, whole)]
    return [[xml_part(archive, target) for target, its_kind in related if its_kind == kind] for kind in kinds]


def _relations(archive: zipfile.ZipFile, whole: str) -> Iterator[tuple[str | None, str, str]]:
    """The id, type and part of each relation of an Office part."""
    folder, file = posixpath.split(whole)
    name = f"{folder}/_rels/{file}.rels"
    for relation in xml_part(archive, name) if name in archive.NameToInfo else ():
        target = posixpath.join("/", folder, relation.get("Target", ""))
        yield relation.get("Id"), relation.get("Type", ""), posixpath.normpath(target)[1:]
