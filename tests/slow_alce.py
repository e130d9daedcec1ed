"""ALCE's citation metrics the slow, obvious way: one pair at a time, in the order of the text, nothing remembered.

Written from section 1.9 of the specification, on strings alone. `calls` are the pairs put to the judge of entailment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

Entails = Callable[[str, str], bool]


@dataclass
class Doc:
    title: str
    text: str


@dataclass
class Record:
    """An item of a result file."""

    question: str
    output: str
    docs: Sequence[Doc]
    claims: Sequence[str] = ()


@dataclass
class SlowAlce:
    """Scores of a result file in percent, and of each answer in 0..1 (None: left out)."""

    entails: Entails
    sentences: Callable[[str], Sequence[str]]
    is_qampari: bool = False
    most: int | None = 3
    calls: list[tuple[str, str]] = field(default_factory=list)
    recalls: list[float | None] = field(default_factory=list)
    precisions: list[float | None] = field(default_factory=list)
    told: list[float | None] = field(default_factory=list)

    def judged(self, premise: str, hypothesis: str) -> int:
        self.calls.append((premise, hypothesis))
        return int(self.entails(premise, hypothesis))

    def score(self, records: Sequence[Record]) -> dict[str, float | None]:
        for record in records:
            text = preprocessed(record.output)
            self.citations(record, text)
            self.claims(record, text)
        return {
            "citation_rec": percent(self.recalls),
            "citation_prec": percent(self.precisions),
            "claims_nli": percent(self.told),
        }

    def statements(self, record: Record, text: str) -> Sequence[str]:
        if not self.is_qampari:
            return self.sentences(text)
        listed = text.rstrip().rstrip(".").rstrip(",")
        return [record.question + " " + entity.strip() for entity in listed.split(",")]

    def citations(self, record: Record, text: str) -> None:
        statements = self.statements(record, text)
        if len(statements) == 0:
            self.recalls.append(None)
            self.precisions.append(None)
            return
        supported, credits, total = 0, 0, 0
        for statement in statements:
            hypothesis = removed(statement).strip()
            refs = [int(found[1:]) - 1 for found in re.findall(r"\[\d+", statement)]
            if refs == []:
                continue
            if any(ref >= len(record.docs) for ref in refs):
                continue
            if len(record.docs) == 0:  # "[0]" without a document: nothing stands behind it
                continue
            refs = refs[: self.most]
            total += len(refs)
            recall = self.judged(joined(record.docs, refs), hypothesis)
            supported += recall
            if recall and len(refs) == 1:
                credits += 1
            if recall and len(refs) > 1:
                for ref in refs:
                    others = list(refs)
                    others.remove(ref)
                    alone = self.judged(joined(record.docs, [ref]), hypothesis)
                    if alone or not self.judged(joined(record.docs, others), hypothesis):
                        credits += 1
        self.recalls.append(supported / len(statements))
        self.precisions.append(credits / total if total > 0 else 0)

    def claims(self, record: Record, text: str) -> None:
        if not record.claims:
            self.told.append(None)
            return
        premise = removed(removed(text))
        self.told.append(sum(self.judged(premise, claim) for claim in record.claims) / len(record.claims))


def preprocessed(output: str) -> str:
    return output.strip().split("\n")[0].replace("<|im_end|>", "")


def removed(text: str) -> str:
    text = re.sub(r" \[\d+", "", text)
    text = re.sub(r"\[\d+", "", text)
    text = text.replace(" |", "")
    return text.replace("]", "")


def joined(docs: Sequence[Doc], refs: Sequence[int]) -> str:
    return "\n".join(f"Title: {docs[ref].title}\n{docs[ref].text}" for ref in refs)


def percent(values: Sequence[float | None]) -> float | None:
    counted = [value for value in values if value is not None]
    return float(100 * np.mean(counted)) if counted else None
