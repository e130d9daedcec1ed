"""The answers of a run in other tools' formats: `DIALECTS`.

Failed questions are left out (empty in ALCE's file), with a note.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from toulmin.data import Answer, Citation, Claim, Passage
from toulmin.datasets.item import Item
from toulmin.errors import unknown_name
from toulmin.formats import alce, answer_json, openai
from toulmin.formats.clean_text import address, gaps, model, reason, tokens
from toulmin.formats.dialect import Dialect, DialectOutput, Piece, QuestionAnswer, Run, lines


def export_answers(
    answers: Iterable[Answer],
    items: Iterable[Item],
    dialect: str | Dialect,
    *,
    run_id: str,
    settings: Mapping[str, Any] | None = None,
) -> Piece:
    """The whole file, in the answers' order.

    Ids match answers with items; an answer without an item is written without gold, with a note if there are other
    items. `settings` are the run's: ALCE's `args`, and TREC's `team_id`. Raises `UsageError` for an unknown dialect.
    """
    if isinstance(dialect, str) and dialect not in DIALECTS:
        raise unknown_name("format", dialect, DIALECTS)
    part = dialect if isinstance(dialect, Dialect) else DIALECTS[dialect]
    known, notes = {item.id: item for item in items}, list[str]()

    def pairs() -> Iterator[QuestionAnswer]:
        for answer in answers:
            id = answer.id or answer_json.document(answer)["id"]
            if answer.status == "failed":
                place = "with an empty output" if part.keeps_failed else "left out"
                notes.append(f"{id}: {place}, as it failed: {' '.join(answer.notes)}")
                if not part.keeps_failed:
                    continue
            if known and id not in known:
                notes.append(f"{id}: no question of the run has this id; written without its gold answers.")
            yield QuestionAnswer(known.get(id) or Item(id, answer.question), answer)

    file_pieces = list(part.pieces(pairs(), Run(run_id, settings or {})))
    cuts = (note for piece in file_pieces for note in piece.notes)
    return Piece(b"".join(piece.data for piece in file_pieces), (*cuts, *notes))


# ---------------------------------------------------------------- Anthropic's messages
# A block of text for each claim, with the places that it cites. `start_char_index` and `end_char_index` are code
# points, half-open, and select `cited_text`: the decisive sentence, or else the whole passage. `documents` holds the
# cited passages by `document_index`. An abstention is a block without citations.


def anthropic_message(answer: Answer, id: str) -> dict[str, Any]:
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


# ---------------------------------------------------------------- TREC's RAG track, 2024 and 2025
# Sentences, each with its references, counted from 0. A reference is the passage's record (the collection's segment
# id), or else its id. Limits: 400 words by the track's count, 100 references and, in 2025, three citations a sentence.
# Only whole sentences are cut, from the end, with a note. An abstention has no sentences.


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
    return DialectOutput({"metadata": {**by, "narrative_id": item.id, "narrative": item.question}, **body}, notes)


def words_in(text: str) -> int:
    """Words between white space, after NFKC, as the track counts."""
    return len(unicodedata.normalize("NFKC", text).split())


def _body(answer: Answer, most: int | None) -> DialectOutput:
    """The references and the sentences, which cite at most so many each."""
    totals = accumulate(words_in(claim.text) for claim in answer.claims)
    kept = answer.claims[: sum(total <= WORDS for total in totals)]
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


def reference(passage: Passage) -> str:
    """The passage's record, which other passages may share, or its id."""
    return passage.source.record or passage.id


# ---------------------------------------------------------------- the formats


def _in_points(help: str, write: Callable[[Answer, str], dict[str, Any]]) -> Dialect:
    """`write` takes an answer and its question's id."""
    return Dialect(help, "lines", "code points", lines(lambda item, answer, run: DialectOutput(write(answer, item.id))))


DIALECTS: Mapping[str, Dialect] = {
    "alce": Dialect(
        "ALCE's result file, as its evaluator reads it.", "document", None, alce.result_file, keeps_failed=True
    ),
    "trec24": Dialect("TREC's RAG track of 2024: sentences with their references.", "lines", None, lines(trec24)),
    "trec25": Dialect("TREC's RAG track of 2025: sentences with their references.", "lines", None, lines(trec25)),
    "openai": _in_points("OpenAI's chat completions, an annotation for each mark.", openai.chat_completion),
    "responses": _in_points("OpenAI's responses, an annotation for each mark.", openai.response),
    "anthropic": _in_points("Anthropic's messages, a block of text for each claim.", anthropic_message),
}
