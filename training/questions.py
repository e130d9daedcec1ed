"""Questions with a passage and where in it the answer stands, or that it does not: what the reader learns from.

SQuAD 1 and 2 mark the answer's place; Natural Questions give its words, which are looked for in the gold passage. The
questions of the pool stand beside a passage that is known not to answer. To these are added questions beside another
question's passage that does not hold the answer's words. SQuAD 2.0 is split by article; pages that are kept for probes
are left out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from claims.sources import rows, terms_of

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from held_out import has_held_out_text, is_held_out  # the one rule for the pages of the probes

from toulmin.data import Passage

SOURCES = ("squad1_mrqa", "squad2_devhalf", "qa_nq_gold", "pool_questions")
STRANGE = 4  # every so many answerable questions, one stands beside a strange passage too
_NEAR = 50  # records among which the strange passage is looked for


class Item(NamedTuple):
    """A question and a passage; the answers' places in its text in code points, none where it does not answer."""

    source: str
    question: str
    passage: Passage
    places: tuple[tuple[int, int], ...]
    answers: tuple[str, ...]


def is_kept(title: str, text: str) -> bool:
    """Whether a passage is of a page that is kept for probes: by its title, or where it has none by its words."""
    return is_held_out(title) if title else has_held_out_text(text)


def items(data: Path, split: str) -> list[Item]:
    """All items of a split, of the sources whose terms allow weights to be given away."""
    terms = terms_of()
    marked = [item for name in SOURCES[:2] if terms[name].ship for item in _extracts(data, name, split)]
    natural = list(_natural(data, split)) if terms["qa_nq_gold"].ship else []
    silent = list(_silent(data, split)) if terms["pool_questions"].ship and terms["pool_corpus"].ship else []
    swapped = list(_swaps(data, split)) if terms["qa_nq_swap"].ship else []
    able = [item for item in (*marked, *natural) if item.places]
    every = [*marked, *natural, *swapped, *silent, *strange(able)]
    return [item for item in every if not is_kept(item.passage.title, item.passage.text)]


def of_source(data: Path, name: str, split: str) -> Iterator[Item]:
    """The items of one of the first three `SOURCES` as they are, pages that are kept for probes left out."""
    source_items = _natural(data, split) if name == "qa_nq_gold" else _extracts(data, name, split)
    return (item for item in source_items if not is_kept(item.passage.title, item.passage.text))


def even(text: str) -> str:
    """The text as it is printed: no spaces before marks, as tokenised sets have them."""
    text = re.sub(r"\s+([,.;:)%’])", r"\1", " ".join(text.split()))
    text = re.sub(r"([($])\s+", r"\1", text)
    return re.sub(r"(?<=\w) ('s|'|n't)\b", r"\1", text).replace(" - ", "-").replace("`` ", '"').replace(" ''", '"')


def _extracts(data: Path, name: str, split: str) -> Iterator[Item]:
    for row in rows(data, name):
        if row["split"] == split:
            passage = Passage.of(row["context"], row.get("title", "").replace("_", " "))
            texts = [answer["text"] for answer in row["answers"]]
            stated = [
                (answer["answer_start"], answer["answer_start"] + len(answer["text"])) for answer in row["answers"]
            ]
            places = [place for place, text in zip(stated, texts, strict=True) if passage.text[slice(*place)] == text]
            if places or not texts:
                yield Item(name, row["question"], passage, tuple(dict.fromkeys(places)), tuple(dict.fromkeys(texts)))


def _natural(data: Path, split: str) -> Iterator[Item]:
    for row in rows(data, "qa_nq_gold"):
        places = places_of(row["passage"], row["answers"])
        if row["split"] == split and places:
            passage = Passage.of(row["passage"], row["title"])
            yield Item("qa_nq_gold", row["question"], passage, places, tuple(row["answers"]))


def _swaps(data: Path, split: str) -> Iterator[Item]:
    """Passages that say another answer than the world does: what is read must come from the passage."""
    for row in rows(data, "qa_nq_swap"):
        text = even(row["context"])
        places = places_of(text, (row["answer"],))
        if row["split"] == split and places and "<T" not in text:
            yield Item("qa_nq_swap", row["question"], Passage.of(text), places, (row["answer"],))


def places_of(text: str, answers: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Where whole words of the text are one of the answers, whatever their case; those of the longest first."""
    places = [
        match.span()
        for answer in sorted(set(filter(None, answers)), key=lambda text: (-len(text), text))
        for match in re.finditer(rf"(?<!\w){re.escape(answer)}(?!\w)", text, re.IGNORECASE)
    ]
    return tuple(dict.fromkeys(places))


def _silent(data: Path, split: str) -> Iterator[Item]:
    """Questions of the pool with the first passage of those that were found for them and hold no answer."""
    asked = [row for row in rows(data, "pool_questions") if row["split"] == split and row["kind"] == "short"]
    wanted = {name for row in asked for name in row.get("distractor_passages") or ()}
    texts = {row["id"]: row for row in rows(data, "pool_corpus") if row["id"] in wanted}
    for row in asked:
        answers = [alias for slot in row["answers"] for alias in slot]
        for name in row.get("distractor_passages") or ():
            held: dict[str, Any] | None = texts.get(name)
            if held is not None and not places_of(held["text"], answers):
                yield Item("pool_questions", row["question"], Passage.of(held["text"], held["title"]), (), ())
                break


def strange(answerable: Sequence[Item]) -> Iterator[Item]:
    """Of every few questions, one beside the nearest later passage of its source that does not hold its answers."""
    for n in range(0, len(answerable), STRANGE):
        item = answerable[n]
        for other in answerable[n + 1 : n + _NEAR]:
            apart = other.source == item.source and other.passage.id != item.passage.id
            if apart and not places_of(other.passage.text, item.answers):
                yield Item("strange", item.question, other.passage, (), ())
                break
