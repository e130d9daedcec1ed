"""Where passages come from: documents, an index, or a caller's own passages or retriever.

Nothing that answers questions is loaded here, so that a first search is quick.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toulmin.build import indexes
from toulmin.build.specs import Registry
from toulmin.config import Settings, cache_folder
from toulmin.data import Passage, content_id
from toulmin.errors import IndexDamaged, SourceError, UsageError

if TYPE_CHECKING:
    from toulmin.documents.loaders import SkippedFile
    from toulmin.driver.kit import Retriever
    from toulmin.indexing.corpus import AnyCorpus
    from toulmin.indexing.update import Progress

Docs = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
LONGEST_QUESTION = 100_000  # characters
FIRST_SECONDS = 8.0  # of reading, after which a first question is answered from what was read


@dataclass(frozen=True, slots=True)
class Sources:
    """Where passages come from: documents indexed on the fly, an index, passages given, or a retriever of one's own."""

    docs: tuple[str, ...] = ()
    index: str | None = None
    passages: tuple[Passage, ...] | None = None
    retriever: Retriever | None = None

    def __post_init__(self) -> None:
        if sum(self._given) > 1:
            raise UsageError("Give one of docs, index, passages or retriever, not several.")

    @property
    def _given(self) -> tuple[bool, ...]:
        return bool(self.docs), self.index is not None, self.passages is not None, self.retriever is not None

    @property
    def is_open(self) -> bool:
        """Whether nothing is named: then the index of the settings is searched."""
        return not any(self._given)


def docs_index(docs: Sequence[str], settings: Settings) -> Path:
    """The folder in the user's cache where an index of those files and folders is kept."""
    places = sorted(str(Path(doc).resolve()) for doc in docs)
    return cache_folder() / "docs" / content_id(*places, str(settings.passage_words))


NOT_READ = "Not read:"


@dataclass(frozen=True, slots=True)
class OpenSources:
    """Sources ready to be searched, the index that holds them, and the files among them that could not be read."""

    retriever: Retriever
    skipped: tuple[SkippedFile, ...] = ()
    remarks: tuple[str, ...] = ()
    corpus: AnyCorpus | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What an answer says about unread files, the kind of search, and requests that were repeated.

        Repeated requests are reported once, to whoever asks first.
        """
        return (*skip_notes(self.skipped), *self.remarks, *(self.corpus.notes() if self.corpus else ()))

    def is_changed(self) -> bool:
        """Whether somebody wrote to the index since it was opened."""
        return self.corpus is not None and self.corpus.stamp() != self.corpus.opened_at


_NAMED = 3  # files that could not be read for one reason; the others are counted


def skip_notes(skipped: Sequence[SkippedFile]) -> tuple[str, ...]:
    """A note for each reason, with the files that it kept from being read."""
    reasons: dict[str, list[str]] = {}
    for entry in skipped:
        reasons.setdefault(entry.reason, []).append(entry.path)
    return tuple(f"{NOT_READ} {_listed(paths)}: {reason}" for reason, paths in reasons.items())


def _listed(paths: Sequence[str]) -> str:
    others = len(paths) - _NAMED
    return ", ".join(paths) if others < 2 else f"{', '.join(paths[:_NAMED])} and {others} others"


@contextmanager
def open_sources(sources: Sources, settings: Settings) -> Iterator[OpenSources]:
    """The sources, closed at the end; files given as `docs` are indexed first where they changed.

    Raises `SourceError` where there is nothing to answer from.
    """
    if sources.retriever is not None:
        yield OpenSources(sources.retriever)
        return
    if sources.is_open and settings.retriever is not None:
        yield OpenSources(RETRIEVERS.find(settings.retriever).make(settings))
        return
    from toulmin.build import encoding
    from toulmin.retrieval.bm25 import Bm25, InMemory, Titles

    k1, b = bm25_constants(settings)
    if sources.passages is not None:
        lexical = InMemory(sources.passages, k1, b)
        search = encoding.search_in_memory(sources.passages, lexical, settings)
        yield OpenSources(encoding.with_links(search.ranker, lexical, settings))
        return
    ready, skipped, _ = index_docs(sources, settings)
    with indexes.open_index(ready.index or settings.index) as corpus:
        words = indexes.abreast(corpus, Bm25(corpus, k1, b))
        search = encoding.search_of(corpus, words, settings)
        titles = indexes.abreast(corpus, Titles(corpus))
        yield OpenSources(encoding.with_links(search.ranker, titles, settings), skipped, search.remarks, corpus)


def bm25_constants(settings: Settings) -> tuple[float, float]:
    """BM25's k1 and b: those that are set, else the usual ones."""
    from toulmin.retrieval.bm25 import K1, B

    return K1 if settings.bm25_k1 is None else settings.bm25_k1, B if settings.bm25_b is None else settings.bm25_b


# All of them are of other packages, or of the caller's files.
RETRIEVERS: Registry[Retriever] = Registry("retriever", (), verb="search")


class SourceIndex(NamedTuple):
    """Sources with their documents in an index, what could not be read, and how many files are still to be read."""

    sources: Sources
    skipped: tuple[SkippedFile, ...] = ()
    unread: int = 0


def index_docs(
    sources: Sources,
    settings: Settings,
    on_progress: Callable[[Progress], None] | None = None,
    within: float | None = None,
) -> SourceIndex:
    """Brings documents into an index of the user's cache; a first time ends after `within` seconds, with a part."""
    if not sources.docs:
        return SourceIndex(sources)
    from toulmin.indexing.catalogue import BeingWritten
    from toulmin.indexing.store import is_index

    index = docs_index(sources.docs, settings)
    update = partial(indexes.update_index, sources.docs, index, settings, on_progress, within=within)
    try:
        report = update()
    except IndexDamaged:  # it is only our own copy of what the files say
        shutil.rmtree(index)
        report = update()
    except BeingWritten:  # by an earlier question, which made a part visible
        if within is None or not is_index(index):
            raise
        return SourceIndex(Sources(index=str(index)))
    if not report.documents:
        raise SourceError(f"Nothing could be read: {'; '.join(f'{s.path}: {s.reason}' for s in report.skipped)}")
    return SourceIndex(Sources(index=str(index)), report.skipped, report.unread)


def sources_of(
    docs: Docs | None = None,
    index: str | os.PathLike[str] | None = None,
    passages: Sequence[Passage] | None = None,
    retriever: Retriever | None = None,
) -> Sources:
    """The sources of a call; a single path counts as a list of one."""
    listed = [docs] if isinstance(docs, str | os.PathLike) else list(docs or ())
    if (docs is not None and not listed) or any(not os.fspath(doc) for doc in listed) or index == "":
        raise UsageError("Name at least one file or folder; an empty name came.")
    return Sources(
        docs=tuple(os.fspath(doc) for doc in listed),
        index=None if index is None else os.fspath(index),
        passages=None if passages is None else tuple(passages),
        retriever=retriever,
    )


def clean_question(question: str) -> str:
    """The question without white space around it; raises `UsageError` for an empty or an endless one."""
    plain = question.replace("\0", " ").strip()
    if not plain:
        raise UsageError("A question needs words, but an empty one came.")
    if len(plain) > LONGEST_QUESTION:
        raise UsageError(f"A question may have {LONGEST_QUESTION:,} characters, but {len(plain):,} came; shorten it.")
    return plain


def clean_query(query: str, k: int) -> str:
    """The query as `clean_question` gives it; raises `UsageError` for a `k` below 1, too."""
    if k < 1:
        raise UsageError(f"k counts passages from 1, not {k}.")
    return clean_question(query)
