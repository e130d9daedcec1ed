"""Vertex AI's check of grounding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toulmin.data import Answer, Claim, Passage, citation_numbers
from toulmin.datasets.item import Item
from toulmin.formats.checks import byte_selection, checker, positions, scores
from toulmin.formats.clean_text import address, clean, title
from toulmin.formats.dialect import Run, Written
from toulmin.formats.offsets import utf8_spans


def check_grounding(answer: Answer, id: str) -> dict[str, Any]:
    """The answer as a checked `answerCandidate` with all its claims, cited or not; empty for an abstention.

    `startPos` and `endPos` are UTF-8 bytes of that text, half-open. The text and `id` belong to the request and are
    added to the reply. `supportScore` is the share of supported claims among those judged.
    """
    written = clean(answer)
    places = {id: n - 1 for id, n in citation_numbers(answer.claims).items()}
    spans = utf8_spans(written.text, written.spans)
    judged = [claim.is_supported for claim in answer.claims if claim.support is not None]
    checked: dict[str, Any] = {"id": id, "status": answer.status, "answerCandidate": written.text}
    if judged:
        checked["supportScore"] = sum(judged) / len(judged)
    checked["citedChunks"] = [_fact_chunk(passage, place) for place, passage in enumerate(answer.cited)]
    checked["claims"] = [
        _claim(claim, span, [places[id] for id in claim.cited])
        for claim, span in zip(answer.claims, spans, strict=True)
    ]
    return checked


def check_line(item: Item, answer: Answer, run: Run) -> Written:
    return Written(check_grounding(answer, item.id))


def _fact_chunk(passage: Passage, place: int) -> dict[str, Any]:
    return {"chunkText": passage.text, "source": str(place), "uri": address(passage), "title": title(passage)}


def _claim(claim: Claim, span: tuple[int, int], chunks: list[int]) -> dict[str, Any]:
    start, end = span
    written: dict[str, Any] = {
        "startPos": start,
        "endPos": end,
        "claimText": claim.text,
        "citationIndices": chunks,
        "groundingCheckRequired": True,
    }
    if claim.support is not None:
        written["score"] = float(claim.support.score)
    return written


# ---------------------------------------------------------------- checks

_CHECK = {
    "answerCandidate": str,
    "supportScore?": float,
    "citedChunks": [{"chunkText": str, "source": str}],
    "claims": [
        {
            "startPos": int,
            "endPos": int,
            "claimText": str,
            "citationIndices": [int],
            "groundingCheckRequired": bool,
            "score?": float,
        }
    ],
}


def _claims_problems(document: Mapping[str, Any]) -> Iterator[str]:
    yield from scores("supportScore", [document.get("supportScore") or 0.0])
    for i, claim in enumerate(document["claims"]):
        at, span = f"claims[{i}]", (claim["startPos"], claim["endPos"])
        yield from byte_selection(at, document["answerCandidate"], *span, claim["claimText"])
        yield from positions(f"{at}.citationIndices", claim["citationIndices"], len(document["citedChunks"]), "chunk")
        yield from scores(f"{at}.score", [claim.get("score") or 0.0])
        if claim["citationIndices"] and not claim["groundingCheckRequired"]:
            yield f"{at} cites, although it needs no check."


check_problems = checker(_CHECK, _claims_problems)
