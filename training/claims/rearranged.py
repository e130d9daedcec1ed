"""True claims in another order: clauses moved, active for passive, and one fact of a sentence told by itself."""

from __future__ import annotations

import random
import re

from claims.english import of_participle, of_past, of_present
from claims.place import Place, capital
from toulmin.text.names import opens_only

_LEAD = re.compile(
    r"^(?P<lead>(?:In|On|During|After|Before|By|At|Since|From|Following|Throughout|Until|Under) [^,;:()\"]{3,50}),"
    r" (?P<rest>[^;:\"]+)\.$"
)
_TAIL = re.compile(
    r"^(?P<rest>[^;:()\",]{20,150}) (?P<tail>(?:in|on|during|since) (?:the )?(?:early |late |summer of |spring of "
    r"|autumn of )?"
    r"(?:\d{1,2} )?(?:(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r" )?(?:\d{1,2}, )?\d{4}s?)\.$"
)
_CLAUSE = r"(?:although|though|because|while|when|since|after|before|if|as)"
_FRONTED = re.compile(
    rf"^(?P<sub>{_CLAUSE.replace('as)', 'as soon as)')} [^,;:()\"]{{12,120}}), (?P<main>[^,;:()\"]{{15,140}})\.$",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"^(?P<main>[^,;:()\"]{15,140}),? (?P<sub>(?:although|because|when|while|even though)"
    r" (?!of\b)[^,;:()\"]{12,120})\.$"
)
_LINK = re.compile(r"In (?:addition|fact|particular|contrast|short|general|turn|conclusion|summary|this|these|other)\b")
_WHOSE = re.compile(r"^(?:it|he|she|they|this|that|these|his|her|its|their)\b", re.IGNORECASE)
_NAME = r"(?:[A-Z][\w.'’-]*(?: (?:of|the|de|von|van|and|[A-Z][\w.'’-]*|\d+))*)"
_NOUN = rf"(?:(?:the|The|a|A|an|An) (?:[\w'’-]+ ){{0,4}}?[\w'’-]+|(?:[Tt]he )?{_NAME})"
_WHEN = r"(?P<when> in (?:[A-Z][a-z]+ )?\d{4}| on [\dA-Z][\w ]{4,14},? \d{4})?"
_PASSIVE = re.compile(rf"^(?P<object>{_NOUN}) (?P<be>was|were) (?P<verb>[a-z]+) by (?P<agent>{_NOUN}){_WHEN}\.$")
_ACTIVE = re.compile(rf"^(?P<agent>{_NOUN}) (?P<verb>[a-z]+) (?P<object>{_NOUN}){_WHEN}\.$")
_MADE_BY = re.compile(
    rf"^(?P<object>{_NOUN})(?: \([^()]*\))? (?:is|was|were) (?:an? [^,;:()\"]{{4,60}}? |the [^,;:()\"]{{4,60}}? )?"
    r"(?P<verb>directed|written|composed|founded|designed|built|created|developed|painted|discovered|established"
    rf"|owned|operated|published|invented|defeated|sung|conquered|acquired|succeeded|killed) by (?P<agent>(?:the"
    rf" )?{_NAME})"
    r"(?=\.$|, (?:and|who|which|with|starring|based)\b| (?:in|on|at|for|from|starring|during|after|with|as) )"
)
_NOT_PASSIVE = frozenset(
    "become come have go die live arrive serve happen appear remain belong stand rise fall succeed join enter retire"
    " return cost weigh feature contain last occur begin graduate debut star continue resign travel emigrate"
    " reside".split()
)
_BE = frozenset("is are was were has had have can will".split())
_BORN = re.compile(
    rf"^(?P<name>{_NAME}) \((?:born )?(?P<born>(?:\d{{1,2}} [A-Z][a-z]+|[A-Z][a-z]+ \d{{1,2}},) \d{{4}})"
    rf"(?: ?[–-] ?(?P<died>(?:\d{{1,2}} [A-Z][a-z]+|[A-Z][a-z]+ \d{{1,2}},) \d{{4}}))?\) (?P<be>is|was) "
)
_WHO = re.compile(
    rf"^(?P<name>{_NAME})(?: \([^()]*\))? (?:is|was) (?:an?|the) [^,;:()\"]+?,? (?:who|which|that) (?P<verb>[a-z]+)"
    rf" (?P<rest>[^;:()\",]{{8,120}})\.$"
)
_AND = re.compile(
    rf"^(?P<name>{_NAME}) (?P<first>(?:is|was|[a-z]+) [^,;:()\"]{{10,90}}?),? and (?P<verb>[a-z]+)"
    rf" (?P<rest>[^;:()\",]{{8,110}})\.$"
)


def _as_opening(words: str) -> str:
    lowers = re.match(
        r"(?:The|A|An|In|On|His|Her|Its|Their|It|He|She|They|There|This|These|During|After|Before|By|At|Since|From"
        r"|Following|Throughout|Until|Under|Although|Though|Because|While|When|If|As)\b",
        words,
    )
    first = words.split()[0]
    is_common = opens_only(first) and not re.match(r"\S+ [A-Z]", words) and first.isalpha() and not first.isupper()
    return words[0].lower() + words[1:] if lowers or is_common else words


