"""From an Answer to its document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from toulmin import __version__
from toulmin.data import (
    Answer,
    Citation,
    Claim,
    Hit,
    Passage,
    Quote,
    Rendering,
    Round,
    Section,
    SubQuestion,
    Support,
    Usage,
    citation_numbers,
    content_id,
)

SCHEMA_VERSION = 1

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_SAFE_INTEGER = 2**63


def document(answer: Answer) -> dict[str, Any]:
    """The Answer document as plain JSON values.

    Passages stand cited ones first, numbered as the text numbers them, then the others as they were read, each once.
    An answer without an id gets one made from question, method, settings and claims.
    """
    numbers = citation_numbers(answer.claims)
    rendering = answer.rendering
    written = {
        "schema": SCHEMA_VERSION,
        "id": answer.id or _id_of(answer),
        "question": answer.question,
        "style": answer.style,
        "method": answer.method,
        "status": answer.status,
        "text": rendering.text,
        "claims": _claims(answer.claims, rendering, numbers),
        "passages": [passage_document(p, numbers.get(p.id)) for p in _in_order(answer.passages, numbers)],
        "sections": [_section(section) for section in answer.sections],
        "questions": [_question(question) for question in answer.questions],
        "usage": _usage(answer.usage),
        "rounds": [_round(one) for one in answer.rounds],
        "invalid_citations": answer.invalid_citations,
        "notes": list(answer.notes),
        "settings": dict(answer.settings),
        "version": __version__,
    }
    plain: dict[str, Any] = _plain(written)
    return plain


def dumps(answer: Answer) -> bytes:
    """The Answer document as one line of UTF-8 JSON, whatever characters the texts hold."""
    return orjson.dumps(document(answer))


def hits_document(query: str, hits: Iterable[Hit]) -> dict[str, Any]:
    """The document of `search --json`, best hit first; nothing is cited, so no passage has a number."""
    ranked = [{"passage": passage_document(hit.passage, None), "score": float(hit.score)} for hit in hits]
    plain: dict[str, Any] = _plain({"query": query, "hits": ranked})
    return plain


def passage_document(passage: Passage, n: int | None) -> dict[str, Any]:
    """A passage with the number by which a text cites it (None: not cited)."""
    source = passage.source
    return {
        "id": passage.id,
        "n": n,
        "title": passage.title,
        "text": passage.text,
        "source": {
            "path": source.path,
            "url": source.url,
            "record": source.record,
            "page": source.page,
            "start": source.start,
            "end": source.end,
        },
    }


def _id_of(answer: Answer) -> str:
    claims = [[claim.section or "", claim.text, *claim.cited] for claim in answer.claims]
    made_from = _plain([dict(answer.settings), claims])
    return content_id(
        answer.question, answer.method, orjson.dumps(made_from, option=orjson.OPT_SORT_KEYS).decode("utf-8")
    )


def _in_order(passages: Sequence[Passage], numbers: Mapping[str, int]) -> list[Passage]:
    once: dict[str, Passage] = {}
    for passage in passages:
        once.setdefault(passage.id, passage)  # equal passages of two files share an id: the first is the one cited
    return sorted(once.values(), key=lambda passage: numbers.get(passage.id, len(numbers) + 1))


def _claims(claims: Sequence[Claim], rendering: Rendering, numbers: Mapping[str, int]) -> list[dict[str, Any]]:
    return [
        {
            "text": claim.text,
            "start": start,
            "end": end,
            "citations": [_citation(citation, numbers) for citation in claim.citations],
            "support": claim.support and _support(claim.support),
            "section": claim.section,
        }
        for claim, (start, end) in zip(claims, rendering.spans, strict=True)
    ]


def _citation(citation: Citation, numbers: Mapping[str, int]) -> dict[str, Any]:
    quote = citation.quote
    return {"passage": citation.passage, "n": numbers[citation.passage], "quote": quote and _quote(quote)}


def _quote(quote: Quote) -> dict[str, Any]:
    return {"start": quote.start, "end": quote.end, "text": quote.text}


def _support(support: Support) -> dict[str, Any]:
    return {
        "label": support.label,
        "score": float(support.score),
        "judge": support.judge,
        "evidence": list(support.evidence),
        "reason": support.reason,
    }


def _section(section: Section) -> dict[str, Any]:
    return {"title": section.title, "description": section.description}


def _question(question: SubQuestion) -> dict[str, Any]:
    return {"text": question.text, "outcome": question.outcome, "passages": list(question.passages)}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "calls": dict(usage.calls),
        "tokens": {role: {"input": t.input, "output": t.output} for role, t in usage.tokens.items()},
        "cost": None if usage.usd is None else {"usd": float(usage.usd)},
        "judge_pairs": usage.judge_pairs,
        "searches": usage.searches,
        "seconds": float(usage.seconds),
    }


def _round(one: Round) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "n": one.n,
        "trial": one.trial,
        "role": one.role,
        "read": list(one.read),
        "text": one.text,
        "kept": list(one.kept),
        "dropped": [{"text": dropped.text, "why": dropped.why} for dropped in one.dropped],
        "queries": list(one.queries),
        "scores": None if one.scores is None else {name: float(score) for name, score in one.scores.items()},
        "chosen": one.chosen,
    }


def _plain(value: Any) -> Any:
    """The value as JSON can hold it: half a surrogate pair becomes U+FFFD, so that offsets stay; the unknown, words."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_plain(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < _SAFE_INTEGER):
        return value
    return _plain(str(value))
