"""Statements as ALCE's evaluator reads them"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from toulmin.data import Passage, Source
from toulmin.metrics.answered import Answered
from toulmin.metrics.statements import Cited, Said, Statement

MOST_CITATIONS = 3
_NUMBER = re.compile(r"\[(\d+)")
_LARGEST = 2**53 - 1  # the largest integer that JSON holds exactly; above any number of passages


class Alce:
    """Reads answers as ALCE's evaluator does: `Answered.output`, whose `[n]` means `docs[n - 1]`.

    `sentences` cuts a text; ALCE's numbers need NLTK's Punkt. With `is_list` (QAMPARI) commas cut it. A statement's
    first `at_most` citations are judged (None: all). Citation metrics leave out an empty text, but not an empty
    list.

    ALCE's quirks
    * A text ends at its first line break. A citation is `[` and digits: `[1, 2]` and `[1-3]` cite one passage,
      years in brackets none.
    * `[0]` is the last passage. One number above the passages, even beyond `at_most`, voids its sentence.
    * Pieces of a list follow the question; an empty list has one.
    """

    name = "alce"

    def __init__(
        self,
        sentences: Callable[[str], Sequence[str]],
        *,
        is_list: bool = False,
        at_most: int | None = MOST_CITATIONS,
    ) -> None:
        self._sentences = sentences
        self._is_list = is_list
        self._at_most = at_most

    def said(self, answered: Answered) -> Said:
        """A failed answer is an empty text to ALCE."""
        cited = first_line(answered.output)
        # ALCE removes citations from the text and again from the premise, which matters for "[[1]2".
        whole = without_numbers(without_numbers(cited))
        pieces = _pieces(answered.item.question, cited) if self._is_list else self._sentences(cited)
        if not pieces:
            return Said(whole=whole, absence="empty")
        return Said(tuple(self._statement(piece, answered.docs) for piece in pieces), whole)

    def _statement(self, piece: str, docs: Sequence[Passage]) -> Statement:
        text = without_numbers(piece).strip()
        numbers = [_number(digits) for digits in _NUMBER.findall(piece)]
        if not numbers:
            return Statement(text, flaw="uncited")
        if not docs or max(numbers) > len(docs):
            return Statement(text, tuple(Cited(n, None) for n in numbers), flaw="out_of_range")
        return Statement(text, tuple(_citation(n, docs[n - 1]) for n in numbers[: self._at_most]))


def first_line(output: str) -> str:
    """The first line, without a chat model's stop."""
    return output.strip().split("\n")[0].replace("<|im_end|>", "")


def without_numbers(text: str) -> str:
    """Removes like ALCE: `[` and digits with one space before, ` |`, every `]`."""
    text = re.sub(r"\[\d+", "", re.sub(r" \[\d+", "", text))
    return text.replace(" |", "").replace("]", "")


def _pieces(question: str, text: str) -> list[str]:
    listed = text.rstrip().rstrip(".").rstrip(",")
    return [f"{question} {piece.strip()}" for piece in listed.split(",")]


def _number(digits: str) -> int:
    return min(int(digits), _LARGEST) if len(digits) <= 1000 else _LARGEST


def _citation(n: int, doc: Passage) -> Cited:
    """ALCE writes `Title: ` even without a title."""
    if doc.title:
        return Cited(n, doc)
    shown = f"Title: \n{doc.text}"
    return Cited(n, doc, Passage(doc.id, "", shown, Source(0, len(shown))))
