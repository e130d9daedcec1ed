"""Self-RAG: whether it searches, and which segment it writes from which passage."""

from __future__ import annotations

from math import exp, log
from typing import Any

import pytest
from selfrag_parts import (
    CRITIC,
    LIT,
    PASSAGES,
    QUESTION,
    A,
    Run,
    always,
    by_passage,
    reply,
)

from toulmin.methods.direct import NO_MEMORY
from toulmin.methods.reporting import REFUSED, SILENCE
from toulmin.methods.selfrag import FROM_MEMORY
from toulmin.prompts.reflection import NextSegment
from toulmin.prompts.replies import Reply

# ---------------------------------------------------------------- the wish to search


def decided(first: str | Reply, **options: Any) -> Run:
    """A run whose model says that to the question alone, and then writes one sentence from passage A or from memory."""

    def write(prompt: NextSegment) -> str | Reply:
        if prompt.passage is None and not prompt.from_memory:
            return first
        return "Lit from memory.[Utility:5]" if prompt.passage is None else by_passage(A=LIT)(prompt)

    return Run(write, **options)


def weighing(search: float) -> Reply:
    return reply(("[Retrieval]", {"[Retrieval]": search, "[No Retrieval]": 1 - search}))


def test_the_model_is_asked_first_whether_to_search():
    assert decided(weighing(0.9)).prompts[0] == NextSegment(QUESTION)


@pytest.mark.parametrize(("search", "searches"), [(0.21, True), (0.19, False), (0.9, True)])
def test_it_searches_where_the_wish_exceeds_the_threshold(search: float, searches: bool):
    assert bool(decided(weighing(search)).corpus.asked) is searches


def test_exactly_at_the_threshold_it_does_not_search():
    assert decided(weighing(0.5), threshold=0.5).corpus.asked == []


@pytest.mark.parametrize(
    ("first", "searches"), [("[Retrieval]", True), ("Well.[No Retrieval]Lit.", False), ("Well.", True)]
)
def test_without_probabilities_the_written_token_decides(first: str, searches: bool):
    assert bool(decided(first).corpus.asked) is searches


def test_the_wish_to_search_is_told_with_its_probability():
    (told,) = decided(weighing(0.75)).rounds("assess")
    assert (told.scores, told.chosen) == ({"retrieval": pytest.approx(0.75)}, True)


@pytest.mark.parametrize(("retrieve", "searches"), [("always", True), ("never", False)])
def test_always_and_never_do_not_ask(retrieve: str, searches: bool):
    run = decided("[Retrieval]", retrieve=retrieve)
    assert (NextSegment(QUESTION) in run.prompts, bool(run.corpus.asked)) == (False, searches)


def test_from_memory_it_writes_behind_no_retrieval_and_cites_nothing():
    run = decided("[No Retrieval]")
    assert (run.prompts[1:], run.claims) == ([NextSegment(QUESTION, from_memory=True)], [("Lit from memory.", "")])


def test_an_answer_from_memory_says_so_and_is_not_supported():
    run = decided("[No Retrieval]")
    assert (FROM_MEMORY in run.answer.notes, run.answer.claims[0].is_supported) == (True, False)


def test_a_memory_without_words_is_an_abstention_that_blames_no_source():
    answer = Run(lambda _: "", retrieve="never").answer
    assert (answer.status, answer.notes) == ("abstained", (NO_MEMORY,))


def test_a_model_that_asks_to_search_after_all_is_given_passages():
    def write(prompt: NextSegment) -> str:
        if prompt.passage is None:
            return "[No Retrieval]Long ago.[Retrieval]"
        return LIT if prompt.passage == A else ""

    assert Run(write).claims == [("Long ago.", ""), ("Lit in 1824.", "A")]


def test_never_means_never_even_where_the_model_asks():
    run = Run(lambda prompt: "Lit.[Retrieval]" if not prompt.written else "Lit long ago.", retrieve="never")
    assert (run.corpus.asked, run.claims) == ([], [("Lit.", ""), ("Lit long ago.", "")])


# ---------------------------------------------------------------- one segment


def test_each_passage_has_a_segment_written_from_it():
    assert [prompt.passage for prompt in always(by_passage(A=LIT)).prompts] == list(PASSAGES)


def test_k_bounds_the_passages():
    assert len(always(by_passage(A=LIT), k=2).prompts) == 2


def test_it_asks_for_probabilities_at_temperature_0_up_to_the_next_passage():
    asked = always(by_passage(A=LIT), logprobs=7, segment_tokens=50).asked[0]
    assert (asked.logprobs, asked.temperature, asked.max_tokens, asked.stop) == (7, 0.0, 50, ("<paragraph>",))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("[Relevant]Good.", "[Irrelevant]Bad."),
        ("Good.[Fully supported]", "Bad.[Partially supported]"),
        ("Good.[Partially supported]", "Bad.[No support / Contradictory]"),
        ("Good.[Utility:4]", "Bad.[Utility:3]"),
        ("[Relevant]Good.[Utility:1]", "[Irrelevant]Bad.[Utility:3]"),
    ],
)
def test_the_better_critique_decides_answer_and_citation(better: str, worse: str):
    assert always(by_passage(A=worse, C=better)).claims == [("Good.", "C")]


