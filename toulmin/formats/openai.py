"""OpenAI's chat completions and responses: the text with its marks, and an annotation for every mark.

`start_index` and `end_index` are code points, half-open, and select the mark (`[1]`). Clients render Markdown, so that
of documents is escaped. An abstention is a refusal. An Answer has no time: `created` is 0 by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from toulmin.data import Answer, citation_numbers
from toulmin.formats.checks import checker
from toulmin.formats.clean_text import address, model, reason, title, tokens

# What begins a link, an image or HTML in Markdown, unless it is escaped, or a mark or flag of our own.
_ACTIVE = re.compile(r"(?<!\\)((?:\\\\)*)(<|\[(?!(?:\d+|unsure|unsupported|contradicted)\](?![(:])))")


def escape(text: str) -> str:
    return _ACTIVE.sub(r"\1\\\2", text)


def chat_completion(answer: Answer, id: str, *, created: int = 0) -> dict[str, Any]:
    is_answered = bool(answer.claims)
    input_tokens, output_tokens = tokens(answer)
    return {
        "id": id,
        "object": "chat.completion",
        "created": created,
        "model": model(answer),
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "logprobs": None,
                "message": {
                    "role": "assistant",
                    "content": escape(answer.text) if is_answered else None,
                    "refusal": None if is_answered else escape(reason(answer)),
                    "annotations": url_citations(answer),
                },
            }
        ],
        "usage": {
            "prompt_tokens": input_tokens,
            "completion_tokens": output_tokens,
            "total_tokens": input_tokens + output_tokens,
        },
    }


def url_citations(answer: Answer) -> list[dict[str, Any]]:
    return [{"type": "url_citation", "url_citation": citation} for citation in _citations(answer)]


def response(answer: Answer, id: str, *, created: int = 0) -> dict[str, Any]:
    """A `response` object with one message and flat annotations."""
    input_tokens, output_tokens = tokens(answer)
    message = {"type": "message", "id": f"msg_{id}", "role": "assistant", "status": "completed"}
    return {
        "id": id,
        "object": "response",
        "created_at": created,
        "status": "completed",
        "model": model(answer),
        "output": [{**message, "content": [_content(answer)]}],
        "parallel_tool_calls": False,
        "tool_choice": "none",
        "tools": [],
        "usage": {
            "input_tokens": input_tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input_tokens + output_tokens,
        },
    }


def _content(answer: Answer) -> dict[str, Any]:
    if not answer.claims:
        return {"type": "refusal", "refusal": escape(reason(answer))}
    flat = [{"type": "url_citation", **citation} for citation in _citations(answer)]
    return {"type": "output_text", "text": escape(answer.text), "annotations": flat, "logprobs": []}


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


# ---------------------------------------------------------------- checks

_MARK_TEXT = re.compile(r"\[\d+\]")


def _completions(document: Mapping[str, Any]) -> Iterator[str]:
    for i, choice in enumerate(document["choices"]):
        message = choice["message"]
        if message.get("content") is None and message.get("refusal") is None:
            yield f"choices[{i}].message has neither content nor refusal."
        citations = [annotation["url_citation"] for annotation in message.get("annotations") or []]
        yield from _citing_marks(f"choices[{i}].message.annotations", message.get("content") or "", citations)


def _responses(document: Mapping[str, Any]) -> Iterator[str]:
    for i, output in enumerate(document["output"]):
        for j, part in enumerate(output["content"]):
            at = f"output[{i}].content[{j}]"
            if part.get("text" if part["type"] == "output_text" else "refusal") is None:
                yield f"{at} is of type {part['type']} and says nothing."
            yield from _citing_marks(f"{at}.annotations", part.get("text") or "", part.get("annotations") or [])


def _citing_marks(at: str, text: str, citations: list[dict[str, Any]]) -> Iterator[str]:
    addresses: dict[str, str] = {}
    for i, citation in enumerate(citations):
        start, end = citation["start_index"], citation["end_index"]
        mark = text[start:end]
        if text[:start].endswith("\\"):
            yield f"{at}[{i}] points to {start}..{end}, where {mark!r} is escaped and belongs to the words."
        elif not _MARK_TEXT.fullmatch(mark):
            yield f"{at}[{i}] points to {start}..{end}, where no mark like [1] stands but {mark!r}."
        elif addresses.setdefault(mark, citation["url"]) != citation["url"]:
            yield f"{at}[{i}] takes {mark} for {citation['url']!r}, an earlier one for {addresses[mark]!r}."
    for before, after in pairwise(citations):
        if after["start_index"] < before["end_index"]:
            yield f"{at} is not in the order of the text: {after['start_index']} follows {before['end_index']}."


completion_problems = checker("openai", _completions)
response_problems = checker("responses", _responses)
