"""Statements that hang on who stands in which part: the same names and values, bound to each other in another way.

A network that reads which words a passage has, and not what they do there, accepts "Pell taught Nolan" from "Pell was
taught by Nolan". Real pages are too few to teach it otherwise: it learns them by heart. So each page's facts are told
again and again under other names (`of_page`), and sentences are made of relations with two parts and of properties of
several subjects (`made_up`), with names and values drawn anew each time. Nothing but the binding tells true from false;
relations that hold in either direction (married, met) stand among them. `bound.toml` holds the tables.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

from claims import told
from claims.pair import Family, Label, Pair, Text
from claims.place import capital
from claims.stock import Stock
from claims.told import SLOTS, Page, Told
from toulmin.text.language import fold, sentences

RENAMED = 4  # times that a page is told under other names
_SAID = 260  # characters of a page that are kept, in whole sentences
_PEOPLE = frozenset("director star writer producer composer creator artist author founder spouse".split())
_TRADES = "baker lawyer painter teacher sailor farmer doctor judge banker poet singer chemist priest soldier".split()
_WHEN = ("", "", "", " in {year}", " at the time", " for the second time", " according to the records")

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


class Relation(NamedTuple):
    """What stands in both its places, how it is said, and what it makes of itself turned round."""

    of: str
    forms: tuple[str, ...]
    turned: Label


def _turned(relation: Mapping[str, Any]) -> Label:
    if relation.get("both"):
        return "supported"
    return "unsupported" if relation.get("free") else "contradicted"


RELATIONS = tuple(Relation(one["of"], tuple(one["forms"]), _turned(one)) for one in _TABLE["relation"])
PROPERTIES = tuple((p["of"], p["value"], tuple(p["forms"])) for p in _TABLE["property"])


class Case(NamedTuple):
    """A passage of our own and a claim about it."""

    premise: str
    claim: str
    label: Label


# ---------------------------------------------------------------- pages under other names


def of_page(found: Page, text: str, stock: Stock, chance: random.Random) -> Iterator[tuple[str, Told]]:
    """The page's opening under other names, and statements that give a value its own part or another's."""
    slots = [slot for slot in found.slots if slot in SLOTS[found.kind] and _kind(slot)]
    alike = [pair for pair in permutations(slots, 2) if _kind(pair[0]) == _kind(pair[1])]
    values = {fold(found.slots[slot]) for slot in slots}
    if not alike or len(values) < len(slots):
        return
    opening = _opening(text)
    for _ in range(RENAMED):
        other = _renamed(found, opening, slots, stock, chance)
        if other is None:
            continue
        page, said = other
        first, second = chance.choice(alike)
        for one in (*_statements(page, first, second, chance), *_copies(page, said, first, second)):
            yield said, one


def _kind(slot: str) -> str | None:
    if slot in _PEOPLE:
        return "person"
    return "year" if slot in ("born", "died") else None


def _opening(text: str) -> str:
    end = 0
    for _, stop in sentences(text):
        if end and stop > _SAID:
            break
        end = stop
    return text[:end]


def _renamed(
    found: Page, opening: str, slots: Sequence[str], stock: Stock, chance: random.Random
) -> tuple[Page, str] | None:
    """The page with new values in these slots, and its opening with them; None where a value is not told once."""
    page, said = replace(found, slots=dict(found.slots)), opening
    for slot in slots:
        old = found.slots[slot]
        new = _drawn(_kind(slot) or "", stock, chance)
        if new is None or said.count(old) != 1 or fold(new) in fold(said):
            return None
        said = said.replace(old, new)
        last = old.split()[-1]
        if len(old.split()) > 1:
            said = re.sub(rf"\b{re.escape(last)}\b", new.split()[-1].replace("\\", ""), said)
        page.slots[slot] = new
    return page, said


def _statements(page: Page, first: str, second: str, chance: random.Random) -> Iterator[Told]:
    """One part alone, rightly and with the other's value; then both, rightly and exchanged."""
    frames = SLOTS[page.kind][first].frames
    for value, label in ((page.slots[first], "supported"), (page.slots[second], "contradicted")):
        part = told.part(chance.choice(frames)[0], page.name, value)
        yield told.joined([part], label, "roles", () if label == "supported" else (0,))  # type: ignore[arg-type]
    yield from told.exchanged(page, first, second, chance)


def _copies(page: Page, said: str, first: str, second: str) -> Iterator[Told]:
    """The sentence that holds both values, as it is and with the two exchanged."""
    a, b = page.slots[first], page.slots[second]
    held = next((text for start, end in sentences(said) if {a, b} <= _values(page, text := said[start:end])), None)
    if held is None or a in b or b in a:
        return
    turned = re.sub(f"{re.escape(a)}|{re.escape(b)}", lambda found: b if found[0] == a else a, held)
    wrong = tuple(found.span() for found in re.finditer(f"{re.escape(a)}|{re.escape(b)}", turned))
    yield Told(held, "supported", "roles", ())
    yield Told(turned, "contradicted", "roles", wrong)


