"""Fast measures of overlap beside slow obvious ones."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from toulmin.text.overlap import differences, longest_run

sequences = st.lists(st.sampled_from("abcd"), max_size=12)


@given(sequences, sequences)
@settings(max_examples=150, deadline=None)
def test_putting_the_differences_in_place_gives_the_other_sequence(a: list[str], b: list[str]) -> None:
    made = list(a)
    for block in reversed(differences(a, b)):
        made[block.a_start : block.a_end] = b[block.b_start : block.b_end]
    assert made == b


@given(sequences)
@settings(max_examples=50, deadline=None)
def test_equal_sequences_do_not_differ(a: list[str]) -> None:
    assert differences(a, list(a)) == ()


@given(sequences, sequences)
@settings(max_examples=150, deadline=None)
def test_the_longest_run_is_the_longest_slice_that_both_hold(a: list[str], b: list[str]) -> None:
    slices = {tuple(b[i:j]) for i in range(len(b)) for j in range(i + 1, len(b) + 1)}
    obvious = max(
        (j - i for i in range(len(a)) for j in range(i + 1, len(a) + 1) if tuple(a[i:j]) in slices), default=0
    )
    assert longest_run(a, b) == obvious
