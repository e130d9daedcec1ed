"""How many premise-claim pairs a judge decides in a second, on one core.

    python benchmarks/judge_speed.py
    taskset -c 0 python benchmarks/judge_speed.py --judge embedded         another judge, in batches of 64
    python benchmarks/judge_speed.py --page FOLDER [--old CHECKOUT]        a page of 30 claims over that folder

Premises are cut to 100 words, claims to 25, from `pool_corpus`. Half of the claims are sentences of their premise
(near copies, the costly case), half are sentences of another passage. The first figure judges each claim against
premises already analysed; the second analyses every premise anew. A judge that is named is asked once, anew.

The page: sentences of the folder's files, every second one edited (`edits.py`), checked after a first check that loads
everything. With another checkout of this repository both check the page in turn, in processes of their own, three
times; figures are medians. Pairs are those that the judge is asked, rows what its network reads.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agreement import verdicts
from data import rows
from edits import FALSE, Place

import toulmin
from toulmin.build import parts
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.driver.kit import Judge
from toulmin.judges.lexical import Lexical
from toulmin.steps import Pair
from toulmin.text.language import sentences

BATCH, NAMED = 64, 100
PREMISES = 700  # fewer than the judge remembers
TARGETS = {"premises analysed once": 3000, "premises analysed anew": 1000}


def _words(text: str, first: int, last: int) -> str:
    return " ".join(text.split()[first:last])


def pairs() -> list[Pair]:
    """One pair a premise, of exactly 100 and 25 words."""
    long = (row for row in rows("pool_corpus") if len(row["text"].split()) >= 100)
    texts = [(row["text"], row["title"]) for row in islice(long, PREMISES + 1)]
    made = []
    for i, (text, title) in enumerate(texts[:PREMISES]):
        source = text if i % 2 else texts[i + 1][0]
        made.append(Pair((Passage.of(_words(text, 0, 100), title),), _words(source, 20, 45)))
    return made


def rate(judge: Judge, given: Sequence[Pair]) -> float:
    """Pairs a second of processor time, after a first batch."""
    verdicts(judge, given[:BATCH])
    begin = time.process_time()
    for at in range(BATCH, len(given), BATCH):
        verdicts(judge, given[at : at + BATCH])
    return (len(given) - BATCH) / (time.process_time() - begin)


# ---------------------------------------------------------------- a page


CLAIMS, RUNS = 30, 3
# Run by whichever checkout comes first on the path, so it names only what old ones have too.
CHECK = """
import json, sys, time
import toulmin
from toulmin.judges.embedded import EmbeddedJudge
from toulmin.runtime.network import Network
index, page, counts = sys.argv[1], sys.stdin.read(), {"pairs": 0, "rows": 0}
def count(kind, name, key):
    plain = getattr(kind, name)
    def counted(self, asked):
        counts[key] += len(asked)
        return plain(self, asked)
    setattr(kind, name, counted)
count(EmbeddedJudge, "judge", "pairs")
count(Network, "logits", "rows")
toulmin.check("The weather is cold in winter.", index=index)
counts.update(pairs=0, rows=0)
wall, cpu = time.perf_counter(), time.process_time()
answer = toulmin.check(page, index=index)
counts.update(seconds=time.perf_counter() - wall, cpu=time.process_time() - cpu)
print(json.dumps({**counts, "labels": [claim.support.label for claim in answer.claims if claim.support]}))
"""


def page(folder: Path) -> list[str]:
    """`CLAIMS` sentences of text files drawn by chance, every second one with an edit that makes it false."""
    chance, claims = random.Random(0), list[str]()
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".md", ".txt"))
    makers = [maker for maker, _ in FALSE.values()]
    while len(claims) < CLAIMS:
        text, elsewhere = (chance.choice(paths).read_text("utf-8", "replace") for _ in range(2))
        sentence = _sentence(text, chance)
        if sentence and len(claims) % 2:
            edits = (
                maker(Place(sentence, text, "", elsewhere), chance) for maker in chance.sample(makers, len(makers))
            )
            sentence = next(filter(None, edits), None)
        claims += [sentence] if sentence else []
    return claims


def _sentence(text: str, chance: random.Random) -> str | None:
    whole = [" ".join(text[start:end].split()) for start, end in sentences(text)]
    plain = [s for s in whole if re.fullmatch(r"[A-Z][\w ,;()'-]+\.", s) and 8 <= len(s.split()) <= 30]
    return chance.choice(plain) if plain else None


def show_page(folder: Path, old: Path | None) -> None:
    checkouts = {"this": Path(toulmin.__file__).parents[1], **({"old": old.resolve()} if old else {})}
    text = "\n\n".join(page(folder))
    records: dict[str, list[dict[str, Any]]] = {name: [] for name in checkouts}
    with TemporaryDirectory() as place:
        toulmin.index([folder], into=f"{place}/index")
        for name, path in [*checkouts.items()] * RUNS:
            command = [sys.executable, "-P", "-c", CHECK, f"{place}/index"]
            environment = {**os.environ, "PYTHONPATH": str(path)}
            out = subprocess.run(command, input=text, capture_output=True, text=True, check=True, env=environment)
            records[name].append(json.loads(out.stdout))
    print(f"{'check of a page of 30 claims':30}" + "".join(f"{name:>10}" for name in checkouts))
    for key in ("seconds", "cpu", "pairs", "rows"):
        print(f"{key:30}" + "".join(f"{statistics.median(r[key] for r in records[n]):10.2f}" for n in checkouts))
    if old:
        pairs = list(zip(records["this"], records["old"], strict=True))
        differ = sum(a != b for a, b in zip(*(record["labels"] for record in pairs[0]), strict=True))
        print(f"{'labels that differ':30}{differ:10}")
        print(f"{'cpu, this over old':30}{statistics.median(a['cpu'] / b['cpu'] for a, b in pairs):10.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", metavar="SPEC", help="as `toulmin --judge` names it")
    parser.add_argument("--page", type=Path, metavar="FOLDER", help="check a page over it instead")
    parser.add_argument("--old", type=Path, metavar="CHECKOUT", help="with --page: a checkout to compare with")
    options = parser.parse_args()
    if options.page:
        show_page(options.page, options.old)
        return
    if spec := options.judge:
        judge = parts.judge(spec, Settings())  # its network should have been given one core
        print(f"{judge.name}, one core: {rate(judge, pairs()):.0f} pairs/s, target {NAMED}")
        return
    given = pairs()
    warm, cold = Lexical(), Lexical(remembered=1)
    other = [Pair(pair.premises, _words(pair.claim, 0, 24) + " so") for pair in given]
    warm.judge(other)
    print(f"{'lexical judge, one core':30}{'pairs/s':>10}{'target':>10}")
    for (name, target), lexical in zip(TARGETS.items(), (warm, cold), strict=True):
        begin = time.process_time()
        lexical.judge(given)
        print(f"{name:30}{len(given) / (time.process_time() - begin):10.0f}{target:10}")


if __name__ == "__main__":
    main()
