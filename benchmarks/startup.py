"""Whole processes with a warm file cache: `import toulmin`, and `--help`, `ask` and `search` over `pool_corpus`.

    python benchmarks/startup.py [--runs 11] [--against CHECKOUT]

Targets (medians): import under 0.15 s, help under 0.25 s, ask under 1.0 s. `--against` names another checkout of this
repository: each command is then run in turn with its code and with this one's, and the ratio of the medians is printed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import data
from headings import heading

CLI = [sys.executable, "-c", "from toulmin.cli import main; main()"]
QUESTION = "who got the first nobel prize in physics"
TARGETS = {"import toulmin": 0.15, "toulmin --help": 0.25, "toulmin ask": 1.0}


def commands(index: Path) -> dict[str, list[str]]:
    return {
        "python alone": [sys.executable, "-c", "pass"],
        "import toulmin": [sys.executable, "-c", "import toulmin"],
        "toulmin --help": [*CLI, "--help"],
        "toulmin search": [*CLI, "search", QUESTION, "--index", str(index)],
        "toulmin ask": [*CLI, "ask", QUESTION, "--index", str(index)],
    }


def seconds(command: list[str], checkout: Path | None = None) -> float:
    """How long the command takes, with that checkout's code."""
    started = perf_counter()
    compiled = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # as after an install
    # `-c` imports from the working folder first.
    subprocess.run(command, stdout=subprocess.DEVNULL, cwd=checkout, env=compiled, check=True)
    return perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--against", type=Path, help="another checkout of this repository")
    options = parser.parse_args()
    checkouts = [Path(__file__).resolve().parent.parent]
    if options.against is not None:
        checkouts.append(options.against.resolve())
    print(
        heading(
            "startup.py",
            f"Whole processes, {options.runs} runs of each in turn after one that warms up; by words.\n",
        )
    )
    with TemporaryDirectory() as folder:
        indexes = [Path(folder) / str(number) for number in range(len(checkouts))]
        for index, checkout in zip(indexes, checkouts, strict=True):
            seconds([*CLI, "index", str(data.path("pool_corpus").resolve()), "--into", str(index)], checkout)
        for name in commands(indexes[0]):
            pairs = [(commands(index)[name], checkout) for index, checkout in zip(indexes, checkouts, strict=True)]
            times: list[list[float]] = [[] for _ in pairs]
            for turn in range(options.runs + 1):
                for at in sorted(range(len(pairs)), reverse=turn % 2 == 1):  # what comes second is a little faster
                    times[at].append(seconds(*pairs[at]))
            show(name, [column[1:] for column in times])  # the first warms up
    print("```")


def show(name: str, times: list[list[float]]) -> None:
    here, *others = (statistics.median(column) for column in times)
    ratio = "".join(f"  {here / other:.2f} times the other's {other:.3f} s" for other in others)
    target = f"  (target {TARGETS[name]} s)" if name in TARGETS else ""
    print(f"{name:<16} median {here:.3f} s  {min(times[0]):.3f}..{max(times[0]):.3f}{target}{ratio}")


if __name__ == "__main__":
    main()
