"""Pairs made of a claim that is known to be true: reworded it stays so, edited it does not.

Each claim gives at most `each` rewordings and `each` corruptions. Of the corruptions that fit, those are taken of
which fewest were made so far, so that rare kinds come as near to frequent ones as the texts allow. Many corruptions are
made from a rewording, so that a claim's distance from its passage tells nothing; and some are mirrored: the passage is
edited instead, so that the edited words are true by it and the natural ones are not.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from claims.added import added
from claims.named import cast_swap, entity, exchange, role_swap
from claims.pair import Label, Pair, Text, changed, page_key
from claims.place import Edit, Ground, Kind, Place, is_clean, spans
from claims.rearranged import moved, told_alone, voice
from claims.referred import dropped, named
from claims.removed import removed, says_it
from claims.reworded import date_form, date_rounded, number_words, synonyms
from claims.stock import Stock
from claims.turned import cause, comparative, negation, quantifier
from claims.values import date, number, unit
from toulmin.text.language import sentences

CORRUPTIONS = (
    Kind("number", number, "contradicted"),
    Kind("date", date, "contradicted"),
    Kind("unit", unit, "contradicted"),
    Kind("entity", entity, "unsupported"),
    Kind("role_swap", role_swap, "contradicted"),
    Kind("cast_swap", cast_swap, "contradicted"),
    Kind("exchange", exchange, "contradicted"),
    Kind("negation", negation, "contradicted"),
    Kind("quantifier", quantifier, "contradicted"),
    Kind("comparative", comparative, "contradicted"),
    Kind("added_detail", added, "unsupported"),
    Kind("cause_effect", cause, "unsupported"),
)
REWORDINGS: dict[str, Edit] = {
    "moved": moved,
    "voice": voice,
    "told_alone": told_alone,
    "named": named,
    "dropped": dropped,
    "number_words": number_words,
    "date_form": date_form,
    "date_rounded": date_rounded,
    "synonyms": synonyms,
}
_MIRRORED = 0.25
_REMOVED = 0.2
# Not where the edited sentence says more: the natural one would be true by it.
_MIRRORS = frozenset("number date unit entity role_swap cast_swap exchange negation comparative".split())
_PRONOUN = re.compile(r"^(?:He|She|It|His|Her|Its|Their)\b")
_STRONGER = re.compile(
    r"\b(?:all|always|only|exactly|must|entirely|exclusively|completely|certainly|hundreds|usually|often)\b"
)
_ONE_PLACE = re.compile(
    r"\b(?:(?:born|died|located|directed|written|founded|headquartered|capital|won|produced|based|coached|played"
    r"|portrayed"
    r"|composed|hosted|voiced) (?:\w+ )?(?:in|by|of)|near|(?:is|was) an?) (?:the )?$"
)


@dataclass
class Maker:
    """Makes pairs and counts what it made; the order in which claims come decides which kinds are taken."""

    stock: Stock
    each: int = 2
    seed: int = 0
    made: Counter[str] = field(default_factory=Counter)

    def of_claim(self, origin: Pair) -> Iterator[Pair]:
        """The pairs that one supported pair gives; none where its claim is no plain sentence."""
        if origin.label == "supported" and is_clean(origin.claim) and len(sentences(origin.claim)) == 1:
            place = Place(origin.claim, Ground(origin.premise), origin.premise[0].title or "", self.stock)
            yield from self._of_place(place, origin, random.Random(f"{self.seed}:{origin.id}"))

    def of_passage(self, passage: Text, others: tuple[Text, ...], origin: Pair) -> Iterator[Pair]:
        """The pairs of a passage's own sentences; some are judged by others too. `origin` gives what they share."""
        for at, span in enumerate(spans(passage.text)):
            sentence = passage.text[span.start : span.end]
            chance = random.Random(f"{self.seed}:{origin.id}:{at}")
            beside = tuple(chance.sample(others, min(len(others), chance.choice([0, 0, 0, 1, 2]))))
            place = Place(sentence, Ground((passage, *beside)), passage.title or "", self.stock)
            if _PRONOUN.match(sentence):
                full = named(place, chance)
                if full is None:
                    continue
                place = replace(place, claim=full)
            shared = replace(origin, id=f"{origin.id}-{at}", claim=place.claim, premise=place.ground.passages)
            if place.claim != sentence:
                yield self._pair(shared, "paraphrase", "named", place.claim, "supported")
            yield from self._of_place(place, shared, chance)
            yield from self._removed(place, sentence, others, shared, chance)
            if place.claim == sentence and chance.random() < _MIRRORED:
                yield from self._mirrored(place, shared, chance)

    def _of_place(self, place: Place, shared: Pair, chance: random.Random) -> Iterator[Pair]:
        true = self._reworded(place, chance)
        for name, claim in true.items():
            yield self._pair(shared, "paraphrase", name, claim, "supported")
        bases = [place.claim, *true.values()]
        base = replace(place, claim=chance.choice(bases) if chance.random() < 0.67 else place.claim)
        for kind, claim in self._corrupted(base, chance):
            made = self._pair(shared, "corruption", kind.name, claim, label_of(kind, base.claim, claim))
            yield replace(made, wrong=changed(base.claim, claim))

    def _reworded(self, place: Place, chance: random.Random) -> dict[str, str]:
        """Up to `each` rewordings by name; the second may build on the first."""
        true: dict[str, str] = {}
        start = place
        for name in chance.sample(list(REWORDINGS), len(REWORDINGS)):
            claim = REWORDINGS[name](start, chance)
            if claim and claim != place.claim and len(true) < self.each:
                true[name if start is place else f"{next(iter(true))}+{name}"] = claim
                start = replace(place, claim=claim) if chance.random() < 0.5 and name != "told_alone" else place
        if not true and chance.random() < 0.2:
            true["verbatim"] = place.claim
        return true

    def _corrupted(self, place: Place, chance: random.Random) -> Iterator[tuple[Kind, str]]:
        taken = 0
        for kind in sorted(CORRUPTIONS, key=lambda one: self.made[one.name]):
            claim = kind.edit(place, chance) if taken < self.each else None
            if claim and claim != place.claim:
                taken += 1
                yield kind, claim

    def _removed(
        self, place: Place, said: str, others: tuple[Text, ...], shared: Pair, chance: random.Random
    ) -> Iterator[Pair]:
        if chance.random() > _REMOVED:
            return
        left = removed(place.claim, place.title, place.ground.passages, [said])
        if left:
            yield self._pair(shared, "removed", "evidence", place.claim, "unsupported", left)
        elif others and not says_it(place.claim, "", [f"{one.title} {one.text}" for one in others]):
            yield self._pair(shared, "removed", "passage", place.claim, "unsupported", others)

    def _mirrored(self, place: Place, shared: Pair, chance: random.Random) -> Iterator[Pair]:
        """The passage says the edited sentence: that is true by it, and the natural one is not."""
        for kind, claim in self._corrupted(place, chance):
            first = place.ground.passages[0]
            if kind.name not in _MIRRORS or first.text.count(place.claim) != 1:
                continue
            told = (Text(first.title, first.text.replace(place.claim, claim)), *place.ground.passages[1:])
            after = replace(place, claim=claim)
            lost = {fact.value for fact in place.found} - {fact.value for fact in after.found}
            if lost & {fact.value for fact in Ground(told).found}:
                continue
            own = replace(shared, id=f"{shared.id}-mirrored")
            yield self._pair(own, "paraphrase", f"mirrored+{kind.name}", claim, "supported", told)
            made = self._pair(own, "corruption", kind.name, place.claim, label_of(kind, place.claim, claim), told)
            yield replace(made, wrong=changed(claim, place.claim))
            return

    def _pair(
        self, shared: Pair, family: str, edit: str, claim: str, label: Label, premise: Iterable[Text] | None = None
    ) -> Pair:
        self.made[edit] += 1
        return replace(
            shared,
            id=f"{shared.id}-{edit}",
            family=family,  # type: ignore[arg-type]
            edit=edit,
            claim=claim,
            label=label,
            premise=tuple(premise) if premise is not None else shared.premise,
            wrong=() if label == "supported" else None,
        )


def label_of(kind: Kind, before: str, after: str) -> Label:
    """Whether the passages deny an edited claim or only do not say it: a stronger quantity is not said."""
    if kind.name == "quantifier":
        gained = set(_STRONGER.findall(after)) - set(_STRONGER.findall(before))
        return "unsupported" if gained else "contradicted"
    if kind.name == "entity":
        same = next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
        start = before.rfind(" ", 0, same + 1) + 1
        return "contradicted" if _ONE_PLACE.search(before[:start]) else "unsupported"
    return kind.label


def passage_origin(identity: str, source: str, title: str, split: str, licence: str) -> Pair:
    """What the pairs of one passage share."""
    return Pair(identity, source, "paraphrase", None, (), "", None, "supported", page_key(title), split, licence)