def _values(page: Page, text: str) -> set[str]:
    return {value for value in page.slots.values() if text.count(value) == 1}


# ---------------------------------------------------------------- sentences of our own


def _drawn(kind: str, stock: Stock, chance: random.Random) -> str | None:
    if kind == "year":
        return str(chance.randint(1500, 2023))
    if kind == "number":
        return f"{chance.randint(2, 99) * chance.choice([1, 1, 10, 137, 1111]):,}"
    return chance.choice(_TRADES) if kind == "trade" else stock.name(kind, chance)


def _several(kind: str, count: int, stock: Stock, chance: random.Random) -> list[str] | None:
    found = [value for _ in range(count) if (value := _drawn(kind, stock, chance))]
    words = [word for value in found for word in fold(value).split()]
    return found if len(found) == count and len(set(words)) == len(words) else None


def related(stock: Stock, chance: random.Random) -> Iterator[Case]:
    """One or two relations as a passage, and one of them said otherwise: rightly, turned round, or mixed."""
    relation = chance.choice(RELATIONS)
    names = _several(relation.of, 4, stock, chance)
    if names is None:
        return
    pairs = [(names[0], names[1]), (names[2], names[3])][: chance.choice([1, 1, 2])]
    told_as = chance.choice(relation.forms)
    when = chance.choice(_WHEN).format(year=chance.randint(1700, 2020))
    lines = [capital(told_as.format(a=a, b=b) + when) + "." for a, b in pairs]
    chance.shuffle(lines)
    a, b = chance.choice(pairs)
    asked: list[tuple[str, str, Label]] = [(a, b, "supported"), (b, a, relation.turned)]
    if len(pairs) == 2 and chance.random() < 0.5:
        asked[1] = (pairs[0][0], pairs[1][1], "unsupported")
    for first, second, label in asked:
        said = chance.choice(relation.forms).format(a=first, b=second)
        yield Case(" ".join(lines), capital(said) + ".", label)


def described(stock: Stock, chance: random.Random) -> Iterator[Case]:
    """Two or three subjects, each with a value of its own, and one of them with its own or another's."""
    of, kind, forms = chance.choice(PROPERTIES)
    count = chance.choice([2, 2, 3])
    subjects, values = _several(of, count, stock, chance), _several(kind, count, stock, chance)
    if subjects is None or values is None:
        return
    lines = [chance.choice(forms).format(x=x, v=v) for x, v in zip(subjects, values, strict=True)]
    premise = capital(chance.choice(["; ", ", and ", ", while "]).join(lines)) + "."
    own, other = chance.sample(range(count), 2)
    for at, label in ((own, "supported"), (other, "contradicted")):
        said = chance.choice(forms).format(x=subjects[own], v=values[at])
        yield Case(premise, capital(said) + ".", label)  # type: ignore[arg-type]


def made_up(passages: Sequence[tuple[Text, Pair]], stock: Stock, seed: int) -> Iterator[Pair]:
    """Relations and properties: two draws for each passage, which stands behind every third of them."""
    for text, origin in passages:
        chance = random.Random(f"{seed}:bound:{origin.id}")
        cases = [case for draw in (related, related, described) for case in draw(stock, chance)]
        aside = next((text.text[s:e] for s, e in sentences(text.text)), "")
        for n, case in enumerate(cases):
            parts = [case.premise, aside] if chance.random() < 0.3 else [case.premise]
            premise = Text(None, " ".join(chance.sample(parts, len(parts))))
            yield _pair(origin, f"bound{n}", "bound", premise, case.claim, case.label)


def renamed(passages: Sequence[tuple[Text, Pair]], stock: Stock, seed: int) -> Iterator[Pair]:
    """The statements about all pages under other names."""
    for n, (text, origin) in enumerate(passages):
        page = told.page(n, text.title or "", text.text)
        chance = random.Random(f"{seed}:renamed:{origin.id}")
        for place, (said, one) in enumerate(of_page(page, text.text, stock, chance) if page else ()):
            made = _pair(origin, f"renamed{place}", "renamed", Text(text.title, said), one.claim, one.label)
            yield replace(made, wrong=one.wrong)


def _pair(origin: Pair, name: str, edit: str, premise: Text, claim: str, label: Label) -> Pair:
    family: Family = "paraphrase" if label == "supported" else "corruption"
    made = replace(origin, id=f"{origin.id}-{name}", family=family, edit=edit, premise=(premise,), wrong=None)
    return replace(made, claim=claim, label=label, wrong=() if label == "supported" else None)
