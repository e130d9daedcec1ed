"""Answers to score, from runs or ALCE's files"""

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
from toulmin.metrics.answered import Answered, answer_to_score
from toulmin.metrics.written import output_to_score


@dataclass(frozen=True, slots=True)
class Scorable:
    """Answers whose scores go beside `place`.

    By `source` ALCE tells datasets apart: the path of a run's dataset, or of the result file. `unanswered` counts a
    run's questions without an answer. `run` is None for a result file.
    """

    place: Path
    source: str
    answered: tuple[Answered, ...]
    run: Recorded | None = None
    unanswered: int = 0

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(entry.item.id for entry in self.answered)

    @property
    def read(self) -> Mapping[str, tuple[Passage, ...]]:
        return {entry.item.id: entry.answer.passages for entry in self.answered}

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.unanswered:
            return ()
        return (f"{self.unanswered} questions of the run have no answer yet and are not scored.",)


def digest(scorables: Sequence[Scorable]) -> str:
    """SHA-256, in hex, of what the answers say and cite."""
    rows = [_digest_row(entry) for part in scorables for entry in part.answered]
    return hashlib.sha256(repr(rows).encode("utf-8", "backslashreplace")).hexdigest()


def _digest_row(entry: Answered) -> list[Any]:
    answer = entry.answer
    claims = [(claim.text, [citation.passage for citation in claim.citations]) for claim in answer.claims]
    return [entry.item.id, answer.status, entry.output, claims, [passage.id for passage in answer.passages]]


def read_scorable(path: Path) -> tuple[Scorable, ...]:
    """A run folder, its seeds, or a result file of ALCE. Raises `SourceError` for anything else."""
    if path.is_file():
        answers = tuple(output_to_score(result.item, result.output, result.docs) for result in result_items(path))
        return (Scorable(path, str(path), answers),)
    if not path.exists():
        raise SourceError(f"{path} does not exist; name a run folder, or a result file of ALCE.")
    return tuple(_of_run(folder) for folder in run_folders(path))


def _of_run(folder: Path) -> Scorable:
    run = read_run(folder)
    items = {item.id: item for item in run.items}
    strangers = [answer.id for answer in run.answers if answer.id not in items]
    if strangers:
        raise SourceError(
            f"{folder} answers {strangers[0]!r}, which is not one of its questions; run it again in another folder."
        )
    if not run.answers:
        raise SourceError(f"{folder} holds no answer yet; run it first.")
    answers = tuple(answer_to_score(items[answer.id], answer) for answer in run.answers)
    return Scorable(folder, str(run.about["dataset"]["path"]), answers, run, len(run.items) - len(answers))
