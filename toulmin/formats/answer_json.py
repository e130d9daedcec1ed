"""The JSON of an Answer: one document for the command line, the server, the result files and the page.

`document` and `dumps` write it, `parse` reads it back into the vocabulary, `schema` describes it. What can be rendered
from the claims (the text, places in it, numbers of citations) is written for readers and ignored when read.

`python -m toulmin.formats.answer_json [FILE]` writes the schema, to `docs/answer.schema.json` unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toulmin.data import Answer
from toulmin.formats.answer_writing import SCHEMA_VERSION, document, dumps, hits_document, passage_document

__all__ = ["SCHEMA_VERSION", "document", "dumps", "hits_document", "parse", "passage_document", "schema"]

# Reading needs pydantic, which takes a tenth of a second to import; writing an answer does without.


def parse(data: bytes | str | Mapping[str, Any]) -> Answer:
    """The Answer that a document describes.

    `parse(dumps(answer))` is the answer, once it has its id and its passages stand in the document's order. Raises
    `UsageError` naming the field for what is no Answer document or breaks a rule of the vocabulary.
    """
    from toulmin.formats.answer_reading import read_answer

    return read_answer(data)


def schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the Answer document."""
    from toulmin.formats.answer_reading import answer_schema

    return answer_schema()
