"""Makes a test set from unlabelled passages: questions with an answer, and questions that have lost theirs.

Two thirds are answerable. For one sixth the passages that give the answer are withheld; for one sixth the subject
is swapped for a thing of the same sort of which no passage says what is asked. If too few can be made, there are
fewer. The same passages, number and seed give the same questions, whatever the passages' order.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import zip_longest
from typing import Any, Literal

from toulmin.data import Passage, content_id
from toulmin.datasets.item import Gold, Item
from toulmin.datasets.synthetic_kinds import WORDS
from toulmin.datasets.synthetic_questions import questions_of
from toulmin.datasets.synthetic_statements import Asked, sort_of, squeeze, statements
from toulmin.errors import UsageError
from toulmin.text.figures import figures
from toulmin.text.language import STOP_TERMS, sentences, stem, terms
from toulmin.text.names import facts
from toulmin.text.overlap import normalise

# ---------------------------------------------------------------- passages that may give a question's answer


def relation_terms(relation: str) -> tuple[str, ...]:
    """Beginnings of terms that express the question's verb."""
    return tuple(WORDS["kindred"].get(relation, stem(relation)[:6]).split())


@lru_cache(maxsize=50_000)
def _telling(text: str) -> tuple[str, ...]:
    all_terms = tuple(dict.fromkeys(terms(text)))
    return tuple(term for term in all_terms if term not in STOP_TERMS) or all_terms


def document_of(passage: Passage) -> tuple[str | None, ...]:
    source = passage.source
    place = (source.path, source.url, source.record)
    return place if any(place) else (passage.title or passage.id,)


