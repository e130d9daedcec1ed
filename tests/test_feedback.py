"""What readers say of sentences: kept by the server, counted by `score`, read by the judge's training."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs fastapi")

from web_parts import Served, served

import toulmin
from toulmin.errors import SourceError
from toulmin.evaluation.feedback import feedback_document, is_feedback, read_feedback

sys.path.append(str(Path(__file__).parent.parent / "training"))


@pytest.fixture
def server(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with served(notes) as found:
        yield found


def answered(server: Served) -> str:
    return str(server.client.post("/v1/answers", json={"question": "Who built Kettle Rock Tower?"}).json()["id"])


def say(server: Served, id: str, claim: Any, says: Any) -> int:
    return server.client.post(f"/v1/answers/{id}/feedback", json={"claim": claim, "says": says}).status_code


def test_the_last_word_on_a_claim_counts(server: Served, tmp_path: Path):
    first, second = answered(server), answered(server)
    for id, says in ((first, "wrong"), (first, "right"), (second, "wrong"), (second, None)):
        assert say(server, id, 0, says) == 204
    file = tmp_path / "feedback.jsonl"
    file.write_bytes(server.client.get("/v1/feedback").content)
    (word,) = read_feedback(file)
    assert (word.answer, word.claim, word.says, word.label) == (first, 0, "right", "supported")
    assert "Hannah Pell" in word.text
    assert "Hannah Pell" in word.passages[0]["text"]


def test_only_the_owner_may_read_what_quotes_documents(server: Served, tmp_path: Path):
    say(server, answered(server), 0, "right")
    (file,) = (tmp_path / "state").rglob("*.feedback.jsonl")
    assert file.stat().st_mode & 0o777 == 0o600


def test_score_counts_how_often_readers_agreed(server: Served, tmp_path: Path):
    ids = [answered(server) for _ in range(4)]
    for id, says in zip(ids, ["right", "right", "right", "wrong source"], strict=True):
        say(server, id, 0, says)
    file = tmp_path / "feedback.jsonl"
    file.write_bytes(server.client.get("/v1/feedback").content)
    document = toulmin.score(file)
    assert document["metrics"]["supported: readers say right"] == {"value": 75.0, "low": None, "high": None, "n": 4}
    assert document["metrics"]["supported: readers say wrong"]["value"] == 0.0
    assert (document["n"], document["judge"]) == (4, read_feedback(file)[0].judge)


def test_training_learns_from_what_readers_said(server: Served, tmp_path: Path):
    pytest.importorskip("torch", reason="needs torch (extra: dev)")
    from lessons import claims_of_readers  # type: ignore[import-not-found]

    ids = [answered(server) for _ in range(2)]
    for id, says in zip(ids, ["right", "wrong"], strict=True):
        say(server, id, 0, says)
    file = tmp_path / "feedback.jsonl"
    file.write_bytes(server.client.get("/v1/feedback").content)
    lessons = list(claims_of_readers([file]))
    assert [(each.verdict, each.vague, each.family) for each in lessons] == [
        (0, False, "natural"),
        (1, True, "natural"),
    ]
    assert "Hannah Pell" in lessons[0].pair.premises[0].text


@pytest.mark.parametrize(("claim", "says"), [(99, "right"), (-1, "right"), (0, "perhaps"), ("0", "right")])
def test_what_cannot_be_said_is_refused(server: Served, claim: Any, says: Any):
    assert say(server, answered(server), claim, says) in (404, 422)
    assert server.client.get("/v1/feedback").content == b""


def test_an_unknown_answer_is_refused(server: Served):
    assert say(server, "nothing", 0, "right") == 404


def test_other_files_are_no_feedback_and_damage_is_named(tmp_path: Path):
    file = tmp_path / "some.jsonl"
    file.write_text('{"question": "Who?"}\n', "utf-8")
    assert not is_feedback(file)
    file.write_text(json.dumps({"answer": "a", "claim": 0, "says": "right", "text": "t"}) + "\n[]\n", "utf-8")
    assert is_feedback(file)
    with pytest.raises(SourceError, match=r"some.jsonl, line 2: a JSON object with"):
        feedback_document(file)
