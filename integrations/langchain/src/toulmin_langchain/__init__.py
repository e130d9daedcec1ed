"""Runnables for LangChain: `ToulminRetriever`, `CitedAnswer` and `GroundednessChecker`.

Their asynchronous methods are LangChain's: they run the plain ones in a thread, as the networks would block the event
loop.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self, TypedDict

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.load import Serializable
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.content import Annotation, TextContentBlock, create_citation, create_text_block
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from pydantic import ConfigDict, Field, model_validator

import toulmin
from toulmin import Answer, Citation, Claim, ModelError, Passage, Source, UsageError

__all__ = ["CheckedText", "CitedAnswer", "GroundednessChecker", "ToulminRetriever", "content_block"]

_STRICT = ConfigDict(extra="forbid")  # each class names it: LangChain's own bases ignore unknown arguments


class CheckedText(TypedDict):
    """The claims with their verdicts, the share of supported ones (None: no claim), and the supported sentences."""

    claims: list[dict[str, Any]]
    score: float | None
    supported: str


class _Sources(Serializable):
    """Where a runnable searches, and its settings: `options` are those of `toulmin.ask` by name."""

    docs: str | list[str] | None = None
    index: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def is_lc_serializable(cls) -> bool:
        return True

    @model_validator(mode="after")
    def _check_one_source(self) -> Self:
        if self.docs is not None and self.index is not None:
            raise UsageError("Name docs or index, not both.")
        return self

    def _places(self, documents: Sequence[Document] | None = None) -> dict[str, Any]:
        """The arguments of a call; documents of the chain come before those of the runnable."""
        if documents is not None:
            return {**self.options, "passages": [_passage(document) for document in documents]}
        if self.docs is None and self.index is None:
            raise UsageError(
                f"{type(self).__name__} has no sources; pass 'documents', or make it with docs=... or index=..."
            )
        return {**self.options, "docs": self.docs, "index": self.index}


class ToulminRetriever(_Sources, BaseRetriever):
    """Finds the `k` best passages of a file, a folder or an index; changed files of `docs` are read first."""

    model_config = _STRICT
    k: int = 10

    @model_validator(mode="after")
    def _check_sources(self) -> Self:
        self._places()
        return self

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        hits = toulmin.search(query, k=self.k, **self._places())
        return [_document(hit.passage, score=hit.score) for hit in hits]


class CitedAnswer(_Sources, RunnableSerializable[str | dict[str, Any], AIMessage]):
    """Answers a question, or `{"question": ..., "documents": [...]}` from those documents.

    The message is one text block whose citations name the quoted words of each sentence. If the sources do not answer,
    the text is that message, without a citation. `response_metadata` has the status and the notes.
    """

    model_config = _STRICT

    def invoke(self, input: str | dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> AIMessage:
        return self._call_with_config(self._answer, input, config)

    def _answer(self, input: str | dict[str, Any]) -> AIMessage:
        values = _values(self, "question", {"question": input} if isinstance(input, str) else input)
        answer = _answer_or_raise(toulmin.ask(_text(values["question"]), **self._places(values.get("documents"))))
        metadata = {"status": answer.status, "notes": list(answer.notes)}
        return AIMessage(content_blocks=[content_block(answer)], response_metadata=metadata)


class GroundednessChecker(_Sources, RunnableSerializable[dict[str, Any], CheckedText]):
    """Judges each claim of `{"text": ..., "documents": [...]}`; without documents, by `docs` or `index`.

    The text is a string or a message. `[n]` in it cites the n-th document.
    """

    model_config = _STRICT
    judge: str | None = None

    def invoke(self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> CheckedText:
        return self._call_with_config(self._check, input, config)

    def _check(self, input: dict[str, Any]) -> CheckedText:
        values = _values(self, "text", input)
        text, places = _text(values["text"]), self._places(values.get("documents"))
        if not text.strip():  # an empty text is an ordinary one, and claims nothing
            return CheckedText(claims=[], score=None, supported="")
        answer = _answer_or_raise(toulmin.check(text, **{"judge": self.judge, **places}))
        claims = [claim for claim in answer.claims if claim.support is not None]
        score = sum(claim.is_supported for claim in claims) / len(claims) if claims else None
        return CheckedText(
            claims=[_claim_row(claim, answer) for claim in claims], score=score, supported=_supported_text(text, claims)
        )


def content_block(answer: Answer) -> TextContentBlock:
    """An answer as a text block. A citation has the place of its sentence in the text and the quoted words.

    `extras` have the verdict on the sentence and where the passage stands. `[n]` in the text is the n-th cited passage.
    """
    if not answer.claims:
        return create_text_block(answer.notes[0] if answer.notes else "")
    spans = zip(answer.claims, answer.rendering.spans, strict=True)
    annotations = [_annotation(answer, c, claim, span) for claim, span in spans for c in claim.citations]
    return create_text_block(answer.text, annotations=annotations)


def _annotation(answer: Answer, citation: Citation, claim: Claim, span: tuple[int, int]) -> Annotation:
    passage = answer.passage(citation.passage)
    source = passage.source
    return create_citation(
        url=source.url or (Path(source.path).absolute().as_uri() if source.path else None),
        title=passage.title or None,
        start_index=span[0],
        end_index=span[1],
        cited_text=citation.quote.text if citation.quote else None,
        passage=passage.id,
        page=citation.page_in(passage),
        label=claim.support.label if claim.support else None,
        score=claim.support.score if claim.support else None,
    )


def _values(runnable: _Sources, key: str, input: object) -> dict[str, Any]:
    if not isinstance(input, dict) or key not in input:
        came = f"the keys {', '.join(map(repr, input))}" if isinstance(input, dict) else type(input).__name__
        raise UsageError(f"{type(runnable).__name__} takes a dict with {key!r} and 'documents', but got {came}.")
    return input


def _answer_or_raise(answer: Answer) -> Answer:
    if answer.status == "failed":
        raise ModelError(" ".join(answer.notes))
    return answer


def _text(value: str | BaseMessage) -> str:
    return str(value.text) if isinstance(value, BaseMessage) else value


def _document(passage: Passage, **metadata: Any) -> Document:
    source = passage.source
    places = {"source": source.path or source.url, "page": source.page, "section": source.section}
    metadata |= {"title": passage.title, "start": source.start, "end": source.end}
    metadata |= {name: value for name, value in places.items() if value}
    return Document(id=passage.id, page_content=passage.text, metadata=metadata)


def _passage(document: Document) -> Passage:
    text, place = document.page_content, str(document.metadata.get("source") or "")
    named = {"url": place} if "://" in place else {"path": place or None}
    return Passage.of(text, document.metadata.get("title") or "", Source(0, len(text), **named))


def _claim_row(claim: Claim, answer: Answer) -> dict[str, Any]:
    passages = [answer.passage(citation.passage) for citation in claim.citations]
    citations = [
        {"title": passage.title, "source": passage.source.path or passage.source.url, "quote": c.quote and c.quote.text}
        for passage, c in zip(passages, claim.citations, strict=True)
    ]
    verdict = {name: getattr(claim.support, name) for name in ("label", "score", "reason", "judge")}
    return {"text": claim.text, **verdict, "citations": citations}


def _supported_text(text: str, claims: Sequence[Claim]) -> str:
    """The supported sentences as they stand in the text; sentences of different lines stay on different lines."""
    starts = [0, *(line.end() for line in re.finditer("\n", text))]
    sentences, line = "", 0
    for place in (claim.place for claim in claims if claim.is_supported and claim.place):
        between = "" if not sentences else "\n" if place.line > line else " "
        end = starts[place.end_line - 1] + place.end_column - 1
        sentences += between + text[starts[place.line - 1] + place.column - 1 : end]
        line = place.end_line
    return sentences
