"""Components for Haystack: `ToulminRetriever`, `CitedAnswerBuilder` and `GroundednessChecker`.

The module stands in Haystack's namespace for integrations, from which Haystack loads saved pipelines. Arguments are
plain values, so that a pipeline can be saved. Asynchronous runs use a thread: the networks would block the event loop.
"""

import asyncio
import inspect
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self, cast

from haystack import Document, GeneratedAnswer, component, default_from_dict, default_to_dict
from haystack.dataclasses import ChatMessage

import toulmin
from toulmin import Answer, Claim, ModelError, Passage, Source, UsageError

__all__ = ["CitedAnswerBuilder", "GroundednessChecker", "ToulminRetriever"]

Docs = str | list[str]


class _Sources:
    """Where a component searches, and its settings: `options` are those of `toulmin.ask` by name.

    Haystack makes a component's class a second time, so `super()` without arguments fails in it.
    """

    def __init__(self, docs: Docs | None, index: str | None, options: dict[str, Any] | None) -> None:
        if docs is not None and index is not None:
            raise UsageError("Name docs or index, not both.")
        self.docs, self.index, self.options = docs, index, options

    def _places(self, documents: Sequence[Document] | None = None) -> dict[str, Any]:
        """The arguments of a call; documents of the pipeline come before those of the component."""
        options = self.options or {}
        if documents is not None:
            return {**options, "passages": _passages(documents)}
        if self.docs is None and self.index is None:
            raise UsageError(
                f"{type(self).__name__} has no sources; connect `documents`, or make it with docs=... or index=..."
            )
        return {**options, "docs": self.docs, "index": self.index}

    def to_dict(self) -> dict[str, Any]:
        names = inspect.signature(type(self).__init__).parameters
        return default_to_dict(self, **{name: getattr(self, name) for name in names if name != "self"})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return default_from_dict(cls, data)


@component
class ToulminRetriever(_Sources):
    """Finds passages of a file, a folder or an index; changed files of `docs` are read first."""

    def __init__(
        self,
        docs: Docs | None = None,
        index: str | None = None,
        top_k: int = 10,
        options: dict[str, Any] | None = None,
    ) -> None:
        _Sources.__init__(self, docs, index, options)
        self._places()  # an error of use shows when the pipeline is made
        self.top_k = top_k

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        k = self.top_k if top_k is None else top_k
        hits = toulmin.search(query, k=k, **self._places())
        return {"documents": [replace(_document(hit.passage), score=hit.score) for hit in hits]}

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        return cast(dict[str, list[Document]], await asyncio.to_thread(self.run, query, top_k))


@component
class CitedAnswerBuilder(_Sources):
    """Answers from the documents of the pipeline, else from `docs` or `index`.

    `[n]` in an answer's `data` is the n-th of its `documents`. `meta` has the status, the notes and the claims with
    their verdicts and quotes. If the sources do not answer, the status is "abstained", and `data` is the first note.
    """

    def __init__(
        self, docs: Docs | None = None, index: str | None = None, options: dict[str, Any] | None = None
    ) -> None:
        _Sources.__init__(self, docs, index, options)

    @component.output_types(answers=list[GeneratedAnswer])
    def run(self, query: str, documents: list[Document] | None = None) -> dict[str, list[GeneratedAnswer]]:
        answer = _answer_or_raise(toulmin.ask(query, **self._places(documents)))
        known = _documents_by_passage(documents or ())
        cited = [known.get(passage.id) or _document(passage) for passage in answer.cited]
        meta = {
            "status": answer.status,
            "notes": list(answer.notes),
            "claims": [_claim_row(claim, known) for claim in answer.claims],
        }
        return {"answers": [GeneratedAnswer(answer.text or _silence(answer), query, cited, meta)]}

    @component.output_types(answers=list[GeneratedAnswer])
    async def run_async(self, query: str, documents: list[Document] | None = None) -> dict[str, list[GeneratedAnswer]]:
        return cast(dict[str, list[GeneratedAnswer]], await asyncio.to_thread(self.run, query, documents))


