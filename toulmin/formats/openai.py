"""OpenAI's chat completions and responses: the text with its marks, and an annotation for every mark.

`start_index` and `end_index` are code points, half-open, and select the mark (`[1]`). Clients render Markdown, so that
of documents is escaped. An abstention is a refusal. An Answer has no time: `created` is 0 by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toulmin.data import Answer, citation_numbers
from toulmin.formats.clean_text import address, model, reason, title, tokens

# What begins a link, an image or HTML in Markdown, unless it is escaped, or a mark or flag of our own.
_ACTIVE = re.compile(r"(?<!\\)((?:\\\\)*)(<|\[(?!(?:\d+|likely|disputed|unsure|unsupported|contradicted)\](?![(:])))")


def escape(text: str) -> str:
    return _ACTIVE.sub(r"\1\\\2", text)


def chat_completion(answer: Answer, id: str, *, created: int = 0) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "logprobs": None, "message": _message(answer)}
    read, written = tokens(answer)
    usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    head = {"id": id, "object": "chat.completion", "created": created, "model": model(answer)}
    return {**head, "choices": [choice], "usage": usage}


def _message(answer: Answer) -> dict[str, Any]:
    text, refusal = (escape(answer.text), None) if answer.claims else (None, escape(reason(answer)))
    return {"role": "assistant", "content": text, "refusal": refusal, "annotations": url_citations(answer)}


def url_citations(answer: Answer) -> list[dict[str, Any]]:
    return [{"type": "url_citation", "url_citation": citation} for citation in _citations(answer)]


def response(answer: Answer, id: str, *, created: int = 0) -> dict[str, Any]:
    """A `response` object with one message and flat annotations."""
    read, written = tokens(answer)
    usage: dict[str, Any] = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    details = {"input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}}
    usage |= details | {"output_tokens_details": {"reasoning_tokens": 0}}
    message = {"type": "message", "id": f"msg_{id}", "role": "assistant", "content": parts_of(_message(answer))}
    head = {"id": id, "object": "response", "created_at": created, "status": "completed", "model": model(answer)}
    output = [{**message, "status": "completed"}]
    return {**head, "output": output, "parallel_tool_calls": False, "tool_choice": "none", "tools": [], "usage": usage}


def parts_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The content of a response from the message of a chat completion."""
    text, refusal = message["content"], message["refusal"]
    written = {"type": "output_text", "text": text, "annotations": flat(message["annotations"]), "logprobs": []}
    refused = {"type": "refusal", "refusal": refusal}
    return [part for part, words in ((written, text), (refused, refusal)) if words]


def flat(annotations: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "url_citation", **mark["url_citation"]} for mark in annotations]


def _citations(answer: Answer) -> Iterator[dict[str, Any]]:
    numbers = citation_numbers(answer.claims)
    passages = {passage.id: passage for passage in reversed(answer.passages)}
    rendering = answer.rendering
    for claim, span in zip(answer.claims, rendering.spans, strict=True):
        written = [f"[{numbers[id]}]" for id in claim.cited]
        # A claim's own brackets are escaped, so its marks match last.
        start = len(escape(rendering.text[: rendering.text.rindex("".join(written), *span)]))
        for mark, id in zip(written, claim.cited, strict=True):
            place = {"start_index": start, "end_index": start + len(mark)}
            yield {**place, "url": address(passages[id]), "title": title(passages[id])}
            start += len(mark)
