"""`check`: compares the claims of a text from elsewhere with sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from toulmin.data import Answer, Claim, Passage, Place, Round, Support
from toulmin.methods.disputes import note_disputes
from toulmin.methods.evidence import TextCheck, distinct
from toulmin.methods.reporting import conclude, ids
from toulmin.parsing.citing import Draft, read_draft, with_citations_in_words
from toulmin.parsing.marks import content_of, find_written_marks
from toulmin.parsing.replying import is_remark
from toulmin.steps import Program
from toulmin.text.language import line_starts
from toulmin.verify import CITATION_RULE, SOURCE_RULE, find_elsewhere, smallest_support, verify, weigh


class ClaimTargets(NamedTuple):
    """The passages of documents that a claim of a kept document cites or links to.

    `missing` describes a citation without a target. `is_skipped`: a comment excludes the claim.
    """

    cited: tuple[Passage, ...] | None = None
    linked: tuple[Passage, ...] = ()
    missing: str = ""
    is_skipped: bool = False


def check(
    text: str,
    *,
    passages: tuple[Passage, ...] = (),
    k: int = 5,
    path: str = "",
    draft: Draft | None = None,
    pointed: Sequence[ClaimTargets] = (),
) -> Program[Answer]:
    """Judges every claim of a text, by its citations or else by the hits of a search.

    `[n]` in the text is the n-th of `passages`; a claim with another number fails. Without `passages`, labels are only
    counted as invalid. For a failing claim a search names passages that support it; the label stays. Talk ("Here is a
    summary:") gets no verdict. The text, read from `path`, and copies of it are no evidence.

    For a kept document, `draft` has the claims and `pointed` their targets.
    """
    if draft is None:
        draft = draft_of(text, passages)
    pointed = pointed or [ClaimTargets()] * len(draft.claims)
    talk = [is_remark(claim.text, cites=bool(claim.citations)) for claim in draft.claims]
    silent = [is_talk or each.is_skipped for is_talk, each in zip(talk, pointed, strict=True)]
    claims = yield from weigh(_judge_cited(draft.claims, passages, silent))
    if passages:
        marks = zip(claims, draft.strays, strict=True)
        claims = [_fail(claim, strays, len(passages)) if strays else claim for claim, strays in marks]
    claims = yield from weigh(_judge_pointed(claims, pointed, silent))
    open_ = [n for n, claim in enumerate(claims) if not silent[n] and not claim.is_supported]
    queries = [content_of(claims[n].text) for n in open_]
    linked = {query: pointed[n].linked for n, query in zip(open_, queries, strict=True)}
    sources = yield from TextCheck(text, draft.claims, path).search(queries, k, linked)
    sets = [(claims[n], group) for n, group in zip(open_, sources.passages, strict=True)]
    attributed = dict(zip(open_, (yield from weigh(_attribute(sets))), strict=True))
    cited = [passage for each in pointed for passage in each.cited or ()]
    pool = distinct((*passages, *cited, *(passage for group in sources.passages for passage in group)))
    searches = zip(open_, queries, sources.passages, strict=True)
    rounds = tuple(Round("search", n + 1, read=ids(group), queries=(query,)) for n, query, group in searches)
    answer = Answer("", "long", "check", "abstained", passages=pool, invalid_citations=draft.invalid)
    answer = replace(answer, rounds=rounds, notes=sources.notes)
    answer = conclude(answer, [attributed.get(n, claim) for n, claim in enumerate(claims)], "keep")
    return (yield from note_disputes(answer))


def hits_of(answer: Answer) -> dict[int, tuple[str, ...]]:
    """The passages that a search found for a claim of a check, by the claim's place."""
    return {entry.n - 1: entry.read for entry in answer.rounds if entry.kind == "search"}


def draft_of(text: str, passages: Sequence[Passage] = ()) -> Draft:
    """The claims of a text with their places; `[n]` and "the second passage" cite the n-th passage."""
    draft = with_citations_in_words(read_draft(text, passages, "long", find=find_written_marks), passages)
    lines, pairs = line_starts(text), zip(draft.claims, draft.spans, strict=True)
    return replace(draft, claims=tuple(replace(claim, place=Place.between(lines, *span)) for claim, span in pairs))


def _judge_cited(claims: Sequence[Claim], passages: Sequence[Passage], silent: Sequence[bool]) -> Program[list[Claim]]:
    given = {passage.id: passage for passage in passages}
    cited = [n for n, claim in enumerate(claims) if claim.citations and not silent[n]]
    judged = dict(zip(cited, (yield from verify([claims[n] for n in cited], given, "", "long")), strict=True))
    return [judged.get(n, claim) for n, claim in enumerate(claims)]


def _fail(claim: Claim, strays: Sequence[int], offered: int) -> Claim:
    marks = "".join(f"[{n}]" for n in strays)
    given = "1 passage was given" if offered == 1 else f"{offered} passages were given"
    return _unsupported(claim, f"cites {marks}, and {given}")


def _unsupported(claim: Claim, reason: str) -> Claim:
    return replace(claim, support=Support("unsupported", 0.0, CITATION_RULE, (), reason))


def _judge_pointed(
    claims: Sequence[Claim], pointed: Sequence[ClaimTargets], silent: Sequence[bool]
) -> Program[list[Claim]]:
    wanted = [n for n, each in enumerate(pointed) if each.cited and not each.missing and not silent[n]]
    sets = [(claims[n], pointed[n].cited or ()) for n in wanted]
    judged = dict(zip(wanted, (yield from smallest_support(sets, is_sparing=True)), strict=True))
    silence = Support("unsupported", 0.0, SOURCE_RULE, (), "what it cites does not speak of it")
    mute = [n for n, each in enumerate(pointed) if each.cited == () and not silent[n]]
    judged |= {n: replace(claims[n], support=silence) for n in mute}
    missing = {n: each.missing for n, each in enumerate(pointed) if each.missing and not silent[n]}
    judged |= {n: _unsupported(claims[n], reason) for n, reason in missing.items()}
    return [judged.get(n, claim) for n, claim in enumerate(claims)]


def _attribute(sets: Sequence[tuple[Claim, Sequence[Passage]]]) -> Program[list[Claim]]:
    """Failing claims keep their label."""
    failing = iter((yield from find_elsewhere([each for each in sets if each[0].fails])))
    open_ = [each for each in sets if not each[0].fails]
    attributed = iter((yield from smallest_support(open_, is_sparing=True, is_found=True)))
    return [next(failing if claim.fails else attributed) for claim, _ in sets]
