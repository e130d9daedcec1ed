"""The experiment that compares `best` with the other methods by gold labels."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.test_experiments import FOLDER, needs_data
from toulmin.data import Answer, Citation, Claim, Passage

QUESTION = {
    "id": "1",
    "question": "Who sang it?",
    "style": "list",
    "docs": [],
    "qa_pairs": [{"short_answers": ["Dave Stewart"]}, {"short_answers": ["Barbara Gaskin", "Gaskin"]}],
}
PASSAGES = tuple(map(Passage.of, ("Dave Stewart sang it.", "Gaskin sang it, too.", "Nobody knows the tune.")))


@pytest.fixture
def best(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the experiment, which extends the import path for its own imports."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    return importlib.import_module("best")


def answer(*cited: Sequence[int]) -> Answer:
    claims = tuple(Claim("It is so.", tuple(Citation(PASSAGES[n].id) for n in numbers)) for numbers in cited)
    return Answer("Who sang it?", "list", "best", "answered" if claims else "abstained", claims, PASSAGES)


@pytest.mark.parametrize(
    ("cited", "wanted"),
    [
        (((0,), (1,)), 1.0),
        (((0,), (2,)), 0.5),
        (((0, 2),), 2 / 3),
        (((2,),), 0.0),
        ((), 0.0),
        (((0,), ()), 2 / 3),
    ],
)
def test_citations_are_scored_by_the_passages_that_hold_an_answer(
    best: Any, cited: Sequence[Sequence[int]], wanted: float
):
    assert best.citation_f1(QUESTION, answer(*cited)) == pytest.approx(wanted)


def test_a_list_is_right_when_every_item_is_there(best: Any):
    assert best.is_right(QUESTION, "Barbara Gaskin and Dave Stewart.")
    assert not best.is_right(QUESTION, "Dave Stewart.")
    assert best.is_right({**QUESTION, "style": "long"}, "Dave Stewart.")


@needs_data
def test_each_list_has_its_own_passage_among_others(best: Any):
    rows = best.questions("lists", 5)
    assert [len({doc["text"] for doc in row["docs"]}) for row in rows] == [best.K] * 5
    assert all(row["context"] == row["docs"][best.K // 2]["text"] for row in rows)


@needs_data
def test_a_row_is_kept_and_compared_with_best(
    best: Any, tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    command = ["best.py", str(notes), "--model", "extractive", "--questions", "3", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", [*command, "--only", "best", "vanilla"])
    monkeypatch.setattr(best, "PARTS", ("asqa", "lists"))
    best.main()
    table, _, compared = capsys.readouterr().out.partition("more or less than best")
    assert [line.split()[0] for line in table.splitlines()[-3:] if line] == ["best", "vanilla"]
    assert compared.split()[0] == "vanilla"
    assert (tmp_path / "vanilla-asqa").is_dir()
