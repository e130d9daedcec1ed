"""A2R against its Algorithm 1, branch by branch, with scripted writers and a judge that knows what holds."""

from __future__ import annotations

import asyncio

import pytest
from a2r_parts import ALL_BAD, ALL_GOOD, BAD, FAIR, GOOD, HALF, SUPPORTS, Run, Writer, said
from hypothesis import given, settings
from hypothesis import strategies as st
from vtg_parts import PASSAGES

from toulmin.data import Passage
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit
from toulmin.extractive.writer import Extractive
from toulmin.judges.lexical import Lexical
from toulmin.methods.a2r import UNTOUCHED, WITHDRAWN, a2r
from toulmin.methods.reporting import EMPTY, SILENCE
from toulmin.prompts.replies import Reply
from toulmin.prompts.templates import Templates
from toulmin.prompts.types import AnswerPrompt, Feedback, Refine
from toulmin.retrieval.bm25 import StaticRanking

CORRECTNESS = "correctness (reference-free)"

# ---------------------------------------------------------------- the rounds


def test_the_draft_is_asked_for_by_the_papers_own_prompt():
    assert Run(max_rounds=0).writer.prompts(AnswerPrompt)[0].preset == "expert"


@pytest.mark.parametrize(("rounds", "asked"), [(0, "A"), (1, "AFR"), (2, "AFRFR")])
def test_k_rounds_are_k_times_feedback_and_refinement(rounds: int, asked: str):
    assert Run(Writer(ALL_BAD, [ALL_BAD]), max_rounds=rounds).writer.kinds == asked


def test_refining_ends_once_the_mean_score_reaches_the_mean_target():
    assert Run(Writer(ALL_BAD, [ALL_GOOD])).writer.kinds == "AFR"


def test_a_draft_that_is_good_enough_costs_one_call():
    assert Run(Writer(ALL_GOOD)).answer.usage.calls == {"main": 1}


def test_a_mean_just_at_the_target_reaches_it():
    assert (
        Run(Writer(HALF), targets={"correctness": 50, "citation recall": 50, "citation precision": 50}).writer.kinds
        == "A"
    )


def test_a_mean_just_below_the_target_does_not():
    targets = {"correctness": 50, "citation recall": 50, "citation precision": 50.1}
    assert Run(Writer(HALF), targets=targets).writer.kinds == "AFR"


def test_it_is_the_mean_that_counts_not_every_score():
    targets = {"correctness": 100, "citation recall": 20, "citation precision": 20}
    assert Run(Writer(HALF), targets=targets).writer.kinds == "A"


def test_stopping_after_refines_at_least_once():
    assert Run(Writer(ALL_GOOD), stop="after", feedback="grounded").writer.kinds == "AR"


def test_stopping_looks_at_the_scores_before_the_refinement():
    assert Run(Writer(ALL_BAD, [ALL_GOOD]), stop="after", feedback="grounded", max_rounds=3).writer.kinds == "ARR"


def test_an_empty_draft_is_an_abstention_without_assessment():
    run = Run(Writer(""))
    assert (run.answer.status, run.answer.notes, run.rounds("assess")) == ("abstained", (EMPTY,), [])


def test_an_empty_refinement_keeps_the_answer_before_it():
    run = Run(Writer(HALF, [""]))
    assert (run.writer.kinds, run.texts) == ("AFR", [GOOD, BAD])


@pytest.mark.parametrize("reply", ["", "The documents do not contain this information."])
def test_a_refinement_that_retracts_replaces_an_unsupported_answer(reply: str):
    run = Run(Writer(ALL_BAD, [reply]))
    assert (run.answer.status, run.chosen, WITHDRAWN in run.answer.notes) == ("abstained", [False, True], True)


def test_a_refusal_takes_nothing_back():
    assert Run(Writer(ALL_BAD, [Reply("", finish="refused")])).texts == [BAD]


def test_an_empty_reply_is_no_silence_of_sources():
    notes = Run(Writer(ALL_BAD, [""]), returns="last").answer.notes
    assert (EMPTY in notes, SILENCE in notes) == (True, False)


