"""Updates a shared corpus by the workers of a cluster; each reads some of the files.

Every worker writes and commits what it read. At the end this process checks all files: it removes what is gone and
reads what no worker did.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from pathlib import Path

from toulmin.build import encoding
from toulmin.config import Settings
from toulmin.documents.loaders import find_files
from toulmin.driver.ray_crew import Crew, Home, Where
from toulmin.driver.workers import chunks
from toulmin.indexing.update import IndexReport, Progress
from toulmin.stores.adapters import adapter

_SHARES = 4  # lots of files for each worker, so that all end together
_MOST = 1000  # files of a lot, which is committed at once


def update_together(
    place: str,
    settings: Settings,
    where: Where,
    paths: Sequence[Path],
    on_progress: Callable[[Progress], None] | None = None,
) -> IndexReport:
    """As `indexing.update.update`, for the corpus at an address. Every worker must see the files at the same paths."""
    from toulmin.driver.ray_cluster import join_cluster

    tell = on_progress or (lambda progress: None)
    files, _ = find_files([path.absolute() for path in paths])
    with join_cluster(where) as crew:
        reports = asyncio.run(_read(place, settings, crew, files, tell))
    wanted = encoding.encoder_for(place, settings)
    last = adapter(place).update(
        place, paths, passage_words=settings.passage_words, vectors=wanted, on_progress=on_progress
    )
    read = sum(report.read for report in reports)
    encoded = last.encoded + sum(report.encoded for report in reports)
    notes = tuple(dict.fromkeys(note for report in (*reports, last) for note in report.notes))
    return replace(last, read=last.read + read, unchanged=max(0, last.unchanged - read), encoded=encoded, notes=notes)


async def _read(
    place: str, settings: Settings, crew: Crew, files: Sequence[Path], tell: Callable[[Progress], None]
) -> list[IndexReport]:
    from toulmin.driver.ray_pool import Pool, pack_for_workers

    size = max(1, min(_MOST, -(-len(files) // (_SHARES * crew.workers))))
    lots = list(chunks(files, size))
    pool = Pool(pack_for_workers("index", partial(_reader, place, settings, Home())), crew)
    reports: list[IndexReport] = []
    done = 0
    async with aclosing(pool.results(lots)) as results:
        async for lot, documents in results:
            reports += documents
            done += len(lots[lot])
            tell(Progress(str(lots[lot][-1]), done, len(files), 0))
    return reports


def _reader(place: str, settings: Settings, home: Home) -> Callable[[Sequence[Path]], list[IndexReport]]:
    """Makes a worker's function, which reads a lot of files into the corpus."""
    home.enter()
    wanted = encoding.encoder_for(place, settings)
    update = adapter(place).update
    return lambda files: [update(place, files, passage_words=settings.passage_words, vectors=wanted)]
