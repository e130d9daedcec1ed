"""A job run to its end over the parts of a test: what the tests of several methods look at."""

from __future__ import annotations

import asyncio

from toulmin.data import Answer
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit


class Ended:
    """The outcome of a job, and the drafts that were shown on the way."""

    def __init__(self, kit: Kit, job: Job) -> None:
        self.drafts: list[Answer] = []
        self.outcome = asyncio.run(Driver(kit).answer(job, self.drafts.append))
        self.answer, self.error = self.outcome.answer, self.outcome.error

    @property
    def texts(self) -> list[str]:
        return [claim.text for claim in self.answer.claims]
