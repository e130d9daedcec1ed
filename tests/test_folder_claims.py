"""The claims written by hand over the folder of documentation: their shape, and that their evidence is in the files.

Settings are chosen on `manual_claims_train.jsonl`, never on the others.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from toulmin.documents.loaders import read_documents

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
FILES = [*BENCHMARKS.glob("folder_claims*.jsonl"), BENCHMARKS / "manual_claims_train.jsonl"]
FOLDER = os.environ.get("TOULMIN_FOLDER")
FIELDS = {"id": str, "claim": str, "true": bool, "kind": str, "file": str, "sentence": str, "why": str}
KINDS = {
    True: {"fact", "default", "roles", "denial", "limited", "reason", "number", "other"},
    False: {
        "wrong default",
        "exchanged roles",
        "denial",
        "over-generalisation",
        "mixed halves",
        "number from another page",
        "other",
    },
}


@pytest.fixture(scope="module")
def claims() -> list[dict[str, Any]]:
    return [json.loads(line) for path in FILES for line in path.read_text("utf-8").splitlines()]


def test_every_claim_has_its_fields_and_a_known_kind(claims: list[dict[str, Any]]) -> None:
    for claim in claims:
        assert {name: type(value) for name, value in claim.items()} == FIELDS, claim
        assert claim["kind"] in KINDS[claim["true"]], claim
        assert claim["true"] or claim["why"], claim


def test_there_are_fifty_claims_of_either_truth_and_none_twice(claims: list[dict[str, Any]]) -> None:
    count = Counter(claim["true"] for claim in claims)
    assert min(count[True], count[False]) >= 50, count
    for field in ("id", "claim"):
        assert len({claim[field].casefold() for claim in claims}) == len(claims), field


def test_no_claim_that_settings_are_chosen_on_has_the_evidence_of_another(claims: list[dict[str, Any]]) -> None:
    sentences = [claim["sentence"] for claim in claims]
    assert len(set(sentences)) == len(sentences)


@pytest.mark.skipif(FOLDER is None, reason="needs the folder of documentation, its place in TOULMIN_FOLDER")
def test_the_sentence_of_every_claim_is_in_its_file(claims: list[dict[str, Any]]) -> None:
    names = {claim["file"] for claim in claims}
    texts = {name: folded_text(Path(FOLDER or "") / name) for name in names}
    assert [claim["id"] for claim in claims if claim["sentence"] not in texts[claim["file"]]] == []


def folded_text(path: Path) -> str:
    """The text of a file as it is extracted, its white space folded to single blanks."""
    return " ".join(" ".join(document.text for document in read_documents(path)).split())
