"""The JSON of an Answer: one document for the command line, the server, the result files and the page.

`document` and `dumps` write it, `parse` reads it and ignores what follows from the claims (text, offsets, citation
numbers). Its schema is in `answer_reading`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any
from urllib.parse import quote as quote_url

import orjson

from toulmin import __version__
from toulmin.data import Answer, Citation, Hit, Passage, citation_numbers, content_id
from toulmin.formats.clean_text import has_pages

SCHEMA_VERSION = 1
_AROUND = 32  # characters before and after a quote
_ENDS = 6  # words of a longer quote, from its beginning and from its end, that a link names

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_SAFE_INTEGER = 2**63


def document(answer: Answer) -> dict[str, Any]:
    """Cited passages come first, in the order of their numbers, then the others as read, each once.

    An answer without an id gets one made from question, method, settings and claims.
    """
    numbers, rendering = citation_numbers(answer.claims), answer.rendering
    written: dict[str, Any] = {"schema": SCHEMA_VERSION, "id": answer.id or _id_of(answer)}
    for name, value in _fields(answer).items():
        if name == "claims":
            written["text"] = rendering.text
        if name != "id":
            written[name] = value
    passages = {passage.id: passage for passage in answer.passages}
    written["claims"] = []
    for claim, (start, end) in zip(answer.claims, rendering.spans, strict=True):
        cited = [{**_fields(c), "n": numbers[c.passage], **target_of(c, passages[c.passage])} for c in claim.citations]
        written["claims"].append({**_fields(claim), "start": start, "end": end, "citations": cited})
    written["passages"] = [
        {**_fields(passage), "n": numbers.get(passage.id)} for passage in _in_order(answer.passages, numbers)
    ]
    usage = _fields(answer.usage)
    usd = usage.pop("usd")
    written["usage"] = {**usage, "cost": None if usd is None else {"usd": float(usd)}}
    return _plain_fields({**written, "version": __version__})


def dumps(answer: Answer) -> bytes:
    """One line of UTF-8 JSON, for any characters."""
    return orjson.dumps(document(answer))


def hits_document(query: str, hits: Iterable[Hit]) -> dict[str, Any]:
    """The document of `search --json`, best hit first; passages have no number."""
    ranked = [{"passage": passage_document(hit.passage, None), "score": float(hit.score)} for hit in hits]
    return _plain_fields({"query": query, "hits": ranked})


def passage_document(passage: Passage, n: int | None) -> dict[str, Any]:
    """`n` is the number by which a text cites it."""
    return _plain_fields({**_fields(passage), "n": n})


# Reading needs pydantic, which takes a tenth of a second to import; writing does not.


def parse(data: bytes | str | Mapping[str, Any]) -> Answer:
    """`parse(dumps(answer))` is the answer with its id and its passages in the document's order.

    Raises `UsageError` naming the field for anything that is no valid Answer.
    """
    from toulmin.formats.answer_reading import read_answer

    return read_answer(data)


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _id_of(answer: Answer) -> str:
    claims = [[claim.section or "", claim.text, *claim.cited] for claim in answer.claims]
    content = orjson.dumps(plain([dict(answer.settings), claims]), option=orjson.OPT_SORT_KEYS)
    return content_id(answer.question, answer.method, content.decode("utf-8"))


def _in_order(passages: Sequence[Passage], numbers: Mapping[str, int]) -> list[Passage]:
    once: dict[str, Passage] = {}
    for passage in passages:
        once.setdefault(passage.id, passage)  # equal passages of two files share an id: the first is the one cited
    return sorted(once.values(), key=lambda passage: numbers.get(passage.id, len(numbers) + 1))


def target_of(citation: Citation, passage: Passage) -> dict[str, Any]:
    """W3C's TextQuoteSelector, and a link that a browser opens at the words."""
    quote, text = citation.quote, passage.text
    start, end = (quote.start, quote.end) if quote else (0, len(text))
    around = {"prefix": text[max(0, start - _AROUND) : start], "suffix": text[end : end + _AROUND]}
    selector = {"type": "TextQuoteSelector", "exact": text[start:end], **around}
    return {"selector": selector, "link": link_to(passage, citation.page_in(passage), text[start:end])}


def link_to(passage: Passage, page: int | None, words: str) -> str | None:
    """Into an HTML page with a text fragment, into a PDF with its page; None if no link helps."""
    source, split = passage.source, words.split()
    if page and has_pages(source.path):
        return f"{source.path}#page={page}"
    if not source.url and not (source.path or "").casefold().endswith((".html", ".htm")):
        return None
    ends = [split] if len(split) <= 2 * _ENDS else [split[:_ENDS], split[-_ENDS:]]
    fragment = ",".join(quote_url(plain(" ".join(part)), safe="").replace("-", "%2D") for part in ends)
    return f"{(source.url or source.path or '').partition('#')[0]}#:~:text={fragment}"


def _plain_fields(values: Mapping[Any, Any]) -> dict[str, Any]:
    return {plain(str(key)): plain(value) for key, value in values.items()}


def plain(value: Any) -> Any:
    """The value for JSON: lone surrogates become U+FFFD, so that offsets stay; unknown types become text."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if is_dataclass(value) and not isinstance(value, type):
        return plain(_fields(value))
    if isinstance(value, Mapping):
        return _plain_fields(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < _SAFE_INTEGER):
        return value
    return plain(str(value))
