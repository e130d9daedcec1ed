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
from toulmin.text.followup import Reading, Turn, read

Earlier = Answer | tuple[str, str]  # a question asked before: its answer, or its words and the answer's
MOST_TURNS = 12  # that are looked at, the newest
LONGEST_ANSWER = 1_000  # characters of an earlier answer that are looked at
CITED = 5  # at most one hit of a search in so many is a passage that was cited before
ALONE = 7  # one hit in so many is of the question alone, where what was said before is searched with it


def follow(
    question: str, history: Sequence[Earlier], by: Callable[[str], Program[Answer]], *, asks_model: bool
) -> Program[Answer]:
    """Answers the question as it reads alone; `asked` of the answer holds other words in which it was asked.

    Rules make it stand alone, or (`asks_model`) the main model, with the rules for an empty reply. Passages that
    earlier `Answer`s cited are among the hits of every search.
    """
    turns = turns_of(history)
    reading = read(question, turns)
    if written := (yield from generate(Rewrite(question, turns))) if asks_model else "":
        reading = Reading(written)
    cited = {
        passage.id: passage for answer in reversed(history) if isinstance(answer, Answer) for passage in answer.cited
    }
    asked = "" if reading.question == question else question
    answer: Answer = yield from _serve(by(reading.question), tuple(cited.values()), reading.context, asked)
    return replace(answer, asked=asked)


def turns_of(history: Sequence[Earlier]) -> tuple[Turn, ...]:
    """The newest turns as texts. Raises `UsageError` for what is neither an `Answer` nor a pair of texts."""
    turns = []
    for earlier in history:
        pair = (earlier.question, earlier.text) if isinstance(earlier, Answer) else earlier
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise UsageError(f"history holds Answers, or pairs of a question and its answer's text, not {earlier!r}.")
        turns.append(Turn(pair[0], pair[1][:LONGEST_ANSWER]))
    return tuple(turns[-MOST_TURNS:])


def _serve(program: Program[Any], cited: tuple[Passage, ...], context: str, asked: str) -> Program[Any]:
    """The program's own steps, but that searches also give what belongs to the conversation."""
    pass_on: Callable[[], Any] = partial(next, program)
    while True:
        try:
            step = pass_on()
        except StopIteration as end:
            return end.value
        if isinstance(step, Show):
            step = replace(step, draft=replace(step.draft, asked=asked))
        elif isinstance(step, Together):
            step = Together(tuple(_serve(part, cited, context, asked) for part in step.programs))
        try:
            reply = (yield from _search(step, cited, context)) if isinstance(step, Search) else (yield step)
        except ToulminError as error:
            pass_on = partial(program.throw, error)
        else:
            pass_on = partial(program.send, reply)


def _search(step: Search, cited: tuple[Passage, ...], context: str) -> Program[tuple[Hit, ...]]:
    """The hits, those of a search with the context, and after them the passages cited last that are not among them."""
    hits = yield step
    if context:
        hits = merge(hits, (yield replace(step, query=f"{step.query} {context}")), step.k)
    ids = {hit.passage.id for hit in hits}
    more = [passage for passage in cited if passage.id not in ids][: step.k // CITED]
    best = hits[: step.k - len(more)]
    score = best[-1].score if best else 0.0
    return (*best, *(Hit(passage, score) for passage in more))


def merge(alone: Sequence[Hit], wider: Sequence[Hit], k: int) -> tuple[Hit, ...]:
    """The first hits of a question alone, and those of a search with what was said before it."""
    by_id = {hit.passage.id: hit for hit in (*alone[: k // ALONE], *wider)}
    return tuple(by_id.values())[:k]
