"""The edits that turn a claim and the rewordings that keep it, each on a sentence that shows its rule."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from row_tables import table

TRAINING = Path(__file__).parent.parent / "training"
TRIES = 30


@pytest.fixture(autouse=True)
def training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TRAINING))


def _module(name: str) -> Any:
    return importlib.import_module(f"claims.{name}")


def _place(claim: str, more: str = "", title: str = "") -> Any:
    """The claim in a passage that says it and whatever `more` says, beside other pages' names and details."""
    pair, place, stock = _module("pair"), _module("place"), _module("stock")
    elsewhere = stock.stocked(
        [
            "Nora Quill was born in Tamworth. She studied law at Harrow College in 1931. He painted for Victor Hale.",
            "Alice Morton was appointed by Oliver Grey. It was built near Lake Wister. She designed a bridge in Perth.",
        ]
    )
    return place.Place(claim, place.Ground((pair.Text(title, f"{claim} {more}"),)), title, elsewhere)


def _all(edit: Callable[[Any, random.Random], str | None], claim: str, more: str = "", title: str = "") -> set[str]:
    """What an edit makes of a claim under many seeds."""
    place = _place(claim, more, title)
    made = {edit(place, random.Random(seed)) for seed in range(TRIES)}
    return {claim for claim in made if claim is not None}


@table(
    ("room", "edit", "claim", "other"),
    [
        ("turned", "negation", "The tower was built by Hannah Pell.", "The tower was not built by Hannah Pell."),
        ("turned", "negation", "Hannah Pell designed a bridge.", "Hannah Pell did not design a bridge."),
        ("turned", "negation", "The tower was not built by Hannah Pell.", "The tower was built by Hannah Pell."),
        ("turned", "quantifier", "Most keepers of the tower were poor.", "Few keepers of the tower were poor."),
        ("turned", "comparative", "Dunmore is larger than Perth.", "Dunmore is smaller than Perth."),
        ("turned", "cause", "The storm caused the flood.", "The flood caused the storm."),
        ("turned", "cause", "The fair ended because of rain.", "The fair ended in spite of rain."),
        ("named", "role_swap", "Hannah Pell was taught by George Nolan.", "George Nolan was taught by Hannah Pell."),
        ("named", "role_swap", "Mary Stuart is the mother of Jane Lowe.", "Jane Lowe is the mother of Mary Stuart."),
        ("rearranged", "moved", "In 1824, the tower was lit.", "The tower was lit in 1824."),
        ("rearranged", "voice", "The tower was built by Hannah Pell.", "Hannah Pell built the tower."),
        ("rearranged", "voice", "Hannah Pell built the tower.", "The tower was built by Hannah Pell."),
        ("reworded", "date_form", "It was lit on 3 May 1826.", "It was lit on May 3, 1826."),
        ("reworded", "date_rounded", "It was lit on 3 May 1826.", "It was lit in 1826."),
        ("reworded", "number_words", "It has twelve windows.", "It has 12 windows."),
        ("referred", "dropped", "The tower (a lighthouse) is tall.", "The tower is tall."),
    ],
)
def test_an_edit_gives_the_claim_that_its_rule_says(room: str, edit: str, claim: str, other: str):
    assert other in _all(getattr(_module(room), edit), claim)


@table(
    ("room", "edit", "claim"),
    [
        ("turned", "negation", "All keepers were poor men."),  # "all were not" may be said of some
        ("turned", "negation", "The tower may be open today."),
        ("named", "role_swap", "Hannah Pell married Robert Lowe."),  # who married whom is one fact
        ("named", "role_swap", "Hannah Pell and Robert Lowe met in Dunmore."),
        ("values", "number", "The tower cost more than 500 pounds."),  # less than it did is still more than some
        ("values", "date", "It was finished before 1850."),
        ("values", "number", "The score was 3-2 at the end."),
        ("turned", "comparative", "At least ten men worked there."),
        ("turned", "cause", "It fell because he pushed it."),
        ("rearranged", "voice", "Hannah Pell became an engineer."),
        ("rearranged", "told_alone", "The enzyme needs iron and is regulated by it."),
        ("referred", "dropped", "The tower (a lighthouse) is not tall."),
        ("referred", "dropped", "Despite their plans, the second keepers, were unable to leave."),
        ("rearranged", "told_alone", "Tom Ashby was convicted of a theft and released from the town in 1850."),
        ("values", "date", "It was rebuilt in the 1940s."),
        ("values", "number", "It is in the 21st row."),
    ],
)
def test_an_edit_leaves_a_claim_of_which_it_is_not_sure(room: str, edit: str, claim: str):
    made = _all(getattr(_module(room), edit), claim)
    assert made <= {"It fell although he pushed it.", "It fell even though he pushed it."}


