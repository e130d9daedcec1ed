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
    told_terms,
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


def grounded(
    assessment: Assessment, aims: Aims, passages: Sequence[Passage], questions: Sequence[str], style: Style
) -> dict[str, str]:
    """Feedback from the verdicts alone, by aspect; `questions` are the question and any sub-questions."""
    name = Numbered.of(passages, style)
    said = {}
    for aspect, target in aims.targets.items():
        score = assessment.scores[aspect]
        faults = affirmation(score, target) if score >= target else _faults(aspect, assessment, questions, name)
        said[aspect] = faults
    return said


def _faults(aspect: str, assessment: Assessment, questions: Sequence[str], name: Numbered) -> str:
    if aspect == CITATION_RECALL:
        return _joined(recall_faults(assessment.claims, name), "Cite, for every statement, passages that support it.")
    if aspect == CITATION_PRECISION:
        return _joined(
            _precision_faults(assessment.claims, name), "Cite only passages that support what they stand by."
        )
    unproven = _unproven(assessment.claims, name)
    if aspect == ANSWER_PRECISION:
        return _joined(unproven, "Leave out what does not answer the question.")
    gaps = _gaps(assessment.claims, questions)
    found = gaps if aspect != "correctness" else [*unproven, *gaps]
    return _joined(found, "The answer is incomplete: say what else the passages say on the question.")


def _joined(remarks: Sequence[str], otherwise: str) -> str:
    return " ".join(remarks) or otherwise


def recall_faults(claims: Sequence[Assessed], name: Numbered) -> list[str]:
    """For each unsupported claim, what is wrong and what would support it."""
    failing = [(n, one) for n, one in enumerate(claims, start=1) if not one.claim.is_supported]
    return [f"{name.noun} {n} {_cited_wrongly(one, name)}{_remedy(one, name)}" for n, one in failing]


def _cited_wrongly(one: Assessed, name: Numbered) -> str:
    support = one.claim.support
    cited = name.passages(one.claim.cited)
    if not cited:
        return "cites no passage"
    does, do = ("contradicts", "contradict") if support and support.label == "contradicted" else (None, None)
    many = len(one.claim.cited) > 1
    verb = (do if many else does) or ("do not support" if many else "does not support")
    return f"cites {cited}, which {verb} it{_reason(one)}"


def _reason(one: Assessed) -> str:
    support = one.claim.support
    return f" ({support.reason})" if support and support.reason else ""


def _remedy(one: Assessed, name: Numbered) -> str:
    best = name.passages(one.others[:1])
    if best:
        return f"; {best} does. Cite {best}." if one.claim.citations else f"; {best} supports it. Cite {best}."
    if one.is_entailed:
        return "; all passages together support it. Cite those that it needs."
    return ", and no other passage supports it. Replace it by what the passages say, or remove it."


def _precision_faults(claims: Sequence[Assessed], name: Numbered) -> list[str]:
    faults = []
    for n, one in enumerate(claims, start=1):
        needless, cited = name.passages(one.needless), name.passages(one.claim.cited)
        if one.claim.is_supported and needless:
            needed = name.passages(id for id in one.claim.cited if id not in one.needless)
            rest = f": {needed} is enough. Cite only {needed}." if needed else ": cite only one of them."
            faults.append(f"{name.noun} {n} has no need of {needless}{rest}")
        elif cited and not one.claim.is_supported:
            best = name.passages(one.others[:1])
            instead = f"cite {best} in its place." if best else "cite a passage that does, or none."
            faults.append(f"{name.noun} {n} is not supported by {cited}: {instead}")
    return faults


def _unproven(claims: Sequence[Assessed], name: Numbered) -> list[str]:
    remedy = "Replace it by what they say, or remove it."
    return [
        f"{name.noun} {n} says what none of the passages supports{_reason(one)}. {remedy}"
        for n, one in enumerate(claims, start=1)
        if not one.is_entailed
    ]


def _gaps(claims: Sequence[Assessed], questions: Sequence[str]) -> list[str]:
    told = told_terms(claims)
    gaps = []
    for n, question in enumerate(questions):
        found = (question[span.start : span.end] for span in words(question))
        open_ = dict.fromkeys(word for word in found if content_terms(word) - told)
        if open_ and n:
            gaps.append(f"The answer is incomplete: it leaves open “{question}”")
        elif open_:
            named = ", ".join(f"“{word}”" for word in open_)
            gaps.append(f"The answer is incomplete: it does not speak of {named}. Add what the passages say of it.")
    return gaps
