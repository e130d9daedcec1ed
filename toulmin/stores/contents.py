"""What shared corpora have in common: settings, file rows, pieces of documents, and reading.

* A corpus keeps its settings, since others may be reading it.
* Nobody edits a file row: the newest of a path counts, and superseded ones are deleted later. A changed file gets a
  new number, a removed file a row without one. So writers never undo one another's work.
* `at` counts microseconds but always exceeds that of the row its writer knew, however slow its clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from toulmin.errors import IndexDamaged, SourceError, UsageError
from toulmin.indexing.vector_files import Label, Wanted
from toulmin.indexing.writer import PASSAGE_WORDS
from toulmin.text.language import TERMS_VERSION


class About(NamedTuple):
    """The settings of a corpus."""

    passage_words: int
    label: Label | None

    def as_json(self, format: int) -> dict[str, Any]:
        fields = {"format": format, "terms": TERMS_VERSION, "passage_words": self.passage_words}
        return {**fields, "label": asdict(self.label) if self.label else None}


def read(written: Mapping[str, Any], format: int, address: object) -> About:
    """The inverse of `About.as_json`. Raises `IndexDamaged` for another version."""
    if (written["format"], written["terms"]) != (format, TERMS_VERSION):
        raise IndexDamaged(
            f"The corpus in {address} was written by another version of Toulmin, and others may still use that. Make"
            " one at another address: toulmin index PATH --into ADDRESS"
        )
    return About(written["passage_words"], Label(**written["label"]) if written["label"] else None)


def about_for(passage_words: int | None, vectors: Wanted | None) -> About:
    """The settings of a new corpus. Raises `UsageError` for less than one word a passage."""
    if passage_words is not None and passage_words < 1:
        raise UsageError(f"A passage needs at least 1 word, not {passage_words}.")
    if vectors is None:
        return About(passage_words or PASSAGE_WORDS, None)
    encoder = vectors.encoder
    label = Label(encoder.identity, encoder.name, vectors.spec, encoder.dimension)
    return About(passage_words or PASSAGE_WORDS, label)


def check(existing: About, asked: About, passage_words: int | None, address: object) -> None:
    """Raises `SourceError` for another encoder, or another length if one was given."""
    if passage_words not in (None, existing.passage_words):
        raise SourceError(
            f"The passages of {address} have about {existing.passage_words} words, not {passage_words}, and stay so,"
            " as others may be reading them; leave passage_words out, or make a corpus at another address."
        )
    if (existing.label.identity if existing.label else None) != (asked.label.identity if asked.label else None):
        made = f"with the vectors of {existing.label.name}" if existing.label else "without vectors"
        named = asked.label.name if asked.label else "none"
        raise SourceError(
            f"{address} was made {made}, and the encoder asked for is {named}. A shared corpus keeps what it"
            " was made with; make one at another address."
        )


def damage_error(address: object, what: str) -> IndexDamaged:
    return IndexDamaged(
        f"The corpus in {address} is damaged: {what}. Delete it there, and run: toulmin index PATH --into {address}"
    )
