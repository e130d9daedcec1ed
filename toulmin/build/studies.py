"""The verbs of evaluation, assembled: a method over a whole dataset, and what is made of the run."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toulmin import __version__
from toulmin.build import asking, assembly, indexes, opening
from toulmin.runtime import shipped
from toulmin.build.asking import Study
from toulmin.config import Settings
from toulmin.driver.drive import Driver
from toulmin.driver.kit import Judge
from toulmin.errors import ModelError, SourceError, UsageError
from toulmin.build.opening import Sources

if TYPE_CHECKING:
    from toulmin.index.indexing import Progress as Reading
    from toulmin.documents.loaders import Skipped
    from toulmin.datasets.item import Dataset
    from toulmin.evaluation.scoring import EvidenceRun, Profile
    from toulmin.metrics.choosing import Models
    from toulmin.metrics.judging import Progress as JudgingProgress
    from toulmin.evaluation.running import Answering, Limits, RunReport, Watch
    from toulmin.driver.ray_crew import Crew, Where

PROFILES = ("honest", "alce")
# Pairs that are asked of a cluster at once: each time its workers load their judge anew, and only then they are kept.
WAVE = 20_000
# Libraries whose version can change an answer.
_LIBRARIES = ("openai", "numpy", "tantivy", "torch", "transformers")


def dataset(path: str | os.PathLike[str], *, limit: int | None = None, split: str | None = None) -> Dataset:
    """The dataset of that file or folder; see `datasets.reading.read`."""
    from toulmin.datasets.loading import read

    return read(path, limit=limit, split=split)


def study_settings(settings: Settings, *, attribute: bool = False) -> Settings:
    """The settings of a run: methods are compared with every claim kept, unless something else was said."""
    chosen = settings.updated(unsupported=settings.unsupported or "keep")
    return chosen.updated(options={"attribute": True}) if attribute else chosen


# ---------------------------------------------------------------- the run


async def answered(
    study: Study,
    seeds: Sequence[int] = (),
    limits: Limits | None = None,
    watch: Watch | None = None,
    on_reading: Callable[[Reading], None] | None = None,
    where: Where | None = None,
) -> RunReport:
    """Runs the study, once for each seed: into its folder, or for several seeds into one beside the other there.

    A run that stopped early is the last one; the seeds behind it are not begun. `where` names a cluster whose workers
    answer, else this process does.
    """
    from toulmin.evaluation.run_folder import is_run
    from toulmin.evaluation.running import together

    if len(seeds) > 1 and is_run(study.out):
        raise UsageError(f"{study.out} holds a single run; several seeds need a folder of their own.")
    with _crew(where) as crew:
        reports = await _each_seed(
            study, seeds, partial(_answered_once, crew=crew, limits=limits, watch=watch, on_reading=on_reading)
        )
    return reports[0] if len(seeds) <= 1 else together(study.out, reports)


async def _each_seed(
    study: Study, seeds: Sequence[int], answer: Callable[[Study], Awaitable[RunReport]]
) -> list[RunReport]:
    reports: list[RunReport] = []
    for seed in seeds or (None,):
        one = study if seed is None else replace(study, settings=study.settings.updated(seed=seed))
        if len(seeds) > 1:
            one = replace(one, out=study.out / f"seed-{seed}")
        reports.append(await answer(one))
        if reports[-1].error is not None:
            break
    return reports


async def _answered_once(
    study: Study,
    crew: Crew | None,
    limits: Limits | None,
    watch: Watch | None,
    on_reading: Callable[[Reading], None] | None,
) -> RunReport:
    from toulmin.evaluation.run_folder import check
    from toulmin.evaluation.running import Limits, answer_into

    items = study.dataset.items
    if study.concurrency < 1:
        raise UsageError(f"concurrency counts questions from 1, not {study.concurrency}.")
    if study.own.judge is None:
        assembly.check_judge(study.settings.judge)
    asking.job(study, items[0], None)  # a wrong word is told before anything is read or written
    ready, skipped = await _indexed(study, on_reading)
    with asking.opened(ready, study.settings) as opened:
        found = replace(opened, skipped=skipped)
        about = _about(study, found)
        check(study.out, about, items)
        async with _answering(study, ready, found, crew) as answering:
            report = await answer_into(study.out, about, items, answering, limits or Limits(), watch)
            return replace(report, notes=found.notes)


async def _indexed(
    study: Study, on_reading: Callable[[Reading], None] | None
) -> tuple[Sources | None, tuple[Skipped, ...]]:
    """What is searched, its documents in an index, and the files among them that could not be read."""
    wanted = asking.searched(study)
    if wanted is None:
        return None, ()
    return await asyncio.to_thread(opening.indexed, wanted, study.settings, on_reading)


@asynccontextmanager
async def _answering(
    study: Study, ready: Sources | None, found: opening.Opened, crew: Crew | None
) -> AsyncIterator[Answering]:
    """Who answers: this process, or the workers of a cluster."""
    if crew is not None:
        from toulmin.build.cluster import answers

        yield answers(study, ready, crew)
        return
    from toulmin.evaluation.running import answered_by

    async with assembly.equipped(found.retriever, study.settings, study.own) as kit:
        driver = Driver(kit, programs=study.concurrency)
        yield answered_by(driver, partial(asking.job, study, judge=kit.judge, index=found.retriever))


@contextmanager
def _crew(where: Where | None) -> Iterator[Crew | None]:
    """The workers of the cluster that was named, connected until the end; None where none was."""
    if where is None:
        yield None
        return
    from toulmin.driver.ray_cluster import connected

    with connected(where) as crew:
        yield crew


# ---------------------------------------------------------------- run.json


def _about(study: Study, found: opening.Opened) -> dict[str, Any]:
    """What `run.json` says; see `runs.folder`."""
    data = study.dataset
    return {
        "run": 1,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "toulmin": __version__,
        "python": platform.python_version(),
        "machine": {"system": platform.platform(), "cpus": os.cpu_count()},
        "libraries": {name: installed for name in _LIBRARIES if (installed := _version(name))},
        "dataset": {"path": data.path, "form": data.form, "sha256": data.digest},
        "index": _index(study, found),
        "settings": _settings(study),
        "parts": shipped.ready(),
        "concurrency": study.concurrency,
        "command": sys.argv[1:] if Path(sys.argv[0]).name == "toulmin" else None,
    }


@cache
def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def _index(study: Study, found: opening.Opened) -> dict[str, Any] | None:
    """What was searched: an index by its place, size and contents, so that one that changed is noticed."""
    corpus = found.corpus
    if isinstance(found.retriever, asking.NoIndex):
        return None
    if corpus is None:
        return {"retriever": type(found.retriever).__name__}
    return {"path": str(corpus.folder), **asdict(corpus.stats), "sha256": corpus.contents}


def _settings(study: Study) -> dict[str, Any]:
    """Every setting that was set; functions and objects of a caller's own by name."""
    shown = {name: value for name, value in asdict(study.settings).items() if value is not None and name != "index"}
    options = {name: value if _is_plain(value) else repr(value) for name, value in shown.pop("options").items()}
    return {name: value for name, value in shown.items() if value != {}} | {"options": options}


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and _is_plain(item) for name, item in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float | bool)


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


