"""CaLM's steps 3 and 4: the verifier answers from a candidate's passages, and the two answers are compared.

ROUGE-2 covers Latin letters only; other scripts are compared by pairs of `language.terms`. The paper omits short
answers and lists: they are compared by words and as sets of names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from toulmin.data import Claim, Omission, Passage, Round, Style
from toulmin.methods.reporting import Draws, draft_round, read_by
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt
from toulmin.steps import Exchange, Program, exchange
from toulmin.text.language import terms
from toulmin.text.overlap import entity, entity_f1, token_f1
from toulmin.text.rouge import Overlap, is_legible, rouge_words, sequence_overlap

# ---------------------------------------------------------------- agreement of two drafts (CaLM, section 4)

Measure = Literal["rouge2", "token_f1", "entity_f1"]
Texts = Sequence[str]  # the words of a draft's claims, without citation marks


AGREEMENT: Mapping[Measure, Callable[[Texts, Texts], float]] = {
    "rouge2": lambda a, b: _pairs(" ".join(a), " ".join(b)).fmeasure,
    "token_f1": lambda a, b: token_f1(" ".join(a), " ".join(b)),
    "entity_f1": entity_f1,
}
USUAL: Mapping[Style, Measure] = {"long": "rouge2", "report": "rouge2", "short": "token_f1", "list": "entity_f1"}


def _pairs(candidate: str, reference: str) -> Overlap:
    words = rouge_words if is_legible(candidate) and is_legible(reference) else terms
    return sequence_overlap(words(candidate), words(reference), 2)


# ---------------------------------------------------------------- corroboration of a claim


def _pair_precision(claim: str, others: Texts) -> float:
    """The best ROUGE-2 precision by one claim or all together; token F1 for one word."""
    texts = (" ".join(others), *others)
    if len(rouge_words(claim) if is_legible(claim) else terms(claim)) < 2:
        return max(token_f1(claim, text) for text in texts)
    return max(_pairs(claim, text).precision for text in texts)


# How far other claims corroborate one, in 0..1.
CORROBORATION: Mapping[Style, Callable[[str, Texts], float]] = {
    "long": _pair_precision,
    "report": _pair_precision,
    "short": lambda claim, others: token_f1(claim, " ".join(others)),
    "list": lambda claim, others: float(entity(claim) in map(entity, others)),
}


# ---------------------------------------------------------------- contrast

Reads = Literal["cited", "all"]
Carry = Literal["claims", "all_cited"]


def passages_cited_by(claims: Sequence[Claim], passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The cited passages, in the passages' order."""
    cited = {id for claim in claims for id in claim.cited}
    return tuple(passage for passage in passages if passage.id in cited)


class Basis(NamedTuple):
    """The start of a correction: the draft (Ā) and its passages (Ḡ)."""

    claims: tuple[Claim, ...] = ()
    passages: tuple[Passage, ...] = ()


class Outcome(NamedTuple):
    """The result of a contrast; `invalid` counts the verifier's labels that were not offered."""

    accepted: bool
    basis: Basis
    round: Round
    invalid: int = 0


@dataclass(frozen=True, slots=True)
class Contrast:
    """`reads`: the passages for the verifier, all in the candidate's prompt or those that it cites; `carry`: whose
    passages the next round reads first, those of kept claims or of all claims.
    """

    asked: AnswerPrompt
    measure: Measure
    threshold: float
    claim_threshold: float
    reads: Reads
    carry: Carry

    def of(self, candidate: Exchange[Draft], pool: Sequence[Passage], n: int, draws: Draws) -> Program[Outcome]:
        """One verifier call, none without passages to read."""
        claims, shown = candidate.value.claims, set(read_by(candidate.prompt))
        grounds = tuple(passage for passage in pool if passage.id in shown)
        grounds = grounds if self.reads == "all" else passages_cited_by(claims, grounds)
        if not grounds:
            why = "the candidate cites no passage, so the verifier has nothing to read"
            unread = tuple(Omission(claim.text, why) for claim in claims)
            return Outcome(False, Basis(), Round("contrast", n, dropped=unread, chosen=False))
        prompt = replace(self.asked, passages=grounds)
        done = yield from exchange(prompt, "verifier", sample=draws.next(prompt, "verifier"))
        others = [claim.text for claim in done.value.claims]
        # An abstaining verifier agrees with nothing.
        score = AGREEMENT[self.measure]([claim.text for claim in claims], others) if others else 0.0
        corroborate = CORROBORATION[self.asked.style]
        rated = [(claim, corroborate(claim.text, others) if others else 0.0) for claim in claims]
        corroborated = tuple(claim for claim, share in rated if share > self.claim_threshold)
        weak = ((claim, share) for claim, share in rated if share <= self.claim_threshold)
        dropped = tuple(Omission(claim.text, self._why(share, bool(others))) for claim, share in weak)
        accepted = score > self.threshold
        entry = draft_round(done, self.asked.style, kind="contrast", n=n, role="verifier")
        entry = replace(
            entry,
            kept=tuple(claim.text for claim in (claims if accepted else corroborated)),
            dropped=entry.dropped if accepted else (*dropped, *entry.dropped),
            scores={self.measure: score},
            chosen=accepted,
        )
        basis = Basis(corroborated, passages_cited_by(claims if self.carry == "all_cited" else corroborated, pool))
        return Outcome(accepted, basis, entry, done.value.invalid)

    def _why(self, share: float, answered: bool) -> str:
        if not answered:
            return "the verifier finds no answer in what it was shown"
        if self.asked.style == "list":
            return "the verifier does not name it"
        return f"the verifier's answer agrees with {share:.0%} of it, not with over {self.claim_threshold:.0%}"
