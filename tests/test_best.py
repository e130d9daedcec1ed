"""`best` branch by branch, with scripted writers and a judge that knows what holds."""

from __future__ import annotations

from typing import Any

import pytest
from best_parts import GONE, NEW, OLD, RED, SUPPORTS, Corpus, Judge, Run, cited
from vtg_parts import QUESTION, letters

import toulmin
from toulmin import demo
from toulmin.data import Answer
from toulmin.driver.budget import Budget
from toulmin.errors import ModelError
from toulmin.methods.reporting import EMPTY, REFUSED, SILENCE
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import AnswerPrompt, Refine, Write
from toulmin.steps import Generate

GOOD = f"{cited(RED, 1)} {cited(NEW, 2)}"
HALF = f"{cited(RED, 1)} {cited(GONE, 2)}"
MENDED = f"{cited(RED, 1)} {cited(NEW, 2)}"

# ---------------------------------------------------------------- what holds


def test_a_draft_that_holds_costs_one_call():
    assert Run(GOOD).answer.usage.calls == {"main": 1}


def test_a_draft_that_holds_searches_once():
    assert Run(GOOD).answer.usage.searches == 1


def test_a_claim_that_holds_cites_no_more_than_it_needs():
    assert Run(cited(RED, 1, 2, 3)).cited == ["A"]


def test_claim_moves_to_another_read_passage_without_call():
    run = Run(cited(RED, 3))
    assert (run.cited, run.writer.kinds) == (["A"], "A")


def test_a_claim_without_citations_is_cited_without_a_call():
    run = Run(f"{RED} {cited(NEW, 2)}")
    assert (run.cited, run.writer.kinds) == (["A", "B"], "A")


def test_a_claim_is_not_cited_anew_by_two_passages_together():
    assert Run(cited(OLD, 1), supports={OLD: ["BC"]}, max_rounds=0).cited == []


def test_a_claim_is_not_cited_anew_by_a_passage_without_its_number():
    lit = "The lamp is said to be lit since 1824."
    assert Run(cited(lit, 1), supports={lit: ["B"]}, max_rounds=0).cited == []


def test_what_was_cited_anew_is_told():
    (told,) = Run(cited(RED, 3)).rounds("repair")
    assert (told.kept, letters(told.read)) == ((RED,), "A")


# ---------------------------------------------------------------- what fails


def test_only_the_failing_claim_is_replaced():
    assert Run(HALF, MENDED).texts == [RED, NEW]


def test_a_rewritten_claim_stands_where_the_failing_one_stood():
    assert Run(f"{cited(GONE, 2)} {cited(RED, 1)}", cited(NEW, 2)).texts == [NEW, RED]


def test_a_claim_that_holds_stays_though_the_model_leaves_it_out():
    assert RED in Run(HALF, cited(NEW, 2)).texts


def test_a_changed_citation_leaves_a_supported_claim_unchanged():
    assert Run(HALF, f"{cited(RED, 3)} {cited(NEW, 2)}").cited == ["A", "B"]


def test_a_rewriting_that_does_not_hold_is_left_out():
    assert Run(HALF, HALF).texts == [RED]


def test_what_is_left_out_stands_in_the_notes():
    assert GONE in Run(HALF, cited(RED, 1)).notes


def test_what_was_mended_does_not_stand_in_the_notes_as_left_out():
    assert Run(HALF, MENDED).answer.notes == ()


def test_a_rewriting_is_told_with_the_claim_before_and_after():
    (told,) = Run(HALF, MENDED).rounds("repair")
    assert ([one.text for one in told.dropped], told.kept) == ([GONE], (NEW,))


def test_a_claim_that_is_left_out_is_told_with_why():
    (told,) = Run(HALF, cited(RED, 1)).rounds("repair")
    assert (told.kept, told.dropped[0].text, "known to support" in told.dropped[0].why) == ((), GONE, True)


def test_the_feedback_names_the_failing_claim_alone():
    said = " ".join(Run(HALF, MENDED).refine.feedback.values())
    assert ("Sentence 2 cites [2]" in said, "Sentence 1" in said) == (True, False)


