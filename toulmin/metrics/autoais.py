"""AutoAIS (ALCE, Gao et al. 2023): whether citations support an answer's statements, and whether each is needed.

Recall is the share of statements that their citations together entail, precision the share of citations that are
needed or suffice alone. A judge reads a whole run in three waves: each statement with all its citations; a supported
statement with each citation alone; if one does not suffice, with the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

from toulmin.data import Passage
from toulmin.errors import ToulminError
from toulmin.metrics.answered import DerivedMetric, MetricTable, ScoringItem, columns, harmonic
from toulmin.metrics.judging import Judging
from toulmin.metrics.statements import CitedPassage, OutputStatements, Profile, Statement
from toulmin.steps import Pair, Verdict

CITATION_F1 = DerivedMetric("citation_f1", ("citation_rec", "citation_prec"), harmonic)

Use = Literal["needed", "supporting", "redundant", "wrong", "invalid"]
_EARNING: frozenset[Use] = frozenset(("needed", "supporting"))


async def citation_metrics(answered: Sequence[ScoringItem], profile: Profile, judging: Judging) -> MetricTable:
    """`citation_rec`, `citation_prec` and, for gold claims, `claims_nli`; `citation_f1` is the harmonic mean of the
    run's first two. An item with a failed judgement is left out, with a reason.
    """
    read = [_Read(answer, profile.statements(answer)) for answer in answered]
    await judging.ask((pair for answer in read for pair in answer.joint()), "together")
    await judging.ask((pair for answer in read for pair in answer.singles(judging)), "alone")
    await judging.ask((pair for answer in read for pair in answer.rests(judging)), "without")
    scored = [answer.score(judging) for answer in read]
    names = ["citation_rec", "citation_prec", *["claims_nli"] * any(answer.claims for answer in read)]
    measures = columns(names, [(answer.recall, answer.precision, answer.claims) for answer in scored])
    return MetricTable(measures, (CITATION_F1,), tuple(answer.reason for answer in scored), _notes(read, scored))


class _ClaimScore(NamedTuple):
    recall: float | None
    precision: float | None
    claims: float | None
    reason: Mapping[str, Any]
    failure: ToulminError | None = None


class _Read(NamedTuple):
    answered: ScoringItem
    output: OutputStatements

    @property
    def claims(self) -> tuple[str, ...]:
        return self.answered.item.gold.claims or ()

    @property
    def is_silent(self) -> bool:
        return self.output.absence is None and not self.output.statements

    def _statements_to_judge(self) -> Iterator[Statement]:
        return (statement for statement in self.output.statements if statement.flaw is None)

    def _claim_pairs(self) -> list[Pair]:
        whole = self.output.whole
        return [] if whole is None else [Pair((Passage.of(whole),), claim) for claim in self.claims]

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

    def score(self, judging: Judging) -> _ClaimScore:
        failure = judging.failure(chain(self.joint(), self.singles(judging), self.rests(judging)))
        statements = self.output.statements
        uses = [[_use(statement, citation, judging) for citation in statement.citations] for statement in statements]
        verdicts = [judging.entails(pair) for pair in self._claim_pairs()] or [False] * len(self.claims)
        whys = [_statement_reason(statement, row, judging) for statement, row in zip(statements, uses, strict=True)]
        reason = _reason(self, whys, verdicts, failure)
        if failure is not None or self.output.absence == "failed":
            return _ClaimScore(None, None, None, reason, failure)
        claims = sum(verdicts) / len(verdicts) if verdicts else None
        if self.output.absence is not None:
            return _ClaimScore(None, None, claims, reason)
        supported = sum(judging.entails(each.pair(each.citations)) for each in self._statements_to_judge())
        recall = supported / len(uses) if uses else 0.0
        judged = [use for row in uses for use in row if use != "invalid"]
        counted = len(judged) + self.output.invalid
        precision = sum(use in _EARNING for use in judged) / counted if counted else 0.0
        return _ClaimScore(recall, precision, claims, reason)


def _use(statement: Statement, citation: CitedPassage, judging: Judging) -> Use | None:
    """None if the statement's judgement failed."""
    if statement.flaw is not None:
        return "invalid"
    verdict = judging[statement.pair(statement.citations)]
    if isinstance(verdict, ToulminError):
        return None
    if not verdict.entails:
        return "wrong"
    if len(statement.citations) == 1:
        return "needed"
    if judging.entails(statement.pair([citation])):
        return "supporting"
    return "redundant" if judging.entails(statement.without(citation)) else "needed"


# ---------------------------------------------------------------- why


def _reason(
    read: _Read, statements: list[dict[str, Any]], verdicts: Sequence[bool], failure: ToulminError | None
) -> dict[str, Any]:
    is_failed = read.output.absence == "failed"
    why = " ".join(read.answered.answer.notes) if is_failed else str(failure) if failure else None
    reason: dict[str, Any] = {"failed": why}
    if read.output.absence is not None or read.is_silent:
        reason["absence"] = read.output.absence or "empty"
    reason["statements"] = statements
    if read.output.invalid:
        reason["invalid_citations"] = read.output.invalid
    if read.claims and not is_failed:
        pairs = zip(read.claims, verdicts, strict=True)
        reason["claims"] = [{"text": text, "entailed": entailed} for text, entailed in pairs]
    return reason


def _statement_reason(statement: Statement, uses: Sequence[Use | None], judging: Judging) -> dict[str, Any]:
    outcome = None if statement.flaw else judging[statement.pair(statement.citations)]
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
            for i, (citation, use) in enumerate(zip(statement.citations, uses, strict=True))
        ],
    }


def _quote(verdict: Verdict | None, place: int, citation: CitedPassage) -> dict[str, Any] | None:
    """None if the judge read another text than the passage."""
    if verdict is None or citation.premise is not None or place >= len(verdict.quotes):
        return None
    quote = verdict.quotes[place]
    return None if quote is None else {"start": quote.start, "end": quote.end, "text": quote.text}


def _notes(read: Sequence[_Read], scored: Sequence[_ClaimScore]) -> tuple[str, ...]:
    absent = [answer.output.absence for answer in read]
    failed = [answer.failure for answer in scored if answer.failure is not None]
    invalid = sum(answer.output.invalid for answer in read)
    counts = {
        "empty answers are left out of the citation metrics, as ALCE does.": absent.count("empty"),
        "abstentions have no citation metrics: they claim nothing.": absent.count("abstained"),
        "questions are left out, because they got no answer.": absent.count("failed"),
        "empty answers count as 0 in the citation metrics.": sum(answer.is_silent for answer in read),
        f"questions are left out, because a judgement failed; the first: {next(iter(failed), '')}": len(failed),
        "citations point to no passage; each counts as a wrong one in citation_prec.": invalid,
    }
    return tuple(f"{count} {words}" for words, count in counts.items() if count)
