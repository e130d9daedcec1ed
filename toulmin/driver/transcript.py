"""The steps and replies of one answer, which replay to the identical answer without a model.

A reply's place is the path of its program (`Together` adds an index) and the step's number. The step's digest detects a
transcript of another question, method or version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from typing import Any

from toulmin.data import Passage
from toulmin.errors import ToulminError, UsageError
from toulmin.steps import Generate, Step

# ---------------------------------------------------------------- fingerprints of steps and prompts


def fingerprint(value: Any) -> str:
    """128 bits of SHA-256, in hex, of a step or a prompt, the same on every machine. A passage counts by its id; fields
    with default values do not count.
    """
    text = json.dumps(_plain(value), ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


def _plain(value: Any) -> Any:
    if isinstance(value, Passage):
        return value.id
    if is_dataclass(value) and not isinstance(value, type):
        values = {f.name: getattr(value, f.name) for f in fields(value)}
        named = {f.name: _plain(values[f.name]) for f in fields(value) if values[f.name] != _default(f)}
        return [type(value).__name__, named]
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


# ---------------------------------------------------------------- transcript


Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A step with its reply or error. `begun` is False if the budget stopped it before its request. `calls` include
    failed tries.
    """

    kind: str
    digest: str
    reply: Any = None
    error: ToulminError | None = None
    begun: bool = True
    calls: int = 1


@dataclass(slots=True)
class Transcript:
    entries: dict[Place, Entry] = field(default_factory=dict)
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    def note(self, remark: str) -> None:
        if remark not in self.notes:
            self.notes.append(remark)

    def record(self, place: Place, step: Step, *outcome: Any, **more: Any) -> None:
        kind = f"Generate {type(step.prompt).__name__}" if isinstance(step, Generate) else type(step).__name__
        self.entries[place] = Entry(kind, fingerprint(step), *outcome, **more)

    def entry(self, place: Place, step: Step) -> Entry:
        """Raises `UsageError` for another step."""
        entry = self.entries.get(place)
        if entry is None or entry.digest != fingerprint(step):
            content = "nothing" if entry is None else f"another {entry.kind}"
            raise UsageError(
                f"The transcript holds {content} where the method asks a {type(step).__name__} (step {place});"
                " it was recorded for another question, method, setting or version. Record it again."
            )
        return entry
