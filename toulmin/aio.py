"""The verbs for use inside an event loop (servers, notebooks): `await toulmin.aio.ask(...)`.

The functions of `toulmin` itself are these, run to their end.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toulmin import build, config
from toulmin.build import Sources
from toulmin.config import Settings
from toulmin.data import Answer, Hit, Passage
from toulmin.errors import UsageError
from toulmin.methods import Method
from toulmin.run.budget import Budget
from toulmin.run.drive import Driver, Outcome
from toulmin.run.kit import Judge, LanguageModel, Reader, Retriever

if TYPE_CHECKING:
    from toulmin.corpus.indexing import IndexReport, Progress

Docs = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
LONGEST_QUESTION = 100_000  # characters


def settled(settings: Settings | None, options: Mapping[str, Any]) -> Settings:
    """The settings in force: those given, or the environment's and the working folder's, under the options."""
    ground = config.load(os.environ, Path.cwd()) if settings is None else settings
    return ground.updated(**options)


def sources(
    docs: Docs | None,
    index: str | os.PathLike[str] | None,
    passages: Sequence[Passage] | None,
    retriever: Retriever | None,
) -> Sources:
    """The sources of a call; a single path counts as a list of one."""
    listed = [docs] if isinstance(docs, str | os.PathLike) else docs or ()
    return Sources(
        docs=tuple(os.fspath(doc) for doc in listed),
        index=None if index is None else os.fspath(index),
        passages=None if passages is None else tuple(passages),
        retriever=retriever,
    )


def checked_question(question: str) -> str:
    """The question without white space around it; raises `UsageError` for an empty or an endless one."""
    plain = question.replace("\0", " ").strip()
    if not plain:
        raise UsageError("A question needs words, but an empty one came.")
    if len(plain) > LONGEST_QUESTION:
        raise UsageError(f"A question may have {LONGEST_QUESTION:,} characters, but {len(plain):,} came; shorten it.")
    return plain


async def ask(
    question: str,
    *,
    docs: Docs | None = None,
    index: str | os.PathLike[str] | None = None,
    passages: Sequence[Passage] | None = None,
    retriever: Retriever | None = None,
    model: str | LanguageModel | None = None,
    judge: str | Judge | None = None,
    reader: Reader | None = None,
    method: str | Method | None = None,
    budget: Budget | None = None,
    on_draft: Callable[[Answer], None] | None = None,
    settings: Settings | None = None,
    **options: Any,
) -> Answer:
    """Answers a question from documents, an index, passages, or a retriever of one's own.

    `options` are settings by name (`style`, `k`, `unsupported`, ...) or the method's own. A failure of a model or a
    spent budget gives an answer with status `failed`; unusable sources raise `SourceError`, wrong words `UsageError`.
    """
    chosen = settled(settings, settings_of(options, method=method, model=model, judge=judge))
    with build.opened(sources(docs, index, passages, retriever), chosen) as found:
        outcome = await answered(question, found, chosen, model, judge, reader, method, budget, on_draft)
    return outcome.answer


def settings_of(options: Mapping[str, Any], **specs: Any) -> dict[str, Any]:
    """Settings by name, with whatever is no setting as an option of the method."""
    known = {name for name in Settings.__dataclass_fields__ if name != "options"}
    own = dict(options.get("options") or {}) | {n: v for n, v in options.items() if n not in known and n != "options"}
    named = {name: value for name, value in options.items() if name in known}
    named |= {name: value for name, value in specs.items() if isinstance(value, str)}
    return named | ({"options": own} if own else {})


async def answered(
    question: str,
    retriever: Retriever,
    settings: Settings,
    model: str | LanguageModel | None = None,
    judge: str | Judge | None = None,
    reader: Reader | None = None,
    method: str | Method | None = None,
    budget: Budget | None = None,
    on_draft: Callable[[Answer], None] | None = None,
) -> Outcome:
    """One question through the driver, with the error behind a failed answer and its transcript."""
    main = None if isinstance(model, str) else model
    kit = build.kit(retriever, settings, main=main, judge_=None if isinstance(judge, str) else judge, reader=reader)
    job = build.job(
        checked_question(question),
        settings,
        by=None if isinstance(method, str) else method,
        budget_=budget,
        embedded=main is None and settings.model == "extractive",
    )
    return await Driver(kit).answer(job, on_draft)


async def stream(question: str, **options: Any) -> AsyncIterator[Answer]:
    """Every draft as a whole answer as soon as it is there, the finished answer last; options as in `ask`."""
    drafts: asyncio.Queue[Answer] = asyncio.Queue()
    task = asyncio.create_task(ask(question, on_draft=drafts.put_nowait, **options))
    try:
        while not task.done() or not drafts.empty():
            draft = asyncio.create_task(drafts.get())
            await asyncio.wait({draft, task}, return_when=asyncio.FIRST_COMPLETED)
            if draft.done():
                yield draft.result()
            else:
                draft.cancel()
        yield await task
    finally:
        task.cancel()


async def check(
    text: str,
    *,
    docs: Docs | None = None,
    index: str | os.PathLike[str] | None = None,
    passages: Sequence[Passage] | None = None,
    retriever: Retriever | None = None,
    judge: str | Judge | None = None,
    settings: Settings | None = None,
    **options: Any,
) -> Answer:
    """Judges a text that somebody else wrote: its claims against the passages that their `[n]` name.

    `[n]` is the n-th of `passages`. A claim that names none is judged against what a search for it finds.
    """
    chosen = settled(settings, settings_of(options, judge=judge))
    with build.opened(sources(docs, index, passages, retriever), chosen) as found:
        return (await checked(text, tuple(passages or ()), found, chosen, judge)).answer


async def checked(
    text: str,
    passages: tuple[Passage, ...],
    retriever: Retriever,
    settings: Settings,
    judge: str | Judge | None = None,
) -> Outcome:
    """One text through the driver; see `check`."""
    if not text.strip():
        raise UsageError("A text to check needs words, but an empty one came.")
    kit = build.kit(retriever, settings, judge_=None if isinstance(judge, str) else judge)
    return await Driver(kit).answer(build.check_job(text, passages, settings))


async def search(
    query: str,
    *,
    docs: Docs | None = None,
    index: str | os.PathLike[str] | None = None,
    passages: Sequence[Passage] | None = None,
    k: int = 10,
    settings: Settings | None = None,
    **options: Any,
) -> tuple[Hit, ...]:
    """The `k` best passages for a query, best first."""
    if k < 1:
        raise UsageError(f"k counts passages from 1, not {k}.")
    chosen = settled(settings, options)
    with build.opened(sources(docs, index, passages, None), chosen) as found:
        hits = found.search([checked_question(query)], k)
        return tuple((await hits if inspect.isawaitable(hits) else hits)[0])


async def index(
    paths: Docs,
    *,
    into: str | os.PathLike[str] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    settings: Settings | None = None,
    **options: Any,
) -> IndexReport:
    """Reads files and folders into a persistent index; a second call reads only what changed."""
    chosen = settled(settings, options)
    listed = sources(paths, None, None, None).docs
    folder = Path(chosen.index if into is None else into)
    return await asyncio.to_thread(build.update_index, listed, folder, chosen, on_progress)
