"""Questions that ask for a number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toulmin.datasets.synthetic_figures import tail_of
from toulmin.datasets.synthetic_question import Asked, of_subject
from toulmin.datasets.synthetic_statements import Statement, squeeze
from toulmin.text.figures import figures

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
