"""Statements of our own about what a page is of: who directed a film, where a person was born, and who did which part.

What edits of sentences cannot teach: the same fact in a wording that shares hardly a word with its source, and two
values that change their roles. A value is read off the page by the words before it; a statement is a frame with the
value put in. A false one has another page's value, two values in each other's role, a denial, or a second fact that the
page does not have. Frames of two facts are joined, so each role is told in many ways. `told.toml` holds the tables.

The probes (`benchmarks/`) have patterns and wordings of their own, over pages that training leaves out.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from claims.pair import Family, Label, Pair, Text
from toulmin.text.language import fold, sentences
from toulmin.text.names import facts

MOST = 5  # statements of a page
_OPENING = 420  # characters of a page in which its facts are looked for
_BRACKETED = re.compile(r"\s*\([^()]*\)\s*$")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


class Slot(NamedTuple):
    """What can be told of a page: what stands before the value, how it is asked for, and the frames with denials."""

    cue: str | None
    many: bool
    asks: Sequence[str]
    frames: Sequence[Sequence[str]]


KINDS: dict[str, str] = {kind: held["is"] for kind, held in _TABLE.items() if "is" in held}
SLOTS: dict[str, dict[str, Slot]] = {
    kind: {
        name: Slot(told.get("cue"), told.get("many", False), told["asks"], told["frames"])
        for name, told in held.items()
        if name != "is"
    }
    for kind, held in _TABLE.items()
}
_DATED = re.compile(
    r"(?:released|published|founded|established)(?: on [A-Z]\w+ \d{1,2},| on \d{1,2} \w+)? ?(?:in )?(\d{4})\b"
)
JOINS = (" and ", ", and ", ", while ", "; ")
_NO_PART = frozenset("count year seat within wider".split())  # what lies in a town lies in its county too
_DENIAL = re.compile(r"\b(?:not|never|no)\b")


@dataclass(frozen=True, slots=True)
class Page:
    """What a page is of, and what stands in its slots."""

    place: int
    name: str
    kind: str
    slots: dict[str, str]


class Told(NamedTuple):
    """A statement, its truth, and the characters of it that are not backed."""

    claim: str
    label: Label
    edit: str
    wrong: tuple[tuple[int, int], ...]


class _Part(NamedTuple):
    """A frame with its value put in, and where the value stands."""

    text: str
    value: tuple[int, int]


def page(place: int, title: str, text: str) -> Page | None:
    """The facts of a passage that opens its page; None where its first sentence does not say what the page is of."""
    name = _BRACKETED.sub("", title).strip()
    first = next(iter(sentences(text)), None)
    if not name or first is None:
        return None
    opening = text[first.start : min(first.end, _OPENING)]
    if fold(name) not in fold(opening[: len(name) + 40]):
        return None
    said = re.search(r"\b(?:is|was|are|were) (?:an?|the|one) (?P<rest>.+)", opening, re.DOTALL)
    if said is None:
        return None
    life = _life(opening)
    kind = next((kind for kind, words in KINDS.items() if re.search(words, said["rest"][:90])), None)
    if life:
        kind = "person"
    if kind is None:
        return None
    slots = dict(_slots(kind, text[: first.start + _OPENING], opening, said["rest"]))
    slots |= life
    return Page(place, name, kind, {key: value for key, value in slots.items() if fold(value) not in fold(name)})


def _life(opening: str) -> dict[str, str]:
    """The years of birth and death in the brackets behind a person's name."""
    bracket = re.match(r"[^()]{3,80}\((?P<inside>[^()]+)\)", opening)
    inside = bracket["inside"] if bracket else ""
    before, dash, after = (
        re.split(r"( ?[–—] ?| - )", inside, maxsplit=1) if re.search(r"[–—]| - ", inside) else (inside, "", "")
    )
    years = [_YEAR.findall(part) for part in (before, after)]
    if dash and len(years[0]) == len(years[1]) == 1:
        return {"born": years[0][0], "died": years[1][0]}
    if not dash and len(years[0]) == 1 and re.search(r"\b(?:born|b\.|died|d\.) ", inside):
        return {"died" if re.search(r"\b(?:died|d\.) ", inside) else "born": years[0][0]}
    return {}


