"""Folders and files that change while they are served."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs fastapi")
pytest.importorskip("watchfiles", reason="needs watchfiles")

from live_edits import Folder, live, note
from web_parts import PATIENCE, Served, served, until

from toulmin.build.indexes import until_cancelled
from toulmin.config import Settings
from toulmin.documents import loaders
from toulmin.server.engine import Engine

LEXICAL = Settings(judge="lexical", reader="lexical")


def words_found(server: Served) -> set[str]:
    hits = server.client.post("/v1/search", json={"query": "lamp lit", "k": 100}).json()["hits"]
    return {hit["passage"]["text"].split()[4] for hit in hits}


def holds(server: Served, files: dict[Path, str]) -> bool:
    return until(lambda: words_found(server) == set(files.values()))


def test_a_served_folder_is_followed(tmp_path: Path):
    draw = random.Random(7)
    folder = Folder(tmp_path / "docs", 6, draw)
    files = folder.files
    with served(tmp_path / "docs", LEXICAL) as server:
        assert holds(server, files)
        seen = live(folder, 10, server.url, draw, latest=PATIENCE)
        assert (seen.faults, seen.answers > 0) == ([], True)
        inner = tmp_path / "docs" / "inner"
        inner.mkdir()
        (inner / "a.txt").write_text(note("inner"))
        assert holds(server, {**files, inner: "inner"})
        inner.rename(tmp_path / "elsewhere")
        assert holds(server, files)
        for path in files:
            path.unlink()
        assert holds(server, {})
        reply = server.client.post("/v1/answers", json={"question": "Who lit the lamp of start1?"}).json()
        assert (reply["status"], reply["claims"]) == ("abstained", [])


def test_a_folder_is_followed_after_a_reading_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    folder, failures = tmp_path / "docs", list[OSError]()
    folder.mkdir()
    (folder / "a.txt").write_text(note("harbour"))
    read = Engine._read_changes

    async def fail_once(engine: Engine) -> None:
        if (folder / "b.txt").exists() and not failures:
            failures.append(OSError(5, "Input/output error"))
            raise failures[0]
        await read(engine)

    monkeypatch.setattr(Engine, "_read_changes", fail_once)
    with served(folder, LEXICAL) as server:
        assert until(lambda: words_found(server) == {"harbour"})
        (folder / "b.txt").write_text(note("tower"))
        assert until(lambda: bool(failures))
        (folder / "c.txt").write_text(note("island"))
        assert until(lambda: words_found(server) == {"harbour", "tower", "island"})
    assert "changed documents could not be read" in caplog.text


@pytest.mark.parametrize("has_watches", [True, False])
def test_a_single_file_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_watches: bool):
    import watchfiles

    awatch: Callable[..., object] = watchfiles.awatch

    def without_watches(*places: Path, **options: object) -> object:
        if not options.get("force_polling"):
            raise OSError("no watches are left")
        return awatch(*places, **options)

    if not has_watches:
        monkeypatch.setattr(watchfiles, "awatch", without_watches)
        monkeypatch.setattr(loaders, "_POLLED", 100)
    path, beside = tmp_path / "a.txt", tmp_path / "b.txt"
    path.write_text(note("harbour"))
    with served(path, LEXICAL) as server:
        assert holds(server, {path: "harbour"})
        beside.write_text(note("tower"))
        beside.replace(path)  # as editors save
        assert holds(server, {path: "tower"})


def test_updates_of_one_server_wait_for_each_other():
    at_work: list[int] = []

    def update(_: object) -> int:
        at_work.append(1)
        time.sleep(0.2)
        together = len(at_work)
        at_work.pop()
        return together

    async def main() -> list[int]:
        return await asyncio.gather(*(until_cancelled(update) for _ in range(3)))

    assert asyncio.run(main()) == [1, 1, 1]
