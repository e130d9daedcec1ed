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
from toulmin.metrics.answered import AnsweredItem, Column, DerivedMetric, MetricTable, harmonic
from toulmin.metrics.judging import Judging
from toulmin.metrics.statements import CitedPassage, OutputStatements, Profile, Statement
from toulmin.steps import Pair, Verdict

CITATION_F1 = DerivedMetric("citation_f1", ("citation_rec", "citation_prec"), harmonic)

Use = Literal["needed", "supporting", "redundant", "wrong", "invalid"]
_EARNING: frozenset[Use] = frozenset(("needed", "supporting"))


async def citation_metrics(answered: Sequence[AnsweredItem], profile: Profile, judging: Judging) -> MetricTable:
    """Citation recall, precision and F1, and claim recall for items with gold claims; in percent.

    Columns `citation_rec`, `citation_prec` (0..1 an answer) and, with claims, `claims_nli`; `citation_f1` is the
    harmonic mean of the run's two. A failed judgement leaves its item out, with a reason. `judging.counts` has each
    wave's pairs.
    """
    read = [_Read(answer, profile.said(answer)) for answer in answered]
    await judging.ask((pair for answer in read for pair in answer.joint()), "together")
    await judging.ask((pair for answer in read for pair in answer.singles(judging)), "alone")
    await judging.ask((pair for answer in read for pair in answer.rests(judging)), "without")
    scored = [answer.score(judging) for answer in read]
    columns = [
        Column("citation_rec", tuple(answer.recall for answer in scored)),
        Column("citation_prec", tuple(answer.precision for answer in scored)),
    ]
    if any(answer.claims for answer in read):
        columns.append(Column("claims_nli", tuple(answer.claims for answer in scored)))
    return MetricTable(tuple(columns), (CITATION_F1,), tuple(answer.reason for answer in scored), _notes(read, scored))


@dataclass(frozen=True, slots=True)
class _ClaimScore:
    recall: float | None
    precision: float | None
    claims: float | None
    reason: Mapping[str, Any]
    failure: ToulminError | None = None


@dataclass(frozen=True, slots=True)
class _StatementGrade:
    statement: Statement
    found: Verdict | ToulminError | None
    uses: tuple[Use | None, ...]

    @property
    def is_supported(self) -> bool:
        return isinstance(self.found, Verdict) and self.found.entails

    @property
    def citation_count(self) -> int:
        return 0 if self.statement.flaw else len(self.uses)

    @property
    def earning_count(self) -> int:
        return sum(use in _EARNING for use in self.uses)


@dataclass(frozen=True, slots=True)
class _Read:
    answered: AnsweredItem
    said: OutputStatements

    @property
    def claims(self) -> tuple[str, ...]:
        return self.answered.item.gold.claims or ()

    @property
    def is_silent(self) -> bool:
        return self.said.absence is None and not self.said.statements

    def _statements_to_judge(self) -> Iterator[Statement]:
        return (statement for statement in self.said.statements if statement.flaw is None)

    def _claim_pairs(self) -> list[Pair]:
        if self.said.whole is None:
            return []
        whole = (Passage.of(self.said.whole),)
        return [Pair(whole, claim) for claim in self.claims]

    def joint(self) -> Iterator[Pair]:
        for statement in self._statements_to_judge():
            yield statement.pair(statement.citations)
        yield from self._claim_pairs()

    def singles(self, judging: Judging) -> Iterator[Pair]:
        for statement in self._jointly_supported(judging):
            yield from (statement.pair([citation]) for citation in statement.citations)

    def rests(self, judging: Judging) -> Iterator[Pair]:
        for statement in self._jointly_supported(judging):
            failing = (citation for citation in statement.citations if not judging.entails(statement.pair([citation])))
            yield from (statement.without(citation) for citation in failing)

    def _jointly_supported(self, judging: Judging) -> Iterator[Statement]:
        for statement in self._statements_to_judge():
            if len(statement.citations) > 1 and judging.entails(statement.pair(statement.citations)):
                yield statement

    def failure(self, judging: Judging) -> ToulminError | None:
        waves = (self.joint(), self.singles(judging), self.rests(judging))
        return next((error for wave in waves if (error := judging.failure(wave)) is not None), None)

    def score(self, judging: Judging) -> _ClaimScore:
        failure = self.failure(judging)
        graded = [_grade(statement, judging) for statement in self.said.statements]
        verdicts = [judging.entails(pair) for pair in self._claim_pairs()] or [False] * len(self.claims)
        reason = _reason(self, graded, verdicts, failure)
        if failure is not None or self.said.absence == "failed":
            return _ClaimScore(None, None, None, reason, failure)
        claims = sum(verdicts) / len(verdicts) if verdicts else None
        if self.said.absence is not None:
            return _ClaimScore(None, None, claims, reason)
        recall = sum(grade.is_supported for grade in graded) / len(graded) if graded else 0.0
        counted = sum(grade.citation_count for grade in graded) + self.said.invalid
        precision = sum(grade.earning_count for grade in graded) / counted if counted else 0.0
        return _ClaimScore(recall, precision, claims, reason)


