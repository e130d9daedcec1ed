"""Chooses the sentences that answer a question best.

A sentence's *evidence*, the chance that it answers, is the softmax of the weighted sum of its features. Its *finds*,
facts and terms that the question lacks, share the evidence. A chosen sentence counts only its new finds; the choice
ends when no sentence is likely enough to add one. Weights and constants were chosen on train splits
(`training/fit_evidence.py`). A reader that ranks windows (`windows.py`) replaces this choice.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import mul
from typing import NamedTuple

from toulmin.data import Passage
from toulmin.extractive.analysis import Find, Sentence, analyse, title_terms
from toulmin.extractive.calibration import WHOLE, answering_odds
from toulmin.extractive.windows import Read, SpanReader, Window, choose, deciding_first, join_fragments, read
from toulmin.steps import Cut, Span, chance
from toulmin.text.language import UNSPACED, content_terms, first_of_each, rarity
from toulmin.text.names import Kind
from toulmin.text.wording import codes, lacks_version, unmentioned

_LOCAL = 0.3  # power of a term's rarity among these sentences; its rarity in the language has power 1
_PROMISING = 30  # sentences whose facts are read: the best by words
_IN_TITLE = 0.5  # weight, for abstention, of a term of the title: a sentence need not repeat its subject


# ---------------------------------------------------------------- the kind of fact that a question asks for


def _is_person(find: Find, sentence: Sentence) -> bool:
    return find not in sentence.place_finds and 2 <= len(find.value.split()) <= 4


_ASKED: tuple[tuple[re.Pattern[str], Kind, Callable[[Find, Sentence], bool] | None], ...] = (
    (re.compile(r"\bhow (?:many|much|long|old|far|tall|big|high|deep|fast|large|often|heavy|wide)\b"), "number", None),
    (
        # Not "What does it do when ...?".
        re.compile(
            r"(?:^\W*|[,;:]\s|\b(?:and|or|since|until|till|by|from|me|know|exactly)\s)when\b|\bwhen\W*$"
            r"|\b(?:what|which) (?:year|date|day|month|century|decade|season)s?\b"
        ),
        "date",
        None,
    ),
    (re.compile(r"\bwhere\b"), "name", lambda find, sentence: find in sentence.place_finds),
    (re.compile(r"\bwho\b|\bwhom\b|\bwhose\b"), "name", _is_person),
    (
        re.compile(
            r"\b(?:what|which) (?:actor|actress|singer|artist|author|writer|director|team|club|country|city|state"
            r"|county|town|place|player|person|people|man|woman|company|band|river|island|president|king|queen)s?\b"
        ),
        "name",
        None,
    ),
)


@dataclass(frozen=True)
class Question:
    """`kind` is the kind of fact that it asks for, None if open."""

    terms: frozenset[str]
    kind: Kind | None
    has_form: Callable[[Find, Sentence], bool] | None

    @classmethod
    def of(cls, text: str) -> Question:
        lower = text.lower()
        kinds = ((kind, has_form) for pattern, kind, has_form in _ASKED if pattern.search(lower))
        return cls(content_terms(text), *next(kinds, (None, None)))

    def is_answered_by(self, find: Find, sentence: Sentence) -> bool:
        """By kind and form: a person for "who"."""
        return find.kind == self.kind and (self.has_form is None or self.has_form(find, sentence))


# ---------------------------------------------------------------- the evidence of a sentence


class Features(NamedTuple):
    """Shares are of the question's terms, by weight."""

    coverage: float  # the square of the share in it or its title
    nearby: float  # the share in its title, it and the adjacent sentences
    passage: float  # the share in its passage, relative to the best passage
    title: float  # the share in its title
    subject: float  # 1 if the title has no other terms
    rank: float  # 1 / the rank of its passage, from 1
    position: float  # the logarithm of its place in the passage, from 1
    soundness: float  # the logarithm
    dates: float = 0.0  # the logarithm of 1 + the number of its new dates
    expected: float = 0.0  # the logarithm of 1 + the number of its new facts of the kind asked for
    likely: float = 0.0  # 1 if one of them has the form asked for: a person for "who"


