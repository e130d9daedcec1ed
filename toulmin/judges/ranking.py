"""How likely each candidate span is the answer: named features, each with a weight.

A feature is told by words ("who: name", "behind 'by'"), and a span's score is the sum of its features' values times
`WEIGHTS`. The chance of a span is the softmax of the scores of all candidates at hand. Of long inputs only the
sentences that bear most on the question are searched: the same weights, over the features of a sentence alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from toulmin.data import Passage
from toulmin.judges.asking import STOP_TERMS, Question
from toulmin.judges.span_weights import WEIGHTS
from toulmin.judges.spans import Candidate, Sentence, sentences_of
from toulmin.language import terms

Features = dict[str, float]

_SEARCHED = 5  # sentences in which candidates are looked for
_REACH = 4.0  # words at which a question's term has lost all but 1/e of its pull
_NEAR = 5  # characters that terms of one family share ("discover", "discoveri")
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
    "until": ("until", "till", "between", "during", "after", "before", "around"),
}
_CLASS = {word: name for name, members in _BEFORE.items() for word in members}
_AUXILIARIES = frozenset("is was are were be been has have had did does do will would can could may might".split())


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence of a passage as one question sees it: `covered` is the share of the question that it holds."""

    passage: Passage
    sentence: Sentence
    covered: float
    features: Features
    score: float


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its chance among all candidates at hand."""

    place: Place
    candidate: Candidate
    score: float
    chance: float

    @property
    def text(self) -> str:
        """Its words as they stand."""
        return self.place.passage.text[self.candidate.start : self.candidate.end]


def places(question: Question, passages: Sequence[Passage], most: int = _SEARCHED) -> list[Place]:
    """The `most` sentences that bear most on the question, best first; none that shares no term with it."""
    found = [place for rank, passage in enumerate(passages) for place in _places(question, passage, rank)]
    return sorted(found, key=lambda place: -place.score)[:most]


def _places(question: Question, passage: Passage, rank: int) -> Iterator[Place]:
    sentences = sentences_of(passage)
    title = _title_terms(passage.title)
    held = [_held(question, sentence.held) for sentence in sentences]
    anywhere = title.union(*held)
    whole = question.share(anywhere)
    if not whole:
        return
    for n, sentence in enumerate(sentences):
        covered = question.share(held[n])
        features = {
            "covered": covered,
            "covered squared": covered**2,
            "with title": question.share(held[n] | title),
            "nearby": question.share(title.union(*held[max(0, n - 1) : n + 2])),
            "passage": whole,
            "neighbours": _neighbours(question, sentence),
            "rank": 1 / (1 + rank),
            "position": math.log1p(n),
        }
        yield Place(passage, sentence, covered, features, score(features))


@lru_cache(maxsize=4096)
def _title_terms(title: str) -> frozenset[str]:
    return frozenset(terms(title)) - STOP_TERMS


def _held(question: Question, held: frozenset[str]) -> frozenset[str]:
    """The question's terms that stand there, in this or a kindred form."""
    kindred = {term[:_NEAR] for term in held if len(term) >= _NEAR}
    return frozenset(t for t in question.weights if t in held or (len(t) >= _NEAR and t[:_NEAR] in kindred))


def _neighbours(question: Question, sentence: Sentence) -> float:
    """The share of the question's neighbouring terms that are neighbours here too, function words aside."""
    if not question.neighbours:
        return 0.0
    line = [term for word in sentence.words if not word.is_function for term in word.terms]
    here = set(pairwise(line))
    return len(question.neighbours & here) / len(question.neighbours)


# ---------------------------------------------------------------- spans


def score(features: Features) -> float:
    """The weighted sum."""
    return sum(WEIGHTS.get(name, 0.0) * value for name, value in features.items())


def ranked(question: Question, found: Sequence[Place]) -> list[Scored]:
    """Every candidate of these sentences, the likeliest first."""
    scores = [
        (place, candidate, place.score + score(features))
        for place in found
        for candidate, features in span_features(question, place.sentence)
    ]
    best = max((each for _, _, each in scores), default=0.0)
    chances = [math.exp(each - best) for _, _, each in scores]
    whole = sum(chances) or 1.0
    told = [Scored(*each, chance / whole) for each, chance in zip(scores, chances, strict=True)]
    return sorted(told, key=lambda scored: -scored.score)


def span_features(question: Question, sentence: Sentence) -> Iterator[tuple[Candidate, Features]]:
    """The features of each candidate of a sentence, beside those of the sentence itself."""
    pulls = _pulls(question, sentence)
    for candidate in sentence.candidates:
        yield candidate, dict(_span(question, sentence, candidate, pulls))


