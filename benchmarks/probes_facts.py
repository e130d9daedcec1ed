"""Facts that plain patterns read off the pages of `pool_corpus`: who directed a film, when somebody was born.

A fact is a value in a slot of its page. Patterns are narrow on purpose: what they find must be true of the page's own
subject, since a claim made from it in other words is taken for true. `tests/test_probes.py` holds each to examples.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from probes_wording import COUNTRIES, DATE

from toulmin.data import Passage

_PART = r"(?:[A-Z]\.|[A-Z][\w’'-]*[a-z](?:-[A-Z][a-z]+)?)"
NAME = rf"(?:{_PART}(?: (?:de|del|van|von|der|di|da|la|le|al|bin))? ?)(?:{_PART} )*(?:[A-Z][\w’'-]*[a-z])(?: Jr\.)?"
_PLACE = r"[A-Z][\w’'-]+(?: (?:of |the )?[A-Z][\w’'-]+)*"
_END = (
    r"(?=[,.;]| (?:and (?:starring|stars|produced|written|edited|published|recorded|its)"
    r"|in|on|from|for|through|with|as|that|which|who|based|was|is)\b)"
)
_SITE = (
    "(?:city|town|village|hamlet|district|township|community|county|municipality|commune|suburb|neighbou?rhood|parish|area"
    "|river|mountain|lake|island|school|university|college|library|museum|gallery|park|zoo|church|cathedral|temple|building"
    "|house|tower|skyscraper|castle|palace|stadium|arena|venue|auditorium|theat(?:er|re)|airport|station|hotel|cemetery"
    "|hospital|courthouse|highway|route|road|street|bridge|prison|mall|cent(?:er|re)|club|square)"
)
_FILM = r"^[^.]{2,80}? (?:is|was) an? (?:upcoming )?(?P<year>(?:19|20)\d\d) [^.]{0,70}?\bfilm\b"
_WORK = r"^[^.]{2,80}? (?:is|was) (?:an?|the) [^.]{0,60}?\b(?:song|single|album|EP|track)\b"


class Subject(NamedTuple):
    """What a page is about: its title as people say it, and what kind of thing it is."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A value of its page; `slot` names the question that it answers."""

    passage: str
    subject: Subject
    slot: str
    value: str


class Page(NamedTuple):
    """A held-out passage, with the spacing of brackets and quotation marks that its sets have lost put right."""

    id: str
    title: str
    text: str

    @property
    def passage(self) -> Passage:
        """What a judge reads."""
        return Passage.of(self.text, self.title)


def tidy(text: str) -> str:
    """One space between words, none inside brackets, one before them; no other sign changes."""
    spaced = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"(?<=\w)\( ?", " (", re.sub(r"\( ", "(", spaced))


def plain(text: str) -> str:
    """Without what stands in brackets: patterns read over it."""
    flat = re.sub(r" ?\([^()]*\)", "", re.sub(r" ?\([^()]*(?:\([^()]*\)[^()]*)*\)", "", text))
    return flat.replace('"', "").replace("  ", " ")


def subject_name(title: str) -> str:
    """A title as it is said: without the bracket that tells it from others."""
    return re.sub(r"\s*\(.*\)", "", title).strip()


# slot, the kind of subject that it needs, the pattern
_ACTED = r"(?:singer|band|rapper|group|duo|musician|artist|songwriter|DJ|guitarist|composer|saxophonist)"
_BY = rf"[a-z ]{{0,25}}? by (?:the )?(?:[A-Z]\w+ )?[a-z -]*{_ACTED},? "
_BOOK = r"^[^.]{2,80}? (?:is|was) an? [^.]{0,60}?(?:novel|book|play|comic|story|poem) (?:written )?by (?:the )?"
_LIES = rf"^[^.]{{2,80}}? (?:is|was) (?:an?|the) [^.A-Z]{{0,60}}?\b{_SITE} (?:located )?in (?:the )?"
_LABEL = r"[A-Z][\w&]+(?: [A-Z][\w&]+)* Records"
_BEGUN = r"^[^.]{2,140}?\b(?:founded|established|created|formed)"
_ALSO = r"(?:co-written and |written and |produced and )?"
_SCRIPT = r"(?:directed by [^.;,]{3,40}?,? (?:and )?written|film written|[Ss]creenplay)"
_FOUR = r"(?P<year>(?:19|20)\d\d)"
_WED = r"\b(?:He|She) (?:was |is )?married (?:to )?(?:[a-z]+ )*"
_CAME = rf"\b(?:He|She|[A-Z]\w+) was born (?:on {DATE} )?in "
_CHILD = r"\b(?:is|was) (?:also )?(?:the|a) (?:\w+ ){0,2}(?:son|daughter) of (?:[a-z]+ )*"


