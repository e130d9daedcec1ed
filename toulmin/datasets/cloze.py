"""Makes a test set from passages: a sentence with a gap, and the number, date or name that fills it.

Two thirds are answerable; for the others, all passages that contain the answer are withheld. The same passages, number
and seed give the same questions, in any order of the passages.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from toulmin.data import Passage, content_id
from toulmin.datasets.item import Gold, Item
from toulmin.errors import UsageError
from toulmin.text.language import sentences
from toulmin.text.names import Fact, facts
from toulmin.text.overlap import normalise

GAP = "____"
_WORDS = range(6, 41)  # of a sentence that is asked about
_LONGEST_SENTENCE = 300  # characters
_LONGEST_ANSWER = 60
_MOST_WITHHELD = 40  # passages
_WITHHELD = 3  # every third question has lost its answer
# What a sentence begins with or holds that points outside it.
_POINTS_OUTSIDE = re.compile(r"^(?:it|he|she|they|this|that|these|those|its|his|her|their|here|there)\b", re.IGNORECASE)
_STOPS = tuple(".!?…。！？।؟")


class Cloze(NamedTuple):
    """A sentence of a passage and its gap, with offsets in the sentence."""

    passage: Passage
    start: int
    sentence: str
    fact: Fact

    @property
    def answer(self) -> str:
        return self.sentence[self.fact.start : self.fact.end]

    @property
    def question(self) -> str:
        before, after = self.sentence[: self.fact.start], self.sentence[self.fact.end :]
        return f'What is missing: "{" ".join(f"{before}{GAP}{after}".split())}"?'


def make_items(passages: Sequence[Passage], n: int, seed: int = 0) -> tuple[Item, ...]:
    """At most `n` questions, one a passage, spread over dates, numbers and names.

    `Item.kind` is "answerable" or "withheld" (without gold answers). Raises `UsageError` if `n` is below 1.
    """
    if n < 1:
        raise UsageError(f"The number of questions should be at least 1, not {n}.")
    distinct = {passage.id: passage for passage in passages}
    order = sorted(distinct.values(), key=lambda passage: content_id(str(seed), passage.id))
    texts = {passage.id: f" {normalise(f'{passage.title} {passage.text}')} " for passage in order}
    items: list[Item] = []
    questions: set[str] = set()
    kinds: Counter[str] = Counter()
    for passage in order:
        if len(items) == n:
            break
        clozes = (cloze for cloze in _clozes(passage) if normalise(cloze.question) not in questions)
        cloze = min(
            clozes, key=lambda each: (kinds[each.fact.kind], content_id(str(seed), each.question)), default=None
        )
        if cloze and (item := _item(cloze, texts, is_withheld=len(items) % _WITHHELD == _WITHHELD - 1)):
            items.append(item)
            questions.add(normalise(cloze.question))
            kinds[cloze.fact.kind] += 1
    return tuple(items)


def _clozes(passage: Passage) -> Iterator[Cloze]:
    for start, end in sentences(passage.text):
        sentence = passage.text[start:end]
        is_long = len(sentence) > _LONGEST_SENTENCE or len(sentence.split()) not in _WORDS
        if is_long or not sentence.endswith(_STOPS) or '"' in sentence or _POINTS_OUTSIDE.match(sentence):
            continue
        sentence_facts = facts(sentence)
        for fact in sentence_facts:
            # Another name says what the sentence is about.
            has_subject = any(other.kind == "name" for other in sentence_facts if other is not fact)
            if has_subject and _is_askable(sentence, fact):
                yield Cloze(passage, start, sentence, fact)


def _is_askable(sentence: str, fact: Fact) -> bool:
    answer = normalise(sentence[fact.start : fact.end])
    rest = normalise(f"{sentence[: fact.start]} {GAP} {sentence[fact.end :]}")
    return 0 < len(answer) <= _LONGEST_ANSWER and f" {answer} " not in f" {rest} "


def _item(cloze: Cloze, texts: dict[str, str], is_withheld: bool) -> Item | None:
    gold = cloze.passage.id
    answer, sentence = f" {normalise(cloze.answer)} ", f" {normalise(cloze.sentence)} "
    copies = (gold, *(id for id, text in texts.items() if id != gold and sentence in text))
    holders = (id for id, text in texts.items() if id not in copies and answer in text)
    withheld = (*copies, *holders) if is_withheld else ()
    if len(withheld) > _MOST_WITHHELD:
        return None
    kind = "withheld" if is_withheld else "answerable"
    about: dict[str, Any] = {
        "rule": cloze.fact.kind,
        "evidence": cloze.sentence,
        "sentence": {"start": cloze.start, "end": cloze.start + len(cloze.sentence)},
    }
    return Item(
        id=content_id(kind, cloze.question, gold),
        question=cloze.question,
        gold=Gold(answers=() if is_withheld else ((cloze.answer,),), passages=copies, answerable=not is_withheld),
        withheld=withheld,
        style="short",
        kind=kind,
        record=about | ({"hidden": [cloze.answer]} if is_withheld else {}),
    )


def jsonl(items: Iterable[Item]) -> bytes:
    return b"".join(json.dumps(_line(item), ensure_ascii=False).encode() + b"\n" for item in items)


def _line(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "question": item.question,
        "style": item.style,
        "kind": item.kind,
        "answers": [list(aliases) for aliases in item.gold.answers or ()],
        "gold_passages": list(item.gold.passages or ()),
        "answerable": item.gold.answerable,
        "withheld": list(item.withheld),
        **item.record,
    }
