"""Make each mistake of `mutations.toml` in a copy of the project and report those that no test notices.

`python tests/mutate.py [--tree FOLDER] [WORD]`: `--tree` names another checkout to try; WORD picks mutations by the
path of their file. A tool for maintainers: one run of tests for each mutation, some minutes in all.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def is_noticed(tree: Path, tests: str) -> bool:
    """Whether a test fails. Any other end of pytest (no test, an error of collection) is no answer."""
    files = [f"tests/{name}" for name in tests.split()]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *files]
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"pytest ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 1


def main() -> int:
    parser = argparse.ArgumentParser(description="Report mutations that survive the tests.")
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--tree", type=Path, default=ROOT)
    options = parser.parse_args()
    mutations = tomllib.loads((ROOT / "tests" / "mutations.toml").read_text("utf-8"))["mutation"]
    chosen = [mutation for mutation in mutations if options.word in mutation["file"]]
    survivors = []
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place) / "tree"
        skipped = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "runs")
        shutil.copytree(options.tree, tree, ignore=skipped)
        for mutation in chosen:
            file = tree / mutation["file"]
            text = file.read_text("utf-8")
            if text.count(mutation["before"]) != 1:
                sys.exit(f"{mutation['file']} has {text.count(mutation['before'])} times: {mutation['before']}")
            file.write_text(text.replace(mutation["before"], mutation["after"]), "utf-8")
            noticed = is_noticed(tree, mutation["tests"])
            file.write_text(text, "utf-8")
            print("killed  " if noticed else "SURVIVES", f"{mutation['file']}: {mutation['after']}", flush=True)
            survivors += [] if noticed else [mutation]
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutations are killed")
    return int(bool(survivors))


if __name__ == "__main__":
    sys.exit(main())
