"""A question of a dataset with its gold and its passages."""

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
    """What a dataset holds to be right; None where it has no such field.

    `answers` are slots, each a tuple of aliases: one slot for a short answer, one per entity for a list. `parts` are
    ASQA's sub-questions, `references` long answers for ROUGE, `answer` what ALCE calls the answer, `claims` what a long
    answer should say (ELI5). `passages` are ids, or else titles, of the records that hold the answer. `answerable` says
    whether the sources answer.
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

    `passages` came with it (None: search the run's index), best first if `is_ranked`. `withheld` are records that a
    method must not find. `style` is what its dataset wants, `kind` its part of the dataset, `record` the original
    without passages.
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
    """Items in file order, unique by id.

    `path` is as the caller gave it (ALCE recognises QAMPARI by it), `digest` the SHA-256 of the bytes, in hex; `corpus`
    is BEIR's file of passages.
    """

    path: str
    form: str
    digest: str
    items: tuple[Item, ...]
    corpus: str | None = None


# ---------------------------------------------------------------- items as JSON documents, without their passages


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
