"""ROUGE and its stemmer beside the packages that they must equal; answers compared as SQuAD and ALCE compare them."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from tests import texts
from toulmin.text.overlap import entity_f1, normalise, token_f1
from toulmin.text.rouge import Overlap, is_legible, porter_stem, rouge_l_sum, rouge_n

DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"there is no folder {DATA} with the shared data")
stemming = pytest.importorskip("nltk.stem.porter", reason="nltk is not installed")
scoring = pytest.importorskip("rouge_score.rouge_scorer", reason="rouge-score is not installed")

KINDS = ["rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum"]
THEIRS = scoring.RougeScorer(KINDS, use_stemmer=True)


def ours(candidate: str, reference: str) -> dict[str, tuple[float, float, float]]:
    counted = [rouge_n(candidate, reference, n) for n in (1, 2, 3)]
    one_line = rouge_l_sum(candidate.replace("\n", " "), reference.replace("\n", " "))  # of single lines it is ROUGE-L
    found = [*counted, one_line, rouge_l_sum(candidate, reference)]
    return {kind: (s.precision, s.recall, s.fmeasure) for kind, s in zip(KINDS, found, strict=True)}


def theirs(candidate: str, reference: str) -> dict[str, tuple[float, float, float]]:
    return {kind: tuple(map(float, score)) for kind, score in THEIRS.score(reference, candidate).items()}


def records(name: str) -> Iterator[dict]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


# ---------------------------------------------------------------- the stemmer

NLTK = stemming.PorterStemmer()

ENDINGS = (
    "s es ies sses ied ed eed ing y ying ational tional enci anci izer bli abli alli entli eli ousli ization ation ator"
    " alism iveness fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er"
    " ic able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize e ll"
).split()
MADE = st.tuples(
    st.text("aeiouybclstxwz09", max_size=6), st.lists(st.sampled_from(ENDINGS), min_size=1, max_size=3)
).map(lambda drawn: drawn[0] + "".join(drawn[1]))


@given(MADE | st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=14))
@settings(max_examples=1500, deadline=None)
def test_a_made_up_word_has_the_stem_that_nltk_gives_it(word: str):
    assert porter_stem(word) == NLTK.stem(word)


@table("word", sorted(NLTK.pool))
def test_an_irregular_word_has_the_stem_that_nltk_gives_it(word: str):
    assert porter_stem(word) == NLTK.stem(word)


@needs_data
def test_every_word_of_the_corpus_has_the_stem_that_nltk_gives_it():
    words: set[str] = set()
    for record in records("pool_corpus"):
        words.update(re.findall(r"[a-z0-9]+", f"{record['title']} {record['text']}".lower()))
    assert [word for word in sorted(words) if porter_stem(word) != NLTK.stem(word)] == []


# ---------------------------------------------------------------- the scores

WORDS = [*"the cat sat on a mats cats running run ran skies 1824 U.S. é été".split(), "\n", ".", "--"]
FEW_WORDS = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)


@given(FEW_WORDS, FEW_WORDS)
@settings(max_examples=250, deadline=None)
def test_texts_of_few_words_score_as_the_package_scores_them(candidate: str, reference: str):
    assert ours(candidate, reference) == theirs(candidate, reference)


@given(texts.texts(6) | st.text(max_size=60), texts.texts(6) | st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_texts_of_any_script_score_as_the_package_scores_them(candidate: str, reference: str):
    assert ours(candidate, reference) == theirs(candidate, reference)


ODD = [
    "",
    " ",
    "\n\n",
    "İstanbul ISTANBUL",
    "ﬁne ﬁre",
    "x",
    "don't",
    "a_b a-b a.b",
    "1,234.5",
    "ß ẞ",
    "\x00word\x1b[31m",
]


@table("candidate", ODD)
@table("reference", ODD)
def test_odd_texts_score_as_the_package_scores_them(candidate: str, reference: str):
    assert ours(candidate, reference) == theirs(candidate, reference)


@needs_data
def test_model_answers_score_as_the_package_scores_them():
    pairs = [
        (item["output"], answer)
        for run in records("alce_golden")
        for item in run["items"][:25]
        for answer in [item.get("answer") or item["annotations"][0]["long_answer"]]
    ]
    assert [pair for pair in pairs if ours(*pair) != theirs(*pair)] == []


@needs_data
def test_neighbouring_passages_score_as_the_package_scores_them():
    found = [record["text"] for _, record in zip(range(120), records("pool_corpus"), strict=False)]
    assert [pair for pair in pairwise(found) if ours(*pair) != theirs(*pair)] == []


def test_precision_is_the_part_of_the_candidate():
    assert rouge_n("the red lamp", "the red lamp was lit", 2) == Overlap(1.0, 0.5)


def test_a_text_of_one_word_shares_no_pair_of_words():
    assert rouge_n("lamp", "lamp", 2).fmeasure == 0.0


@pytest.mark.parametrize(
    ("text", "legible"),
    [("The tower was lit.", True), ("Über 38 Meter hoch", True), ("Маяк был зажжён в 1824", False), ("灯台", False)],
)
def test_rouge_can_read_texts_in_latin_letters_only(text: str, legible: bool):
    assert is_legible(text) == legible


def test_a_text_without_letters_hides_nothing_from_rouge():
    assert is_legible("… — !")


# ---------------------------------------------------------------- answers compared


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Thing", "thing"),
        ("twenty-one", "twentyone"),
        ("U.S.", "us"),
        ("  a  lamp,\nan   oar ", "lamp oar"),
        ("Theatre", "theatre"),
        ("1920–25 “x”", "1920–25 “x”"),
        ("The!", ""),
    ],
)
def test_answers_are_normalised_as_alce_normalises_them(text: str, expected: str):
    assert normalise(text) == expected


@given(st.text(max_size=40))
@settings(max_examples=150, deadline=None)
def test_a_normalised_text_holds_no_article_or_double_space(text: str):
    found = normalise(text)
    assert (found, set(found.split(" ")) & {"a", "an", "the"}) == (" ".join(found.split()), set())


@pytest.mark.parametrize(
    ("a", "b", "f1"),
    [
        ("3 May 1824", "May 1824", 0.8),
        ("the lamp", "Lamp.", 1.0),
        ("lamp lamp oar", "lamp", 0.5),
        ("oar", "lamp", 0.0),
        ("", "the", 1.0),
        ("", "lamp", 0.0),
    ],
)
def test_words_are_counted_as_often_as_they_stand(a: str, b: str, f1: float):
    assert token_f1(a, b) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("a", "b", "f1"),
    [
        (["The Fog", "Halloween"], ["fog", "Halloween!"], 1.0),
        (["Assault", "Halloween", "The Thing"], ["Assault"], 0.5),
        (["The The"], ["the the"], 1.0),
        (["The The"], ["A"], 0.0),
        ([], [], 1.0),
        (["Fog"], [], 0.0),
    ],
)
def test_names_are_compared_as_sets(a: list[str], b: list[str], f1: float):
    assert entity_f1(a, b) == f1


@given(st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from("abcd")))
@settings(max_examples=50, deadline=None)
def test_measures_of_agreement_do_not_care_which_text_comes_first(a: list[str], b: list[str]):
    both = (" ".join(a), " ".join(b))
    assert (token_f1(*both), entity_f1(a, b)) == (token_f1(*reversed(both)), entity_f1(b, a))