def _slots(kind: str, text: str, opening: str, rest: str) -> Iterator[tuple[str, str]]:
    names = {fact.start: fact for fact in facts(text) if fact.kind == "name"}
    for slot, told in SLOTS[kind].items():
        for match in re.finditer(told.cue, text) if told.cue else ():
            fact = names.get(match.end())
            if fact is not None:
                yield slot, _clean(text[fact.start : fact.end])
                following = re.match(r", (?:the )?", text[fact.end :])
                wider = names.get(fact.end + following.end()) if following else None
                if slot == "within" and wider is not None:
                    yield "wider", _clean(text[wider.start : wider.end])
                break
    if kind in ("film", "music", "book", "body"):
        dated = re.search(
            r"(?:released|published|founded|established)(?: on [A-Z]\w+ \d{1,2},| on \d{1,2} \w+)? ?(?:in )?(\d{4})\b",
            text,
        )
        year = re.match(r"(\d{4})\b", rest) or dated
        if year:
            yield "year", year[1]
    if kind == "place":
        count = re.search(r"population (?:of|was|is)(?: about| approximately)? (\d[\d,]+\d)", text)
        if count:
            yield "count", count[1]


def _clean(name: str) -> str:
    return re.sub(r"['’]s$", "", " ".join(name.split()))


@dataclass
class Teller:
    """Makes statements; values of other pages come from the pages that were read before."""

    values: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))

    def read(self, found: Page) -> None:
        """Keeps the values of a page to put into statements about others."""
        for slot, value in found.slots.items():
            self.values[found.kind, slot].append(value)

    def told(self, found: Page, text: str, chance: random.Random) -> Iterator[Told]:
        """At most `MOST` statements about the page, about as many true as false."""
        makers = [self._plain, self._plain, self._denied, self._denied_truly, self._roles, self._roles, self._added]
        chance.shuffle(makers)
        seen: set[str] = set()
        for maker in makers:
            for told in maker(found, text, chance):
                if told.claim not in seen and len(seen) < MOST:
                    seen.add(told.claim)
                    yield told

    def _other(self, found: Page, slot: str, text: str, chance: random.Random) -> str | None:
        """A value that the page does not have: of a year one that is near, of anything else another page's."""
        own = found.slots.get(slot, "")
        if _YEAR.fullmatch(own):
            near = str(int(own) + chance.choice([-20, -11, -10, -3, -2, -1, 1, 2, 3, 5, 10, 12]))
            return near if near not in text and _YEAR.fullmatch(near) else None
        held = self.values.get((found.kind, slot)) or [""]
        for _ in range(5):
            value = chance.choice(held)
            if value and not any(word in fold(text) for word in re.findall(r"\w{4,}", fold(value)) or [fold(value)]):
                return value
        return None

    def _slot(self, found: Page, chance: random.Random) -> str | None:
        known = [slot for slot in found.slots if slot in SLOTS[found.kind]]
        return chance.choice(known) if known else None

    def _plain(self, found: Page, text: str, chance: random.Random) -> Iterator[Told]:
        slot = self._slot(found, chance)
        if slot is None:
            return
        frame = chance.choice(SLOTS[found.kind][slot].frames)[0]
        yield joined([part(frame, found.name, found.slots[slot])], "supported", "told", ())
        other = self._other(found, slot, text, chance)
        if other:
            frame = chance.choice(SLOTS[found.kind][slot].frames)[0]
            yield joined([part(frame, found.name, other)], _label(found, slot), "told", (0,))

    def _denied(self, found: Page, text: str, chance: random.Random) -> Iterator[Told]:
        slot = self._slot(found, chance)
        if slot is not None:
            denial = part(chance.choice(SLOTS[found.kind][slot].frames)[1], found.name, found.slots[slot])
            word = _DENIAL.search(denial.text)
            assert word is not None
            told = joined([denial], "contradicted", "denied", ())
            yield told._replace(wrong=(word.span(),))

    def _denied_truly(self, found: Page, text: str, chance: random.Random) -> Iterator[Told]:
        slot = self._slot(found, chance)
        other = self._other(found, slot, text, chance) if slot and not SLOTS[found.kind][slot].many else None
        if slot and other:
            denial = part(chance.choice(SLOTS[found.kind][slot].frames)[1], found.name, other)
            yield joined([denial], "supported", "denied", ())

    def _roles(self, found: Page, text: str, chance: random.Random) -> Iterator[Told]:
        """Two facts joined as they are, and with their values exchanged."""
        slots = [slot for slot in found.slots if slot in SLOTS[found.kind] and slot not in _NO_PART]
        slots = [slot for slot in slots if found.kind != "person" or slot in ("born", "died")]
        if len(slots) < 2:
            return
        first, second = chance.sample(slots, 2)
        a, b = found.slots[first], found.slots[second]
        if set(fold(a).split()) & set(fold(b).split()):
            return
        yield from exchanged(found, first, second, chance)

    def _added(self, found: Page, text: str, chance: random.Random) -> Iterator[Told]:
        """A fact that is there, and one in a slot of which the page says nothing."""
        slot = self._slot(found, chance)
        absent = [slot for slot in SLOTS[found.kind] if slot not in found.slots and (found.kind, slot) in self.values]
        absent = [slot for slot in absent if slot not in ("year", "born", "died") or not _YEAR.search(text)]
        if slot is None or not absent:
            return
        extra = chance.choice(absent)
        value = self._other(found, extra, text, chance)
        if value:
            frames = [chance.choice(SLOTS[found.kind][each].frames)[0] for each in (slot, extra)]
            parts = [
                part(frames[0], found.name, found.slots[slot]),
                part(frames[1], _again(found), value),
            ]
            yield joined(parts, "unsupported", "added", (1,), chance.choice(JOINS))


