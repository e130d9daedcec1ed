"""The table of judges: its figures, its claims that are made of others, what its cache keeps, and that it runs."""

from __future__ import annotations

import importlib
import json
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toulmin.data import Passage
from toulmin.judges.trained import Excerpt, NetworkVerdict, Shares
from toulmin.runtime.windows import Window
from toulmin.steps import Pair

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data")) / "attr_wice_dev.jsonl.gz"
WEIGHTS = Path(__file__).parent.parent / "weights" / "judge" / "src" / "toulmin_weights" / "judge"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="needs the attr_* sets under TOULMIN_DATA")
MANUAL = "Readers do not block writers in this mode. A checkpoint runs when the log has 1000 pages."


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of `benchmarks/`, whose scripts import each other by their bare names."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


class Counting:
    """A network that is as sure as its claim is long, and counts what it is asked."""

    name, key = "counting", "counting of length"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def shares(self, pairs: Sequence[Pair]) -> list[NetworkVerdict]:
        self.asked += [pair.claim for pair in pairs]
        sure = [min(1.0, len(pair.claim) / 100) for pair in pairs]
        return [
            NetworkVerdict(Shares(s, 1 - s, 0.0), Excerpt(p.premises, Window(())))
            for s, p in zip(sure, pairs, strict=True)
        ]


def verdicts(benchmark: Any, *rows: tuple[bool, str, float]) -> Any:
    truth, label, support = zip(*rows, strict=True)
    pages = [str(n) for n in range(len(rows))]
    return benchmark("by_page").Verdicts(pages, np.array(truth), list(label), np.array(support))


def figure(row: Any) -> float:
    return float(row.measure(np.ones(len(row.pages))))


# ---------------------------------------------------------------- figures


def test_precision_and_recall_are_of_the_label_supported(benchmark: Any):
    by_page = benchmark("by_page")
    seen = verdicts(
        benchmark,
        (True, "supported", 0.9),
        (True, "unsure", 0.8),
        (True, "unsupported", 0.1),
        (False, "supported", 0.7),
    )
    assert (figure(by_page.precision(seen)), figure(by_page.recall(seen))) == (1 / 2, pytest.approx(1 / 3))


def test_the_mean_of_sets_counts_each_alike(benchmark: Any):
    by_page = benchmark("by_page")
    small = verdicts(benchmark, (True, "supported", 0.9), (False, "unsupported", 0.1))
    large = verdicts(benchmark, *[(True, "unsure", 0.3)] * 9, (False, "unsupported", 0.4))
    mean = by_page.mean_of("", "", [by_page.area("", "", small), by_page.area("", "", large)])
    assert figure(mean) == pytest.approx((1 + 0) / 2)


def test_a_set_of_one_kind_has_no_balanced_accuracy(benchmark: Any):
    assert benchmark("by_page").both("a part", "a set", verdicts(benchmark, (True, "supported", 0.9))) == []


# ---------------------------------------------------------------- claims that are made of others


@pytest.mark.parametrize(
    ("claim", "denied"),
    [
        ("Ada was born in London.", "Ada was not born in London."),
        ("She can swim. She can ski.", "She cannot swim. She can ski."),
        ("The town has 300 people.", "The town does not have 300 people."),
        ("The town has been sold.", "The town has not been sold."),
        ("In 1843 Ada translated the paper.", "In 1843 Ada never translated the paper."),
        ("He won a prize.", "He never won a prize."),
        ("Ada was never in Rome.", None),
        ("The man who was there left.", None),
        ("The film directed by Kurosawa pleased many.", None),
    ],
)
def test_a_denial_stands_at_the_root(benchmark: Any, claim: str, denied: str | None):
    assert benchmark("judge_claims").deny(claim) == denied


def test_a_name_gives_way_to_one_that_only_the_evidence_has(benchmark: Any):
    evidence = [Passage.of("Ada Lovelace met Charles Babbage in London. Mary Somerville taught her.")]
    renamed = {
        benchmark("judge_claims").rename("She met Charles Babbage.", evidence, random.Random(seed))
        for seed in range(20)
    }
    assert renamed == {"She met Ada Lovelace.", "She met Mary Somerville."}


def test_the_place_that_a_place_lies_in_is_no_other_name(benchmark: Any):
    evidence = [Passage.of("Valpy was born in Toronto, Canada.")]
    assert benchmark("judge_claims").rename("The man was born in Toronto.", evidence, random.Random(1)) != (
        "The man was born in Canada."
    )


def test_long_claims_come_with_one_untrue_among_them(benchmark: Any):
    record = benchmark("judge_natural").Record
    premise = Passage.of("a page")
    told = [(f"fact {n} is one of the ten that are told here", True) for n in range(5)] + [("a lie is told", False)]
    given = [record(str(n), "a set", "a page", Pair((premise,), claim), true) for n, (claim, true) in enumerate(told)]
    long = list(benchmark("judge_claims").longer(given))
    assert [(r.supported, "lie" in r.pair.claim, r.pair.premises) for r in long] == [
        (True, False, (premise,)),
        (False, True, (premise,)),
    ]


