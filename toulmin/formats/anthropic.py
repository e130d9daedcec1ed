"""Anthropic's messages: a block of text for each claim, with the places that it cites.

`start_char_index` and `end_char_index` are code points, half-open, and select `cited_text`: the decisive sentence, or
else the whole passage. `documents` holds the cited passages by `document_index`. An abstention is a block without
citations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toulmin.data import Answer, Citation, Passage
from toulmin.formats.clean_text import address, gaps, model, reason, tokens


def message(answer: Answer, id: str) -> dict[str, Any]:
    input_tokens, output_tokens = tokens(answer)
    cited = answer.cited
    content = list(_blocks(answer, cited)) or [{"type": "text", "text": reason(answer)}]
    head = {"id": id, "type": "message", "role": "assistant", "model": model(answer), "content": content}
    usage = {"input_tokens": input_tokens, "output_tokens": output_tokens}
    ending = {"stop_reason": "end_turn", "stop_sequence": None, "usage": usage}
    return {**head, **ending, "documents": [_document(passage) for passage in cited]}


def _blocks(answer: Answer, cited: Sequence[Passage]) -> Iterator[dict[str, Any]]:
    """White space precedes its claim, as a block needs words. Section titles and commas of lists are blocks."""
    places = {passage.id: place for place, passage in enumerate(cited)}
    for claim, gap in zip(answer.claims, gaps(answer), strict=True):
        if gap.strip():
            yield {"type": "text", "text": gap}
        block: dict[str, Any] = {"type": "text", "text": claim.text if gap.strip() else gap + claim.text}
        if claim.citations:
            block["citations"] = [_location(citation, cited, places[citation.passage]) for citation in claim.citations]
        yield block


def _location(citation: Citation, documents: Sequence[Passage], place: int) -> dict[str, Any]:
    passage = documents[place]
    start, end = (citation.quote.start, citation.quote.end) if citation.quote else (0, len(passage.text))
    about = {"document_index": place, "document_title": passage.title or None}
    span = {"start_char_index": start, "end_char_index": end}
    return {"type": "char_location", "cited_text": passage.text[start:end], **about, **span, "file_id": None}


def _document(passage: Passage) -> dict[str, Any]:
    source = {"type": "text", "media_type": "text/plain", "data": passage.text}
    about = {"title": passage.title or None, "context": address(passage), "citations": {"enabled": True}}
    return {"type": "document", "source": source, **about}
