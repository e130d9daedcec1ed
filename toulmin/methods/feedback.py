"""Feedback in words: composed from verdicts, or a model's if it agrees with the scores.

Passages have their number in the prompt, claims theirs in the answer. Models praise answers that scored 0 (A2R,
Table 7).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toulmin.data import Omission, Passage, Style
from toulmin.methods import assessing
from toulmin.methods.assessing import Aims, Assessment, ClaimAssessment, evidence_terms
from toulmin.text.language import content_terms, sentence_texts, words

# ---------------------------------------------------------------- a model's feedback, checked against the scores


_FAULT = re.compile(
    r"\b(?:errors?|mistakes?|incorrect\w*|inaccura\w+|wrong\w*|false|mistaken|missing|misses|missed|lacks?|lacking"
    r"|omit\w*|incomplete|insufficient\w*|irrelevant|unsupported|unrelated|contradict\w*|unclear|vague|absent|ignor\w+"
    r"|overlook\w*|too \w+|without (?:a |any )?(?:citations?|sources?|support)|more \w+ (?:is|are) needed|instead"
    r"|better to)\b",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"\b(?:no|not|never|nothing|none|neither|nor|free|few|hard\w*|devoid|every|each|great|perfect\w*|flawless)\b|n['’]t\b",
    re.IGNORECASE,
)
_VERBS = (
    r"(?:add|avoid|check|cite|clarify|correct|expand|explain|fix|focus|include|leave out|mention|provide|remove|replace"
    r"|rewrite|say|shorten|specify|use|verify)"
)
# A verb asks at the start of a clause (not in "You cite well"), unless it is a noun there ("Use of citations is fine").
_REQUEST = re.compile(
    rf"(?:\A|[,;:–—]\s)\W{{0,8}}(?:(?:also|then|and|but|please|try to)\W{{1,4}}){{0,3}}{_VERBS}"
    rf"\b(?!\W*(?:\Z|:|(?:of|for|is|are)\b))|\b(?:should|must|needs? to|please|try to)\s{_VERBS}\b",
    re.IGNORECASE,
)


def demands(part: str) -> bool:
    """Whether a part of a model's feedback asks for a change or names a fault.

    A fault beside a denial is none ("no errors"): in doubt our own words are used, which name what fails. So are they
    for other languages than English.
    """
    texts = sentence_texts(part)
    return any(_REQUEST.search(text) or (_FAULT.search(text) and not _DENIAL.search(text)) for text in texts)


def affirmation(score: float, target: float) -> str:
    return f"This is good: {score:.0f} of 100, where {target:.0f} are asked for. Keep it as it is."


@dataclass(frozen=True, slots=True)
class Advice:
    feedback: Mapping[str, str]
    discarded: tuple[Omission, ...] = ()


def merge_advice(
    composed: Mapping[str, str], model: Mapping[str, str], aims: Aims, scores: Mapping[str, float]
) -> Advice:
    """A model's part that agrees with a low score replaces ours."""
    parts, discarded = dict(composed), []
    for aspect, target in aims.targets.items():
        score = scores[aspect]
        if score >= target or aspect not in model:
            continue
        if demands(model[aspect]):
            parts[aspect] = model[aspect]
        else:
            why = f"it only affirms, but {aspect} is {score:.0f}, below the target of {target:.0f}"
            discarded.append(Omission(f"{aspect}: {model[aspect]}", why))
    return Advice(parts, tuple(discarded))


# ---------------------------------------------------------------- feedback composed from the verdicts


@dataclass(frozen=True, slots=True)
class PassageNumbers:
    numbers: Mapping[str, int]
    noun: str

    @classmethod
    def of(cls, passages: Sequence[Passage], style: Style) -> PassageNumbers:
        noun = {"list": "Entity", "short": "Claim"}.get(style, "Sentence")
        return cls({passage.id: n for n, passage in enumerate(passages, start=1)}, noun)

    def passages(self, ids: Iterable[str]) -> str:
        """Passages of the prompt as `[1], [2] and [4]`."""
        marks = [f"[{self.numbers[id]}]" for id in ids if id in self.numbers]
        return " and ".join([", ".join(marks[:-1]), marks[-1]] if len(marks) > 1 else marks)