def _v(what: str = NAME, then: str = _END) -> str:
    return f"(?P<value>{what}){then}"


PATTERNS: tuple[tuple[str, str, str], ...] = (
    ("release year", "film", _FILM),
    ("director", "film", _FILM + rf",?(?: (?:that|which) was)? {_ALSO}directed by {_v()}"),
    ("director", "film", rf"(?:The film|It) (?:is|was) (?:written and )?directed by {_v()}"),
    ("star", "film", _FILM + r"[^.]{0,90}?\bstarr(?:ing|ed) " + _v(then="(?=[,.]| and| in| as)")),
    ("star", "film", "(?:It|The film) stars " + _v(then="(?=[,.]| and| in| as)")),
    ("writer", "film", f"{_SCRIPT} by {_v()}"),
    ("producer", "film", f"(?:, produced|and produced|was produced) by {_v()}"),
    ("composer", "film", rf"\b(?:music|score|soundtrack) (?:is |was )?(?:composed |scored |written )?by {_v()}"),
    ("performer", "music", _WORK + _BY + _v(_PLACE)),
    ("writer", "music", rf"\bwritten by {_v()}"),
    ("producer", "music", rf"\bproduced by {_v()}"),
    ("label", "music", r"\breleased [^.]{0,50}?(?:by|on|through|via|under) " + _v(_LABEL, "")),
    ("release year", "music", rf"(?:It|album|song|single) was (?:originally |first )?released [^.]{{0,25}}?{_FOUR}"),
    ("release year", "music", _WORK + rf"[^.]{{0,80}}, released [^.]{{0,25}}?{_FOUR}"),
    ("author", "book", _BOOK + rf"(?:(?:[A-Z]\w+ )?(?:[a-z]+ )+)?{_v()}"),
    ("founding year", "thing", _BEGUN + r" [^.]{0,20}?in (?P<year>1[5-9]\d\d|20[01]\d)\b"),
    ("founder", "thing", _BEGUN + rf" (?:in \d{{4}} )?by {_v()}"),
    ("place", "thing", _LIES + _v(_PLACE, "(?=[,.])")),
    ("larger place", "thing", _LIES + f"{_PLACE}, " + _v(_PLACE, "(?=[,.])")),
    ("parent", "person", _CHILD + _v(then="(?=[,.;]| and)")),
    ("spouse", "person", _WED + _v(then="(?=[,.;]| in| and| from)")),
    ("birthplace", "person", _CAME + _v(_PLACE, "(?=[,.]| and| in| to)")),
    ("place of death", "person", rf"\bdied (?:on {DATE} )?in " + _v(_PLACE, "(?=[,.]| and| in| from| at)")),
)  # fmt: skip
_YEAR_TOLD = re.compile(r"(?<=[a-z] )(?:in|since|until|from) (?P<value>(?:1[5-9]\d\d|20[01]\d))(?=[ ,.])")
_FIRM = re.compile(r"\b(?:Pictures|Productions?|Entertainment|Company|Films?|Studios?|Television)\b")
_COMPILED = tuple((slot, kind, re.compile(pattern)) for slot, kind, pattern in PATTERNS)

