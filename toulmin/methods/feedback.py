"""Feedback in plain words: composed from the judge's verdicts, or a model's where it agrees with the scores.

Passages are named by their number in the prompt, claims by theirs in the answer. Models praise what scored 0 (A2R,
Table 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toulmin.data import Passage, Style
from toulmin.methods.affirming import affirmation
from toulmin.methods.aims import Aims
from toulmin.methods.assessing import (
    ANSWER_PRECISION,
    CITATION_PRECISION,
    CITATION_RECALL,
    Assessed,
    Assessment,
    content_terms,
    evidence_terms,
)
from toulmin.text.language import words


@dataclass(frozen=True, slots=True)
class Numbered:
    numbers: Mapping[str, int]
    noun: str

    @classmethod
    def of(cls, passages: Sequence[Passage], style: Style) -> Numbered:
        noun = {"list": "Entity", "short": "Claim"}.get(style, "Sentence")
        return cls({passage.id: n for n, passage in enumerate(passages, start=1)}, noun)

    def passages(self, ids: Iterable[str]) -> str:
        """The passages as `[1], [2] and [4]`, without those not in the prompt."""
        marks = [f"[{self.numbers[id]}]" for id in ids if id in self.numbers]
        return " and ".join([", ".join(marks[:-1]), marks[-1]] if len(marks) > 1 else marks)


def compose_feedback(
    assessment: Assessment, aims: Aims, passages: Sequence[Passage], questions: Sequence[str], style: Style
) -> dict[str, str]:
    """Feedback from the verdicts alone, by aspect; `questions` are the question and any sub-questions."""
    name = Numbered.of(passages, style)
    feedback = {}
    for aspect, target in aims.targets.items():
        score = assessment.scores[aspect]
        faults = affirmation(score, target) if score >= target else _faults(aspect, assessment, questions, name)
        feedback[aspect] = faults
    return feedback


def _faults(aspect: str, assessment: Assessment, questions: Sequence[str], name: Numbered) -> str:
    if aspect == CITATION_RECALL:
        return _join(recall_faults(assessment.claims, name), "Cite, for every statement, passages that support it.")
    if aspect == CITATION_PRECISION:
        return _join(_precision_faults(assessment.claims, name), "Cite only passages that support what they stand by.")
    unproven = _unproven(assessment.claims, name)
    if aspect == ANSWER_PRECISION:
        return _join(unproven, "Leave out what does not answer the question.")
    gaps = _gaps(assessment.claims, questions)
    remarks = gaps if aspect != "correctness" else [*unproven, *gaps]
    return _join(remarks, "The answer is incomplete: say what else the passages say on the question.")


def _join(remarks: Sequence[str], otherwise: str) -> str:
    return " ".join(remarks) or otherwise


def recall_faults(claims: Sequence[Assessed], name: Numbered) -> list[str]:
    """For each unsupported claim, what is wrong and what would support it."""
    failing = [(n, assessed) for n, assessed in enumerate(claims, start=1) if not assessed.claim.is_supported]
    return [f"{name.noun} {n} {_citation_fault(assessed, name)}{_remedy(assessed, name)}" for n, assessed in failing]


def _citation_fault(assessed: Assessed, name: Numbered) -> str:
    support = assessed.claim.support
    cited = name.passages(assessed.claim.cited)
    if not cited:
        return "cites no passage"
    does, do = ("contradicts", "contradict") if support and support.label == "contradicted" else (None, None)
    many = len(assessed.claim.cited) > 1
    verb = (do if many else does) or ("do not support" if many else "does not support")
    return f"cites {cited}, which {verb} it{_reason(assessed)}"


def _reason(assessed: Assessed) -> str:
    support = assessed.claim.support
    return f" ({support.reason})" if support and support.reason else ""


def _remedy(assessed: Assessed, name: Numbered) -> str:
    best = name.passages(assessed.others[:1])
    if best:
        return f"; {best} does. Cite {best}." if assessed.claim.citations else f"; {best} supports it. Cite {best}."
    if assessed.is_entailed:
        return "; all passages together support it. Cite those that it needs."
    return ", and no other passage supports it. Replace it by what the passages say, or remove it."


def _precision_faults(claims: Sequence[Assessed], name: Numbered) -> list[str]:
    faults = []
    for n, assessed in enumerate(claims, start=1):
        needless, cited = name.passages(assessed.needless), name.passages(assessed.claim.cited)
        if assessed.claim.is_supported and needless:
            needed = name.passages(id for id in assessed.claim.cited if id not in assessed.needless)
            rest = f": {needed} is enough. Cite only {needed}." if needed else ": cite only one of them."
            faults.append(f"{name.noun} {n} has no need of {needless}{rest}")
        elif cited and not assessed.claim.is_supported:
            best = name.passages(assessed.others[:1])
            instead = f"cite {best} in its place." if best else "cite a passage that does, or none."
            faults.append(f"{name.noun} {n} is not supported by {cited}: {instead}")
    return faults


def _unproven(claims: Sequence[Assessed], name: Numbered) -> list[str]:
    remedy = "Replace it by what they say, or remove it."
    return [
        f"{name.noun} {n} says what none of the passages supports{_reason(assessed)}. {remedy}"
        for n, assessed in enumerate(claims, start=1)
        if not assessed.is_entailed
    ]


def _gaps(claims: Sequence[Assessed], questions: Sequence[str]) -> list[str]:
    known = evidence_terms(claims)
    gaps = []
    for n, question in enumerate(questions):
        tokens = (question[span.start : span.end] for span in words(question))
        open_ = dict.fromkeys(word for word in tokens if content_terms(word) - known)
        if open_ and n:
            gaps.append(f"The answer is incomplete: it leaves open “{question}”")
        elif open_:
            named = ", ".join(f"“{word}”" for word in open_)
            gaps.append(f"The answer is incomplete: it does not speak of {named}. Add what the passages say of it.")
    return gaps
