"""CaLM, held against its paper: what each model is shown in each round, what is accepted, and what is kept."""

from __future__ import annotations

import re

import pytest

from tests.calm_parts import FALSE, FOUR, POOL, QUESTION, TRUE, Run, Writer, run
from toulmin.methods.calm import UNCONTRASTED
from toulmin.prompts.types import AnswerPrompt, Example

# ---------------------------------------------------------------- Figure 5 (ASQA, long style)

SONG = (
    'The song "Dont Tell Me What to Do" was written by Harlan Howard and Max D. Barnes and recorded by American country'
    ' music artist Pam Tillis, reaching number 5 on the "Billboard" Hot Country Singles & Tracks chart [1][4][5].'
)
ALSO_STUART = (
    ' Additionally, Marty Stuart also recorded this song under the title "Ill Love You Forever (If I Want To)" in 1988'
    " [1]."
)
CHECKED = (
    'Pam Tillis recorded the song "Dont Tell Me What to Do" [5], which reached the Top 40 of Hot Country Songs in 1991'
    " [5]. This song was also written by Harlan Howard and Max D. Barnes, and Marty Stuart recorded a version of this"
    " song [1][4]."
)


@pytest.fixture(scope="module")
def figure_5() -> Run:
    return run(Writer(SONG, "Corrected Answer: " + SONG + ALSO_STUART), Writer(CHECKED), preset="asqa")


def test_figure_5_shows_the_main_model_the_printed_passages(figure_5: Run):
    assert figure_5.main.shown[:2] == [[1, 2, 3, 4, 5], [1, 4, 5, 6, 7]]


def test_figure_5_shows_the_verifier_the_cited_passages_only(figure_5: Run):
    assert figure_5.verifier.shown[0] == [1, 4, 5]


def test_figure_5_does_not_stop_after_its_first_round(figure_5: Run):
    first = figure_5.told("contrast")[0]
    assert (first.chosen, round(first.scores["rouge2"], 2)) == (False, 0.44)


def test_figure_5_keeps_its_claim_as_the_draft(figure_5: Run):
    assert figure_5.drafts[0] == [re.sub(r" \[1\].*", ". 1 4 5", SONG)]


def test_a_verifier_of_all_passages_reads_them_without_citations():
    uncited = run(Writer("Lamps burned brightly.", "Corrected Answer: " + TRUE), Writer(TRUE), verifier_reads="all")
    assert uncited.verifier.shown[0] == uncited.main.shown[0]


# ---------------------------------------------------------------- Figure 6 (QAMPARI, list style)

FILMS = "Assault on Precinct 13 [2], Halloween [2], The Thing [4]."
ALL_FILMS = (
    "Halloween [6], Dark Star [6], Assault on Precinct 13 [6], The Thing [6], Christine [6],"
    " Big Trouble in Little China [6], Prince of Darkness [6], They Live [6], In the Mouth of Madness [6]"
)
FOUND_FILMS = ALL_FILMS.replace("Assault on Precinct 13 [6], ", "")


@pytest.fixture(scope="module")
def figure_6() -> Run:
    return run(
        Writer(FILMS, "The draft lacks films that passage 6 names.\nFinal Answer: " + ALL_FILMS),
        Writer("Assault on Precinct 13 [2].", FOUND_FILMS),
        style="list",
        preset="qampari",
        carry="all_cited",
    )


def test_figure_6_shows_the_main_model_the_printed_passages(figure_6: Run):
    assert figure_6.main.shown[:2] == [[1, 2, 3, 4, 5], [2, 4, 6, 7, 8]]


def test_figure_6_shows_the_verifier_the_printed_passages(figure_6: Run):
    assert figure_6.verifier.shown[:2] == [[2, 4], [6]]


def test_figure_6_drops_the_thing_from_its_draft(figure_6: Run):
    assert figure_6.drafts[0] == ["Assault on Precinct 13 2"]


def test_figure_6_does_not_accept_an_f1_of_exactly_one_half(figure_6: Run):
    first = figure_6.told("contrast")[0]
    assert (first.scores, first.chosen) == ({"entity_f1": 0.5}, False)


def test_figure_6_says_how_many_passages_the_draft_rests_on(figure_6: Run):
    assert figure_6.main.asked[1].prompt.rests_on == 2


def test_the_papers_text_rule_drops_the_wrong_citation():
    made = run(Writer(FILMS, ALL_FILMS), Writer("Assault on Precinct 13 [2].", FOUND_FILMS), style="list")
    assert made.main.shown[1] == [2, 6, 7, 8, 9]


# ---------------------------------------------------------------- the prompts


def test_the_first_prompt_hands_on_question_style_examples_and_preset():
    example = Example("Who?", POOL[:1], "Ashby [1].")
    made = run("Ashby [1]", style="short", examples=(example,), prompt="expert", k=2)
    assert made.main.asked[0].prompt == AnswerPrompt(QUESTION, POOL[:2], "short", (example,), "expert")


