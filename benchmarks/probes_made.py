"""Probes for judges of support: small untruths, and as many truths said in the same ways, over held-out pages.

Half are facts said in words of our own, half are sentences of the page said again near to its words. A false claim
takes its value from another page's fact of the same kind, so that neither the wording nor the value gives it
away. Pages are those of `held_out.py`; seeded.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import probes_facts as found
import probes_sentences as near
import probes_wording as wording
from data import rows
from held_out import is_held_out
from probes_facts import Fact, Page

from toulmin.steps import Pair
from toulmin.text.language import terms

Kind = Literal["number", "date", "entity", "negation", "role swap", "added detail"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST = 110  # of each kind, truth and wording, where the pages hold as many
SEED = 61
WANTED = {"number": 0.95, "date": 0.95, "entity": 0.90, "negation": 0.90, "role swap": 0.80, "added detail": 0.75}
WORDINGS = ("own", "near", "hand")
HANDWRITTEN = Path(__file__).with_name("handwritten.jsonl")
_BRITAIN = frozenset({"Britain", "England", "Scotland", "Wales"})


class Probe(NamedTuple):
    """A claim over a held-out page. `wording` is own (facts in our words), near (its sentence) or hand."""

    page: Page
    kind: Kind
    supported: bool
    wording: str
    claim: str

    @property
    def pair(self) -> Pair:
        """What a judge is asked."""
        return Pair((self.page.passage,), self.claim)

    @property
    def copied(self) -> float:
        """The share of the claim's pairs of neighbouring terms that stand so in the page."""
        terms_of_page, terms_of_claim = terms(f"{self.page.title} . {self.page.text}"), terms(self.claim)
        known = set(pairwise(terms_of_page))
        pairs = list(pairwise(terms_of_claim))
        return sum(pair in known for pair in pairs) / max(1, len(pairs))


def held_out_pages() -> list[Page]:
    """The held-out passages of `pool_corpus`, in its order."""
    kept = (row for row in rows("pool_corpus") if is_held_out(row["title"]))
    return [Page(row["id"], row["title"], found.tidy(row["text"])) for row in kept]