def exchanged(found: Page, first: str, second: str, chance: random.Random) -> Iterator[Told]:
    """Two slots in one sentence, with their values and with each other's."""
    a, b = found.slots[first], found.slots[second]
    for values, label in (((a, b), "supported"), ((b, a), "contradicted")):
        frames = [chance.choice(SLOTS[found.kind][slot].frames)[0] for slot in (first, second)]
        parts = [part(frames[0], found.name, values[0]), part(frames[1], _again(found), values[1])]
        wrong = () if label == "supported" else (0, 1)
        yield joined(parts, label, "roles", wrong, chance.choice(JOINS))  # type: ignore[arg-type]


def asked(found: Page, text: str, chance: random.Random) -> Iterator[tuple[str, str | None]]:
    """Questions about the page with their answers, and one whose answer it does not have: None."""
    known = [slot for slot in found.slots if slot in SLOTS[found.kind]]
    for slot in chance.sample(known, min(2, len(known))):
        yield chance.choice(SLOTS[found.kind][slot].asks).format(x=found.name), found.slots[slot]
    absent = [slot for slot in SLOTS[found.kind] if slot not in found.slots and not _hints(slot, text)]
    if absent:
        yield chance.choice(SLOTS[found.kind][chance.choice(absent)].asks).format(x=found.name), None


# Words that may tell what a slot asks for, though no cue of it is there.
_HINTS = {
    "year|born|died": r"\b(?:1\d|20)\d\d\b|century",
    "director": r"direct|film by|filmmaker",
    "star": r"star|cast|play|act(?:or|ress|ed)|role|featur",
    "writer|author|creator": r"wr[io]t|script|screenplay|story|novel|based|creat|compos|author|by",
    "producer": r"produc",
    "composer": r"music|score|soundtrack|compos",
    "network": r"air|broadcast|network|channel|TV|shown|premier|series on",
    "artist": r"\bby\b|singer|band|perform|record|sung|sang",
    "label": r"label|Records|releas|Music",
    "within|wider|seat|birthplace": r"\bin [A-Z]|\b(?:from|near|of|at) [A-Z]|based|locat|born|native",
    "count": r"population|people|inhabitants|residents",
    "founder": r"found|establish|start|creat|form|by",
    "spouse": r"marri|wife|husband|spouse|wed",
}


def _hints(slot: str, text: str) -> bool:
    return any(re.search(words, text) for slots, words in _HINTS.items() if slot in slots.split("|"))


def _label(found: Page, slot: str) -> Label:
    return "unsupported" if SLOTS[found.kind][slot].many else "contradicted"


def _again(found: Page) -> str:
    """The subject where it is told of a second time."""
    return found.name if found.kind == "person" else "it"


def part(frame: str, name: str, value: str) -> _Part:
    """A frame about this subject with a value put in."""
    before = frame[: frame.index("{v}")].format(x=name)
    return _Part(frame.format(x=name, v=value), (len(before), len(before) + len(value)))


def joined(parts: Sequence[_Part], label: Label, edit: str, wrong: Sequence[int], join: str = " and ") -> Told:
    """The parts as one sentence; `wrong` are the parts whose values the page does not back."""
    claim, marks = "", []
    for n, part in enumerate(parts):
        start = len(claim) + (len(join) if n else 0)
        claim += (join if n else "") + part.text
        if n in wrong:
            marks.append((start + part.value[0], start + part.value[1]))
    return Told(claim[:1].upper() + claim[1:] + ".", label, edit, tuple(marks))


def told(passages: Sequence[tuple[Text, Pair]], seed: int) -> Iterator[Pair]:
    """The statements about all passages that open a page; each comes with what its pairs share."""
    found = [page(n, text.title or "", text.text) for n, (text, _) in enumerate(passages)]
    teller = Teller()
    for each in found:
        if each is not None:
            teller.read(each)
    for each in found:
        if each is None:
            continue
        text, origin = passages[each.place]
        chance = random.Random(f"{seed}:told:{origin.id}")
        for n, one in enumerate(teller.told(each, text.text, chance)):
            family: Family = "paraphrase" if one.label == "supported" else "corruption"
            own = replace(origin, id=f"{origin.id}-told{n}", family=family, edit=one.edit, premise=(text,))
            yield replace(own, claim=one.claim, label=one.label, wrong=one.wrong)
