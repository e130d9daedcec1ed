"""Average the weights of several networks that started from the same one.

    python training/average.py RUN0 RUN1 RUN2 --out DIR

Runs that start alike and draw different pairs end close together, so their mean is a network too, and varies less than
each of them. `training/judge.py --start DIR --epochs 0 --fold N` scores the held-out pairs with it.
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
    others = [network.state_dict() for network in held[1:]]
    if any({n: w.shape for n, w in state.items()} != {n: w.shape for n, w in first.items()} for state in others):
        raise SystemExit("Only networks of one head and one shape have a mean; these differ.")
    for name, weight in first.items():
        weight.add_(sum(state[name] for state in others)).div_(len(held))
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
