"""`check --repair`: a text that somebody else wrote, in which what the sources do not support is put right.

Sentences that hold stay byte for byte, with the text between them. One that fails is, in this order, cited anew if
passages that a search finds support it; rewritten, if the rewriting is supported; or taken away. A change is made only
if no score of the text falls by it: citation recall, citation precision, and correctness without gold answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

from toulmin.data import Answer, Claim, Dropped, Passage, Policy, Round, render
from toulmin.methods.check import check
from toulmin.methods.deciding import Body, Decision, body, decided, ways
from toulmin.methods.mending import Failing, Remedy, cited_anew, rewritten
from toulmin.methods.placing import Place, places, remarked, replaced
from toulmin.methods.reporting import concluded, ids, why
from toulmin.parsing.marks import LabelRange, find_marks
from toulmin.steps import Program, search, together

_ANY = 10**9  # as many passages as a label could name: then no number is taken for a year
_WIDEST = 100  # a range of labels


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a sentence: its text before, its text after (empty: taken away), and why."""

    before: str
    after: str
    why: str


def changes(answer: Answer) -> tuple[Change, ...]:
    """The sentences that a repair changed, in the order of the text."""
    return tuple(Change(told.dropped[0].text, "".join(told.kept), told.dropped[0].why) for told in _changing(answer))


def repaired_text(answer: Answer) -> str:
    """The whole text as a repair left it."""
    texts = [told.text for told in answer.rounds if told.kind == "repair" and told.text is not None]
    return texts[-1] if texts else answer.text


def labels(answer: Answer) -> dict[int, str]:
    """The passages, by id, that the marks which a repair has set name.

    Those of sentences that stayed count the passages that were given with the text.
    """
    named: dict[int, str] = {}
    for told in _changing(answer):
        named |= dict(zip(_numbers("".join(told.kept)), told.read, strict=True))
    return named


def numbering(answer: Answer) -> dict[str, int]:
    """The number by which the repaired text names a passage, by its id: the place of one that was given with the text,
    the mark that the repair has set for one that a search found. A passage that no mark can name has none.
    """
    wholes = [told for told in answer.rounds if told.kind == "repair" and told.text is not None]
    given = wholes[-1].read if wholes else ()
    found = {id: number for number, id in labels(answer).items()}
    return found | {id: n for n, id in reversed(list(enumerate(given, start=1)))}


def _numbers(text: str) -> list[int]:
    """The numbers that the marks of a sentence name, each once."""
    labels = (label.first for mark in find_marks(text, _ANY) for label in mark.labels)
    return list(dict.fromkeys(labels))


def _changing(answer: Answer) -> list[Round]:
    """The rounds of changed sentences."""
    return [told for told in answer.rounds if told.kind == "repair" and told.text is None and told.chosen]


def repair(
    text: str,
    *,
    passages: tuple[Passage, ...] = (),
    k: int = 5,
    question: str = "",
    rewrite: bool = True,
    unsupported: Policy = "drop",
) -> Program[Answer]:
    """The claims of the text as repaired; `repaired_text`, `changes` and `numbering` read the rest off the Answer.

    `[n]` in the text is the n-th of `passages`; a passage that only a search found gets the next number that the text
    does not use. The claims are judged as `check` judges them, and whatever is not supported is put right; a search
    brings `k` passages for each. Rewriting asks the model once for all of them, and not at all where nothing is left to
    rewrite or `rewrite` is False. `unsupported`: under "keep" and "flag" what cannot be put right stays as it is. A
    `question` that the text answers counts for correctness. A round of kind `repair` tells of each sentence that failed
    (`n` counts the claims of the text), the last one of the whole text.
    """
    answer = yield from check(text, passages=passages, k=k)
    page = Page(text, places(text, answer.claims, len(passages)), passages)
    answer, found = yield from _searched(answer, page.where, k)
    pool = {passage.id: passage for passage in answer.passages}
    premises = [_premises(claim, found.get(n, ()), pool) for n, claim in enumerate(answer.claims)]
    before = yield from body(answer.claims, premises, question)
    failing = [Failing(n, before.sentences[n][0], tuple(premises[n])) for n in found]
    answer, remedies = yield from _remedied(answer, failing, question, rewrite)
    offers = yield from together([ways(remedies.get(each.n), pool, unsupported) for each in failing])
    after, decisions = before, []
    for each, own in zip(failing, offers, strict=True):
        decision = decided(after, each.n, own)
        after = after.mended(each.n, decision.way.claims) if decision.way else after
        decisions.append(decision)
    return _ended(answer, page, before, after, decisions)


# ---------------------------------------------------------------- what fails


class _Searched(NamedTuple):
    """An answer that knows what was found, and the passages found for each claim that fails."""

    answer: Answer
    found: Mapping[int, tuple[Passage, ...]]


def _searched(answer: Answer, where: Sequence[Place | None], k: int) -> Program[_Searched]:
    """A search for each claim that fails; for those that cite nothing `check` has searched."""
    known = {told.n - 1: told.read for told in answer.rounds if told.kind == "search"}
    weak = [n for n, claim in enumerate(answer.claims) if where[n] and not claim.is_supported]
    new = [n for n in weak if n not in known]
    hits = yield from together([search(answer.claims[n].text, k) for n in new])
    pool = {p.id: p for p in answer.passages} | {hit.passage.id: hit.passage for own in hits for hit in own}
    read = {**known, **{n: ids([hit.passage for hit in own]) for n, own in zip(new, hits, strict=True)}}
    told = tuple(Round("search", n + 1, read=read[n], queries=(answer.claims[n].text,)) for n in new)
    answer = replace(answer, method="repair", passages=tuple(pool.values()), rounds=(*answer.rounds, *told))
    return _Searched(answer, {n: tuple(pool[id] for id in dict.fromkeys(read[n])) for n in weak})


