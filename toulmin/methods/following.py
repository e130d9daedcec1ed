"""A question that follows others: first made to stand alone, then answered by whichever method was chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from toulmin.data import Answer, Hit, Passage
from toulmin.errors import ToulminError, UsageError
from toulmin.prompts.types import Rewrite
from toulmin.steps import Program, Search, Show, Together, generate
from toulmin.text.followup import Turn, stand_alone

Earlier = Answer | tuple[str, str]  # a question asked before: its answer, or its words and the answer's
MOST_TURNS = 12  # that are looked at, the newest
LONGEST_ANSWER = 1_000  # characters of an earlier answer that are looked at
SHARE = 3  # at most every third hit of a search is a passage that was cited before


def follow(
    question: str, history: Sequence[Earlier], by: Callable[[str], Program[Answer]], *, asks_model: bool
) -> Program[Answer]:
    """Answers the question as it reads alone, and says in a note how it was read.

    Rules make it stand alone, or (`asks_model`) the main model, with the rules for an empty reply. Passages that
    earlier `Answer`s cited are among the hits of every search.
    """
    turns = turns_of(history)
    written = (yield from generate(Rewrite(question, turns))) if asks_model else ""
    read = written or stand_alone(question, turns)
    notes = () if read == question else (f"Read as: “{read}” (asked: “{question}”)",)
    cited = {
        passage.id: passage for answer in reversed(history) if isinstance(answer, Answer) for passage in answer.cited
    }
    answer = yield from _serve(by(read), tuple(cited.values()), notes)
    return _with_notes(answer, notes)


def turns_of(history: Sequence[Earlier]) -> tuple[Turn, ...]:
    """The newest turns as texts. Raises `UsageError` for what is neither an `Answer` nor a pair of texts."""
    turns = []
    for earlier in history:
        pair = (earlier.question, earlier.text) if isinstance(earlier, Answer) else earlier
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise UsageError(f"history holds Answers, or pairs of a question and its answer's text, not {earlier!r}.")
        turns.append(Turn(pair[0], pair[1][:LONGEST_ANSWER]))
    return tuple(turns[-MOST_TURNS:])


def _serve(program: Program[Any], cited: tuple[Passage, ...], notes: tuple[str, ...]) -> Program[Any]:
    """The program's own steps, but that searches also give what was cited, and drafts have the notes."""
    pass_on: Callable[[], Any] = partial(next, program)
    while True:
        try:
            step = pass_on()
        except StopIteration as end:
            return end.value
        if isinstance(step, Show):
            step = replace(step, draft=_with_notes(step.draft, notes))
        elif isinstance(step, Together):
            step = Together(tuple(_serve(part, cited, notes) for part in step.programs))
        try:
            reply = yield step
        except ToulminError as error:
            pass_on = partial(program.throw, error)
        else:
            pass_on = partial(program.send, _among(reply, cited, step.k) if isinstance(step, Search) else reply)


def _among(hits: tuple[Hit, ...], cited: tuple[Passage, ...], k: int) -> tuple[Hit, ...]:
    """The best hits, and after them the passages cited last that are not among them."""
    ids = {hit.passage.id for hit in hits}
    more = [passage for passage in cited if passage.id not in ids][: k // SHARE]
    best = hits[: k - len(more)]
    score = best[-1].score if best else 0.0
    return (*best, *(Hit(passage, score) for passage in more))


def _with_notes(answer: Answer, notes: tuple[str, ...]) -> Answer:
    return replace(answer, notes=(*answer.notes, *notes)) if notes else answer
