"""Sets of passages that hold a chosen part of the answers, for CaLM's sensitivity analysis (section 3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toulmin.data import Passage
from toulmin.datasets.item import Aliases
from toulmin.errors import UsageError
from toulmin.evaluation.oracle import answers_in

LEVELS = ("low", "medium", "high")
TARGETS = (0.27, 0.56, 0.78)  # the paper's average recall of answers, by level
SIZE = 5


def passages_recall(passages: Sequence[Passage], answers: Sequence[Aliases]) -> float:
    """The part of the answers that stand in one of the passages' texts, 0..1."""
    return len(frozenset().union(*(answers_in(passage.text, answers) for passage in passages))) / len(answers)


@dataclass(frozen=True, slots=True)
class QuestionPool:
    """A question with its gold answers, each by its aliases, and passages ranked for it, best first."""

    question: str
    answers: tuple[Aliases, ...]
    passages: tuple[Passage, ...]

    def __post_init__(self) -> None:
        if not self.answers or not all(self.answers):
            raise UsageError(f"{self.question!r} needs at least one gold answer, and each an alias.")


@dataclass(frozen=True, slots=True)
class Item:
    """A question with its gold answers, and one set of passages for each level of recall."""

    question: str
    answers: tuple[Aliases, ...]
    low: tuple[Passage, ...]
    medium: tuple[Passage, ...]
    high: tuple[Passage, ...]

    @property
    def levels(self) -> tuple[tuple[Passage, ...], ...]:
        """The sets in the order of `LEVELS`."""
        return self.low, self.medium, self.high


def items_of(
    pools: Sequence[QuestionPool], targets: tuple[float, float, float] = TARGETS, size: int = SIZE
) -> tuple[Item, ...]:
    """Items whose sets of `size` passages hold, on average over the items, those parts of the answers.

    One question has few answers, so its own recall is coarse: each takes the nearest that it can have to the target
    plus what the questions before it fell short of. No question's recall falls from a level to the next. Questions
    that cannot fill a set are left out. How near the averages come is told in the report of the analysis.
    """
    if not 0 <= targets[0] <= targets[1] <= targets[2] <= 1:
        raise UsageError(f"The targets are parts of the answers that do not fall, such as {TARGETS}, not {targets}.")
    owed = [0.0, 0.0, 0.0]
    items = []
    for pool in pools:
        choices = tuple(_choices(pool, size))
        if not choices:
            continue
        least, chosen = 0.0, []
        for level, target in enumerate(targets):
            wanted = target + owed[level]
            allowed = [choice for choice in choices if choice.recall >= least]
            best = min(allowed, key=lambda choice: abs(choice.recall - wanted))
            owed[level], least = wanted - best.recall, best.recall
            chosen.append(best.passages)
        items.append(Item(pool.question, pool.answers, *chosen))
    return tuple(items)


@dataclass(frozen=True, slots=True)
class _Choice:
    recall: float
    passages: tuple[Passage, ...]


def _choices(pool: QuestionPool, size: int) -> Iterator[_Choice]:
    """The sets that hold none of the answers, one of them, and so on, as far as there are such sets."""
    answers_of = [answers_in(passage.text, pool.answers) for passage in pool.passages]
    for most in range(len(pool.answers) + 1):
        places = _holding(answers_of, most, size)
        if len(places) == size:
            passages = tuple(pool.passages[place] for place in places)
            yield _Choice(passages_recall(passages, pool.answers), passages)


def _holding(answers_of: Sequence[frozenset[int]], most: int, size: int) -> list[int]:
    """The best ranked places that together tell at most that many answers: first those that tell another one."""
    held: frozenset[int] = frozenset()
    taken: list[int] = []
    for place, answers in enumerate(answers_of):
        if len(taken) < size and answers - held and len(held | answers) <= most:
            taken.append(place)
            held |= answers
    others = [place for place, answers in enumerate(answers_of) if place not in taken and answers <= held]
    return sorted([*taken, *others[: size - len(taken)]])