@component
class GroundednessChecker(_Sources):
    """Judges each claim of replies or answers by documents: those of the run, of the answer, `docs` or `index`.

    `[n]` in a text cites the n-th document. For each text come its `claims` with verdicts, its score (the share of
    supported claims; None for a text without claims) and its supported sentences. `score` is the share over all texts.
    """

    def __init__(
        self,
        judge: str | None = None,
        docs: Docs | None = None,
        index: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        _Sources.__init__(self, docs, index, options)
        self.judge = judge

    @component.output_types(
        claims=list[list[dict[str, Any]]], scores=list[float | None], score=float | None, supported=list[str]
    )
    def run(
        self,
        replies: list[str] | list[ChatMessage] | None = None,
        answers: list[GeneratedAnswer] | None = None,
        documents: list[Document] | None = None,
    ) -> dict[str, Any]:
        if (replies is None) == (answers is None):
            raise UsageError("Give GroundednessChecker either `replies` or `answers`.")
        texts = [(_text(reply), documents) for reply in replies or ()]
        texts += [(answer.data, answer.documents if documents is None else documents) for answer in answers or ()]
        checked = [self._check(text, sources) for text, sources in texts]
        return {
            "claims": [
                [_claim_row(claim, _documents_by_passage(sources or ())) for claim in claims]
                for claims, (_, sources) in zip(checked, texts, strict=True)
            ],
            "scores": [_score(claims) for claims in checked],
            "score": _score([claim for claims in checked for claim in claims]),
            "supported": [_supported_text(text, claims) for (text, _), claims in zip(texts, checked, strict=True)],
        }

    @component.output_types(
        claims=list[list[dict[str, Any]]], scores=list[float | None], score=float | None, supported=list[str]
    )
    async def run_async(
        self,
        replies: list[str] | list[ChatMessage] | None = None,
        answers: list[GeneratedAnswer] | None = None,
        documents: list[Document] | None = None,
    ) -> dict[str, Any]:
        return cast(dict[str, Any], await asyncio.to_thread(self.run, replies, answers, documents))

    def _check(self, text: str, documents: Sequence[Document] | None) -> Sequence[Claim]:
        places = self._places(documents)
        if not text.strip():  # an empty reply is an ordinary one, and claims nothing
            return ()
        answer = _answer_or_raise(toulmin.check(text, **{"judge": self.judge, **places}))
        return [claim for claim in answer.claims if claim.support is not None]


def _answer_or_raise(answer: Answer) -> Answer:
    if answer.status == "failed":
        raise ModelError(" ".join(answer.notes))
    return answer


def _silence(answer: Answer) -> str:
    """That the sources do not answer; the other notes name what is missing and what is nearest."""
    return answer.notes[0] if answer.notes else ""


def _text(reply: str | ChatMessage) -> str:
    return reply.text or "" if isinstance(reply, ChatMessage) else reply


def _document(passage: Passage) -> Document:
    source = passage.source
    places = {"file_path": source.path, "url": source.url, "page_number": source.page, "section": source.section}
    meta = {"title": passage.title, "start": source.start, "end": source.end}
    return Document(
        id=passage.id, content=passage.text, meta=meta | {name: value for name, value in places.items() if value}
    )


def _passages(documents: Sequence[Document]) -> list[Passage]:
    passages = []
    for n, document in enumerate(documents, start=1):
        if document.content is None:  # leaving it out would move what `[n]` cites
            raise UsageError(f"Document {n} has no text to cite; give only documents with content.")
        source = Source(0, len(document.content), path=document.meta.get("file_path"))
        passages.append(Passage.of(document.content, document.meta.get("title") or "", source))
    return passages


def _documents_by_passage(documents: Sequence[Document]) -> dict[str, Document]:
    return {passage.id: document for passage, document in zip(_passages(documents), documents, strict=True)}


def _claim_row(claim: Claim, documents: dict[str, Document]) -> dict[str, Any]:
    citations = [
        {
            "document": documents[citation.passage].id if citation.passage in documents else citation.passage,
            "quote": citation.quote and citation.quote.text,
        }
        for citation in claim.citations
    ]
    verdict = {name: getattr(claim.support, name, None) for name in ("label", "score", "reason", "judge")}
    return {"text": claim.text, **verdict, "citations": citations}


def _score(claims: Sequence[Claim]) -> float | None:
    return sum(claim.is_supported for claim in claims) / len(claims) if claims else None


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
