"""AutoAIS over evidence sets (the plan paper): strict, macro and micro, and what wording the evidence holds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from tests.autoais_parts import Told, holding, of_claims, scores, values
from toulmin.data import Answer, Claim, Passage, Round
from toulmin.datasets.item import Item
from toulmin.errors import ModelError
from toulmin.metrics.answered import MetricTable, ScoringItem, answer_to_score
from toulmin.metrics.evidence_sets import Evidence, attribution_metrics, evidence_overlap
from toulmin.metrics.judging import Judging
from toulmin.metrics.references import length
from toulmin.metrics.statements import honest_text
from toulmin.steps import Pair, Verdict

SAME = {"One.": "Text a.", "Two.": "Text b.", "Three.": "Text f."}
FAILED = answer_to_score(Item("q", "Who?"), Answer("Who?", "long", "vanilla", "failed", notes=("away",)))


def by_table(premise: str, claim: str) -> bool:
    """Entailed by the one passage that the table names."""
    return claim in SAME and SAME[claim] in premise


def ais(*read: ScoringItem, judge: Told | None = None, evidence: Evidence | None = None) -> MetricTable:
    return asyncio.run(attribution_metrics(read, Judging(judge or Told(by_table)), evidence))


def test_each_share_is_what_it_says():
    found = ais(of_claims(("One.", "a"), ("Two.", "b")), of_claims(("One.", "a"), ("Never.", "a"), ("Not.", "")))
    assert scores(found) == {"ais_strict": 50.0, "ais_macro": pytest.approx(200 / 3), "ais_micro": 60.0}


def test_a_sentence_may_rest_on_a_passage_that_it_does_not_cite():
    assert scores(ais(of_claims(("One.", "b"), ("Three.", ""))))["ais_strict"] == 100.0


def test_two_passages_together_attribute_nothing():
    both = Told(lambda premise, _: "Text a." in premise and "Text b." in premise)
    assert scores(ais(of_claims(("One.", "ab")), judge=both))["ais_macro"] == 0.0


def test_an_answer_without_a_sentence_is_0_and_adds_nothing_to_micro():
    found = ais(of_claims(), of_claims(("One.", "a")))
    assert scores(found) == {"ais_strict": 50.0, "ais_macro": 50.0, "ais_micro": 100.0}


def test_a_failed_answer_is_left_out():
    assert [column.n for column in ais(FAILED, of_claims(("One.", "a"))).columns] == [1, 1, 1]


def test_another_systems_evidence_can_stand_for_what_was_read():
    other = {"q": (Passage.of("Text f."),)}
    assert scores(ais(of_claims(("One.", "a"), ("Three.", "a")), evidence=other))["ais_macro"] == 50.0


def test_without_evidence_nothing_is_attributed():
    assert scores(ais(of_claims(("One.", "a")), evidence={}))["ais_micro"] == 0.0


def test_cited_evidence_is_judged_first():
    judge = Told(by_table)
    ais(of_claims(("One.", "a"), ("Two.", "a")), judge=judge)
    assert [claim for _, claim in judge.asked] == ["One.", "Two.", *["Two."] * 5]


def test_a_reason_names_the_passage_that_attributes():
    read = of_claims(("One.", "b"), ("Never.", "a"))
    assert ais(read).reasons[0]["attributed"] == [
        {"text": "One.", "passage": read.answer.passages[0].id},
        {"text": "Never.", "passage": None},
    ]


def test_whatever_is_cited_the_shares_are_those_of_asking_for_everything():
    chances = Random(3)
    told = {(n, c): chances.random() < 0.15 for n in "abcdef" for c in "pqrstu"}
    judge = Told(lambda premise, claim: told[premise[-2], claim[0]])
    read = [
        of_claims(*((f"{c}.", "".join(chances.sample("abcdef", chances.randrange(4)))) for c in "pqrstu"[:size]))
        for size in (1, 2, 3, 4, 5, 6, 0) * 5
    ]
    slow = [[any(told[n, claim.text[0]] for n in "abcdef") for claim in one.answer.claims] for one in read]
    found = ais(*read, judge=judge)
    assert values(found, "ais_micro") == tuple(map(sum, slow))
    assert values(found, "ais_strict") == tuple(float(bool(one) and all(one)) for one in slow)


class Failing(Told):
    """Fails for one passage."""

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        if any(pair.premises[0].text == "Text b." for pair in pairs):
            raise ModelError("no such passage")
        return super().judge(pairs)


def test_a_failed_judgement_matters_only_without_another_attribution():
    found = ais(of_claims(("One.", "b")), of_claims(("Two.", "b")), judge=Failing(by_table))
    assert (values(found, "ais_strict"), found.reasons[1]["failed"]) == ((1.0, None), "no such passage")


def written(text: str, *claims: str) -> ScoringItem:
    """A report whose reply was that text, of which these claims were read."""
    draft = Round("draft", role="main", kept=claims, written=text)
    answer = Answer("Who?", "report", "vanilla", "answered", tuple(map(Claim, claims)), rounds=(draft,), id="q")
    return answer_to_score(Item("q", "Who?"), replace(answer, passages=(Passage.of("Text a."),)))


def test_every_sentence_of_a_written_report_counts():
    read = written("Here you are! One. One. Never said.", "One.", "Never said.")
    assert scores(ais(read)) == {"ais_strict": 0.0, "ais_macro": 50.0, "ais_micro": 50.0}


def test_the_length_of_a_report_is_that_of_its_text():
    (value,) = length([written("Here you are! One. One.", "One.")], honest_text).columns[0].values
    assert value == 5.0


# ---------------------------------------------------------------- wording


def test_wording_precision_equals_rouge_against_joined_evidence():
    scoring = pytest.importorskip("rouge_score.rouge_scorer", reason="rouge-score is not installed")
    read = of_claims(("Text a and more.", "a"), ("Nothing of text f b.", ""))
    said = "Text a and more.\nNothing of text f b."
    known = "\n".join(passage.text for passage in read.answer.passages)
    theirs = scoring.RougeScorer(["rouge1", "rouge2", "rougeLsum"], use_stemmer=True).score(known, said)
    assert scores(evidence_overlap([read])) == {
        f"{name}_precision": pytest.approx(100 * score.precision) for name, score in theirs.items()
    }


def test_wording_copied_from_evidence_is_all_there():
    found = evidence_overlap([of_claims(("Text a.", "a"))])
    assert scores(found) == {"rouge1_precision": 100.0, "rouge2_precision": 100.0, "rougeLsum_precision": 100.0}


def test_an_answer_without_words_has_none_of_them_in_the_evidence():
    assert scores(evidence_overlap([of_claims(), FAILED])) == dict.fromkeys(
        ("rouge1_precision", "rouge2_precision", "rougeLsum_precision"), 0.0
    )


def test_a_list_is_attributed_with_its_question():
    judge = Told(holding("Text a."))
    ais(of_claims(("Ann", "a"), style="list"), judge=judge)
    assert judge.asked == [("Title: a\nText a.", "Who? Ann")]
