"""Questions that ask for a date or a number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toulmin.data import content_id
from toulmin.datasets.synthetic_kinds import is_profession, is_verb_form, may_be_person
from toulmin.datasets.synthetic_statements import Asked, Statement, of_subject, squeeze
from toulmin.text.figures import figures
from toulmin.text.names import Fact, facts

# ---------------------------------------------------------------- questions that ask for a number


_ABOUT = r"(?:(?:about|around|approximately|nearly|over|almost|roughly|some|more than|at least|a total of|only) )?"
_COUNT = re.compile(
    rf"{_ABOUT}(?P<number>[\w,.-]+(?: (?:hundred|thousand|million|billion))?) (?P<nouns>(?:[a-z-]+ ){{0,2}}[a-z-]+)"
)
_MEASURE = re.compile(
    rf"{_ABOUT}(?P<amount>\d[\d,.]*(?:[- ][a-z]+| ?[a-z]{{1,2}})(?: \([^)]*\))?)"
    r" (?P<how>tall|long|wide|high|deep|thick)\b"
)
_AMOUNT = {"weigh": "How much", "cost": "How much", "last": "How long"}
_POPULATION = re.compile(
    rf"a (?:total )?(?P<what>population|length|height|capacity|area|depth|elevation) of {_ABOUT}"
    r"(?P<amount>\d[\d,.]*\d(?: (?:million|billion))?(?: [a-z]+(?: [a-z]+)?)?)(?= |$|,)"
)
_PLURAL = re.compile(r"(?:[a-z-]+s|people|men|women|children|feet|fish|sheep|staff)$")
_NO_COUNT = frozenset(
    "years times months days weeks percent miles hours minutes seconds centuries decades others".split()
)
_COUNTED = frozenset(
    "have contain win release record write publish star score build direct include produce employ house direct play"
    " spend serve sell receive earn comprise feature carry make lose kill operate own appear host marry".split()
)


def counts(statement: Statement) -> Iterator[Asked]:
    """From "The tower has 12 floors"."""
    verb = statement.verb
    if verb is None or statement.be or statement.lead or verb.base not in _COUNTED:
        return
    match = _COUNT.match(statement.clause)
    if match is None or not _is_number(match["number"]):
        return
    nouns = _plural_of(match["nouns"])
    rest = statement.clause[match.start("nouns") + len(nouns or "") :].strip() if nouns else ""
    if not nouns or re.match(r"(?:of|or|and)\b", rest):
        return
    tail = tail_of(rest)
    if tail is None or re.search(r"\d|\band\b", tail):
        return
    aliases = (f"{match['number']} {nouns}", match["number"])
    yield of_subject(
        statement,
        "count",
        f"How many {nouns} {_do(statement)} ",
        f" {squeeze(f'{verb.base} {tail}')}?",
        aliases[::-1],
        "number",
        verb.base,
    )


def _do(statement: Statement) -> str:
    return "does" if statement.is_present else "did"


def _plural_of(nouns: str) -> str | None:
    words: list[str] = []
    for word in nouns.split():
        if word in ("in", "of", "on", "at", "by", "for", "with", "to", "and", "from", "or", "as", "the"):
            return None
        words.append(word)
        if _PLURAL.fullmatch(word) and not word.endswith("ss"):
            return None if word in _NO_COUNT else " ".join(words)
    return None


def _is_number(text: str) -> bool:
    numbers = figures(text)
    return len(numbers) == 1 and numbers[0].kind == "number" and numbers[0].start == 0 and numbers[0].end == len(text)


def measures(statement: Statement) -> Iterator[Asked]:
    """From "The tower is 38 metres tall", "weighed 34 kilograms"."""
    verb = statement.verb
    if statement.lead:
        return
    if verb is None and statement.be in ("is", "was"):
        match = _MEASURE.match(statement.clause)
        if match and len(statement.clause) == match.end():
            amount = match["amount"]
            yield of_subject(
                statement, "measure", f"How {match['how']} {statement.be} ", "?", (amount,), "number", match["how"]
            )
    elif verb is not None and not statement.be and verb.base in _AMOUNT:
        match = re.fullmatch(
            rf"{_ABOUT}(?P<amount>[$£€]?\d[\d,.]*(?: (?:million|billion))?(?: [a-z]+)?)", statement.clause
        )
        if match and (verb.base != "last" or re.search(r"[a-z]", match["amount"])):
            yield of_subject(
                statement,
                "measure",
                f"{_AMOUNT[verb.base]} {_do(statement)} ",
                f" {verb.base}?",
                (match["amount"],),
                "number",
                verb.base,
            )


def populations(statement: Statement) -> Iterator[Asked]:
    """From "The town has a population of 1,200"."""
    verb = statement.verb
    if verb is None or statement.be or statement.lead or verb.base != "have":
        return
    match = _POPULATION.match(statement.clause)
    if match is None:
        return
    rest = statement.clause[match.end() :]
    if rest and not re.match(r" (?:in|as of) ", rest):
        return
    yield of_subject(
        statement,
        "population",
        f"What {'is' if statement.is_present else 'was'} the {match['what']} of ",
        "?",
        (match["amount"],),
        "number",
        match["what"],
    )


# ---------------------------------------------------------------- synthetic figures


_FULL = re.compile(r"\d{4}(?:-\d\d){0,2}")
_AFTER_DATE = re.compile(
    r"$|,? (?:in|at|on|by|for|with|as|from|to|under|near|during|against|through|within|along|aboard|via|using)\b"
)
_ONCE = frozenset(
    "bear found establish build construct incorporate erect inaugurate demolish abolish dissolve bury form create"
    " rebuild discover invent publish complete".split()
)
_CIRCUMSTANCE = re.compile(r"(?:in|at|by|on|near|for|with|under|through|between|within|during|along)\b")
_STATES = frozenset("live work belong consist contain feature remain reside border value require cover".split())


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
    first = re.fullmatch(r"(?P<day>\d{1,2}) (?P<month>[A-Z][a-z]+),? (?P<year>\d{4})", date)
    second = re.fullmatch(r"(?P<month>[A-Z][a-z]+) (?P<day>\d{1,2}),? (?P<year>\d{4})", date)
    if first:
        return date, f"{first['month']} {first['day']}, {first['year']}"
    return (date, f"{second['day']} {second['month']} {second['year']}") if second else (date,)


def _when(date: str, statement: Statement) -> str:
    is_year = re.fullmatch(r"\d{4}", date) is not None
    return "In which year" if is_year and int(content_id(statement.subject, date), 16) % 2 else "When"


def dates(statement: Statement) -> Iterator[Asked]:
    """From "The tower was built in 1821", "In 1821, Hannah Pell joined the Navy"."""
    verb = statement.verb
    parts = _date_of(statement)
    if verb is None or parts is None or verb.base in _STATES or statement.is_present:
        return
    date, rest = parts
    if verb.base in _ONCE and statement.be and (verb.base == "bear" or _CIRCUMSTANCE.match(rest)):
        rest = ""
    tail = "" if verb.base == "die" else tail_of(rest)
    if tail is None or not _tells_enough(statement, verb.base, tail):
        return
    if statement.be:
        before, action = f"{_when(date, statement)} {statement.be} ", f"{statement.adverb} {verb.participle} {tail}"
    else:
        before, action = f"{_when(date, statement)} did ", f"{statement.adverb} {verb.base} {tail}"
    yield of_subject(statement, "date", before, f" {squeeze(action)}?", date_aliases(date), "date", verb.base)


_NEEDS_OBJECT = frozenset(
    "become make take give get have hold keep find bring buy send receive reach include use release publish record"
    " write win build create produce direct announce establish found acquire introduce complete abandon accept"
    " adopt".split()
)
_ALONE = frozenset("die disappear retire graduate".split())


def _tells_enough(statement: Statement, verb: str, tail: str) -> bool:
    if not tail:
        return bool(statement.be) or verb in _ALONE
    if not statement.be and verb in _NEEDS_OBJECT and re.match(r"(?:in|on|at|as|by|for|to|from|with)\b", tail):
        return False
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


def lives(statement: Statement) -> Iterator[Asked]:
    """From "John Smith (12 May 1950 – 3 June 2000) was a poet"."""
    if statement.verb or not statement.aside or not is_profession(statement.clause):
        return
    if not may_be_person(statement.name):
        return
    birth, life = _BIRTH.match(statement.aside), _LIFE.match(statement.aside)
    if birth and _is_one_date(birth["date"].strip()):
        yield _life(statement, "When was ", " born?", birth["date"].strip(), "bear")
    elif life and _is_one_date(life["birth"].strip()) and _is_one_date(life["death"].strip()):
        is_death = int(content_id(statement.subject), 16) % 2 == 0
        if is_death:
            yield _life(statement, "When did ", " die?", life["death"].strip(), "die")
        else:
            yield _life(statement, "When was ", " born?", life["birth"].strip(), "bear")


def _is_one_date(text: str) -> bool:
    date_facts = dates_in(text)
    is_all = [(fact.start, fact.end) for fact in date_facts] == [(0, len(text))]
    return is_all and bool(_FULL.fullmatch(date_facts[0].value))


def _life(statement: Statement, before: str, after: str, date: str, relation: str) -> Asked:
    return Asked(statement, "life", before, statement.subject, after, date_aliases(date), "date", relation, "person")