_BORN = re.compile(rf"\((?:[^()]*?[;,] ?)?born (?:[^()\d]*?)?(?P<value>{DATE})")
_LIFE = re.compile(rf"\((?:[^()]*?[;,] ?)?(?P<born>{DATE})[^()\d]{{0,40}}? ?[–-] ?(?P<died>{DATE})[^()]{{0,40}}\)")
_FROM = re.compile(
    r"^[^.]{2,80}? (?:is|was) an? (?:former |retired |award-winning )?(?P<value>[A-Z][a-z]+)(?=-born| [a-z])"
)
_COUNT = re.compile(
    r"(?<!than )(?<!least )(?<!over )(?<!nearly )(?<!about )(?<!around )(?<!almost )(?<!to )(?<!or )(?<!and )(?<!most )"
    r"(?<![\w.,$£€–/:#-])(?P<value>[2-9]|[1-9]\d|[1-9]\d\d|\d{1,3}(?:,\d{3})+) "
    r"(?P<noun>(?:[a-z]+ )?(?:[a-z]{3,}[a-rt-z]s|people|men|women|children))(?=[ ,.;])"
)
_NO_NOUN = re.compile(
    r"\b(?:was|is|has|as|years|year|days|this|times|does|plays|its|his|hours|months|of|and|the|weeks|minutes"
    r"|seconds|met(?:er|re)s|kilomet(?:er|re)s|feet|inches|miles|hurdles|posthumous)\b"
)


def subject_of(page: Page) -> Subject:
    """What the page is about, told by its first sentence."""
    opening, name = plain(page.text)[:200], subject_name(page.title)
    if re.search(_FILM, opening):
        return Subject(name, "film")
    if re.search(_WORK, opening):
        return Subject(name, "music")
    if re.search(r"(?:is|was) an? [^.]{0,60}\b(?:novel|book|play|comic|short story|poem)\b[^.]{0,20} by", opening):
        return Subject(name, "book")
    if re.match(r".{2,60}?\((?:[^()]*)(?:born|\d{4} ?[–-] ?)", page.text) and re.search(
        r" (?:is|was) (?:an?|the) ", opening
    ):
        return Subject(name, "person")
    return Subject(name, "thing")


def _begins_with_title(page: Page) -> bool:
    words = [word.casefold() for word in re.findall(r"\w+", subject_name(page.title))]
    head = page.text[: len(page.title) + 60].casefold()
    return bool(words) and words[-1] in head and words[0] in head


def facts(page: Page) -> Iterator[Fact]:
    """What the patterns find in a page that begins by naming its subject; the first find of a slot counts.

    Every page may have a "year told" as well: one that some sentence names, of whatever it tells.
    """
    if match := _YEAR_TOLD.search(plain(page.text)):
        yield Fact(page.id, Subject(subject_name(page.title), "thing"), "year told", match["value"])
    if not _begins_with_title(page):
        return
    subject, text, seen = subject_of(page), plain(page.text), set[str]()
    for slot, kind, pattern in _COMPILED:
        match = pattern.search(text) if kind == subject.kind and slot not in seen else None
        if match is not None:
            groups = match.groupdict()
            value = groups.get("value") or groups["year"]
            if not _FIRM.search(value):
                seen.add(slot)
                yield Fact(page.id, subject, slot, value)
    if subject.kind == "person":
        yield from _of_person(page, subject, text)
    for match in _COUNT.finditer(text):
        slot = f"number of {match['noun']}"
        if slot not in seen and not _NO_NOUN.search(match["noun"]):
            seen.add(slot)
            yield Fact(page.id, subject, slot, match["value"])


def _of_person(page: Page, subject: Subject, text: str) -> Iterator[Fact]:
    opening = page.text[:220]
    if match := _LIFE.search(opening):
        yield Fact(page.id, subject, "birth date", match["born"])
        yield Fact(page.id, subject, "death date", match["died"])
    elif match := _BORN.search(opening):
        yield Fact(page.id, subject, "birth date", match["value"])
    people = _FROM.search(text)
    if people is not None and people["value"] in COUNTRIES:
        yield Fact(page.id, subject, "country", COUNTRIES[people["value"]])


class Action(NamedTuple):
    """Who did what to whom, in one sentence of a page."""

    passage: str
    verb: str
    doer: str
    done_to: str


_DEED = re.compile(
    rf"\b(?P<a>{_PLACE}) (?P<verb>defeated|beat|acquired|bought|replaced|killed|sued) (?:the )?(?P<b>{_PLACE})(?=[,. ])"
)
_NO_DOER = frozenset("He She It They When After In This Despite While As That What The".split())


def deeds(page: Page) -> Iterator[Action]:
    """Sentences of the form "A defeated B", read over the text without brackets."""
    for match in _DEED.finditer(plain(page.text)):
        if match["a"].split()[0] not in _NO_DOER and match["a"] not in match["b"] and match["b"] not in match["a"]:
            yield Action(page.id, match["verb"], match["a"], match["b"])
