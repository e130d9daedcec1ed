"""Judges claims by passages and applies the policy. Requests cover all claims at once; a claim without citations is
unsupported without a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, repeat
from typing import NamedTuple, TypeVar

from toulmin.data import Citation, Claim, Omission, Passage, Policy, Quote, Style, Support
from toulmin.parsing.lines import blank_references, blank_rights, is_about_sources
from toulmin.parsing.marks import content_of
from toulmin.steps import ABSENT, Entail, Pair, Program, Step, Verdict, entail, intercept
from toulmin.text.language import STOPWORDS, rarity, terms
from toulmin.text.overlap import has_most_of
from toulmin.text.wording import has_facts, is_fragment, wording

CITATION_RULE = "citation rule"
SOURCE_RULE = "source rule"
NOT_FOUND = "no passage was found for it"

T = TypeVar("T")

# Pairs are formed among this many of the best single passages: ten pairs at most.
PAIRED = 5
# Of what a search found, so many are tried alone and so many are read together: as good over a folder of manuals as
# five alone, in half of the time.
ALONE, TOGETHER = 2, 3
_LEAST_WEIGHT = 0.5  # of a word, however common


def hypothesis(claim: Claim, passages: Mapping[str, Passage], question: str, style: Style) -> Pair:
    """A claim and its cited passages, in order; an entity or a short answer needs the question.

    Raises `KeyError` for a cited id that is not in `passages`.
    """
    return _pair(claim, [passages[id] for id in claim.cited], question, style)


def _pair(claim: Claim, premises: Sequence[Passage], question: str, style: Style) -> Pair:
    text = content_of(claim.text)
    is_bare = style == "long" and is_fragment(text) and not {*terms(text)} <= {*terms(question)}  # states nothing alone
    asked = question if question and (is_bare or style in ("list", "short")) else None
    return Pair(tuple(premises), claim.text if asked else text, asked)


def verify(
    claims: Sequence[Claim], passages: Mapping[str, Passage], question: str, style: Style
) -> Program[tuple[Claim, ...]]:
    """Adds verdicts and the decisive sentence of each cited passage, in one request."""
    citing = [claim for claim in claims if claim.citations]
    judged = iter((yield from entail([hypothesis(claim, passages, question, style) for claim in citing])))
    return tuple(
        _with_verdict(claim, [passages[id] for id in claim.cited], next(judged))
        if claim.citations
        else _without_citations(claim)
        for claim in claims
    )


def _with_verdict(claim: Claim, cited: Sequence[Passage], verdict: Verdict) -> Claim:
    quotes = list(verdict.quotes) + [None] * (len(cited) - len(verdict.quotes))
    citations = tuple(Citation(p.id, _valid_quote(q, p)) for p, q in zip(cited, quotes, strict=False))
    return replace(claim, citations=citations, support=_support(verdict, cited, _where(cited, "cited")))


def _valid_quote(quote: Quote | None, passage: Passage) -> Quote | None:
    """None for a misquote."""
    return quote if quote is not None and passage.text[quote.start : quote.end] == quote.text else None


def _where(passages: Sequence[Passage], role: str) -> str:
    return f"not in the passage {role}" if len(passages) == 1 else f"in none of the {len(passages)} passages {role}"


def _support(verdict: Verdict, evidence: Sequence[Passage], where: str) -> Support:
    reason = verdict.reason and verdict.reason.replace(ABSENT, where)
    return Support(
        verdict.label, min(1.0, max(0.0, verdict.support)), verdict.judge, tuple(p.id for p in evidence), reason
    )


def _without_citations(claim: Claim, reason: str = "cites no passage") -> Claim:
    return replace(claim, citations=(), support=Support("unsupported", 0.0, CITATION_RULE, (), reason))


# ---------------------------------------------------------------- simplification


def simplify(
    claims: Sequence[Claim], passages: Mapping[str, Passage], question: str, style: Style
) -> Program[tuple[Claim, ...]]:
    """Drops citations that a claim does not need, by VTG's rule.

    In order, a citation is dropped if the rest still entail the claim; the last one stays. At most one request a
    position for all claims. A shortened claim gets the verdict on the rest; a failing one keeps all citations.
    """
    known: dict[Pair, Verdict] = {}
    shortened: dict[int, Pair] = {}
    for position in range(max((len(claim.citations) for claim in claims), default=0)):
        trials = {}
        for n, claim in enumerate(claims):
            cited = [p.id for p in shortened[n].premises] if n in shortened else claim.cited
            if not claim.fails and position < len(claim.citations) and len(cited) > 1:
                rest = [passages[id] for id in cited if id != claim.cited[position]]
                trials[n] = _pair(claim, rest, question, style)
        yield from entail_new(known, trials.values())
        shortened |= {n: pair for n, pair in trials.items() if known[pair].entails}
    return tuple(
        _with_verdict(claim, shortened[n].premises, known[shortened[n]]) if n in shortened else claim
        for n, claim in enumerate(claims)
    )


def entail_new(known: dict[Pair, Verdict], pairs: Iterable[Pair]) -> Program[None]:
    """Adds the verdicts on pairs that are not in `known`."""
    new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
    known.update(zip(new, (yield from entail(new)), strict=True))


# ---------------------------------------------------------------- attribution


class _Trial(NamedTuple):
    premises: tuple[Passage, ...]
    verdict: Verdict


def smallest_support(
    candidate_sets: Sequence[tuple[Claim, Sequence[Passage]]],
    question: str = "",
    style: Style = "long",
    *,
    is_sparing: bool = False,
    is_found: bool = False,
) -> Program[tuple[Claim, ...]]:
    """Cites for each claim the smallest set of its candidate passages that supports it.

    Single passages come first; the best verdict wins, then the earlier passage. If none supports or contradicts, pairs
    of the `PAIRED` best are tried. At most two requests, with one pair a candidate plus ten a claim. An unsupported
    claim cites nothing and gets the strongest verdict with its evidence.

    `is_sparing` tries the passage with most of the claim's words first, the others only if it fails, and only pairs
    with all names, numbers and dates of the claim: at most three requests. `is_found` tries the best `ALONE` hits of
    a search, beside the first `TOGETHER`.
    """
    claims = [claim for claim, _ in candidate_sets]
    order = _by_words if is_sparing else _distinct
    most = ALONE if is_found else None
    alone = [[(p,) for p in order(*candidate_set)][:most] for candidate_set in candidate_sets]
    read = [tuple(_distinct(*candidate_set))[: TOGETHER if is_found else 0] for candidate_set in candidate_sets]
    firsts = yield from _try_sets(claims, [sets[:1] if is_sparing else sets for sets in alone], question, style, read)
    is_enough = [any(trial.verdict.entails for trial in trials) for trials in firsts]
    others = [sets[1:] if is_sparing and not enough else [] for enough, sets in zip(is_enough, alone, strict=True)]
    more = yield from _try_sets(claims, others, question, style, read)
    singles = [[*first, *rest] for first, rest in zip(firsts, more, strict=True)]
    joined = [_pairs_worth_trying(trials) for trials in singles]
    if is_sparing:
        joined = [[one for one in sets if _has_facts(one, claim)] for claim, sets in zip(claims, joined, strict=True)]
    pairs = yield from _try_sets(claims, joined, question, style)
    return tuple(_attribute(*tried) for tried in zip(claims, singles, pairs, strict=True))


def _try_sets(
    claims: Sequence[Claim],
    sets: Sequence[Sequence[tuple[Passage, ...]]],
    question: str,
    style: Style,
    read: Iterable[tuple[Passage, ...]] = repeat(()),
) -> Program[list[list[_Trial]]]:
    asked = [
        replace(_pair(claim, premises, question, style), read=found)
        for claim, claim_sets, found in zip(claims, sets, read, strict=False)
        for premises in claim_sets
    ]
    verdicts = iter((yield from entail(asked)))
    return [[_Trial(premises, next(verdicts)) for premises in claim_sets] for claim_sets in sets]


def _distinct(_: Claim, candidates: Sequence[Passage]) -> list[Passage]:
    return list(dict.fromkeys(candidates))


def _by_words(claim: Claim, candidates: Sequence[Passage]) -> list[Passage]:
    """The distinct candidates, the one with most of the claim's words first, the others in their order."""
    wanted = {term: _LEAST_WEIGHT + rarity(term) for term in terms(claim.text) if term not in STOPWORDS}
    distinct = list(dict.fromkeys(candidates))
    words = [wanted.keys() & (wording(p.title).terms | wording(p.text).terms) for p in distinct]
    shares = [sum(wanted[term] for term in sorted(shared)) for shared in words]
    first = max(range(len(distinct)), key=lambda n: (shares[n], -n), default=0)
    return [*distinct[first : first + 1], *distinct[:first], *distinct[first + 1 :]]


