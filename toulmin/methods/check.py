"""`check`: compares the claims of a text from elsewhere with sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toulmin.data import Answer, Claim, Passage, Round
from toulmin.methods.reporting import conclude, ids, judge_or_attribute
from toulmin.parsing.citing import read_draft
from toulmin.steps import Program, search, together


def check(text: str, *, passages: tuple[Passage, ...] = (), k: int = 5) -> Program[Answer]:
    """Judges every claim of a text: cited ones by what they cite, the others by what a search finds.

    `[n]` in the text is the n-th of `passages`; a label that none of them has counts as invalid.
    """
    draft = read_draft(text, passages, "long")
    results = yield from together([_search_claim(claim, k) for claim in draft.claims])
    pool = {p.id: p for p in passages} | {p.id: p for hits in results for p in hits}
    claims = yield from judge_or_attribute(list(zip(draft.claims, results, strict=True)), pool.values())
    answer = Answer("", "long", "check", "abstained", passages=tuple(pool.values()), invalid_citations=draft.invalid)
    return conclude(replace(answer, rounds=_search_rounds(draft.claims, results)), claims, "keep")


def _search_claim(claim: Claim, k: int) -> Program[tuple[Passage, ...]]:
    if claim.citations:
        return ()
    hits = yield from search(claim.text, k)
    return tuple(hit.passage for hit in hits)


def _search_rounds(claims: Sequence[Claim], results: Sequence[Sequence[Passage]]) -> tuple[Round, ...]:
    return tuple(
        Round("search", n, read=ids(hits), queries=(claim.text,))
        for n, (claim, hits) in enumerate(zip(claims, results, strict=True), start=1)
        if not claim.citations
    )
