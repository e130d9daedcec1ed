"""What the ranker learns from: windows of sentences, one that answers among others."""

from __future__ import annotations

import random
from pathlib import Path

import trained_parts
from row_tables import table
from trained_parts import export, model, ranker, windows

TEXT = "The tower was built in 1821. Its lamp was lit in 1824. Three keepers lived there. The last one left in 1978."
RECORD = windows.Record(
    "own", "When was the lamp lit?", (("Tower", TEXT), ("Sea", "The sea is deep.")), ((0, 29, 54),), ((0, 49, 53),)
)


class Nowhere:
    """Finds no passage of another record."""

    def passages(self, record: windows.Record) -> list[tuple[str, str]]:
        return []


def made(seed: int, record: windows.Record = RECORD) -> windows.Group:
    return windows.group(record, Nowhere(), random.Random(seed), is_noisy=False)


def test_windows_are_one_to_three_neighbouring_sentences():
    assert [TEXT[start:end].count(".") for start, end in windows.windows(TEXT)] == [1, 2, 3, 1, 2, 3, 1, 2, 1]


@table("seed", range(20))
def test_one_window_holds_the_answer_and_the_others_do_not(seed: int):
    first, *others = made(seed).windows
    assert (first.answers, first.text[slice(*first.span)]) == (True, "1824")
    assert [window for window in others if window.answers or "1824" in window.text] == []


def test_a_question_that_nothing_answers_has_only_windows_that_do_not():
    silent = RECORD._replace(gold=(), spans=())
    assert not any(window.answers for window in made(0, silent).windows)


def test_a_slip_changes_one_word_only():
    changed = [windows.misspelt(RECORD.question, random.Random(seed)) for seed in range(200)]
    slips = [question for question in changed if question.lower().rstrip("?") != RECORD.question.lower().rstrip("?")]
    pairs = [zip(RECORD.question.split(), slip.split(), strict=True) for slip in slips if "?" in slip]
    assert {sum(a != b for a, b in pair) for pair in pairs} == {1}


def test_a_ranker_goes_on_from_the_weights_of_an_exported_reader(tmp_path: Path):
    run = trained_parts.finished(tmp_path / "run", "reader")
    export.export(run, tmp_path / "out", "embedded-tiny")
    before, after = model.load(run).state_dict(), ranker.read_weights(tmp_path / "out")
    # Vectors that are equal in this small network are stored once, under the first one's name.
    assert {name for name, values in before.items() if values.ndim > 1} <= set(after)
    assert all((after[name] - before[name]).abs().max() <= before[name].abs().max() / 100 for name in after)


def test_a_ranker_is_kept_and_loaded_as_one(tmp_path: Path):
    made = model.Ranker(model.load(trained_parts.finished(tmp_path / "run", "reader")).backbone)
    model.save(made, tmp_path / "kept")
    assert isinstance(model.load(tmp_path / "kept"), model.Ranker)
