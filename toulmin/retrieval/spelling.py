"""Misspelled words of a question, put right by the words of an index.

A word is thought misspelled if the index has it nowhere, or next to nowhere, and English has no such word; it becomes
the word of the index that is most frequent among those one slip away: a letter lost, added, wrong or swapped with its
neighbour.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_lowercase

from toulmin.indexing.corpus import Terms
from toulmin.text.language import guess_language, is_listed, search_term, stem, words

_SHORTEST = 4  # letters
_MOST = 8  # words of a question
_RARE, _TIMES = 3, 50  # a word in so few passages is right only if no neighbour is so many times as frequent


def corrections(question: str, corpus: Terms) -> dict[str, str]:
    """The misspelled words of a question with what they were taken for; empty in another language than English."""
    if guess_language(question) not in (None, "English"):
        return {}
    spoken = dict.fromkeys(question[start:end] for start, end in words(question))
    odd = [word for word in spoken if len(word) >= _SHORTEST and _is_plain(word) and not is_listed(stem(word))]
    made: dict[str, str] = {}
    for word, count in zip(odd[:_MOST], corpus.frequencies([search_term(word) for word in odd[:_MOST]]), strict=True):
        if count <= _RARE and (right := _likeliest(word.lower(), count, corpus)):
            made[word] = right
    return made


def correct(question: str, made: dict[str, str]) -> str:
    """The question with its words as they were taken."""
    parts, end = [], 0
    for start, stop in words(question):
        parts += [question[end:start], made.get(question[start:stop], question[start:stop])]
        end = stop
    return "".join([*parts, question[end:]])


def _is_plain(word: str) -> bool:
    """Letters in lower case, or a capital first: no acronym, identifier or number."""
    return word.isascii() and word.isalpha() and (word.islower() or word[1:].islower())


def _likeliest(word: str, count: int, corpus: Terms) -> str | None:
    near = list(dict.fromkeys(_one_slip_away(word)))
    counts = corpus.frequencies([search_term(other) for other in near])
    best = max(range(len(near)), key=lambda place: (counts[place], is_listed(stem(near[place]))))
    return near[best] if counts[best] > max(_RARE, _TIMES * count) and stem(near[best]) != stem(word) else None


def _one_slip_away(word: str) -> Iterator[str]:
    cuts = [(word[:place], word[place:]) for place in range(1, len(word) + 1)]  # the first letter is mostly right
    yield from (head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1)
    yield from (head + tail[1:] for head, tail in cuts if tail)
    yield from (head + letter + tail for head, tail in cuts for letter in ascii_lowercase)
    yield from (head + letter + tail[1:] for head, tail in cuts if tail for letter in ascii_lowercase)
