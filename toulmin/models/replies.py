"""From a server's choices to replies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from toulmin.data import Tokens
from toulmin.errors import ModelError
from toulmin.models.prices import Price
from toulmin.models.received import Choice, Received
from toulmin.parsing.thinking import without_thinking
from toulmin.prompts.replies import Finish, Reply, TokenLogprob
from toulmin.prompts.tokens import estimate_tokens

if TYPE_CHECKING:
    from toulmin.models.failures import Asked


@dataclass(frozen=True, slots=True)
class Reading:
    """How the choices of one request are read; `omitted` passages were not in its prompt."""

    asked: Asked
    omitted: int = 0
    stop: tuple[str, ...] = ()
    price: Price | None = None
    logprobs: bool = False

    def replies(self, received: Received, most: int) -> list[Reply | ModelError]:
        """The first `most` choices; one without usable text is a `ModelError` in its place."""
        choices = received.choices[:most]
        shares = _shares(received.tokens or self._estimate(choices), len(choices))
        return [
            self._reply(choice, tokens, received.model or self.asked.model)
            for choice, tokens in zip(choices, shares, strict=True)
        ]

    def _estimate(self, choices: Sequence[Choice]) -> Tokens:
        written = sum(estimate_tokens(choice.text) for choice in choices)
        return Tokens(estimate_tokens(self.asked.prompt), written)

    def _reply(self, choice: Choice, tokens: Tokens, model: str) -> Reply | ModelError:
        plain = without_thinking(choice.text)
        text, finish = _before(self.stop, plain) or choice.refusal, _finish(choice)
        if not text.strip() and finish == "length":
            return ModelError(self.asked.describe("was cut off before its first word. Set a larger max_tokens."))
        if not text.strip() and finish == "stop" and (choice.thought or plain != choice.text):
            return ModelError(
                self.asked.describe("thought, but wrote no answer. Set a larger max_tokens, or turn thinking off.")
            )
        return Reply(
            text,
            tokens=tokens,
            usd=self.price.of(tokens) if self.price else None,
            omitted=self.omitted,
            finish=finish,
            logprobs=_of_text(choice.logprobs, text, self.stop) if self.logprobs else None,
            model=model,
        )


def _finish(choice: Choice) -> Finish:
    if choice.finish == "content_filter" or choice.refusal:
        return "refused"
    return "length" if choice.finish == "length" else "stop"


def _before(stops: Iterable[str], text: str) -> str:
    """Some servers ignore stop sequences."""
    ends = [at for stop in stops if stop and (at := text.find(stop)) >= 0]
    return text[: min(ends, default=len(text))]


def _shares(tokens: Tokens, count: int) -> list[Tokens]:
    each, rest = divmod(tokens.output, count)
    return [Tokens(0 if i else tokens.input, each + (0 if i else rest)) for i in range(count)]


def _of_text(logprobs: Sequence[TokenLogprob], text: str, stops: Iterable[str]) -> tuple[TokenLogprob, ...] | None:
    """The tokens of the text, without thinking and stop sequence; None if there are none."""
    joined = "".join(entry.token for entry in logprobs)
    at = 0 if without_thinking(joined) == joined else max(0, joined.rfind(text.strip()))
    end = at + len(_before(stops, joined[at:]))
    starts = accumulate((len(entry.token) for entry in logprobs), initial=0)
    kept = (e for e, start in zip(logprobs, starts, strict=False) if start < end and start + len(e.token) > at)
    return tuple(kept) or None
