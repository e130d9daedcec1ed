"""Kinds of thing that a name or its sentence makes certain, and forms of English verbs."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_FIRST_NAMES = frozenset(
    """
aaron abraham adam adrian agnes alan albert alex alexander alfred ali alice allan amanda amy ana andre andrea andreas
andrew andy angela ann anna anne annie anthony antoine anton antonio arnold arthur barbara barry ben benjamin bernard
beth bill bob brad brandon brenda brian bruce bruno bryan carl carla carlos carol caroline catherine cecil charles
charlie charlotte chris christian christina christine christopher claire clara claude clifford colin craig cynthia
daniel dave david deborah dennis derek diana diane dick dmitri dominic don donald donna dorothy douglas duncan ed eddie
edgar edith edmund eduardo edward edwin eleanor elena elizabeth ellen emil emily emma enrique eric erik ernest eugene
eva evelyn felix fernando florence frances francesco francis francisco frank franz fred frederick friedrich gabriel gary
gene geoffrey george gerald gerard gilbert giovanni giuseppe gordon grace graham greg gregory guillaume gustav guy
hannah hans harold harriet harry hector heinrich helen henri henry herbert herman howard hugh hugo ian ignacio igor
isaac isabel ivan jack jacob jacques jake james jan jane janet jason jason javier jay jean jeff jeffrey jennifer jenny
jeremy jerome jerry jesse jessica jim jimmy joan joe johan johann johannes john johnny jonathan jorge jose josef joseph
joshua josé joyce juan judith julia julian julie jules karen karl kate katherine kathleen keith kelly ken kenneth kevin
kim klaus larcum larry laura laurence lawrence lee leo leon leonard leonardo leslie lewis linda lisa lloyd louis louise
lucas lucy luigi luis luke manuel marc marcel marco margaret maria marie mario marion mark martha martin mary matt
matthew maurice max megan mel melissa michael michel miguel mike mikhail milton miriam monica nancy natalie nathan neil
nevil nicholas nick nicolas nigel nikolai nina noah norman oliver oscar otto pablo pamela patricia patrick paul paula
pedro peter phil philip philippe phillip pierre rachel ralph ray raymond rebecca richard rick rob robert roberto robin
rodney roger roland ron ronald rose ross roy rudolf rupert russell ruth ryan sally sam samuel sandra sara sarah scott
sean sergei sharon shirley sidney simon sofia sophia sophie stanley stefan stella stephanie stephen steve steven stewart
stuart susan suzanne sylvia ted teresa terry theodore theresa thomas tim timothy todd tom tommy tony ursula valerie
vera vernon veronica victor victoria vincent viktor virginia vladimir walter warren wayne wendy werner wilhelm will
willem william willie wolfgang yuri zoe
""".split()
)
_HONORIFIC = frozenset("sir dame lord lady king queen prince princess pope captain admiral general colonel dr".split())
_NO_PERSON = frozenset(
    """
academy act agency airlines airport albums army association authority bank band battalion battle bay beach board books
bridge broadcasting brothers bureau business castle cathedral center centre channel church circuit city club coast
college columbia comics commission committee company conference congress corporation corps council county court creek
department district division empire engineering enterprises entertainment federation festival films fleet force forces
foundation fund games government group hall harbour high hills hospital hotel house houses inc industries institute
international island islands joint journal kingdom lake league library limited ltd magazine media ministry motors
mountain mountains mount museum music national navy network news north office orchestra organisation organization
paris park parliament partners party pictures point press productions province publications publishing radio railroad
railway records republic river road royal school sea senate series services shipyard society sons sound south square
staff stadium state states station street studio studios systems technologies team television times tower town trio
trust union united universal university valley village war warner western west east works world york orleans angeles
francisco england britain france germany america europe africa asia australia canada india china japan russia prize
award bros family girls boys show story summer winter olympics championship cup
""".split()
)
_PROFESSIONS = frozenset(
    """
actor actress admiral architect artist astronaut astronomer athlete author ballerina banker baritone baseball
bassist biologist bishop boxer botanist broadcaster businessman businesswoman carpenter cartoonist chef chemist
choreographer cinematographer clergyman coach comedian composer conductor cricketer critic cyclist dancer designer
diplomat director doctor drummer economist editor engineer engraver entrepreneur explorer filmmaker footballer
general geologist golfer guitarist gymnast historian illustrator industrialist inventor journalist judge jurist lawyer
linguist mathematician merchant minister missionary model musician naturalist nobleman noblewoman novelist officer
painter peer philanthropist philosopher photographer physician physicist pianist pilot player playwright poet
politician preacher priest printmaker producer professor programmer psychologist publisher racer rapper rower sailor
saxophonist scholar scientist screenwriter sculptor singer skater skier soldier songwriter soprano sociologist
sprinter statesman surgeon swimmer tenor theologian translator trumpeter violinist watchmaker wrestler writer zoologist
""".split()
)
THINGS = frozenset(
    """
airline airport album band battle book bridge canal castle cathedral church city club college company corporation film
foundation genus hospital hotel island journal lake library magazine mountain movie museum newspaper novel observatory
opera orchestra organization organisation palace park play railway restaurant river school ship show single society song
species stadium station team temple theatre tower town university village volcano
""".split()
)
_SAME_KIND = {
    "movie": "film",
    "corporation": "company",
    "single": "song",
    "organization": "organisation",
    "college": "university",
}
_HEAD_ENDS = re.compile(
    r" (?:by|directed|written|in|of|that|which|from|on|at|based|located|who|for|with|and|produced|recorded|released)\b"
)


def may_be_person(name: str) -> bool:
    """Two to four capitalised words, none typical of institutions or places."""
    words = name.replace(".", ". ").split()
    lower = [word.lower().strip(".,") for word in words]
    if not 2 <= len(words) <= 4 or any(word in _NO_PERSON for word in lower) or re.search(r"[\d&'’\"/]", name):
        return False
    is_capital = all(word[0].isupper() or word in ("de", "van", "von", "der", "la", "da", "di", "of") for word in words)
    return (
        is_capital and "of" not in lower and "The" not in words and not any(w.isupper() and len(w) > 2 for w in words)
    )


def is_person(name: str) -> bool:
    """Such a name that begins with a first name, initials or a title."""
    if not may_be_person(name):
        return False
    first = name.replace(".", ". ").split()[0]
    return first.lower() in _FIRST_NAMES | _HONORIFIC or re.fullmatch(r"[A-Z]\.", first) is not None


def is_profession(phrase: str) -> bool:
    """As in "an American poet and artist"."""
    head = _HEAD_ENDS.split(re.sub(r"^(?:an?|the) ", "", phrase), maxsplit=1)[0]
    words = re.findall(r"[a-z]+", head.lower())
    return bool(words) and words[-1] in _PROFESSIONS


def kind_of_thing(phrase: str) -> str | None:
    """Gives "film" for "a 1970 Indian drama film directed by ..."; None if unknown."""
    head = _HEAD_ENDS.split(re.sub(r"^(?:an?|the) ", "", phrase).replace(" and ", " & "), maxsplit=1)[0]
    last = next(iter(re.findall(r"[a-z]+", head.lower())[-1:]), "")
    return _SAME_KIND.get(last, last) if last in THINGS else None


# ---------------------------------------------------------------- the forms of some English verbs


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
