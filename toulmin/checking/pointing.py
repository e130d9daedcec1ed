"""Finds the documents of a corpus that the claims of a kept document cite or link to, and their passages."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from toulmin.data import Hit, Passage
from toulmin.indexing.corpus import IndexedDocument
from toulmin.methods.check import ClaimTargets, draft_of
from toulmin.parsing.citing import Draft
from toulmin.prose.files import ProseFile
from toulmin.text.names import facts, split_address

_DEEP = 200  # passages of all documents, from which those of the cited ones are taken
_BY_FACTS = 2  # passages to read for the names and figures of a claim alone
_LOOSE = re.compile(r"^\W+|\W+$")
_NO_NOTE = re.compile(r"\[\^[^\[\]]+\]")  # the mark of a footnote without text


class DocumentClaims(NamedTuple):
    """A kept document and its claims, with their places in its file."""

    kept: ProseFile
    draft: Draft


def claims_of(kept: ProseFile) -> DocumentClaims:
    draft = draft_of(kept.prose.text)
    places = [kept.prose.place(*span) for span in draft.spans]
    claims = [replace(claim, place=place) for claim, place in zip(draft.claims, places, strict=True)]
    return DocumentClaims(kept, replace(draft, claims=tuple(claims)))


def point(
    documents: Sequence[DocumentClaims],
    targets: Targets,
    rank: Callable[[list[str], int], Sequence[Sequence[Hit]]],
    k: int,
) -> list[list[ClaimTargets]]:
    """For each claim of each document, the best passages, by `rank`, of the documents that it points to."""
    aims = [_aims(each, targets) for each in documents]
    texts = {(i, n): claim.text for i, each in enumerate(documents) for n, claim in enumerate(each.draft.claims)}
    figures = {at: " ".join(text[fact.start : fact.end] for fact in facts(text)) for at, text in texts.items()}
    pointing = [(i, n) for i, n in texts if aims[i][n].cited or aims[i][n].linked]
    telling = [at for at in texts if figures[at]]
    ranked = dict(zip(pointing, rank([texts[at] for at in pointing], _DEEP), strict=True))
    by_facts = dict(zip(telling, rank([figures[at] for at in telling], _BY_FACTS), strict=True))
    return [
        [_pointed(aim, ranked.get((i, n), ()), by_facts.get((i, n), ()), k) for n, aim in enumerate(rows)]
        for i, rows in enumerate(aims)
    ]


@dataclass(slots=True)
class _Aim:
    """Documents that a claim cites or links to; `missing` as in `ClaimTargets`."""

    cited: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)
    missing: str = ""

    def cite(self, document: str | None, missing: str = "") -> None:
        self.cited += [document] if document else []
        self.missing = self.missing or missing


def _aims(claims: DocumentClaims, targets: Targets) -> list[_Aim]:
    """Ignores links of a document to itself."""
    kept, draft = claims
    aims, base = [_Aim() for _ in draft.claims], kept.path.parent
    starts, books = [start for start, _ in draft.spans], kept.books
    for pointer in kept.prose.pointers:
        n = bisect_right(starts, pointer.start) - 1
        if n < 0:
            continue
        key = pointer.target.removeprefix("@")
        if not pointer.is_citation:
            aims[n].linked += filter(None, [targets.of_link(pointer.target, base)])
        elif key != pointer.target:
            document = targets.of_words(books.get(key, ""), base) or targets.of_key(key)
            is_lost = key not in books and not document
            aims[n].cite(document, f"cites {pointer.target}, which no bibliography contains" if is_lost else "")
        elif _NO_NOTE.fullmatch(pointer.target):
            aims[n].cite(None, f"cites {pointer.target}, and there is no such footnote")
        else:
            aims[n].cite(*_named(pointer.target, targets, kept))
    entries = kept.prose.entries
    for n, numbers in enumerate(draft.strays if entries else ()):
        for number in numbers:
            lost = f"cites [{number}], and the list of references has no such entry"
            aims[n].cite(*_named(entries[number], targets, kept) if number in entries else (None, lost))
    path = kept.path
    return [_Aim(targets.without(a.cited, path), targets.without(a.linked, path), a.missing) for a in aims]


def _named(words: str, targets: Targets, kept: ProseFile) -> tuple[str | None, str]:
    """The document that a footnote or entry names, or the fault of a path to no file."""
    document = targets.of_words(words, kept.path.parent)
    path = "" if document else kept.lost.get(words, "")
    return document, f"cites {path}, and there is no such file" if path else ""


def _pointed(aim: _Aim, ranked: Sequence[Hit], by_facts: Sequence[Hit], k: int) -> ClaimTargets:
    def of(documents: Sequence[str]) -> tuple[Passage, ...]:
        passages = (hit.passage for hit in ranked)
        return tuple(p for p in passages if (p.source.path or p.source.url or "") in documents)[:k]

    linked = dict.fromkeys((*of(aim.linked), *(hit.passage for hit in by_facts)))
    return ClaimTargets(of(aim.cited) if aim.cited else None, tuple(linked), aim.missing)


# ---------------------------------------------------------------- documents by what people call them


class Targets:
    """Finds documents of a corpus by path, address, file name or title; each is its path, or else its address.

    `real_path` follows symbolic links.
    """

    def __init__(self, documents: Iterable[IndexedDocument], real_path: Callable[[Path | str], str]) -> None:
        self._real_path = real_path
        self._places: dict[str, str] = {}
        self._names: defaultdict[str, set[str]] = defaultdict(set)
        self._titles: dict[str, str] = {}
        for document in documents:
            key = document.path or document.url or ""
            if document.url:
                self._places[_address(document.url)] = key
            if document.path:
                path = self._real_path(document.path)
                self._places[path] = key
                for name in (os.path.basename(path), Path(path).stem):
                    self._names[name.casefold()].add(key)
            if len(document.title.split()) > 1:
                self._titles[_plain(document.title)] = key

    def of_link(self, target: str, base: Path) -> str | None:
        """The target of a link in a file of the folder `base`."""
        if split_address(target).scheme in ("http", "https"):
            return self._places.get(_address(target))
        path = unquote(target.partition("#")[0].partition("?")[0])
        return self._places.get(self._real_path(base / path)) if path else None

    def of_words(self, words: str, base: Path) -> str | None:
        for word in (_LOOSE.sub("", part) for part in words.split()):
            named = self._names.get(os.path.basename(word).casefold(), ()) if "." in word else ()
            if document := self.of_link(word, base) or _only(named):
                return document
        plain = _plain(words)
        return next((key for title, key in self._titles.items() if title in plain), None)

    def without(self, documents: Iterable[str], path: Path) -> list[str]:
        real = self._real_path(path)
        return [document for document in documents if self._real_path(document) != real]

    def of_key(self, key: str) -> str | None:
        return _only(self._names.get(key.casefold(), ()))


def _only(keys: Iterable[str]) -> str | None:
    listed = list(keys)
    return listed[0] if len(listed) == 1 else None


def _address(url: str) -> str:
    parts = split_address(url)
    return f"{parts.netloc.casefold()}{parts.path.rstrip('/')}"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
