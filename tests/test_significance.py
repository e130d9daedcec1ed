"""Intervals and paired differences by a bootstrap over questions."""

from __future__ import annotations

import importlib
import random
from dataclasses import replace
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toulmin.evaluation.significance import Table, compare_tables, interval
from toulmin.metrics.answered import Column, DerivedMetric, harmonic

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
FEW = 400  # resamples

Value = float | None


def table(*columns: list[Value], ids: list[str] | None = None, **options: Any) -> Table:
    names = ids or [f"q{n:04}" for n in range(len(columns[0]))]
    return Table(tuple(names), tuple(Column(f"m{i}", tuple(c), **options) for i, c in enumerate(columns)))


def drawn(seed: int, n: int) -> list[Value]:
    generator = random.Random(seed)
    return [generator.choice((0.0, 0.25, 0.5, 1.0)) for _ in range(n)]


SHARES = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0])


def shares() -> st.SearchStrategy[list[Value]]:
    return st.lists(st.none() | SHARES, min_size=2, max_size=30)


# ---------------------------------------------------------------- one run


@given(shares())
@settings(max_examples=60, deadline=None)
def test_the_value_is_that_of_the_column_and_lies_in_its_interval(values: list[Value]):
    made = table(values)
    found = interval(made, resamples=FEW)["m0"]
    assert (found.value, found.n) == (made.columns[0].value, made.columns[0].n)
    assert found.low is None or found.low - 1e-9 <= (found.value or 0.0) <= (found.high or 0.0) + 1e-9


def test_the_harmonic_mean_is_that_of_the_reciprocals_and_none_of_zero():
    assert harmonic((0.5, 1.0)) == pytest.approx(2 / 3)
    assert harmonic((0.2, 0.4, 0.8)) == pytest.approx(3 / (5 + 2.5 + 1.25))
    assert harmonic((0.0, 1.0)) == 0.0


def test_an_interval_is_as_wide_as_students():
    values = drawn(3, 400)
    found = interval(table(values), resamples=20_000)["m0"]
    spread = 100 * stdev(value or 0.0 for value in values) / 20
    assert (found.high or 0.0) - (found.low or 0.0) == pytest.approx(2 * 1.966 * spread, rel=0.03)


def test_few_questions_widen_the_interval_as_students_t_does():
    values = [n / 7 for n in range(8)]
    found = interval(table(values), resamples=50_000)["m0"]
    spread = 100 * stdev(values) / 8**0.5
    assert (found.high or 0.0) - (found.low or 0.0) == pytest.approx(2 * 2.365 * spread, rel=0.08)


def test_the_same_table_gives_the_same_digits():
    assert interval(table(drawn(1, 50))) == interval(table(drawn(1, 50)))


def test_another_seed_draws_other_questions():
    assert interval(table(drawn(1, 50)), seed=1) != interval(table(drawn(1, 50)), seed=2)


def test_the_order_of_the_questions_changes_nothing():
    values, ids = drawn(2, 40), [f"q{n:02}" for n in range(40)]
    turned = table(values[::-1], ids=ids[::-1])
    assert interval(table(values, ids=ids), resamples=FEW) == interval(turned, resamples=FEW)


def test_questions_that_do_not_count_change_neither_value_nor_number():
    values = drawn(4, 60)
    whole, holed = (interval(table(v), resamples=4_000)["m0"] for v in (values, [*values, *[None] * 60]))
    assert (whole.value, whole.n) == (holed.value, holed.n)


def test_questions_that_do_not_count_leave_the_width_of_the_interval():
    values = drawn(4, 60)
    whole, holed = (interval(table(v), resamples=8_000)["m0"] for v in (values, [*values, *[None] * 60]))
    width = (whole.high or 0.0) - (whole.low or 0.0)
    assert (holed.high or 0.0) - (holed.low or 0.0) == pytest.approx(width, rel=0.06)


def test_a_metric_without_questions_has_no_value():
    found = interval(table([None, None, None]))["m0"]
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)