def test_an_empty_refinement_is_what_the_last_one_is():
    assert Run(Writer(HALF, [""]), returns="last").answer.status == "abstained"


def test_without_passages_no_model_is_asked():
    assert Run(first="").writer.asked == []


def test_the_refinement_reads_what_the_draft_was_shown():
    run = Run(Writer(Reply(HALF, omitted=1)), first="ABCD")
    assert run.writer.prompts(Refine)[0].passages == tuple(PASSAGES[letter] for letter in "ABC")


def test_an_equal_prompt_is_asked_as_another_draw():
    run = Run(Writer(ALL_BAD, [ALL_BAD]), max_rounds=3, feedback="grounded")
    assert [request.sample for request in run.writer.asked] == [0, 0, 1, 2]


def test_every_candidate_is_shown_on_the_way():
    assert [draft.text for draft in Run(Writer(HALF, [ALL_GOOD])).drafts] == [HALF.replace("[3]", "[2]"), ALL_GOOD]


# ---------------------------------------------------------------- feedback

WRONG = "Correctness: Great job!\nCitation recall: Sentence 2 is wrong; correct it.\nCitation precision: Fine."


def test_grounded_feedback_asks_no_model():
    assert Run(Writer(HALF), feedback="grounded").writer.kinds == "AR"


def test_grounded_feedback_names_what_would_support_a_claim():
    words = said(Run(Writer(f"{GOOD[:-1]} [3]. {FAIR[:-1]} [2]."), feedback="grounded"))["citation recall"]
    assert words == "Sentence 1 cites [3], which does not support it; [1] does. Cite [1]."


def test_grounded_feedback_says_that_nothing_supports_a_claim():
    assert (
        "Sentence 2 cites [3], which does not support it, and no other"
        in said(Run(Writer(HALF), feedback="grounded"))["citation recall"]
    )


def test_grounded_feedback_names_a_claim_that_cites_nothing():
    run = Run(Writer(f"{FAIR[:-1]} [2]. {GOOD}"), feedback="grounded", stop="after")
    words = said(run)["citation recall"]
    assert words == "Sentence 2 cites no passage; [1] supports it. Cite [1]."


def test_grounded_feedback_names_a_citation_that_is_not_needed():
    run = Run(Writer(f"{GOOD[:-1]} [1][2][3]."), feedback="grounded", stop="after")
    assert said(run)["citation precision"] == "Sentence 1 has no need of [2] and [3]: [1] is enough. Cite only [1]."


def test_grounded_feedback_names_what_the_answer_does_not_speak_of():
    run = Run(Writer("It is red [1]."), {"It is red.": ["A"]}, feedback="grounded", targets={"citation recall": 100})
    assert "“lamp”" in said(run)["correctness"]


def test_grounded_feedback_affirms_what_reaches_its_target():
    run = Run(Writer(HALF), feedback="grounded", targets={"correctness": 10})
    assert said(run)["correctness"].startswith("This is good")


def test_the_models_feedback_is_told_scores_and_targets():
    prompt = Run(Writer(HALF)).writer.prompts(Feedback)[0]
    assert prompt.scores == (("correctness", 50), ("citation recall", 50), ("citation precision", 50))


def test_model_feedback_is_the_papers_form_contradictions_included():
    assert said(Run(Writer(HALF, feedback=[WRONG]), feedback="model"))["correctness"] == "Great job!"


def test_in_both_praise_of_a_low_score_gives_way_to_what_the_verdicts_say():
    assert (
        "Sentence 2 says what none of the passages supports" in said(Run(Writer(HALF, feedback=[WRONG])))["correctness"]
    )


def test_words_that_agree_with_the_score_replace_verdicts():
    assert said(Run(Writer(HALF, feedback=[WRONG])))["citation recall"] == "Sentence 2 is wrong; correct it."


def test_in_both_fault_found_with_a_high_score_becomes_an_affirmation():
    run = Run(Writer(HALF, feedback=[WRONG]), targets={"citation recall": 50})
    assert said(run)["citation recall"].startswith("This is good")


def test_verdicts_stand_for_aspects_that_the_model_omits():
    assert set(said(Run(Writer(HALF, feedback=["Correctness: Add the colour."])))) == {
        "correctness",
        "citation recall",
        "citation precision",
    }


