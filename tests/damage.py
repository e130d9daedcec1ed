"""How the tests damage a file."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def replace(file: Path, content: bytes) -> None:
    """A file anew: to cut one that a reader still has mapped would end the process, whoever reads it."""
    file.unlink()
    file.write_bytes(content)


@contextmanager
def full_disk() -> Iterator[None]:
    """No file can grow in this process, as on a disk without room."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
