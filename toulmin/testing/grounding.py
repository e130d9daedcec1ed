"""How much of a text its sources say: what the scorers of all evaluation packages share."""

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
from toulmin.errors import ModelError, UsageError


@dataclass(frozen=True, slots=True)
class Grounding:
    """The claims of a text that were judged; sentences that only talk are not among them."""

    claims: tuple[Claim, ...]

    @property
    def supported(self) -> int:
        return sum(claim.is_supported for claim in self.claims)

    @property
    def score(self) -> float | None:
        """The share of the claims that are supported; None where the text claims nothing."""
        return self.supported / len(self.claims) if self.claims else None

    @property
    def reason(self) -> str:
        """How many claims are supported, and for each of the others why not."""
        if not self.claims:
            return "The text has no claim to judge."
        failing = [line_of(claim) for claim in self.claims if claim.fails]
        return "\n".join((f"{self.supported} of {len(self.claims)} claims are supported.", *failing))


def line_of(claim: Claim) -> str:
    support = claim.support
    reason = f"{support.label}: {support.reason}" if support and support.reason else support and support.label
    return f"“{claim.text}” ({reason})"


def passages_of(texts: Sequence[str | Passage]) -> list[Passage]:
    if isinstance(texts, str):
        raise UsageError("Passages are a list of texts, but one text came; write passages=[text].")
    return [text if isinstance(text, Passage) else Passage.of(text) for text in texts]


def measure(
    text: str,
    *,
    passages: Sequence[str | Passage] | None = None,
    docs: Docs | None = None,
    index: str | os.PathLike[str] | None = None,
    judge: str | Judge | None = None,
    settings: Settings | None = None,
) -> Grounding:
    """Judges a text by passages, documents or an index. Raises `ToulminError` where it could not be judged."""
    if not text.strip():  # an empty reply is an ordinary one, and claims nothing
        return Grounding(())
    texts = None if passages is None else passages_of(passages)
    answer = toulmin.check(text, passages=texts, docs=docs, index=index, judge=judge, settings=settings)
    if answer.status == "failed":
        raise ModelError(" ".join(answer.notes))
    return Grounding(tuple(claim for claim in answer.claims if claim.support is not None))


async def measure_aside(text: str, **options: Any) -> Grounding:
    """As `measure`, in a thread, so that the caller's event loop goes on and calls share an open judge."""
    return await asyncio.to_thread(measure, text, **options)
