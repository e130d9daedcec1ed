"""What in a text can be checked word for word: its names and, with `figures`, its numbers and dates.

Names are runs of capitalised words, acronyms and identifiers ("B-52", "iPhone 4"). A sentence's capitalised first
word is one only if English does not commonly write it in lower case. Scripts without case and sentences in capitals
have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import resources

from toulmin.text.figures import ATTACHED, Fact, Kind, figures
from toulmin.text.language import STOPWORDS, WORDS_KEPT, Span, fold, sentences, stem, terms, words

__all__ = ["Fact", "Kind", "facts", "has_facts", "unmentioned"]

_TOKEN = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*(?:(?:['’.&]|[-‐‑](?=\w))(?:[^\W_]|[\u0300-\u036f])+)*")
_PARTICLES = frozenset("of the de del della di da do dos du des von van der den la le el al bin ibn y zu".split())
_ABBREVIATED = frozenset("st dr mr mrs ms jr sr mt ft no prof gen col lt sgt capt rev vs".split())
_COUNTED = re.compile(r"\s+(?:[^\W\d_]+s|people|men|women|children|per|percent|million|billion|hundred)\b|\s?%|[.,:]\d")
_NUMERAL = re.compile(r"\d{1,3}(?![\d.,:%]*\d)")
_INNER = re.compile(r"[^\W\d_][-‐‑]?\d|\d[-‐‑]?[^\W\d_]|[a-z][A-Z]")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_MEASURE = re.compile(rf"[\d.,]+{ATTACHED}?(?:[-‐‑][a-z]+)*")


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    table = resources.files("toulmin.text").joinpath("common.txt").read_text("utf-8")
    return frozenset(line for line in table.splitlines() if not line.startswith("#"))


@lru_cache(maxsize=WORDS_KEPT)
def is_common(word: str) -> bool:
    """Whether English commonly writes the word in lower case."""
    return word.lower() in STOPWORDS or stem(word) in _common()


_CONNECTIVES = frozenset(
    "moreover furthermore additionally consequently nevertheless nonetheless overall hence thus therefore meanwhile"
    " accordingly conversely likewise lastly firstly secondly thirdly yes no".split()
)
_MADE_OF = re.compile(r"(?:un|non|sub|over|under|re|pre|post|anti|multi|mis|dis|inter)-?(?=[^\W\d_]{4})")


@lru_cache(maxsize=WORDS_KEPT)
def opens_only(word: str) -> bool:
    """Whether a word is capitalised only to open a sentence: common, or derived from a common word."""
    lower = word.lower()
    if is_common(word) or lower in _CONNECTIVES or (lower.endswith("ly") and len(lower) > 5):
        return True
    made = _MADE_OF.match(lower)
    return made is not None and is_common(lower[made.end() :])


@lru_cache(maxsize=WORDS_KEPT)
def _is_name_word(word: str) -> bool:
    if word[0].isupper():
        return word not in ("I", "I'm", "I'd", "I'll", "I've", "I’m", "I’d", "I’ll", "I’ve")
    return _INNER.search(word) is not None and _MEASURE.fullmatch(word) is None


def _joins(gap: str, before: str) -> bool:
    if gap in (" ", "\u00a0", " & ", "-", "–"):
        return True
    return gap in (". ", ".") and (len(before) == 1 or before[-2:-1] == "." or before.lower() in _ABBREVIATED)


def _run_end(text: str, tokens: Sequence[re.Match[str]], first: int) -> int:
    end = scan = first + 1
    while scan < len(tokens) and scan - end <= 2:
        before, token = tokens[scan - 1], tokens[scan]
        word = token[0]
        if not _joins(text[before.end() : token.start()], before[0]):
            break
        if _is_name_word(word):
            end = scan + 1
        elif scan == end and _NUMERAL.fullmatch(word) and not _COUNTED.match(text, token.end()):
            return scan + 1
        elif word not in _PARTICLES:
            break
        scan += 1
    return end


@lru_cache(maxsize=WORDS_KEPT)
def _is_function_word(word: str) -> bool:
    return word.lower() in STOPWORDS | _PARTICLES and not (word.isupper() and len(word) > 1)


def _trim(words: list[re.Match[str]], opens_sentence: bool) -> list[re.Match[str]]:
    first, last = 0, len(words)
    if opens_sentence and not words[0][0].isupper() and opens_only(words[0][0]):
        first = 1
    while first < last and _is_function_word(words[first][0]):
        first += 1
    while first < last and _is_function_word(words[last - 1][0]):
        last -= 1
    return words[first:last]


@lru_cache(maxsize=WORDS_KEPT)
def name_value(text: str) -> str:
    """One spelling per name: lower case, accents folded, without dots and possessives."""
    plain = fold(text).replace("’", "'").replace("'s ", " ").removesuffix("'s").replace(".", " ")
    return re.sub(r"(?<=\b\w) (?=\w\b)", "", " ".join(plain.split()))


def _sentence_names(text: str, tokens: Sequence[re.Match[str]]) -> Iterator[Fact]:
    done = 0
    for at, token in enumerate(tokens):
        if at < done or not _is_name_word(token[0]):
            continue
        done = _run_end(text, tokens, at)
        kept = _trim(list(tokens[at:done]), opens_sentence=at == 0)
        if kept and not kept[0][0].isdecimal():
            start, end = kept[0].start(), kept[-1].end()
            yield Fact("name", name_value(text[start:end]), start, end)


def names(sentence: str, taken: Sequence[Fact]) -> list[Fact]:
    """In order; words inside the dates of `taken` are left out."""
    blocked = {place for fact in taken if fact.kind == "date" for place in range(fact.start, fact.end)}
    tokens = [m for m in _TOKEN.finditer(sentence) if m.start() not in blocked]
    if len(tokens) > 3 and sentence.isupper():
        return []
    return list(_sentence_names(sentence, tokens))


def facts(text: str, spans: Sequence[Span] | None = None) -> tuple[Fact, ...]:
    """The numbers, dates and names of the text in order, none overlapping.

    Equal things have equal values: see `figures` and `names`. A number inside a name ("Apollo 11") belongs to the name.
    `spans` are the text's sentences, if the caller has them.
    """
    all_facts: list[Fact] = []
    for start, end in sentences(text) if spans is None else spans:
        inside = _of_sentence(text[start:end])
        all_facts += inside if start == 0 else [Fact(f.kind, f.value, f.start + start, f.end + start) for f in inside]
    return tuple(all_facts)


@lru_cache(maxsize=4_096)
def _of_sentence(sentence: str) -> tuple[Fact, ...]:
    """Cached: several callers ask for the same sentences."""
    numbers = figures(sentence)
    named = names(sentence, numbers)
    covered = {place for fact in named for place in range(fact.start, fact.end)}
    all_facts = [fact for fact in numbers if fact.start not in covered] + named
    return tuple(sorted(all_facts, key=lambda fact: fact.start))


def has_facts(place: str, claim: str, *others: str) -> bool:
    """Whether a place, and others with it, have the claim's names (their telling words), numbers and dates ("2007" in
    "June 2007").
    """
    stated = [_stated(each) for each in (place, *others)]
    return all(
        all(any(term in words_ for _, words_ in stated) for term in _telling(claim[fact.start : fact.end]))
        if fact.kind == "name"
        else any(fact.value == value or _is_within(value, fact.value) for values, _ in stated for value in values)
        for fact in facts(claim)
    )


@lru_cache(maxsize=4_096)
def _stated(place: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The values of a text's numbers and dates, and its terms. Cached: a passage is a place for many claims."""
    return tuple(fact.value for fact in facts(place) if fact.kind != "name"), frozenset(terms(place))