def _pairs_worth_trying(singles: Sequence[_Trial]) -> list[tuple[Passage, ...]]:
    if any(trial.verdict.entails or trial.verdict.label == "contradicted" for trial in singles):
        return []
    best = sorted(range(len(singles)), key=lambda i: (-singles[i].verdict.support, i))[:PAIRED]
    return [(*singles[i].premises, *singles[j].premises) for i, j in combinations(sorted(best), 2)]


def _has_facts(passages: Sequence[Passage], claim: Claim) -> bool:
    first, *others = (f"{passage.title}. {passage.text}" for passage in passages)
    return has_facts(first, content_of(claim.text), *others)


def _attribute(claim: Claim, singles: Sequence[_Trial], pairs: Sequence[_Trial]) -> Claim:
    if not singles:
        return _without_citations(claim, NOT_FOUND)
    supporting = [trial for trial in (*singles, *pairs) if trial.verdict.entails]
    if supporting:
        best = max(supporting, key=lambda trial: trial.verdict.support)
        return _with_verdict(claim, best.premises, best.verdict)
    against = [trial for trial in singles if trial.verdict.label == "contradicted"]
    if against:
        best = max(against, key=lambda trial: trial.verdict.contradiction)
    else:
        best = max((*singles, *pairs), key=lambda trial: trial.verdict.support)
    read = _distinct(claim, [passage for trial in singles for passage in trial.premises])
    texts = [f"{passage.title} {passage.text}".lower() for passage in read]
    words = (best.verdict.reason or "").partition(ABSENT)[0].lower()[:-4].split(" and ")
    is_nowhere = not any(word.strip() in text for word in words for text in texts)
    where = _where(read, "read") if is_nowhere else _where(best.premises, "closest to it")
    return replace(claim, citations=(), support=_support(best.verdict, best.premises, where))


