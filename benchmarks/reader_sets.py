"""Questions with passages and the short answers that a reader should find there, or none.

`squad1_mrqa` and `squad2_devhalf` give one passage, of half of the latter's questions without an answer; `qa_nq_gold`
one passage; `qa_clapnq` one, of half of the questions without an answer: its answers are long, so words are right that
stand in one of the sentences which people found to support them. The short questions of `pool_questions` are
read over the first five passages that a search finds: those whose passages hold no answer count as unanswerable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from data import rows
from writer_sets import Pool

from toulmin.data import Passage
from toulmin.text.overlap import normalise, token_f1

FOUND = 5  # passages of a search
RIGHT = 0.5  # F1


@dataclass(frozen=True)
class Item:
    """A question, its passages, and the normalised answers: none where the passages do not say."""

    question: str
    passages: tuple[Passage, ...]
    answers: tuple[str, ...]
    are_sentences: bool = False

    @property
    def is_answerable(self) -> bool:
        """Whether the passages say."""
        return bool(self.answers)

    def exact(self, text: str | None) -> float:
        """1 if the text is an answer, normalised; else 0."""
        return float(text is not None and normalise(text) in self.answers)

    def f1(self, text: str | None) -> float:
        """The token F1 with the nearest answer; 0 where there is none."""
        return max((token_f1(text, answer) for answer in self.answers), default=0.0) if text else 0.0

    def is_right(self, text: str | None) -> bool:
        """Whether the text answers."""
        if text and self.are_sentences:
            return any(f" {normalise(text)} " in f" {answer} " for answer in self.answers)
        return self.f1(text) >= RIGHT


def _item(question: str, passages: tuple[Passage, ...], answers: list[str]) -> Item:
    return Item(question, passages, tuple(dict.fromkeys(filter(None, map(normalise, answers)))))


def squad(name: str, split: str) -> Iterator[Item]:
    for row in rows(name, split):
        passage = Passage.of(row["context"], row.get("title", "").replace("_", " "))
        yield _item(row["question"], (passage,), [answer["text"] for answer in row["answers"]])


def natural(split: str) -> Iterator[Item]:
    for row in rows("qa_nq_gold", split):
        yield _item(row["question"], (Passage.of(row["passage"], row["title"]),), row["answers"])


def clap(split: str) -> Iterator[Item]:
    for row in rows("qa_clapnq", split):
        passages = tuple(Passage.of(each["text"], each["title"]) for each in row["passages"])
        sentences = [each for answer in row["answers"] for each in answer["selected_sentences"]]
        yield replace(_item(row["question"], passages, sentences if row["answerable"] else []), are_sentences=True)


def search(split: str, pool: Pool) -> Iterator[Item]:
    for row in rows("pool_questions", split):
        if row["kind"] in ("short", "unanswerable"):
            passages = pool.first(row["question"], FOUND)
            yield _holds(_item(row["question"], passages, [alias for slot in _slots(row) for alias in slot]))


def _slots(row: dict[str, Any]) -> list[list[str]]:
    return row["answers"] if row["kind"] == "short" else []


def _holds(item: Item) -> Item:
    """The item with those of its answers that its passages hold, word for word."""
    texts = [f" {normalise(passage.text)} " for passage in item.passages]
    return Item(item.question, item.passages, tuple(a for a in item.answers if any(f" {a} " in t for t in texts)))


def sets(split: str) -> dict[str, list[Item]]:
    """Every set with questions of that split, by name."""
    named = {name: list(squad(name, split)) for name in ("squad1_mrqa", "squad2_devhalf")}
    named |= {"qa_nq_gold": list(natural(split)), "qa_clapnq": list(clap(split))}
    named["pool_questions"] = list(search(split, Pool()))
    return {name: items for name, items in named.items() if items}
