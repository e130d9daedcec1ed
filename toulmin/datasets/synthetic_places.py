"""Questions that ask for a place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toulmin.datasets.synthetic_figures import dates_in
from toulmin.datasets.synthetic_kinds import is_person, kind_of_thing
from toulmin.datasets.synthetic_question import Asked, of_subject
from toulmin.datasets.synthetic_statements import Statement, squeeze
from toulmin.text.facts import facts

_PLACED = frozenset("bear hold locate base situate headquarter bury film stage raise find".split())
_PLACED_ACTIVE = frozenset("die live reside settle".split())
_PLACE = re.compile(r"(?P<at>in|at) (?P<the>the )?(?=[A-Z])")


def places(statement: Statement) -> Iterator[Asked]:
    """From "John Harrison was born in Foulby in Yorkshire"."""
    verb = statement.verb
    if verb is None or verb.base not in (_PLACED if statement.be else _PLACED_ACTIVE) or statement.lead:
        return
    place = _place(statement.clause)
    if place is None:
        return
    if statement.be:
        before, action = f"Where {statement.be} ", f" {squeeze(f'{statement.adverb} {verb.participle}')}?"
    else:
        before, action = "Where did ", f" {verb.base}?"
    aliases = tuple(dict.fromkeys((place, re.split(r", | in ", place)[0])))
    yield of_subject(statement, "place", before, action, aliases, "place", verb.base)


_LIES = re.compile(r"an? [^,]*?(?: (?P<how>based|located|situated|headquartered))? (?=in (?:the )?[A-Z])")
_LYING = frozenset(
    "airport bridge canal castle cathedral church city college company hospital hotel island lake library mountain"
    " museum observatory palace park railway restaurant river school stadium station theatre town"
    " university village".split()
)


def locations(statement: Statement) -> Iterator[Asked]:
    """From "X is a village in Yorkshire"."""
    if (
        statement.verb
        or statement.be != "is"
        or kind_of_thing(statement.clause) not in _LYING
        or is_person(statement.name)
    ):
        return
    match = _LIES.match(statement.clause)
    if match is None or re.search(r"\bin\b", match[0]):
        return
    place = _place(statement.clause[match.end() :])
    ends_so = place is not None and len(statement.clause) == match.end() + len("in ") + len(place)
    if place is None or not (ends_so or match["how"]):
        return
    aliases = tuple(dict.fromkeys((place, re.split(r", | in ", place)[0])))
    after = f" {match['how']}?" if match["how"] else "?"
    yield of_subject(statement, "lies", "Where is ", after, aliases, "place", "locate")


def _place(clause: str) -> str | None:
    date = re.match(r"(?:in|on) (?=[A-Z\d])", clause)
    first = next(iter(dates_in(clause)), None)
    if date and first and first.start == date.end():
        clause = clause[first.end :].strip(" ,")
    match = _PLACE.match(clause)
    name_facts = [fact for fact in facts(clause) if fact.kind == "name"]
    if match is None or not name_facts or name_facts[0].start != match.end():
        return None
    end = name_facts[0].end
    for fact in name_facts[1:]:
        if clause[end : fact.start] not in (", ", " in ", " in the "):
            break
        end = fact.end
    if not re.match(r"$|,? (?:on|in|from|to|by|at|during|with|as) ", clause[end:]):
        return None
    return clause[match.end() : end]
