"""Statements of our own about a page: what is read off it, and what is told of it, true and false."""

from __future__ import annotations

import importlib
import random
from pathlib import Path
from typing import Any

import pytest

TRAINING = Path(__file__).parent.parent / "training"
FILM = ("Low Tide (1951 film)", "Low Tide is a 1951 drama film directed by Hannah Pell and starring Tom Ashby.")
OTHER = ("High Water", "High Water is a 1934 comedy film directed by Nora Quill and starring Victor Hale.")
KEEPER = ("Tom Ashby", "Tom Ashby (3 May 1902 – 9 June 1977) was a lighthouse keeper. He married Ann.")
ROCK = ("Kettle Rock", "Kettle Rock is an island in Port Ellery, Dunmore. It has a population of 1,204.")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TRAINING))
    return importlib.import_module("claims.told")


@pytest.mark.parametrize(
    ("title", "text", "kind", "slots"),
    [
        (*FILM, "film", {"director": "Hannah Pell", "star": "Tom Ashby", "year": "1951"}),
        (*KEEPER, "person", {"spouse": "Ann", "born": "1902", "died": "1977"}),
        (*ROCK, "place", {"within": "Port Ellery", "wider": "Dunmore", "count": "1,204"}),
        ("Ida Stone", "Ida Stone (born 4 July 1960) is a singer.", "person", {"born": "1960"}),
        ("Odo", "Odo of Bray (died 1514) was a monk.", "person", {"died": "1514"}),
    ],
)
def test_facts_are_read_off_the_opening(told: Any, title: str, text: str, kind: str, slots: dict[str, str]):
    found = told.page(0, title, text)
    assert (found.kind, found.slots) == (kind, slots)


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Low Tide", "The tide was low in 1951, said Hannah Pell."),
        ("", FILM[1]),
        ("Grey Pass", "Grey Pass (1999 m) crosses the hills."),
        ("Low Tide", ""),
    ],
)
def test_a_passage_that_does_not_open_a_page_tells_nothing(told: Any, title: str, text: str):
    assert told.page(0, title, text) is None


def statements(told: Any, seeds: int = 40) -> list[Any]:
    pages = [told.page(n, *one) for n, one in enumerate((FILM, OTHER))]
    teller = told.Teller()
    for each in pages:
        teller.read(each)
    return [one for seed in range(seeds) for one in teller.told(pages[0], FILM[1], random.Random(seed))]


def test_what_is_supported_is_so_and_what_is_not_has_a_word_that_is_not(told: Any):
    true = {"Hannah Pell directed Low Tide.", "Tom Ashby starred in Low Tide.", "Low Tide was released in 1951."}
    false = {
        "Nora Quill directed Low Tide.",
        "Victor Hale starred in Low Tide.",
        "Hannah Pell did not direct Low Tide.",
    }
    labels = {one.claim: one.label for one in statements(told, 200)}
    assert {labels[claim] for claim in true} == {"supported"}
    assert {labels[claim] for claim in false} <= {"unsupported", "contradicted"}


def test_exactly_the_words_that_are_not_backed_are_marked(told: Any):
    for one in statements(told):
        marked = [one.claim[start:end] for start, end in one.wrong]
        assert bool(marked) == (one.label != "supported")
        if one.edit == "roles" and marked:
            assert sorted(marked) == sorted(set(marked))
            assert set(marked) <= {"Hannah Pell", "Tom Ashby"}
        if one.edit == "denied" and marked:
            assert marked in (["not"], ["never"], ["no"])


def test_values_that_change_their_roles_are_told_right_and_wrong_alike(told: Any):
    made = [one for one in statements(told) if one.edit == "roles"]
    assert {one.label for one in made} == {"supported", "contradicted"}
    assert all("Hannah Pell" in one.claim and "Tom Ashby" in one.claim for one in made)


def test_a_page_gives_few_statements_and_none_twice(told: Any):
    for seed in range(20):
        page, teller = told.page(0, *FILM), told.Teller()
        teller.read(told.page(1, *OTHER))
        claims = [one.claim for one in teller.told(page, FILM[1], random.Random(seed))]
        assert len(claims) == len(set(claims)) <= told.MOST


def test_every_frame_has_room_for_its_value_and_a_denial(told: Any):
    for slots in told.SLOTS.values():
        for slot in slots.values():
            for said, denied in slot.frames:
                assert all(frame.count("{v}") == 1 and "{x}" in frame for frame in (said, denied))
                assert told._DENIAL.search(denied.format(x="", v=""))
                assert not told._DENIAL.search(said.format(x="", v=""))
