"""A question that follows others: rewritten to stand alone, then answered by any method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from toulmin.data import Answer, Hit, Passage
from toulmin.errors import UsageError
from toulmin.prompts.types import Rewrite
from toulmin.steps import Program, Search, Show, Step, generate, intercept
from toulmin.text.followup import Reading, Turn, read

Earlier = Answer | tuple[str, str]  # a question asked before: its answer, or its words and the answer's
MOST_TURNS = 12  # the newest ones
LONGEST_ANSWER = 1_000  # characters of an earlier answer
CITED = 5  # at most one hit in so many is a passage that was cited before
ALONE = 7  # with a context, one hit in so many comes from the question alone


def follow(
    question: str, history: Sequence[Earlier], by: Callable[[str], Program[Answer]], *, asks_model: bool
) -> Program[Answer]:
    """Answers the rewritten question; `asked` of the answer keeps the words of a person if they differ.

    Rules rewrite it or, with `asks_model`, the main model. Passages that earlier `Answer`s cited are among the hits of
    every search.
    """
    turns = turns_of(history)
    reading = read(question, turns)
    if written := (yield from generate(Rewrite(question, turns))) if asks_model else "":
        reading = Reading(written)
    answers = (earlier for earlier in reversed(history) if isinstance(earlier, Answer))
    cited = {passage.id: passage for answer in answers for passage in answer.cited}
    asked = "" if reading.question == question else question

    def serve(step: Step) -> Program[object]:
        if isinstance(step, Search):
            return (yield from _search(step, tuple(cited.values()), reading.context))
        return (yield replace(step, draft=replace(step.draft, asked=asked)) if isinstance(step, Show) else step)

    answer = yield from intercept(by(reading.question), serve)
    return replace(answer, asked=asked)


def turns_of(history: Sequence[Earlier]) -> tuple[Turn, ...]:
    """The newest turns as texts. Raises `UsageError` for any other value."""
    turns = []
    for earlier in history:
        pair = (earlier.question, earlier.text) if isinstance(earlier, Answer) else earlier
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise UsageError(f"history holds Answers, or pairs of a question and its answer's text, not {earlier!r}.")
        cited = earlier.cited[0].title if isinstance(earlier, Answer) and earlier.cited else ""
        turns.append(Turn(pair[0], pair[1][:LONGEST_ANSWER], cited))
    return tuple(turns[-MOST_TURNS:])


def _search(step: Search, cited: tuple[Passage, ...], context: str) -> Program[tuple[Hit, ...]]:
    """The hits, also of a search with the context, and then the latest cited passages that are not among them."""
    hits = yield step
    if context:
        hits = merge(hits, (yield replace(step, query=f"{step.query} {context}")), step.k)
    ids = {hit.passage.id for hit in hits}
    more = [passage for passage in cited if passage.id not in ids][: step.k // CITED]
    best = hits[: step.k - len(more)]
    score = best[-1].score if best else 0.0
    return (*best, *(Hit(passage, score) for passage in more))


def merge(alone: Sequence[Hit], wider: Sequence[Hit], k: int) -> tuple[Hit, ...]:
    """The first hits of the question alone, then those of the search with its context."""
    return tuple({hit.passage.id: hit for hit in (*alone[: k // ALONE], *wider)}.values())[:k]
