"""Fixtures that many tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from toulmin.runtime import shipped

if TYPE_CHECKING:
    from postgres_server import Server

SLOW = frozenset(
    line for line in (Path(__file__).parent / "slow.txt").read_text("utf-8").splitlines() if not line.startswith("#")
)
# A busy machine is no fault of the code; and every run draws other examples, so half as many as usual do.
settings.register_profile("toulmin", deadline=None, max_examples=50)
settings.load_profile("toulmin")
# Whoever runs the tests may have installed the weights; settings that test files make when they are read come first.
shipped.PACKAGE = "no_weights_of_this_name"
# Libraries beyond the extra `test` that files import as a whole, and the extra that brings them.
NEEDS = {
    **dict.fromkeys(
        "test_judges_cross test_judges_seq2seq test_local".split(),
        ("torch", "local"),
    ),
    **dict.fromkeys("test_encoders test_vectors_trained".split(), ("sentence_transformers", "local")),
    **dict.fromkeys(
        "test_training test_training_heads test_training_reader test_training_windows".split(),
        ("torch", "train"),
    ),
    **dict.fromkeys("test_exports_browser test_report_browser test_web_page".split(), ("playwright", "docs")),
    **dict.fromkeys("test_postgres test_postgres_store".split(), ("psycopg", "postgres")),
    "test_vectors": ("faiss", "encoder"),
    "test_web_mcp": ("mcp", "mcp"),
    "test_web_openapi": ("schemathesis", "dev"),
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Slow files are not imported where they are left out: torch, Ray and the like take their time."""
    is_left_out = config.getoption("markexpr") == "not slow" and collection_path.name in SLOW
    return True if is_left_out else None


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str) -> list[pytest.Item] | None:
    """Nor are slow tests taken apart into their cases where they are left out."""
    is_left_out = collector.config.getoption("markexpr") == "not slow" and f"{collector.path.name}::{name}" in SLOW
    return [] if is_left_out else None


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """A file whose library is missing is skipped by name."""
    library, extra = NEEDS.get(module_path.stem, ("pytest", ""))
    return None if find_spec(library) else _Skipped.from_parent(parent, path=module_path, reason=(library, extra))


class _Skipped(pytest.Module):
    def __init__(self, *, reason: tuple[str, str], **options: Any) -> None:
        super().__init__(**options)
        self._reason = reason

    def collect(self) -> list[pytest.Item]:
        library, extra = self._reason
        pytest.skip(f"{library} is not installed: pip install -e '.[{extra}]'", allow_module_level=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.name in SLOW or f"{item.path.name}::{getattr(item, 'originalname', item.name)}" in SLOW:
            item.add_marker(pytest.mark.slow)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes name no test: a packed file holds the time of its making, and every worker must see the same names."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names of folders that nobody has made; `mktemp` for each test would look through all that there are."""
    folder = tmp_path_factory.mktemp("caches")
    return (folder / str(number) for number in count())


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Servers of the tests keep no answers among those of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(autouse=True)
def own_place(caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch, no_weights: Path) -> None:
    """Every test has a cache of its own, and neither settings nor trained parts of whoever runs it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(next(caches)))
    for name in [name for name in os.environ if name.startswith("TOULMIN_") and name != "TOULMIN_DATA"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(no_weights))  # as for the commands that a test starts


@pytest.fixture(autouse=True)
def own_sessions() -> Iterator[None]:
    """What calls share ends with each test."""
    yield
    if "toulmin.sync" in sys.modules:
        sys.modules["toulmin.sync"].close_sessions()


@pytest.fixture(scope="session")
def no_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `toulmin_weights` has no part: on the path, it hides an installed one."""
    folder = tmp_path_factory.mktemp("path")
    (folder / "toulmin_weights").mkdir()
    (folder / "toulmin_weights" / "__init__.py").write_text("", "utf-8")
    (folder / "toulmin_weights" / "manifest.json").write_text('{"parts": {}}', "utf-8")
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server for all tests of the group `postgres`, which one worker runs."""
    from postgres_server import postgres_server

    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def s3_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of an S3 server, which has the bucket `library`."""
    from shared_parts import s3_server

    with s3_server(tmp_path_factory.mktemp("s3") / "log") as port:
        yield port


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A small folder of documents about one lighthouse."""
    return write_notes(tmp_path / "notes")


@pytest.fixture(scope="session")
def shared_notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for tests that only read it."""
    return write_notes(tmp_path_factory.mktemp("shared") / "notes")


def write_notes(folder: Path) -> Path:
    folder.mkdir()
    (folder / "tower.md").write_text(
        "# Kettle Rock Tower\n\nKettle Rock Tower was built by Hannah Pell between 1821 and 1824. The tower is 38"
        " metres tall. It was lit for the first time on 3 May 1824.\n",
        "utf-8",
    )
    (folder / "keepers.txt").write_text(
        "Three keepers lived in Kettle Rock Tower until 1978, when the lamp was automated. The last keeper was Tom"
        " Ashby. Every keeper had to swim.\n",
        "utf-8",
    )
    return folder
