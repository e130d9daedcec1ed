"""Citation metrics of the alce profile: every rule and quirk of ALCE's, and its slow way beside ours."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from tests.autoais_parts import Told, alce, in_a_file, one_a_stop, scores, values
from tests.slow_alce import Doc, Entails, Record, SlowAlce
from toulmin.metrics import splitting
from toulmin.metrics.statements import Alce, without_numbers

DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"there is no folder {DATA} with the shared data")

DOCS = tuple(Doc(f"T{n}", f"text{n}") for n in range(1, 6))
NEVER: Entails = lambda premise, claim: False  # noqa: E731
ALWAYS: Entails = lambda premise, claim: True  # noqa: E731


def asked(output: str, entails: Entails = ALWAYS, **options) -> list[tuple[str, str]]:
    judge = Told(entails)
    alce([in_a_file(Record("Who?", output, DOCS))], judge, **options)
    return judge.asked


def premise(*numbers: int) -> str:
    return "\n".join(f"Title: T{n}\ntext{n}" for n in numbers)


def scored(output: str, entails: Entails = ALWAYS, docs: tuple[Doc, ...] = DOCS, **options) -> tuple:
    found = alce([in_a_file(Record("Who?", output, docs))], entails, **options)
    return values(found, "citation_rec")[0], values(found, "citation_prec")[0]


# ---------------------------------------------------------------- which statements, which citations

JOINT = {
    "a mark names a passage": ("A [1].", [((1,), "A.")]),
    "several marks are joined in citation order": ("A [3][1].", [((3, 1), "A.")]),
    "a list in one bracket names only its first": ("A [1, 2].", [((1,), "A, 2.")]),
    "a range names only its first": ("A [1-3].", [((1,), "A-3.")]),
    "the closing bracket is not required": ("A [2.", [((2,), "A.")]),
    "[0] is the last passage": ("A [0].", [((5,), "A.")]),
    "a fourth citation is cut": ("A [1][2][3][4].", [((1, 2, 3), "A.")]),
    "copies are kept": ("A [1][1].", [((1, 1), "A.")]),
    "a mark behind the stop belongs to what follows": ("A. [1] B.", [((1,), "B.")]),
    "a mark between stops is a statement of its own": ("A. [1]. B.", [((1,), ".")]),
    "a lone mark is judged as nothing": ("[1]", [((1,), "")]),
    "leading zeros do not count": ("A [01].", [((1,), "A.")]),
    "digits of another script are digits": ("A [２].", [((2,), "A.")]),
    "words in a bracket are no citation": ("A [a1].", []),
    "brackets of another kind are none": ("A 【1】.", []),
    "the text ends at its first line break": ("A [1].\nB [2].", [((1,), "A.")]),
    "a line break before the text does not count": ("\n A [1].", [((1,), "A.")]),
    "a chat model's stop is taken out": ("A [1].<|im_end|>", [((1,), "A.")]),
    "an upright bar goes with its space": ("A | B [1].", [((1,), "A B.")]),
}


@table("case", JOINT)
def test_what_is_judged_first(case: str):
    output, pairs = JOINT[case]
    assert asked(output, NEVER) == [(premise(*numbers), claim) for numbers, claim in pairs]


# Output, recall and precision if every judgement is yes.
SCORES = {
    "all is well": ("A [1]. B [2].", 1, 1),
    "uncited is not supported": ("A [1]. B.", 1 / 2, 1),
    "no citation at all has no precision": ("A. B.", 0, 0),
    "out of range voids the statement and its citations": ("A [1][6]. B [2].", 1 / 2, 1),
    "out of range counts beyond the cut": ("A [1][2][3][6].", 0, 0),
    "out of range alone leaves no citation": ("A [6].", 0, 0),
    "a number too long to read is out of range": (f"A [{'9' * 5000}].", 0, 0),
    "a year in brackets is out of range": ("A [2018] [1].", 0, 0),
    "a list marker is a statement": ("1. A [1].", 1 / 2, 1),
    "an empty text is left out": ("", None, None),
    "a blank text is left out": ("  \n ", None, None),
    "a chat model's stop alone is left out": ("<|im_end|>", None, None),
}


@table("case", SCORES)
def test_scores_if_every_judgement_is_yes(case: str):
    output, recall, precision = SCORES[case]
    assert scored(output) == (recall, precision)


def test_without_passages_every_citation_is_out_of_range():
    assert scored("A [1]. B [0].", docs=()) == (0, 0)


def test_what_is_not_supported_earns_nothing_for_its_citations():
    assert scored("A [1]. B [2][3].", lambda _, claim: claim == "A.") == (1 / 2, 1 / 3)


def test_the_cut_can_be_elsewhere():
    assert asked("A [1][2].", NEVER, at_most=1) == [(premise(1), "A.")]


def test_without_a_cut_all_are_judged():
    assert asked("A [1][2][3][4][5].", NEVER, at_most=None) == [(premise(1, 2, 3, 4, 5), "A.")]


def test_a_passage_without_a_title_has_an_empty_one():
    judge = Told(NEVER)
    alce([in_a_file(Record("Who?", "A [1].", (Doc("", "text"),)))], judge)
    assert judge.asked == [("Title: \ntext", "A.")]


def test_a_reason_names_the_passage_itself_though_its_title_was_made_up():
    answered = in_a_file(Record("Who?", "A [1].", (Doc("", "text"),)))
    reason = alce([answered], ALWAYS).reasons[0]
    assert reason["statements"][0]["citations"][0]["passage"] == answered.docs[0].id


# ---------------------------------------------------------------- which citations earn their place

WORDS = "text1 text2 text3".split()


def needing(*sets: tuple[int, ...]) -> Entails:
    """Entailed by premises of exactly one of these sets of texts."""
    return lambda premise, _: tuple(n for n in (1, 2, 3) if f"text{n}" in premise) in sets


# Citations, the sets of passages that entail the claim, precision.
EARNED = {
    "one that is needed": ("[1]", [(1,)], 1),
    "both are needed": ("[1][2]", [(1, 2)], 1),
    "each is enough alone": ("[1][2]", [(1,), (2,), (1, 2)], 1),
    "the second adds nothing": ("[1][2]", [(1,), (1, 2)], 1 / 2),
    "two of three are needed together": ("[1][2][3]", [(1, 2), (1, 2, 3)], 2 / 3),
    "all three are needed": ("[1][2][3]", [(1, 2, 3)], 1),
    "none alone, each pair": ("[1][2][3]", [(1, 2), (1, 3), (2, 3), (1, 2, 3)], 0),
    "one alone, not with others": ("[1][2]", [(1,)], 0),
    "a copy of what is enough": ("[1][1]", [(1,)], 1),
    "a copy beside what is enough": ("[1][2][1]", [(1,), (1, 2)], 2 / 3),
    "a copy where both are needed": ("[1][2][1]", [(1, 2)], 1 / 3),
    "together only": ("[1][2]", [], 0),
}


@table("case", EARNED)
def test_which_citations_earn_their_place(case: str):
    marks, sets, precision = EARNED[case]
    assert scored(f"A {marks}.", needing(*sets))[1] == precision


def test_only_the_first_copy_is_taken_away():
    asked_of = asked("A [1][2][1].", lambda premise, _: premise.count("Title") == 3)
    assert asked_of[-2:] == [(premise(2, 1), "A."), (premise(1, 1), "A.")]


def test_the_last_passage_by_0_and_by_its_number_are_two_citations():
    assert scored("A [0][5].", ALWAYS) == (1, 1)


USES = {
    "needed": ("[1]", [(1,)], ["needed"]),
    "needed together": ("[1][2]", [(1, 2)], ["needed", "needed"]),
    "supporting": ("[1][2]", [(1,), (2,), (1, 2)], ["supporting", "supporting"]),
    "redundant": ("[1][2]", [(1,), (1, 2)], ["supporting", "redundant"]),
    "wrong": ("[1][2]", [], ["wrong", "wrong"]),
    "invalid": ("[1][7]", [(1,)], ["invalid", "invalid"]),
}


@pytest.mark.parametrize("case", USES)
def test_a_reason_says_what_each_citation_is_good_for(case: str):
    marks, sets, uses = USES[case]
    reason = alce([in_a_file(Record("Who?", f"A {marks}.", DOCS))], needing(*sets)).reasons[0]
    assert [one["use"] for one in reason["statements"][0]["citations"]] == uses


# ---------------------------------------------------------------- lists

LISTS = {
    "pieces stand behind the question": ("A [1], B [2].", [((1,), "Who? A"), ((2,), "Who? B")]),
    "a list in one bracket is cut": ("A [1, 2]", [((1,), "Who? A")]),
    "stops and then commas are taken from the end": ("A [1],. ", [((1,), "Who? A")]),
    "stops before commas stay": ("A [1].,", [((1,), "Who? A.")]),
}


@pytest.mark.parametrize("case", LISTS)
def test_what_is_judged_of_a_list(case: str):
    output, pairs = LISTS[case]
    assert asked(output, NEVER, is_list=True) == [(premise(*numbers), claim) for numbers, claim in pairs]


LIST_SCORES = {
    "an empty list is one uncited statement": ("", 0, 0),
    "an empty piece is a statement": ("A [1],, B [2]", 2 / 3, 1),
}


@pytest.mark.parametrize("case", LIST_SCORES)
def test_scores_of_a_list_if_every_judgement_is_yes(case: str):
    output, recall, precision = LIST_SCORES[case]
    assert scored(output, is_list=True) == (recall, precision)


def test_a_mark_in_the_question_is_a_citation_of_every_piece():
    judge = Told(NEVER)
    alce([in_a_file(Record("Who [2]?", "A, B", DOCS))], judge, is_list=True)
    assert judge.asked == [(premise(2), "Who? A"), (premise(2), "Who? B")]


# ---------------------------------------------------------------- gold claims


def test_the_premise_of_gold_claims_is_the_text_without_marks():
    judge = Told(NEVER)
    alce([in_a_file(Record("Who?", "A [1]. [[1]2 B.", DOCS, ["C.", "D."]))], judge)
    assert judge.asked[-2:] == [("A. B.", "C."), ("A. B.", "D.")]


def test_an_empty_text_is_judged_for_claims_though_not_for_citations():
    found = alce([in_a_file(Record("Who?", "", DOCS, ["C."]))], ALWAYS)
    assert (values(found, "claims_nli"), values(found, "citation_rec")) == ((1.0,), (None,))


def test_a_run_without_gold_claims_has_no_such_column():
    assert "claims_nli" not in scores(alce([in_a_file(Record("Who?", "A.", DOCS))], ALWAYS))


def test_if_all_answers_are_empty_there_is_no_number():
    assert scores(alce([in_a_file(Record("Who?", "", DOCS))], ALWAYS)) == {"citation_rec": None, "citation_prec": None}


def test_left_out_answers_are_told():
    found = alce([in_a_file(Record("Who?", output, DOCS)) for output in ("", "A [1].", "")], ALWAYS)
    assert found.notes == ("2 empty answers are left out of the citation metrics, as ALCE does.",)


# ---------------------------------------------------------------- beside the slow way


def by_chance(seed: int, share: float) -> Entails:
    """Verdicts that follow no law: a passage may entail what two together do not."""

    def entails(premise: str, claim: str) -> bool:
        drawn = hashlib.sha256(f"{seed}|{premise}|{claim}".encode("utf-8", "surrogatepass")).digest()
        return drawn[0] < 256 * share

    return entails


def by_weight(seed: int, share: float) -> Entails:
    """Verdicts that more passages only help: each has a weight for a claim, and enough weight entails it."""

    def entails(premise: str, claim: str) -> bool:
        chances = Random(f"{seed}|{claim}")
        weights = {f"text{n}": chances.random() for n in range(1, 6)}
        return sum(weight for text, weight in weights.items() if text in premise) > 1.4 * (1 - share)

    return entails


MARKS = (
    "[1] [2] [3] [4] [5] [1] [2] [0] [6] [17] [1][2] [2][1] [1][2][3] [3][2][1] [1][1] [2][1][2] [1][2][3][4]"
    " [1][2][3][6] [0][5] [1, 2] [1-3] [ [1 ]2] [[1]] [[12]3 (1) 【1】 [a] [1][ [01] [1].[2] | [2018] [٣]"
).split(" ")
TEXTS = "Towers stand. Keepers, oil, and lamps U.S. he x 1. 2) ! ? , ,, ., . \n <|im_end|> storms | 'q'".split(" ")


def random_output(chances: Random) -> str:
    parts = []
    for _ in range(chances.randrange(12)):
        parts.append(chances.choice(TEXTS if chances.random() < 0.55 else MARKS))
        parts.append(chances.choice((" ", " ", " ", "", ". ", ", ")))
    return "".join(parts)


def random_record(chances: Random) -> Record:
    docs = [
        Doc(chances.choice(["", "T", f"T{n}"]), f"text{n}") for n in range(1, 1 + chances.choice((5, 5, 5, 3, 1, 0)))
    ]
    if len(docs) > 2 and chances.random() < 0.2:
        docs[2] = docs[0]  # one passage under two numbers
    claims = [chances.choice(["C.", "D.", "E."]) for _ in range(chances.randrange(1, 4))]
    return Record(chances.choice(["Who?", "Which ones [2]?", "W."]), random_output(chances), docs, claims)


def compare(records: list[Record], entails: Entails, is_list: bool, most: int | None) -> tuple[dict, dict]:
    """What the slow way and ours say of the same records: scores, values and the pairs that they need."""
    slow = SlowAlce(entails, one_a_stop, is_list, most)
    theirs = slow.score(records)
    judge = Told(entails)
    found = alce([in_a_file(record) for record in records], judge, is_list=is_list, at_most=most)
    return (
        {"scores": theirs, "rec": slow.recalls, "prec": slow.precisions, "claims": slow.told, "pairs": set(slow.calls)},
        {
            "scores": scores(found),
            "rec": list(values(found, "citation_rec")),
            "prec": list(values(found, "citation_prec")),
            "claims": list(values(found, "claims_nli")),
            "pairs": set(judge.asked),
        },
    )


@table("law", [by_chance, by_weight])
@table("seed", range(30))
def test_every_number_is_that_of_the_slow_way_to_the_last_digit(law: Callable[[int, float], Entails], seed: int):
    chances = Random(seed)
    for _ in range(5):
        records = [random_record(chances) for _ in range(20)]
        entails = law(seed, chances.choice((0.2, 0.5, 0.8)))
        theirs, ours = compare(records, entails, chances.random() < 0.3, chances.choice((3, 3, 3, None, 1, 2)))
        assert ours == theirs


def test_the_random_answers_are_worth_judging():
    chances = Random(0)
    slow = SlowAlce(by_chance(0, 0.5), one_a_stop)
    slow.score([random_record(chances) for _ in range(1000)])
    kinds = {
        "empty": None in slow.recalls,
        "some but not all supported": any(0 < value < 1 for value in slow.recalls if value is not None),
        "some but not all citations earn": any(0 < value < 1 for value in slow.precisions if value is not None),
        "pairs come again": len(set(slow.calls)) < len(slow.calls),
    }
    assert all(kinds.values()), kinds


@given(st.lists(st.sampled_from([*MARKS, *TEXTS, " ", " "]), max_size=14), st.integers(0, 99), st.booleans())
@settings(deadline=None, max_examples=200)
def test_a_single_answer_is_scored_as_the_slow_way_does(parts: list[str], seed: int, is_list: bool):
    record = Record("Who?", " ".join(parts), DOCS, ["C."])
    theirs, ours = compare([record], by_chance(seed, 0.6), is_list, 3)
    assert ours == theirs


@given(st.text(st.sampled_from("[]0123456789 |,.-AＡ９"), max_size=30), st.booleans())
@settings(deadline=None, max_examples=200)
def test_brackets_and_digits_in_any_order_are_scored_as_the_slow_way_does(text: str, is_list: bool):
    theirs, ours = compare([Record("Who?", text, DOCS, ["C."])], by_chance(0, 0.6), is_list, 3)
    assert ours == theirs


def test_each_distinct_pair_is_asked_once():
    chances = Random(5)
    judge = Told(by_chance(5, 0.6))
    alce([in_a_file(random_record(chances)) for _ in range(300)], judge)
    assert len(judge.asked) == len(set(judge.asked))


def test_of_two_citations_at_most_three_pairs_are_asked():
    assert len(asked("A [1][2].", lambda premise, _: "text1" in premise and "text2" in premise)) == 3


def test_of_three_citations_at_most_seven_pairs_are_asked():
    assert len(asked("A [1][2][3].", lambda premise, _: premise.count("text") == 3)) == 7


def test_what_is_not_supported_takes_one_pair():
    assert len(asked("A [1][2][3].", NEVER)) == 1


def test_sentences_of_punkt_are_scored_as_the_slow_way_does():
    chances = Random(9)
    records = [random_record(chances) for _ in range(100)]
    slow = SlowAlce(by_chance(9, 0.6), splitting.sentences)
    theirs = slow.score(records)
    import asyncio

    from toulmin.metrics.autoais import citation_metrics
    from toulmin.metrics.judging import Judging

    found = asyncio.run(
        citation_metrics([in_a_file(r) for r in records], Alce(splitting.sentences), Judging(Told(by_chance(9, 0.6))))
    )
    assert scores(found) == theirs


# ---------------------------------------------------------------- recorded by ALCE


def golden() -> list[dict]:
    with gzip.open(DATA / "alce_golden.jsonl.gz", "rt", encoding="utf-8") as lines:
        runs = [json.loads(line) for line in lines]
    return [run for run in runs if run["dataset"] == "eli5"]


@needs_data
def test_recorded_verdicts_of_true_give_the_recorded_claim_recall():
    for run in golden():
        told = {
            (without_numbers(item["output"]), claim): verdict
            for item in run["items"]
            for claim, verdict in zip(item["claims"], item["expected_correctness"], strict=True)
        }
        answered = [in_a_file(Record(i["question"], i["output"], (), i["claims"])) for i in run["items"]]
        found = alce(answered, lambda premise, claim, told=told: bool(told.get((premise, claim))))
        assert scores(found)["claims_nli"] == run["expected"]["claims_nli"]
