"""How the tests damage a file."""

from __future__ import annotations

from pathlib import Path


def replace(file: Path, content: bytes) -> None:
    """A file anew: to cut one that a reader still has mapped would end the process, whoever reads it."""
    file.unlink()
    file.write_bytes(content)
