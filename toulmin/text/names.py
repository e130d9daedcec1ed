"""The facts of a text: its names and, with `figures`, its numbers and dates.

Names are runs of capitalised words, acronyms and identifiers ("B-52", "iPhone 4"). The first word of a sentence is one
unless its language commonly writes it in lower case. Scripts without case and sentences in capitals have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

from toulmin.text.figures import ATTACHED, Fact, Kind, figures
from toulmin.text.language import STOPWORDS, WORDS_KEPT, Span, fold, languages, sentences, stem, table_rows

__all__ = ["Fact", "Kind", "facts", "split_address"]

_TOKEN = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*(?:(?:['’.&]|_+|[-‐‑](?=\w))(?:[^\W_]|[\u0300-\u036f])+)*")
_PARTICLES = frozenset("of the de del della di da do dos du des von van der den la le el al bin ibn y zu".split())
_ABBREVIATED = frozenset("st dr mr mrs ms jr sr mt ft no prof gen col lt sgt capt rev vs".split())
_COUNTED = re.compile(r"\s+(?:[^\W\d_]+s|people|men|women|children|per|percent|million|billion|hundred)\b|\s?%|[.,:]\d")
_NUMERAL = re.compile(r"\d{1,3}(?![\d.,:%]*\d)")
_INNER = re.compile(r"[^\W\d_][-‐‑]?\d|\d[-‐‑]?[^\W\d_]|[a-z][A-Z]")
_MEASURE = re.compile(rf"[\d.,]+{ATTACHED}?(?:[-‐‑][a-z]+)*")


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    foreign = (stem(word) for _, *openers in languages().values() for word in openers)
    return frozenset(table_rows("common.txt")).union(foreign)


@lru_cache(maxsize=WORDS_KEPT)
def is_common(word: str) -> bool:
    """Whether the word is common in lower case."""
    return word.lower() in STOPWORDS or stem(word) in _common()


_MADE_OF = re.compile(r"(?:un|non|sub|over|under|re|pre|post|anti|multi|mis|dis|inter)-?(?=[^\W\d_]{4})")


@lru_cache(maxsize=WORDS_KEPT)
def opens_only(word: str) -> bool:
    """Whether a word is capitalised only to open a sentence: it is common, or derived from a common word."""
    lower = word.lower()
    if is_common(word) or (lower.endswith("ly") and len(lower) > 5):
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
    """In order, none overlapping; a number inside a name ("Apollo 11") belongs to the name.

    `spans` are the text's sentences, if the caller has them.
    """
    each = sentences(text) if spans is None else spans
    return tuple(fact for start, end in each for fact in sentence_facts(text[start:end], start))


def sentence_facts(sentence: str, start: int = 0) -> tuple[Fact, ...]:
    """As `facts`, for a sentence that begins at `start` in its text."""
    numbers = figures(sentence)
    named = names(sentence, numbers)
    covered = {place for fact in named for place in range(fact.start, fact.end)}
    all_facts = [fact for fact in numbers if fact.start not in covered] + named
    placed = sorted(all_facts, key=lambda fact: fact.start)
    return tuple(Fact(f.kind, f.value, f.start + start, f.end + start) for f in placed) if start else tuple(placed)


def split_address(text: str) -> SplitResult:
    """As `urlsplit`, but a text that is no valid address is a path."""
    try:
        return urlsplit(text)
    except ValueError:
        return SplitResult("", "", text, "", "")