def test_what_was_left_out_of_the_models_feedback_is_told_with_the_reason():
    dropped = Run(Writer(HALF, feedback=[WRONG])).rounds("assess")[0].dropped
    assert [(d.text, "below the target" in d.why) for d in dropped] == [
        ("correctness: Great job!", True),
        ("citation precision: Fine.", True),
    ]


def test_the_round_of_an_assessment_tells_the_feedback_as_it_was_given():
    run = Run(Writer(HALF, feedback=[WRONG]))
    assert run.rounds("assess")[0].text == "\n".join(f"{aspect}: {words}" for aspect, words in said(run).items())


def test_both_asks_no_model_where_every_aspect_reaches_its_target():
    assert Run(Writer(ALL_GOOD), stop="after").writer.kinds == "AR"


PRAISE = st.sampled_from(
    "Great job!;Well done.;Excellent.;Keep up the good work.;Your answer is factually accurate.;No changes are needed."
    ";Parfait !;This is satisfactory.".split(";")
)


@settings(deadline=None, max_examples=25)
@given(st.lists(PRAISE, min_size=3, max_size=3))
def test_praise_of_low_scores_never_reaches_the_refinement(praise: list[str]):
    names = ("Correctness", "Citation recall", "Citation precision")
    feedback = "\n".join(f"{name}: {words}" for name, words in zip(names, praise, strict=True))
    given_ = said(Run(Writer(ALL_BAD, feedback=[feedback])))
    assert not [words for words in praise if any(words in part for part in given_.values())]


# ---------------------------------------------------------------- what is returned


def test_the_best_candidate_is_returned_even_if_it_is_not_the_last():
    run = Run(Writer(ALL_BAD, [HALF, ALL_BAD]))
    assert (run.texts, run.chosen) == ([GOOD, BAD], [False, True, False])


def test_a_draft_that_no_refinement_betters_is_returned():
    run = Run(Writer(HALF, [ALL_BAD]))
    assert (run.texts, run.chosen, UNTOUCHED in run.answer.notes) == ([GOOD, BAD], [True, False, False], True)


def test_of_equals_the_earlier_is_returned():
    assert Run(Writer(HALF, [HALF])).chosen == [True, False, False]


def test_a_note_says_which_refinement_was_best():
    assert (
        "The answer is refinement 1 of 1: its mean score, 100, is best." in Run(Writer(HALF, [ALL_GOOD])).answer.notes
    )


def test_the_last_candidate_is_returned_where_that_is_asked_for():
    run = Run(Writer(HALF, [ALL_BAD]), returns="last")
    assert (run.texts, run.chosen) == ([BAD], [False, False, True])


def test_the_final_answer_is_written_from_the_whole_history():
    run = Run(Writer(ALL_BAD, [HALF, HALF, ALL_GOOD]), returns="final", feedback="grounded")
    last = run.writer.prompts(Refine)[-1]
    assert [[claim.text for claim in claims] for claims, _ in last.history] == [[BAD], [GOOD, BAD]]


def test_the_final_answer_is_returned_whatever_it_scores():
    run = Run(Writer(HALF, [HALF, HALF, ALL_BAD]), returns="final")
    assert (run.texts, run.chosen) == ([BAD], [False, False, False, True])


def test_a_final_answer_of_a_draft_that_was_good_enough_is_the_draft():
    assert Run(Writer(ALL_GOOD), returns="final").writer.kinds == "A"


def test_the_history_holds_every_earlier_answer_with_its_feedback():
    run = Run(Writer(ALL_BAD, [HALF]), history=True, feedback="grounded")
    first, second = run.writer.prompts(Refine)
    assert second.history == ((first.claims, first.feedback),)


def test_without_history_a_refinement_sees_only_the_answer_before():
    assert [prompt.history for prompt in Run(Writer(ALL_BAD, [HALF])).writer.prompts(Refine)] == [(), ()]


def test_a_claim_with_an_invented_mark_has_no_recall():
    run = Run(Writer(f"{GOOD[:-1]} [1][9]. {FAIR[:-1]} [2]."))
    assert run.scores[0]["citation recall"] == 50.0