def _pulls(question: Question, sentence: Sentence) -> list[float]:
    """For each word the weight of the question's term that stands there, as a share of the question; else 0."""
    held = _held(question, sentence.held)
    kindred = {term[:_NEAR]: question.weights[term] for term in held}
    return [
        max((question.weights.get(t, kindred.get(t[:_NEAR], 0.0)) for t in word.terms if t), default=0.0)
        / question.whole
        for word in sentence.words
    ]


def _span(
    question: Question, sentence: Sentence, candidate: Candidate, pulls: Sequence[float]
) -> Iterator[tuple[str, float]]:
    first, last, form = candidate.first, candidate.last, question.form
    size = last - first
    yield f"{form}: {candidate.kind}", 1.0
    yield "words", math.log(size)
    yield f"{form}: words", math.log(size)
    yield "joined", float(candidate.is_joined)
    yield "cuts", float(candidate.cuts)
    yield from _asked(question, sentence, candidate, pulls)
    yield from _edges(form, sentence, candidate)
    yield from _inside(sentence, candidate)


def _asked(
    question: Question, sentence: Sentence, candidate: Candidate, pulls: Sequence[float]
) -> Iterator[tuple[str, float]]:
    """How the question's own words stand to the span."""
    first, last = candidate.first, candidate.last
    inside = sum(pull > 0 for pull in pulls[first:last])
    yield "asked", inside / (last - first)
    yield "all asked", float(inside == last - first)
    yield "asked first", float(pulls[first] > 0)
    yield "asked last", float(pulls[last - 1] > 0)
    left = sum(pull * math.exp((n - first + 1) / _REACH) for n, pull in enumerate(pulls[:first]))
    right = sum(pull * math.exp((1 - n) / _REACH) for n, pull in enumerate(pulls[last:], start=1))
    yield "pull", left + right
    yield "pull before", left
    yield f"{question.form}: pull before", left
    if question.head:
        yield "head inside", float(any(_is_head(question, sentence, n) for n in range(first, last)))
        beside = (n for n in (first - 1, last) if 0 <= n < len(sentence.words))
        yield "head beside", float(any(_is_head(question, sentence, n) for n in beside))


def _is_head(question: Question, sentence: Sentence, n: int) -> bool:
    return any(term in question.head for term in sentence.words[n].terms)


def _edges(form: str, sentence: Sentence, candidate: Candidate) -> Iterator[tuple[str, float]]:
    """What stands before and after the span."""
    found, gaps = sentence.words, sentence.gaps
    before = _CLASS.get(found[candidate.first - 1].lower) if candidate.first else "start"
    if before == "the" and candidate.first > 1:
        before = _CLASS.get(found[candidate.first - 2].lower, "the")
    if gaps[candidate.first].strip():
        before = "bracket" if gaps[candidate.first].strip() in ("(", "[") else "mark"
    yield f"behind {before}", 1.0
    yield f"{form}: behind {before}", 1.0
    ends = gaps[candidate.last].strip()
    yield "before a mark", float(bool(ends))
    if candidate.last < len(found) and not ends:
        follower = found[candidate.last]
        yield "before an auxiliary", float(follower.lower in _AUXILIARIES)
        yield "before a function word", float(follower.is_function)
        yield "before a plain word", float(not follower.is_function)
    quoted = gaps[candidate.first].rstrip()[-1:] in ('"', "“", "‘") and ends[:1] in ('"', "”", "’")
    yield "quoted", float(quoted)


def _inside(sentence: Sentence, candidate: Candidate) -> Iterator[tuple[str, float]]:
    """What the span is made of."""
    opening, closing = sentence.words[candidate.first], sentence.words[candidate.last - 1]
    yield "capitals", float(opening.is_capital and closing.is_capital)
    yield "opens with -ed", float(opening.lower.endswith("ed"))
    yield "opens with -ly", float(opening.lower.endswith("ly"))
    yield "opens with -ing", float(opening.lower.endswith("ing"))
    yield "opens with -s", float(opening.lower.endswith("s") and opening.fact is None)
    yield "closes with -ed", float(closing.lower.endswith("ed"))
    yield "closes with -ly", float(closing.lower.endswith("ly"))
    yield "closes with -ing", float(closing.lower.endswith("ing"))
    yield "closes with -s", float(closing.lower.endswith("s") and closing.fact is None)
    yield "opens with a function word", float(opening.is_function)
