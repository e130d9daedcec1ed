"""The faults of `faults.py` that kill nothing: disks, clocks, changing files, many files, other users."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from fault_trials import (
    CHEAP,
    Case,
    Child,
    ChildResult,
    Table,
    look_at_index,
    page,
    places,
    run_again,
    run_child,
    serving,
    trace,
)

from toulmin.cli import run as command
from toulmin.documents.loaders import read_documents
from toulmin.errors import SourceError
from toulmin.indexing.store import open_index
from toulmin.indexing.update import update

FILES = 200_000


# ---------------------------------------------------------------- full disks


def disk_outcome(case: Case, end: ChildResult) -> str:
    """What a fault of the disk came to; what was there before must still be, and the command must go on afterwards."""
    message = str(end.output)
    if end.code not in (0, 3):
        return f"UNCLEAR: {message.strip()[-160:]}"
    if end.code == 3 and not re.search(r"disk|No space left", message):
        return f"UNCLEAR: {message.strip()[-160:]}"
    before = run_child(case.look).output
    if case.name.endswith("changed") and before not in (case.whole[0], case.whole[2]):
        return f"LOST: {before}"
    after = case.outcome()
    return after if after != "equal" else "ended all the same" if end.code == 0 else "said so"


def full(table: Table, all_cases: Sequence[Case], ground: Path, draw: random.Random, seconds: float) -> None:
    by_call, by_page = ({case.name: list[str]() for case in all_cases} for _ in range(2))
    if shutil.which("strace"):
        calls = [(case, *place) for case in all_cases for place in places(case, ground / "strace", 3)]
        draw.shuffle(calls)
        end = time.monotonic() + seconds / 2
        for case, name, number in calls:
            if time.monotonic() < end and not name.startswith("unlink"):  # which needs no room
                by_call[case.name].append(_without_room(case, name, number, ground / "strace"))
    for case in all_cases if os.getuid() == 0 else ():
        outcomes, pages, end = by_page[case.name], 0, time.monotonic() + seconds / 2 / len(all_cases)
        while time.monotonic() < end and "ended all the same" not in outcomes:
            outcomes.append(_with_room(case, pages))
            pages += 1 + pages // 8
    for way, rows in (("call", by_call), ("page", by_page)):
        for name, outcomes in rows.items():
            table.row("full", f"{name}, by {way}", outcomes, ["said so", "ended all the same"])


def _without_room(case: Case, name: str, number: int, log: Path) -> str:
    case.begin()
    child = Child(case.act)
    with trace(child, log, "-e", f"inject={name}:error=ENOSPC:when={number}+"):
        end = child.go().end()
    return disk_outcome(case, end)


def _with_room(case: Case, pages: int) -> str:
    shutil.rmtree(case.trial, ignore_errors=True)
    with small_disk(case.trial):
        shutil.copytree(case.start, case.trial, dirs_exist_ok=True)
        fill(case.trial, pages)
        end = run_child(case.act)
        (case.trial / "filler").unlink()
        return disk_outcome(case, end) if end.code else "ended all the same"


@contextmanager
def small_disk(folder: Path, size: str = "24m") -> Iterator[None]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path, pages: int = 0) -> None:
    """Leaves so many pages of 4 kB."""
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize
    (disk / "filler").write_bytes(bytes(max(0, free - 4096 * pages)))


def reading(table: Table, ground: Path) -> None:
    index, out = ground / "small" / "old-index" / "index", ground / "out"
    questions = ["ask", "check"]
    asked = ["Which keeper is number3?", "The keeper of the tower saw a storm. [1]"]
    with small_disk(ground / "small"):
        shutil.copytree(ground / "old-index", ground / "small" / "old-index")
        (ground / "claim.txt").write_text(asked[1], "utf-8")
        commands = {
            "search": ["search", "number3", "--index", str(index)],
            questions[0]: ["ask", asked[0], "--index", str(index)],
            questions[1]: ["check", str(ground / "claim.txt"), "--index", str(index)],
            "run elsewhere": ["run", str(ground / "q.jsonl"), "--index", str(index), *CHEAP, "--out", str(out)],
        }
        fill(ground / "small")
        for state in ("full", "read-only"):
            if state == "read-only":
                subprocess.run(["mount", "-o", "remount,ro", str(ground / "small")], check=True)
            for name, words in commands.items():
                shutil.rmtree(out, ignore_errors=True)
                end = run_child(partial(command, words))
                outcome = "answered" if end.code == 0 else f"FAILED ({end.code}): {str(end.output).strip()[-160:]}"
                table.row("reading", f"{name}, {state}", [outcome], ["answered"])


# ---------------------------------------------------------------- clocks, changing files, many files, other users


def turn_back(after: float) -> None:
    """From so many seconds on, this process's clock is an hour behind."""
    began, now, now_ns = time.monotonic(), time.time, time.time_ns

    def lag() -> int:
        return 3600 if time.monotonic() - began >= after else 0

    time.time = lambda: now() - lag()
    time.time_ns = lambda: now_ns() - lag() * 10**9