def test_spread_takes_from_beginning_to_end(benchmark: Any):
    assert benchmark("judge_claims").spread(list(range(10)), 5) == [0, 2, 4, 6, 8]


# ---------------------------------------------------------------- judges


def test_the_network_is_not_asked_again(benchmark: Any, tmp_path: Path):
    table, network = benchmark("judge_table"), Counting()
    pairs = [Pair((Passage.of("some text"),), claim) for claim in ("a claim", "another", "a claim")]
    first = table.CachedModel(network, tmp_path / "kept.sqlite").shares(pairs)
    again = table.CachedModel(network, tmp_path / "kept.sqlite").shares(pairs[::-1])
    assert (again[::-1], network.asked) == (first, ["a claim", "another"])


def test_a_bare_judge_objects_to_nothing(benchmark: Any):
    pytest.importorskip("onnxruntime", reason="needs onnxruntime (extra: embedded)")
    premise = Passage.of("The council plans to close the harbour in May.")
    pair = Pair((premise,), "The council closes the harbour in May.")
    judges = [benchmark("judge_table").open_judge(f"embedded:{WEIGHTS}", None, bare) for bare in (False, True)]
    labels = [judge.judge([pair])[0].label for judge in judges]
    assert labels == ["unsupported", "supported"]


def test_scores_are_supported_from_the_level_on(benchmark: Any, tmp_path: Path):
    lines = [{"id": "a", "score": 0.6}, {"id": "b", "score": 0.5}, {"id": "c", "score": 0.1, "label": "contradicted"}]
    file = tmp_path / "cross.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    record = benchmark("judge_natural").Record
    given = [record(line["id"], "a set", "a page", Pair((), "a claim"), True) for line in lines]
    seen = benchmark("judge_table").Scores(file, 0.56).judge("a set", given)
    assert list(seen.label) == ["supported", "unsupported", "contradicted"]


# ---------------------------------------------------------------- the command


def test_claims_over_a_folder_are_checked_as_the_product_does(
    benchmark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "manual.txt").write_text(MANUAL)
    sentence, file = "A checkpoint runs when the log has 1000 pages.", "manual.txt"
    claims = [
        {"id": "1", "claim": sentence, "true": True, "kind": "number", "file": file, "sentence": sentence, "why": ""},
        {
            "id": "2",
            "claim": "A checkpoint runs when the log has 70 pages.",
            "true": False,
            "kind": "number",
            "file": file,
        }
        | {"sentence": sentence, "why": "1000"},
    ]
    written = tmp_path / "claims.jsonl"
    written.write_text("".join(json.dumps(claim) + "\n" for claim in claims))
    words = ["--judge", "lexical", "--parts", "manuals", "--resamples", "20"]
    benchmark("judge_table").main([*words, "--folder", str(tmp_path / "docs"), "--claims", str(written)])
    out = capsys.readouterr().out
    assert out.count("1.000 [1.000, 1.000]") >= 4, out


@needs_data
def test_two_judges_stand_beside_each_other_with_the_gain(benchmark: Any, capsys: pytest.CaptureFixture[str]):
    words = ["--bare", "lexical", "--judge", "lexical", "--limit", "20", "--resamples", "20"]
    benchmark("judge_table").main([*words, "--parts", "inference"])
    lines = capsys.readouterr().out.splitlines()
    (scone, _) = [line for line in lines if line.startswith("nli_negation_scone")]
    assert scone.split()[1] == "20"
    assert scone.endswith("[+0.000, +0.000]")


@needs_data
def test_scores_stand_beside_a_judge_on_the_records_that_they_have(
    benchmark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    table, file = benchmark("judge_table"), tmp_path / "oracle.jsonl"
    known = [record for name in table.SETS for record in table.records(name, ["dev"])[:40]]
    file.write_text("".join(json.dumps({"id": r.id, "score": float(r.supported)}) + "\n" for r in known))
    table.main(
        ["--judge", "lexical", "--scores", str(file), "--parts", "attribution", "--limit", "20", "--resamples", "20"]
    )
    recall = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("recall"))
    assert "1.000 [1.000, 1.000]" in recall


@needs_data
def test_the_table_ends_with_what_the_judge_is(benchmark: Any, capsys: pytest.CaptureFixture[str]):
    for library in ("onnx", "onnxruntime"):
        pytest.importorskip(library, reason=f"needs {library} (extra: train)")
    benchmark("judge_table").main(["--judge", f"embedded:{WEIGHTS}", "--parts", "judge", "--limit", "4"])
    lines = capsys.readouterr().out.splitlines()
    numbers = {line.split(":")[0][:24].strip(): line.split(":")[1] for line in lines if ": " in line}
    assert 110_000_000 < int(numbers["parameters"].replace(",", "")) < 112_000_000
    assert 110 < float(numbers["megabytes"]) < 115
