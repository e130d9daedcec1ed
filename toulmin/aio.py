"""The verbs for use inside an event loop (servers, notebooks): `await toulmin.aio.ask(...)`.

The functions of `toulmin` itself are these, run to their end.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toulmin import config
from toulmin.build import indexes, jobs, runs, scoring
from toulmin.build.session import Session, lend
from toulmin.build.sources import Docs, Sources, clean_query, clean_question, sources_of
from toulmin.build.specs import Own
from toulmin.build.study import CONCURRENCY, Study
from toulmin.config import Settings
from toulmin.data import Answer, Hit, Passage
from toulmin.driver.budget import Budget
from toulmin.driver.kit import Judge, LanguageModel, Reader, Retriever
from toulmin.errors import UsageError, unknown_name
from toulmin.methods import Method
from toulmin.stores.address import is_shared

if TYPE_CHECKING:
    from toulmin.build.exporting import ExportReport
    from toulmin.build.scoring import MadeReport
    from toulmin.checking.findings import CheckedFile
    from toulmin.checking.recheck import Recheck
    from toulmin.driver.ray_crew import Where
    from toulmin.evaluation.running import Limits, RunReport
    from toulmin.evaluation.running import Progress as RunProgress
    from toulmin.evaluation.scores import Profile
    from toulmin.indexing.update import IndexReport, Progress
    from toulmin.methods.following import Earlier
    from toulmin.metrics.judging import Progress as JudgingProgress


async def ask(
    question: str,
    *,
    docs: Docs | None = None,
    index: str | os.PathLike[str] | None = None,
    passages: Sequence[Passage] | None = None,
    retriever: str | Retriever | None = None,
    model: str | LanguageModel | None = None,
    verifier: str | LanguageModel | None = None,
    judge: str | Judge | None = None,
    reader: Reader | str | None = None,
    method: str | Method | None = None,
    budget: Budget | None = None,
    on_draft: Callable[[Answer], None] | None = None,
    history: Sequence[Earlier] = (),
    rewrite: bool = True,
    settings: Settings | None = None,
    **options: Any,
) -> Answer:
    """Answers a question from documents, an index, passages, or a retriever of one's own.

    `history` holds the turns before, each an `Answer` or a pair of texts (question, answer): a question that leans on
    them is answered as it reads alone (`Answer.question`; as it was asked: `Answer.asked`), unless `rewrite` is False,
    which also leaves misspelled words as they are. What earlier `Answer`s cited is read again.

    `options` are settings by name (`style`, `k`, `unsupported`, ...) or the method's own. A failure of a model or a
    spent budget gives an answer with status `failed`; unusable sources raise `SourceError`, wrong words `UsageError`.
    """
    parts = {"model": model, "verifier": verifier, "judge": judge, "reader": reader, "method": method}
    places = {"docs": docs, "index": index, "passages": passages, "retriever": retriever}
    call = call_of({**options, **places, **parts, "settings": settings})
    text = clean_question(question)
    job = jobs.job(text, call.settings, by=call.by, budget_=budget, history=history, rewrite=rewrite)
    async with lend(call.sources, call.settings, call.own) as lent:
        return (await lent.answer(job, on_draft)).answer


@dataclass(frozen=True, slots=True)
class Call:
    """What the options of a call name: sources, settings, and the caller's own objects in place of parts."""

    sources: Sources
    settings: Settings
    own: Own = Own()
    by: Method | None = None


def call_of(options: Mapping[str, Any]) -> Call:
    """The options of `ask`. The settings name the caller's own parts too, since an answer shows them."""
    rest = dict(options)
    docs, index, passages, retriever = (rest.pop(name, None) for name in ("docs", "index", "passages", "retriever"))
    if isinstance(retriever, str):
        rest["retriever"], retriever = retriever, None
    ground = rest.pop("settings", None)
    specs = {name: rest.pop(name, None) for name in ("method", "model", "verifier", "judge", "reader")}
    own = {name: None if isinstance(part, str) else part for name, part in specs.items()}
    names = {
        name: str(getattr(part, "name", getattr(part, "__name__", name)))
        for name, part in own.items()
        if part is not None and name != "reader"  # it is no part of an answer's settings
    }
    settings = config.resolve_settings(ground, config.settings_of(rest, **specs)).override(**names)
    method, *parts = own.values()
    return Call(sources_of(docs, index, passages, retriever), settings, Own(*parts), method)


