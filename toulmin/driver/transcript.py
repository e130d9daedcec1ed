"""What was asked and replied for one answer; it replays to the identical answer without a model.

A reply's place is the path of its program (`Together` adds an index) and the step's number. The step's digest
detects a transcript of another question, method or version.
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
    """A step's kind and digest, and its reply or error.

    `begun` is False if the budget stopped it before it was asked; it costs nothing.
    """

    kind: str
    digest: str
    reply: Any = None
    error: ToulminError | None = None
    begun: bool = True


@dataclass(slots=True)
class Transcript:
    entries: dict[Place, Entry] = field(default_factory=dict)
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    def note(self, remark: str) -> None:
        if remark not in self.notes:
            self.notes.append(remark)

    def record(
        self, place: Place, step: Step, reply: Any = None, error: ToulminError | None = None, begun: bool = True
    ) -> None:
        self.entries[place] = Entry(_kind(step), fingerprint(step), reply, error, begun)

    def entry(self, place: Place, step: Step) -> Entry:
        """Raises `UsageError` if the entry there is not of this step."""
        entry = self.entries.get(place)
        if entry is None or entry.digest != fingerprint(step):
            content = "nothing" if entry is None else f"another {entry.kind}"
            raise UsageError(
                f"The transcript holds {content} where the method asks a {type(step).__name__} (step {place});"
                " it was recorded for another question, method, setting or version. Record it again."
            )
        return entry


def _kind(step: Step) -> str:
    return f"Generate {type(step.prompt).__name__}" if isinstance(step, Generate) else type(step).__name__