def test_of_equals_the_best_ranked_passage_is_taken():
    assert always(by_passage(B="[Relevant]Two.", C="[Relevant]Three.")).claims == [("Two.", "B")]


def test_the_likelier_segment_is_the_answer_where_critiques_are_equal():
    unsure, sure = reply(("One.", {"One.": 0.3})), reply(("Two.", {"Two.": 0.8}))
    assert always(by_passage(A=unsure, B=sure)).claims == [("Two.", "B")]


def test_the_score_is_likelihood_plus_weighted_critiques():
    (told,) = always(by_passage(A=CRITIC), passages=(A,)).rounds("claim")
    likelihood = exp((log(0.6) + log(0.5) + log(0.5) + log(0.8)) / 4)
    assert told.scores == pytest.approx(
        {
            "likelihood": likelihood,
            "relevance": 0.75,
            "support": 0.625,
            "utility": 0.6,
            "score": likelihood + 0.75 + 0.625 + 0.5 * 0.6,
        }
    )


def test_weights_are_options():
    (told,) = always(by_passage(A=CRITIC), passages=(A,), relevance=0, support=2, utility=1).rounds("claim")
    assert told.scores["score"] == pytest.approx(told.scores["likelihood"] + 2 * 0.625 + 0.6)


def test_sentences_of_a_segment_count_by_mean_support():
    text = "[Relevant]One.[Fully supported][Continue to Use Evidence]Two.[No support / Contradictory]"
    (told,) = always(by_passage(A=text), passages=(A,)).rounds("claim")
    assert told.scores == {"relevance": 1, "support": 0.5, "score": 1.5}


def test_a_sentence_after_no_retrieval_in_a_segment_cites_nothing():
    text = "[Relevant]One.[Fully supported][No Retrieval]Two.[Utility:5]"
    assert Run(lambda p: text if p.passage == A else "[Retrieval]").claims == [("One.", "A"), ("Two.", "")]


def test_hard_criteria_refuse_a_contradicted_segment():
    replies = by_passage(A="[Relevant]Bad.[No support / Contradictory][Utility:5]", B="[Irrelevant]Good.[Utility:1]")
    run = always(replies, hard=True)
    assert (run.claims, run.rounds("claim")[0].dropped[0].why) == ([("Good.", "B")], "the model calls it not supported")


def test_a_segment_that_was_cut_off_loses_its_last_sentence():
    assert always(by_passage(A=reply("One. ", "Two is", finish="length"))).claims == [("One.", "A")]


def test_a_segment_that_was_cut_off_in_its_first_sentence_is_all_there_is():
    assert always(by_passage(A=reply("One is", finish="length"))).claims == [("One is", "A")]


def test_a_mark_by_the_model_itself_is_invalid():
    run = always(by_passage(A="[Relevant]Lit in 1824 [2].[Fully supported]"))
    assert (run.claims, run.answer.invalid_citations) == ([("Lit in 1824.", "A")], 1)


def test_a_list_has_an_entity_a_claim():
    assert always(by_passage(A="[Relevant]Ashby, Pell[Fully supported]"), style="list").claims == [
        ("Ashby", "A"),
        ("Pell", "A"),
    ]


def test_a_short_answer_is_short():
    assert always(by_passage(A="[Relevant]1824[Fully supported][Utility:5]"), style="short").claims == [("1824", "A")]


def test_a_short_answer_is_one_claim_of_one_segment():
    run = always(
        by_passage(A="1824[Fully supported][Continue to Use Evidence]1825[Fully supported][Retrieval]"), style="short"
    )
    assert (run.claims, len(run.asked)) == ([("1824", "A")], 3)


def test_a_segment_without_words_is_none():
    assert always(by_passage(A="[Relevant][Fully supported][Utility:5]", B="[Irrelevant]Lit.")).claims == [
        ("Lit.", "B")
    ]


def test_where_no_passage_has_a_segment_the_answer_is_an_abstention():
    assert always(lambda _: "[Irrelevant][Utility:1]").answer.status == "abstained"


def test_a_model_that_refuses_is_no_silence_of_the_sources():
    answer = always(lambda _: Reply("", finish="refused")).answer
    assert (answer.status, answer.notes) == ("abstained", (REFUSED,))


def test_where_nothing_is_found_no_segment_is_asked_for():
    run = always(by_passage(A=LIT), passages=())
    assert (run.asked, run.answer.notes) == ([], (SILENCE,))
