"""The commands that answer, search and index."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.util import find_spec
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from toulmin import __version__
from toulmin.cli import options, show
from toulmin.cli.options import settings_from
from toulmin.data import Answer, Fusion
from toulmin.errors import SourceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from toulmin.build.session import Rows
    from toulmin.build.sources import Sources
    from toulmin.config import Settings
    from toulmin.driver.drive import Job, Outcome, Watch

app = App(
    name="toulmin",
    help="Answer questions from your own documents. Every sentence cites its source and is checked against it.\n\n"
    'Start with:  toulmin demo\n\nThen:  toulmin ask "Your question?" --docs FOLDER',
    version=__version__,
    help_format="markdown",  # joins the lines of a paragraph
    default_parameter=Parameter(negative=(), show_default=False),
    suppress_keyboard_interrupt=False,  # `cli.run` reports the interruption
)


@app.command
def demo(*, json: options.Json = False, explain: options.Explain = False) -> int:
    """Answer a question from a small corpus in the package, and show what to try next.

    Example:  toulmin demo
    """
    from toulmin import demo as shipped

    asking = options.Asking(docs=(str(shipped.FOLDER),), json=json, explain=explain)
    code = ask(shipped.QUESTION, asking=asking)
    if not json:
        show.next_steps(shipped.UNANSWERED, shipped.MISTAKEN, str(shipped.FOLDER))
    return code


@app.command
def ask(
    question: str,
    /,
    *,
    asking: options.Asking = options.Asking(),
    parts: options.Parts = options.Parts(),
    wait: options.Wait = None,
    save: Path | None = None,
    follow: bool = False,
) -> int:
    """Answer a question from your documents. Every claim shows its source, the verdict and the source's words.

    Example:  toulmin ask "When was the lighthouse lit?" --docs notes/

    Parameters
    ----------
    question
        The question.
    save
        Write the answer to this file too: .md (with FILE.md.json for `recheck`), .docx, .tex or .html; references
        alone as .bib, .ris or .csl.json; any other ending gets the Answer document.
    follow
        Answer again whenever files of --docs change, until Ctrl-C.
    """
    from toulmin.build import jobs
    from toulmin.build.sources import FIRST_SECONDS, clean_question

    options.check_target(save)
    if follow and not asking.docs:
        raise UsageError("--follow needs --docs: only their files are watched.")
    if follow and find_spec("watchfiles") is None:
        raise UsageError("--follow needs watchfiles; run: pip install 'toulmin[server]'")
    chosen = asking.settings(parts)
    job = jobs.job(clean_question(question), chosen)
    within = None if (wait if wait is not None else not sys.stdout.isatty()) else FIRST_SECONDS
    sources, json, explain = sources_here(asking, chosen), asking.json, asking.explain
    if not follow:
        return answer_job(job, sources, chosen, json=json, explain=explain, save=save, within=within).exit_code
    import asyncio

    from toulmin.build.session import Session
    from toulmin.cli.chatting import follow_files

    with show.indexing() as on_progress:
        session = Session(sources, chosen, on_progress=on_progress)
        session.prepare()
    asyncio.run(follow_files(session, job, sources.docs, lambda answer: _tell(answer, save, json, explain)))
    return 0


@app.command
def chat(
    *, asking: options.Asking = options.Asking(), parts: options.Parts = options.Parts(), as_asked: bool = False
) -> int:
    """Answer one question a line; each may refer to those before it. /help lists the commands.

    Example:  toulmin chat --docs notes/

    Parameters
    ----------
    as_asked
        Answer every question as you typed it, without regard to those before it.
    """
    from toulmin.build.session import Session
    from toulmin.cli.chatting import converse

    chosen = asking.settings(parts)
    with show.indexing() as on_progress:
        session = Session(sources_here(asking, chosen), chosen, on_progress=on_progress)
        session.prepare()
    converse(session, rewrite=not as_asked, json=asking.json, explain=asking.explain)
    return 0


def sources_here(place: options.Place, settings: Settings) -> Sources:
    """What is named, else the index, else the files of this folder; the home folder may hold too many."""
    from toulmin.build.sources import Sources
    from toulmin.config import Settings

    sources, here = place.sources, Path.cwd()
    is_set = not sources.is_open or settings.retriever or settings.index != Settings().index
    if is_set or Path(settings.index).exists() or here in (Path.home(), Path(here.anchor)):
        return sources
    from toulmin.documents.loaders import find_files

    if not find_files([here])[0]:
        return sources
    print(f"No index here: searching the files of this folder, {here}.", file=sys.stderr)
    return Sources(docs=(str(here),))


def answer_job(
    job: Job,
    sources: Sources,
    settings: Settings,
    *,
    json: bool,
    explain: bool,
    save: Path | None = None,
    within: float | None = None,
) -> Outcome:
    """Runs a job, saves and shows its answer, then reads the files that `within` seconds left out.

    An unanswered question is then asked again.
    """
    import asyncio

    from toulmin.build.parts import check_key
    from toulmin.build.session import Session

    async def answer(on_draft: Watch | None) -> Outcome:
        async with opened as session:
            return await session.answer(job, on_draft)

    with show.indexing() as on_progress:
        opened = Session(sources, settings, on_progress=on_progress, within=within)
        opened.prepare()
    with show.watching() as on_draft:
        outcome = asyncio.run(answer(on_draft))
    if outcome.answer.status == "abstained" and not outcome.answer.usage.calls:
        check_key(settings.model, settings)  # else the first word of a missing one would come with the first hit
    _tell(outcome.answer, save, json, explain)
    are_all_read = bool(opened.unread) and _read_rest(opened.unread, sources, settings)
    if are_all_read and outcome.answer.status == "abstained" and not json:
        return answer_job(job, sources, settings, json=json, explain=explain, save=save)
    return outcome


def _tell(answer: Answer, save: Path | None, json: bool, explain: bool) -> None:
    if save is not None:  # first: nobody may read what is printed
        from toulmin.evaluation.saved_answers import write_answers

        write_answers(save, [answer])
    show.answer(answer, as_json=json, explain=explain)


def _read_rest(unread: int, sources: Sources, settings: Settings) -> bool:
    """False if interrupted."""
    from toulmin.build.sources import index_docs

    print(f"Reading the other {unread} files. Ctrl-C stops; the next question continues.", file=sys.stderr)
    sys.stdout.flush()
    with suppress(KeyboardInterrupt), show.indexing() as on_progress:
        index_docs(sources, settings, on_progress)
        return True
    return False


@app.command
def search(
    query: str,
    /,
    *,
    place: options.Place = options.Place(),
    k: int = 10,
    fusion: Fusion | None = None,
    set_: options.Sets = (),
    json: options.Json = False,
) -> int:
    """Show the passages that rank best for a query.

    Example:  toulmin search "first lighthouse" --docs notes/ --k 5

    Parameters
    ----------
    query
        The words to look for.
    k
        Show this many passages.
    fusion
        Rank by words (lexical), by meaning (dense) or by both (rrf). Default: both if the index has vectors.
    """
    from toulmin import config
    from toulmin.build.session import Session
    from toulmin.build.sources import clean_query

    chosen = settings_from(set_, index=place.index, only=place.only or None, fusion=fusion)
    config.no_options(chosen)
    plain, sources = clean_query(query, k), sources_here(place, chosen)
    with show.indexing() as on_progress, Session(sources, chosen, on_progress=on_progress) as session:
        (hits,) = _wait_for(session.rank([plain], k))
        with session.use() as now:
            notes = now.notes
    show.notes(notes)
    show.hits(query, hits, as_json=json)
    return 0


@app.command
def index(
    paths: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    /,
    *,
    into: Annotated[str | None, Parameter(name=["--into", "--index"])] = None,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    encoder: str | None = None,
    on: str | None = None,
    workers: options.Workers = None,
    gpus_per_worker: options.Gpus = 0.0,
    strict: bool = False,
    set_: options.Sets = (),
    json: options.Json = False,
) -> int:
    """Read files and folders into an index. A second run reads only what changed.

    Reads txt, md, rst, adoc, man, html, pdf, docx, doc (with LibreOffice), odt, rtf, pptx, xlsx, xls, xlsb, ods, csv,
    epub, eml, mbox, msg, vtt, srt, source code, jsonl (_id, title, text), tsv of passages, and ALCE json. bib, ris and
    CSL-JSON describe others.

    Example:  toulmin index notes/ papers/ --into library/

    Parameters
    ----------
    paths
        The files and folders to read.
    into
        Write to this folder (default: .toulmin) or shared corpus: s3://BUCKET/CORPUS, gs://, az://, lance:FOLDER or
        postgresql://HOST/DATABASE/CORPUS.
    from_
        Copy the shared corpus at this address into the folder; name no paths.
    encoder
        Encode the passages for search by meaning: embedded, onnx:FOLDER, transformer:FOLDER, or none to drop the
        vectors. Later runs keep the vectors up to date.
    on
        Let the workers of a Ray cluster write a shared corpus: ray starts one here, ray://HOST:PORT names one.
    strict
        Exit with code 3 if a file cannot be read.
    """
    from toulmin import aio, config
    from toulmin.build import indexes

    if bool(paths) == bool(from_):
        raise UsageError("Name the files and folders to index, or --from ADDRESS, not both: toulmin index notes/")
    chosen = settings_from(set_, encoder=encoder)
    config.no_options(chosen)
    place = into or chosen.index
    where = aio.cluster(on, workers, gpus_per_worker)
    if from_ and where is not None:
        raise UsageError("--from copies a shared corpus by one process; leave out --on.")
    with show.indexing() as on_progress:
        if from_:
            report = indexes.copy_index(from_, place, chosen, on_progress)
        else:
            report = indexes.update_index(paths, place, chosen, on_progress, where=where)
    show.index_report(report, place, as_json=json)
    return SourceError.exit_code if strict and report.skipped else 0


@app.command
def doctor(*, docs: options.Docs = (), index: str | None = None, json: options.Json = False) -> int:
    """Show what is installed, what works, what is missing, and which command repairs it.

    Example:  toulmin doctor --docs notes/

    Parameters
    ----------
    docs
        Read these files and folders, and list what they lack: files and parts that are not read, and guesses.
    index
        Examine the index in this folder or at this address (default: .toulmin).
    """
    from toulmin.cli.doctor import examine

    findings = examine(index, docs)
    show.findings(findings, as_json=json)
    return SourceError.exit_code if any(finding.state == "broken" for finding in findings) else 0


def _wait_for(rows: Rows | Awaitable[Rows]) -> Rows:
    """Loads an event loop only for a retriever that must be awaited."""
    if not isawaitable(rows):
        return rows
    import asyncio

    from toulmin.steps import resolve

    return asyncio.run(resolve(rows))
