"""Questions of a dataset, with gold and passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from toulmin.data import Passage, Style
from toulmin.errors import UsageError

Aliases = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A question within an ambiguous one (ASQA's `qa_pairs`), with its short answer's aliases."""

    question: str
    answers: Aliases


@dataclass(frozen=True, slots=True)
class Gold:
    """The dataset's answer; None for a missing field.

    `answers` are slots of aliases: one for a short answer, one an entity for a list. `parts` are ASQA's sub-questions,
    `references` long answers for ROUGE, `answer` what ALCE calls the answer, `claims` those of a long answer (ELI5).
    `passages` are ids, else titles, of the records with the answer.
    """

    answers: tuple[Aliases, ...] | None = None
    parts: tuple[Part, ...] | None = None
    references: tuple[str, ...] | None = None
    answer: str | None = None
    claims: tuple[str, ...] | None = None
    passages: tuple[str, ...] | None = None
    answerable: bool | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One question; `id` is unique in its dataset.

    Without `passages`, a run searches its index; they are best first if `is_ranked`. `withheld` are records that a
    method must not find, `kind` is a part of the dataset, `record` the original without passages.
    """

    id: str
    question: str
    gold: Gold = Gold()
    passages: tuple[Passage, ...] | None = None
    is_ranked: bool = False
    withheld: tuple[str, ...] = ()
    style: Style | None = None
    kind: str | None = None
    record: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dataset:
    """Items in file order. `path` is the caller's (ALCE recognises QAMPARI by it), `digest` the SHA-256 of the bytes in
    hex, `corpus` BEIR's file of passages.
    """

    path: str
    form: str
    digest: str
    items: tuple[Item, ...]
    corpus: str | None = None


# ---------------------------------------------------------------- items as JSON documents, without their passages


_ITEM = TypeAdapter(Item)


def item_document(item: Item) -> dict[str, Any]:
    """Without passages, as the answer contains those that were read."""
    return {name: value for name, value in asdict(replace(item, passages=None)).items() if name != "passages"}


def parse_item(document: Mapping[str, Any]) -> Item:
    """The reverse of `item_document`. Raises `UsageError`."""
    try:
        return _ITEM.validate_python(dict(document))
    except ValidationError as error:
        raise UsageError(f"Expected an item of a run, but cannot read it: {error}") from error
