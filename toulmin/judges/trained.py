"""The network of the trained judge, and the excerpt of the premises that it reads with a claim.

* An excerpt holds whole sentences under the titles of their passages: the one that covers the claim best, then those
  that add most, preferably neighbours, which may refer to each other. Longer sentences are cut between words.
* Later excerpts have other sentences; the one with most support decides.
* Training cuts alike; a change needs new weights (`RULE`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from toulmin.data import Passage
from toulmin.errors import ModelError
from toulmin.runtime import shipped
from toulmin.runtime.network import Network, Row, Tokens
from toulmin.runtime.windows import Part, Window, heading, hypothesis, pieces, with_short_titles
from toulmin.steps import Pair, chance
from toulmin.text.language import STOPWORDS, rarity, terms
from toulmin.text.wording import wording

# ---------------------------------------------------------------- the sentences that are read

Count = Callable[[str], int]
_COVERED_AGAIN = 0.15  # weight of a term that a taken sentence already has
_BESIDE = 0.25  # bonus for being next to a taken sentence, as a share of the claim's weight
_TELLS_LITTLE = 0.5  # the least weight of a term, and that of function words if a claim has nothing else
_SHARED = 2  # words that two sentences have in common at least if one says something of the other
_QUOTED = 0.2  # least share of the claim in a quoted sentence
_LEAST_SHARE = 0.25  # least share of the claim in an excerpt after the first


class Excerpt(NamedTuple):
    """The passages, long titles cut, and the parts of them that are read."""

    passages: Sequence[Passage]
    window: Window

    @property
    def text(self) -> str:
        below: dict[int, list[str]] = {}
        for part in self.window.parts:
            below.setdefault(part.place, []).append(self._text_of(part))
        return "\n".join(heading(self.passages[place]) + "\n".join(texts) for place, texts in below.items())

    @property
    def sentences(self) -> list[Part]:
        return self.window.sentences(self.passages)

    def nearby(self, claim: str, most: int) -> dict[int, list[Part]]:
        """By passage index, the sentences with most of the claim, at least a fifth, best first."""
        near: dict[int, list[Part]] = {}
        for share, part in sorted(self._shares(claim), key=lambda pair: -pair[0]):
            if share >= _QUOTED and len(near.setdefault(part.place, [])) < most:
                near[part.place].append(part)
        return near

    def nearest(self, claim: str, least: float) -> str | None:
        """The sentence with most of the claim, no heading; None if it has less than that share by weight, or than two
        words.
        """
        stating = (pair for pair in self._shares(claim) if not self._text_of(pair[1]).istitle())
        share, part = max(stating, key=lambda pair: pair[0], default=(0.0, None))
        sentence = "" if part is None or share < least else self._text_of(part)
        return sentence if len(_weights(claim).keys() & set(terms(sentence))) >= _SHARED else None

    def _text_of(self, part: Part) -> str:
        return self.passages[part.place].text[part.start : part.end]

    def _shares(self, claim: str) -> Iterator[tuple[float, Part]]:
        weights = _weights(claim)
        whole = sum(weights.values()) or 1.0
        for part in self.sentences:
            shared_terms = weights.keys() & set(terms(self._text_of(part)))
            yield sum(weights[term] for term in shared_terms) / whole, part


class _Unit:
    __slots__ = ("at", "part", "size", "taken", "terms")

    def __init__(self, at: int, part: Part, claim_terms: frozenset[str], size: int) -> None:
        self.at, self.part, self.terms, self.size, self.taken = at, part, claim_terms, size, False


def excerpts(claim: str, premises: Sequence[Passage], room: int, count: Count, most: int = 1) -> list[Excerpt]:
    """One to `most` excerpts of at most `room` tokens; premises that fit are read whole."""
    passages = with_short_titles(premises, max(room, 1), count)
    titles = [count(heading(passage)) + 1 if passage.title else 0 for passage in passages]
    weights = _weights(claim)
    units = _units(passages, weights, titles, room, count)
    if sum(unit.size for unit in units) + sum(titles) <= room:
        return [Excerpt(passages, Window(tuple(Part(n, 0, len(p.text)) for n, p in enumerate(passages) if p.text)))]
    selection: list[Excerpt] = []
    while len(selection) < most:
        taken = _choose([unit for unit in units if not unit.taken], weights, titles, room)
        covered = frozenset().union(*(unit.terms for unit in taken))
        if selection and sum(weights[term] for term in covered) < _LEAST_SHARE * sum(weights.values()):
            break
        selection.append(Excerpt(passages, _join(taken)))
    return selection


def shared_words(pair: Pair) -> float:
    """The share of a claim's words, by weight, that its premises and their titles have."""
    weights = _weights(pair.claim)
    known = {term for p in pair.premises for text in (p.text, p.title) for term in terms(text)}
    return sum(weights[term] for term in weights.keys() & known) / (sum(weights.values()) or 1.0)


