"""Opens, writes and copies indexes by name: a folder, or the address of a shared corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from toulmin.config import Settings, cache_folder
from toulmin.errors import SourceError, UsageError
from toulmin.stores.address import is_shared

if TYPE_CHECKING:
    from toulmin.driver.ray_crew import Where
    from toulmin.indexing.corpus import AnyCorpus
    from toulmin.indexing.update import IndexReport, Progress
    from toulmin.retrieval.fusion import Ranker
    from toulmin.stores.adapters import Adapter


def adapter(place: str) -> Adapter:
    """The library for an address. Raises `SourceError`, with the install command, if it is missing."""
    from toulmin.stores import adapters

    return adapters.adapter(place)


def open_index(place: str) -> AbstractContextManager[AnyCorpus]:
    """The current corpus. Raises `SourceError` if it cannot be used."""
    if is_shared(place):
        return adapter(place).open(place)
    from toulmin.indexing import shards

    return shards.open_any(Path(place))


def abreast(corpus: AnyCorpus, words: Ranker) -> Ranker:
    """The ranking; for an object store its queries run side by side."""
    place = str(corpus.folder)
    return adapter(place).abreast(words) if is_shared(place) else words


def update_index(
    docs: Sequence[str],
    into: Path | str,
    settings: Settings,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    shards: int | None = None,
    where: Where | None = None,
    within: float | None = None,
) -> IndexReport:
    """Reads what changed in the files and folders into the index, a folder or an address; see `corpus.indexing.update`.

    A new index has so many `shards`, or is in one piece; with `where` the workers of that cluster write it, one shard
    each. A first one that is in one piece stops after `within` seconds.
    Raises `SourceError` where there is no file at all, and nothing that was there before.
    """
    from toulmin.documents import loaders

    place = str(into)
    if is_shared(place):
        update = _shared_update(place, settings, shards, where)
    else:
        update = _folder_update(Path(place), settings, shards, where, within)
    began = monotonic()
    report = update([Path(doc) for doc in docs], on_progress=on_progress)
    report.log(monotonic() - began)
    if not (report.read or report.unchanged or report.removed or report.skipped):
        kinds = " ".join(sorted(loaders.SUFFIXES))
        raise SourceError(f"There is no file to read in {', '.join(docs)}; known kinds: {kinds}.")
    if not is_shared(place):  # the update of an address has opened it
        with open_index(place):
            pass  # a damaged index must not count as up to date
    return report


def _folder_update(
    index: Path, settings: Settings, shards: int | None, where: Where | None, within: float | None
) -> Callable[..., IndexReport]:
    """How the index of a folder is brought up to date: in this process, or in one a shard, here or on a cluster."""
    from toulmin.build import encoding
    from toulmin.documents.ocr import choose_ocr
    from toulmin.indexing import sharding, update
    from toulmin.indexing.sharding import Process
    from toulmin.indexing.shards import shards_in

    words = settings.passage_words
    there = len(shards_in(index)) or None
    if where is None and shards is None and there is None:
        vectors = encoding.encoder_for(str(index), settings)
        ocr = choose_ocr(settings.ocr, cache_folder() / "ocr")
        return partial(update.update, index, passage_words=words, vectors=vectors, within=within, ocr=ocr)
    # The workers make the encoder; which, is said now, as nobody may look into a shard that is being written.
    chosen = settings.override(encoder=encoding.spec_of(str(index), settings))
    wanted = partial(encoding.encoder_for, str(index), chosen)
    update_parts = partial(sharding.update_shards, passage_words=words, wanted=wanted)
    if where is None:
        return partial(update_parts, index, shards=shards or there or 1, hire=Process)
    return partial(_on_cluster, partial(update_parts, index.absolute()), shards or there, where)


def _on_cluster(
    update: Callable[..., IndexReport], shards: int | None, where: Where, paths: Sequence[Path], **options: Any
) -> IndexReport:
    """Shards that the workers of a cluster write, as many as there are workers where nothing is said."""
    from toulmin.driver.ray_cluster import join_cluster
    from toulmin.driver.ray_shards import actor_factory, retry

    with join_cluster(where) as crew:
        count = shards or crew.workers
        report, lost = retry(lambda: update(paths, shards=count, hire=actor_factory(crew, count), **options))
    times = "once" if lost == 1 else f"{lost} times"
    notes = (f"A worker was lost {times}; all was read again.",) if lost else ()
    return replace(report, notes=(*report.notes, *notes))


def _shared_update(
    place: str, settings: Settings, shards: int | None, where: Where | None
) -> Callable[..., IndexReport]:
    """How a shared corpus is brought up to date: by one writer, or by several of a cluster."""
    if shards is not None:
        raise UsageError(f"{place} is one table that many write to; an index of shards lies in a folder.")
    update = adapter(place).update
    if where is not None:
        from toulmin.build.many_writers import update_together

        return partial(update_together, place, settings, where)
    from toulmin.build import encoding

    wanted = encoding.encoder_for(place, settings)
    return partial(update, place, passage_words=settings.passage_words, vectors=wanted)


def copy_index(
    source: str, into: str, settings: Settings, on_progress: Callable[[Progress], None] | None = None
) -> IndexReport:
    """Copies the shared corpus at the address `source` into the folder `into`."""
    if not is_shared(source):
        raise UsageError(f"The address of a shared corpus should look like s3://BUCKET/CORPUS, not {source!r}.")
    if is_shared(into):
        raise UsageError(f"A shared corpus is copied into a folder, not to {into!r}.")
    from toulmin.build import encoding
    from toulmin.indexing.shards import shards_in
    from toulmin.stores.copying import copy_corpus

    if shards_in(Path(into)):
        raise UsageError(f"The index in {into} is in shards; a copy goes into one that is in one piece, or new.")
    with adapter(source).open(source) as corpus:
        spec = settings.encoder or (corpus.vectors.label.spec if corpus.vectors else encoding.NONE)
        wanted = encoding.encoder_for(into, settings.override(encoder=spec))
        return copy_corpus(corpus, Path(into), vectors=wanted, on_progress=on_progress)
