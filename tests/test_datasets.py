"""Datasets: each form of record becomes the item that it means."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toulmin.data import Passage, Source
from toulmin.datasets.item import Dataset, Gold, Item, Part, item_document
from toulmin.datasets.loading import read
from toulmin.errors import SourceError

ASQA = {
    "qa_pairs": [
        {"context": "c", "question": "Who sang the song?", "short_answers": ["Paul", "Art"], "wikipage": "Song"},
        {"context": "c", "question": "Who sang the album?", "short_answers": ["Both"], "wikipage": None},
    ],
    "wikipages": [{"title": "Song", "url": "https://example.org/song"}],
    "annotations": [
        {"knowledge": [], "long_answer": "The song: Paul."},
        {"knowledge": [], "long_answer": "The album: both."},
        {"knowledge": [], "long_answer": "A third, which ALCE does not read."},
    ],
    "sample_id": "-70890",
    "question": "Who sang it?",
    "docs": [
        {"id": "12", "title": "Song", "text": "Paul sang it.", "score": 0.9, "summary": "Paul"},
        {"id": "13", "title": "Album", "text": "Both sang.", "sent": "Both of them sang.", "score": 0.8},
    ],
    "answer": "The album: both.",
}
QAMPARI = {
    "id": "799__wikidata",
    "question": "What did Ryoichi draw?",
    "answers": [["Heat"], ["Mai", "Mai, the Psychic Girl"]],
    "answer": "Heat, Mai.",
    "docs": [{"id": "1", "title": "Heat", "text": "He drew Heat.", "score": 1}],
}
ELI5 = {
    "question": "Why is the sky blue?",
    "question_ctx": "[removed]",
    "answer": "Because of scattering.",
    "claims": ["Light is scattered.", "Blue light is scattered more.", "The sky is blue."],
    "docs": [{"title": "Sky", "text": "Light is scattered.", "url": "https://example.org/sky"}],
}
HOTPOT = {
    "_id": "5a8b57f2",
    "question": "Were both of the same nationality?",
    "answer": "yes",
    "type": "comparison",
    "level": "hard",
    "supporting_facts": [["Scott", 0], ["Ed", 0], ["Scott", 1]],
    "context": [["Scott", ["Scott is American.", " He directs."]], ["Ed", ["Ed was American."]]],
}
SQUAD = {
    "id": "56ddde6b",
    "title": "Normans",
    "context": "The Normans came from Normandy, in France.",
    "question": "Where is Normandy?",
    "answers": [{"text": "France", "answer_start": 34}, {"text": "France", "answer_start": 34}],
    "is_impossible": False,
}
CLAPNQ = {
    "id": "clapnq:1",
    "question": "which method uses averages?",
    "answerable": True,
    "passages": [{"title": "Forecasting", "text": "Seasonality is one.", "sentences": ["Seasonality is one."]}],
    "answers": [{"answer": "Seasonality.", "selected_sentences": ["Seasonality is one."]}],
}
MUSIQUE = {
    "id": "2hop__1",
    "question": "Who presided?",
    "answer": "G. Stanley Hall",
    "answer_aliases": ["Stanley Hall"],
    "answerable": True,
    "paragraphs": [
        {"title": "Physics", "text": "A journal.", "is_supporting": False},
        {"title": "APA", "text": "Hall presided.", "is_supporting": True},
    ],
}
QUERY = {"_id": 0, "text": "Biomaterials lack properties.", "relevant": ["31715818"], "split": "dev"}
PLAIN = {"id": "q1", "question": "Who?", "answers": ["A", "B"], "docs": [{"text": "A did."}], "weather": "fair"}
FORMS: dict[str, dict[str, Any]] = {
    "asqa": ASQA,
    "qampari": QAMPARI,
    "eli5": ELI5,
    "multihop": HOTPOT,
    "squad": SQUAD,
    "queries": QUERY,
    "questions": PLAIN,
}


def dataset(folder: Path, *records: Any, **options: Any) -> Dataset:
    file = folder / "set.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return read(file, **options)


def item(folder: Path, record: dict[str, Any], **more: Any) -> Item:
    return dataset(folder, {**record, **more}).items[0]


def less(record: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


# ---------------------------------------------------------------- ALCE


@pytest.mark.parametrize("name", FORMS)
def test_the_form_is_told_by_the_fields(name: str, tmp_path: Path):
    assert dataset(tmp_path, FORMS[name]).form == name


def test_asqa_has_parts_and_a_slot_for_each(tmp_path: Path):
    gold = item(tmp_path, ASQA).gold
    assert gold.parts == (Part("Who sang the song?", ("Paul", "Art")), Part("Who sang the album?", ("Both",)))
    assert gold.answers == (("Paul", "Art"), ("Both",))


def test_asqa_is_compared_with_the_first_two_annotations_and_its_answer(tmp_path: Path):
    gold = item(tmp_path, ASQA).gold
    assert (gold.references, gold.answer) == (("The song: Paul.", "The album: both."), "The album: both.")


def test_asqa_is_known_by_its_sample_id(tmp_path: Path):
    assert (item(tmp_path, ASQA).id, item(tmp_path, ASQA).style) == ("-70890", "long")


def test_documents_of_alce_are_passages_whose_record_is_their_id(tmp_path: Path):
    passages = item(tmp_path, ASQA).passages
    assert passages is not None
    source = Source(0, 13, path=str(tmp_path / "set.jsonl"), record="12")
    assert passages[0] == Passage.of("Paul sang it.", "Song", source)


def test_the_sentence_of_a_document_stands_for_its_text(tmp_path: Path):
    passages = item(tmp_path, ASQA).passages
    assert passages is not None
    assert passages[1].text == "Both of them sang."


def test_a_document_with_an_address_keeps_it(tmp_path: Path):
    passages = item(tmp_path, ELI5).passages
    assert passages is not None
    assert passages[0].source.url == "https://example.org/sky"


@pytest.mark.parametrize("qa_pairs", [None, "missing"])
def test_a_question_without_pairs_has_no_parts(qa_pairs: Any, tmp_path: Path):
    record = less(ASQA, "qa_pairs") if qa_pairs == "missing" else {**ASQA, "qa_pairs": None}
    assert item(tmp_path, record).gold.parts is None


def test_a_pair_may_lack_its_question_as_alce_allows(tmp_path: Path):
    parts = item(tmp_path, {**ASQA, "qa_pairs": [{"short_answers": ["Paul"]}]}).gold.parts
    assert parts == (Part("", ("Paul",)),)


def test_a_number_as_title_or_text_is_its_words(tmp_path: Path):
    (passage,) = item(tmp_path, {**ASQA, "docs": [{"title": 1984, "text": 12.5}]}).passages or ()
    assert (passage.title, passage.text) == ("1984", "12.5")


def test_qampari_has_a_slot_for_each_entity(tmp_path: Path):
    found = item(tmp_path, QAMPARI)
    assert found.gold == Gold(answers=(("Heat",), ("Mai", "Mai, the Psychic Girl")), answer="Heat, Mai.")
    assert found.style == "list"


def test_qampari_with_one_entity_is_still_a_list(tmp_path: Path):
    assert item(tmp_path, QAMPARI, answers=[["Heat"]]).style == "list"


def test_eli5_has_claims_and_an_answer(tmp_path: Path):
    found = item(tmp_path, ELI5)
    assert found.gold == Gold(claims=tuple(ELI5["claims"]), answer="Because of scattering.")
    assert found.style == "long"


def test_questions_without_ids_are_numbered_from_0(tmp_path: Path):
    assert [found.id for found in dataset(tmp_path, ELI5, ELI5).items] == ["0", "1"]


def test_documents_with_falling_scores_are_ranked(tmp_path: Path):
    assert item(tmp_path, ASQA).is_ranked


def test_documents_with_rising_scores_are_not_ranked(tmp_path: Path):
    assert not item(tmp_path, ASQA, docs=ASQA["docs"][::-1]).is_ranked


def test_documents_without_scores_on_a_line_are_not_ranked(tmp_path: Path):
    assert not item(tmp_path, ELI5).is_ranked


def test_documents_in_a_json_list_are_ranked_as_alce_ranks_them(tmp_path: Path):
    (tmp_path / "eli5.json").write_text(json.dumps([ELI5]))
    assert read(tmp_path / "eli5.json").items[0].is_ranked


def test_twin_documents_both_stay_as_marks_count_them(tmp_path: Path):
    found = item(tmp_path, ELI5, docs=ELI5["docs"] * 2)
    assert found.passages is not None
    assert len(found.passages) == 2


def test_a_record_is_kept_without_its_passages(tmp_path: Path):
    assert item(tmp_path, ASQA).record == less(ASQA, "docs")


# ---------------------------------------------------------------- several documents


def test_hotpotqa_has_a_short_answer_and_the_titles_that_hold_it(tmp_path: Path):
    found = item(tmp_path, HOTPOT)
    assert found.gold == Gold(answers=(("yes",),), passages=("Scott", "Ed"))
    assert (found.id, found.style, found.kind) == ("5a8b57f2", "short", "comparison")


def test_a_list_of_2wikimultihopqa_is_read_the_same_way(tmp_path: Path):
    record = {**HOTPOT, "evidences": [["Scott", "nationality", "American"]], "answer_id": None, "type": "compositional"}
    (tmp_path / "dev.json").write_text(json.dumps([record]))
    found = read(tmp_path / "dev.json").items[0]
    assert (found.gold, found.kind) == (Gold(answers=(("yes",),), passages=("Scott", "Ed")), "compositional")


def test_paragraphs_are_their_sentences_with_one_space_between(tmp_path: Path):
    passages = item(tmp_path, HOTPOT, context=[["T", ["One.", "Two.", " Three."]]]).passages
    assert passages is not None
    assert (passages[0].title, passages[0].text) == ("T", "One. Two. Three.")


def test_hotpotqa_as_the_hub_keeps_it_is_the_same(tmp_path: Path):
    hub = {
        "context": {"title": ["Scott", "Ed"], "sentences": [pair[1] for pair in HOTPOT["context"]]},
        "supporting_facts": {"title": ["Scott", "Ed", "Scott"], "sent_id": [0, 0, 1]},
    }
    original, copied = item(tmp_path, HOTPOT), item(tmp_path, HOTPOT, **hub)
    assert (copied.passages, copied.gold) == (original.passages, original.gold)


def test_a_question_without_gold_is_read_too(tmp_path: Path):
    assert item(tmp_path, less(HOTPOT, "answer", "supporting_facts")).gold == Gold()


def test_marked_paragraphs_are_gold_by_title(tmp_path: Path):
    assert item(tmp_path, MUSIQUE).gold.passages == ("APA",)


def test_aliases_of_an_answer_join_its_slot(tmp_path: Path):
    assert item(tmp_path, MUSIQUE).gold.answers == (("G. Stanley Hall", "Stanley Hall"),)


# ---------------------------------------------------------------- one document


def test_squad_answers_are_aliases_each_once(tmp_path: Path):
    assert item(tmp_path, SQUAD).gold == Gold(answers=(("France",),), answerable=True)


def test_squad_as_the_hub_keeps_it_is_the_same(tmp_path: Path):
    hub = {"text": ["France", "France"], "answer_start": [34, 34]}
    assert item(tmp_path, SQUAD, answers=hub).gold == item(tmp_path, SQUAD).gold


def test_an_impossible_question_has_no_answer_and_is_still_short(tmp_path: Path):
    found = item(tmp_path, SQUAD, answers=[], is_impossible=True)
    assert (found.gold, found.style) == (Gold(answers=(), answerable=False), "short")


def test_the_context_of_squad_is_its_passage(tmp_path: Path):
    passages = item(tmp_path, SQUAD).passages
    assert passages is not None
    assert [(p.title, p.text) for p in passages] == [("Normans", SQUAD["context"])]


def test_clapnq_answers_are_references(tmp_path: Path):
    found = item(tmp_path, CLAPNQ)
    assert (found.gold, found.style) == (Gold(references=("Seasonality.",), answerable=True), "long")


def test_an_unanswerable_question_of_clapnq_wants_a_long_answer_too(tmp_path: Path):
    found = item(tmp_path, CLAPNQ, answers=[], answerable=False)
    assert (found.gold, found.style) == (Gold(answers=(), answerable=False), "long")


# ---------------------------------------------------------------- short answers


@pytest.mark.parametrize("field", ["answer", "answers"])
def test_a_flat_list_of_answers_is_one_slot(field: str, tmp_path: Path):
    found = item(tmp_path, {"question": "who?", field: ["A", "B"]})
    assert (found.gold, found.style) == (Gold(answers=(("A", "B"),)), "short")


@pytest.mark.parametrize(
    ("word", "answerable"),
    [("ANSWERABLE", True), ("PARTIAL", True), ("UNANSWERABLE", False), ("UNDERSPECIFIED", None)],
)
def test_answerability_is_told_in_words(word: str, answerable: bool | None, tmp_path: Path):
    assert item(tmp_path, PLAIN, answerability=[word]).gold.answerable is answerable


def test_a_query_has_the_records_that_are_relevant_to_it(tmp_path: Path):
    found = item(tmp_path, QUERY)
    assert (found.id, found.question, found.gold) == ("0", QUERY["text"], Gold(passages=("31715818",)))


@pytest.mark.parametrize(("kind", "answerable"), [("unanswerable", False), ("short", True), (None, None)])
def test_a_kind_tells_whether_there_is_an_answer(kind: str | None, answerable: bool | None, tmp_path: Path):
    gold = ["p1"] if kind != "unanswerable" else []
    found = item(tmp_path, {"question": "Who?", "kind": kind, "gold_passages": gold})
    assert found.gold.answerable is answerable


# ---------------------------------------------------------------- damage

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where a value stands in a JSON document, for every value in it."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [here, *(place for key in keys for place in places(value[key], (*here, key)))]


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A record of some form with one value replaced by any other."""
    record = copy.deepcopy(draw(st.sampled_from([*FORMS.values(), CLAPNQ, MUSIQUE])))
    *way, last = draw(st.sampled_from(places(record)[1:]))
    inner = record
    for key in way:
        inner = inner[key]
    inner[last] = draw(JSON)
    return record


def test_paragraphs_that_are_no_list_are_refused_by_name(tmp_path: Path):
    with pytest.raises(SourceError, match="paragraphs"):
        dataset(tmp_path, {"id": "2hop__1", "question": "Who?", "answer": "Hall", "answerable": True, "paragraphs": 1})


@settings(max_examples=250, deadline=None)
@given(record=damaged())
def test_a_damaged_record_is_read_or_refused_by_name(record: dict[str, Any], tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.getbasetemp() / "damaged"
    folder.mkdir(exist_ok=True)
    try:
        found = dataset(folder, record).items
    except SourceError as error:
        assert "line 1" in str(error)  # noqa: PT017
    else:
        assert orjson.dumps(item_document(found[0]))


def test_gzip_is_unpacked(tmp_path: Path):
    with gzip.open(tmp_path / "set.jsonl.gz", "wt") as file:
        file.write(json.dumps(PLAIN) + "\n")
    assert read(tmp_path / "set.jsonl.gz").items[0].question == "Who?"
