"""Coverage-guided fuzzing of every parser of text that others wrote, one process after another.

    python benchmarks/fuzz.py --minutes 60 [--only html pdf ...] [--seed 1] [--out DIR]
    python benchmarks/fuzz.py --again DIR/findings/PARSER/FILE      runs one finding again and shows what it raises

Needs `pip install atheris` (libFuzzer for Python, with wheels for Python 3.11 to 3.13 on Linux). What is guided is our
Python and that of the libraries in `INSTRUMENTED`; libraries in C are run, not looked into.

The minutes are shared out evenly, an inner process each. A finding is an error that is not of ours, more than `HANG`
seconds of computing for one input, more than `MEMORY` megabytes, or the end of the process. It is made smaller by rule,
written below `findings/`, and told once for each kind of error and line. In formats that the product reads in a child
process it is marked (confined), as the file is only left out there, by name. The corpus stays in DIR: another run goes
on from it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from fuzz_parsers import Parser
from headings import heading

# Modules of this folder, which load what they need only, and the parsers in their `PARSERS`.
NAMES = {
    "fuzz_documents": "txt md rst adoc man html rtf eml csv py jsonl tsv json jsonl.gz pdf odt pptx xlsx epub docx"
    " archive page",
    "fuzz_replies": "reply structured dataset results beir prompts alce_prompts script settings environment",
    "fuzz_kept": "answer transcript run journal preferences exported",
    "fuzz_http": "received wire search request",
}
HANG = 10  # seconds of computing for one input
_STUCK = 60  # seconds for one input, whatever it waits for
MEMORY = 1024  # megabytes of the process, of which the parsers themselves take about 200
INSTRUMENTED = ["toulmin", "docx", "striprtf"]
CONFINED = " (confined)"
_MOST_RESTARTS = 25
_SHRINKING = 5.0  # seconds
_STATUS = re.compile(r"cov: (\d+) .*?corp: (\S+)")
_EXECUTED = re.compile(r"(?:^#|executed_units: )(\d+)", re.MULTILINE)
_ENDS = {"timeout": "a hang", "oom": "memory", "crash": "the end of the process"}


def names() -> list[str]:
    return [name for listed in NAMES.values() for name in listed.split()]


def parser_of(name: str) -> Parser:
    module = next(module for module, listed in NAMES.items() if name in listed.split())
    made: Parser = import_module(module).PARSERS[name]()
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--only", nargs="+", metavar="PARSER")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "toulmin-fuzz")
    parser.add_argument("--again", type=Path, metavar="FILE")
    parser.add_argument("--inner", type=float, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.again is not None:
        sys.exit(run_again(asked.again))
    if asked.inner is not None:
        fuzz(asked.only[0], asked.out, asked.inner, asked.seed)
    sys.exit(run_all(asked.only or names(), asked.out, 60 * asked.minutes, asked.seed))


def run_again(path: Path) -> int:
    parser = parser_of(path.parent.name)
    try:
        parser.read(path.read_bytes())
    except parser.refusals as error:
        print(f"refused, as it should be: {error}")
        return 0
    except Exception:
        traceback.print_exc()
        return 1
    print("read")
    return 0


# ---------------------------------------------------------------- outside: one process after another


@dataclass(frozen=True)
class Outcome:
    """What became of a parser's time. `edges` are of the instrumented code."""

    seconds: float
    executions: int
    edges: int
    corpus: str
    findings: list[str]


def run_all(names: list[str], out: Path, seconds: float, seed: int) -> int:
    each = seconds / len(names)
    settings = f"{seconds / 60:g} minutes, {each:.0f} s for each of {len(names)} parsers; findings and corpus in {out}."
    print(heading("fuzz.py", f"{settings}\nA hang is over {HANG} s, memory over {MEMORY} MB.\n"))
    print(f"{'parser':14}  seed  seconds  executions  a second   edges  files/size of corpus  findings", flush=True)
    outcomes = []
    for n, name in enumerate(names):
        outcome = run_one(name, out, each, seed + n)
        rate = outcome.executions / outcome.seconds
        figures = f"{outcome.seconds:7.0f}  {outcome.executions:10,}  {rate:8,.0f}  {outcome.edges:6,}"
        print(f"{name:14}  {seed + n:4}  {figures}  {outcome.corpus:>20}  {len(outcome.findings):8}", flush=True)
        outcomes.append(outcome)
    total = sum(outcome.executions for outcome in outcomes)
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    print(f"\n{total:,} executions, {len(findings)} findings.", *findings, "```", sep="\n")
    return 1 if any(CONFINED not in finding for finding in findings) else 0


