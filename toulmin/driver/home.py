"""Where work comes from that a worker of a cluster does: a folder, and a version of this program."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from toulmin import __version__
from toulmin.errors import UsageError


@dataclass(frozen=True, slots=True)
class Home:
    """The folder that the command was given in, and the version that it was given to."""

    folder: Path = field(default_factory=Path.cwd)
    version: str = __version__

    def enter(self) -> None:
        """Works in that folder; raises `UsageError` where this machine has another version."""
        if self.version != __version__:
            raise UsageError(
                f"A machine of the cluster has toulmin {__version__}, but {self.version} sent the work; install the"
                " same version on all of them."
            )
        with suppress(OSError):  # not there: then relative names mean nothing here, as the part that reads says
            os.chdir(self.folder)
