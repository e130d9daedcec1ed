"""Simulation: what is known for certain, so that a method can be held against it and not against a judge.

A claim is supported by exactly those passages that hold it word for word (its passage's title may lead it in): that is
a fact about two texts which no model has to judge. It fits writers that only ever write sentences of passages, and
sentences that no passage holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from toulmin.data import Passage
from toulmin.parsing.citing import read_draft

_SENTENCE = 4  # words; a shorter text stands in many passages without being said there


@dataclass(frozen=True, slots=True)
class Fact:
    """A piece of the gold evidence for a question: a sentence of the corpus, and the gold answers that it holds.

    `title` is that of its passage: what a statement from memory would be about.
    """

    text: str
    answers: tuple[str, ...] = ()
    title: str = ""


def plain(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


@lru_cache(maxsize=65_536)
def _words_of(passage: Passage) -> str:
    return plain(passage.text)


def holds(passage: Passage, sentence: str) -> bool:
    """Whether the sentence stands in the passage word for word."""
    return plain(sentence) in _words_of(passage)


def supports(passage: Passage, claim: str, facts: Sequence[Fact] = ()) -> bool:
    """Whether the passage truly supports the claim: a sentence of it, or a gold answer from `facts` that it holds."""
    text = plain(claim)
    said = text.removeprefix(f"{plain(passage.title)}: ")
    if len(said.split()) >= _SENTENCE and said in _words_of(passage):
        return True
    return any(text in fact.answers and holds(passage, fact.text) for fact in facts)


def is_legible(sentence: str) -> bool:
    """Whether the sentence, written with a mark, is read back as that one claim; other sentences are no facts here."""
    if len(sentence.split()) < _SENTENCE or sentence[-1] not in ".!?" or sentence[0].islower():
        return False
    read = read_draft(with_marks(sentence, (1,)), (Passage.of("A passage."),), "long")
    return [claim.text for claim in read.claims] == [sentence]


def with_marks(text: str, labels: Sequence[int]) -> str:
    """The text with its marks before the closing stop, as ALCE's demonstrations have them."""
    marks = "".join(f"[{label}]" for label in labels)
    if not marks:
        return text
    return f"{text[:-1]} {marks}{text[-1]}" if text[-1:] in (".", "!", "?") else f"{text} {marks}"
