"""Fit the output of the large network that tells whether the evidence states a claim as a fact, and add it.

    python training/framing_head.py weights/judge/src/toulmin_weights/judge --out part
    python training/shipping.py --judge part

The network's verdict comes from its last layer, which takes a rumour of something for the thing; layers below still
know the difference. Of `LAYERS` the output weighs the mean state of the claim's tokens, and that of the same tokens in
the evidence. Nothing else of the network changes. Learnt from the lessons of `fit_framing.py`, at most `MOST` of a
kind; printed are the shares that weights of the other folds find.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from fit_framing import FOLDS, Lesson, lessons, report
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.parser import parse_graph
from shipping import write_manifest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toulmin.data import Passage
from toulmin.judges.trained import FRAMED, KIND, Frame
from toulmin.runtime.network import Floats, Network, Tokens
from toulmin.runtime.shipped import part, settings
from toulmin.steps import Pair

LAYERS = (6, 7)
STATES = "states"
STATE = "/backbone/layers.{}/last_norm/LayerNormalization_output_0"
USUAL = 3_000  # a token beyond this place of the vocabulary tells what a sentence is about
MOST = {"written": 9_999, "veridicality": 600, "natural": 1_200, "inference": 400, "made": 2_000, "cut": 300}
COUNTS = {"written": 6.0, "veridicality": 0.5, "natural": 2.0, "inference": 1.0, "made": 1.0, "cut": 1.0}
SPARSE = 0.01  # of scikit-learn's C

# A token of the evidence counts if the claim has it too and it is rare; where none does, all count alike, by `little`.
TOKENS_READ = """
read (int64[1, N] ids, int64[1, N] kinds) => (float[1, 1, N] framing_evidence, float[1, 1, N] framing_claim) {
    framing_first = Constant <value_ints = [1]> ()
    framing_last = Constant <value_ints = [2]> ()
    framing_one = Constant <value_float = 1.0> ()
    framing_little = Constant <value_float = 0.000001> ()
    framing_usual = Constant <value_int = USUAL> ()
    framing_sides = Cast <to = 1> (kinds)
    framing_second = Unsqueeze (framing_sides, framing_first)
    framing_claim = Sub (framing_one, framing_second)
    framing_column = Unsqueeze (ids, framing_last)
    framing_line = Unsqueeze (ids, framing_first)
    framing_same = Equal (framing_column, framing_line)
    framing_equal = Cast <to = 1> (framing_same)
    framing_shared = Mul (framing_equal, framing_claim)
    framing_held = ReduceMax <axes = [2], keepdims = 0> (framing_shared)
    framing_rare = Greater (ids, framing_usual)
    framing_telling = Cast <to = 1> (framing_rare)
    framing_weighed = Mul (framing_held, framing_telling)
    framing_some = Add (framing_weighed, framing_little)
    framing_there = Mul (framing_some, framing_sides)
    framing_evidence = Unsqueeze (framing_there, framing_first)
}
"""
MEAN = """
mean (float[1, 1, N] TOKENS, float[1, N, S] state) => (float[1, S] MEAN) {
    MEAN_axis = Constant <value_ints = [2]> ()
    MEAN_flat = Constant <value_ints = [1]> ()
    MEAN_sum = MatMul (TOKENS, state)
    MEAN_count = ReduceSum (TOKENS, MEAN_axis)
    MEAN_whole = Div (MEAN_sum, MEAN_count)
    MEAN = Squeeze (MEAN_whole, MEAN_flat)
}
"""


def add_states(model: Any) -> None:
    """The output `STATES`: of each layer the mean at the evidence's shared tokens, then at the claim's."""
    model.graph.node.extend(parse_graph(TOKENS_READ.replace("USUAL", str(USUAL))).node)
    means = []
    for layer in LAYERS:
        for side in ("framing_evidence", "framing_claim"):
            means.append(f"{side}_{layer}")
            nodes = parse_graph(MEAN.replace("MEAN", means[-1]).replace("TOKENS", side)).node
            for node in nodes:
                node.input[:] = [STATE.format(layer) if name == "state" else name for name in node.input]
            model.graph.node.extend(nodes)
    model.graph.node.append(helper.make_node("Concat", means, [STATES], axis=1))


def add_head(model: Any, weights: Floats, bias: float) -> None:
    """The output `FRAMED`: log odds."""
    held = {"framing_weight": weights[:, None], "framing_bias": np.array([bias], np.float32)}
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in held.items())
    model.graph.node.append(helper.make_node("Gemm", [STATES, *held], [FRAMED]))
    model.graph.output.append(helper.make_tensor_value_info(FRAMED, TensorProto.FLOAT, [1, 1]))


def states_of(folder: Path, known: Sequence[Lesson]) -> Floats:
    """What the folder's network holds of each lesson: lessons x values."""
    tokens = Tokens(folder / "tokenizer.json", settings(part(KIND, folder)).max_tokens)
    frame = Frame(tokens)
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(folder, place, dirs_exist_ok=True)
        model = onnx.load(str(Path(place) / "model.onnx"), load_external_data=False)
        add_states(model)
        model.graph.output.append(helper.make_tensor_value_info(STATES, TensorProto.FLOAT, None))
        onnx.save(model, str(Path(place) / "model.onnx"))
        network = Network(Path(place) / "model.onnx")
        pairs = [Pair(tuple(map(Passage.of, each.texts)), each.claim) for each in known]
        return np.array([outputs[-1] for outputs in network.outputs([frame.views(pair)[0].row for pair in pairs])])


