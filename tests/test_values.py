"""A value in another form is the same value, and a claim is judged in its sources' spelling.

`values.tsv` has a sentence a row, the same with a value in another form, and with another value.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from toulmin.data import Passage
from toulmin.judges.lexical import Lexical
from toulmin.steps import Pair, Verdict
from toulmin.text.values import respell, values
from toulmin.text.wording import has_facts

ROWS = [
    line.split("\t") for line in Path(__file__).with_suffix("").with_name("values.tsv").read_text("utf-8").splitlines()
]


def judge(source: str, claim: str) -> Verdict:
    return Lexical().judge([Pair((Passage.of(source, ""),), claim)])[0]


@table(("source", "same", "other"), ROWS)
def test_a_claim_takes_the_form_of_its_source(source: str, same: str, other: str) -> None:
    assert respell(same, [source]).text == source
    assert respell(other, [source]).text != source


@table(("source", "same", "other"), ROWS)
def test_the_judge_supports_other_forms_and_no_other_values(source: str, same: str, other: str) -> None:
    assert judge(source, same).entails
    assert not judge(source, other).entails


@table(("source", "same", "other"), [row for row in ROWS if "Louis" not in row[0] and "José" not in row[0]])
def test_facts_are_found_in_any_form(source: str, same: str, other: str) -> None:
    assert has_facts(source, same)


def test_a_reason_shows_the_conversion() -> None:
    verdict = judge("The tunnel is 1,500 m long.", "The tunnel is 1.5 km long.")
    assert verdict.reason == "the source writes “1,500 m” for “1.5 km”"


@table(
    ("claim", "source"),
    [
        ("It was -12 °C.", "It was 12 °C."),
        ("It costs $5.", "It costs €5."),
        ("It takes 2 GB.", "It takes 2 GiB."),
        ("It rose by 3 percentage points.", "It rose by 3 percent."),
        ("It starts at 3 am.", "It starts at 3 pm."),
        ("The second half ended.", "50 % ended."),
        ("A third man came.", "1/3 came."),
        ("It is 5 in total.", "It is 5 inches."),
        ("One of them came.", "1 came."),
        ("Section 4.3.2 is long.", "See section 4.3.2."),
        ("It costs 18 euros.", "It costs 18 cents."),
        ("It was on 3 November 1908.", "It was on 03/11/1908."),
        ("It shuts at three at night.", "It shuts at 15:00."),
        ("Python 3.10 is needed.", "Python 3.1 is needed."),
        ("Take it twice a day.", "Take it every two days."),
        ("Take 3 a day.", "It takes 3 days."),
        ("The 101 pipeline runs.", "The CI pipeline runs."),
        ("It has 10 windows.", "It runs under the X Window System."),
        ("It weighs 10 lb.", "It costs £10."),
        ("It is 20 pounds.", "It is 20 kg."),
        ("It is set to 180 °F.", "It is set to 180 degrees."),
        ("It costs $5.", "It costs A$5."),
        ("Page 3 of 4 is blank.", "75 % of the page is blank."),
        ("It has ten lines.", "It has 10^6 lines."),
        ("The load is 5 kg.", "The load is 1.000,5 kg."),
        ("Lines 1.2 and 3 are wrong.", "Lines 1,2 and 3 are wrong."),
        ("A third of it was paid.", "It was paid on the third of March."),
        ("It begins at 21:30.", "It begins at half past nine."),
        ("Half of the nine members came.", "It begins at half past nine."),
        ("It is 12 million long.", "It is 12m long."),
        ("It writes 500 MB.", "It writes 500 MB/s."),
    ],
)
def test_other_values_are_not_converted(claim: str, source: str) -> None:
    assert respell(claim, [source]).conversions == ()


def test_a_value_is_written_as_in_the_sentence_that_is_most_like_the_claim() -> None:
    source = "Half of the fee is paid at once. The lid opens when 1/2 of the tank is full."
    assert respell("The lid opens when 50 % of the tank is full.", [source]).text == source[33:]


@pytest.mark.parametrize(
    "claim", ["It has more than 64 disks.", "It has at most 64 disks.", "It must not exceed 64 disks."]
)
def test_a_denied_bound_is_not_exchanged(claim: str) -> None:
    for source in ("It does not have more than 64 disks.", "It never has more than 64 disks."):
        assert respell(claim, [source]).text == claim
        assert respell(source, [claim]).text == source


def test_a_time_after_a_date_is_read() -> None:
    assert judge("The last backup ran at 2024-05-03T10:00Z.", "The last backup ran at 10:00 on 3 May 2024.").entails


@pytest.mark.parametrize("text", ["1" * 9_000, "twenty-" * 9_000])
def test_no_number_is_too_long(text: str) -> None:
    start = time.perf_counter()
    assert all(value.end - value.start < 200 for value in values(text))
    assert time.perf_counter() - start < 30


def test_a_bare_decimal_keeps_its_zeros() -> None:
    assert not judge("It was added in version 3.1 of Python.", "It was added in version 3.10 of Python.").entails


@pytest.mark.parametrize("source", ["Up to 50 may enter.", "Fewer than 50 may enter.", "50 or less may enter."])
def test_an_opposite_bound_is_another_value(source: str) -> None:
    assert not judge(source, "At least 50 may enter.").entails


@given(
    st.text(max_size=200)
    | st.from_regex(
        r"(?:[0-9.,:/ ſıµμ]|half|5 μg|5 K|two thouſand|5 mıles|an|and|-|XI|am|million|°C|²){0,30}", fullmatch=True
    )
)
@settings(max_examples=200, deadline=None)
def test_values_of_any_text_are_ordered_and_apart(text: str) -> None:
    each = values(text)
    ends = [0, *(value.end for value in each)]
    assert all(end <= value.start < value.end <= len(text) for end, value in zip(ends, each, strict=False))
