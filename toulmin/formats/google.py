"""Google's forms: Gemini's content with grounding metadata, and Vertex AI's check of grounding.

Offsets are UTF-8 bytes of the text, half-open. Scores are the judge's for the claim, absent if it was not judged.
Gemini's abstention has no parts, finishes with `OTHER` and says why in `finishMessage`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toulmin.data import Answer, Claim, Passage, citation_numbers
from toulmin.formats.checks import byte_selection, checker, positions, scores
from toulmin.formats.clean_text import Clean, address, clean, model, reason, title, tokens, utf8_spans


def content_response(answer: Answer, id: str) -> dict[str, Any]:
    """The answer as a `GenerateContentResponse` with one candidate."""
    written = clean(answer)
    input_tokens, output_tokens = tokens(answer)
    candidate = {
        "index": 0,
        "content": {"role": "model", "parts": [{"text": written.text}] if answer.claims else []},
        **({"finishReason": "STOP"} if answer.claims else {"finishReason": "OTHER", "finishMessage": reason(answer)}),
        "groundingMetadata": grounding_metadata(answer, written),
    }
    return {
        "responseId": id,
        "modelVersion": model(answer),
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": input_tokens,
            "candidatesTokenCount": output_tokens,
            "totalTokenCount": input_tokens + output_tokens,
        },
    }


def grounding_metadata(answer: Answer, written: Clean) -> dict[str, Any]:
    """The passages as chunks, and which chunks support which text."""
    places = {id: n - 1 for id, n in citation_numbers(answer.claims).items()}
    cited = list(written.citing_claims())
    spans = utf8_spans(written.text, (span for _, span in cited))
    return {
        "webSearchQueries": [],
        "retrievalQueries": list(
            dict.fromkeys(query for search_round in answer.rounds for query in search_round.queries)
        ),
        "groundingChunks": [_grounding_chunk(passage) for passage in answer.cited],
        "groundingSupports": [
            _support(claim, span, [places[id] for id in claim.cited])
            for (claim, _), span in zip(cited, spans, strict=True)
        ],
    }


def _grounding_chunk(passage: Passage) -> dict[str, Any]:
    return {"retrievedContext": {"uri": address(passage), "title": title(passage), "text": passage.text}}


def _support(claim: Claim, span: tuple[int, int], chunks: list[int]) -> dict[str, Any]:
    start, end = span
    return {
        "segment": {"startIndex": start, "endIndex": end, "text": claim.text},
        "groundingChunkIndices": chunks,
        **({} if claim.support is None else {"confidenceScores": [float(claim.support.score)] * len(chunks)}),
    }


# ---------------------------------------------------------------- checks


def _supports(document: Mapping[str, Any]) -> Iterator[str]:
    for i, candidate in enumerate(document["candidates"]):
        parts, metadata = candidate["content"]["parts"], candidate["groundingMetadata"]
        for j, support in enumerate(metadata["groundingSupports"]):
            at, segment = f"candidates[{i}].groundingMetadata.groundingSupports[{j}]", support["segment"]
            part, indices = segment.get("partIndex") or 0, support["groundingChunkIndices"]
            if part >= len(parts):
                yield f"{at}.segment names part {part}, but there are {len(parts)}, counted from 0."
            else:
                span = segment.get("startIndex") or 0, segment["endIndex"]
                yield from byte_selection(f"{at}.segment", parts[part]["text"], *span, segment["text"])
            yield from positions(f"{at}.groundingChunkIndices", indices, len(metadata["groundingChunks"]), "chunk")
            yield from scores(f"{at}.confidenceScores", support.get("confidenceScores") or [])
            if len(support.get("confidenceScores") or indices) != len(indices):
                yield f"{at} needs as many confidenceScores as chunks: {len(indices)}."


content_problems = checker("gemini", _supports)


# ---------------------------------------------------------------- vertex AI's check of grounding


def check_grounding(answer: Answer, id: str) -> dict[str, Any]:
    """The answer as a checked `answerCandidate` with all its claims, cited or not; empty for an abstention.

    `startPos` and `endPos` are UTF-8 bytes of that text, half-open. The text and `id` belong to the request and are
    added to the reply. `supportScore` is the share of supported claims among those judged.
    """
    written = clean(answer)
    places = {id: n - 1 for id, n in citation_numbers(answer.claims).items()}
    spans = utf8_spans(written.text, written.spans)
    judged = [claim.is_supported for claim in answer.claims if claim.support is not None]
    return {
        "id": id,
        "status": answer.status,
        "answerCandidate": written.text,
        **({"supportScore": sum(judged) / len(judged)} if judged else {}),
        "citedChunks": [_fact_chunk(passage, place) for place, passage in enumerate(answer.cited)],
        "claims": [
            _claim(claim, span, [places[id] for id in claim.cited])
            for claim, span in zip(answer.claims, spans, strict=True)
        ],
    }


def _fact_chunk(passage: Passage, place: int) -> dict[str, Any]:
    return {"chunkText": passage.text, "source": str(place), "uri": address(passage), "title": title(passage)}


def _claim(claim: Claim, span: tuple[int, int], chunks: list[int]) -> dict[str, Any]:
    start, end = span
    return {
        "startPos": start,
        "endPos": end,
        "claimText": claim.text,
        "citationIndices": chunks,
        "groundingCheckRequired": True,
        **({} if claim.support is None else {"score": float(claim.support.score)}),
    }


# ---------------------------------------------------------------- checks


def _claims_problems(document: Mapping[str, Any]) -> Iterator[str]:
    yield from scores("supportScore", [document.get("supportScore") or 0.0])
    for i, claim in enumerate(document["claims"]):
        at, span = f"claims[{i}]", (claim["startPos"], claim["endPos"])
        yield from byte_selection(at, document["answerCandidate"], *span, claim["claimText"])
        yield from positions(f"{at}.citationIndices", claim["citationIndices"], len(document["citedChunks"]), "chunk")
        yield from scores(f"{at}.score", [claim.get("score") or 0.0])
        if claim["citationIndices"] and not claim["groundingCheckRequired"]:
            yield f"{at} cites, although it needs no check."


check_problems = checker("vertex", _claims_problems)
