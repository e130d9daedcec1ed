"""Runs: a method answers a whole dataset into a run folder; tables ask each document."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, aclosing, closing, nullcontext, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from toulmin import __version__
from toulmin.build import jobs, parts
from toulmin.build.jobs import is_written
from toulmin.build.session import Session
from toulmin.build.sources import OpenSources, bm25_constants, call_of, clean_question
from toulmin.build.study import CONCURRENCY, NoIndex, Study, job, sources_for
from toulmin.config import Settings
from toulmin.data import Answer, Passage, content_id
from toulmin.errors import SourceError, UsageError, unknown_name
from toulmin.retrieval.bm25 import OneDocument
from toulmin.runtime import shipped

if TYPE_CHECKING:
    from toulmin.driver.drive import Job
    from toulmin.driver.ray_crew import Crew, Where
    from toulmin.evaluation.running import Answering, Limits, RunReport, Watch
    from toulmin.formats.answer_table import Row
    from toulmin.indexing.update import Progress as Reading

# Their version can change an answer.
_LIBRARIES = "numpy onnxruntime PyStemmer tantivy tokenizers torch transformers xllamacpp".split()


def study_settings(settings: Settings, *, attribute: bool = False) -> Settings:
    """The default of a run: every claim is kept."""
    chosen = settings.override(unsupported=settings.unsupported or "keep")
    return chosen.override(options={"attribute": True}) if attribute else chosen


# ---------------------------------------------------------------- the run


async def answer_study(
    study: Study,
    seeds: Sequence[int] = (),
    limits: Limits | None = None,
    watch: Watch | None = None,
    on_reading: Callable[[Reading], None] | None = None,
    where: Where | None = None,
) -> RunReport:
    """Runs the study once for each seed, several seeds in subfolders; a run that stops early is the last.

    The workers of the cluster `where` answer, else this process.
    """
    from toulmin.evaluation.run_folder import is_run
    from toulmin.evaluation.running import merge_reports

    if len(seeds) > 1 and is_run(study.out):
        raise UsageError(f"{study.out} contains a single run; name another folder for several seeds.")
    with connect_crew(where) as crew:
        reports: list[RunReport] = []
        for seed in seeds or (None,):
            seeded = study if seed is None else replace(study, settings=study.settings.override(seed=seed))
            if len(seeds) > 1:
                seeded = replace(seeded, out=study.out / f"seed-{seed}")
            reports.append(await _answer_once(seeded, crew, limits, watch, on_reading))
            if reports[-1].error is not None:
                break
    return reports[0] if len(seeds) <= 1 else merge_reports(study.out, reports)


async def _answer_once(
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
        raise UsageError(f"concurrency should be at least 1, not {study.concurrency}.")
    if study.own.judge is None:
        parts.JUDGES.find(study.settings.judge)
    job(study, items[0], None)  # raises usage errors before anything is read or written
    session = Session(sources_for(study), study.settings, study.own, programs=study.concurrency, on_progress=on_reading)
    async with session:
        with session.use() as sources:
            about = _about(study, sources)
            check(study.out, about, items)
            answering = _answering(study, session, sources, crew)
            report = await answer_into(study.out, about, items, answering, limits or Limits(), watch)
            return replace(report, notes=sources.notes)


def _answering(study: Study, session: Session, sources: OpenSources, crew: Crew | None) -> Answering:
    if crew is not None:
        from toulmin.build.cluster import answers

        return answers(study, session.prepare(), crew)
    from toulmin.evaluation.running import driver_answering

    kit, driver = session.equip()
    return driver_answering(driver, partial(job, study, judge=kit.judge, index=sources.retriever))


def connect_crew(where: Where | None) -> AbstractContextManager[Crew | None]:
    if where is None:
        return nullcontext()
    from toulmin.driver.ray_cluster import join_cluster

    return join_cluster(where)


# ---------------------------------------------------------------- run.json


def _about(study: Study, sources: OpenSources) -> dict[str, Any]:
    """The content of `run.json`; see `evaluation.run_folder`."""
    data = study.dataset
    return {
        "run": 1,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "toulmin": __version__,
        "python": platform.python_version(),
        "machine": {"system": platform.platform(), "cpus": os.cpu_count()},
        "libraries": {name: installed for name in _LIBRARIES if (installed := _version(name))},
        "dataset": {"path": data.path, "form": data.form, "sha256": data.digest},
        "index": _index(study, sources),
        "settings": _settings(study),
        "parts": shipped.ready(),
        "concurrency": study.concurrency,
        "command": sys.argv[1:] if Path(sys.argv[0]).name == "toulmin" else None,
    }


@cache
def _version(library: str) -> str | None:
    with suppress(PackageNotFoundError):
        return version(library)
    return None


def _index(study: Study, sources: OpenSources) -> dict[str, Any] | None:
    """The path, size and contents of the index, so that a change is noticed."""
    corpus = sources.corpus
    if isinstance(sources.retriever, NoIndex):
        return None
    if corpus is None:
        return {"retriever": type(sources.retriever).__name__}
    return {"path": str(corpus.folder), **asdict(corpus.stats), "sha256": corpus.contents}


def _settings(study: Study) -> dict[str, Any]:
    """All settings with a value; a caller's functions and objects by name."""
    shown = {name: value for name, value in asdict(study.settings).items() if value is not None and name != "index"}
    options = {name: value if is_written(value) else repr(value) for name, value in shown.pop("options").items()}
    return {name: value for name, value in shown.items() if value != {}} | {"options": options}


