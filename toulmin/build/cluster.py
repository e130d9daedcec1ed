"""Workers of a cluster, which answer questions of a dataset or judge pairs, each with its own kit.

A worker works in the command's folder, if its machine has it, so that file names mean the same. It reads keys of
servers from its own environment; they are never sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, TypeVar

from toulmin import errors
from toulmin.build import parts
from toulmin.build.session import Session
from toulmin.build.sources import Sources
from toulmin.build.study import Study, job
from toulmin.config import Settings
from toulmin.datasets.item import Item
from toulmin.driver.drive import Driver
from toulmin.driver.kit import Judge, results_of
from toulmin.driver.ray_crew import Crew, Home
from toulmin.driver.ray_pool import Pool, pack_for_workers
from toulmin.errors import ModelError, SourceError, ToulminError, UsageError
from toulmin.evaluation.running import Answering, QuestionOutcome, outcome_record
from toulmin.steps import Pair, Verdict
from toulmin.text.language import chunks

T = TypeVar("T")
PAIRS = 32  # judged by a worker in one call
BATCH = 2  # times the questions at once: a batch costs as much as a few questions
SHARES = 2  # batches for each worker if there are few questions


class _Loop:
    """An event loop in a separate thread, for all parts of a worker."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        Thread(target=self._loop.run_forever, name="toulmin worker", daemon=True).start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


# ---------------------------------------------------------------- answering


def answers(study: Study, ready: Sources, crew: Crew) -> Answering:
    """Answers by the workers, each with `study.concurrency` questions at once.

    Raises `UsageError` if a caller's object cannot be sent to them.
    """
    for part, value in _own_parts(study):
        pack_for_workers(part, value)
    shown = replace(study, dataset=replace(study.dataset, items=()), out=Path())
    pool = Pool(pack_for_workers("run", partial(_Answerer, shown, ready, Home())), crew)

    async def answer_items(items: Sequence[Item], is_over: Callable[[], bool]) -> AsyncGenerator[QuestionOutcome, None]:
        size = min(BATCH * study.concurrency, -(-len(items) // (SHARES * crew.workers)))
        if items and not is_over():
            async with aclosing(pool.results(list(chunks(items, size)), is_over)) as results:
                async for _, batch in results:
                    for ended in batch:
                        yield ended

    return answer_items


def _own_parts(study: Study) -> list[tuple[str, Any]]:
    parts = [(part.name, getattr(study.own, part.name)) for part in fields(study.own)]
    return [*parts, ("method", study.by), ("retriever", study.sources.retriever), ("settings", study.settings)]


class _Answerer:
    """Answers items side by side; its session stays open with the process."""

    def __init__(self, study: Study, ready: Sources, home: Home) -> None:
        home.enter()
        self._loop = _Loop()
        self._session = Session(ready, study.settings, study.own)
        self._places = asyncio.Semaphore(study.concurrency)  # shared by all batches
        self._driver, self._job = self._loop.run(self._open(study))

    async def _open(self, study: Study) -> tuple[Driver, Callable[[Item], Any]]:
        await self._session.__aenter__()
        kit, driver = self._session.equip()
        return driver, partial(job, study, judge=kit.judge, index=kit.retriever)

    def __call__(self, items: Sequence[Item]) -> list[QuestionOutcome]:
        return self._loop.run(self._answers(items))

    async def _answers(self, items: Sequence[Item]) -> list[QuestionOutcome]:
        return await asyncio.gather(*map(self._answer, items))

    async def _answer(self, item: Item) -> QuestionOutcome:
        async with self._places:
            ended_item = outcome_record(await self._driver.answer(self._job(item)))
        return replace(ended_item, error=_plain(ended_item.error))


def _plain(error: ToulminError | None) -> ToulminError | None:
    """The error as one of our tree, which every process can load."""
    if error is None:
        return None
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ == errors.__name__)
    return kind(str(error))  # type: ignore[no-any-return]


# ---------------------------------------------------------------- judging


class _JudgeIdentity(NamedTuple):
    """A judge's name, and the key on which its verdicts depend (None: unknown)."""

    name: str
    key: str | None


class _Decider:
    """Judges pairs, one by one if they fail together."""

    def __init__(self, settings: Settings, judge: Judge | None, home: Home) -> None:
        home.enter()
        self._loop = _Loop()
        self._judge = parts.judge(settings.judge, settings) if judge is None else judge

    def describe(self) -> _JudgeIdentity:
        key = getattr(self._judge, "key", None)
        return _JudgeIdentity(self._judge.name, None if key is None else str(key))

    def __call__(self, pairs: Sequence[Pair]) -> list[Verdict | ToulminError]:
        return self._loop.run(self._decide(pairs))

    async def _decide(self, pairs: Sequence[Pair]) -> list[Verdict | ToulminError]:
        try:
            return await results_of(f"judge {self._judge.name}", self._judge.judge, pairs, Verdict)
        except (SourceError, UsageError):  # not caused by a pair
            raise
        except ToulminError as error:
            if len(pairs) == 1:
                return [ModelError(str(error))]
            return [outcome for pair in pairs for outcome in await self._decide([pair])]


class Spread:
    """A judge at the workers of a cluster, each with its own judge.

    If pairs of a call fail, it raises the first error; later calls for single pairs get the kept outcomes.
    """

    def __init__(self, pool: Pool, known: _JudgeIdentity) -> None:
        self._pool = pool
        self.name = known.name
        if known.key is not None:
            self.key = known.key
        self._failed: dict[Pair, Verdict | ToulminError] = {}  # the outcomes of failed calls

    async def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        outcomes_by_pair = {pair: self._failed[pair] for pair in pairs if pair in self._failed}
        missing = [pair for pair in dict.fromkeys(pairs) if pair not in outcomes_by_pair]
        batches = list(chunks(missing, PAIRS))
        async with aclosing(self._pool.results(batches)) as results:
            async for place, outcomes in results:
                outcomes_by_pair.update(zip(batches[place], outcomes, strict=True))
        wrong = next((outcome for outcome in outcomes_by_pair.values() if isinstance(outcome, ToulminError)), None)
        if wrong is not None:
            self._failed.update(outcomes_by_pair)
            raise wrong
        return [outcome for pair in pairs if isinstance(outcome := outcomes_by_pair[pair], Verdict)]


async def judge(settings: Settings, callers_judge: Judge | None, crew: Crew) -> Spread:
    """The settings' or the caller's judge at the workers.

    Raises `UsageError` if the caller's judge cannot be sent, and what making a judge raises there.
    """
    pack_for_workers("judge", callers_judge)
    pool = Pool(pack_for_workers("judge", partial(_Decider, settings, callers_judge, Home())), crew)
    return Spread(pool, await pool.first(_Decider.describe))
