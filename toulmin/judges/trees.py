"""Boosted decision trees, as `stack.json` holds them: what scikit-learn grows, this reads and follows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from toulmin.errors import ModelError


class Node(NamedTuple):
    """A question to a measure: up to `level` to the left, above to the right. Where both are 0, a leaf's `value`."""

    measure: int
    level: float
    left: int
    right: int
    value: float


@dataclass(frozen=True, slots=True)
class Trees:
    """The sum of `base` and of each tree's leaf. A tree is its nodes, the root first.

    Raises `ModelError` for nodes that lead nowhere, or back.
    """

    base: float
    trees: tuple[tuple[Node, ...], ...]

    def __post_init__(self) -> None:
        leads_on = all(
            at < min(node.left, node.right) and max(node.left, node.right) < len(tree)
            for tree in self.trees
            for at, node in enumerate(tree)
            if node.left or node.right
        )
        numbers = [self.base, *(number for tree in self.trees for node in tree for number in (node.level, node.value))]
        if not leads_on or not all(self.trees) or not all(map(math.isfinite, numbers)):
            raise ModelError("The trees of a stack should end in numbers; fit it anew with training/stack.py.")

    @property
    def measures(self) -> int:
        """How many measures there must be, at least."""
        return 1 + max((node.measure for tree in self.trees for node in tree if node.left), default=-1)

    def score(self, measures: Sequence[float]) -> float:
        """The sum for these measures."""
        return self.base + sum(_leaf(tree, measures) for tree in self.trees)


def _leaf(tree: Sequence[Node], measures: Sequence[float]) -> float:
    node = tree[0]
    while node.left:
        node = tree[node.left if measures[node.measure] <= node.level else node.right]
    return node.value


def read_trees(told: Sequence[Sequence[Sequence[float]]], base: float) -> Trees:
    """Trees as JSON holds them. Raises ValueError or TypeError for what is none."""
    return Trees(
        float(base),
        tuple(
            tuple(
                Node(int(measure), float(level), int(left), int(right), float(value))
                for measure, level, left, right, value in tree
            )
            for tree in told
        ),
    )
