"""Numbers, dates and names have one value for all their forms."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from toulmin.text.names import facts
from toulmin.text.wording import codes

MONTHS = "January February March April May June July August September October November December".split()


def values(text: str, kind: str | None = None) -> list[str]:
    return [fact.value for fact in facts(text) if kind in (None, fact.kind)]


@pytest.mark.parametrize(
    "text",
    ["It sold 1,234 copies.", "It sold 1234 copies.", "It sold one thousand two hundred and thirty-four copies."],
)
def test_a_number_has_one_value_in_digits_and_words(text: str) -> None:
    assert values(text) == ["1234"]


@table(
    ("text", "value"),
    [
        ("two million", "2000000"),
        ("$5 million", "5000000"),
        ("£5m", "5000000"),
        ("100k subscribers", "100000"),
        ("12 %", "12"),
        ("twelve percent", "12"),
        ("the 3rd", "3"),
        ("the twenty-first", "21"),
        ("2.50", "2.50"),
        ("400mg", "400"),
        ("the 2nd-largest", "2"),
        ("Over 5,000 came", "5000"),
        ("Another 34,000 horses", "34000"),
        ("at -5 degrees", "-5"),
        ("at 10:30", "10:30"),
    ],
)
def test_scales_units_and_ordinals_leave_the_number(text: str, value: str) -> None:
    assert values(text, "number") == [value]


@pytest.mark.parametrize(
    "text", ["June 29, 2007", "29 June 2007", "2007-06-29", "the 29th of June 2007", "Jun. 29, 2007"]
)
def test_a_date_has_one_value_in_all_its_forms(text: str) -> None:
    assert values(text, "date") == ["2007-06-29"]


@table(
    ("text", "value"),
    [
        ("in June 2007", "2007-06"),
        ("on 6 may 1981", "1981-05-06"),
        ("on May 5", "--05-05"),
        ("in March", "--03"),
        ("in 1994", "1994"),
        ("the 1990s", "1990s"),
        ("the '90s", "1990s"),
        ("the 19th century", "C19"),
        ("the nineteenth century", "C19"),
        ("in 44 BC", "44 BC"),
    ],
)
def test_partial_dates_have_values_of_their_own(text: str, value: str) -> None:
    assert values(text, "date") == [value]


def test_a_range_of_years_is_two_years() -> None:
    assert values("the war of 1914-18", "date") == ["1914", "1918"]


def test_may_and_march_are_months_only_after_a_preposition() -> None:
    assert values("He may march. They march on. They may 5 times.", "date") == []


@pytest.mark.parametrize("text", ["the B-52 flew", "with COVID-19 there", "a 4x4 car", "his iPhone 4 broke"])
def test_an_identifier_is_a_name_and_no_number(text: str) -> None:
    assert [fact.kind for fact in facts(text)] == ["name"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("She met Ludwig van Beethoven there.", "ludwig van beethoven"),
        ("She studied at the University of Oxford then.", "university of oxford"),
        ("Books by J. K. Rowling sell.", "jk rowling"),
        ("Mogadishu is a city.", "mogadishu"),
        ("They left the U.S. early.", "us"),
        ("He read Arthur's Magazine daily.", "arthur magazine"),
        ("Роман Льва Толстого", "роман льва толстого"),
    ],
)
def test_a_run_of_capitals_is_one_name(text: str, value: str) -> None:
    assert value in values(text, "name")


@pytest.mark.parametrize(
    "text", ["Filming was delayed.", "The end.", "Moreover it rained.", "東京は日本の首都です。", ""]
)
def test_a_common_word_that_opens_a_sentence_is_no_name(text: str) -> None:
    assert facts(text) == ()


def test_one_and_first_alone_are_no_figures() -> None:
    assert facts("one of the first and the second of them") == ()


@given(st.integers(1, 28), st.sampled_from(range(12)), st.integers(1500, 2099))
@settings(max_examples=50, deadline=None)
def test_day_and_month_may_change_places(day: int, month: int, year: int) -> None:
    assert values(f"on {day} {MONTHS[month]} {year}") == values(f"on {MONTHS[month]} {day}, {year}")


@given(st.integers(0, 10**12))
@settings(max_examples=50, deadline=None)
def test_grouping_does_not_change_a_number(number: int) -> None:
    assert values(f"about {number:,} of them") == values(f"about {number} of them")


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None)
def test_facts_of_any_text_are_ordered_and_apart(text: str) -> None:
    found = facts(text)
    ends = [0, *(fact.end for fact in found)]
    assert all(end <= fact.start < fact.end <= len(text) for end, fact in zip(ends, found, strict=False))


@table(
    ("text", "found"),
    [
        ("What is the total of invoice 1000009?", {"1000009"}),
        ("Compare invoices 1000001, 1000002 and 1000003", {"1000001", "1000002", "1000003"}),
        ("Ticket #123456: who closed it?", {"123456"}),
        ("Who signed INV-2024-017?", {"inv-2024-017"}),
        ("What does RFC2119 say?", {"rfc2119"}),
        ("It costs 10000-20000 euros.", set()),
        ("a" + "1a-" * 20_000 + ".5", set()),
        ("Is the budget 120000 euros?", set()),
        ("It costs 120000 euros a year.", set()),
        ("What happens after 100000 requests?", set()),
        ("Which luxury cars of the mid-1970s sold?", set()),
        ("When was the lamp of 2024-11-03 lit?", set()),
        ("What is new in Python 3.11?", set()),
    ],
)
def test_codes_are_no_amounts_and_no_dates(text: str, found: set[str]) -> None:
    assert codes(text) == found