def test_a_claim_that_the_model_adds_stands_at_the_end_if_it_holds():
    beside = "Both towers were built of granite."
    run = Run(HALF, f"{cited(RED, 1)} {cited(beside, 3)}", supports={**SUPPORTS, beside: ["C"]})
    assert run.texts == [RED, beside]


def test_what_is_far_from_all_that_failed_does_not_take_its_place():
    beside = "Both towers were built of granite."
    run = Run(f"{cited(GONE, 2)} {cited(RED, 1)}", cited(beside, 3), supports={**SUPPORTS, beside: ["C"]})
    assert run.texts == [RED, beside]


def test_rewriting_ends_after_the_rounds_granted():
    assert Run(HALF, HALF, max_rounds=3).writer.kinds == "ARRR"


def test_a_prompt_that_is_asked_again_is_another_draw():
    run = Run(HALF, cited(GONE, 2), max_rounds=2)
    assert [one.sample for one in run.writer.asked] == [0, 0, 1]


def test_without_rounds_what_fails_is_left_out_at_once():
    run = Run(HALF, max_rounds=0)
    assert (run.texts, run.writer.kinds) == ([RED], "A")


def test_a_model_that_fails_to_rewrite_leaves_what_holds():
    run = Run(HALF, [ModelError("The server is down.")])
    assert (run.texts, "The server is down." in run.notes) == ([RED], True)


def test_a_model_that_fails_where_nothing_holds_fails_the_answer():
    assert Run(cited(GONE, 2), [ModelError("The server is down.")]).answer.status == "failed"


# ---------------------------------------------------------------- evidence


def test_the_failing_claim_is_what_is_searched_for():
    assert Run(HALF, MENDED).corpus.asked == [(QUESTION, 3), (GONE, 2)]


def test_an_entity_is_searched_for_with_the_question():
    run = Run("red [1], gone [2]", "red [1]", supports={"red": ["A"]}, style="list")
    assert run.corpus.asked[1] == (f"{QUESTION} gone", 2)


def test_the_model_rewrites_from_old_and_new_passages():
    assert letters([passage.id for passage in Run(HALF, MENDED).refine.passages]) == "ABCFG"


def test_a_claim_that_found_passages_support_is_cited_anew_without_a_call():
    run = Run(f"{cited(RED, 1)} {cited(OLD, 2)}")
    assert (run.cited, run.writer.kinds) == (["A", "F"], "A")


def test_a_rewritten_claim_may_cite_what_was_found():
    assert Run(HALF, f"{cited(RED, 1)} {cited(OLD, 4)}").cited == ["A", "F"]


BUSY = "The search server is busy."


def test_a_search_for_evidence_that_fails_leaves_what_holds_and_is_told():
    run = Run(HALF, MENDED, down={GONE: 1})
    told = run.rounds("search")[1]
    assert (run.texts, [one.why for one in told.dropped]) == ([RED, NEW], [BUSY])
    assert f"Passages may be missing, because a search failed: “{GONE}”. {BUSY}" in run.answer.notes


def test_where_reading_on_fails_the_answer_is_an_abstention_with_a_note():
    run = Run("The passages do not say.", down={QUESTION: 4})
    assert (run.answer.status, BUSY in run.notes, run.writer.kinds) == ("abstained", True, "A")


def test_a_section_whose_search_fails_is_written_from_what_was_read_before():
    run = report(down={f"{QUESTION}: Colour": 1})
    assert letters([passage.id for passage in run.writer.prompts(Write)[0].passages]) == "ABC"
    assert f"Colour: Passages may be missing, because a search failed: “{QUESTION}: Colour”. {BUSY}" in run.notes


def test_a_first_search_that_fails_fails_the_answer():
    assert Run(HALF, MENDED, down={QUESTION: 1}).outcome.exit_code == 3


# ---------------------------------------------------------------- nothing holds


def test_where_the_model_says_nothing_the_next_passages_are_read_too():
    run = Run(["", cited(OLD, 6)])
    shown = [letters([passage.id for passage in prompt.passages]) for prompt in run.writer.prompts(AnswerPrompt)]
    assert (shown, run.cited) == (["ABC", "ABCDEF"], ["F"])


