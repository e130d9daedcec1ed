"""Export the large network and fit its bars.

    python training/large.py export NETWORK --rows rows.npz --out DIR --name large-3
    python training/large.py recover DIR --start BASE --out NETWORK      what ships, to go on from
    python training/large.py merge START RUN --share 0.5 --out NETWORK     what a run of teach.py learnt, or part of it
    python training/large.py soften ROWS --by NETWORK     what it thinks of people's claims, beside their labels
    python training/large.py fit DIR [--precision 0.85] [--likely 0.8]
    python training/large.py measure DIR      AUC on dev sets and on test pages of what was written for this project

`export` writes 8-bit weights (seven bits are used, as in `export.py`). A product of 8 bits has one scale for a whole
row of tokens, which a few large numbers spoil: so what enters the wide and the narrow layers is divided by its largest
values, channel by channel, and their weights are multiplied by them (Xiao et al. 2023, SmoothQuant). `fit` chooses the
chance of support and its bars on the natural dev sets, each of which counts alike, half of it true.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import teach
import torch
from export import OPSET, quantise, write_known
from figures import auc
from heads import ANSWERS, Heads, Outputs
from lessons import Lesson, claims_by_hand, claims_over_groups, default_data, natural_dev, questions_by_hand
from numpy.typing import NDArray
from packing import overlap
from packs import Pack, load
from safetensors.torch import load_file, save_file
from scipy.optimize import minimize  # type: ignore[import-untyped]
from shipping import write_manifest
from torch import Tensor, nn

from toulmin.data import Passage
from toulmin.extractive.trained_reader import TrainedReader
from toulmin.judges.embedded import BARS
from toulmin.judges.trained import KIND, JudgeNetwork
from toulmin.runtime.network import Network, Tokens
from toulmin.runtime.shipped import RULE
from toulmin.steps import Cut, Pair

SMOOTHED = {"wide": 0.7, "narrow": 0.85}  # the share of a channel's largest value that goes from input to weights
TOKENS, EXCERPTS = 512, 1
SAMPLE = 96  # rows by which the largest values are known
FOLDER_CLAIMS = Path(__file__).parent.parent / "benchmarks" / "folder_claims.jsonl"
GROUPED = 900  # claims over groups that `measure` takes
PEOPLE = ("attr_", "nli_")  # how sets that people made are called
BUDGET = 6_144  # tokens of a batch
MATRIX = 65_536  # bytes that a matrix has at least
_LEAST = 1e-5


class SmoothLinear(nn.Module):
    """A linear layer whose input is divided channel by channel; it computes the same."""

    def __init__(self, linear: nn.Linear, largest: Tensor, share: float) -> None:
        super().__init__()
        weights = linear.weight.detach().abs().amax(0).clamp(min=_LEAST)
        scale = largest.clamp(min=_LEAST) ** share / weights ** (1 - share)
        scale = scale / scale.median()
        self.shrink = nn.Parameter(1 / scale)
        self.linear = nn.Linear(linear.in_features, linear.out_features)
        self.linear.load_state_dict({"weight": linear.weight.detach() * scale, "bias": linear.bias.detach()})

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.linear(x * self.shrink)
        return out


def smooth(model: Heads, pack: Pack) -> Heads:
    """The same network, of which fewer numbers are large."""
    largest = dict[str, Tensor]()

    def watch(name: str) -> Any:
        def note(_: nn.Module, inputs: tuple[Tensor]) -> None:
            seen = inputs[0].abs().flatten(0, 1).amax(0)
            largest[name] = torch.maximum(largest.get(name, seen), seen)

        return note

    layers = {f"{n}.{part}": layer.get_submodule(part) for n, layer in _layers(model) for part in SMOOTHED}
    hooks = [layer.register_forward_pre_hook(watch(name)) for name, layer in layers.items()]
    with torch.no_grad():
        for place in np.random.default_rng(0).permutation(len(pack.sizes))[:SAMPLE]:
            model(**teach.pad(pack, pack.starts, np.array([place]), torch.device("cpu")).inputs)
    for hook in hooks:
        hook.remove()
    made = copy.deepcopy(model)
    for n, layer in _layers(made):
        for part, share in SMOOTHED.items():
            linear = layer.get_submodule(part)
            assert isinstance(linear, nn.Linear)
            setattr(layer, part, SmoothLinear(linear, largest[f"{n}.{part}"], share))
    return made.eval()


def _layers(model: Heads) -> Iterator[tuple[int, nn.Module]]:
    yield from enumerate(model.backbone.layers)


def to_onnx(model: Heads, path: Path) -> None:
    """One row at a time: verdict, block, span and marks, as `heads.py` has them."""
    ids = torch.full((1, 8), 5, dtype=torch.long)
    kinds = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1]])
    outputs = [*Outputs._fields]
    by_token = {name: {1: "tokens"} for name in ("ids", "kinds", "mask", "marks", "span")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter: it needs no further package
        torch.onnx.export(
            model,
            (ids, kinds, torch.ones_like(ids)),
            str(path),
            input_names=["ids", "kinds", "mask"],
            output_names=outputs,
            dynamic_axes=by_token,
            opset_version=OPSET,
            dynamo=False,
        )


def export(network: Path, pack: Pack, out: Path, name: str) -> None:
    """Writes the part's folder; the bars are those of a network that says its share as it is, until `fit`."""
    model = teach.heads_from(network, 0.0, 0)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        whole, small = Path(place) / "whole.onnx", Path(place) / "small.onnx"
        to_onnx(smooth(model.eval(), pack), whole)
        quantise(whole, small)
        _save_in_two(onnx.load(str(small)), out)
    shutil.copyfile(network / "tokenizer.json", out / "tokenizer.json")
    most = model.backbone.shape.max_position_embeddings - model.backbone.shape.first_place
    settings = {"max_tokens": min(TOKENS, most), "excerpts": EXCERPTS, "rule": RULE}
    (out / "settings.json").write_text(json.dumps(settings, indent=1), "utf-8")
    _write_bars(out, {"slope": 1.0, "offset": 0.0, "supported": 0.5, "likely": 0.5, "unsure": 0.3, "contradicted": 0.5})
    write_manifest(out, KIND, name)
    write_known(out)
    write_manifest(out, KIND, name)


