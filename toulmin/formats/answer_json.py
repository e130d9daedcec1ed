"""The JSON of an Answer, the same for the command line, the server, the result files and the page.

`document` and `dumps` write it, `parse` reads it, `schema` describes it. What follows from the claims (text,
offsets, citation numbers) is written for readers and ignored by `parse`.

`python -m toulmin.formats.schema_main [FILE]` writes the schema, by default to `docs/answer.schema.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toulmin.data import Answer
from toulmin.formats.answer_writing import SCHEMA_VERSION, document, dumps, hits_document, passage_document

__all__ = ["SCHEMA_VERSION", "document", "dumps", "hits_document", "parse", "passage_document", "schema"]

# Reading needs pydantic, which takes a tenth of a second to import; writing does not.


def parse(data: bytes | str | Mapping[str, Any]) -> Answer:
    """The Answer that a document describes.

    `parse(dumps(answer))` is the answer with its id and its passages in the document's order. Raises `UsageError`
    naming the field for anything that is no valid Answer.
    """
    from toulmin.formats.answer_reading import read_answer

    return read_answer(data)


def schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the Answer document."""
    from toulmin.formats.answer_reading import answer_schema

    return answer_schema()
