"""Questions that ask for a person."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toulmin.datasets.synthetic_kinds import is_person, kind_of_thing, may_be_person
from toulmin.datasets.synthetic_question import Asked, of_subject
from toulmin.datasets.synthetic_statements import Statement, squeeze
from toulmin.datasets.synthetic_verbs import of_participle
from toulmin.text.facts import facts

_BY_PEOPLE = frozenset("write direct compose paint sculpt portray voice coin narrate".split())
_AGENT = re.compile(r"(?:^|\s)by (?=[A-Z])")
_AFTER_AGENT = re.compile(r"$|,? (?:in|on|for|at|between|as|and \w+ing|and (?:is|was|has)|and [a-z]+ed)\b|,")
_ONCE_ACTIVE = frozenset(
    "invent discover found write direct compose design build establish publish defeat construct assassinate".split()
)


def _agent(text: str, verb: str) -> str | None:
    match = _AGENT.search(text)
    if match is None or len(_AGENT.findall(text)) > 1:
        return None
    fact = next((fact for fact in facts(text) if fact.kind == "name" and fact.start == match.end()), None)
    if fact is None or not _AFTER_AGENT.match(text[fact.end :]):
        return None
    name = text[fact.start : fact.end]
    sure = may_be_person(name) if verb in _BY_PEOPLE else is_person(name)
    return name if sure else None


def makers(statement: Statement) -> Iterator[Asked]:
    """From "... was founded by Hannah Pell"."""
    verb = statement.verb
    if verb is None or statement.be not in ("was", "were", "is"):
        return
    person = _agent(statement.clause, verb.base)
    if (
        person is None
        or not re.match(r"(?:(?:in|on) [\w ,]*\d )?by ", statement.clause)
        or verb.base not in _ONCE_ACTIVE | _BY_PEOPLE
    ):
        return
    past = verb.present if statement.be == "is" and verb.base in ("portray", "voice", "narrate") else verb.past
    yield of_subject(
        statement, "maker", f"Who {squeeze(f'{statement.adverb} {past}')} ", "?", (person,), "person", verb.base
    )


_MADE = re.compile(
    r"(?<![-\w])(?P<verb>directed|written|composed|painted|designed|invented|founded|sculpted) (?=by [A-Z])"
)


def works(statement: Statement) -> Iterator[Asked]:
    """From "X is a 1999 film directed by John Campea"."""
    if statement.verb or not re.match(r"an? ", statement.clause) or kind_of_thing(statement.clause) is None:
        return
    matches = list(_MADE.finditer(statement.clause))
    if len(matches) != 1 or re.search(r"\b(?:and|or|based|adapted) \w* ?$", statement.clause[: matches[0].start()]):
        return
    verb = of_participle(matches[0]["verb"])
    if verb is None:
        return
    person = _agent(statement.clause[matches[0].end() :], verb.base)
    if person is None:
        return
    yield of_subject(statement, "work", f"Who {verb.past} ", "?", (person,), "person", verb.base)


_BY = re.compile(
    r"an? .*\b(?P<what>novel|book|song|album|play|single) by (?=[A-Z])|the \w+ (?:studio )?(?P<album>album) by "
)


def bylines(statement: Statement) -> Iterator[Asked]:
    """From "X is a 1960 novel by Hannah Pell"."""
    match = _BY.match(statement.clause) if statement.verb is None else None
    if match is None or len(re.findall(r"\bby\b", statement.clause)) > 1 or not statement.be:
        return
    what = match["what"] or match["album"]
    person = _agent(statement.clause, "write")
    if person is None:
        return
    before, after = ("Who wrote ", "?") if what in ("novel", "book", "play") else (f"Who is the {what} ", " by?")
    if f" {what} " in statement.subject and after != "?":
        before = "Who is "
    yield of_subject(statement, "byline", before, after, (person,), "person", "by")


def doers(statement: Statement) -> Iterator[Asked]:
    """From "Hannah Pell built Kettle Rock Tower in 1821"."""
    verb = statement.verb
    if verb is None or statement.be or verb.base not in _ONCE_ACTIVE or not is_person(statement.name):
        return
    match = re.match(r"(?P<the>the )?(?=[A-Z])", statement.clause)
    name = next((fact for fact in facts(statement.clause) if fact.kind == "name"), None)
    if match is None or name is None or name.start != match.end():
        return
    thing_named = statement.clause[: name.end]
    rest = statement.clause[name.end :]
    if len(thing_named.split()) < 2 or not re.match(r"$| (?:in|on) \d", rest) or is_person(thing_named):
        return
    yield Asked(statement, "doer", f"Who {verb.past} ", thing_named, "?", (statement.name,), "person", verb.base, None)
