"""VTG's citation generator"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toulmin.data import Citation, Claim, Dropped, Passage
from toulmin.methods.reporting import omissions, read_by
from toulmin.prompts.types import Cite
from toulmin.steps import Program, exchange

MOST = 3
BEYOND = f"a claim has {MOST} citations at most"


@dataclass(frozen=True, slots=True)
class Cited:
    """`invalid` counts labels that were not offered."""

    claim: Claim
    dropped: tuple[Dropped, ...]
    invalid: int


def cite(text: str, passages: Sequence[Passage], sample: int) -> Program[Cited]:
    """The sentence, unchanged, with the first three citations that the model names for it, or none."""
    done = yield from exchange(Cite(text, tuple(passages)), sample=sample)
    offered = read_by(done.prompt)
    named = [id for id in dict.fromkeys(done.value.ids) if id in offered]
    invalid = done.value.invalid + len(set(done.value.ids) - set(offered))
    claim = Claim(text, tuple(Citation(id) for id in named[:MOST]))
    return Cited(claim, (*omissions(done), *(Dropped(id, BEYOND) for id in named[MOST:])), invalid)
