"""Citation metrics as we read answers: claims by id, invalid citations, abstentions, and judges that fail."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from tests.autoais_parts import (
    Told,
    alce,
    holding,
    honest,
    in_a_file,
    measured,
    of_claims,
    one_a_stop,
    scores,
    values,
    verdict,
)
from tests.slow_alce import Doc, Record
from tests.strategies import answers
from toulmin.data import Answer, Passage
from toulmin.datasets.item import Gold, Item
from toulmin.errors import ModelError, SourceError, UsageError
from toulmin.judges.lexical import Lexical
from toulmin.metrics.answered import Column
from toulmin.metrics.answered import answer_to_score as as_alce_reads
from toulmin.metrics.autoais import citation_metrics
from toulmin.metrics.judging import Judging
from toulmin.metrics.statements import Alce, Honest, output_to_score
from toulmin.steps import Pair, Verdict

DOCS = tuple(Doc(f"T{n}", f"text{n}") for n in range(1, 6))


ANY = holding()


def scored(answered, entails=ANY) -> tuple:
    found = honest([answered], entails)
    return values(found, "citation_rec")[0], values(found, "citation_prec")[0]


# ---------------------------------------------------------------- what counts


def test_all_citations_are_judged_not_only_three():
    judge = Told(lambda *_: False)
    honest([of_claims(("One.", "abcde"))], judge)
    assert judge.asked[0][0].count("Title") == 5


def test_what_any_one_of_four_supports_has_four_supporting_citations():
    found = honest([of_claims(("One.", "abcd"))], holding()).reasons[0]
    assert [one["use"] for one in found["statements"][0]["citations"]] == ["supporting"] * 4


def test_an_invalid_citation_counts_as_wrong_and_leaves_the_others_alone():
    assert scored(of_claims(("One.", "a"), invalid=1)) == (1, 1 / 2)


def test_an_answer_with_nothing_but_invalid_citations_scores_0():
    assert scored(of_claims(("One.", ""), invalid=3)) == (0, 0)


def test_an_answer_without_citations_scores_0():
    assert scored(of_claims(("One.", ""))) == (0, 0)


def test_an_abstention_has_no_citation_metrics_and_is_told():
    found = honest([of_claims(), of_claims(("One.", "a"))], holding())
    assert (values(found, "citation_rec"), found.notes[0][:1], found.reasons[0]["absence"]) == (
        (None, 1),
        "1",
        "abstained",
    )


def test_an_abstention_tells_no_gold_claim_and_nobody_is_asked():
    judge = Told(holding())
    found = honest([of_claims(gold=("C.", "D."))], judge)
    assert (values(found, "claims_nli"), judge.asked) == ((0,), [])


def test_the_premise_of_gold_claims_is_all_that_is_said():
    judge = Told(lambda *_: False)
    honest([of_claims(("One.", "a"), ("Two.", ""), gold=("C.",))], judge)
    assert judge.asked[-1] == ("One. Two.", "C.")


@pytest.mark.parametrize("style", ["list", "short"])
def test_a_claim_that_is_no_sentence_is_judged_with_its_question(style):
    judge = Told(lambda *_: False)
    honest([of_claims(("Ann", "a"), style=style)], judge)
    assert judge.asked[0][1] == "Who? Ann"


def test_an_answer_that_failed_is_left_out_with_its_reason():
    answer = Answer("Who?", "long", "vanilla", "failed", notes=("The model was away.",))
    gone = as_alce_reads(Item("q", "Who?", Gold(claims=("C.",))), answer)
    found = honest([gone], holding())
    assert (scores(found), found.reasons[0]["failed"]) == (
        {"citation_rec": None, "citation_prec": None, "claims_nli": None},
        "The model was away.",
    )


def test_an_answer_that_failed_is_an_empty_one_to_alce():
    answer = Answer("Who?", "long", "vanilla", "failed", notes=("The model was away.",))
    found = alce([as_alce_reads(Item("q", "Who?", Gold(claims=("C.",))), answer)], lambda *_: False)
    assert scores(found) == {"citation_rec": None, "citation_prec": None, "claims_nli": 0.0}


def test_citation_f1_is_made_of_the_two_means_of_the_run():
    found = honest([of_claims(("One.", "a"))], holding())
    assert [(made.name, made.of, made.combine([100.0, 50.0])) for made in found.derived] == [
        ("citation_f1", ("citation_rec", "citation_prec"), pytest.approx(200 / 3))
    ]


def test_a_reason_holds_the_verdict_of_each_statement():
    told = {"outcome": "supported", "score": 1.0, "judge": "told", "reason": None}
    statement = honest([of_claims(("One.", "a"))], holding()).reasons[0]["statements"][0]
    assert {name: statement[name] for name in told} == told


def test_a_reason_holds_the_sentence_that_decided():
    text = "Kettle Rock Tower was built in 1821. Nobody lives there."
    answered = in_a_file(Record("When?", "Kettle Rock Tower was built in 1821 [1].", (Doc("Tower", text),)))
    found = asyncio.run(citation_metrics([answered], Honest(), Judging(Lexical())))
    quote = found.reasons[0]["statements"][0]["citations"][0]["quote"]
    assert text[quote["start"] : quote["end"]] == quote["text"] == "Kettle Rock Tower was built in 1821."


@given(st.lists(answers(), max_size=3))
@settings(deadline=None, max_examples=10)
def test_any_answer_can_be_scored_in_both_profiles(given_answers):
    items = [Item("q", answer.question, Gold(claims=("C.",))) for answer in given_answers]
    read = [as_alce_reads(item, answer) for item, answer in zip(items, given_answers, strict=True)]
    for profile in (Honest(), Alce(one_a_stop)):
        found = measured(read, profile, lambda premise, claim: len(premise) % 2 == 0)
        told = [value for column in found.columns for value in column.values if value is not None]
        assert all(0 <= value <= 1 for value in told)


@given(st.lists(answers(), min_size=1, max_size=3))
@settings(deadline=None, max_examples=10)
def test_precision_counts_every_citation_with_the_invalid_ones(given_answers):
    read = [as_alce_reads(Item("q", answer.question), answer) for answer in given_answers]
    found = honest(read, holding())
    for one, value in zip(read, values(found, "citation_prec"), strict=True):
        if one.answer.status == "answered":
            every = sum(len(claim.citations) for claim in one.answer.claims)
            assert value == (every / (every + one.answer.invalid_citations) if every else 0)


# ---------------------------------------------------------------- result files of ALCE, read honestly

FORMS = {
    "brackets side by side": ("One [1][2].", [("One.", (1, 2))], 0),
    "a list": ("One [1, 2].", [("One.", (1, 2))], 0),
    "a range": ("One [1-3].", [("One.", (1, 2, 3))], 0),
    "wide brackets": ("One 【1】.", [("One.", (1,))], 0),
    "round ones behind a bracket": ("One [1] (2).", [("One.", (1, 2))], 0),
    "behind the stop": ("One. [1] Two. [2]", [("One.", (1,)), ("Two.", (2,))], 0),
    "stops around": ("One. [1]. Two.", [("One.", (1,)), ("Two.", ())], 0),
    "list markers": ("1. One [1].\n2. Two [2].", [("One.", (1,)), ("Two.", (2,))], 0),
    "further lines": ("One [1].\n\nTwo [2].", [("One.", (1,)), ("Two.", (2,))], 0),
    "zero": ("One [0][1].", [("One.", (1,))], 1),
    "out of range": ("One [1][9].", [("One.", (1,))], 1),
    "a copy": ("One [1][1].", [("One.", (1,))], 0),
    "a year": ("One [2018] [1].", [("One [2018].", (1,))], 0),
    "a chat model's stop": ("One [1].<|im_end|>", [("One.", (1,))], 0),
    "half an abstention": ("The provided documents do not mention Two. One [1].", [("One.", (1,))], 0),
}


@table("form", FORMS)
def test_a_text_is_read_into_claims(form: str):
    output, claims, invalid = FORMS[form]
    read = in_a_file(Record("Who?", output, DOCS))
    ids = {passage.id: n for n, passage in enumerate(read.docs, start=1)}
    told = [(claim.text, tuple(ids[id] for id in claim.cited)) for claim in read.answer.claims]
    assert (told, read.answer.invalid_citations) == (claims, invalid)


def test_a_list_is_read_into_entities_each_once():
    read = in_a_file(Record("Who?", 'Ann [1], "Bob, Sr." [2], Ann [3].', DOCS), "list")
    assert [(claim.text, len(claim.citations)) for claim in read.answer.claims] == [("Ann", 2), ("Bob, Sr.", 1)]


def test_a_text_that_only_says_that_it_does_not_know_is_an_abstention():
    assert scored(in_a_file(Record("Who?", "The provided documents do not contain the answer.", DOCS))) == (None, None)


@pytest.mark.parametrize("output", ["", " \n", "<|im_end|>"])
def test_an_empty_text_that_nobody_declared_an_abstention_scores_0(output: str):
    assert scored(in_a_file(Record("Who?", output, DOCS))) == (0, 0)


def test_a_passage_that_stands_twice_is_one_passage():
    read = in_a_file(Record("Who?", "One [1][2].", (DOCS[0], DOCS[0])))
    assert (len(read.answer.passages), len(read.answer.claims[0].citations)) == (1, 1)


@given(st.text(st.sampled_from("[]【】0123456789 .,-()ab\n\\'\"*"), max_size=60))
@settings(deadline=None, max_examples=200)
def test_no_text_is_too_odd_to_be_read(output: str):
    docs = tuple(Passage.of(doc.text, doc.title) for doc in DOCS)
    assert output_to_score(Item("q", "Who?"), output, docs).output == output


# ---------------------------------------------------------------- judges that fail


class Failing(Told):
    """Refuses every call that holds a claim with a certain word."""

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        if any("bad" in pair.claim for pair in pairs):
            raise ModelError("the claim is bad")
        return super().judge(pairs)


THREE = [of_claims(("One.", "a")), of_claims(("A bad one.", "a"), ("Two.", "b")), of_claims(("Three.", "ab"))]


@pytest.mark.parametrize("read", [honest, alce], ids=["honest", "alce"])
def test_only_the_item_whose_judgement_failed_is_left_out(read):
    found = read(THREE, Failing(holding()))
    assert values(found, "citation_rec") == (1, None, 1)


def test_what_failed_is_counted_and_told():
    found = honest(THREE, Failing(holding()))
    assert [reason["failed"] for reason in found.reasons] == [None, "the claim is bad", None]
    assert found.notes == ("1 questions are left out, because a judgement failed; the first: the claim is bad",)


def test_a_statement_that_was_not_judged_is_shown_as_failed():
    statement = honest(THREE, Failing(holding())).reasons[1]["statements"][0]
    assert (statement["outcome"], statement["score"], statement["citations"][0]["use"]) == ("failed", None, None)


def test_if_nothing_could_be_judged_there_is_no_number_and_no_nan():
    found = honest([of_claims(("A bad one.", "a"))], Failing(holding()))
    assert scores(found) == {"citation_rec": None, "citation_prec": None}


def test_a_later_wave_that_fails_leaves_its_item_out():
    class Weak(Told):
        def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
            if any(len(pair.premises) == 1 for pair in pairs):
                raise ModelError("too little to go by")
            return super().judge(pairs)

    assert values(honest(THREE[2:], Weak(holding())), "citation_prec") == (None,)


ODD = {
    "too few": lambda pairs: [],
    "something else": lambda pairs: [True] * len(pairs),
    "an error of its own": lambda pairs: 1 / 0,
}


@pytest.mark.parametrize("case", ODD)
def test_a_judge_that_gives_anything_else_fails_by_name(case: str):
    class Odd:
        name = "odd-1"
        judge = staticmethod(ODD[case])

    found = asyncio.run(citation_metrics(THREE[:1], Honest(), Judging(Odd())))
    assert "odd-1" in found.reasons[0]["failed"]


@pytest.mark.parametrize("error", [SourceError, UsageError])
def test_what_no_pair_is_guilty_of_ends_the_scoring(error):
    class Unusable(Told):
        def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
            raise error("the disk is full")

    with pytest.raises(error, match="the disk is full"):
        honest(THREE, Unusable(ANY))


# ---------------------------------------------------------------- asking


def test_an_async_judge_is_awaited():
    class Slow(Told):
        async def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
            await asyncio.sleep(0)
            return Told.judge(self, pairs)

    assert scores(honest(THREE, Slow(holding()))) == {"citation_rec": 100.0, "citation_prec": 100.0}


def test_pairs_go_out_in_chunks_the_longest_first():
    judge = Told(holding())
    pairs = [Pair((Passage.of("x" * size),), "One.") for size in (1, 9, 5, 7, 3)]
    asyncio.run(Judging(judge, chunk=2).ask(pairs, "together"))
    assert ([len(premise) for premise, _ in judge.asked], judge.sizes) == ([9, 7, 5, 3, 1], [2, 2, 1])


def test_progress_is_told_wave_by_wave():
    told: list[tuple[int, int, str]] = []
    judging = Judging(Told(holding()), chunk=2, progress=lambda *step: told.append(step))
    asyncio.run(citation_metrics(THREE, Honest(), judging))
    assert told == [(2, 4, "together"), (4, 4, "together"), (2, 2, "alone")]


def test_pairs_are_counted_by_wave():
    told: list[tuple[int, int, str]] = []
    judging = Judging(Told(lambda premise, _: "Text a" in premise), progress=lambda *step: told.append(step))
    asyncio.run(citation_metrics(THREE, Honest(), judging))
    assert told == [(4, 4, "together"), (2, 2, "alone")]


def test_where_a_passage_comes_from_makes_no_other_pair():
    one = Passage.of("text")
    other = replace(one, source=replace(one.source, path="elsewhere"))
    judge = Told(holding())
    asyncio.run(Judging(judge).ask([Pair((one,), "One."), Pair((other,), "One.")], "together"))
    assert len(judge.asked) == 1


def test_two_measures_share_what_was_judged():
    judge = Told(holding())
    judging = Judging(judge)
    asyncio.run(citation_metrics(THREE, Honest(), judging))
    before = len(judge.asked)
    asyncio.run(citation_metrics(THREE, Honest(), judging))
    assert len(judge.asked) == before


def test_scores_are_finite_numbers_whatever_was_left_out():
    found = honest([*THREE, of_claims()], Failing(lambda *_: False))
    assert all(value is None or math.isfinite(value) for value in scores(found).values())


def test_a_column_has_a_value_for_every_question():
    found = honest(THREE, holding())
    assert all(isinstance(column, Column) and len(column.values) == 3 for column in found.columns)


def test_an_unsure_verdict_is_no_support():
    class Unsure(Told):
        def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
            return [replace(verdict(False), label="unsure", support=0.5) for _ in pairs]

    found = honest(THREE[:1], Unsure(holding()))
    assert (values(found, "citation_rec")[0], found.reasons[0]["statements"][0]["outcome"]) == (0, "unsure")
