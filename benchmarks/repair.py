"""`check` and `check --repair` on real model answers whose wrong sentences people marked (`qa_feedback`).

    python benchmarks/repair.py [--split dev] [--answers N] [--shown 5]
    python benchmarks/repair.py --labels factscore [--judge SPEC] [--limit PERSONS]     see `repair_labels.py`

Each answer (the first prediction, to which people's marks belong) is held against the passages that came with its
question; its sentences cite nothing, so each is judged against what a search among those passages finds, all of them.
People marked spans by kind: `Wrong-Grounding` and `Unverifiable` are about support, which is what a judge can see; the
others (`Irrelevant`, `Redundant`, `Incoherent`) are not, and are shown to say so. A sentence is marked if a span shares
three letters or more with it. Flagged is what is not labelled supported; "refuted" leaves out the label unsure. Repair
rewrites with the embedded writer. Intervals are of the mean over answers drawn anew. Nothing is fitted here; `--split
train` is for looking at the answers.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from data import rows
from repair_labels import FATES, measure, run_program

from toulmin.build import parts
from toulmin.config import Settings
from toulmin.data import HOLDING, Answer, Claim, Passage
from toulmin.driver.kit import Kit
from toulmin.extractive.writer import Extractive
from toulmin.judges.lexical import Lexical
from toulmin.judges.verdict_cache import CachedJudge
from toulmin.methods.check import check, draft_of
from toulmin.methods.placing import places
from toulmin.methods.repair import repair
from toulmin.retrieval.bm25 import InMemory

ABOUT_SUPPORT = frozenset({"Wrong-Grounding", "Unverifiable"})
SHARED = 3  # letters of a span in a sentence that make it a marked one
DRAWS = 2_000


@dataclass(frozen=True)
class Sentence:
    """One sentence of an answer: the kinds of error that people marked in it, its label, and what repair made of it."""

    text: str
    kinds: frozenset[str]
    label: str
    fate: str

    @property
    def is_marked(self) -> bool:
        """Whether people marked something in it that the sources do not support."""
        return bool(self.kinds & ABOUT_SUPPORT)

    @property
    def is_flagged(self) -> bool:
        """Whether the judge did not find it supported."""
        return self.label not in HOLDING

    @property
    def is_refuted(self) -> bool:
        """Whether the judge found it unsupported or contradicted."""
        return self.label in ("unsupported", "contradicted")


@dataclass(frozen=True)
class Case:
    """An answer's sentences as it was, and the claims of what repair made of it."""

    sentences: tuple[Sentence, ...]
    repaired: tuple[Claim, ...]


def case(row: dict[str, Any]) -> Case:
    text = row["predictions"][0]
    passages = tuple(Passage.of(" ".join(p["sentences"]), p["title"]) for p in row["passages"])
    k = len(passages)
    kit = Kit(InMemory(passages), Lexical(), {"main": Extractive()})
    checked = run_program(kit, lambda: check(text, k=k))
    mended = run_program(kit, lambda: repair(text, k=k, question=row["question"]))
    fates = dict(_fates(mended))
    where = places(text, draft_of(text).spans, 0)
    sentences = []
    for n, (claim, place) in enumerate(zip(checked.claims, where, strict=True), start=1):
        label = claim.support.label if claim.support else "not checked"
        sentences.append(Sentence(claim.text, _kinds(row, text, place.start, place.end), label, fates.get(n, "stays")))
    return Case(tuple(sentences), mended.claims)


def _kinds(row: dict[str, Any], text: str, start: int, end: int) -> frozenset[str]:
    """The kinds of error that people marked between these offsets."""
    spans = [(e["error type"], max(start, e["start"]), min(end, e["end"])) for e in row["errors_in_prediction_1"]]
    return frozenset(kind for kind, first, last in spans if sum(map(str.isalpha, text[first:last])) >= SHARED)


def _fates(mended: Answer) -> Iterator[tuple[int, str]]:
    for entry in mended.rounds:
        if entry.kind == "repair" and entry.text is None and entry.chosen:
            yield entry.n, next(fate for fate in FATES if entry.dropped[0].why.startswith(fate))


# ---------------------------------------------------------------- figures