def _grade(statement: Statement, judging: Judging) -> _StatementGrade:
    if statement.flaw is not None:
        return _StatementGrade(statement, None, tuple("invalid" for _ in statement.citations))
    verdict = judging[statement.pair(statement.citations)]
    if isinstance(verdict, ToulminError):
        return _StatementGrade(statement, verdict, tuple(None for _ in statement.citations))
    uses = (_use(statement, citation, judging) if verdict.entails else "wrong" for citation in statement.citations)
    return _StatementGrade(statement, verdict, tuple(uses))


def _use(statement: Statement, citation: CitedPassage, judging: Judging) -> Use:
    """Of two citations that each suffice alone, both are supporting."""
    if len(statement.citations) == 1:
        return "needed"
    if judging.entails(statement.pair([citation])):
        return "supporting"
    return "redundant" if judging.entails(statement.without(citation)) else "needed"


# ---------------------------------------------------------------- why


def _reason(
    read: _Read, graded: Sequence[_StatementGrade], verdicts: Sequence[bool], failure: ToulminError | None
) -> dict[str, Any]:
    is_failed = read.said.absence == "failed"
    why = " ".join(read.answered.answer.notes) if is_failed else str(failure) if failure else None
    reason: dict[str, Any] = {"failed": why}
    if read.said.absence is not None or read.is_silent:
        reason["absence"] = read.said.absence or "empty"
    reason["statements"] = [_statement_reason(grade) for grade in graded]
    if read.said.invalid:
        reason["invalid_citations"] = read.said.invalid
    if read.claims and not is_failed:
        pairs = zip(read.claims, verdicts, strict=True)
        reason["claims"] = [{"text": text, "entailed": entailed} for text, entailed in pairs]
    return reason


def _statement_reason(graded: _StatementGrade) -> dict[str, Any]:
    statement, outcome = graded.statement, graded.found
    verdict = outcome if isinstance(outcome, Verdict) else None
    return {
        "text": statement.text,
        "outcome": verdict.label if verdict else statement.flaw or "failed",
        "score": verdict.support if verdict else None,
        "judge": verdict.judge if verdict else None,
        "reason": str(outcome) if isinstance(outcome, ToulminError) else verdict.reason if verdict else None,
        "citations": [
            {
                "passage": citation.passage.id if citation.passage else None,
                "n": citation.n,
                "use": use,
                "quote": _quote(verdict, i, citation),
            }
            for i, (citation, use) in enumerate(zip(statement.citations, graded.uses, strict=True))
        ],
    }


def _quote(verdict: Verdict | None, place: int, citation: CitedPassage) -> dict[str, Any] | None:
    """None unless its offsets are the passage's own."""
    if verdict is None or citation.premise is not None or place >= len(verdict.quotes):
        return None
    quote = verdict.quotes[place]
    return None if quote is None else {"start": quote.start, "end": quote.end, "text": quote.text}


def _notes(read: Sequence[_Read], scored: Sequence[_ClaimScore]) -> tuple[str, ...]:
    absent = [answer.said.absence for answer in read]
    wordings = {
        "empty": "empty answers are left out of the citation metrics, as ALCE does.",
        "abstained": "abstentions have no citation metrics: they say nothing that could be wrong.",
        "failed": "questions are left out, because they got no answer.",
    }
    notes = [f"{absent.count(kind)} {words}" for kind, words in wordings.items() if kind in absent]
    silent = sum(answer.is_silent for answer in read)
    if silent:
        notes.append(f"{silent} empty answers count as 0 in the citation metrics.")
    failed = [answer.failure for answer in scored if answer.failure is not None]
    if failed:
        notes.append(f"{len(failed)} questions are left out, because a judgement failed; the first: {failed[0]}")
    invalid = sum(answer.said.invalid for answer in read)
    if invalid:
        notes.append(f"{invalid} citations point to no passage; each counts as a wrong one in citation_prec.")
    return tuple(notes)
