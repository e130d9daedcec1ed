"""What is to be scored, read from a run folder (each of its seeds) or from a result file of ALCE."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toulmin.data import Passage
from toulmin.datasets.loading import result_items
from toulmin.errors import SourceError
from toulmin.evaluation.run_folder import Recorded, read_run, run_folders
from toulmin.metrics.answered import Answered, answered
from toulmin.metrics.written import written


@dataclass(frozen=True, slots=True)
class Scorable:
    """Answers that belong together; `place` is where their scores go.

    `source` is the path by which ALCE would tell what they answer: the dataset's of a run, the file's own otherwise.
    `unanswered` counts the questions of a run that has not ended. A result file has no `run`.
    """

    place: Path
    source: str
    answered: tuple[Answered, ...]
    run: Recorded | None = None
    unanswered: int = 0

    @property
    def ids(self) -> tuple[str, ...]:
        """The questions, in order."""
        return tuple(one.item.id for one in self.answered)

    @property
    def read(self) -> Mapping[str, tuple[Passage, ...]]:
        """The passages that were read for each question."""
        return {one.item.id: one.answer.passages for one in self.answered}

    @property
    def notes(self) -> tuple[str, ...]:
        """What its table should say below itself."""
        if not self.unanswered:
            return ()
        return (f"{self.unanswered} questions of the run have no answer yet and are not scored.",)


def digest(found: Sequence[Scorable]) -> str:
    """SHA-256, in hex, of what the answers say and cite: scores that were made of others are out of date."""
    told = [_told(one) for own in found for one in own.answered]
    return hashlib.sha256(repr(told).encode("utf-8", "backslashreplace")).hexdigest()


def _told(one: Answered) -> list[Any]:
    answer = one.answer
    claims = [(claim.text, [citation.passage for citation in claim.citations]) for claim in answer.claims]
    return [one.item.id, answer.status, one.output, claims, [passage.id for passage in answer.passages]]


def scorable(path: Path) -> tuple[Scorable, ...]:
    """The run in that folder, its seeds, or the one result file; raises `SourceError` for anything else."""
    if path.is_file():
        found = tuple(written(one.item, one.output, one.docs) for one in result_items(path))
        return (Scorable(path, str(path), found),)
    if not path.exists():
        raise SourceError(f"{path} does not exist; name a run folder, or a result file of ALCE.")
    return tuple(_of_run(folder) for folder in run_folders(path))


def _of_run(folder: Path) -> Scorable:
    run = read_run(folder)
    items = {item.id: item for item in run.items}
    strangers = [answer.id for answer in run.answers if answer.id not in items]
    if strangers:
        raise SourceError(f"{folder} answers {strangers[0]!r}, which is none of its questions; run it again elsewhere.")
    if not run.answers:
        raise SourceError(f"{folder} holds no answer yet; run it first.")
    found = tuple(answered(items[answer.id], answer) for answer in run.answers)
    return Scorable(folder, str(run.about["dataset"]["path"]), found, run, len(run.items) - len(found))
