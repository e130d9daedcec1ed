"""How a block of `RESULTS.md` begins: the command, the day and the machine, then what was set."""

from __future__ import annotations

import os
import platform
import sys
from datetime import date


def heading(script: str, settings: str, folder: str = "benchmarks") -> str:
    """The block's first lines, with its fence opened; the caller closes it."""
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    command = " ".join(["python", f"{folder}/{script}", *sys.argv[1:]])
    return f"## `{command}`\n\n```text\n{date.today()}, {machine}.\n{settings}"
