"""A2R's assessment: scores, 0 to 100, for citations and correctness, and their targets.

"Ask, Assess, and Refine" (2024), section 2.3. Citation recall and precision follow ALCE (Gao et al. 2023), but read
all citations of a claim, not three. Without gold answers correctness is the share of entailed claims times the share
of the question's content terms in their evidence (claims, titles, decisive sentences). For a list these are answer
precision and answer recall.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from statistics import fmean

from toulmin.data import Claim, Passage, Quote, Style
from toulmin.errors import UsageError, unknown_name
from toulmin.parsing.citing import with_citations
from toulmin.steps import Pair, Program, Verdict
from toulmin.text.language import content_terms
from toulmin.verify import entail_new, hypothesis, verify

CORRECTNESS, ANSWER_RECALL, ANSWER_PRECISION = "correctness", "answer recall", "answer precision"
CITATION_RECALL, CITATION_PRECISION = "citation recall", "citation precision"
ENTAILED, ADDRESSED = "claims entailed", "question addressed"  # the parts of reference-free correctness


@dataclass(frozen=True, slots=True)
class ListCorrectness:
    """A list's scores against gold answers, 0 to 100."""

    recall: float
    precision: float


Oracle = Callable[[tuple[Claim, ...]], float | ListCorrectness]


@dataclass(frozen=True, slots=True)
class ClaimAssessment:
    """A claim with its verdict and those on other sets of passages.

    `needless` citations do not support it alone, and the others do without them. For an unsupported claim, `others` are
    passages that each support it, best first; `is_entailed`: one of these or all passages together do. `terms` are the
    content terms of its evidence.
    """

    claim: Claim
    needless: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    is_entailed: bool = False
    terms: frozenset[str] = frozenset()
    strays: tuple[int, ...] = ()  # invalid labels


@dataclass(frozen=True, slots=True)
class Assessment:
    """Assessed claims, their `scores` by metric, the `parts` of a reference-free correctness, and invalid citations."""

    claims: tuple[ClaimAssessment, ...]
    scores: Mapping[str, float]
    parts: Mapping[str, float] = field(default_factory=dict)
    invalid: int = 0

    @property
    def judged(self) -> tuple[Claim, ...]:
        return tuple(assessed.claim for assessed in self.claims)


def assess(
    claims: Sequence[Claim], passages: Sequence[Passage], question: str, style: Style
) -> Program[tuple[ClaimAssessment, ...]]:
    """Judges the claims in at most three requests: by their citations; by single and by all passages; without each
    citation that fails alone.
    """
    by_id = {passage.id: passage for passage in passages}
    judged = yield from verify(claims, by_id, question, style)
    trials = [_Trials(claim, by_id, question, style) for claim in judged]
    known: dict[Pair, Verdict] = {}
    yield from entail_new(known, [pair for trial in trials for pair in trial.alone() + trial.together()])
    yield from entail_new(known, [pair for trial in trials for pair in map(trial.without, trial.failing(known))])
    return tuple(trial.result(known) for trial in trials)


@dataclass(frozen=True, slots=True)
class _Trials:
    claim: Claim
    passages: Mapping[str, Passage]
    question: str
    style: Style

    def pair(self, ids: Sequence[str]) -> Pair:
        return hypothesis(with_citations(self.claim, ids), self.passages, self.question, self.style)

    @property
    def singles(self) -> tuple[str, ...]:
        """Passages to try alone, except an only citation, which is judged already."""
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

    def result(self, known: Mapping[Pair, Verdict]) -> ClaimAssessment:
        if self.claim.is_supported:
            needless = tuple(id for id in self.failing(known) if known[self.without(id)].entails)
            quotes = [citation.quote for citation in self.claim.citations]
            return ClaimAssessment(self.claim, needless, (), True, self._terms(self.claim.cited, quotes))
        verdicts = {id: known[self.pair([id])] for id in self.singles}
        others = sorted((id for id in verdicts if verdicts[id].entails), key=lambda id: -verdicts[id].support)
        proofs = [(verdicts[id], [id]) for id in others[:1]]
        proofs += [(known[pair], list(self.passages)) for pair in self.together() if known[pair].entails]
        if not proofs:
            return ClaimAssessment(self.claim)
        verdict, ids = proofs[0]
        return ClaimAssessment(self.claim, (), tuple(others), True, self._terms(ids, verdict.quotes))

    def _terms(self, ids: Sequence[str], quotes: Sequence[Quote | None]) -> frozenset[str]:
        """Without quotes whole passages are evidence."""
        evidence = [self.passages[id] for id in ids]
        decisive = [quote.text for quote in quotes if quote] or [passage.text for passage in evidence]
        return content_terms(" ".join([self.claim.text, *decisive, *(passage.title for passage in evidence)]))


# ---------------------------------------------------------------- scores


def citation_scores(claims: Sequence[ClaimAssessment], invalid: int = 0) -> dict[str, float]:
    """Citation recall and precision (ALCE, `eval.py`); invalid citations count against their claim."""
    supported = [assessed for assessed in claims if assessed.claim.is_supported and not assessed.strays]
    credits = sum(len(assessed.claim.cited) - len(assessed.needless) for assessed in supported)
    total = invalid + sum(len(assessed.claim.cited) for assessed in claims)
    recall = _percent(len(supported), len(claims))
    return {CITATION_RECALL: recall, CITATION_PRECISION: _percent(credits, total)}


