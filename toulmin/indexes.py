"""An index by its name, which is a folder or the address of a shared corpus: how it is opened, written and copied.

What an address needs is imported when one is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from toulmin.config import Settings
from toulmin.errors import SourceError, UsageError
from toulmin.shared.address import check_installed, is_shared

if TYPE_CHECKING:
    from toulmin.corpus.hybrid import Ranker
    from toulmin.corpus.kept import Kept
    from toulmin.corpus.store import IndexReport, Progress


@contextmanager
def opened_index(place: str) -> Iterator[Kept]:
    """The corpus in that folder or at that address, as it is now. Raises `SourceError` where it cannot be used."""
    from toulmin.corpus import store

    if not is_shared(place):
        with store.open_index(Path(place)) as corpus:
            yield corpus
        return
    check_installed()
    from toulmin.shared.corpus import open_shared

    with open_shared(place) as shared:
        yield shared


def abreast(corpus: Kept, words: Ranker) -> Ranker:
    """The ranking, its queries side by side where each of them waits for an object store."""
    if not is_shared(str(corpus.folder)):
        return words
    from toulmin.shared.corpus import Abreast

    return Abreast(words)


def update_index(
    docs: Sequence[str],
    into: Path | str,
    settings: Settings,
    on_progress: Callable[[Progress], None] | None = None,
) -> IndexReport:
    """Reads what changed in the files and folders into the index, a folder or an address; see `corpus.store.update`.

    Raises `SourceError` where there is no file at all, and nothing that was there before.
    """
    from toulmin import encoding
    from toulmin.corpus import readers, store

    paths, place = [Path(doc) for doc in docs], str(into)
    if is_shared(place):
        check_installed()
        from toulmin.shared.writer import update_shared

        update = partial(update_shared, place)
    else:
        update = partial(store.update, Path(place))
    wanted = encoding.wanted(place, settings)
    report = update(paths, passage_words=settings.passage_words, vectors=wanted, on_progress=on_progress)
    if not (report.read or report.unchanged or report.removed or report.skipped):
        kinds = " ".join(sorted(readers.SUFFIXES))
        raise SourceError(f"There is no file to read in {', '.join(docs)}; put some there of the kinds {kinds}.")
    if not is_shared(place):  # that of an address was opened to count what it holds
        store.open_index(Path(place)).close()  # an index that cannot be opened must not pass for up to date
    return report


def copy_index(
    source: str, into: str, settings: Settings, on_progress: Callable[[Progress], None] | None = None
) -> IndexReport:
    """Makes the index of that folder hold what the shared corpus at the address `source` holds."""
    if not is_shared(source):
        raise UsageError(f"A shared corpus has an address such as s3://BUCKET/CORPUS, and {source!r} is none.")
    if is_shared(into):
        raise UsageError(f"A shared corpus is copied into the index of a folder, and {into!r} is none.")
    check_installed()
    from toulmin import encoding
    from toulmin.shared.copying import copied
    from toulmin.shared.corpus import open_shared

    with open_shared(source) as corpus:
        spec = settings.encoder or (corpus.vectors.label.spec if corpus.vectors else encoding.NONE)
        wanted = encoding.wanted(into, settings.updated(encoder=spec))
        return copied(corpus, Path(into), vectors=wanted, on_progress=on_progress)
