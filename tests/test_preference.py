"""Pairwise preference: what a person sees, what is recorded, and what is reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_tables import table

from toulmin.cli.preferring import Preference, lines, load_preferences, pairs, shares
from toulmin.data import Answer, Claim
from toulmin.errors import SourceError, UsageError


def run(method: str, *ids: str) -> list[Answer]:
    return [Answer(f"Q {id}?", "long", method, "answered", (Claim(f"{method} says {id}."),), id=id) for id in ids]


IDS = [str(n) for n in range(40)]


def test_only_questions_that_both_answered_are_shown():
    silent = Answer("Q 3?", "long", "b", "abstained", id="3")
    shown = pairs(run("a", "1", "2", "3"), [*run("b", "2", "4"), silent])
    assert [one.id for one in shown] == ["2"]


def test_runs_without_a_common_question_are_refused():
    with pytest.raises(UsageError, match="no question that both answered"):
        pairs(run("a", "1"), run("b", "2"))


def test_the_sides_are_drawn_for_each_question():
    shown = pairs(run("a", *IDS), run("b", *IDS))
    assert 5 < sum(one.swapped for one in shown) < 35
    assert all((one.left.method == "b") == one.swapped for one in shown)


def test_the_same_seed_shows_the_same_pairs():
    assert pairs(run("a", *IDS), run("b", *IDS), 5, 1) == pairs(run("a", *IDS), run("b", *IDS), 5, 1)
    assert pairs(run("a", *IDS), run("b", *IDS), 5, 1) != pairs(run("a", *IDS), run("b", *IDS), 5, 2)


@table("one", pairs(run("a", *IDS), run("b", *IDS)), ids=lambda one: one.id)
def test_preferred_side_is_the_runs_in_either_order(one):
    assert one.choice("a") == ("first" if one.left.method == "a" else "second")
    assert one.choice("b") == ("first" if one.right.method == "a" else "second")
    assert one.choice("n") == "neither"


def test_shares_are_of_all_questions():
    told = [
        Preference("1", "first", "neither"),
        Preference("2", "first", "second"),
        Preference("3", "neither", "second"),
    ]
    found = shares(told)
    assert found["fluency"] == {"first": pytest.approx(200 / 3), "neither": pytest.approx(100 / 3), "second": 0.0}
    assert found["informativeness"]["second"] == pytest.approx(200 / 3)


CHOICES = st.sampled_from(["first", "neither", "second"])


@given(
    st.lists(
        st.builds(Preference, st.text(min_size=1).filter(str.isprintable), CHOICES, CHOICES), unique_by=lambda p: p.id
    )
)
def test_what_is_recorded_reads_back(tmp_path_factory: pytest.TempPathFactory, told: list[Preference]):
    file = tmp_path_factory.mktemp("kept") / "preferences.jsonl"
    file.write_bytes(lines(told))
    assert list(load_preferences(file).values()) == told


@pytest.mark.parametrize(
    "text", ["no json", '{"id": "1"}', '{"id": "1", "fluency": "best", "informativeness": "first"}']
)
def test_a_damaged_file_is_told_by_name(tmp_path: Path, text: str):
    file = tmp_path / "preferences.jsonl"
    file.write_text(text, "utf-8")
    with pytest.raises(SourceError, match=r"preferences\.jsonl should hold preferences"):
        load_preferences(file)
