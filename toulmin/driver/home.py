"""The folder and version of a worker"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from toulmin import __version__
from toulmin.errors import UsageError


@dataclass(frozen=True, slots=True)
class Home:
    folder: Path = field(default_factory=Path.cwd)
    version: str = __version__

    def enter(self) -> None:
        """Changes to that folder; raises `UsageError` if this machine has another version."""
        if self.version != __version__:
            raise UsageError(
                f"A machine of the cluster has toulmin {__version__}, but {self.version} sent the work; install the"
                " same version on all of them."
            )
        with suppress(OSError):  # no such folder here: whoever reads a relative path will say so
            os.chdir(self.folder)