def test_feedback_and_refinement_show_invented_marks():
    run = Run(Writer(f"{GOOD[:-1]} [1][9]. {BAD[:-1]} [3]."), feedback="model", stop="never")
    shown = [Templates.default().render(run.writer.prompts(kind)[0]).text for kind in (Feedback, Refine)]
    assert [f"{GOOD[:-1]} [1][9]." in text for text in shown] == [True, True]


def test_composed_feedback_names_invented_marks():
    run = Run(Writer(f"{GOOD[:-1]} [1][9]. {BAD[:-1]} [3]."), feedback="grounded")
    assert "Sentence 1 cites [9], which names no passage. Remove it." in said(run)["citation recall"]


def test_only_the_marks_of_the_returned_answer_count_as_invalid():
    run = Run(Writer(f"{GOOD[:-1]} [1]. {BAD[:-1]} [9].", [f"{ALL_BAD} [8][9]"]))
    assert (run.texts, run.answer.invalid_citations) == ([GOOD, BAD], 1)


def test_the_claims_carry_the_verdicts_that_they_were_scored_by():
    assert [claim.is_supported for claim in Run(Writer(HALF), max_rounds=0).answer.claims] == [True, False]


def test_nothing_is_judged_again_at_the_end():
    asked = Run(Writer(HALF), max_rounds=0).judge.asked
    assert len(asked) == len(set(asked))


def test_the_story_tells_search_draft_assessment_and_refinement():
    kinds = [step.kind for step in Run(Writer(HALF)).answer.rounds]
    assert kinds == ["search", "draft", "assess", "refine", "assess", "verify"]


def test_the_policy_drops_what_is_not_supported():
    assert Run(Writer(HALF), max_rounds=0, unsupported="drop").texts == [GOOD]


# ---------------------------------------------------------------- laws

REPLIES = st.lists(st.sampled_from([ALL_GOOD, ALL_BAD, HALF, FAIR, f"{FAIR[:-1]} [2][9].", "", "[1]"]), min_size=2)


@settings(deadline=None, max_examples=50)
@given(REPLIES, st.sampled_from(["before", "after"]), st.sampled_from(["best", "last", "final"]), st.booleans())
def test_only_the_judge_makes_a_claim_supported(replies: list[str], stop: str, returns: str, history: bool):
    run = Run(Writer(replies[0], replies[1:], replies), stop=stop, returns=returns, history=history)
    assert run.error is None
    for claim in run.answer.claims:
        proofs = {PASSAGES[letter].id for letter in SUPPORTS.get(claim.text, ())}
        assert claim.is_supported == bool(proofs & set(claim.cited))


@settings(deadline=None, max_examples=50)
@given(REPLIES, st.integers(0, 3))
def test_the_best_candidate_scores_no_less_than_the_draft(replies: list[str], rounds: int):
    run = Run(Writer(replies[0], replies[1:], replies), max_rounds=rounds)
    means = [sum(s[n] for n in (CORRECTNESS, "citation recall", "citation precision")) for s in run.scores]
    if means:
        assert means[run.chosen.index(True)] == max(means)


REAL_QUESTION = "When was the tower lit?"
REAL = (
    Passage.of("Kettle Rock is a lighthouse. The tower was lit for the first time on 3 May 1824.", "Kettle Rock"),
    Passage.of("Three keepers lived in the tower until 1978. The last keeper was Tom Ashby.", "Kettle Rock"),
)


@pytest.mark.parametrize("style", ["long", "list", "short", "report"])
def test_the_embedded_writer_is_refined_in_every_style(style: str):
    program = lambda: a2r(REAL_QUESTION, style=style, stop="after", targets={"correctness": 100})  # noqa: E731
    kit = Kit(StaticRanking(REAL), Lexical(), {"main": Extractive()})
    outcome = asyncio.run(Driver(kit).answer(Job(REAL_QUESTION, "a2r", style, program)))
    assert (outcome.error, REAL[0].id in {id for claim in outcome.answer.claims for id in claim.cited}) == (None, True)
