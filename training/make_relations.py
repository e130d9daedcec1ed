"""Write `toulmin/text/antonyms.txt`: pairs of common words that WordNet calls antonyms.

    python training/make_relations.py FOLDER

FOLDER holds WordNet 3.0's database, `data.adj` and the others (Debian has it as `wordnet-base`, in
`/usr/share/wordnet`; wndb(5WN) describes the files).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from toulmin.text.language import STOPWORDS, stem
from toulmin.text.names import is_common

TABLE = Path("toulmin/text/antonyms.txt")
HEAD = (
    "# antonyms of WordNet 3.0, copyright 2006 by Princeton University, licence in NOTICE; made by"
    " training/make_relations.py\n"
)
PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
SENSES = 2  # the antonyms of later senses cost true claims: "run" and "pass", "come" and "go"


class Synset(NamedTuple):
    words: list[str]
    pointers: list[list[str]]


def rows(folder: Path, name: str) -> Iterator[list[str]]:
    for line in (folder / name).read_text("utf-8").splitlines():
        if not line.startswith("  "):  # the licence
            yield line.partition(" | ")[0].split()


def read_synsets(folder: Path) -> dict[tuple[str, str], Synset]:
    """By part of speech and offset."""
    synsets = {}
    for name, part in PARTS.items():
        for row in rows(folder, f"data.{name}"):
            end = 4 + 2 * int(row[3], 16)
            words = [word.partition("(")[0] for word in row[4:end:2]]
            pointers = [row[at : at + 4] for at in range(end + 1, end + 1 + 4 * int(row[end]), 4)]
            synsets[part, row[0]] = Synset(words, pointers)
    return synsets


def first_senses(folder: Path) -> set[tuple[str, str, str]]:
    """Part of speech, word and offset of the commonest senses."""
    senses = set()
    for name, part in PARTS.items():
        for row in rows(folder, f"index.{name}"):
            offsets = row[-int(row[2]) :]
            senses |= {(part, row[0], offset) for offset in offsets[:SENSES]}
    return senses


def antonyms(folder: Path) -> Iterator[tuple[str, str]]:
    """Each pair of words, in both orders, of which both are common in the senses that exclude each other."""
    synsets, senses = read_synsets(folder), first_senses(folder)
    for (part, offset), synset in synsets.items():
        for _, target, other_part, places in (row for row in synset.pointers if row[0] == "!"):
            word = synset.words[int(places[:2], 16) - 1]
            other = synsets[other_part, target].words[int(places[2:], 16) - 1]
            if {(part, word, offset), (other_part, other, target)} <= senses and _is_wanted(word, other):
                yield word, other


def _is_wanted(word: str, other: str) -> bool:
    return stem(word) != stem(other) and all(w.isalpha() and is_common(w) and w not in STOPWORDS for w in (word, other))


def main() -> None:
    pairs = sorted({(min(pair), max(pair)) for pair in antonyms(Path(sys.argv[1]))})
    TABLE.write_text(HEAD + "".join(f"{word} {other}\n" for word, other in pairs), "utf-8")
    print(f"{len(pairs)} pairs -> {TABLE}")


if __name__ == "__main__":
    main()
