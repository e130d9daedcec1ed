"""Fit how a judge notices that the sources state a claim of another name or figure, on train splits.

    python training/fit_bindings.py

True claims are those of the natural sets, at most `--most` of each, evenly spread. False ones are the same with a name,
or with a figure, replaced by another of the evidence. `rivals` in `toulmin/judges/copies.py` measures how well another
fits; figures and names have a logistic regression each, of all rivals in true claims against that rival in each false
claim which is most above the claim's own. A level is what only a share `COSTS` of the true claims have a rival above.

What it prints goes into `_WEIGHTS` and `_LEAST` of `toulmin/judges/copies.py`. The shares are of the claims fitted on.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from judge_claims import rename, spread
from judge_natural import records
from judge_sets import NATURAL

from toulmin.data import Passage
from toulmin.judges.copies import exchanged_names, mentions, rivals
from toulmin.judges.coverage import Source, implications, read
from toulmin.steps import Pair
from toulmin.text.names import Fact, facts

SEED = 11
MOST = 400
COSTS = {"figures": 0.0025, "names": 0.005}  # of the true claims, which a level keeps from support

Floats = NDArray[np.float64]


def revalue(claim: str, evidence: Sequence[Passage], chance: random.Random) -> str | None:
    """The claim with one of its figures replaced by another of the evidence; None where no other has its shape."""
    others = [(passage.text[fact.start : fact.end], fact) for passage in evidence for fact in _figures(passage.text)]
    exchanges = [
        (mine, text)
        for mine, (text, other) in product(_figures(claim), others)
        if mine.kind == other.kind and _shape(text) == _shape(claim[mine.start : mine.end]) and not _agree(mine, other)
    ]
    if not exchanges:
        return None
    mine, text = chance.choice(exchanges)
    return claim[: mine.start] + text + claim[mine.end :]


def _figures(text: str) -> list[Fact]:
    return [fact for fact in facts(text) if fact.kind != "name"]


def _shape(figure: str) -> str:
    return re.sub(r"\d", "9", re.sub(r"[A-Za-z]+", "a", figure))


def _agree(a: Fact, b: Fact) -> bool:
    return a.value in implications(b.value) or b.value in implications(a.value)


Rows = list[tuple[float, ...]]


class RivalMeasures(NamedTuple):
    """The measures of all rivals of a claim's figures and of its names, and whether two of either are exchanged."""

    figures: Rows
    names: Rows
    is_exchanged: bool


def measure(pair: Pair) -> RivalMeasures:
    sentences = read(pair.claim).sentences
    sources = tuple(Source(read(passage.text), read(passage.title)) for passage in pair.premises)
    rows: tuple[Rows, Rows] = ([], [])
    for mention in (mention for sentence in sentences for mention in mentions(sentence)):
        rows[mention.is_name].extend(row for row, _ in rivals(mention, sources))
    return RivalMeasures(*rows, any(exchanged_names(sentence, sources) for sentence in sentences))


def weigh(true: Sequence[Rows], false: Sequence[Rows]) -> Floats:
    """The weights that tell the likeliest rival in each false claim from all rivals in true ones."""
    plain = [row for rows in true for row in rows]
    likeliest = [max(rows, key=lambda row: row[0] - row[1]) for rows in false if rows]
    truth = [0] * len(plain) + [1] * len(likeliest)
    weights: Floats = LogisticRegression(max_iter=3000).fit(np.array(plain + likeliest), truth).coef_[0]
    return weights.round(2)


def scores(claims: Sequence[Rows], weights: Floats) -> Floats:
    """Of the best rival in each claim; below all where it has none."""
    return np.array([max((float(np.dot(weights, row)) for row in rows), default=-np.inf) for rows in claims])


def draw(most: int) -> tuple[list[RivalMeasures], dict[str, list[Rows]]]:
    """The true claims, and those with another figure and with another name."""
    chance, true = random.Random(SEED), list[RivalMeasures]()
    false: dict[str, list[Rows]] = {kind: [] for kind in COSTS}
    for name in sorted(NATURAL):
        for record in spread([record for record in records(name, ["train"]) if record.supported], most):
            true.append(measure(record.pair))
            for kind, replace in (("names", rename), ("figures", revalue)):
                claim = replace(record.pair.claim, record.pair.premises, chance)
                if claim is not None:
                    false[kind].append(getattr(measure(record.with_claim(claim).pair), kind))
    return true, false


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=MOST, metavar="N", help="true claims of a set")
    true, false = draw(parser.parse_args(words).most)
    lost = np.array([claim.is_exchanged for claim in true])
    print(f"{len(true)} true claims; two exchanged: {lost.mean():.2%}")
    for kind, cost in COSTS.items():
        rows = [getattr(claim, kind) for claim in true]
        weights = weigh(rows, false[kind])
        best = scores(rows, weights)
        level = round(float(np.sort(best)[::-1][int(len(best) * cost)]), 2)
        share = (scores(false[kind], weights) > level).mean()
        print(
            f"{kind}: {tuple(map(float, weights))}, level {level} of {cost:.2%} of the true claims;"
            f" {share:.1%} of {len(false[kind])} false ones are above it"
        )
        lost |= best > level
    print(f"all: {lost.mean():.2%} of the true claims")


if __name__ == "__main__":
    main()