def test_the_rewriter_gets_failing_and_missing_parts():
    failing, silent = Run(HALF, MENDED), Run(["", cited(OLD, 6)])
    assert [[asked.role for asked in run.writer.asked] for run in (failing, silent)] == [["main", "rewriter"]] * 2
    assert failing.rounds("refine")[0].role == "rewriter"
    assert not any("rewriter" in note for note in failing.answer.notes)


def test_where_nothing_is_left_to_read_the_answer_is_an_abstention():
    run = Run("The passages do not say.", found={QUESTION: "ABC"})
    assert (run.writer.kinds, run.answer.status, SILENCE in run.notes) == ("A", "abstained", True)


@pytest.mark.parametrize(("reply", "note"), [(Reply("I cannot help.", finish="refused"), REFUSED), (Reply(" "), EMPTY)])
@pytest.mark.parametrize("first", ["", cited(GONE, 2)])
def test_a_refusal_is_not_silence_of_the_sources(first: str, reply: Reply, note: str):
    run = Run([first, reply], [reply], max_rounds=1)
    assert (run.answer.status, note in run.notes, SILENCE in run.notes) == ("abstained", True, False)


def test_where_nothing_holds_after_all_rounds_the_answer_is_an_abstention():
    run = Run(cited(GONE, 2), cited(GONE, 2))
    assert (run.answer.status, SILENCE in run.notes) == ("abstained", True)


def test_where_nothing_holds_the_next_passages_are_read_before_rewriting():
    assert letters([passage.id for passage in Run(cited(GONE, 2), cited(NEW, 2)).refine.passages]) == "ABCFGDE"


def test_no_more_passages_are_read_once_something_holds():
    assert QUESTION not in [query for query, _ in Run(HALF, MENDED).corpus.asked[1:]]


def test_a_model_that_says_nothing_twice_is_believed():
    run = Run("", max_rounds=3)
    assert (run.writer.kinds, run.answer.status) == ("AA", "abstained")


def test_a_model_that_takes_all_back_when_asked_to_rewrite_is_believed():
    run = Run(cited(GONE, 2), "", max_rounds=3)
    assert (run.writer.kinds, run.answer.status) == ("AR", "abstained")


def test_what_a_second_draft_says_is_repaired_like_a_first_one():
    run = Run(["", cited(GONE, 2)], cited(NEW, 2), max_rounds=3)
    assert (run.writer.kinds, run.texts) == ("AAR", [NEW])


def test_reading_on_is_told():
    (_, told) = Run(["", cited(OLD, 6)]).rounds("search")
    assert (told.queries, letters(told.read)) == ((QUESTION,), "DEF")


def test_without_passages_no_model_is_asked():
    run = Run(GOOD, found={})
    assert (run.writer.kinds, run.answer.status) == ("", "abstained")


# ---------------------------------------------------------------- where the judge is unsure


def test_without_a_verifier_an_unsure_claim_is_rewritten_like_others():
    assert Run(HALF, MENDED, doubts=[GONE]).texts == [RED, NEW]


def test_an_unsure_claim_that_no_rewriting_mends_stays_labelled_unsure():
    run = Run(HALF, HALF, doubts=[GONE])
    assert [claim.support.label for claim in run.answer.claims if claim.support] == ["supported", "unsure"]


def test_an_unsure_claim_is_rewritten_once():
    assert Run(HALF, HALF, doubts=[GONE], max_rounds=3).writer.kinds == "AR"


def test_under_drop_an_unsure_claim_is_rewritten_as_often_as_others():
    assert Run(HALF, HALF, doubts=[GONE], max_rounds=3, unsupported="drop").writer.kinds == "ARRR"


def test_under_drop_no_unsure_claim_stays():
    assert Run(HALF, HALF, doubts=[GONE], unsupported="drop").texts == [RED]


def test_an_unsure_claim_that_the_verifier_bears_out_costs_no_rewriting():
    run = Run(HALF, doubts=[GONE], verifier=cited(GONE, 1), contrast=True)
    assert (run.writer.kinds, run.texts) == ("AV", [RED, GONE])


def test_the_verifier_makes_no_claim_supported():
    run = Run(HALF, doubts=[GONE], verifier=cited(GONE, 1), contrast=True)
    assert not run.answer.claims[1].is_supported


