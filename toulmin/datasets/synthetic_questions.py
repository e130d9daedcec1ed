"""Makes questions from statements, each answered by words of its statement.

Every rule yields only questions of certain grammar: precision before recall. A question names its subject in full
and holds neither its answer nor a word that points outside it ("it", "the company"); its answer is the only one of
its kind in the clause.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from toulmin.data import content_id
from toulmin.datasets.synthetic_kinds import (
    is_profession,
    is_verb_form,
    kind_of_thing,
    may_be_person,
    of_participle,
)
from toulmin.datasets.synthetic_statements import Asked, Statement, of_subject, squeeze
from toulmin.text.figures import figures
from toulmin.text.names import Fact, facts
from toulmin.text.overlap import normalise

# ---------------------------------------------------------------- questions that ask for a date


_FULL = re.compile(r"\d{4}(?:-\d\d){0,2}")
_AFTER_DATE = re.compile(
    r"$|,? (?:in|at|on|by|for|with|as|from|to|under|near|during|against|through|within|along|aboard|via|using)\b"
)
_ONCE = frozenset(
    "bear found establish build construct incorporate erect inaugurate demolish abolish dissolve bury form create"
    " rebuild discover invent publish complete".split()
)
_CIRCUMSTANCE = re.compile(r"(?:in|at|by|on|near|for|with|under|through|between|within|during|along)\b")


def dates_in(text: str) -> list[Fact]:
    return [fact for fact in figures(text) if fact.kind == "date"]


def split_date(clause: str) -> tuple[str, str] | None:
    """The clause's only date, if it follows "in" or "on", and the rest."""
    date_facts = dates_in(clause)
    if len(date_facts) != 1 or not _FULL.fullmatch(date_facts[0].value):
        return None
    date = date_facts[0]
    before = re.search(r"(?:^|(?P<word>\w+) )(?P<preposition>in|on) $", clause[: date.start])
    if before is None or not _AFTER_DATE.match(clause[date.end :]):
        return None
    if before["word"] and is_verb_form(before["word"]):
        return None
    if re.match(r" (?:to|from) \d", clause[date.end :]):
        return None
    rest = squeeze(f"{clause[: before.start('preposition')]} {clause[date.end :].lstrip(',')}")
    return clause[date.start : date.end], rest


def date_aliases(date: str) -> tuple[str, ...]:
    """Both orders: "3 May 1824" and "May 3, 1824"."""
    if first := re.fullmatch(r"(?P<day>\d{1,2}) (?P<month>[A-Z][a-z]+),? (?P<year>\d{4})", date):
        return date, f"{first['month']} {first['day']}, {first['year']}"
    second = re.fullmatch(r"(?P<month>[A-Z][a-z]+) (?P<day>\d{1,2}),? (?P<year>\d{4})", date)
    return (date, f"{second['day']} {second['month']} {second['year']}") if second else (date,)


def _when(date: str, statement: Statement) -> str:
    is_year = re.fullmatch(r"\d{4}", date) is not None
    return "In which year" if is_year and int(content_id(statement.subject, date), 16) % 2 else "When"


def ask_date(statement: Statement) -> Asked | None:
    """From "The tower was built in 1821", "In 1821, Hannah Pell joined the Navy"."""
    verb = statement.verb
    parts = _date_of(statement)
    if verb is None or parts is None or statement.be in ("is", "are"):
        return None
    day, rest = parts
    if verb.base in _ONCE and statement.be and (verb.base == "bear" or _CIRCUMSTANCE.match(rest)):
        rest = ""
    tail = "" if verb.base == "die" else tail_of(rest)
    if tail is None or not _tells_enough(statement, verb.base, tail):
        return None
    if statement.be:
        before, action = f"{_when(day, statement)} {statement.be} ", f"{statement.adverb} {verb.participle} {tail}"
    else:
        before, action = f"{_when(day, statement)} did ", f"{statement.adverb} {verb.base} {tail}"
    return of_subject(statement, "date", before, f" {squeeze(action)}?", date_aliases(day), "date", verb.base)


_ALONE = frozenset("die disappear retire graduate".split())


def _tells_enough(statement: Statement, verb: str, tail: str) -> bool:
    if not tail:
        return bool(statement.be) or verb in _ALONE
    return verb in _ALONE or any(fact.kind == "name" for fact in facts(f"x {tail}"))


def _date_of(statement: Statement) -> tuple[str, str] | None:
    if statement.lead:
        lead = dates_in(statement.lead)
        if not lead or dates_in(statement.clause) or not _FULL.fullmatch(lead[0].value):
            return None
        return statement.lead, statement.clause
    return split_date(statement.clause)


def tail_of(rest: str) -> str | None:
    """The end of a question; None if it breaks off."""
    rest = rest.strip(" ,")
    if re.search(r"(?:^|\s)(?:in|on|at|of|to|by|for|with|from|as|and|or|the|an?|about|around|until|since)$", rest):
        return None
    return rest


_BIRTH = re.compile(r"^(?:.*[;,] ?)?(?:born|b\.) (?:on )?(?P<date>[^;,–-]*(?:, \d{4})?)(?: in [A-Z].*|, [A-Z].*)?$")
_LIFE = re.compile(r"^(?:.*; ?)?(?P<birth>[^;–—-]*\d{4}) ?(?:[–—-]) ?(?P<death>[^;–—-]*\d{4})$")


