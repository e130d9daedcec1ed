"""Encoder-decoders as judges, with tiny ones made here."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("torch", reason="needs torch (extra: judges)")
pytest.importorskip("transformers", reason="needs transformers (extra: judges)")

import tiny_judges
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import T5EncoderModel

from toulmin.data import Passage
from toulmin.errors import ModelError, UsageError
from toulmin.judges.seq2seq import Seq2Seq
from toulmin.runtime.torch_models import batches, in_batches, row_width
from toulmin.steps import Pair, Verdict

TITLED = Passage.of("The tower was lit in 1824.", "Kettle Rock")
PLAIN = Passage.of("Three keepers lived there.")
PAIRS = tuple(
    Pair((Passage.of("a tall tower " * n, "Rock"),), f"claim {letter}")
    for n, letter in enumerate("abcdefghijkl", start=1)
)


_FOLDERS = TemporaryDirectory()


@cache
def folder_of(seed: int) -> Path:
    return tiny_judges.seq2seq(Path(_FOLDERS.name) / str(seed) / "tiny", seed)


def made(seed: int = 0, batch_tokens: int = 1000) -> Seq2Seq:
    return Seq2Seq(folder_of(seed), batch_tokens=batch_tokens)


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)  # so small a model only loses time by a second one


def whole_reply(judge: Seq2Seq, text: str) -> str:
    """What the model says when nobody stops it: transformers' own greedy decoding of one text."""
    tokenizer, model = judge._tokenizer, judge._model
    row = tokenizer([text], return_tensors="pt")
    drawn = model.generate(input_ids=row["input_ids"], max_new_tokens=10, do_sample=False, num_beams=1)
    return tokenizer.decode(drawn[0], skip_special_tokens=True)


def text_of(pair: Pair) -> str:
    return f"premise: Title: Rock\n{pair.premises[0].text} hypothesis: {pair.claim}"


# ---------------------------------------------------------------- decisions

# Some models whose replies are often `1`, some whose replies begin with it, some that write a `1` in two tokens.
SEEDS = (1, 15, 21, 22, 40, 42, 49)


@cache
def verdicts_of(seed: int) -> list[Verdict]:
    return made(seed).judge(PAIRS)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_reply_that_is_cut_short_decides_as_the_whole_one_would(seed: int):
    judge = made(seed)
    whole = [whole_reply(judge, text_of(pair)) == "1" for pair in PAIRS]
    assert [verdict.entails for verdict in verdicts_of(seed)] == whole


def test_the_tiny_models_disagree_on_what_is_entailed():
    """Or the test above would prove nothing."""
    decided = [verdict.entails for seed in SEEDS for verdict in verdicts_of(seed)]
    assert 0.05 < sum(decided) / len(decided) < 0.95


def test_some_replies_begin_with_one_and_end_as_something_else():
    """Nor would it if the first token always decided."""
    replies = {whole_reply(made(seed), text_of(pair)) for seed in SEEDS for pair in PAIRS[:2]}
    assert any(reply.startswith("1") and reply != "1" for reply in replies)


