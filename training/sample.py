"""Pairs of one kind to read: `python training/sample.py DIR --edit negation --count 25`.

Of each it prints the label, the claim, and the sentence of the passages that holds most of the claim's words. How much
of a kind is really false, or really true, only a reader can tell.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from toulmin.text.language import sentences, terms


def chosen(folder: Path, edit: str, count: int, seed: int) -> list[dict[str, Any]]:
    """A random choice of the pairs whose edit is, or begins with, this one; "natural" and "qa" are families."""
    chance, kept = random.Random(seed), []
    for at, pair in enumerate(_of_kind(folder, edit)):  # reservoir: one reading, little memory
        if at < count:
            kept.append(pair)
        elif (place := chance.randrange(at + 1)) < count:
            kept[place] = pair
    return kept


def _of_kind(folder: Path, edit: str) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.glob("pairs-*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            for pair in map(json.loads, lines):
                if edit in ((pair["edit"] or pair["family"]).split("+")[0], pair["edit"]):
                    yield pair


def nearest(pair: dict[str, Any]) -> str:
    """The sentence of the premise that shares most with the claim."""
    said = set(terms(pair["claim"]))
    texts = [one["text"] for one in pair["premise"]]
    pieces = [text[span.start : span.end] for text in texts for span in sentences(text)]
    return max(pieces, key=lambda piece: len(said & set(terms(piece))) / (12 + len(terms(piece))) ** 0.5, default="")


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="what training/corpora.py wrote")
    parser.add_argument("--edit", required=True, help="the kind, as the table of counts names it")
    parser.add_argument("--count", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    for number, pair in enumerate(chosen(given.folder, given.edit, given.count, given.seed), start=1):
        print(f"{number:3} {pair['label']:12} {pair['claim']}\n    {'':12} {nearest(pair)}")


if __name__ == "__main__":
    main()