# ---------------------------------------------------------------- support elsewhere


def find_elsewhere(candidate_sets: Sequence[tuple[Claim, Sequence[Passage]]]) -> Program[tuple[Claim, ...]]:
    """For failing claims, names other candidate passages that support them. The labels stay."""
    others = [(claim, [p for p in passages if p.id not in claim.cited]) for claim, passages in candidate_sets]
    attributed = yield from smallest_support(others, is_sparing=True, is_found=True)
    titles = {passage.id: passage.title for _, passages in others for passage in passages}
    return tuple(
        _said_elsewhere(claim, other.cited, titles) if other.is_supported else claim
        for (claim, _), other in zip(others, attributed, strict=True)
    )


def _said_elsewhere(claim: Claim, elsewhere: tuple[str, ...], titles: Mapping[str, str]) -> Claim:
    if claim.support is None:
        return claim
    cited = "the cited passages do" if len(claim.cited) > 1 else "the cited passage does"
    is_fault = claim.support.label == "contradicted" or claim.support.judge == CITATION_RULE
    fault = claim.support.reason if is_fault else None
    names = " and ".join(dict.fromkeys(f"“{titles[id]}”" if titles[id] else "another passage" for id in elsewhere))
    many = len(elsewhere) > 1
    says = ("say it" if many else "says it") if fault else ("do" if many else "does")
    reason = f"{fault or f'{cited} not say this'}; {names} {says}"
    return replace(claim, support=replace(claim.support, reason=reason, elsewhere=elsewhere))


# ---------------------------------------------------------------- what counts as evidence


MENTIONS_ONLY = "reference lists, copyright lines and licence terms are no evidence"
READ_APART = "each document read alone"