def choose(chance: random.Random) -> list[Lesson]:
    """At most `MOST` lessons of a kind, whose texts share some content word with the claim."""
    kinds: dict[str, list[Lesson]] = {}
    for each in lessons(chance):
        if each.texts and any(text.strip() for text in each.texts):
            kinds.setdefault(each.origin, []).append(each)
    return [each for kind, of_kind in kinds.items() for each in chance.sample(of_kind, min(len(of_kind), MOST[kind]))]


def fit(known: Sequence[Lesson], states: Floats) -> tuple[Floats, float]:
    """Weights and bias, after a report on what weights of the other folds find."""
    truth, groups = np.array([each.is_framed for each in known]), [zlib.crc32(each.group.encode()) for each in known]
    weights, folds = np.array([COUNTS[each.origin] for each in known]), np.array(groups) % FOLDS
    chances = np.zeros(len(known))
    for fold in range(FOLDS):
        held = folds == fold
        chances[held] = _model(states[~held], truth[~held], weights[~held]).predict_proba(states[held])[:, 1]
    report(known, chances)
    scaler, line = (step for _, step in _model(states, truth, weights).steps)
    slopes = line.coef_[0] / scaler.scale_
    return slopes.astype(np.float32), float(line.intercept_[0] - slopes @ scaler.mean_)


def _model(states: Floats, truth: NDArray[np.bool_], weights: NDArray[np.float64]) -> Any:
    model = make_pipeline(StandardScaler(), LogisticRegression(C=SPARSE, max_iter=500))
    return model.fit(states, truth, logisticregression__sample_weight=weights / weights.mean())


def main(arguments: Sequence[str]) -> None:
    """Writes the folder of the part with the output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the part, without the output")
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    known = choose(random.Random(7))
    weights, bias = fit(known, states_of(chosen.folder, known))
    name = part(KIND, chosen.folder).name
    shutil.copytree(chosen.folder, chosen.out)
    model = onnx.load(str(chosen.folder / "model.onnx"), load_external_data=False)
    add_states(model)
    add_head(model, weights, bias)
    onnx.save(model, str(chosen.out / "model.onnx"))
    write_manifest(chosen.out, KIND, name)


if __name__ == "__main__":
    main(sys.argv[1:])
