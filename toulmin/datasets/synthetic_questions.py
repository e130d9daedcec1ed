"""Makes questions from statements, each answered by words of its statement.

Every rule yields only questions of certain grammar: precision before recall. A question names its subject in full
and holds neither its answer nor a word that points outside it ("it", "the company"); its answer is the only one of
its kind in the clause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from toulmin.datasets.synthetic_figures import counts, dates, dates_in, lives, measures, populations
from toulmin.datasets.synthetic_kinds import (
    is_person,
    is_profession,
    is_verb_form,
    kind_of_thing,
    may_be_person,
    of_participle,
)
from toulmin.datasets.synthetic_statements import Asked, Statement, of_subject, squeeze
from toulmin.text.names import facts
from toulmin.text.overlap import normalise

# ---------------------------------------------------------------- questions that ask for a person


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
    is_made = verb.base in _ONCE_ACTIVE | _BY_PEOPLE and re.match(r"(?:(?:in|on) [\w ,]*\d )?by ", statement.clause)
    if person is None or not is_made:
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


# ---------------------------------------------------------------- questions that ask for a place


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
    lies = statement.be == "is" and not statement.verb and kind_of_thing(statement.clause) in _LYING
    if not lies or is_person(statement.name):
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


# ---------------------------------------------------------------- questions that ask what something is


_OWN = re.compile(r"\b(?:his|her|hers|its|their)\b")
_BEST = re.compile(
    r"the (?P<which>(?:(?:second|third|fourth) )?(?:\w+est|only|first|last|capital|most \w+)(?: [a-z]+){0,4}) "
    r"(?P<where>(?:in|of|to|on) (?:the )?[A-Z][^,]*)$"
)


def superlatives(statement: Statement) -> Iterator[Asked]:
    """From "London is the largest city in England"."""
    is_plain = statement.verb is None and statement.be in ("is", "was") and not statement.lead
    match = _BEST.match(statement.clause) if is_plain else None
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


_WORKS = frozenset("film song album band novel".split())
_SOMEBODY = re.compile(r"\b\w{3,}(?:er|or|ist|ian|man|woman|eer|agent|person|politician)\b(?! (?:of|in|for) )")


def definitions(statement: Statement) -> Iterator[Asked]:
    """From "Secotium is a genus of fungi"."""
    if statement.verb or statement.lead or statement.be not in ("is", "are") or may_be_person(statement.name):
        return
    if not re.match(r"an? ", statement.clause) or kind_of_thing(statement.clause) in _WORKS:
        return
    is_short = statement.is_whole and 5 <= len(statement.clause.split()) <= 9
    if not is_short or re.search(r"\b(?:term|word|name|surname)\b", statement.clause):
        return
    if is_profession(statement.clause) or _OWN.search(statement.clause) or _SOMEBODY.search(statement.clause):
        return
    last = statement.clause.split()[-1]
    if last != last.lower() or re.search(r"(?:ed|written|made|known|ing|al|ic|ous|ful)$", last):
        return
    answer = statement.clause
    yield of_subject(statement, "definition", f"What {statement.be} ", "?", (answer,), "thing", "be")


# ---------------------------------------------------------------- synthetic questions


_OF_ITS_OWN = frozenset(("maker", "work", "doer", "best"))
_RULES: tuple[Callable[[Statement], Iterator[Asked]], ...] = (
    *(dates, lives),
    *(makers, works, bylines, doers),
    *(places, locations),
    *(counts, measures, populations),
    *(superlatives, definitions),
)


def questions_of(statement: Statement) -> list[Asked]:
    candidates = (each for rule in _RULES for each in rule(statement))
    return [each for each in candidates if _is_sound(each)]


_POINTS_OUTSIDE = re.compile(
    r"\b(?:it|they|them|he|she|him|this|these|those|that|there|here|such|same|other|others|another|latter|former|above"
    r"|below|previous|next|both|we|us|our|you|your|i|me|my|himself|herself|itself|themselves|respectively|following"
    r"|also|however|recent|recently|current|currently|whose|who|which|ago|today|now|there|then|each|one)\b",
    re.IGNORECASE,
)
_OF_ANOTHER = re.compile(
    r"\b(?:his|her|their|its) (?:resignation|death|proposal|request|offer|nomination|appointment|body|own|wife"
    r"|husband)\b"
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
    asking = each.before.removeprefix("In which year").removeprefix("Who").removeprefix("How many")
    around = f"{asking} {each.after}"
    if _POINTS_OUTSIDE.search(around) or _OF_ANOTHER.search(around):
        return True
    if each.rule in _OF_ITS_OWN and _OWN.search(around):
        return True
    definite = () if each.rule == "best" else _DEFINITE.finditer(around)
    return any(not _TELLS_WHICH.match(match["words"]) for match in definite)


def _is_odd(each: Asked) -> bool:
    question = each.question
    joined = re.search(r"\band (?P<words>.+)", each.after)
    if joined and any(is_verb_form(word) for word in joined["words"].strip("?").split()):
        return True
    return question.count('"') % 2 == 1 or re.search(r"[()]|[,.;:]\s*\?$|\s[,.?]|\b(\w{3,}) \1\b", question) is not None


def _gives_away(each: Asked) -> bool:
    answers = each.answers[:1] if each.kind == "number" else each.answers
    plain = f" {normalise(each.question)} "
    words = {word for answer in answers for word in normalise(answer).split() if len(word) > 3 and word.isalpha()}
    return any(f" {word} " in plain for word in (*map(normalise, answers), *words))
