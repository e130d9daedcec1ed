"""The block that a sentence belongs to: its paragraph, an entry with its term, a list with its lead-in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from toulmin.extractive.analysis import Sentence, analyse
from toulmin.text.definitions import HEADWORD

LONGEST = 60  # words of a block that is shown whole; chosen with the weights of `windows.py`
_LONGEST_TERM = 8  # words of a line that names what follows
_LONGEST_ITEM = 40  # words
_MOST_ITEMS = 7  # between an item and its lead-in
_ENDED = re.compile(r"[.!?…:;][\"')\]”’»]*$")

_Paragraph = tuple[Sentence, ...]


def block(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """The block around neighbouring sentences of a passage; these alone if they are rows of a table or the block has
    more than `LONGEST` words.
    """
    if any(sentence.is_row for sentence in sentences):
        return tuple(sentences)
    paragraphs = _paragraphs(analyse(sentences[0].passage))
    last, first = (_place(paragraphs, sentence) for sentence in (sentences[-1], sentences[0]))
    if first and _is_term(paragraphs[first - 1]):
        first -= 1
    while last + 1 < len(paragraphs) and (_leads_in(paragraphs[last]) or _is_term(paragraphs[last])):
        if not _fits(paragraphs[first : last + 2]):
            break
        last += 1
    first, last = _with_list(paragraphs, first, last)
    return tuple(chain(*paragraphs[first : last + 1])) if _fits(paragraphs[first : last + 1]) else tuple(sentences)


def _paragraphs(sentences: Sequence[Sentence]) -> list[_Paragraph]:
    groups: list[list[Sentence]] = []
    for sentence in sentences:
        text = sentence.passage.text
        if not groups or text[groups[-1][-1].end : sentence.start].count("\n") > 1:
            groups.append([])
        groups[-1].append(sentence)
    return list(map(tuple, groups))


def _place(paragraphs: Sequence[_Paragraph], sentence: Sentence) -> int:
    return next(n for n, paragraph in enumerate(paragraphs) if sentence.position <= paragraph[-1].position)


def _with_list(paragraphs: Sequence[_Paragraph], first: int, last: int) -> tuple[int, int]:
    """Widened to the list that the paragraphs lead into or are an item of."""
    leads = [n for n in range(last, max(-1, first - _MOST_ITEMS - 1), -1) if _leads_in(paragraphs[n])]
    if leads and _fits(paragraphs[min(first, leads[0]) : last + 1]):
        first = min(first, leads[0])
    while leads and last + 1 < len(paragraphs) and _words(paragraphs[last + 1]) <= _LONGEST_ITEM:
        if not _fits(paragraphs[first : last + 2]):
            break
        last += 1
    return first, last


def _is_term(paragraph: _Paragraph) -> bool:
    is_short = _words(paragraph) <= _LONGEST_TERM and not _ENDED.search(paragraph[-1].text)
    return is_short or HEADWORD.match(paragraph[0].text) is not None


def _leads_in(paragraph: _Paragraph) -> bool:
    return paragraph[-1].text.endswith((":", "?"))


def _fits(paragraphs: Sequence[_Paragraph]) -> bool:
    return sum(map(_words, paragraphs)) <= LONGEST


def _words(paragraph: _Paragraph) -> int:
    return sum(sentence.length for sentence in paragraph)
