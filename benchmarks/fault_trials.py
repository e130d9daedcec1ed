"""What `faults.py` kills and starves: commands in forked children, and what a user sees after each."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads must not fork
sys.path.insert(0, str(Path(__file__).parent.parent))

import httpx2

import toulmin.build.parts
import toulmin.build.scoring
import toulmin.evaluation.running
import toulmin.retrieval.bm25
import toulmin.server.serve  # noqa: F401 - imported before the forks
from tests.words_encoder import ByWords
from toulmin.cli import run as command
from toulmin.errors import SourceError
from toulmin.indexing.store import open_index
from toulmin.indexing.update import update
from toulmin.indexing.vector_files import EncoderChoice
from toulmin.retrieval.bm25 import Bm25

WORDS = "lamp tower keeper storm harbour reef oil wick lens fog horn boat wreck tide rock bell night ship crew".split()
CALLS = "rename,renameat,renameat2,fsync,fdatasync,write,pwrite64,link,linkat,ftruncate,unlink,unlinkat,mkdir"
CHEAP = ["--judge", "lexical", "--set", "reader=lexical"]
BUSY = "Another process is writing"
PATIENCE = 60.0
TOKEN = "a-token-of-this-benchmark"


# ---------------------------------------------------------------- children


@dataclass(frozen=True)
class ChildResult:
    """How a child ended: its exit code (None: killed), what it printed or returned, seconds, and megabytes at most."""

    code: int | None
    output: Any
    seconds: float
    megabytes: int


class Child:
    """A function in a forked process, which begins when it is told to."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self._socket, there = socket.socketpair()
        self.pid = os.fork()
        if not self.pid:
            self._socket.close()
            _live(act, there)
        there.close()

    def go(self) -> Child:
        self._began = time.monotonic()
        self._socket.send(b"g")
        return self

    def kill(self, whole: bool = False) -> None:
        """The process, or its workers too."""
        with suppress(ProcessLookupError):
            (os.killpg if whole else os.kill)(self.pid, signal.SIGKILL)

    def end(self) -> ChildResult:
        """Waits; 128 and the signal is the code of a child that another signal ended."""
        _, status, usage = os.wait4(self.pid, 0)
        with suppress(BlockingIOError, ConnectionResetError):
            sent = self._socket.recv(1 << 20, socket.MSG_DONTWAIT)
        self._socket.close()
        code, output = pickle.loads(sent) if not status else (None, "")
        if status and os.WTERMSIG(status) != signal.SIGKILL:
            code, output = 128 + os.WTERMSIG(status), f"signal {os.WTERMSIG(status)}"
        return ChildResult(code, output, time.monotonic() - self._began, usage.ru_maxrss // 1024)


def _live(act: Callable[[], Any], there: socket.socket) -> None:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    there.recv(1)
    output = StringIO()
    try:
        with redirect_stdout(output), redirect_stderr(output):
            result = act()
        ended = (result, output.getvalue()) if isinstance(result, int) else (0, result)
    except BaseException:
        ended = 99, traceback.format_exc()
    there.send(pickle.dumps(ended))  # by `sendto`, which no fault is put into
    os._exit(0)


def run_child(act: Callable[[], Any]) -> ChildResult:
    return Child(act).go().end()


def run_again(act: Callable[[], Any]) -> ChildResult:
    """Again, as a person would, while what a kill has orphaned still ends."""
    for _ in range(5):
        end = run_child(act)
        if end.code == 0 or BUSY not in str(end.output):
            break
    return end


# ---------------------------------------------------------------- what is killed, and what a user sees then


@dataclass(frozen=True)
class Case:
    """A command over the folder of a trial, which is made anew from `start`; and what a user sees in it."""

    name: str
    act: Callable[[], Any]
    look: Callable[[], str]
    start: Path
    trial: Path
    whole: list[Any] = field(default_factory=list)  # what is seen after a command that nobody touched; its seconds

    def begin(self) -> None:
        shutil.rmtree(self.trial, ignore_errors=True)
        shutil.copytree(self.start, self.trial)

    def measure(self) -> None:
        self.begin()
        before = run_child(self.look).output
        end = run_child(self.act)
        if end.code != 0:
            raise SystemExit(f"{self.name} fails without any fault: {end.output}")
        self.whole[:] = [run_child(self.look).output, end.seconds, before]

    def outcome(self) -> str:
        """Goes on and compares."""
        end = run_again(self.act)
        if end.code != 0:
            return f"refused: {str(end.output).strip()[-160:]}"
        return "equal" if run_child(self.look).output == self.whole[0] else "UNEQUAL"


def page(seed: int, words: int = 120) -> str:
    draw = random.Random(seed)
    return " ".join(f"{' '.join(draw.choices(WORDS, k=9))} number{seed}." for _ in range(words // 10))


def look_at_index(index: Path) -> str:
    """Passages, texts, ranks, scores and vectors as one digest, or the error."""
    try:
        with open_index(index) as corpus:
            hits = Bm25(corpus).search([*WORDS, *(f"number{n}" for n in range(40))], 2000)
            seen: list[Any] = [[(hit.passage.id, round(hit.score, 9)) for hit in row] for row in hits]
            seen += [sorted(corpus.text(document) for document in corpus.documents()), corpus.stats]
            if corpus.vectors is not None:
                seen.append(corpus.vectors.rank(ByWords().encode_queries(WORDS), 20))
            corpus.verify()
            return hashlib.sha256(repr(seen).encode()).hexdigest()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def look_at_run(folder: Path) -> str:
    """Answers by id without their times, and scores with their reasons."""
    if not (folder / "answers.jsonl").is_file():
        return "no answers"
    answers = [json.loads(line) for line in (folder / "answers.jsonl").read_text("utf-8").splitlines()]
    for answer in answers:
        answer["usage"]["seconds"] = 0
    scored = sorted(folder.glob("reasons-*.jsonl")) + sorted(folder.glob("scores.json"))
    texts = [re.sub(r'"(seconds|scored|created|asked)": ?[^,}]+', "", path.read_text("utf-8")) for path in scored]
    return hashlib.sha256(repr((sorted(answers, key=lambda answer: str(answer["id"])), texts)).encode()).hexdigest()


def index_with_vectors(index: Path, docs: Path) -> int:
    try:
        update(index, [docs], vectors=EncoderChoice(ByWords(), "by-words"))
    except SourceError as error:
        print(error)
        return 3
    return 0


def cases(ground: Path) -> list[Case]:
    """Sixteen files, of which some changed, vanished and came since the older index; and ten questions."""
    docs, trial = ground / "docs", ground / "trial"
    docs.mkdir()
    into, run = trial / "index", trial / "run"
    for n in range(16):
        (docs / f"{n}.txt").write_text(page(n), "utf-8")
    (ground / "empty").mkdir()
    acts: dict[str, Callable[[], Any]] = {
        "index": lambda: command(["index", str(docs), "--into", str(into)]),
        "vectors": partial(index_with_vectors, into, docs),
    }
    listed = []
    for name, act in acts.items():
        shutil.rmtree(trial, ignore_errors=True)
        trial.mkdir()
        run_child(act)
        shutil.copytree(trial, ground / f"old-{name}")
    for n in range(4):
        (docs / f"{n}.txt").write_text(page(n, 100), "utf-8")
        (docs / f"{n + 8}.txt").unlink()
        (docs / f"{n + 30}.txt").write_text(page(n + 30), "utf-8")
    look = partial(look_at_index, into)
    for name, act in acts.items():
        listed.append(Case(f"{name}, new", act, look, ground / "empty", trial))
        listed.append(Case(f"{name}, changed", act, look, ground / f"old-{name}", trial))
    questions = [_question(n) for n in range(10)]
    (ground / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions), "utf-8")
    asked = ["run", str(ground / "q.jsonl"), "--out", str(run), "--method", "vanilla", *CHEAP]
    listed.append(Case("run", lambda: command(asked), partial(look_at_run, run), ground / "empty", trial))
    listed[-1].begin()
    run_child(listed[-1].act)
    shutil.copytree(trial, ground / "ran")
    scored = ["score", str(run), "--judge", "lexical", "--memo", str(trial / "memo.sqlite")]
    listed.append(Case("score", lambda: command(scored), partial(look_at_run, run), ground / "ran", trial))
    return listed


def _question(n: int) -> dict[str, Any]:
    docs = [
        {"title": f"Tower {m}", "text": f"Tower {m} was lit in {1800 + m} by keeper number{m}."} for m in (n, n + 1)
    ]
    return {"id": str(n), "question": f"When was tower {n} lit?", "answer": str(1800 + n), "docs": docs}


# ---------------------------------------------------------------- rows


class Table:
    """Prints a row at a time; a row is good if each outcome is one that was wanted."""

    def __init__(self) -> None:
        self.kills = self.bad = 0

    def row(self, part: str, name: str, outcomes: Sequence[str], targets: Sequence[str], more: str = "") -> None:
        counts = Counter(outcomes)
        verdict = "not tried" if not counts else "good" if set(counts) <= set(targets) else "BAD"
        self.bad += verdict == "BAD"
        listed = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
        print(f"{part:<9}{name:<26}{listed}{more}: {verdict}", flush=True)


# ---------------------------------------------------------------- system calls, and a server


@contextmanager
def trace(child: Child, log: Path, *options: str) -> Iterator[None]:
    words = ["strace", "-f", "-p", str(child.pid), "-o", str(log), "-e", f"trace={CALLS}", *options]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        if "attached" not in (line := process.stderr.readline()):
            child.kill()
            raise SystemExit(f"strace cannot attach to a child: {line}")
        yield
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)


def places(case: Case, log: Path, most: int) -> list[tuple[str, int]]:
    """Calls to stop at, by name and number, spread over all that the busiest thread of the command makes."""
    case.begin()
    child = Child(case.act)
    with trace(child, log):
        child.go().end()
    made = Counter(re.findall(r"^(\d+) +(\w+)\(", log.read_text("utf-8", "replace"), re.MULTILINE))
    largest: dict[str, int] = {}
    for (_, name), count in made.items():
        largest[name] = max(count, largest.get(name, 0))
    return [
        (name, number)
        for name, count in sorted(largest.items())
        for number in sorted({1 + round(n * (count - 1) / max(1, most - 1)) for n in range(most)})
    ]


@contextmanager
def serving(
    place: Path, state: Path, *, around: Callable[[], Any] = int, form: str = "--index"
) -> Iterator[tuple[Child, httpx2.Client]]:
    """A server in a child, over an index or (`--docs`) over documents; `around` is called there first."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]

    def serve() -> int:
        os.environ["XDG_STATE_HOME"] = os.environ["XDG_CACHE_HOME"] = str(state)
        around()
        return command(
            ["serve", form, str(place), "--port", str(port), "--token", TOKEN, "--method", "vanilla", *CHEAP]
        )

    child = Child(serve).go()
    end = time.monotonic() + PATIENCE
    try:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=PATIENCE) as client:
            while time.monotonic() < end:
                with suppress(httpx2.TransportError):
                    if client.get("/readyz").is_success:
                        break
                time.sleep(0.02)
            yield child, client
    finally:
        child.kill(whole=True)
        child.end()
