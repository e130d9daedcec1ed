"""What other pages offer: names by kind, and details that can be added to a claim. Bounded, and the same for a seed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from claims.english import is_person, of_participle, of_past
from claims.words import COUNTRIES, NATIONALITIES
from toulmin.text.language import sentences
from toulmin.text.names import Fact, facts

MOST = 6_000  # held of each kind
_ORGANISATION = re.compile(
    r"[A-Z][\w.&'’-]+(?: (?:of|the|and|&|[A-Z][\w.&'’-]+)){0,4} (?P<head>University|College|Records|Company|Party"
    r"|Museum"
    r"|Theatre|Hospital|Airport|Airlines|Institute|Church|School|River|Lake|County|Island|Park|Stadium|League|Bank)"
)
_PLACED = re.compile(r"\b(?:born in|located in|based in|city of|town of|died in|lives in|village of|near) $")
_NO_PLACE = re.compile(
    r"\b(?:University|College|War|Battle|League|Cup|Olympics|Games|Film|Street|Hospital|Records|Series|Season)\b"
)
_PREPOSITION = re.compile(r" (?P<word>in|at|for|with|from|by|on|under|during|near|alongside|through|after|against) ")
_LEFT_OPEN = re.compile(
    r"\b(?:its|his|her|their|this|that|these|those|which|who|it|them|him|he|she|they|as|to|of)\b|[,;:()\"]"
)
DETAILS = 60  # held of each verb
_PREDICATE = re.compile(r"\b(?:He|She) (?P<verb>[a-z]+) (?P<rest>[^,;:()\"]{8,60})\.$")


def kind_of(fact: Fact, text: str) -> str | None:
    """What kind of thing a name of the text names; None where its own words and the words before do not tell."""
    name = _bare(text[fact.start : fact.end])
    if name in COUNTRIES:
        return "country"
    if name in NATIONALITIES:
        return "nationality"
    if is_person(name) and not re.match(r"[A-Z]\.[A-Z]\.", name):
        return "person"
    organisation = _ORGANISATION.fullmatch(name)
    if organisation:
        return organisation["head"]
    before = text[max(0, fact.start - 14) : fact.start]
    is_bare = re.fullmatch(r"[A-Z][a-z]{3,}(?: [A-Z][a-z]{3,})?", name) is not None
    return "place" if is_bare and _PLACED.search(before) and not _NO_PLACE.search(name) else None


def _bare(name: str) -> str:
    """A name without the possessive."""
    return name.removesuffix("'s").removesuffix("’s")


@dataclass
class Stock:
    """Names by kind, and details: draws are seeded by the caller."""

    names: dict[str, list[str]] = field(
        default_factory=lambda: {"nationality": [*NATIONALITIES], "country": [*COUNTRIES]}
    )
    details: dict[str, dict[Detail, None]] = field(default_factory=dict)  # by verb, in the order found
    predicates: dict[str, None] = field(default_factory=dict)

    def name(self, kind: str, chance: random.Random) -> str | None:
        """Any name of the kind; None where none is held."""
        held = self.names.get(kind)
        return chance.choice(held) if held else None


class Detail(NamedTuple):
    """A circumstance at a sentence's end, and the verb that it goes with."""

    verb: str
    preposition: str
    words: str


def last_verb(words: str) -> re.Match[str] | None:
    """The last word of these that is a past or a participle."""
    found = [
        m
        for m in re.finditer(r"[a-z]{3,}", words)
        if of_past(m[0]) or of_participle(m[0]) or re.search(r"..[^e]ed$", m[0])
    ]
    return found[-1] if found else None


def detail_of(sentence: str) -> Detail | None:
    """The last circumstance of a sentence, of two to seven words that stand by themselves; None where none is sure."""
    for match in reversed(list(_PREPOSITION.finditer(sentence, len(sentence) // 2))):
        words = sentence[match.start("word") :].rstrip(".")
        verb = last_verb(sentence[: match.start()])
        if 2 <= len(words.split()) <= 7 and verb and match.start() - verb.end() < 30 and not _LEFT_OPEN.search(words):
            return Detail(verb[0], match["word"], words)
    return None


def _details(sentence: str, stock: Stock) -> None:
    detail = detail_of(sentence) if sentence.endswith(".") else None
    if detail:
        held = stock.details.setdefault(detail.verb, {})
        if len(held) < DETAILS:
            held[detail] = None
    predicate = _PREDICATE.search(sentence)
    if predicate and len(stock.predicates) < MOST and of_past(predicate["verb"]) and facts(predicate["rest"]):
        stock.predicates[f"{predicate['verb']} {predicate['rest']}"] = None


def stocked(texts: Iterable[str]) -> Stock:
    """What the texts offer: the first `MOST` of each kind, each once."""
    stock = Stock()
    seen: set[str] = set()
    for text in texts:
        for start, end in sentences(text):
            sentence = text[start:end]
            if 20 < len(sentence) < 400:
                _details(sentence, stock)
                _names(sentence, stock, seen)
    return stock


def _names(sentence: str, stock: Stock, seen: set[str]) -> None:
    for fact in facts(sentence):
        kind = kind_of(fact, sentence) if fact.kind == "name" else None
        if kind and kind not in ("nationality", "country") and fact.value not in seen:
            seen.add(fact.value)
            held = stock.names.setdefault(kind, [])
            if len(held) < MOST:
                held.append(_bare(sentence[fact.start : fact.end]))