class Tellers:
    """Finds the passages that may give a question's answer; one too many does no harm, one too few leaves an answer.

    They hold at least half of the subject's telling words (of a person also the last name alone) and the answer: a
    date of the same year, or a telling word of a name. Those of the same document, which may say "it", need only that.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._terms = [frozenset(terms(f"{passage.title} {passage.text}")) for passage in passages]
        self._holding: dict[str, list[int]] = defaultdict(list)
        for at, passage_terms in enumerate(self._terms):
            for term in passage_terms:
                self._holding[term].append(at)
        self._documents: dict[tuple[str | None, ...], list[int]] = defaultdict(list)
        for at, passage in enumerate(passages):
            self._documents[document_of(passage)].append(at)

    def tellers(self, asked: Asked) -> tuple[str, ...]:
        """Ids of the passages that may give the answer, gold first."""
        gold = asked.statement.passage
        near = {*self._about(asked), *self._documents[document_of(gold)]}
        ids = (self._passages[at].id for at in sorted(near) if self.holds_answer(at, asked))
        return tuple(dict.fromkeys((gold.id, *ids)))

    def copies(self, asked: Asked) -> tuple[str, ...]:
        """Ids of the passages with the same sentence, gold first."""
        gold, span = asked.statement.passage, asked.statement.span
        sentence = gold.text[span.start : span.end]
        same = [at for at in self.holding(_telling(sentence)) if squeeze(sentence) in squeeze(self._passages[at].text)]
        return tuple(dict.fromkeys((gold.id, *(self._passages[at].id for at in same))))

    def holding(self, wanted: Iterable[str]) -> list[int]:
        """Positions of the passages that hold all these terms, ascending."""
        wanted = list(wanted)
        rarest = min(wanted, key=lambda term: len(self._holding.get(term, ())), default=None)
        if rarest is None:
            return []
        return [at for at in self._holding.get(rarest, ()) if self._terms[at].issuperset(wanted)]

    def _about(self, asked: Asked) -> list[int]:
        telling = _telling(asked.subject)
        counted = Counter(at for term in telling for at in self._holding.get(term, ()))
        least = (len(telling) + 1) // 2
        positions = {at for at, count in counted.items() if count >= least}
        return sorted(positions | set(self._holding.get(telling[-1], ()) if asked.sort == "person" and telling else ()))

    def holds_answer(self, at: int, asked: Asked) -> bool:
        if asked.kind == "date":
            passage = self._passages[at]
            return not _years(asked.answers[0]).isdisjoint(_years(f"{passage.title}. {passage.text}"))
        return not self._terms[at].isdisjoint(_telling(asked.answers[0]))

    def is_disputed(self, asked: Asked) -> bool:
        """Whether a passage says another date or "by", with the same verb."""
        for at in self.holding(_telling(asked.subject)):
            text = self._passages[at].text
            for start, end in sentences(text):
                if self._disputes(text[start:end], asked):
                    return True
        return False

    def _disputes(self, sentence: str, asked: Asked) -> bool:
        sentence_terms = set(terms(sentence))
        if not _begins(sentence_terms, relation_terms(asked.relation)):
            return False
        if asked.kind == "date":
            years = _years(sentence)
            return bool(years) and years.isdisjoint(_years(asked.answers[0]))
        if asked.kind == "person" and not sentence_terms.isdisjoint(_telling(asked.subject)):
            return (
                not sentence_terms.issuperset(_telling(asked.answers[0]))
                and re.search(r"\bby [A-Z]", sentence) is not None
            )
        return False

    def is_answerable_for(self, subject: str, asked: Asked) -> bool:
        """Whether a passage might answer the question for another subject."""
        telling = _telling(subject)
        wanted = relation_terms(asked.relation)
        for at in self.holding(telling):
            if _begins(self._terms[at], wanted) or self.holds_answer(at, asked):
                return True
            if asked.kind == "date" and self._has_year_beside(at, telling):
                return True
        return False

    def _has_year_beside(self, at: int, telling: Sequence[str]) -> bool:
        text = self._passages[at].text
        pieces = (text[start:end] for start, end in sentences(text))
        return any(_years(piece) and not set(telling).isdisjoint(terms(piece)) for piece in pieces)


def _begins(text_terms: Iterable[str], beginnings: tuple[str, ...]) -> bool:
    short = tuple(word for word in beginnings if len(word) > 3)
    exact = {word for word in beginnings if len(word) <= 3}
    return any(term in exact or (short and term.startswith(short)) for term in text_terms)


@lru_cache(maxsize=20_000)
def _years(text: str) -> frozenset[str]:
    days = (fact.value for fact in (*figures(text), *facts(text)) if fact.kind == "date")
    return frozenset(day[:4] for day in days if day[:4].isdigit())


# ---------------------------------------------------------------- synthetic


Kind = Literal["answerable", "withheld", "swapped"]

_TURNS: tuple[Kind, ...] = ("answerable", "withheld", "answerable", "swapped", "answerable", "answerable")
_ENOUGH = 6  # candidates read for each question wanted, before reading stops
_LEAST_READ = 2_000  # passages read at least
_MOST_WITHHELD = 40  # passages taken away for one question
_MOST_TRIED = 60  # other subjects tried for one question
_A_PASSAGE = 2  # questions made from one passage, at most


@dataclass(slots=True)
class _Chosen:
    items: list[Item] = field(default_factory=list)
    questions: set[str] = field(default_factory=set)
    facts: set[tuple[str, str, str]] = field(default_factory=set)
    rules: Counter[str] = field(default_factory=Counter)
    passages: Counter[str] = field(default_factory=Counter)
    documents: Counter[tuple[str | None, ...]] = field(default_factory=Counter)

    def may_take(self, each: Asked) -> bool:
        passage = each.statement.passage
        return (
            normalise(each.question) not in self.questions
            and (normalise(each.subject), each.relation, each.kind) not in self.facts
            and self.passages[passage.id] < _A_PASSAGE
        )

    def take(self, each: Asked, wording: Asked, item: Item) -> None:
        self.items.append(item)
        self.questions.add(normalise(item.question))
        self.facts |= {(normalise(question.subject), question.relation, question.kind) for question in (each, wording)}
        self.rules[each.rule] += 1
        self.passages[each.statement.passage.id] += 1
        self.documents[document_of(each.statement.passage)] += 1


def make_items(passages: Sequence[Passage], n: int, seed: int = 0) -> tuple[Item, ...]:
    """At most `n` questions, spread over documents and kinds of question.

    `Item.kind` is "answerable", "withheld" or "swapped"; gold and withheld passages are `Passage.id`s. A question that
    has lost its answer has no gold answers. Raises `UsageError` if `n` is below 1.
    """
    if n < 1:
        raise UsageError(f"The number of questions to make is 1 or more, not {n}.")
    distinct = list({passage.id: passage for passage in sorted(passages, key=_place)}.values())
    candidates, subjects = _read(distinct, n, seed)
    tellers = Tellers(distinct if candidates else ())
    chosen = _Chosen()
    maker = _Maker(tellers, subjects, seed)
    queues = {kind: _Queue(kind, candidates) for kind in sorted(set(_TURNS))}
    for turn in range(n):
        queues[_TURNS[turn % len(_TURNS)]].take(chosen, maker)
    return tuple(sorted(chosen.items, key=lambda item: content_id(str(seed), item.id)))


def _place(passage: Passage) -> tuple[str, int, str]:
    source = passage.source
    return (source.path or source.url or source.record or "", source.start, passage.id)


# ---------------------------------------------------------------- reading


def _read(passages: Sequence[Passage], n: int, seed: int) -> tuple[list[Asked], dict[str, list[str]]]:
    candidates: list[Asked] = []
    subjects: dict[str, set[str]] = defaultdict(set)
    for read, passage in enumerate(_in_turn(passages, seed), start=1):
        for statement in statements(passage):
            candidates.extend(questions_of(statement))
            sort = sort_of(statement)
            if sort is not None:
                subjects[sort].add(statement.subject)
        if read >= _LEAST_READ and len(candidates) >= _ENOUGH * n:
            break
    return candidates, {sort: sorted(names) for sort, names in subjects.items()}


def _in_turn(passages: Sequence[Passage], seed: int) -> Iterator[Passage]:
    documents: dict[tuple[str | None, ...], list[Passage]] = defaultdict(list)
    for passage in passages:
        documents[document_of(passage)].append(passage)
    shuffled = [_shuffle(group, seed) for group in documents.values()]
    shuffled.sort(key=lambda group: content_id(str(seed), group[0].id))
    for turn in zip_longest(*shuffled):
        yield from (passage for passage in turn if passage is not None)


def _shuffle(passages: Iterable[Passage], seed: int) -> list[Passage]:
    return sorted(passages, key=lambda passage: content_id(str(seed), passage.id))


# ---------------------------------------------------------------- choosing


class _Queue:
    def __init__(self, kind: Kind, candidates: Sequence[Asked]) -> None:
        self._kind = kind
        self._waiting: dict[str, list[Asked]] = defaultdict(list)
        self._doubtful: list[Asked] = []
        for each in candidates:
            # With another subject, "... in the Battle of Lutter?" sounds made up; such questions come last.
            is_odd = kind == "swapped" and each.after != each.after.lower()
            (self._doubtful if is_odd else self._waiting[each.rule]).append(each)

    def take(self, chosen: _Chosen, maker: _Maker) -> None:
        """Takes one question, if any is left, of the least used rule and document."""
        while self._waiting or self._doubtful:
            each = self._next(chosen)
            wording = maker.reword(each, self._kind) if chosen.may_take(each) else None
            item = maker.item(wording, self._kind, each) if wording and chosen.may_take(wording) else None
            if wording is not None and item is not None:
                chosen.take(each, wording, item)
                return

    def _next(self, chosen: _Chosen) -> Asked:
        if not self._waiting:
            return self._doubtful.pop(0)
        rule = min(self._waiting, key=lambda name: (chosen.rules[name], name))
        waiting = self._waiting[rule]
        best = min(
            range(len(waiting)), key=lambda at: (chosen.documents[document_of(waiting[at].statement.passage)], at)
        )
        each = waiting.pop(best)
        if not waiting:
            del self._waiting[rule]
        return each


class _Maker:
    def __init__(self, tellers: Tellers, subjects: Mapping[str, Sequence[str]], seed: int) -> None:
        self._tellers = tellers
        self._subjects = subjects
        self._seed = str(seed)

    def reword(self, each: Asked, kind: Kind) -> Asked | None:
        """None if there is no other subject to swap in."""
        if kind != "swapped":
            return each
        other = self._other(each)
        return None if other is None else replace(each, subject=other)

    def item(self, each: Asked, kind: Kind, origin: Asked) -> Item | None:
        """None if the answer is disputed or too many passages give it. `origin` is the question before swapping."""
        if kind == "swapped":
            return _item(each, kind, (each.statement.passage.id,), (), origin)
        if self._tellers.is_disputed(each):
            return None
        gold = self._tellers.copies(each)
        if kind == "answerable":
            return _item(each, kind, gold, (), origin)
        withheld = tuple(dict.fromkeys((*gold, *self._tellers.tellers(each))))
        return _item(each, kind, gold, withheld, origin) if len(withheld) <= _MOST_WITHHELD else None

    def _other(self, each: Asked) -> str | None:
        if each.sort is None or each.kind == "place":
            return None
        order = sorted(self._subjects.get(each.sort, ()), key=lambda name: content_id(self._seed, name, each.question))
        for name in order[:_MOST_TRIED]:
            if normalise(name) not in normalise(each.question) and not self._tellers.is_answerable_for(name, each):
                return name
        return None


def _item(each: Asked, kind: Kind, gold: tuple[str, ...], withheld: tuple[str, ...], origin: Asked) -> Item:
    passage, span = each.statement.passage, each.statement.span
    is_answerable = kind == "answerable"
    about: dict[str, Any] = {
        "rule": each.rule,
        "evidence": passage.text[span.start : span.end],
        "sentence": {"start": span.start, "end": span.end},
    }
    if not is_answerable:
        about |= {"subject": each.subject, "hidden": list(each.answers)}
    if kind == "swapped":
        about["stood"] = origin.subject
    return Item(
        id=content_id(kind, each.question, passage.id),
        question=each.question,
        gold=Gold(answers=(each.answers,) if is_answerable else (), passages=gold, answerable=is_answerable),
        withheld=withheld,
        style="short",
        kind=kind,
        record=about,
    )


# ---------------------------------------------------------------- writing


def jsonl(items: Iterable[Item]) -> bytes:
    """The items as JSONL in UTF-8, which `toulmin run` reads."""
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
