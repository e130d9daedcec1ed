"""Objections: rules that lower a verdict, whatever its score, with a reason in words.

Rules of this file
* An objection never raises a verdict. The lowest label counts, the first of equals.
* A claim that the sources contain word for word gets no objection.
* Each look compares the claim with its sources and returns the highest label that is left.
* The reason for `contradicted` names what the source has instead.
* A doubt leaves a share of the support; a share too small for "supported" is unsure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple

from toulmin.data import BELOW, Label
from toulmin.judges.absence import absence
from toulmin.judges.copies import changed_amount, changed_kind, exchanged_sides
from toulmin.judges.coverage import PREFIX, Reading, Sentence, Source
from toulmin.judges.framing import find_framing
from toulmin.judges.gate import absence_reason, is_verbatim
from toulmin.steps import Pair, Verdict
from toulmin.text.language import STOPWORDS, rarity, terms, words


class Objection(NamedTuple):
    """The highest label that is left, and why; the claim keeps the share `left` of its support."""

    label: Label
    reason: str
    left: float = 1.0


class Case(NamedTuple):
    """A pair with its texts as they are read, and the label before objections."""

    pair: Pair
    claim: Reading
    sources: tuple[Source, ...]
    label: Label = "supported"


Look = Callable[[Case], Objection | None]

_FRAGMENT = re.compile(r"[^\s\u2e80-\U0003ffff]+(?: [^\s\u2e80-\U0003ffff]+)?")  # of a script that sets words apart
_LETTER = re.compile(r"[^\W\d_]")
_STOP = re.compile(r"[.!?。！？]\W*$")
_ALIKE_AT_END = 3  # words
_LAST_WORD = re.compile(r"\w+(?=\W*$)")
_NEVER_LAST = frozenset(  # of a statement
    "a an the and or but of in to from with at for by as than into is are was were be been that which whose because its"
    " their his".split()
)
RULES = 10  # a kept verdict is of these rules: a change of any of them, in whatever file, is another number
RANKS: tuple[Label, ...] = ("contradicted", "unsupported", "unsure", "supported")
# The most that a score may be under each label: below what any of our judges calls more.
_MOST: dict[Label, float] = {"contradicted": 0.1, "unsupported": 0.34, "unsure": 0.49, "supported": 1.0}


def find_objection(case: Case, looks: Sequence[Look]) -> Objection | None:
    """The objection that lowers most."""
    if is_verbatim(case.claim, case.sources):
        return None
    objections = [objection for look in looks if (objection := look(case))]
    return min(objections, key=lambda objection: RANKS.index(objection.label), default=None)


def lower_fragment(pair: Pair, verdict: Verdict) -> Verdict:
    """Lowers the verdict of a claim that is no statement."""
    if pair.question is not None:
        return verdict
    if _FRAGMENT.fullmatch(pair.claim.strip()) or not _LETTER.search(pair.claim):
        return lower(verdict, Objection("unsure", "one or two words, or numbers, state nothing that can be proven"))
    if _STOP.search(pair.claim):
        return verdict
    ends = [p.text.split()[-_ALIKE_AT_END:] for p in pair.premises]  # a corpus may cut its passages anywhere
    last = _LAST_WORD.search(pair.claim)
    if last and last[0].lower() in _NEVER_LAST and pair.claim.split()[-_ALIKE_AT_END:] not in ends:
        return lower(verdict, Objection("unsure", f"a sentence that ends with “{last[0]}” is cut off"))
    names = [terms(name) for p in pair.premises for name in (p.title, *p.source.headings.split(BELOW)) if name]
    bases = [terms(pair.claim)], [terms(quote.text) for quote in verdict.quotes if quote is not None]
    if any(basis and all(each in names for each in basis) for basis in bases):
        return lower(verdict, Objection("unsure", "a title alone states nothing that a source could prove"))
    return verdict


def lower(verdict: Verdict, objection: Objection | None, least: float = 0.0) -> Verdict:
    """A verdict that is low enough keeps its label and reason; `least` is the judge's threshold of support."""
    if objection is None:
        return verdict
    support = verdict.support * objection.left
    if verdict.entails and support < least:
        objection = min(objection, Objection("unsure", objection.reason), key=lambda o: RANKS.index(o.label))
    if RANKS.index(verdict.label) <= RANKS.index(objection.label):
        return replace(verdict, support=support)
    support = min(support, _MOST[objection.label])
    against = max(verdict.contradiction, 1 - support) if objection.label == "contradicted" else verdict.contradiction
    return replace(
        verdict,
        label=objection.label,
        support=support,
        contradiction=min(against, 1 - support),
        reason=objection.reason,
    )


