"""The functions of `toulmin` for use inside an event loop: `await toulmin.aio.ask(...)`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toulmin import config
from toulmin.build import indexes, jobs, runs, scoring
from toulmin.build.runs import table as table
from toulmin.build.session import Session, lend
from toulmin.build.sources import Docs, call_of, clean_query, clean_question, sources_of
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
    from toulmin.build.scoring import QuestionSummary
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
    passages: Sequence[Passage | str] | None = None,
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
    """Answers a question from documents, an index, passages or your own retriever.

    `history` holds the earlier turns: `Answer`s, whose cited passages are read again, or pairs of question and answer.
    A question that refers to them is rewritten (`Answer.question`; as asked: `Answer.asked`). With `rewrite=False`
    nothing is rewritten, and spelling is not corrected.

    `options` are settings (`style`, `k`, `unsupported`, ...) or options of the method. A model failure or a spent
    budget gives an answer with status `failed`. Raises `SourceError` and `UsageError`.
    """
    parts = {"model": model, "verifier": verifier, "judge": judge, "reader": reader, "method": method}
    places = {"docs": docs, "index": index, "passages": passages, "retriever": retriever}
    call = call_of({**options, **places, **parts, "settings": settings})
    text = clean_question(question)
    job = jobs.job(text, call.settings, by=call.by, budget_=budget, history=history, rewrite=rewrite)
    async with lend(call) as lent:
        return (await lent.answer(job, on_draft)).answer


@asynccontextmanager
async def session(**options: Any) -> AsyncIterator[Session]:
    """Keeps sources and parts open for many questions: `await session.ask(...)`, `.search`, `.check`.

    Options as in `ask`, without those of one question. A changed index is noticed within a second; `await
    session.refresh()` reads changed documents.
    """
    call = call_of(options)
    async with Session(call.sources, call.settings, call.own) as opened:
        yield opened


async def ask_all(
    questions: Iterable[str], *, method: str | Method | None = None, budget: Budget | None = None, **options: Any
) -> AsyncIterator[Answer]:
    """Answers each question, in order, many at a time. The budget is for each question; options as in `ask`."""
    async with session(**options) as opened:
        call = call_of({"settings": opened.settings, "method": method})
        every = (
            jobs.job(clean_question(question), call.settings, by=call.by, budget_=budget) for question in questions
        )
        async for outcome in opened.answers(every):
            yield outcome.answer


async def stream(question: str, **options: Any) -> AsyncIterator[Answer]:
    """Yields each draft as a whole answer, the finished answer last; options as in `ask`."""
    drafts: asyncio.Queue[Answer | None] = asyncio.Queue()
    task = asyncio.create_task(ask(question, on_draft=drafts.put_nowait, **options))
    task.add_done_callback(lambda _: drafts.put_nowait(None))
    try:
        while (draft := await drafts.get()) is not None:
            yield draft
        yield await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def check(
    text: str, *, repair: bool = False, path: str | os.PathLike[str] | None = None, **options: Any
) -> Answer:
    """Judges the claims of a text against the passages that they cite.

    `[n]` names the n-th of `passages`; for a claim that cites none a search finds the evidence. `repair` cites,
    rewrites (by the model) or removes failing claims; `toulmin.methods.repair` reads text and changes from the answer.
    The text, and the file at `path` with it, are no evidence for itself. Other options as in `ask`.
    """
    call = call_of(options)
    job = jobs.check_job(text, call.sources.passages or (), call.settings, repair=repair, path=path)
    async with lend(call) as lent:
        return (await lent.answer(job)).answer


async def check_files(
    *files: str | os.PathLike[str],
    baseline: str | os.PathLike[str] | None = None,
    memo: str | os.PathLike[str] | bool = True,
    **options: Any,
) -> tuple[CheckedFile, ...]:
    """Judges the claims of Markdown, HTML, docx, LaTeX and text files, and of folders of them.

    Headings, code, tables and quotations are no claims. A footnote, `[@key]` or `[1]` that names a document of the
    sources is a citation: the claim is judged against that document. Other claims are judged against what a search
    finds, linked documents first. Each claim has its place in the file; a failing one has its rule and the nearest
    sentence. No file is evidence for itself. The file `baseline` lists claims to leave out. Verdicts are kept in the
    user's cache, in the file `memo`, or (False) nowhere.
    Raises `SourceError` for unreadable files after judging the others, which its `checked` holds.
    """
    from toulmin.build import checking

    call = call_of(options)
    chosen = call.settings
    if chosen.fusion is None:
        chosen = chosen.override(fusion="lexical")  # search by meaning finds no more (`benchmarks/kept.py`)
    file = _memo(memo)
    async with scoring.open_judge(chosen, call.own.judge, file) as decider:
        if decider is None:
            raise UsageError("A check needs a judge; name one other than none.")
        async with Session(call.sources, chosen, Own(judge=decider)) as opened:
            return tuple(await checking.check_files(files, opened, decider, _path(baseline), file))


async def recheck(
    *answers: Answer | str | os.PathLike[str], update: bool = False, **options: Any
) -> tuple[Recheck, ...]:
    """Checks whether the current sources still support the claims of saved answers.

    `answers` are Answers, files of Answer documents or run folders. A supported claim is `current`, `moved` (its words
    stand elsewhere), `holds` (its changed evidence supports it), `stale`, `contradicted` or `gone`; the judge decides
    only claims whose evidence changed. `update` rewrites the answers (`mended`) and their files with current
    citations; fallen claims are repaired or removed.
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
    async with lend(call) as lent:
        rechecks = await checking.recheck_answers(saved, lent)
        if not update:
            return tuple(rechecks)
        rechecks = [await checking.mend(each, lent) for each in rechecks]
    for path in dict.fromkeys(each.path for each in rechecks if each.path and each.mended != each.answer):
        saved_answers.write_answers(Path(path), [each.mended or each.answer for each in rechecks if each.path == path])
    return tuple(rechecks)


