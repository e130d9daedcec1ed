"""The forms of verbs and the names of people by which training pairs are made."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "training"))


def english() -> Any:
    return importlib.import_module("claims.english")


@pytest.mark.parametrize(
    ("past", "base"),
    [("found", "find"), ("founded", "found"), ("built", "build"), ("stopped", "stop"), ("opened", "open"),
     ("married", "marry"), ("died", "die"), ("played", "play"), ("wrote", "write"), ("occurred", "occur")],
)  # fmt: skip
def test_a_past_is_traced_to_its_base(past: str, base: str):
    assert getattr(english().of_past(past), "base", None) == base


@pytest.mark.parametrize("word", ["bred", "indeed", "hundred", "need", "writed", "", "The"])
def test_a_word_that_only_looks_like_a_past_is_none(word: str):
    assert english().of_past(word) is None


def test_a_participle_need_not_be_the_past():
    assert getattr(english().of_participle("written"), "past", None) == "wrote"


@pytest.mark.parametrize(("present", "base"), [("has", "have"), ("carries", "carry"), ("reaches", "reach")])
def test_a_present_is_traced_to_its_base(present: str, base: str):
    assert getattr(english().of_present(present), "base", None) == base


@pytest.mark.parametrize("name", ["Hannah Pell", "D. P. Varma", "Sir Cloudesley Shovell", "John van der Berg"])
def test_a_first_name_initials_or_a_title_make_a_person(name: str):
    assert english().is_person(name)


@pytest.mark.parametrize("name", ["Acme Pictures", "Virginia", "Victoria Park", "George Street Church", "NASA"])
def test_an_institution_a_place_or_one_word_is_no_person(name: str):
    assert not english().is_person(name)
