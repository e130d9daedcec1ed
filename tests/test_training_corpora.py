"""What the network may learn from: terms of sources, pages of dev, what was written for it, on a small data folder."""

from __future__ import annotations

import gzip
import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toulmin.errors import SourceError

TRAINING = Path(__file__).parent.parent / "training"

PAGES = {
    "Kettle Rock Tower": (
        "Kettle Rock Tower was built by Hannah Pell in 1824. It was lit for the first time on 3 May 1826 in Dunmore."
        " The tower is 38 metres tall and it was painted in the early spring by 12 workers from Norway."
    ),
    "Hannah Pell": (
        "Hannah Pell (born 4 June 1790) was an Irish engineer. She married Robert Lowe in 1815. Hannah Pell was taught"
        " by George Nolan. Most of her bridges were destroyed because the river rose quickly."
    ),
    "Dunmore": "Dunmore is a small town in Ireland. It was founded in 1650 and it was visited by Mary Stuart in 1702.",
}
QUESTIONS = {
    "Kettle Rock Tower": ("when was kettle rock tower built", "1824"),
    "Hannah Pell": ("who taught hannah pell", "George Nolan"),
    "Dunmore": ("when was dunmore founded", "1650"),
}


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Imports a module of `training/`, whose scripts import each other by their bare names."""
    monkeypatch.syspath_prepend(str(TRAINING))
    return importlib.import_module


def _file(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)


def _label(page: str, claim: str, label: str, split: str, sentences: list[str]) -> dict[str, Any]:
    return {
        "id": f"{page}-{label}-{claim[:9]}",
        "source": "FoolMeTwice",
        "split": split,
        "question": None,
        "claim": claim,
        "evidence": [{"title": page, "text": text} for text in sentences],
        "label": label,
        "meta": {},
    }


def _asked(page: str, split: str) -> dict[str, Any]:
    question, answer = QUESTIONS[page]
    return {
        "id": f"nq-{page}",
        "question": question,
        "answers": [answer],
        "title": page,
        "passage": PAGES[page],
        "split": split,
    }


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, training: Callable[[str], Any]) -> Path:
    """A data folder of three pages; Dunmore is a page of dev."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name in training("claims.sources").terms_of():
        _file(folder, name, [])
    corpus = [{"id": f"p{at}", "title": page, "text": text} for at, (page, text) in enumerate(PAGES.items())]
    _file(folder, "pool_corpus", corpus)
    _file(folder, "pool_questions", [{"split": "dev", "gold_passages": ["p2"]}])
    _file(folder, "qa_nq_gold", [_asked("Kettle Rock Tower", "train"), _asked("Hannah Pell", "train")])
    told = ["Kettle Rock Tower was built by Hannah Pell in 1824."]
    labels = [
        _label("Kettle Rock Tower", "Hannah Pell was the builder of Kettle Rock Tower.", "supported", "train", told),
        _label("Kettle Rock Tower", "Kettle Rock Tower was never finished.", "refuted", "train", told),
        _label("Dunmore", "Dunmore is a village in Ireland.", "partially_supported", "train", [PAGES["Dunmore"]]),
    ]
    _file(folder, "attr_fm2_dev", labels)
    monkeypatch.setenv("TOULMIN_DATA", str(folder))
    return folder


def test_every_source_says_its_terms_and_why(training: Callable[[str], Any]):
    terms = training("claims.sources").terms_of().values()
    assert all(one.publisher and one.licence and one.why.endswith(".") for one in terms)


def test_no_licence_that_forbids_commerce_is_shipped(training: Callable[[str], Any]):
    terms = training("claims.sources").terms_of().values()
    assert not [one.name for one in terms if one.ship and re.search(r"\bNC\b", one.licence)]


def test_the_key_of_a_key_is_the_key(training: Callable[[str], Any]):
    key = training("claims.pair").page_key
    assert all(key(key(page)) == key(page) for page in ("The Gandhi (film)", "A–Z of É", "who, then?", "(2)"))


def test_a_source_that_may_not_be_shipped_is_not_learnt_from(
    training: Callable[[str], Any], data: Path, tmp_path: Path
):
    pytest.importorskip("torch")
    page = {"topic": "Tom Ashby", "passages": ["Tom Ashby is a keeper."], "split": "train"}
    fact = _label("Tom Ashby", "Tom Ashby is a keeper.", "supported", "train", []) | {
        "source": "FActScore/ChatGPT",
        "evidence_page": "Tom Ashby",
    }
    _file(data, "attr_factscore_pages", [page])
    _file(data, "attr_factscore", [fact])
    assert list(
        training("claims.natural").records(
            data, "attr_factscore", training("claims.sources").terms_of()["attr_factscore"]
        )
    )
    learnt = training("lessons").learnable(data, tmp_path)
    assert learnt
    assert "attr_factscore" not in {lesson.source for lesson in learnt}


def test_missing_data_are_named(training: Callable[[str], Any], data: Path, tmp_path: Path):
    (data / "pool_corpus.jsonl.gz").unlink()
    with pytest.raises(SourceError, match="pool_corpus"):
        training("lessons").learnable(data, tmp_path)


