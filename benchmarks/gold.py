"""What the simulation knows: questions of `pool_questions` with their facts, sentences of the gold passages.

The facts of a question are, of its gold passages,

* short: the evidence sentence where the data names one, else the sentences that hold a gold answer;
* long: the sentences that the written answers draw on: half of whose terms, weighted by rarity, stand in those answers,
  or the best one;
* multihop: of each of the two passages those that hold a gold answer, else the one that shares most with the question
  and the other passage's title;
* unanswerable: none;

at most four, in reading order, and only sentences that are read back as one claim. A question that should have facts
and has none is not asked.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from data import rows
from writer_sets import normalised

from simulations.truth import Fact, is_legible, plain
from toulmin.extractive.analysis import weight
from toulmin.text.language import content_terms, sentences

KINDS = ("short", "long", "multihop", "unanswerable")
MOST_FACTS = 4
DRAWN_ON = 0.5


@dataclass(frozen=True)
class Question:
    """A question with all that is true about it."""

    id: str
    text: str
    kind: str
    facts: tuple[Fact, ...]

    @property
    def is_answerable(self) -> bool:
        """Whether the corpus holds an answer."""
        return self.kind != "unanswerable"


def questions(split: str, each: int, seed: int) -> list[Question]:
    """`each` questions of every kind, drawn with the seed."""
    corpus = {row["id"]: row for row in rows("pool_corpus")}
    asked = [row for row in rows("pool_questions", split) if row["kind"] in KINDS]
    drawn: list[Question] = []
    for kind in KINDS:
        fitting = [row for row in asked if row["kind"] == kind and (row["gold_passages"] if kind == "long" else True)]
        random.Random(f"{seed} {kind}").shuffle(fitting)
        candidates = (Question(row["id"], row["question"], kind, facts_of(row, corpus)) for row in fitting)
        usable = (question for question in candidates if question.facts or not question.is_answerable)
        drawn += [question for question, _ in zip(usable, range(each), strict=False)]
    return drawn


def facts_of(row: dict[str, Any], corpus: dict[str, dict[str, Any]]) -> tuple[Fact, ...]:
    gold = [corpus[id] for id in row.get("gold_passages") or ()]
    answers = [alias for aliases in row.get("answers") or () for alias in aliases]
    facts = [fact for passage in gold for fact in _of_passage(row, passage, gold, answers)]
    return tuple({fact.text: fact for fact in facts}.values())[:MOST_FACTS]


def _of_passage(
    row: dict[str, Any], passage: dict[str, Any], gold: Sequence[dict[str, Any]], answers: Sequence[str]
) -> Iterator[Fact]:
    text, title = passage["text"], plain(passage.get("title") or "")
    texts = [plain(text[span.start : span.end]) for span in sentences(text)]
    legible = [sentence for sentence in texts if is_legible(sentence)]
    for sentence in _choose(row, legible, passage, gold, answers):
        yield Fact(sentence, tuple(a for a in map(plain, answers) if is_in(a, sentence)), title)


def _choose(
    row: dict[str, Any],
    texts: Sequence[str],
    passage: dict[str, Any],
    gold: Sequence[dict[str, Any]],
    answers: Sequence[str],
) -> list[str]:
    if row["kind"] == "long":
        written = " ".join(row["long_answers"])
        return [s for s in texts if share(s, written) >= DRAWN_ON] or best(texts, written)
    named = plain(row.get("evidence_sentence") or "")
    holding = [s for s in texts if s == named] or [s for s in texts if any(is_in(a, s) for a in answers)]
    if holding or row["kind"] != "multihop":
        return holding
    others = " ".join(other.get("title") or "" for other in gold if other is not passage)
    return best(texts, f"{row['question']} {others}")


def is_in(answer: str, sentence: str) -> bool:
    """Whether the answer stands in the sentence as whole words, both normalised as ALCE does."""
    words = normalised(answer)
    return bool(words) and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", normalised(sentence)) is not None


def share(sentence: str, text: str) -> float:
    """How much of the sentence stands in the text: of its terms, weighted by rarity."""
    terms = content_terms(sentence)
    return weight(terms & content_terms(text)) / (weight(terms) or 1.0)


def best(texts: Sequence[str], text: str) -> list[str]:
    """The one sentence that shares most with the text; none where none shares anything."""
    terms = content_terms(text)
    shared = [weight(content_terms(sentence) & terms) for sentence in texts]
    return [texts[shared.index(max(shared))]] if any(shared) else []
