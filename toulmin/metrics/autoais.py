"""AutoAIS (ALCE, Gao et al. 2023): whether citations support an answer's statements, and whether each is needed.

Recall is the share of statements that their citations together entail, precision that of citations that are needed
or suffice alone. A judge is asked in three waves for a whole run: statements with all citations; supported ones
with each alone; where one does not suffice, with the others. Judges are not monotone: more passages may entail
less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toulmin.data import Passage
from toulmin.errors import ToulminError
from toulmin.metrics.answered import Answered
from toulmin.metrics.columns import Column, Derived, Measured, harmonic
from toulmin.metrics.judging import Judging
from toulmin.metrics.statements import Cited, Profile, Said, Statement
from toulmin.steps import Pair, Verdict

CITATION_F1 = Derived("citation_f1", ("citation_rec", "citation_prec"), harmonic)

Use = Literal["needed", "supporting", "redundant", "wrong", "invalid"]
_EARNING: frozenset[Use] = frozenset(("needed", "supporting"))


async def cited(answered: Sequence[Answered], profile: Profile, judging: Judging) -> Measured:
    """Citation recall, precision and F1, and claim recall for items with gold claims; in percent.

    Columns `citation_rec`, `citation_prec` (0..1 an answer) and, with claims, `claims_nli`; `citation_f1` is the
    harmonic mean of the run's two. A failed judgement leaves its item out, with a reason. `judging.counts` has each
    wave's pairs.
    """
    read = [_Read(one, profile.said(one)) for one in answered]
    await judging.ask((pair for one in read for pair in one.joint()), "together")
    await judging.ask((pair for one in read for pair in one.singles(judging)), "alone")
    await judging.ask((pair for one in read for pair in one.rests(judging)), "without")
    scored = [one.scored(judging) for one in read]
    columns = [
        Column("citation_rec", tuple(one.recall for one in scored)),
        Column("citation_prec", tuple(one.precision for one in scored)),
    ]
    if any(one.claims for one in read):
        columns.append(Column("claims_nli", tuple(one.claims for one in scored)))
    return Measured(tuple(columns), (CITATION_F1,), tuple(one.reason for one in scored), _notes(read, scored))


@dataclass(frozen=True, slots=True)
class _Scored:
    recall: float | None
    precision: float | None
    claims: float | None
    reason: Mapping[str, Any]
    failure: ToulminError | None = None


@dataclass(frozen=True, slots=True)
class _Graded:
    statement: Statement
    found: Verdict | ToulminError | None
    uses: tuple[Use | None, ...]

    @property
    def is_supported(self) -> bool:
        return isinstance(self.found, Verdict) and self.found.entails

    @property
    def counted(self) -> int:
        return 0 if self.statement.flaw else len(self.uses)

    @property
    def earned(self) -> int:
        return sum(use in _EARNING for use in self.uses)


@dataclass(frozen=True, slots=True)
class _Read:
    answered: Answered
    said: Said

    @property
    def claims(self) -> tuple[str, ...]:
        return self.answered.item.gold.claims or ()

    @property
    def is_silent(self) -> bool:
        return self.said.absence is None and not self.said.statements

    def _judged(self) -> Iterator[Statement]:
        return (statement for statement in self.said.statements if statement.flaw is None)

    def _claim_pairs(self) -> list[Pair]:
        if self.said.whole is None:
            return []
        whole = (Passage.of(self.said.whole),)
        return [Pair(whole, claim) for claim in self.claims]

    def joint(self) -> Iterator[Pair]:
        for statement in self._judged():
            yield statement.pair(statement.citations)
        yield from self._claim_pairs()

    def singles(self, judging: Judging) -> Iterator[Pair]:
        for statement in self._shared(judging):
            yield from (statement.pair([one]) for one in statement.citations)

    def rests(self, judging: Judging) -> Iterator[Pair]:
        for statement in self._shared(judging):
            failing = (one for one in statement.citations if not judging.entails(statement.pair([one])))
            yield from (statement.without(one) for one in failing)

    def _shared(self, judging: Judging) -> Iterator[Statement]:
        for statement in self._judged():
            if len(statement.citations) > 1 and judging.entails(statement.pair(statement.citations)):
                yield statement

    def failure(self, judging: Judging) -> ToulminError | None:
        waves = (self.joint(), self.singles(judging), self.rests(judging))
        return next((error for wave in waves if (error := judging.failure(wave)) is not None), None)

    def scored(self, judging: Judging) -> _Scored:
        failure = self.failure(judging)
        graded = [_graded(statement, judging) for statement in self.said.statements]
        told = [judging.entails(pair) for pair in self._claim_pairs()] or [False] * len(self.claims)
        reason = _reason(self, graded, told, failure)
        if failure is not None or self.said.absence == "failed":
            return _Scored(None, None, None, reason, failure)
        claims = sum(told) / len(told) if told else None
        if self.said.absence is not None:
            return _Scored(None, None, claims, reason)
        recall = sum(one.is_supported for one in graded) / len(graded) if graded else 0.0
        counted = sum(one.counted for one in graded) + self.said.invalid
        precision = sum(one.earned for one in graded) / counted if counted else 0.0
        return _Scored(recall, precision, claims, reason)


def _graded(statement: Statement, judging: Judging) -> _Graded:
    if statement.flaw is not None:
        return _Graded(statement, None, tuple("invalid" for _ in statement.citations))
    found = judging[statement.pair(statement.citations)]
    if isinstance(found, ToulminError):
        return _Graded(statement, found, tuple(None for _ in statement.citations))
    uses = (_use(statement, one, judging) if found.entails else "wrong" for one in statement.citations)
    return _Graded(statement, found, tuple(uses))


def _use(statement: Statement, one: Cited, judging: Judging) -> Use:
    """Of two citations that each suffice alone, both are supporting."""
    if len(statement.citations) == 1:
        return "needed"
    if judging.entails(statement.pair([one])):
        return "supporting"
    return "redundant" if judging.entails(statement.without(one)) else "needed"


# ---------------------------------------------------------------- why


def _reason(
    read: _Read, graded: Sequence[_Graded], told: Sequence[bool], failure: ToulminError | None
) -> dict[str, Any]:
    is_failed = read.said.absence == "failed"
    why = " ".join(read.answered.answer.notes) if is_failed else str(failure) if failure else None
    reason: dict[str, Any] = {"failed": why}
    if read.said.absence is not None or read.is_silent:
        reason["absence"] = read.said.absence or "empty"
    reason["statements"] = [_statement_reason(one) for one in graded]
    if read.said.invalid:
        reason["invalid_citations"] = read.said.invalid
    if read.claims and not is_failed:
        pairs = zip(read.claims, told, strict=True)
        reason["claims"] = [{"text": text, "entailed": entailed} for text, entailed in pairs]
    return reason


def _statement_reason(graded: _Graded) -> dict[str, Any]:
    statement, found = graded.statement, graded.found
    verdict = found if isinstance(found, Verdict) else None
    return {
        "text": statement.text,
        "outcome": verdict.label if verdict else statement.flaw or "failed",
        "score": verdict.support if verdict else None,
        "judge": verdict.judge if verdict else None,
        "reason": str(found) if isinstance(found, ToulminError) else verdict.reason if verdict else None,
        "citations": [
            {
                "passage": one.passage.id if one.passage else None,
                "n": one.n,
                "use": use,
                "quote": _quote(verdict, i, one),
            }
            for i, (one, use) in enumerate(zip(statement.citations, graded.uses, strict=True))
        ],
    }


def _quote(verdict: Verdict | None, place: int, one: Cited) -> dict[str, Any] | None:
    """None unless its offsets are the passage's own."""
    if verdict is None or one.premise is not None or place >= len(verdict.quotes):
        return None
    quote = verdict.quotes[place]
    return None if quote is None else {"start": quote.start, "end": quote.end, "text": quote.text}


def _notes(read: Sequence[_Read], scored: Sequence[_Scored]) -> tuple[str, ...]:
    absent = [one.said.absence for one in read]
    told = {
        "empty": "empty answers are left out of the citation metrics, as ALCE does.",
        "abstained": "abstentions have no citation metrics: they say nothing that could be wrong.",
        "failed": "questions are left out, because they got no answer.",
    }
    notes = [f"{absent.count(kind)} {words}" for kind, words in told.items() if kind in absent]
    silent = sum(one.is_silent for one in read)
    if silent:
        notes.append(f"{silent} empty answers count as 0 in the citation metrics.")
    failed = [one.failure for one in scored if one.failure is not None]
    if failed:
        notes.append(f"{len(failed)} questions are left out, because a judgement failed; the first: {failed[0]}")
    invalid = sum(one.said.invalid for one in read)
    if invalid:
        notes.append(f"{invalid} citations point to no passage; each counts as a wrong one in citation_prec.")
    return tuple(notes)
