"""Writes the JSON schema of the Answer document to a file."""

from __future__ import annotations

import sys
from pathlib import Path

import orjson

from toulmin.formats.answer_json import schema

target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/answer.schema.json")
target.write_bytes(orjson.dumps(schema(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
