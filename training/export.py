"""Write the folder that is shipped from a trained network: ONNX with 8-bit weights, tokenizer, settings and hashes.

    python training/export.py RUN --out DIR [--name embedded-reader-3]

A reader's run holds its calibration. `training/large.py export` writes the judge, with the functions of this file.

Weights become 8-bit numbers. Activations become such numbers when a row is read; since rows are read one by one,
the verdict on a pair never depends on the others of its batch. The command prints the size, the largest difference of
probabilities to torch, the verdicts that flip, and pairs a second on one core at 128 tokens, 64 pairs at once.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import model as networks
import numpy as np
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from shipping import write_manifest

from toulmin.extractive.trained_reader import FILE as CALIBRATION
from toulmin.judges.trained import KNOWN, TRIALS, JudgeNetwork
from toulmin.runtime.network import ANSWERS, Network, Row, pad_rows

OPSET = 17
SPEED_ROWS, SPEED_TOKENS = 64, 128


# ---------------------------------------------------------------- the graph


def to_onnx(model: networks.Network, path: Path) -> None:
    """Writes the network in single precision."""
    ids = torch.ones(2, 8, dtype=torch.long)
    axes = {name: {0: "rows", 1: "tokens"} for name in ("ids", "kinds", "mask")}
    outputs = {"logits": {0: "rows", 1: "tokens"} if _by_token(model) else {0: "rows"}}
    if isinstance(model, networks.Ranker):
        outputs[ANSWERS] = {0: "rows"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter: it needs no further package
        torch.onnx.export(
            model.eval(),
            (ids, torch.zeros_like(ids), torch.ones_like(ids)),
            str(path),
            input_names=list(axes),
            output_names=list(outputs),
            dynamic_axes={**axes, **outputs},
            opset_version=OPSET,
            dynamo=False,
        )


def _by_token(model: networks.Network) -> bool:
    return isinstance(model, networks.Reader | networks.Ranker)


def quantise(whole: Path, out: Path) -> None:
    """The same network with 8-bit weights, a scale a column.

    Seven of the eight bits are used: processors without the instructions of neural networks add two products of eight
    bits in sixteen, and would say something else than those that have them.
    """
    quantize_dynamic(str(whole), str(out), weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)


# ---------------------------------------------------------------- what it costs


class Parity(NamedTuple):
    """How far the shipped network is from the trained one: shares over the outcomes, and verdicts."""

    difference: float
    flips: int
    rows: int


def parity(model: networks.Network, shipped: Network, rows: Sequence[Row]) -> Parity:
    """The largest difference of a share, and how often the likeliest outcome (or place) is another one."""
    ours = shipped.logits(rows)
    difference, flips = 0.0, 0
    for row, other in zip(rows, ours, strict=True):
        given = {name: torch.from_numpy(value) for name, value in pad_rows([row]).items()}
        with torch.inference_mode():
            output = model(**given)
            shares = (output[0] if isinstance(output, tuple) else output)[0].softmax(0)
        says = torch.from_numpy(other).softmax(0)
        difference = max(difference, float((shares - says).abs().max()))
        flips += int(not torch.equal(shares.argmax(0), says.argmax(0)))
    return Parity(difference, flips, len(rows))


def speed(shipped: Network, tokens: int = SPEED_TOKENS, batches: int = 2) -> float:
    """Pairs for each second of CPU time, in batches of 64 rows; the network should have one thread."""
    rows = random_rows(SPEED_ROWS, tokens, least=tokens)
    shipped.logits(rows)
    began = time.process_time()
    for _ in range(batches):
        shipped.logits(rows)
    return batches * len(rows) / (time.process_time() - began)


def random_rows(count: int, tokens: int, least: int = 8, vocabulary: int = 30_000, seed: int = 0) -> list[Row]:
    """Rows of random tokens: for speed, and for parity where no text is given."""
    chance = np.random.default_rng(seed)
    low = min(1_000, vocabulary // 2)
    sizes = chance.integers(least, tokens + 1, count)
    return [Row([int(n) for n in chance.integers(low, vocabulary, size)], int(size) // 3, []) for size in sizes]


# ---------------------------------------------------------------- the folder


def export(run: Path, out: Path, name: str) -> Network:
    """Writes the part's folder from a finished run's; returns its network, on one thread."""
    model = networks.load(run)
    head = json.loads((run / "network.json").read_text("utf-8"))["head"]
    kind = "reader" if head == "ranker" else head
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place) / "whole.onnx"
        to_onnx(model, whole)
        quantise(whole, out / "model.onnx")
    for file in ("tokenizer.json", "settings.json", CALIBRATION):
        if (run / file).exists():
            shutil.copyfile(run / file, out / file)
    write_manifest(out, kind, name)
    return Network(out / "model.onnx", threads=1)


def write_known(out: Path) -> None:
    """Writes what the exported judge says of the trial pairs, by which `toulmin doctor` knows a processor that errs."""
    shares = [judged.shares for judged in JudgeNetwork(out).shares(TRIALS)]
    (out / KNOWN).write_text(json.dumps(shares) + "\n", "utf-8")


def main(arguments: Sequence[str]) -> None:
    """Exports a run, and prints what that cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", default="embedded-reader-3")
    parser.add_argument("--rows", type=int, default=100, help="rows for parity")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    shipped = export(chosen.run, chosen.out, chosen.name)
    model = networks.load(chosen.run)
    most = min(SPEED_TOKENS, model.backbone.shape.max_position_embeddings)
    rows = random_rows(chosen.rows, most, vocabulary=model.backbone.shape.vocab_size)
    gap = parity(model, shipped, rows)
    size = sum(file.stat().st_size for file in chosen.out.iterdir()) / 1e6
    print(f"{chosen.out}: {size:.1f} MB; largest difference {gap.difference:.4f}, {gap.flips} of {gap.rows} flip")
    print(f"{speed(shipped, most):.0f} pairs a CPU second at {most} tokens, batch {SPEED_ROWS}")


if __name__ == "__main__":
    main(sys.argv[1:])
