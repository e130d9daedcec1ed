"""The driver: it serves the steps of running programs, in batches, within their budgets.

* A program continues as soon as its own reply is there.
* Searches, judgements and readings of all programs are batched; a model's requests run up to its own limit.
* A failed request is raised only inside the program that made it.
* With plain parts nothing depends on time, so a run is deterministic.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from toulmin import steps
from toulmin.data import Answer, Hit, Style
from toulmin.driver import tracing
from toulmin.driver.batches import Batcher, Calls, call_part
from toulmin.driver.budget import Budget, Meter, TryCount
from toulmin.driver.kit import Kit, LanguageModel, Retriever, check_kind
from toulmin.driver.transcript import Place, Transcript
from toulmin.errors import BudgetEnded, ModelError, ToulminError, UsageError
from toulmin.prompts.replies import EmptyReply, Reply
from toulmin.steps import Generate, Program, Step

V = TypeVar("V")
Watch = Callable[[Answer], None]
RESCUE = -1  # the place of a rescue's steps in a transcript


@dataclass(frozen=True, slots=True)
class Job:
    """One question; each call of `program` makes a new program that answers it.

    `rescue` turns the last draft into an answer when the budget ends; without it the job fails. `retriever` replaces
    the kit's. `asking` returns the same job for the question in other words.
    """

    question: str
    method: str
    style: Style
    program: Callable[[], Program[Answer]]
    budget: Budget = field(default_factory=Budget)
    settings: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    rescue: Callable[[Answer, BudgetEnded], Program[Answer]] | None = None
    asking: Callable[[str], Job] | None = None
    retriever: Retriever | None = None


@dataclass(frozen=True, slots=True)
class _Query:
    retriever: Retriever = field(compare=False)
    who: int
    step: steps.Search


@dataclass(frozen=True, slots=True)
class Outcome:
    job: Job
    answer: Answer
    transcript: Transcript
    error: ToulminError | None = None

    @property
    def exit_code(self) -> int:
        return self.error.exit_code if self.error else 0


class _Running:
    def __init__(self, job: Job, watch: Watch | None, recorded: Transcript | None) -> None:
        self.job, self.watch, self.recorded = job, watch, recorded
        self.meter = Meter(Budget() if recorded else job.budget)
        self.transcript = Transcript(notes=list(recorded.notes) if recorded else [])
        self.draft = Answer(job.question, job.style, job.method, "abstained")

    def complete(self, answer: Answer, seconds: float | None = None) -> Answer:
        return replace(
            answer,
            usage=self.meter.usage(seconds),
            settings=dict(self.job.settings),
            id=self.job.id,
            notes=(*answer.notes, *self.transcript.notes),
        )


class Driver:
    """Serves programs from a kit, in one event loop.

    `programs` jobs run side by side. A batch waits up to `linger` seconds while model calls run. The last `remembered`
    verdicts are kept, and a tenth as many searches and readings.
    """

    def __init__(
        self, kit: Kit, *, programs: int = 64, batch: int = 256, linger: float = 0.003, remembered: int = 50_000
    ) -> None:
        self._kit, self._programs = kit, programs
        self._calls: dict[int, Calls] = {}  # by model: one may serve several roles
        batcher: Any = partial(Batcher, size=batch, linger=linger, others_busy=self._is_calling)
        self._searches: Batcher[_Query, tuple[Hit, ...]] = batcher(self._search, memory=remembered // 10)
        self._judgements: Batcher[steps.Pair, steps.Verdict] = batcher(self._judge, memory=remembered)
        self._readings: Batcher[steps.Read, steps.Span | None] = batcher(self._read, memory=remembered // 10)
        self._ratings: Batcher[steps.Rate, steps.Rating | None] = batcher(self._rate, memory=remembered // 10)

    def _is_calling(self) -> bool:
        return any(calls.is_busy for calls in self._calls.values())

    # -------------------------------------------------------------- jobs

    async def answer(self, job: Job, watch: Watch | None = None, replay: Transcript | None = None) -> Outcome:
        """Runs one job; a `ToulminError` becomes an answer with status `failed`.

        `watch` gets every draft. With `replay` all replies come from the transcript.
        """
        running = _Running(job, watch, replay)
        error: ToulminError | None = None
        with tracing.answering(job.method) as report:
            try:
                answer = await self._answer(running)
            except ToulminError as caught:
                error = caught
                answer = replace(running.draft, status="failed", claims=(), notes=(*running.draft.notes, str(caught)))
            answer = running.complete(answer, replay.seconds if replay else None)
            report(answer, error)
        running.transcript.seconds = answer.usage.seconds
        return Outcome(job, answer, running.transcript, error)

    async def _answer(self, running: _Running) -> Answer:
        job = running.job
        try:
            answer: object = await self._run(job.program(), running, ())
            if not isinstance(answer, Answer):
                raise UsageError(f"The method {job.method!r} should return an Answer, not a {type(answer).__name__}.")
            return answer
        except BudgetEnded as ended:
            if job.rescue is None or not running.draft.claims:
                raise
            return await self._run(job.rescue(running.draft, ended), running, (RESCUE,))

    async def answers(self, jobs: Iterable[Job]) -> AsyncGenerator[Outcome, None]:
        """Yields each outcome as its job ends; `jobs` is read lazily."""
        async for _, outcome in self._outcomes(jobs):
            yield outcome

    async def in_order(self, jobs: Iterable[Job]) -> AsyncIterator[Outcome]:
        early: dict[int, Outcome] = {}
        at = 0
        async for place, outcome in self._outcomes(jobs):
            early[place] = outcome
            while at in early:
                yield early.pop(at)
                at += 1

    async def _outcomes(self, jobs: Iterable[Job]) -> AsyncIterator[tuple[int, Outcome]]:
        source = enumerate(jobs)
        running: dict[asyncio.Task[Outcome], int] = {}
        try:
            while True:
                while len(running) < self._programs and (following := next(source, None)) is not None:
                    place, job = following
                    running[asyncio.create_task(self.answer(job))] = place
                if not running:
                    return
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in [task for task in running if task in done]:  # in order of their start: `done` is a set
                    yield running.pop(task), task.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    # -------------------------------------------------------------- programs

    async def _run(self, program: Program[V], running: _Running, path: Place) -> V:
        number = 0
        try:
            step = next(program)
            while True:
                place = (*path, number)
                number += 1
                try:
                    reply = await self._reply_to(step, running, place)
                except ToulminError as error:
                    step = program.throw(error)
                else:
                    step = program.send(reply)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        finally:
            program.close()

    async def _reply_to(self, step: Step, running: _Running, place: Place) -> Any:
        if isinstance(step, steps.Show):
            return self._show(step, running)
        if isinstance(step, steps.Together):
            return await self._together(step, running, place)
        if running.recorded is not None:
            return self._replay(running.recorded, step, running, place)
        try:
            _begin(step, running.meter)
        except BudgetEnded as error:
            running.transcript.record(place, step, error=error, begun=False)
            raise
        tries = TryCount(running.meter, getattr(step, "role", ""))
        try:
            reply = await self._in_time(replace(step, tries=tries) if isinstance(step, Generate) else step, running)
        except ToulminError as error:
            _end(step, error, running.meter)
            running.transcript.record(place, step, error=error, calls=max(1, tries.sent))
            raise
        _end(step, reply, running.meter)
        running.transcript.record(place, step, reply, calls=max(1, tries.sent))
        return reply

    def _show(self, step: steps.Show, running: _Running) -> None:
        running.draft = step.draft
        if running.watch is not None:
            running.watch(running.complete(step.draft))

    async def _together(self, step: steps.Together, running: _Running, place: Place) -> tuple[Any, ...]:
        tasks = [self._run(program, running, (*place, i)) for i, program in enumerate(step.programs)]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return tuple(results)

    def _replay(self, recorded: Transcript, step: Step, running: _Running, place: Place) -> Any:
        entry = recorded.entry(place, step)
        running.transcript.entries[place] = entry
        if entry.begun:
            _begin(step, running.meter, entry.calls)
        _end(step, entry.error or entry.reply, running.meter)
        if entry.error is not None:
            raise entry.error
        return entry.reply

    async def _in_time(self, step: Step, running: _Running) -> Any:
        meter = running.meter
        try:
            async with asyncio.timeout(meter.seconds_left):
                return await self._serve(step, running)
        except TimeoutError:
            meter.check_deadline()
            raise ModelError("A part of the kit timed out; try again, or choose another part.") from None

    # -------------------------------------------------------------- the kit

    async def _serve(self, step: Step, running: _Running) -> Any:
        if isinstance(step, steps.Search):
            retriever = running.job.retriever or self._kit.retriever
            with tracing.searching(step) as report:
                (hits,) = await self._searches.ask([_Query(retriever, id(retriever), step)])
                report(hits)
            return hits
        if isinstance(step, steps.Entail):
            return tuple(await self._judgements.ask(step.pairs))
        if isinstance(step, steps.Read):
            return (await self._readings.ask([step]))[0]
        if isinstance(step, steps.Rate):
            return (await self._ratings.ask([step]))[0]
        if isinstance(step, Generate):
            return await self._generate(step, running)
        raise UsageError(f"A method may yield a step of toulmin.steps, not {type(step).__name__}.")

    async def _generate(self, step: Generate, running: _Running) -> Reply:
        transcript, model = running.transcript, self._model(step.role, running.transcript)
        calls = self._calls.get(id(model))
        if calls is None:
            calls = self._calls[id(model)] = Calls(model)
        reply = await self._ask_and_hear(calls, step, running)
        for remark in getattr(reply.value, "notes", ()):
            transcript.note(remark)
        if reply.omitted:
            transcript.note(f"The passages exceed the window of {model.name}; the last ones were left out.")
        if reply.finish == "length" and step.max_tokens is None:  # else the method set the limit
            transcript.note(f"A reply of {model.name} was cut off at its token limit.")
        if reply.finish == "filtered":
            transcript.note(f"The server's content filter removed a reply of {model.name}, or a part of it.")
        return reply

    async def _ask_and_hear(self, calls: Calls, step: Generate, running: _Running) -> Reply:
        """Runs programs for what is written so far, one at a time."""
        if (listener := step.listener) is None or running.watch is None:
            return await calls.ask(step)
        aside = copy(running)
        aside.transcript = Transcript()
        looks: list[asyncio.Task[None]] = []
        loop = asyncio.get_running_loop()
        asked = loop.create_task(calls.ask(replace(step, listener=None)))

        def look(text: str) -> None:
            if not asked.done() and all(task.done() for task in looks):
                looks.append(loop.create_task(self._run(listener(text), aside, ())))

        step.tries.hear = lambda text: loop.call_soon_threadsafe(look, text)
        try:
            return await asked
        finally:
            for task in (asked, *looks):
                task.cancel()
            await asyncio.gather(*looks, return_exceptions=True)

    def _model(self, role: str, transcript: Transcript) -> LanguageModel:
        models = self._kit.models
        if role in models:
            return models[role]
        if "main" not in models:
            raise UsageError(f"The method needs a model as {role!r}, but none is set; name one with --model.")
        if role != "rewriter":  # by default a draft's writer also corrects it
            transcript.note(f"No model is set as {role}; the main model, {models['main'].name}, is used.")
        return models["main"]

    async def _search(self, queries: Sequence[_Query]) -> list[tuple[Hit, ...]]:
        hits: dict[_Query, tuple[Hit, ...]] = {}
        groups: dict[tuple[int, int], list[_Query]] = {}
        for query in queries:
            groups.setdefault((query.who, query.step.k), []).append(query)
        for (_, k), same in groups.items():
            asked = [query.step.query for query in same]
            rows = await call_part("retriever", partial(same[0].retriever.search, k=k), asked, Sequence)
            for query, row in zip(same, rows, strict=True):
                hits[query] = tuple(check_kind("retriever", row, Hit))
        return [hits[query] for query in queries]

    async def _judge(self, pairs: Sequence[steps.Pair]) -> Sequence[steps.Verdict]:
        judge = self._kit.judge
        return await call_part(f"judge {judge.name}", judge.judge, pairs, steps.Verdict)

    async def _read(self, requests: Sequence[steps.Read]) -> Sequence[steps.Span | None]:
        if self._kit.reader is None:
            raise UsageError("The method needs a reader, but none is set; name one with --set reader=SPEC.")
        questions = [(step.question, step.passages) for step in requests]
        return await call_part("reader", self._kit.reader.read, questions, steps.Span | None)

    async def _rate(self, requests: Sequence[steps.Rate]) -> Sequence[steps.Rating | None]:
        rate = getattr(self._kit.reader, "rate", None)
        if rate is None:  # only some readers rate
            return [None] * len(requests)
        return await call_part("reader", rate, [(step.question, step.cuts) for step in requests], steps.Rating | None)


# ---------------------------------------------------------------- the cost of a step


def _begin(step: Step, meter: Meter, calls: int = 1) -> None:
    meter.check_deadline()
    if isinstance(step, Generate):
        for _ in range(calls):
            meter.begin_call(step.role)
    elif isinstance(step, steps.Entail):
        meter.pairs.update(step.pairs)
    elif isinstance(step, steps.Search):
        meter.searches += 1


def _end(step: Step, result: Any, meter: Meter) -> None:
    reply = result.reply if isinstance(result, EmptyReply) else result
    if isinstance(step, Generate) and isinstance(reply, Reply):
        meter.add_reply(step.role, reply)