def weigh(program: Program[T]) -> Program[T]:
    """Runs a program in which only evidence counts for the judge (`docs/methods.md`).

    Reference lists, copyright lines and licence terms do not, unless the claim is about them. Passages of different
    documents are read together only if the claim names both, or one names the other.
    """
    return intercept(program, _serve)


def _serve(step: Step) -> Program[object]:
    return (yield from _judge(step.pairs)) if isinstance(step, Entail) else (yield step)


def _judge(pairs: Sequence[Pair]) -> Program[tuple[Verdict, ...]]:
    """One verdict a pair: the best one of its parts."""
    parts = [_parts(pair) for pair in pairs]
    verdicts: dict[Pair, Verdict] = {}
    yield from entail_new(verdicts, chain(*parts))
    return tuple(
        _verdict_of(pair, [(part, verdicts[part]) for part in group]) for pair, group in zip(pairs, parts, strict=True)
    )


def _parts(pair: Pair) -> list[Pair]:
    """The pair with evidence only, one part for each group of documents that may be read together."""
    groups: list[list[Passage]] = []
    for passage in pair.premises:
        joined = [group for group in groups if any(_may_join(passage, other, pair) for other in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(other for group in joined for other in group), passage])
    order = [[passage for passage in pair.premises if passage in group] for group in groups]
    shown = [[_evidence(passage, pair) for passage in group] for group in (pair.read, *order)]
    read, *premises = (tuple(passage for passage in group if passage.text.strip()) for group in shown)
    return [replace(pair, premises=group, read=read) for group in premises if group]


def _evidence(passage: Passage, pair: Pair) -> Passage:
    """The passage with spaces for what is no evidence, so that offsets stay."""
    text, asked = passage.text, (pair.question or "", pair.claim)
    if not any(map(is_about_sources, asked)):
        text = blank_references(text, passage.source.section)
    text = blank_rights(text, " ".join(asked))
    return passage if text == passage.text else Passage.of(text, passage.title, passage.source)


def _may_join(a: Passage, b: Passage, pair: Pair) -> bool:
    if document_of(a) == document_of(b) or names_document(a.text, b) or names_document(b.text, a):
        return True
    asked = f"{pair.question or ''} {pair.claim}"
    return names_document(asked, a) and names_document(asked, b)


def document_of(passage: Passage) -> str:
    """The path or address of its file, else its title, which records of one page share."""
    source = passage.source
    return (not source.record and (source.path or source.url)) or passage.title or passage.id


def names_document(text: str, passage: Passage) -> bool:
    """Whether a text contains two thirds of the title's words, in any form."""
    words = wording(passage.title).terms - STOPWORDS
    return bool(words) and has_most_of(text, words, 2 / 3)


def _verdict_of(pair: Pair, verdicts: Sequence[tuple[Pair, Verdict]]) -> Verdict:
    if not verdicts:
        return Verdict("unsupported", 0.0, 0.0, SOURCE_RULE, reason=MENTIONS_ONLY)
    part, best = max(verdicts, key=lambda each: (each[1].entails, each[1].label == "contradicted", each[1].support))
    quotes = {(p.title, p.source): quote for p, quote in zip(part.premises, best.quotes, strict=False)}
    found = ((passage, quotes.get((passage.title, passage.source))) for passage in pair.premises)
    shown = tuple(quote and passage.quote(quote.start, quote.end) for passage, quote in found)
    is_apart = len(verdicts) > 1 and best.label in ("unsure", "unsupported")
    reason = f"{best.reason or 'no document says it'} ({READ_APART})" if is_apart else best.reason
    return replace(best, quotes=shown, reason=reason)


# ---------------------------------------------------------------- policy


class Partition(NamedTuple):
    kept: tuple[Claim, ...]
    dropped: tuple[Omission, ...]


def apply_policy(claims: Sequence[Claim], policy: Policy) -> Partition:
    """Keeps all claims (`keep`, `flag`) or only supported ones (`drop`)."""
    if policy != "drop":
        return Partition(tuple(claims), ())
    kept = tuple(claim for claim in claims if claim.is_supported)
    return Partition(kept, tuple(Omission(claim.text, _why(claim)) for claim in claims if not claim.is_supported))


def _why(claim: Claim) -> str:
    return "it was not checked" if claim.support is None else claim.support.reason or f"it is {claim.support.label}"
