"""Features of a candidate span, by name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toulmin.extractive.asking import Form, ReaderQuestion
from toulmin.extractive.spans import Candidate, Sentence, Word
from toulmin.text.language import rarity

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
    view = _View.of(question, sentence)
    before = {n: view.before(n) for n in {candidate.first for candidate in sentence.candidates}}
    after = {n: view.after(n) for n in {candidate.last for candidate in sentence.candidates}}
    for candidate in sentence.candidates:
        first, last = candidate.first, candidate.last
        features = before[first] | after[last] | view.inside(candidate)
        features |= _both(question.form, "pull", view.pull_before(first) + view.pull_after(last))
        if {"behind an asked word", "before an asked word"} <= features.keys():
            features["between asked words"] = 1.0
        if view.opens_quote(first) and view.closes_quote(last):
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
        weights = question.weights_in(sentence.held)
        pulls = tuple(max((weights.get(term, 0.0) for term in w.terms), default=0.0) / question.whole for w in words)
        heads = tuple(not question.head.isdisjoint(word.terms) for word in words)
        opening, closing = (_standing(words, term) for term in (question.opening, question.closing))
        return cls(question, sentence, pulls, heads, opening, closing)

    # -------------------------------------------------------------- on either side

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

    def opens_quote(self, first: int) -> bool:
        return self.sentence.gaps[first].rstrip()[-1:] in ('"', "“", "‘")

    def closes_quote(self, last: int) -> bool:
        return self.sentence.gaps[last].strip()[:1] in ('"', "”", "’")

    # -------------------------------------------------------------- the span itself

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


def _standing(words: Sequence[Word], term: str) -> tuple[int, ...]:
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
