"""Pairs of antonyms out of WordNet's files, which are few and made up here."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

TRAINING = Path(__file__).parent.parent / "training"
LICENCE = "  1 This software and database is being provided to you, the LICENSEE.  \n"
# Offset, words, and for each antonym its offset and the numbers of both words.
ADJECTIVES = [
    ("00000001", ["near", "close"], [("00000002", "0101")]),
    ("00000002", ["far(p)"], [("00000001", "0101")]),
    ("00000003", ["able"], [("00000004", "0101")]),
    ("00000004", ["unable"], [("00000003", "0101")]),
    ("00000005", ["early"], [("00000006", "0101")]),
    ("00000006", ["late"], [("00000005", "0101")]),
    ("00000007", ["bright"], [("00000008", "0101")]),
    ("00000008", ["dull"], [("00000007", "0101")]),
]
SENSES = {word.partition("(")[0]: (offset,) for offset, words, _ in ADJECTIVES for word in words}
SENSES["dull"] = ("00000009", "00000010", "00000008")


@pytest.fixture
def relations(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TRAINING))
    return importlib.import_module("make_relations")


def write_database(folder: Path) -> None:
    for name in ("noun", "verb", "adv"):
        (folder / f"data.{name}").write_text(LICENCE)
        (folder / f"index.{name}").write_text(LICENCE)
    data, index = [LICENCE], [LICENCE]
    for offset, words, antonyms in ADJECTIVES:
        pointers = " ".join(f"! {target} a {places}" for target, places in antonyms)
        listed = " ".join(f"{word} 0" for word in words)
        data.append(f"{offset} 00 a {len(words):02x} {listed} {len(antonyms):03} {pointers} | a gloss | of it\n")
    for word, senses in SENSES.items():
        offsets = " ".join(senses)
        index.append(f"{word} a {len(senses)} 1 ! {len(senses)} 0 {offsets}\n")
    (folder / "data.adj").write_text("".join(data))
    (folder / "index.adj").write_text("".join(index))


def test_only_antonyms_of_first_senses_are_kept(tmp_path: Path, relations: Any):
    write_database(tmp_path)
    pairs = {("near", "far"), ("early", "late"), ("able", "unable")}
    assert set(relations.antonyms(tmp_path)) == pairs | {pair[::-1] for pair in pairs}
