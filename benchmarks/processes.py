"""Running processes as `/proc` shows them: children, memory and threads; nothing of one that has ended."""

from __future__ import annotations

from pathlib import Path


def tree(pid: int) -> list[int]:
    """A process, its children, and theirs."""
    try:
        texts = [(task / "children").read_text("ascii") for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []
    return [pid, *(below for text in texts for child in text.split() for below in tree(int(child)))]


def status(pid: int) -> tuple[float, int]:
    """Resident megabytes (of 1,048,576 bytes) and threads. Raises OSError if the process has ended."""
    rows = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines())
    return int(rows.get("VmRSS", "0").split()[0]) / 1024, int(rows["Threads"])


def resident(pid: int) -> float:
    try:
        return status(pid)[0]
    except OSError:
        return 0.0
