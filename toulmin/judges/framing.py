"""Whether a source states a claim, or only plans, denies, asks, supposes or invents it: a regression over words.

`frames.tsv` (from `training/fit_framing.py`) holds the weights of measures (`_measure`), among them
* `w:` a word that only the source has, up to its last word in common with the claim; `a:` after that; `c:` one that
  only the claim has; `p:` and `n:` one of the sentence before or after.
* `before:` and `within:` a function word before or among the common words; `g:` a word directly before a common one;
  `b:` two neighbours; `form:` the endings of a common word in source and claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from toulmin.steps import chance
from toulmin.text.language import STOP_TERMS, rarity, search_term, table_rows, words
from toulmin.text.wording import wording

_ROOT = 5  # letters that related terms share
_LIKE_BEST = 0.12  # a sentence whose share of the claim is within this of the best may state it instead
_UNTELLING = STOP_TERMS - {"not", "no"}  # too common to be weighed in a neighbouring sentence
_ENDINGS = ("ing", "ed", "en", "es", "s")
_QUOTES = (('"', '"'), ("“", "”"), (" '", "' "))


class Framing(NamedTuple):
    """The probability that no sentence states the claim as a fact, and the sentence that comes nearest."""

    chance: float
    sentence: str


class _Word(NamedTuple):
    term: str
    shown: str
    start: int
    end: int


class _Text:
    def __init__(self, text: str) -> None:
        self.text = text
        self.words = [_Word(search_term(text[a:b]), text[a:b].lower(), a, b) for a, b in words(text)]
        self.terms = dict.fromkeys(word.term for word in self.words)
        self._roots = {term[:_ROOT] for term in self.terms.keys() - STOP_TERMS if len(term) >= _ROOT}

    def has(self, term: str) -> bool:
        """Whether it contains the term, or a related content word."""
        return term in self.terms or (term not in STOP_TERMS and term[:_ROOT] in self._roots)


_read = lru_cache(maxsize=2_048)(_Text)


def find_framing(claim: str, texts: Sequence[str]) -> Framing:
    """By the sentence that most plainly states the claim, of those that have most of its words."""
    weights = _weights()
    framings = []
    for sentence, values in measures(claim, texts):
        score = weights["constant"] + sum(weights.get(name, 0.0) * value for name, value in values.items())
        framings.append(Framing(chance(score), sentence.text))
    return min(framings, default=Framing(0.0, ""))


def measures(claim: str, texts: Sequence[str]) -> list[tuple[_Text, dict[str, float]]]:
    """The sentences with most of the claim, and the measures of each by name."""
    read = _read(claim)
    wanted = {term: max(rarity(term), 0.5) for term in read.terms if term not in STOP_TERMS}
    near = [tuple(_read(each.text) for each in wording(text).sentences) for text in texts] if len(wanted) > 1 else []
    shares = [
        (sum(weight for term, weight in wanted.items() if sentence.has(term)) / sum(wanted.values()), sentences, n)
        for sentences in near
        for n, sentence in enumerate(sentences)
    ]
    best = max((share for share, *_ in shares), default=0.0)
    chosen = [place for place in shares if place[0] >= max(best - _LIKE_BEST, 1e-9)]
    return [(sentences[n], _measure(read, sentences, n) | {"share": share}) for share, sentences, n in chosen]


def _measure(claim: _Text, sentences: Sequence[_Text], n: int) -> dict[str, float]:
    sentence = sentences[n]
    common = [at for at, word in enumerate(sentence.words) if word.term not in STOP_TERMS and claim.has(word.term)]
    only = [term for term in claim.terms if not sentence.has(term)]
    names = [*_names(claim, sentence, common), *(f"c:{term}" for term in only)]
    for letter, beside in (("p", sentences[max(0, n - 1) : n]), ("n", sentences[n + 1 : n + 2])):
        names += [f"{letter}:{t}" for each in beside for t in each.terms if t not in _UNTELLING | claim.terms.keys()]
    before = sentence.text[: sentence.words[common[0]].start]
    if any(a not in claim.text and before.count(a) > (a != b and before.count(b)) for a, b in _QUOTES):
        names.append("quoted")
    if sentence.text.endswith("?"):
        names.append("asked")
    extra = sum(not claim.has(word.term) for word in sentence.words)
    sizes = {"extra": min(extra / 20, 2), "lead": min(common[0] / 10, 2), "new": min(len(only) / 5, 2)}
    return dict.fromkeys(names, 1.0) | sizes


def _names(claim: _Text, sentence: _Text, common: Sequence[int]) -> Iterator[str]:
    terms = [word.term for word in sentence.words]
    for at, term in enumerate(terms):
        if not claim.has(term) and not term.isdigit():
            yield f"{'w' if at < common[-1] else 'a'}:{term}"
            if term in STOP_TERMS and at < common[-1]:
                yield f"{'before' if at < common[0] else 'within'}:{term}"
            if at + 1 in common:
                yield f"g:{term}"
    for a, b in pairwise(terms):
        if not (claim.has(a) and claim.has(b)) and all(each in STOP_TERMS or not claim.has(each) for each in (a, b)):
            yield f"b:{a} {b}"
    forms = {word.term: word.shown for word in reversed(sentence.words)}
    for word in claim.words:
        if forms.get(word.term, word.shown) != word.shown:
            yield f"form:{_ending(forms[word.term])}>{_ending(word.shown)}"


def _ending(word: str) -> str:
    return next((ending for ending in _ENDINGS if word.endswith(ending)), "")


@lru_cache(maxsize=1)
def _weights() -> dict[str, float]:
    rows = (row.split("\t") for row in table_rows("frames.tsv", "toulmin.judges"))
    return {name: float(weight) for name, weight in rows}