def test_an_unsure_claim_that_the_verifier_does_not_bear_out_is_left_out():
    run = Run(HALF, HALF, doubts=[GONE], verifier="Something quite different was written.", contrast=True)
    assert run.texts == [RED]


def test_an_unconfirmed_doubtful_claim_is_rewritten():
    run = Run(cited(RED, 1), MENDED, scores={RED: 0.6}, verifier="", contrast=True, max_rounds=1)
    assert ("not confirmed" in " ".join(run.refine.feedback.values()), run.texts) == (True, [NEW])


def test_the_verifier_is_asked_about_a_claim_once():
    run = Run(
        f"{HALF} {cited(OLD, 1)}", HALF, doubts=[GONE], verifier=cited(GONE, 1), contrast=True, found={QUESTION: "ABC"}
    )
    assert run.writer.kinds.count("V") == 1


def test_the_verifier_is_asked_about_what_was_rewritten():
    run = Run(cited(GONE, 1), cited(RED, 1), scores={RED: 0.6}, verifier=cited(RED, 1), contrast=True)
    assert (run.writer.kinds, run.texts) == ("ARV", [RED])


def test_a_budget_ending_before_contrast_keeps_supported_rewriting():
    run = Run(cited(GONE, 1), cited(RED, 1), scores={RED: 0.6}, contrast=True, budget=Budget(calls=2))
    assert run.texts == [RED]


def test_under_drop_the_verifier_is_not_asked_about_what_could_not_stay():
    run = Run(HALF, MENDED, doubts=[GONE], contrast=True, unsupported="drop")
    assert run.writer.kinds == "AR"


def test_the_verifier_reads_only_what_the_doubtful_claims_cite():
    run = Run(HALF, doubts=[GONE], verifier=cited(GONE, 1), contrast=True)
    (prompt,) = run.writer.prompts(AnswerPrompt, "verifier")
    assert letters([passage.id for passage in prompt.passages]) == "B"


@pytest.mark.parametrize("score", [0.65, 0.9])
def test_from_the_upper_bound_on_the_verifier_is_not_asked(score: float):
    assert Run(cited(RED, 1), scores={RED: score}, contrast=True).writer.kinds == "A"


def test_the_verifier_is_not_asked_without_being_told_to():
    assert Run(HALF, HALF, doubts=[GONE], scores={RED: 0.6}, max_rounds=1).writer.kinds == "AR"


def test_failing_verifier_keeps_doubtful_claims_with_a_note():
    run = Run(cited(RED, 1), scores={RED: 0.6}, verifier=[ModelError("The verifier is down.")], contrast=True)
    assert (run.texts, "The verifier is down." in run.notes) == ([RED], True)


def test_a_contrast_is_told():
    (told,) = Run(HALF, doubts=[GONE], verifier=cited(GONE, 1), contrast=True).rounds("contrast")
    assert (told.role, told.kept) == ("verifier", (GONE,))


# ---------------------------------------------------------------- notes that are true


REFUTING = {"verifier": "Something quite different was written.", "contrast": True}


def test_a_claim_removed_on_the_verifiers_word_says_so():
    run = Run(f"{cited(RED, 1)} {cited(NEW, 2)}", "", scores={RED: 0.6}, **REFUTING, max_rounds=1)
    (note,) = [note for note in run.answer.notes if RED in note]
    assert ("verifier" in note, "known to support" in note) == (True, False)


def test_the_round_of_such_a_claim_says_so_too():
    run = Run(f"{cited(RED, 1)} {cited(NEW, 2)}", "", scores={RED: 0.6}, **REFUTING, max_rounds=1)
    (told,) = [each for each in run.rounds("repair") if each.dropped[0].text == RED]
    assert told.dropped[0].why.startswith("left out: the verifier's answer")


def test_removing_all_claims_is_not_silence_of_sources():
    run = Run(cited(RED, 1), "", scores={RED: 0.6}, **REFUTING, max_rounds=0)
    assert (run.answer.status, SILENCE in run.answer.notes) == ("abstained", False)