class Makers:
    """The pages with their facts, and a maker for each kind and wording; each yields false and true claims in turn."""

    def __init__(self, pages: Sequence[Page], seed: int = SEED) -> None:
        self.chance = random.Random(seed)
        self.pages = {page.id: page for page in pages}
        self.facts = [fact for page in pages for fact in found.facts(page)]
        self.chance.shuffle(self.facts)
        self.values: dict[str, list[str]] = {}
        for fact in self.facts:
            self.values.setdefault(_pool(fact), []).append(fact.value)

    # ------------------------------------------------------------ values

    def other(self, fact: Fact) -> str | None:
        """A value of the same kind from another page, of which this page holds no word; near in size if it has one."""
        page = self.pages[fact.passage]
        words = set(re.findall(r"\w+", f"{page.title} {page.text}".casefold()))
        rivals = [value for value in self.values[_pool(fact)] if self._fits(value, fact, words)]
        return self.chance.choice(rivals) if rivals else None

    def _fits(self, value: str, fact: Fact, words: set[str]) -> bool:
        if _is_date(fact):
            return value[-4:] not in words and 0 < abs(int(value[-4:]) - int(fact.value[-4:])) <= 12
        if fact.slot.startswith("number of"):
            new, old = (int(text.replace(",", "")) for text in (value, fact.value))
            written = {str(new), *value.split(","), wording.number(value, True)}
            return new != old and old / 3 <= new <= old * 3 and words.isdisjoint(written)
        if fact.slot == "country":
            return (
                value != fact.value
                and value.split()[-1].casefold() not in words
                and not {value, fact.value} <= _BRITAIN
            )
        return words.isdisjoint(re.findall(r"\w+", value.casefold())) and len(value.split()) == len(fact.value.split())

    # ------------------------------------------------------------ number, date, entity

    def own_facts(self, kind: Kind) -> Iterator[Probe]:
        """Facts in our words."""
        for fact in self.facts:
            can_be_said = _pool(fact) == "number" or (fact.subject.kind, fact.slot) in wording.STATED
            new = self.other(fact) if can_be_said and _kind(fact) == kind else None
            if new is not None:
                yield self._state(fact, new, kind, supported=False)
                twin = self._holder(fact, new) if fact.slot == "country" else fact
                yield self._state(twin, twin.value, kind, supported=True)

    def _holder(self, like: Fact, value: str) -> Fact:
        """A page of which the value is true: half of all people here are of one country, which must not tell."""
        return self.chance.choice([fact for fact in self.facts if (fact.slot, fact.value) == (like.slot, value)])

    def _state(self, fact: Fact, value: str, kind: Kind, supported: bool) -> Probe:
        page, noun = self.pages[fact.passage], fact.slot.removeprefix("number of ")
        known = wording.COUNTED if noun != fact.slot else wording.STATED[fact.subject.kind, fact.slot]
        claim = self.chance.choice(known).format(x=fact.subject.name, v=self._show(fact, value), noun=noun)
        return Probe(page, kind, supported, "own", _capital(claim))

    def _show(self, fact: Fact, value: str) -> str:
        if _is_date(fact):
            return self.chance.choice((wording.month(value), value[-4:]))
        return wording.number(value, self.chance.random() < 0.5) if fact.slot.startswith("number of") else value

    def near(self, kind: Kind) -> Iterator[Probe]:
        """Sentences that hold a fact's value, said again; the false ones with another value."""
        for fact in self.facts:
            new = self.other(fact) if _kind(fact) == kind and fact.slot != "country" else None
            page = self.pages[fact.passage]
            claim = self._sentence(page, (fact.value,)) if new is not None else None
            if new is not None and claim is not None and claim.count(fact.value) == 1:
                yield Probe(page, kind, False, "near", claim.replace(fact.value, new))
                yield Probe(page, kind, True, "near", claim)

    def _sentence(self, page: Page, holding: Sequence[str]) -> str | None:
        for sentence in near.whole(page):
            if all(re.search(rf"(?<![\w,]){re.escape(text)}(?![\w,]*\d)", sentence) for text in holding):
                claim = near.reword(sentence, page, holding)
                if claim is not None:
                    return claim
        return None

    # ------------------------------------------------------------ role swap

    def own_roles(self, kind: Kind) -> Iterator[Probe]:
        """Two values of a page told in each other's roles, and in their own."""
        for page, name, first, second, known in self._roles():
            for supported, (a, b) in ((False, (second, first)), (True, (first, second))):
                claim = self.chance.choice(known).format(x=name, a=a, b=b)
                yield Probe(page, kind, supported, "own", _capital(claim))

    def near_roles(self, kind: Kind) -> Iterator[Probe]:
        """The sentence that holds both, said again; the false ones with the two exchanged."""
        for page, _, first, second, _ in self._roles():
            claim = self._sentence(page, (first, second))
            if claim is not None and claim.count(first) == claim.count(second) == 1:
                yield Probe(page, kind, False, "near", _exchange(claim, first, second))
                yield Probe(page, kind, True, "near", claim)

    def _roles(self) -> Iterator[tuple[Page, str, str, str, Sequence[str]]]:
        slots: dict[tuple[str, str], Fact] = {(fact.passage, fact.slot): fact for fact in self.facts}
        for fact in self.facts:
            page = self.pages[fact.passage]
            if fact.slot == "parent":
                known = tuple(
                    text.replace("{x}", "{a}").replace("{v}", "{b}") for text in wording.STATED["person", "parent"]
                )
                yield page, "", fact.subject.name, fact.value, known
            for roles in wording.EXCHANGED:
                second = slots.get((fact.passage, roles.second))
                mine = (roles.kind, roles.first) == (fact.subject.kind, fact.slot)
                if mine and second is not None and _stand_once(page, fact.value, second.value):
                    yield page, fact.subject.name, fact.value, second.value, (roles.text,)
        for page in self.pages.values():
            done = list(found.deeds(page))
            returned = {(deed.done_to, deed.doer) for deed in done}
            for deed in done:
                if (deed.doer, deed.done_to) not in returned:
                    yield page, "", deed.doer, deed.done_to, wording.DEEDS[deed.verb]

    # ------------------------------------------------------------ negation

    def own_denials(self, kind: Kind) -> Iterator[Probe]:
        """A fact denied, and the same denial of what is no fact."""
        for fact in self.facts:
            known = wording.DENIED.get((fact.subject.kind, fact.slot))
            other = self.other(fact) if known is not None else None
            if known is not None and other is not None:
                for supported, value in ((False, fact.value), (True, other)):
                    claim = self.chance.choice(known).format(x=fact.subject.name, v=self._show(fact, value))
                    yield Probe(self.pages[fact.passage], kind, supported, "own", _capital(claim))

    def near_denials(self, kind: Kind) -> Iterator[Probe]:
        """Sentences that deny, and without denial, in step with sentences that state, and denied."""
        sentences = [(page, sentence) for page in self.pages.values() for sentence in near.whole(page)]
        self.chance.shuffle(sentences)
        denying = [(page, sentence) for page, sentence in sentences if near.has_plain_denial(sentence)]
        stating = [(page, sentence) for page, sentence in sentences if near.is_plain_statement(sentence)]
        for (page, denial), (other, statement) in zip(denying, stating, strict=False):
            claim = near.reword(denial, page) or denial
            claim_of_other = near.reword(statement, other) or statement
            if near.has_plain_denial(claim) and near.is_plain_statement(claim_of_other):
                yield Probe(page, kind, False, "near", near.affirm(claim))
                yield Probe(page, kind, True, "near", claim)
                yield Probe(other, kind, False, "near", near.deny(claim_of_other, self.chance))
                yield Probe(other, kind, True, "near", claim_of_other)

    # ------------------------------------------------------------ added detail

    def own_details(self, kind: Kind) -> Iterator[Probe]:
        """A fact and a second one beside it, of the page itself or, where the page is silent on it, of another.

        Of each pair of slots as many are true as false, so that what is told beside what does not tell.
        """
        by_page: dict[str, list[Fact]] = {}
        for fact in self.facts:
            if fact.slot in wording.DETAILS.get(fact.subject.kind, {}):
                by_page.setdefault(fact.passage, []).append(fact)
        sides: dict[tuple[str, str, bool], list[Probe]] = {}
        for facts_of_page in by_page.values():
            for first in facts_of_page:
                for slot, probe in self._details(first, facts_of_page, kind):
                    sides.setdefault((first.slot, slot, probe.supported), []).append(probe)
        pairs = sorted({(first, slot) for first, slot, _ in sides})
        both = [
            p
            for first, slot in pairs
            for p in zip(*(sides.get((first, slot, s), []) for s in (False, True)), strict=False)
        ]
        self.chance.shuffle(both)
        yield from (probe for pair in both for probe in pair)

    def _details(self, first: Fact, facts_of_page: Sequence[Fact], kind: Kind) -> Iterator[tuple[str, Probe]]:
        page, known = self.pages[first.passage], {fact.slot for fact in facts_of_page}
        silent = [
            slot
            for slot in wording.DETAILS[first.subject.kind]
            if slot not in known and wording.is_silent(slot, page.text)
        ]
        for slot in silent:
            like = self._any(slot, first)
            value = None if like is None else self.other(Fact(page.id, first.subject, slot, like))
            if value is not None and _is_lifelike(first, slot, value):
                yield slot, self._with(first, slot, value, kind, supported=False)
        for second in facts_of_page:
            if second is not first:
                yield second.slot, self._with(first, second.slot, second.value, kind, supported=True)

    def _any(self, slot: str, like: Fact) -> str | None:
        if slot.endswith("year") and _is_date(like):
            return like.value[-4:]
        return self.chance.choice(self.values[slot]) if slot in self.values else None

    def _with(self, fact: Fact, slot: str, value: str, kind: Kind, supported: bool) -> Probe:
        detail = wording.DETAILS[fact.subject.kind][slot].format(v=self._show(replace(fact, slot=slot), value))
        claim = self.chance.choice(wording.STATED[fact.subject.kind, fact.slot])
        shown = claim.format(x=f"{fact.subject.name}, {detail},", v=self._show(fact, fact.value)).replace(",.", ".")
        return Probe(self.pages[fact.passage], kind, supported, "own", _capital(shown))

    def near_details(self, kind: Kind) -> Iterator[Probe]:
        """A page's first sentence with what a second one tells, of the same page or of another."""
        clauses = {
            page.id: other_clause
            for page in self.pages.values()
            if (other_clause := near.second_clause(page)) is not None
        }
        all_told = sorted(set(clauses.values()))
        for id in self.chance.sample(list(clauses), len(clauses)):
            page, clause = self.pages[id], clauses[id]
            first = near.whole(page)[0]
            base = near.reword(first, page) or first
            others = self.chance.sample(all_told, len(all_told))
            foreign = next(
                (
                    other_clause
                    for other_clause in others
                    if other_clause[0] == clause[0] and near.is_silent(page, other_clause[1])
                ),
                None,
            )
            claims = [
                near.merge(found.subject_name(page.title), *other_clause, base)
                for other_clause in (foreign, clause)
                if other_clause is not None
            ]
            if len(claims) == 2 and all(claims):
                yield Probe(page, kind, False, "near", claims[0] or "")
                yield Probe(page, kind, True, "near", claims[1] or "")


