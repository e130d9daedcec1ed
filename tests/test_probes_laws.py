"""The probes of laws and of answers: what is false is absent, the same seed makes the same, pages are held out."""

from __future__ import annotations

import importlib
import os
import re
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
pytestmark = pytest.mark.skipif(
    not (DATA / "pool_corpus.jsonl.gz").exists(), reason="needs the evaluation data under TOULMIN_DATA"
)


@pytest.fixture(scope="module")
def benchmark() -> Any:
    """Imports a module of `benchmarks/`, whose scripts import each other by their bare names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module


@pytest.fixture(scope="module")
def laws(benchmark: Any) -> Any:
    return benchmark("probes_laws")


@pytest.fixture(scope="module")
def pages(benchmark: Any) -> list[Any]:
    return list(benchmark("probes_made").held_out_pages()[:1500])


@pytest.fixture(scope="module")
def denials(laws: Any, pages: list[Any]) -> list[Any]:
    return list(laws.denials(pages, wanted=15))


@pytest.fixture(scope="module")
def names(laws: Any, pages: list[Any]) -> list[Any]:
    return list(laws.names(pages, false=40, true=20))


@pytest.fixture(scope="module")
def short(benchmark: Any) -> list[Any]:
    return list(benchmark("probes_answers").short_answers("dev", most=15))


@pytest.fixture(scope="module")
def long(benchmark: Any) -> list[Any]:
    return list(benchmark("probes_answers").long_answers("dev"))


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def test_the_same_pages_give_the_same_laws(laws: Any, pages: list[Any], denials: list[Any], names: list[Any]):
    assert laws.denials(pages, wanted=15) == denials
    assert laws.names(pages, false=40, true=20) == names


def test_laws_are_over_held_out_pages(benchmark: Any, pages: list[Any], denials: list[Any], names: list[Any]):
    ids = {page.id for page in pages if benchmark("held_out").is_held_out(page.title)}
    assert {law.page.id for law in (*denials, *names)} <= ids


def test_every_denial_denies_and_none_is_true(denials: list[Any]):
    assert all(re.search(r"\b(?:not|never)\b", law.claim) and not law.supported for law in denials)


def test_a_sentence_taken_out_is_not_in_its_passage(benchmark: Any, pages: list[Any], denials: list[Any]):
    whole = {page.id: page.text for page in pages}
    cut = [law for law in denials if law.kind == "sentence taken out"]
    assert cut
    assert all(len(law.page.text) < len(whole[law.page.id]) for law in cut)


def test_the_wrong_person_is_in_no_source(names: list[Any]):
    """Every false claim has a capitalised word that its page lacks; no true one but Mr and Ms has."""
    for law in names:
        absent = set(re.findall(r"[A-Z]\w+", law.claim)) - {"The", "Mr", "Ms"}
        absent = {word for word in absent if word.casefold() not in words(f"{law.page.title} {law.page.text}")}
        is_opening = {word for word in absent if law.claim.startswith(word)}
        assert absent if not law.supported else len(absent - is_opening) == 0


def test_names_come_in_every_form(names: list[Any]):
    forms = {form for law in names if not law.supported for form in law.kind.split(", ")}
    assert forms == {"plain", "titled", "surname", "titled surname", "possessive", "beginning", "middle", "end"}


def test_wrong_short_answer_shares_no_word_with_right(short: list[Any]):
    pairs = list(zip(short[::2], short[1::2], strict=True))
    assert pairs
    for right, wrong in pairs:
        assert (right.supported, wrong.supported) == (True, False)
        assert right.pair.premises == wrong.pair.premises
        assert wrong.pair.claim in wrong.pair.premises[0].text
        assert not {w for w in words(wrong.pair.claim) & words(right.pair.claim) if len(w) > 3}


def test_the_same_split_gives_the_same_answers(benchmark: Any, short: list[Any], long: list[Any]):
    answers = benchmark("probes_answers")
    assert answers.short_answers("dev", most=15) == short
    assert answers.long_answers("dev") == long


def test_all_answers_have_talk_only_faulty_ones_errors(benchmark: Any, long: list[Any]):
    usual = benchmark("probes_answers").WORDINGS["usual"]
    talk = (*usual.openings, *usual.closings)
    for answer in long:
        spoken = [one.text for one in answer.sentences if one.is_talk]
        assert spoken
        assert all(any(text.split("{")[0][:8] == one[:8] for text in talk) for one in spoken)
        assert any(one.is_untrue for one in answer.sentences) is not answer.is_clean


def test_talk_names_the_passage_that_holds_the_sentence(benchmark: Any):
    passage = benchmark("probes_answers").Passage.of
    passages = (passage("Bread was cheap in May."), passage("The lamp was lit in 1824 by Hannah Pell."))
    assert benchmark("probes_answers").holder("Hannah Pell lit the lamp.", passages) == 1
    assert benchmark("probes_answers").holder("Nobody knows the tower.", passages) is None
