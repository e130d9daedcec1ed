"""Pairwise preference: a person sees two answers without knowing whose they are, and says which is the better one.

As the plan paper's human study asked it (metrics, section 4): which reads better (fluency) and which tells more
(informativeness), the first, neither, or the second. The order of the two is drawn anew for every question.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from toulmin.data import Answer
from toulmin.errors import SourceError, UsageError

Aspect = Literal["fluency", "informativeness"]
Choice = Literal["first", "neither", "second"]
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)


@dataclass(frozen=True, slots=True)
class Shown:
    """Two answers to one question as a person sees them; `swapped` says that the second run's stands left."""

    id: str
    question: str
    left: Answer
    right: Answer
    swapped: bool


@dataclass(frozen=True, slots=True)
class Preference:
    """What a person said of one pair, in terms of the runs: "first" is the first run, wherever its answer stood."""

    id: str
    fluency: Choice
    informativeness: Choice


def pairs(first: Sequence[Answer], second: Sequence[Answer], n: int | None = None, seed: int = 0) -> tuple[Shown, ...]:
    """The questions that both runs answered, in an order drawn by the seed, at most `n`.

    Raises `UsageError` where there is none: there would be nothing to choose from.
    """
    others = {answer.id: answer for answer in second if answer.claims}
    both = [answer for answer in first if answer.claims and answer.id in others]
    if not both:
        raise UsageError("The two runs have no question that both answered; compare runs over the same dataset.")
    drawn = random.Random(seed)
    drawn.shuffle(both)
    shown = []
    for answer in both[:n]:
        other, swapped = others[answer.id], drawn.random() < 0.5
        left, right = (other, answer) if swapped else (answer, other)
        shown.append(Shown(answer.id, answer.question, left, right, swapped))
    return tuple(shown)


def preferred(shown: Shown, answers: Mapping[Aspect, Literal["left", "neither", "right"]]) -> Preference:
    """What was said of left and right, as a preference between the runs."""
    sides: dict[str, Choice] = {"left": "first", "neither": "neither", "right": "second"}
    if shown.swapped:
        sides |= {"left": "second", "right": "first"}
    return Preference(shown.id, sides[answers["fluency"]], sides[answers["informativeness"]])


def shares(preferences: Iterable[Preference]) -> dict[Aspect, dict[Choice, float]]:
    """For each aspect the share, 0 to 100, of questions where a person preferred which; zeros without any."""
    told = list(preferences)
    counted = {aspect: Counter(getattr(one, aspect) for one in told) for aspect in ASPECTS}
    return {
        aspect: {choice: 100 * counts[choice] / len(told) if told else 0.0 for choice in get_args(Choice)}
        for aspect, counts in counted.items()
    }


def kept(path: Path) -> dict[str, Preference]:
    """The preferences in a file by question; none where there is no file."""
    if not path.exists():
        return {}
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return {row["id"]: _checked(row) for row in rows}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SourceError(
            f"{path} should hold preferences, one JSON object a line, but cannot be read: {error}."
        ) from error


def _checked(row: Mapping[str, Any]) -> Preference:
    one = Preference(str(row["id"]), row["fluency"], row["informativeness"])
    if not {one.fluency, one.informativeness} <= set(get_args(Choice)):
        raise ValueError(f"a preference is one of {', '.join(get_args(Choice))}")
    return one


def lines(preferences: Iterable[Preference]) -> bytes:
    """The preferences as a file holds them."""
    rows = ({"id": p.id, "fluency": p.fluency, "informativeness": p.informativeness} for p in preferences)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "replace")
