"""Run the parts of the check, two at a time, and print how long each takes.

A part with `inputs` does not run while these are the files with which it last passed: `.ci/passed.toml` keeps a hash of
them. Whoever changes an input commits that file too. `types` reads every folder every time, so a part that does not run
hides no changed signature of the package.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PASSED = ROOT / ".ci" / "passed.toml"
COPY = Path(tempfile.gettempdir()) / f"toulmin-readme-{os.getpid()}"
BROWSER = (
    '[ -x /usr/bin/chromium ] || [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null'
    " || { apt-get update -qq && apt-get install -y -qq chromium; } > /dev/null 2>&1"
    " || echo 'Chromium could not be installed; tests that open a page are skipped.'"
)
# Tests of the folders beside the package, and what decides whether they run. Tests that use such a folder to test the
# package, as test_faulty.py does, always run.
FOLDERS = {
    "training": "training tests/test_training*.py tests/trained_parts.py",
    "experiments": "experiments simulations tests/test_experiments*.py",
    "simulations": "simulations tests/test_sensitivity.py",
    "benchmarks": "benchmarks tests/test_folder_claims.py tests/test_probes*.py tests/test_judge_table.py",
}
DEPENDENCIES = "pyproject.toml requirements toulmin/testing"
# With what a distribution may import.
INTEGRATIONS = "integrations docs/integrations.md toulmin/__init__.py* toulmin/aio.py toulmin/data.py toulmin/ext.py"
OPENAI = "toulmin/server/openai_*.py toulmin/formats/openai.py"
CHECKS = "toulmin/server/requests.py toulmin/server/originals.py docs/answer.schema.json"
# What `docs/site/pages.py` and the docstrings that it shows are made of.
SITE = (
    "docs/**/*.md docs/*.json docs/figures docs/images docs/site mkdocs.yml .ci/site requirements/site.txt *.md"
    " benchmarks/RESULTS.md experiments/README.md weights/judge/src/toulmin_weights/card.md toulmin/*.py* toulmin/cli"
    " toulmin/driver toulmin/formats toulmin/methods/repair.py toulmin/models/scripted.py toulmin/parsing"
    " toulmin/prompts toulmin/runtime/encoder.py"
)
# All files are three minutes more.
OLDEST = "kinds hostile_corpus store store_contract cli config remote verbs web_server web_uploads".split()


@dataclass(frozen=True)
class Part:
    command: str
    needs: tuple[str, ...] = ()
    inputs: str = ""
    folder: Path = ROOT


def readme_command(last: str) -> str:
    """The line of the README that makes an environment and ends with a command of this name."""
    lines = re.findall(r"^python3 -m venv .*$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    fitting: list[str] = [line for line in lines if line.rpartition(" && ")[2].startswith(last)]
    if len(fitting) != 1:
        sys.exit(f"README.md has {len(fitting)} commands that end with {last}; one is expected.")
    return fitting[0]


def parts() -> dict[str, Part]:
    """In the order in which they start. The tests are the last, as they take both cores."""
    install, _, tests = readme_command(".venv/bin/pytest").rpartition(" && ")
    oldest = " ".join(f"tests/test_{name}.py" for name in OLDEST)
    return {
        "browser": Part(BROWSER),
        "install": Part(f"rm -rf .venv && {install}"),
        # In a copy of the tree: nothing that the tests need stands in for a missing dependency.
        "readme": Part(readme_command(".venv/bin/toulmin"), folder=COPY),
        "claims": Part("bash .ci/claims", ("readme",), folder=COPY),
        "style": Part(".venv/bin/ruff check . && .venv/bin/ruff format --check .", ("install",)),
        # `benchmarks` and `training` have modules of the same names. The second run finds the package in the cache.
        "types": Part(".venv/bin/mypy && MYPYPATH=training:benchmarks .venv/bin/mypy training", ("install",)),
        "oldest": Part(f"bash .ci/oldest {oldest}", inputs=f"{DEPENDENCIES} .ci/oldest"),
        "clients": Part("bash .ci/clients", inputs=f"{DEPENDENCIES} .ci/clients tests/*clients.* {OPENAI}"),
        "editors": Part("bash .ci/editors", ("browser",), inputs=f"{DEPENDENCIES} .ci/editors editors {CHECKS}"),
        "integrations": Part("bash .ci/integrations", inputs=f"{DEPENDENCIES} .ci/integrations {INTEGRATIONS}"),
        "site": Part("bash .ci/site", inputs=SITE),
        "tests": Part(tests, ("install", "browser")),
    }


def hash_of(places: Iterable[str], root: Path = ROOT) -> str:
    """Hash the names and contents of files. In a folder, pages, kept results and what Python compiles are left out."""
    digest = hashlib.sha256()
    for path in sorted(path for place in places for path in root.glob(place)):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            name = file.relative_to(root)
            is_page = file.suffix == ".md" and file != path
            if file.is_file() and not {"__pycache__", "results"} & set(name.parts) and not is_page:
                digest.update(f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def current_hashes() -> dict[str, str]:
    inputs = {name: f"{places} pyproject.toml" for name, places in FOLDERS.items()}
    inputs |= {name: part.inputs for name, part in parts().items() if part.inputs}
    return {name: hash_of(places.split()) for name, places in inputs.items()}


def passed_hashes() -> dict[str, str]:
    return tomllib.loads(PASSED.read_text("utf-8")) if PASSED.exists() else {}


def record(names: set[str]) -> None:
    kept = passed_hashes() | {name: value for name, value in current_hashes().items() if name in names}
    head = "# Hashes of the files with which each part last passed; `bash .ci/run` writes them.\n"
    PASSED.write_text(head + "".join(f'{name} = "{value}"\n' for name, value in sorted(kept.items())), "utf-8")


def test_files(names: Iterable[str]) -> list[str]:
    paths = [path for name in sorted(names) for place in FOLDERS[name].split() for path in sorted(ROOT.glob(place))]
    return [str(path.relative_to(ROOT)) for path in paths if path.name.startswith("test_")]


def run_part(name: str, part: Part) -> tuple[int, float, str]:
    """Return the exit status, the seconds, and the output; that of the tests is shown as it comes."""
    start = time.monotonic()
    if part.folder == COPY and not COPY.exists():
        # Names that are also folders of the package, as `build`, are left in.
        shutil.copytree(ROOT, COPY, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache"))
    print(f"+ {name}: {part.command}", flush=True)
    # What pip installs is compiled when it is imported, and most of it never is; of options that begin with `no`, pip
    # takes "0" as set.
    environment = os.environ | {"PIP_NO_COMPILE": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", part.command],
        cwd=part.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=None if name == "tests" else subprocess.PIPE,
        stderr=None if name == "tests" else subprocess.STDOUT,
        text=True,
    )
    return done.returncode, time.monotonic() - start, done.stdout or ""


def run_parts(todo: dict[str, Part]) -> dict[str, tuple[int, float]]:
    """Run two at a time, and the browser, which only waits for the network, beside them.

    A part whose need fails does not start and counts as failed.
    """
    waiting, results = dict(todo), dict[str, tuple[int, float]]()
    running: dict[Future[tuple[int, float, str]], str] = {}
    with ThreadPoolExecutor(3) as pool:
        while waiting or running:
            for name, part in list(waiting.items()):
                needs = [results.get(need) for need in part.needs]
                if any(need and need[0] for need in needs):
                    results[name] = (1, 0.0)
                    del waiting[name]
                elif all(needs) and (name == "browser" or len(set(running.values()) - {"browser"}) < 2):
                    running[pool.submit(run_part, name, part)] = name
                    del waiting[name]
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(future)
                code, seconds, output = future.result()
                results[name] = (code, seconds)
                print(f"= {name}: {'failed' if code else 'passed'}\n{output}".rstrip(), flush=True)
    return results


def choose(names: list[str], unchanged: set[str]) -> tuple[dict[str, Part], set[str]]:
    """The parts to run, with what they need, and the folders whose tests run with them."""
    every, named = parts(), set(names)
    folders = named & set(FOLDERS)
    if folders:  # the tests of these alone
        tests = every["tests"]
        every["tests"] = Part(f"{tests.command} {' '.join(test_files(folders))}", tests.needs)
        chosen = named - folders | {"tests"}
    else:
        folders = set(FOLDERS) - unchanged
        chosen = named or set(every) - unchanged
    chosen |= {need for name in chosen for need in every[name].needs}
    return {name: part for name, part in every.items() if name in chosen}, folders


def main() -> int:
    names = [*parts(), *FOLDERS]
    parser = argparse.ArgumentParser(prog=".ci/run", description="Check this project, or parts of it.")
    parser.add_argument("part", nargs="*", help=", ".join(names))
    parser.add_argument("--all", action="store_true", help="run the parts, too, whose files did not change")
    options = parser.parse_args()
    if unknown := set(options.part) - set(names):
        parser.error(f"no part is named {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    known = {} if options.all else passed_hashes()
    unchanged = {name for name, value in current_hashes().items() if known.get(name) == value}
    todo, folders = choose(options.part, unchanged)
    left_out = set(FOLDERS) - folders if "tests" in todo and not set(options.part) & set(FOLDERS) else set()
    if not options.part:
        print("Not run, as their files did not change:", ", ".join(sorted(unchanged)) or "none", flush=True)
    # Tests wait for servers and browsers a quarter of their time.
    os.environ.setdefault("PYTEST_XDIST_AUTO_NUM_WORKERS", str((os.cpu_count() or 1) + 1))
    os.environ["PYTEST_ADDOPTS"] = " ".join(f"--ignore={file}" for file in test_files(left_out))
    start = time.monotonic()
    try:
        results = run_parts(todo)
    finally:
        shutil.rmtree(COPY, ignore_errors=True)
    passed = {name for name, (code, _) in results.items() if code == 0}
    record(passed | (folders if "tests" in passed else set()))
    for name, (code, seconds) in results.items():
        print(f"{name:<8} {seconds:6.0f} s{'  failed' if code else ''}")
    print(f"{'total':<8} {time.monotonic() - start:6.0f} s")
    return int(passed != set(results))


if __name__ == "__main__":
    sys.exit(main())
