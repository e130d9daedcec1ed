"""The pairs that `training/corpora.py` wrote, as the judge's training draws them.

Only where a pair stands, its source, label and page are held in memory; its texts are read when their turn comes. What
an epoch draws, and in which order, follows from the seed alone, so a run can continue from a position.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from claims.pair import APART, folds

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from held_out import has_held_out_text, is_held_out  # the one rule for the pages of the probes

from toulmin.data import Passage
from toulmin.judges.trained import OUTCOMES
from toulmin.steps import Pair

PEOPLE = ("natural", "inference")  # the families that people wrote and labelled


class Drawing(NamedTuple):
    """How often pairs of each (family, source) are drawn, 1 being once an epoch."""

    sources: Mapping[tuple[str, str], float] = {}

    def times(self, entry: Entry) -> float:
        """How often this pair is drawn in an epoch, on average."""
        return self.sources.get((entry.family, entry.source), 1.0)


class Entry(NamedTuple):
    """A pair's place in its file, and what is known of it without its texts."""

    file: Path
    offset: int
    id: str
    source: str
    family: str
    label: int
    page: str
    split: str
    edit: str | None = None
    is_vague: bool = False
    """Whether its label leaves open if it is contradicted: people's sets often say no more than "not supported"."""


def entries(folder: Path) -> list[Entry]:
    """All pairs of the folder's JSONL files, in order; raises SystemExit where there are none.

    Pairs of pages that are kept for probes are left out. A pair of people's is vague if it is unsupported and its
    source calls none contradicted.
    """
    every: list[Entry] = []
    for file in sorted(folder.glob("*.jsonl")):
        with file.open("rb") as lines:
            offset = 0
            for line in lines:
                row = json.loads(line)
                if not any(is_kept(passage["title"] or "", passage["text"]) for passage in row["premise"]):
                    label = OUTCOMES.index(row["label"])
                    fields = row["source"], row["family"], label, row["page"], row["split"], row["edit"]
                    every.append(Entry(file, offset, row["id"], *fields))
                offset += len(line)
    if not every:
        raise SystemExit(f"There are no pairs in {folder}; run: python training/corpora.py --out {folder}")
    telling = {entry.source for entry in every if OUTCOMES[entry.label] == "contradicted"}
    return [entry._replace(is_vague=_is_open(entry) and entry.source not in telling) for entry in every]


def is_kept(title: str, text: str) -> bool:
    """Whether a passage is of a page that is kept for probes: by its title, or where it has none by its words."""
    return is_held_out(title) if title else has_held_out_text(text)


def _is_open(entry: Entry) -> bool:
    return entry.family in PEOPLE and OUTCOMES[entry.label] == "unsupported"


def pair(entry: Entry) -> Pair:
    """Its texts."""
    return texts(entry)[0]


def texts(entry: Entry) -> tuple[Pair, list[tuple[int, int]] | None]:
    """Its texts, and the characters of the claim that the passages do not back, where that is known."""
    with entry.file.open("rb") as file:
        file.seek(entry.offset)
        row = json.loads(file.readline())
    premises = tuple(Passage.of(passage["text"], passage["title"] or "") for passage in row["premise"])
    wrong = row["wrong"]
    return Pair(premises, row["claim"], row["question"]), None if wrong is None else [(a, b) for a, b in wrong]


def drawing(folder: Path) -> Drawing:
    """As the folder's `weights.json` says, once each where there is none."""
    file = folder / "weights.json"
    rows = json.loads(file.read_text("utf-8")) if file.exists() else []
    return Drawing({(row["family"], row["source"]): float(row["weight"]) for row in rows})


class Parts(NamedTuple):
    """What is learnt from, and what is held out."""

    train: list[Entry]
    held: list[Entry]


def parts_of(every: Sequence[Entry], folds_in_all: int | None, fold: int) -> Parts:
    """Without folds, the train and the dev split; with folds, the other folds and this one, dev records among both.

    What stands apart is never learnt from, nor are dev records of inferences. Of what is held out only natural pairs
    and questions' answers are kept: edits follow from rules that training saw.
    """

    def is_held(entry: Entry) -> bool:
        if folds_in_all is None or entry.family == "inference":
            return entry.split in ("dev", APART)
        return folds(entry.page, folds_in_all) == fold

    train = [entry for entry in every if not is_held(entry) and entry.split != APART]
    return Parts(train, [entry for entry in every if entry.family in ("natural", "qa") and is_held(entry)])


def before_folds(train: Sequence[Entry], every: Sequence[Entry], families: Sequence[str]) -> list[Entry]:
    """Those of `train` that are of these families, of pages and sources that no natural pair is of.

    What learns from these can come before every fold of a cross-fitting.
    """
    natural = [entry for entry in every if entry.family == "natural"]
    pages, sources = {entry.page for entry in natural}, {entry.source for entry in natural}
    chosen = [entry for entry in train if entry.family in families]
    return [entry for entry in chosen if entry.page not in pages and entry.source not in sources]


def epoch(train: Sequence[Entry], drawing: Drawing, seed: int, number: int) -> list[int]:
    """The places in `train` that epoch `number` draws, in order.

    A pair of weight 2.3 is drawn twice, and in three of ten epochs once more.
    """
    chance = random.Random(f"{seed} {number}")
    drawn: list[int] = []
    for place, entry in enumerate(train):
        weight = drawing.times(entry)
        drawn += [place] * (int(weight) + (chance.random() < weight % 1))
    chance.shuffle(drawn)
    return drawn


def chunks(drawn: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """The drawn places, `size` at a time: those that are sorted by length together."""
    for start in range(0, len(drawn), size):
        yield drawn[start : start + size]


def digest(every: Sequence[Entry]) -> str:
    """What tells these pairs from others: SHA-256, in hex, of ids, labels and splits."""
    sha = hashlib.sha256()
    for entry in every:
        sha.update(f"{entry.id} {entry.label} {entry.split}\n".encode())
    return sha.hexdigest()
