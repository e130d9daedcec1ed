"""Makes questions from statements, each answered by words of its statement.

Every rule yields only questions of certain grammar: precision before recall. A question names its subject in full
and holds neither its answer nor a word that points outside it ("it", "the company"); its answer is the only one of
its kind in the clause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from toulmin.datasets.synthetic_amounts import counts, measures, populations
from toulmin.datasets.synthetic_descriptions import _OWN, definitions, superlatives
from toulmin.datasets.synthetic_figures import dates, lives
from toulmin.datasets.synthetic_makers import bylines, doers, makers, works
from toulmin.datasets.synthetic_places import locations, places
from toulmin.datasets.synthetic_question import Asked
from toulmin.datasets.synthetic_statements import Statement, squeeze
from toulmin.datasets.synthetic_verbs import is_verb_form
from toulmin.text.overlap import normalise

_OF_ITS_OWN = frozenset(("maker", "work", "doer", "best"))
_RULES: tuple[Callable[[Statement], Iterator[Asked]], ...] = (
    *(dates, lives),
    *(makers, works, bylines, doers),
    *(places, locations),
    *(counts, measures, populations),
    *(superlatives, definitions),
)


def questions_of(statement: Statement) -> list[Asked]:
    candidates = (each for rule in _RULES for each in rule(statement))
    return [each for each in candidates if _is_sound(each)]


_POINTS_OUTSIDE = re.compile(
    r"\b(?:it|they|them|he|she|him|this|these|those|that|there|here|such|same|other|others|another|latter|former|above"
    r"|below|previous|next|both|we|us|our|you|your|i|me|my|himself|herself|itself|themselves|respectively|following"
    r"|also|however|recent|recently|current|currently|whose|who|which|ago|today|now|there|then|each|one)\b",
    re.IGNORECASE,
)
_OF_ANOTHER = re.compile(
    r"\b(?:his|her|their|its) (?:resignation|death|proposal|request|offer|nomination|appointment|body|own|wife"
    r"|husband)\b"
)
_DEFINITE = re.compile(r"\bthe (?=(?P<words>[a-z][^,]*))")
_TELLS_WHICH = re.compile(
    r"^(?:(?!(?:with|by|to|as|and|into|under|after|against|in|on|at|from|for|than|when|between)\b)[a-z-]+ ){0,4}"
    r"(?:[A-Z0-9\"“]|of\b|for\b|(?:in|at|on|from) (?:the )?[A-Z])"
    r"|^(?:(?:first|second|third|last|only|same) time|world|public|\w+est [a-z]+ (?:of|in))\b"
)
_LONGEST_QUESTION = 170
_LONGEST_ANSWER = 90


def _is_sound(each: Asked) -> bool:
    return _fits(each) and not _points_outside(each) and not _is_odd(each) and not _gives_away(each)


def _fits(each: Asked) -> bool:
    passage, (start, end) = each.statement.passage, each.statement.span
    is_short = len(each.question) <= _LONGEST_QUESTION and all(0 < len(a) <= _LONGEST_ANSWER for a in each.answers)
    return is_short and each.answers[0] in squeeze(passage.text[start:end])


def _points_outside(each: Asked) -> bool:
    asking = each.before.removeprefix("In which year").removeprefix("Who").removeprefix("How many")
    around = f"{asking} {each.after}"
    if _POINTS_OUTSIDE.search(around) or _OF_ANOTHER.search(around):
        return True
    if each.rule in _OF_ITS_OWN and _OWN.search(around):
        return True
    definite = () if each.rule == "best" else _DEFINITE.finditer(around)
    return any(not _TELLS_WHICH.match(match["words"]) for match in definite)


def _is_odd(each: Asked) -> bool:
    question = each.question
    joined = re.search(r"\band (?P<words>.+)", each.after)
    if joined and any(is_verb_form(word) for word in joined["words"].strip("?").split()):
        return True
    return question.count('"') % 2 == 1 or re.search(r"[()]|[,.;:]\s*\?$|\s[,.?]|\b(\w{3,}) \1\b", question) is not None


def _gives_away(each: Asked) -> bool:
    answers = each.answers[:1] if each.kind == "number" else each.answers
    plain = f" {normalise(each.question)} "
    words = {word for answer in answers for word in normalise(answer).split() if len(word) > 3 and word.isalpha()}
    return any(f" {word} " in plain for word in (*map(normalise, answers), *words))
