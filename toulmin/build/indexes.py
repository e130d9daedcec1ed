"""Opens, writes and copies indexes by name: a folder, or the address of a shared corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, aclosing
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event, Lock
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from toulmin.config import Settings, cache_folder
from toulmin.errors import SourceError, UsageError
from toulmin.stores.adapters import adapter
from toulmin.stores.address import is_shared

if TYPE_CHECKING:
    from toulmin.driver.ray_crew import Crew, Home, Where
    from toulmin.indexing.corpus import AnyCorpus
    from toulmin.indexing.update import IndexReport, Progress
    from toulmin.retrieval.fusion import Ranker

T = TypeVar("T")
_TURN = Lock()  # the updates of a server, its uploads and its changed documents, wait for each other


def open_index(place: str) -> AbstractContextManager[AnyCorpus]:
    """The current corpus. Raises `SourceError` if it cannot be used."""
    if is_shared(place):
        return adapter(place).open(place)
    from toulmin.indexing import store

    return store.open_index(Path(place))


def abreast(corpus: AnyCorpus, words: Ranker) -> Ranker:
    """The ranking; for an object store its queries run side by side."""
    place = str(corpus.folder)
    return adapter(place).abreast(words) if is_shared(place) else words


async def until_cancelled(work: Callable[[Callable[[object], None]], T]) -> T:
    """Runs an update in a thread with a callback for its progress, which ends it once this call is cancelled.

    The file that is being read then is the last one, and left out.
    """
    import asyncio

    is_over = Event()

    def go_on(_: object) -> None:
        if is_over.is_set():
            raise SourceError("The server is stopping; ask again in a moment.")

    def work_in_turn() -> T:
        with _TURN:
            return work(go_on)

    try:
        return await asyncio.to_thread(work_in_turn)
    except asyncio.CancelledError:
        from toulmin.documents.confined import end_readings

        is_over.set()
        end_readings()
        raise


def update_index(
    docs: Sequence[str],
    into: Path | str,
    settings: Settings,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    where: Where | None = None,
    within: float | None = None,
) -> IndexReport:
    """Reads what changed in the files and folders into the index, a folder or an address; see `indexing.update`.

    With `where` the workers of that cluster write a shared corpus. The first update of a folder's index stops after
    `within` seconds. Raises `SourceError` if there is no file at all, and was none before.
    """
    from toulmin.documents import loaders

    place = str(into)
    if is_shared(place):
        update = partial(_update_together, place, settings, where) if where else _shared_update(place, settings)
    else:
        update = _folder_update(Path(place), settings, where, within)
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
    index: Path, settings: Settings, where: Where | None, within: float | None
) -> Callable[..., IndexReport]:
    if where is not None:
        raise UsageError(
            f"The index in the folder {index} is written by this machine alone; leave out --on, or name the address of"
            " a shared corpus, such as lance:FOLDER."
        )
    from toulmin.build import encoding
    from toulmin.documents.ocr import choose_ocr
    from toulmin.indexing import update

    vectors = encoding.encoder_for(str(index), settings)
    ocr = choose_ocr(settings.ocr, cache_folder() / "ocr")
    return partial(update.update, index, passage_words=settings.passage_words, vectors=vectors, within=within, ocr=ocr)


def _shared_update(place: str, settings: Settings) -> Callable[..., IndexReport]:
    from toulmin.build import encoding

    wanted = encoding.encoder_for(place, settings)
    return partial(adapter(place).update, place, passage_words=settings.passage_words, vectors=wanted)


def copy_index(
    source: str, into: str, settings: Settings, on_progress: Callable[[Progress], None] | None = None
) -> IndexReport:
    """Copies the shared corpus at the address `source` into the folder `into`."""
    if not is_shared(source):
        raise UsageError(f"The address of a shared corpus should look like s3://BUCKET/CORPUS, not {source!r}.")
    if is_shared(into):
        raise UsageError(f"A shared corpus is copied into a folder, not to {into!r}.")
    from toulmin.build import encoding
    from toulmin.stores.contents import copy_corpus

    with adapter(source).open(source) as corpus:
        spec = settings.encoder or (corpus.vectors.label.spec if corpus.vectors else encoding.NONE)
        wanted = encoding.encoder_for(into, settings.override(encoder=spec))
        return copy_corpus(corpus, Path(into), vectors=wanted, on_progress=on_progress)


# ---------------------------------------------------------------- a shared corpus, updated by the workers of a cluster
# Each worker reads some of the files, writes and commits. At the end this process checks all files: it removes what is
# gone and reads what no worker did.


_SHARES = 4  # lots of files for each worker, so that all end together
_MOST = 1000  # files of a lot, which is committed at once


def _update_together(
    place: str,
    settings: Settings,
    where: Where,
    paths: Sequence[Path],
    on_progress: Callable[[Progress], None] | None = None,
) -> IndexReport:
    """As `indexing.update.update`, for the corpus at an address. Every worker must see the files at the same paths."""
    import asyncio

    from toulmin.documents.loaders import find_files
    from toulmin.driver.ray_cluster import join_cluster

    tell = on_progress or (lambda progress: None)
    files, _ = find_files([path.absolute() for path in paths])
    with join_cluster(where) as crew:
        reports = asyncio.run(_read_together(place, settings, crew, files, tell))
    last = _shared_update(place, settings)(paths, on_progress=on_progress)
    read = sum(report.read for report in reports)
    encoded = last.encoded + sum(report.encoded for report in reports)
    notes = tuple(dict.fromkeys(note for report in (*reports, last) for note in report.notes))
    return replace(last, read=last.read + read, unchanged=max(0, last.unchanged - read), encoded=encoded, notes=notes)


async def _read_together(
    place: str, settings: Settings, crew: Crew, files: Sequence[Path], tell: Callable[[Progress], None]
) -> list[IndexReport]:
    from toulmin.documents.records import is_bibliography
    from toulmin.driver.ray_crew import Home
    from toulmin.driver.ray_pool import Pool, pack_for_workers
    from toulmin.indexing.update import Progress
    from toulmin.text.language import chunks

    size = max(1, min(_MOST, -(-len(files) // (_SHARES * crew.workers))))
    shared = list(filter(is_bibliography, files))  # which describe files of every lot
    lots = [[*shared, *lot] for lot in chunks(files, size)]
    pool = Pool(pack_for_workers("index", partial(_reader, place, settings, Home())), crew)
    reports: list[IndexReport] = []
    done = 0
    async with aclosing(pool.results(lots)) as results:
        async for lot, documents in results:
            reports += documents
            done += len(lots[lot]) - len(shared)
            tell(Progress(str(lots[lot][-1]), done, len(files), 0))
    return reports


def _reader(place: str, settings: Settings, home: Home) -> Callable[[Sequence[Path]], list[IndexReport]]:
    """Makes a worker's function, which reads a lot of files into the corpus."""
    home.enter()
    update = _shared_update(place, settings)
    return lambda files: [update(files)]
