"""A caller's schema, filled from answers."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from dialect_parts import ANSWER, exportable
from hypothesis import given
from jsonschema import Draft202012Validator

from toulmin.errors import UsageError
from toulmin.formats import answer_json
from toulmin.formats.filling import Schema, check, fill


def form(raw: dict[str, Any]) -> Schema:
    return Schema.model_validate(raw)


def record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


TEXT, MAYBE = {"type": "string"}, {"anyOf": [{"type": "string"}, {"type": "null"}]}


@given(exportable())
def test_the_answers_own_schema_is_filled_with_its_document(answer: Any):
    schema = form(answer_json.schema())
    check(schema)
    assert fill(schema, answer) == answer_json.document(answer)


FITTING = {
    "text": record(text=TEXT, question=TEXT),
    "claims as texts": record(claims={"type": "array", "items": TEXT}),
    "claims as records": record(
        facts={"type": "array", "items": record(statement=TEXT, quote=TEXT, source=TEXT, url=MAYBE, verdict=MAYBE)}
    ),
    "other letters": record(keyPoints={"type": "array", "items": TEXT}),
    "numbers of sources": record(
        claims={"type": "array", "items": record(citations={"type": "array", "items": {"type": "integer"}})}
    ),
    "several types": record(answer={"type": ["string", "null"]}, year={"type": ["integer", "null"]}),
    "definitions": {**record(claims={"type": "array", "items": {"$ref": "#/$defs/fact"}}), "$defs": {"fact": TEXT}},
    "bounds": record(text=TEXT, invalid_citations={"type": "integer", "minimum": 0}),
    "values": record(
        status={"type": "string", "enum": ["answered", "abstained"]}, schema={"type": "integer", "const": 1}
    ),
}


@pytest.mark.parametrize("raw", FITTING.values(), ids=FITTING)
@given(answer=exportable())
def test_what_is_accepted_is_valid_for_every_answer(raw: dict[str, Any], answer: Any):
    check(form(raw))
    Draft202012Validator(raw).validate(fill(form(raw), answer))


def test_claims_bring_their_sources_and_quotes():
    claim = record(
        text=TEXT, quote=TEXT, title=MAYBE, citations={"type": "array", "items": record(n={"type": "integer"})}
    )
    made = fill(
        form(record(claims={"type": "array", "items": claim}, sources={"type": "array", "items": TEXT})), ANSWER
    )
    quotes = [claim.citations[0].quote for claim in ANSWER.claims if claim.citations]
    assert [claim["text"] for claim in made["claims"]] == [claim.text for claim in ANSWER.claims]
    assert next(claim["quote"] for claim in made["claims"] if claim["citations"]) == quotes[0].text  # type: ignore[union-attr]
    assert len(made["sources"]) == len(ANSWER.cited)


def test_a_part_that_is_missing_is_left_out_unless_required():
    claims = {"type": "array", "items": {**record(text=TEXT, page={"type": "integer"}), "required": ["text"]}}
    answer = replace(ANSWER, claims=ANSWER.claims[:1], passages=ANSWER.passages)
    (claim,) = fill(form(record(claims=claims)), answer)["claims"]
    assert claim.keys() <= {"text", "page"}


LOOP = {"anyOf": [{"$ref": "#/$defs/loop"}, {"$ref": "#/$defs/loop"}]}
REFUSED = {
    "an unknown name": (record(text=TEXT, year={"type": "integer"}), r"\$\.year"),
    "no known name": (record(year=MAYBE), "filled by their names"),
    "no fields": ({"type": "object"}, "filled by their names"),
    "another type": (record(text={"type": "integer"}), r"\$\.text"),
    "what may be missing": (
        record(claims={"type": "array", "items": record(page={"type": "integer"})}),
        r"\$\.claims\[\]\.page",
    ),
    "an unchecked keyword": (record(text={**TEXT, "pattern": "^T"}), "keyword 'pattern'"),
    "a hidden keyword": (record(text={"anyOf": [{**TEXT, "pattern": "^T"}, TEXT]}), "keyword 'pattern'"),
    "other values": (record(text={**TEXT, "enum": ["yes", "no"]}), "does not allow"),
    "out of bounds": (record(schema={"type": "integer", "minimum": 2}), "bounds"),
    "a missing definition": (record(text={"$ref": "#/$defs/nowhere"}), "no type"),
    "a loop": ({**record(text={"$ref": "#/$defs/loop"}), "$defs": {"loop": LOOP}}, "refers to itself"),
    "nothing for items": (record(claims={"type": "array"}), "no type"),
}


@pytest.mark.parametrize(("raw", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_filled_is_refused_before_an_answer(raw: dict[str, Any], words: str):
    start = time.monotonic()
    with pytest.raises(UsageError, match=words):
        check(form(raw))
    assert time.monotonic() - start < 1


def test_a_wide_schema_ends_in_time():
    wide = {"anyOf": [{"type": "integer"}] * 1_000_000}
    schema = form(record(text=wide))
    start = time.monotonic()
    with pytest.raises(UsageError, match="too large"):
        check(schema)
    assert time.monotonic() - start < 3
