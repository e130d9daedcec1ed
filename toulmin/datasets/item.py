"""A question of a dataset, with its gold answers and the passages that came with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toulmin.data import Passage, Style

Aliases = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A question within an ambiguous question, with its short answer by its aliases (ASQA's `qa_pairs`)."""

    question: str
    answers: Aliases


@dataclass(frozen=True, slots=True)
class Gold:
    """What a dataset holds to be right; a field that it does not have is None, one that it has may be empty.

    `answers` are answer slots, each by its aliases: one slot for a short answer, one an entity for a list. `parts` are
    ASQA's sub-questions. `references` are long answers to compare with by ROUGE; `answer` is the one text that ALCE
    calls the answer. `claims` are what a long answer should say (ELI5). `passages` are the records (ids, or titles
    where a dataset names nothing else) that hold the answer. `answerable` says whether the sources tell it at all.
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
    """One question. `id` tells it from the others of its dataset.

    `passages` came with the question (None: they are searched for in the run's index); with `is_ranked` they stand
    best first, as some retriever left them. `withheld` are records that whoever answers must not find. `style` is how
    its dataset wants it answered, `kind` the part of the dataset that it belongs to, `record` the record as it stood
    in the file, without the passages.
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
    """Items in the order of their file, unique by id.

    `path` is the file as it was named (ALCE tells QAMPARI by it), `form` the form that it was read as, `digest` the
    SHA-256, in hex, of its bytes; `corpus` is the file of passages that belongs to it (BEIR), if there is one.
    """

    path: str
    form: str
    digest: str
    items: tuple[Item, ...]
    corpus: str | None = None
