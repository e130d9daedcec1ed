"""The trained judge's network and what it reads: a pair to the shares of three outcomes.

It reads the claim beside an excerpt of the premises (`excerpt`); where its settings allow several excerpts, the one
that supports the claim most decides. `stacked` makes a verdict of its shares.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from toulmin.judges.excerpt import Excerpt, excerpts
from toulmin.runtime.premises import hypothesis
from toulmin.runtime.rows import Row, Tokens
from toulmin.runtime.rows_network import Network
from toulmin.runtime.shipped import RULE, Part, part, settings
from toulmin.steps import Pair

KIND = "judge"
OUTCOMES = ("supported", "unsupported", "contradicted")


class Shares(NamedTuple):
    """The chances of the three outcomes, which sum to 1."""

    supported: float
    unsupported: float
    contradicted: float


class View(NamedTuple):
    """What was read of a pair: the row of tokens, and the excerpt that it shows."""

    row: Row
    excerpt: Excerpt


@dataclass(frozen=True, slots=True)
class Frame:
    """How a pair is laid before the network; training and judging share it."""

    tokens: Tokens
    most: int = 1

    def views(self, pair: Pair) -> list[View]:
        """The pair with each of its excerpts, at least one; an excerpt without a sentence where there are none."""
        claim = hypothesis(pair)
        found = excerpts(claim, pair.premises, self.tokens.room(claim), self.tokens.count, self.most)
        return [View(self.tokens.row(claim, one.text), one) for one in found]


class Judged(NamedTuple):
    """The shares of a pair and the excerpt that decided."""

    shares: Shares
    excerpt: Excerpt


class Model(Protocol):
    """What gives shares to pairs; `name` tells it from others, `key` from others of its name."""

    @property
    def name(self) -> str:
        """What a verdict calls it."""
        ...

    @property
    def key(self) -> str:
        """All that its shares depend on."""
        ...

    def shares(self, pairs: Sequence[Pair]) -> list[Judged]:
        """The shares of each pair, in order."""
        ...


class Trained:
    """The network of a judge's folder, or of the installed weights; loaded here, every file checked by its hash.

    Raises `ModelError` where there is none, and for a folder that is none.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, threads: int | None = None) -> None:
        self.part: Part = part(KIND, folder)
        told = settings(self.part)
        self.name = self.part.name
        self.key = json.dumps([self.name, self.part.identity, RULE])
        self._frame = Frame(Tokens(self.part.file("tokenizer.json"), told.max_tokens), told.excerpts)
        self._network = Network(self.part.file("model.onnx"), threads)

    def shares(self, pairs: Sequence[Pair]) -> list[Judged]:
        """The shares of each pair, in order."""
        views = [self._frame.views(pair) for pair in pairs]
        logits = iter(self._network.logits([view.row for seen in views for view in seen]))
        return [
            max(((Judged(_shares(next(logits)), view.excerpt)) for view in seen), key=lambda one: one.shares.supported)
            for seen in views
        ]


def _shares(logits: NDArray[np.float32]) -> Shares:
    raised = np.exp(logits - logits.max())
    return Shares(*(float(share) for share in raised / raised.sum()))