def evidence_terms(claims: Sequence[ClaimAssessment]) -> frozenset[str]:
    return frozenset[str]().union(*(assessed.terms for assessed in claims))


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else 0.0


# ---------------------------------------------------------------- targets and the measure of correctness


# The paper gives no targets; these are ours.
TARGETS: Mapping[str, float] = {
    CORRECTNESS: 60.0,
    ANSWER_RECALL: 60.0,
    ANSWER_PRECISION: 60.0,
    CITATION_RECALL: 80.0,
    CITATION_PRECISION: 80.0,
}
_OF_A_LIST = (ANSWER_RECALL, ANSWER_PRECISION)


@dataclass(frozen=True, slots=True)
class Aims:
    """Targets by metric, 0 to 100, in reporting order."""

    targets: Mapping[str, float]
    oracle: Oracle | None = None

    def assessment(self, claims: tuple[ClaimAssessment, ...], question: str, invalid: int = 0) -> Assessment:
        """All scores are 0 without claims."""
        entailed = _percent(sum(assessed.is_entailed for assessed in claims), len(claims))
        asked = content_terms(question)
        covered = _percent(len(asked & evidence_terms(claims)), len(asked)) if asked else 100.0
        addressed = covered if claims else 0.0
        scores = {CORRECTNESS: entailed * addressed / 100, ANSWER_RECALL: addressed, ANSWER_PRECISION: entailed}
        scores = (self._gold(claims) if self.oracle and claims else scores) | citation_scores(claims, invalid)
        shown = CORRECTNESS in self.targets and self.oracle is None
        parts = {ENTAILED: entailed, ADDRESSED: addressed} if shown else {}
        return Assessment(claims, {name: scores[name] for name in self.targets}, parts, invalid)

    def _gold(self, claims: Sequence[ClaimAssessment]) -> dict[str, float]:
        """Raises `UsageError` for a result of the wrong type or range."""
        if self.oracle is None or not {CORRECTNESS, *_OF_A_LIST} & self.targets.keys():
            return {}
        result = self.oracle(tuple(assessed.claim for assessed in claims))
        if isinstance(result, ListCorrectness) == (CORRECTNESS in self.targets):
            wanted = "a number" if CORRECTNESS in self.targets else "a ListCorrectness"
            raise UsageError(f"correctness: the scoring function should give {wanted} for this style, not {result!r}.")
        if isinstance(result, ListCorrectness):
            scores = {ANSWER_RECALL: result.recall, ANSWER_PRECISION: result.precision}
            return {name: _in_bounds(f"correctness: the {name}", score) for name, score in scores.items()}
        return {CORRECTNESS: _in_bounds("correctness: the score", result)}

    def mean(self, scores: Mapping[str, float]) -> float:
        return fmean(scores[name] for name in self.targets)

    def are_reached(self, scores: Mapping[str, float]) -> bool:
        """Whether the mean score reaches the mean target (the paper, footnote 5)."""
        return self.mean(scores) >= fmean(self.targets.values())

    def round_scores(self, assessment: Assessment) -> dict[str, float]:
        """Scores by name, with the mode and the parts of correctness."""
        answering, mode = (CORRECTNESS, *_OF_A_LIST), "oracle" if self.oracle else "reference-free"
        named = {f"{n} ({mode})" if n in answering else n: score for n, score in assessment.scores.items()}
        return named | dict(assessment.parts)


def _in_bounds(what: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (isfinite(value) and 0 <= value <= 100):
        raise UsageError(f"{what} should lie from 0 to 100, not at {value!r}.")
    return float(value)


def aims(
    style: Style, metrics: Sequence[str] | None, targets: Mapping[str, float] | None, oracle: Oracle | None
) -> Aims:
    """The style's metrics, or those in `metrics`; `targets` (0 to 100) replace ours.

    For a list "correctness" means both of its scores; `_` is a space. Raises `UsageError` for invalid values.
    """
    known = (*(_OF_A_LIST if style == "list" else (CORRECTNESS,)), CITATION_RECALL, CITATION_PRECISION)
    asked = {name: value for alias, value in (targets or {}).items() for name in _metrics_of(alias, known)}
    asked = {name: _in_bounds(f"targets: the {name}", value) for name, value in asked.items()}
    names = known if metrics is None else [metrics] if isinstance(metrics, str) else metrics
    chosen = {name for alias in names for name in _metrics_of(alias, known)}
    if not chosen:
        raise UsageError(f"metrics: expected one or more of {', '.join(known)}; leave it out for all of them.")
    return Aims({name: asked.get(name, TARGETS[name]) for name in known if name in chosen}, oracle)


def _metrics_of(alias: str, known: Sequence[str]) -> tuple[str, ...]:
    name = " ".join(str(alias).replace("_", " ").lower().split())
    if name == CORRECTNESS and name not in known:
        return _OF_A_LIST
    if name not in known:
        raise unknown_name("metric of this style", str(alias), known)
    return (name,)
