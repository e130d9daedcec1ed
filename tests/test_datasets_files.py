"""Files of questions: lists and lines, folders of BEIR, result files, splits, and the evaluation data as a whole."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from toulmin.datasets.item import Dataset, Item
from toulmin.datasets.loading import read, result_items
from toulmin.errors import SourceError, UsageError

DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))

ONE = {"id": "a", "question": "Who?", "answers": ["A"], "docs": [{"title": "T", "text": "A did."}], "split": "train"}
TWO = {"id": "b", "question": "Why?", "answers": ["B"], "docs": [], "split": "dev"}


def lines(records: list[Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


# ---------------------------------------------------------------- lists and lines

LISTS: dict[str, Callable[[list[Any]], str]] = {
    "list": json.dumps,
    "indented list": lambda records: json.dumps(records, indent=4),
    "data": lambda records: json.dumps({"args": {"model": "m", "question": 1}, "data": records}),
    "indented data": lambda records: json.dumps({"args": {"shot": 2}, "data": records, "total_cost": 0}, indent=4),
    "list after a mark": lambda records: "\ufeff\n" + json.dumps(records),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose one file each example of a property writes anew."""
    return tmp_path_factory.mktemp("files")


questions = st.lists(st.text(min_size=1).filter(lambda text: text.strip()), min_size=1, max_size=4)


@settings(max_examples=40, deadline=None)
@given(asked=questions, layout=st.sampled_from(sorted(LISTS)))
def test_a_list_of_records_reads_as_their_lines_do(asked: list[str], layout: str, place: Path):
    records = [{"question": question, "mood": '"data": ['} for question in asked]
    (place / "set").write_text(lines(records), "utf-8")
    expected = read(place / "set").items
    (place / "set").write_text(LISTS[layout](records), "utf-8")
    assert read(place / "set").items == expected


def test_a_line_may_have_a_field_called_data(tmp_path: Path):
    (tmp_path / "set.json").write_text(lines([{"data": [1], "question": "Who?"}, {"question": "Why?", "data": [{}]}]))
    assert read(tmp_path / "set.json").items[0].record["data"] == [1]


def test_the_place_of_an_entry_in_a_list_is_named(tmp_path: Path):
    (tmp_path / "set.json").write_text(json.dumps([ONE, {"id": "b"}]))
    with pytest.raises(SourceError, match=r"at item 2 \(id 'b'\): the field `question`"):
        read(tmp_path / "set.json")


def test_the_digest_is_that_of_the_bytes_on_disk(tmp_path: Path):
    path = tmp_path / "set.jsonl.gz"
    path.write_bytes(gzip.compress(lines([ONE, TWO]).encode()))
    assert read(path, limit=1).digest == hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_path_is_kept_as_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "qampari.jsonl").write_text(lines([ONE]))
    monkeypatch.chdir(tmp_path)
    assert read("qampari.jsonl").path == "qampari.jsonl"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"[]", "holds no questions"),
        (b'{"data": []}', "holds no questions"),
        (b'{"question": "Who?"}\n{"question": ', "is damaged at line 2"),
        (b'[{"question": "Who?"}, {"question"', "is damaged at item 2"),
        (b'{"question": "Wh\xff?"}', "is not UTF-8 at line 1"),
        (b"Who?\n", "is damaged at line 1"),
    ],
)
def test_a_file_that_holds_no_dataset_is_refused(content: bytes, said: str, tmp_path: Path):
    (tmp_path / "set.json").write_bytes(content)
    with pytest.raises(SourceError, match=said):
        read(tmp_path / "set.json")


def test_damaged_gzip_is_refused(tmp_path: Path):
    (tmp_path / "set.jsonl.gz").write_bytes(gzip.compress(lines([ONE] * 50).encode())[:-20])
    with pytest.raises(SourceError, match="damaged gzip"):
        read(tmp_path / "set.jsonl.gz")


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(SourceError, match=r"none\.jsonl cannot be opened"):
        read(tmp_path / "none.jsonl")


# ---------------------------------------------------------------- splits and limits


@pytest.fixture
def both(tmp_path: Path) -> Path:
    (tmp_path / "both.jsonl").write_text(lines([ONE, TWO, {**TWO, "id": "c"}]))
    return tmp_path / "both.jsonl"


def ids(dataset: Dataset) -> list[str]:
    return [item.id for item in dataset.items]


def test_a_split_holds_the_records_that_name_it(both: Path):
    assert ids(read(both, split="dev")) == ["b", "c"]


def test_the_limit_counts_within_the_split(both: Path):
    assert ids(read(both, split="dev", limit=1)) == ["b"]


def test_numbers_given_for_ids_do_not_depend_on_the_split(tmp_path: Path):
    records = [{"question": "Who?", "split": "train"}, {"question": "Why?", "split": "dev"}]
    (tmp_path / "set.jsonl").write_text(lines(records))
    assert ids(read(tmp_path / "set.jsonl", split="dev")) == ["1"]


