"""The first change that lowers no score"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toulmin.data import Claim, Dropped, Passage, Policy
from toulmin.methods.aims import Aims, aims
from toulmin.methods.assessing import Assessed, Assessment, assess
from toulmin.methods.mending import Remedy
from toulmin.steps import Program, together

TAKEN_AWAY = "taken away: no passage was found that supports it"

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Body:
    """The assessed claims of a text; `sentences[n]` are those in place of its n-th sentence."""

    aims: Aims
    questions: tuple[str, ...]
    sentences: tuple[tuple[Assessed, ...], ...]

    @property
    def claims(self) -> tuple[Assessed, ...]:
        return tuple(assessed for group in self.sentences for assessed in group)

    @property
    def assessment(self) -> Assessment:
        return self.aims.assessment(self.claims, self.questions)

    def replace_sentence(self, n: int, claims: tuple[Assessed, ...]) -> Body:
        return replace(self, sentences=(*self.sentences[:n], claims, *self.sentences[n + 1 :]))


def body(claims: Sequence[Claim], premises: Sequence[Sequence[Passage]], question: str) -> Program[Body]:
    """Assesses each claim by its own passages, which include those that it cites."""
    programs = [assess([claim], sources, "", "long") for claim, sources in zip(claims, premises, strict=True)]
    done = yield from together(programs)
    # Keep the verdict that the claim came with: without citations it says what a search found.
    sentences = tuple((replace(assessed, claim=claim),) for (assessed,), claim in zip(done, claims, strict=True))
    return Body(aims("long", None, None, None), (question,) if question else (), sentences)


@dataclass(frozen=True, slots=True)
class Way:
    """What could replace a sentence (nothing: it is taken away), and how it was made."""

    claims: tuple[Assessed, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The way taken for the n-th sentence, if any, and those refused."""

    n: int
    way: Way | None
    refused: tuple[Dropped, ...] = ()


def ways(remedy: Remedy | None, pool: Mapping[str, Passage], policy: Policy) -> Program[tuple[Way, ...]]:
    """What can be done about a sentence, best first; it is taken away only under `drop`."""
    away = (Way((), TAKEN_AWAY),) if policy == "drop" else ()
    if remedy is None:
        return away
    cited = {id: pool[id] for claim in remedy.claims for id in claim.cited}
    claims = yield from assess(remedy.claims, list(cited.values()), "", "long")
    return (Way(claims, remedy.way), *away)


def decide(text: Body, n: int, offers: Sequence[Way]) -> Decision:
    """The first way by which no score of the whole text falls."""
    before = text.assessment.scores
    refused: list[Dropped] = []
    for way in offers:
        after = text.replace_sentence(n, way.claims).assessment.scores
        fallen = [name for name in before if after[name] < before[name] - _ROUNDING]
        if not fallen:
            return Decision(n, way, tuple(refused))
        falls = ", ".join(f"{name} would fall from {before[name]:.0f} to {after[name]:.0f}" for name in fallen)
        words = " ".join(assessed.claim.text for assessed in way.claims) or text.sentences[n][0].claim.text
        refused.append(Dropped(words, f"not {way.why}, because {falls}"))
    return Decision(n, None, tuple(refused))
