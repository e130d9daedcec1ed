"""Figures that stand in a source, but not beside anything that the claim says of them.

That a source holds a claim's number or date somewhere proves little: "The Act was passed in 1828" is not supported by
"The Board was dissolved in 1828". A figure is anchored if a sentence that holds it, or one beside that, also holds
another telling word of the claim that is not merely the source's title again. Asking the same of names would reject
more true claims than false ones (train splits).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toulmin.judges.coverage import Source
from toulmin.judges.reading import PREFIX, Reading, Sentence, figure_key
from toulmin.language import STOPWORDS, terms


def unanchored(claim: Reading, sources: Sequence[Source]) -> tuple[str, ...]:
    """The claim's figures that are in the sources without anything that the claim says of them."""
    return tuple(
        claim.text[fact.start : fact.end]
        for sentence in claim.sentences
        for fact in sentence.facts.values()
        if fact.kind != "name" and _floats(figure_key(fact.value), sentence, sources)
    )


def _floats(figure: str, said: Sentence, sources: Sequence[Source]) -> bool:
    others = {key for key in _telling(said) if key != figure}
    holding = [(source, others - source.title.where.keys()) for source in sources if figure in source.text.where]
    if not any(keys for _, keys in holding):
        return False
    return not any(_shares(figure, keys, source.text) for source, keys in holding)


def _telling(said: Sentence) -> Iterator[str]:
    """The terms of the sentence that say something, those of its names one by one."""
    for at, key in enumerate(said.keys):
        fact = said.facts.get(at)
        if fact is None or fact.kind == "name":
            yield from (term for term in terms(said.shown[at]) if term not in STOPWORDS)
        else:
            yield key


def _shares(figure: str, keys: set[str], text: Reading) -> bool:
    """Whether a sentence with the figure, or one beside it, holds one of the keys or a form derived from it."""
    bits = text.where[figure]
    near = bits | bits << 1 | bits >> 1
    return any((text.where.get(key) or text.prefixes.get(key[:PREFIX], 0)) & near for key in keys)
