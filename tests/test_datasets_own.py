"""One's own questions: every field comes back as it was written, and what cannot be meant is refused by name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toulmin.data import STYLES, Passage, Source
from toulmin.datasets.from_records import OWN, misspelling
from toulmin.datasets.item import Gold, Item, Part
from toulmin.datasets.loading import read
from toulmin.errors import SourceError, UsageError

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "datasets.md"


def written(folder: Path, records: list[Any], name: str = "own.jsonl") -> Path:
    file = folder / name
    file.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return file


def refusal(folder: Path, *records: Any) -> str:
    with pytest.raises(SourceError) as caught:
        read(written(folder, list(records)))
    return str(caught.value)


# ---------------------------------------------------------------- round trip

# What is no sound text (carriage returns, null characters) is mended when it is read.
words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(lambda t: t.strip())
names = st.lists(words, min_size=1, max_size=3, unique=True)
aliases = st.lists(words, min_size=1, max_size=3)
docs = st.lists(
    st.fixed_dictionaries({"text": words}, optional={"title": words, "id": words, "url": words}), max_size=3
)
pairs = st.lists(st.fixed_dictionaries({"question": words, "short_answers": aliases}), min_size=1, max_size=3)
own_records = st.fixed_dictionaries(
    {"id": words, "question": words},
    optional={
        "docs": docs,
        "answers": st.lists(aliases, min_size=1, max_size=3),
        "answer": words,
        "qa_pairs": pairs,
        "claims": st.lists(words, max_size=3),
        "references": st.lists(words, max_size=3),
        "gold_passages": names,
        "answerable": st.booleans(),
        "withheld": names,
        "style": st.sampled_from(STYLES),
        "kind": words,
        "weather": words,
    },
)


def expected_gold(record: dict[str, Any]) -> Gold:
    """The gold of one's own record, written down once more as the page tells it."""
    pairs = record.get("qa_pairs")
    parts = pairs and tuple(Part(pair["question"], tuple(pair["short_answers"])) for pair in pairs)
    slots = record.get("answers", pairs and [pair["short_answers"] for pair in pairs])
    is_text = {"answers", "qa_pairs", "claims"} & record.keys() or record.get("style") in ("long", "report")
    if slots is None and "answer" in record and not is_text:
        slots = [[record["answer"]]]
    passages = record.get("gold_passages")
    answerable = record.get("answerable", True if passages and "kind" in record else None)
    if record.get("kind") == "unanswerable":
        answerable = record.get("answerable", False)
    slots = () if slots is None and answerable is False else slots
    return Gold(
        answers=None if slots is None else tuple(map(tuple, slots)),
        parts=parts,
        references=tuple(record["references"]) if "references" in record else None,
        answer=record.get("answer") if is_text else None,
        claims=tuple(record["claims"]) if "claims" in record else None,
        passages=tuple(passages) if passages else None,
        answerable=answerable,
    )


def expected_passages(record: dict[str, Any], path: Path) -> tuple[Passage, ...] | None:
    if "docs" not in record:
        return None
    return tuple(
        Passage.of(
            doc["text"],
            doc.get("title", ""),
            Source(0, len(doc["text"]), path=str(path), url=doc.get("url"), record=doc.get("id")),
        )
        for doc in record["docs"]
    )