def test_each_reason_to_leave_out_has_a_note_of_its_own():
    run = Run(HALF, "", scores={RED: 0.6}, **REFUTING, max_rounds=0)
    notes = [note for note in run.answer.notes if note.startswith("Left out")]
    assert sorted((RED in note, GONE in note) for note in notes) == [(False, True), (True, False)]


def test_an_unsure_claim_of_no_rewriting_is_not_said_to_have_had_one():
    (told,) = Run(HALF, doubts=[GONE], max_rounds=0).rounds("repair")
    assert "rewriting" not in told.dropped[0].why


def test_a_verifier_is_not_asked_unless_somebody_says_so():
    draft = ScriptedModel(lambda _: "The lamp was lit in 1824 [1].")
    options: dict[str, Any] = {"retriever": Corpus({"When?": "A"}, {}), "method": "best", "model": draft}
    judge = Judge({}, ["The lamp was lit in 1824."], {})
    silent = toulmin.ask("When?", **options, judge=judge, verifier=draft)
    asked = toulmin.ask("When?", **options, judge=judge, verifier=draft, contrast=True)
    assert [answer.usage.calls.get("verifier", 0) for answer in (silent, asked)] == [0, 1]


# ---------------------------------------------------------------- new citations by the judge's rules alone


ELSEWHERE = "The lamp is said to be lit since 1824."  # the judge takes it from B, which does not have the year


def test_unchanged_sentence_gets_no_citation_from_the_model():
    run = Run(cited(ELSEWHERE, 1), cited(ELSEWHERE, 2), supports={ELSEWHERE: ["B"]}, max_rounds=1)
    assert (run.writer.kinds, run.texts) == ("AR", [])


def test_a_sentence_in_new_words_is_judged_by_what_the_model_cites():
    reworded = "The lamp was lit, it is said, in 1824."
    run = Run(cited(ELSEWHERE, 1), cited(reworded, 2), supports={reworded: ["B"]}, max_rounds=1)
    assert (run.texts, run.cited) == ([reworded], ["B"])


# ---------------------------------------------------------------- `keep` keeps


def test_keep_keeps_what_fails_where_it_stood_and_labels_it():
    run = Run(f"{cited(GONE, 2)} {cited(RED, 1)}", "", unsupported="keep")
    assert [(claim.text, claim.is_supported) for claim in run.answer.claims] == [(GONE, False), (RED, True)]


def test_keep_leaves_nothing_out_and_no_note_says_so():
    assert not any(note.startswith("Left out") for note in Run(HALF, "", unsupported="keep").answer.notes)


def test_keep_repairs_first():
    assert Run(HALF, MENDED, unsupported="keep").texts == [RED, NEW]


def test_keep_asks_once_for_what_no_rewriting_replaces():
    assert Run(HALF, "", unsupported="keep").writer.kinds == "AR"


def test_keep_keeps_what_the_verifier_does_not_bear_out():
    run = Run(cited(RED, 1), "", scores={RED: 0.6}, **REFUTING, unsupported="keep", max_rounds=0)
    (told,) = run.rounds("repair")
    assert (run.texts, told.kept) == ([RED], (RED,))


@pytest.mark.parametrize("policy", ["flag", "drop"])
def test_other_policies_leave_out_what_fails(policy: str):
    assert Run(HALF, "", unsupported=policy).texts == [RED]


# ---------------------------------------------------------------- styles


def test_an_entity_that_fails_leaves_the_list():
    assert Run("red [1], gone [2]", "red [1]", supports={"red": ["A"]}, style="list").texts == ["red"]


def test_a_short_answer_that_fails_is_rewritten():
    assert Run("gone [2]", "red [1]", supports={"red": ["A"]}, style="short").texts == ["red"]


OUTLINE = "1. Colour: what it looks like\n2. Age: how old it is"
REPORT = {"Outline": [OUTLINE], "Write": [cited(RED, 4), cited(GONE, 5)]}
SECTIONS = {QUESTION: "ABC", f"{QUESTION}: Colour": "DEF", f"{QUESTION}: Age": "GHI", GONE: "J"}


def report(**options: Any) -> Run:
    return Run("", cited(NEW, 5), replies=REPORT, found=SECTIONS, style="report", **options)


def test_a_report_is_planned_before_its_sections_are_written():
    assert report().writer.kinds == "OWWR"


