"""VTG against its Algorithm 1, branch by branch, with scripted writers, judges and retrievers."""

from __future__ import annotations

import pytest
from vtg_parts import FIRST, PASSAGES, QUESTION, Run, Writer, letters, trials

from toulmin.driver.budget import Budget
from toulmin.methods.reporting import EMPTY, REFUSED, SILENCE
from toulmin.parsing.citing import Labels
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import Cite, NextClaim, Queries

# ---------------------------------------------------------------- verified at once


def test_a_claim_that_its_citations_support_is_taken_at_once():
    run = Run(["One."], {"One.": ["A"]})
    assert (run.texts, run.cited, run.answer.claims[0].is_supported) == (["One."], ["A"], True)


def test_a_claim_verified_at_once_is_judged_once():
    assert Run(["One."], {"One.": ["A"]}).judge.asked == [("One.", "A")]


def test_a_claim_costs_a_call_for_itself_and_one_for_its_citations():
    assert Run(["One.", "Two."], {"One.": ["A"], "Two.": ["A"]}).answer.usage.calls == {"main": 5}


def test_the_model_is_shown_what_is_written_without_citations():
    run = Run(["One.", "Two."], {"One.": ["A"], "Two.": ["A"]})
    assert [request.prompt.written for request in run.writer.requests(NextClaim)] == ["", "One.", "One. Two."]


def test_citations_that_a_claim_does_not_need_are_dropped():
    assert Run(Writer(["One."], "ABC"), {"One.": ["B"]}).cited == ["B"]


def test_the_verdict_of_a_simplified_claim_is_that_on_what_is_left():
    run = Run(Writer(["One."], "ABC"), {"One.": ["B"]})
    assert letters(run.answer.claims[0].support.evidence) == "B"


def test_nothing_is_judged_again_at_the_end():
    run = Run(Writer(["One."], "AB"), {"One.": ["AB"]})
    assert run.judge.asked == [("One.", "AB"), ("One.", "B"), ("One.", "A")]


# ---------------------------------------------------------------- rescued by memory


def test_a_claim_that_was_cited_wrongly_is_rescued_by_memory():
    run = Run(["One."], {"One.": ["CD"]})
    assert (run.cited, run.answer.claims[0].is_supported) == (["CD"], True)


def test_a_rescue_asks_for_no_evidence():
    run = Run(["One."], {"One.": ["CD"]})
    assert (run.corpus.asked, trials(run.answer)) == ([(QUESTION, 5)], (1,))


def test_memory_is_judged_all_together():
    assert Run(["One."], {"One.": ["CD"]}).judge.asked[:2] == [("One.", "A"), ("One.", FIRST)]


def test_a_claim_without_valid_citation_needs_no_judge():
    run = Run(Writer(["One."], ""), {"One.": ["D"]})
    assert (run.judge.asked[0], run.cited) == (("One.", FIRST), ["D"])


@pytest.mark.parametrize(("supports", "kept"), [(["A", "E"], "E"), (["AB", "BC"], "BC"), (["A"], "A")])
def test_the_order_of_memory_decides_what_simplification_keeps(supports: list[str], kept: str):
    assert Run(Writer(["One."], ""), {"One.": supports}).cited == [kept]


@pytest.mark.parametrize(("supports", "kept"), [(["C", "G"], "G"), (["E", "C"], "E"), (["F", "H"], "H")])
def test_long_term_memory_stands_before_what_was_found(supports: list[str], kept: str):
    assert Run(Writer(["Wrong.", "Right."], ""), {"Right.": supports}).cited == [kept]


# ---------------------------------------------------------------- evidence and another attempt


def test_evidence_is_looked_for_and_the_claim_written_anew():
    run = Run(["Wrong.", "Right."], {"Right.": ["G"]})
    assert (run.texts, run.cited, trials(run.answer)) == (["Right."], ["G"], (2,))


def test_what_was_found_is_read_after_long_term_memory():
    assert Run(["Wrong.", "Right."], {"Right.": ["G"]}).writer.read()[:2] == [FIRST, "ABCDEFGH"]


def test_a_passage_found_twice_is_read_once():
    assert Run(["One."], {"One.": ["A"]}, first="AABA").writer.read()[0] == "AB"


def test_the_citation_generator_reads_the_same_as_the_claim_generator():
    writer = Run(["Wrong.", "Right."], {"Right.": ["G"]}).writer
    assert writer.read(Cite) == writer.read(NextClaim)[:2]


def test_the_queries_are_asked_with_question_text_so_far_and_claim():
    run = Run(["One.", "Wrong.", "Right."], {"One.": ["A"], "Right.": ["G"]}, queries=2)
    assert run.writer.requests(Queries)[0].prompt == Queries(QUESTION, "One.", "Wrong.", 2)


