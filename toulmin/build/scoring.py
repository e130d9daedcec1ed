"""Scores of runs, and test sets."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from toulmin.build import indexes, parts
from toulmin.build.sources import Sources, index_docs, skip_notes
from toulmin.config import Settings
from toulmin.driver.kit import Judge
from toulmin.errors import ModelError, SourceError
from toulmin.steps import close

if TYPE_CHECKING:
    from toulmin.driver.ray_crew import Where
    from toulmin.evaluation.scores import EvidenceRun, Profile
    from toulmin.metrics.choosing import Models
    from toulmin.metrics.judging import Progress as JudgingProgress
    from toulmin.metrics.statements import Counting

PROFILES = ("honest", "alce")
# Pairs for a cluster at once; verdicts are kept after each wave, and each wave loads the workers' judges again.
WAVE = 20_000


# ---------------------------------------------------------------- scores


class Scoring(NamedTuple):
    """How runs are scored.

    Without a `judge` its metrics are left out. `qa_model` and `mauve_model` are folders of models; sentences are judged
    against the passages of the run `evidence` too. The judge gets `chunk` pairs at once.
    """

    profile: Profile
    judge: Judge | None
    qa_model: Path | None = None
    mauve_model: Path | None = None
    evidence: Path | None = None
    chunk: int | None = None
    counting: Counting | None = None


@asynccontextmanager
async def open_judge(
    settings: Settings, callers_judge: Judge | None, memo: Path | None, where: Where | None = None
) -> AsyncIterator[Judge | None]:
    """The caller's judge, else the settings' (None for "none"), here or at the workers of a cluster.

    The file `memo` keeps its verdicts. A judge made here is closed at the end.
    """
    if callers_judge is None and settings.judge == "none":
        yield None
        return
    async with AsyncExitStack() as opened:
        judge: Judge
        if where is not None:
            from toulmin.build import cluster
            from toulmin.driver.ray_cluster import join_cluster

            judge = await cluster.judge(settings, callers_judge, opened.enter_context(join_cluster(where)))
        elif callers_judge is not None:
            judge = callers_judge
        else:
            judge = parts.judge(settings.judge, settings)
            opened.push_async_callback(close, judge)
        if memo is not None:
            from toulmin.judges.verdict_cache import CachedJudge

            judge = opened.enter_context(closing(CachedJudge(judge, memo)))
        yield judge


async def score_run(run: Path, scoring: Scoring, progress: JudgingProgress | None = None) -> dict[str, Any]:
    """Scores a run or a result file, writes the scores beside it, and returns their document.

    The document joins seeds by the mean for each question. For a file of readers' feedback it counts agreement with
    each verdict, and writes nothing. Raises `ModelError`, and writes nothing, if the judge failed at every pair.
    """
    from toulmin.evaluation.feedback import feedback_document, is_feedback

    if is_feedback(run):
        return await asyncio.to_thread(feedback_document, run)
    from toulmin.evaluation.scores import digest, join_seeds, read_scorable, save
    from toulmin.evaluation.scores import score_answers as measure
    from toulmin.metrics.judging import CHUNK, Judging

    seeds = await asyncio.to_thread(read_scorable, run)
    judge = scoring.judge
    judging = None if judge is None else Judging(judge, chunk=scoring.chunk or CHUNK, progress=progress)
    models = _models(scoring)
    others = _evidence(scoring, len(seeds))
    scores = [
        await measure(seed, scoring.profile, judging, models, other, scoring.counting)
        for seed, other in zip(seeds, others, strict=True)
    ]
    if judging is not None and judging.refusal is not None:
        raise ModelError(
            f"The judge {judging.name} returned no verdict, so nothing was scored: {judging.refusal} Name another"
            " judge, or none for string metrics only."
        ) from judging.refusal
    for seed, score in zip(seeds, scores, strict=True):
        document = await asyncio.to_thread(save, seed.place, score, digest([seed]))
    if len(scores) == 1:
        return document
    return await asyncio.to_thread(save, run, join_seeds(scores), digest(seeds))


def _evidence(scoring: Scoring, seeds: int) -> Sequence[EvidenceRun | None]:
    """The evidence for each seed: the other run's same seed if it has as many, else its first."""
    from toulmin.evaluation.scores import EvidenceRun, read_scorable

    if scoring.evidence is None:
        return [None] * seeds
    other_seeds = read_scorable(scoring.evidence)
    name = scoring.evidence.name
    return [EvidenceRun(name, other_seeds[i if len(other_seeds) == seeds else 0].read) for i in range(seeds)]


def _models(scoring: Scoring) -> Models:
    from toulmin.metrics.choosing import Models

    models = Models()
    if scoring.qa_model is not None:
        from toulmin.metrics.span_reader import SpanReader

        models = replace(models, qa=SpanReader(scoring.qa_model))
    if scoring.mauve_model is not None:
        from toulmin.metrics.mauve_score import Featurizer

        models = replace(models, mauve=Featurizer(scoring.mauve_model))
    return models


# ---------------------------------------------------------------- test sets


@dataclass(frozen=True, slots=True)
class QuestionSummary:
    """Counts of a test set: questions by kind, how many were wanted, passages; notes on unreadable files."""

    file: Path
    wanted: int
    made: Mapping[str, int]
    passages: int
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.made.values())


def make_questions(docs: Sequence[str], out: Path, n: int, seed: int, settings: Settings) -> QuestionSummary:
    """Makes a test set from an index folder, or from files and folders, indexed as for `ask --docs`."""
    from toulmin.datasets.cloze import jsonl, make_items
    from toulmin.evaluation.run_folder import replace_file
    from toulmin.indexing import store
    from toulmin.stores.address import is_shared

    is_index = len(docs) == 1 and (is_shared(docs[0]) or store.is_index(Path(docs[0])))
    sources = Sources(index=docs[0]) if is_index else Sources(docs=tuple(docs))
    ready, skipped, *_ = index_docs(sources, settings)
    with indexes.open_index(ready.index or settings.index) as corpus:
        passages = list(corpus.every_passage())
    items = make_items(passages, n, seed)
    if not items:
        raise SourceError(
            f"No question could be made from {len(passages)} passages: no sentence has 6 to 40 words, a name, and a"
            " date, a number or another name. Name other files."
        )
    replace_file(out, jsonl(items))
    kinds = Counter(item.kind or "" for item in items)
    return QuestionSummary(out, n, dict(kinds), len(passages), skip_notes(skipped))