def test_a_report_has_a_section_for_each_planned_paragraph():
    assert [(claim.section, claim.text) for claim in report().answer.claims] == [("Colour", RED), ("Age", NEW)]


def test_a_section_reads_its_own_hits_first():
    prompts = report().writer.prompts(Write)
    assert letters([passage.id for passage in prompts[0].passages]) == "DEFABC"


def test_a_sentence_that_stands_in_an_earlier_section_is_left_out():
    run = Run("", replies={**REPORT, "Write": [cited(RED, 4)]}, found=SECTIONS, style="report")
    assert [claim.section for claim in run.answer.claims] == ["Colour"]


def test_a_section_of_which_nothing_holds_is_left_out():
    run = Run("", "", replies=REPORT, found=SECTIONS, style="report", max_rounds=1)
    assert [section.title for section in run.answer.sections] == ["Colour"]


def test_a_section_that_a_model_fails_to_write_is_missing_with_a_note():
    replies = {**REPORT, "Write": [cited(RED, 4), ModelError("The server is down.")]}
    run = Run("", replies=replies, found=SECTIONS, style="report")
    assert (run.texts, "Age: The server is down." in run.notes) == ([RED], True)


def test_a_report_of_which_no_section_could_be_written_fails():
    replies = {**REPORT, "Write": [ModelError("The server is down.")]}
    assert Run("", replies=replies, found=SECTIONS, style="report").outcome.exit_code == 4


@pytest.mark.parametrize(("reply", "note"), [(Reply("I cannot help.", finish="refused"), REFUSED), (Reply(" "), EMPTY)])
def test_an_unwritten_report_is_not_silence_of_sources(reply: Reply, note: str):
    run = Run("", replies={**REPORT, "Write": [reply]}, found=SECTIONS, style="report")
    assert (run.answer.status, run.answer.notes) == ("abstained", (note,))


def test_a_section_that_the_model_refuses_to_write_is_told_under_its_title():
    replies = {**REPORT, "Write": [cited(RED, 4), Reply("I cannot help.", finish="refused")]}
    run = Run("", replies=replies, found=SECTIONS, style="report")
    assert (run.texts, f"Age: {REFUSED}" in run.answer.notes) == ([RED], True)


def test_of_a_report_whose_budget_ends_the_sections_that_hold_stay():
    assert [claim.section for claim in report(budget=Budget(calls=3)).answer.claims] == ["Colour"]


def test_a_report_out_of_budget_names_unwritten_sections():
    assert "Parts of the plan without text: Age." in report(budget=Budget(calls=2)).answer.notes


def test_a_report_names_the_sections_of_which_nothing_holds():
    run = Run("", "", replies=REPORT, found=SECTIONS, style="report", max_rounds=1)
    assert "Parts of the plan without text: Age." in run.answer.notes


def test_a_report_with_all_its_sections_names_none():
    assert "without text" not in report().notes


# ---------------------------------------------------------------- budgets and what is seen


def test_a_budget_that_ends_leaves_what_holds():
    run = Run(HALF, MENDED, budget=Budget(calls=1))
    assert (run.texts, run.outcome.exit_code) == ([RED], 0)


def test_a_budget_that_ends_leaves_a_note_of_what_was_left_out():
    assert GONE in Run(HALF, MENDED, budget=Budget(calls=1)).notes


def test_a_budget_ending_before_contrast_keeps_supported_claims():
    run = Run(f"{cited(RED, 3)} {cited(GONE, 2)}", scores={RED: 0.6}, contrast=True, budget=Budget(calls=1))
    assert (run.texts, run.cited) == ([RED], ["A"])


def test_a_budget_that_ends_before_anything_holds_fails():
    run = Run(cited(GONE, 2), MENDED, budget=Budget(calls=1))
    assert (run.answer.status, run.outcome.exit_code) == ("failed", 5)


def test_every_stage_is_shown():
    shown = [[claim.text for claim in draft.claims] for draft in Run(HALF, MENDED).drafts]
    assert shown == [[RED, GONE], [RED], [RED], [RED, NEW]]