WEIGHTS = Features(
    coverage=2.30,
    nearby=1.63,
    passage=1.89,
    title=1.32,
    subject=0.94,
    rank=1.31,
    position=-0.74,
    soundness=0.48,
    dates=0.36,
    expected=0.76,
    likely=1.18,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A sentence for one question; `rank` is its passage's, from 0, `covered` its share of the question without the
    title. `finds` and `evidence` are empty until `gather` has chosen it.
    """

    sentence: Sentence
    rank: int
    covered: float
    features: Features
    finds: tuple[Find, ...] = ()
    evidence: float = 0.0


@dataclass(frozen=True, slots=True)
class _Look:
    """The question's terms in each sentence and in the title of a passage."""

    rank: int
    sentences: tuple[Sentence, ...]
    terms: tuple[frozenset[str], ...]
    title: frozenset[str]
    is_subject: bool

    @classmethod
    def at(cls, passage: Passage, rank: int, asked: frozenset[str]) -> _Look:
        sentences, title = analyse(passage), title_terms(passage.title)
        term_sets = tuple(asked & sentence.terms for sentence in sentences)
        return cls(rank, sentences, term_sets, asked & title, bool(title) and title <= asked)

    @property
    def anywhere(self) -> frozenset[str]:
        return self.title.union(*self.terms)

    def entries(self, asked: frozenset[str], weights: Mapping[str, float], best: float) -> Iterator[Entry]:
        anywhere, whole = self.anywhere, sum(weights.values())
        if not anywhere or not self.sentences:
            return
        passage, title = _sum(weights, anywhere) / best, _sum(weights, self.title) / whole
        wanted = {term: rarity(term) * (_IN_TITLE if term in self.title else 1.0) for term in asked}
        wanted_whole = sum(wanted.values())
        for n, sentence in enumerate(self.sentences):
            features = Features(
                coverage=(_sum(weights, self.title | self.terms[n]) / whole) ** 2,
                nearby=_sum(weights, self.title.union(*self.terms[max(0, n - 1) : n + 2])) / whole,
                passage=passage,
                title=title,
                subject=float(self.is_subject),
                rank=1 / (1 + self.rank),
                position=math.log1p(n),
                soundness=math.log(sentence.soundness),
            )
            yield Entry(sentence, self.rank, _sum(wanted, self.terms[n]) / wanted_whole, features)


def gather(question: Question, passages: Sequence[Passage], most: int = _PROMISING) -> list[Entry]:
    """The `most` best sentences by words, in the passages' order, each text once."""
    looks = [_Look.at(passage, rank, question.terms) for rank, passage in enumerate(passages)]
    weights = _weights(question.terms, looks)
    best = max((_sum(weights, look.anywhere) for look in looks), default=0.0) or 1.0
    every = (entry for look in looks for entry in look.entries(question.terms, weights, best))
    entries = first_of_each(every, lambda entry: entry.sentence.text)
    promising = set(sorted(range(len(entries)), key=lambda n: -_score(entries[n].features))[:most])
    return _with_evidence([_with_finds(entry, question) for n, entry in enumerate(entries) if n in promising])


def _with_evidence(entries: Sequence[Entry]) -> list[Entry]:
    scores = [_score(entry.features) for entry in entries]
    best = max(scores, default=0.0)
    chances = [math.exp(score - best) for score in scores]
    whole = sum(chances)
    return [replace(entry, evidence=chance / whole) for entry, chance in zip(entries, chances, strict=True)]


def _with_finds(entry: Entry, question: Question) -> Entry:
    finds = tuple(find for find in entry.sentence.finds if not find.terms <= question.terms)
    dates = sum(find.kind == "date" for find in finds)
    expected = sum(find.kind == question.kind for find in finds)
    likely = any(question.is_answered_by(find, entry.sentence) for find in finds)
    features = entry.features._replace(dates=math.log1p(dates), expected=math.log1p(expected), likely=float(likely))
    return replace(entry, features=features, finds=finds)


def _score(features: Features) -> float:
    return float(sum(map(mul, WEIGHTS, features)))


def _weights(asked: frozenset[str], looks: Sequence[_Look]) -> dict[str, float]:
    count = Counter(term for look in looks for term_set in look.terms for term in term_set | look.title)
    total = sum(len(look.sentences) for look in looks)
    return {term: rarity(term) * math.log(1 + total / (1 + count[term])) ** _LOCAL for term in asked}


def _sum(weights: Mapping[str, float], terms: frozenset[str]) -> float:
    return sum(map(weights.__getitem__, terms))


# ---------------------------------------------------------------- the choice of sentences for a question


_SHARE = {"name": 1.0, "number": 1.0, "date": 2.0, "term": 0.2}
_LIKELY = 5.0  # factor for the share of a find that has the form asked for
_UNFOUND = 2.0  # the share of a sentence's evidence for an answer that is none of its finds
_LENGTH = 0.75  # power of the length that divides a sentence's gain
_WORTH_SAYING = 2.0  # divided by the words asked for, the least gain for which a sentence is added
_SOUND_ENOUGH = 0.3
_OVER = 0.08  # a text may exceed the words asked for by this share, since its sentences are whole
_FULL = 0.92  # from this share of the words on, a text is complete
_UNLIMITED = 10**6  # words
_UNMENTIONED = 2.0  # log odds
_UNKNOWN = Features(*(0.0,) * len(Features._fields[:8]))


def _of_the_thing(question: str, passages: Sequence[Passage]) -> Sequence[Passage]:
    """Those of documents with a code of the question, if there are any: invoices differ in little else."""
    asked = [re.compile(rf"(?<!\w){re.escape(code)}(?![\w-])") for code in codes(question)]
    homes = {_home(p) for p in passages if any(code.search(f"{p.title} {p.text}".lower()) for code in asked)}
    return [each for each in passages if _home(each) in homes] or passages


def _home(passage: Passage) -> tuple[str | None, ...]:
    return passage.source.path or passage.title, passage.source.record


class Survey:
    def __init__(self, question: str, passages: Sequence[Passage], reader: SpanReader | None = None) -> None:
        self.question = question
        is_unspaced = 2 * len(UNSPACED.sub("", question)) < len(question)  # readers learnt none of these scripts
        self.passages, self._reader = _of_the_thing(question, passages), None if is_unspaced else reader
        self.parsed = Question.of(question)

    @cached_property
    def entries(self) -> list[Entry]:
        return gather(self.parsed, self.passages)

    @cached_property
    def worth(self) -> Mapping[Find, float]:
        chances: dict[Find, float] = {}
        for entry in self.entries:
            shares = [(find, self._share(find, entry.sentence)) for find in entry.finds]
            part = entry.evidence / (_UNFOUND + sum(share for _, share in shares))
            for find, share in shares:
                chances[find] = chances.get(find, 0.0) + part * share
        return chances

    @cached_property
    def windows(self) -> list[Read]:
        """Likeliest first; empty without a reader that ranks windows."""
        return read(self.question, self.passages, self._reader) if self._reader else []

    @property
    def coverage(self) -> float:
        """The best sentence's share of the question, 0 to 1; terms of its title count half."""
        return max((entry.covered for entry in self.entries), default=0.0)

    @cached_property
    def chance(self) -> float:
        """The chance that the passages answer, by the best window or by the only passage as a whole.

        It is lower if no passage mentions a name of the question, or the window's passage lacks its version.
        """
        texts = [text for passage in self.passages for text in (passage.title, passage.text)]
        best, whole = self.windows[0], self._whole_odds()
        odds = best.answering_odds() if whole is None else whole
        passage = self.passages[best.window.rank]
        is_other = lacks_version(self.question, f"{passage.title} {passage.text}")
        return chance(odds - (_UNMENTIONED if is_other or unmentioned(self.question, texts) else 0.0))

    def _whole_odds(self) -> float | None:
        """The log odds that the only passage answers; None for several passages."""
        if self._reader is None or len(self.passages) > 1:
            return None
        cut = Cut(self.passages[0], 0, len(self.passages[0].text))
        ranked = self._reader.rank(self.question, [cut])
        return answering_odds(self.question, cut, ranked[0].odds, WHOLE) if ranked else None

    @cached_property
    def spans(self) -> list[Span]:
        """The likeliest span of each passage with a window that answers, surest first."""
        likely = (each for each in reversed(self.windows) if each.answering_odds() > 0)
        spans = {each.window.rank: each.span for each in likely}.values()
        return sorted((span for span in spans if span is not None), key=lambda span: -span.confidence)

    def choose(self, words: int, barred: Collection[Sentence] = (), *, is_brief: bool = False) -> list[Entry]:
        """The best sentences in about `words` words, in the order of choice, or those of the best windows."""
        if self.windows:
            best = self.blocks(words, barred, is_brief=is_brief)
            placed = ((s, window.rank) for window in best for s in join_fragments(deciding_first(window, self.windows)))
            return [Entry(sentence, rank, 0.0, _UNKNOWN) for sentence, rank in placed]
        chosen: list[Entry] = []
        while ranked := self.rank_entries(chosen, words, barred):
            chosen.append(ranked[0])
        return chosen

    def blocks(self, words: int, barred: Collection[Sentence] = (), *, is_brief: bool = False) -> list[Window]:
        chosen = choose(self.windows, words, barred, is_brief=is_brief, kind=self.parsed.kind)
        return [each.window for each in chosen]

    def rank_entries(
        self, chosen: Sequence[Entry] = (), words: int = _UNLIMITED, barred: Collection[Sentence] = ()
    ) -> list[Entry]:
        """The sentences that may follow within `words`, by what they add; none if the text is full."""
        if self.windows:
            known = {entry.sentence.text for entry in chosen}
            return [entry for entry in self.choose(words, barred) if entry.sentence.text not in known]
        used = sum(entry.sentence.length for entry in chosen)
        if chosen and used >= _FULL * words:
            return []
        room = (1 + _OVER) * words - used
        out = {entry.sentence.text for entry in chosen} | {sentence.text for sentence in barred}
        unused = [entry for entry in self.entries if entry.sentence.text not in out]
        sound = [entry for entry in unused if entry.sentence.soundness >= _SOUND_ENOUGH]
        able = sound if sound or chosen or barred else unused
        fitting = [entry for entry in able if entry.sentence.length <= room]
        if not fitting and not chosen:
            fitting = sorted(able, key=lambda entry: entry.sentence.length)[:1]
        enough = _WORTH_SAYING / words if chosen else 0.0
        gains = zip(self._gains(fitting, chosen), fitting, strict=True)
        worthy = [(gain / entry.sentence.length**_LENGTH, entry) for gain, entry in gains if gain >= enough]
        return [entry for _, entry in sorted(worthy, key=lambda pair: -pair[0])]

    def _gains(self, entries: Sequence[Entry], chosen: Sequence[Entry]) -> list[float]:
        """The worth of the finds that the chosen sentences lack; a part of a full name counts as known."""
        known = {find for entry in chosen for find in entry.finds}
        names = frozenset[str]().union(*(find.terms for find in known if find.kind == "name"))
        known.update(find for entry in entries for find in entry.finds if find.kind == "name" and find.terms <= names)
        return [sum(self.worth[find] for find in entry.finds if find not in known) for entry in entries]

    def _share(self, find: Find, sentence: Sentence) -> float:
        return _SHARE[find.kind] * (_LIKELY if self.parsed.is_answered_by(find, sentence) else 1.0)


class SentenceReader:
    """Reads by words alone; the confidence is the sentence's share of the question."""

    name = "lexical-reader-2"

    def read(self, questions: Sequence[tuple[str, Sequence[Passage]]]) -> list[Span | None]:
        return [_best_sentence(question, passages) for question, passages in questions]


def _best_sentence(question: str, passages: Sequence[Passage]) -> Span | None:
    sound = [entry for entry in Survey(question, passages).entries if entry.sentence.soundness >= _SOUND_ENOUGH]
    best = max(sound, key=lambda entry: entry.evidence, default=None)
    if best is None or not best.covered:
        return None
    return Span(best.sentence.passage.id, best.sentence.quote, min(1.0, best.covered))


def in_reading_order(chosen: Sequence[Entry]) -> list[Entry]:
    """By title, in the order of first choice, then by position. Windows keep their order."""
    if any(entry.features is _UNKNOWN for entry in chosen):
        return list(chosen)
    first: dict[str, int] = {}
    for n, entry in enumerate(chosen):
        first.setdefault(_topic(entry), n)
    return sorted(chosen, key=lambda entry: (first[_topic(entry)], entry.rank, entry.sentence.position))


def _topic(entry: Entry) -> str:
    return entry.sentence.passage.title or entry.sentence.passage.id
