"""How many lessons of each source are drawn. The one place for it.

Within a family a source counts by the root of its size, times its own factor.
"""

from __future__ import annotations

from collections.abc import Mapping

SHARES = {"natural": 0.36, "inference": 0.3, "block": 0.28, "written": 0.18, "asked": 0.18, "grouped": 0.5}
ROUNDS = {
    "natural": 5,
    "inference": 3,
    "block": 3,
    "written": 4,
    "asked": 4,
    "grouped": 4,
}  # that one record is drawn at most
FACTORS = {
    "attr_halueval_qa": 0.3,  # wrong answers that a model made and nobody checked
    "attr_begin_dev": 0.7,  # talk, where overlap alone tells nearly everything
    "attr_wice_dev": 2.0,  # few, and nearest to what the judge is for
    "attr_attributionbench_dev": 2.0,
    "attr_contractnli": 0.5,  # eleven different claims
    "attr_defacto": 1.5,  # one wrong detail, and the same corrected
    "nli_mnli_dev": 2.0,  # of all kinds of text
    "nli_role_qasrl": 1.5,
    "nli_negation_scone": 1.0,
    "nli_sufficient": 2.5,
    "nli_fib": 1.5,
    "nli_drop": 1.5,
    "nli_conj": 0.5,  # these three teach overlap
    "nli_entailmentbank": 0.7,
    "nli_feverous": 1.0,
    "nli_fragments": 0.4,  # templates
    "nli_veridicality": 0.4,
    "nli_monotonicity_help": 0.4,
    "nli_role_synaug": 0.5,
    "nli_paraphrase_parabank2": 0.5,
    "nli_snli_dev": 0.6,  # of pictures
    "nli_counterfactual": 0.8,
    "qa_faq_docs": 2.0,  # technical prose, as folders hold it
    "qa_howto_sections": 2.5,
    "qa_qasper": 1.5,
    "qa_medquad": 0.7,  # templates
    "qa_fairytaleqa": 0.5,
    "questions/pages": 8.0,  # one source for pages of every kind, as the next ones are
    "groups/frames": 4.0,
    "groups/values": 4.0,
    "groups/disputes": 4.0,
    "groups/references": 4.0,
    "groups/answers": 4.0,
}


def quotas(
    counts: Mapping[tuple[str, str], int], total: int, of: Mapping[str, float] = SHARES
) -> dict[tuple[str, str], int]:
    """How many lessons of each (family, source) are drawn, about `total` together.

    `counts` are lessons of each, `of` the shares of the families. Families that are missing leave their share to
    the others; a small source leaves what it cannot fill.
    """
    counts = {key: count for key, count in counts.items() if count}
    whole = sum(of[family] for family in {family for family, _ in counts})
    pull = {(family, source): count**0.5 * FACTORS.get(source, 1.0) for (family, source), count in counts.items()}
    open_, quota, left = set(counts), dict[tuple[str, str], int](), float(total)
    while open_:
        shares = {key: of[key[0]] / whole * pull[key] / _pull(pull, key[0]) for key in open_}
        scale = left / sum(shares.values())
        full = {key for key in open_ if shares[key] * scale > ROUNDS[key[0]] * counts[key]}
        quota |= {key: ROUNDS[key[0]] * counts[key] for key in full}
        quota |= {} if full else {key: round(shares[key] * scale) for key in open_}
        left -= sum(quota[key] for key in full)
        open_ -= full or open_
    return {key: quota[key] for key in counts}


def _pull(pull: Mapping[tuple[str, str], float], family: str) -> float:
    return sum(value for (kind, _), value in pull.items() if kind == family)
