"""One network from several that went on from the same one: the mean of their weights.

    python training/average.py RUN0 RUN1 RUN2 --out DIR

Runs that begin alike and differ in what they drew end so near to each other that their mean is a network too, which
wanders less than each of them. `training/judge.py --start DIR --epochs 0 --fold N` says what it makes of held pairs.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import model as networks


def average(runs: Sequence[Path]) -> networks.Network:
    """The mean of the runs' networks. Raises SystemExit where they are not alike."""
    held = [networks.load(run) for run in runs]
    first = held[0].state_dict()
    others = [one.state_dict() for one in held[1:]]
    if any({n: w.shape for n, w in one.items()} != {n: w.shape for n, w in first.items()} for one in others):
        raise SystemExit("Only networks of one head and one shape have a mean; these differ.")
    for name, weight in first.items():
        weight.add_(sum(one[name] for one in others)).div_(len(held))
    return held[0]


def main(arguments: Sequence[str]) -> None:
    """Writes the mean, with the tokenizer and the settings of the first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    networks.save(average(chosen.runs), chosen.out)
    for name in ("tokenizer.json", "settings.json"):
        shutil.copyfile(chosen.runs[0] / name, chosen.out / name)
    print(f"{chosen.out}: the mean of {len(chosen.runs)} runs")


if __name__ == "__main__":
    main(sys.argv[1:])
