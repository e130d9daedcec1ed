"""`check`: compares the claims of a text from elsewhere with sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toulmin.data import Answer, Claim, Passage, Round, Support
from toulmin.methods.evidence import Checked
from toulmin.methods.reporting import conclude, ids, judge_or_attribute
from toulmin.parsing.citing import read_draft
from toulmin.steps import Program
from toulmin.verify import CITATION_RULE, weigh


def check(text: str, *, passages: tuple[Passage, ...] = (), k: int = 5, path: str = "") -> Program[Answer]:
    """Judges every claim of a text: cited ones by what they cite, the others by what a search finds.

    `[n]` in the text is the n-th of `passages`. A claim that cites another number fails, whatever else it cites; where
    none were given, labels are counted as invalid only. The text, read from `path`, and copies of it prove nothing.
    """
    draft = read_draft(text, passages, "long")
    uncited = [claim.text for claim in draft.claims if not claim.citations]
    sources = yield from Checked(text, draft.claims, path).search(uncited, k)
    rows = iter(sources.passages)
    results = [() if claim.citations else next(rows) for claim in draft.claims]
    pool = {p.id: p for p in passages} | {p.id: p for group in results for p in group}
    claims = yield from weigh(judge_or_attribute(list(zip(draft.claims, results, strict=True)), pool.values()))
    if passages:
        marks = zip(claims, draft.claims, draft.strays, strict=True)
        claims = [_fail(was, strays, len(passages)) if strays else claim for claim, was, strays in marks]
    answer = Answer("", "long", "check", "abstained", passages=tuple(pool.values()), invalid_citations=draft.invalid)
    answer = replace(answer, rounds=_search_rounds(draft.claims, results), notes=sources.notes)
    return conclude(answer, claims, "keep")


def _fail(claim: Claim, strays: Sequence[int], offered: int) -> Claim:
    """The claim as it came, unsupported because marks of it point nowhere."""
    marks = "".join(f"[{n}]" for n in strays)
    given = "1 passage was given" if offered == 1 else f"{offered} passages were given"
    return replace(claim, support=Support("unsupported", 0.0, CITATION_RULE, (), f"cites {marks}, and {given}"))


def _search_rounds(claims: Sequence[Claim], results: Sequence[Sequence[Passage]]) -> tuple[Round, ...]:
    return tuple(
        Round("search", n, read=ids(hits), queries=(claim.text,))
        for n, (claim, hits) in enumerate(zip(claims, results, strict=True), start=1)
        if not claim.citations
    )
