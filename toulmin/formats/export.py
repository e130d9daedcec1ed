"""The answers of a run in other tools' formats: `DIALECTS`.

Failed questions are left out (empty in ALCE's file), with a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from toulmin.data import Answer
from toulmin.datasets.item import Item
from toulmin.errors import unknown_name
from toulmin.formats import alce, answer_json, anthropic, openai, trec
from toulmin.formats.dialect import Dialect, DialectOutput, Piece, QuestionAnswer, Run, lines

__all__ = ["DIALECTS", "Dialect", "Piece", "Run", "export_answers", "pieces"]


def _in_points(help: str, write: Callable[[Answer, str], dict[str, Any]]) -> Dialect:
    """`write` takes an answer and its question's id."""
    written = lines(lambda item, answer, run: DialectOutput(write(answer, item.id)))
    return Dialect(help, "lines", "code points", written)


DIALECTS: Mapping[str, Dialect] = {
    "alce": Dialect(
        "ALCE's result file, as its evaluator reads it.", "document", None, alce.result_file, keeps_failed=True
    ),
    "trec24": Dialect("TREC's RAG track of 2024: sentences with their references.", "lines", None, lines(trec.trec24)),
    "trec25": Dialect("TREC's RAG track of 2025: sentences with their references.", "lines", None, lines(trec.trec25)),
    "openai": _in_points("OpenAI's chat completions, an annotation for each mark.", openai.chat_completion),
    "responses": _in_points("OpenAI's responses, an annotation for each mark.", openai.response),
    "anthropic": _in_points("Anthropic's messages, a block of text for each claim.", anthropic.message),
}


def export_answers(
    answers: Iterable[Answer],
    items: Iterable[Item],
    dialect: str | Dialect,
    *,
    run_id: str,
    settings: Mapping[str, Any] | None = None,
) -> Piece:
    """The whole file as one piece; otherwise as `pieces`."""
    file_pieces = list(pieces(answers, items, dialect, run_id=run_id, settings=settings))
    notes = tuple(note for piece in file_pieces for note in piece.notes)
    return Piece(b"".join(piece.data for piece in file_pieces), notes)


def pieces(
    answers: Iterable[Answer],
    items: Iterable[Item],
    dialect: str | Dialect,
    *,
    run_id: str,
    settings: Mapping[str, Any] | None = None,
) -> Iterator[Piece]:
    """The file piece by piece, with one answer in memory at a time, in the answers' order.

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

    def written() -> Iterator[Piece]:
        yield from part.pieces(pairs(), Run(run_id, settings or {}))
        if notes:
            yield Piece(b"", tuple(notes))

    return written()
