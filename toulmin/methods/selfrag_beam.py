"""The beam: segments, scores and paths"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from toulmin.data import Citation, Claim, Dropped, Passage, Round, Style
from toulmin.errors import UsageError
from toulmin.methods.sentence_wording import wording_of
from toulmin.parsing.citing import Draft
from toulmin.prompts.reflection import UNSUPPORTED, Piece, Reflected
from toulmin.prompts.types import AnswerPrompt
from toulmin.text.language import sentences


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each critique; the generation probability's is 1 (section 3.3). Raises `UsageError`."""

    relevance: float
    support: float
    utility: float

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not 0 <= getattr(self, name) < float("inf"):
                raise UsageError(f"{name}: expected a weight of 0 or more, not {getattr(self, name)}.")

    def scores(self, reflection: Reflected, pieces: Sequence[Piece]) -> dict[str, float]:
        """The model's scores of a segment, by name, and their weighted sum `score`; a missing one counts 0.

        The support of several sentences is their mean; the released code takes the first one's.
        """
        relevance, utility = reflection.first("relevance"), reflection.first("utility")
        supports = [piece.support.worth for piece in pieces if piece.support is not None]
        values = {
            "likelihood": reflection.likelihood,
            "relevance": relevance.worth if relevance else None,
            "support": fmean(supports) if supports else None,
            "utility": utility.worth if utility else None,
        }
        known = {name: value for name, value in values.items() if value is not None}
        return known | {"score": sum(getattr(self, name, 1.0) * value for name, value in known.items())}


@dataclass(frozen=True, slots=True)
class Segment:
    """One continuation, `raw` as the model wrote it.

    `n` counts from 1, `passage` is None if it was written from memory, `refused` says why it cannot be taken.
    """

    n: int
    passage: Passage | None
    raw: str
    claims: tuple[Claim, ...]
    scores: Mapping[str, float]
    goes_on: bool
    invalid: int = 0
    refused: str = ""

    @property
    def is_fit(self) -> bool:
        return bool(self.claims) and not self.refused

    def as_round(self, answer: Path) -> Round:
        chosen = any(segment is self for segment in answer.segments)
        words = " ".join(claim.text for claim in self.claims)
        why = self.refused or "another one scored higher"
        read = (self.passage.id,) if self.passage else ()
        return Round(
            "claim",
            self.n,
            role="main",
            read=read,
            text=words or None,
            kept=read if chosen else (),
            dropped=() if chosen or not words else (Dropped(words, why),),
            scores=self.scores,
            chosen=chosen,
        )


@dataclass(frozen=True, slots=True)
class Path:
    """An answer as far as it is written; `is_over` if nothing is to follow."""

    segments: tuple[Segment, ...] = ()
    searches: bool = True
    is_over: bool = False

    @property
    def score(self) -> float:
        """The mean score of its segments, 0 without any.

        The paper leaves it open. The released code multiplies, so that a score below 0 reverses the order.
        """
        return fmean(segment.scores["score"] for segment in self.segments) if self.segments else 0.0

    @property
    def raw(self) -> str:
        """What the model wrote, reflection tokens included."""
        return "".join(segment.raw for segment in self.segments)

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(claim for segment in self.segments for claim in segment.claims)

    @property
    def invalid(self) -> int:
        """No labels were offered, so all marks that the model wrote are invalid."""
        return sum(segment.invalid for segment in self.segments)

    def taking(self, segment: Segment, searches: bool) -> Path:
        """`searches`: the next segment is written from passages."""
        return Path((*self.segments, segment), searches, is_over=not segment.goes_on)


def best(paths: Iterable[Path], width: int) -> tuple[Path, ...]:
    """The `width` best answers, the first of equals first; those that read the same are one."""
    ranked = sorted(paths, key=lambda path: -path.score)
    distinct: dict[tuple[tuple[str, ...], ...], Path] = {}
    for path in ranked:
        distinct.setdefault(tuple(wording_of(claim.text) for claim in path.claims), path)
    return tuple(distinct.values())[:width]


def new_draft(pieces: Sequence[Piece], passage: Passage | None, style: Style, before: Sequence[Claim]) -> Draft:
    """The claims of a segment that are not in `before`; those written from the passage cite it.

    A short answer is only the first.
    """
    known = {wording_of(claim.text) for claim in before}
    cited = (Citation(passage.id),) if passage else ()
    claims, invalid = [], 0
    for piece in pieces:
        read = AnswerPrompt("", (), style).read(piece.words)
        invalid += read.invalid
        for claim in read.claims:
            if wording_of(claim.text) not in known:
                known.add(wording_of(claim.text))
                claims.append(replace(claim, citations=cited if piece.grounded else ()))
    return Draft(tuple(claims[:1] if style == "short" else claims), invalid)


def drop_cut_sentence(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces of a cut-off reply without its unfinished sentence, unless that is the only one."""
    if not pieces or pieces[-1].support is not None:
        return tuple(pieces)
    *before, last = pieces
    spans = list(sentences(last.words))
    kept = last.words[: spans[-1].start] if spans else ""
    if kept.strip():
        return (*before, replace(last, words=kept))
    return tuple(before) or (last,)


def is_denied(pieces: Sequence[Piece]) -> bool:
    return any(piece.support is not None and piece.support.token == UNSUPPORTED for piece in pieces)
