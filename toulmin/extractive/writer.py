"""The embedded writer: answers typed prompts, all but `JudgeClaim`, by selecting sentences and spans.

A claim is a sentence of a passage, or the words of a fact in it, and quotes that sentence. Nothing in a passage is
obeyed or read as a mark. Deterministic; `Generate.sample` chooses other selections.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toulmin.data import render
from toulmin.errors import ModelError, UsageError
from toulmin.extractive.answering import Handler, Manner, answer, extract, next_claim, summary
from toulmin.extractive.windows import SpanReader
from toulmin.parsing.citing import Draft, Labels
from toulmin.prompts import types as ask
from toulmin.prompts.replies import Reply
from toulmin.steps import Generate


class Extractive:
    """A `LanguageModel` without a network.

    `words` is the approximate length of a long answer or of a section; a report has twice as many. Answers consist of
    whole sentences and end early if no sentence is likely to add anything.

    It abstains unless one sentence has the share `threshold` (0 to 1) of the question's terms, by rarity, without the
    title. The default was chosen for one passage on the train split of `pool_questions`; n passages divide it by n to
    the power of 0.2.

    A `reader` that ranks windows chooses all words and decides when to abstain.
    Raises `UsageError` for values out of range.
    """

    def __init__(self, words: int = 90, threshold: float = 0.425, reader: SpanReader | None = None) -> None:
        if words < 1:
            raise UsageError(f"words: expected an answer's length of at least 1, not {words}.")
        if not 0 <= threshold <= 1:
            raise UsageError(f"threshold: expected a share of the question from 0 to 1, not {threshold}.")
        # By words alone a reply takes almost no time, and large batches are judged together. With trained parts it
        # takes a large part of a second: one by one, the first reply arrives long before the last.
        self.concurrency = 1 if reader else 64
        self.manner = Manner(words, threshold, reader)
        self.name = "extractive" + "+reader" * (reader is not None)

    def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        """`Reply.text` is for display only. Raises `ModelError` for an unknown type of prompt."""
        return [self._reply(request) for request in requests]

    def _reply(self, request: Generate) -> Reply:
        handler = _ANSWERING.get(type(request.prompt)) or _redrafting(type(request.prompt))
        value = handler(request.prompt, self.manner, request.sample)
        return Reply(_as_text(request.prompt, value), value)


def _redrafting(kind: type[Any]) -> Handler:
    from toulmin.extractive.redrafting import HANDLERS

    if kind not in HANDLERS:
        known = ", ".join(each.__name__ for each in (*_ANSWERING, *HANDLERS))
        raise ModelError(f"The embedded writer answers the prompts {known}, not {kind.__name__}. Name another model.")
    return HANDLERS[kind]


# Answering needs only these; `redrafting`, which reads and writes drafts, loads on demand.
_ANSWERING: Mapping[type[Any], Handler] = {
    ask.AnswerPrompt: answer,
    ask.NextClaim: next_claim,
    ask.Summarise: summary,
    ask.Extract: extract,
}


def _as_text(prompt: ask.Prompt[Any], value: Any) -> str:
    """For a trace; None becomes the text that the prompt reads as None."""
    if value is None:
        return "END" if isinstance(prompt, ask.NextClaim) else ""
    if isinstance(value, Draft):
        return render(value.claims, getattr(prompt, "style", "long")).text
    if isinstance(value, Labels):
        return " ".join(value.ids)
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {words}" for name, words in value.items())
    if isinstance(value, tuple):
        return "\n".join(f"{x.title}: {x.description}" if isinstance(x, ask.Paragraph) else str(x) for x in value)
    return str(value)
