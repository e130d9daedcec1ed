"""How the lexical judge takes small edits of sentences of `pool_corpus`: share caught, share accepted.

    python benchmarks/probes.py                 the figures, on the half of the passages kept for reporting
    python benchmarks/probes.py --develop       the other half, to work on
    python benchmarks/probes.py --develop --show KIND     what went wrong there

The premise is the passage that the sentence comes from, title included. Halves by a hash of the passage's id; seeded.
"""

from __future__ import annotations

import argparse
import random
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from data import rows
from edits import FALSE, TRUE, Maker, Place

from toulmin.data import Passage
from toulmin.judges.lexical import Lexical
from toulmin.steps import Pair, Verdict
from toulmin.text.language import sentences

WANTED = 400  # edits of each kind
SEED = 7
SHORTEST, LONGEST = 6, 60  # words of a sentence that is edited


class Probe(NamedTuple):
    """An edited sentence and the passage that it came from."""

    passage: Passage
    sentence: str
    edited: str


def _passages(develop: bool) -> list[Passage]:
    kept = [row for row in rows("pool_corpus") if zlib.crc32(row["id"].encode()) % 2 == develop]
    return [Passage.of(row["text"], row["title"]) for row in kept]


def _places(passages: list[Passage], chance: random.Random) -> Iterator[tuple[Passage, Place]]:
    """One sentence after the other, each from a passage drawn by chance."""
    while True:
        passage, other = chance.choice(passages), chance.choice(passages)
        found = [passage.text[a:b] for a, b in sentences(passage.text)]
        whole = [s for s in found if SHORTEST <= len(s.split()) <= LONGEST and s[-1] in ".!?" and s[0].isupper()]
        if whole:
            yield passage, Place(chance.choice(whole), passage.text, passage.title, other.text)


def probes(make: Maker, passages: list[Passage]) -> list[Probe]:
    """`WANTED` edits of one kind; fewer where the corpus does not hold so many."""
    chance = random.Random(SEED)
    found: dict[tuple[str, str], Probe] = {}
    for tries, (passage, place) in enumerate(_places(passages, chance)):
        edited = make(place, chance)
        if edited is not None:
            found[passage.id, edited] = Probe(passage, place.sentence, edited)
        if len(found) == WANTED or tries == 200_000:
            return list(found.values())
    return []


def _verdicts(kind: list[Probe], judge: Lexical) -> list[Verdict]:
    return judge.judge([Pair((probe.passage,), probe.edited) for probe in kind])


def _show(kind: list[Probe], verdicts: list[Verdict], wants_support: bool) -> None:
    for probe, verdict in zip(kind, verdicts, strict=True):
        if verdict.entails != wants_support:
            print(
                f"- {probe.edited}\n  was: {probe.sentence}\n"
                f"  [{probe.passage.title}] {verdict.support:.2f} {verdict.reason}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--develop", action="store_true")
    parser.add_argument("--show", metavar="KIND")
    arguments = parser.parse_args()
    passages, judge = _passages(arguments.develop), Lexical()
    print(f"{'edit':30}{'n':>6}{'right':>9}{'target':>9}")
    for kinds, wants_support in ((FALSE, False), (TRUE, True)):
        for name, (make, target) in kinds.items():
            if arguments.show in (None, name):
                made = probes(make, passages)
                verdicts = _verdicts(made, judge)
                right = sum(verdict.entails == wants_support for verdict in verdicts) / len(made)
                print(f"{name:30}{len(made):6}{right:9.3f}{target:9.2f}")
                if arguments.show:
                    _show(made, verdicts, wants_support)


if __name__ == "__main__":
    main()