def clock(table: Table, all_cases: Sequence[Case], ground: Path, draw: random.Random) -> None:
    def act_late(case: Case, after: float) -> int:
        turn_back(after)
        return int(case.act())

    for case in all_cases:
        outcomes = []
        for share in (0.0, 0.3, 0.6, 0.9):
            case.begin()
            end = run_child(partial(act_late, case, share * case.whole[1]))
            outcomes.append(case.outcome() if end.code == 0 else f"FAILED: {end.output}")
        table.row("clock", case.name, outcomes, ["equal"])
    docs, index = ground / "young", ground / "young-index"
    docs.mkdir()
    outcomes = []
    for n in range(5):  # a file that changes at once and keeps its size, while the clock stands before its time
        (docs / "a.txt").write_text(f"The bell number{n} rings.", "utf-8")
        run_child(partial(_index_late, index, docs))
        outcomes.append("seen" if f"number{n} " in str(run_child(partial(_texts, index)).output) else "MISSED")
    table.row("clock", "changed within a tick", outcomes, ["seen"])
    trial = ground / "clocked"
    shutil.copytree(ground / "old-index", trial)
    with serving(trial / "index", ground / "state", around=partial(turn_back, 3.0)) as (_, client):
        outcomes = []
        for n in range(20):
            file = (f"late{n}.txt", f"The late{n}x bell rings at night.".encode())
            client.post("/v1/documents", files=[("file", file)]).raise_for_status()
            hits = client.post("/v1/search", json={"query": f"late{n}x", "k": 1}).json()["hits"]
            answer = client.post("/v1/answers", json={"question": "Who is number3?"}).json()
            kept = client.get(f"/v1/answers/{answer['id']}").json() == answer
            outcomes.append("served" if kept and f"late{n}x" in str(hits) else "LOST")
            time.sleep(draw.uniform(0, 0.3))
    table.row("clock", "server", outcomes, ["served"])


def _index_late(index: Path, docs: Path) -> int:
    turn_back(0)
    update(index, [docs])
    return 0


def _texts(index: Path) -> str:
    with open_index(index) as corpus:
        return " ".join(corpus.text(document) for document in corpus.documents())


def changing(table: Table, ground: Path, draw: random.Random, rounds: int = 30) -> None:
    docs = ground / "moving"
    docs.mkdir()
    index, fresh, outcomes = ground / "moving-index", ground / "moving-fresh", []
    words = ["index", str(docs), "--into"]
    (docs / "stays.txt").write_text(page(999), "utf-8")
    for _ in range(rounds):
        hand = Child(partial(_meddle, docs, draw.randrange(10**9))).go()
        time.sleep(draw.uniform(0.05, 0.3))
        end = run_again(partial(command, [*words, str(index)]))
        hand.kill()
        hand.end()
        seen = str(run_child(partial(look_at_index, index)).output)
        outcomes.append("whole" if end.code == 0 and re.fullmatch("[0-9a-f]{64}", seen) else f"{end.output} {seen}")
    run_child(partial(_drop_unreadable, docs))  # an index keeps what it read of such a file before
    run_child(partial(command, [*words, str(index)]))
    run_child(partial(command, [*words, str(fresh)]))
    same = run_child(partial(look_at_index, index)).output == run_child(partial(look_at_index, fresh)).output
    outcomes.append("equal in the end" if same else "UNEQUAL")
    table.row("changing", "index", outcomes, ["whole", "equal in the end"])


