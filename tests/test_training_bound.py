"""Statements that hang on who stands in which part: true ones hold by their passage, false ones do not."""

from __future__ import annotations

import importlib
import random
import re
from pathlib import Path
from typing import Any

import pytest

FILM = (
    "The Long Night",
    "The Long Night is a 1951 drama film directed by Hannah Pell and starring Tom Ashby. Ashby plays a keeper.",
)
PERSON = ("Ada Nolan", "Ada Nolan (3 May 1821 – 9 June 1888) was an English painter.")


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "training"))
    return importlib.import_module("claims.bound")


@pytest.fixture
def stock(bound: Any) -> Any:
    made = bound.Stock()
    made.names["person"] = ["Ann Robson", "Ben Wilson", "Cid Jackson", "Dora Harryson", "Eve Anderson"]
    made.names["place"] = ["Ashwick", "Brayford", "Colden", "Durnley", "Elmstow"]
    return made


def renamed(bound: Any, stock: Any, page: tuple[str, str], seeds: int = 30) -> list[tuple[str, Any]]:
    found = bound.told.page(0, *page)
    return [one for seed in range(seeds) for one in bound.of_page(found, page[1], stock, random.Random(seed))]


def test_a_page_keeps_nothing_of_the_names_that_were_replaced(bound: Any, stock: Any):
    for said, one in renamed(bound, stock, FILM):
        assert not re.search("Pell|Ashby", f"{said} {one.claim}")


def test_a_surname_that_comes_again_is_replaced_too(bound: Any, stock: Any):
    for said, _ in renamed(bound, stock, FILM):
        star = re.search(r"starring \w+ (\w+)\.", said)
        assert star is not None
        assert f"{star[1]} plays a keeper" in said


DIRECTS = r"directed|made|direction|director|filmed"


def test_a_director_is_told_as_director_where_that_is_true(bound: Any, stock: Any):
    alone = [(said, one) for said, one in renamed(bound, stock, FILM) if not re.search(" and | while |; ", one.claim)]
    directing = [(said, one) for said, one in alone if re.search(DIRECTS, one.claim)]
    assert {one.label for _, one in directing} == {"supported", "contradicted"}
    for said, one in directing:
        director = re.search(r"directed by (\w+ \w+)", said)
        assert director is not None
        assert (director[1] in one.claim) == (one.label == "supported")


def test_years_of_a_life_are_told_in_their_own_part_or_in_the_other(bound: Any, stock: Any):
    births = [
        (said, one) for said, one in renamed(bound, stock, PERSON) if re.fullmatch(r".* was born in \d+\.", one.claim)
    ]
    assert len(births) > 5
    for said, one in births:
        born = re.search(r"\(3 May (\d+)", said)
        assert born is not None
        assert one.claim.endswith(f"{born[1]}.") == (one.label == "supported")


def test_a_copied_sentence_is_true_until_its_values_are_exchanged(bound: Any, stock: Any):
    copies = [(said, one) for said, one in renamed(bound, stock, FILM) if "drama film" in one.claim]
    assert {one.label for _, one in copies} == {"supported", "contradicted"}
    for said, one in copies:
        assert (one.claim in said) == (one.label == "supported")
        assert len(one.wrong) == (0 if one.label == "supported" else 2)


def test_what_is_wrong_is_marked(bound: Any, stock: Any):
    for said, one in renamed(bound, stock, PERSON):
        assert bool(one.wrong) == (one.label != "supported")
        assert all(one.claim[start:end] in said for start, end in one.wrong)


@pytest.mark.parametrize(
    "page", [("Nothing", "A sentence of nothing."), ("Kettle Rock", "Kettle Rock is a village in Cornwall.")]
)
def test_a_page_without_two_alike_values_tells_nothing(bound: Any, stock: Any, page: tuple[str, str]):
    found = bound.told.page(0, *page)
    assert not list(bound.of_page(found, page[1], stock, random.Random(0)) if found else ())


def parts(bound: Any, text: str) -> set[tuple[int, str, str]]:
    """Every relation that a sentence tells, with who stands in its first place and who in the second."""
    found = set()
    for n, relation in enumerate(bound.RELATIONS):
        for form in relation.forms:
            shape = re.escape(form).replace(r"\{a\}", "(?P<a>[A-Z][a-z]+ [A-Z][a-z]+|[A-Z][a-z]+)", 1)
            shape = shape.replace(r"\{b\}", "(?P<b>[A-Z][a-z]+ [A-Z][a-z]+|[A-Z][a-z]+)", 1)
            shape = shape.replace(r"\{a\}", "(?P=a)").replace(r"\{b\}", "(?P=b)")
            match = re.match(shape, text[:1].lower() + text[1:] if form[0].islower() else text)
            if match:
                found.add((n, match["a"], match["b"]))
    return found


def test_a_relation_is_true_only_in_its_direction(bound: Any, stock: Any):
    chance, labels = random.Random(0), set()
    for _ in range(400):
        for case in bound.related(stock, chance):
            lines = re.findall(r".*?\.(?: |$)", case.premise)
            told = set().union(*(parts(bound, line) for line in lines))
            claimed = parts(bound, case.claim)
            either = {(n, b, a) for n, a, b in told if bound.RELATIONS[n].turned == "supported"}
            assert bool(claimed & (told | either)) == (case.label == "supported"), case
            labels.add(case.label)
    assert labels == {"supported", "contradicted", "unsupported"}


def test_a_value_belongs_to_the_subject_that_the_passage_gives_it(bound: Any, stock: Any):
    chance, seen = random.Random(1), 0
    for _ in range(2000):
        for case in bound.described(stock, chance):
            years = re.fullmatch(r"(\w+ \w+) was born in (\d+)\.", case.claim)
            told = years and re.search(rf"{years[1]} was born in (\d+)", case.premise)
            if years and told:
                seen += 1
                assert (told[1] == years[2]) == (case.label == "supported")
    assert seen > 3


def test_what_the_claim_alone_says_never_tells(bound: Any, stock: Any):
    """Every value stands on the page, and each drawing has as many true as false claims unless a relation is mutual."""
    chance = random.Random(2)
    for _ in range(200):
        cases = list(bound.described(stock, chance))
        assert sorted(case.label for case in cases) in ([], ["contradicted", "supported"])
