"""True claims that stand alone or say less: the page's title for its pronoun, a modifier dropped."""

from __future__ import annotations

import random
import re

from claims.english import may_be_person
from claims.place import Place, capital, put
from claims.stock import kind_of
from toulmin.text.language import fold, sentences
from toulmin.text.names import facts

_PRONOUN = re.compile(r"^(?P<word>He|She|It|His|Her|Its)(?= (?P<next>[a-z]+))")
_OWNING = frozenset(("His", "Its"))
_VERBAL = re.compile(
    r"^(?:is|was|has|had|can|will|also|[a-z]+ed|became|began|made|won|wrote|took|held|led|left|grew|got)$"
)
_EMPTY_IT = re.compile(
    r"^It (?:is|was|has been|had been) (?:(?:\w+ )?(?:that|to|not|thought|believed|said|possible|likely|clear|known"
    r"|reported|estimated|announced|revealed|unclear|important|common)|the (?:first|second|last|only)|for|during"
    r"|in \d{4})\b|^It (?:took|seems|appears|turned out)"
)
_BRACKETS = re.compile(r" \([^()]*\)")
_WHICH = re.compile(r", (?:which|who) [^,;:()\"]{8,120}(?=\.$|, (?:and |is |was |were |has ))")
_APPOSED = re.compile(r"(?<=[a-z]), (?:an?|the) [a-z][^,;:()\"]{5,70}, (?=(?:is|was|were|has|had|became|[a-z]+ed)\b)")
_LED = re.compile(r"(?:Despite|In|On|At|After|Before|With|For|From|During|As|By|Under|Like|Unlike)\b")
_ADVERB = re.compile(
    r" (?:also|later|then|subsequently|eventually|famously|formally|officially|publicly|finally|originally|initially"
    r"|successfully|quickly|previously)(?= [a-z])"
)
_CONNECTIVE = re.compile(
    r"^(?:In addition|As a result|For example|In fact|For instance|Eventually|Finally|Subsequently|Consequently"
    r"|Additionally|Ultimately|Meanwhile), (?=[A-Zthiase])"
)
_NEGATED = re.compile(
    r"\b(?:not|never|no|only|nor|without|none|neither|except|all|every|each)\b|n['’]t\b", re.IGNORECASE
)


def bare_title(title: str) -> str:
    """The title without what tells it from others: "Gandhi" for "Gandhi (film)"."""
    return re.sub(r"\s*\([^()]*\)$|,.*$", "", title)


def named(place: Place, chance: random.Random) -> str | None:
    """The title for the pronoun that opens the claim, if the passage opens with the title and names no rival."""
    match, title = _PRONOUN.match(place.claim), bare_title(place.title)
    if match is None or not title or title.startswith("List of") or title[0].islower():
        return None
    text = place.ground.passages[0].text
    if not fold(text[:80]).startswith((fold(title), "the " + fold(title))) or _EMPTY_IT.match(place.claim):
        return None
    is_person = may_be_person(title) and re.search(
        r"\b(?:born|actor|actress|player|politician|singer|writer|who)\b", text[:300]
    )
    if match["word"] in ("It", "Its") and (is_person or _has_rival(place)):
        return None
    if match["word"] in ("He", "She", "His", "Her") and (not is_person or _has_person_rival(place, title)):
        return None
    owns = match["word"] in _OWNING or (match["word"] == "Her" and not _VERBAL.match(match["next"]))
    is_marked = fold(title).startswith("the ")
    name = title if is_marked else ("The " if fold(text).startswith("the ") else "") + title
    return put(place.claim, 0, match.end("word"), f"{name}'s" if owns else name)


def _before(place: Place) -> str:
    """What stands before the claim in the first passage."""
    return place.ground.passages[0].text.partition(place.claim)[0]


def _has_rival(place: Place) -> bool:
    """Whether a thing other than the title may be meant by "it": only the passage's second sentence is sure."""
    return len(sentences(_before(place))) > 2


def _has_person_rival(place: Place, title: str) -> bool:
    own = set(fold(title).split())
    text = _before(place)
    people = [text[f.start : f.end] for f in facts(text) if f.kind == "name" and kind_of(f, text) == "person"]
    return any(not own & set(fold(person).split()) for person in people)


def dropped(place: Place, chance: random.Random) -> str | None:
    """The claim without a bracket, an aside, a relative clause, a connective or an adverb; never under a negation."""
    claim = place.claim
    if _NEGATED.search(claim):
        return None
    forms = [_BRACKETS, _WHICH, _APPOSED, _ADVERB, _CONNECTIVE]
    chance.shuffle(forms)
    for form in forms:
        match = None if form is _APPOSED and _LED.match(claim) else form.search(claim)
        if match:
            shorter = capital(put(claim, match.start(), match.end(), " " if form is _APPOSED else ""))
            shorter = re.sub(r"  +", " ", shorter)
            if len(shorter.split()) >= 4:
                return shorter
    return None
