"""Sources (documents, an index, a caller's passages or retriever), and what the options of a call name.

Nothing that answers questions is loaded here, so that a first search is quick.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from toulmin import config
from toulmin.build import indexes
from toulmin.build.specs import Own, Registry
from toulmin.config import Settings, cache_folder
from toulmin.data import Passage, content_id
from toulmin.errors import IndexDamaged, SourceError, UsageError

if TYPE_CHECKING:
    from toulmin.documents.loaders import SkippedFile
    from toulmin.driver.kit import Retriever
    from toulmin.indexing.corpus import AnyCorpus
    from toulmin.indexing.update import Progress
    from toulmin.methods import Method

Docs = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
LONGEST_QUESTION = 100_000  # characters
FIRST_SECONDS = 8.0  # of reading before a first question is answered


@dataclass(frozen=True, slots=True)
class Sources:
    """One of documents, an index, a caller's passages and a caller's retriever."""

    docs: tuple[str, ...] = ()
    index: str | None = None
    passages: tuple[Passage, ...] | None = None
    retriever: Retriever | None = None

    def __post_init__(self) -> None:
        if sum(self._are_named) > 1:
            raise UsageError("Name one of docs, index, passages or retriever, not several.")

    @property
    def _are_named(self) -> tuple[bool, ...]:
        return bool(self.docs), self.index is not None, self.passages is not None, self.retriever is not None

    @property
    def is_open(self) -> bool:
        """Nothing is named; the index of the settings is searched."""
        return not any(self._are_named)


class Call(NamedTuple):
    """What the options of a call name; a caller's objects (`own`, `by`) replace parts of the settings."""

    sources: Sources
    settings: Settings
    own: Own = Own()
    by: Method | None = None


def call_of(options: Mapping[str, Any]) -> Call:
    """Reads the options of `toulmin.ask`. The settings also hold the names of the caller's parts, to be shown."""
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
        if part is not None and name != "reader"  # answers do not show it
    }
    settings = config.resolve_settings(ground, config.settings_of(rest, **specs)).override(**names)
    method, *parts = own.values()
    return Call(sources_of(docs, index, passages, retriever), settings, Own(*parts), method)


def docs_index(docs: Sequence[str], settings: Settings) -> Path:
    places = sorted(str(Path(doc).resolve()) for doc in docs)
    return cache_folder() / "docs" / content_id(*places, str(settings.passage_words))


def index_of(sources: Sources, settings: Settings) -> str | None:
    """Where the sources are indexed; None for a caller's passages or retriever."""
    if sources.docs:
        return str(docs_index(sources.docs, settings))
    return sources.index or (settings.index if sources.is_open else None)


NOT_READ = "Not read:"


def _refuse(only: object) -> OpenSources:
    raise UsageError("The documents of a retriever of your own cannot be limited; leave `only` out.")


@dataclass(frozen=True, slots=True)
class OpenSources:
    """Searchable sources, their index and their unreadable files."""

    retriever: Retriever
    skipped: tuple[SkippedFile, ...] = ()
    remarks: tuple[str, ...] = ()
    corpus: AnyCorpus | None = None
    limited: Callable[[tuple[str, ...]], OpenSources] = _refuse

    def limit(self, only: Sequence[str]) -> OpenSources:
        """Only the documents that pass all filters. Raises `UsageError` for a wrong filter, and if none passes."""
        return self.limited(tuple(dict.fromkeys(only))) if only else self

    @property
    def notes(self) -> tuple[str, ...]:
        """An answer's notes on unread files, the search, and the index (reported once)."""
        skips = skip_notes(self.skipped) if self.skipped else ()
        return (*skips, *self.remarks, *(self.corpus.notes() if self.corpus else ()))

    def is_changed(self) -> bool:
        """The index was written since it was opened."""
        return self.corpus is not None and self.corpus.stamp() != self.corpus.opened_at


def skip_notes(skipped: Sequence[SkippedFile]) -> tuple[str, ...]:
    """A note for each reason, with its files."""
    from toulmin.documents.loaders import by_reason

    return tuple(f"{NOT_READ} {files}" for files in by_reason(skipped))


@contextmanager
def open_sources(sources: Sources, settings: Settings) -> Iterator[OpenSources]:
    """Opens the sources; indexes changed files of `docs` first. Raises `SourceError` if they are empty."""
    if sources.retriever is not None:
        yield OpenSources(sources.retriever)
    elif sources.is_open and settings.retriever is not None:
        yield OpenSources(RETRIEVERS.find(settings.retriever).make(settings))
    elif sources.passages is not None:
        yield _search_in_memory(sources.passages, settings)
    else:
        ready, skipped, *_ = index_docs(sources, settings)
        with indexes.open_index(ready.index or settings.index) as corpus:
            yield _search_of(corpus, settings, skipped)


