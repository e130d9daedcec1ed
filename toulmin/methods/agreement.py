"""How far two drafts agree (CaLM, section 4)"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from toulmin.data import Style
from toulmin.text.language import terms
from toulmin.text.overlap import entity, entity_f1, token_f1
from toulmin.text.rouge import Overlap, is_legible, rouge_words, sequence_overlap

Measure = Literal["rouge2", "token_f1", "entity_f1"]
Texts = Sequence[str]  # the words of a draft's claims, without citation marks

Agreement = Callable[[Texts, Texts], float]
Corroboration = Callable[[str, Texts], float]


# ---------------------------------------------------------------- agreement of drafts


def _rouge2(a: Texts, b: Texts) -> float:
    return _pairs(" ".join(a), " ".join(b)).fmeasure


def _tokens(a: Texts, b: Texts) -> float:
    return token_f1(" ".join(a), " ".join(b))


AGREEMENT: Mapping[Measure, Agreement] = {"rouge2": _rouge2, "token_f1": _tokens, "entity_f1": entity_f1}

USUAL: Mapping[Style, Measure] = {"long": "rouge2", "report": "rouge2", "short": "token_f1", "list": "entity_f1"}


def _words(text: str) -> list[str]:
    return rouge_words(text) if is_legible(text) else terms(text)


def _pairs(candidate: str, reference: str) -> Overlap:
    words = rouge_words if is_legible(candidate) and is_legible(reference) else terms
    return sequence_overlap(words(candidate), words(reference), 2)


# ---------------------------------------------------------------- corroboration of a claim


def _pair_precision(claim: str, others: Texts) -> float:
    """ROUGE-2 precision by the best single claim or all together; token F1 under two words."""
    measure = _precision if len(_words(claim)) >= 2 else token_f1
    return max(measure(claim, text) for text in (" ".join(others), *others))


def _precision(claim: str, text: str) -> float:
    return _pairs(claim, text).precision


def _word_overlap(claim: str, others: Texts) -> float:
    return token_f1(claim, " ".join(others))


def _entity_match(claim: str, others: Texts) -> float:
    return float(entity(claim) in {entity(other) for other in others})


# How far other claims corroborate one, in 0..1.
CORROBORATION: Mapping[Style, Corroboration] = {
    "long": _pair_precision,
    "report": _pair_precision,
    "short": _word_overlap,
    "list": _entity_match,
}
