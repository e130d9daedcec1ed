"""AutoAIS over evidence sets, the measure of plan-based retrieval (Godbole et al. 2024); citations do not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toulmin.data import Answer, Claim, Passage
from toulmin.errors import ToulminError
from toulmin.metrics.answered import AnsweredItem, Column, MetricTable
from toulmin.metrics.judging import Judging
from toulmin.steps import Pair
from toulmin.text.language import sentence_texts
from toulmin.text.rouge import rouge_l_sum, rouge_n

Evidence = Mapping[str, Sequence[Passage]]


def evidence_of(answer: Answer) -> tuple[Passage, ...]:
    """What an answer was written from: the passages it read, and each reader's answer, titled by its question."""
    readings = (entry for entry in answer.rounds if entry.role == "reader")
    answers = (Passage.of(text, question) for entry in readings for question in entry.queries for text in entry.kept)
    return tuple({passage.id: passage for passage in (*answer.passages, *answers)}.values())


async def attribution_metrics(
    answered: Sequence[AnsweredItem], judging: Judging, evidence: Evidence | None = None
) -> MetricTable:
    """The columns `ais_strict`, `ais_macro` and `ais_micro`, in percent.

    An answer's evidence is `evidence_of` it, or `evidence` by item id. A sentence is attributed if a single
    passage entails it: strict is 1 if all are, macro their share, micro their share of the run's sentences. Answers
    without sentences are 0 in strict and macro; failed ones, and those that a failed judgement leaves undecided,
    are left out. Cited passages are judged first, others only where needed.
    """
    read = [_Read(entry, *_parts(entry, evidence)) for entry in answered]
    await judging.ask((pair for entry in read for pair in entry.cited()), "cited")
    await judging.ask((pair for entry in read for pair in entry.needed(judging)), "others")
    shares = [entry.share(judging) for entry in read]
    weights = tuple(float(share.sentences) if share else 0.0 for share in shares)
    columns = (
        Column("ais_strict", tuple(share.strict if share else None for share in shares)),
        Column("ais_macro", tuple(share.macro if share else None for share in shares)),
        Column("ais_micro", tuple(float(share.attributed) if share else None for share in shares), weights),
    )
    reasons = tuple(entry.reason(judging) for entry in read)
    failed = [str(reason["failed"]) for reason in reasons if reason["failed"]]
    notes = (
        [f"{len(failed)} questions are left out, because a judgement failed; the first: {failed[0]}"] if failed else []
    )
    return MetricTable(columns, (), reasons, tuple(notes))


def evidence_overlap(answered: Sequence[AnsweredItem], evidence: Evidence | None = None) -> MetricTable:
    """ROUGE-1, -2 and -Lsum precision against joined evidence, in percent.

    Evidence as in `attribution_metrics`, without titles. An answer without words scores 0; failed ones are left
    out.
    """
    rows = []
    for entry in answered:
        claims, passages = _parts(entry, evidence)
        rows.append(None if entry.is_failed else _overlap(claims, passages))
    names = ("rouge1_precision", "rouge2_precision", "rougeLsum_precision")
    columns = (Column(name, tuple(row and row[i] for row in rows)) for i, name in enumerate(names))
    return MetricTable(tuple(columns), reasons=tuple({} for _ in answered))


def _overlap(claims: Sequence[Claim], passages: Sequence[Passage]) -> tuple[float, float, float]:
    answer = "\n".join(claim.text for claim in claims)
    lines = (line for passage in passages for line in sentence_texts(passage.text))
    known = "\n".join(" ".join(line.split()) for line in lines)
    return (
        rouge_n(answer, known, 1).precision,
        rouge_n(answer, known, 2).precision,
        rouge_l_sum(answer, known).precision,
    )


def _parts(answered: AnsweredItem, evidence: Evidence | None) -> tuple[tuple[Claim, ...], tuple[Passage, ...]]:
    answer = answered.answer
    passages = evidence_of(answer) if evidence is None else evidence.get(answered.item.id, ())
    return answer.claims, tuple({passage.id: passage for passage in passages}.values())


@dataclass(frozen=True, slots=True)
class _Share:
    attributed: int
    sentences: int

    @property
    def strict(self) -> float:
        return float(0 < self.sentences == self.attributed)

    @property
    def macro(self) -> float:
        return self.attributed / self.sentences if self.sentences else 0.0


@dataclass(frozen=True, slots=True)
class _Read:
    answered: AnsweredItem
    claims: tuple[Claim, ...]
    passages: tuple[Passage, ...]

    def cited(self) -> list[Pair]:
        return [pair for claim in self.claims for pair in self._pairs(claim, cited=True)]

    def needed(self, judging: Judging) -> list[Pair]:
        """The cited passages and, where none of them entails a claim, the others."""
        return [pair for claim in self.claims for pair in self._needed(claim, judging)]

    def _needed(self, claim: Claim, judging: Judging) -> list[Pair]:
        first = self._pairs(claim, cited=True)
        return first if any(map(judging.entails, first)) else [*first, *self._pairs(claim, cited=False)]

    def _pairs(self, claim: Claim, *, cited: bool) -> list[Pair]:
        answer = self.answered.answer
        asked = answer.question if answer.style in ("list", "short") else None
        return [Pair((p,), claim.text, asked) for p in self.passages if (p.id in claim.cited) is cited]

    def share(self, judging: Judging) -> _Share | None:
        outcomes = [self._outcome(claim, judging) for claim in self.claims]
        if self.answered.is_failed or any(isinstance(outcome, ToulminError) for outcome in outcomes):
            return None
        return _Share(sum(outcome is not None for outcome in outcomes), len(outcomes))

    def _outcome(self, claim: Claim, judging: Judging) -> Passage | ToulminError | None:
        """The first entailing passage, else the first error, else None."""
        failure: ToulminError | None = None
        for pair in self._needed(claim, judging):
            verdict = judging[pair]
            if isinstance(verdict, ToulminError):
                failure = failure or verdict
            elif verdict.entails:
                return pair.premises[0]
        return failure

    def reason(self, judging: Judging) -> dict[str, Any]:
        outcomes = [self._outcome(claim, judging) for claim in self.claims]
        failure = next((outcome for outcome in outcomes if isinstance(outcome, ToulminError)), None)
        attributed = [
            {"text": claim.text, "passage": outcome.id if isinstance(outcome, Passage) else None}
            for claim, outcome in zip(self.claims, outcomes, strict=True)
        ]
        return {"failed": str(failure) if failure else None, "attributed": attributed}