# ---------------------------------------------------------------- looks


def absent_facts(case: Case) -> Objection | None:
    """A number, date, unit or name that no premise contains in any spelling."""
    absent = absence(case.claim, case.sources)
    if words := absent.sure or absent.doubtful:
        label: Label = "unsupported" if absent.sure else "unsure"
        return Objection(label, absence_reason(words))
    return None


def changed_copy(case: Case) -> Objection | None:
    """Against a similar sentence: another thing of a kind, exchanged sides, or a larger amount."""
    looks: tuple[tuple[Callable[[Sentence, Sequence[Source]], str | None], Label], ...]
    looks = ((changed_kind, "contradicted"), (exchanged_sides, "unsupported"), (changed_amount, "unsure"))
    for sentence in case.claim.sentences:
        for look, label in looks:
            if reason := look(sentence, case.sources):
                return Objection(label, reason)
    return None


_FRAMED, _SURELY_FRAMED = 0.5, 0.95  # of true natural claims the first loses 1 or 2 in 100, of framed ones it finds 70


def framed_claim(case: Case) -> Objection | None:
    """A sentence that the source only plans, denies, asks, supposes, orders or invents."""
    if case.label != "supported" or case.pair.question is not None or len(case.claim.sentences) != 1:
        return None
    framing = find_framing(case.pair.claim, [passage.text for passage in case.pair.premises])
    if framing.chance < _FRAMED:
        return None
    reason = (
        f"the source only says this with “{framing.quote}”" if framing.quote else "the source may not say this is so"
    )
    return Objection("unsupported" if framing.chance >= _SURELY_FRAMED else "unsure", reason)


_SHORT = 12  # words of a claim that one sentence should hold; of longer ones people join several
_QUOTED = 160  # characters of a sentence in a reason


def is_short(case: Case) -> bool:
    """Whether one sentence should hold the whole claim; never for an answer to a question."""
    return case.pair.question is None and len(case.pair.claim.split()) <= _SHORT


def shorten(text: str) -> str:
    """A sentence as a reason quotes it."""
    collapsed = " ".join(text.split())
    return collapsed if len(collapsed) <= _QUOTED else collapsed[:_QUOTED].rsplit(" ", 1)[0] + " …"


# ---------------------------------------------------------------- a short answer's place among the question's words

_REACH = 4.0  # words of distance at which the pull of a question's word falls to 1/e
_AROUND = 8  # words on each side that are near
_ASKS = re.compile(r"\b(who|where|what|which)", re.IGNORECASE)
# A question for several things: the others of them stand as near as the answer.
_SEVERAL = re.compile(
    r"\b(?:are|were|have|list|names?|all|kinds?|types?)\b|\b(?:what|which)( \w+)?( \w+[^s\W]s)\b", re.IGNORECASE
)
# One or two words before an answer that suit the question, or do not; a sentence's first words are as after "by".
_SUIT = {"who": {"by"}, "where": {"in", "at", "near"}}
_JAR = {"who": {"in", "at", "on", "near", "from", "to", "for", "of"}, "where": {"by", "is", "was"}}
# Of `_Place.measures`, fitted to right answers and others of the same passage (train splits of four question sets).
_PLACED = (1.3, 0.65, 1.8, 0.85, 1.05, 1.0, -0.95)
_LIKELY = 0.30  # higher loses members of lists: of true ones of `qa_multispanqa` (train) 86 of 100 stay, at 0.35 78
_LISTING = frozenset(("and", "or"))


class _Place(NamedTuple):
    """A place of the answer; `rival`: words that could answer and stand nearer."""

    sentence: Sentence
    measures: tuple[float, ...]
    rival: str

    @property
    def chance(self) -> float:
        return 1 / (1 + math.exp(-sum(w * x for w, x in zip(_PLACED, self.measures, strict=True))))


def misplaced_answer(case: Case) -> Objection | None:
    """A short answer apart from the question's words, or farther from them than a rival."""
    question = case.pair.question or ""
    answer = frozenset(term for sentence in case.claim.sentences for term in sentence.terms) - STOPWORDS
    form = asks[1].lower() if (asks := _ASKS.search(question)) else ""
    asked = {term: 0.5 + rarity(term) for term in terms(question) if term not in STOPWORDS | answer}
    places = list(_places(case, answer, asked, form)) if asked and answer else []
    if not places:
        return None
    best = max(places, key=lambda place: place.chance)
    if best.chance >= _LIKELY or _SEVERAL.search(question):
        doubt = f"{case.pair.claim} may not be what the question asks for"
        return Objection("supported", doubt, 0.6 + 0.4 * best.chance)
    away = [
        question[a:b] for a, b in words(question) if set(terms(question[a:b])) & asked.keys() - set(best.sentence.terms)
    ]
    nearer = f"{best.rival} stands nearer to what the question asks for than {case.pair.claim}"
    apart = f"{case.pair.claim} stands apart from {' and '.join(dict.fromkeys(away))}, which the question asks for"
    return Objection("unsupported", nearer if best.rival or not away else apart, best.chance)


