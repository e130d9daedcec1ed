"""Judges that people know by name, on tiny random weights: what they read is what their authors write."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("torch", reason="needs torch (extra: judges)")
pytest.importorskip("transformers", reason="needs transformers (extra: judges)")

import tiny_judges
import torch

from toulmin.build.parts import judge as judge_of
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.errors import ModelError, UsageError
from toulmin.judges.families import FamilyJudge
from toulmin.steps import Pair, Verdict

ROCK = Passage.of("The lamp was lit in 1824. Its keeper was Ann.", "Rock")
SHIP = Passage.of("No ship came.")
CLAIM = "Ann kept the lamp."
PAIR = Pair((ROCK, SHIP), CLAIM)
ASKED = Pair((ROCK, SHIP), "Ann", "Who kept the lamp?")
TOLD = "Title: Rock\nThe lamp was lit in 1824. Its keeper was Ann.\nNo ship came."
LONG = Passage.of(" ".join(f"In {year} the keeper wrote that {year * 7} boats went by." for year in range(1800, 1830)))


class Tiny(NamedTuple):
    """A family, how its tiny model is made, and the text that its tokenizer gets for `PAIR`, written out."""

    name: str
    make: Callable[[Path], object]
    text: str


MINICHECK = Tiny("minicheck", tiny_judges.deberta, f"{TOLD}[SEP]{CLAIM}")
MINICHECK_T5 = Tiny("minicheck", tiny_judges.minicheck_t5, f"predict: {TOLD}[SEP]{CLAIM}")
FACTCG = Tiny(
    "factcg",
    tiny_judges.deberta,
    f'{TOLD}\n\nChoose your answer: based on the paragraph above can we conclude that "{CLAIM}"?'
    "\n\nOPTIONS:\n- Yes\n- No\nI think the answer is ",
)
ALL = [MINICHECK, MINICHECK_T5, FACTCG]
EACH = pytest.mark.parametrize("tiny", ALL, ids="minicheck minicheck-t5 factcg".split())


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)  # so small a model only loses time by a second one


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[Tiny, Path]:
    made = {tiny: tmp_path_factory.mktemp("model") for tiny in ALL}
    for tiny, folder in made.items():
        tiny.make(folder)
    return made


@pytest.fixture(scope="module")
def judges(folders: dict[Tiny, Path]) -> Callable[[Tiny], FamilyJudge]:
    return cache(lambda tiny: FamilyJudge(tiny.name, folders[tiny]))


@pytest.fixture(scope="module")
def short(folders: dict[Tiny, Path]) -> Callable[[Tiny], FamilyJudge]:
    """Judges of a window that a few hundred letters fill: a token is a letter here."""
    return cache(lambda tiny: FamilyJudge(tiny.name, folders[tiny], window=600))


def one(judge: FamilyJudge, pair: Pair) -> Verdict:
    (verdict,) = judge.judge([pair])
    return verdict


def rows_read(judge: FamilyJudge, pair: Pair) -> list[list[int]]:
    """The tokens that reach the model, without what fills rows up."""
    rows: list[list[int]] = []

    def keep(module: Any, args: Any, kwargs: dict[str, Any]) -> None:
        for ids, mask in zip(kwargs["input_ids"], kwargs["attention_mask"], strict=True):
            rows.append(ids[mask.bool()].tolist())

    hook = judge._model.register_forward_pre_hook(keep, with_kwargs=True)
    judge.judge([pair])
    hook.remove()
    return rows


@torch.inference_mode()
def slow_support(judge: FamilyJudge, tiny: Tiny, text: str) -> float:
    """One row at a time, with the class that the authors name."""
    tokenizer, model = judge._tokenizer, judge._model
    row = dict(tokenizer(text, return_tensors="pt"))
    if tiny is MINICHECK_T5:
        logits = model(**row, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
        no, yes = (tokenizer.convert_tokens_to_ids(text) for text in "01")
        return float(logits[[no, yes]].softmax(-1)[1])
    return float(model(**row).logits[0].softmax(-1)[1])


# ---------------------------------------------------------------- what a model reads, and what is made of it


@EACH
def test_the_model_reads_what_its_authors_write(judges: Callable[[Tiny], FamilyJudge], tiny: Tiny):
    judge = judges(tiny)
    assert rows_read(judge, PAIR) == [judge._tokenizer(tiny.text)["input_ids"]]


@EACH
def test_support_is_the_probability_of_the_published_class(judges: Callable[[Tiny], FamilyJudge], tiny: Tiny):
    judge = judges(tiny)
    assert one(judge, PAIR).support == pytest.approx(slow_support(judge, tiny, tiny.text), abs=1e-5)


@EACH
def test_another_class_would_be_another_verdict(judges: Callable[[Tiny], FamilyJudge], tiny: Tiny):
    """So that the test above tells the classes apart."""
    support = slow_support(judges(tiny), tiny, tiny.text)
    assert abs(support - (1 - support)) > 0.01


@EACH
def test_a_verdict_does_not_depend_on_the_pairs_beside_it(short: Callable[[Tiny], FamilyJudge], tiny: Tiny):
    judge = short(tiny)
    pairs = [PAIR, Pair((SHIP,), CLAIM), ASKED, Pair((LONG,), "Boats went by."), Pair((), CLAIM)]
    alone = [one(judge, pair).support for pair in pairs]
    assert [verdict.support for verdict in judge.judge(pairs)] == pytest.approx(alone, abs=1e-5)


@EACH
def test_a_control_token_that_a_document_or_claim_spells_is_text(judges: Callable[[Tiny], FamilyJudge], tiny: Tiny):
    judge = judges(tiny)
    (row,) = rows_read(judge, Pair((Passage.of("A [SEP] B"),), "It is [SEP]."))
    (plain,) = rows_read(judge, Pair((Passage.of("A B"),), "It is."))
    ends = judge._tokenizer.eos_token_id
    assert row.count(ends) == plain.count(ends)


# ---------------------------------------------------------------- chunks


def documents_of(judge: FamilyJudge, tiny: Tiny, pair: Pair) -> list[str]:
    """What stands in each row in the place of the document."""
    before, after = tiny.text.split(CLAIM)[0].split(TOLD)
    texts = [judge._tokenizer.decode(row) for row in rows_read(judge, pair)]
    return [text.split(before or "[CLS]", 1)[1].split(after)[0] for text in texts]


@EACH
def test_chunks_hold_every_sentence_of_a_document(short: Callable[[Tiny], FamilyJudge], tiny: Tiny):
    judge = short(tiny)
    chunks = documents_of(judge, tiny, Pair((LONG,), CLAIM))
    lost = [text for text in LONG.text.split(". ") if not any(text in chunk for chunk in chunks)]
    assert (lost, len(chunks) > 1) == ([], True)


@EACH
def test_no_row_is_longer_than_the_window(short: Callable[[Tiny], FamilyJudge], tiny: Tiny):
    judge = short(tiny)
    rows = rows_read(judge, Pair((LONG, *(SHIP for _ in range(30))), CLAIM))
    assert max(map(len, rows)) <= judge._window


@EACH
def test_the_best_chunk_decides(short: Callable[[Tiny], FamilyJudge], tiny: Tiny):
    judge = short(tiny)
    texts = [tiny.text.replace(TOLD, chunk) for chunk in documents_of(judge, tiny, Pair((LONG,), CLAIM))]
    best = max(slow_support(judge, tiny, text) for text in texts)
    assert one(judge, Pair((LONG,), CLAIM)).support == pytest.approx(best, abs=1e-5)


def test_a_chunk_of_tokens_is_as_long_as_published(judges: Callable[[Tiny], FamilyJudge]):
    chunks = documents_of(judges(MINICHECK), MINICHECK, Pair((LONG,), CLAIM))
    assert 300 < max(map(len, chunks)) <= 400  # a token a letter here


def test_a_chunk_of_words_is_as_long_as_published(judges: Callable[[Tiny], FamilyJudge]):
    """Words of a letter: of others 2,048 tokens are full before 500 words are, with a token a letter."""
    sentence = f"A {'b ' * 47}ok."
    letters = Passage.of(" ".join(sentence for _ in range(24)))
    chunks = documents_of(judges(MINICHECK_T5), MINICHECK_T5, Pair((letters,), CLAIM))
    assert 480 < max(len(chunk.split()) for chunk in chunks) <= 500


def test_absolute_positions_limit_what_is_read(tmp_path: Path):
    """A RoBERTa of 34 positions holds 32 tokens, a DeBERTa without any reads the published 2,048."""
    tiny_judges.roberta(tmp_path, 130)
    assert FamilyJudge("factcg", tmp_path)._window == 128


# ---------------------------------------------------------------- settings and errors


def test_a_judge_is_found_by_its_name_with_its_settings(tmp_path: Path):
    tiny_judges.deberta(tmp_path)
    settings = Settings(servers={"factcg": {"threshold": 0.99999}})
    judge = judge_of(f"factcg:{tmp_path}", settings)
    assert (judge.name, judge.judge([PAIR])[0].label) == (f"factcg:{tmp_path.name}", "unsupported")


def test_families_of_one_model_have_different_keys(tmp_path: Path):
    tiny_judges.deberta(tmp_path)
    assert FamilyJudge("factcg", tmp_path).key != FamilyJudge("minicheck", tmp_path).key


def test_the_sentence_that_decides_is_quoted(tmp_path: Path):
    tiny_judges.deberta(tmp_path)
    (quote, _) = one(FamilyJudge("minicheck", tmp_path, quotes=True, threshold=0.01), PAIR).quotes
    assert quote is not None


def test_a_claim_that_leaves_no_room_is_unsure_with_the_reason(short: Callable[[Tiny], FamilyJudge]):
    verdict = one(short(MINICHECK), Pair((ROCK,), "Ann kept the lamp. " + "and then " * 70 + "she slept."))
    assert (verdict.label, verdict.reason and verdict.reason[:22]) == ("unsure", "the claim is too long ")


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("minicheck", tiny_judges.token_t5, "should end in ForSequenceClassification or ForConditionalGeneration"),
        ("factcg", tiny_judges.minicheck_t5, "holds no FactCG .* T5ForConditionalGeneration, and should end in"),
        ("factcg", lambda folder: tiny_judges.deberta(folder, 3), "has 3 classes, but FactCG has 2"),
    ],
)
def test_a_model_of_another_family_is_an_error(tmp_path: Path, name: str, make: Callable[[Path], object], message: str):
    make(tmp_path)
    with pytest.raises(ModelError, match=message):
        FamilyJudge(name, tmp_path)


def test_a_model_that_is_not_here_is_not_fetched(tmp_path: Path):
    with pytest.raises(ModelError, match="neither a folder nor a model in the hub's cache"):
        FamilyJudge("minicheck", "lytang/MiniCheck-RoBERTa-Large-that-nobody-has")


def test_a_threshold_out_of_range_is_a_usage_error(tmp_path: Path):
    with pytest.raises(UsageError, match="threshold should be above 0"):
        FamilyJudge("factcg", tmp_path, threshold=0)