def test_an_unknown_split_is_refused_with_the_known_ones(both: Path):
    with pytest.raises(UsageError, match=r"no split of .* called 'test'; known: dev, train"):
        read(both, split="test")


def test_a_file_without_splits_says_so(tmp_path: Path):
    (tmp_path / "set.jsonl").write_text(lines([{"question": "Who?"}]))
    with pytest.raises(UsageError, match="leave the split out"):
        read(tmp_path / "set.jsonl", split="dev")


# ---------------------------------------------------------------- BEIR


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "scifact"
    (folder / "qrels").mkdir(parents=True)
    queries = [{"_id": str(n), "text": f"claim {n}", "metadata": {}, "title": ""} for n in range(4)]
    (folder / "queries.jsonl").write_text(lines(queries))
    (folder / "corpus.jsonl").write_text(lines([{"_id": "d1", "title": "T", "text": "A passage."}]))
    head = "query-id\tcorpus-id\tscore\n"
    (folder / "qrels" / "test.tsv").write_text(head + "2\td1\t1\n0\td1\t0\n2\td2\t2\n2\td3\t0\n")
    (folder / "qrels" / "train.tsv").write_text(head + "3\td1\t1\n")
    return folder


def test_a_folder_holds_the_judged_queries_with_what_is_relevant(beir: Path):
    assert [(item.id, item.question, item.gold.passages) for item in read(beir).items] == [
        ("0", "claim 0", ()),
        ("2", "claim 2", ("d1", "d2")),
    ]


def test_a_folder_names_its_corpus_and_form(beir: Path):
    dataset = read(beir)
    assert (dataset.form, dataset.corpus) == ("beir", str(beir / "corpus.jsonl"))


def test_another_split_has_its_own_judgements(beir: Path):
    assert ids(read(beir, split="train")) == ["3"]


def test_without_a_test_split_another_is_taken(beir: Path):
    (beir / "qrels" / "test.tsv").unlink()
    assert ids(read(beir)) == ["3"]


def test_a_folder_of_gzipped_files_reads_the_same(beir: Path):
    expected = read(beir).items
    for file in [*beir.glob("*.jsonl"), *beir.glob("qrels/*.tsv")]:
        file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert read(beir).items == expected


def test_the_digest_of_a_folder_goes_over_the_files_of_the_split(beir: Path):
    whole = b"".join((beir / name).read_bytes() for name in ("corpus.jsonl", "qrels/test.tsv", "queries.jsonl"))
    assert read(beir).digest == hashlib.sha256(whole).hexdigest()


def test_a_split_that_a_folder_lacks_is_refused_with_those_it_has(beir: Path):
    with pytest.raises(UsageError, match="known: test, train"):
        read(beir, split="dev")


@pytest.mark.parametrize("name", ["queries.jsonl", "corpus.jsonl"])
def test_a_folder_of_another_kind_is_refused(name: str, beir: Path):
    (beir / name).unlink()
    with pytest.raises(SourceError, match=f"a folder without {name}"):
        read(beir)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("2 d1 1\n", "test.tsv is damaged at line 6: query-id, corpus-id, score (a number) separated by tabs"),
        ("2\td4\thigh\n", r"were expected, not b'2\td4\thigh"),
        ("9\td1\t1\n", "judges the query '9', which queries.jsonl does not hold"),
    ],
)
def test_a_wrong_judgement_is_named(line: str, said: str, beir: Path):
    with (beir / "qrels" / "test.tsv").open("a") as file:
        file.write(line)
    with pytest.raises(SourceError, match=re.escape(said)):
        read(beir)


def test_a_query_that_stands_twice_is_refused(beir: Path):
    with (beir / "queries.jsonl").open("a") as file:
        file.write(lines([{"_id": "2", "text": "claim 2 again"}]))
    with pytest.raises(SourceError, match="the id '2' is already used at line 3"):
        read(beir)


# ---------------------------------------------------------------- result files

RESULT = {**ONE, "output": "A did it [1].\nAnd more.", "prompt": "Answer ...", "doc_history": [[0]]}


def results(folder: Path, *records: Any) -> Path:
    path = folder / "result.json"
    path.write_text(json.dumps({"args": {"ndoc": 5}, "data": list(records), "total_cost": 1}, indent=4))
    return path


def test_a_result_is_a_question_its_output_and_its_documents(tmp_path: Path):
    item, output, docs, _ = next(result_items(results(tmp_path, RESULT)))
    assert (item.id, output, [doc.text for doc in docs]) == ("a", "A did it [1].\nAnd more.", ["A did."])


def test_a_result_has_the_item_of_its_dataset(tmp_path: Path):
    item = next(result_items(results(tmp_path, RESULT))).item
    (tmp_path / "result.json").write_text(json.dumps([ONE]))
    assert item == read(tmp_path / "result.json").items[0]


def test_a_result_without_documents_has_none(tmp_path: Path):
    record = {name: value for name, value in RESULT.items() if name != "docs"}
    assert next(result_items(results(tmp_path, record))).docs == ()


