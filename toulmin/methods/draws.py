"""Repeated draws of a prompt"""

from __future__ import annotations

from typing import Any

from toulmin.prompts.types import Prompt


class Draws:
    """Numbers the draws of each prompt of a run from 0, so that asking again gets another reply.

    Otherwise a cache or a temperature of 0 would repeat an earlier one.
    """

    def __init__(self) -> None:
        self._made: list[Prompt[Any]] = []  # a list, since the feedback in a prompt cannot be hashed

    def next(self, prompt: Prompt[Any]) -> int:
        self._made.append(prompt)
        return self._made.count(prompt) - 1
