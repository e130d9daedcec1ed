"""How often training sees a pair of each kind. The one place for it.

What people wrote must outweigh what was made, which is never more than a third: what learns mostly from small edits of
copied sentences learns to distrust every overlap. Within a family a source counts by the root of its size, times its
own factor; `EDITS` are drawn more often within theirs.
"""

from __future__ import annotations

from collections.abc import Mapping

SHARES = {"natural": 0.3, "inference": 0.42, "corruption": 0.12, "paraphrase": 0.06, "qa": 0.07, "removed": 0.03}
FACTORS = {
    "HaluEval/qa (unfiltered)": 0.3,  # wrong answers that a model made and nobody checked
    "BEGIN/topicalchat": 0.5,  # talk, where overlap alone tells nearly everything
    "BEGIN/cmu_dog": 0.5,
    "BEGIN/wow": 0.5,
    "WiCE/claim": 2.0,  # few, and nearest to what the judge is for
    "AttributionBench/ExpertQA": 2.0,
    "AttributionBench/Stanford-GenSearch": 2.0,
    "nli_mnli_dev": 2.0,  # of all kinds of text
    "nli_role_qasrl": 2.5,  # roles, denials and evidence that is partly there, as people told them
    "nli_negation_scone": 1.5,
    "nli_sufficient": 2.5,
    "nli_feverous": 1.5,
    "nli_fragments": 0.4,  # templates
    "nli_veridicality": 0.4,
    "nli_monotonicity_help": 0.5,
    "nli_role_synaug": 0.6,
    "nli_paraphrase_parabank2": 0.5,
    "nli_snli_dev": 0.6,  # of pictures
    "nli_counterfactual": 0.7,
}

# Few texts give one, and nothing else teaches them.
EDITS = {"role_swap": 8.0, "cast_swap": 8.0, "exchange": 4.0, "roles": 6.0, "told": 3.0, "denied": 2.0, "added": 2.0}
EDITS |= {"date_form": 3.0, "date_rounded": 2.0}
EDITS |= {"renamed": 1.0, "bound": 0.2}  # many, made up


def weights(counts: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], float]:
    """How often one pair of each (family, source) is drawn, where 1 is as often as if all were drawn alike.

    `counts` are pairs of each. Families that are missing leave their share to the others. The weighted mean is 1.
    """
    held = {key: count for key, count in counts.items() if count}
    total = sum(held.values())
    families = {family for family, _ in held}
    whole = sum(SHARES[family] for family in families)
    pull = {(family, source): count**0.5 * FACTORS.get(source, 1.0) for (family, source), count in held.items()}
    drawn = {family: sum(value for (own, _), value in pull.items() if own == family) for family in families}
    return {key: SHARES[key[0]] / whole * pull[key] / drawn[key[0]] * total / held[key] for key in held}