def recover(part: Path, base: Path, out: Path) -> None:
    """Writes the network that `export` wrote, as well as its 8 bits know it; the embeddings are the base's."""
    graph = onnx.load(str(part / "model.onnx")).graph
    held = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    model = teach.heads_from(base, 0.0, 0)
    state = model.state_dict()
    for name in state.keys() & {name.replace(".linear", "") for name in held}:
        state[name] = torch.tensor(held.get(name, held.get(name.replace(".bias", ".linear.bias"))))
    for node in graph.node:
        if node.op_type == "MatMulInteger":  # /backbone/layers.0/wide/linear/MatMul_quant, /mix/Gemm_MatMul_quant
            root, place = node.input[1].removesuffix("_quantized"), node.name.split("/")[1:-1]
            whole = (held[f"{root}_quantized"] - held[f"{root}_zero_point"]).astype(np.float32) * held[f"{root}_scale"]
            name = ".".join(part for part in place if part != "linear")
            state[f"{name}.weight"] = torch.tensor(whole.T * held.get(f"{name}.shrink", np.float32(1)))
    out.mkdir(parents=True, exist_ok=True)
    save_file({name: value.contiguous() for name, value in state.items()}, out / "model.safetensors")
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(base / name, out / name)


def merge(start: Path, run: Path, share: float, out: Path) -> None:
    """Writes the network that `start` would be after this share of the way to what the run learnt."""
    state, learnt = load_file(start / "model.safetensors"), load_file(run / "learnt.safetensors")
    for name, value in learnt.items():
        state[name] = torch.lerp(state[name], value.float(), share)
    out.mkdir(parents=True, exist_ok=True)
    save_file(state, out / "model.safetensors")
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(start / name, out / name)


def soften(rows: Path, network: Path) -> int:
    """Writes what the network thinks of people's claims into a pack, and returns of how many.

    What goes on to learn other things then keeps what it knew of these (Li and Hoiem 2016, "Learning without
    Forgetting").
    """
    pack, model = load([rows]), teach.heads_from(network, 0.0, 0).eval()
    is_people = np.array([name.startswith(PEOPLE) for name in pack.names])[pack.source]
    places = np.flatnonzero(is_people & (pack.verdict >= 0))
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for batch in teach.batches(pack, places, BUDGET, 0):
            outputs = model(**teach.pad(pack, pack.starts, batch, torch.device("cpu")).inputs)
            pack.teacher[batch] = outputs.verdict.float().softmax(-1)[:, 0].numpy()
    pack.save(rows)
    return len(places)