def test_the_rounds_tell_the_story_in_order():
    kinds = [step.kind for step in Run(HALF, MENDED).answer.rounds]
    assert kinds == ["search", "draft", "verify", "search", "refine", "repair"]


@pytest.mark.parametrize(
    "options", [{"k": 0}, {"max_rounds": -1}, {"per_query": 0}, {"doubt_from": 0.7}, {"doubt_to": 2}]
)
def test_an_option_that_means_nothing_is_refused(options: dict[str, Any]):
    assert Run(GOOD, **options).outcome.exit_code == 2


def test_a_mark_that_names_no_passage_is_counted():
    assert Run(f"{cited(RED, 1, 9)} {cited(NEW, 2)}").answer.invalid_citations == 1


def test_a_mark_of_a_rewriting_that_names_no_passage_is_counted_too():
    assert Run(HALF, f"{cited(RED, 1)} {cited(NEW, 2, 9)}").answer.invalid_citations == 1


def test_rewriting_is_asked_for_the_whole_answer_once():
    run = Run(f"{cited(GONE, 1)} {cited(OLD, 1)} {cited(RED, 1)}", MENDED, found={QUESTION: "ABC"})
    assert [len(prompt.claims) for prompt in run.writer.prompts(Refine)] == [3]


# ---------------------------------------------------------------- quotes beside the draft of a small model


WATCH = "When was the sea watch H4 finished?"


def quoting(reply: str | ModelError, question: str = WATCH) -> tuple[Answer, list[Answer], list[Generate]]:
    """The answer, the drafts shown on the way, and what the model was asked."""
    asked: list[Generate] = []

    def write(request: Generate) -> str:
        asked.append(request)
        if isinstance(reply, ModelError):
            raise reply
        return reply

    shown: list[Answer] = []
    parts = {"model": ScriptedModel(write), "rewriter": "extractive", "judge": "lexical", "reader": "lexical"}
    answer = toulmin.ask(question, docs=demo.FOLDER, on_draft=shown.append, method="best", quotes=True, **parts)
    return answer, shown, asked


def test_quotes_stand_before_the_model_has_written():
    _, shown, _ = quoting("The sea watch H4 was finished in 1759 [1].")
    assert "The sea watch H4 was finished in 1759." in [claim.text for claim in shown[0].claims]


def test_what_holds_of_a_draft_leads_the_quotes():
    answer, _, _ = quoting("In 1759 the sea watch H4 was finished [1]. It was stolen by 1,200 pirates [1].")
    texts = [claim.text for claim in answer.claims]
    assert texts[0] == "In 1759 the sea watch H4 was finished."
    assert not any("pirates" in text or text == "The sea watch H4 was finished in 1759." for text in texts)
    assert any("pirates" in note for note in answer.notes)


def test_a_quote_stays_beside_a_sentence_that_says_less():
    answer, shown, _ = quoting("1759 is when it was finished [1].")
    quote = "The sea watch H4 was finished in 1759."
    assert quote in [claim.text for claim in shown[0].claims]
    assert [claim.text for claim in answer.claims][:2] == ["1759 is when it was finished.", quote]


def test_quotes_stand_where_a_draft_fails():
    answer, shown, _ = quoting("It was stolen by 1,200 pirates [1].")
    assert [claim.text for claim in answer.claims] == [claim.text for claim in shown[0].claims]


def test_quotes_stand_where_the_model_fails():
    answer, shown, _ = quoting(ModelError("The model is gone."))
    assert [claim.text for claim in answer.claims] == [claim.text for claim in shown[0].claims]
    assert any("The model is gone." in note for note in answer.notes)


def test_a_small_model_reads_the_quoted_blocks():
    _, shown, (request,) = quoting("")
    quoted = {citation.passage for claim in shown[0].claims for citation in claim.citations}
    assert isinstance(request.prompt, AnswerPrompt)
    assert quoted <= {passage.id for passage in request.prompt.passages}
    assert all(len(passage.text) <= len(shown[0].passage(passage.id).text) for passage in request.prompt.passages)


def test_a_question_of_yes_or_no_is_left_to_the_quotes():
    answer, _, asked = quoting("Yes, it was [1].", "Was the sea watch H4 finished in 1759?")
    assert (asked, answer.status) == ([], "answered")