@asynccontextmanager
async def deciding(settings: Settings, own: Judge | None, where: Where | None = None) -> AsyncIterator[Judge | None]:
    """The judge that the settings name (None for "none") or the caller's own, here or at the workers of a cluster.

    What was made here ends with it, a caller's own judge stays as it is.
    """
    if own is None and settings.judge == "none":
        yield None
    elif where is not None:
        from toulmin.build.cluster import judge

        with _crew(where) as crew:
            assert crew is not None
            yield await judge(settings, own, crew)
    elif own is not None:
        yield own
    else:
        made = assembly.judge(settings.judge, settings)
        try:
            yield made
        finally:
            await assembly.closed(made)


def memo_file() -> Path:
    """Where verdicts are kept unless something else is said: in the user's cache."""
    from platformdirs import user_cache_path

    return user_cache_path("toulmin") / "verdicts.sqlite"


async def scored(run: Path, scoring: Scoring, progress: JudgingProgress | None = None) -> dict[str, Any]:
    """Scores a run, each of its seeds, or a result file; writes the scores beside it and gives their document.

    Of several seeds each has scores of its own, and the document is that of them all, a question being the mean of its
    seeds. Raises `ModelError`, and writes nothing, where the judge failed at every pair: what it was not asked about
    would stand for the whole.
    """
    from toulmin.evaluation.scorable import digest, scorable
    from toulmin.evaluation.scores import joined, save
    from toulmin.evaluation.scoring import scored as measured
    from toulmin.metrics.judging import CHUNK, Judging

    found = await asyncio.to_thread(scorable, run)
    judge = _remembering(scoring)
    judging = None if judge is None else Judging(judge, chunk=scoring.chunk or CHUNK, progress=progress)
    models = _models(scoring)
    others = _evidence(scoring, len(found))
    scores = [
        await measured(one, scoring.profile, judging, models, other) for one, other in zip(found, others, strict=True)
    ]
    if judging is not None and judging.refusal is not None:
        raise ModelError(
            f"The judge {judging.name} gave no verdict at all, so nothing was scored: {judging.refusal} Name another"
            " judge, or none for the metrics of strings alone."
        ) from judging.refusal
    for one, score in zip(found, scores, strict=True):
        document = await asyncio.to_thread(save, one.place, score, digest([one]))
    if len(scores) == 1:
        return document
    return await asyncio.to_thread(save, run, joined(scores), digest(found))


