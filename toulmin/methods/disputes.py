"""Supported claims that another passage contradicts, of those that were read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from toulmin.data import Answer, Claim, Passage
from toulmin.errors import BudgetEnded
from toulmin.parsing.marks import content_of
from toulmin.steps import Pair, Program, Verdict, entail
from toulmin.text.language import STOPWORDS, sentences, terms
from toulmin.text.overlap import has_most_of
from toulmin.text.wording import codes, unmentioned
from toulmin.verify import document_of, weigh

# The share of a claim's words, and how many, in a passage that may speak of the same; how many such are judged, of
# which first passages of an answer; the least chance that one contradicts; words with which like sentences begin.
_SHARED, _LEAST, _MOST, _FIRST, _SURE, _ALIKE = 0.55, 4, 3, 8, 0.69, 3
_NUMBERED = re.compile(r"\b[A-Z][\w-]+ (?:\d{1,3}|[A-HJ-Z])\b(?![.,]?\d)")  # "Room 12"
_LEANS = re.compile(r"\W|(?:its?|s?he|his|her|they|their|this|that|these|those|there|in|on|if|for)\b", re.IGNORECASE)


def note_disputes(answer: Answer) -> Program[Answer]:
    """Labels supported claims `disputed` that a passage which they do not cite contradicts, and says which is newer."""
    rivals = [
        (n, passage)
        for n, claim in enumerate(answer.claims)
        if claim.is_supported and answer.style in ("long", "report") and not _LEANS.match(claim.text)
        for passage in _rivals(claim, answer)
    ]
    try:
        verdicts = yield from weigh(entail([Pair((each,), content_of(answer.claims[n].text)) for n, each in rivals]))
    except BudgetEnded:  # the answer is whole without the comparison
        return answer
    claims = list(answer.claims)
    for (n, passage), verdict in zip(rivals, verdicts, strict=True):
        if verdict.contradiction >= _SURE and claims[n].is_supported:
            claims[n] = _disputed(claims[n], passage, verdict, [answer.passage(id) for id in claims[n].cited])
    return replace(answer, claims=tuple(claims))


def _rivals(claim: Claim, answer: Answer) -> list[Passage]:
    """Passages that speak of all that the claim and the question name."""
    wanted, cited = {*terms(claim.text)} - STOPWORDS, [answer.passage(id) for id in claim.cited]
    return [
        passage
        for passage in answer.passages[: _FIRST if answer.question else None]
        if passage.id not in claim.cited and claim.text not in passage.text
        if has_most_of(text := f"{passage.title} {passage.text}", wanted, _SHARED, _LEAST)
        if any(_are_of_one_thing(claim.text, passage, each) for each in cited)
        if not any(unmentioned(each, (text,)) for each in (claim.text, answer.question))
        if all(each in text for each in _NUMBERED.findall(claim.text))
    ][:_MOST]


def _are_of_one_thing(claim: str, a: Passage, b: Passage) -> bool:
    """As one sentence may be true of many things: editions, whose titles differ in numbers alone; other documents, if
    the claim has a name; like titles, and sentences that begin alike.
    """
    mine, other = (codes(f"{each.title} {each.text}") for each in (a, b))
    ours, theirs = ([word for word in terms(each.title) if not word.isdecimal()] for each in (a, b))
    may_differ = document_of(a) != document_of(b) and (ours == theirs or bool(unmentioned(claim, ())))
    starts = [a.text[start:end].lower().split()[:_ALIKE] for start, end in sentences(a.text)]
    are_apart = bool(mine and other) and mine.isdisjoint(other)  # two invoices
    begin_alike = not {*ours}.isdisjoint(theirs) and claim.lower().split()[:_ALIKE] in starts
    return not are_apart and (may_differ or begin_alike)


def _disputed(claim: Claim, passage: Passage, verdict: Verdict, cited: Sequence[Passage]) -> Claim:
    about = [[each.source.metadata for each in passages] for passages in (cited, [passage])]
    ours, theirs = (max((m.date for m in group if not m.is_file_date), default="") for group in about)
    age = f" ({theirs}, {'newer' if theirs > ours else 'older'})" if ours and theirs and ours != theirs else ""
    said = next((f"says “{quote.text}”" for quote in verdict.quotes if quote), "says otherwise")
    reason = f"{f'“{passage.title}”' if passage.title else 'another passage'}{age} {said}"
    support, read = claim.support, (*(claim.support.evidence if claim.support else ()), passage.id)
    return replace(claim, support=support and replace(support, label="disputed", evidence=read, reason=reason))
