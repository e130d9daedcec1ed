"""New citations or words for failing sentences"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toulmin.data import Citation, Claim, Passage, Round
from toulmin.methods.assessing import CITATION_RECALL, Assessed, content_terms
from toulmin.methods.feedback import Numbered, recall_faults
from toulmin.methods.placing import STOPS
from toulmin.methods.reporting import draft_round
from toulmin.methods.rewriting import REWRITTEN, rewrites
from toulmin.methods.sentence_wording import wording_of
from toulmin.prompts.types import Refine
from toulmin.steps import Program, exchange
from toulmin.verify import simplify, smallest_support, verify

CITED_ANEW = "cited anew: a search found passages that support it"


@dataclass(frozen=True, slots=True)
class Failing:
    """An unsupported sentence: its position among the claims, and what it cites or a search found."""

    n: int
    one: Assessed
    read: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Remedy:
    claims: tuple[Claim, ...]
    way: str


@dataclass(frozen=True, slots=True)
class Rewriting:
    remedies: Mapping[int, Remedy]
    told: Round


def cite_evidence(failing: Sequence[Failing]) -> Program[dict[int, Remedy]]:
    """New citations for sentences that their passages support: one or two, or what it takes of all."""
    few = yield from smallest_support([(each.one.claim, each.read) for each in failing])
    open_ = [each for each, claim in zip(failing, few, strict=True) if each.one.is_entailed and not claim.is_supported]
    pool = {passage.id: passage for each in open_ for passage in each.read}
    whole = [replace(each.one.claim, citations=tuple(Citation(p.id) for p in each.read)) for each in open_]
    many = yield from simplify((yield from verify(whole, pool, "", "long")), pool, "", "long")
    claims = {each.n: claim for each, claim in zip([*failing, *open_], [*few, *many], strict=True)}
    return {n: Remedy((claim,), CITED_ANEW) for n, claim in claims.items() if claim.is_supported}


def rewrite_failing(failing: Sequence[Failing], question: str, text: Sequence[Claim]) -> Program[Rewriting]:
    """Has the model rewrite the sentences, all in one call, with feedback from their verdicts.

    A new sentence belongs to the one that it rewrites. It must be supported, by its citations or by that one's
    passages, and say what `text` does not yet.
    """
    offered = tuple({passage.id: passage for each in failing for passage in each.read}.values())
    asked = Refine(question or _question(failing), offered, _claims(failing), _feedback(failing, offered))
    done = yield from exchange(asked)
    new = [replace(claim, text=_end_with_stop(claim.text)) for claim in done.value.claims]
    homes = [_home(claim, failing) for claim in new]
    kept = yield from _judge_rewritings(new, homes, {passage.id: passage for passage in offered})
    known = {wording_of(claim.text) for claim in text}
    fitting: dict[int, list[Claim]] = {}
    for claim, home in zip(kept, homes, strict=True):
        if home and claim.is_supported and wording_of(claim.text) not in known:
            fitting.setdefault(home.n, []).append(claim)
            known.add(wording_of(claim.text))
    refine_round = draft_round(done, "long", kind="refine")
    return Rewriting({n: Remedy(tuple(claims), REWRITTEN) for n, claims in fitting.items()}, refine_round)


def _judge_rewritings(
    new: Sequence[Claim], homes: Sequence[Failing | None], passages: Mapping[str, Passage]
) -> Program[tuple[Claim, ...]]:
    judged = list((yield from verify(new, passages, "", "long")))
    weak = [(i, home) for i, home in enumerate(homes) if home and not judged[i].is_supported]
    anew = yield from smallest_support([(judged[i], home.read) for i, home in weak])
    for (i, _), claim in zip(weak, anew, strict=True):
        judged[i] = claim
    return (yield from simplify(judged, passages, "", "long"))


def _claims(failing: Sequence[Failing]) -> tuple[Claim, ...]:
    return tuple(each.one.claim for each in failing)


def _question(failing: Sequence[Failing]) -> str:
    """For a text without a question: its failing sentences, if possible those that their passages speak of.

    A writer asked about anything else may say nothing at all.
    """
    known = [each for each in failing if _is_spoken_of(each)]
    return " ".join(claim.text for claim in _claims(known or failing))


def _is_spoken_of(each: Failing) -> bool:
    asked = content_terms(each.one.claim.text)
    known = content_terms(" ".join(f"{passage.title} {passage.text}" for passage in each.read))
    return 2 * len(asked & known) >= len(asked)


def _feedback(failing: Sequence[Failing], offered: Sequence[Passage]) -> dict[str, str]:
    faults = recall_faults([each.one for each in failing], Numbered.of(offered, "long"))
    return {CITATION_RECALL: " ".join(faults)}


def _home(new: Claim, failing: Sequence[Failing]) -> Failing | None:
    index = rewrites(new.text, [claim.text for claim in _claims(failing)])
    return None if index is None else failing[index]


def _end_with_stop(text: str) -> str:
    return text if text.rstrip("\"'”’»)]").endswith(tuple(STOPS)) else f"{text}."