def _pool(fact: Fact) -> str:
    return "number" if fact.slot.startswith("number of") else fact.slot


def _is_date(fact: Fact) -> bool:
    return fact.slot.endswith((" year", " date")) or fact.slot == "year told"


def _is_lifelike(first: Fact, slot: str, value: str) -> bool:
    """Whether somebody lived from 20 to 100 years, where a claim tells of both ends: it must not tell by itself."""
    if {first.slot, slot} != {"birth date", "death date"}:
        return True
    ends = int(first.value[-4:]), int(value[-4:])
    born, died = ends if slot == "death date" else ends[::-1]
    return 20 <= died - born <= 100


def _kind(fact: Fact) -> Kind:
    if fact.slot.startswith("number of"):
        return "number"
    return "date" if _is_date(fact) else "entity"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _stand_once(page: Page, *names: str) -> bool:
    return all(page.text.count(name.split()[-1]) == 1 for name in names)


def _exchange(text: str, first: str, second: str) -> str:
    return re.sub(
        rf"{re.escape(first)}|{re.escape(second)}", lambda match: second if match[0] == first else first, text
    )


def make_probes(pages: Sequence[Page], most: int = MOST, seed: int = SEED) -> list[Probe]:
    """Probes of every kind in both wordings, no claim twice; as many true as false of each, up to `wanted`."""
    makers = Makers(pages, seed)
    pick = {
        "role swap": (makers.own_roles, makers.near_roles),
        "negation": (makers.own_denials, makers.near_denials),
        "added detail": (makers.own_details, makers.near_details),
    }
    probes: list[Probe] = []
    for kind in KINDS:
        own_words, near_words = pick.get(kind, (makers.own_facts, makers.near))
        copies = _balance(near_words(kind), most)
        probes += copies + _balance(own_words(kind), 2 * most - len(copies) // 2)
    return probes


def _balance(candidates: Iterator[Probe], most: int) -> list[Probe]:
    """As many true as false ones, each claim once."""
    sides: dict[bool, dict[str, Probe]] = {True: {}, False: {}}
    for probe in candidates:
        if len(sides[probe.supported]) < most:
            sides[probe.supported].setdefault(probe.claim, probe)
    count = min(map(len, sides.values()))
    return [probe for side in sides.values() for probe in list(side.values())[:count]]


def handwritten(pages: Sequence[Page]) -> list[Probe]:
    """The claims of `handwritten.jsonl`, with the pages that they speak of."""
    known = {page.id: page for page in pages}
    records = map(json.loads, HANDWRITTEN.read_text(encoding="utf-8").splitlines())
    return [Probe(known[r["passage"]], r["kind"], r["supported"], "hand", r["claim"]) for r in records]
