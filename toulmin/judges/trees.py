"""Boosted decision trees in JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from toulmin.errors import ModelError


class Node(NamedTuple):
    """A split: `measure` up to `level` goes left, above right; or, with both 0, a leaf's `value`."""

    measure: int
    level: float
    left: int
    right: int
    value: float


@dataclass(frozen=True, slots=True)
class Trees:
    """The sum of `base` and each tree's leaf. A tree's first node is its root.

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
            raise ModelError("The trees of a stack should end in numbers; fit it again with training/stack.py.")

    @property
    def measures(self) -> int:
        """The least number of measures needed."""
        return 1 + max((node.measure for tree in self.trees for node in tree if node.left), default=-1)

    def score(self, measures: Sequence[float]) -> float:
        return self.base + sum(_leaf(tree, measures) for tree in self.trees)


def _leaf(tree: Sequence[Node], measures: Sequence[float]) -> float:
    node = tree[0]
    while node.left:
        node = tree[node.left if measures[node.measure] <= node.level else node.right]
    return node.value


def read_trees(rows: Sequence[Sequence[Sequence[float]]], base: float) -> Trees:
    """From JSON. Raises ValueError or TypeError for other values."""
    return Trees(
        float(base),
        tuple(
            tuple(
                Node(int(measure), float(level), int(left), int(right), float(value))
                for measure, level, left, right, value in tree
            )
            for tree in rows
        ),
    )
