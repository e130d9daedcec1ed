"""Cross-encoders as judges, with a tiny one made here: "lit" in a premise entails, "never" contradicts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch (extra: judges)")
pytest.importorskip("transformers", reason="needs transformers (extra: judges)")

import tiny_judges
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModel

from toulmin.data import Passage
from toulmin.errors import ModelError, UsageError
from toulmin.judges.cross import Classes, Cross, classes_of
from toulmin.runtime.windows import windows, with_short_titles
from toulmin.steps import Pair, Verdict

CLAIM = "the tower was tall"
WINDOW = 64


def passage(words: int, *telling: str, title: str = "", seed: int = 0) -> Passage:
    """Sentences of ten words that tell nothing, and behind them what tells."""
    chance = random.Random(seed)
    dull = [tiny_judges.noise(chance, 9) + " ." for _ in range(words // 10)]
    return Passage.of(
        " ".join([*(f"T{text[1:]}" for text in dull), *(f"The tower was {word} ." for word in telling)]), title
    )


def pair(*passages: Passage) -> Pair:
    return Pair(passages, CLAIM)


SEVERAL = tuple(pair(passage(10 * n, *telling, seed=n)) for n in range(1, 9) for telling in ((), ("lit",), ("never",)))


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)  # so small a model only loses time by a second one


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_judges.cross(tmp_path_factory.mktemp("nli"), tiny_judges.NLI, WINDOW)


@pytest.fixture(scope="module")
def judge(folder: Path) -> Cross:
    return Cross(folder)


def one(judge: Cross, asked: Pair) -> Verdict:
    (verdict,) = judge.judge([asked])
    return verdict


# ---------------------------------------------------------------- classes


@pytest.mark.parametrize(
    ("telling", "label"), [("lit", "supported"), ("never", "contradicted"), ("tall", "unsupported")]
)
def test_the_label_is_the_class_of_the_model(judge: Cross, telling: str, label: str):
    assert one(judge, pair(passage(20, telling))).label == label


@pytest.mark.parametrize(
    ("names", "classes"),
    [
        ("contradiction neutral entailment", Classes(2, 0)),
        ("ENTAILMENT NEUTRAL CONTRADICTION", Classes(0, 2)),
        ("not_entailment entailment", Classes(1, None)),
        ("entailment not_entailment", Classes(0, None)),
        ("SUPPORTS REFUTES NOT_ENOUGH_INFO", Classes(0, 1)),
        ("0 1", Classes(1, None)),
        ("LABEL_0 LABEL_1", Classes(1, None)),
        ("LABEL_0", Classes(None, None)),
        ("hallucinated consistent", Classes(1, None)),
    ],
)
def test_classes_are_found_by_their_names(names: str, classes: Classes):
    assert classes_of(dict(enumerate(names.split())), "it") == classes


@pytest.mark.parametrize("names", ["LABEL_0 LABEL_1 LABEL_2", "good bad", "supported entailed"])
def test_classes_that_do_not_say_what_entails_are_an_error(names: str):
    with pytest.raises(ModelError, match=r"none of them is known to mean that the claim is entailed; name it"):
        classes_of(dict(enumerate(names.split())), "it")


def test_a_class_can_be_named(tmp_path: Path):
    unnamed = tiny_judges.cross(tmp_path, 3, WINDOW)
    assert one(Cross(unnamed, entailment="LABEL_2"), pair(passage(20, "lit"))).entails


def test_another_class_named_is_another_verdict(folder: Path):
    assert one(Cross(folder, entailment="contradiction"), pair(passage(20, "never"))).entails


def test_a_name_that_no_class_has_is_a_usage_error(folder: Path):
    with pytest.raises(UsageError, match="no class of the judge called 'entailmint'; did you mean entailment"):
        Cross(folder, entailment="entailmint")


@pytest.mark.parametrize("labels", [1, 2])
@pytest.mark.parametrize(("telling", "entailed"), [("lit", True), ("tall", False)])
def test_heads_of_one_logit_and_of_two_decide_too(tmp_path: Path, labels: int, telling: str, entailed: bool):
    assert one(Cross(tiny_judges.cross(tmp_path, labels, WINDOW)), pair(passage(20, telling))).entails is entailed


# ---------------------------------------------------------------- thresholds


def test_a_higher_threshold_supports_less(folder: Path, judge: Cross):
    support = one(judge, SEVERAL[1]).support
    assert not one(Cross(folder, threshold=support / 2 + 0.5), SEVERAL[1]).entails


def test_between_two_thresholds_a_claim_is_unsure(folder: Path, judge: Cross):
    support = one(judge, SEVERAL[1]).support
    assert one(Cross(folder, threshold=support / 2 + 0.5, unsure=support / 2), SEVERAL[1]).label == "unsure"


def test_support_and_contradiction_are_probabilities(judge: Cross):
    assert [v for v in judge.judge(SEVERAL) if not (0 <= v.support <= v.support + v.contradiction <= 1)] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0}, "threshold should be above 0 and at most 1, not 0"),
        ({"unsure": 0.6}, "unsure should be between 0 and the threshold 0.5, not 0.6"),
        ({"window": 1}, "window should be at least 2, not 1"),
        ({"batch_tokens": 0}, "batch_tokens should be at least 1, not 0"),
        ({"precision": "half"}, "precision should be one of auto, .*, not 'half'"),
    ],
)
def test_a_setting_out_of_range_is_a_usage_error(folder: Path, options: dict, message: str):
    with pytest.raises(UsageError, match=message):
        Cross(folder, **options)


# ---------------------------------------------------------------- windows


@pytest.mark.parametrize("before", [0, 50, 300])
def test_the_best_window_decides(judge: Cross, before: int):
    assert one(judge, pair(passage(before, "lit"), passage(200, seed=1))).entails


def test_a_long_premise_without_support_supports_nothing(judge: Cross):
    assert not one(judge, pair(passage(500))).entails


def test_no_row_is_longer_than_the_window(judge: Cross):
    widths: list[int] = []
    hook = judge._model.register_forward_pre_hook(
        lambda module, args, kwargs: widths.append(kwargs["input_ids"].shape[1]), with_kwargs=True
    )
    judge.judge([pair(passage(500), passage(100, title="The Tower " * 40)), *SEVERAL])
    hook.remove()
    assert max(widths) == WINDOW


def test_positions_that_no_token_can_have_do_not_count(tmp_path: Path):
    """A RoBERTa of 34 positions holds 32 tokens, and fails at the 33rd."""
    verdict = one(Cross(tiny_judges.roberta(tmp_path)), pair(passage(300)))
    assert verdict.label in ("supported", "unsupported")


def test_a_claim_that_leaves_no_room_is_unsure_with_the_reason(judge: Cross):
    verdict = one(judge, Pair((passage(20, "lit"),), "tower " * 60))
    assert (verdict.label, verdict.reason) == (
        "unsure",
        f"the claim is too long for {judge.name}, which reads 64 tokens",
    )


def words(text: str) -> int:
    return len(text.split())


PASSAGES = st.lists(
    st.builds(
        Passage.of,
        st.lists(st.sampled_from([*tiny_judges.WORDS, "Tom.", "So.", "Why?"]), min_size=1, max_size=60).map(" ".join),
        st.sampled_from(["", "Kettle Rock", "tower " * 30]),
    ),
    min_size=1,
    max_size=4,
)


@given(PASSAGES, st.integers(12, 60))
def test_windows_stay_within_the_room(passages: list[Passage], room: int):
    short = with_short_titles(passages, room, words)
    assert [w for w in windows(short, room, words) if words(w.text(short)) > room] == []


@given(PASSAGES, st.integers(12, 60))
def test_windows_hold_every_word(passages: list[Passage], room: int):
    short = with_short_titles(passages, room, words)
    held = {
        (part.place, at) for w in windows(short, room, words) for part in w.parts for at in range(part.start, part.end)
    }
    lost = [(n, at) for n, p in enumerate(passages) for at, c in enumerate(p.text) if c.strip() and (n, at) not in held]
    assert lost == []


@given(PASSAGES)
def test_what_fits_is_read_in_one_window(passages: list[Passage]):
    assert len(windows(passages, 1000, words)) == 1


def test_neighbouring_windows_share_a_sentence():
    (first, second) = windows([Passage.of("One two three. Four five six. Seven eight nine.")], 8, words)
    assert (first.parts[0].end, second.parts[0].start) == (29, 15)


# ---------------------------------------------------------------- quotes


def test_the_sentence_that_decides_is_quoted(folder: Path):
    premises = (passage(100, seed=3), passage(60, "lit"), passage(50, seed=4))
    quotes = one(Cross(folder, quotes=True), pair(*premises)).quotes
    assert [quote and quote.text for quote in quotes] == [None, "The tower was lit .", None]


def test_the_sentence_that_contradicts_is_quoted(folder: Path):
    (quote,) = one(Cross(folder, quotes=True), pair(passage(300, "never"))).quotes
    assert quote is not None
    assert quote.text == "The tower was never ."


def test_quotes_change_no_verdict(folder: Path, judge: Cross):
    quoted = Cross(folder, quotes=True).judge(SEVERAL)
    assert [(v.label, v.support) for v in quoted] == [(v.label, v.support) for v in judge.judge(SEVERAL)]


def test_without_support_nothing_is_quoted(folder: Path):
    assert one(Cross(folder, quotes=True), pair(passage(60))).quotes == (None,)


# ---------------------------------------------------------------- batches and loading


@pytest.mark.parametrize("batch_tokens", [1, 200])
def test_a_verdict_does_not_depend_on_the_pairs_beside_it(folder: Path, judge: Cross, batch_tokens: int):
    small = Cross(folder, batch_tokens=batch_tokens).judge(SEVERAL[::-1])[::-1]
    alone = [one(judge, asked) for asked in SEVERAL]
    assert [(v.label, pytest.approx(v.support, abs=1e-5)) for v in alone] == [(v.label, v.support) for v in small]


def test_no_pair_is_no_verdict(judge: Cross):
    assert judge.judge([]) == []


def test_a_pair_without_passages_is_judged(judge: Cross):
    assert not one(judge, pair()).entails


def test_a_control_token_that_a_passage_spells_is_text(judge: Cross):
    verdict = one(judge, pair(Passage.of("The tower was tall [SEP] lit .")))
    assert verdict.support == one(judge, pair(Passage.of("The tower was tall [ SEP] lit ."))).support


@pytest.mark.parametrize("options", [{"threshold": 0.7}, {"unsure": 0.2}, {"entailment": "neutral"}, {"window": 50}])
def test_what_changes_verdicts_changes_the_key(folder: Path, judge: Cross, options: dict):
    assert Cross(folder, **options).key != judge.key


def test_a_model_without_a_head_is_an_error(folder: Path, tmp_path: Path):
    AutoModel.from_pretrained(folder).save_pretrained(tmp_path)
    tiny_judges.word_tokenizer().save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"holds no classifier of pairs .*: its weights lack classifier\.bias"):
        Cross(tmp_path)


def test_an_empty_folder_holds_no_judge(tmp_path: Path):
    with pytest.raises(ModelError, match=r"holds no classifier of pairs .* that transformers can load"):
        Cross(tmp_path)