def test_the_verifier_gets_the_same_prompt_but_for_the_passages():
    made = run(TRUE, TRUE, prompt="simple", k=3)
    assert made.verifier.asked[0].prompt == AnswerPrompt(QUESTION, POOL[1:2], "long", (), "simple")


def test_the_verifier_reads_in_the_order_of_the_pool():
    assert run("It burned all night [4][2][3].", "No idea.").verifier.shown[0] == [2, 3, 4]


def test_the_correction_prompt_shows_the_kept_claims_with_their_citations():
    assert run(f"{TRUE} {FALSE}", TRUE).drafts[0] == ["Lamps burned brightly. 2"]


def test_the_correction_reads_the_drafts_passages_and_then_the_next_unread():
    assert run(f"{TRUE} {FALSE}", TRUE).main.shown[1] == [2, 6, 7, 8, 9]


def test_carrying_all_that_was_cited_reads_the_dropped_claims_passages_too():
    assert run(f"{TRUE} {FALSE}", TRUE, carry="all_cited").main.shown[1] == [2, 3, 6, 7, 8]


def test_what_is_carried_stands_in_the_order_of_the_pool():
    made = run("It burned all night [4][2]. It had a lamp of oil [1].", "It burned then. A lamp of what, nobody knew.")
    assert made.main.shown[1] == [1, 2, 4, 6, 7]


def test_each_round_reads_on_where_the_last_one_stopped():
    made = run(f"{TRUE} {FALSE}", "Nothing of that sort stands there.", k=3)
    assert made.main.shown == [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]


def test_without_a_corroborated_claim_there_is_no_draft():
    prompt = run(TRUE, "Quite another thing altogether.").main.asked[1].prompt
    assert (prompt.draft, prompt.rests_on) == ((), 0)


@pytest.mark.parametrize("marker", ["Corrected Answer:", "Final Answer:", "**Final Answer:**", ""])
@pytest.mark.parametrize("style", ["long", "list"])
def test_either_marker_or_none_may_come_before_the_correction(marker: str, style: str):
    made = run(Writer("Oar [1].", f"{marker} Lamp [6]."), Writer("Bell.", "Lamp."), style=style)
    assert [claim.text.rstrip(".") for claim in made.answer.claims] == ["Lamp"]


def test_what_the_model_says_before_the_marker_is_no_claim():
    made = run(Writer("Oar [1]", "The oar is wrong, the bell too. Final Answer: Lamp [6]"), "Lamp", style="list")
    assert [claim.text for claim in made.answer.claims] == ["Lamp"]


def test_a_passage_that_the_window_could_not_hold_is_read_later():
    made = run(Writer(TRUE, omitted=2), "Quite another thing altogether.", max_rounds=2)
    assert made.main.shown == [[1, 2, 3, 4, 5], [4, 5, 6, 7, 8]]


# ---------------------------------------------------------------- acceptance


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("red lamps burned brightly.", 1.0),
        ("red lamps burned.", 0.8),
        ("red lamps burned low yesterday.", 4 / 7),
        ("red lamps shone brightly.", 1 / 3),
        ("bells rang.", 0.0),
    ],
)
def test_long_answers_are_contrasted_by_rouge_2(reply: str, score: float):
    assert run(FOUR, reply, max_rounds=2).told("contrast")[0].scores == {"rouge2": pytest.approx(score)}


def test_a_candidate_above_the_threshold_is_the_answer():
    made = run(FOUR, "red lamps burned low yesterday.")
    assert (len(made.main.asked), made.answer.notes[:1] == (UNCONTRASTED,)) == (1, False)


def test_an_accepted_candidate_keeps_the_claims_that_the_verifier_left_out():
    many = "Red lamps burned brightly all night long [1]. Bells rang [2]."
    assert len(run(many, "Red lamps burned brightly all night long.").answer.claims) == 2


HALF = ("red lamps burned brightly all night", "red lamps burned brightly all day then")  # 4 of 5 and of 6 pairs: 8/11


@pytest.mark.parametrize(("threshold", "calls"), [(8 / 11, 2), (8 / 11 - 1e-9, 1), (0.0, 1), (1.0, 2)])
def test_only_what_exceeds_the_threshold_is_accepted(threshold: float, calls: int):
    made = run(f"{HALF[0]} [1].", f"{HALF[1]}.", threshold=threshold, max_rounds=2)
    assert len(made.main.asked) == calls


@pytest.mark.parametrize(("preset", "calls"), [(None, 2), ("asqa", 2), ("qampari", 2), ("eli5", 1)])
def test_the_preset_sets_the_threshold(preset: str | None, calls: int):
    assert len(run(FOUR, "red lamps shone brightly.", preset=preset, max_rounds=2).main.asked) == calls