def by_id(record: dict[str, Any]) -> str:
    return record["id"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose one file each example of a property writes anew."""
    return tmp_path_factory.mktemp("own")


@settings(max_examples=60, deadline=None)
@given(records=st.lists(own_records, min_size=1, max_size=4, unique_by=by_id))
def test_every_field_comes_back_as_it_was_written(records: list[dict[str, Any]], place: Path):
    path = written(place, records)
    items = read(path).items
    assert items == tuple(
        Item(
            record["id"],
            record["question"],
            expected_gold(record),
            expected_passages(record, path),
            withheld=tuple(record.get("withheld", ())),
            style=items[n].style,
            kind=record.get("kind"),
            record={name: value for name, value in record.items() if name != "docs"},
        )
        for n, record in enumerate(records)
    )


@pytest.mark.parametrize(
    ("fields", "style"),
    [
        ({}, None),
        ({"answers": ["A", "B"]}, "short"),
        ({"answers": [["A"], ["B"]]}, "list"),
        ({"answer": "A"}, "short"),
        ({"answer": "A", "claims": ["A is."]}, "long"),
        ({"references": ["A is."]}, "long"),
        ({"answer": "A", "style": "report"}, "report"),
    ],
)
def test_a_style_that_is_not_given_follows_from_the_gold(fields: dict[str, Any], style: str | None, tmp_path: Path):
    assert read(written(tmp_path, [{"question": "Who?", **fields}])).items[0].style == style


def test_a_flat_list_of_answers_to_a_list_question_is_a_slot_each(tmp_path: Path):
    record = {"question": "Which?", "answers": ["A", "B"], "style": "list"}
    assert read(written(tmp_path, [record])).items[0].gold.answers == (("A",), ("B",))


def test_an_empty_list_of_answers_counts_only_for_the_unanswerable(tmp_path: Path):
    records = [{"question": "Who?", "answers": []}, {"question": "Who?", "answers": [], "answerable": False}]
    assert [item.gold.answers for item in read(written(tmp_path, records)).items] == [None, ()]


def test_a_null_field_is_a_missing_one(tmp_path: Path):
    record = {"id": None, "question": "Who?", **dict.fromkeys(set(OWN) - {"id", "question"})}
    found = read(written(tmp_path, [record])).items[0]
    assert (found.id, found.gold, found.passages) == ("0", Gold(), None)


def test_broken_characters_are_mended_wherever_they_stand(tmp_path: Path):
    (tmp_path / "own.jsonl").write_text('{"question": "Who\\ud800?", "mood": ["\\ud800"]}\n')
    found = read(tmp_path / "own.jsonl").items[0]
    assert (found.question, found.record["mood"]) == ("Who\ufffd?", ["\ufffd"])


# ---------------------------------------------------------------- errors

GOOD = {"id": "good", "question": "Who?"}


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("question", None, "the field `question` should hold words, not nothing"),
        ("question", "  ", "the field `question` should hold words, not blank text"),
        ("question", ["Who?"], "the field `question` should hold words, not a list"),
        ("id", True, "the field `id` should hold words, not true or false"),
        ("docs", "a text", "the field `docs` should hold a list, not 'a text'"),
        ("docs", ["a text"], "the field `docs[0]` should hold an object, not 'a text'"),
        ("docs", [{"text": "x"}, {"title": "T"}], "the field `docs[1].text` should hold words, not nothing"),
        ("docs", [{"text": "x", "id": {}}], "the field `docs[0].id` should hold words, not an object"),
        ("answers", "A", "the field `answers` should hold a list, not 'A'"),
        ("answers", [["A"], "B"], "the field `answers[1]` should hold a list, not 'B'"),
        ("answers", ["A", 7], "the field `answers[1]` should hold words, not the number 7"),
        ("answer", 42, "the field `answer` should hold words, not the number 42"),
        ("qa_pairs", [{"question": "x"}], "the field `qa_pairs[0].short_answers` should hold a list, not nothing"),
        ("claims", [None], "the field `claims[0]` should hold words, not nothing"),
        ("references", "one", "the field `references` should hold a list, not 'one'"),
        ("gold_passages", "p1", "the field `gold_passages` should hold a list, not 'p1'"),
        ("answerable", "no", "the field `answerable` should hold true or false, not 'no'"),
        ("withheld", [1.5], "the field `withheld[0]` should hold words, not the number 1.5"),
        ("style", "lnog", "the field `style` is wrong (There is no style called 'lnog'; did you mean long?)"),
        ("kind", 3, "the field `kind` should hold words, not the number 3"),
        ("note", json.loads("[" * 200 + "]" * 200), "it is nested deeper than 100 levels"),
    ],
)
def test_a_wrong_value_is_named_by_record_and_field(field: str, value: Any, said: str, tmp_path: Path):
    message = refusal(tmp_path, GOOD, {"id": "bad", "question": "Who?", field: value})
    assert "own.jsonl cannot be read at line 2" in message
    assert said in message


def test_the_id_of_a_wrong_record_is_named(tmp_path: Path):
    assert "at line 2 (id 'bad'):" in refusal(tmp_path, GOOD, {"id": "bad"})


def test_a_line_that_is_no_object_is_named(tmp_path: Path):
    assert "at line 2: an object with a `question` was expected" in refusal(tmp_path, GOOD, ["Who?"])


def test_two_records_of_one_id_are_both_named(tmp_path: Path):
    message = refusal(tmp_path, GOOD, {"id": "b", "question": "Why?"}, GOOD)
    assert "at line 3 (id 'good'): the id 'good' is already used at line 1" in message


def test_a_number_and_the_same_words_are_one_id(tmp_path: Path):
    assert "the id '7' is already used" in refusal(tmp_path, {**GOOD, "id": 7}, {**GOOD, "id": "7"})


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("anwsers", "answers"),
        ("refrences", "references"),
        ("Question", "question"),
        ("gold_passage", "gold_passages"),
        ("claim", "claims"),
        ("qa_pair", "qa_pairs"),
        ("witheld", "withheld"),
        ("answerble", "answerable"),
    ],
)
def test_a_slip_of_the_pen_is_refused_with_the_name_that_was_meant(slip: str, meant: str, tmp_path: Path):
    record = {slip: "Who?"} if meant == "question" else {"question": "Who?", slip: []}
    message = refusal(tmp_path, record)
    assert f"at line 1: there is no field `{slip}`; did you mean `{meant}`?" in message


@pytest.mark.parametrize(
    "name",
    "weather question_type question_id answer_type answered topic source preference doc_id gold_doc_ids level".split(),
)
def test_a_field_of_other_meaning_is_kept(name: str, tmp_path: Path):
    record = {"question": "Who?", "answers": ["A"], name: "x"}
    assert read(written(tmp_path, [record])).items[0].record[name] == "x"


@given(name=st.sampled_from(OWN), more=st.text("abcdefgh", max_size=3))
def test_no_field_is_a_slip_for_one_that_is_there(name: str, more: str):
    assert misspelling({name: 1, name + more: 2} | dict.fromkeys(OWN)) is None


def test_a_file_of_passages_is_told_from_one_of_questions(tmp_path: Path):
    message = refusal(tmp_path, {"_id": "1", "title": "T", "text": "A passage."})
    assert "a record with `title` and `text` is a passage; name a file of questions" in message


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_a_wrong_value(limit: int, tmp_path: Path):
    with pytest.raises(UsageError, match=f"a number of questions from 1, not {limit}"):
        read(written(tmp_path, [GOOD]), limit=limit)


# ---------------------------------------------------------------- the page


def test_every_field_of_ones_own_is_in_the_table_of_the_page():
    rows = re.findall(r"^\| `(\w+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert set(OWN) <= set(rows)


@pytest.mark.parametrize(
    "block", re.findall(r"^```jsonl\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
)
def test_the_records_of_the_page_can_be_read(block: str, tmp_path: Path):
    (tmp_path / "page.jsonl").write_text(block, "utf-8")
    assert len(read(tmp_path / "page.jsonl").items) == len(block.splitlines())
