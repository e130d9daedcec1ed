"""A dataset's own metric as A2R's oracle: it scores an answer while it is written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

from toulmin.data import Claim, Passage
from toulmin.datasets.item import Aliases, Item
from toulmin.driver.kit import Judge
from toulmin.errors import UsageError
from toulmin.metrics.short_answers import TOP
from toulmin.steps import Pair
from toulmin.text.overlap import normalise


def answers_oracle(item: Item) -> Callable[[Sequence[Claim]], float]:
    """The share, 0 to 100, of gold answers in the claims (ALCE's string match). Raises `UsageError` without gold
    answers.
    """
    slots = tuple(part.answers for part in item.gold.parts) if item.gold.parts else _lists(item)
    return lambda claims: 100 * len(answers_in(_text(claims), slots)) / len(slots)


def claims_oracle(item: Item, judge: Judge) -> Callable[[Sequence[Claim]], float]:
    """The share, 0 to 100, of entailed gold claims (ELI5's claim recall).

    The oracle raises `UsageError` for an awaitable judge.
    """
    golds = item.gold.claims or ()

    def claim_recall(claims: Sequence[Claim]) -> float:
        verdicts = judge.judge([Pair((Passage.of(_text(claims)),), gold) for gold in golds])
        if inspect.isawaitable(verdicts):
            close = getattr(verdicts, "close", None)
            if close is not None:
                close()
            raise UsageError("An oracle by gold claims needs a judge that answers at once, not an awaitable one.")
        return 100 * sum(verdict.entails for verdict in verdicts) / len(golds)

    return claim_recall


def entities_oracle(item: Item) -> Callable[[Sequence[Claim]], tuple[float, float]]:
    """Recall@5 and precision, 0 to 100, of listed entities (QAMPARI). Raises `UsageError` without gold answers."""
    golds = [frozenset(map(normalise, aliases)) for aliases in _lists(item)]
    known = frozenset[str]().union(*golds)

    def entity_scores(claims: Sequence[Claim]) -> tuple[float, float]:
        named = {normalise(claim.text) for claim in claims}
        hits = sum(bool(gold & named) for gold in golds)
        right = len(named & known)
        return 100 * min(hits, TOP) / min(len(golds), TOP), 100 * right / len(named) if named else 0.0

    return entity_scores


def _lists(item: Item) -> tuple[Aliases, ...]:
    if not item.gold.answers:
        raise UsageError(f"The question {item.id} has no gold answers, which an oracle needs.")
    return item.gold.answers


def _text(claims: Sequence[Claim]) -> str:
    return " ".join(claim.text for claim in claims)


def answers_in(text: str, answers: Sequence[Aliases]) -> frozenset[int]:
    """The places of the answers in the text, each by any alias (ALCE's str_em of one item).

    The match is of normalised substrings, as in ALCE: "5" is in "1954".
    """
    plain = normalise(text)
    return frozenset(i for i, aliases in enumerate(answers) if any(normalise(alias) in plain for alias in aliases))
