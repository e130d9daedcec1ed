"""AutoAIS over evidence sets (plan-based retrieval, Godbole et al. 2024): attribution without citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from toulmin.data import Answer, Claim, Passage
from toulmin.errors import ToulminError
from toulmin.metrics.answered import MetricTable, ScoringItem, columns
from toulmin.metrics.judging import Judging
from toulmin.metrics.statements import written_text
from toulmin.steps import Pair
from toulmin.text.language import sentence_texts
from toulmin.text.rouge import rouge_l_sum, rouge_n

Evidence = Mapping[str, Sequence[Passage]]


def evidence_of(answer: Answer) -> tuple[Passage, ...]:
    """The passages that an answer read, and each reader's answer, titled by its question."""
    readings = (entry for entry in answer.rounds if entry.role == "reader")
    answers = (Passage.of(text, question) for entry in readings for question in entry.queries for text in entry.kept)
    return tuple({passage.id: passage for passage in (*answer.passages, *answers)}.values())


async def attribution_metrics(
    answered: Sequence[ScoringItem], judging: Judging, evidence: Evidence | None = None
) -> MetricTable:
    """`ais_strict`, `ais_macro` and `ais_micro`.

    The evidence is `evidence_of` an answer, or `evidence` by item id. A sentence is attributed if one passage entails
    it: strict is 1 if all are, macro their share, micro their share of the run's sentences. An answer without sentences
    scores 0 in strict and macro; a failed one, or one with a failed judgement, is left out.
    """
    read = [_Read(entry, *_parts(entry, evidence)) for entry in answered]
    await judging.ask((pair for entry in read for pair in entry.cited()), "cited")
    await judging.ask((pair for entry in read for pair in entry.needed(judging)), "others")
    rows = [entry.shares(judging) for entry in read]
    strict, macro, micro = columns(("ais_strict", "ais_macro", "ais_micro"), rows)
    micro = replace(micro, weights=tuple(float(len(entry.claims)) for entry in read))
    reasons = tuple(entry.reason(judging) for entry in read)
    failed = [str(reason["failed"]) for reason in reasons if reason["failed"]]
    note = f"{len(failed)} questions are left out, because a judgement failed; the first: {failed[0]}" if failed else ""
    return MetricTable((strict, macro, micro), (), reasons, (note,) if note else ())


def evidence_overlap(answered: Sequence[ScoringItem], evidence: Evidence | None = None) -> MetricTable:
    """ROUGE-1, -2 and -Lsum precision against the evidence of `attribution_metrics`, joined without titles.

    An answer without words scores 0; a failed one is left out.
    """
    rows = [None if entry.is_failed else _overlap(*_parts(entry, evidence)) for entry in answered]
    names = ("rouge1_precision", "rouge2_precision", "rougeLsum_precision")
    return MetricTable(columns(names, rows), reasons=tuple({} for _ in answered))


def _overlap(claims: Sequence[Claim], passages: Sequence[Passage]) -> tuple[float, ...]:
    answer = "\n".join(claim.text for claim in claims)
    lines = (line for passage in passages for line in sentence_texts(passage.text))
    known = "\n".join(" ".join(line.split()) for line in lines)
    overlaps = (rouge_n(answer, known, 1), rouge_n(answer, known, 2), rouge_l_sum(answer, known))
    return tuple(overlap.precision for overlap in overlaps)


def _parts(answered: ScoringItem, evidence: Evidence | None) -> tuple[tuple[Claim, ...], tuple[Passage, ...]]:
    answer = answered.answer
    passages = evidence_of(answer) if evidence is None else evidence.get(answered.item.id, ())
    by_text = {claim.text: claim for claim in answer.claims}
    written = [by_text.get(sentence, Claim(sentence)) for sentence in sentence_texts(written_text(answer) or "")]
    return tuple(written) or answer.claims, tuple({passage.id: passage for passage in passages}.values())


class _Read(NamedTuple):
    answered: ScoringItem
    claims: tuple[Claim, ...]
    passages: tuple[Passage, ...]

    def cited(self) -> list[Pair]:
        return [pair for claim in self.claims for pair in self._pairs(claim, cited=True)]

    def needed(self, judging: Judging) -> list[Pair]:
        """The cited passages and, if none of them entails a claim, the others."""
        return [pair for claim in self.claims for pair in self._needed(claim, judging)]

    def _needed(self, claim: Claim, judging: Judging) -> list[Pair]:
        first = self._pairs(claim, cited=True)
        return first if any(map(judging.entails, first)) else [*first, *self._pairs(claim, cited=False)]

    def _pairs(self, claim: Claim, *, cited: bool) -> list[Pair]:
        answer = self.answered.answer
        asked = answer.question if answer.style in ("list", "short") else None
        return [Pair((p,), claim.text, asked) for p in self.passages if (p.id in claim.cited) is cited]

    def shares(self, judging: Judging) -> tuple[float, float, float] | None:
        """Strict, macro, and the number of attributed sentences; None if left out."""
        outcomes = [self._outcome(claim, judging) for claim in self.claims]
        if self.answered.is_failed or any(isinstance(outcome, ToulminError) for outcome in outcomes):
            return None
        count = sum(outcome is not None for outcome in outcomes)
        return float(0 < count == len(outcomes)), count / len(outcomes) if outcomes else 0.0, float(count)

    def _outcome(self, claim: Claim, judging: Judging) -> Passage | ToulminError | None:
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
