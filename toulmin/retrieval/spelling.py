"""Corrects misspelled words of a question by the words of an index.

A word is misspelled if neither the index nor English contains it. It becomes the most frequent word of the index with
one slip: a letter lost, added, wrong or swapped with its neighbour; else two words of the index written as one. One of
the first two words of a question may be a misspelled question word even if it is English ("dose").
"""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_lowercase

from toulmin.indexing.corpus import AnyCorpus
from toulmin.text.language import STOPWORDS, guess_language, is_listed, search_term, stem, words

_SHORTEST, _LONGEST = 4, 25  # letters
_MOST = 8  # words of a question
_QUESTION_WORDS = frozenset("does how what when where which who why".split())
_LONGEST_ENDING = 3  # letters that a stem leaves off: "ingness" would stand for every "ing"
_RARE = 3  # passages: what stands in so few may be misspelled there


def corrections(question: str, corpus: AnyCorpus) -> dict[str, str]:
    """The misspelled words with their corrections; empty in another language than English."""
    distinct = list(dict.fromkeys(question[start:end] for start, end in words(question)))
    made = {word: right for word in distinct[:2] if (right := _question_word(word.lower(), corpus))}
    plain = (word for word in distinct if _is_plain(word) and _SHORTEST <= len(word) <= _LONGEST and word not in made)
    odd = [word for word in plain if not is_listed(stem(word))][:_MOST]
    for word, count in zip(odd, corpus.frequencies([search_term(word) for word in odd]), strict=True):
        if not count and (right := _likeliest(word.lower(), corpus) or _parted(word.lower(), corpus)):
            made[word] = right
    return made if made and guess_language(question) in (None, "English") else {}


def correct(question: str, made: dict[str, str]) -> str:
    parts, end = [], 0
    for start, stop in words(question):
        word = question[start:stop]
        right = made.get(word, word)
        parts += [question[end:start], right[0].upper() + right[1:] if word[0].isupper() else right]
        end = stop
    return "".join([*parts, question[end:]])


def _is_plain(word: str) -> bool:
    """In lower case, or with a capital first: no acronym, identifier or number."""
    return word.isascii() and word.isalpha() and (word.islower() or word[1:].islower())


def _question_word(word: str, corpus: AnyCorpus) -> str | None:
    """The question word that is one slip away from a rare word; from an English word only by swapped letters."""
    if word in _QUESTION_WORDS or word in STOPWORDS or not _is_plain(word) or len(word) > _LONGEST:
        return None
    slips = _swapped(word) if is_listed(stem(word)) else _one_slip_away(word)
    right = min(_QUESTION_WORDS.intersection(slips), default=None)
    return right if right and corpus.frequencies([search_term(word)])[0] <= _RARE else None


def _parted(word: str, corpus: AnyCorpus) -> str | None:
    """Two words written as one, such as "cherry pick" for "cherrypick"."""
    cuts = [(word[:place], word[place:]) for place in range(_SHORTEST - 1, len(word) - _SHORTEST + 2)]
    parts = list({part for cut in cuts for part in cut})
    held = dict(zip(parts, corpus.frequencies([search_term(part) for part in parts]), strict=True))
    # No "births tone", as counts are of stems.
    cuts = [(a, b) for a, b in cuts if not (a.endswith("s") and held.get(a[:-1]) and held.get(f"s{b}"))]
    least, parted = max(((min(held[a], held[b]), f"{a} {b}") for a, b in cuts), default=(0, ""))
    return parted if least > _RARE else None


def _likeliest(word: str, corpus: AnyCorpus) -> str | None:
    near = list(dict.fromkeys(_one_slip_away(word)))
    counts = corpus.frequencies([search_term(other) for other in near])
    best = max(range(len(near)), key=lambda place: (counts[place], is_listed(stem(near[place]))))
    is_same = stem(near[best]) == stem(word) or len(near[best]) - len(stem(near[best])) > _LONGEST_ENDING
    return near[best] if counts[best] > _RARE and not is_same else None


def _swapped(word: str) -> Iterator[str]:
    return (word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in range(1, len(word) - 1))


def _one_slip_away(word: str) -> Iterator[str]:
    cuts = [(word[:place], word[place:]) for place in range(1, len(word) + 1)]  # the first letter is mostly right
    yield from _swapped(word)
    yield from (head + tail[1:] for head, tail in cuts if tail)
    yield from (head + letter + tail for head, tail in cuts for letter in ascii_lowercase)
    yield from (head + letter + tail[1:] for head, tail in cuts if tail for letter in ascii_lowercase)