def test_one_question_has_no_interval():
    found = interval(table([0.5]))["m0"]
    assert (found.value, found.low, found.high, found.n) == (50.0, None, None, 1)


def test_no_questions_at_all_are_no_values():
    assert interval(table([]))["m0"].value is None


def test_a_micro_average_is_recomputed_from_its_counts():
    """The slow way: draw questions, sum their counts, divide."""
    generator = random.Random(5)
    weights = tuple(float(generator.randint(1, 5)) for _ in range(50))
    values = tuple(float(generator.randint(0, int(w))) for w in weights)
    made = Table(tuple(f"q{n:02}" for n in range(50)), (Column("micro", values, weights),))
    found = interval(made, resamples=20_000)["micro"]
    slow = []
    for _ in range(5_000):
        rows = [generator.randrange(50) for _ in range(50)]
        slow.append(100 * sum(values[r] for r in rows) / sum(weights[r] for r in rows))
    slow.sort()
    assert (found.low, found.high) == (pytest.approx(slow[125], abs=1.0), pytest.approx(slow[4874], abs=1.0))


def test_a_derived_metric_is_recomputed_in_every_resample():
    values = drawn(6, 60)
    doubled = Table(
        table(values).ids,
        (Column("a", tuple(values)), Column("b", tuple(values))),
        (DerivedMetric("f", ("a", "b"), harmonic),),
    )
    found = interval(doubled, resamples=FEW)
    assert [getattr(found["f"], end) for end in ("value", "low", "high")] == pytest.approx(
        [getattr(found["a"], end) for end in ("value", "low", "high")]
    )


def test_a_derived_metric_may_be_made_of_derived_ones():
    halves = DerivedMetric("g", ("f", "a"), lambda v: sum(v) / len(v))
    made = Table(("x", "y"), (Column("a", (0.0, 1.0)),), (DerivedMetric("f", ("a",), lambda v: v[0] / 2), halves))
    assert interval(made)["g"].value == 37.5


def test_a_derived_metric_of_a_missing_part_is_none():
    made = Table(
        ("x", "y"), (Column("a", (0.0, 1.0)), Column("b", (None, None))), (DerivedMetric("f", ("a", "b"), harmonic),)
    )
    found = interval(made)["f"]
    assert (found.value, found.low, found.n) == (None, None, 0)


# ---------------------------------------------------------------- seeds


def test_seeds_of_a_question_count_as_one_question():
    values = drawn(7, 40)
    once = table(values)
    thrice = table(values * 3, ids=list(once.ids) * 3)
    assert interval(thrice, resamples=FEW)["m0"] == interval(once, resamples=FEW)["m0"]


def test_a_question_that_failed_with_some_seeds_is_the_mean_of_the_others():
    made = table([1.0, None, 0.0, 0.0, 0.5, None], ids=["a", "a", "b", "b", "c", "d"])
    found = interval(made)["m0"]
    assert (found.value, found.n) == (pytest.approx(50.0), 3)


def test_seeds_of_a_micro_average_are_averaged_with_their_weights():
    made = Table(("a", "a", "b"), (Column("m", (1.0, 3.0, 0.0), (2.0, 4.0, 1.0)),))
    assert interval(made)["m"].value == pytest.approx(100 * 2 / 4)


# ---------------------------------------------------------------- two runs


