"""Evidence taken away: the passages without the sentences that say the claim, kept only where no other says it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from claims.pair import Text
from toulmin.text.language import STOPWORDS, rarity, sentences, terms
from toulmin.text.names import facts

MOST_LEFT = 0.6  # of the claim's weight, its title apart, that the rest may still hold
MOST_IN_ONE = 0.45  # that any one sentence of the rest may hold


def _weights(claim: str, title: str) -> dict[str, float]:
    known = {*terms(title), *terms(" ".join(STOPWORDS))}
    return {term: rarity(term) for term in sorted(set(terms(claim)) - known)}


def _share(weights: dict[str, float], text: str) -> float:
    held = set(terms(text))
    return sum(weight for term, weight in weights.items() if term in held) / sum(weights.values())


def says_it(claim: str, title: str, texts: Sequence[str]) -> bool:
    """Whether the texts may still say the claim: their words together, or those of one sentence, cover too much of it.

    A claim of which some figure is in none of the texts is never said, however much of its wording is there.
    """
    weights = _weights(claim, title)
    if not weights or not sum(weights.values()):
        return True
    whole = " ".join(texts)
    figures = {fact.value for fact in facts(claim) if fact.kind != "name"} - {fact.value for fact in facts(title)}
    if figures - {fact.value for fact in facts(whole)}:
        return _share(weights, whole) > 0.85
    pieces = [text[span.start : span.end] for text in texts for span in sentences(text)]
    return _share(weights, whole) > MOST_LEFT or any(_share(weights, piece) > MOST_IN_ONE for piece in pieces)


def without(passages: Sequence[Text], decisive: Sequence[str]) -> tuple[Text, ...] | None:
    """The passages without these sentences; None where nothing is left or one of them is not there."""
    left = []
    missing = set(decisive)
    for passage in passages:
        text = passage.text
        for sentence in decisive:
            if sentence in text:
                missing.discard(sentence)
                text = text.replace(sentence, " ")
        text = re.sub(r"[ \t]{2,}", " ", text).strip()
        if text:
            left.append(Text(passage.title, text))
    is_thin = sum(len(one.text) for one in left) < 60
    return None if missing or is_thin else tuple(left)


def removed(claim: str, title: str, passages: Sequence[Text], decisive: Sequence[str]) -> tuple[Text, ...] | None:
    """The passages without the decisive sentences, if what is left does not say the claim any more."""
    left = without(passages, decisive)
    return None if left is None or says_it(claim, title, [one.text for one in left]) else left
