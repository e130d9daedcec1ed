"""A shared corpus on an S3 server: credentials, and requests that fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from shared_parts import ENVIRONMENT, SECRET, flaky, free_port, notes_in, refusing, run

pytest.importorskip("lancedb", reason="needs lancedb")
pytest.importorskip("moto.server", reason="needs moto[server]")
pytest.importorskip("boto3", reason="needs boto3")

import toulmin
from toulmin.errors import SourceError, StoreAway
from toulmin.stores.lance_corpus import open_shared
from toulmin.stores.lance_writer import update_shared


@pytest.fixture
def s3(s3_port: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """The server, with an environment that leads there."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{s3_port}")
    return s3_port


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return notes_in(tmp_path / "notes")


def leads_to(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.chdir(tmp_path)
    return monkeypatch


# ---------------------------------------------------------------- failing requests


def test_writing_repeats_requests_that_fail_half_of_the_time(s3: int, notes: Path, monkeypatch: Any):
    with flaky(s3) as (port, counts):
        leads_to(port, monkeypatch)
        report = update_shared("s3://library/flaky", [notes])
    assert 0.4 < counts.failed / counts.asked < 0.6
    assert report.documents == 11


def test_answering_retries_failing_requests(s3: int, notes: Path, monkeypatch: Any):
    update_shared("s3://library/halves", [notes])
    with flaky(s3) as (port, counts):
        leads_to(port, monkeypatch)
        answer = toulmin.ask("When was the sea watch H4 finished?", index="s3://library/halves")
    assert 0.3 < counts.failed / counts.asked < 0.7
    assert answer.status == "answered"


# ---------------------------------------------------------------- what cannot be used


@pytest.mark.parametrize("words", [["search", "x", "--index"], ["index", "notes", "--into"]], ids=["read", "write"])
def test_wrong_credentials_end_with_3_and_what_to_do(s3: int, words: list[str], notes: Path, capsys: Any, here: Any):
    with refusing() as port:
        leads_to(port, here)
        assert run(*words, "s3://library/refused") == 3
    told = " ".join(capsys.readouterr().err.split())
    assert "refused the credentials of this environment; set AWS_ACCESS_KEY_ID" in told
    assert not [name for name in ("test-key", SECRET) if name in told]


@pytest.mark.parametrize("words", [["search", "x", "--index"], ["index", "notes", "--into"]], ids=["read", "write"])
def test_a_missing_bucket_ends_with_3_and_what_to_do(s3: int, words: list[str], notes: Path, capsys: Any, here: Any):
    assert run(*words, "s3://nowhere-at-all/corpus") == 3
    told = " ".join(capsys.readouterr().err.split())
    assert "There is no bucket (or container) for s3://nowhere-at-all/corpus; make it" in told


def test_a_store_that_is_away_is_told(s3: int, monkeypatch: Any):
    leads_to(free_port(), monkeypatch)
    monkeypatch.setattr("toulmin.stores.lance_table._REPEATS", 1)
    with pytest.raises(StoreAway, match="cannot be reached; check its endpoint"):
        open_shared("s3://library/corpus")


def test_an_update_that_fails_changes_nothing(s3: int, notes: Path, monkeypatch: Any):
    update_shared("s3://library/whole", [notes])
    with open_shared("s3://library/whole") as corpus:
        before = corpus.stamp()
    (notes / "new.md").write_text("Something new.")
    monkeypatch.setattr("toulmin.stores.lance_table._REPEATS", 0)
    monkeypatch.setattr("toulmin.stores.lance_table._ATTEMPTS", 1)
    with flaky(s3, share=1.0) as (port, _):
        leads_to(port, monkeypatch)
        with pytest.raises(SourceError, match="failed again and again"):
            update_shared("s3://library/whole", [notes])
    leads_to(s3, monkeypatch)
    with open_shared("s3://library/whole") as corpus:
        assert corpus.stamp() == before
