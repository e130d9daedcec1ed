"""Edits of who and where: another name of the same kind, and names that change their roles."""

from __future__ import annotations

import itertools
import random
import re

from claims.english import is_verb_form, may_be_person
from claims.place import Place, capital, put
from claims.stock import kind_of
from claims.words import ADJECTIVE_OF, NATIONALITIES
from toulmin.text.language import fold
from toulmin.text.names import Fact

_TRIES = 6
_TO = (
    "defeated beat succeeded replaced preceded taught mentored killed murdered assassinated acquired bought conquered"
    " invaded influenced inspired nominated appointed hired coached overthrew followed attacked supported employed"
    " trained advised accused betrayed captured imprisoned executed adopted raised sued outlived endorsed criticised"
    " criticized praised sponsored founded discovered rescued challenged introduced recommended promoted portrays"
    " portrayed owns owned controls absorbed inherited produced directed wrote sold recruited commissioned played"
)
_ACTIVE = re.compile(
    rf"^(?P<gap> (?:also |later |then |had |has |eventually |finally )?(?:{_TO.replace(' ', '|')}) (?:the )?)$"
)
_PASSIVE = re.compile(
    r"^(?P<gap>,? (?:(?:was|were|is|are|been|being|and|later|who|which) )*(?!surrounded|bordered|joined"
    r"|accompanied)(?:[a-z]+ed|taught|beaten|bought|overthrown|written"
    r"|sung|sold|chosen|shot|led|won|held|made|taken|given) by (?:the )?)$"
)
_KIN = re.compile(
    r"^(?P<gap>,? (?:is|was|are|were|became)? ?(?:the |an? )?(?:[a-z]+ )?(?:son|daughter|father|mother|teacher"
    r"|student|pupil"
    r"|grandson|granddaughter|nephew|niece|uncle|aunt|grandfather|grandmother|successor|predecessor|capital|suburb"
    r"|subsidiary|sequel|prequel|disciple|follower|assistant|vassal|district|part|city|town|village|province|county"
    r"|mentor|child|stepson|disciple|heir|colony|moon|tributary|member|chairman|president|founder|captain) (?:of|to) "
    r"(?:the )?)$"
)
_COMPASS = re.compile(
    r"^(?P<gap> (?:is|lies|was|stands)(?: [\w.,]+){0,3} (?:north|south|west|east|northeast|northwest|southeast"
    r"|southwest|north-west"
    r"|downstream|upstream) of (?:the )?|(?: \w+){0,3} (?:larger|smaller|older|younger|higher|longer|taller|later"
    r"|earlier) than (?:the )?)$"
)
_AS = re.compile(r"^,? (?:as|plays|played|playing|voices|voiced|portrays|portrayed) $")
_JOINS = re.compile(r"^(?:,| and|, and|;|\.) $|^, (?:while|whereas) $")


def _is_free(name: str, place: Place) -> bool:
    """Whether no word of the name stands in the passages, nor what means the same."""
    words = re.findall(r"\w{3,}", fold(name))
    also = ADJECTIVE_OF.get(fold(name))
    meant = [key for key, value in ADJECTIVE_OF.items() if value == fold(name)]
    lower = place.ground.lower
    return not any(word in lower for word in (*words, *([also] if also else []), *meant))


def _like(new: str, article: str) -> bool:
    """Whether the name may stand behind this article."""
    return article not in ("a", "an") or (article == "an") == (new[0] in "AEIOU")


def entity(place: Place, chance: random.Random) -> str | None:
    """Another person, country, nationality, place or body of the same kind, unknown to the passages."""
    found = [(fact, kind_of(fact, place.claim)) for fact in place.found if fact.kind == "name" and fact.start > 0]
    found = [(fact, kind) for fact, kind in found if kind and place.claim[fact.start : fact.end] not in place.title]
    if not found:
        return None
    fact, kind = chance.choice(found)
    words = place.claim[fact.start : fact.end]
    tail = re.search(r"['’]s$", words)
    for _ in range(_TRIES):
        new = place.stock.name(kind or "", chance)
        article = (re.search(r"\b(an?) $", place.claim[: fact.start]) or [""])[0].strip()
        if new and _is_free(new, place) and _like(new, article):
            return put(place.claim, fact.start, fact.end, new + (tail[0] if tail else ""))
    return None


def _swapped(claim: str, first: Fact, second: Fact) -> str:
    one, two = claim[first.start : first.end], claim[second.start : second.end]
    return capital(claim[: first.start] + two + claim[first.end : second.start] + one + claim[second.end :])