def _premises(claim: Claim, found: Sequence[Passage], pool: Mapping[str, Passage]) -> list[Passage]:
    """What a claim cites, and what was found for it."""
    return list(({id: pool[id] for id in claim.cited} | {passage.id: passage for passage in found}).values())


class _Remedied(NamedTuple):
    """An answer with what was written told, and what can stand in the place of claims, by their number."""

    answer: Answer
    remedies: Mapping[int, Remedy]


def _remedied(answer: Answer, failing: Sequence[Failing], question: str, rewrite: bool) -> Program[_Remedied]:
    """Those that passages read support, cited anew; of the others, what the model makes of them."""
    anew = yield from cited_anew(failing)
    left = [each for each in failing if each.n not in anew and each.read]
    if not left or not rewrite:
        return _Remedied(answer, anew)
    done = yield from rewritten(left, question, answer.claims)
    return _Remedied(replace(answer, rounds=(*answer.rounds, done.told)), {**anew, **done.remedies})


# ---------------------------------------------------------------- the end


def _ended(answer: Answer, page: Page, before: Body, after: Body, decisions: Sequence[Decision]) -> Answer:
    """The repaired text with its claims, and what became of each sentence."""
    numbers = page.numbers(decisions)
    edits = {d.n: page.after(d, answer.claims[d.n], numbers) for d in decisions if d.way}
    told = [_round(decision, page, edits, answer.claims[decision.n]) for decision in decisions]
    assessed = Round("assess", scores=before.aims.told(before.assessment))
    whole = Round(
        "repair",
        len(answer.claims) + 1,
        read=ids(page.given),
        text=replaced(page.text, page.where, edits),
        scores=after.aims.told(after.assessment),
        chosen=True,
    )
    claims = tuple(one.claim for one in after.claims)
    answer = replace(
        answer,
        status="answered" if claims else "abstained",
        claims=claims,
        rounds=(*answer.rounds, assessed, *told, whole),
        notes=_notes(answer.claims, edits),
    )
    return concluded(answer, claims, "keep")


def _round(decision: Decision, page: Page, edits: Mapping[int, str], claim: Claim) -> Round:
    """A sentence that was changed, as it was and as it is; or one that stays, with the changes that were refused."""
    n, old = decision.n, page.before(decision.n)
    if decision.way is None:
        return Round("repair", n + 1, kept=(old,), dropped=decision.refused, chosen=False)
    changed = Dropped(old, f"{decision.way.why} ({why(claim)})")
    kept = (edits[n],) if edits[n] else ()
    return Round("repair", n + 1, read=_cited(decision), kept=kept, dropped=(changed, *decision.refused), chosen=True)


def _cited(decision: Decision) -> tuple[str, ...]:
    """The passages that a sentence cites as changed, in the order of its marks."""
    claims = decision.way.claims if decision.way else ()
    return tuple(dict.fromkeys(id for one in claims for id in one.claim.cited))


def _notes(claims: Sequence[Claim], edits: Mapping[int, str]) -> tuple[str, ...]:
    """How many sentences failed, and what became of them."""
    failed = sum(not claim.is_supported for claim in claims)
    if not failed:
        return ("Nothing was changed: every sentence is supported.",) if claims else ()
    gone = sum(not words for words in edits.values())
    left = failed - len(edits)
    made = f"{len(edits) - gone} put right, {gone} taken away, {left} left"
    return (f"Not supported: {failed} of {len(claims)} sentences; {made}.",)


def _spelled(label: LabelRange) -> Sequence[int]:
    """The numbers of a range; of a slip of the pen ("[1-999999]") its ends."""
    return range(label.first, label.last + 1) if label.last - label.first <= _WIDEST else label


@dataclass(frozen=True, slots=True)
class Page:
    """A text, where its claims stand in it, and the passages that were given with it."""

    text: str
    where: Sequence[Place | None]
    given: Sequence[Passage]

    def numbers(self, decisions: Sequence[Decision]) -> dict[str, int]:
        """The labels of passages: of those given their place, of others the next that the text leaves free."""
        numbers: dict[str, int] = {}
        for n, passage in enumerate(self.given, start=1):
            numbers.setdefault(passage.id, n)
        used = {n for mark in find_marks(self.text, len(self.given)) for label in mark.labels for n in _spelled(label)}
        free = (n for n in count(len(self.given) + 1) if n not in used)
        for id in (id for decision in decisions for id in _cited(decision)):
            if id not in numbers:
                numbers[id] = next(free)
        return numbers

    def before(self, n: int) -> str:
        """The n-th sentence, its marks included."""
        place = self.where[n]
        return self.text[place.start : place.end] if place else ""

    def after(self, decision: Decision, was: Claim, numbers: Mapping[str, int]) -> str:
        """The sentence as it is to stand: its own words with other marks, or other words."""
        place, claims = self.where[decision.n], tuple(one.claim for one in decision.way.claims) if decision.way else ()
        is_led = place is not None and place.is_led
        if [claim.text for claim in claims] == [was.text]:
            same = remarked(self.before(decision.n), _marks(claims[0], numbers), len(self.given), is_led=is_led)
            if _numbers(same) == [numbers[id] for id in claims[0].cited]:
                return same
        # Written anew, what looks like a mark in the words ("[2018]") is escaped.
        if not is_led:
            return render(claims, "long", numbers=numbers).text
        return " ".join(f"{_marks(claim, numbers)} {render((claim,), 'long', numbers={}).text}" for claim in claims)


def _marks(claim: Claim, numbers: Mapping[str, int]) -> str:
    return "".join(f"[{numbers[id]}]" for id in claim.cited)