# ---------------------------------------------------------------- a table


async def table(
    questions: Iterable[str],
    *,
    out: str | os.PathLike[str] | None = None,
    on_progress: Watch | None = None,
    on_reading: Callable[[Reading], None] | None = None,
    **options: Any,
) -> list[Row]:
    """Answers each question from each document alone, by default in style short. Options as in `ask`.

    `out` is a .csv, .xlsx, .html or .json file; a journal beside it keeps finished cells. Unreadable files get failed
    answers.
    """
    from toulmin.evaluation.run_folder import replace_file
    from toulmin.evaluation.run_journal import Journal, entries
    from toulmin.evaluation.running import Limits, Running, outcome_record
    from toulmin.formats import answer_json
    from toulmin.formats.answer_table import FORMS, Row

    call, file = call_of(options), None if out is None else Path(out)
    if file and file.suffix not in FORMS:
        raise unknown_name("ending of a table", file.suffix, FORMS)
    settings = call.settings.override(style=call.settings.style or "short")
    jobs_asked = [jobs.job(text, settings, by=call.by) for text in dict.fromkeys(map(clean_question, questions))]
    if not jobs_asked:
        raise UsageError("A table needs at least one question.")

    def is_ours(path: str | None) -> bool:
        return bool(file and path and path.startswith(os.path.abspath(file)))  # also the journal beside it

    folder = nullcontext(file.parent) if file else TemporaryDirectory()
    async with Session(call.sources, settings, call.own, programs=CONCURRENCY, on_progress=on_reading) as session:
        with folder as place, closing(Journal(Path(place) / f"{file.name if file else ''}.cells")) as journal:
            corpus = session.read(lambda corpus: corpus)
            listed = corpus.select(settings.only)[0] if settings.only else corpus.documents()
            documents = [document for document in listed if not is_ours(document.path)]
            cells = {document: _cells(corpus.passages_of(document), jobs_asked, settings) for document in documents}
            running = Running(journal, list(chain(*cells.values())), Limits(), on_progress)
            remaining = takewhile(lambda _: not running.is_over(), running.remaining_items())
            async with aclosing(session.equip()[1].answers(remaining)) as outcomes:
                async for outcome in outcomes:
                    running.keep(outcome_record(outcome))
            if running.error is not None:
                raise running.error
            kept = {entry.id: answer_json.parse(entry.answer) for entry in entries(journal.path)}
            rows = []
            for document, row in cells.items():
                answers = [await session.placed(kept[job.id], corpus) for job in row]
                where = document.path or document.url or ""
                rows.append(Row(f"{Path(where).name} {document.record or ''}".strip(), where, tuple(answers)))
            for unread in (each for each in corpus.skipped() if not is_ours(each.path)):
                failed = [Answer(j.question, j.style, j.method, "failed", notes=(unread.reason,)) for j in jobs_asked]
                rows.append(Row(Path(unread.path).name, unread.path, tuple(failed)))
    if not rows:
        raise SourceError("A table needs at least one document beside itself.")
    rows.sort(key=lambda row: row.place)
    if file:
        replace_file(file, FORMS[file.suffix](rows))
    return rows


def _cells(passages: Sequence[Passage], asked: Sequence[Job], settings: Settings) -> list[Job]:
    # An id is made from all that the answer depends on: a cell is asked again if any of it changed.
    about = repr((__version__, shipped.ready(), replace(settings, index="", only=None), passages))
    document = OneDocument(passages, *bm25_constants(settings))
    return [replace(job, id=content_id(about, job.question), retriever=document) for job in asked]
