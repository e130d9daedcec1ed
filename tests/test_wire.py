"""The Answer document: what it holds, and that nothing is lost on the way there and back."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import orjson
import pytest
from hypothesis import given, settings
from row_tables import table
from strategies import answers, in_document_order

import toulmin
from toulmin.data import Answer, Citation, Claim, Hit, Passage, Quote, Source, Support, Tokens, Usage
from toulmin.errors import UsageError
from toulmin.formats import answer_json
from toulmin.formats.answer_reading import answer_schema

SCHEMA_FILE = Path(__file__).parent.parent / "docs" / "answer.schema.json"

SEA = Passage.of("The sea is deep.", "Sea")
LAMP = Passage.of(
    "The lamp was lit in 1824. It burns.", "Lamp", Source(10, 45, path="notes/lamp.pdf", page=3, record="7")
)
SUPPORT = Support("supported", 0.93, "lexical", (LAMP.id,), "every word is there")
CLAIM = Claim("The lamp was lit in 1824.", (Citation(LAMP.id, Quote(0, 25, "The lamp was lit in 1824.")),), SUPPORT)
ANSWER = Answer(
    "When was it lit?",
    "long",
    "vanilla",
    "answered",
    (CLAIM, Claim("It burns.")),
    (SEA, LAMP),
    usage=Usage({"main": 1}, {"main": Tokens(30, 12)}, None, 2, 1, 0.25),
    invalid_citations=1,
    settings={"k": 5},
)


def document() -> dict[str, Any]:
    return answer_json.document(ANSWER)


# ---------------------------------------------------------------- what it holds


def test_the_fields_stand_in_the_published_order():
    assert (
        list(document())
        == (
            "schema id question style method status text claims passages sections questions usage rounds"
            " invalid_citations notes settings relevance asked sources_at version"
        ).split()
    )


def test_the_document_names_its_schema_and_version():
    assert (document()["schema"], document()["version"]) == (1, toulmin.__version__)


def test_the_text_is_rendered_and_the_claims_stand_in_it():
    first, second = document()["claims"]
    text = document()["text"]
    assert [text[c["start"] : c["end"]] for c in (first, second)] == ["The lamp was lit in 1824 [1].", "It burns."]


def test_a_claim_carries_its_citations_and_its_support():
    assert document()["claims"][0] == {
        "text": "The lamp was lit in 1824.",
        "start": 0,
        "end": 29,
        "citations": [
            {
                "passage": LAMP.id,
                "n": 1,
                "quote": {"start": 0, "end": 25, "text": "The lamp was lit in 1824."},
                "boxes": [],
                "page": None,
                "page_label": "",
                "section": None,
                "selector": {
                    "type": "TextQuoteSelector",
                    "exact": "The lamp was lit in 1824.",
                    "prefix": "",
                    "suffix": " It burns.",
                },
                "link": "notes/lamp.pdf#page=3",
            }
        ],
        "support": {
            "label": "supported",
            "score": 0.93,
            "judge": "lexical",
            "evidence": [LAMP.id],
            "reason": "every word is there",
            "elsewhere": [],
        },
        "section": None,
        "place": None,
    }


def test_what_was_not_checked_has_no_support():
    assert document()["claims"][1]["support"] is None


def test_cited_passages_come_first_with_their_numbers():
    assert [(p["id"], p["n"]) for p in document()["passages"]] == [(LAMP.id, 1), (SEA.id, None)]


def test_a_passage_of_two_files_is_listed_once():
    twin = replace(LAMP, source=replace(LAMP.source, path="copy.pdf"))
    listed = answer_json.document(replace(ANSWER, passages=(LAMP, SEA, twin)))["passages"]
    assert [(p["id"], p["source"]["path"]) for p in listed] == [(LAMP.id, "notes/lamp.pdf"), (SEA.id, None)]


def test_a_passage_says_where_it_stands():
    assert document()["passages"][0]["source"] == {
        "path": "notes/lamp.pdf",
        "url": None,
        "record": "7",
        "page": 3,
        "section": "",
        "digest": "",
        "start": 10,
        "end": 45,
        "metadata": {
            "authors": [],
            "date": "",
            "is_file_date": False,
            "version": "",
            "language": "",
            "tags": [],
            "doi": "",
            "entry": "",
        },
    }


def test_an_unknown_cost_is_null():
    assert document()["usage"] == {
        "calls": {"main": 1},
        "tokens": {"main": {"input": 30, "output": 12}},
        "cost": None,
        "judge_pairs": 2,
        "searches": 1,
        "seconds": 0.25,
    }


def test_a_known_cost_is_in_dollars():
    priced = replace(ANSWER, usage=Usage(usd=0.5))
    assert answer_json.document(priced)["usage"]["cost"] == {"usd": 0.5}


def test_an_answer_without_an_id_gets_one_from_its_content():
    assert document()["id"] == answer_json.document(replace(ANSWER, usage=Usage()))["id"] != ""


@pytest.mark.parametrize(
    "change", [{"question": "Why?"}, {"method": "calm"}, {"settings": {"k": 6}}, {"claims": (CLAIM,)}]
)
def test_the_made_id_depends_on_question_method_settings_and_claims(change: dict[str, Any]):
    assert answer_json.document(replace(ANSWER, **change))["id"] != document()["id"]


def test_the_order_of_settings_does_not_change_the_id():
    one, other = ({"k": 5, "style": "long"}, {"style": "long", "k": 5})
    assert (
        answer_json.document(replace(ANSWER, settings=one))["id"]
        == answer_json.document(replace(ANSWER, settings=other))["id"]
    )


def test_hits_are_listed_with_their_passages_and_scores():
    found = answer_json.hits_document("lamp", [Hit(LAMP, 2.5), Hit(SEA, 1)])
    assert [(hit["passage"]["id"], hit["passage"]["n"], hit["score"]) for hit in found["hits"]] == [
        (LAMP.id, None, 2.5),
        (SEA.id, None, 1.0),
    ]


def test_half_a_surrogate_pair_is_written_as_valid_utf_8():
    broken = replace(ANSWER, question="When \ud83d?", settings={"x\udc00": Path("a"), "big": 2**70})
    assert json.loads(answer_json.dumps(broken).decode("utf-8"))["question"] == "When \ufffd?"


def test_a_quote_of_broken_text_still_stands_at_its_offsets():
    passage = Passage.of("So \ud83d it is.")
    claim = Claim("So it is.", (Citation(passage.id, Quote(0, 4, "So \ud83d")),))
    read = answer_json.parse(answer_json.dumps(Answer("q", "long", "m", "answered", (claim,), (passage,))))
    assert read.claims[0].citations[0].quote == Quote(0, 4, "So \ufffd")


def test_writing_an_answer_loads_no_pydantic():
    code = "import sys, toulmin.formats.answer_json; print('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


# ---------------------------------------------------------------- there and back


@given(answers())
@settings(max_examples=40, deadline=None)
def test_an_answer_is_read_back_as_it_was_written(answer: Answer):
    ready = in_document_order(replace(answer, id=answer.id or "given"))
    assert answer_json.parse(answer_json.dumps(ready)) == ready


@given(answers())
@settings(max_examples=30, deadline=None)
def test_a_document_is_written_as_it_was_read(answer: Answer):
    written = answer_json.dumps(answer)
    assert answer_json.dumps(answer_json.parse(written)) == written


@given(answers())
@settings(max_examples=30, deadline=None)
def test_every_document_keeps_the_published_schema(answer: Answer):
    jsonschema.validate(orjson.loads(answer_json.dumps(answer)), json.loads(SCHEMA_FILE.read_text("utf-8")))


def test_the_published_schema_is_the_one_in_force():
    assert json.loads(SCHEMA_FILE.read_text("utf-8")) == answer_schema()


def test_the_schema_is_itself_valid():
    jsonschema.Draft202012Validator.check_schema(answer_schema())


def test_a_document_is_read_from_text_bytes_or_a_mapping():
    as_bytes = answer_json.dumps(ANSWER)
    assert answer_json.parse(as_bytes) == answer_json.parse(as_bytes.decode()) == answer_json.parse(document())


def test_fields_of_a_later_version_are_ignored():
    assert answer_json.parse(document() | {"mood": "sunny"}) == answer_json.parse(document())


# ---------------------------------------------------------------- bad input


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in document().items() if key != name}


@pytest.mark.parametrize(
    ("source", "text", "link"),
    [
        ({"path": "a.txt"}, "The lamp was lit.", None),
        ({"path": "a.pdf"}, "The lamp was lit.", None),
        (
            {"url": "https://a.example/b#c"},
            "The lamp was half-lit.",
            "https://a.example/b#:~:text=The%20lamp%20was%20half%2Dlit.",
        ),
        ({"path": "a.HTML"}, "100 & 1, lit?", "a.HTML#:~:text=100%20%26%201%2C%20lit%3F"),
        (
            {"url": "https://a.example/"},
            "One two three four five six seven eight nine ten eleven twelve thirteen.",
            "https://a.example/#:~:text=One%20two%20three%20four%20five%20six,eight%20nine%20ten%20eleven%20twelve%20thirteen.",
        ),
    ],
)
def test_a_citation_links_to_its_words(source: dict[str, Any], text: str, link: str | None):
    passage = Passage.of(text, "", Source(0, len(text), **source))
    claim = Claim(text, (Citation(passage.id, Quote(0, len(text), text)),))
    written = answer_json.document(Answer("", "long", "check", "answered", (claim,), (passage,)))
    assert written["claims"][0]["citations"][0]["link"] == link


def test_a_citation_holds_what_stands_around_its_words():
    text = f"{'before ' * 9}The lamp was lit. {'after ' * 9}"
    passage, start = Passage.of(text), 7 * 9
    claim = Claim("The lamp was lit.", (Citation(passage.id, Quote(start, start + 17, "The lamp was lit.")),))
    written = answer_json.document(Answer("", "long", "check", "answered", (claim,), (passage,)))
    selector = written["claims"][0]["citations"][0]["selector"]
    assert text.count(selector["prefix"] + selector["exact"] + selector["suffix"]) == 1
    assert (len(selector["prefix"]), len(selector["suffix"])) == (32, 32)


def test_a_document_of_an_earlier_version_is_read():
    old = document()
    for name in ("relevance", "asked"):
        del old[name]
    for passage in old["passages"]:
        del passage["source"]["section"], passage["source"]["digest"]
    for claim in old["claims"]:
        del claim["place"]
        for citation in claim["citations"]:
            del citation["selector"], citation["link"], citation["boxes"]
        if claim["support"]:
            del claim["support"]["elsewhere"]
    assert replace(answer_json.parse(old), id="") == replace(ANSWER, passages=(LAMP, SEA))


def with_claim(**changes: Any) -> dict[str, Any]:
    return document() | {"claims": [document()["claims"][0] | changes]}


@table(
    ("make", "named"),
    [
        (lambda: b"{", "JSON"),
        (lambda: b"\xff", "JSON"),
        (lambda: b"[]", "schema 1"),
        (lambda: "null", "schema 1"),
        (lambda: without("question"), "question"),
        (lambda: document() | {"schema": 2}, "schema"),
        (lambda: document() | {"style": "prose"}, "style"),
        (lambda: document() | {"status": "abstained"}, "exactly if answered"),
        (lambda: document() | {"invalid_citations": -1}, "invalid_citations"),
        (lambda: document() | {"claims": [{}]}, r"claims\[0\]"),
        (lambda: with_claim(text=" "), "needs words"),
        (lambda: with_claim(support={"label": "true"}), r"claims\[0\].support.label"),
        (lambda: with_claim(citations=[{"passage": "gone", "n": 1, "quote": None}]), "'gone', which was not read"),
        (lambda: with_claim(start="0"), r"claims\[0\].start"),
        (lambda: document() | {"passages": []}, "was not read"),
        (lambda: document() | {"usage": {"calls": {"main": 1.5}}}, "usage"),
    ],
)
def test_bad_input_is_refused_with_the_field_that_is_wrong(make: Callable[[], Any], named: str):
    with pytest.raises(UsageError, match=named):
        answer_json.parse(make())
