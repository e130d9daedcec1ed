"""CaLM: when its rounds end, with which answer and story, and what holds whatever the models say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from tests.calm_parts import FALSE, FOUR, POOL, TRUE, Writer, numbers, run
from toulmin.errors import UsageError
from toulmin.methods.calm import FORMER, UNCONFIRMED, UNCONTRASTED
from toulmin.methods.reporting import EMPTY

# ---------------------------------------------------------------- the end


def test_a_shown_draft_holds_no_passage_that_no_model_has_read():
    shown: list[int] = []
    run(FOUR, "bells rang.", stock=30, max_rounds=2, watch=lambda draft: shown.append(len(draft.passages)))
    assert shown == [5, 10]


@pytest.mark.parametrize("rounds", [1, 2, 4, 6])
def test_rounds_cost_one_contrast_less_than_main_calls(rounds: int):
    made = run("Red lamps [*].", "bells rang.", stock=30, max_rounds=rounds)
    assert (len(made.main.asked), len(made.verifier.asked)) == (rounds, rounds - 1)


@pytest.mark.parametrize("corrections", range(7))
def test_n_corrections_are_one_main_call_more(corrections: int):
    made = run(FOUR, "bells rang.", stock=30, k=4, corrections=corrections, max_rounds=2)
    assert len(made.main.asked) == corrections + 1


def test_the_last_candidate_is_marked_as_not_contrasted():
    assert run(FOUR, "bells rang.", max_rounds=2).answer.notes[0] == UNCONTRASTED


def test_the_last_candidate_is_the_answer():
    made = run(Writer(FOUR, "Gulls cried [6]."), "bells rang.", max_rounds=2)
    assert [claim.text for claim in made.answer.claims] == ["Gulls cried."]


@pytest.mark.parametrize("script", [[FOUR], [FALSE, FOUR], ["", FOUR]])
def test_an_accepted_answer_has_no_note_on_its_end(script: list[str]):
    made = run(Writer(*script[:-1], script[-1].replace("[1]", "[*]")), "red lamps burned brightly.")
    assert set(made.answer.notes) & {UNCONTRASTED, UNCONFIRMED, FORMER} == set()


def test_one_search_is_deep_enough_for_all_rounds():
    made = run(FOUR, "bells rang.", stock=30, k=3, max_rounds=5)
    assert (made.answer.usage.searches, made.main.shown[-1]) == (1, [13, 14, 15])


def test_a_pool_that_is_read_ends_the_rounds_when_nothing_was_dropped():
    made = run(FOUR, "red lamps burned and much else went on in the streets of the old town.", stock=5)
    assert (len(made.main.asked), made.answer.notes[0]) == (1, UNCONFIRMED)


def test_a_pool_leaves_a_correction_for_dropped_claims():
    made = run(Writer(f"{TRUE} {FALSE}", TRUE), TRUE, stock=5)
    assert (made.main.shown, len(made.answer.claims)) == ([[1, 2, 3, 4, 5], [2]], 1)


def test_with_nothing_left_to_read_or_rest_on_the_last_candidate_stays():
    made = run(FOUR, "bells rang.", stock=5)
    assert (made.main.shown, len(made.answer.claims), made.answer.notes[0]) == ([[1, 2, 3, 4, 5]], 1, UNCONFIRMED)


def test_the_pool_can_be_made_smaller():
    made = run(FOUR, "bells rang.", k=4, pool=6)
    assert made.main.shown == [[1, 2, 3, 4], [5, 6]]


def test_without_passages_no_model_is_asked():
    made = run(FOUR, FOUR, stock=0)
    assert (made.answer.status, made.main.asked, made.verifier.asked) == ("abstained", [], [])


def test_an_empty_candidate_reads_on():
    made = run(Writer("", "Red lamps burned [7]."), "Red lamps burned.")
    assert (made.main.shown, len(made.verifier.asked)) == ([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], 1)


def test_a_model_that_never_answers_abstains_when_the_rounds_are_spent():
    made = run("", "")
    assert (made.answer.status, made.answer.notes, len(made.main.asked)) == ("abstained", (EMPTY,), 4)


def test_an_empty_correction_leaves_the_draft_as_it_was():
    made = run(Writer(f"{TRUE} {FALSE}", ""), TRUE, max_rounds=3)
    assert made.drafts == [["Lamps burned brightly. 2"]] * 2


def test_after_an_empty_last_correction_the_draft_is_the_answer():
    made = run(Writer(f"{TRUE} {FALSE}", ""), TRUE, max_rounds=2)
    assert (len(made.answer.claims), made.answer.notes[0]) == (1, FORMER)


def test_one_model_may_play_both_roles():
    writer = Writer(f"{TRUE} {FALSE}", TRUE)
    made = run(writer, writer)
    assert [request.role for request in made.main.asked[:2]] == ["main", "verifier"]


def test_no_two_requests_of_a_run_are_the_same_draw():
    writer = Writer(FOUR, "bells rang.", FOUR, "bells rang.", FOUR)
    made = run(writer, writer, stock=5, carry="all_cited", verifier_reads="all")
    drawn = [(request.role, request.prompt, request.sample) for request in made.main.asked]
    assert len(set(drawn)) == len(drawn) > 3


def test_a_prompt_that_is_new_is_the_models_first_draw():
    made = run(Writer(f"{TRUE} {FALSE}", f"{TRUE} {FALSE}"), TRUE)
    assert {request.sample for request in (*made.main.asked, *made.verifier.asked[:1])} == {0}


def test_table_6_differs_in_what_the_verifier_reads_alone():
    cited, shown = (run(FOUR, "bells rang.", max_rounds=2, verifier_reads=reads) for reads in ("cited", "all"))
    assert [replace(request, prompt=None) for request in cited.verifier.asked] == [
        replace(request, prompt=None) for request in shown.verifier.asked
    ]
    (few,), (many,) = cited.verifier.asked, shown.verifier.asked
    assert replace(few.prompt, passages=()) == replace(many.prompt, passages=())
    assert (set(few.prompt.passages) < set(many.prompt.passages), many) == (
        True,
        replace(shown.main.asked[0], role="verifier"),
    )


def test_a_passage_that_was_found_twice_is_shown_once():
    made = run(FOUR, "bells rang.", stock=POOL[:3] * 2, k=2)
    assert (made.main.shown, numbers(made.answer.passages)) == ([[1, 2], [3]], [1, 2, 3])


# ---------------------------------------------------------------- the answer and its story


def test_every_claim_has_the_judges_verdict_in_the_end():
    made = run("Keeper 2 lit the lamp of the tower [2]. Gulls cried [3].", "Keeper 2 lit the lamp of the tower.")
    assert [claim.support.label for claim in made.answer.claims] == ["supported", "unsupported"]


def test_only_what_was_read_is_among_the_passages_of_the_answer():
    made = run(FOUR, "red lamps burned brightly.")
    assert (numbers(made.answer.passages), numbers(made.answer.rounds[0].read)) == ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5])


def test_the_rounds_tell_of_drafts_contrasts_and_corrections():
    made = run(Writer(f"{TRUE} {FALSE}", TRUE), TRUE)
    assert made.kinds == ["search", "draft", "contrast", "refine", "contrast", "verify"]


def test_a_contrast_tells_what_the_verifier_read_and_wrote():
    told = run(f"{TRUE} {FALSE}", TRUE).told("contrast")[0]
    read = (told.role, numbers(told.read), told.text, told.kept)
    words = "Lamps burned brightly"
    assert read == ("verifier", [2, 3], f"{words} [1].", (f"{words}.",))


def test_the_contrast_of_an_accepted_candidate_drops_nothing():
    told = run("Red lamps burned all night [1]. Bells rang [2].", "Red lamps burned all night.").told("contrast")[0]
    assert (told.chosen, told.dropped, len(told.kept)) == (True, (), 2)


def test_labels_that_no_prompt_offered_are_counted_of_both_models():
    assert run("Red lamps burned brightly [1][17].", "Red lamps burned brightly [19].").answer.invalid_citations == 2


def test_the_policy_decides_what_becomes_of_an_unsupported_claim():
    assert run(FOUR, "red lamps burned brightly.", unsupported="drop").answer.status == "abstained"


@table(
    ("option", "value", "said"),
    [
        ("carry", "claim", "did you mean claims"),
        ("verifier_reads", "cite", "did you mean cited"),
        ("consistency", "rouge", "did you mean rouge2"),
        ("preset", "aqsa", "did you mean asqa"),
        ("max_rounds", 0, "at least 1, not 0"),
        ("corrections", -1, "at least 0, not -1"),
        ("k", 0, "at least 1, not 0"),
        ("pool", 0, "at least 1, not 0"),
        ("threshold", 1.5, "from 0 to 1, not 1.5"),
        ("claim_threshold", float("nan"), "from 0 to 1, not nan"),
    ],
)
def test_a_value_that_means_nothing_is_an_error_that_says_what_would(option: str, value: Any, said: str):
    with pytest.raises(UsageError, match=said):
        run(FOUR, FOUR, **{option: value})


# ---------------------------------------------------------------- laws

REPLIES = st.lists(
    st.sampled_from(
        [
            "",
            FOUR,
            TRUE,
            FALSE,
            f"{TRUE} {FALSE}",
            "Fog [1], Live [6], Thing [9]",
            "Lamps. [3]",
            "Red lamps [*].",
            "[1]",
            "The",
        ]
    ),
    min_size=1,
    max_size=6,
)
RUNS = st.fixed_dictionaries(
    {
        "style": st.sampled_from(["long", "short", "list"]),
        "k": st.integers(1, 6),
        "max_rounds": st.integers(1, 6),
        "carry": st.sampled_from(["claims", "all_cited"]),
        "verifier_reads": st.sampled_from(["cited", "all"]),
        "threshold": st.sampled_from([None, 0.0, 1.0]),
        "consistency": st.sampled_from([None, "rouge2", "token_f1", "entity_f1"]),
    }
)


@given(REPLIES, REPLIES, RUNS)
@settings(max_examples=120, deadline=None)
def test_whatever_the_models_say_the_calls_stay_within_t_and_one_less(
    main: list[str], verifier: list[str], options: Any
):
    made = run(Writer(*main), Writer(*verifier), len(main) * 4, **options)
    most = options["max_rounds"]
    assert (len(made.main.asked) <= most, len(made.verifier.asked) <= most - 1) == (True, True)


@given(REPLIES, REPLIES, RUNS)
@settings(max_examples=80, deadline=None)
def test_whatever_the_models_say_no_prompt_is_without_passages_or_beyond_k(
    main: list[str], verifier: list[str], options: Any
):
    made = run(Writer(*main), Writer(*verifier), len(main) * 4, **options)
    assert {1 <= len(shown) <= options["k"] for shown in (*made.main.shown, *made.verifier.shown)} <= {True}


@given(REPLIES, REPLIES, RUNS)
@settings(max_examples=80, deadline=None)
def test_a_draft_rests_on_the_first_passages_that_its_correction_shows(
    main: list[str], verifier: list[str], options: Any
):
    made = run(Writer(*main), Writer(*verifier), len(main) * 4, **options)
    corrections = [request.prompt for request in made.main.asked[1:]]
    assert all(
        {id for claim in prompt.draft for id in claim.cited} <= {p.id for p in prompt.passages[: prompt.rests_on]}
        for prompt in corrections
    )


@given(REPLIES, REPLIES, RUNS)
@settings(max_examples=30, deadline=None)
def test_the_same_replies_give_the_same_answer(main: list[str], verifier: list[str], options: Any):
    first, second = (run(Writer(*main), Writer(*verifier), len(main) * 4, **options).answer for _ in range(2))
    assert (first.claims, first.rounds, first.notes) == (second.claims, second.rounds, second.notes)