def test_each_query_finds_its_share():
    run = Run(["Wrong.", "Right."], {"Right.": ["G"]}, per_query=3)
    assert run.corpus.asked[1:] == [("first query", 3), ("second query", 3)]


def test_found_passages_replace_those_of_the_search_before():
    writer = Writer(["Wrong.", "Wrong too.", "Right."], queries=["first query", "second query"])
    Run(writer, {"Right.": ["H"]})
    assert writer.read()[:3] == [FIRST, "ABCDEFG", "ABCDEGH"]


def test_a_search_that_finds_nothing_empties_short_term_memory():
    writer = Writer(["Wrong.", "Bad.", "Right."], queries=["first query", "nothing"])
    Run(writer, {"Right.": ["A"]})
    assert writer.read()[:3] == [FIRST, "ABCDEFG", FIRST]


def test_short_term_memory_outlives_the_claim_that_filled_it():
    run = Run(["Wrong.", "Right.", "More."], {"Right.": ["A"], "More.": ["F"]})
    assert (run.writer.read()[2], run.cited) == ("ABCDEFGH", ["A", "F"])


def test_what_a_verified_claim_cites_stays_in_long_term_memory():
    writer = Writer(["Wrong.", "Right.", "Wrong.", "Last."], queries=["first query", "third query"])
    Run(writer, {"Right.": ["G"], "Last.": ["A"]})
    assert writer.read()[3] == "ABCDEGJ"


def test_what_simplification_drops_does_not_stay_in_memory():
    writer = Writer(["Wrong.", "Right.", "Wrong.", "Last."], "", ["first query", "third query"])
    Run(writer, {"Right.": ["F", "G"], "Last.": ["A"]})
    assert writer.read()[3] == "ABCDEGJ"


def test_what_was_found_counts_as_read_by_the_answer():
    run = Run(["Wrong.", "Right."], {"Right.": ["A"]})
    assert letters([passage.id for passage in run.answer.passages]) == "ABCDEFGH"


@pytest.mark.parametrize("kind", [NextClaim, Cite, Queries])
def test_every_attempt_is_a_draw_of_its_own(kind: type):
    run = Run(["Wrong.", "Wrong.", "Wrong.", "Right."], {"Right.": ["A"]})
    assert [request.sample for request in run.writer.requests(kind)][:3] == [0, 1, 2]


# ---------------------------------------------------------------- given up


@pytest.mark.parametrize(("most", "strict", "attempts"), [(0, False, 2), (1, False, 3), (3, False, 5), (3, True, 3)])
def test_a_claim_is_given_up_after_its_attempts(most: int, strict: bool, attempts: int):
    run = Run([f"Wrong {n}." for n in range(attempts)], max_trials=most, strict_trials=strict)
    assert (run.texts, trials(run.answer)) == ([f"Wrong {attempts - 1}."], (attempts,))


@pytest.mark.parametrize("most", [0, 1])
def test_there_is_one_attempt_at_least(most: int):
    assert trials(Run(["Wrong."], max_trials=most, strict_trials=True).answer) == (1,)


def test_without_a_trial_the_one_attempt_is_told():
    assert "(1 each)" in Run(["Wrong."], max_trials=0, strict_trials=True).answer.notes[0]


def test_a_search_follows_every_failed_attempt_but_the_last():
    assert len(Run(["Wrong."] * 3, max_trials=1).rounds("search")) == 1 + 2


def test_a_claim_given_up_keeps_its_citations_and_the_verdict_on_them():
    claim = Run(["Wrong."] * 2, max_trials=0).answer.claims[0]
    assert (letters(claim.cited), claim.support.label) == ("A", "unsupported")


def test_claims_that_were_given_up_are_counted_in_a_note():
    run = Run([*["Wrong."] * 2, "Right.", *["Bad."] * 2], {"Right.": ["A"]}, max_trials=0)
    assert run.answer.notes[0] == "Claims left unverified after all attempts (2 each): 2."


def test_the_counter_begins_anew_with_each_claim():
    run = Run([*["Wrong."] * 2, "Right.", *["Bad."] * 2], {"Right.": ["A"]}, max_trials=0)
    assert trials(run.answer) == (2, 1, 2)


def test_what_a_claim_given_up_cites_is_not_remembered():
    writer = Writer(["Wrong."] * 2 + ["Bad."] * 2, lambda prompt: "[6]", ["first query", "nothing"])
    run = Run(writer, max_trials=0)
    assert (run.cited[0], writer.read()[-1]) == ("F", FIRST)