@dataclass(frozen=True)
class Share:
    """A share of sentences, 0 to 100, with the 95 % interval over answers drawn anew."""

    value: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.value:5.1f} [{self.low:4.1f}, {self.high:5.1f}]"


def share(cases: Sequence[Case], counted: Any, among: Any) -> Share:
    """The share of the sentences `among` for which `counted` holds."""
    whole = np.array([sum(map(among, case.sentences)) for case in cases], float)
    part = np.array(
        [sum(among(sentence) and counted(sentence) for sentence in case.sentences) for case in cases], float
    )
    drawn = np.random.default_rng(0).integers(0, len(cases), (DRAWS, len(cases)))
    totals = whole[drawn].sum(1)
    shares = 100 * part[drawn].sum(1)[totals > 0] / totals[totals > 0]
    value = 100 * part.sum() / whole.sum() if whole.sum() else float("nan")
    low, high = np.percentile(shares, (2.5, 97.5)) if len(shares) else (float("nan"), float("nan"))
    return Share(float(value), float(low), float(high), int(whole.sum()))


GROUPS = {
    "marked: not supported": lambda s: s.is_marked,
    "  of these Wrong-Grounding": lambda s: "Wrong-Grounding" in s.kinds,
    "  of these Unverifiable": lambda s: "Unverifiable" in s.kinds,
    "not so marked": lambda s: not s.is_marked,
    "  of these marked otherwise": lambda s: not s.is_marked and bool(s.kinds),
    "  of these without any mark": lambda s: not s.kinds,
}


def report(cases: Sequence[Case]) -> None:
    print(f"{'sentences':30}{'n':>6}  {'flagged':>21}  {'refuted':>21}  {'stays':>7}", end="")
    print("".join(f"{fate:>12}" for fate in FATES[1:]))
    for name, among in GROUPS.items():
        flagged = share(cases, lambda s: s.is_flagged, among)
        refuted = share(cases, lambda s: s.is_refuted, among)
        fates = [share(cases, lambda s, fate=fate: s.fate == fate, among).value for fate in FATES]
        print(f"{name:30}{flagged.n:6}  {flagged!s:>21}  {refuted!s:>21}  {fates[0]:7.1f}", end="")
        print("".join(f"{fate:12.1f}" for fate in fates[1:]))
    left = [claim for case in cases for claim in case.repaired]
    before = [sentence for case in cases for sentence in case.sentences]
    print(f"supported before {sum(not s.is_flagged for s in before)} of {len(before)} sentences;", end=" ")
    print(f"after repair {sum(claim.is_supported for claim in left)} of {len(left)}")
    print(f"answers of which nothing is left: {sum(not case.repaired for case in cases)} of {len(cases)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", default="dev", choices=("dev", "train"))
    parser.add_argument("--answers", type=int, default=None)
    parser.add_argument("--shown", type=int, default=0, help="wrong sentences that were not noticed, to look at")
    parser.add_argument("--labels", choices=("factscore",), help="claims that people judged, instead of answers")
    parser.add_argument(
        "--judge", default="lexical", metavar="SPEC", help="with --labels: as `toulmin --judge` names it"
    )
    parser.add_argument("--cache", type=Path, help="with --labels: a file of verdicts, so that a judge decides once")
    parser.add_argument("--limit", type=int, default=None, help="with --labels: persons")
    parser.add_argument("--no-rewriting", action="store_true", help="with --labels: new citations only")
    options = parser.parse_args()
    if options.labels:
        judge = parts.judge(options.judge, Settings())
        judge = CachedJudge(judge, options.cache) if options.cache else judge
        measure(options.split, judge, options.limit, not options.no_rewriting, options.shown)
        return
    cases = [case(row) for row in list(rows("qa_feedback", options.split))[: options.answers] if row["passages"]]
    print(f"qa_feedback {options.split}, {len(cases)} answers, judge {Lexical().name}, writer {Extractive().name}")
    report(cases)
    missed = [
        sentence for case in cases for sentence in case.sentences if sentence.is_marked and not sentence.is_flagged
    ]
    for sentence in missed[: options.shown]:
        print(f"not flagged ({', '.join(sorted(sentence.kinds))}): {sentence.text}")


if __name__ == "__main__":
    main()