def test_an_output_keeps_every_character(tmp_path: Path):
    output = "a\r\nb\rc\ud800\0"
    assert ascii(next(result_items(results(tmp_path, {**RESULT, "output": output}))).output) == ascii(output)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (["one", "two"], "the field `output` holds 2 samples; one text was expected; rerank first"),
        (None, "the field `output` should hold the text that a system wrote, not nothing"),
        (7, "the field `output` should hold the text that a system wrote, not the number 7"),
    ],
)
def test_an_output_that_is_no_text_is_refused(output: Any, said: str, tmp_path: Path):
    with pytest.raises(SourceError, match=re.escape(f"item 1 (id 'a'): {said}")):
        list(result_items(results(tmp_path, {**RESULT, "output": output})))


def test_results_of_one_id_get_ids_of_their_own(tmp_path: Path):
    other = {**RESULT, "sample_id": None, "id": "a#2"}
    ids = [result.item.id for result in result_items(results(tmp_path, RESULT, other, RESULT, RESULT))]
    assert ids == ["a", "a#2", "a#3", "a#4"]


# ---------------------------------------------------------------- the evaluation data


def has_answers(item: Item) -> bool:
    return bool(item.gold.answers)


def has_text(item: Item) -> bool:
    return bool(item.gold.references or item.gold.answer)


def has_parts(item: Item) -> bool:
    return bool(item.gold.parts and item.gold.references)


def has_records(item: Item) -> bool:
    return bool(item.gold.passages)


def has_either(item: Item) -> bool:
    return item.gold.answerable is False or has_answers(item) or has_text(item) or has_records(item)


def has_claims(item: Item) -> bool:
    return bool(item.gold.claims and item.gold.answer)


# The form of each file, whether passages come with its questions, and what every question must have.
SHARED: dict[str, tuple[str, bool, Callable[[Item], bool]]] = {
    "alce_asqa_format_sample": ("asqa", True, has_parts),
    "alce_eli5_questions": ("eli5", False, has_claims),
    "alce_qampari_questions": ("qampari", False, has_answers),
    "pool_questions": ("questions", False, has_either),
    "qa_asqa": ("asqa", False, has_parts),
    "qa_asqa_passages": ("asqa", True, has_parts),
    "qa_clapnq": ("questions", True, has_either),
    "qa_feedback": ("questions", True, has_text),
    "qa_hotpotqa": ("questions", True, lambda item: has_answers(item) and has_records(item)),
    "qa_musique": ("questions", True, lambda item: has_answers(item) and has_records(item)),
    "qa_nq_gold": ("questions", True, has_answers),
    "qa_nq_swap": ("questions", True, has_answers),
    "qa_pubmedqa": ("questions", True, has_text),
    "qa_qed": ("questions", True, has_answers),
    "retrieval_2wiki_queries": ("queries", False, has_records),
    "retrieval_scifact_queries": ("queries", False, has_records),
    "squad1_mrqa": ("squad", True, has_answers),
    "squad2_devhalf": ("squad", True, has_either),
}


def texts(item: Item) -> list[str]:
    return [passage.text for passage in item.passages or ()]


def told_counts() -> dict[str, int]:
    """How many records each file has, as the README of the data tells."""
    rows = re.findall(
        r"^\| `(\w+)\.jsonl\.gz`[^|]*\| ([\d,]+) \|", (DATA / "README.md").read_text("utf-8"), re.MULTILINE
    )
    return {name: int(count.replace(",", "")) for name, count in rows}


@pytest.mark.skipif(not (DATA / "README.md").exists(), reason="needs the evaluation data (TOULMIN_DATA)")
@table("name", SHARED)
def test_the_evaluation_data_is_read_whole(name: str):
    form, has_passages, has_gold = SHARED[name]
    dataset = read(DATA / f"{name}.jsonl.gz")
    assert (dataset.form, len(dataset.items)) == (form, told_counts()[name])
    assert [item.id for item in dataset.items if not has_gold(item)] == []
    assert {item.passages is not None for item in dataset.items} == {has_passages}


@pytest.mark.skipif(not (DATA / "qa_clapnq.jsonl.gz").exists(), reason="needs qa_clapnq (TOULMIN_DATA)")
def test_half_of_clapnq_is_unanswerable():
    items = read(DATA / "qa_clapnq.jsonl.gz").items
    assert Counter(item.gold.answerable for item in items) == {True: 233, False: 229}


@pytest.mark.skipif(not (DATA / "alce_asqa_format_sample.jsonl.gz").exists(), reason="needs ALCE items (TOULMIN_DATA)")
def test_real_items_of_alce_read_the_same_as_a_list(tmp_path: Path):
    path = DATA / "alce_asqa_format_sample.jsonl.gz"
    by_line = read(path).items
    (tmp_path / "asqa.json").write_text(
        json.dumps([json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()])
    )
    by_entry = read(tmp_path / "asqa.json").items
    assert [texts(item) for item in by_entry] == [texts(item) for item in by_line]
    assert [item.gold for item in by_entry] == [item.gold for item in by_line]
    assert {len(texts(item)) for item in by_line if item.is_ranked} == {100}
