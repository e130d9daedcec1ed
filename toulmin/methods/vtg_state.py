"""The state that Algorithm 1 changes"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toulmin.data import Answer, Claim, Passage, Round, Status, Style
from toulmin.methods.memory import Memory, distinct


@dataclass(frozen=True, slots=True)
class Attempt:
    """A claim as generated, cited and verified, with its rounds.

    `passed`: it may stay, as every claim may without a verifier. `invalid` counts labels that were not offered.
    """

    claim: Claim
    passed: bool
    rounds: tuple[Round, ...]
    invalid: int = 0

    def as_rounds(self, *, chosen: bool) -> tuple[Round, ...]:
        return tuple(replace(step, chosen=chosen) if step.kind == "claim" else step for step in self.rounds)


@dataclass(frozen=True, slots=True)
class State:
    """The output O (the answer's claims), the memories, and whether O has ended.

    `unsaid` is the note on an empty last reply or a refusal.
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
    def answer_with_notes(self) -> Answer:
        return self.answer if self.claims else replace(self.answer, notes=(*self.answer.notes, *self.unsaid))

    def output_text(self, style: Style) -> str:
        """O without citations, as a model sees it."""
        return (", " if style == "list" else " ").join(claim.text for claim in self.claims)

    def telling(self, *rounds: Round, invalid: int = 0) -> State:
        numbered = [replace(step, n=len(self.claims) + 1) for step in rounds]
        count = self.answer.invalid_citations + invalid
        answer = replace(self.answer, rounds=(*self.answer.rounds, *numbered), invalid_citations=count)
        return replace(self, answer=answer)

    def noting(self, *notes: str) -> State:
        return replace(self, answer=replace(self.answer, notes=(*self.answer.notes, *notes)))

    def taking(self, attempt: Attempt) -> State:
        """Its citations enter the memory if it passed; else it counts as unverified."""
        state = self.telling(*attempt.as_rounds(chosen=True), invalid=attempt.invalid)
        answer = replace(state.answer, status="answered", claims=(*self.claims, attempt.claim))
        if not attempt.passed:
            return replace(state, answer=answer, unverified=self.unverified + 1)
        return replace(state, answer=answer, memory=self.memory.retaining(attempt.claim.cited))

    def refusing(self, attempt: Attempt) -> State:
        return self.telling(*attempt.as_rounds(chosen=False), invalid=attempt.invalid)

    def finding(self, passages: Sequence[Passage]) -> State:
        answer = replace(self.answer, passages=distinct((*self.answer.passages, *passages)))
        return replace(self, answer=answer, memory=self.memory.refresh(passages))

    def end(self, entry: Round, unsaid: tuple[str, ...]) -> State:
        return replace(self.telling(entry), is_over=True, unsaid=unsaid)

    def answering(self, claims: Sequence[Claim], *rounds: Round, invalid: int = 0) -> State:
        state = self.telling(*rounds, invalid=invalid)
        status: Status = "answered" if claims else "abstained"
        return replace(state, answer=replace(state.answer, status=status, claims=tuple(claims)))
