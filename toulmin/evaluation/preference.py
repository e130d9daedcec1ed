"""Pairwise preference: each person chooses the better of two anonymous answers.

The questions are those of plan-based retrieval's human study (Godbole et al. 2024): fluency and informativeness.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from toulmin.data import Answer, render
from toulmin.errors import SourceError, UsageError

Aspect = Literal["fluency", "informativeness"]
Choice = Literal["first", "neither", "second"]
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """If `swapped`, the second run's answer is on the left."""

    id: str
    question: str
    left: Answer
    right: Answer
    swapped: bool


@dataclass(frozen=True, slots=True)
class Preference:
    """A person's choices for one pair; "first" is the first run, on whichever side."""

    id: str
    fluency: Choice
    informativeness: Choice


def pairs(
    first: Sequence[Answer], second: Sequence[Answer], n: int | None = None, seed: int = 0, annotator: str = ""
) -> tuple[AnswerPair, ...]:
    """Questions that both runs answered, shuffled by the seed, at most `n`; each run is on the left in half of them.

    Raises `UsageError` without any.
    """
    others = {answer.id: answer for answer in second if answer.claims}
    both = [answer for answer in first if answer.claims and answer.id in others]
    if not both:
        raise UsageError("The two runs have no question that both answered; compare runs over the same dataset.")
    random.Random(seed).shuffle(both)
    sides = [place % 2 == 1 for place in range(len(both[:n]))]
    random.Random(f"{seed} {annotator}").shuffle(sides)
    shown = []
    for answer, swapped in zip(both, sides, strict=False):
        left, right = (others[answer.id], answer) if swapped else (answer, others[answer.id])
        shown.append(AnswerPair(answer.id, answer.question, left, right, swapped))
    return tuple(shown)


def blind_text(answer: Answer) -> str:
    """The words alone: marks, headings and layout could reveal the writer."""
    claims = tuple(replace(claim, section=None) for claim in answer.claims)
    return " ".join(render(claims, answer.style, numbers={}).text.split())


def preference_of(shown: AnswerPair, answers: Mapping[Aspect, Literal["left", "neither", "right"]]) -> Preference:
    sides: dict[str, Choice] = {"left": "first", "neither": "neither", "right": "second"}
    if shown.swapped:
        sides |= {"left": "second", "right": "first"}
    return Preference(shown.id, sides[answers["fluency"]], sides[answers["informativeness"]])


def shares(preferences: Iterable[Preference]) -> dict[Aspect, dict[Choice, float]]:
    """The share, 0 to 100, of each choice by aspect; zeros without preferences."""
    rows = list(preferences)
    counted = {aspect: Counter(getattr(row, aspect) for row in rows) for aspect in ASPECTS}
    return {
        aspect: {choice: 100 * counts[choice] / len(rows) if rows else 0.0 for choice in get_args(Choice)}
        for aspect, counts in counted.items()
    }


def join_annotators(choices: Sequence[Mapping[str, Preference]]) -> list[Preference]:
    """What most annotators of a question chose; "neither" on a tie."""
    rows: dict[str, list[Preference]] = {}
    for preference in (preference for each in choices for preference in each.values()):
        rows.setdefault(preference.id, []).append(preference)
    return [Preference(id, *(_majority([getattr(p, a) for p in row]) for a in ASPECTS)) for id, row in rows.items()]


def _majority(choices: Sequence[Choice]) -> Choice:
    (best, count), *others = Counter(choices).most_common()
    return "neither" if others and others[0][1] == count else best


def load_preferences(path: Path) -> dict[str, Preference]:
    """By question id; empty without a file. Raises `SourceError` for a damaged one."""
    if not path.exists():
        return {}
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return {row["id"]: _parse_preference(row) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SourceError(
            f"{path} should hold preferences, one JSON object a line, but cannot be read: {error}."
        ) from error


def _parse_preference(row: Mapping[str, Any]) -> Preference:
    preference = Preference(str(row["id"]), row["fluency"], row["informativeness"])
    if not {preference.fluency, preference.informativeness} <= set(get_args(Choice)):
        raise ValueError(f"a preference is one of {', '.join(get_args(Choice))}")
    return preference


def lines(preferences: Iterable[Preference]) -> bytes:
    rows = (json.dumps(asdict(preference), ensure_ascii=False) + "\n" for preference in preferences)
    return "".join(rows).encode("utf-8", "replace")