def _places(case: Case, answer: AbstractSet[str], asked: Mapping[str, float], form: str) -> Iterator[_Place]:
    kinds = {fact.kind for fact in case.claim.facts}
    rows = [(source, n, sentence) for source in case.sources for n, sentence in enumerate(source.text.sentences)]
    shares = [_share(asked, {*sentence.terms, *source.title.where}) for source, _, sentence in rows]
    contexts = [_share(asked, _context(source, n)) for source, n, _ in rows]
    for (_, _, sentence), share, context in zip(rows, shares, contexts, strict=True):
        held, spans = sentence.terms, list(_spans(sentence.terms, answer))
        units = list(_units(sentence)) if spans else []
        pulls = [0.0 if term in answer else _share(asked, {term}) for term in held] if spans else []
        for first, last in spans:
            run = next((unit.run for unit in units if unit.start <= first < unit.end and unit.kind in kinds), None)
            members = [unit for unit in units if unit.run == run and unit.kind in kinds]
            start, end = min([first, *(u.start for u in members)]), max([last, *(u.end for u in members)])
            others = (unit for unit in units if unit.run != run and _is_like(unit, kinds))
            free = (u for u in others if not answer & {*held[u.start : u.end]} and not any(pulls[u.start : u.end]))
            rival, shown = max(((_pull(pulls, u.start, u.end), u.shown) for u in free), default=(0.0, ""))
            before, pull = {*held[max(0, start - 2) : start]} or {"by"}, _pull(pulls, start, end)
            beside = max(pulls[max(0, start - 2) : start] + pulls[end : end + 2], default=0.0)
            near = _share(asked, set(held[max(0, start - _AROUND) : end + _AROUND]))
            suits, jars = (float(bool(before & table.get(form, set()))) for table in (_SUIT, _JAR))
            measures = (share - max(shares), context - max(contexts), pull - rival, near, beside, suits, jars)
            yield _Place(sentence, measures, shown if rival > pull else "")


def _is_like(unit: _Unit, kinds: AbstractSet[str]) -> bool:
    return unit.kind in kinds if kinds else unit.key not in STOPWORDS


def _context(source: Source, n: int) -> set[str]:
    return set(source.title.where).union(*(near.terms for near in source.text.sentences[max(0, n - 1) : n + 2]))


def _share(asked: Mapping[str, float], held: AbstractSet[str]) -> float:
    families = {term[:PREFIX] for term in held if len(term) >= PREFIX}
    return sum(w for t, w in asked.items() if t in held or t[:PREFIX] in families) / sum(asked.values())


def _pull(pulls: Sequence[float], first: int, last: int) -> float:
    before = sum(pull * math.exp((n - first + 1) / _REACH) for n, pull in enumerate(pulls[:first]) if pull)
    return before + sum(pull * math.exp(-n / _REACH) for n, pull in enumerate(pulls[last:]) if pull)


def _spans(held: Sequence[str], answer: AbstractSet[str]) -> Iterator[tuple[int, int]]:
    for first, term in enumerate(held):
        ends = range(first + 1, min(first + 2 * len(answer) + 6, len(held)) + 1) if term in answer else ()
        yield from [(first, last) for last in ends if answer <= set(held[first:last])][:1]


class _Unit(NamedTuple):
    """A word or fact at `terms[start:end]`; neighbouring facts share a `run`."""

    start: int
    end: int
    run: int
    kind: str | None
    key: str
    shown: str


def _units(sentence: Sentence) -> Iterator[_Unit]:
    start = run = 0
    for at, (key, shown) in enumerate(zip(sentence.keys, sentence.shown, strict=True)):
        fact = sentence.facts.get(at)
        end = start + (len(terms(shown)) if fact else 1)
        run += fact is None and key not in _LISTING
        yield _Unit(start, end, run, fact.kind if fact else None, key, shown)
        start = end


LOOKS: tuple[Look, ...] = (absent_facts, changed_copy, misplaced_answer)
