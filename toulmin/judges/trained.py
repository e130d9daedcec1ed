"""The trained judge's network, and the excerpt of the premises that it reads with a claim.

Rules of this file
* Whole sentences of all passages: first the one that covers the claim best, then those that add most, preferably
  neighbours of a taken sentence, which may refer to them.
* A sentence that does not fit is cut between words.
* Parts stand under their passage's title, one on each line.
* Later excerpts have other sentences; the one with most support decides.
* Training and judging cut alike; a change needs new weights (`RULE`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from toulmin.data import Passage
from toulmin.errors import ModelError
from toulmin.judges.excerpt import Excerpt, excerpts
from toulmin.runtime.network import Network, Row, Tokens
from toulmin.runtime.shipped import RULE, Part, part, settings
from toulmin.runtime.windows import hypothesis
from toulmin.steps import Pair

KIND = "judge"
OUTCOMES = ("supported", "unsupported", "contradicted")
_KNOWN_ROWS = 8_192  # about 8 MB of rows whose logits are kept

# What a judge's folder says of these pairs shows whether a processor computes as its maker's did.
KNOWN = "known.json"
_LAMP = Passage.of("The lamp of the tower was first lit in 1759, and its keeper was paid by the harbour.", "The tower")
_CLAIMS = ("In 1759 the tower's lamp was lit for the first time.", "The keeper paid the harbour.", "It was never lit.")
TRIALS = tuple(Pair((_LAMP,), claim) for claim in _CLAIMS)


class Shares(NamedTuple):
    """The outcomes' probabilities, which sum to 1."""

    supported: float
    unsupported: float
    contradicted: float


class View(NamedTuple):
    row: Row
    excerpt: Excerpt


@dataclass(frozen=True, slots=True)
class Frame:
    """How a pair becomes rows, in training and judging."""

    tokens: Tokens
    most: int = 1

    def views(self, pair: Pair) -> list[View]:
        """One for each excerpt, at least one; empty if the premises are."""
        claim = hypothesis(pair)
        choices = excerpts(claim, pair.premises, self.tokens.room(claim), self.tokens.count, self.most)
        return [View(self.tokens.row(claim, excerpt.text), excerpt) for excerpt in choices]


class NetworkVerdict(NamedTuple):
    shares: Shares
    excerpt: Excerpt


class Model(Protocol):
    """Gives shares to pairs; `key` tells it from others of its name."""

    @property
    def name(self) -> str:
        """The name in its verdicts."""

    @property
    def key(self) -> str:
        """All that its shares depend on."""

    def shares(self, pairs: Sequence[Pair]) -> list[NetworkVerdict]:
        """The shares of each pair, in order."""


class JudgeNetwork:
    """The network of a judge's folder, or the installed one; every file is checked by its hash.

    Raises `ModelError` if there is none.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, threads: int | None = None) -> None:
        self.part: Part = part(KIND, folder)
        options = settings(self.part)
        self.name = self.part.name
        self.key = json.dumps([self.name, self.part.identity, RULE])
        self._frame = Frame(Tokens(self.part.file("tokenizer.json"), options.max_tokens), options.excerpts)
        self._network = Network(self.part.file("model.onnx"), threads)
        self._known: dict[tuple[bytes, int], NDArray[np.float32]] = {}

    def shares(self, pairs: Sequence[Pair]) -> list[NetworkVerdict]:
        views = [self._frame.views(pair) for pair in pairs]
        logits = iter(self._logits([view.row for seen in views for view in seen]))
        judged = [[NetworkVerdict(_shares(next(logits)), view.excerpt) for view in seen] for seen in views]
        return [max(excerpts, key=lambda judged: judged.shares.supported) for excerpts in judged]

    def _logits(self, rows: Sequence[Row]) -> list[NDArray[np.float32]]:
        """Equal rows are run once: pairs of passages often share an excerpt."""
        keys = [(np.array(row.ids, np.int32).tobytes(), row.second) for row in rows]
        new = {key: row for key, row in zip(keys, rows, strict=True) if key not in self._known}
        self._known.update(zip(new, self._network.logits(list(new.values())), strict=True))
        logits = [self._known[key] for key in keys]
        for key in list(islice(self._known, max(0, len(self._known) - _KNOWN_ROWS))):
            del self._known[key]
        return logits

    def deviation(self) -> float:
        """The largest difference of a share of `TRIALS` to what the folder's maker measured.

        Raises `ModelError` if the folder does not tell them.
        """
        path = self.part.file(KNOWN)
        try:
            known = np.array(json.loads(path.read_text("utf-8")), np.float64).reshape(len(TRIALS), len(OUTCOMES))
        except (ValueError, TypeError) as error:
            raise ModelError(f"{path} should hold {len(OUTCOMES)} shares for each trial: {error}") from error
        return float(np.abs(known - [judged.shares for judged in self.shares(TRIALS)]).max())


def _shares(logits: NDArray[np.float32]) -> Shares:
    raised = np.exp(logits - logits.max())
    return Shares(*(float(share) for share in raised / raised.sum()))