@asynccontextmanager
async def session(**options: Any) -> AsyncIterator[Session]:
    """Sources and parts that stay open for as many questions as come: `await session.ask(...)`, `.search`, `.check`.

    Options as in `ask`, without those of one question.
    An index that changes is noticed within a second; documents are read again by `await session.refresh()`.
    """
    call = call_of(options)
    async with Session(call.sources, call.settings, call.own) as opened:
        yield opened


async def ask_all(
    questions: Iterable[str], *, method: str | Method | None = None, budget: Budget | None = None, **options: Any
) -> AsyncIterator[Answer]:
    """The answer to each question, in order, many at a time over one kit; each has the budget to itself.

    Questions are read only as places become free; options as in `ask`.
    """
    async with session(**options) as opened:
        call = call_of({"settings": opened.settings, "method": method})
        every = (
            jobs.job(clean_question(question), call.settings, by=call.by, budget_=budget) for question in questions
        )
        async for outcome in opened.answers(every):
            yield outcome.answer


async def stream(question: str, **options: Any) -> AsyncIterator[Answer]:
    """Every draft as a whole answer as soon as it is there, the finished answer last; options as in `ask`."""
    drafts: asyncio.Queue[Answer] = asyncio.Queue()
    task = asyncio.create_task(ask(question, on_draft=drafts.put_nowait, **options))
    waiting: asyncio.Task[Answer] | None = None
    try:
        while not task.done() or not drafts.empty():
            waiting = waiting or asyncio.create_task(drafts.get())
            await asyncio.wait({waiting, task}, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                yield waiting.result()
                waiting = None
        yield await task
    finally:
        left = [work for work in (task, waiting) if work is not None]
        for work in left:
            work.cancel()
        await asyncio.gather(*left, return_exceptions=True)


async def check(
    text: str, *, repair: bool = False, path: str | os.PathLike[str] | None = None, **options: Any
) -> Answer:
    """Judges a text that somebody else wrote: its claims against the passages that their `[n]` name.

    `[n]` is the n-th of `passages`. A claim that names none is judged against what a search for it finds. `repair`
    cites, rewrites (by the model) or takes away what fails; `toulmin.methods.repair` reads text and changes off the
    answer. The text, and the file at `path` that it was read from, are no evidence for it. Other options as in `ask`.
    """
    call = call_of(options)
    job = jobs.check_job(text, call.sources.passages or (), call.settings, repair=repair, path=path)
    async with lend(call.sources, call.settings, call.own) as lent:
        return (await lent.answer(job)).answer


async def check_files(
    *files: str | os.PathLike[str],
    baseline: str | os.PathLike[str] | None = None,
    memo: str | os.PathLike[str] | bool = True,
    **options: Any,
) -> tuple[CheckedFile, ...]:
    """Judges the claims of documents that people keep: Markdown, HTML, docx, LaTeX, else all of a text, and folders.

    Headings, code, tables and quotations claim nothing. A footnote, `[@key]` or `[1]` that names a document of the
    sources is a citation, and the claim is held against that document; other claims against what a search finds, what
    they link to first. Each claim has its place in the file, and what fails a rule and the nearest sentence. No file
    is evidence for itself. `baseline` names a file of claims to leave out, each with its reason; verdicts are kept in
    the user's cache, or in the file `memo`, or (False) nowhere.
    Raises `SourceError` for files that cannot be read, after all others were judged: its `checked` has these.
    """
    from toulmin.build import checking

    call = call_of(options)
    chosen = call.settings
    if options.get("judge") is None and chosen.judge == config.TRAINED:
        chosen = chosen.override(judge="cascade")  # a folder of documents is thousands of pairs
    if chosen.fusion is None:
        chosen = chosen.override(fusion="lexical")  # by meaning no more is right (`benchmarks/kept.py`)
    place = _memo(memo)
    async with (
        checking.open_judge(chosen, call.own.judge, place) as decider,
        Session(call.sources, chosen, Own(judge=decider)) as opened,
    ):
        return tuple(await checking.check_files(files, opened, decider, _place(baseline), place))


async def recheck(
    *answers: Answer | str | os.PathLike[str], update: bool = False, **options: Any
) -> tuple[Recheck, ...]:
    """Whether the claims of saved answers still stand in their sources as they are now.

    `answers` are Answers, files of Answer documents or run folders. A claim that stood is `current`, `moved` (its words
    are found elsewhere), `holds` (its evidence changed and bears it out), `stale`, `contradicted` or `gone`; only of
    claims whose evidence changed a judge is asked. `update` writes the answers anew (`mended`), and their files: with
    the citations of now, and what fell repaired or taken away.
    """
    from toulmin.build import checking
    from toulmin.evaluation import saved_answers

    call = call_of(options)
    saved: list[tuple[str | None, Answer]] = []
    for each in answers:
        if isinstance(each, Answer):
            saved.append((None, each))
        elif os.fspath(each) not in [path for path, _ in saved]:
            saved += [(os.fspath(each), answer) for answer in saved_answers.read_answers(Path(each))]
    if update:
        saved_answers.check_writable(path for path, _ in saved if path)
    async with lend(call.sources, call.settings, call.own) as lent:
        found = await checking.recheck_answers(saved, lent)
        if not update:
            return tuple(found)
        found = [await checking.mend(each, lent) for each in found]
    for path in dict.fromkeys(each.path for each in found if each.path and each.mended != each.answer):
        saved_answers.write_answers(Path(path), [each.mended or each.answer for each in found if each.path == path])
    return tuple(found)


async def search(query: str, *, k: int = 10, **options: Any) -> tuple[Hit, ...]:
    """The `k` best passages for a query, best first; sources and settings as in `ask`."""
    plain, call = clean_query(query, k), call_of(options)
    if unknown := set(options) & set(call.settings.options):
        raise unknown_name("option", min(unknown), Settings.__dataclass_fields__)
    async with lend(call.sources, call.settings, Own()) as lent:
        return await lent.search(plain, k)


async def run(
    dataset: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    seeds: Sequence[int] = (),
    limit: int | None = None,
    split: str | None = None,
    concurrency: int = CONCURRENCY,
    attribute: bool = False,
    limits: Limits | None = None,
    on: str | None = None,
    workers: int | None = None,
    gpus_per_worker: float = 0.0,
    on_progress: Callable[[RunProgress], None] | None = None,
    on_reading: Callable[[Progress], None] | None = None,
    **options: Any,
) -> RunReport:
    """Answers every question of a dataset into the folder `out`; interrupted at any moment, the same call goes on.

    Passages come from each question's own, or from the sources named; options as in `ask`, but that every claim is
    kept (`unsupported="keep"`) unless something else is said. `limit` and `split` take a part of the dataset. Several
    `seeds` are as many runs, in folders of their own under `out`; the report is of them all. What went wrong with one
    question is in its answer; `report.error` says why a run stopped early. Raises `UsageError` for a folder that holds
    another run, and `SourceError` for what cannot be read.

    `on` names a Ray cluster ("ray" begins one of this machine) whose `workers` answer instead of this process, each
    with `concurrency` questions in flight; objects of your own are sent there. `docs/scale.md` says what it needs.
    """
    from toulmin.datasets.loading import read

    where = cluster(on, workers, gpus_per_worker)
    call = call_of(options)
    items = await asyncio.to_thread(read, dataset, limit=limit, split=split)
    chosen = runs.study_settings(call.settings, attribute=attribute)
    study = Study(items, call.sources, chosen, Path(out), concurrency, call.own, call.by)
    return await runs.answer_study(study, seeds, limits, on_progress, on_reading, where)


async def score(
    run: str | os.PathLike[str],
    *,
    profile: Profile = "honest",
    judge: str | Judge | None = None,
    memo: str | os.PathLike[str] | bool = True,
    evidence: str | os.PathLike[str] | None = None,
    qa_model: str | os.PathLike[str] | None = None,
    mauve_model: str | os.PathLike[str] | None = None,
    cot: bool = False,
    at_most_citations: int = 3,
    on: str | None = None,
    workers: int | None = None,
    gpus_per_worker: float = 0.0,
    on_progress: JudgingProgress | None = None,
    settings: Settings | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The metrics of a run folder, of all its seeds, or of a result file of ALCE, with 95 % intervals.

    The document is that of `score --json`; it is written beside the run, with the reasons of every number. `judge` is
    a SPEC, an object, or "none" for the metrics of strings alone. Verdicts are kept in the user's cache, or in the file
    `memo`, or (False) nowhere. `evidence` is another run against whose passages sentences are judged; `qa_model` and
    `mauve_model` are folders of the models that QA-EM/F1/Hit and MAUVE need, and without which they are left out.
    `cot` and `at_most_citations` are ALCE's. `on`, `workers` and `gpus_per_worker` name a cluster
    whose workers judge, as in `run`.
    """
    from toulmin.metrics.statements import Counting

    _check_profile(profile)
    counting = Counting(cot, at_most_citations)
    if at_most_citations < 1 or (profile != "alce" and counting != Counting()):
        raise UsageError("cot, and at_most_citations from 1, are of the profile alce; name it or leave them out.")
    where = cluster(on, workers, gpus_per_worker)
    chosen = config.resolve_settings(settings, config.settings_of(options, judge=judge))
    async with scoring.open_judge(chosen, None if isinstance(judge, str) else judge, where) as decider:
        plan = scoring.Scoring(
            profile, decider, _memo(memo), _place(qa_model), _place(mauve_model), _place(evidence),
            None if where is None else scoring.WAVE, counting,
        )  # fmt: skip
        return await scoring.score_run(Path(run), plan, on_progress)


def cluster(on: str | None, workers: int | None, gpus_per_worker: float) -> Where | None:
    """The cluster that is named; None where none is."""
    if on is not None:
        from toulmin.driver.ray_crew import Where

        return Where(on, workers, gpus_per_worker)
    if workers is not None or gpus_per_worker:
        raise UsageError("workers and gpus_per_worker are of a cluster; name one too, for example --on ray.")
    return None


def _check_profile(profile: str) -> None:
    if profile not in scoring.PROFILES:
        raise unknown_name("profile", profile, scoring.PROFILES)


def _memo(memo: str | os.PathLike[str] | bool) -> Path | None:
    """The file in which verdicts are kept."""
    return None if memo is False else scoring.memo_file() if memo is True else Path(memo)


async def compare(
    *runs: str | os.PathLike[str],
    profile: Profile | None = None,
    judge: str | Judge | None = None,
    html: str | os.PathLike[str] | None = None,
    plots: str | os.PathLike[str] | None = None,
    memo: str | os.PathLike[str] | bool = True,
    settings: Settings | None = None,
    **options: Any,
) -> dict[str, Any]:
    """How far each run is above the first one, paired on the same questions, with 95 % intervals.

    The document is that of `compare --json`. With a `profile` or a `judge` all runs are scored by it; otherwise the
    scores that all of them have are compared, and where there is none, those of the honest profile by the lexical
    judge are made. `html` writes the report, one file whose numbers open the sentences behind them; `plots` is a
    folder for its plots as SVG and PNG.
    """
    from toulmin.evaluation import comparison

    if len(runs) < 2:
        raise UsageError(f"A comparison needs two runs or more, not {len(runs)}.")
    chosen = config.resolve_settings(settings, config.settings_of(options, judge=judge))
    paths = [Path(run) for run in runs]
    loaded = None if profile or judge is not None else await asyncio.to_thread(comparison.load_runs, paths)
    if loaded is None or not loaded.scores[0]:
        _check_profile(profile or "honest")
        async with scoring.open_judge(chosen, None if isinstance(judge, str) else judge) as decider:
            plan = scoring.Scoring(profile or "honest", decider, _memo(memo))
            for path in paths:
                await scoring.score_run(path, plan)
        key = (plan.profile, decider.name if decider else None, None)
        loaded = await asyncio.to_thread(comparison.load_runs, paths, key)
    rows = comparison.differences(loaded)
    notes = comparison.notes_on(loaded)
    if html is not None or plots is not None:
        notes += comparison.write_reports(loaded, rows, _place(html), _place(plots))
    return comparison.document(loaded, rows) | {"notes": notes}


async def export(
    source: str | os.PathLike[str],
    name: str,
    *,
    out: str | os.PathLike[str] | None = None,
    style: str = "plain",
) -> ExportReport:
    """Writes saved answers, or those of a run, as another tool knows them or as documents for people.

    `toulmin.formats.export` and `toulmin.formats.press` list the names; `style` is that of a document's references, as
    in `toulmin.export_answer`. `source` is a file of Answer documents, Markdown that `ask --save` wrote, or a run
    folder. The report names the files, by default beside the source, and what was cut.
    """
    from toulmin.build import exporting

    return await asyncio.to_thread(exporting.export, Path(source), name, _place(out), style)


async def questions(
    paths: Docs,
    *,
    out: str | os.PathLike[str],
    n: int = 100,
    seed: int = 0,
    settings: Settings | None = None,
    **options: Any,
) -> MadeReport:
    """Makes a test set of at most `n` questions from files and folders, or from an index folder, with no labels.

    Each is a sentence with a gap. A third cannot be answered: the passages that hold the answer are withheld.
    Each is a line of JSON with its gold passage, to be given to `run` over the same documents. Fewer come where fewer
    can be made well; the report says how many.
    """
    chosen = config.resolve_settings(settings, options)
    listed = sources_of(paths).docs
    return await asyncio.to_thread(scoring.make_questions, listed, Path(out), n, seed, chosen)


def _place(path: str | os.PathLike[str] | None) -> Path | None:
    return None if path is None else Path(path)


async def index(
    paths: Docs,
    *,
    into: str | os.PathLike[str] | None = None,
    on: str | None = None,
    workers: int | None = None,
    gpus_per_worker: float = 0.0,
    on_progress: Callable[[Progress], None] | None = None,
    settings: Settings | None = None,
    **options: Any,
) -> IndexReport:
    """Reads files and folders into a persistent index; a second call reads only what changed.

    `into` is a folder, or the address of a shared corpus (`s3://BUCKET/CORPUS`, `gs://`, `az://`, `lance:FOLDER`,
    `postgresql://HOST/DATABASE/CORPUS`).
    With such an address in place of `paths`, the index of the folder is to hold that corpus whole.

    `on`, `workers` and `gpus_per_worker` name a cluster whose workers write a shared corpus, as in `run`.
    """
    where = cluster(on, workers, gpus_per_worker)
    chosen = config.resolve_settings(settings, options)
    listed = sources_of(paths).docs
    place = chosen.index if into is None else os.fspath(into)
    if len(listed) == 1 and is_shared(listed[0]):
        if where is not None:
            raise UsageError("A shared corpus is copied by one process; leave out `on`.")
        return await asyncio.to_thread(indexes.copy_index, listed[0], place, chosen, on_progress)
    update = partial(indexes.update_index, where=where)
    return await asyncio.to_thread(update, listed, place, chosen, on_progress)