def _telling(name: str) -> list[str]:
    content = [term for term in terms(name) if term not in STOPWORDS]
    return [term for term in content if not is_common(term)] or content


def _is_within(date: str, whole: str) -> bool:
    return date.startswith(f"{whole}-") or (whole.startswith("--") and date.endswith(whole[1:]))


_OF_VERSION = re.compile(r"\b[A-Z]\w*\s+(\d+(?:\.\d+)+)\b")


def lacks_version(question: str, text: str) -> bool:
    """Whether the question is of a version ("Python 4.0") that the text does not mention."""
    versions = _OF_VERSION.findall(question)
    return any(re.search(rf"(?<![\d.]){re.escape(version)}(?!\d)", text) is None for version in versions)


def unmentioned(question: str, texts: Iterable[str]) -> tuple[str, ...]:
    """What a question names and none of the texts mentions: names of which they have no word, and versions ("4.0")."""
    known = frozenset(term for text in texts for term in terms(text))
    groups: list[list[tuple[str, int]]] = []
    for place, (start, end) in enumerate(words(question)):
        word = question[start:end].removesuffix("'s").removesuffix("’s")
        is_name = word[:1].isupper() and (place > 0 or not is_common(word)) and word.lower() not in STOPWORDS
        if is_name and groups and groups[-1][-1][1] == place - 1:
            groups[-1].append((word, place))
        elif is_name or _VERSION.fullmatch(word):
            groups.append([(word, place)])
    absent = (group for group in groups if not any(known.intersection(terms(word)) for word, _ in group))
    return tuple(dict.fromkeys(" ".join(word for word, _ in group) for group in absent))
