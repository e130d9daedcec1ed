"""Answers the questions of a dataset into a run folder and saves each answer at once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import asdict, dataclass, fields, replace
from functools import reduce
from itertools import takewhile
from operator import add
from pathlib import Path
from time import monotonic
from typing import Any, Generic, TypeVar

from toulmin.data import Answer
from toulmin.datasets.item import Item
from toulmin.driver.drive import Driver, Job, Outcome
from toulmin.driver.journal import to_json
from toulmin.errors import BudgetEnded, ToulminError, UsageError
from toulmin.evaluation.run_folder import JOURNAL, begin, make_folder, write_answers
from toulmin.evaluation.run_journal import Entry, Journal, entries
from toulmin.formats import answer_json


@dataclass(frozen=True, slots=True)
class Limits:
    """When a run stops early: at a total of US dollars, tokens or model calls, or `failures` in a row.

    Questions in flight are still answered; earlier costs of a resumed run count. Raises `UsageError` for 0 or less.
    """

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None
    failures: int = 20

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and not value > 0:
                raise UsageError(f"A run's limit of {name} must be above 0, not {value}; leave it out for no limit.")


@dataclass(frozen=True, slots=True)
class Cost:
    """`usd` is None if the price of an answer is unknown."""

    calls: int = 0
    tokens: int = 0
    usd: float | None = 0.0

    def plus(self, answer: Answer) -> Cost:
        usage = answer.usage
        calls = sum(usage.calls.values())
        taken = sum(tokens.input + tokens.output for tokens in usage.tokens.values())
        # A call without a reply costs nothing: a failure must not make the cost of the run unknown.
        is_free = not calls or (answer.status == "failed" and not taken and usage.usd is None)
        return self + Cost(calls, taken, 0.0 if is_free else usage.usd)

    def __add__(self, other: Cost) -> Cost:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Cost(self.calls + other.calls, self.tokens + other.tokens, usd)


@dataclass(frozen=True, slots=True)
class Progress:
    """`asked` counts questions since the run was started or resumed."""

    total: int
    done: int = 0
    asked: int = 0
    abstained: int = 0
    failed: int = 0
    spent: Cost = Cost()
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        return self.asked / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """None before the first answer."""
        return (self.total - self.done) / self.rate if self.rate else None

    def plus(self, answer: Answer, *, fresh: bool) -> Progress:
        return replace(
            self,
            done=self.done + 1,
            asked=self.asked + fresh,
            abstained=self.abstained + (answer.status == "abstained"),
            failed=self.failed + (answer.status == "failed"),
            spent=self.spent.plus(answer),
        )


@dataclass(frozen=True, slots=True)
class RunReport:
    """`error` is why the run stopped early, `notes` name unreadable files, `seeds` are the reports of single runs."""

    folder: Path
    progress: Progress
    error: ToulminError | None = None
    seeds: tuple[RunReport, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def stopped(self) -> str | None:
        return None if self.error is None else str(self.error)


def merge_reports(folder: Path, reports: Sequence[RunReport]) -> RunReport:
    counts = {each.name: [getattr(report.progress, each.name) for report in reports] for each in fields(Progress)}
    whole = Progress(**{name: reduce(add, values) for name, values in counts.items()})
    notes = tuple(dict.fromkeys(note for report in reports for note in report.notes))
    return RunReport(folder, whole, reports[-1].error, tuple(reports), notes)


Watch = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """`document` is the answer as JSON, `transcript` its exchanges as JSON."""

    answer: Answer
    document: bytes
    transcript: bytes
    error: ToulminError | None = None


def outcome_record(outcome: Outcome) -> QuestionOutcome:
    return QuestionOutcome(
        outcome.answer, answer_json.dumps(outcome.answer), to_json(outcome.transcript), outcome.error
    )


# Answers items in the order in which they end; begins no more once the function returns True.
Answering = Callable[[Sequence[Item], Callable[[], bool]], AsyncGenerator[QuestionOutcome, None]]


def driver_answering(driver: Driver, job: Callable[[Item], Job]) -> Answering:

    async def answers(items: Sequence[Item], is_over: Callable[[], bool]) -> AsyncGenerator[QuestionOutcome, None]:
        async with aclosing(driver.answers(map(job, takewhile(lambda _: not is_over(), items)))) as outcomes:
            async for outcome in outcomes:
                yield outcome_record(outcome)

    return answers


async def answer_into(
    folder: Path,
    about: Mapping[str, Any],
    items: Sequence[Item],
    answering: Answering,
    limits: Limits = Limits(),
    watch: Watch | None = None,
) -> RunReport:
    """Answers every item that is not in the folder's journal, and failed ones again.

    However it ends, answers are kept and `answers.jsonl` is written. `about` goes to `run.json`. Raises `UsageError`
    for a question that cannot be asked, and as `run_folder.check` does.
    """
    make_folder(folder)
    with closing(Journal(folder / JOURNAL)) as journal:
        begin(folder, about, items)
        running = Running(journal, items, limits, watch)
        try:
            async with aclosing(answering(running.remaining_items(), running.is_over)) as answers:
                async for record in answers:
                    running.keep(record)
        finally:
            write_answers(folder)
        return RunReport(folder, running.progress, running.final_error())


T = TypeVar("T", Item, Job)


class Running(Generic[T]):
    def __init__(self, journal: Journal, items: Sequence[T], limits: Limits, watch: Watch | None) -> None:
        self._journal, self._limits, self._watch = journal, limits, watch
        self._items: Sequence[T] = items
        self._places = {item.id: place for place, item in enumerate(items)}
        self._started = monotonic()
        self._in_a_row = 0
        self._failure: ToulminError | None = None  # the latest
        self.error: ToulminError | None = None  # why the run is over: a limit, or failures in a row
        self._answered = set[str]()
        self.progress = Progress(len(items))
        for entry in entries(journal.path):
            if not entry.failed and entry.id in self._places:
                self._answered.add(entry.id)
                self.progress = self.progress.plus(answer_json.parse(entry.answer), fresh=False)
        self._show()

    def remaining_items(self) -> list[T]:
        return [item for item in self._items if item.id not in self._answered]

    def is_over(self) -> bool:
        if self.error is None:
            self._check_limits()
        return self.error is not None

    def keep(self, record: QuestionOutcome) -> None:
        if isinstance(record.error, UsageError):
            raise record.error
        answer = record.answer
        failure = None if isinstance(record.error, BudgetEnded) else record.error
        entry = Entry(answer.id, self._places[answer.id], failure is not None, record.document)
        self._journal.keep(entry, record.transcript)
        self.progress = self.progress.plus(answer, fresh=True)
        self._in_a_row = self._in_a_row + 1 if failure else 0
        self._failure = failure or self._failure
        if failure and self._in_a_row >= self._limits.failures and self.error is None:
            self.error = _stop_error(failure, f"The run stopped after {self._in_a_row} failures in a row")
        self._show()

    def final_error(self) -> ToulminError | None:
        now = self.progress
        if isinstance(self.error, BudgetEnded):
            if now.done == now.total:  # only the last questions were in flight when the limit was reached
                return None
            return BudgetEnded(
                f"The run stopped: {self.error}, and {now.total - now.done} of {now.total} questions are left. Raise"
                " the limit and run again to continue."
            )
        if self.error is None and self._failure is not None and self._in_a_row == now.asked:
            return _stop_error(self._failure, "Every question that was asked failed")
        return self.error

    def _show(self) -> None:
        self.progress = replace(self.progress, seconds=monotonic() - self._started)
        if self._watch is not None:
            self._watch(self.progress)

    def _check_limits(self) -> None:
        spent, limits = self.progress.spent, self._limits
        if limits.usd is not None and spent.usd is None:
            self.error = UsageError(
                "The run's cost is limited, but the price of its model is unknown; set prices.MODEL.input and"
                " prices.MODEL.output, or limit tokens or calls instead."
            )
        for name, value, limit in (
            ("US dollars", spent.usd, limits.usd),
            ("tokens", spent.tokens, limits.tokens),
            ("model calls", spent.calls, limits.calls),
        ):
            if limit is not None and value is not None and value >= limit:
                self.error = BudgetEnded(f"{value:,.4g} of the {limit:,.4g} {name} granted are spent")


def _stop_error(error: ToulminError, when: str) -> ToulminError:
    kind = type(error)
    return kind(f"{when}, the last one: {error} Fix that and run again to continue; failed questions are asked again.")
