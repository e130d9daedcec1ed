"""Turns a record into an item, whatever the dataset calls its fields.

The first record of a file decides the form of all. Passages keep their order, duplicates and empty ones included,
because ALCE's `[n]` cites the n-th. A field that looks misspelt is an error.
"""

from __future__ import annotations

from typing import Any

from toulmin.datasets.fields import Record, id_of
from toulmin.datasets.forms import Form
from toulmin.datasets.gold import gold_of, style_of
from toulmin.datasets.item import Item
from toulmin.datasets.item_passages import PASSAGE_FIELDS, are_ranked, passages_of
from toulmin.datasets.spelling import misspelling
from toulmin.documents.plain import sound

_LARGEST = 2**63
_DEEPEST = 100


def item_of(record: Record, form: Form) -> Item:
    """Raises `SourceError` naming the record and the field at fault."""
    slip = misspelling(record.fields)
    if slip is not None:
        problem = f"there is no field `{slip[0]}`; did you mean `{slip[1]}`?"
        raise record.refusal(problem, "rename the field, or remove it")
    kept = {name: value for name, value in record.fields.items() if name not in PASSAGE_FIELDS}
    if _is_deep(kept):
        raise record.refusal(f"it is nested deeper than {_DEEPEST} levels")
    standard = form.turned(record)
    question = standard.nonblank_words("question", standard.get("question"))
    gold, passages = gold_of(standard), passages_of(standard)
    return Item(
        id_of(record),
        question,
        gold,
        passages,
        is_ranked=passages is not None and are_ranked(standard),
        withheld=standard.optional("withheld", standard.names) or (),
        style=style_of(standard, gold),
        kind=_kind(standard),
        record=_plain(kept),
    )


def _kind(record: Record) -> str | None:
    kind = record.optional("kind", record.nonblank_words)
    type_name = record.get("type")
    return kind if kind is not None or not isinstance(type_name, str) or not type_name else sound(type_name)


def _is_deep(value: Any, depth: int = 0) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth > _DEEPEST or any(_is_deep(entry, depth + 1) for entry in inner if isinstance(entry, dict | list))


def _plain(value: Any) -> Any:
    """Any JSON writer can write it; integers beyond 64 bits become text."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, dict):
        return {sound(name): _plain(entry) for name, entry in value.items()}
    return str(value) if isinstance(value, int) and abs(value) >= _LARGEST else value
