"""What a model says of an answer, held against the scores that it was told.

A2R's own error analysis (Table 7) is a model that praises what scored 0. Of its words, one part an aspect, only what
agrees with the score gets through.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from toulmin.data import Dropped
from toulmin.language import sentences
from toulmin.methods.aims import Aims

_FAULT_WORD = (
    r"(?:errors?|mistakes?|issues?|problems?|faults?|flaws?|gaps?|changes?|improvements?|corrections?|revisions?"
    r"|concerns?|complaints?|(?:further |more )?feedback|weakness(?:es)?|room for improvement|shortcomings?"
    r"|irrelevan\w+|unsupported|wrong|incorrect|inaccura\w+|missing|lacking|omitted|left out|contradict\w*)"
)
# What sounds like fault-finding but is none.
_HARMLESS = re.compile(
    rf"\b(?:no|without(?: any)?|free (?:of|from)|not any|zero|hardly any)\s+(?:\w+\s+){{0,3}}?{_FAULT_WORD}"
    r"(?:\s+(?:(?:to|that|which)\s+)?(?:\w+\s+){0,2}?(?:be\s+)?"
    r"(?:needed|necessary|required|found|made|fix|correct|change|mend))?"
    rf"|\b(?:does|do|did|is|are|was|were|has|have)(?:\s+not|n['’]t)\s+(?:\w+\s+){{0,3}}?{_FAULT_WORD}"
    r"|\bno(?:thing| need)\b(?:\s+\w+){0,2}?\s+(?:to|be|is|was|needs?|requires?|must|should|has)\b"
    r"(?:\s+(?:to\s+)?\w+){0,3}"
    r"|\b(?:does|do|did)(?:\s+not|n['’]t)\s+(?:need|require|have to|miss|lack|omit)\b(?:\s+\w+){0,3}"
    r"|\b(?:could|can)(?:\s*not|n['’]t)\s+be\s+(?:better|improved)"
    r"|\bnot\s+(?:only|just|merely)\b"
    r"|\b(?:please\s+)?(?:make sure to\s+|try to\s+)?(?:keep|continue|maintain)\b[^.!?;]{0,60}"
    r"|\bshould\s+(?:be\s+)?(?:kept|stay|remain)\b[^.!?;]{0,30}",
    re.IGNORECASE,
)
# What asks for a change, or names a fault.
_DEMANDS = re.compile(
    r"\b(?:please|try|ensure|make sure|should|must|ought|needs?|could|consider|avoid|instead|rather than|replace"
    r"|remove|drop|delete|add|include|cite|provide|offer|rewrite|rephrase|revise|rework|recheck|re-?check|check"
    r"|verify|clarify|correct (?:the|this|that|it|sentence|claim)|fix|mend|improve\w*|expand|elaborate|specify"
    r"|complete (?:the|it|this)|mention|cover|address|focus"
    r"|incorrect\w*|inaccura\w+|wrong\w*|false|mistaken\w*|errors?|mistakes?|missing|misses|missed|lacks?|lacking"
    r"|omit\w*|leaves? out|left out|incomplete|insufficient\w*|irrelevant|unsupported|unrelated|contradict\w*"
    r"|unverified|unclear|vague|fails?|failed|weak|poor|low|too (?:few|little|much|many|long|short|general)"
    r"|without (?:a |any )?(?:citations?|sources?|support|evidence)|no (?:citations?|sources?|support|evidence)"
    r"|none of|hardly|barely|not (?!only|just|merely)\w+|cannot|\w+n['’]t|nothing in|nowhere|better|more)\b",
    re.IGNORECASE,
)
_PRAISES = re.compile(
    r"\b(?:great|good|excellent|perfect\w*|well|nice\w*|satisf\w+|strong|correct|right|accura\w+|precise|appropriate\w*"
    r"|relevant|comprehensive\w*|thorough\w*|impressive|commendable|outstanding|fine|keep|continue|maintain|bravo"
    r"|congratulations|fully|effective\w*|high)\b",
    re.IGNORECASE,
)


def agreeing(part: str, score: float, target: float) -> str | None:
    """What of a model's words on one aspect agrees with its score; None where nothing does.

    From the target on, whatever was said becomes a plain affirmation. Below it only words that ask for a change or
    name a fault agree: sentences that only affirm are left out, and words in which nothing of that kind is found
    (in another language than English, say) count as affirming, so that praise of a low score never gets through.
    """
    if score >= target:
        return affirmation(score, target)
    said = [part[span.start : span.end] for span in sentences(part)]
    kept = [sentence for sentence in said if _demands(sentence) or not _PRAISES.search(sentence)]
    return " ".join(kept) if any(map(_demands, kept)) else None


def affirmation(score: float, target: float) -> str:
    """The whole of what is said of an aspect that reaches its target."""
    return f"This is good: {score:.0f} of 100, where {target:.0f} are asked for. Keep it as it is."


def _demands(sentence: str) -> bool:
    return _DEMANDS.search(_HARMLESS.sub(" ", sentence)) is not None


@dataclass(frozen=True, slots=True)
class Advice:
    """The feedback that a refinement is given, by aspect, and the parts of a model's that were left out, with why."""

    said: Mapping[str, str]
    discarded: tuple[Dropped, ...] = ()


def merged(own: Mapping[str, str], model: Mapping[str, str], aims: Aims, scores: Mapping[str, float]) -> Advice:
    """The grounded feedback, in which each of the model's parts stands that agrees with its score."""
    said, discarded = dict(own), []
    for aspect, target in aims.targets.items():
        score = scores[aspect]
        if score >= target or aspect not in model:
            continue
        part = agreeing(model[aspect], score, target)
        if part is None:
            why = f"it only affirms, but {aspect} is {score:.0f}, below the target of {target:.0f}"
            discarded.append(Dropped(f"{aspect}: {model[aspect]}", why))
        else:
            said[aspect] = part
    return Advice(said, tuple(discarded))