def _search_of(
    whole: AnyCorpus, settings: Settings, skipped: tuple[SkippedFile, ...], only: Sequence[str] = ()
) -> OpenSources:
    from toulmin.build import encoding
    from toulmin.retrieval.bm25 import Bm25, Titles

    corpus = whole.limit(only) if only else whole
    words = indexes.abreast(corpus, Bm25(corpus, *bm25_constants(settings)))
    search = encoding.search_of(corpus, words, settings)
    titles = indexes.abreast(corpus, Titles(corpus))
    remarks = (*search.remarks, *([corpus.limit_note] if only else []))
    ranker = encoding.with_links(search.ranker, titles, settings)
    return OpenSources(ranker, skipped, remarks, corpus, partial(_search_of, whole, settings, skipped))


def _search_in_memory(passages: Sequence[Passage], settings: Settings, only: Sequence[str] = ()) -> OpenSources:
    from toulmin.build import encoding
    from toulmin.retrieval.bm25 import InMemory

    chosen, note = limit_passages(passages, only) if only else (passages, "")
    lexical = InMemory(chosen, *bm25_constants(settings))
    ranker = encoding.with_links(encoding.search_in_memory(chosen, lexical, settings).ranker, lexical, settings)
    return OpenSources(ranker, (), (note,) if only else (), limited=partial(_search_in_memory, passages, settings))


def limit_passages(passages: Sequence[Passage], only: Sequence[str]) -> tuple[list[Passage], str]:
    """Those whose documents pass all filters, and a note. Raises as `OpenSources.limit`."""
    from toulmin.documents.metadata import Candidate, select

    places, note = select([Candidate(p.source.path or "", p.title, p.source.metadata) for p in passages], only)
    return [passages[place] for place in places], note.replace("documents", "passages", 1)


def bm25_constants(settings: Settings) -> tuple[float, float]:
    """BM25's k1 and b."""
    from toulmin.retrieval.bm25 import K1, B

    return K1 if settings.bm25_k1 is None else settings.bm25_k1, B if settings.bm25_b is None else settings.bm25_b


# All retrievers come from other packages or the caller's files.
RETRIEVERS: Registry[Retriever] = Registry("retriever", (), verb="search")


class SourceIndex(NamedTuple):
    """Sources with their documents in an index, the unreadable files, the number of files not yet read, and notes."""

    sources: Sources
    skipped: tuple[SkippedFile, ...] = ()
    unread: int = 0
    notes: tuple[str, ...] = ()


def index_docs(
    sources: Sources,
    settings: Settings,
    on_progress: Callable[[Progress], None] | None = None,
    within: float | None = None,
) -> SourceIndex:
    """Indexes documents in the user's cache; a first reading stops after `within` seconds."""
    if not sources.docs:
        return SourceIndex(sources)
    from toulmin.indexing.catalogue import BeingWritten
    from toulmin.indexing.store import is_index

    index = docs_index(sources.docs, settings)
    update = partial(indexes.update_index, sources.docs, index, settings, on_progress, within=within)
    try:
        report = update()
    except IndexDamaged:  # only a copy of the files' text
        shutil.rmtree(index)
        report = update()
    except BeingWritten:  # by an earlier question, which committed a part
        if within is None or not is_index(index):
            raise
        return SourceIndex(Sources(index=str(index)))
    if not report.documents:
        raise SourceError(f"Nothing could be read: {'; '.join(f'{s.path}: {s.reason}' for s in report.skipped)}")
    return SourceIndex(Sources(index=str(index)), report.skipped, report.unread, report.notes)


def passages_of(texts: Sequence[Passage | str]) -> tuple[Passage, ...]:
    if isinstance(texts, str):
        raise UsageError("Passages are a list of texts, but one text came; write passages=[text].")
    return tuple(text if isinstance(text, Passage) else Passage.of(text) for text in texts)


def sources_of(
    docs: Docs | None = None,
    index: str | os.PathLike[str] | None = None,
    passages: Sequence[Passage | str] | None = None,
    retriever: Retriever | None = None,
) -> Sources:
    """The named sources; a single path counts as a list of one, a text as a passage without a title."""
    listed = [docs] if isinstance(docs, str | os.PathLike) else list(docs or ())
    if (docs is not None and not listed) or any(not os.fspath(doc) for doc in listed) or index == "":
        raise UsageError("Name at least one file or folder, not an empty name.")
    return Sources(
        docs=tuple(os.fspath(doc) for doc in listed),
        index=None if index is None else os.fspath(index),
        passages=None if passages is None else passages_of(passages),
        retriever=retriever,
    )


def clean_question(question: str) -> str:
    """The stripped question; raises `UsageError` if it is empty or too long."""
    plain = question.replace("\0", " ").strip()
    if not plain:
        raise UsageError("A question needs words, but it is empty.")
    if len(plain) > LONGEST_QUESTION:
        raise UsageError(f"A question may have {LONGEST_QUESTION:,} characters, not {len(plain):,}; shorten it.")
    return plain


def clean_query(query: str, k: int) -> str:
    """As `clean_question`; raises `UsageError` also if `k` is below 1."""
    if k < 1:
        raise UsageError(f"k should be at least 1, not {k}.")
    return clean_question(query)