def test_claims_given_up_go_under_the_policy_drop():
    run = Run([*["Wrong."] * 2, "Right."], {"Right.": ["A"]}, max_trials=0, unsupported="drop")
    assert run.texts == ["Right."]


def test_failed_evidence_search_costs_one_query_and_note():
    run = Run(["Wrong.", "Wrong.", "Right."], {"Right.": ["G"]}, down=["first query"])
    note = "Passages may be missing, because a search failed: “first query”. The search server is busy."
    told = run.rounds("search")[1]
    assert (run.texts, run.answer.notes, letters(told.read)) == (["Right."], (note,), "GH")
    assert [(one.text, one.why) for one in told.dropped] == [("first query", "The search server is busy.")]


def test_a_first_search_that_fails_fails_the_answer():
    assert Run(["One."], down=[QUESTION]).outcome.exit_code == 3


# ---------------------------------------------------------------- the end of an answer


@pytest.mark.parametrize("end", ["", "END", "One.", " one", "***"])
def test_no_words_an_end_marker_or_a_repetition_ends_the_answer(end: str):
    run = Run(["One.", end, "Two."], {"One.": ["A"], "Two.": ["A"]})
    assert (run.texts, run.answer.notes) == (["One."], ())


@pytest.mark.parametrize("value", ["one ", "One.", "* *", "", None])
def test_a_typed_reply_that_repeats_or_says_nothing_ends_the_answer(value: str | None):
    run = Run(Writer(["One.", Reply("", value), "Two."]), {"One.": ["A"], "Two.": ["A"]})
    assert run.texts == ["One."]


def test_an_answer_may_end_where_another_attempt_was_due():
    run = Run(["One.", "Wrong.", ""], {"One.": ["A"]})
    assert (run.texts, len(run.rounds("claim"))) == (["One."], 3)


def test_a_model_that_ends_at_once_abstains():
    run = Run(["END"])
    assert (run.answer.status, run.answer.notes) == ("abstained", (SILENCE,))


@pytest.mark.parametrize("style", ["long", "short"])
@pytest.mark.parametrize(("reply", "note"), [(Reply("I cannot help.", finish="refused"), REFUSED), (Reply(" "), EMPTY)])
def test_a_refusal_is_not_silence_of_the_sources(style: str, reply: Reply, note: str):
    run = Run(Writer([reply], final=reply), style=style)
    assert (run.answer.status, run.answer.notes) == ("abstained", (note,))


def test_a_refusal_to_go_on_takes_nothing_back():
    run = Run(["One.", Reply("I cannot help.", finish="refused")], {"One.": ["A"]})
    assert (run.texts, run.answer.notes) == (["One."], ())


def test_without_passages_no_model_is_asked():
    run = Run(["One."], first="")
    assert (run.answer.status, run.writer.asked) == ("abstained", [])


def test_no_more_than_max_claims_are_written():
    run = Run([f"Claim {n}." for n in range(9)], {f"Claim {n}.": ["A"] for n in range(9)}, max_claims=3)
    assert (len(run.texts), len(run.writer.requests(NextClaim))) == (3, 3)


def test_an_answer_that_was_ended_says_so():
    assert "max_claims" in Run(["One."], {"One.": ["A"]}, max_claims=1).answer.notes[0]


def test_the_growing_answer_is_shown_after_each_claim():
    run = Run(["One.", "Two."], {"One.": ["A"], "Two.": ["A"]})
    assert [[claim.text for claim in draft.claims] for draft in run.drafts] == [["One."], ["One.", "Two."]]


def test_an_answer_whose_budget_ended_tells_what_was_done():
    run = Run(["One.", "Two."], {"One.": ["A"], "Two.": ["A"]}, budget=Budget(calls=3))
    assert run.rounds("claim")[0].text == "One."


# ---------------------------------------------------------------- odd replies


def test_words_that_the_citation_generator_changes_are_ignored():
    run = Run(Writer(["The lamp is red."], lambda prompt: "The lamp is **blue** [2]."), {"The lamp is red.": ["B"]})
    assert (run.texts, run.cited) == (["The lamp is red."], ["B"])


def test_one_sentence_is_taken_even_if_the_model_writes_more():
    assert Run(["One is here. Two is there."], {"One is here.": ["A"]}).texts == ["One is here."]


def test_marks_in_a_claim_are_not_its_citations():
    run = Run(["One is here [3]."], {"One is here.": ["A"]})
    assert (run.texts, run.cited) == (["One is here."], ["A"])


def test_labels_that_nobody_offered_are_counted():
    run = Run(Writer(["One."], lambda prompt: "One [1][77]."), {"One.": ["A"]})
    assert (run.answer.invalid_citations, run.cited) == (1, ["A"])


