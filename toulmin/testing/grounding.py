"""The share of a text that its sources support, for the scorers of all evaluation packages."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import toulmin
from toulmin.build.sources import Docs
from toulmin.config import Settings
from toulmin.data import Claim, Passage
from toulmin.driver.kit import Judge
from toulmin.errors import ModelError


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
        failing = [line_of(claim) for claim in self.claims if claim.fails]
        return "\n".join((f"{self.supported} of {len(self.claims)} claims are supported.", *failing))


def line_of(claim: Claim) -> str:
    support = claim.support
    reason = f"{support.label}: {support.reason}" if support and support.reason else support and support.label
    return f"“{claim.text}” ({reason})"


def measure(
    text: str,
    *,
    passages: Sequence[str | Passage] | None = None,
    docs: Docs | None = None,
    index: str | os.PathLike[str] | None = None,
    judge: str | Judge | None = None,
    settings: Settings | None = None,
) -> Grounding:
    """Judges a text by passages, documents or an index. Raises `ToulminError` if that fails."""
    if not text.strip():  # an empty reply is an ordinary one, and claims nothing
        return Grounding(())
    answer = toulmin.check(text, passages=passages, docs=docs, index=index, judge=judge, settings=settings)
    if answer.status == "failed":
        raise ModelError(" ".join(answer.notes))
    return Grounding(tuple(claim for claim in answer.claims if claim.support is not None))


async def measure_aside(text: str, **options: Any) -> Grounding:
    """As `measure`, in a thread; calls share an open judge."""
    return await asyncio.to_thread(measure, text, **options)
