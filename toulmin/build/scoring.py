"""Scores and test sets, assembled: which judge, models and files a score takes, and where questions are made from."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toulmin.build import indexes, parts
from toulmin.build.runs import connect_crew
from toulmin.build.sources import Sources, index_docs, skip_notes
from toulmin.config import Settings, cache_folder
from toulmin.driver.kit import Judge
from toulmin.errors import ModelError, SourceError

if TYPE_CHECKING:
    from toulmin.driver.ray_crew import Where
    from toulmin.evaluation.scores import EvidenceRun, Profile
    from toulmin.metrics.choosing import Models
    from toulmin.metrics.judging import Progress as JudgingProgress
    from toulmin.metrics.statements import Counting

PROFILES = ("honest", "alce")
# Pairs that are asked of a cluster at once: each time its workers load their judge anew, and only then they are kept.
WAVE = 20_000


# ---------------------------------------------------------------- scores


@dataclass(frozen=True, slots=True)
class Scoring:
    """How runs are scored: under which profile, by which judge (None: no metric that needs one), with which models.

    `memo` is the file that keeps verdicts for other runs and later times (None: none are kept). `qa_model` and
    `mauve_model` are folders of models for the metrics that need them; `evidence` is another run, whose passages the
    sentences of this one are judged against. `chunk` is how many pairs the judge is asked at once (None: as usual).
    """

    profile: Profile
    judge: Judge | None
    memo: Path | None = None
    qa_model: Path | None = None
    mauve_model: Path | None = None
    evidence: Path | None = None
    chunk: int | None = None
    counting: Counting | None = None


@asynccontextmanager
async def open_judge(
    settings: Settings, callers_judge: Judge | None, where: Where | None = None
) -> AsyncIterator[Judge | None]:
    """The judge that the settings name (None for "none") or the caller's own, here or at the workers of a cluster.

    What was made here ends with it, a caller's own judge stays as it is.
    """
    if callers_judge is None and settings.judge == "none":
        yield None
    elif where is not None:
        from toulmin.build.cluster import judge

        with connect_crew(where) as crew:
            assert crew is not None
            yield await judge(settings, callers_judge, crew)
    elif callers_judge is not None:
        yield callers_judge
    else:
        made = parts.judge(settings.judge, settings)
        try:
            yield made
        finally:
            await parts.close(made)


def memo_file() -> Path:
    """Where verdicts are kept unless something else is said: in the user's cache."""
    return cache_folder() / "verdicts.sqlite"


async def score_run(run: Path, scoring: Scoring, progress: JudgingProgress | None = None) -> dict[str, Any]:
    """Scores a run, each of its seeds, or a result file; writes the scores beside it and gives their document.

    Of several seeds each has scores of its own, and the document is that of them all, a question being the mean of its
    seeds. Of a file of readers' feedback it counts how often they agreed with each verdict, and writes nothing. Raises
    `ModelError`, and writes nothing, where the judge failed at every pair: what it was not asked about would stand for
    the whole.
    """
    from toulmin.evaluation.feedback import feedback_document, is_feedback

    if is_feedback(run):
        return await asyncio.to_thread(feedback_document, run)
    from toulmin.evaluation.scores import digest, join_seeds, read_scorable, save
    from toulmin.evaluation.scores import score_answers as measure
    from toulmin.metrics.judging import CHUNK, Judging

    seeds = await asyncio.to_thread(read_scorable, run)
    judge = _judge_with_cache(scoring)
    judging = None if judge is None else Judging(judge, chunk=scoring.chunk or CHUNK, progress=progress)
    models = _models(scoring)
    others = _evidence(scoring, len(seeds))
    scores = [
        await measure(seed, scoring.profile, judging, models, other, scoring.counting)
        for seed, other in zip(seeds, others, strict=True)
    ]
    if judging is not None and judging.refusal is not None:
        raise ModelError(
            f"The judge {judging.name} gave no verdict at all, so nothing was scored: {judging.refusal} Name another"
            " judge, or none for the metrics of strings alone."
        ) from judging.refusal
    for seed, score in zip(seeds, scores, strict=True):
        document = await asyncio.to_thread(save, seed.place, score, digest([seed]))
    if len(scores) == 1:
        return document
    return await asyncio.to_thread(save, run, join_seeds(scores), digest(seeds))


def _evidence(scoring: Scoring, seeds: int) -> Sequence[EvidenceRun | None]:
    """The other run whose passages count as evidence: seed by seed where it has as many, else its first."""
    from toulmin.evaluation.scores import EvidenceRun, read_scorable

    if scoring.evidence is None:
        return [None] * seeds
    other_seeds = read_scorable(scoring.evidence)
    name = scoring.evidence.name
    return [EvidenceRun(name, other_seeds[i if len(other_seeds) == seeds else 0].read) for i in range(seeds)]


def _judge_with_cache(scoring: Scoring) -> Judge | None:
    if scoring.judge is None or scoring.memo is None:
        return scoring.judge
    from toulmin.judges.verdict_cache import CachedJudge

    return CachedJudge(scoring.judge, scoring.memo)


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
class MadeReport:
    """How many questions of each kind were made, of how many that were wanted, and from how many passages.

    `notes` name the files that could not be read.
    """

    file: Path
    wanted: int
    made: Mapping[str, int]
    passages: int
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.made.values())


def make_questions(docs: Sequence[str], out: Path, n: int, seed: int, settings: Settings) -> MadeReport:
    """Makes a test set from files and folders, which are indexed as `ask --docs` does, or from an index folder."""
    from toulmin.datasets.cloze import jsonl, make_items
    from toulmin.evaluation.run_folder import replace_file
    from toulmin.indexing import store
    from toulmin.stores.address import is_shared

    is_index = len(docs) == 1 and (is_shared(docs[0]) or store.is_index(Path(docs[0])))
    sources = Sources(index=docs[0]) if is_index else Sources(docs=tuple(docs))
    ready, skipped, _ = index_docs(sources, settings)
    with indexes.open_index(ready.index or settings.index) as corpus:
        passages = list(corpus.every_passage())
    items = make_items(passages, n, seed)
    if not items:
        raise SourceError(
            f"No question could be made from {len(passages)} passages: they hold no sentence of 6 to 40 words with a"
            " name and a date, a number or another name."
        )
    replace_file(out, jsonl(items))
    kinds = Counter(item.kind or "" for item in items)
    return MadeReport(out, n, dict(kinds), len(passages), skip_notes(skipped))