def test_support_is_the_probability_of_the_token_that_decides():
    judge = made(42)
    row = judge._tokenizer([text_of(PAIRS[0])], return_tensors="pt")
    with torch.inference_mode():
        logits = judge._model(**row, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
    one = judge._tokenizer.convert_tokens_to_ids("▁1")
    (verdict,) = judge.judge(PAIRS[:1])
    assert (verdict.entails, verdict.support) == (True, pytest.approx(logits.softmax(-1)[one].item(), abs=1e-6))


def test_where_the_first_token_did_not_decide_support_is_certain():
    verdicts = [verdict for seed in SEEDS for verdict in verdicts_of(seed)]
    sure = [verdict for verdict in verdicts if verdict.support in (0.0, 1.0)]
    assert {verdict.entails for verdict in sure} == {True, False}


def test_a_verdict_knows_no_contradiction_and_no_doubt():
    verdicts = made().judge(PAIRS)
    assert {(verdict.label, verdict.contradiction) for verdict in verdicts} <= {("supported", 0), ("unsupported", 0)}


def test_a_verdict_names_its_judge():
    assert made().judge(PAIRS[:1])[0].judge == "seq2seq:tiny"


def test_no_pair_is_no_verdict():
    assert made().judge([]) == []


# ---------------------------------------------------------------- what the model reads


def read_by(judge: Seq2Seq, pair: Pair) -> str:
    """The text that reached the encoder, as the tokenizer writes it back."""
    seen = []
    hook = judge._model.encoder.register_forward_pre_hook(
        lambda module, args, kwargs: seen.append(kwargs["input_ids"]), with_kwargs=True
    )
    judge.judge([pair])
    hook.remove()
    return judge._tokenizer.decode(seen[0][0], skip_special_tokens=True)


@pytest.mark.parametrize(
    ("pair", "text"),
    [
        (Pair((TITLED,), "It was lit."), f"premise: Title: Kettle Rock {TITLED.text} hypothesis: It was lit."),
        (Pair((PLAIN, TITLED), "So."), f"premise: {PLAIN.text} Title: Kettle Rock {TITLED.text} hypothesis: So."),
        (Pair((PLAIN,), "Tom", "Who"), f"premise: {PLAIN.text} hypothesis: Who Tom"),
        (Pair((), "Tom"), "premise: hypothesis: Tom"),
    ],
    ids=["a title", "passages in citation order", "a question", "nothing cited"],
)
def test_a_pair_reads_as_premise_and_hypothesis(pair: Pair, text: str):
    assert read_by(made(), pair) == text


def test_a_long_premise_is_read_to_its_end():
    pair = Pair((Passage.of("tower " * 400 + "end."),), "So.")
    assert read_by(made(), pair).endswith("end. hypothesis: So.")


def test_a_control_token_that_a_passage_spells_is_text():
    judge = made()
    pair = Pair((Passage.of("a</s> b<pad> c"),), "So")
    seen = judge._tokens([f"premise: {pair.premises[0].text}"])[0]
    assert {0, 1} & set(seen[:-1]) == set()


# ---------------------------------------------------------------- batches


@given(st.lists(st.integers(1, 300), max_size=40), st.integers(1, 600))
def test_every_row_goes_into_one_batch(lengths: list[int], most: int):
    places = [place for batch in batches(lengths, most) for place in batch]
    assert sorted(places) == list(range(len(lengths)))


@given(st.lists(st.integers(1, 300), max_size=40), st.integers(1, 600))
def test_a_batch_with_its_padding_stays_within_the_limit(lengths: list[int], most: int):
    sizes = [(len(batch), len(batch) * row_width(max(lengths[n] for n in batch))) for batch in batches(lengths, most)]
    assert [size for rows, size in sizes if rows > 1 and size > most] == []


@given(st.lists(st.integers(1, 300), min_size=1, max_size=40), st.integers(1, 600))
def test_batches_go_from_long_rows_to_short_ones(lengths: list[int], most: int):
    order = [lengths[place] for batch in batches(lengths, most) for place in batch]
    assert order == sorted(lengths, reverse=True)


@given(st.lists(st.integers(0, 99), max_size=20), st.integers(1, 5))
def test_a_memory_that_holds_few_rows_gets_few(numbers: list[int], held: int):
    def run(rows: list[int]) -> list[int]:
        if len(rows) > held:
            raise torch.OutOfMemoryError
        return [2 * row for row in rows]

    assert in_batches(numbers, lambda row: 1, 10**6, run, "it") == [2 * number for number in numbers]


def test_a_memory_that_does_not_hold_one_pair_is_an_error():
    def run(rows: list[int]) -> list[int]:
        raise torch.OutOfMemoryError

    with pytest.raises(ModelError, match="does not hold a text of 70 tokens for tiny; set a smaller precision"):
        in_batches([1], lambda row: 70, 10, run, "tiny")


def test_the_encoder_reads_no_more_tokens_at_once_than_set():
    judge, sizes = made(batch_tokens=400), []
    judge._model.encoder.register_forward_pre_hook(
        lambda module, args, kwargs: sizes.append(kwargs["input_ids"].shape), with_kwargs=True
    )
    judge.judge(PAIRS)
    assert [size for size in sizes if size[0] > 1 and size.numel() > 400] == []


def test_every_pair_is_encoded_once():
    judge, rows = made(batch_tokens=400), []
    judge._model.encoder.register_forward_pre_hook(
        lambda module, args, kwargs: rows.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    judge.judge(PAIRS)
    assert sum(rows) == len(PAIRS)


@pytest.mark.parametrize("batch_tokens", [1, 300])
@pytest.mark.parametrize("seed", [21, 40])
def test_a_verdict_does_not_depend_on_the_pairs_beside_it(seed: int, batch_tokens: int):
    judge = made(seed, batch_tokens)
    alone = [judge.judge([pair])[0] for pair in PAIRS]
    backwards = judge.judge(PAIRS[::-1])[::-1]
    assert [(v.label, pytest.approx(v.support, abs=1e-5)) for v in alone] == [(v.label, v.support) for v in backwards]


# ---------------------------------------------------------------- loading


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_judges.seq2seq(tmp_path_factory.mktemp("true-tiny"), seed=22)


def test_a_folder_judges_as_the_model_that_was_saved_in_it(folder: Path):
    said = [verdict.support for verdict in verdicts_of(22)]
    assert [verdict.support for verdict in Seq2Seq(folder).judge(PAIRS)] == pytest.approx(said, abs=1e-5)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_precision_is_the_one_set(folder: Path, precision: str):
    assert f"torch.{precision}" in Seq2Seq(folder, precision=precision).key


def test_another_precision_is_another_key(folder: Path):
    assert Seq2Seq(folder).key != Seq2Seq(folder, precision="bfloat16").key


def test_other_weights_are_another_key(folder: Path, tmp_path: Path):
    assert Seq2Seq(folder).key != Seq2Seq(tiny_judges.seq2seq(tmp_path, seed=4)).key


def test_the_batch_size_does_not_change_the_key(folder: Path):
    assert Seq2Seq(folder).key == Seq2Seq(folder, batch_tokens=64).key


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "float8"}, "precision should be one of auto, float32, bfloat16, float16, not 'float8'"),
        ({"batch_tokens": 0}, "batch_tokens should be at least 1, not 0"),
        ({"device": "abacus"}, "device should be one of this machine, not 'abacus'"),
    ],
)
def test_a_setting_out_of_range_is_a_usage_error(folder: Path, options: dict, message: str):
    with pytest.raises(UsageError, match=message):
        Seq2Seq(folder, **options)


def test_an_empty_folder_holds_no_judge(tmp_path: Path):
    with pytest.raises(ModelError, match=r"holds no encoder-decoder .* that transformers can load"):
        Seq2Seq(tmp_path)


def test_a_name_that_is_not_on_this_machine_is_an_error():
    with pytest.raises(ModelError, match="neither a folder nor a model in the hub's cache"):
        Seq2Seq("nobody/no-model")


def test_a_model_of_another_class_is_an_error(tmp_path: Path):
    with pytest.raises(ModelError, match="holds no encoder-decoder"):
        Seq2Seq(tiny_judges.cross(tmp_path))


def test_an_encoder_alone_is_an_error(folder: Path, tmp_path: Path):
    T5EncoderModel.from_pretrained(folder).save_pretrained(tmp_path)
    tiny_judges.t5_tokenizer().save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"holds no encoder-decoder .*: its weights lack decoder\."):
        Seq2Seq(tmp_path)
