"""Which draw of a prompt is asked for."""

from __future__ import annotations

from typing import Any

from toulmin.prompts.types import Prompt


class Draws:
    """Numbers the draws of each prompt of a run, so that asking one again asks for another reply.

    A cache, or a temperature of 0, would else give a round the reply of another, or a verifier that is the main model
    itself the very candidate. A prompt that is new is draw 0, the model's first choice.
    """

    def __init__(self) -> None:
        self._made: list[Prompt[Any]] = []  # no set, since the feedback in a prompt cannot be hashed

    def next(self, prompt: Prompt[Any]) -> int:
        """How often the prompt was asked before."""
        self._made.append(prompt)
        return self._made.count(prompt) - 1
