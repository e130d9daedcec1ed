"""Which document of a corpus a link, a footnote, a key or an entry of a list of references means."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from toulmin.indexing.corpus import AnyCorpus

_LOOSE = re.compile(r"^\W+|\W+$")


class Targets:
    """The documents of a corpus by what people call them; each is known by its path, or else its address."""

    def __init__(self, corpus: AnyCorpus) -> None:
        self._places: dict[str, str] = {}
        self._names: defaultdict[str, set[str]] = defaultdict(set)
        self._titles: dict[str, str] = {}
        for document in corpus.documents():
            key = document.path or document.url or ""
            if document.url:
                self._places[_address(document.url)] = key
            if document.path:
                path = os.path.realpath(document.path)
                self._places[path] = key
                for name in (os.path.basename(path), Path(path).stem):
                    self._names[name.casefold()].add(key)
            if len(document.title.split()) > 1:
                self._titles[_plain(document.title)] = key

    def of_link(self, target: str, base: Path) -> str | None:
        """The document that a link in a file of the folder `base` leads to."""
        if urlsplit(target).scheme in ("http", "https"):
            return self._places.get(_address(target))
        path = unquote(target.partition("#")[0].partition("?")[0])
        return self._places.get(os.path.realpath(base / path)) if path else None

    def of_words(self, words: str, base: Path) -> str | None:
        """The document that a footnote or an entry names, by a path, an address, a file's name or its title."""
        for word in (_LOOSE.sub("", part) for part in words.split()):
            named = self._names.get(os.path.basename(word).casefold(), ()) if "." in word else ()
            if document := self.of_link(word, base) or _only(named):
                return document
        plain = _plain(words)
        return next((key for title, key in self._titles.items() if title in plain), None)

    def of_key(self, key: str) -> str | None:
        """The document whose file has the key as its name."""
        return _only(self._names.get(key.casefold(), ()))


def _only(keys: Iterable[str]) -> str | None:
    listed = list(keys)
    return listed[0] if len(listed) == 1 else None


def _address(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc.casefold()}{parts.path.rstrip('/')}"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
