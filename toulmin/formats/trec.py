"""TREC's RAG track, 2024 and 2025: sentences, each with its references, counted from 0.

A reference is the passage's record (the collection's segment id), or else its id. Limits: 400 words by the track's
count, 100 references and, in 2025, three citations a sentence. Only whole sentences are cut, from the end, with a note.
An abstention has no sentences.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from toulmin.data import Answer, Claim, Passage
from toulmin.datasets.item import Item
from toulmin.formats.dialect import DialectOutput, Run

WORDS, REFERENCES, CITATIONS = 400, 100, 3


def trec24(item: Item, answer: Answer, run: Run) -> DialectOutput:
    """The topic is the question."""
    body, notes = _body(answer, most=None)
    head = {"run_id": run.id, "topic_id": item.id, "topic": item.question, "references": body["references"]}
    length = sum(words_in(sentence["text"]) for sentence in body["answer"])
    return DialectOutput({**head, "response_length": length, "answer": body["answer"]}, notes)


def trec25(item: Item, answer: Answer, run: Run) -> DialectOutput:
    """The narrative is the question, the team the setting `team_id` or else the run's id."""
    body, notes = _body(answer, most=CITATIONS)
    by = {"team_id": str(run.settings.get("team_id") or run.id), "run_id": run.id, "type": "automatic"}
    metadata = {**by, "narrative_id": item.id, "narrative": item.question}
    return DialectOutput({"metadata": metadata, **body}, notes)


def words_in(text: str) -> int:
    """Words between white space, after NFKC, as the track counts."""
    return len(unicodedata.normalize("NFKC", text).split())


def _body(answer: Answer, most: int | None) -> DialectOutput:
    """The references and the sentences, which cite at most so many each."""
    kept = _claims_within_limit(answer.claims)
    notes = []
    if len(kept) < len(answer.claims):
        notes.append(f"{len(answer.claims) - len(kept)} of {len(answer.claims)} sentences cut: {WORDS} words at most.")
    named = [list(dict.fromkeys(reference(answer.passage(id)) for id in claim.cited)) for claim in kept]
    if most is not None and any(len(names) > most for names in named):
        lost = sum(max(0, len(names) - most) for names in named)
        notes.append(f"{lost} citations cut: {most} a sentence at most, the first ones stay.")
        named = [names[:most] for names in named]
    references = list(dict.fromkeys(name for names in named for name in names))
    if len(references) > REFERENCES:
        notes.append(f"{len(references) - REFERENCES} references cut, with their citations: {REFERENCES} at most.")
    places = {name: place for place, name in enumerate(references[:REFERENCES])}
    sentences = [_sentence(*pair, places) for pair in zip(kept, named, strict=True)]
    return DialectOutput({"references": list(places), "answer": sentences}, tuple(notes))


def _sentence(claim: Claim, names: Sequence[str], places: dict[str, int]) -> dict[str, Any]:
    return {"text": " ".join(claim.text.split()), "citations": [places[name] for name in names if name in places]}


def _claims_within_limit(claims: Sequence[Claim]) -> Sequence[Claim]:
    totals = accumulate(words_in(claim.text) for claim in claims)
    return claims[: sum(total <= WORDS for total in totals)]


def reference(passage: Passage) -> str:
    """The passage's record, which other passages may share, or its id."""
    return passage.source.record or passage.id
