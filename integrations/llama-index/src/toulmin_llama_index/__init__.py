"""Parts for LlamaIndex: `CitedQueryEngine`, `AnsweringNodes` and `GroundednessEvaluator`.

Asynchronous methods use a thread: the networks would block the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import Response
from llama_index.core.bridge.pydantic import ConfigDict, Field
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode

import toulmin
from toulmin import Answer, Claim, ModelError, Passage, Source, UsageError

__all__ = ["AnsweringNodes", "CitedQueryEngine", "GroundednessEvaluator"]


class CitedQueryEngine(CustomQueryEngine):
    """Answers from `docs`, from `index`, or from the nodes that a `retriever` of LlamaIndex finds.

    `[n]` in the response is the n-th of its `source_nodes`. `metadata` has the status, the notes and the claims with
    their verdicts and quotes. If the sources do not answer, the response is that message, without source nodes.
    `options` are settings of `toulmin.ask` by name.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    docs: str | list[str] | None = None
    index: str | None = None
    retriever: BaseRetriever | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    def model_post_init(self, context: Any, /) -> None:
        if sum(place is not None for place in (self.docs, self.index, self.retriever)) != 1:
            raise UsageError("CitedQueryEngine needs one source: name docs, index or retriever.")

    def custom_query(self, query_str: str) -> Response:
        return self._answer(query_str, self.retriever.retrieve(query_str) if self.retriever else None)

    async def acustom_query(self, query_str: str) -> Response:
        nodes = await self.retriever.aretrieve(query_str) if self.retriever else None
        return await asyncio.to_thread(self._answer, query_str, nodes)

    def _answer(self, question: str, nodes: Sequence[NodeWithScore] | None) -> Response:
        passages = None if nodes is None else [_passage(node) for node in nodes]
        answer = _answer_or_raise(
            toulmin.ask(question, docs=self.docs, index=self.index, passages=passages, **self.options)
        )
        known = dict(zip((passage.id for passage in passages or ()), nodes or (), strict=True))
        cited = [known.get(passage.id) or _node(passage) for passage in answer.cited]
        metadata = {
            "status": answer.status,
            "notes": list(answer.notes),
            "claims": [_claim_row(claim, known) for claim in answer.claims],
        }
        silence = answer.notes[0] if answer.notes else ""
        return Response(answer.text or silence, cited, metadata)


class AnsweringNodes(BaseNodePostprocessor):
    """Keeps the nodes from which the question is answered: none if they do not answer it.

    The metadata of a kept node gets `toulmin`: the sentences that cite it, with verdict and quote. It is not shown to
    models and encoders. `options` are settings of `toulmin.ask` by name.
    """

    options: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def class_name(cls) -> str:
        return "AnsweringNodes"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise UsageError("AnsweringNodes needs the question; pass query_str=... or query_bundle=...")
        passages = [_passage(node) for node in nodes]
        answer = _answer_or_raise(toulmin.ask(query_bundle.query_str, passages=passages, **self.options))
        answering = []
        for node, passage in zip(nodes, passages, strict=True):
            if rows := [_claim_row(claim, {}) for claim in answer.claims if passage.id in claim.cited]:
                answering.append(_with_verdicts(node, rows))
        return answering


class GroundednessEvaluator(BaseEvaluator):
    """Scores a response by the share of its claims that the contexts support. Needs no language model.

    `[n]` in the response cites the n-th context. The response passes if the share is at least `threshold`. A response
    without a claim has no score, and the result is invalid.
    """

    def __init__(self, judge: str | None = None, threshold: float = 1.0, options: dict[str, Any] | None = None) -> None:
        if not 0 <= threshold <= 1:
            raise UsageError(f"A threshold lies in 0..1, not {threshold}.")
        self._judge, self._threshold, self._options = judge, threshold, options or {}

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        pass  # it has none

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> EvaluationResult:
        if response is None or contexts is None:
            raise UsageError("GroundednessEvaluator needs a response and its contexts.")
        claims = await asyncio.to_thread(self._claims, response, contexts)
        result = EvaluationResult(query=query, response=response, contexts=contexts)
        if not claims:
            return result.model_copy(
                update={"invalid_result": True, "invalid_reason": "The response has no claim to judge."}
            )
        score = sum(claim.is_supported for claim in claims) / len(claims)
        return result.model_copy(
            update={"score": score, "passing": score >= self._threshold, "feedback": _feedback(claims)}
        )

    def _claims(self, response: str, contexts: Sequence[str]) -> list[Claim]:
        if not response.strip():  # an empty response is an ordinary one, and claims nothing
            return []
        options = {"judge": self._judge, **self._options}
        answer = toulmin.check(response, passages=[Passage.of(text) for text in contexts], **options)
        return [claim for claim in _answer_or_raise(answer).claims if claim.support is not None]


def _feedback(claims: Sequence[Claim]) -> str:
    failing = [claim for claim in claims if claim.support and claim.fails]
    lines = [f"“{claim.text}” ({claim.support.label}: {claim.support.reason})" for claim in failing if claim.support]
    return "\n".join((f"{len(claims) - len(failing)} of {len(claims)} claims are supported.", *lines))


def _answer_or_raise(answer: Answer) -> Answer:
    if answer.status == "failed":
        raise ModelError(" ".join(answer.notes))
    return answer


def _passage(node: NodeWithScore) -> Passage:
    text, metadata = node.get_content(MetadataMode.NONE), node.metadata
    title = metadata.get("title") or metadata.get("file_name") or ""
    return Passage.of(text, title, Source(0, len(text), path=metadata.get("file_path")))


def _node(passage: Passage) -> NodeWithScore:
    source = passage.source
    places = {"file_path": source.path, "url": source.url, "page": source.page, "section": source.section}
    metadata = {"title": passage.title} | {name: value for name, value in places.items() if value}
    span = {"start_char_idx": source.start, "end_char_idx": source.end}
    return NodeWithScore(node=TextNode(id_=passage.id, text=passage.text, metadata=metadata, **span))


def _with_verdicts(node: NodeWithScore, rows: list[dict[str, Any]]) -> NodeWithScore:
    """A copy: other parts may hold the same node."""
    inner = node.node.model_copy(deep=True)
    inner.metadata["toulmin"] = rows
    inner.excluded_llm_metadata_keys = [*inner.excluded_llm_metadata_keys, "toulmin"]
    inner.excluded_embed_metadata_keys = [*inner.excluded_embed_metadata_keys, "toulmin"]
    return NodeWithScore(node=inner, score=node.score)


def _claim_row(claim: Claim, nodes: dict[str, NodeWithScore]) -> dict[str, Any]:
    citations = [
        {"node": nodes[c.passage].node_id if c.passage in nodes else c.passage, "quote": c.quote and c.quote.text}
        for c in claim.citations
    ]
    verdict = {name: getattr(claim.support, name, None) for name in ("label", "score", "reason", "judge")}
    return {"text": claim.text, **verdict, "citations": citations}
