"""Whatever stops an update, at whatever moment, the index opens and answers as before it or as after it.

A first update may leave a part: whole files, and the index says how many of how many.

More trials than the suite has time for: TOULMIN_CRASH_TRIALS=500 pytest tests/test_crash.py
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import damage
import fork_server
import pytest

from toulmin.build.session import Session
from toulmin.build.sources import Sources
from toulmin.config import Settings
from toulmin.errors import DiskFull, SourceError
from toulmin.indexing.catalogue import NoIndex
from toulmin.indexing.store import open_index
from toulmin.indexing.update import Progress, update
from toulmin.retrieval.bm25 import Bm25

TRIALS = int(os.environ.get("TOULMIN_CRASH_TRIALS", "12"))
WORDS = "lamp tower keeper storm harbour reef oil wick lens fog horn boat wreck tide rock bell night ship crew".split()
PROGRAM = """
import sys
from pathlib import Path
from toulmin.indexing.update import update
print("ready", flush=True)
update(Path(sys.argv[1]), [Path(sys.argv[2])])
print("done", flush=True)
"""


def _page(seed: int, words: int = 600) -> str:
    draw = random.Random(seed)
    return " ".join(f"{' '.join(draw.choices(WORDS, k=9))} number{seed}." for _ in range(words // 10))


@dataclass(frozen=True)
class Scene:
    """An index made from files as they were, and the same files as they are now."""

    index: Path
    docs: Path
    before: str
    after: str
    seconds: float


def answers(index: Path) -> str:
    """All that a reader can see, as one digest."""
    with open_index(index) as corpus:
        hits = Bm25(corpus).search([*WORDS, *(f"number{n}" for n in range(60))], 400)
        seen = [[(hit.passage.id, round(hit.score, 9)) for hit in ranked] for ranked in hits]
        texts = sorted(corpus.text(document) for document in corpus.documents())
        return hashlib.sha256(repr((seen, texts, corpus.stats)).encode()).hexdigest()


def _answers_or_error(index: Path) -> str:
    try:
        return answers(index)
    except SourceError as error:
        return str(error).partition(";")[0]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Forty files, of which ten changed, ten vanished and ten are new."""
    folder = tmp_path_factory.mktemp("crash")
    docs, index = folder / "docs", folder / "index"
    docs.mkdir()
    for n in range(40):
        (docs / f"{n}.txt").write_text(_page(n), "utf-8")
    update(index, [docs])
    for n in range(10):
        (docs / f"{n}.txt").write_text(_page(n, 500), "utf-8")
        (docs / f"{n + 10}.txt").unlink()
        (docs / f"{n + 40}.txt").write_text(_page(n + 40), "utf-8")
    shutil.copytree(index, folder / "whole")
    started = time.perf_counter()
    update(folder / "whole", [docs])
    return Scene(index, docs, answers(index), answers(folder / "whole"), time.perf_counter() - started)


@pytest.fixture
def index(scene: Scene, tmp_path: Path) -> Path:
    """A copy of the index as it was."""
    return Path(shutil.copytree(scene.index, tmp_path / "index"))


def _stopped(index: Path, docs: Path, sign: signal.Signals, after: float, before: str = "") -> None:
    command = fork_server.python(before + PROGRAM, str(index), str(docs))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(after)
        process.send_signal(sign)


@pytest.mark.parametrize("trial", range(TRIALS))
def test_killed_at_any_moment_the_index_is_as_before_or_after(scene: Scene, index: Path, trial: int) -> None:
    _stopped(index, scene.docs, fork_server.KILL, random.Random(trial).uniform(0, 1.5 * scene.seconds))
    assert answers(index) in (scene.before, scene.after)