def test_no_lesson_is_of_a_page_or_a_claim_of_dev(training: Callable[[str], Any], data: Path, tmp_path: Path):
    pytest.importorskip("torch")
    rows = [
        _label("Ada", "Ada was taught by Bo.", "supported", "train", ["Bo taught Ada."]),
        _label("Cy", "Cy taught Bo.", "refuted", "dev", ["Bo taught Cy."]),
        _label("Cy", "Bo taught Cy well.", "not_supported", "train", ["Bo taught Cy."]),
        _label("Di", "Cy taught Bo.", "refuted", "train", ["Bo taught Cy, and Di watched."]),
    ]
    _file(data, "nli_role_qasrl", rows)
    lessons = training("lessons").learnable(data, tmp_path)
    claims = {lesson.pair.claim for lesson in lessons if lesson.source == "nli_role_qasrl"}
    assert claims == {"Ada was taught by Bo."}
    assert "dunmore" not in {lesson.page for lesson in lessons}


def test_claims_and_questions_written_for_the_project_are_read(training: Callable[[str], Any], tmp_path: Path):
    pytest.importorskip("torch")
    claim = {
        "id": "c1",
        "source": "law",
        "page": "Tower",
        "passage": "It was lit in 1826.",
        "claim": "It was lit in 1824.",
    }
    claim |= {"supported": False, "kind": "number", "deciding": "", "reason": "", "split": "train", "agreed": True}
    blocks = [{"text": "It was lit in 1826.", "answers": "yes"}, {"text": "It is tall.", "answers": "partly"}]
    question = {"id": "q1", "source": "law", "page": "Tower", "question": "when lit", "kind": "short", "blocks": blocks}
    _file(tmp_path, "claims-a", [claim, claim | {"id": "c2", "agreed": False}])
    _file(tmp_path, "questions-a", [question | {"split": "train"}])
    lessons = training("lessons")
    assert [(one.id, one.verdict, one.vague) for one in lessons.claims_by_hand(tmp_path)] == [("c1", 1, True)]
    assert [one.block for one in lessons.questions_by_hand(tmp_path)] == [0, 1]


def test_a_claim_over_a_few_passages_stands_over_all_over_what_decides_and_over_the_others(
    training: Callable[[str], Any], tmp_path: Path
):
    pytest.importorskip("torch")
    towers = [{"title": f"{name} tower", "text": f"Lit in {n}."} for name, n in (("Old", 1826), ("New", 1901))]
    said = {"claim": "The old tower was lit in 1826.", "verdict": "supported", "sure": True}
    said |= {"deciding": [0], "touching": [0]}
    unsaid = {"claim": "Both are tall.", "verdict": "unsupported", "deciding": [], "touching": [], "sure": True}
    denied = said | {"verdict": "contradicted", "deciding": [1], "touching": [1]}
    asked = {"question": "when was the old tower lit", "kind": "fact", "answers": ["yes", "no"]}
    group = {"id": "g", "source": "law", "split": "train", "passages": towers, "claims": [said, unsaid, denied]}
    group["questions"] = [asked]
    _file(tmp_path, "groups-a", [group])
    read = {
        lesson.id: (lesson.verdict, lesson.vague, {passage.title for passage in lesson.pair.premises})
        for lesson in training("lessons").claims_over_groups(tmp_path)
        if "together" not in lesson.id
    }
    both = {"Old tower", "New tower"}
    assert read["g-0-all"] == (0, False, both)
    assert read["g-0-alone"] == (0, False, {"Old tower"})
    assert read["g-0-others"] == (1, False, {"New tower"})
    assert read["g-1-all"] == (1, False, both)
    assert read["g-2-alone"] == (2, False, {"New tower"})
    assert read["g-2-others"] == (1, True, {"Old tower"})
    assert len(read) == 8
    assert [lesson.block for lesson in training("lessons").questions_over_groups(tmp_path)] == [0, 2]


def test_claims_of_a_group_stand_together_too_with_at_most_one_false(training: Callable[[str], Any], tmp_path: Path):
    pytest.importorskip("torch")
    page = {"title": "Tower", "text": "Lit in 1826."}
    claims = [
        {"claim": text, "verdict": verdict, "sure": True, "deciding": [0], "touching": [0]}
        for text, verdict in (
            ("It was lit.", "supported"),
            ("It was lit in 1826.", "supported"),
            ("In 1901.", "contradicted"),
        )
    ]
    group = {"id": "g", "source": "law", "passages": [page], "claims": claims}
    _file(tmp_path, "groups-a", [group | {"split": "train"}, group | {"id": "h", "split": "test"}])
    lessons = training("lessons").claims_over_groups(tmp_path)
    true, false = [lesson for lesson in lessons if "together" in lesson.id]
    assert (true.id, true.verdict, true.wrong) == ("g-together-true", 0, ())
    assert {"It was lit.", "It was lit in 1826."} == {f"{text}." for text in true.pair.claim.rstrip(".").split(". ")}
    ((start, end),) = false.wrong
    assert (false.verdict, false.pair.claim[start:end]) == (2, "In 1901.")
    assert len(false.pair.claim) > len("In 1901.")
