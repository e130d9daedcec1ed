"""Supported claims that another passage contradicts, of those that were read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toulmin.data import Answer, Claim, Passage
from toulmin.parsing.marks import content_of
from toulmin.steps import Pair, Program, Verdict, entail
from toulmin.text.language import STOPWORDS, terms
from toulmin.text.overlap import has_most_of
from toulmin.verify import weigh

# The share of a claim's words in a passage that may speak of the same; how many such passages are judged.
_SHARED, _MOST = 0.6, 3


def note_disputes(answer: Answer) -> Program[Answer]:
    """Labels supported claims `disputed` that a passage which they do not cite contradicts, and says which is newer."""
    rivals = [
        (n, passage)
        for n, claim in enumerate(answer.claims)
        if claim.is_supported and answer.style in ("long", "report")
        for passage in _rivals(claim, answer.passages)
    ]
    pairs = [Pair((passage,), content_of(answer.claims[n].text)) for n, passage in rivals]
    verdicts = yield from weigh(entail(pairs))
    claims = list(answer.claims)
    for (n, passage), verdict in zip(rivals, verdicts, strict=True):
        if verdict.label == "contradicted" and claims[n].is_supported:
            claims[n] = _disputed(claims[n], passage, verdict, [answer.passage(id) for id in claims[n].cited])
    count = sum(new is not old for new, old in zip(claims, answer.claims, strict=True))
    note = f"Sources disagree on {count} sentence{'s' * (count > 1)}: see the evidence."
    return replace(answer, claims=tuple(claims), notes=(*answer.notes, *([note] if count else ())))


def _rivals(claim: Claim, passages: Sequence[Passage]) -> list[Passage]:
    wanted = {*terms(claim.text)} - STOPWORDS
    others = (passage for passage in passages if passage.id not in claim.cited and claim.text not in passage.text)
    near = [passage for passage in others if has_most_of(f"{passage.title} {passage.text}", wanted, _SHARED, 2)]
    return near[:_MOST]


def _disputed(claim: Claim, passage: Passage, verdict: Verdict, cited: Sequence[Passage]) -> Claim:
    ours, theirs = max((_date(each) for each in cited), default=""), _date(passage)
    age = f" ({theirs}, {'newer' if theirs > ours else 'older'})" if ours and theirs and ours != theirs else ""
    said = (verdict.reason or "it says otherwise").removeprefix("the source ")
    reason = f"{f'“{passage.title}”' if passage.title else 'another passage'}{age} {said}"
    support, read = claim.support, (*(claim.support.evidence if claim.support else ()), passage.id)
    return replace(claim, support=support and replace(support, label="disputed", evidence=read, reason=reason))


def _date(passage: Passage) -> str:
    about = passage.source.metadata
    return "" if about.is_file_date else about.date