def run_one(name: str, out: Path, seconds: float, seed: int) -> Outcome:
    """Starts again where an input ends the process."""
    began, executions, edges, corpus = time.monotonic(), 0, 0, "0/0b"
    (out / "findings" / name).mkdir(parents=True, exist_ok=True)
    before = set(told(name, out))
    for again in range(_MOST_RESTARTS):
        left = seconds - (time.monotonic() - began)
        if left < 2:
            break
        code, log = run_inner(name, out, left, seed + 1000 * again)
        executions += max(map(int, _EXECUTED.findall(log)), default=0)
        for status in _STATUS.finditer(log):
            edges, corpus = max(edges, int(status[1])), status[2]
        if code == 0:
            break
    findings = [finding for finding in told(name, out) if finding not in before]
    return Outcome(time.monotonic() - began, executions, edges, corpus, findings)


def run_inner(name: str, out: Path, seconds: float, seed: int) -> tuple[int, str]:
    options = ["--only", name, "--out", str(out), "--inner", str(time.time() + seconds), "--seed", str(seed)]
    path = out / f"{name}.log"
    with path.open("wb") as log:
        command = [sys.executable, __file__, *options]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            code = process.wait(seconds + 120)
        except subprocess.TimeoutExpired:
            code = -1
        finally:
            process.kill()
            process.wait()
    return code, path.read_text("utf-8", "replace")


def told(name: str, out: Path) -> list[str]:
    """The findings so far, a line each."""
    path = out / "findings" / name
    rows = path / "told.jsonl"
    listed = [json.loads(line)["told"] for line in rows.read_text("utf-8").splitlines()] if rows.is_file() else []
    ends = [f"{_ENDS[kind]}: {file}" for kind in _ENDS for file in sorted(path.glob(f"{kind}-*"))]
    return [f"{name}: {line}" for line in (*listed, *ends)]


# ---------------------------------------------------------------- inside


def fuzz(name: str, out: Path, until: float, seed: int) -> None:
    """Does not return. To be loaded and instrumented takes seconds, which count."""
    try:
        import atheris
    except ImportError:
        sys.exit("Fuzzing needs atheris: pip install atheris")
    with atheris.instrument_imports(include=INSTRUMENTED):
        parser = parser_of(name)
        corpus, findings = out / "corpus" / name, out / "findings" / name
        for path in (corpus, findings):
            path.mkdir(parents=True, exist_ok=True)
        for text in parser.seeds:
            (corpus / hashlib.sha1(text).hexdigest()).write_bytes(text)
        longest = max(4096, *(2 * len(text) for text in parser.seeds))
        options = {
            "max_total_time": max(5, int(until - time.time())),
            "print_final_stats": 1,
            "timeout": _STUCK,
            "rss_limit_mb": MEMORY,
            "seed": seed,
            "max_len": longest,
            "artifact_prefix": f"{findings}/",
        }
        notes = Notes(findings, parser.read, parser.refusals, parser.is_confined)
        for text in parser.seeds:  # loads what is loaded late
            notes.run(text)
        atheris.Setup([sys.argv[0], *(f"-{key}={value}" for key, value in options.items()), str(corpus)], notes.run)
        atheris.Fuzz()


class Notes:
    """Runs inputs, and keeps one small input for each kind of foreign error and line that raised it."""

    def __init__(
        self, findings: Path, read: Callable[[bytes], object], refusals: tuple[type[Exception], ...], is_confined: bool
    ) -> None:
        self._findings, self._read, self._refusals, self._is_confined = findings, read, refusals, is_confined
        rows = findings / "told.jsonl"
        listed = rows.read_text("utf-8").splitlines() if rows.is_file() else []
        self._known = {json.loads(line)["key"] for line in listed}

    def run(self, data: bytes) -> None:
        key = self._key(data)
        if key is None or key in self._known:
            return
        self._known.add(key)
        data = self._smaller(data, key)
        path = self._findings / f"{hashlib.sha1(data).hexdigest()[:12]}"
        path.write_bytes(data)
        row = {"key": key, "told": f"{key}{CONFINED if self._is_confined else ''}: {path}"}
        with (self._findings / "told.jsonl").open("a", encoding="utf-8") as rows:
            rows.write(json.dumps(row) + "\n")

    def _key(self, data: bytes) -> str | None:
        began = time.process_time()
        try:
            self._read(data)
        except self._refusals:
            pass
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            ours = [frame for frame in frames if "/toulmin/" in frame.filename] or frames
            return f"{type(error).__name__} at {Path(ours[-1].filename).name}:{ours[-1].lineno}"
        return f"more than {HANG} seconds" if time.process_time() - began > HANG else None

    def _smaller(self, data: bytes, key: str) -> bytes:
        """Without all pieces that can be left out."""
        until, size = time.monotonic() + _SHRINKING, len(data) // 2
        while size and time.monotonic() < until:
            at = 0
            while at < len(data) and time.monotonic() < until:
                shorter = data[:at] + data[at + size :]
                data, at = (shorter, at) if self._key(shorter) == key else (data, at + size)
            size //= 2
        return data


if __name__ == "__main__":
    main()