def moved(place: Place, chance: random.Random) -> str | None:
    """ "X in 1990." for "In 1990, X." and back; a subordinate clause before or behind its main clause."""
    claim = place.claim
    fronted = _FRONTED.match(claim)
    if fronted:
        return _clause_back(fronted)
    lead = _LEAD.match(claim)
    if lead and not _LINK.match(lead["lead"]):
        is_simple = not re.search(r"[,()]|\b(?:and|which|who|that|but|because|while|when|or)\b", lead["rest"])
        return f"{capital(_as_opening(lead['rest']))} {_as_opening(lead['lead'])}." if is_simple else None
    back = _BACK.match(claim)
    if back and not _WHOSE.match(back["main"]) and _is_whole(back["main"]):
        return f"{capital(back['sub'])}, {_as_opening(back['main'])}."
    tail = _TAIL.match(claim)
    if tail and not re.search(
        r"\b(?:and|which|who|that|but|because|while|when|or|whose|born|since|between|until)\b|ing\b", tail["rest"]
    ):
        return f"{capital(tail['tail'])}, {_as_opening(tail['rest'])}."
    return None


def _is_whole(main: str) -> bool:
    """Whether words are surely a clause: five or more, with a finite verb, and no conjunction at the end."""
    told = any(word in _BE or of_past(word) for word in main.split())
    return len(main.split()) > 4 and told and not re.search(r"\b(?:or|and|but|even|only|just|that)$", main)


def _clause_back(match: re.Match[str]) -> str | None:
    """The main clause first; a pronoun in it would lose its name, so such a sentence is left."""
    if _WHOSE.match(match["main"]) or re.search(r"\b(?:then|so)\b|^(?:and|or|but)\b", match["main"]):
        return None
    return f"{capital(match['main'])} {_as_opening(match['sub'])}."


def voice(place: Place, chance: random.Random) -> str | None:
    """ "Pell built the tower" for "The tower was built by Pell", and back, where the whole sentence is that."""
    match = _PASSIVE.match(place.claim)
    verb = of_participle(match["verb"]) if match else None
    when = (match["when"] or "") if match else ""
    if match and verb and len(match["agent"]) > 1 and not _holds_verb(match):
        return f"{capital(match['agent'])} {verb.past} {_within(match['object'])}{when}."
    made = _MADE_BY.match(place.claim)
    if made and not re.search(r" (?:and|or)$|^.$", made["agent"]) and not _PRONOUN.match(made["object"]):
        return f"{capital(made['agent'])} {_past_of(made['verb'])} {_within(made['object'])}."
    match = _ACTIVE.match(place.claim)
    verb = of_past(match["verb"]) if match else None
    if match is None or verb is None or verb.base in _NOT_PASSIVE or " and " in match["object"] or _holds_verb(match):
        return None
    head = re.split(r" (?:for|of|in|on|to|at|from|with|during|by)\b", match["object"])[0]
    be = "were" if re.search(r"(?<!s)s$", head) and match["object"][0].islower() else "was"
    return f"{capital(match['object'])} {be} {verb.participle} by {_within(match['agent'])}{match['when'] or ''}."


def _past_of(participle: str) -> str:
    verb = of_participle(participle)
    return verb.past if verb else participle


def _holds_verb(match: re.Match[str]) -> bool:
    """Whether a noun phrase may be cut wrong, because a verb stands within it, or is a pronoun."""
    if any(_PRONOUN.match(match[part]) for part in ("agent", "object")):
        return True
    inner = f"{match['agent']} {match['object']}".split()
    return (
        any(word in _BE or of_past(word) or of_present(word) or word == "called" for word in inner)
        or match["verb"] == "called"
    )


_ARTICLED = re.compile(r"(?:The|A|An) (?=[a-z])")
_PRONOUN = re.compile(r"(?:I|He|She|It|They|We|You|he|she|it|they|we|you|him|her|them)$")


def _within(words: str) -> str:
    """A noun phrase that opened its sentence as it stands inside one: the first letter of a title is its own."""
    return words[0].lower() + words[1:] if _ARTICLED.match(words) else words


def told_alone(place: Place, chance: random.Random) -> str | None:
    """One fact of several: a birth or death from the brackets, a relative clause, or the second deed."""
    claim = place.claim
    born = _BORN.match(claim)
    if born and not re.search(r"Inc|Ltd|Band|Company", born["name"]):
        if born["died"] and chance.random() < 0.5:
            return f"{born['name']} died on {born['died']}."
        return f"{born['name']} was born on {born['born']}."
    for form in (_WHO, _AND):
        match = form.match(claim)
        known = match and (of_past(match["verb"]) or match["verb"] in ("is", "was", "has", "had"))
        is_named = (
            match is not None and not opens_only(match["name"].split()[0]) and not re.search(r"\.\s+[A-Z]", claim)
        )
        begins = match["first"].split()[0] if match and form is _AND else "is"
        if not is_named or not (begins in _BE or of_past(begins)):
            continue
        if match and form is _AND and begins in _BE and match["verb"] not in _BE and of_participle(match["verb"]):
            continue  # "was convicted and released": the second may lean on the "was" of the first
        if match and known and not re.search(r"\b(?:is|are|was|were|has|had|did|who|which)\b.*\band\b", match["rest"]):
            return f"{match['name']} {match['verb']} {match['rest']}."
    return None
