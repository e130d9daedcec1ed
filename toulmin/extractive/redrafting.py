"""Drafts from drafts, feedback and plans: claims are checked, kept and completed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toulmin.data import Claim, Passage, Style
from toulmin.extractive.advising import faulty_positions
from toulmin.extractive.analysis import Sentence, content_terms, fold_text, weight
from toulmin.extractive.answering import Manner, claims_of
from toulmin.extractive.checking import entity_citation, source_sentence
from toulmin.extractive.planning import subject
from toulmin.extractive.selecting import draw, prose
from toulmin.extractive.survey import Survey
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import Correct, Finding, Paragraph, Refine, Write

_LEAST_ROOM = 8  # words: with less room no sentence is added


def correct(prompt: Correct, manner: Manner, sample: int) -> Draft:
    """Keeps the claims that passages contain, and adds the best others."""
    survey = manner.survey(prompt.question, prompt.passages)
    if prompt.style in ("list", "short"):
        return Draft(_spans(prompt.draft, survey, prompt, manner, sample))
    sentences = [sentence for claim in prompt.draft if (sentence := source_sentence(claim, prompt.passages))]
    if not sentences and manner.must_abstain(survey, len(prompt.passages)):
        return Draft()
    return Draft(_complete([sentence.claim() for sentence in sentences], sentences, survey, manner, sample))


def refine(prompt: Refine, manner: Manner, sample: int) -> Draft:
    """Keeps the claims that no verdict or feedback faults, and adds the best unused sentences."""
    survey = manner.survey(prompt.question, prompt.passages)
    bad = faulty_positions(prompt.claims, prompt.feedback)
    good = [replace(claim, support=None) for n, claim in enumerate(prompt.claims) if n not in bad]
    if prompt.style in ("list", "short"):
        return Draft(_spans(good, survey, prompt, manner, sample))
    if not good and manner.must_abstain(survey, len(prompt.passages)):
        return Draft()
    used_sentences = [sentence for claim in prompt.claims if (sentence := source_sentence(claim, prompt.passages))]
    return Draft(_complete(good, used_sentences, survey, manner, sample))


def _complete(
    kept: Sequence[Claim], used_sentences: Sequence[Sentence], survey: Survey, manner: Manner, sample: int
) -> tuple[Claim, ...]:
    room = manner.words - sum(len(claim.text.split()) for claim in kept)
    if kept and room < _LEAST_ROOM:
        return tuple(kept)
    new = draw(survey, max(room, _LEAST_ROOM), sample, used_sentences)
    fitting = [entry for entry in new if not kept or entry.sentence.length <= room]
    return (*kept, *prose(fitting))


def _spans(
    kept: Sequence[Claim], survey: Survey, prompt: Correct | Refine, manner: Manner, sample: int
) -> tuple[Claim, ...]:
    cited = [(claim, entity_citation(claim, prompt.passages)) for claim in kept]
    cited_claims = [replace(claim, citations=(citation,), support=None) for claim, citation in cited if citation]
    known = {claim.text.casefold() for claim in cited_claims}
    silent = manner.must_abstain(survey, len(prompt.passages))
    new = () if silent else claims_of(survey, prompt.style, manner.words, sample)
    claims = (*cited_claims, *(claim for claim in new if claim.text.casefold() not in known))
    return claims[:1] if prompt.style == "short" else claims


def write(prompt: Write, manner: Manner, sample: int) -> Draft:
    """Cited prose: proofs of the findings, or the best sentences; a section for each paragraph."""
    used_sentences: list[Sentence] = []
    if not prompt.paragraphs:
        new_claims = _from_findings(prompt.findings, prompt.passages, manner, used_sentences)
        return Draft(new_claims or prose(draw(manner.survey(prompt.topic, prompt.passages), manner.words, sample)))
    surveys = [manner.survey(subject(prompt.topic, paragraph), prompt.passages) for paragraph in prompt.paragraphs]
    claims: list[Claim] = []
    for paragraph, survey in zip(prompt.paragraphs, surveys, strict=True):
        findings = [finding for finding in prompt.findings if _home(finding, prompt) is paragraph]
        new_claims = _from_findings(findings, prompt.passages, manner, used_sentences)
        if not new_claims:
            chosen = draw(survey, manner.words, sample, [*used_sentences, *_better_elsewhere(survey, surveys)])
            used_sentences += [entry.sentence for entry in chosen]
            new_claims = prose(chosen)
        claims += [replace(claim, section=_heading(paragraph, prompt.style)) for claim in new_claims]
    return Draft(tuple(claims))


def _better_elsewhere(survey: Survey, surveys: Sequence[Survey]) -> list[Sentence]:
    standing = {id(each): _standing(each) for each in surveys}
    survey_standing = standing[id(survey)]
    others = [standing[id(each)] for each in surveys if each is not survey]
    return [
        entry.sentence
        for entry in survey.entries
        if any(other.get(entry.sentence, 0.0) > survey_standing[entry.sentence] for other in others)
    ]


def _standing(survey: Survey) -> dict[Sentence, float]:
    best = max((entry.evidence for entry in survey.entries), default=1.0)
    return {entry.sentence: entry.evidence / best for entry in survey.entries}


def _heading(paragraph: Paragraph, style: Style) -> str | None:
    return paragraph.title if style == "report" else None


def _home(finding: Finding, prompt: Write) -> Paragraph:
    asked = content_terms(finding.question) - content_terms(prompt.topic)
    return max(prompt.paragraphs, key=lambda p: weight(asked & content_terms(subject("", p))))


def _from_findings(
    findings: Sequence[Finding], passages: Sequence[Passage], manner: Manner, used_sentences: list[Sentence]
) -> tuple[Claim, ...]:
    """Adds the proofs to `used_sentences`."""
    claims = []
    for finding in findings:
        survey = manner.survey(finding.question, finding.passages or passages)
        answers = [fold_text(answer) for answer in finding.answers]
        proof = next((e for e in survey.rank_entries((), 10**6, used_sentences) if _holds(e.sentence, answers)), None)
        if proof is not None:
            used_sentences.append(proof.sentence)
            claims.append(proof.sentence.claim())
    return tuple(claims)


def _holds(sentence: Sentence, answers: Sequence[str]) -> bool:
    text = fold_text(sentence.text)
    return any(answer in text for answer in answers)
