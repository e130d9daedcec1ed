"""What was asked and replied while one answer came to be; it replays to the identical answer with no model.

A reply is kept under its place: the path of the program that asked (a program run with `Together` adds its position)
and the number of the step in it. The step's digest stands beside it, so that a transcript of another question,
method or version is noticed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from toulmin.driver.fingerprint import fingerprint
from toulmin.errors import ToulminError, UsageError
from toulmin.steps import Generate, Step

Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One exchange: the step's kind and digest, and the reply or the error that came.

    `begun` is False for a step that the budget stopped before anything was asked; it costs nothing.
    """

    kind: str
    digest: str
    reply: Any = None
    error: ToulminError | None = None
    begun: bool = True


@dataclass(slots=True)
class Transcript:
    """The exchanges of one answer by place, what the driver had to remark, and the seconds that the answer took."""

    entries: dict[Place, Entry] = field(default_factory=dict)
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    def note(self, remark: str) -> None:
        """Keeps a remark, once."""
        if remark not in self.notes:
            self.notes.append(remark)

    def record(
        self, place: Place, step: Step, reply: Any = None, error: ToulminError | None = None, begun: bool = True
    ) -> None:
        """Keeps one exchange."""
        self.entries[place] = Entry(_kind(step), fingerprint(step), reply, error, begun)

    def entry(self, place: Place, step: Step) -> Entry:
        """What was recorded there; raises `UsageError` if this step never was."""
        entry = self.entries.get(place)
        if entry is None or entry.digest != fingerprint(step):
            found = "nothing" if entry is None else f"another {entry.kind}"
            raise UsageError(
                f"The transcript holds {found} where the method asks a {type(step).__name__} (step {place});"
                " it was recorded for another question, method, setting or version. Record it again."
            )
        return entry


def _kind(step: Step) -> str:
    return f"Generate {type(step.prompt).__name__}" if isinstance(step, Generate) else type(step).__name__
