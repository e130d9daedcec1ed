"""The forms of some English verbs."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_REGULAR = """
abandon abolish accept accompany achieve acquire add adopt advance air announce appear appoint approve arrange arrest
arrive assassinate attack attend attract award base believe belong border broadcast bury calculate call capture carry
cause celebrate challenge change charge claim climb close coach coin collapse collect combine command commission
compete complete compose comprise conclude conduct connect conquer consist construct contain continue contribute
control convert convict copy cover crash create criticise cross crown debut declare decline defeat defend deliver
demolish describe design destroy develop devise devote die direct discover disappear display dissolve divide dominate
donate double drop earn edit educate elect emigrate employ encounter end enjoy enter erect escape establish evolve
examine execute exhibit expand explode explore export express extend face fail feature film finance finish fire form
found gain govern graduate guide happen head help hire honour host house identify illustrate imprison improve include
increase influence inherit install introduce invade invent issue join journey kill knight land last launch list live
locate lower manage manufacture marry measure merge mine move murder name narrate nominate note observe obtain occupy
occur offer open operate oppose order organise organize own paint park pass patent perform photograph place plan plant
play portray possess practise premiere present preserve produce promote propose protect prove provide publish purchase
raise rank reach receive record recruit reduce reform register reject release relocate remain remove rename renovate
repair replace report represent require rescue research reside resign restore result retire return reveal rule sail
sample sculpt search seat serve settle share sign situate sponsor star start stop study succeed suffer supply support
surrender survive suspend tour train transfer translate transmit travel unite use value visit voice vote weigh work
headquarter inaugurate decommission ordain canonise canonize baptise baptize
grant recommend abstain demonstrate simplify cease invite petition charter consecrate enact ratify amend repeal
incorporate dedicate convene adjourn nationalise nationalize privatise privatize televise dismiss exile stage unveil
""".split()

_DOUBLED = "admit commit equip ban plan ship drop stop stab trap transfer occur refer compel expel".split()

_IRREGULAR = """
bear bore born | become became become | begin began begun | break broke broken | bring brought brought
build built built | rebuild rebuilt rebuilt | buy bought bought | catch caught caught | choose chose chosen
come came come | cost cost cost | draw drew drawn | drive drove driven | fall fell fallen | fight fought fought
find found found | fly flew flown | freeze froze frozen | get got got | give gave given | go went gone | grow grew grown
have had had | hear heard heard | hold held held | keep kept kept
see saw seen | know knew known | lend lent lent | lead led led | leave left left | lose lost lost
make made made | meet met met | pay paid paid | ride rode ridden | rise rose risen | run ran run | sell sold sold
send sent sent | shoot shot shot | sing sang sung | sink sank sunk | speak spoke spoken | spend spent spent
stand stood stood | steal stole stolen | strike struck struck | swim swam swum | take took taken | teach taught taught
throw threw thrown | overthrow overthrew overthrown | win won won | withdraw withdrew withdrawn | write wrote written
undergo underwent undergone | wear wore worn
"""


class Verb(NamedTuple):
    """A verb's base, past, past participle, and present with "it".

    Only the tables' verbs are known; regular forms are built from the base, never guessed from an ending. Words to look
    up are in lower case.
    """

    base: str
    past: str
    participle: str
    present: str


def _present(base: str) -> str:
    if base == "have":
        return "has"
    if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o|go)$", base):
        return base + "es"
    return base[:-1] + "ies" if re.search(r"[^aeiou]y$", base) else base + "s"


def _past(base: str) -> str:
    if base in _DOUBLED:
        return base + base[-1] + "ed"
    if base.endswith("e"):
        return base + "d"
    return base[:-1] + "ied" if re.search(r"[^aeiou]y$", base) else base + "ed"


@lru_cache(maxsize=1)
def _verbs() -> tuple[Verb, ...]:
    rows = (row.split() for row in re.split(r"[|\n]", _IRREGULAR) if row.strip())
    irregular = [Verb(base, past, participle, _present(base)) for base, past, participle in rows]
    regular = sorted({*_REGULAR, *_DOUBLED})
    return (*(Verb(base, _past(base), _past(base), _present(base)) for base in regular), *irregular)


@lru_cache(maxsize=1)
def _pasts() -> dict[str, Verb]:
    return {verb.past: verb for verb in _verbs()}


@lru_cache(maxsize=1)
def _participles() -> dict[str, Verb]:
    return {verb.participle: verb for verb in _verbs()}


@lru_cache(maxsize=1)
def _presents() -> dict[str, Verb]:
    return {verb.present: verb for verb in _verbs()}


def of_past(word: str) -> Verb | None:
    return _pasts().get(word)


def of_participle(word: str) -> Verb | None:
    return _participles().get(word)


def of_present(word: str) -> Verb | None:
    return _presents().get(word)


def is_verb_form(word: str) -> bool:
    return word in _pasts() or word in _participles() or word in _presents()