def _alike(place: Place, first: Fact, second: Fact) -> bool:
    """Whether two names may stand in each other's place: neither within the other, no possessive, no list around."""
    claim = place.claim
    words = set(first.value.split()) & set(second.value.split())
    ends = claim[first.end - 2 : first.end] + claim[second.end - 2 : second.end]
    kinds = {_role_kind(first, claim), _role_kind(second, claim)}
    is_known = len(kinds) == 1 and "nationality" not in kinds
    listed = re.match(r"(?:,| and) (?:and )?[A-Z]", claim[second.end :])
    before = re.search(r"(?:, | and |with |\()$", claim[: first.start])
    goes_on = _ENDS_ROLE.match(claim[second.end :]) is not None
    return goes_on and not words and "s" not in re.findall(r"['’](\w)", ends) and is_known and not listed and not before


_ENDS_ROLE = re.compile(
    r"[.,;)]|$| (?:in|on|at|and|as|for|from|who|which|with|during|after|to|by|is|was|were|has|had|until|when|but"
    r"|before)\b"
)
_MUTUAL = re.compile(
    r"\b(?:with|alongside|between|and|or|versus|vs|like|both|married|met|fought|brother|sister|sibling|cousin|friend|twin"
    r"|colleague|rival|wife|husband|spouse|partner|contemporary|neighbou?r|border|borders|bordered|than|as|starring|include"
    r"|includes|included|including|featuring|features|stars|starred|divorced|dated|joined|known|name|called|alias|pseudonym|born)\b|[;:]"
)
_ROYAL = frozenset("President Prince Duke King Queen Battle Hong New North South Final Grand World".split())


def _role_kind(fact: Fact, claim: str) -> str:
    """A wider kind than that of `kind_of`: a name of one word may be a surname or a place, but both are then alike."""
    name = claim[fact.start : fact.end]
    known = kind_of(fact, claim)
    opens = name.split()[0]
    is_other = opens in _ROYAL or opens in NATIONALITIES or "-" in name
    return known or ("person" if may_be_person(name) and not is_other else f"{len(name.split())} words")


def _is_apart(gap: str, kind: str) -> bool:
    """Whether a verb that is not mutual stands between two people or two countries: then each has a part of its own."""
    is_sure = kind in ("person", "country") and 8 <= len(gap) <= 90 and not _MUTUAL.search(gap)
    return is_sure and any(is_verb_form(word) for word in re.findall(r"[a-z]+", gap))


def role_swap(place: Place, chance: random.Random) -> str | None:
    """ "Nolan was taught by Pell" for "Pell was taught by Nolan"; only relations that have a direction."""
    names = [fact for fact in place.found if fact.kind == "name"]
    found = []
    for first, second in itertools.pairwise(names):
        gap = place.claim[first.end : second.start]
        is_directed = any(form.match(gap) for form in (_ACTIVE, _PASSIVE, _KIN, _COMPASS)) or _is_apart(
            gap, _role_kind(first, place.claim)
        )
        if is_directed and _alike(place, first, second):
            found.append((first, second))
    if not found:
        return None
    return _swapped(place.claim, *chance.choice(found))


def cast_swap(place: Place, chance: random.Random) -> str | None:
    """ "A as X and B as Y" told as "B as X and A as Y"."""
    names = [fact for fact in place.found if fact.kind == "name"]
    claim = place.claim
    for one, part, two, other in zip(names, names[1:], names[2:], names[3:], strict=False):
        gaps = [claim[one.end : part.start], claim[part.end : two.start], claim[two.end : other.start]]
        if _AS.match(gaps[0]) and _JOINS.match(gaps[1]) and _AS.match(gaps[2]):
            return _swapped(claim, one, two)
    return None


def _are_figures(claim: str, found: list[Fact]) -> bool:
    """Whether all are written in digits: an ordinal and a count in words cannot stand for each other."""
    return all(re.search(r"\d", claim[fact.start : fact.end]) for fact in found)


def exchange(place: Place, chance: random.Random) -> str | None:
    """Two dates, or two numbers, of one sentence in each other's place, each in a part of its own."""
    for kind in chance.sample(["date", "number"], 2):
        found = [fact for fact in place.found if fact.kind == kind]
        if len(found) != 2 or found[0].value == found[1].value or not _are_figures(place.claim, found):
            continue
        first, second = found
        claim, gap = place.claim, place.claim[found[0].end : found[1].start]
        parted = re.search(r", (?:and|but|while|then)\b|\band\b.*\b[a-z]+ed\b|;", gap)
        is_same_case = kind == "date" or claim[first.start].isupper() == claim[second.start].isupper()
        shapes = [re.sub(r"\d", "0", re.sub(r"[A-Za-z]+", "a", claim[f.start : f.end])) for f in found]
        if parted and shapes[0] == shapes[1] and len(gap) > 12 and is_same_case:
            return _swapped(claim, first, second)
    return None
