"""Negators, and words that exclude each other: `oppositions.txt` has a line for each pair of sides."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from toulmin.text.language import stem

NEGATORS = frozenset("not no never without cannot neither nor none nobody nothing nowhere".split())
# "failed to win" means "did not win".
NEGATING_VERBS = frozenset("fail failed fails failing unable".split())
# After a negator these cancel the negation or weaken it.
NOT_DENYING = frozenset(
    "only just merely simply necessarily always exactly entirely until less fewer doubt later".split()
)


@lru_cache(maxsize=1)
def _opposites() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for row in resources.files("toulmin.text").joinpath("oppositions.txt").read_text("utf-8").splitlines():
        sides = [[stem(word) for word in side.split()] for side in row.split("|")]
        for side, other in (sides, sides[::-1]):
            for word in side:
                table.setdefault(word, set()).update(other)
    return {word: frozenset(others - {word}) for word, others in table.items()}


def opposites(term: str) -> frozenset[str]:
    """The terms that exclude this one when one replaces the other; usually none."""
    return _opposites().get(term, frozenset())


def is_negator(word: str) -> bool:
    """Whether a lower-case word negates what follows ("not", "doesn't", "without")."""
    return word in NEGATORS or word in NEGATING_VERBS or word.endswith(("n't", "n’t"))
