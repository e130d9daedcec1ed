"""Questions with ranked passages and the answers that a text about them should hold.

The train sets stand in for ASQA with passages, of which only a dev split is here: `qa_feedback` (slots: the facts of
the gold answer that its question does not hold and some passage does; over the passages given, and over the first 20 of
`pool_corpus`), and the train questions of `qa_asqa` over the first 20 of `pool_corpus`, without and with the snippets
that its annotators worked from; of these, the questions of which the 20 hold three slots in ten.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import mean
from typing import Any

from data import rows

from toulmin.data import Passage
from toulmin.retrieval.bm25 import InMemory
from toulmin.text.language import content_terms
from toulmin.text.names import facts


@dataclass(frozen=True)
class Item:
    """A question with its ranked passages; a slot is met by any of its normalised aliases."""

    question: str
    passages: tuple[Passage, ...]
    slots: tuple[tuple[str, ...], ...]


def normalised(text: str) -> str:
    """ALCE's `normalize_answer`."""
    bare = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def slots_of(answers: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(normalised, aliases)) for aliases in answers)


def recall(text: str, slots: Sequence[Sequence[str]]) -> float:
    plain = normalised(text)
    return mean(any(alias in plain for alias in aliases) for aliases in slots)


def passage(row: dict[str, Any]) -> Passage:
    text = row["text"] if "text" in row else " ".join(row["sentences"])
    return Passage.of(text, row.get("title") or "")


class Pool:
    """`pool_corpus` in memory, with the passage of each of its ids, and `more` passages."""

    def __init__(self, more: Sequence[Passage] = ()) -> None:
        self.by_id = {row["id"]: passage(row) for row in rows("pool_corpus")}
        self.index = InMemory([*self.by_id.values(), *more])

    def first(self, question: str, k: int) -> tuple[Passage, ...]:
        """The first `k` passages for the question."""
        return tuple(hit.passage for hit in self.index.search([question], k)[0])


def short_questions(split: str, every: int) -> Iterator[dict[str, Any]]:
    asked = (row for row in rows("pool_questions", split) if row["kind"] == "short")
    return islice(asked, 0, None, every)


def short_answers(pool: Pool, split: str, every: int = 1) -> list[Item]:
    return [
        Item(row["question"], pool.first(row["question"], 10), slots_of(row["answers"]))
        for row in short_questions(split, every)
    ]


def asqa_train(pool: Pool) -> Iterator[Item]:
    for row in rows("qa_asqa", "train"):
        passages = pool.first(row["question"], 20)
        slots = slots_of([pair["short_answers"] for pair in row["qa_pairs"]])
        if recall(" ".join(f"{p.title} {p.text}" for p in passages), slots) >= 0.3:
            yield Item(row["question"], passages, slots)


def asqa_snippets() -> list[Passage]:
    """What the annotators of the train questions worked from, each once."""
    snippets = (snippets for row in rows("qa_asqa", "train") for pair in row["knowledge"] for snippets in pair)
    passages = [passage(row) for row in snippets if row["text"]]
    return list({snippet.id: snippet for snippet in passages}.values())


def feedback_train(pool: Pool | None) -> Iterator[Item]:
    for row in rows("qa_feedback", "train"):
        own_passages = tuple(map(passage, row["passages"]))
        passages = own_passages if pool is None else pool.first(row["question"], 20)
        words = normalised(" ".join(f"{p.title} {p.text}" for p in passages))
        slots = [(value,) for value in gold_facts(row["gold"], row["question"]) if value in words]
        if slots:
            yield Item(row["question"], passages, tuple(slots))


def gold_facts(gold: str, question: str) -> list[str]:
    """What an answer tells beside the question, normalised."""
    asked = content_terms(question)
    texts = (gold[fact.start : fact.end] for fact in facts(gold))
    values = {normalised(words) for words in texts if not content_terms(words) <= asked}
    return sorted(value for value in values if len(value) > 1 and value not in normalised(question))
