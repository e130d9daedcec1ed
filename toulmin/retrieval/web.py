"""Web search: results of a SearXNG server, or one with replies of that shape, as passages.

    WebSearch(SearchServer("http://localhost:8080"))                                      # titles and snippets
    WebSearch(SearchServer("http://localhost:8080"), Pages(allow=("en.wikipedia.org",)))  # and their pages

SearXNG answers in JSON only if its settings.yml has `search: formats: [html, json]`. Replies are untrusted: markup
is stripped, sizes and times are limited, and addresses that are not http or https are left out.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2

from toulmin.data import Document, Hit, Passage, Source
from toulmin.documents.html import fragment_text, page_document
from toulmin.documents.loaders import Skipped
from toulmin.documents.passages import cut
from toulmin.documents.plain import as_title, decode, repair_text
from toulmin.errors import SourceError, UsageError
from toulmin.retrieval.bm25 import Given, InMemory
from toulmin.retrieval.fetching import Bounds, Fetched, Fetcher, Hosts, Refused, address_of, check_least

_JSON = frozenset(("application/json", "text/json"))
_TEXTS = frozenset(("text/html", "application/xhtml+xml", "text/plain"))
_LONGEST_QUERY = 1000  # characters
_RAW = 20  # characters of markup read for each character of a snippet
_REMEMBERED = 256  # pages
_MOST_SKIPPED = 1000
_NO_JSON = (
    "SearXNG answers in JSON only where its settings.yml says `search: formats: [html, json]`; add json and restart it"
)


@dataclass(frozen=True, slots=True)
class SearchServer:
    """Where to search and how to read the reply. Raises `UsageError` for impossible values.

    `url` is the server ("/search" is added if it has no path); `parameters` go with every query. `results`
    names the reply's list; `title`, `snippet` and `link` the fields of its items. At most `characters` of a
    snippet and `most` results are read; `concurrency` searches run at once. The server's address may be
    non-public; redirects to other hosts are refused.
    """

    url: str
    query: str = "q"
    parameters: Mapping[str, str] = field(default_factory=lambda: {"format": "json"})
    results: str = "results"
    title: str = "title"
    snippet: str = "content"
    link: str = "url"
    characters: int = 2000
    most: int = 50
    concurrency: int = 4
    bounds: Bounds = field(default_factory=Bounds)

    def __post_init__(self) -> None:
        if address_of(self.url) is None:  # not repeated in the message, as it may hold a password
            raise UsageError("A search server's url should be like http://localhost:8080, without a user or password.")
        check_least(self, 1, "A search server's {} should be at least 1", "characters", "most", "concurrency")

    @property
    def address(self) -> httpx2.URL:
        url = httpx2.URL(self.url.strip())
        return url.copy_with(path="/search") if url.path in ("", "/") else url

    def error(self, problem: str) -> SourceError:
        return SourceError(f"The search server at {self.address.netloc.decode('ascii', 'replace')} {problem}.")


@dataclass(frozen=True, slots=True)
class Pages:
    """Which result pages are fetched: those of the hosts in `allow`, with subdomains.

    Non-public addresses are refused, except for hosts in `inside`, by exact name. At most `most` pages a query are
    fetched, `concurrency` at once, and cut into passages of about `words` words.
    """

    allow: tuple[str, ...]
    inside: tuple[str, ...] = ()
    most: int = 5
    words: int = 100
    concurrency: int = 8
    bounds: Bounds = field(default_factory=lambda: Bounds(retries=1))

    def __post_init__(self) -> None:
        Hosts.of(self.allow, self.inside)
        check_least(self, 1, "The {} of pages should be at least 1", "most", "words", "concurrency")


class WebSearch:
    """Without `pages` a hit is a result's title and snippet, in the server's order, with score 1 / rank.

    With them, hits are passages of pages and snippets, ranked together by BM25. `skipped` holds the last 1,000
    skipped results and pages, with reasons.
    """

    def __init__(self, server: SearchServer, pages: Pages | None = None) -> None:
        self._server = server
        self._pages = pages
        self._read: OrderedDict[str, tuple[Passage, ...]] = OrderedDict()
        self.skipped: list[Skipped] = []

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """At most `k` hits a query, best first. Raises `SourceError` if any search fails."""
        server = self._server
        places = asyncio.Semaphore(server.concurrency)
        hosts = Hosts.of((), (server.address.host,))
        distinct = list(dict.fromkeys(queries))
        async with Fetcher(hosts, server.bounds) as fetcher:
            replies = [self._results(fetcher, places, query) for query in distinct]
            outcomes = await asyncio.gather(*replies, return_exceptions=True)
        snippets = dict(zip(distinct, map(_result_or_raise, outcomes), strict=True))
        if self._pages is None:
            return [Given(snippets[query]).search([query], k)[0] for query in queries]
        ranked = await self._rank_pages(self._pages, snippets, k)
        return [ranked[query] for query in queries]

    # -------------------------------------------------------------- results

    async def _results(self, fetcher: Fetcher, places: asyncio.Semaphore, query: str) -> list[Passage]:
        server = self._server
        if not query.strip():
            return []
        asked = {**server.parameters, server.query: repair_text(query)[:_LONGEST_QUERY]}
        url = server.address.copy_merge_params(asked)
        async with places:
            try:
                fetched = await fetcher.fetch(url, _JSON)
            except Refused as refused:
                raise self._failure(refused) from None
        return list(self._passages(self._items(fetched.data)))

    def _failure(self, refused: Refused) -> SourceError:
        remedy = "check that it runs and that its address is right"
        if refused.status == 403 or "text/html" in str(refused):
            remedy = _NO_JSON
        elif refused.status == 429:
            remedy = "ask it less often, or turn its limiter off"
        return self._server.error(f"{refused}; {remedy}")

    def _items(self, data: bytes) -> list[Any]:
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            raise self._server.error(f"sent no valid JSON; {_NO_JSON}") from None
        items = body.get(self._server.results) if isinstance(body, dict) else None
        if not isinstance(items, list):
            raise self._server.error(
                f"sent JSON of another shape: an object with a list {self._server.results!r} was expected; set"
                " `results` and the names of the fields to what it sends"
            )
        return items[: self._server.most]

    def _passages(self, items: Iterable[Any]) -> Iterator[Passage]:
        seen: set[str] = set()
        for item in items:
            if not isinstance(item, Mapping):
                continue
            link = item.get(self._server.link)
            address = address_of(link)
            if address is None:
                self._skip(str(link), "is no http address")
                continue
            passage = self._passage(item, str(address))
            if passage is not None and not {passage.id, str(address)} & seen:
                seen |= {passage.id, str(address)}
                yield passage

    def _passage(self, item: Mapping[str, Any], address: str) -> Passage | None:
        title, text = (self._plain(item.get(name)) for name in (self._server.title, self._server.snippet))
        text = text or title
        if not text:
            self._skip(address, "has neither title nor snippet")
            return None
        return Passage.of(text, as_title(title), Source(0, len(text), url=address))

    def _plain(self, value: Any) -> str:
        if not isinstance(value, str):
            return ""
        most = self._server.characters
        text = fragment_text(repair_text(value[: _RAW * most]))
        return text if len(text) <= most else text[:most].rsplit(" ", 1)[0]

    def _skip(self, what: str, why: str) -> None:
        self.skipped = [*self.skipped[1 - _MOST_SKIPPED :], Skipped(repair_text(what)[:300], why)]

    # -------------------------------------------------------------- pages

    async def _rank_pages(self, pages: Pages, snippets: Mapping[str, list[Passage]], k: int) -> dict[str, list[Hit]]:
        wanted = {query: self._page_links(pages, results) for query, results in snippets.items()}
        await self._fetch(pages, [address for some in wanted.values() for address in some])
        ranked = {}
        for query, results in snippets.items():
            read = [passage for address in wanted[query] for passage in self._read.get(address, ())]
            hits = InMemory([*read, *results]).search([query], k)[0]
            ranked[query] = hits or Given(results).search([query], k)[0]
        while len(self._read) > _REMEMBERED:
            self._read.popitem(last=False)
        return ranked

    def _page_links(self, pages: Pages, results: Iterable[Passage]) -> list[str]:
        hosts = Hosts.of(pages.allow, pages.inside)
        links = [passage.source.url for passage in results]
        return [link for link in links if link and (url := address_of(link)) and hosts.allows(url)][: pages.most]

    async def _fetch(self, pages: Pages, addresses: Iterable[str]) -> None:
        places = asyncio.Semaphore(pages.concurrency)
        async with Fetcher(Hosts.of(pages.allow, pages.inside), pages.bounds) as fetcher:
            missing = [address for address in dict.fromkeys(addresses) if address not in self._read]
            await asyncio.gather(*(self._fetch_page(fetcher, places, pages.words, address) for address in missing))

    async def _fetch_page(self, fetcher: Fetcher, places: asyncio.Semaphore, words: int, address: str) -> None:
        async with places:
            try:
                document = _document(await fetcher.fetch(httpx2.URL(address), _TEXTS))
            except (Refused, SourceError) as error:
                self._skip(address, str(error))
                return
        self._read[address] = tuple(cut(document, words))


def _result_or_raise(outcome: list[Passage] | BaseException) -> list[Passage]:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _document(fetched: Fetched) -> Document:
    name = Path(httpx2.URL(fetched.address).path.rstrip("/").rsplit("/", 1)[-1] or "page")
    if fetched.kind == "text/plain":
        document = Document(decode(fetched.data, name, fetched.charset), as_title(name.stem))
    else:
        document = page_document(fetched.data, name, fetched.charset)
    return replace(document, path=None, url=fetched.address)
