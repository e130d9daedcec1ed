"""The texts of a prompt file, and how their placeholders are filled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from toulmin.prompts.types import Example

PLACEHOLDER = re.compile(r"\{\{(?P<literal>[a-z_]+)\}\}|\{(?P<name>[a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Turn:
    """A worked example: what a model was told, and what it replied."""

    user: str
    reply: str


@dataclass(frozen=True, slots=True)
class Wording:
    """A prompt in words: instructions, worked examples, and the matter itself.

    `joint` stands between the examples and the matter where all of them are one message (None: each is a turn).
    """

    system: str
    user: str
    turns: tuple[Turn, ...] = ()
    joint: str | None = None


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A worked example of the prompt file; one of a correction has a draft, which rests on the first passages."""

    example: Example
    draft: str = ""
    rests_on: int = 0


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a prompt file by name ("cite.system"), and its worked examples by kind."""

    by_name: Mapping[str, str]
    demonstrations: Mapping[str, tuple[Demonstration, ...]] = field(default_factory=dict)

    def fill(self, name: str, **values: str) -> str:
        """The text, its placeholders filled in one pass; a block whose placeholders are all empty is left out."""
        blocks = (_filled(block, values) for block in self.by_name[name].strip("\n").split("\n\n"))
        return "\n\n".join(block for block in blocks if block)


def _filled(block: str, values: Mapping[str, str]) -> str:
    names = [found["name"] for found in PLACEHOLDER.finditer(block) if found["name"]]
    if names and not any(values[name] for name in names):
        return ""
    return PLACEHOLDER.sub(lambda m: values[m["name"]] if m["name"] else "{" + m["literal"] + "}", block).strip(" ")
