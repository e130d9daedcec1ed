"""String metrics: what each profile counts of an answer's words."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_tables import table

from tests.metrics_parts import ASQA, alce, columns, entities, failed, honest, notes, output, said
from toulmin.datasets.item import Gold, Part
from toulmin.metrics.answered import harmonic
from toulmin.metrics.choosing import measures
from toulmin.metrics.short_answers import alce_list, alce_recall, honest_list, honest_recall, pieces
from toulmin.metrics.splitting import sentences, splitter_note
from toulmin.metrics.statements import alce_text
from toulmin.text import language
from toulmin.text.overlap import normalise

# ---------------------------------------------------------------- the text that is scored


@table(
    ("text", "clean"),
    [
        ("A [1][2].", "A."),
        ("A [1, 2].", "A, 2."),
        ("A [1-3].", "A-3."),
        ("B. [1] A", "B. A"),
        ("A [a].", "A [a."),
        ("in [2018] he", "in he"),
        ("(see [1])", "(see)"),
        ("x[12]y", "xy"),
        ("[1]", ""),
        ("A | b", "A b"),
        ("  \nfirst [1].\nsecond", "first."),
        ("one\rtwo", "one\rtwo"),
        ("Done. <|im_end|>", "Done. "),
    ],
)
def test_alce_reads_of_an_output(text, clean):
    assert alce_text(output(text)) == clean


def test_a_citation_at_the_very_beginning_leaves_its_space():
    assert alce_text(output("[1] A")) == " A"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("The  Twenty-One\tan U.S. lamp", "twentyone us lamp"),
        ("a – “b”", "– “b”"),
        ("The, a. An!", ""),
        ("theatre", "theatre"),
    ],
)
def test_answers_are_compared_in_this_form(text, plain):
    assert normalise(text) == plain


def test_the_honest_profile_reads_every_line():
    assert honest(output("It is red.\n\nIt is tall."))["length"] == 6.0


def test_alce_reads_the_first_line_alone():
    assert alce(output("It is red.\n\nIt is tall."))["length"] == 3.0


def test_an_empty_output_has_a_length_of_none():
    assert alce(output("One two."), output(""))["length"] == 1.0


# ---------------------------------------------------------------- short answers in a text


def test_a_hit_needs_no_word_boundary():
    assert alce(output("In 1954.", Gold(parts=(Part("?", ("5",)),))))["str_em"] == 100.0


def test_exact_match_is_the_mean_of_the_shares_of_each_question():
    single = Gold(parts=(Part("?", ("red",)),))
    found = alce(output("It was Pell.", ASQA), output("Red.", single))
    assert (found["str_em"], found["str_hit"]) == (75.0, 50.0)


def test_the_first_question_without_parts_makes_exact_match_zero_in_alce():
    eli5 = Gold(claims=("It was lit.",), answer="It was lit in 1824.")
    found = alce(output("1824", eli5), output("1824 by Pell", ASQA))
    assert (found["str_em"], found["str_hit"]) == (0.0, 0.0)


def test_a_first_question_without_pairs_makes_recall_0_in_alce():
    assert alce(output("1824"), output("1824", ASQA))["str_em"] == 0.0


def test_exact_match_without_gold_is_left_out_and_named():
    found = measures("honest", "x", [output("1824", Gold(answer="It was lit."))])
    assert "str_em" not in columns(found)
    assert "str_em" in notes(found)


def test_alces_guard_holds_for_its_own_data_alone():
    assert "str_em" not in alce(output("1824", Gold(answers=(("1824",),))))


def test_a_question_with_an_empty_list_of_parts_does_not_count():
    found = alce_recall([output("1824 Pell", ASQA), output("1824", Gold(parts=()))])
    assert [column.values for column in found.columns] == [(1.0, None), (1.0, None)]


def test_the_honest_profile_uses_slots_without_parts():
    found = honest_recall([said("It was lit in 1824.", gold=entities(("1824",), ("1978",)))])
    assert found.columns[0].values == (0.5,)
    assert found.reasons[0]["gold"] == [{"text": "1824", "found": True}, {"text": "1978", "found": False}]


def test_a_gold_answer_without_a_name_is_no_answer():
    found = honest_recall([said("It was lit in 1824.", gold=entities(("1824",), ("",), (" ", "1824 AD")))])
    assert found.columns[0].values == (0.5,)


@pytest.mark.parametrize(("text", "value"), [("They are The The.", 1.0), ("They are a band.", 0.0)])
def test_a_name_of_articles_is_looked_for_as_it_is_written(text, value):
    assert honest_recall([said(text, gold=entities(("The The",)))]).columns[0].values == (value,)


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), min_size=1, max_size=12))
def test_exact_match_is_numpys_mean_of_means(hits):
    answers = [output("yes", Gold(parts=tuple(Part("?", ("yes" if hit else "no",)) for hit in row))) for row in hits]
    found = alce(*answers)
    assert found["str_em"] == 100 * np.mean([np.mean(row) for row in hits])
    assert found["str_hit"] == 100 * np.mean([int(np.mean(row) == 1) for row in hits])


# ---------------------------------------------------------------- lists


@table(
    ("text", "read"),
    [
        ("a1, b1,. ", ["a1", "b1"]),
        ("a1, b1.,", ["a1", "b1"]),
        ("B., C.,", ["b", "c"]),
        ("x,,  ,the, y.", ["x", "y"]),
        ("x, x, X", ["x", "x", "x"]),
        ("Mai, the Psychic Girl", ["mai", "psychic girl"]),
        ("x...", ["x"]),
        ("x,,,", ["x"]),
        ("", []),
        (".", []),
    ],
)
def test_alce_reads_a_list(text, read):
    assert pieces(text) == read


@pytest.mark.parametrize(("text", "read"), [("So: x, y: z", ["x", "y z"]), ("x, y", []), ("x:", [])])
def test_a_reasoned_list_begins_behind_the_first_colon(text, read):
    assert pieces(text, reasoned=True) == read


LIST = entities(("Heat",), ("The Beach Bum", "Beach Bum"), ("Mai, the Psychic Girl",), ("...", "Strain"))


def listed(text: str, gold: Gold = LIST) -> dict[str, float | None]:
    return alce(output(text, gold, "list"), path="data/qampari.json")


def test_a_repeated_entity_counts_twice_in_alces_precision():
    found = listed("Heat, heat, Gummo.")
    assert (found["num_preds"], found["qampari_prec"], found["qampari_rec"]) == (3.0, 100 * np.mean([2 / 3]), 25.0)


def test_a_name_with_a_comma_is_never_found_by_alce():
    assert listed("Mai, the Psychic Girl.")["qampari_rec"] == 0.0


def test_an_alias_that_normalises_to_nothing_is_never_found():
    assert listed("..., the, .")["qampari_rec"] == 0.0


def test_five_hits_are_enough_for_the_recall_of_the_first_five():
    gold = entities(*((f"name{i}",) for i in range(8)))
    found = listed(", ".join(f"name{i}" for i in range(5)), gold)
    assert (found["qampari_rec"], found["qampari_rec_top5"], found["qampari_f1_top5"]) == (62.5, 100.0, 100.0)


def test_no_prediction_scores_zero_everywhere():
    assert set(listed("").values()) == {0.0}


def test_qampari_has_alces_columns_in_alces_order():
    expected = "length str_em str_hit num_preds qampari_prec qampari_rec qampari_rec_top5 qampari_f1 qampari_f1_top5"
    assert list(listed("Heat")) == expected.split()


@pytest.mark.parametrize(
    ("path", "is_list"),
    [("result/qampari-x.json", True), ("my-qampari-runs/a.json", True), ("QAMPARI.json", False), ("a.json", False)],
)
def test_alce_knows_qampari_by_its_path(path, is_list):
    found = alce(output("Heat", Gold(answers=LIST.answers, answer="Heat."), "list"), path=path)
    assert ("qampari_prec" in found, "rougeLsum" in found) == (is_list, not is_list)


def test_a_list_that_alce_reads_as_text_is_told():
    assert "if the path contains `qampari`" in notes(measures("alce", "a.json", [output("Heat", LIST, "list")]))


@pytest.mark.parametrize(
    ("claims", "predicted"),
    [
        (("Heat", "heat!"), 1),
        (("The Beach Bum", "Beach Bum"), 1),
        (("Heat", "Gummo", "gummo"), 2),
        (("Mai, the Psychic Girl",), 1),
    ],
)
def test_an_entity_counts_once_in_the_honest_profile(claims, predicted):
    found = columns([honest_list([said(*claims, gold=LIST, style="list")])])
    assert (found["num_preds"], found["qampari_rec"]) == (predicted, 25.0)


def test_a_quoted_name_with_a_comma_is_found_by_the_honest_profile():
    answer = output('Heat [1], "Mai, the Psychic Girl" [2].', LIST, "list")
    assert honest(answer)["qampari_rec"] == 50.0


def test_a_list_tells_which_predictions_are_right():
    found = honest_list([said("Heat", "Gummo", gold=LIST, style="list")])
    assert found.reasons[0]["predicted"] == [{"text": "Heat", "right": True}, {"text": "Gummo", "right": False}]


NAMES = st.lists(st.sampled_from(["red", "green", "blue", "Red.", "the blue", "grey"]), max_size=6)


@given(NAMES, st.lists(st.sampled_from(["red", "green", "blue"]), min_size=1, max_size=3, unique=True))
def test_lists_are_counted_as_a_slow_count_does(predicted, gold):
    found = columns([alce_list([output(", ".join(predicted), entities(*((name,) for name in gold)))])])
    read = [normalise(name) for name in predicted]
    right = [name for name in read if name in gold]
    precision = len(right) / len(read) if read else 0
    recall = len(set(right)) / len(gold)
    assert (found["qampari_prec"], found["qampari_rec"]) == (100 * precision, 100 * recall)


@given(NAMES.filter(bool))
def test_repeating_an_honest_list_changes_nothing(predicted):
    once, twice = said(*predicted, gold=LIST, style="list"), said(*predicted, *predicted, gold=LIST, style="list")
    assert honest_list([once]) == honest_list([twice])


# ---------------------------------------------------------------- likeness to reference answers


def test_the_nearest_of_two_references_counts():
    gold = Gold(references=("The lamp was lit.", "Nothing alike whatsoever."))
    assert honest(said("The lamp was lit.", gold=gold))["rougeLsum"] == 100.0


def test_alce_compares_with_the_first_two_references_alone():
    gold = Gold(references=("Nothing.", "Alike.", "The lamp was lit."))
    assert alce(output("The lamp was lit.", gold))["rougeLsum"] == 0.0


def test_alce_compares_with_the_answer_where_there_are_no_references():
    assert alce(output("The lamp was lit.", Gold(answer="The LAMP was lit")))["rougeLsum"] == 100.0


def test_an_abstention_has_no_likeness():
    found = honest(said(gold=Gold(answer="It was lit.")), said("It was lit.", gold=Gold(answer="It was lit.")))
    assert found["rougeLsum"] == 50.0


def test_the_note_on_rouge_is_the_same_in_every_run():
    answers = [output(text, Gold(answer="The lamp was lit.")) for text in ("The lamp", "It was", "Nothing")]
    assert notes(measures("alce", "x", answers)) == notes(measures("alce", "x", answers))


# ---------------------------------------------------------------- short answers

NQ = entities(("Hannah Pell", "Hannah Ann Pell"))


def test_a_short_answer_equals_any_alias():
    found = honest(said("the Hannah Ann Pell.", gold=NQ, style="short"))
    assert (found["em"], found["token_f1"]) == (100.0, 100.0)


def test_words_are_shared_with_the_best_alias():
    found = honest(said("Hannah Pell Tower Pell", gold=NQ, style="short"))
    assert (found["em"], found["token_precision"], found["token_recall"]) == (0.0, 50.0, 100.0)
    assert found["token_f1"] == pytest.approx(200 / 3)


def test_long_answers_have_no_short_ones_metrics():
    assert "em" not in honest(said("Hannah Pell built it.", gold=NQ))


WORDS = st.lists(st.sampled_from(["pell", "tower", "rock", "lamp"]), max_size=5).map(" ".join)


@given(WORDS, WORDS.filter(bool))
def test_word_f1_lies_between_exact_match_and_one(answer, alias):
    found = honest(said(*([answer] if answer else []), gold=entities((alias,)), style="short"))
    assert 0 <= found["em"] <= found["token_f1"] <= 100
    assert (found["token_f1"] == 100) == (sorted(answer.split()) == sorted(alias.split()))


# ---------------------------------------------------------------- words and rates


def test_distinct_words_are_told_apart_in_lower_case():
    found = honest(said("The lamp, the LAMP."))
    assert found["distinct_1"] == 50.0
    assert found["distinct_2"] == pytest.approx(200 / 3)
    assert found["distinct_3"] == 100.0


def test_a_text_shorter_than_a_run_of_words_does_not_count():
    found = honest(said("lamp lamp"), said("one two three"))
    assert (found["distinct_1"], found["distinct_3"]) == (75.0, 100.0)


def test_rates_are_shares_of_all_answers():
    found = honest(said("It is red."), said(), failed(), said("It is tall."))
    assert [found[name] for name in ("answered", "abstained", "failed")] == [50.0, 25.0, 25.0]


def test_abstentions_are_weighed_against_what_can_be_answered():
    yes, no = Gold(answerable=True), Gold(answerable=False)
    found = honest(said("Red.", gold=yes), said(gold=yes), said(gold=no), said("Tall.", gold=no), said(gold=no))
    assert found["answerable_answered"] == 50.0
    assert found["unanswerable_abstained"] == pytest.approx(200 / 3)


def test_without_unanswerable_questions_nothing_is_said_of_them():
    assert "unanswerable_abstained" not in honest(said("Red.", gold=Gold(answerable=True)))


# ---------------------------------------------------------------- failed answers, and the choice of metrics


def test_a_failed_answer_counts_nowhere_but_among_the_failed():
    found = measures("honest", "x", [failed(ASQA), said("Pell, 1824.", gold=ASQA)])
    left_out = {c.name for m in found for c in m.columns if c.values[0] is None}
    assert left_out == {c.name for m in found for c in m.columns} - {"answered", "abstained", "failed"}


def test_a_failed_answer_is_an_empty_output_to_alce():
    found = measures("alce", "x", [failed(ASQA), output("Pell, 1824.", ASQA)])
    assert columns(found)["str_em"] == 50.0
    assert "1 of 2" in notes(found)


def test_metrics_that_need_a_model_are_left_out_by_name():
    gold = Gold(parts=ASQA.parts, answer="Pell built it.")
    found = measures("alce", "x", [output("Pell", gold)])
    assert not {"QA-F1", "mauve", "dr"} & columns(found).keys()
    assert "QA-F1" in notes(found)
    assert "mauve" in notes(found)


def test_a_run_of_no_answers_has_no_metrics():
    assert set(alce().values()) | set(honest().values()) == set()


@pytest.mark.parametrize("profile", ["alce", "honest"])
def test_every_column_has_a_value_for_each_question(profile):
    answers = [output("Pell", ASQA), failed(), said(), said("Heat", gold=LIST, style="list")]
    sizes = {len(column.values) for m in measures(profile, "x", answers) for column in m.columns}
    assert sizes == {len(answers)}


# ---------------------------------------------------------------- sentences


def test_sentences_of_nothing_are_none():
    assert sentences("") == []


def test_sentences_are_cut_as_nltk_cuts_them():
    pytest.importorskip("nltk", reason="nltk is not installed")
    if splitter_note() is not None:
        pytest.skip("NLTK's data `punkt_tab` are not installed")
    assert sentences("Dr. Pell came. [1] She left [2].") == ["Dr. Pell came.", "[1] She left [2]."]


def test_without_nltk_our_own_rule_cuts_and_says_so():
    text = "Dr. Pell came. She left."
    code = (
        "import sys; sys.modules['nltk'] = None\n"
        "from toulmin.metrics.splitting import sentences, splitter_note\n"
        f"print(sentences({text!r}), 'punkt_tab' in splitter_note())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    own = [text[span.start : span.end] for span in language.sentences(text)]
    assert out.strip() == f"{own} True"


def test_choosing_metrics_loads_no_heavy_library():
    code = "import sys, toulmin.metrics.choosing; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"torch", "transformers", "nltk", "mauve"} & set(out.split())


def test_the_harmonic_mean_of_nothing_and_something_is_nothing():
    assert (harmonic([0.0, 50.0]), harmonic([50.0, 50.0])) == (0.0, 50.0)
