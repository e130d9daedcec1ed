"""`check`: compares the claims of a text from elsewhere with sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from toulmin.data import Answer, Claim, Passage, Round
from toulmin.methods.reporting import conclude, ids
from toulmin.parsing.citing import read_draft, with_citations_in_words
from toulmin.parsing.marks import bracket_names, content_of
from toulmin.parsing.replying import is_remark
from toulmin.steps import Program, search, together
from toulmin.verify import find_elsewhere, smallest_support, verify


def check(text: str, *, passages: tuple[Passage, ...] = (), k: int = 5) -> Program[Answer]:
    """Judges every claim of a text: cited ones by what they cite, the others by what a search finds.

    `[n]` in the text is the n-th of `passages`; a label that none of them has counts as invalid. For a claim that its
    citations do not support a search finds passages that do: they are named, and the label stays. Talk ("Here is a
    summary:") is a claim without a verdict.
    """
    draft = with_citations_in_words(read_draft(bracket_names(text), passages, "long"), passages)
    given = {passage.id: passage for passage in passages}
    checked = yield from together([_check_claim(claim, given, k) for claim in draft.claims])
    pool = given | {p.id: p for each in checked for p in each.read or ()}
    rounds = tuple(
        Round("search", n, read=ids(each.read), queries=(content_of(each.claim.text),))
        for n, each in enumerate(checked, start=1)
        if each.read is not None
    )
    answer = Answer("", "long", "check", "abstained", passages=tuple(pool.values()), invalid_citations=draft.invalid)
    return conclude(replace(answer, rounds=rounds), [each.claim for each in checked], "keep")


class _Checked(NamedTuple):
    """A claim with its verdict, and what a search for it found (None: not searched)."""

    claim: Claim
    read: tuple[Passage, ...] | None = None


def _check_claim(claim: Claim, given: Mapping[str, Passage], k: int) -> Program[_Checked]:
    if is_remark(claim.text, cites=bool(claim.citations)):
        return _Checked(claim)
    (judged,) = (yield from verify([claim], given, "", "long")) if claim.citations else (claim,)
    if judged.is_supported:
        return _Checked(judged)
    hits = yield from search(content_of(claim.text), k)
    read = tuple(hit.passage for hit in hits)
    (judged,) = yield from (find_elsewhere if claim.citations else smallest_support)([(judged, read)])
    return _Checked(judged, read)
