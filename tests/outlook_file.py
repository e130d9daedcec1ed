"""Mails as Outlook saves them, made by hand: a compound file whose storages hold the properties of MS-OXMSG."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

_SENDER, _SENDS_FROM, _SUBJECT, _BODY, _SENT = 0x0C1A, 0x0C1F, 0x0037, 0x1000, 0x0039
_NAME, _ADDRESS, _FILE, _METHOD, _DATA = 0x3001, 0x39FE, 0x3707, 0x3705, 0x3701
_TEXT, _BYTES, _WHOLE, _MOMENT = 0x1F, 0x102, 0x3, 0x40
_SECTOR, _SMALL, _CUTOFF = 512, 64, 4096  # smaller streams lie in small sectors, of at most 8 KB here
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD

Tree = Mapping[str, "bytes | Tree"]


def msg(
    subject: str, text: str, *attached: tuple[str, bytes], to: Sequence[str] = (), sent: datetime | None = None
) -> bytes:
    """A mail from Ann to these people; an attachment without bytes is as one that is kept by reference."""
    about: dict[int, str | bytes | int | datetime] = {_SENDER: "Ann", _SENDS_FROM: "ann@lamp.example"}
    about |= {_SUBJECT: subject, _BODY: text, **({_SENT: sent} if sent else {})}
    counts = struct.pack("<8x4I8x", len(to), len(attached), len(to), len(attached))
    tree = _properties(counts, about)
    for n, person in enumerate(to):
        who = {_NAME: person, _ADDRESS: f"{person.lower()}@lamp.example"}
        tree[f"__recip_version1.0_#{n:08X}"] = _properties(b"\0" * 8, who)
    for n, (name, data) in enumerate(attached):
        part = {_FILE: name, _METHOD: 1, **({_DATA: data} if data else {})}
        tree[f"__attach_version1.0_#{n:08X}"] = _properties(b"\0" * 8, part)
    return _compound(tree)


def _properties(head: bytes, values: Mapping[int, str | bytes | int | datetime]) -> dict[str, bytes | Tree]:
    """The stream of properties, and one for each that does not fit in it."""
    rows, streams = [head], dict[str, bytes | Tree]()
    for number, value in values.items():
        if isinstance(value, int):
            rows.append(struct.pack("<HHII4x", _WHOLE, number, 6, value))
        elif isinstance(value, datetime):
            since = value - datetime(1601, 1, 1, tzinfo=UTC)
            rows.append(struct.pack("<HHIQ", _MOMENT, number, 6, int(since.total_seconds()) * 10_000_000))
        else:
            kind, data = (_TEXT, value.encode("utf-16-le")) if isinstance(value, str) else (_BYTES, value)
            rows.append(struct.pack("<HHII4x", kind, number, 6, len(data) + 2 * (kind == _TEXT)))
            streams[f"__substg1.0_{number:04X}{kind:04X}"] = data
    return {"__properties_version1.0": b"".join(rows), **streams}


class _Stored:
    """Streams one after the other in sectors of a size, and the table that chains these."""

    def __init__(self, size: int) -> None:
        self._size, self.data, self.chain = size, bytearray(), list[int]()

    def add(self, data: bytes) -> int:
        """Returns the number of the first sector."""
        start, count = len(self.chain), -(-len(data) // self._size)
        self.data += data.ljust(count * self._size, b"\0")
        self.chain += [*range(start + 1, start + count), _END] if count else []
        return start if count else _END


def _compound(tree: Tree) -> bytes:
    """A compound file of version 3 (MS-CFB)."""
    rows, large, small = list[_Row](), _Stored(_SECTOR), _Stored(_SMALL)

    def add(name: str, content: bytes | Tree, kind: int) -> int:
        number, data = len(rows), content if isinstance(content, bytes) else b""
        start = (small if len(data) < _CUTOFF else large).add(data)
        rows.append(_Row(name, kind, start, len(data)))
        if isinstance(content, Mapping):
            inner = sorted(content.items(), key=lambda item: (len(item[0]), item[0].upper()))
            below = [add(each, part, 2 if isinstance(part, bytes) else 1) for each, part in inner]
            rows[number].child = below[0]
            for one, after in pairwise(below):
                rows[one].right = after
        return number

    add("Root Entry", tree, 5)
    rows[0].start, rows[0].size = large.add(bytes(small.data)), len(small.data)
    directory = large.add(b"".join(map(_Row.written, rows)))
    short = large.add(struct.pack(f"<{len(small.chain)}I", *small.chain).ljust(_SECTOR, b"\xff"))
    tables = next(n for n in range(1, 110) if (len(large.chain) + n) * 4 <= n * _SECTOR)
    places = range(len(large.chain), len(large.chain) + tables)
    fat = struct.pack(f"<{len(large.chain) + tables}I", *large.chain, *[_FAT] * tables).ljust(tables * _SECTOR, b"\xff")
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + struct.pack("<16x5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    head += struct.pack("<9I", 0, tables, directory, 0, _CUTOFF, short, 1, _END, 0)
    head += struct.pack("<109I", *places, *[_FREE] * (109 - tables))
    return head + bytes(large.data) + fat


@dataclass
class _Row:
    name: str
    kind: int
    start: int
    size: int
    right: int = _FREE
    child: int = _FREE

    def written(self) -> bytes:
        name = self.name.encode("utf-16-le")
        links = struct.pack("<HBBIII", len(name) + 2, self.kind, 1, _FREE, self.right, self.child)
        return name.ljust(64, b"\0") + links + struct.pack("<36xIQ", self.start, self.size)