@given(shares(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_turning_a_comparison_round_turns_its_signs(values: list[Value], chance: random.Random):
    others = [chance.choice((None, 0.0, 0.5, 1.0)) for _ in values]
    there = compare_tables(table(values), table(others), resamples=FEW)["m0"]
    back = compare_tables(table(others), table(values), resamples=FEW)["m0"]
    assert there.n == back.n
    assert there.probability == back.probability
    if there.difference is not None and back.difference is not None:
        assert there.difference == pytest.approx(-back.difference)


def test_a_run_does_not_differ_from_itself():
    found = compare_tables(table(drawn(8, 50)), table(drawn(8, 50)))["m0"]
    assert (found.difference, found.low, found.high, found.probability) == (0.0, 0.0, 0.0, 0.0)


def test_a_difference_is_that_of_the_second_run_over_the_first():
    found = compare_tables(table([0.0, 0.5, 0.0, 0.5]), table([0.5, 1.0, 1.0, 1.0]))["m0"]
    assert found.difference == 62.5


def test_a_difference_is_paired():
    values = [n % 7 / 7 for n in range(100)]
    found = compare_tables(table(values), table([value + 0.1 for value in values]))["m0"]
    assert (found.low, found.high) == (pytest.approx(10.0), pytest.approx(10.0))


def test_only_questions_that_count_in_both_runs_are_compared():
    first = table([1.0, 1.0, None, 0.0], ids=["a", "b", "c", "d"])
    other = table([0.0, None, 1.0, 1.0], ids=["a", "b", "c", "e"])
    found = compare_tables(first, other)["m0"]
    assert (found.difference, found.n) == (-100.0, 1)


def test_only_metrics_of_both_runs_are_compared():
    assert list(compare_tables(table([0.0, 1.0], [0.0, 1.0]), table([1.0, 1.0]))) == ["m0"]


def test_the_order_of_the_second_runs_questions_changes_nothing():
    first, values = table(drawn(9, 30)), drawn(10, 30)
    turned = table(values[::-1], ids=list(first.ids)[::-1])
    assert compare_tables(first, table(values), resamples=FEW) == compare_tables(first, turned, resamples=FEW)


@given(st.lists(SHARES, min_size=10, max_size=30), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_a_real_difference_is_an_interval_without_zero(values: list[float], chance: random.Random):
    others: list[Value] = [value + chance.choice((-0.2, 0.1, 0.3, 0.5)) for value in values]
    found = compare_tables(table([*values]), table(others), resamples=2_000)["m0"]
    if found.low is None or found.high is None or found.probability is None or abs(found.probability - 0.95) < 0.01:
        return
    assert (found.probability > 0.95) == (found.low > 0 or found.high < 0)


def test_differences_that_cancel_are_ties():
    """Sums of tenths that should be equal are not to a computer; a fourth of these resamples are ties."""
    found = compare_tables(table([0.7] * 12), table([0.6, 0.8] * 6))["m0"]
    assert found.probability == 0


def test_runs_without_a_common_question_do_not_differ_by_anything():
    found = compare_tables(table([1.0], ids=["a"]), table([1.0], ids=["b"]))["m0"]
    assert (found.difference, found.probability, found.n) == (None, None, 0)


def test_the_difference_of_a_derived_metric_is_that_of_its_values():
    made = (DerivedMetric("f", ("m0", "m1"), harmonic),)
    first, other = (replace(table(drawn(s, 30), drawn(s + 1, 30)), derived=made) for s in (11, 13))
    before, after = (interval(one, resamples=FEW)["f"].value for one in (first, other))
    assert compare_tables(first, other)["f"].difference == pytest.approx((after or 0.0) - (before or 0.0))


# ---------------------------------------------------------------- tables that cannot be


# ---------------------------------------------------------------- whether it holds what it says


@pytest.fixture(scope="module")
def simulated() -> Any:
    """The outcome of 200 simulated comparisons, and as many without a difference, by metric."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        coverage = importlib.import_module("coverage")
        return coverage.measure(coverage.SEED, 200, 60, 1, 500, coverage.truth(coverage.EFFECT, 40_000))


@pytest.mark.parametrize("metric", ["em", "citation_rec", "citation_prec", "micro", "citation_f1"])
def test_intervals_hold_the_simulations_truth_as_often_as_they_say(simulated: Any, metric: str):
    assert 0.92 <= simulated[metric].coverage <= 0.98


@pytest.mark.parametrize("metric", ["em", "citation_rec", "citation_prec", "micro", "citation_f1"])
def test_equal_runs_look_different_about_once_in_twenty(simulated: Any, metric: str):
    assert 0.02 <= simulated[metric].alarms <= 0.09
