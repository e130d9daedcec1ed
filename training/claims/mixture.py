"""How often training sees a pair of each kind. The one place for it.

Natural claims must outweigh the edited ones: what learns mostly from small edits of copied sentences learns to distrust
every overlap. Within a family a source counts by the root of its size, times its own
factor; `EDITS` are drawn more often within theirs.
"""

from __future__ import annotations

from collections.abc import Mapping

SHARES = {"natural": 0.45, "corruption": 0.22, "paraphrase": 0.15, "qa": 0.12, "removed": 0.06}
FACTORS = {
    "HaluEval/qa (unfiltered)": 0.3,  # wrong answers that a model made and nobody checked
    "BEGIN/topicalchat": 0.5,  # talk, where overlap alone tells nearly everything
    "BEGIN/cmu_dog": 0.5,
    "BEGIN/wow": 0.5,
    "WiCE/claim": 2.0,  # few, and nearest to what the judge is for
    "AttributionBench/ExpertQA": 2.0,
    "AttributionBench/Stanford-GenSearch": 2.0,
}

# Few texts give one, and nothing else teaches them.
EDITS = {"role_swap": 6.0, "cast_swap": 8.0, "exchange": 4.0, "roles": 4.0, "told": 2.0, "denied": 2.0, "added": 2.0}
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
