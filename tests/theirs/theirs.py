"""Parts for Toulmin as somebody else's package brings them: each found by name through an entry point."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from toulmin.ext import (
    Answer,
    Format,
    Generate,
    Hit,
    Judge,
    LanguageModel,
    Pair,
    Passage,
    Piece,
    Program,
    Quote,
    Reader,
    Reply,
    Retriever,
    Span,
    Verdict,
    apply_policy,
    generate,
    prompts,
    search,
    verify,
)


def twice(question: str, *, style: str = "long", k: int = 3) -> Program[Answer]:
    """Reads twice as many passages as it is told, and keeps what the judge supports."""
    hits = yield from search(question, 2 * k)
    passages = tuple(hit.passage for hit in hits)
    draft = yield from generate(prompts.AnswerPrompt(question, passages, style))
    claims = yield from verify(draft.claims, {passage.id: passage for passage in passages}, question, style)
    kept = tuple(apply_policy(claims, "drop").kept)
    return Answer(question, style, "mine:twice", "answered" if kept else "abstained", kept, passages)


class Literal:
    """Supports a claim exactly if a passage holds it word for word."""

    def __init__(self, name: str) -> None:
        self.name = name

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        holds = [any(pair.claim in premise.text for premise in pair.premises) for pair in pairs]
        return [Verdict("supported" if h else "unsupported", float(h), 0.0, self.name) for h in holds]


def make_judge(size: str, settings: Mapping[str, Any]) -> Judge:
    """A judge that compares texts word for word."""
    return Literal(f"literal-{size or 'small'}{settings.get('mark', '')}")


class Echo:
    """Answers with the first sentence of the first passage."""

    name, concurrency = "echo", 1

    def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        return [Reply(f"{request.prompt.passages[0].text.split('. ')[0]} [1].") for request in requests]


def make_model(name: str, settings: Mapping[str, Any]) -> LanguageModel:
    """A model that repeats what it reads."""
    return Echo()


class First:
    """Finds the first word of the first passage."""

    def read(self, questions: Sequence[tuple[str, Sequence[Passage]]]) -> list[Span]:
        words = [(passages[0], passages[0].text.split()[0]) for _, passages in questions]
        return [Span(passage.id, Quote(0, len(word), word), 1.0) for passage, word in words]


def make_reader(name: str, settings: Mapping[str, Any]) -> Reader:
    """A reader of first words."""
    return First()


class Tower:
    """Finds the same passage for every query."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [[Hit(Passage.of("Kettle Rock Tower was lit for the first time on 3 May 1824."), 1.0)] for _ in queries]


def make_retriever(name: str, settings: Mapping[str, Any]) -> Retriever:
    """A retriever of one passage."""
    return Tower()


class Lengths:
    """Encodes a text by how long it is."""

    name, identity, dimension = "lengths", "lengths-1", 2

    def encode_queries(self, queries: Sequence[str]) -> Any:
        return np.array([[1.0, len(query)] for query in queries], np.float32)

    def encode_passages(self, passages: Sequence[Any]) -> Any:
        return self.encode_queries([passage.text for passage in passages])


def make_encoder(name: str, settings: Mapping[str, Any]) -> Lengths:
    """An encoder of lengths."""
    return Lengths()


def _titles(answers: Iterable[Any], run: Any) -> Iterator[Piece]:
    for asked in answers:
        yield Piece(json.dumps([passage.title for passage in asked.answer.passages]).encode() + b"\n")


def make_format(name: str, settings: Mapping[str, Any]) -> Format:
    """A format of the titles that were read."""
    return Format("The titles that were read.", "lines", None, _titles, lambda data: [])
