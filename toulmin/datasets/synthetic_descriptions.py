"""Questions that ask what something is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toulmin.datasets.synthetic_figures import dates_in
from toulmin.datasets.synthetic_kinds import is_person, is_profession, kind_of_thing, may_be_person
from toulmin.datasets.synthetic_question import Asked, of_subject
from toulmin.datasets.synthetic_statements import Statement
from toulmin.text.facts import facts

_OWN = re.compile(r"\b(?:his|her|hers|its|their)\b")
_BEST = re.compile(
    r"the (?P<which>(?:(?:second|third|fourth) )?(?:\w+est|only|first|last|capital|most \w+)(?: [a-z]+){0,4}) "
    r"(?P<where>(?:in|of|to|on) (?:the )?[A-Z][^,]*)$"
)


def superlatives(statement: Statement) -> Iterator[Asked]:
    """From "London is the largest city in England"."""
    match = (
        _BEST.match(statement.clause)
        if statement.verb is None and statement.be in ("is", "was") and not statement.lead
        else None
    )
    if match is None or dates_in(match["where"]) or re.search(r"\b(?:and|or)\b", match[0]):
        return
    place = next((fact for fact in facts(match["where"]) if fact.kind == "name"), None)
    if place is None or place.end != len(match["where"]):
        return
    is_who = is_person(statement.name) or is_profession(f"a {match['which']}")
    if not is_who and (may_be_person(statement.name) and not kind_of_thing(f"a {match['which']}")):
        return
    word = "Who" if is_who else "What"
    name = match["where"]
    yield Asked(
        statement,
        "best",
        f"{word} {statement.be} the {match['which']} ",
        name,
        "?",
        tuple(dict.fromkeys((statement.name, statement.subject.removeprefix("the ")))),
        "person" if is_who else "thing",
        match["which"].split()[-1],
        None,
    )


_SOMEBODY = re.compile(r"\b\w{3,}(?:er|or|ist|ian|man|woman|eer|agent|person|politician)\b(?! (?:of|in|for) )")


def definitions(statement: Statement) -> Iterator[Asked]:
    """From "Secotium is a genus of fungi"."""
    if statement.verb or statement.lead or statement.be not in ("is", "are") or may_be_person(statement.name):
        return
    if not re.match(r"an? ", statement.clause) or kind_of_thing(statement.clause) in (
        "film",
        "song",
        "album",
        "band",
        "novel",
    ):
        return
    if (
        not statement.is_whole
        or not 5 <= len(statement.clause.split()) <= 9
        or re.search(r"\b(?:term|word|name|surname)\b", statement.clause)
    ):
        return
    if is_profession(statement.clause) or _OWN.search(statement.clause) or _SOMEBODY.search(statement.clause):
        return
    last = statement.clause.split()[-1]
    if last != last.lower() or re.search(r"(?:ed|written|made|known|ing|al|ic|ous|ful)$", last):
        return
    answer = statement.clause
    yield of_subject(statement, "definition", f"What {statement.be} ", "?", (answer,), "thing", "be")