def _save_in_two(model: Any, out: Path) -> None:
    """Half of the weights lie beside the network: no file is too large for what keeps versions."""
    matrices = [tensor for tensor in model.graph.initializer if len(tensor.raw_data) > MATRIX]
    left = sum(len(tensor.raw_data) for tensor in matrices) / 2
    for tensor in matrices:
        left -= len(tensor.raw_data)
        if left >= 0:
            onnx.external_data_helper.set_external_data(tensor, "weights.bin")
    onnx.save_model(model, str(out / "model.onnx"))


def _write_bars(folder: Path, bars: dict[str, float]) -> None:
    (folder / BARS).write_text(json.dumps(bars, indent=1) + "\n", "utf-8")


# ---------------------------------------------------------------- what it says


def log_odds(folder: Path, lessons: Sequence[Lesson]) -> NDArray[np.float64]:
    """Of support, as the judge reads the network of the folder."""
    shares = JudgeNetwork(folder).shares([lesson.pair for lesson in lessons])
    chances = np.clip([each.shares.supported for each in shares], 1e-4, 1 - 1e-4)
    return np.asarray(np.log(chances / (1 - chances)))


def fit(folder: Path, lessons: Sequence[Lesson], precision: float, likely: float) -> dict[str, float]:
    """Bars for which, of what is called supported, the share `precision` is true, and with what is called likely the
    share `likely`; every set counts alike, half of it true.
    """
    truth = np.array([lesson.verdict == 0 for lesson in lessons])
    odds, groups = log_odds(folder, lessons), [(lesson.source, lesson.verdict == 0) for lesson in lessons]
    weight = np.array([1 / groups.count(group) for group in groups])

    def lost(line: NDArray[np.float64]) -> float:
        signed = np.where(truth, 1.0, -1.0) * (line[0] * odds + line[1])
        return float((weight * np.logaddexp(0, -signed)).sum())

    slope, offset = minimize(lost, np.array([1.0, 0.0])).x
    chances = 1 / (1 + np.exp(-slope * odds - offset))
    order = np.argsort(-chances)
    right, whole = np.cumsum((weight * truth)[order]), np.cumsum(weight[order])
    enough = [np.flatnonzero(right / whole >= share) for share in (precision, likely)]
    bar, lower = (float(chances[order[each[-1]]]) if len(each) else 1.0 for each in enough)
    made = {
        "slope": slope,
        "offset": offset,
        "supported": bar,
        "likely": lower,
        "unsure": lower / 2,
        "contradicted": 0.5,
    }
    return {name: round(float(value), 4) for name, value in made.items()}


def measure(folder: Path, lessons: Sequence[Lesson]) -> Iterator[dict[str, Any]]:
    """The AUC of each set: of word overlap and of the network."""
    truth = np.array([lesson.verdict == 0 for lesson in lessons])
    names = np.array([lesson.source.split("/")[0] for lesson in lessons])
    scores = {
        "overlap": np.array([overlap(lesson) for lesson in lessons]),
        "network": log_odds(folder, lessons),
    }
    for name in dict.fromkeys(names.tolist()):
        held = names == name
        yield {"set": name, "claims": int(held.sum())} | {
            column: round(auc(score[held], truth[held]), 4) for column, score in scores.items()
        }


def claims_over_a_folder() -> list[Lesson]:
    """The claims by hand over a folder of manuals, each with its deciding sentence; nothing learns from them."""
    rows = map(json.loads, FOLDER_CLAIMS.read_text("utf-8").splitlines())
    return [
        Lesson(row["id"], "folder_claims", "written", "", "test", pair, verdict=int(not row["true"]))
        for row in rows
        for pair in (Pair((Passage.of(row["sentence"], ""),), row["claim"]),)
    ]


