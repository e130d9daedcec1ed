"""What ALCE's evaluator takes for the statements of an answer, with all of its quirks (metrics, section 1.9).

Quirks that the numbers rest on
* The text ends at its first line break. A sentence's citations are whatever follows an opening bracket as digits, so
  `[1, 2]` and `[1-3]` name one passage, and a year in brackets names one that is not there.
* `[0]` is the last passage. One number above the passages, even beyond the cut, voids its sentence.
* A list is cut at every comma, and each piece is put behind the question; an empty list has one piece.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from toulmin.data import Passage, Source
from toulmin.metrics.answered import Answered
from toulmin.metrics.statements import Cited, Said, Statement

MOST_CITATIONS = 3
_NUMBER = re.compile(r"\[(\d+)")
_LARGEST = 2**53 - 1  # no text has as many passages, and JSON holds it


class Alce:
    """Answers as ALCE reads them: `Answered.output`, whose `[n]` means `docs[n - 1]`.

    `sentences` cuts a text; ALCE's own numbers need NLTK's Punkt. With `is_list` (QAMPARI) commas cut it instead. Of a
    statement's citations the first `at_most` are judged (None: all). An empty text is left out of the citation metrics,
    but not an empty list.
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
        """The statements of one answer; a failed one is an empty text to ALCE."""
        cited = cited_text(answered.output)
        # ALCE takes the marks off the text and once more off the premise; "[[1]2" shows the difference.
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
        return Statement(text, tuple(_cited(n, docs[n - 1]) for n in numbers[: self._at_most]))


def cited_text(output: str) -> str:
    """The part of an output that is read: its first line, without a chat model's stop."""
    return output.strip().split("\n")[0].replace("<|im_end|>", "")


def without_numbers(text: str) -> str:
    """The text without citations, as ALCE takes them off: `[` and digits with one space before, ` |`, every `]`."""
    text = re.sub(r"\[\d+", "", re.sub(r" \[\d+", "", text))
    return text.replace(" |", "").replace("]", "")


def _pieces(question: str, text: str) -> list[str]:
    listed = text.rstrip().rstrip(".").rstrip(",")
    return [f"{question} {piece.strip()}" for piece in listed.split(",")]


def _number(digits: str) -> int:
    return min(int(digits), _LARGEST) if len(digits) <= 1000 else _LARGEST


def _cited(n: int, doc: Passage) -> Cited:
    """The passage under that number. ALCE writes `Title: ` even where there is none, a judge of ours would not."""
    if doc.title:
        return Cited(n, doc)
    shown = f"Title: \n{doc.text}"
    return Cited(n, doc, Passage(doc.id, "", shown, Source(0, len(shown))))
