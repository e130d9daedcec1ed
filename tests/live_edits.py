"""Edits of a served folder with questions beside: `python tests/live_edits.py --edits 200`.

Each edit adds, changes, replaces, deletes or renames a file, writes one in two halves with a rest between, or many in a
burst. Two clients ask all the while. What an answer cites must have stood in the folder at some moment since `LATEST`
seconds before it was asked, and each edit must be found within that time.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import threading
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import httpx2

sys.path.append(str(Path(__file__).parent.parent))

from web_parts import served

from toulmin.config import Settings

LATEST = 5.0  # seconds from a change to the answer that knows it
KINDS = ("add", "change", "replace", "delete", "rename", "halves", "burst")


class Seen(NamedTuple):
    """What came of it: `late` is how long each edit took to be found, `stale` how old the oldest cited text was."""

    late: list[float]
    stale: list[float]
    answers: int
    faults: list[str]


def note(word: str) -> str:
    return f"The lamp of the {word} was lit by Ann Pell."


class Folder:
    """A folder of notes, each with a word of its own, and when each text was seen to stand in it."""

    def __init__(self, place: Path, files: int, draw: random.Random) -> None:
        self.place, self._draw = place, draw
        self.files: dict[Path, str] = {}
        self.gone: dict[str, float] = {}  # words that no file has, by when they went
        place.mkdir()
        for n in range(files):
            self._write(place / f"{n}.txt", f"start{n}")

    def _write(self, path: Path, word: str, *, beside: bool = False) -> None:
        """First in place, then known: a text counts as gone only after it is."""
        target = path.with_suffix(".part") if beside else path
        target.write_text(note(word), "utf-8")
        target.replace(path)
        self._note(path, word)

    def _note(self, path: Path, word: str | None) -> None:
        if path in self.files:
            self.gone[self.files.pop(path)] = time.monotonic()
        if word is not None:
            self.files[path] = word

    def edit(self, n: int) -> str:
        kind, old = self._draw.choice(KINDS), self._draw.choice(sorted(self.files))
        new = self.place / f"new{n}.txt"
        if kind == "delete" and len(self.files) > 5:
            old.unlink()
            self._note(old, None)
        elif kind == "rename":
            word = self.files.pop(old)
            old.rename(new)
            self.files[new] = word
        elif kind == "halves":
            half = note(f"word{n}")[:30]
            with old.open("w", encoding="utf-8") as file:
                file.write(half)
                file.flush()
                self._note(old, f"word{n}")
                time.sleep(self._draw.uniform(0.1, 1.0))
                file.write(note(f"word{n}")[30:])
        elif kind == "burst":
            for m, path in enumerate(self._draw.sample(sorted(self.files), min(5, len(self.files)))):
                self._write(path, f"word{n}x{m}")
        else:
            self._write(new if kind == "add" else old, f"word{n}", beside=kind == "replace")
        return kind


def words_of(texts: list[str]) -> set[str]:
    return {text.split()[4] for text in texts if len(text.split()) > 4}


def live(folder: Folder, edits: int, url: str, draw: random.Random, latest: float = LATEST) -> Seen:
    """The edits, one after the other, with two clients that ask beside them."""
    seen, stop = Seen([], [], 0, []), threading.Event()
    counts: list[int] = []
    askers = [threading.Thread(target=_ask, args=(folder, url, stop, seen, counts, seed, latest)) for seed in (1, 2)]
    for asker in askers:
        asker.start()
    with httpx2.Client(base_url=url, timeout=60) as client:
        for n in range(edits):
            before = set(folder.files.values())
            kind, done, after = folder.edit(n), time.monotonic(), set(folder.files.values())
            changed = before ^ after
            while wrong := [word for word in changed if _stands(client, word) != (word in after)]:
                if time.monotonic() - done > latest:
                    seen.faults.append(f"edit {n}, {kind}: {sorted(wrong)} not as on the disk after {latest:.0f} s")
                    break
                time.sleep(0.02)
            seen.late.append(time.monotonic() - done)
            time.sleep(draw.uniform(0.0, 0.3))
    stop.set()
    for asker in askers:
        asker.join()
    return seen._replace(answers=len(counts))


def _stands(client: httpx2.Client, word: str) -> bool:
    hits = client.post("/v1/search", json={"query": f"the lamp of the {word}", "k": 5}).json()["hits"]
    return word in words_of([hit["passage"]["text"] for hit in hits])


def _ask(
    folder: Folder, url: str, stop: threading.Event, seen: Seen, counts: list[int], seed: int, latest: float
) -> None:
    draw = random.Random(seed)
    with httpx2.Client(base_url=url, timeout=60) as client:
        while not stop.is_set():
            word, asked = draw.choice([*folder.files.values(), *folder.gone]), time.monotonic()
            answer = client.post("/v1/answers", json={"question": f"Who lit the lamp of the {word}?"}).json()
            counts.append(1)
            cited = {citation["passage"] for claim in answer["claims"] for citation in claim["citations"]}
            for each in words_of([passage["text"] for passage in answer["passages"] if passage["id"] in cited]):
                age = asked - folder.gone.get(each, asked)
                seen.stale.append(max(age, 0.0))
                if age > latest:
                    seen.faults.append(f"{each} was cited {age:.1f} s after it was gone")
            time.sleep(0.05)


def memory() -> int:
    """Megabytes of this process, which serves too."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--edits", type=int, default=200)
    asked.add_argument("--files", type=int, default=500)
    asked.add_argument("--seed", type=int, default=7)
    asked.add_argument("--judge", default="lexical")
    chosen = asked.parse_args()
    draw = random.Random(chosen.seed)
    with TemporaryDirectory() as place:
        folder = Folder(Path(place, "docs"), chosen.files, draw)
        settings = Settings(judge=chosen.judge, reader="lexical", encoder="none")
        with served(folder.place, settings) as server:
            while not all(_stands(server.client, word) for word in folder.files.values()):
                time.sleep(0.5)
            before = memory()
            seen = live(folder, chosen.edits, server.url, draw)
            after = memory()
    print(f"{chosen.edits} edits of {chosen.files} files, {seen.answers} answers beside them, seed {chosen.seed}")
    print(f"found after {median(seen.late):.2f} s in the median, {max(seen.late):.2f} s at most")
    print(f"oldest text cited: gone for {max(seen.stale, default=0.0):.2f} s when it was asked")
    print(f"memory {before} MB before, {after} MB after; {len(seen.faults)} faults")
    print(*seen.faults, sep="\n")
    sys.exit(bool(seen.faults))


if __name__ == "__main__":
    main()
