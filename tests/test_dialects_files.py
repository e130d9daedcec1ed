"""The files that evaluations read: TREC's lines with their limits, ALCE's result file; and that faults are found."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from dialect_checks import problems
from dialect_parts import ABSTENTION, ANSWER, BARE, ITEMS, SONG, TOWER, exportable
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from toulmin.data import STYLES, Answer, Citation, Claim, Passage, Source, Style, Usage
from toulmin.datasets.item import Gold, Item, Part
from toulmin.datasets.loading import read, result_items
from toulmin.formats.export import DIALECTS, export_answers, words_in
from toulmin.judges.lexical import Lexical
from toulmin.metrics.answered import answer_to_score
from toulmin.metrics.autoais import citation_metrics
from toulmin.metrics.judging import Judging
from toulmin.metrics.splitting import sentences
from toulmin.metrics.statements import Alce
from toulmin.metrics.statements import output_to_score as as_answered

RUN = {"run_id": "r1", "settings": {"k": 5, "team_id": "lamps"}}


def written(name: str, *answers: Answer, items: tuple[Item, ...] = ITEMS) -> Any:
    return json.loads(export_answers(answers, items, name, **RUN).data)


# ---------------------------------------------------------------- TREC


def test_a_line_of_2024_holds_these():
    assert written("trec24", ANSWER) == {
        "run_id": "r1",
        "topic_id": "q1",
        "topic": "When was it built?",
        "references": [TOWER.id, "s1", BARE.id],
        "response_length": 15,
        "answer": [
            {"text": "The tower 😀 (see [3]) was built in 1824.", "citations": [0, 1]},
            {"text": "E\u0301te\u0301 is warm.", "citations": []},
            {"text": "مَنَارَة means 灯台.", "citations": [2, 0]},
        ],
    }


def test_a_line_of_2025_names_team_run_and_narrative():
    assert written("trec25", ANSWER)["metadata"] == {
        "team_id": "lamps",
        "run_id": "r1",
        "type": "automatic",
        "narrative_id": "q1",
        "narrative": "When was it built?",
    }


def test_passages_of_one_record_are_one_reference():
    halves = tuple(Passage.of(text, "", Source(0, 2, record="doc#1")) for text in ("a.", "b."))
    claim = Claim("Both.", tuple(Citation(half.id) for half in halves))
    line = written("trec24", replace(ANSWER, claims=(claim,), passages=halves))
    assert (line["references"], line["answer"][0]["citations"]) == (["doc#1"], [0])


def long_answer(sentences: int, words: int) -> Answer:
    """An answer of so many sentences, each of so many words, each citing five passages of its own."""
    passages = tuple(Passage.of(f"Lamp {n} burns.") for n in range(5 * sentences))
    claims = tuple(
        Claim(f"{'lamp ' * (words - 1)}{i}.", tuple(Citation(p.id) for p in passages[5 * i : 5 * i + 5]))
        for i in range(sentences)
    )
    return Answer("What burns?", "long", "vanilla", "answered", claims, passages, id="q1")


@pytest.mark.parametrize("name", ["trec24", "trec25"])
def test_sentences_beyond_400_words_are_cut_from_the_end_with_a_note(name: str):
    file = export_answers((long_answer(5, 100),), (), name, **RUN)
    assert len(json.loads(file.data)["answer"]) == 4
    assert "q1: 1 of 5 sentences cut: 400 words at most." in file.notes


def test_a_sentence_too_long_by_itself_leaves_none_rather_than_half():
    file = export_answers((long_answer(1, 401),), (), "trec24", **RUN)
    assert (json.loads(file.data)["answer"], len(file.notes)) == ([], 1)


def test_references_beyond_100_are_cut_with_what_cites_them_and_a_note():
    file = export_answers((long_answer(21, 2),), (), "trec24", **RUN)
    line = json.loads(file.data)
    assert (len(line["references"]), line["answer"][19]["citations"][-1], line["answer"][20]["citations"]) == (
        100,
        99,
        [],
    )
    assert file.notes == ("q1: 5 references cut, with their citations: 100 at most.",)


def test_trec_2025_keeps_three_citations_and_notes_rest():
    file = export_answers((long_answer(2, 9),), (), "trec25", **RUN)
    assert [one["citations"] for one in json.loads(file.data)["answer"]] == [[0, 1, 2], [3, 4, 5]]
    assert file.notes == ("q1: 4 citations cut: 3 a sentence at most, the first ones stay.",)


def test_words_are_counted_in_form_nfkc():
    assert words_in("the\u00a0tower\u2003burns 1\u20442") == 4


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 30), st.integers(2, 30))
def test_however_long_an_answer_is_its_lines_keep_the_limits(sentences: int, words: int):
    for name in ("trec24", "trec25"):
        assert problems(name, export_answers((long_answer(sentences, words),), (), name, **RUN).data) == []


# ---------------------------------------------------------------- ALCE


def test_alces_file_is_args_data_and_cost():
    file = written("alce", ANSWER, ABSTENTION)
    assert (list(file), file["args"]["k"], file["args"]["run"], file["total_cost"]) == (
        ["args", "data", "total_cost"],
        5,
        "r1",
        0.25,
    )


def test_a_cost_that_nobody_knows_is_null():
    assert written("alce", replace(ANSWER, usage=Usage()))["total_cost"] is None


@settings(deadline=None, max_examples=30)
@given(exportable())
def test_alces_output_and_docs_are_what_is_scored(answer: Answer):
    scored = answer_to_score(ITEMS[0], answer)
    one = written("alce", answer)["data"][0]
    assert one["output"] == scored.output
    assert [(doc["title"], doc["text"]) for doc in one["docs"]] == [(p.title, p.text) for p in scored.docs]


def test_alces_docs_carry_record_and_page():
    assert written("alce", ANSWER)["data"][0]["docs"][1] == {
        "id": "s1",
        "title": "",
        "text": SONG.text,
        "url": "https://example.org/song",
    }


def test_a_record_of_alces_form_stays_as_it_stood():
    pairs = [{"question": "Who?", "short_answers": ["Tom"], "wikipage": "Tom"}]
    record = {"sample_id": "7", "question": "Who?", "qa_pairs": pairs, "wikipages": []}
    gold = Gold(parts=(Part("Who?", ("Tom",)),), answers=(("Tom",),))
    one = written("alce", replace(ABSTENTION, id="7"), items=(Item("7", "Who?", gold, style="long", record=record),))
    one = one["data"][0]
    assert {name: value for name, value in one.items() if name not in ("docs", "output")} == record


def test_an_unknown_record_stands_beside_alce_names():
    gold = Gold((("Tom", "Thomas"),), None, ("Tom.",), None, ("Tom came.",), ("s1",), True)
    record = {"question": "Who?", "answer": ["Tom", "Thomas"], "claim": "Tom came."}
    one = written("alce", ABSTENTION, items=(Item("q2", "Who?", gold, kind="easy", record=record),))
    assert one["data"][0] == {
        "question": "Who?",
        "answers": [["Tom", "Thomas"]],
        "claims": ["Tom came."],
        "annotations": [{"long_answer": "Tom."}, {"long_answer": "Tom."}],
        "references": ["Tom."],
        "gold_passages": ["s1"],
        "answerable": True,
        "style": "long",
        "type": "easy",
        "record": record,
        "id": "q2",
        "docs": [{"id": "s1", "title": "", "text": SONG.text, "url": "https://example.org/song"}],
        "output": "",
    }


RECORDS = {
    "asqa": {
        "sample_id": "-7",
        "question": "Who?",
        "qa_pairs": [{"question": "Who came?", "short_answers": ["Tom", "Thomas"], "wikipage": None}],
        "annotations": [{"long_answer": "Tom."}, {"long_answer": "Thomas."}],
        "answer": "Thomas.",
    },
    "eli5": {"question": "Why?", "question_ctx": "", "claims": ["It rains."], "answer": "It rains."},
    "qampari": {"id": "5__w", "question": "Who?", "answers": [["Tom", "Thomas"], ["Ann"]], "answer": "Tom, Ann."},
    "nq": {"question": "Who?", "answer": ["Tom", "Thomas"]},
    "hotpotqa": {"_id": "a", "question": "Who?", "answer": "Tom", "supporting_facts": [["Life", 0]], "type": "bridge"},
    "squad": {"id": "a", "question": "Who?", "answers": [{"text": "Tom", "answer_start": 0}], "is_impossible": False},
    "asqa plain": {"id": 3, "question": "Who?", "long_answers": ["Tom."], "qa_pairs": []},
    "own list": {"id": "l", "question": "Who?", "answers": ["Tom", "Ann"], "style": "list", "kind": "k"},
    "own long": {"id": "l", "question": "Who?", "answer": "Tom did.", "style": "long", "answerable": True},
}


def test_alces_tool_finds_its_own_fields_where_ours_would_do_with_others(tmp_path: Path):
    (tmp_path / "data.jsonl").write_text(json.dumps(RECORDS["hotpotqa"]), "utf-8")
    items = read(tmp_path / "data.jsonl").items
    assert written("alce", replace(ABSTENTION, id="a"), items=items)["data"][0]["answers"] == [["Tom"]]


def test_a_question_answered_in_another_style_than_its_datasets_says_so():
    pairs = [{"question": "Who?", "short_answers": ["Tom"]}]
    record = {"id": "q2", "question": "Who?", "qa_pairs": pairs}
    item = Item("q2", "Who?", Gold(parts=(Part("Who?", ("Tom",)),)), style="short", record=record)
    assert written("alce", ABSTENTION, items=(item,))["data"][0]["style"] == "long"


@pytest.mark.parametrize("form", RECORDS)
def test_what_is_scored_comes_back_from_the_file(form: str, tmp_path: Path):
    (tmp_path / "data.jsonl").write_text(json.dumps(RECORDS[form]), "utf-8")
    (item,) = read(tmp_path / "data.jsonl").items
    answer = replace(ANSWER, id=item.id, question=item.question, style=item.style or "long")
    (tmp_path / "result.json").write_bytes(export_answers((answer,), (item,), "alce", **RUN).data)
    (back,) = result_items(tmp_path / "result.json")
    scored = answer_to_score(item, answer)
    assert (back.output, [(p.title, p.text) for p in back.docs]) == (
        scored.output,
        [(p.title, p.text) for p in scored.docs],
    )
    assert (back.item.id, back.item.question, back.item.style) == (item.id, item.question, answer.style)
    assert (_scored(back.item.gold), back.item.kind) == (_scored(item.gold), item.kind)


def _scored(gold: Gold) -> Gold:
    """Gold as metrics see it: one answer slot for each part is known without being said."""
    return replace(gold, answers=None) if gold.parts is not None else gold


ALIASES = st.lists(st.sampled_from(["Tom", "Ann", "灯台", "D.C., a city"]), min_size=1, max_size=3, unique=True)


@st.composite
def golds(draw: st.DrawFn) -> Gold:
    """What a file may hold to be right."""
    words = st.lists(st.sampled_from(["Tom came.", "It rains."]), min_size=1, unique=True).map(tuple)
    slots = st.lists(ALIASES.map(tuple), min_size=1, max_size=3).map(tuple)
    parts = draw(st.none() | slots.map(lambda s: tuple(Part("Who?", aliases) for aliases in s)))
    answers = draw(slots) if parts is None else tuple(part.answers for part in parts)
    optional = st.none() | words
    return Gold(answers, parts, draw(optional), draw(st.none() | st.just("Tom.")), draw(optional), draw(optional))


@settings(deadline=None, max_examples=40)
@given(golds(), st.sampled_from(STYLES))
def test_any_gold_comes_back_from_the_file(gold: Gold, style: Style):
    item = Item("q1", "Who?", gold, style=style)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        file.write_bytes(export_answers((replace(ANSWER, style=style),), (item,), "alce", **RUN).data)
        (back,) = result_items(file)
    assert back.item == replace(item, passages=back.docs, is_ranked=True, record=back.item.record)


def test_numbers_too_large_for_other_json_stay_whole():
    item = Item("q2", "Who?", record={"views": 10**30})
    assert written("alce", ABSTENTION, items=(item,))["data"][0]["record"]["views"] == 10**30


@pytest.mark.parametrize("is_list", [False, True])
@settings(deadline=None, max_examples=10)
@given(drawn=st.lists(exportable(), min_size=1, max_size=3))
def test_citations_score_the_same_from_the_file(is_list: bool, drawn: list[Answer]):
    asked = [replace(answer, id=str(n)) for n, answer in enumerate(drawn)]
    items = [Item(answer.id, answer.question, style=answer.style) for answer in asked]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        file.write_bytes(export_answers(asked, items, "alce", **RUN).data)
        from_file = [as_answered(one.item, one.output, one.docs) for one in result_items(file)]
    from_run = [answer_to_score(*pair) for pair in zip(items, asked, strict=True)]
    profile = Alce(sentences, is_list=is_list)
    found = [asyncio.run(citation_metrics(those, profile, Judging(Lexical()))) for those in (from_run, from_file)]
    assert found[0].columns == found[1].columns


# ---------------------------------------------------------------- faults are found

Change = Callable[[Any], None]


def change(*path: str | int, to: Any) -> Change:
    def changed(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = to(document[path[-1]]) if callable(to) else to

    return changed


def plus(n: int) -> Callable[[int], int]:
    return lambda old: old + n


FAULTS = [
    ("alce", change("data", 0, "output", to=["a", "b"]), "data[0].output should be a text"),
    ("alce", change("data", 0, "annotations", to=[{"long_answer": "A."}]), "two or none"),
    ("trec24", change("response_length", to=plus(1)), "answer has 15 words"),
    ("trec24", change("answer", 0, "citations", to=[3]), "reference 3, but there are 3"),
    ("trec24", change("answer", 0, "citations", to=[-1]), "a whole number, 0 or more, not -1"),
    ("trec24", change("answer", 0, "text", to="lamp " * 401), "at most 400 words"),
    ("trec24", change("references", to=lambda old: old * 2), "same one twice"),
    ("trec25", change("answer", 0, "citations", to=[0, 1, 2, 0]), "at most 3 references"),
    ("trec25", change("metadata", "type", to="robot"), "'automatic' or 'manual', not 'robot'"),
    ("openai", change("choices", 0, "message", "annotations", 0, "url_citation", "end_index", to=plus(1)), "no mark"),
    (
        "openai",
        change("choices", 0, "message", "annotations", 0, "url_citation", "start_index", to=32),
        "is escaped and belongs to the words",
    ),
    ("openai", change("choices", 0, "message", "annotations", 3, "url_citation", "url", to="b"), "takes [1] for 'b'"),
    ("openai", change("choices", 0, "message", "annotations", to=lambda old: old[::-1]), "order of the text"),
    ("openai", change("choices", 0, "message", "content", to=None), "neither content nor refusal"),
    ("openai", change("choices", to={}), "choices should be a list"),
    ("responses", change("output", 0, "content", 0, "annotations", 0, "start_index", to=plus(-1)), "no mark"),
    ("responses", change("output", 0, "content", 0, "text", to=None), "says nothing"),
    ("anthropic", change("content", 1, "citations", 0, "end_char_index", to=plus(1)), "and says '塔は"),
    ("anthropic", change("content", 1, "citations", 0, "document_index", to=3), "document 3, but there are 3"),
    ("anthropic", change("content", 0, "text", to=" \n"), "no words"),
]


@table(("name", "break_it", "words"), FAULTS, ids=[f"{f[0]}-{n}" for n, f in enumerate(FAULTS)])
def test_a_fault_is_found_and_said(name: str, break_it: Change, words: str):
    document = copy.deepcopy(written(name, ANSWER))
    break_it(document)
    found = problems(name, json.dumps(document).encode())
    assert any(words in problem for problem in found), found


@pytest.mark.parametrize("name", DIALECTS)
def test_a_document_of_nothing_lacks_its_fields(name: str):
    assert any("is missing." in problem for problem in problems(name, b"{}"))


@pytest.mark.parametrize("name", DIALECTS)
@settings(deadline=None, max_examples=10)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), st.lists, max_leaves=4))
def test_a_document_that_is_no_object_is_one_problem(name: str, value: Any):
    assert len(problems(name, json.dumps(value).encode())) == 1


def test_the_line_of_a_fault_is_named():
    data = export_answers((ANSWER, ABSTENTION), ITEMS, "trec24", **RUN).data
    assert problems("trec24", data + b"{no json}\n")[0].startswith("line 3: JSON in UTF-8 was expected")


def test_bytes_that_are_no_utf8_are_a_problem():
    assert problems("alce", b"\xff\xfe")[0].startswith("JSON in UTF-8 was expected")