def _drop_unreadable(docs: Path) -> int:
    for path in docs.iterdir():
        try:
            list(read_documents(path))
        except SourceError:
            path.unlink()
    return 0


def _meddle(docs: Path, seed: int) -> int:
    draw = random.Random(seed)
    while True:
        path = docs / f"{draw.randrange(60)}.{draw.choice(['txt', 'md', 'html', 'jsonl', 'csv', 'docx', 'pdf'])}"
        deed = draw.randrange(5)
        with suppress(OSError):
            if deed == 0:
                path.unlink()
            elif deed == 1:
                os.truncate(path, draw.randrange(1000))
            elif deed == 2:
                path.with_suffix(".new").write_text(page(draw.randrange(40)), "utf-8")
                path.with_suffix(".new").replace(path)
            else:
                path.write_text(page(draw.randrange(40), draw.randrange(10, 3000)), "utf-8")


def many(table: Table, ground: Path) -> None:
    docs, index = ground / "many", ground / "many-index"
    for n in range(FILES):
        if n % 1000 == 0:
            (docs / f"{n // 1000:03d}").mkdir(parents=True)
        (docs / f"{n // 1000:03d}" / f"{n}.txt").write_text(f"The bell of tower number{n} rang in {n % 997}.", "utf-8")
    for name in ("first", "unchanged"):
        end = run_child(lambda: int(update(index, [docs]).passages == FILES) - 1)
        more = f" ({FILES:,} files, {end.seconds:.0f} s, {end.megabytes} MB at most)"
        table.row("many", name, ["indexed" if end.code == 0 else f"FAILED: {end.output}"], ["indexed"], more)


def as_nobody(warm: Sequence[str], words: Sequence[str], home: str | None) -> int:
    """The command of a user without rights, after one that loads what lies where that user may not look."""
    command(list(warm))
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    os.environ.pop("HOME", None)
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        os.environ.pop(name, None)
    if home is not None:
        os.environ["HOME"] = home
    return command(list(words))


def nobody(table: Table, ground: Path) -> None:
    docs, theirs = ground / "readable", ground / "theirs"
    for folder in (docs, theirs):
        folder.mkdir()
    ground.chmod(0o755)
    theirs.chmod(0o777)
    shutil.copytree(ground / "old-index" / "index", ground / "ours")
    for n in range(3):
        (docs / f"{n}.txt").write_text(page(n), "utf-8")
    (docs / "secret.txt").write_text("The secret bell.", "utf-8")
    (docs / "secret.txt").chmod(0)
    before = run_child(partial(look_at_index, ground / "ours")).output
    index, ours = str(theirs / "index"), str(ground / "ours")
    search, asked = ["search", "keeper", "--index", ours], ["ask", "Who is number1?"]
    tries = {
        "an unreadable file": (
            ["index", str(docs), "--into", index],
            "/nonexistent",
            0,
            "secret.txt.*cannot be opened",
        ),
        "a folder not its own": (["index", str(docs), "--into", ours], "/nonexistent", 3, "can be read and written"),
        "a search in it": (search, "/nonexistent", 0, "keeper"),
        "no home: search": (search, None, 0, "keeper"),
        "no home: ask": ([*asked, "--index", ours, *CHEAP], "/nonexistent", 0, "number1"),
        "no home: ask --docs": ([*asked, "--docs", str(docs / "1.txt"), *CHEAP], "/nonexistent", 3, "nonexistent"),
    }
    for name, (words, home, code, pattern) in tries.items():
        warm = [
            word.replace(str(theirs), str(ground / "warm")).replace(ours, str(ground / "warm-ours")) for word in words
        ]
        shutil.rmtree(ground / "warm-ours", ignore_errors=True)
        shutil.copytree(ground / "ours", ground / "warm-ours")
        end = run_child(partial(as_nobody, warm, words, home))
        is_clear = end.code == code and re.search(pattern, str(end.output), re.DOTALL)
        table.row(
            "nobody", name, ["as it should" if is_clear else f"{end.code}: {end.output[-300:]}"], ["as it should"]
        )
    same = run_child(partial(look_at_index, ground / "ours")).output == before
    table.row("nobody", "what was there", ["equal" if same else "UNEQUAL"], ["equal"])
