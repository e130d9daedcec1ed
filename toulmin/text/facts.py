"""The facts of a text, sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from toulmin.text.figures import Fact, Kind, figures
from toulmin.text.language import Span, sentences
from toulmin.text.names import names

__all__ = ["Fact", "Kind", "facts"]


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
