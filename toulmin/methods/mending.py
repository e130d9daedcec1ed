"""What could stand in the place of a sentence that its sources do not support: the same cited anew, or a rewriting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toulmin.data import Citation, Claim, Passage, Round
from toulmin.methods.assessing import CITATION_RECALL, Assessed, content_terms
from toulmin.methods.feedback import Numbered, recall_faults
from toulmin.methods.placing import STOPS
from toulmin.methods.reporting import draft_round
from toulmin.methods.rewriting import REWRITTEN, rewrites
from toulmin.methods.sentence_wording import worded
from toulmin.prompts.types import Refine
from toulmin.steps import Program, exchange
from toulmin.verify import simplify, smallest_support, verify

CITED_ANEW = "cited anew: a search found passages that support it"


@dataclass(frozen=True, slots=True)
class Failing:
    """A sentence that its sources do not support: its place among the claims, and what it cites or a search found."""

    n: int
    one: Assessed
    read: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Remedy:
    """Supported claims to stand in the place of a sentence, and in which way they came to be."""

    claims: tuple[Claim, ...]
    way: str


@dataclass(frozen=True, slots=True)
class Rewriting:
    """The remedies that the model wrote, by the place of the sentence, and the round that tells of it."""

    remedies: Mapping[int, Remedy]
    told: Round


def cited_anew(failing: Sequence[Failing]) -> Program[dict[int, Remedy]]:
    """Those sentences that what was read for them supports: citing one passage or two, or what it takes of all."""
    few = yield from smallest_support([(each.one.claim, each.read) for each in failing])
    open_ = [each for each, claim in zip(failing, few, strict=True) if each.one.is_entailed and not claim.is_supported]
    pool = {passage.id: passage for each in open_ for passage in each.read}
    whole = [replace(each.one.claim, citations=tuple(Citation(p.id) for p in each.read)) for each in open_]
    many = yield from simplify((yield from verify(whole, pool, "", "long")), pool, "", "long")
    found = {each.n: claim for each, claim in zip([*failing, *open_], [*few, *many], strict=True)}
    return {n: Remedy((claim,), CITED_ANEW) for n, claim in found.items() if claim.is_supported}


def rewritten(failing: Sequence[Failing], question: str, text: Sequence[Claim]) -> Program[Rewriting]:
    """What the model makes of the sentences, asked once for all of them with feedback from their verdicts.

    A sentence of the reply belongs to the one that it rewrites. It must be supported, by what it cites or by what was
    read for that one, and say what `text` does not yet.
    """
    offered = tuple({passage.id: passage for each in failing for passage in each.read}.values())
    asked = Refine(question or _question(failing), offered, _claims(failing), _feedback(failing, offered))
    done = yield from exchange(asked)
    new = [replace(claim, text=_stopped(claim.text)) for claim in done.value.claims]
    homes = [_home(claim, failing) for claim in new]
    kept = yield from _supported(new, homes, {passage.id: passage for passage in offered})
    known = {worded(claim.text) for claim in text}
    fitting: dict[int, list[Claim]] = {}
    for claim, home in zip(kept, homes, strict=True):
        if home and claim.is_supported and worded(claim.text) not in known:
            fitting.setdefault(home.n, []).append(claim)
            known.add(worded(claim.text))
    told = draft_round(done, "long", kind="refine")
    return Rewriting({n: Remedy(tuple(claims), REWRITTEN) for n, claims in fitting.items()}, told)


def _supported(
    new: Sequence[Claim], homes: Sequence[Failing | None], passages: Mapping[str, Passage]
) -> Program[tuple[Claim, ...]]:
    """The new sentences judged by what they cite, else by what was read for the old one, citing what they need."""
    judged = list((yield from verify(new, passages, "", "long")))
    weak = [(i, home) for i, home in enumerate(homes) if home and not judged[i].is_supported]
    anew = yield from smallest_support([(judged[i], home.read) for i, home in weak])
    for (i, _), claim in zip(weak, anew, strict=True):
        judged[i] = claim
    return (yield from simplify(judged, passages, "", "long"))


def _claims(failing: Sequence[Failing]) -> tuple[Claim, ...]:
    return tuple(each.one.claim for each in failing)


def _question(failing: Sequence[Failing]) -> str:
    """What a text that answers no question is about: the sentences themselves.

    Those of which the passages know little are left out, if there are others: a writer that is asked about what is not
    there may find nothing to say at all.
    """
    known = [each for each in failing if _is_spoken_of(each)]
    return " ".join(claim.text for claim in _claims(known or failing))


def _is_spoken_of(each: Failing) -> bool:
    """Whether half of the sentence's terms stand in what was read for it."""
    asked = content_terms(each.one.claim.text)
    held = content_terms(" ".join(f"{passage.title} {passage.text}" for passage in each.read))
    return 2 * len(asked & held) >= len(asked)


def _feedback(failing: Sequence[Failing], offered: Sequence[Passage]) -> dict[str, str]:
    faults = recall_faults([each.one for each in failing], Numbered.of(offered, "long"))
    return {CITATION_RECALL: " ".join(faults)}


def _home(new: Claim, failing: Sequence[Failing]) -> Failing | None:
    """The sentence that a new one rewrites, if there is one."""
    place = rewrites(new.text, [claim.text for claim in _claims(failing)])
    return None if place is None else failing[place]


def _stopped(text: str) -> str:
    """The sentence with a stop at its end, so that it does not run into the next."""
    return text if text.rstrip("\"'”’»)]").endswith(tuple(STOPS)) else f"{text}."
