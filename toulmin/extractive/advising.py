"""Faults of an answer, and the choice among several."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from toulmin.data import Claim, Passage
from toulmin.extractive.analysis import content_terms, fold_text
from toulmin.extractive.checking import source_sentence, verdict
from toulmin.extractive.survey import Survey
from toulmin.prompts.types import Feedback

_NUMBERED = re.compile(r"\b(?:sentence|claim|statement|entity)s?\s+((?:\d+(?:\s*,\s*|\s+and\s+)?)+)", re.IGNORECASE)
_FAULT = re.compile(
    r"\bnot\s+(?:\w+\s+)?support|\bunsupported|\bcontradict|\bremove\b|\bdrop\b|\bdelete\b|\bwrong\b|\birrelevant\b",
    re.IGNORECASE,
)


def faulty_positions(claims: Sequence[Claim], feedback: Mapping[str, str]) -> set[int]:
    """The positions of claims that their verdict or the feedback ("sentence 2 ... not supported") faults."""
    judged = {n for n, c in enumerate(claims) if c.support and c.support.label in ("unsupported", "contradicted")}
    blamed = {
        int(number) - 1
        for words in feedback.values()
        for remark in re.split(r"(?<=[.;!?])\s+|\n", words)
        if _FAULT.search(remark)
        for listed in _NUMBERED.findall(remark)
        for number in re.findall(r"\d+", listed)
    }
    return (judged | blamed) & set(range(len(claims)))


def medoid(candidates: Sequence[Sequence[Claim]]) -> int:
    """The position of the candidate with most token F1 with all others; the first of equals."""
    bags = [Counter(fold_text(" ".join(claim.text for claim in claims)).split()) for claims in candidates]
    agreement = [sum(_token_f1(bag, other) for other in bags) for bag in bags]
    return agreement.index(max(agreement)) if agreement else 0


def _token_f1(a: Counter[str], b: Counter[str]) -> float:
    whole = a.total() + b.total()
    return 2 * (a & b).total() / whole if whole else 1.0


def remarks(prompt: Feedback, survey: Survey) -> dict[str, str]:
    """By aspect, in lower case: that it meets its target, or what to change."""
    targets = dict(prompt.targets)
    feedback = {}
    for aspect, score in prompt.scores:
        target = targets.get(aspect, 0.0)
        holds = f"The {aspect} is good: {score:.0f} of 100 meets the target of {target:.0f}."
        feedback[aspect.lower()] = holds if score >= target else _fault(aspect.lower(), prompt, survey)
    return feedback


def _fault(aspect: str, prompt: Feedback, survey: Survey) -> str:
    if "citation" in aspect and "precision" in aspect:
        return _needless(prompt)
    if "citation" in aspect:
        return _unproven(prompt)
    if "precision" in aspect:
        return _off_topic(prompt, survey)
    return _missing(prompt, survey)


def _unproven(prompt: Feedback) -> str:
    bad = [n for n, claim in enumerate(prompt.claims, 1) if not _is_proven(claim, prompt.passages)]
    listed = ", ".join(map(str, bad))
    if not bad:
        return "Some sentences need a citation that proves more of what they say."
    return f"Sentence {listed}: not supported by the cited passages. Cite passages that prove it, or remove it."


def _is_proven(claim: Claim, passages: Sequence[Passage]) -> bool:
    if claim.support is not None:
        return claim.is_supported
    cited = [passage for passage in passages if passage.id in claim.cited]
    return bool(cited) and verdict(claim.text, cited) == "supported"


def _needless(prompt: Feedback) -> str:
    many = [n for n, claim in enumerate(prompt.claims, 1) if len(claim.cited) > 1]
    if not many:
        return "Some citations prove nothing of their sentence: cite only the passage that holds what it says."
    return f"Sentence {', '.join(map(str, many))}: keep only the citations that the sentence needs."


def _off_topic(prompt: Feedback, survey: Survey) -> str:
    asked = content_terms(survey.question)
    off = [n for n, claim in enumerate(prompt.claims, 1) if not content_terms(claim.text) & asked]
    listed = f" Sentence {', '.join(map(str, off))} may go." if off else ""
    return f"The answer holds more than the question asks for; keep what answers it.{listed}"


def _missing(prompt: Feedback, survey: Survey) -> str:
    sentences = {
        sentence for claim in prompt.claims if (sentence := source_sentence(claim, prompt.passages)) is not None
    }
    new = survey.rank_entries((), 10**6, sentences)
    labels = {passage.id: n for n, passage in enumerate(prompt.passages, 1)}
    if not new:
        return "The answer misses part of the question, and the passages say no more about it."
    best = new[0].sentence
    return f'The answer is incomplete; passage {labels[best.passage.id]} adds: "{best.text}"'
