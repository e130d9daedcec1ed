"""Objections: rules that lower a verdict, whatever its score, with a reason in words.

* An objection never raises a verdict. The lowest label counts, the first of equals.
* A claim that the sources contain word for word gets no objection.
* Each look compares the claim with its sources and returns the highest label that is left.
* The reason for `contradicted` names what the source has instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from toulmin.data import BELOW, HOLDING, Label
from toulmin.judges.coverage import Reading, Source, implications
from toulmin.judges.facts import NEAR_COPY, SHAPED, absence
from toulmin.judges.framing import Framing, find_framing
from toulmin.judges.gate import absence_reason, is_verbatim
from toulmin.judges.turned import denies, turned_sentence
from toulmin.steps import Pair, Verdict
from toulmin.text.language import STOP_TERMS, terms
from toulmin.text.values import Value, is_like, is_same, is_within, respell, stands, values
from toulmin.text.wording import is_fragment, wording


class Objection(NamedTuple):
    """The highest label that is left, and why."""

    label: Label
    reason: str


class Case(NamedTuple):
    """A pair with its texts as they are read, the label before objections, and the framing if not words tell it."""

    pair: Pair
    claim: Reading
    sources: tuple[Source, ...]
    label: Label = "supported"
    framing: Framing | None = None


Look = Callable[[Case], Objection | None]

_STOP = re.compile(r"[.!?。！？]\W*$")
RULES = 19  # a kept verdict is of these rules: a change of any of them, in whatever file, is another number
RANKS: tuple[Label, ...] = ("contradicted", "unsupported", "unsure", "likely", "supported")
# The most that a score may be under each label: below what any of our judges calls more.
_MOST: dict[Label, float] = {"contradicted": 0.1, "unsupported": 0.34, "unsure": 0.49}


def find_objection(case: Case, looks: Sequence[Look]) -> Objection | None:
    """The objection that lowers most."""
    if is_verbatim(case.claim, case.sources):
        return None
    objections = [objection for look in looks if (objection := look(case))]
    return min(objections, key=lambda objection: RANKS.index(objection.label), default=None)


def judge_respelled(pairs: Sequence[Pair], judge: Callable[[Sequence[Pair]], list[Verdict]]) -> list[Verdict]:
    """Verdicts on claims in the spelling of their sources; the reason of a supported one shows what was converted."""
    respelled = [respell(pair.claim, [text for p in pair.premises for text in (p.text, p.title)]) for pair in pairs]
    verdicts = judge([replace(pair, claim=each.text) for pair, each in zip(pairs, respelled, strict=True)])
    return [
        replace(verdict, reason=each.note) if verdict.entails and each.conversions else verdict
        for verdict, each in zip(verdicts, respelled, strict=True)
    ]


def lower_fragment(pair: Pair, verdict: Verdict) -> Verdict:
    """Lowers the verdict of a claim that is no statement."""
    if pair.question is not None:
        return verdict
    if is_fragment(pair.claim.strip()):
        return lower(verdict, Objection("unsure", "one or two words, or numbers, state nothing that can be proven"))
    if _STOP.search(pair.claim):
        return verdict
    names = [terms(name) for p in pair.premises for name in (p.title, *p.source.headings.split(BELOW)) if name]
    bases = [terms(pair.claim)], [terms(quote.text) for quote in verdict.quotes if quote is not None]
    if any(basis and all(each in names for each in basis) for basis in bases):
        return lower(verdict, Objection("unsure", "a title alone states nothing that a source could prove"))
    return verdict


def lower(verdict: Verdict, objection: Objection | None) -> Verdict:
    """A verdict that is low enough stays as it is."""
    if objection is None or RANKS.index(verdict.label) <= RANKS.index(objection.label):
        return verdict
    label, reason = objection
    support = min(verdict.support, _MOST[label])
    against = max(verdict.contradiction, 1 - support) if label == "contradicted" else verdict.contradiction
    return replace(verdict, label=label, support=support, contradiction=min(against, 1 - support), reason=reason)


# ---------------------------------------------------------------- looks


def absent_figure(case: Case) -> Objection | None:
    """A number, date or shape that no premise contains; a denial may have one ("It was not built in 1900")."""
    if denies(case.claim.text):
        return None
    sure, bounds = absence(case.claim, case.sources).sure, _bounds_kept(case)
    figures = [words for words in sure if re.search(r"\d", words) or SHAPED.fullmatch(words)]
    figures = [words for words in figures if not any(words in bound for bound in bounds)]
    return Objection("unsupported", absence_reason(figures)) if figures else None


# Kinds of which a source may have many values: another one says nothing against the claim's.
_MANY = frozenset(("", "ordinal", "roman", "date", "times", "points", "time", "months", "K", "M"))


def changed_value(case: Case) -> Objection | None:
    """A value of which the sources have only the number, or another amount or bound."""
    claim, texts = case.claim.text, [source.text.text for source in case.sources]
    for value in values(claim):
        (start, end), shown = value.span, claim[slice(*value.span)]
        if stands(claim, value.span, "\n".join(texts).lower()) or shown in _bounds_kept(case):
            continue
        known = [(text, other) for text in texts for other in values(text)]
        rivals = [(text, other) for text, other in known if _may_replace(other, value)]
        if rivals and not any(_fits(value, other) for _, other in known):
            wanted = frozenset(terms(claim[:start] + claim[end:])) - STOP_TERMS
            share, text, rival = max(((_share(wanted, *each), *each) for each in rivals), key=lambda each: each[0])
            theirs = text[slice(*rival.span)]
            is_copy = (claim[:start] + theirs + claim[end:]).strip(" .") in text
            is_near = is_copy or share >= NEAR_COPY
            reason = f"the source says {theirs}, the claim says {shown}" if is_near else absence_reason([shown])
            return Objection("contradicted" if is_copy else "unsupported", reason)
    return None


def turned_copy(case: Case) -> Objection | None:
    """The words of a source's sentence that say the opposite."""
    sentence = turned_sentence(case.claim.text, [source.text.text for source in case.sources])
    return Objection("contradicted", f"the source says “{shorten(sentence)}”") if sentence else None


