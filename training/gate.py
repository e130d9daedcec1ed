"""Test whether the large network is worth its cost: both learn from the same rows in the same order.

    python training/gate.py --large BASE --small MINILM --rows FILE ... --dev FILE --out DIR --threads 2

Files are those of `packing.py`, made with the large base. Each network learns up to a milestone of rows, the small one
first; then a line of `DIR/gate.jsonl` has the mean AUC of both on the natural dev sets, and that of word overlap. The
same command continues where it stopped. The large one learns by adapters on its upper layers, the small one with all
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
from teach import Plan, Run, areas, heads_from

MILESTONES = (5_000, 10_000, 20_000, 40_000, 60_000)
NETWORKS = ("small", "large")
LEAD = 0.03  # by which the large network must lead at the last milestone
LARGE = Plan(rate=5e-4, rank=16, frozen=6, budget=2_048)
SMALL = Plan(rate=1.5e-4, rank=0, budget=2_048)


def assessment(run: Path, rows: int) -> dict[str, float] | None:
    """The first AUC of a run after so many rows."""
    file = run / "metrics.jsonl"
    lines = map(json.loads, file.read_text("utf-8").splitlines()) if file.exists() else ()
    return next((line["auc"] for line in lines if "auc" in line and line["rows"] >= rows), None)


def write_table(out: Path, overlap: dict[str, float], milestones: Sequence[int]) -> list[dict[str, Any]]:
    """Writes a line for each milestone that both networks have passed."""
    table = []
    for rows in milestones:
        small, large = (assessment(out / name, rows) for name in NETWORKS)
        if small and large:
            sets = {"overlap": overlap, "small": small, "large": large}
            table.append({"rows": rows, **{name: areas["mean"] for name, areas in sets.items()}, "sets": sets})
    (out / "gate.jsonl").write_text("".join(json.dumps(line) + "\n" for line in table), "utf-8")
    return table


def compare(runs: dict[str, tuple[Run, Pack]], milestones: Sequence[int], out: Path) -> None:
    """Trains the networks to each milestone and writes how they stand."""
    dev = next(iter(runs.values()))[1]
    overlap, table = areas(dev.overlap, dev), list[dict[str, Any]]()
    for rows in milestones:
        for run, pack in runs.values():
            if not run.train(pack, until=rows):
                print("Not finished; run the same command again.", flush=True)
                return
        table = write_table(out, overlap, milestones)
        print(json.dumps(table[-1:]), flush=True)
    if len(table) == len(milestones):
        lead = table[-1]["large"] - table[-1]["small"]
        verdict = "go on" if lead >= LEAD else "change the way"
        print(f"The large network leads by {lead:.3f}, and must by {LEAD}: {verdict}.", flush=True)


def main(arguments: Sequence[str]) -> None:
    """Compares, or goes on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", type=Path, required=True, help="folder of the base")
    parser.add_argument("--small", type=Path, required=True, help="folder of the small starting weights")
    parser.add_argument("--rows", type=Path, nargs="+", required=True)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", choices=NETWORKS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--milestones", type=int, nargs="+", default=MILESTONES)
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(chosen.threads)
    rows, dev = load(chosen.rows), load([chosen.dev])
    runs = {}
    if chosen.only != "large":
        runs["small"] = (
            Run(heads_from(chosen.small, 0.05, 0), rows.for_bert(), SMALL, chosen.out / "small"),
            dev.for_bert(),
        )
    if chosen.only != "small":
        large = heads_from(chosen.large, 0.05, 0)
        runs["large"] = Run(large, rows, LARGE, chosen.out / "large"), dev
    planned = min(chosen.milestones[-1], len(rows.sizes))

    def stop(*_: object) -> None:
        for run, _pack in runs.values():
            run.stop()

    signal.signal(signal.SIGTERM, stop)
    compare(runs, [*(n for n in chosen.milestones if n < planned), planned], chosen.out)


if __name__ == "__main__":
    main(sys.argv[1:])