def _weights(claim: str) -> dict[str, float]:
    every = dict.fromkeys(terms(claim))
    telling = {term: max(rarity(term), _TELLS_LITTLE) for term in every if term not in STOPWORDS}
    return telling or dict.fromkeys(every, _TELLS_LITTLE)


def _units(
    passages: Sequence[Passage], weights: Mapping[str, float], titles: Sequence[int], room: int, count: Count
) -> list[_Unit]:
    units: list[_Unit] = []
    for place, passage in enumerate(passages):
        for each in wording(passage.text).sentences:
            for span, size in pieces(passage.text, each.span, room - titles[place], count):
                piece = each.term_set if span == each.span else frozenset(terms(passage.text[span.start : span.end]))
                units.append(_Unit(len(units), Part(place, *span), piece & weights.keys(), size + 1))
    return units


def _choose(units: Sequence[_Unit], weights: Mapping[str, float], titles: Sequence[int], room: int) -> list[_Unit]:
    total = sum(weights.values()) or 1.0
    covered: set[str] = set()
    places: set[int] = set()
    beside: set[int] = set()
    taken: list[_Unit] = []

    def cost(unit: _Unit) -> int:
        return unit.size + (0 if unit.part.place in places else titles[unit.part.place])

    def worth(unit: _Unit) -> tuple[float, int]:
        share = sum(weights[term] * (_COVERED_AGAIN if term in covered else 1.0) for term in unit.terms) / total
        return share + (_BESIDE * (unit.at in beside)), -unit.at

    waiting = list(units)
    while waiting := [unit for unit in waiting if not unit.taken and cost(unit) <= room]:
        best = max(waiting, key=worth)
        room -= cost(best)
        best.taken = True
        taken.append(best)
        covered |= best.terms
        places.add(best.part.place)
        beside |= {best.at - 1, best.at + 1}
    return sorted(taken, key=lambda unit: unit.at)


def _join(units: Sequence[_Unit]) -> Window:
    parts: list[Part] = []
    for before, unit in zip([None, *units], units, strict=False):
        if before is not None and unit.at == before.at + 1 and unit.part.place == before.part.place:
            parts[-1] = Part(unit.part.place, parts[-1].start, unit.part.end)
        else:
            parts.append(unit.part)
    return Window(tuple(parts))


# ---------------------------------------------------------------- the network


KIND = "judge"
OUTCOMES = ("supported", "unsupported", "contradicted")
FRAMED = "framed"  # the output that tells whether the evidence does not state the claim as a fact (log odds)
_BLOCK = "block"  # the output that tells whether a text answers a question: yes, partly, no
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


class Frame(NamedTuple):
    """Makes rows of pairs, in training and judging."""

    tokens: Tokens
    most: int = 1

    def views(self, pair: Pair) -> list[View]:
        """One for each excerpt, at least one; empty if the premises are."""
        claim = hypothesis(pair)
        choices = excerpts(claim, pair.premises, self.tokens.room(claim), self.tokens.count, self.most)
        return [View(self.tokens.row(claim, excerpt.text), excerpt) for excerpt in choices]


class NetworkVerdict(NamedTuple):
    """`framed` is the chance that the excerpt only plans, denies or reports what the claim states, if known."""

    shares: Shares
    excerpt: Excerpt
    framed: float | None = None


class Model(Protocol):
    """`key` covers all that the shares depend on."""

    @property
    def name(self) -> str: ...

    @property
    def key(self) -> str: ...

    def shares(self, pairs: Sequence[Pair]) -> list[NetworkVerdict]: ...


