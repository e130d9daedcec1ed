"""Whole processes with a warm file cache: `import toulmin`, `toulmin --help`, and one `ask` over `pool_corpus`.

    python benchmarks/startup.py [--runs 11]

Targets (medians): import under 0.15 s, help under 0.25 s, ask under 1.0 s.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import data

import toulmin
from toulmin import Settings

CLI = [sys.executable, "-c", "from toulmin.cli import main; main()"]
QUESTION = "who got the first nobel prize in physics"


def seconds(command: list[str]) -> float:
    started = perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=11)
    runs = parser.parse_args().runs
    with TemporaryDirectory() as folder:
        index = Path(folder) / "pool"
        toulmin.index([data.path("pool_corpus")], into=index, settings=Settings())
        commands = {
            "python alone": ([sys.executable, "-c", "pass"], None),
            "import toulmin": ([sys.executable, "-c", "import toulmin"], 0.15),
            "toulmin --help": ([*CLI, "--help"], 0.25),
            "toulmin ask": ([*CLI, "ask", QUESTION, "--index", str(index)], 1.0),
        }
        for name, (command, target) in commands.items():
            seconds(command)
            times = sorted(seconds(command) for _ in range(runs))
            shown = f"(target {target} s)" if target else ""
            print(f"{name:<16} median {statistics.median(times):.3f} s  {times[0]:.3f}..{times[-1]:.3f}  {shown}")


if __name__ == "__main__":
    main()
