"""Starts, follows, cancels and keeps answers for every route."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import orjson
from fastapi import Request, Response

from toulmin.build import jobs
from toulmin.build.sources import clean_question
from toulmin.config import Settings
from toulmin.data import Answer, Passage
from toulmin.driver.drive import Job
from toulmin.errors import BudgetEnded, SourceError
from toulmin.evaluation.feedback import Feedback
from toulmin.formats import answer_json
from toulmin.formats.clean_text import has_pages
from toulmin.methods.following import Earlier
from toulmin.server.counters import Figures
from toulmin.server.engine import AnswerCancelled, Engine, Running
from toulmin.server.guard import Rules, failure_document
from toulmin.server.requests import EarlierTurn, Question, settings_for, with_deadline
from toulmin.server.shelf import MOST, Rechecks, Shelf
from toulmin.server.streams import event, while_connected

_SMALL = 100  # pixels
CUT_OFF = "This answer was stopped before it was finished."


@dataclass(frozen=True)
class Desk:
    engine: Engine
    shelf: Shelf
    rules: Rules
    figures: Figures
    runs: dict[str, Running] = field(default_factory=dict)

    @cached_property
    def feedback(self) -> Feedback:
        return Feedback(self.shelf.path.with_suffix(".feedback.jsonl"), self.settings.feedback_mb * 1_000_000)

    @cached_property
    def rechecks(self) -> Rechecks:
        return Rechecks(self.engine, self.shelf)

    @property
    def settings(self) -> Settings:
        return self.engine.settings

    def job(self, asked: Question) -> Job:
        """The job of a request; kept earlier answers replace their text."""
        history = [self._earlier(turn) for turn in asked.history]
        settings = settings_for(self.settings, asked)
        return jobs.job(clean_question(asked.question), settings, history=history, rewrite=asked.rewrite)

    def _earlier(self, turn: EarlierTurn) -> Earlier:
        kept = self.shelf.get(turn.id) if turn.id else None
        return answer_json.parse(kept) if kept else (turn.question, turn.answer)

    def kept(self, id: str) -> bytes:
        """Raises `SourceError` for an answer that is not kept."""
        document = self.shelf.get(id)
        if document is None:
            kept = f"the newest {MOST:,} answers, and at most {self.settings.answers_mb:,} MB (answers_mb)"
            raise SourceError(f"There is no answer {id!r} here; a server keeps {kept}.")
        return document

    def begin(self, job: Job, passages: Sequence[Passage] | None = None) -> Running:
        job = replace(job, id=secrets.token_urlsafe(12), budget=with_deadline(job.budget))
        run = self.engine.begin(job, passages)
        self.runs[job.id] = run
        return run

    async def finish(self, run: Running) -> Answer:
        """Waits for the answer, keeps and counts it; always ends the run."""
        try:
            answer = await run.final_answer()
            self.shelf.put(run.job.id, answer_json.dumps(answer))
            self.figures.count(answer)
            source = next((passage.source for passage in answer.cited if has_pages(passage.source.path)), None)
            if source is not None:
                self.engine.draw_ahead(source, _SMALL)
            return answer
        finally:
            self.wrap_up(run)

    def wrap_up(self, run: Running) -> None:
        """Cancels the run; keeps the newest draft of an unfinished one."""
        if run.outcome is None and run.latest is not None:
            self.shelf.put(run.job.id, answer_json.dumps(replace(run.latest, notes=(*run.latest.notes, CUT_OFF))))
        run.cancel()
        self.runs.pop(run.job.id, None)

    def cancel_all(self) -> None:
        for run in self.runs.values():
            run.cancel()

    async def drafts(self, run: Running) -> AsyncIterator[bytes]:
        """Events with whole snapshots: the id, each new draft, then the finished answer as `done`."""
        try:
            yield event("begun", orjson.dumps({"id": run.job.id, "question": run.job.question}))
            async for draft in run.drafts():
                yield event("draft", answer_json.dumps(draft))
            yield event("done", answer_json.dumps(await self.finish(run)))
        except AnswerCancelled:
            yield event("cancelled", orjson.dumps({"id": run.job.id}))
        except Exception as error:
            yield event("failed", orjson.dumps(failure_document(error)))
        finally:
            self.wrap_up(run)


class Document(Response):
    media_type = "application/json"


async def reply(desk: Desk, run: Running, request: Request, write: Callable[[Answer], bytes]) -> Response:
    """The finished answer in one piece; the run ends if the client disconnects.

    Raises `BudgetEnded` if a limit was reached before anything was verified.
    """
    answer = await while_connected(desk.finish(run), request.receive)
    if run.outcome is not None and isinstance(run.outcome.error, BudgetEnded):
        raise run.outcome.error
    return Document(write(answer))
