"""Reads replies of a server leniently, whole or in pieces, on both routes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from toulmin.data import Tokens
from toulmin.prompts.replies import TokenLogprob

_ENDS = re.compile(r"[.!?。！？}\n]")  # of sentences, and of objects in JSON: a reply so far is heard then
SYSTEM = "system"  # the role that some models do not have
SCHEMA = "response_format"  # the field that holds a server to a schema
MOST_CHARACTERS = 1_000_000  # of one reply, thinking included


def without_system(messages: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Joins the system message to the next, for models without this role."""
    first, *rest = messages
    if first["role"] != SYSTEM or not rest:
        return list(messages)
    return [{"role": rest[0]["role"], "content": f"{first['content']}\n\n{rest[0]['content']}"}, *rest[1:]]


class MalformedReply(ValueError):
    """Not a reply of either route; another try may succeed."""


class Broken(Exception):
    """The server ended the reply with the error in the argument."""


class TooLarge(Exception):
    """The reply is longer than any answer can be."""


class ReplyBuilder:
    """Collects a reply. `tokens` is None unless the server counts them; `cut` are earlier tries.

    `finish` is the server's word, None until it comes. `hear` gets the text so far.
    """

    def __init__(self, hear: Callable[[str], object] | None = None) -> None:
        self._hear = hear
        self.cut: Sequence[ReplyBuilder] = ()
        self.tokens: Tokens | None = None
        self.model = ""
        self.finish: str | None = None
        self.has_begun = False
        self.logprobs: list[TokenLogprob] = []
        self._texts, self._refusals, self._thoughts = list[str](), list[str](), list[str]()
        self._characters = 0

    @property
    def text(self) -> str:
        return "".join(self._texts)

    @property
    def thinking(self) -> str:
        return "".join(self._thoughts)

    @property
    def refusal(self) -> str:
        return "".join(self._refusals)

    @property
    def is_complete(self) -> bool:
        return self.finish is not None

    def add(self, event: Any) -> None:
        """Raises `MalformedReply`, `Broken` or `TooLarge`."""
        if isinstance(event, Mapping) and event.get("error"):
            raise Broken(event["error"])
        choices = (event.get("choices") or []) if isinstance(event, Mapping) else None
        if not isinstance(choices, list):
            raise MalformedReply("no JSON object with choices")
        self.model = str(event.get("model") or self.model)
        self.tokens = _tokens(event.get("usage")) or self.tokens
        for choice in choices:
            if not isinstance(choice, Mapping):
                raise MalformedReply("a choice that is no JSON object")
            if choice.get("index") in (0, None):  # one is asked for
                self._add_choice(choice)

    def add_whole(self, body: Any) -> None:
        """Adds a complete reply; raises as `add`."""
        self.add(body)
        self.finish = self.finish or ("stop" if self.has_begun else None)

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        message = choice.get("delta") or choice.get("message") or {}
        if not isinstance(message, Mapping):
            raise MalformedReply("a message that is no JSON object")
        text = _text(message.get("content")) + _text(choice.get("text"))
        refusal = _text(message.get("refusal"))
        thought = str(message.get("reasoning_content") or message.get("reasoning") or "")
        self.has_begun = True
        self._characters += len(text) + len(refusal) + len(thought)
        if self._characters > MOST_CHARACTERS:
            raise TooLarge
        self._texts.append(text)
        if self._hear and _ENDS.search(text):
            self._hear(self.text)
        self._refusals.append(refusal)
        self._thoughts.append(thought)
        self.logprobs.extend(_logprobs(choice.get("logprobs")))
        ended = choice.get("finish_reason")
        self.finish = self.finish if ended is None else str(ended)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    if content is None or isinstance(content, str):
        return content or ""
    raise MalformedReply("a content that is no text")


def _tokens(usage: Any) -> Tokens | None:
    if not isinstance(usage, Mapping):
        return None
    inside, outside = usage.get("prompt_tokens"), usage.get("completion_tokens", 0)
    if not isinstance(inside, int) or not isinstance(outside, int) or min(inside, outside) < 0:
        return None
    return Tokens(inside, outside)


def _logprobs(record: Any) -> Iterator[TokenLogprob]:
    """Reads chat's objects and the parallel lists of completions; some servers mix them."""
    if not isinstance(record, Mapping):
        return
    for entry in _as_list(record.get("content")):
        if isinstance(entry, Mapping) and _is_number(entry.get("logprob")):
            others = [other for other in _as_list(entry.get("top_logprobs")) if isinstance(other, Mapping)]
            top = [(other.get("token"), other.get("logprob")) for other in others]
            yield TokenLogprob(str(entry.get("token")), float(entry["logprob"]), _rank(top))
    tops = iter(_as_list(record.get("top_logprobs")))
    for token, value in zip(_as_list(record.get("tokens")), _as_list(record.get("token_logprobs")), strict=False):
        top_of = next(tops, None)
        # The first token of an echoed prompt has no value.
        number = float(value) if _is_number(value) else 0.0
        yield TokenLogprob(str(token), number, _rank(top_of.items() if isinstance(top_of, Mapping) else ()))


def _rank(pairs: Iterable[tuple[Any, Any]]) -> tuple[tuple[str, float], ...]:
    scores = [(str(token), float(value)) for token, value in pairs if _is_number(value)]
    return tuple(sorted(scores, key=lambda pair: -pair[1]))


def _as_list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