def test_a_threshold_of_ones_own_goes_before_the_presets():
    made = run(FOUR, "red lamps shone brightly.", preset="eli5", threshold=0.5, max_rounds=2)
    assert len(made.main.asked) == 2


def test_short_answers_are_contrasted_by_the_f1_of_their_words():
    made = run("3 May 1824 [1]", "On May 1824", style="short", max_rounds=2)
    assert made.told("contrast")[0].scores == {"token_f1": pytest.approx(2 / 3)}


def test_lists_are_contrasted_by_the_f1_of_their_names():
    made = run("The Fog [1], Halloween [2]", "fog, They Live", style="list", max_rounds=2)
    assert made.told("contrast")[0].scores == {"entity_f1": 0.5}


@pytest.mark.parametrize("style", ["long", "short", "list"])
def test_the_papers_measure_can_be_forced_on_every_style(style: str):
    made = run("The Fog [1]", "The Fog", style=style, consistency="rouge2", max_rounds=2)
    assert made.told("contrast")[0].scores == {"rouge2": 1.0}


def test_marks_do_not_count_as_words():
    assert run("red lamps [1][2][3].", "red lamps.", max_rounds=2).told("contrast")[0].scores == {"rouge2": 1.0}


def test_answers_in_another_script_are_contrasted_by_their_terms():
    made = run("Маяк был зажжён в мае [1].", "Маяк был зажжён в мае.", max_rounds=2)
    assert made.told("contrast")[0].scores == {"rouge2": 1.0}


def test_what_the_verifier_reads_can_be_all_that_the_main_model_saw():
    assert run(TRUE, TRUE, verifier_reads="all").verifier.shown == [[1, 2, 3, 4, 5]]


def test_of_a_candidate_that_cites_nothing_valid_the_verifier_is_not_asked():
    made = run(Writer("Lamps burned brightly [17].", "Lamps burned brightly [6]."), TRUE, max_rounds=3)
    assert (made.main.shown[1], made.verifier.shown) == ([6, 7, 8, 9, 10], [[6]])


def test_a_candidate_that_cites_nothing_leaves_no_draft():
    assert run("Lamps burned brightly [17].", TRUE).drafts == [[], [], []]


# ---------------------------------------------------------------- the claims that stay


@pytest.mark.parametrize(
    ("claim_threshold", "kept"),
    [(0.0, 3), (0.25, 2), (1 / 3, 1), (0.99, 1), (1.0, 0)],
)
def test_claim_stays_when_enough_word_pairs_are_corroborated(claim_threshold: float, kept: int):
    claims = "Red lamps burned brightly [1]. Bells rang out loud [2]. Gulls cried over the grey sea [3]."
    verifier = "Red lamps burned brightly. Bells rang in every street of town. Over the roofs flew many gulls."
    made = run(claims, verifier, claim_threshold=claim_threshold, threshold=0.9)
    assert len(made.main.asked[1].prompt.draft) == kept


def test_one_word_claim_is_compared_by_nearest_sentence():
    made = run("Lamps [1]. Gulls cried over the grey sea [2].", "Lamps. Ships passed all the long night unseen by men.")
    assert made.drafts[0] == ["Lamps. 1"]


def test_a_claim_may_be_corroborated_across_two_sentences_of_the_verifier():
    made = run("Ashby lit May lamps [1]. Other things went on [2].", "It was Ashby. Lit May. Lamps shone far away.")
    assert made.drafts[0] == ["Ashby lit May lamps. 1"]


def test_claims_in_another_script_are_corroborated_by_their_terms():
    made = run(
        "Маяк был зажжён в мае [1]. Смотритель жил в каменной башне до самой поздней осени [2].",
        "Маяк был зажжён в мае.",
    )
    assert made.drafts[0] == ["Маяк был зажжён в мае. 1"]


def test_a_list_keeps_what_both_name():
    made = run("Fog [1], Halloween [2], The Thing [3]", "the fog, They Live", style="list")
    assert made.drafts[0] == ["Fog 1"]


def test_a_short_answer_stays_as_far_as_its_words_agree():
    made = run("3 May 1824 [1]", "It was in 1824", style="short")
    assert made.drafts[0] == ["3 May 1824 1"]


def test_the_story_says_why_a_claim_went():
    dropped = run(f"{TRUE} {FALSE}", TRUE).told("contrast")[0].dropped
    assert [(d.text, "0%" in d.why) for d in dropped] == [("Painters covered every wall green later on.", True)]


def test_an_abstaining_verifier_corroborates_nothing():
    made = run(f"{TRUE} {FALSE}", "")
    assert (made.drafts[0], made.told("contrast")[0].scores) == ([], {"rouge2": 0.0})


@pytest.mark.parametrize("style", ["long", "short"])
def test_the_empty_answer_of_a_verifier_agrees_with_no_article(style: str):
    made = run("The [1]", "", style=style)
    assert (made.told("contrast")[0].chosen, made.drafts[0]) == (False, [])