def _share(wanted: Set[str], text: str, value: Value) -> float:
    """How much of these terms is in the sentence of a value."""
    sentence = next((each for each in wording(text).sentences if value.start < each.span.end), wording(text))
    return len(wanted & frozenset(sentence.terms)) / max(1, len(wanted))


def _bounds_kept(case: Case) -> list[str]:
    """The claim's "over 2 m" where a sentence with most of its words has "2.4 m", and the like."""
    claim, wanted = case.claim.text, set(terms(case.claim.text))
    bounded = [value for value in values(claim) if value.bound]
    near = [each for source in case.sources for each in wording(source.text.text).sentences if bounded]
    most = max((len(wanted & each.term_set) for each in near), default=0)
    best = [each.text for each in near if len(wanted & each.term_set) >= most - 1 > 0]
    known = [(text, other) for text in best for other in values(text)]
    return [
        claim[slice(*value.span)]
        for value in bounded
        if any(is_within(value, other) and _noun(claim, value) == _noun(text, other) for text, other in known)
        and all(_fits(value, other) for _, other in known if is_same(value, other))  # "6 or more" and "a year"
    ]


def _noun(text: str, value: Value) -> list[str] | None:
    """What a bare number counts; None for a measure, which needs no noun."""
    return None if value.kind else terms(text[value.end :])[:1] if text[value.end : value.end + 1] == " " else [text]


def _fits(value: Value, other: Value) -> bool:
    if value.kind == other.kind == "date":
        return value.amount in implications(str(other.amount)) or str(value.amount)[4:] == str(other.amount)[1:]
    is_plain = "" in (value.kind, other.kind) and value.plain == other.plain
    return {value.bound[:1], other.bound[:1]} != {"<", ">"} and (is_same(value, other) or is_plain)


def _may_replace(other: Value, value: Value) -> bool:
    if value.kind == "date":
        return other.kind == "date" and len(str(value.amount)) == len(str(other.amount)) == _DAY
    is_number = abs(value.plain) == abs(other.plain) > 1 and value.kind != "ordinal"
    is_counted = value.kind == "share" and not value.plain  # "one of the four" says nothing of percents
    return is_number or (
        value.kind not in _MANY and not is_counted and other.kind not in _MANY and is_like(value, other)
    )


_DAY = len("2026-03-04")


_FRAMED, _SURELY_FRAMED = 0.5, 0.95  # of true natural claims the first loses 1 or 2 in 100, of framed ones it finds 70


def framed_claim(case: Case) -> Objection | None:
    """A sentence that the source only plans, denies, asks, supposes, orders or invents."""
    claim, texts = case.pair.claim, [passage.text for passage in case.pair.premises]
    if case.label not in HOLDING or case.pair.question is not None or len(case.claim.sentences) != 1:
        return None
    chance, sentence = case.framing or find_framing(claim, texts)
    if chance < _FRAMED:
        return None
    reason = f"the source may not state this as a fact{sentence and f': “{shorten(sentence)}”'}"
    return Objection("unsupported" if chance >= _SURELY_FRAMED else "unsure", reason)


_QUOTED = 160  # characters of a sentence in a reason


def shorten(text: str) -> str:
    collapsed = " ".join(text.split())
    return collapsed if len(collapsed) <= _QUOTED else collapsed[:_QUOTED].rsplit(" ", 1)[0] + " …"


LOOKS: tuple[Look, ...] = (framed_claim, changed_value, turned_copy)
