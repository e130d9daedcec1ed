"""Metrics that need a model: the QA metrics by an extractive reader, and MAUVE."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import tiny_model, tiny_reader
from tests.metrics_parts import ASQA, alce, failed, honest, output, said
from toulmin.datasets.item import Gold, Part
from toulmin.errors import ModelError
from toulmin.metrics.choosing import Models, measures
from toulmin.metrics.references import continuation

pytest.importorskip("transformers", reason="transformers is not installed")

TOWER = "Hannah Pell built the tower. It was lit in May 1824 for the first time."
LONG = " ".join([*tiny_model.SENTENCES] * 2)


class Told:
    """A reader that knows the answers to some questions, and keeps what it was asked."""

    name = "told"

    def __init__(self, known: dict[str, str]) -> None:
        self.known = known
        self.asked: list[tuple[str, str]] = []

    def answers(self, asked: Sequence[tuple[str, str]]) -> list[str]:
        self.asked += asked
        return [self.known.get(question, "") for question, _ in asked]


BOTH = {"Who built it?": "the Hannah Pell", "When was it lit?": "May 1824"}

# ---------------------------------------------------------------- QA metrics


def test_sub_questions_are_weighed_within_their_question():
    found = alce(output(TOWER, ASQA), models=Models(qa=Told(BOTH)))
    assert (found["QA-EM"], found["QA-Hit"]) == (50.0, 0.0)
    assert found["QA-F1"] == pytest.approx(100 * (1 + 2 / 3) / 2)


def test_a_hit_needs_every_sub_question():
    found = alce(output(TOWER, ASQA), models=Models(qa=Told(BOTH | {"When was it lit?": "1824"})))
    assert found["QA-Hit"] == 100.0


def test_an_empty_text_is_read_as_a_space():
    reader = Told({})
    alce(output("[1]", ASQA), models=Models(qa=reader))
    assert reader.asked == [("Who built it?", " "), ("When was it lit?", " ")]


def test_a_question_with_one_part_is_scored_too():
    gold = Gold(parts=(Part("Who built it?", ("Hannah Pell",)),))
    assert alce(output(TOWER, gold), models=Models(qa=Told(BOTH)))["QA-Hit"] == 100.0


def test_the_reader_is_asked_nothing_of_failed_answers():
    reader = Told(BOTH)
    found = honest(failed(ASQA), said(TOWER, gold=ASQA), models=Models(qa=reader))
    assert (len(reader.asked), found["QA-EM"]) == (2, 50.0)


def test_the_reasons_tell_what_was_read():
    found = measures("alce", "x", [output(TOWER, ASQA)], Models(qa=Told(BOTH)))
    told = next(m.reasons[0]["asked"] for m in found if m.reasons and "asked" in m.reasons[0])
    assert told[0] == {"text": "Who built it?", "reply": "the Hannah Pell", "exact": True}


def test_disambiguation_is_both_means_of_qa_f1_and_rouge():
    gold = Gold(parts=ASQA.parts, references=(TOWER,))
    found = measures("alce", "x", [output(TOWER, gold)], Models(qa=Told(BOTH)))
    derived = {made.name: made for measured in found for made in measured.derived}
    assert derived["dr_mean"].combine([40.0, 90.0]) == 65.0
    assert derived["dr"].combine([40.0, 90.0]) == 60.0


def test_without_references_there_is_no_disambiguation():
    found = measures("alce", "x", [output(TOWER, ASQA)], Models(qa=Told(BOTH)))
    assert [made for measured in found for made in measured.derived] == []


# ---------------------------------------------------------------- the extractive reader


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny reader that knows two answers, and that a third question has none."""
    folder = tiny_reader.make(tmp_path_factory.mktemp("taught"))
    tiny_reader.teach(folder, [("Who built it?", TOWER, "Pell"), ("When?", TOWER, "1824"), ("Why?", TOWER, "")])
    return folder


@pytest.fixture(scope="module")
def reader(taught: Path):
    from toulmin.metrics.span_reader import SpanReader

    return SpanReader(taught, "cpu")


def test_the_reader_gives_the_words_that_the_model_marks(reader):
    assert reader.answers([("Who built it?", TOWER), ("When?", TOWER)]) == ["Pell", "1824"]


def test_the_reader_says_nothing_where_the_model_marks_nothing(reader):
    assert reader.answers([("Why?", TOWER)]) == [""]


def test_a_space_has_no_answer(reader):
    assert reader.answers([("Who built it?", " ")])[0].strip() == ""


def test_what_is_read_together_does_not_matter(reader):
    asked = [
        (question, text) for question in ("Who built it?", "When?", "Why?") for text in (TOWER, LONG, " ", "Pell.")
    ]
    assert reader.answers(asked) == [reader.answers([pair])[0] for pair in asked]


def test_a_question_longer_than_the_window_is_cut(reader):
    assert reader.answers([("Who built it? " * 50, TOWER)])[0] in TOWER


@pytest.mark.parametrize("seed", range(6))
def test_an_answer_is_whole_words_of_a_long_text(tmp_path: Path, seed: int):
    from toulmin.metrics.span_reader import SpanReader

    made = SpanReader(tiny_reader.make(tmp_path, seed=seed), "cpu")
    for (answer,) in (made.answers([(question, LONG)]) for question in ("Who?", "When was it lit?")):
        place = LONG.find(answer)
        around = LONG[place - 1 : place] + LONG[place + len(answer) : place + len(answer) + 1]
        assert place >= 0
        assert not answer or not (answer[0].isalnum() and around[:1].isalnum() and place)
        assert not (answer[-1:].isalnum() and around[-1:].isalnum())


