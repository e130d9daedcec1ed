"""`check --repair`: repairs the sentences of a text that the sources do not support.

Supported sentences and the text between stay byte for byte. A failing one gets new citations if one place of a passage
supports it, else is rewritten if one place supports that, else removed. No change may lower citation recall, citation
precision or correctness without gold answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

from toulmin.data import Answer, Claim, Omission, Passage, Policy, Round, render
from toulmin.methods.assessing import CITATION_RECALL, Aims, Assessment, ClaimAssessment, aims, assess
from toulmin.methods.check import check, draft_of, hits_of
from toulmin.methods.evidence import LEFT_OUT, ClaimToCite, cite_places, distinct, near
from toulmin.methods.feedback import PassageNumbers, recall_faults
from toulmin.methods.placing import STOPS, Place, places, replace_claims, set_marks
from toulmin.methods.reporting import REWRITTEN, add_rounds, conclude, draft_round, ids, rewrites, why, wording_of
from toulmin.parsing.lines import Block
from toulmin.parsing.marks import LabelRange, Mark, bracket_parentheses, find_marks, find_written_marks
from toulmin.prompts.types import Refine
from toulmin.steps import Program, exchange, together
from toulmin.text.language import content_terms
from toulmin.text.overlap import has_most_of
from toulmin.verify import weigh

# ---------------------------------------------------------------- new citations or words for failing sentences


CITED_AGAIN = "cited again: a search found a passage that supports it"


class Failing(NamedTuple):
    """An unsupported sentence: its position among the claims, the passages read, and those that may prove it."""

    n: int
    assessed: ClaimAssessment
    read: tuple[Passage, ...]
    near: tuple[Passage, ...]


class Remedy(NamedTuple):
    claims: tuple[Claim, ...]
    way: str


def rewrite_failing(
    failing: Sequence[Failing], question: str, text: Sequence[Claim]
) -> Program[tuple[dict[int, Remedy], Round]]:
    """Has the model rewrite the sentences in one call, with feedback from their verdicts.

    A new sentence replaces the one that it rewrites, from its passages, and must not repeat one of `text`.
    """
    offered = tuple({passage.id: passage for each in failing for passage in each.read}.values())
    faults = recall_faults([each.assessed for each in failing], PassageNumbers.of(offered, "long"))
    feedback = {CITATION_RECALL: " ".join(faults)}
    prompt = Refine(question or _question(failing), offered, _claims(failing), feedback)
    done = yield from exchange(prompt)
    new = [replace(claim, text=_end_with_stop(claim.text)) for claim in done.value.claims]
    texts = [claim.text for claim in _claims(failing)]
    homes = [(claim, failing[index]) for claim in new if (index := rewrites(claim.text, texts)) is not None]
    asked = [ClaimToCite.after(home.assessed.claim, home.near)._replace(claim=claim) for claim, home in homes]
    kept = yield from cite_places(asked)
    known = {wording_of(claim.text) for claim in text}
    fitting: dict[int, list[Claim]] = {}
    for claim, (_, home) in zip(kept, homes, strict=True):
        if claim and wording_of(claim.text) not in known:
            fitting.setdefault(home.n, []).append(claim)
            known.add(wording_of(claim.text))
    remedies = {n: Remedy(tuple(claims), REWRITTEN) for n, claims in fitting.items()}
    return remedies, draft_round(done, "long", kind="refine")


def _claims(failing: Sequence[Failing]) -> tuple[Claim, ...]:
    return tuple(each.assessed.claim for each in failing)


def _question(failing: Sequence[Failing]) -> str:
    """In place of a question: the failing sentences, if possible only those whose passages mention them.

    A writer may not answer other questions at all.
    """
    evidence = [" ".join(f"{passage.title} {passage.text}" for passage in each.read) for each in failing]
    pairs = zip(evidence, failing, strict=True)
    known = [each for words, each in pairs if has_most_of(words, content_terms(each.assessed.claim.text), 0.5)]
    return " ".join(claim.text for claim in _claims(known or failing))


def _end_with_stop(text: str) -> str:
    return text if text.rstrip("\"'”’»)]").endswith(tuple(STOPS)) else f"{text}."


# ---------------------------------------------------------------- the first change that lowers no score


REMOVED = "removed: no passage was found that supports it"

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Body:
    """The assessed claims of a text; `sentences[n]` replace its n-th sentence."""

    aims: Aims
    question: str
    sentences: tuple[tuple[ClaimAssessment, ...], ...]

    @property
    def claims(self) -> tuple[ClaimAssessment, ...]:
        return tuple(assessed for group in self.sentences for assessed in group)

    @property
    def assessment(self) -> Assessment:
        judged = tuple(each for each in self.claims if each.claim.support)  # talk does not count
        return self.aims.assessment(judged, self.question)

    def replace_sentence(self, n: int, claims: tuple[ClaimAssessment, ...]) -> Body:
        return replace(self, sentences=(*self.sentences[:n], claims, *self.sentences[n + 1 :]))


def body(claims: Sequence[Claim], premises: Sequence[Sequence[Passage]], question: str) -> Program[Body]:
    """Assesses each claim by its premises, which include its citations."""
    programs = [assess([claim], sources, "", "long") for claim, sources in zip(claims, premises, strict=True)]
    done = yield from together(programs)
    # Keep the first verdict: for a claim without citations it is that of a search.
    sentences = tuple((replace(assessed, claim=claim),) for (assessed,), claim in zip(done, claims, strict=True))
    return Body(aims("long", None, None, None), question, sentences)


class Way(NamedTuple):
    claims: tuple[ClaimAssessment, ...]
    why: str


class Decision(NamedTuple):
    n: int
    way: Way | None
    refused: tuple[Omission, ...] = ()

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(assessed.claim for assessed in self.way.claims) if self.way else ()

    @property
    def cited(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(id for claim in self.claims for id in claim.cited))


def ways(remedy: Remedy | None, pool: Mapping[str, Passage], policy: Policy) -> Program[tuple[Way, ...]]:
    """The ways for a sentence, best first; only `drop` removes it."""
    away = (Way((), REMOVED),) if policy == "drop" else ()
    if remedy is None:
        return away
    cited = {id: pool[id] for claim in remedy.claims for id in claim.cited}
    claims = yield from assess(remedy.claims, list(cited.values()), "", "long")
    return (Way(claims, remedy.way), *away)


def decide(text: Body, n: int, offers: Sequence[Way]) -> Decision:
    """The first way that lowers no score of the whole text."""
    before = text.assessment.scores
    refused: list[Omission] = []
    for way in offers:
        after = text.replace_sentence(n, way.claims).assessment.scores
        fallen = [name for name in before if after[name] < before[name] - _ROUNDING]
        if not fallen:
            return Decision(n, way, tuple(refused))
        falls = ", ".join(f"{name} would fall from {before[name]:.0f} to {after[name]:.0f}" for name in fallen)
        words = " ".join(assessed.claim.text for assessed in way.claims) or text.sentences[n][0].claim.text
        refused.append(Omission(words, f"not {way.why}, because {falls}"))
    return Decision(n, None, tuple(refused))


# ---------------------------------------------------------------- what a repair changed


_ANY = 10**9  # more passages than any label, so that no number is a year
_WIDEST = 100  # labels in one range


@dataclass(frozen=True, slots=True)
class Change:
    """A changed sentence: its text before and after (empty: removed), and why."""

    before: str
    after: str
    why: str


def changes(answer: Answer) -> tuple[Change, ...]:
    firsts = ((entry.dropped[0], entry) for entry in _change_rounds(answer))
    return tuple(Change(sentence.text, "".join(entry.kept), sentence.why) for sentence, entry in firsts)


def final_text(answer: Answer) -> str:
    whole = _whole_round(answer)
    return whole.text if whole and whole.text is not None else answer.text


def labels(answer: Answer) -> dict[int, str]:
    """The passage ids of the marks that a repair set, by number; other marks count the passages given with the text."""
    named: dict[int, str] = {}
    for entry in _change_rounds(answer):
        named |= dict(zip(_numbers("".join(entry.kept)), entry.read, strict=True))
    return named


def numbering(answer: Answer) -> dict[str, int]:
    """The number of each passage in the repaired text, by id: the position of a given one, else its mark."""
    whole = _whole_round(answer)
    numbers = {id: number for number, id in labels(answer).items()}
    return numbers | {id: n for n, id in reversed(list(enumerate(whole.read if whole else (), start=1)))}


def _whole_round(answer: Answer) -> Round | None:
    rounds = reversed(answer.rounds)
    return next((entry for entry in rounds if entry.kind == "repair" and entry.text is not None), None)


def _numbers(text: str) -> list[int]:
    labels = (label.first for mark in find_marks(text, _ANY) for label in mark.labels)
    return list(dict.fromkeys(labels))


def _change_rounds(answer: Answer) -> list[Round]:
    return [entry for entry in answer.rounds if entry.kind == "repair" and entry.text is None and entry.chosen]


# ---------------------------------------------------------------- the method


def repair(
    text: str,
    *,
    passages: tuple[Passage, ...] = (),
    k: int = 5,
    question: str = "",
    rewrite: bool = True,
    unsupported: Policy = "drop",
    path: str = "",
) -> Program[Answer]:
    """Repairs a text; `final_text`, `changes` and `numbering` read the result from the answer.

    `[n]` in the text is the n-th of `passages`; hits of a search get unused numbers. `check` reads `k` passages for
    each failing claim, but not the text at `path`. The model is asked at most once, never with `rewrite=False`. Under
    "keep" and "flag" sentences without a repair stay. A `question` counts for correctness. Each failing sentence has a
    round of kind `repair` (`n` counts the claims); the last such round contains the whole text.
    """
    return weigh(_repair(text, passages, k, question, rewrite, unsupported, path))


def _repair(
    text: str, passages: tuple[Passage, ...], k: int, question: str, rewrite: bool, unsupported: Policy, path: str
) -> Program[Answer]:
    draft = draft_of(text, passages)
    answer = yield from check(text, passages=passages, k=k, path=path, draft=draft)
    marks = find_written_marks(text, len(passages))
    page = Page(text, places(text, draft.spans, len(passages)), marks, passages)
    weak = [n for n, claim in enumerate(answer.claims) if claim.fails]
    answer = replace(answer, method="repair")
    pool = {passage.id: passage for passage in answer.passages}
    searches = hits_of(answer)
    evidence = {n: [pool[id] for id in searches[n]] for n in weak}
    cited = [[pool[id] for id in claim.cited] for claim in answer.claims]
    read = [distinct((*passages, *evidence.get(n, ()))) for n, passages in enumerate(cited)]
    sources = distinct(passage for passages in cited for passage in passages)
    proofs = [near(claim, sources, passages) for claim, passages in zip(answer.claims, read, strict=True)]
    before = yield from body(answer.claims, proofs, question)
    failing = [Failing(n, before.sentences[n][0], read[n], proofs[n]) for n in evidence]
    cited_claims = yield from cite_places([ClaimToCite.after(each.assessed.claim, each.near) for each in failing])
    pairs = zip(failing, cited_claims, strict=True)
    remedies = {each.n: Remedy((claim,), CITED_AGAIN) for each, claim in pairs if claim}
    left = [each for each in failing if each.n not in remedies and each.read]
    if left and rewrite:
        rewritten, entry = yield from rewrite_failing(left, question, answer.claims)
        answer, remedies = add_rounds(answer, entry), remedies | rewritten
    offers = yield from together([ways(remedies.get(each.n), pool, unsupported) for each in failing])
    after, decisions = before, []
    for each, options in zip(failing, offers, strict=True):
        decision = decide(after, each.n, options)
        after = after.replace_sentence(each.n, decision.way.claims) if decision.way else after
        decisions.append(decision)
    return _conclude_repair(answer, page, before, after, decisions)


# ---------------------------------------------------------------- the end


def _conclude_repair(answer: Answer, page: Page, before: Body, after: Body, decisions: Sequence[Decision]) -> Answer:
    numbers, led = page.numbers(decisions), page.led_blocks(decisions)
    edits = {d.n: page.after(d, answer.claims[d.n], numbers, led) for d in decisions if d.way}
    rounds = [_round(decision, page, edits, answer.claims[decision.n]) for decision in decisions]
    first = Round("assess", scores=before.aims.round_scores(before.assessment))
    is_marked = any("[" in words for words in edits.values())  # "(1)" is a mark only in a text without brackets
    text = bracket_parentheses(page.text, len(page.passages)) if is_marked else page.text
    text = replace_claims(text, page.where, page.marks_behind(led) | edits)
    scores = after.aims.round_scores(after.assessment)
    end = len(answer.claims) + 1
    whole = Round("repair", end, read=ids(page.passages), text=text, scores=scores, chosen=True)
    copies = (note for note in answer.notes if note.startswith(LEFT_OUT))
    answer = replace(answer, notes=(*copies, *_notes(answer.claims, edits)))
    claims = [assessed.claim for assessed in after.claims]
    return conclude(add_rounds(answer, first, *rounds, whole), claims, "keep")


def _round(decision: Decision, page: Page, edits: Mapping[int, str], claim: Claim) -> Round:
    n, old = decision.n, page.before(decision.n)
    if decision.way is None:
        return Round("repair", n + 1, kept=(old,), dropped=decision.refused, chosen=False)
    dropped = (Omission(old, f"{decision.way.why} ({why(claim)})"), *decision.refused)
    kept = (edits[n],) if edits[n] else ()
    return Round("repair", n + 1, read=decision.cited, kept=kept, dropped=dropped, chosen=True)


def _notes(claims: Sequence[Claim], edits: Mapping[int, str]) -> tuple[str, ...]:
    judged = [claim for claim in claims if claim.support]
    failed = sum(claim.fails for claim in judged)
    if not failed:
        return ("Nothing was changed: every sentence is supported.",) if judged else ()
    gone = sum(not words for words in edits.values())
    made = f"{len(edits) - gone} corrected, {gone} removed, {failed - len(edits)} left"
    return (f"Not supported: {failed} of {len(judged)} sentences; {made}.",)


def _range_numbers(label: LabelRange) -> Sequence[int]:
    """Only the ends of a mistyped range ("[1-999999]")."""
    return range(label.first, label.last + 1) if label.last - label.first <= _WIDEST else label


class Page(NamedTuple):
    text: str
    where: Sequence[Place]
    marks: Sequence[Mark]
    passages: Sequence[Passage]

    def numbers(self, decisions: Sequence[Decision]) -> dict[str, int]:
        numbers = {passage.id: n for n, passage in reversed(list(enumerate(self.passages, start=1)))}
        used = {n for mark in self.marks for label in mark.labels for n in _range_numbers(label)}
        free = (n for n in count(len(self.passages) + 1) if n not in used)
        for id in (id for decision in decisions for id in decision.cited):
            if id not in numbers:
                numbers[id] = next(free)
        return numbers

    def before(self, n: int) -> str:
        place = self.where[n]
        return self.text[place.start : place.end]

    def led_blocks(self, decisions: Sequence[Decision]) -> frozenset[Block]:
        """The paragraphs that still open with a mark once these sentences are changed or gone."""
        ways = {decision.n: decision.claims for decision in decisions if decision.way}
        first: dict[Block, int] = {}
        for n, place in enumerate(self.where):
            if place.is_led and ways.get(n) != ():
                first.setdefault(place.block, n)
        return frozenset(block for block, n in first.items() if n in ways or self._begins_with_mark(n))

    def _begins_with_mark(self, n: int) -> bool:
        mark = next(iter(self._marks_of(n)), None)
        return mark is not None and not any(map(str.isalnum, self.before(n)[: mark.start]))

    def _marks_of(self, n: int) -> list[Mark]:
        start, end = self.where[n].start, self.where[n].end
        return [Mark(m.start - start, m.end - start, m.labels) for m in self.marks if start <= m.start < end]

    def marks_behind(self, led: frozenset[Block]) -> dict[int, str]:
        """The sentences whose marks, now that no mark opens their paragraph, would belong to the one before them."""
        moved = dict[int, str]()
        for n, place in enumerate(self.where):
            if place.is_led and place.block not in led and self._begins_with_mark(n):
                before, old = self.before(n), self._marks_of(n)
                marks = "".join(before[mark.start : mark.end] for mark in old)
                moved[n] = set_marks(before, old, marks, is_led=False)
        return moved

    def after(self, decision: Decision, was: Claim, numbers: Mapping[str, int], led: frozenset[Block]) -> str:
        is_led, claims = self.where[decision.n].block in led, decision.claims
        if [claim.text for claim in claims] == [was.text]:
            old = self._marks_of(decision.n)
            same = set_marks(self.before(decision.n), old, _marks(claims[0], numbers), is_led=is_led)
            if _numbers(same) == [numbers[id] for id in claims[0].cited]:
                return same
        # In new text, words that look like a mark ("[2018]") are escaped.
        if not is_led:
            return render(claims, "long", numbers=numbers).text
        return " ".join(f"{_marks(claim, numbers)} {render((claim,), 'long', numbers={}).text}" for claim in claims)


def _marks(claim: Claim, numbers: Mapping[str, int]) -> str:
    return "".join(f"[{numbers[id]}]" for id in claim.cited)
