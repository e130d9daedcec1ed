"""How much better a model answers when its passages hold more of the answers (CaLM, section 3.3, Figure 2).

Smaller models of a family are the more sensitive ones, the paper finds, which is why one of them can tell whether the
passages that a larger one cites are the right ones. Here a list of models, grouped in families, is put to the test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from simulations.relevance import LEVELS, Item, passages_recall
from toulmin.data import Answer, Passage, Status, Style
from toulmin.driver.drive import Driver, Job, Outcome
from toulmin.driver.kit import Kit, LanguageModel
from toulmin.errors import UsageError
from toulmin.evaluation.oracle import answers_in
from toulmin.prompts.types import AnswerPrompt, Example, Preset
from toulmin.steps import Program, exchange


@dataclass(frozen=True, slots=True)
class Member:
    """A model of a family; `size` in whatever unit the family shares, such as billions of parameters."""

    family: str
    size: float
    model: LanguageModel


@dataclass(frozen=True, slots=True)
class Curve:
    """One quantity, in percent, at the three levels of recall."""

    low: float
    medium: float
    high: float

    @property
    def relative_improvement(self) -> float | None:
        """The gain from low to high as a part of low (Figure 2b; the paper prints no formula). None where low is 0."""
        return (self.high - self.low) / self.low if self.low else None

    @property
    def incremental_gain(self) -> float | None:
        """(P_high - P_med) / (P_med - P_low) (Figure 2c). None where medium equals low."""
        return (self.high - self.medium) / (self.medium - self.low) if self.medium != self.low else None


@dataclass(frozen=True, slots=True)
class Row:
    """A model's accuracy at each level: the mean over all items of the part of the gold answers that it gives.

    `failed` counts the requests that got no reply; they score 0 like an abstention.
    """

    family: str
    size: float
    model: str
    accuracy: Curve
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """The analysis: the recall of the passages as it came out, the number of items, and a row for each model."""

    recall: Curve
    items: int
    rows: tuple[Row, ...]

    def largest(self, family: str) -> Row:
        """The row of the family's largest model, beside which the others are read (the first of equal ones)."""
        return max((row for row in self.rows if row.family == family), key=lambda row: row.size)

    def text(self) -> str:
        """The report as a table: each model's accuracies and its two sensitivities, beside its family's largest's."""
        cells = [_HEAD, *(_line(row, self.largest(row.family)) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [f"{self.items} questions; recall of the passages {_percents(self.recall)}; accuracy in %"]
        for row in cells:
            names = [cell.ljust(width) for cell, width in zip(row[:2], widths, strict=False)]
            figures = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
            lines.append("  ".join([*names, *figures]).rstrip())
        return "\n".join(lines)


_HEAD = ("family", "model", "size", *LEVELS, "improvement", "largest's", "gain", "largest's", "failed")


def _line(row: Row, largest: Row) -> tuple[str, ...]:
    accuracy, best = row.accuracy, largest.accuracy
    levels = (f"{value:.1f}" for value in (accuracy.low, accuracy.medium, accuracy.high))
    pairs = (
        accuracy.relative_improvement,
        best.relative_improvement,
        accuracy.incremental_gain,
        best.incremental_gain,
    )
    ratios = ("-" if ratio is None else f"{ratio:.2f}" for ratio in pairs)
    return row.family, row.model, f"{row.size:g}", *levels, *ratios, str(row.failed)


def _percents(curve: Curve) -> str:
    return ", ".join(f"{value:.1f} %" for value in (curve.low, curve.medium, curve.high))


# ---------------------------------------------------------------- the runs


async def sensitivity(
    members: Sequence[Member],
    items: Sequence[Item],
    *,
    style: Style = "long",
    prompt: Preset = "cited",
    examples: tuple[Example, ...] = (),
) -> Report:
    """Every model's answers to every item from each of its sets, with the generation prompt that CaLM uses.

    3 x items requests a model. Raises `UsageError` without models or items.
    """
    if not members or not items:
        raise UsageError(f"A sensitivity analysis needs models and items, not {len(members)} and {len(items)}.")
    rows = []
    for member in members:
        driver = Driver(Kit(_Absent(), _Absent(), {"main": member.model}))
        asked = partial(_answer, style=style, prompt=prompt, examples=examples)
        outcomes = [outcome async for outcome in driver.in_order(_jobs(items, asked, style))]
        rows.append(_row(member, items, outcomes))
    recalls = [passages_recall(passages, item.answers) for item in items for passages in item.levels]
    return Report(_means(recalls), len(items), tuple(rows))


def _jobs(items: Sequence[Item], asked: Any, style: Style) -> Iterator[Job]:
    """One job an item and level, the levels of an item together."""
    for item in items:
        for passages in item.levels:
            yield Job(item.question, "sensitivity", style, partial(asked, item.question, passages))


def _answer(
    question: str, passages: tuple[Passage, ...], style: Style, prompt: Preset, examples: tuple[Example, ...]
) -> Program[Answer]:
    done = yield from exchange(AnswerPrompt(question, passages, style, examples, prompt))
    claims = done.value.claims
    status: Status = "answered" if claims else "abstained"
    return Answer(question, style, "sensitivity", status, claims, passages, invalid_citations=done.value.invalid)


def _row(member: Member, items: Sequence[Item], outcomes: Sequence[Outcome]) -> Row:
    lines = [" ".join(claim.text for claim in outcome.answer.claims) for outcome in outcomes]
    golds = [item.answers for item in items for _ in LEVELS]
    scores = [len(answers_in(text, gold)) / len(gold) for text, gold in zip(lines, golds, strict=True)]
    failed = sum(outcome.error is not None for outcome in outcomes)
    return Row(member.family, member.size, member.model.name, _means(scores), failed)


def _means(scores: Sequence[float]) -> Curve:
    """The means of scores that come in threes, one of each level, in percent."""
    count = len(scores) // len(LEVELS)
    return Curve(*(100 * sum(scores[level :: len(LEVELS)]) / count for level in range(len(LEVELS))))


class _Absent:
    """In place of the parts of a kit that this analysis never asks."""

    name = "absent"

    def search(self, queries: Sequence[str], k: int) -> NoReturn:
        raise UsageError("The sensitivity analysis searches for nothing.")

    def judge(self, pairs: Sequence[Any]) -> NoReturn:
        raise UsageError("The sensitivity analysis judges nothing.")
