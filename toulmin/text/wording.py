"""The wording of a text: its sentences with their terms and facts, computed once a text for writer and judges."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from toulmin.text.language import STOP_TERMS, STOPWORDS, Span, guess_language, sentences, terms, words
from toulmin.text.names import Fact, is_common, sentence_facts
from toulmin.text.values import respell

_KEPT = 2_048  # texts


@dataclass(frozen=True)
class SentenceWording:
    text: str
    span: Span

    @cached_property
    def terms(self) -> tuple[str, ...]:
        return tuple(terms(self.text))

    @cached_property
    def term_set(self) -> frozenset[str]:
        return frozenset(self.terms)

    @cached_property
    def content_terms(self) -> frozenset[str]:
        return self.term_set - STOP_TERMS

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """Placed in the whole text."""
        return sentence_facts(self.text, self.span.start)


@dataclass(frozen=True)
class Wording:
    text: str

    @cached_property
    def sentences(self) -> tuple[SentenceWording, ...]:
        return tuple(SentenceWording(self.text[span.start : span.end], span) for span in sentences(self.text))

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        return tuple(sentence.span for sentence in self.sentences)

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(terms(self.text))

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(fact for sentence in self.sentences for fact in sentence.facts)

    @cached_property
    def figures(self) -> tuple[str, ...]:
        return tuple(fact.value for fact in self.facts if fact.kind != "name")


@lru_cache(maxsize=_KEPT)
def wording(text: str) -> Wording:
    """Cached by the text, as prompts, pairs and passages carry the same strings."""
    return Wording(text)


_FRAGMENT = re.compile(r"[^\s\u2e80-\U0003ffff]+(?: [^\s\u2e80-\U0003ffff]+)?")  # of a script that sets words apart
_LETTER = re.compile(r"[^\W\d_]")
_SHORTEST = re.compile(r"[A-Z]\w+ [a-z]{4,}\.")  # "Nobody died."


def is_fragment(sentence: str) -> bool:
    """Whether it is one or two words that are no sentence, or has no letter."""
    is_short = _FRAGMENT.fullmatch(sentence) is not None and _SHORTEST.fullmatch(sentence) is None
    return is_short or not _LETTER.search(sentence)


# ---------------------------------------------------------------- facts and names of one text in another


_VERSION = re.compile(r"\d+(?:\.\d+)+")


def has_facts(place: str, claim: str, *others: str) -> bool:
    """Whether a place and the others together contain the claim's names (by their rare words), numbers and dates
    ("2007" in "June 2007"), in any form.
    """
    claim = respell(claim, (place, *others)).text
    places = [wording(each) for each in (place, *others)]
    return all(
        all(any(term in each.terms for each in places) for term in _telling(claim[fact.start : fact.end]))
        if fact.kind == "name"
        else any(fact.value == value or _is_within(value, fact.value) for each in places for value in each.figures)
        for fact in wording(claim).facts
    )


def _telling(name: str) -> list[str]:
    content = [term for term in terms(name) if term not in STOPWORDS]
    return [term for term in content if not is_common(term)] or content


def _is_within(date: str, whole: str) -> bool:
    return date.startswith(f"{whole}-") or (whole.startswith("--") and date.endswith(whole[1:]))


_CODE = re.compile(  # the word before it, and five digits, or letters first and three digits or more
    r"(?<![\w.,/-])(?:([^\W\d_]++)\W{1,3}(?:n[or]\.?\s)?)?"
    r"(\d{5,}+|(?!(?:mid|pre|post)-)(?=[^\W\d_](?:(?:[^\W\d]|[/-])*+\d){3})[\w/-]++)(?![\w/-]|[.,]\d|\s\w+s\b)"
)


def codes(text: str) -> frozenset[str]:
    """What names one thing of many alike by digits, in lower case: "invoice 1000009", "INV-2024-017"; no amounts."""
    found = _CODE.findall(text.lower())
    named = {code for before, code in found if not code.isdecimal() or before not in {*STOPWORDS, ""}}
    sizes = {len(code) for code in named if code.isdecimal()}  # "invoices 1000001 and 1000002"
    return frozenset(named | {code for _, code in found if code.isdecimal() and len(code) in sizes})


_OF_VERSION = re.compile(r"\b([^\W\d]\w*)\s+(\d+(?:\.\d+)+)\b")


def lacks_version(question: str, text: str) -> bool:
    """Whether the question names a version ("Python 4.0", "chrony 4.1") that the text does not mention."""
    named = _OF_VERSION.findall(question)
    versions = (version for name, version in named if name[0].isupper() or not is_common(name))
    return any(re.search(rf"(?<![\d.]){re.escape(version)}(?!\d)", text) is None for version in versions)


def unmentioned(question: str, texts: Iterable[str]) -> tuple[str, ...]:
    """The names, versions ("4.0") and codes of a question of which no text contains a word; of a name with rare words
    one of these: a "switch" is no Nintendo Switch.
    """
    groups, coded = list[list[tuple[str, int]]](), codes(question)
    for place, (start, end) in enumerate(words(question)):
        word = question[start:end].removesuffix("'s").removesuffix("’s")
        is_name = word[:1].isupper() and (place > 0 or not is_common(word)) and word.lower() not in STOPWORDS
        if is_name and groups and groups[-1][-1][1] == place - 1:
            groups[-1].append((word, place))
        elif is_name or _VERSION.fullmatch(word) or word.lower() in coded:
            groups.append([(word, place)])
    named = {" ".join(word for word, _ in group): group for group in groups}
    wanted = [frozenset(_telling(name) or terms(name)) for name in named]
    known = [wording(text).terms for text in texts] if wanted else []
    absent = [name for name, each in zip(named, wanted, strict=True) if all(map(each.isdisjoint, known))]
    language = guess_language(question) if absent else None
    return tuple(name for name in absent if language in (None, "English") or _is_sure(named[name], language))


def _is_sure(group: list[tuple[str, int]], language: str | None) -> bool:
    # Whether capitals show a name in another language than English: German nouns are written so, too.
    plain = [word for word, place in group if place > 0 or not word.istitle()]
    return len(plain) > 1 or (language != "German" and bool(plain)) or not all(word.istitle() for word in plain)