def measure_blocks(folder: Path, lessons: Sequence[Lesson]) -> Iterator[dict[str, Any]]:
    """Of the small reader and the large network: AUC over blocks that answer or do not, over questions that the page
    answers or not by their best block, and how often the first block answers where some do and others do not.
    """
    truth = np.array([ANSWERS[lesson.block] == "yes" for lesson in lessons])
    questions = [lesson.id.rsplit("-", 1)[0] for lesson in lessons]
    groups = [np.flatnonzero(np.array(questions) == name) for name in dict.fromkeys(questions)]
    reader, network, tokens = TrainedReader(), Network(folder / "model.onnx"), Tokens(folder / "tokenizer.json", TOKENS)
    cuts = [(lesson.pair.claim, Cut(text := lesson.pair.premises[0], 0, len(text.text))) for lesson in lessons]
    outputs = network.outputs([tokens.row(asked, cut.passage.text) for asked, cut in cuts])
    blocks = np.array([output[Outputs._fields.index("block")] for output in outputs])
    ranked = [(reader.rank(asked, [cut]) or [])[0].odds for asked, cut in cuts]
    open_ = [group for group in groups if truth[group].any() and not truth[group].all()]
    for name, scores in {
        "small": np.array(ranked),
        "large": blocks[:, 0] - np.logaddexp(blocks[:, 1], blocks[:, 2]),
    }.items():
        best, said = (np.array([values[group].max() for group in groups]) for values in (scores, truth))
        first = np.mean([truth[group[scores[group].argmax()]] for group in open_])
        held = {"blocks": auc(scores, truth), "questions": auc(best, said), "first": float(first)}
        yield {"network": name, "questions asked": len(groups)} | {key: round(held[key], 4) for key in held}


def main(arguments: Sequence[str]) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    exported = commands.add_parser("export", help="write the part's folder")
    exported.add_argument("network", type=Path)
    exported.add_argument("--rows", type=Path, required=True)
    exported.add_argument("--out", type=Path, required=True)
    exported.add_argument("--name", default="large-3")
    again = commands.add_parser("recover", help="write the network of a part, to go on from")
    again.add_argument("folder", type=Path)
    again.add_argument("--start", type=Path, required=True, help="folder of the base")
    again.add_argument("--out", type=Path, required=True)
    merged = commands.add_parser("merge", help="write the network that a run of teach.py learnt")
    merged.add_argument("network", type=Path, help="folder of the network that the run started from")
    merged.add_argument("run", type=Path)
    merged.add_argument("--share", type=float, default=1.0, help="of the way from the one to the other")
    merged.add_argument("--out", type=Path, required=True)
    softened = commands.add_parser("soften", help="give a network's opinion of people's claims as soft labels")
    softened.add_argument("rows", type=Path)
    softened.add_argument("--by", type=Path, required=True, help="folder of the network")
    fitted = commands.add_parser("fit", help="choose the bars on natural dev claims")
    measured = commands.add_parser("measure", help="print AUC on dev claims")
    for command in (fitted, measured):
        command.add_argument("folder", type=Path)
        command.add_argument("--each", type=int, default=200, help="claims of a set")
    fitted.add_argument("--precision", type=float, default=0.85)
    fitted.add_argument("--likely", type=float, default=0.8)
    chosen = parser.parse_args(arguments)
    if chosen.command == "export":
        export(chosen.network, load([chosen.rows]), chosen.out, chosen.name)
    elif chosen.command == "recover":
        recover(chosen.folder, chosen.start, chosen.out)
    elif chosen.command == "merge":
        merge(chosen.network, chosen.run, chosen.share, chosen.out)
    elif chosen.command == "soften":
        print(f"{soften(chosen.rows, chosen.by)} claims")
    elif chosen.command == "measure":
        _print_all(chosen.folder, natural_dev(default_data(), chosen.each))
    else:
        bars = fit(chosen.folder, natural_dev(default_data(), chosen.each), chosen.precision, chosen.likely)
        _write_bars(chosen.folder, bars)
        name = json.loads((chosen.folder / "manifest.json").read_text("utf-8"))["name"]
        write_manifest(chosen.folder, KIND, name)
        print(json.dumps(bars))


def _print_all(folder: Path, lessons: Sequence[Lesson]) -> None:
    held = [lesson for lesson in claims_by_hand() if lesson.split == "test"]
    held += random.Random(0).sample([lesson for lesson in claims_over_groups() if lesson.split == "test"], GROUPED)
    asked = [lesson for lesson in questions_by_hand() if lesson.split == "test"]
    for line in chain(measure(folder, [*lessons, *held, *claims_over_a_folder()]), measure_blocks(folder, asked)):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
