"""The probes for judges: the pages kept for them and what is read off those."""

from __future__ import annotations

import importlib
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data")) / "pool_corpus.jsonl.gz"
needs_pool = pytest.mark.skipif(not DATA.exists(), reason="needs pool_corpus.jsonl.gz under TOULMIN_DATA")
KINDS = ("number", "date", "entity", "negation", "role swap", "added detail")


@pytest.fixture(scope="module")
def benchmark() -> Any:
    """Imports a module of `benchmarks/`, whose scripts import each other by their bare names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module


@pytest.fixture(scope="module")
def pages(benchmark: Any) -> list[Any]:
    return list(benchmark("probes_made").held_out_pages())


@pytest.fixture(scope="module")
def few(benchmark: Any, pages: list[Any]) -> list[Any]:
    """Some probes of every kind, from some of the pages."""
    return list(benchmark("probes_made").make_probes(pages[:700], most=8))


# ---------------------------------------------------------------- pages


@given(title=st.text(min_size=1, max_size=40))
def test_a_page_is_held_out_however_its_title_is_spelt(benchmark: Any, title: str):
    held = benchmark("held_out").is_held_out
    assert held(title) == held(f"  {title.replace(' ', '_')} ")


def test_fifteen_in_a_hundred_pages_are_held_out(benchmark: Any):
    held = benchmark("held_out").is_held_out
    assert 0.13 < sum(held(f"Page {n}") for n in range(5_000)) / 5_000 < 0.17


def test_no_page_is_called_nothing(benchmark: Any):
    assert not benchmark("held_out").is_held_out(" ")


@needs_pool
def test_a_held_out_passage_is_told_by_its_text(benchmark: Any, pages: list[Any]):
    assert benchmark("held_out").has_held_out_text(f"  {pages[0].text}")


# ---------------------------------------------------------------- facts

FILM = (
    "The Lamp is a 1931 American drama film directed by Ann Pell and starring Tom Ashby, Joe Fry and Ida Mott. It was "
    "shot in 12 studios. The screenplay by Kim Orr is lost."
)
SONG = "Sea is a song by English singer Ida Mott. It was released in 1999 by Fry Records."
PERSON = "Ann Pell (3 May 1901 – 7 June 1980) was a Scottish painter. She was born in Leith and died in Perth."


@pytest.mark.parametrize(
    ("title", "text", "slot", "value"),
    [
        ("The Lamp (film)", FILM, "director", "Ann Pell"),
        ("The Lamp (film)", FILM, "star", "Tom Ashby"),
        ("The Lamp (film)", FILM, "writer", "Kim Orr"),
        ("The Lamp (film)", FILM, "release year", "1931"),
        ("The Lamp (film)", FILM, "number of studios", "12"),
        ("Ann Pell", PERSON, "birth date", "3 May 1901"),
        ("Ann Pell", PERSON, "death date", "7 June 1980"),
        ("Ann Pell", PERSON, "country", "Scotland"),
        ("Ann Pell", PERSON, "birthplace", "Leith"),
        ("Ann Pell", PERSON, "place of death", "Perth"),
        ("Holm", "Holm is a small town in Ash County, Ohio, United States.", "place", "Ash County"),
        ("Holm", "Holm is a small town in Ash County, Ohio, United States.", "larger place", "Ohio"),
        ("Sea", SONG, "label", "Fry Records"),
        ("Sea", SONG, "performer", "Ida Mott"),
    ],
)  # fmt: skip
def test_a_fact_is_read_off_its_page(benchmark: Any, title: str, text: str, slot: str, value: str):
    found = benchmark("probes_facts")
    assert (slot, value) in {(fact.slot, fact.value) for fact in found.facts(found.Page("p", title, text))}


def test_who_made_the_music_is_not_who_wrote_the_film(benchmark: Any):
    found = benchmark("probes_facts")
    text = "The Lamp is a 1931 drama film directed by Ann Pell, with music written by Joe Fry."
    slots = {fact.slot: fact.value for fact in found.facts(found.Page("p", "The Lamp", text))}
    assert (slots["composer"], "writer" in slots) == ("Joe Fry", False)


def test_a_page_that_does_not_begin_with_its_subject_yields_no_fact_of_it(benchmark: Any):
    found = benchmark("probes_facts")
    assert not list(found.facts(found.Page("p", "Lighthouses", FILM)))


# ---------------------------------------------------------------- sentences


def test_a_sentence_said_again_keeps_what_it_must(benchmark: Any):
    near, found = benchmark("probes_sentences"), benchmark("probes_facts")
    page = found.Page("p", "The Lamp (film)", FILM)
    said = near.reword("It was shot in 12 studios.", page, ["12"])
    assert said == "The Lamp was shot in 12 studios."


def test_a_sentence_that_no_rule_changes_is_not_said_again(benchmark: Any):
    near, found = benchmark("probes_sentences"), benchmark("probes_facts")
    assert near.reword("Nobody knows.", found.Page("p", "The Lamp", FILM)) is None


def test_it_that_stands_for_nothing_is_no_subject(benchmark: Any):
    near, found = benchmark("probes_sentences"), benchmark("probes_facts")
    page = found.Page("p", "The Lamp", FILM)
    assert near.reword("It is important to say that nobody saw it.", page) is None


def test_a_denial_taken_away_and_put_back_is_the_same_sentence(benchmark: Any):
    near = benchmark("probes_sentences")
    sentence = "The tower was not built by Hannah Pell."

    class Low:
        def random(self) -> float:
            return 0.9

    assert near.has_plain_denial(sentence)
    assert near.deny(near.affirm(sentence), Low()) == sentence


@pytest.mark.parametrize(
    "sentence", ["It was not only tall.", "It was not tall, nor wide.", "It was not lit until 1824."]
)
def test_a_denial_that_does_not_deny_plainly_is_left_alone(benchmark: Any, sentence: str):
    assert not benchmark("probes_sentences").has_plain_denial(sentence)


# ---------------------------------------------------------------- probes


@needs_pool
def test_probes_are_of_every_kind_with_as_many_true_ones(few: list[Any]):
    counts = Counter((probe.kind, probe.supported) for probe in few)
    assert all(counts[kind, True] == counts[kind, False] > 0 for kind in KINDS)


@needs_pool
def test_the_same_pages_give_the_same_probes(benchmark: Any, pages: list[Any], few: list[Any]):
    assert benchmark("probes_made").make_probes(pages[:700], most=8) == few


@needs_pool
def test_no_claim_is_both_true_and_untrue_of_a_page(few: list[Any]):
    sides = {truth: {(p.page.id, p.claim) for p in few if p.supported is truth} for truth in (True, False)}
    assert not sides[True] & sides[False]


@needs_pool
def test_the_false_number_of_a_probe_is_not_on_its_page(benchmark: Any, few: list[Any]):
    near = [probe for probe in few if (probe.kind, probe.wording, probe.supported) == ("number", "near", False)]
    told = [set(probe.claim.split()) - set(probe.page.text.split()) for probe in near]
    assert near
    assert all(any(any(sign.isdigit() for sign in word) for word in words) for words in told)


@needs_pool
def test_claims_in_words_of_our_own_copy_less_than_reworded_sentences(few: list[Any]):
    shares = {w: [p.copied for p in few if p.wording == w] for w in ("own", "near")}
    assert sum(shares["own"]) / len(shares["own"]) < 0.5 < sum(shares["near"]) / len(shares["near"])


def test_a_hundred_claims_and_more_are_written_by_hand_half_of_them_false():
    records = [json.loads(line) for line in (BENCHMARKS / "handwritten.jsonl").read_text("utf-8").splitlines()]
    assert len({record["claim"] for record in records}) == len(records) >= 110
    assert 0.45 < sum(record["supported"] for record in records) / len(records) < 0.55


@needs_pool
def test_every_claim_by_hand_is_over_a_held_out_passage(benchmark: Any, pages: list[Any]):
    probes = benchmark("probes_made").handwritten(pages)
    assert {probe.kind for probe in probes} == set(KINDS)
