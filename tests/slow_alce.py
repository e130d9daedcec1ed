"""ALCE's metrics the slow, obvious way: one pair at a time, in the order of the text, nothing remembered.

Written from the behaviour of its evaluator, on strings alone. `calls` are the pairs put to the judge of entailment.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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


# ---------------------------------------------------------------- metrics of strings, from the records of a file


def strings(
    data: Sequence[Mapping[str, Any]], sentences: Callable[[str], Sequence[str]], is_qampari: bool, cot: bool
) -> dict[str, float]:
    """Length, recall of short answers, and lists or ROUGE, of records as they stand in a result file."""
    texts = [removed(preprocessed(record["output"])) for record in data]
    scores = {"length": float(np.mean([len(text.split()) for text in texts])), **short_recall(data, texts)}
    if is_qampari:
        return scores | lists(data, texts, cot)
    return scores | {
        "rougeLsum": float(100 * np.mean([rouge(*pair, sentences) for pair in zip(data, texts, strict=True)]))
    }


def short_recall(data: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> dict[str, float]:
    if data[0].get("qa_pairs") is None:
        return {"str_em": 0.0, "str_hit": 0.0}
    shares = []
    for record, text in zip(data, texts, strict=True):
        hits = [any(normal(a) in normal(text) for a in pair["short_answers"]) for pair in record["qa_pairs"]]
        shares.append(np.mean(hits))
    return {"str_em": float(100 * np.mean(shares)), "str_hit": float(100 * np.mean([share == 1 for share in shares]))}


def lists(data: Sequence[Mapping[str, Any]], texts: Sequence[str], cot: bool) -> dict[str, float]:
    rows = []
    for record, text in zip(data, texts, strict=True):
        listed = (text.split(":", 1)[1] if ":" in text else "") if cot else text
        pieces = [normal(piece.strip()) for piece in listed.rstrip().rstrip(".").rstrip(",").split(",")]
        pieces = [piece for piece in pieces if piece]
        gold = [[normal(alias) for alias in aliases] for aliases in record["answers"]]
        right = sum(any(piece in aliases for aliases in gold) for piece in pieces)
        hits = sum(any(alias in pieces for alias in aliases) for aliases in gold)
        precision = right / len(pieces) if pieces else 0
        recall, top = hits / len(gold), min(5, hits) / min(5, len(gold))
        rows.append((len(pieces), precision, recall, top, harmonic(precision, recall), harmonic(precision, top)))
    names = ("num_preds", "qampari_prec", "qampari_rec", "qampari_rec_top5", "qampari_f1", "qampari_f1_top5")
    means = [np.mean(column) for column in zip(*rows, strict=True)]
    return {name: float(mean if name == "num_preds" else 100 * mean) for name, mean in zip(names, means, strict=True)}


def rouge(record: Mapping[str, Any], text: str, sentences: Callable[[str], Sequence[str]]) -> float:
    """The better F-measure, by `rouge-score` itself."""
    from rouge_score.rouge_scorer import RougeScorer

    golds = (
        [one["long_answer"] for one in record["annotations"][:2]] if record.get("annotations") else [record["answer"]]
    )
    ours, *theirs = ("\n".join(sentences(words.lower())) for words in (text, *golds))
    scorer = RougeScorer(["rougeLsum"], use_stemmer=True)
    return max(scorer.score(gold, ours)["rougeLsum"].fmeasure for gold in theirs)


def harmonic(a: float, b: float) -> float:
    return 2 * a * b / (a + b) if a + b else 0


def normal(text: str) -> str:
    kept = "".join(sign for sign in text.lower() if sign not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def in_records(data: Sequence[Mapping[str, Any]]) -> list[Record]:
    """The records as the citation metrics read them; a title of null is the word None there."""
    return [
        Record(
            record["question"],
            record["output"],
            [Doc(str(doc["title"]), doc["sent"] if "sent" in doc else doc["text"]) for doc in record["docs"]],
            record.get("claims") or (),
        )
        for record in data
    ]
