"""Claims that people judged, with the page of each; `judge_table.py --parts attribution` measures judges on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from data import rows
from judge_sets import NATURAL, cases

from toulmin.steps import Pair

BARRED = ("wice_dev", "attributionbench_dev", "factscore", "fever_paperdev")  # a lower bound above 0 is asked of each
POOLED = NATURAL | set(BARRED)
SPLITS = ("train", "dev")


class Record(NamedTuple):
    """A claim that people judged, and the page that it must not be torn from when pages are drawn or folds made."""

    id: str
    dataset: str
    page: str
    pair: Pair
    supported: bool

    def with_claim(self, claim: str) -> Record:
        """An untrue claim over the same premises."""
        return self._replace(pair=Pair(self.pair.premises, claim), supported=False)


def page_of(row: Mapping[str, Any]) -> str:
    """The page or topic of a record of an `attr_*` set: what its evidence is of, else its question."""
    meta = row.get("meta") or {}
    titles = [item["title"] for item in row["evidence"] if item["title"]]
    page = row.get("evidence_page") or meta.get("claim_title") or row["question"] or " ".join(titles[:1])
    return str(page or " ".join(item["text"] for item in row["evidence"])[:200])


@cache
def _topics() -> frozenset[str]:
    return frozenset(row["topic"] for row in rows("attr_factscore_pages"))


def records(name: str, splits: Sequence[str] = SPLITS) -> list[Record]:
    """The records of a set that have evidence, as `judge.cases` makes pairs of them."""
    listed = []
    for split in splits:
        kept = [row for row in rows(f"attr_{name}", split) if row["evidence"] or row.get("evidence_page") in _topics()]
        for row, case in zip(kept, cases(name, split), strict=True):
            listed.append(Record(row["id"], name, page_of(row), case.pair, case.supported))
    return listed
