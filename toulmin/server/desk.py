"""Where answers are begun, watched, cancelled and kept, whatever route they came by."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace

import orjson
from fastapi import Request, Response
from fastapi.responses import JSONResponse

from toulmin.config import Settings
from toulmin.data import Answer, Passage
from toulmin.driver.drive import Job
from toulmin.formats import answer_json
from toulmin.server.counters import Figures
from toulmin.server.engine import Engine, Running
from toulmin.server.guard import Rules, error_document
from toulmin.server.requests import within
from toulmin.server.shelf import Shelf
from toulmin.server.streams import event, or_gone

CUT_OFF = "This answer was ended before it was done."


@dataclass(frozen=True, slots=True)
class Desk:
    """What the routes work with."""

    engine: Engine
    shelf: Shelf
    rules: Rules
    figures: Figures
    runs: dict[str, Running] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        """Those of the server's owner."""
        return self.engine.settings

    def begin(self, job: Job, passages: Sequence[Passage] | None = None) -> Running:
        """Begins a job under an id of its own, under which it can be looked at and cancelled."""
        job = replace(job, id=secrets.token_urlsafe(12), budget=within(job.budget))
        run = self.engine.begin(job, passages)
        self.runs[job.id] = run
        return run

    async def ended(self, run: Running) -> Answer:
        """The finished answer, which is kept; a run that nobody waits for any more is cancelled."""
        try:
            answer = await run.finished()
            self.shelf.put(run.job.id, answer_json.dumps(answer))
            self.figures.count(answer)
            return answer
        finally:
            self._over(run)

    def _over(self, run: Running) -> None:
        """Ends what is still at work; of an answer that was cut off, what there is of it is kept."""
        if run.outcome is None and run.latest is not None:
            cut = replace(run.latest, notes=(*run.latest.notes, CUT_OFF))
            self.shelf.put(run.job.id, answer_json.dumps(cut))
        run.cancel()
        self.runs.pop(run.job.id, None)

    async def drafts(self, run: Running) -> AsyncIterator[bytes]:
        """Whole snapshots as events: first the id, then every newest draft, and the finished answer as `done`."""
        try:
            yield event("begun", orjson.dumps({"id": run.job.id, "question": run.job.question}))
            async for draft in run.drafts():
                yield event("draft", answer_json.dumps(draft))
            yield event("done", answer_json.dumps(await self.ended(run)))
        except asyncio.CancelledError:
            if not run.is_done:  # it is the client who went away
                raise
            yield event("cancelled", orjson.dumps({"id": run.job.id}))
        finally:
            self._over(run)


class Document(Response):
    """A document of ours, written as JSON already."""

    media_type = "application/json"


async def replied(desk: Desk, run: Running, request: Request, write: Callable[[Answer], bytes]) -> Response:
    """The finished answer in one piece; a client that goes away ends its work."""
    try:
        answer = await or_gone(desk.ended(run), request.receive)
    except asyncio.CancelledError:
        if not run.is_done:  # it is this request that ends
            raise
        return JSONResponse(error_document(409, "The answer was cancelled before it was done."), 409)
    if answer is None:
        return Response(status_code=499)  # nobody reads it
    return Document(write(answer))