@pytest.mark.parametrize("trial", range(max(2, TRIALS // 6)))
def test_an_update_after_a_kill_ends_what_the_killed_one_began(scene: Scene, index: Path, trial: int) -> None:
    _stopped(index, scene.docs, fork_server.KILL, random.Random(-trial).uniform(0, scene.seconds))
    update(index, [scene.docs])
    assert answers(index) == scene.after


@pytest.mark.parametrize("trial", range(max(2, TRIALS // 6)))
def test_a_killed_update_leaves_nothing_behind_in_the_end(scene: Scene, index: Path, trial: int) -> None:
    _stopped(index, scene.docs, fork_server.KILL, random.Random(100 + trial).uniform(0, scene.seconds))
    update(index, [scene.docs])
    assert len(list(index.glob("terms-*"))) == 1


@pytest.mark.parametrize("trial", range(max(2, TRIALS // 4)))
def test_a_first_update_killed_leaves_no_index_or_a_whole_one(scene: Scene, tmp_path: Path, trial: int) -> None:
    index = tmp_path / "new"
    _stopped(index, scene.docs, fork_server.KILL, random.Random(trial).uniform(0, 1.5 * scene.seconds))
    assert _answers_or_error(index) in (scene.after, f"There is no index in {index}")


SMALL_STEPS = "import toulmin.indexing.writer as writer\nwriter._COMMIT_EVERY = 20\n"


@pytest.mark.parametrize("trial", range(max(3, TRIALS // 4)))
def test_kill_between_first_commits_leaves_whole_or_nothing(scene: Scene, tmp_path: Path, trial: int) -> None:
    index = tmp_path / "new"
    _stopped(index, scene.docs, fork_server.KILL, random.Random(trial).uniform(0, 1.5 * scene.seconds), SMALL_STEPS)
    assert _answers_or_error(index) in (scene.after, f"There is no index in {index}")
    update(index, [scene.docs])
    assert answers(index) == scene.after
    assert len(list(index.glob("terms-*"))) == 1


OFTEN = "import toulmin.indexing.update as module\nmodule._PUBLISH_SECONDS = module._PUBLISH_SHARE = 0\n"


@pytest.mark.parametrize("trial", range(max(4, TRIALS // 2)))
def test_a_first_update_killed_leaves_whole_files_and_says_how_many(scene: Scene, tmp_path: Path, trial: int) -> None:
    index = tmp_path / "new"
    _stopped(index, scene.docs, fork_server.KILL, random.Random(trial).uniform(0.05, 4 * scene.seconds), OFTEN)
    texts, notes, passages = set(), (), 0
    with suppress(NoIndex), open_index(index) as corpus:
        corpus.verify()
        texts = {corpus.text(document) for document in corpus.documents()}
        notes, passages = corpus.notes(), len(corpus)
    assert texts <= {path.read_text("utf-8") for path in scene.docs.iterdir()}
    if notes:
        assert notes == (f"Answered from {len(texts)} of 40 files; the rest is not indexed yet.",)
    report = update(index, [scene.docs])
    assert (report.unchanged, report.read, report.passages > passages) == (len(texts), 40 - len(texts), len(texts) < 40)
    assert answers(index) == scene.after
    assert len(list(index.glob("terms-*"))) == 1


def test_the_next_update_of_other_files_ends_a_first_one_that_stopped(scene: Scene, tmp_path: Path) -> None:
    index, other = tmp_path / "new", tmp_path / "other.txt"
    other.write_text("The bell of the other file.", "utf-8")
    assert update(index, [scene.docs], within=0).unread == 39
    update(index, [other])
    with open_index(index) as corpus:
        assert (corpus.stats.files, corpus.notes()) == (41, ())


def test_a_later_update_is_never_stopped_by_the_clock(scene: Scene, index: Path) -> None:
    assert update(index, [scene.docs], within=0).unread == 0
    assert answers(index) == scene.after


def test_a_session_over_an_index_that_is_being_made_says_how_much_is_in(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toulmin.build.session.LOOK_AFTER", -1.0)
    index, notes = tmp_path / "new", []
    update(index, [scene.docs], within=0)
    with Session(Sources(index=str(index)), Settings()) as session:
        for within in (0, None):
            with session.use() as sources:
                notes.append(sources.notes)
            update(index, [scene.docs], within=within)
        with session.use() as sources:
            notes.append(sources.notes)
    read = [" ".join(some).partition(";")[0] for some in notes]
    assert read == ["Answered from 1 of 40 files", "Answered from 2 of 40 files", ""]


def test_a_first_update_is_searched_while_it_goes_on(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toulmin.indexing.update._PUBLISH_SECONDS", 0.0)
    monkeypatch.setattr("toulmin.indexing.update._PUBLISH_SHARE", 0.0)
    index, files, hits = tmp_path / "new", [], []

    def look(progress: Progress) -> None:
        if progress.done_files in (10, 30):
            with open_index(index) as corpus:
                files.append(corpus.stats.files)
                hits.append(len(Bm25(corpus).search(["keeper"], 1000)[0]))

    update(index, [scene.docs], on_progress=look)
    assert files == [10, 30]
    assert 0 < hits[0] < hits[1]


@pytest.mark.parametrize("trial", range(max(2, TRIALS // 6)))
def test_interrupted_at_any_moment_the_index_is_as_before_or_after(scene: Scene, index: Path, trial: int) -> None:
    _stopped(index, scene.docs, signal.SIGINT, random.Random(trial).uniform(0, 1.2 * scene.seconds))
    assert answers(index) in (scene.before, scene.after)


@pytest.mark.parametrize("file", [0, 7, 30])
def test_interrupted_between_files_the_index_is_as_before(scene: Scene, index: Path, file: int) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.done_files == file:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        update(index, [scene.docs], on_progress=interrupt)
    assert answers(index) == scene.before


def test_a_reader_goes_on_while_updates_come_and_are_killed(scene: Scene, index: Path) -> None:
    with open_index(index) as corpus:
        before = Bm25(corpus).search(["keeper"], 50)
        _stopped(index, scene.docs, fork_server.KILL, scene.seconds / 2)
        update(index, [scene.docs])
        assert Bm25(corpus).search(["keeper"], 50) == before


# ---------------------------------------------------------------- full disks

LIMITED = """
import resource, sys
from pathlib import Path
from toulmin.indexing.update import update
from toulmin.errors import DiskFull, SourceError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    update(Path(sys.argv[1]), [Path(sys.argv[2])])
except SourceError as error:
    print(error)
"""


@pytest.mark.parametrize("limit", [100, 5_000, 40_000, 100_000, 200_000])
def test_file_size_limit_keeps_the_index_and_explains(scene: Scene, index: Path, limit: int) -> None:
    command = fork_server.python(LIMITED, str(index), str(scene.docs), str(limit))
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    expected = scene.before if "The disk is full" in said.stdout else scene.after
    assert (said.stderr, answers(index)) == ("", expected)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no small file system can be mounted here (needs to be root)")
    yield place
    subprocess.run(["umount", str(place)], check=False)


def test_a_full_disk_leaves_the_index_as_it_was(scene: Scene, small_disk: Path, tmp_path: Path) -> None:
    index = Path(shutil.copytree(scene.index, small_disk / "index"))
    big = tmp_path / "big.txt"
    big.write_text("".join(_page(n) for n in range(2000)), "utf-8")
    with pytest.raises(SourceError, match="The disk is full"):
        update(index, [big])
    assert len(list(index.glob("terms-*"))) == 1  # nothing is left in the way
    assert answers(index) == scene.before


def _fill(disk: Path) -> None:
    with suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
        while filler.write(b"x" * 4096):
            pass


def test_an_index_on_a_full_disk_is_read_as_ever(scene: Scene, index: Path) -> None:
    with damage.full_disk():
        assert answers(index) == scene.before


@pytest.mark.parametrize("is_read_only", [False, True])
def test_an_index_on_a_full_or_read_only_disk_is_read_as_ever(
    scene: Scene, small_disk: Path, is_read_only: bool
) -> None:
    index = Path(shutil.copytree(scene.index, small_disk / "index"))
    _fill(small_disk)
    if is_read_only:
        (index / "corpus.sqlite-wal").touch()  # as a reader leaves it that was killed
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert answers(index) == scene.before


def test_where_a_log_must_be_read_a_full_disk_is_named_and_not_the_index(index: Path, small_disk: Path) -> None:
    with sqlite3.connect(index / "corpus.sqlite") as connection:
        connection.execute("UPDATE state SET updates = updates + 1")
    copy = small_disk / "copy"
    shutil.copytree(index, copy, ignore=shutil.ignore_patterns("*-shm"))
    connection.close()
    _fill(small_disk)
    with pytest.raises(DiskFull, match=r"The disk is full.*Make room and try again"):
        answers(copy)


def test_an_index_that_another_process_holds_is_not_read_past_its_lock(index: Path) -> None:
    with sqlite3.connect(index / "corpus.sqlite", isolation_level=None) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(SourceError, match="Another process is writing"):
            answers(index)
    connection.close()


VECTORS = """
import sys
from pathlib import Path
from words_encoder import ByWords
from toulmin.errors import SourceError
from toulmin.indexing.update import update
from toulmin.indexing.vector_files import EncoderChoice
try:
    update(Path(sys.argv[1]), list(map(Path, sys.argv[2:])), vectors=EncoderChoice(ByWords(dimension=2048), "by-words"))
except SourceError as error:
    print(error)
"""


@pytest.mark.parametrize("kilobytes", [220, 320])  # for the mapped file of vectors, and for that of faiss
def test_vectors_that_find_no_room_end_no_process(small_disk: Path, tmp_path: Path, kilobytes: int) -> None:
    (small_disk / "filler").write_bytes(b"x" * 1024 * (1024 - kilobytes))
    for n in range(10):
        (tmp_path / f"{n}.txt").write_text(_page(n), "utf-8")
    command = fork_server.python(VECTORS, str(small_disk / "index"), *map(str, tmp_path.glob("*.txt")))
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": paths})
    assert (ended.returncode, ended.stdout.partition(":")[0]) == (0, "The disk is full")
