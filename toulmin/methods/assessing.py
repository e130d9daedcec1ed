"""A2R's assessment: scores, 0 to 100, for how well claims are cited and how well they answer, and their targets.

"Ask, Assess, and Refine" (2024), section 2.3. Citation recall and precision follow ALCE (Gao et al. 2023), but all
citations of a claim are read, not three. Without gold answers correctness is the share of claims that the passages
entail, times the share of the question's content terms in their evidence (claims, titles and decisive sentences).
For a list these are answer precision and answer recall.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from toulmin.data import Citation, Claim, Passage, Quote, Style
from toulmin.steps import Pair, Program, Verdict, entail
from toulmin.text.language import STOPWORDS, stem, terms
from toulmin.verify import hypothesis, verify

CORRECTNESS, ANSWER_RECALL, ANSWER_PRECISION = "correctness", "answer recall", "answer precision"
CITATION_RECALL, CITATION_PRECISION = "citation recall", "citation precision"
ENTAILED, ADDRESSED = "claims entailed", "question addressed"  # the parts of reference-free correctness

_STOP_TERMS = STOPWORDS | frozenset(stem(word) for word in STOPWORDS)


@dataclass(frozen=True, slots=True)
class ListCorrectness:
    """A list's scores against gold answers, 0 to 100."""

    recall: float
    precision: float


Oracle = Callable[[tuple[Claim, ...]], float | ListCorrectness]


@dataclass(frozen=True, slots=True)
class Assessed:
    """A claim with its verdict, and what the judge found about the passages.

    `needless` citations alone do not support it, and the others do without them. Of an unsupported claim, `others`
    are passages that each support it, best first; `is_entailed`: one of these or all passages together do. `terms`
    are the content terms of its evidence.
    """

    claim: Claim
    needless: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    is_entailed: bool = False
    terms: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Assessment:
    """Assessed claims, their `scores` by metric, and the `parts` of a reference-free correctness."""

    claims: tuple[Assessed, ...]
    scores: Mapping[str, float]
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def judged(self) -> tuple[Claim, ...]:
        return tuple(assessed.claim for assessed in self.claims)


def assess(
    claims: Sequence[Claim], passages: Sequence[Passage], question: str, style: Style
) -> Program[tuple[Assessed, ...]]:
    """Judges the claims in at most three requests for all of them.

    First every claim by its citations; then citations and passages alone, and all passages together; last the
    citations without each one that fails alone.
    """
    by_id = {passage.id: passage for passage in passages}
    judged = yield from verify(claims, by_id, question, style)
    trials = [_Trials(claim, by_id, question, style) for claim in judged]
    known: dict[Pair, Verdict] = {}
    yield from _ask(known, [pair for trial in trials for pair in trial.alone() + trial.together()])
    yield from _ask(known, [pair for trial in trials for pair in trial.leave_one_out(known)])
    return tuple(trial.result(known) for trial in trials)


def _ask(known: dict[Pair, Verdict], pairs: Sequence[Pair]) -> Program[None]:
    new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
    known.update(zip(new, (yield from entail(new)), strict=True))


@dataclass(frozen=True, slots=True)
class _Trials:
    claim: Claim
    passages: Mapping[str, Passage]
    question: str
    style: Style

    def pair(self, ids: Sequence[str]) -> Pair:
        trial = replace(self.claim, citations=tuple(Citation(id) for id in ids))
        return hypothesis(trial, self.passages, self.question, self.style)

    @property
    def singles(self) -> tuple[str, ...]:
        """The passages to try alone; an only citation is judged already."""
        cited = self.claim.cited
        if self.claim.is_supported:
            return cited if len(cited) > 1 else ()
        return tuple(id for id in self.passages if (id,) != cited)

    def alone(self) -> list[Pair]:
        return [self.pair([id]) for id in self.singles]

    def together(self) -> list[Pair]:
        is_new = len(self.passages) > 1 and set(self.claim.cited) != set(self.passages)
        return [self.pair(list(self.passages))] if is_new and not self.claim.is_supported else []

    def failing(self, known: Mapping[Pair, Verdict]) -> list[str]:
        cited = self.singles if self.claim.is_supported else ()
        return [id for id in cited if not known[self.pair([id])].entails]

    def without(self, id: str) -> Pair:
        return self.pair([other for other in self.claim.cited if other != id])

    def leave_one_out(self, known: Mapping[Pair, Verdict]) -> list[Pair]:
        return [self.without(id) for id in self.failing(known)]

    def result(self, known: Mapping[Pair, Verdict]) -> Assessed:
        if self.claim.is_supported:
            needless = tuple(id for id in self.failing(known) if known[self.without(id)].entails)
            quotes = [citation.quote for citation in self.claim.citations]
            return Assessed(self.claim, needless, (), True, self._terms(self.claim.cited, quotes))
        tried = [(self.pair([id]), id) for id in self.singles]
        holding = [(known[pair], id) for pair, id in tried if known[pair].entails]
        holding.sort(key=lambda proof: -proof[0].support)
        proofs = [(verdict, [id]) for verdict, id in holding] + [
            (known[pair], list(self.passages)) for pair in self.together() if known[pair].entails
        ]
        if not proofs:
            return Assessed(self.claim)
        verdict, ids = proofs[0]
        others = tuple(id for _, id in holding)
        return Assessed(self.claim, (), others, True, self._terms(ids, verdict.quotes))

    def _terms(self, ids: Sequence[str], quotes: Sequence[Quote | None]) -> frozenset[str]:
        """If the judge quotes nothing, whole passages count as evidence."""
        evidence = [self.passages[id] for id in ids]
        decisive = [quote.text for quote in quotes if quote] or [passage.text for passage in evidence]
        return content_terms(" ".join([self.claim.text, *decisive, *(passage.title for passage in evidence)]))


def content_terms(text: str) -> frozenset[str]:
    return frozenset(terms(text)) - _STOP_TERMS


# ---------------------------------------------------------------- scores


def citation_scores(claims: Sequence[Assessed]) -> dict[str, float]:
    """Citation recall and precision (ALCE, `eval.py`); precision is 0 without citations."""
    credits = sum(
        len(assessed.claim.cited) - len(assessed.needless) for assessed in claims if assessed.claim.is_supported
    )
    total = sum(len(assessed.claim.cited) for assessed in claims)
    recall = _percent(sum(assessed.claim.is_supported for assessed in claims), len(claims))
    return {CITATION_RECALL: recall, CITATION_PRECISION: _percent(credits, total)}


def question_coverage(claims: Sequence[Assessed], questions: Sequence[str]) -> float:
    """The mean share, 0 to 100, of each question's content terms in the evidence; 100 without such terms."""
    known = evidence_terms(claims)
    shares = [_percent(len(asked & known), len(asked)) for asked in map(content_terms, questions) if asked]
    return sum(shares) / len(shares) if shares else 100.0


def evidence_terms(claims: Sequence[Assessed]) -> frozenset[str]:
    return frozenset[str]().union(*(assessed.terms for assessed in claims))


def reference_free(claims: Sequence[Assessed], questions: Sequence[str]) -> dict[str, float]:
    """The two parts of correctness without gold answers, 0 to 100; both 0 without claims."""
    entailed = _percent(sum(assessed.is_entailed for assessed in claims), len(claims))
    return {ENTAILED: entailed, ADDRESSED: question_coverage(claims, questions) if claims else 0.0}


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else 0.0
