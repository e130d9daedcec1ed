"""Texts and their placeholders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from toulmin.prompts.types import Example

PLACEHOLDER = re.compile(r"\{\{(?P<literal>[a-z_]+)\}\}|\{(?P<name>[a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Turn:
    user: str
    reply: str


@dataclass(frozen=True, slots=True)
class Wording:
    """A prompt in words. `joint` separates examples and request where they form one message (None: each is a turn)."""

    system: str
    user: str
    turns: tuple[Turn, ...] = ()
    joint: str | None = None


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A worked example; for a correction, with a draft that rests on the first `rests_on` passages."""

    example: Example
    draft: str = ""
    rests_on: int = 0


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts by name ("cite.system"), and worked examples by kind."""

    by_name: Mapping[str, str]
    demonstrations: Mapping[str, tuple[Demonstration, ...]] = field(default_factory=dict)

    def fill(self, name: str, **values: str) -> str:
        """Fills placeholders in one pass; a block is left out if all its placeholders are empty."""
        blocks = (_fill_block(block, values) for block in self.by_name[name].strip("\n").split("\n\n"))
        return "\n\n".join(block for block in blocks if block)


def _fill_block(block: str, values: Mapping[str, str]) -> str:
    names = [match["name"] for match in PLACEHOLDER.finditer(block) if match["name"]]
    if names and not any(values[name] for name in names):
        return ""
    return PLACEHOLDER.sub(lambda m: values[m["name"]] if m["name"] else "{" + m["literal"] + "}", block).strip(" ")
