"""Claims compared with passages, word by word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toulmin.data import Citation, Claim, Label, Passage
from toulmin.extractive.analysis import Sentence, analyse, content_terms, fold_text, title_terms, weight
from toulmin.text.facts import facts

_MOST_CITED = 3
_WORTH_CITING = 0.15  # another passage is cited if it covers at least this much more of the claim
_SUPPORTED, _UNSUPPORTED = 0.8, 0.5


def source_sentence(claim: Claim, passages: Sequence[Passage]) -> Sentence | None:
    """The sentence that is the claim, with or without its lead-in; cited passages first."""
    text = " ".join(claim.text.split())
    first = sorted(passages, key=lambda passage: passage.id not in claim.cited)
    same = (s for passage in first for s in analyse(passage) if text in (s.text, s.standalone))
    return next(same, None)


def entity_citation(claim: Claim, passages: Sequence[Passage]) -> Citation | None:
    """The citation of a sentence with the claim's words; cited passages first."""
    text = fold_text(claim.text)
    for passage in sorted(passages, key=lambda passage: passage.id not in claim.cited):
        for sentence in analyse(passage):
            if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", fold_text(sentence.text)):
                return sentence.citation()
    return None


def citation_ids(claim: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """The ids of at most three passages that together cover the claim best; empty if they share no word."""
    word_for_word = source_sentence(Claim(claim), passages)
    if word_for_word is not None:
        return (word_for_word.passage.id,)
    wanted = content_terms(claim)
    whole = weight(wanted) or 1.0
    cited: dict[str, None] = {}
    while passages and len(cited) < _MOST_CITED:
        best = max(passages, key=lambda passage: weight(wanted & _best_terms(passage, wanted)))
        gained = wanted & _best_terms(best, wanted)
        if not gained or (cited and weight(gained) < _WORTH_CITING * whole):
            break
        cited[best.id] = None
        wanted -= gained
    return tuple(cited)


def _best_terms(passage: Passage, wanted: frozenset[str]) -> frozenset[str]:
    title = title_terms(passage.title)
    candidates = (sentence.terms | title for sentence in analyse(passage))
    return max(candidates, key=lambda terms: weight(wanted & terms), default=title)


def verdict(claim: str, passages: Sequence[Passage], question: str | None = None) -> Label:
    """Whether the passages support the claim: by the share that the best sentences cover, and all its facts.

    With a question, "supported" needs half of its weight too.
    """
    wanted = content_terms(claim)
    ids = citation_ids(claim, passages)
    evidence = frozenset[str]().union(*(_best_terms(passage, wanted) for passage in passages if passage.id in ids))
    share = _share(wanted, evidence)
    if share < _UNSUPPORTED or not _holds_facts(claim, passages):
        return "unsupported"
    is_answer = question is None or _share(content_terms(question), evidence) >= _UNSUPPORTED
    return "supported" if share >= _SUPPORTED and is_answer else "unsure"


def _share(wanted: frozenset[str], evidence: frozenset[str]) -> float:
    return weight(wanted & evidence) / (weight(wanted) or 1.0)


def _holds_facts(claim: str, passages: Sequence[Passage]) -> bool:
    values = {fact.value for p in passages for s in analyse(p) for fact in s.facts}
    vocabulary = content_terms(" ".join(f"{passage.title} {passage.text}" for passage in passages))
    return all(
        fact.value in values or (fact.kind == "name" and content_terms(fact.value) <= vocabulary)
        for fact in facts(claim)
    )
