"""Which library keeps the corpus at an address, LanceDB or PostgreSQL; imported on use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from toulmin.stores.address import check_installed, is_postgres

if TYPE_CHECKING:
    from toulmin.indexing.update import IndexReport
    from toulmin.indexing.vector_files import Label
    from toulmin.retrieval.fusion import Ranker
    from toulmin.stores.contents import StoredCorpus


class Adapter(NamedTuple):
    """What a library does with an address; each call raises `SourceError` for an unusable one.

    `abreast` runs the queries of a ranking in parallel where that is faster.
    """

    open: Callable[[str], StoredCorpus]
    update: Callable[..., IndexReport]
    label_of: Callable[[str], Label | None]
    abreast: Callable[[Ranker], Ranker]


def adapter(place: str) -> Adapter:
    """Raises as `check_installed` does."""
    check_installed(place)
    if not is_postgres(place):
        from toulmin.stores import lance_corpus as lance
        from toulmin.stores.lance_writer import update_shared

        return Adapter(lance.open_shared, update_shared, lance.label_of, lance.Abreast)
    from toulmin.stores import postgres_corpus as postgres
    from toulmin.stores.postgres_writer import update_postgres

    # One transaction is one moment and answers one query at a time.
    return Adapter(postgres.open_postgres, update_postgres, postgres.label_of, lambda ranker: ranker)