def _evidence(scoring: Scoring, seeds: int) -> Sequence[EvidenceRun | None]:
    """The other run whose passages count as evidence: seed by seed where it has as many, else its first."""
    from toulmin.evaluation.scorable import scorable
    from toulmin.evaluation.scoring import EvidenceRun

    if scoring.evidence is None:
        return [None] * seeds
    found = scorable(scoring.evidence)
    name = scoring.evidence.name
    return [EvidenceRun(name, found[i if len(found) == seeds else 0].read) for i in range(seeds)]


def _remembering(scoring: Scoring) -> Judge | None:
    if scoring.judge is None or scoring.memo is None:
        return scoring.judge
    from toulmin.judges.verdict_cache import Remembered

    return Remembered(scoring.judge, scoring.memo)


def _models(scoring: Scoring) -> Models:
    """The models that QA metrics and MAUVE need, where they were named."""
    from toulmin.metrics.choosing import Models

    found = Models()
    if scoring.qa_model is not None:
        from toulmin.metrics.span_reader import SpanReader

        found = replace(found, qa=SpanReader(scoring.qa_model))
    if scoring.mauve_model is not None:
        from toulmin.metrics.mauve_score import Featurizer

        found = replace(found, mauve=Featurizer(scoring.mauve_model))
    return found


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
        """All of them."""
        return sum(self.made.values())


def made_questions(docs: Sequence[str], out: Path, n: int, seed: int, settings: Settings) -> MadeReport:
    """Makes a test set from files and folders, which are indexed as `ask --docs` does, or from an index folder."""
    from toulmin.index import shards
    from toulmin.evaluation.run_folder import replace_file
    from toulmin.stores.address import is_shared
    from toulmin.datasets.synthetic import jsonl, made

    is_index = len(docs) == 1 and (is_shared(docs[0]) or shards.is_index(Path(docs[0])))
    sources = Sources(index=docs[0]) if is_index else Sources(docs=tuple(docs))
    ready, skipped = opening.indexed(sources, settings)
    with indexes.opened_index(ready.index or settings.index) as corpus:
        passages = list(corpus.every_passage())
    items = made(passages, n, seed)
    if not items:
        raise SourceError(
            f"No question could be made from {len(passages)} passages: they hold no English sentence that names its"
            " subject and tells a date, a place, a person or a number of it."
        )
    replace_file(out, jsonl(items))
    kinds = Counter(item.kind or "" for item in items)
    return MadeReport(out, n, dict(kinds), len(passages), opening.not_read(skipped))