@pytest.mark.parametrize(
    ("edit", "claim", "more"),
    [
        ("number", "The tower has 12 windows.", "It had 11, 13 and 15 in other years, and 9."),
        ("date", "It was built in 1824.", "It was burnt in 1825, 1827, 1829 and 1834, and in 1823."),
    ],
)
def test_a_new_figure_is_never_one_of_the_passages(edit: str, claim: str, more: str):
    figures = _module("place").Ground((_module("pair").Text(None, f"{claim} {more}"),)).values
    made = _all(getattr(_module("values"), edit), claim, more)
    assert made
    assert not [other for other in made if figures >= {fact.value for fact in _place(other).found}]


def test_a_new_name_is_of_the_same_kind_and_unknown_to_the_passages():
    made = _all(_module("named").entity, "The tower was designed by George Nolan.", "Oliver Grey paid for it.")
    assert made
    assert made <= {f"The tower was designed by {name}." for name in ("Alice Morton", "Victor Hale", "Nora Quill")}


def test_the_subject_of_the_page_is_not_renamed():
    assert not _all(_module("named").entity, "He met George Nolan.", title="George Nolan")


def test_an_added_detail_goes_with_the_verb_and_is_unknown_to_the_passages():
    made = _all(_module("added").added, "Mary Stuart studied law.")
    assert "Mary Stuart studied law at Harrow College in 1931." in made or any("Harrow" in one for one in made)


def test_a_detail_that_the_passages_know_is_not_added():
    known = "She was at Harrow College in 1931, where she designed a bridge in Perth. Lake Wister. Victor Hale."
    assert not _all(_module("added").added, "Mary Stuart studied law.", known)


def test_a_unit_is_not_changed_where_the_passage_gives_both():
    assert not _all(_module("values").unit, "It is 40 miles long.", "That is 40 kilometres in the old measure.")


def test_a_pronoun_is_replaced_by_the_title_that_opens_the_passage():
    pair, place, referred = _module("pair"), _module("place"), _module("referred")
    text = "Kettle Rock Tower is a lighthouse. It was lit in 1826."
    ground = place.Ground((pair.Text("Kettle Rock Tower", text),))
    it = place.Place("It was lit in 1826.", ground, "Kettle Rock Tower")
    assert referred.named(it, random.Random(0)) == "Kettle Rock Tower was lit in 1826."


# ---------------------------------------------------------------- evidence taken away


def test_without_its_sentence_a_passage_no_longer_says_the_claim():
    pair, removed = _module("pair"), _module("removed")
    told = "Kettle Rock Tower was lit in May 1826 by its first keeper."
    rest = "The rock lies two miles off the coast. Seals are often seen there by the visitors of the island."
    left = removed.removed(told, "", [pair.Text("Kettle Rock", f"{rest} {told}")], [told])
    assert left == (pair.Text("Kettle Rock", rest),)


def test_evidence_is_not_taken_away_where_another_sentence_says_it_too():
    pair, removed = _module("pair"), _module("removed")
    told = "Kettle Rock Tower was lit in May 1826 by its first keeper."
    again = "In May 1826 the first keeper of Kettle Rock Tower lit it before many visitors from the coast."
    assert removed.removed(told, "", [pair.Text("Kettle Rock", f"{again} {told}")], [told]) is None


# ---------------------------------------------------------------- questions told as statements


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("when was the tower built", "1824", "The tower was built in 1824."),
        ("When did the battle begin?", "3 May 1826", "The battle began on 3 May 1826."),
        ("where was hannah pell born", "Dunmore", "Hannah pell was born in Dunmore."),
        ("who built the tower", "Hannah Pell", "Hannah Pell built the tower."),
        ("who is the keeper of the tower", "Tom Ashby", "The keeper of the tower is Tom Ashby."),
    ],
)
def test_a_question_and_its_answer_become_a_statement(question: str, answer: str, statement: str):
    assert _module("stated").stated(question, answer) == statement


@pytest.mark.parametrize("question", ["why was it built", "how many windows does it have", "is it tall or not"])
def test_a_question_of_an_unsure_form_becomes_none(question: str):
    assert _module("stated").stated(question, "12") is None


def test_a_wrong_answer_is_of_the_kind_of_the_right_one():
    answered, pair = _module("answered"), _module("pair")
    text = "George Nolan taught Hannah Pell in Dunmore. Robert Lowe paid for it in 1815."
    asked = answered.Asked("a", "who taught hannah pell", ("George Nolan",), None, pair.Text(None, text), "p", "train")
    stock = _module("stock").Stock(names={"person": ["Victor Hale"]})
    assert {answered.distractor(asked, stock, random.Random(seed)) for seed in range(TRIES)} == {
        "Robert Lowe",
        "Victor Hale",
    }


def test_mirrored_pair_holds_only_with_the_edited_passage():
    pair, edited = _module("pair"), _module("edited")
    text = "Kettle Rock Tower was built in 1824 by Hannah Pell."
    made = [
        one
        for seed in range(TRIES)
        for one in edited.Maker(_module("stock").Stock(), seed=seed).of_passage(
            pair.Text("Kettle Rock Tower", text), (), edited.passage_origin("p", "s", "Kettle Rock Tower", "train", "l")
        )
        if "mirrored" in one.id
    ]
    assert {(one.label == "supported", one.claim in one.premise[0].text) for one in made} == {
        (True, True),
        (False, False),
    }