class _Files(NamedTuple):
    part: shipped.Part
    frame: Frame
    open: Callable[[], Network]


def _files_of(folder: str | os.PathLike[str] | None, threads: int | None) -> _Files:
    part = shipped.part(KIND, folder)
    options = shipped.settings(part)
    frame = Frame(Tokens(part.file("tokenizer.json"), options.max_tokens), options.excerpts)
    return _Files(part, frame, cache(lambda: Network(part.file("model.onnx"), threads)))


@lru_cache(maxsize=1)
def _installed_files(_place: Path, _digest: str, threads: int | None) -> _Files:
    """Shared by all judges of a process: the network takes longer to check and load than to read a claim."""
    return _files_of(None, threads)


class JudgeNetwork:
    """The network in a folder, or the installed one. Checks the hash of what it loads; raises `ModelError`."""

    def __init__(self, folder: str | os.PathLike[str] | None = None, threads: int | None = None) -> None:
        place = shipped.installed().get(KIND) if folder is None else None
        files = _installed_files(place, shipped.DIGESTS[KIND], threads) if place else _files_of(folder, threads)
        self.part, self._frame, self._open = files
        self.name = self.part.name
        self.key = json.dumps([self.name, self.part.identity, shipped.RULE])
        self._known: dict[tuple[bytes, int], NDArray[np.float32]] = {}

    @cached_property
    def _network(self) -> Network:
        """Loaded for the first pair that words do not decide: an answer in its sources' words has none."""
        return self._open()

    def load(self) -> None:
        """At once, rather than for the first pair."""
        _ = self._network

    def shares(self, pairs: Sequence[Pair]) -> list[NetworkVerdict]:
        views = [self._frame.views(pair) for pair in pairs]
        logits = iter(self._logits([view.row for seen in views for view in seen]))
        judged = [[_verdict(next(logits), view.excerpt) for view in seen] for seen in views]
        return [max(excerpts, key=lambda judged: judged.shares.supported) for excerpts in judged]

    def _logits(self, rows: Sequence[Row]) -> list[NDArray[np.float32]]:
        """The outcomes', then that of `FRAMED`. Runs equal rows once: pairs of passages often share an excerpt."""
        keys = [(np.array(row.ids, np.int32).tobytes(), row.second) for row in rows]
        new = {key: row for key, row in zip(keys, rows, strict=True) if key not in self._known}
        if new:
            framed = self._network.place(FRAMED)
            for key, read in zip(new, self._network.outputs([*new.values()]), strict=True):
                self._known[key] = np.append(read[0], np.nan if framed is None else read[framed])
        logits = [self._known[key] for key in keys]
        for key in list(islice(self._known, max(0, len(self._known) - _KNOWN_ROWS))):
            del self._known[key]
        return logits

    def answer_odds(self, question: str, texts: Sequence[Passage]) -> list[float]:
        """The log odds that each text, under its title, answers the question; empty by a network without them."""
        rows = [self._frame.tokens.row(question, heading(text) + text.text) for text in texts]
        if (block := self._network.place(_BLOCK)) is None:
            return []
        odds = (outputs[block] for outputs in self._network.outputs(rows))
        return [float(yes - np.logaddexp(partly, no)) for yes, partly, no in odds]

    def deviation(self) -> float:
        """The largest difference of the shares of `TRIALS` to those in the folder; raises `ModelError` without them."""
        path = self.part.file(KNOWN)
        try:
            known = np.array(json.loads(path.read_text("utf-8")), np.float64).reshape(len(TRIALS), len(OUTCOMES))
        except (ValueError, TypeError) as error:
            raise ModelError(f"{path} should hold {len(OUTCOMES)} shares for each trial: {error}") from error
        return float(np.abs(known - [judged.shares for judged in self.shares(TRIALS)]).max())


def _verdict(logits: NDArray[np.float32], excerpt: Excerpt) -> NetworkVerdict:
    raised = np.exp(logits[:-1] - logits[:-1].max())
    shares = Shares(*(float(share) for share in raised / raised.sum()))
    return NetworkVerdict(shares, excerpt, None if np.isnan(logits[-1]) else chance(float(logits[-1])))