def ask_life(statement: Statement) -> Asked | None:
    """From "John Smith (12 May 1950 – 3 June 2000) was a poet"."""
    if statement.verb or not is_profession(statement.clause) or not may_be_person(statement.name):
        return None
    birth, span = _BIRTH.match(statement.aside), _LIFE.match(statement.aside)
    if birth and _is_one_date(birth["date"].strip()):
        return _born(statement, birth["date"].strip())
    if span and _is_one_date(span["birth"].strip()) and _is_one_date(span["death"].strip()):
        if int(content_id(statement.subject), 16) % 2:
            return _born(statement, span["birth"].strip())
        death = date_aliases(span["death"].strip())
        return of_subject(statement, "life", "When did ", " die?", death, "date", "die")
    return None


def _born(statement: Statement, day: str) -> Asked:
    return of_subject(statement, "life", "When was ", " born?", date_aliases(day), "date", "bear")


def _is_one_date(text: str) -> bool:
    date_facts = dates_in(text)
    is_all = [(fact.start, fact.end) for fact in date_facts] == [(0, len(text))]
    return is_all and bool(_FULL.fullmatch(date_facts[0].value))


# ---------------------------------------------------------------- questions that ask for a person


_AGENT = re.compile(r"(?:^|\s)by (?=[A-Z])")
_AFTER_AGENT = re.compile(r"$|,? (?:in|on|for|at|between|as|and \w+ing|and (?:is|was|has)|and [a-z]+ed)\b|,")


def _agent(text: str) -> str | None:
    match = _AGENT.search(text)
    if match is None or len(_AGENT.findall(text)) > 1:
        return None
    fact = next((fact for fact in facts(text) if fact.kind == "name" and fact.start == match.end()), None)
    if fact is None or not _AFTER_AGENT.match(text[fact.end :]):
        return None
    name = text[fact.start : fact.end]
    return name if may_be_person(name) else None


_MADE = re.compile(r"(?<![-\w])(?P<verb>directed|written|composed|painted|sculpted) (?=by [A-Z])")


def ask_work(statement: Statement) -> Asked | None:
    """From "X is a 1999 film directed by John Campea"."""
    if statement.verb or not re.match(r"an? ", statement.clause) or kind_of_thing(statement.clause) is None:
        return None
    matches = list(_MADE.finditer(statement.clause))
    if len(matches) != 1 or re.search(r"\b(?:and|or|based|adapted) \w* ?$", statement.clause[: matches[0].start()]):
        return None
    verb = of_participle(matches[0]["verb"])
    person = _agent(statement.clause[matches[0].end() :])
    if verb is None or person is None:
        return None
    return of_subject(statement, "work", f"Who {verb.past} ", "?", (person,), "person", verb.base)


# ---------------------------------------------------------------- questions that ask for a place


_PLACED = frozenset("bear hold locate base situate headquarter bury film stage raise find".split())
_PLACE = re.compile(r"(?P<at>in|at) (?P<the>the )?(?=[A-Z])")


def ask_place(statement: Statement) -> Asked | None:
    """From "John Harrison was born in Foulby in Yorkshire"."""
    verb = statement.verb
    name = None if verb is None or verb.base not in _PLACED or statement.lead else _place(statement.clause)
    if verb is None or name is None or not statement.be:
        return None
    before, after = f"Where {statement.be} ", f" {squeeze(f'{statement.adverb} {verb.participle}')}?"
    aliases = tuple(dict.fromkeys((name, re.split(r", | in ", name)[0])))
    return of_subject(statement, "place", before, after, aliases, "place", verb.base)


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


# ---------------------------------------------------------------- all of a statement's questions


_RULES: tuple[Callable[[Statement], Asked | None], ...] = (ask_date, ask_life, ask_work, ask_place)


def questions_of(statement: Statement) -> list[Asked]:
    return [asked for rule in _RULES if (asked := rule(statement)) is not None and _is_sound(asked)]


_POINTS_OUTSIDE = re.compile(
    r"\b(?:it|they|them|he|she|him|this|these|those|that|there|here|such|same|other|others|another|latter|former|above"
    r"|below|previous|next|both|we|us|our|you|your|i|me|my|himself|herself|itself|themselves|respectively|following"
    r"|also|however|recent|recently|current|currently|whose|who|which|ago|today|now|there|then|each|one)\b",
    re.IGNORECASE,
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
    asking = each.before.removeprefix("In which year").removeprefix("Who")
    around = f"{asking} {each.after}"
    return _POINTS_OUTSIDE.search(around) is not None or any(
        not _TELLS_WHICH.match(match["words"]) for match in _DEFINITE.finditer(around)
    )


def _is_odd(each: Asked) -> bool:
    question = each.question
    joined = re.search(r"\band (?P<words>.+)", each.after)
    if joined and any(is_verb_form(word) for word in joined["words"].strip("?").split()):
        return True
    return question.count('"') % 2 == 1 or re.search(r"[()]|[,.;:]\s*\?$|\s[,.?]|\b(\w{3,}) \1\b", question) is not None


def _gives_away(each: Asked) -> bool:
    plain = f" {normalise(each.question)} "
    words = {word for answer in each.answers for word in normalise(answer).split() if len(word) > 3 and word.isalpha()}
    return any(f" {word} " in plain for word in (*map(normalise, each.answers), *words))