def test_labels_of_attempts_that_failed_are_counted_too():
    run = Run(Writer(["Wrong.", "Right."], lambda prompt: "[1][77]"), {"Right.": ["A"]})
    assert run.answer.invalid_citations == 2


def test_a_claim_has_three_citations_at_most():
    assert Run(Writer(["One."], "ABCDE"), verify=False).cited == ["ABC"]


def test_citations_beyond_three_stand_in_the_trace():
    told = Run(Writer(["One."], "ABCDE"), verify=False).rounds("claim")[0]
    assert letters([dropped.text for dropped in told.dropped]) == "DE"


@pytest.mark.parametrize("queries", ["", "   \n", "***"])
def test_without_a_query_the_claim_is_searched_for(queries: str):
    run = Run(Writer(["Wrong.", "Right."], queries=[queries]), {"Right.": ["A"]})
    assert [query for query, _ in run.corpus.asked[1:]] == ["Wrong."]


def test_no_more_queries_are_searched_than_were_asked_for():
    listed = "\n".join(f"{n}. query {n}" for n in range(1, 9))
    run = Run(Writer(["Wrong.", "Right."], queries=[listed]), {"Right.": ["A"]}, queries=3)
    assert len(run.rounds("search")[1].queries) == 3


def test_a_passage_that_a_typed_reply_invents_is_counted_and_not_cited():
    run = Run(Writer(["One."], lambda prompt: Reply("", Labels(("elsewhere", PASSAGES["B"].id)))), {"One.": ["B"]})
    assert (run.answer.invalid_citations, run.cited) == (1, ["B"])


def test_a_typed_reply_of_many_queries_is_cut_to_those_asked_for():
    run = Run(Writer(["Wrong.", "Right."], queries=[Reply("", ("a", "b", "c"))]), {"Right.": ["A"]}, queries=2)
    assert run.rounds("search")[1].queries == ("a", "b")


def test_a_passage_outside_the_window_can_only_rescue():
    run = Run(Writer(["One."], lambda prompt: Reply("One [5].", omitted=2)), {"One.": ["E"]})
    assert (run.answer.invalid_citations, run.cited) == (1, ["E"])


# ---------------------------------------------------------------- the story


def test_the_rounds_tell_every_step_in_order():
    run = Run(["Wrong.", "Right."], {"Right.": ["G"]})
    kinds = [(step.kind, step.n, step.trial) for step in run.answer.rounds]
    first = [("search", 1, None), ("claim", 1, 1), ("verify", 1, 1), ("search", 1, 1)]
    assert kinds == [*first, ("claim", 1, 2), ("verify", 1, 2), ("claim", 2, 1)]


def test_a_claims_round_lists_read_written_and_cited():
    run = Run(["Wrong.", "Right."], {"Right.": ["G"]})
    told = [(letters(step.read), step.text, letters(step.kept), step.chosen) for step in run.rounds("claim")]
    assert told[:2] == [(FIRST, "Wrong.", "A", False), ("ABCDEFGH", "Right.", "A", True)]


def test_the_round_that_ended_the_answer_has_no_text():
    last = Run(["One.", "END"], {"One.": ["A"]}).rounds("claim")[-1]
    assert (last.text, last.chosen) == (None, False)


def test_a_verifications_round_names_the_tier_with_its_scores():
    step = Run(["One."], {"One.": ["CD"]}).rounds("verify")[0]
    assert (step.text, step.scores) == ("supported by the memory", {"generation verifier": 0.1, "memory verifier": 0.9})


def test_a_verifications_round_says_which_citations_stayed_and_which_went():
    step = Run(["One."], {"One.": ["CD"]}).rounds("verify")[0]
    assert (letters(step.kept), letters([dropped.text for dropped in step.dropped])) == ("CD", "ABE")


@pytest.mark.parametrize(("supports", "read"), [(["A"], "A"), (["CD"], FIRST), ([], FIRST)])
def test_a_verifications_round_says_which_passages_decided(supports: list[str], read: str):
    assert letters(Run(["One."], {"One.": supports}).rounds("verify")[0].read) == read


def test_a_failed_verifications_round_names_the_claim():
    step = Run(["Wrong."], max_trials=0).rounds("verify")[0]
    assert (step.kept, step.dropped[0].text, step.chosen) == ((), "Wrong.", False)


def test_a_search_round_says_what_was_asked_and_found():
    step = Run(["Wrong.", "Right."], {"Right.": ["G"]}).rounds("search")[1]
    assert (step.queries, letters(step.read)) == (("first query", "second query"), "FGH")


def test_passages_are_known_apart():
    assert len({passage.id for passage in PASSAGES.values()}) == len(PASSAGES)
