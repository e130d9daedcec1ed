"""A question and its answer as one statement: "when was X built" and "1850" as "X was built in 1850".

Only forms whose statement is certain are read; everything else is None. A question in lower case gives a statement in
lower case, but for its first letter.
"""

from __future__ import annotations

import re

from claims.english import Verb, of_present
from claims.place import capital

_WHO = re.compile(
    r"^(?:who|which \w+) (?P<rest>(?:\w+(?:s|ed)|was|is|won|wrote|sang|sings|made|led|found|began|became|built|held"
    r"|has|had|took) .+)$",
    re.IGNORECASE,
)
_WHO_IS = re.compile(r"^(?:who|what) (?P<be>is|was|are|were) (?P<what>(?:the|a|an|considered) .+)$", re.IGNORECASE)
_AUX = re.compile(
    r"^(?P<word>when|where|in what year|in which year|what year|in what country|in what city|in which country)"
    r" (?P<aux>is|was|are|were|did|does|do) (?P<rest>.+)$",
    re.IGNORECASE,
)
_WHAT_NOUN = re.compile(
    r"^(?:what|which) (?P<noun>[a-z]+(?: [a-z]+)?) (?P<verb>is|was|are|were|has|had|won|made|wrote) (?P<rest>.+)$",
    re.IGNORECASE,
)
_WHAT_DID = re.compile(r"^(?:what|who|whom) (?P<aux>did|does) (?P<rest>.+)$", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:1\d{3}|20\d\d)s?\b")
_DATED = re.compile(r"\b(?:\d{1,2} [A-Z][a-z]+|[A-Z][a-z]+ \d{1,2})\b")
_OPENS_PLACE = re.compile(
    r"^(?:in|on|at|near|along|under|between|from|off|within|behind|inside|to|by|during|after|before)\b", re.I
)
_PARTICIPLE = re.compile(
    r"\b(?P<word>\w+ed|built|born|made|held|found|written|shot|set|led|won|taken|located|sold|known|seen|lost|cut"
    r"|put)\b"
)
_STRANDED = re.compile(r" (?:in|on|at|from|of|to|with|for|by|as)$")


def _when(answer: str) -> str | None:
    if _OPENS_PLACE.match(answer):
        return answer
    if _DATED.search(answer):
        return f"on {answer}" if _YEAR.search(answer) or len(answer.split()) < 4 else None
    return f"in {answer}" if _YEAR.search(answer) or re.search(r"century", answer) else None


def _circumstance(word: str, answer: str) -> str | None:
    if word in ("when",) or "year" in word:
        return _when(answer)
    return answer if _OPENS_PLACE.match(answer) else f"in {answer}"


def _by_auxiliary(match: re.Match[str], answer: str) -> str | None:
    where = _circumstance(match["word"].lower(), answer)
    rest = match["rest"]
    if where is None or _STRANDED.search(rest):
        return None
    if match["aux"].lower() in ("did", "does", "do"):
        done = _finite(rest, match["aux"].lower())
        return f"{done} {where}" if done else None
    cut = _PARTICIPLE.search(rest)
    if cut and cut.start():
        return f"{rest[: cut.start()]}{match['aux']} {rest[cut.start() :]} {where}"
    return f"{rest} {match['aux']} {where}" if match["word"].lower() == "where" and len(rest.split()) < 7 else None


def _finite(rest: str, aux: str) -> str | None:
    """ "the battle begin" as "the battle began": the first known base behind a subject."""
    for match in re.finditer(r"\b[a-z]+\b", rest):
        verb = conjugation_of(match[0])
        if verb and match.start() > 1 and (rest[: match.start()].strip().lower() not in ("the", "a", "an")):
            form = verb.past if aux == "did" else verb.present if aux == "does" else verb.base
            return rest[: match.start()] + form + rest[match.end() :]
    return None


def conjugation_of(base: str) -> Verb | None:
    """The verb of which this word is the base."""
    guesses = {base + "s", base + "es", base[:-1] + "ies"}
    found = [verb for guess in guesses if (verb := of_present(guess)) and verb.base == base]
    return found[0] if found else None


def stated(question: str, answer: str) -> str | None:
    """The statement that the answer makes, ending in a full stop; None where the question's form is not sure."""
    asked = " ".join(question.strip().rstrip("?").split())
    answer = answer.strip().rstrip(".")
    if not answer or re.search(r"\b(?:or|why|how)\b", asked, re.IGNORECASE):
        return None
    told = _told(asked, answer)
    return capital(told) + "." if told and len(told) < 300 else None


def _told(asked: str, answer: str) -> str | None:
    auxiliary = _AUX.match(asked)
    if auxiliary:
        return _by_auxiliary(auxiliary, answer)
    what_is = _WHO_IS.match(asked)
    if what_is and not _STRANDED.search(asked):
        return f"{what_is['what']} {what_is['be']} {answer}"
    noun = _WHAT_NOUN.match(asked)
    if noun and not _STRANDED.search(asked) and noun["noun"].lower() not in ("is", "was"):
        return (
            f"{answer} {noun['verb']} {noun['rest']}"
            if not re.match(r"(?:the|it|he|she|they)\b", noun["rest"])
            or noun["verb"] in ("has", "had", "won", "made", "wrote")
            else None
        )
    who = _WHO.match(asked)
    if who and not _STRANDED.search(asked) and asked.lower().startswith("who"):
        return f"{answer} {who['rest']}"
    did = _WHAT_DID.match(asked)
    done = _finite(did["rest"], did["aux"].lower()) if did else None
    return f"{done} {answer}" if done and not _STRANDED.search(asked) and len(done.split()) < 6 else None
