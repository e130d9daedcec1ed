"""Whether the large network is worth its cost: both learn from the same rows in the same order.

    python training/gate.py --large BASE --small MINILM --rows FILE ... --dev FILE --out DIR --threads 2

Files are those of `packing.py`, made with the large base. Each network learns up to a milestone of rows, the small one
first; then a line of `DIR/gate.jsonl` has the mean AUC of both on the natural dev sets, and that of word overlap. The
same command goes on where it was stopped. The large one learns by adapters on its upper layers, the small one with all
its weights, which is the best that each of them can do on a processor.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from packs import Pack, load
from teach import Plan, Run, areas, started

MILESTONES = (5_000, 10_000, 20_000, 40_000, 60_000)
LEAD = 0.03  # by which the large network must lead at the last milestone
LARGE = Plan(rate=5e-4, rank=16, frozen=6, budget=2_048)
SMALL = Plan(rate=1.5e-4, rank=0, budget=2_048)


def latest(out: Path) -> dict[str, Any]:
    """The last assessment of a run."""
    lines = (out / "metrics.jsonl").read_text("utf-8").splitlines()
    return next(line for line in map(json.loads, reversed(lines)) if "auc" in line)


def compare(runs: dict[str, tuple[Run, Pack]], milestones: Sequence[int], out: Path) -> None:
    """Trains both to each milestone and writes how they stand."""
    dev = runs["small"][1]
    overlap = areas(dev.overlap, dev)
    for rows in milestones:
        for run, own in runs.values():
            if not run.train(own, until=rows):
                print("Not finished; run the same command again.", flush=True)
                return
        scores = {name: latest(out / name) for name in runs}
        line = {
            "rows": rows,
            "overlap": overlap["mean"],
            **{name: score["auc"]["mean"] for name, score in scores.items()},
            "sets": {"overlap": overlap, **{name: score["auc"] for name, score in scores.items()}},
        }
        with (out / "gate.jsonl").open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)
    lead = line["large"] - line["small"]
    print(f"The large network leads by {lead:.3f}; it must by {LEAD}: {'go on' if lead >= LEAD else 'change the way'}.")


def main(arguments: Sequence[str]) -> None:
    """Compares, or goes on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", type=Path, required=True, help="folder of the base")
    parser.add_argument("--small", type=Path, required=True, help="folder of the small starting weights")
    parser.add_argument("--rows", type=Path, nargs="+", required=True)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--milestones", type=int, nargs="+", default=MILESTONES)
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(chosen.threads)
    rows, dev = load(chosen.rows), load([chosen.dev])
    runs = {
        "small": (Run(started(chosen.small, 0.05, 0), rows.for_bert(), SMALL, chosen.out / "small"), dev.for_bert()),
        "large": (Run(started(chosen.large, 0.05, 0), rows, LARGE, chosen.out / "large"), dev),
    }

    def stop(*_: object) -> None:
        for run, _pack in runs.values():
            run.stop()

    signal.signal(signal.SIGTERM, stop)
    compare(runs, chosen.milestones, chosen.out)


if __name__ == "__main__":
    main(sys.argv[1:])
