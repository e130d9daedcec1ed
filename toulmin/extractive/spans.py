"""The spans of a sentence that could be a short answer, and their features.

Punctuation and function words split a sentence into runs. A candidate is a part of a run, runs joined by "of",
"and" or a comma, or a fact. Features have names in words ("behind by"), repeated for the question's form ("who:
behind by"); those not listed are 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from toulmin.data import Passage
from toulmin.extractive.question import Form, ReaderQuestion
from toulmin.text.language import STOP_TERMS, STOPWORDS, Span, rarity, sentences, terms, words
from toulmin.text.names import Fact, facts

Kind = Literal["name", "date", "number", "plain"]

_LONGEST = 7  # words in a part of a run
_MOST_WORDS = 120  # in a sentence that is searched for candidates
_JOINERS = frozenset("of and or the a an to for in at on & de la du von van del di with by".split())
_FUNCTION = STOPWORDS | frozenset(
    "because although though since until unless while whereas upon within without among amongst per via despite along"
    " across around against behind beyond near toward towards became become becomes made called named known whether"
    " including include includes included however therefore thus although also both either neither".split()
)
_GLUE = re.compile(r"\s*|[-‐‑–'’./&]")  # between words of a run
_LISTS = re.compile(r"\s*,?\s*")  # between words of joined runs
_CURRENCY = re.compile(r"(?:US|A|C)?[$£€¥₹]$")
_SIGN = re.compile(r"\s?(?:%|°\s?[CF]?\b)")
_SIZES = "metres? meters? m km miles? mi feet foot ft kilomet\\w+ acres? inch(?:es)? degrees? kg mph tons? tonnes?"
_UNITS = {
    "money": re.compile(r"[$£€¥₹]|\b(?:dollars?|euros?|pounds?|cents?)\b"),
    "share": re.compile(r"%|\bper ?cent\b|\b(?:half|third|quarter|percentage)\b"),
    "time": re.compile(r"\b(?:years?|months?|weeks?|days?|hours?|minutes?|seconds?|decades?|centur(?:y|ies))\b"),
    "size": re.compile(rf"°|\b(?:{_SIZES.replace(' ', '|')}|square)\b"),
    "times": re.compile(r"\b(?:times|once|twice|every|annually|weekly|daily)\b"),
}


class Word(NamedTuple):
    """A word, with its offsets in the passage."""

    start: int
    end: int
    lower: str
    terms: tuple[str, ...]
    is_function: bool
    is_capital: bool
    fact: Fact | None


class Candidate(NamedTuple):
    """Words `first` to before `last`, at `passage.text[start:end]`."""

    first: int
    last: int
    start: int
    end: int
    kind: Kind
    is_joined: bool
    cuts: bool  # whether it has only a part of a fact
    unit: str  # what it counts, if its words say: "money", "time"; "things" for a bare number


@dataclass(frozen=True, slots=True)
class Sentence:
    """`terms` are the content terms."""

    start: int
    end: int
    words: tuple[Word, ...]
    terms: frozenset[str]
    gaps: tuple[str, ...]  # the text before each word, and after the last one
    candidates: tuple[Candidate, ...]


@lru_cache(maxsize=512)
def sentences_of(passage: Passage) -> tuple[Sentence, ...]:
    """The last 512 passages are cached."""
    return tuple(_sentence(passage.text, span) for span in sentences(passage.text))


def _sentence(text: str, span: Span) -> Sentence:
    words = _words(text, span)
    ends = [span.start, *(word.end for word in words)]
    starts = [*(word.start for word in words), span.end]
    gaps = tuple(text[end:start] for end, start in zip(ends, starts, strict=True))
    telling_terms = frozenset(term for word in words for term in word.terms if term not in STOP_TERMS)
    candidates = tuple(_candidates(text, span, words, gaps)) if len(words) <= _MOST_WORDS else ()
    return Sentence(span.start, span.end, words, telling_terms, gaps, candidates)


def _words(text: str, span: Span) -> tuple[Word, ...]:
    piece = text[span.start : span.end]
    known = {at: fact for fact in facts(text, (span,)) for at in range(fact.start, fact.end)}
    items = []
    for start, end in words(piece):
        word, at = piece[start:end], span.start + start
        is_function = word.lower() in _FUNCTION and not (word.isupper() and len(word) > 1)
        spelling = word.lower(), tuple(terms(word)), is_function, word[0].isupper()
        items.append(Word(at, at + len(word), *spelling, known.get(at)))
    return tuple(items)


# ---------------------------------------------------------------- candidates


def _candidates(text: str, span: Span, words: Sequence[Word], gaps: Sequence[str]) -> Iterator[Candidate]:
    runs = _runs(words, gaps)
    seen: set[tuple[int, int]] = set()
    for first, last, is_joined in (*_parts(runs), *_chains(runs, words, gaps), *_of_facts(words)):
        if (first, last) not in seen:
            seen.add((first, last))
            yield _candidate(text, span, words, first, last, is_joined)


def _runs(words: Sequence[Word], gaps: Sequence[str]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for n, word in enumerate(words):
        if word.is_function and word.fact is None:
            continue
        if runs and runs[-1][1] == n and _GLUE.fullmatch(gaps[n]):
            runs[-1] = (runs[-1][0], n + 1)
        else:
            runs.append((n, n + 1))
    return runs


def _parts(runs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
    for start, end in runs:
        for first in range(start, end):
            for last in range(first + 1, min(end, first + _LONGEST) + 1):
                yield first, last, False


def _chains(
    runs: Sequence[tuple[int, int]], words: Sequence[Word], gaps: Sequence[str]
) -> Iterator[tuple[int, int, bool]]:
    """Neighbouring runs with at most two joining words or a comma between."""
    for n, (start, end) in enumerate(runs):
        last = end
        for follower, after in runs[n + 1 : n + 4]:
            if not _joins(words, gaps, last, follower):
                break
            last = after
            for first in range(max(start, end - 3), end):
                yield first, last, True


def _joins(words: Sequence[Word], gaps: Sequence[str], end: int, start: int) -> bool:
    between = words[end:start]
    if len(between) > 2 or any(word.lower not in _JOINERS for word in between):
        return False
    return all(map(_LISTS.fullmatch, gaps[end : start + 1]))


def _of_facts(words: Sequence[Word]) -> Iterator[tuple[int, int, bool]]:
    for first, word in enumerate(words):
        if word.fact is not None and (not first or word.fact is not words[first - 1].fact):
            last = next((n for n in range(first, len(words)) if words[n].fact is not word.fact), len(words))
            yield first, last, False


def _candidate(text: str, span: Span, words: Sequence[Word], first: int, last: int, is_joined: bool) -> Candidate:
    start, end = words[first].start, words[last - 1].end
    currency = _CURRENCY.search(text, max(span.start, start - 3), start)
    sign = _SIGN.match(text, end, span.end)
    facts_at_ends = [fact for fact in (words[first].fact, words[last - 1].fact) if fact is not None]
    cuts = any(fact.start < start or fact.end > end for fact in facts_at_ends)
    start, end = currency.start() if currency else start, sign.end() if sign else end
    kind = _kind(words[first:last])
    return Candidate(first, last, start, end, kind, is_joined, cuts, _unit(text[start:end].lower(), kind))


def _unit(lower: str, kind: Kind) -> str:
    units = (name for name, pattern in _UNITS.items() if pattern.search(lower))
    return next(units, "things") if kind == "number" else ""


def _kind(words: Sequence[Word]) -> Kind:
    kinds = {word.fact.kind for word in words if word.fact is not None}
    for kind in ("date", "number"):
        if kind in kinds:
            return kind
    return "name" if words[0].fact is not None or words[-1].fact is not None else "plain"


# ---------------------------------------------------------------- features of a candidate span, by name


Features = dict[str, float]

_REACH = 4.0  # words of distance at which the pull of a question's term falls to 1/e
_CLOSE = 3.0  # the same for the question's first and last term
_HEAD_REACH = 3  # words of distance within which the head of a question is near
_ENDINGS = ("ed", "ly", "ing", "s")
_BEFORE = {
    "in": ("in", "at", "on", "near", "from", "within", "into", "inside", "outside"),
    "by": ("by",),
    "of": ("of",),
    "to": ("to",),
    "for": ("for",),
    "with": ("with", "through", "via", "using"),
    "as": ("as", "called", "named", "known", "titled", "termed", "dubbed"),
    "is": ("is", "was", "are", "were", "be", "been", "became", "become", "being"),
    "because": ("because", "due", "since"),
    "than": ("than", "over", "about", "approximately", "around", "least", "nearly", "almost", "roughly"),
    "the": ("the", "a", "an", "his", "her", "its", "their"),
    "and": ("and", "or"),
    "until": ("until", "till", "between", "during", "after", "before"),
}
_CLASS = {word: name for name, members in _BEFORE.items() for word in members}
_AUXILIARIES = frozenset("is was are were be been has have had did does do will would can could may might".split())


def span_features(question: ReaderQuestion, sentence: Sentence) -> Iterator[tuple[Candidate, Features]]:
    """The features of each candidate, without those of the sentence."""
    view, gaps = _View.of(question, sentence), sentence.gaps
    before = {n: view.before(n) for n in {candidate.first for candidate in sentence.candidates}}
    after = {n: view.after(n) for n in {candidate.last for candidate in sentence.candidates}}
    for candidate in sentence.candidates:
        first, last = candidate.first, candidate.last
        features = before[first] | after[last] | view.inside(candidate)
        features |= _both(question.form, "pull", view.pull_before(first) + view.pull_after(last))
        if {"behind an asked word", "before an asked word"} <= features.keys():
            features["between asked words"] = 1.0
        if gaps[first].rstrip()[-1:] in ('"', "“", "‘") and gaps[last].strip()[:1] in ('"', "”", "’"):
            features["quoted"] = 1.0
        yield candidate, features


@dataclass(frozen=True, slots=True)
class _View:
    """A sentence as one question sees it: each word's weight in the question (`pulls`) and whether it is of its head.

    `opening` and `closing` are the indexes of the question's first and last term.
    """

    question: ReaderQuestion
    sentence: Sentence
    pulls: tuple[float, ...]
    heads: tuple[bool, ...]
    opening: tuple[int, ...]
    closing: tuple[int, ...]

    @classmethod
    def of(cls, question: ReaderQuestion, sentence: Sentence) -> _View:
        words = sentence.words
        weights = question.weights_in(sentence.terms)
        pulls = tuple(max((weights.get(term, 0.0) for term in w.terms), default=0.0) / question.whole for w in words)
        heads = tuple(not question.head.isdisjoint(word.terms) for word in words)
        opening, closing = (_places_of(words, term) for term in (question.opening, question.closing))
        return cls(question, sentence, pulls, heads, opening, closing)

    def before(self, first: int) -> Features:
        words, form = self.sentence.words, self.question.form
        features = {"in the order": first / len(words)}
        features |= _both(form, f"behind {_class_before(self.sentence, first)}")
        features |= _both(form, "pull before", self.pull_before(first))
        left = next((n for n in range(first - 1, -1, -1) if not words[n].is_function), None)
        if left is not None and self.pulls[left]:
            features |= _both(form, "behind an asked word")
        if self.pulls[first]:
            features["asked first"] = 1.0
        return features | _form_features(words[first], "opens")

    def after(self, last: int) -> Features:
        words, form = self.sentence.words, self.question.form
        features = _form_features(words[last - 1], "closes")
        right = next((n for n in range(last, len(words)) if not words[n].is_function), None)
        if right is not None and self.pulls[right]:
            features |= _both(form, "before an asked word")
        if self.pulls[last - 1]:
            features["asked last"] = 1.0
        if last == len(words):
            features["at the end"] = 1.0
        if self.sentence.gaps[last].strip():
            features |= _both(form, "before a mark")
        elif last < len(words):
            features |= _both(form, "before a function word" if words[last].is_function else "before a plain word")
            if words[last].lower in _AUXILIARIES:
                features |= _both(form, "before an auxiliary")
        return features

    def pull_before(self, first: int) -> float:
        return sum(p * math.exp((n - first + 1) / _REACH) for n, p in enumerate(self.pulls[:first]) if p)

    def pull_after(self, last: int) -> float:
        return sum(p * math.exp(-n / _REACH) for n, p in enumerate(self.pulls[last:]) if p)

    def inside(self, candidate: Candidate) -> Features:
        form, first, last = self.question.form, candidate.first, candidate.last
        words = self.sentence.words[first:last]
        features = _both(form, "words", math.log(len(words)))
        features[f"{form}: {candidate.kind}"] = 1.0
        features |= _both(form, "joined") if candidate.is_joined else {}
        features |= {"cuts": 1.0} if candidate.cuts else {}
        features |= _both(form, "capitals") if words[0].is_capital and words[-1].is_capital else {}
        size = "one word" if len(words) == 1 else "several words"
        if candidate.kind in ("name", "date"):
            features |= _both(form, f"{candidate.kind} of {size}")
        if words[0].fact is not None and words[0].fact is words[-1].fact:
            features |= _both(form, "one fact")
        if _is_named_after(self.sentence, last):
            features |= _both(form, "before a name")
        mean = _mean_rarity(words)
        features |= {"rarity": mean, f"{candidate.kind}: rarity": mean}
        asked = sum(pull > 0 for pull in self.pulls[first:last]) / len(words)
        features |= {"asked": asked, "all asked": float(asked == 1)} if asked else {}
        return features | self._near(candidate)

    def _near(self, candidate: Candidate) -> Features:
        form, first, last = self.question.form, candidate.first, candidate.last
        features: Features = {}
        for name, places in (("opening", self.opening), ("closing", self.closing)):
            if places:
                away = min(max(first - n, n - last + 1, 0) for n in places)
                features |= _both(form, f"{name} term near", math.exp(-away / _CLOSE))
        if self.question.measure and candidate.unit:
            features[f"{self.question.measure} in {candidate.unit}"] = 1.0
        if any(self.heads[max(0, first - _HEAD_REACH) : last + _HEAD_REACH]):
            features["head near"] = 1.0
            features["head inside"] = float(any(self.heads[first:last]))
            features["head beside"] = float(any(self.heads[max(0, first - 1) : first] + self.heads[last : last + 1]))
        return features


def _both(form: Form, name: str, value: float = 1.0) -> Features:
    return {name: value, f"{form}: {name}": value}


def _places_of(words: Sequence[Word], term: str) -> tuple[int, ...]:
    return tuple(n for n, word in enumerate(words) if term in word.terms)


def _class_before(sentence: Sentence, first: int) -> str:
    gap = sentence.gaps[first].strip()
    if gap:
        return "bracket" if gap in ("(", "[") else "mark"
    if not first:
        return "start"
    word_class = _CLASS.get(sentence.words[first - 1].lower, "other")
    if word_class != "the" or first < 2:
        return word_class
    return f"{_CLASS.get(sentence.words[first - 2].lower, 'other')} the"


def _form_features(word: Word, end: str) -> Features:
    features = {f"{end} with -{e}": 1.0 for e in _ENDINGS if word.lower.endswith(e) and (e != "s" or not word.fact)}
    return features | {"opens with a function word": 1.0} if end == "opens" and word.is_function else features


def _is_named_after(sentence: Sentence, last: int) -> bool:
    return last < len(sentence.words) and not sentence.gaps[last].strip() and sentence.words[last].is_capital


def _mean_rarity(words: Sequence[Word]) -> float:
    """0 to about 2."""
    rarities = [rarity(term) for word in words if not word.is_function for term in word.terms]
    return sum(rarities) / len(rarities) / 5 if rarities else 0.0
