"""`repair.py --labels`: what `check` and `check --repair` call supported of claims that people judged.

One text of `attr_factscore` for each model and person: its claims, each citing what a first search among the person's
passages gives, as a writer would. Repair searches the passages of all persons of the split, and may rewrite with the
embedded writer. A claim is supported if each of its sentences is; whether people would find a rewriting true is not
known, so those are counted apart.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from by_page import RESAMPLES, share, with_interval
from data import rows

from toulmin.data import HOLDING, Answer, Claim, Passage
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Judge, Kit
from toulmin.extractive.writer import Extractive
from toulmin.methods.check import check, draft_of
from toulmin.methods.placing import places
from toulmin.methods.repair import changes, repair
from toulmin.retrieval.bm25 import InMemory

SEPARATOR = "####SPECIAL####SEPARATOR####"
FATES = ("stays", "cited again", "rewritten", "removed")


@dataclass
class PersonClaim:
    """A claim with people's label, the judge's label, and what repair made of it, with its words after."""

    person: str
    text: str
    is_true: bool
    label: str = ""
    reason: str = ""
    fate: str = "stays"
    after: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return self.label in HOLDING

    @property
    def holds_after(self) -> bool:
        return self.holds or self.fate == "cited again"


@dataclass(frozen=True)
class Text:
    """A text of claims, the passages that its marks count, and where each claim lies in it."""

    words: str
    passages: tuple[Passage, ...]
    claims: tuple[PersonClaim, ...]
    ends: tuple[int, ...]

    def claim_at(self, place: int) -> PersonClaim:
        return next(claim for claim, end in zip(self.claims, self.ends, strict=True) if place < end)


def pages(split: str) -> dict[str, tuple[Passage, ...]]:
    cleaned = ((row["topic"], [text.replace(SEPARATOR, "") for text in row["passages"]]) for row in pages_of(split))
    return {topic: tuple(dict.fromkeys(Passage.of(text, topic) for text in texts)) for topic, texts in cleaned}


def pages_of(split: str) -> Iterator[dict[str, Any]]:
    return rows("attr_factscore_pages", split)


def write_text(claims: Sequence[PersonClaim], passages: tuple[Passage, ...]) -> Text:
    index, words, ends = InMemory(passages), "", []
    number = {passage.id: n for n, passage in enumerate(passages, start=1)}
    for claim, hits in zip(claims, index.search([claim.text for claim in claims], 1), strict=True):
        mark = number[hits[0].passage.id] if hits else 1
        words += f"{claim.text.rstrip(' .')} [{mark}].\n"
        ends.append(len(words))
    return Text(words, passages, tuple(claims), tuple(ends))


def texts(split: str, known: dict[str, tuple[Passage, ...]], limit: int | None) -> list[Text]:
    """The texts about the first `limit` persons."""
    groups: dict[tuple[str, str], list[PersonClaim]] = defaultdict(list)
    for row in rows("attr_factscore", split):
        topic = row["evidence_page"]
        groups[topic, row["source"]].append(PersonClaim(topic, row["claim"], row["supported"]))
    chosen = set(list(dict.fromkeys(topic for topic, _ in groups))[:limit])
    return [write_text(claims, known[topic]) for (topic, _), claims in sorted(groups.items()) if topic in chosen]


def run_program(kit: Kit, program: Any) -> Answer:
    outcome = asyncio.run(Driver(kit).answer(Job("", "repair", "long", program)))
    if outcome.error:
        raise outcome.error
    return outcome.answer


def judge_text(text: Text, kit: Kit, rewrite: bool) -> Answer:
    """Sets what became of each claim of the text."""
    checked = run_program(kit, lambda: check(text.words, passages=text.passages))
    mended = run_program(kit, lambda: repair(text.words, passages=text.passages, rewrite=rewrite))
    where = places(text.words, draft_of(text.words, text.passages).spans, len(text.passages))
    owners = [text.claim_at(place.start) for place in where]
    for claim, owner in zip(checked.claims, owners, strict=True):
        if owner and (not owner.label or owner.holds):
            owner.label, owner.reason = _label(claim)
    entries = [entry for entry in mended.rounds if entry.kind == "repair" and entry.text is None and entry.chosen]
    for entry, change in zip(entries, changes(mended), strict=True):
        owner = owners[(entry.n or 0) - 1]
        if owner:
            owner.fate = next(fate for fate in FATES if change.why.startswith(fate))
            owner.after.append(change.after)
    return mended


def _label(claim: Claim) -> tuple[str, str]:
    return (claim.support.label, claim.support.reason or "") if claim.support else ("not checked", "")


GROUPS = {"people: not supported": False, "people: supported": True}


def report(claims: Sequence[PersonClaim]) -> None:
    print(f"{'claims':24}{'n':>6}{'supported before':>26}{'after, same words':>26}{'rewritten':>11}{'removed':>12}")
    for name, truth in GROUPS.items():
        some = [claim for claim in claims if claim.is_true is truth]
        persons = [claim.person for claim in some]
        both = ([claim.holds for claim in some], [claim.holds_after for claim in some])
        cells = [with_interval(persons, share(np.array(column)), RESAMPLES) for column in both]
        shown = "".join(f"{100 * c.mean:10.1f} [{100 * c.low:4.1f}, {100 * c.high:4.1f}]".rjust(26) for c in cells)
        fates = [100 * np.mean([claim.fate == fate for claim in some]) for fate in FATES[2:]]
        print(f"{name:24}{len(some):6}{shown}{fates[0]:11.1f}{fates[1]:12.1f}")


def measure(split: str, judge: Judge, limit: int | None, rewrite: bool, shown: int) -> None:
    known = pages(split)
    kit = Kit(InMemory([p for passages in known.values() for p in passages]), judge, {"main": Extractive()})
    all_texts = texts(split, known, limit)
    for text in all_texts:
        judge_text(text, kit, rewrite)
    claims = [claim for text in all_texts for claim in text.claims]
    persons = len({claim.person for claim in claims})
    print(f"attr_factscore {split}, {persons} persons, {len(all_texts)} texts, judge {judge.name}")
    report(claims)
    wrong = [claim for claim in claims if not claim.is_true and claim.fate in ("cited again", "rewritten")]
    for claim in wrong[:shown]:
        print(f"{claim.fate} ({claim.label}: {claim.reason}): {claim.text} -> {' '.join(claim.after)}")
