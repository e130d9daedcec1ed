"""Feedback in words: composed from verdicts, or a model's if it agrees with the scores.

Passages have their number in the prompt, claims theirs in the answer. Models praise answers that scored 0 (A2R,
Table 7).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toulmin.data import Omission, Passage, Style
from toulmin.methods.assessing import (
    ANSWER_PRECISION,
    CITATION_PRECISION,
    CITATION_RECALL,
    CORRECTNESS,
    Aims,
    Assessment,
    ClaimAssessment,
    evidence_terms,
)
from toulmin.text.language import content_terms, sentence_texts, words

# ---------------------------------------------------------------- a model's feedback, checked against the scores


_FAULT = (
    r"(?:errors?|mistakes?|issues?|problems?|faults?|flaws?|gaps?|changes?|improvements?|corrections?|revisions?"
    r"|concerns?|complaints?|feedback|weakness(?:es)?|shortcomings?|irrelevan\w+|unsupported|wrong|incorrect\w*"
    r"|inaccura\w+|false|misleading|missing|lacking|omitted|left out|incomplete|insufficient|vague|unclear"
    r"|contradict\w*)"
)
_NOT = r"(?:\s+not|n['’]t)"
# Phrases that sound like fault-finding but are not.
_HARMLESS = re.compile(
    r"\b(?:no|without(?: any)?|free (?:of|from)|devoid of|not any|zero|hardly any|needs? no)"
    rf"\s+(?:\w+\s+){{0,3}}?{_FAULT}"
    r"(?:\s+(?:(?:to|that|which)\s+)?(?:\w+\s+){0,2}?(?:be\s+)?"
    r"(?:needed|necessary|required|found|made|fix|correct|change|mend))?"
    rf"|\b(?:does|do|did|is|are|was|were|has|have){_NOT}\s+(?:\w+\s+){{0,3}}?{_FAULT}"
    rf"|\b(?:can|could|did|do){_NOT}\s+(?:find|see|spot)\s+(?:any(?:thing)?\b|a single\b|fault\b)[^.!?;]{{0,60}}"
    rf"|\b(?:does|do|did|would|should|need){_NOT}\s+"
    r"(?:need|require|have to|miss|lack|omit|change|alter|touch|modify)\b(?:\s+\w+){0,3}"
    r"|\b(?:no(?:thing| need| more| further)|little)\b(?:\s+\w+){0,2}?\s+"
    r"(?:to|be|is|are|was|needs?|requires?|must|should|has)\b(?:\s+(?:to\s+)?\w+){0,3}"
    rf"|\b(?:could|can)(?:{_NOT}|not|\s+hardly|\s+scarcely)\s+be\s+(?:better|improved|faulted|\w+er|more)\b"
    rf"|\b(?:could|can|does|do)(?:{_NOT}|not)\s+(?:ask|wish|hope|get)\b[^.!?;]{{0,40}}"
    r"|\bnot\s+(?:only|just|merely)\b[^.!?;]{0,60}?\bbut\b|\bnot\s+(?:only|just|merely|bad)\b"
    r"|\b(?:error|mistake|fault)s?[- ]?(?:free|less)\b|\bnever\s+(?:fail|miss)\w*"
    r"|\b(?:please\s+)?(?:make sure to\s+|try to\s+)?(?:keep|continue|maintain)\b[^.!?;]{0,60}"
    r"|\bshould\s+(?:be\s+)?(?:kept|stay|remain|proud)\b[^.!?;]{0,30}",
    re.IGNORECASE,
)
_VERBS = (
    r"(?:avoid|replace|remove|drop|delete|add|include|cite|provide|offer|rewrite|rephrase|revise|rework|re-?check|check"
    r"|verify|clarify|correct|fix|mend|improve|expand|elaborate|specify|complete|mention|cover|address|focus|use|give"
    r"|say|tell|name|limit|shorten|look|refer|back|support|state|list|attach|answer|stick)"
)
# Phrases that ask for a change. A verb asks at the start of a clause (not in "You cite well"), unless it is a noun
# there ("Use of citations is excellent").
_ASKS = re.compile(
    rf"(?:\A|[,;:–—]\s|\n)\W{{0,8}}(?:(?:also|then|next|instead|finally|first|and|but|or|so)\W{{1,8}}){{0,2}}{_VERBS}"
    r"\b(?!\s*(?:[:.!]|\Z|(?:of|for|is|are|was|were|and|or)\b))"
    rf"|\b(?:should|must|ought to|needs? to|ha(?:s|ve) to|better to|want to)\s+(?:\w+ly\s+|also\s+)?{_VERBS}\b"
    r"|\bneeds?\s+(?:an?|more|another|some|better|further|its)\b"
    r"|\b(?:please|try|ensure|make sure|consider|would be better)\b"
    r"|\b(?:recommend|suggest)\w*\s+(?:\w+ing|that|to|you)\b",
    re.IGNORECASE,
)
_BLAMES = re.compile(
    r"\b(?:(?:is|are) (?:needed|required|necessary)|instead|(?:should|must|ought to|needs? to|could) be \w+"
    r"|absent|ignor\w+|overlook\w*|off by|beyond (?!improve|doubt|reproach|question)|about something else|no mention"
    r"|incorrect\w*|inaccura\w+|wrong\w*|false|mistaken\w*|errors?|mistakes?|missing|misses|missed|lacks?|lacking"
    r"|omit\w*|leaves? out|left out|incomplete|insufficient\w*|irrelevant|unsupported|unrelated|contradict\w*"
    r"|unverified|unclear|vague|fails?|failed|weak|poor|low|too (?:few|little|much|many|long|short|general)"
    r"|without (?:a |any )?(?:citations?|sources?|support|evidence)|no (?:citations?|sources?|support|evidence)"
    r"|not (?!only|just|merely)\w+|cannot|\w+n['’]t|nowhere)\b",
    re.IGNORECASE,
)
# Words that turn a fault into praise ("Nothing is wrong", "No sentence lacks a source", "hard to see what is missing").
_SWEEPING = re.compile(
    r"(?<!not )\b(?:nothing|none|never|neither|nobody|anything|every(?:thing|body|one)?|each|all|always|hard(?:ly)?"
    r"|scarcely|barely|difficult|few,? if any|not (?:one|a single))\b|(?:\A|[,;:]\s*)\W{0,4}no\b",
    re.IGNORECASE,
)
_TURNS = re.compile(r"\b(?:but|however|although|though|yet|except|unless|while|whereas)\b", re.IGNORECASE)
_PRAISES = re.compile(
    r"\b(?:great|fantastic|wonderful|superb|flawless\w*|exactly|wisely|good|excellent|perfect\w*|well|nice\w*|satisf\w+|strong|correct|right|accura\w+|precise|appropriate\w*"
    r"|relevant|comprehensive\w*|thorough\w*|impressive|commendable|outstanding|fine|keep|continue|maintain|bravo"
    r"|congratulations|fully|effective\w*|high|properly)\b",
    re.IGNORECASE,
)


def demanding_part(part: str) -> str | None:
    """The part of a model's feedback on one aspect that agrees with a score below the target, or None.

    Affirming sentences are dropped; words without a known fault or request (in other languages, for example) count as
    affirming.
    """
    kept = [sentence for sentence in sentence_texts(part) if _demands(sentence) or not _affirms(sentence)]
    return " ".join(kept) if any(map(_demands, kept)) else None


def affirmation(score: float, target: float) -> str:
    return f"This is good: {score:.0f} of 100, where {target:.0f} are asked for. Keep it as it is."


def _demands(sentence: str) -> bool:
    telling = _HARMLESS.sub(" ", sentence)
    if _ASKS.search(telling):
        return True
    return _BLAMES.search(telling) is not None and (_TURNS.search(telling) is not None or not _affirms(sentence))


def _affirms(sentence: str) -> bool:
    return bool(_PRAISES.search(sentence) or _SWEEPING.search(sentence))


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
        part = demanding_part(model[aspect])
        if part is None:
            why = f"it only affirms, but {aspect} is {score:.0f}, below the target of {target:.0f}"
            discarded.append(Omission(f"{aspect}: {model[aspect]}", why))
        else:
            parts[aspect] = part
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
    assessment: Assessment, aims: Aims, passages: Sequence[Passage], questions: Sequence[str], style: Style
) -> dict[str, str]:
    """Feedback by aspect; `questions` are the question and any sub-questions."""
    name = PassageNumbers.of(passages, style)
    feedback = {}
    for aspect, target in aims.targets.items():
        score = assessment.scores[aspect]
        is_good = score >= target
        feedback[aspect] = affirmation(score, target) if is_good else _faults(aspect, assessment, questions, name)
    return feedback


def _faults(aspect: str, assessment: Assessment, questions: Sequence[str], name: PassageNumbers) -> str:
    claims = assessment.claims
    if aspect == CITATION_RECALL:
        remarks, otherwise = recall_faults(claims, name), "Cite, for every statement, passages that support it."
    elif aspect == CITATION_PRECISION:
        remarks, otherwise = _precision_faults(assessment, name), "Cite only passages that support what they stand by."
    elif aspect == ANSWER_PRECISION:
        remarks, otherwise = _unproven(claims, name), "Leave out what does not answer the question."
    else:
        remarks = [*(_unproven(claims, name) if aspect == CORRECTNESS else ()), *_gaps(claims, questions)]
        otherwise = "The answer is incomplete: say what else the passages say on the question."
    return " ".join(remarks) or otherwise


def recall_faults(claims: Sequence[ClaimAssessment], name: PassageNumbers) -> list[str]:
    """The fault and the remedy of each unsupported claim."""
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


def _gaps(claims: Sequence[ClaimAssessment], questions: Sequence[str]) -> list[str]:
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
