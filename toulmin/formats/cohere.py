"""Cohere's chat, version 2: clean text and, for each claim that cites something, its place and its documents.

`start` and `end` are code points, half-open, and select `text`. Sources hold whole passages. An abstention is a
text without citations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toulmin.data import Answer, Passage
from toulmin.formats.checks import checker, selection
from toulmin.formats.clean_text import address, clean, reason, tokens


def chat_response(answer: Answer, id: str) -> dict[str, Any]:
    """The answer as a reply of `POST /v2/chat`."""
    written = clean(answer)
    sources = {passage.id: _source(passage) for passage in answer.cited}
    input_tokens, output_tokens = tokens(answer)
    return {
        "id": id,
        "finish_reason": "COMPLETE",
        "message": {
            "role": "assistant",
            "content": [{"type": "text", "text": written.text or reason(answer)}],
            "citations": [
                {
                    "start": start,
                    "end": end,
                    "text": claim.text,
                    "sources": [sources[id] for id in claim.cited],
                    "content_index": 0,
                    "type": "TEXT_CONTENT",
                }
                for claim, (start, end) in written.citing_claims()
            ],
        },
        "usage": {"tokens": {"input_tokens": input_tokens, "output_tokens": output_tokens}},
    }


def _source(passage: Passage) -> dict[str, Any]:
    document = {"id": passage.id, "title": passage.title, "text": passage.text, "url": address(passage)}
    return {"type": "document", "id": passage.id, "document": document}


# ---------------------------------------------------------------- checks


def _citations(document: Mapping[str, Any]) -> Iterator[str]:
    content = document["message"]["content"]
    for i, citation in enumerate(document["message"].get("citations") or []):
        at, place = f"message.citations[{i}]", citation["content_index"]
        if place >= len(content):
            yield f"{at} names content {place}, but there are {len(content)}, counted from 0."
        else:
            yield from selection(at, content[place]["text"], citation["start"], citation["end"], citation["text"])
        if not citation["sources"]:
            yield f"{at} has no sources."


chat_problems = checker("cohere", _citations)
