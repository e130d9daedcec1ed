"""A2R's assessment: how well claims are cited and how well they answer, in scores from 0 to 100.

The paper is "Ask, Assess, and Refine" (2024), section 2.3; citation recall and precision are counted as ALCE's
evaluator counts them, but that all citations of a claim are read where its tool reads three. Without gold answers
(`reference-free`) correctness is the share of the claims that the passages read entail, times the share of the
question's content terms that the evidence of those claims holds: its words, its passages' titles and the sentences
that the judge found decisive. For a list the two stand apart, as answer precision and answer recall.
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
    """How a list of entities does against gold answers, 0 to 100 each."""

    recall: float
    precision: float


Oracle = Callable[[tuple[Claim, ...]], float | ListCorrectness]


@dataclass(frozen=True, slots=True)
class Assessed:
    """A claim with its verdict, and what was found out about the passages.

    `needless` are citations that it does not need: alone they do not support it, and the others do without them. Of a
    claim that its citations do not support, `others` are the passages read that each support it, best first, and
    `is_entailed` says whether these or all passages together do. `terms` are what its evidence speaks of.
    """

    claim: Claim
    needless: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    is_entailed: bool = False
    terms: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Assessment:
    """The claims as assessed, their `scores` by metric, and the `parts` of a reference-free correctness."""

    claims: tuple[Assessed, ...]
    scores: Mapping[str, float]
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def judged(self) -> tuple[Claim, ...]:
        """The claims with their verdicts."""
        return tuple(one.claim for one in self.claims)


def assess(
    claims: Sequence[Claim], passages: Sequence[Passage], question: str, style: Style
) -> Program[tuple[Assessed, ...]]:
    """What the judge says of the claims, in three requests at most for all of them.

    First every claim by what it cites; then the single citations of supported claims that have several, and for a
    claim that fails each passage alone and all together; then the citations without each one that fails alone.
    """
    by_id = {passage.id: passage for passage in passages}
    judged = yield from verify(claims, by_id, question, style)
    trials = [_Trials(claim, by_id, question, style) for claim in judged]
    known: dict[Pair, Verdict] = {}
    yield from _ask(known, [pair for trial in trials for pair in trial.alone() + trial.together()])
    yield from _ask(known, [pair for trial in trials for pair in trial.left(known)])
    return tuple(trial.assessed(known) for trial in trials)


def _ask(known: dict[Pair, Verdict], pairs: Sequence[Pair]) -> Program[None]:
    new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
    known.update(zip(new, (yield from entail(new)), strict=True))


@dataclass(frozen=True, slots=True)
class _Trials:
    """A judged claim, and the sets of passages that it is tried with."""

    claim: Claim
    passages: Mapping[str, Passage]
    question: str
    style: Style

    def pair(self, ids: Sequence[str]) -> Pair:
        trial = replace(self.claim, citations=tuple(Citation(id) for id in ids))
        return hypothesis(trial, self.passages, self.question, self.style)

    @property
    def singles(self) -> tuple[str, ...]:
        """The passages to try alone; what is the only citation was judged already."""
        cited = self.claim.cited
        if self.claim.is_supported:
            return cited if len(cited) > 1 else ()
        return tuple(id for id in self.passages if (id,) != cited)

    def alone(self) -> list[Pair]:
        return [self.pair([id]) for id in self.singles]

    def together(self) -> list[Pair]:
        """All passages at once, for a claim that fails and that so few have not been tried for."""
        is_new = len(self.passages) > 1 and set(self.claim.cited) != set(self.passages)
        return [self.pair(list(self.passages))] if is_new and not self.claim.is_supported else []

    def failing(self, known: Mapping[Pair, Verdict]) -> list[str]:
        """Of several citations of a supported claim those that do not support it alone."""
        cited = self.singles if self.claim.is_supported else ()
        return [id for id in cited if not known[self.pair([id])].entails]

    def without(self, id: str) -> Pair:
        return self.pair([other for other in self.claim.cited if other != id])

    def left(self, known: Mapping[Pair, Verdict]) -> list[Pair]:
        return [self.without(id) for id in self.failing(known)]

    def assessed(self, known: Mapping[Pair, Verdict]) -> Assessed:
        if self.claim.is_supported:
            needless = tuple(id for id in self.failing(known) if known[self.without(id)].entails)
            quotes = [citation.quote for citation in self.claim.citations]
            return Assessed(self.claim, needless, (), True, self._terms(self.claim.cited, quotes))
        tried = [(self.pair([id]), id) for id in self.singles]
        holding = [(known[pair], id) for pair, id in tried if known[pair].entails]
        holding.sort(key=lambda one: -one[0].support)
        proofs = [(verdict, [id]) for verdict, id in holding] + [
            (known[pair], list(self.passages)) for pair in self.together() if known[pair].entails
        ]
        if not proofs:
            return Assessed(self.claim)
        verdict, ids = proofs[0]
        others = tuple(id for _, id in holding)
        return Assessed(self.claim, (), others, True, self._terms(ids, verdict.quotes))

    def _terms(self, ids: Sequence[str], quotes: Sequence[Quote | None]) -> frozenset[str]:
        """What the claim and its evidence speak of; a judge that quotes nothing is taken to mean the whole passages."""
        evidence = [self.passages[id] for id in ids]
        decisive = [quote.text for quote in quotes if quote] or [passage.text for passage in evidence]
        return content_terms(" ".join([self.claim.text, *decisive, *(passage.title for passage in evidence)]))


def content_terms(text: str) -> frozenset[str]:
    """The terms of a text without stop words."""
    return frozenset(terms(text)) - _STOP_TERMS


# ---------------------------------------------------------------- scores


def citation_scores(claims: Sequence[Assessed]) -> dict[str, float]:
    """Citation recall and precision (ALCE, `eval.py`); an answer without citations has a precision of 0."""
    credits = sum(len(one.claim.cited) - len(one.needless) for one in claims if one.claim.is_supported)
    total = sum(len(one.claim.cited) for one in claims)
    recall = _percent(sum(one.claim.is_supported for one in claims), len(claims))
    return {CITATION_RECALL: recall, CITATION_PRECISION: _percent(credits, total)}


def addressed(claims: Sequence[Assessed], questions: Sequence[str]) -> float:
    """The mean over the questions of the share, 0 to 100, of their content terms that the evidence speaks of.

    A question without content terms asks for nothing, and all of it is addressed; claims that no passage entails have
    no evidence.
    """
    told = told_terms(claims)
    shares = [_percent(len(asked & told), len(asked)) for asked in map(content_terms, questions) if asked]
    return sum(shares) / len(shares) if shares else 100.0


def told_terms(claims: Sequence[Assessed]) -> frozenset[str]:
    """What the evidence of the claims speaks of."""
    return frozenset[str]().union(*(one.terms for one in claims))


def reference_free(claims: Sequence[Assessed], questions: Sequence[str]) -> dict[str, float]:
    """The two parts of correctness without gold answers; both are 0 where nothing is claimed."""
    entailed = _percent(sum(one.is_entailed for one in claims), len(claims))
    return {ENTAILED: entailed, ADDRESSED: addressed(claims, questions) if claims else 0.0}


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else 0.0
