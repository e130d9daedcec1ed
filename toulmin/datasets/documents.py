"""Items as JSON documents, without their passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from toulmin.datasets.item import Item
from toulmin.errors import UsageError

_ITEM = TypeAdapter(Item)


def item_document(item: Item) -> dict[str, Any]:
    """Without its passages: the answer holds those that were read."""
    document = asdict(replace(item, passages=None))
    return {name: value for name, value in document.items() if name != "passages"}


def parse_item(document: Mapping[str, Any]) -> Item:
    """Reads what `item_document` wrote. Raises `UsageError` for anything else."""
    try:
        return _ITEM.validate_python(dict(document))
    except ValidationError as error:
        raise UsageError(f"An item of a run was expected, but could not be read: {error}") from error
