"""A claim that says more than its passages: a detail of another page, put where a detail could stand."""

from __future__ import annotations

import random
import re

from claims.place import Place, put
from claims.stock import last_verb
from toulmin.text.language import STOPWORDS, fold
from toulmin.text.names import facts

_TRIES = 8
_DATED = re.compile(r"\d{4}")
_CLOSED = re.compile(r"\b(?:which|who|that|where|when|because|although|including|such as|called|named|titled)\b")
_PERSON_SUBJECT = re.compile(r"^(?:He|She|[A-Z][a-z]+ [A-Z][\w.]+(?: [A-Z]\w+)?) (?P<verb>[a-z]+)\b")
_ADJECTIVES = "award-winning controversial privately-owned government-funded best-selling short-lived newly-elected"
_OFFICE = re.compile(
    r"\b(?P<article>an?|the) (?=(?:[A-Z][a-z]+ )?(?:actor|actress|author|writer|singer|politician|film|novel"
    r"|company|song"
    r"|album|school|university|player|band|team|museum|building|hotel|television series|journalist|painter)\b)"
)


def _is_new(words: str, place: Place) -> bool:
    """Whether the passages hold none of the facts and few of the words."""
    said = [fact.value for fact in facts(words)]
    content = [word for word in re.findall(r"[a-z]{4,}", fold(words)) if word not in STOPWORDS]
    shared = sum(word in place.ground.lower for word in content)
    return (
        bool(said or content) and not any(value in place.ground.lower for value in said) and shared * 2 <= len(content)
    )


def _ending(place: Place, chance: random.Random) -> str | None:
    """A circumstance that goes with the claim's last verb, where none of its kind stands there yet."""
    claim = place.claim
    verb = last_verb(claim)
    held = list(place.stock.details.get(verb[0], {})) if verb else []
    if verb is None or not held or _CLOSED.search(claim, verb.end()) or re.search(r"[,;:)]", claim[verb.end() :]):
        return None
    for detail in chance.sample(held, min(_TRIES, len(held))):
        is_taken = re.search(rf"\b{detail.preposition}\b", claim[verb.end() :])
        if not is_taken and _is_new(detail.words, place) and not (_DATED.search(detail.words) and _DATED.search(claim)):
            return f"{claim[:-1]} {detail.words}."
    return None


def _predicate(place: Place, chance: random.Random) -> str | None:
    """A second thing that a person is said to have done."""
    if not _PERSON_SUBJECT.match(place.claim) or _CLOSED.search(place.claim) or not place.stock.predicates:
        return None
    if re.search(r"\b(?:is|are|has|have|will|can)\b", place.claim):
        return None
    predicates = list(place.stock.predicates)
    for _ in range(_TRIES):
        predicate = chance.choice(predicates)
        if _is_new(predicate, place) and not re.search(r"\bit\b|\bits\b", predicate):
            return f"{place.claim[:-1]} and {predicate}."
    return None


def _adjective(place: Place, chance: random.Random) -> str | None:
    match = _OFFICE.search(place.claim)
    word = chance.choice(_ADJECTIVES.split())
    if match is None or match["article"] == "the" or place.ground.says(word.split("-")[0]):
        return None
    article = "an" if word[0] in "aeiou" else "a"
    return put(place.claim, match.start(), match.end(), f"{article} {word} ")


def added(place: Place, chance: random.Random) -> str | None:
    """The claim with a circumstance, a second deed or an adjective that no passage knows."""
    ways = [_ending, _ending, _predicate, _predicate, _adjective]
    chance.shuffle(ways)
    return next((claim for way in ways if (claim := way(place, chance))), None)
