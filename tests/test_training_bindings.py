"""Whom a claim is said of: which rivals are measured, and fitting their weights on a small data folder."""

from __future__ import annotations

import gzip
import importlib
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sklearn", reason="needs scikit-learn (extra: train)")

from toulmin.data import Passage
from toulmin.judges.copies import mentions, rivals
from toulmin.judges.coverage import Source, read

CLAIMS = [
    "Hannah Pell built the Kettle Rock lighthouse in 1824.",
    "George Nolan built the Dunmore bridge in 1831.",
    "Robert Lowe built the Ardmore school in 1702.",
]


@pytest.fixture
def bindings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script, with every natural set of three claims."""
    root = Path(__file__).parent.parent
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    monkeypatch.syspath_prepend(str(root / "training"))
    row: dict[str, Any] = {"split": "train", "question": None, "supported": True}
    row["evidence"] = [{"title": "Works", "text": " ".join(CLAIMS)}]
    module = importlib.import_module("fit_bindings")
    for name in (*(f"attr_{name}" for name in module.NATURAL), "attr_factscore_pages"):
        rows = [] if name.endswith("pages") else [row | {"id": claim, "claim": claim} for claim in CLAIMS]
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in rows)
    monkeypatch.setattr("data.FOLDER", tmp_path)
    return module


def test_a_rival_weighs_by_its_own_likeness_against_that_of_the_claim(
    bindings: Any, capsys: pytest.CaptureFixture[str]
):
    bindings.main([])
    lines = re.findall(r"(figures|names): \(([-.\d]+), ([-.\d]+),", capsys.readouterr().out)
    assert [kind for kind, *_ in lines] == ["figures", "names"]
    assert all(float(likeness) > 0 > float(like) for _, likeness, like in lines)


def test_another_figure_of_the_evidence_has_the_shape_of_the_claims(bindings: Any):
    evidence = [Passage.of("It was built in 1824 for 900 men, on 3 May 1831.")]
    assert bindings.revalue("Built in 1824.", evidence, random.Random(0)) is None
    assert bindings.revalue("Built for 700 men.", evidence, random.Random(0)) == "Built for 900 men."


def test_of_sentences_that_share_as_much_the_first_ones_count():
    names = "George Nolan,Robert Lowe,Mary Stuart,Peter Quill,Anna Berg,Tom Hale,Jane Ross,Karl Frost".split(",")
    things = "maps ships birds roads tools towns lakes hills".split()
    claim = read(f"Hannah Pell drew {', '.join(things[:-1])} and {things[-1]}.")
    pairs = zip(names, things, strict=True)
    text = read(" ".join(["Hannah Pell was born in Dunmore.", *(f"{name} saw {thing}." for name, thing in pairs)]))
    shown = [name for _, name in rivals(next(mentions(claim.sentences[0])), [Source(text, read(""))])]
    assert shown == names[:5]
