"""Which library keeps the corpus at an address, LanceDB or PostgreSQL; it is imported when one is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from toulmin.stores.address import check_installed, is_postgres

if TYPE_CHECKING:
    from toulmin.indexing.update import IndexReport
    from toulmin.indexing.vector_files import Label
    from toulmin.retrieval.fusion import Ranker
    from toulmin.stores.copying import Whole


class Adapter(NamedTuple):
    """What a library does with an address, each call raising `SourceError` where that cannot be used.

    `open` gives the corpus as it is now; `update` writes as `corpus.indexing.update` does; `label_of` says whose
    vectors there are; `abreast` asks the queries of a ranking side by side where that is quicker.
    """

    open: Callable[[str], Whole]
    update: Callable[..., IndexReport]
    label_of: Callable[[str], Label | None]
    abreast: Callable[[Ranker], Ranker]


def adapter(place: str) -> Adapter:
    """The library for that address. Raises `SourceError`, with the command that mends it, where it is not installed."""
    check_installed(place)
    return _postgres() if is_postgres(place) else _lancedb()


def _lancedb() -> Adapter:
    from toulmin.stores.lance_corpus import Abreast, label_of, open_shared
    from toulmin.stores.lance_writer import update_shared

    return Adapter(open_shared, update_shared, label_of, Abreast)


def _postgres() -> Adapter:
    from toulmin.stores.postgres_corpus import label_of, open_postgres
    from toulmin.stores.postgres_writer import update_postgres

    # One transaction is one moment, and answers one question after the other.
    return Adapter(open_postgres, update_postgres, label_of, lambda ranker: ranker)