def compose_feedback(
    assessment: Assessment, aims: Aims, passages: Sequence[Passage], question: str, style: Style
) -> dict[str, str]:
    name = PassageNumbers.of(passages, style)
    feedback = {}
    for aspect, target in aims.targets.items():
        score = assessment.scores[aspect]
        is_good = score >= target
        feedback[aspect] = affirmation(score, target) if is_good else _faults(aspect, assessment, question, name)
    return feedback


def _faults(aspect: str, assessment: Assessment, question: str, name: PassageNumbers) -> str:
    claims = assessment.claims
    if aspect == assessing.CITATION_RECALL:
        remarks, otherwise = recall_faults(claims, name), "Cite, for every statement, passages that support it."
    elif aspect == assessing.CITATION_PRECISION:
        remarks, otherwise = _precision_faults(assessment, name), "Cite only passages that support what they stand by."
    elif aspect == assessing.ANSWER_PRECISION:
        remarks, otherwise = _unproven(claims, name), "Leave out what does not answer the question."
    else:
        remarks = [*(_unproven(claims, name) if aspect == assessing.CORRECTNESS else ()), *_gap(claims, question)]
        otherwise = "The answer is incomplete: say what else the passages say on the question."
    return " ".join(remarks) or otherwise


def recall_faults(claims: Sequence[ClaimAssessment], name: PassageNumbers) -> list[str]:
    failing = [(n, a) for n, a in enumerate(claims, start=1) if a.strays or not a.claim.is_supported]
    return [f"{name.noun} {n} {_citation_fault(assessed, name)}{_remedy(assessed, name)}" for n, assessed in failing]


def _citation_fault(assessed: ClaimAssessment, name: PassageNumbers) -> str:
    support = assessed.claim.support
    cited = name.passages(assessed.claim.cited)
    if assessed.strays and (not cited or assessed.claim.is_supported):
        return f"cites {', '.join(f'[{n}]' for n in assessed.strays)}, which names no passage"
    if not cited:
        return "cites no passage"
    many = len(assessed.claim.cited) > 1
    if support and support.label == "contradicted":
        verb = "contradict" if many else "contradicts"
    else:
        verb = "do not support" if many else "does not support"
    return f"cites {cited}, which {verb} it{_reason(assessed)}"


def _reason(assessed: ClaimAssessment) -> str:
    support = assessed.claim.support
    return f" ({support.reason})" if support and support.reason else ""


def _remedy(assessed: ClaimAssessment, name: PassageNumbers) -> str:
    if assessed.claim.is_supported:
        return ". Remove it."
    best = name.passages(assessed.others[:1])
    if best:
        return f"; {best} does. Cite {best}." if assessed.claim.citations else f"; {best} supports it. Cite {best}."
    if assessed.is_entailed:
        return "; all passages together support it. Cite those that it needs."
    return ", and no other passage supports it. Replace it by what the passages say, or remove it."


def _precision_faults(assessment: Assessment, name: PassageNumbers) -> list[str]:
    faults = [f"Citations that name no passage: {assessment.invalid}. Remove them."] if assessment.invalid else []
    for n, assessed in enumerate(assessment.claims, start=1):
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


def _unproven(claims: Sequence[ClaimAssessment], name: PassageNumbers) -> list[str]:
    remedy = "Replace it by what they say, or remove it."
    return [
        f"{name.noun} {n} says what none of the passages supports{_reason(assessed)}. {remedy}"
        for n, assessed in enumerate(claims, start=1)
        if not assessed.is_entailed
    ]


def _gap(claims: Sequence[ClaimAssessment], question: str) -> list[str]:
    known = evidence_terms(claims)
    tokens = (question[span.start : span.end] for span in words(question))
    named = ", ".join(f"“{word}”" for word in dict.fromkeys(tokens) if content_terms(word) - known)
    remark = f"The answer is incomplete: it does not speak of {named}. Add what the passages say of it."
    return [remark] if named else []