LOGITS = st.lists(st.floats(-8, 8, width=32), min_size=2, max_size=24)


@settings(deadline=None)
@given(LOGITS, st.data())
def test_the_best_span_is_the_one_that_a_slow_search_finds(starts, data):
    from toulmin.metrics.span_reader import LONGEST, best_span

    ends = data.draw(st.lists(st.floats(-8, 8, width=32), min_size=len(starts), max_size=len(starts)))
    allowed = [True, *data.draw(st.lists(st.booleans(), min_size=len(starts) - 1, max_size=len(starts) - 1))]

    def shares(logits: list[float]) -> list[float]:
        raised = [np.exp(value) if may else 0.0 for value, may in zip(logits, allowed, strict=True)]
        return [value / sum(raised) for value in raised]

    start, end = shares(starts), shares(ends)
    spans = [
        (start[i] * end[j], i, j)
        for i in range(1, len(starts))
        for j in range(i, min(len(starts), i + LONGEST))
        if allowed[i] and allowed[j]
    ]
    span, none = best_span(np.array(starts), np.array(ends), np.array(allowed))
    assert none == pytest.approx(start[0] * end[0])
    assert span.score == pytest.approx(max((score for score, _, _ in spans), default=0.0))
    assert not spans or span.score == pytest.approx(start[span.first] * end[span.last])


def test_a_folder_without_such_a_model_is_told(tmp_path: Path):
    from toulmin.metrics.span_reader import SpanReader

    with pytest.raises(ModelError, match="extractive QA model"):
        SpanReader(tiny_model.make(tmp_path), "cpu")


# ---------------------------------------------------------------- MAUVE


@pytest.mark.parametrize(
    ("question", "text", "read"),
    [
        ("Who?", "  Hannah   Pell.\n", "Who? Hannah Pell"),
        ("Who?", "", "Who"),
        ("Who?", "Pell!?), ", "Who? Pell"),
        ("w " * 60, "a " * 60, " ".join(["w"] * 60 + ["a"] * 40)),
    ],
)
def test_question_and_answer_share_a_hundred_words(question, text, read):
    assert continuation(question, text) == read


def test_mauve_compares_gold_texts_with_outputs():
    heaps: list[tuple[list[str], list[str]]] = []

    def score(human: Sequence[str], ours: Sequence[str]) -> float:
        heaps.append((list(human), list(ours)))
        return 0.25

    gold = Gold(answer="Pell built it.")
    found = alce(output("Hannah did [1].", gold), output("Tom did.", gold), models=Models(mauve=score))
    assert heaps == [(["Which? Pell built it"] * 2, ["Which? Hannah did", "Which? Tom did"])]
    assert found["mauve"] == 25.0


def test_mauve_is_one_number_of_the_run():
    answers = [output("One.", Gold()), *[output("Two.", Gold(answer="Two."))] * 2]
    found = measures("alce", "x", answers, Models(mauve=lambda human, ours: 0.5))
    column = next(column for measured in found for column in measured.columns if column.name == "mauve")
    assert column.values == (None, 0.5, None)


@pytest.fixture(scope="module")
def featurizer(tmp_path_factory: pytest.TempPathFactory):
    pytest.importorskip("mauve", reason="mauve-text is not installed")
    from toulmin.metrics.mauve_score import Featurizer

    return Featurizer(tiny_model.make(tmp_path_factory.mktemp("gpt")), "cpu")


def heap(times: int) -> list[str]:
    """Forty texts of one make."""
    return [
        f"The lamp was lit {i + times} times {'in May ' * (i % 5)}by {'Pell' if i % 3 else 'Tom'}." for i in range(40)
    ]


HEAP = heap(1)
OTHER = [f"[{i}] [{i + 1}] [{i * 7}] {'x ' * (i % 9)}" for i in range(40)]


def test_texts_of_one_make_are_more_alike_than_others(featurizer):
    assert featurizer(HEAP, heap(3)) > featurizer(HEAP, OTHER) + 0.1


def test_mauve_gives_the_same_number_twice(featurizer):
    assert featurizer(HEAP, OTHER) == featurizer(HEAP, OTHER)


@pytest.mark.filterwarnings("ignore:.past_key_values. is deprecated:FutureWarning")  # by MAUVE's package, not by us
def test_features_are_those_of_mauves_own_package(featurizer, tmp_path_factory: pytest.TempPathFactory, monkeypatch):
    import torch
    from mauve.utils import featurize_tokens_from_model

    monkeypatch.setenv("DISABLE_TQDM", "1")
    tokens = [torch.tensor([featurizer._tokenizer.encode(text)]) for text in HEAP[:10]]
    theirs = featurize_tokens_from_model(featurizer._model, tokens, 8).numpy()
    assert np.allclose(featurizer.features(HEAP[:10]), theirs, atol=1e-6)


def test_empty_texts_on_one_side_are_told(featurizer):
    with pytest.raises(ModelError, match="empty"):
        featurizer(["", ""], HEAP)


def test_the_mauve_of_a_run_is_that_of_its_texts_in_percent(featurizer):
    answers = [output(text, Gold(answer=gold)) for text, gold in zip(HEAP, heap(3), strict=True)]
    texts = [[continuation("Which?", text) for text in texts] for texts in (heap(3), HEAP)]
    assert alce(*answers, models=Models(mauve=featurizer))["mauve"] == 100 * featurizer(*texts)
