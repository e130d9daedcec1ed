"""What VTG's Algorithm 1 changes as it goes: the output with its story, the memories, the count of what failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toulmin.data import Answer, Claim, Passage, Round, Status, Style
from toulmin.methods.memory import Memory, distinct


@dataclass(frozen=True, slots=True)
class Attempt:
    """A claim as it was generated, cited and (where it was) verified, and the rounds that tell of it.

    `passed` is whether it may stay; without a verifier every claim passes. `invalid` counts labels nobody offered.
    """

    claim: Claim
    passed: bool
    rounds: tuple[Round, ...]
    invalid: int = 0

    def told(self, *, chosen: bool) -> tuple[Round, ...]:
        """The rounds, the claim's own saying whether it was taken into the output."""
        return tuple(replace(step, chosen=chosen) if step.kind == "claim" else step for step in self.rounds)


@dataclass(frozen=True, slots=True)
class State:
    """The output O (the answer's claims), the memories, and whether O has ended.

    `unsaid` is the note on a last reply that was empty or a refusal.
    """

    answer: Answer
    memory: Memory
    unverified: int = 0
    is_over: bool = False
    unsaid: tuple[str, ...] = ()

    @property
    def claims(self) -> tuple[Claim, ...]:
        """O."""
        return self.answer.claims

    @property
    def told(self) -> Answer:
        """The answer, where O is empty with a note of a model that wrote nothing."""
        return self.answer if self.claims else replace(self.answer, notes=(*self.answer.notes, *self.unsaid))

    def written(self, style: Style) -> str:
        """O as a model sees it: without citations."""
        return (", " if style == "list" else " ").join(claim.text for claim in self.claims)

    def telling(self, *rounds: Round, invalid: int = 0) -> State:
        """With more of the story; rounds carry the number of the claim in work."""
        numbered = [replace(step, n=len(self.claims) + 1) for step in rounds]
        count = self.answer.invalid_citations + invalid
        answer = replace(self.answer, rounds=(*self.answer.rounds, *numbered), invalid_citations=count)
        return replace(self, answer=answer)

    def noting(self, *notes: str) -> State:
        """With more notes for the reader."""
        return replace(self, answer=replace(self.answer, notes=(*self.answer.notes, *notes)))

    def taking(self, attempt: Attempt) -> State:
        """With the attempt's claim in O: what it cites is remembered if it passed, else it is counted as unverified."""
        told = self.telling(*attempt.told(chosen=True), invalid=attempt.invalid)
        answer = replace(told.answer, status="answered", claims=(*self.claims, attempt.claim))
        if not attempt.passed:
            return replace(told, answer=answer, unverified=self.unverified + 1)
        return replace(told, answer=answer, memory=self.memory.retaining(attempt.claim.cited))

    def refusing(self, attempt: Attempt) -> State:
        """With O as it was, and what was tried in its story."""
        return self.telling(*attempt.told(chosen=False), invalid=attempt.invalid)

    def finding(self, passages: Sequence[Passage]) -> State:
        """With these passages as the whole short-term memory, and among those that the answer read."""
        answer = replace(self.answer, passages=distinct((*self.answer.passages, *passages)))
        return replace(self, answer=answer, memory=self.memory.refreshed(passages))

    def ended(self, told: Round, unsaid: tuple[str, ...]) -> State:
        """With O as it is for good."""
        return replace(self.telling(told), is_over=True, unsaid=unsaid)

    def answering(self, claims: Sequence[Claim], *rounds: Round, invalid: int = 0) -> State:
        """With these claims in the place of O."""
        told = self.telling(*rounds, invalid=invalid)
        status: Status = "answered" if claims else "abstained"
        return replace(told, answer=replace(told.answer, status=status, claims=tuple(claims)))
