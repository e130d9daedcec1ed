"""Figures without the claim's words beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toulmin.judges.coverage import Source
from toulmin.judges.reading import PREFIX, Reading, Sentence, figure_key
from toulmin.text.language import STOPWORDS, terms

_PARTS = frozenset("and but while whereas although".split())


def floating_figures(claim: Reading, sources: Sequence[Source]) -> tuple[str, ...]:
    """The claim's figures that no source has near other words of the claim, its title's aside.

    "The Board was dissolved in 1828" does not support "The Act was passed in 1828". Names are exempt: the rule would
    reject more true claims than false ones (train splits).
    """
    return tuple(
        claim.text[fact.start : fact.end]
        for sentence in claim.sentences
        for fact in sentence.facts.values()
        if fact.kind != "name" and _floats(figure_key(fact.value), sentence, sources)
    )


def _floats(figure: str, sentence: Sentence, sources: Sequence[Source]) -> bool:
    others = {key for key in _telling(sentence) if key != figure}
    holding = [(source, others - source.title.where.keys()) for source in sources if figure in source.text.where]
    if not any(keys for _, keys in holding):
        return False
    return not any(_shares(figure, keys, source.text) for source, keys in holding)


def loose_facts(claim: Reading, sources: Sequence[Source]) -> tuple[str, ...]:
    """The claim's facts that no sentence of several sources combines with half of their clause.

    The first unit is exempt: it is the subject, and a passage may say "he".
    """
    return tuple(
        sentence.shown[at]
        for sentence in claim.sentences
        for clause in _clauses(sentence)
        for at in clause
        if at in sentence.facts and at != 0 and not _is_together(sentence, at, clause, sources)
    )


def _clauses(sentence: Sentence) -> Iterator[range]:
    start = 0
    for at, key in enumerate([*sentence.keys, "and"]):
        if key in _PARTS and at > start:
            yield range(start, at)
            start = at + 1


def _is_together(claim_sentence: Sentence, at: int, clause: range, sources: Sequence[Source]) -> bool:
    fact_terms = set(_terms_at(claim_sentence, at))
    wanted = {key for place in clause for key in _terms_at(claim_sentence, place)}
    return any(
        fact_terms & evidence_terms and 2 * len(wanted & evidence_terms) >= len(wanted)
        for source in sources
        for sentence in source.text.sentences
        for evidence_terms in [_sentence_terms(sentence) | source.title.where.keys()]
    )


def _sentence_terms(sentence: Sentence) -> set[str]:
    return {*sentence.terms, *(key for at in range(len(sentence.keys)) for key in _terms_at(sentence, at))}


def _terms_at(sentence: Sentence, at: int) -> list[str]:
    fact = sentence.facts.get(at)
    if fact is not None and fact.kind != "name":
        return [figure_key(fact.value)]
    candidates = terms(sentence.shown[at]) if fact is not None else [sentence.keys[at]]
    return [term for term in candidates if term not in STOPWORDS]


def _telling(sentence: Sentence) -> Iterator[str]:
    for at, key in enumerate(sentence.keys):
        fact = sentence.facts.get(at)
        if fact is None or fact.kind == "name":
            yield from (term for term in terms(sentence.shown[at]) if term not in STOPWORDS)
        else:
            yield key


def _shares(figure: str, keys: set[str], text: Reading) -> bool:
    bits = text.where[figure]
    near = bits | bits << 1 | bits >> 1
    return any((text.where.get(key) or text.prefixes.get(key[:PREFIX], 0)) & near for key in keys)