async def search(query: str, *, k: int = 10, **options: Any) -> tuple[Hit, ...]:
    """Finds the `k` best passages for a query, best first; sources and settings as in `ask`."""
    plain, call = clean_query(query, k), call_of(options)
    if unknown := set(options) & set(call.settings.options):
        raise unknown_name("option", min(unknown), Settings.__dataclass_fields__)
    async with lend(call._replace(own=Own())) as lent:
        return await lent.search(plain, k, only=call.settings.only)


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
    """Answers every question of a dataset into the folder `out`; the same call continues an interrupted run.

    Passages come from the named sources, else from each question. Options as in `ask`, with `unsupported="keep"` by
    default. `limit` and `split` select a part of the dataset. Each of several `seeds` is a run in a subfolder; the
    report covers all. An answer's notes hold its error; `report.error` is why a run stopped early. Raises `UsageError`
    for a folder with another run, and `SourceError`.

    `on` names a Ray cluster ("ray" starts one on this machine) whose `workers` answer, each with `concurrency`
    questions at once; your own objects are sent there (`docs/scale.md`).
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
    """Scores a run folder (all its seeds) or an ALCE result file, with 95 % intervals.

    The document is that of `score --json`; it is written beside the run, with the reasons for every number. `judge` is
    a SPEC, an object, or "none" for string metrics only. Verdicts are kept in the user's cache, in the file `memo`, or
    (False) nowhere. Sentences are also judged against the passages of the run `evidence`. QA-EM/F1/Hit and MAUVE need
    the model folders `qa_model` and `mauve_model`. `cot` and `at_most_citations` are for the profile alce. `on`,
    `workers` and `gpus_per_worker` name a cluster whose workers judge, as in `run`.
    """
    from toulmin.metrics.statements import Counting

    _check_profile(profile)
    counting = Counting(cot, at_most_citations)
    if at_most_citations < 1 or (profile != "alce" and counting != Counting()):
        raise UsageError("cot and at_most_citations (at least 1) need the profile alce; name it or leave them out.")
    where = cluster(on, workers, gpus_per_worker)
    chosen = config.resolve_settings(settings, config.settings_of(options, judge=judge))
    own = None if isinstance(judge, str) else judge
    async with scoring.open_judge(chosen, own, _memo(memo), where) as decider:
        chunk = None if where is None else scoring.WAVE
        models = _path(qa_model), _path(mauve_model)
        plan = scoring.Scoring(profile, decider, *models, _path(evidence), chunk, counting)
        return await scoring.score_run(Path(run), plan, on_progress)


def cluster(on: str | None, workers: int | None, gpus_per_worker: float) -> Where | None:
    if on is not None:
        from toulmin.driver.ray_crew import Where

        return Where(on, workers, gpus_per_worker)
    if workers is not None or gpus_per_worker:
        raise UsageError("workers and gpus_per_worker need a cluster; name one too, for example --on ray.")
    return None


def _check_profile(profile: str) -> None:
    if profile not in scoring.PROFILES:
        raise unknown_name("profile", profile, scoring.PROFILES)


def _memo(memo: str | os.PathLike[str] | bool) -> Path | None:
    return None if memo is False else config.cache_folder() / "verdicts.sqlite" if memo is True else Path(memo)


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
    """Compares each run with the first, paired on the same questions, with 95 % intervals.

    The document is that of `compare --json`. A `profile` or `judge` scores all runs first. Otherwise their shared
    scores are compared; without any, the honest profile and the settings' judge score them. `html` is the file of a
    report whose numbers open their sentences; `plots` is a folder for plots as SVG and PNG.
    """
    from toulmin.evaluation import comparison

    if len(runs) < 2:
        raise UsageError(f"A comparison needs two runs or more, not {len(runs)}.")
    chosen = config.resolve_settings(settings, config.settings_of(options, judge=judge))
    paths = [Path(run) for run in runs]
    loaded = None if profile or judge is not None else await asyncio.to_thread(comparison.load_runs, paths)
    if loaded is None or not loaded[0].scores:
        _check_profile(profile or "honest")
        async with scoring.open_judge(chosen, None if isinstance(judge, str) else judge, _memo(memo)) as decider:
            plan = scoring.Scoring(profile or "honest", decider)
            for path in paths:
                await scoring.score_run(path, plan)
        key = (plan.profile, decider.name if decider else None, None)
        loaded = await asyncio.to_thread(comparison.load_runs, paths, key)
    rows = comparison.differences(loaded)
    notes = list(comparison.notes_on(loaded))
    if html is not None or plots is not None:
        notes += comparison.write_reports(loaded, rows, _path(html), _path(plots))
    return comparison.document(loaded, rows) | {"notes": notes}


async def export(
    source: str | os.PathLike[str], name: str, *, out: str | os.PathLike[str] | None = None, style: str = "plain"
) -> ExportReport:
    """Writes saved answers, or those of a run, in another tool's format or as documents.

    `toulmin.formats.export` and `toulmin.formats.press` list the names; `style` is for references, as in
    `toulmin.export_answer`. `source` is a file of Answer documents, Markdown of `ask --save`, or a run folder. The
    report lists the files, by default beside the source, and what was cut.
    """
    from toulmin.build import exporting

    return await asyncio.to_thread(exporting.export, Path(source), name, _path(out), style)


async def questions(
    paths: Docs,
    *,
    out: str | os.PathLike[str],
    n: int = 100,
    seed: int = 0,
    settings: Settings | None = None,
    **options: Any,
) -> QuestionSummary:
    """Makes a test set of at most `n` questions from unlabelled files and folders, or from an index folder.

    Each question is a sentence with a gap, as a line of JSON with its gold passage, for `run` over the same documents.
    A third cannot be answered: the passages with the answer are withheld.
    """
    chosen = config.resolve_settings(settings, options)
    listed = sources_of(paths).docs
    return await asyncio.to_thread(scoring.make_questions, listed, Path(out), n, seed, chosen)


def _path(path: str | os.PathLike[str] | None) -> Path | None:
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
    """Reads files and folders into an index; a second call reads only what changed.

    `into` is a folder or the address of a shared corpus (`s3://BUCKET/CORPUS`, `gs://`, `az://`, `lance:FOLDER`,
    `postgresql://HOST/DATABASE/CORPUS`). Such an address as `paths` copies that corpus into the folder.

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
    return await asyncio.to_thread(indexes.update_index, listed, place, chosen, on_progress, where=where)
