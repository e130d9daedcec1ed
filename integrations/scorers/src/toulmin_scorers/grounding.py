"""The share of a text that its sources support, which all scorers here return."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import toulmin
from toulmin import Claim, ModelError


@dataclass(frozen=True, slots=True)
class Grounding:
    """The judged claims of a text."""

    claims: tuple[Claim, ...]

    @property
    def supported(self) -> int:
        return sum(claim.is_supported for claim in self.claims)

    @property
    def score(self) -> float | None:
        """The share of supported claims; None for a text without claims."""
        return self.supported / len(self.claims) if self.claims else None

    @property
    def reason(self) -> str:
        """The count of supported claims, and a line for each of the others."""
        if not self.claims:
            return "The text has no claim to judge."
        failing = [f"“{claim.text}” ({_verdict(claim)})" for claim in self.claims if claim.fails]
        return "\n".join((f"{self.supported} of {len(self.claims)} claims are supported.", *failing))


def measure(text: str, **options: Any) -> Grounding:
    """Judge a text. `options` are those of `toulmin.check`; raises `ToulminError` if it fails."""
    if not text.strip():  # an empty reply is an ordinary one, and claims nothing
        return Grounding(())
    answer = toulmin.check(text, **options)
    if answer.status == "failed":
        raise ModelError(" ".join(answer.notes))
    return Grounding(tuple(claim for claim in answer.claims if claim.support is not None))


async def measure_aside(text: str, **options: Any) -> Grounding:
    """As `measure`, in a thread: the networks would block the event loop."""
    return await asyncio.to_thread(measure, text, **options)


def _verdict(claim: Claim) -> str:
    parts = (claim.support.label, claim.support.reason) if claim.support else ()
    return ": ".join(part for part in parts if part)
