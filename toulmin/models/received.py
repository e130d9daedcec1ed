"""Reads replies of a server leniently, whole or in pieces, on both routes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toulmin.data import Tokens
from toulmin.prompts.replies import TokenLogprob

SYSTEM = "system"  # the role that some models do not have
SCHEMA = "response_format"  # the field that holds a server to a schema
MOST_CHARACTERS = 1_000_000  # of all choices of one reply together, thinking included


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


@dataclass(slots=True)
class Choice:
    """One sample. `finish` is the server's word, None until it comes."""

    parts: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    finish: str | None = None

    @property
    def text(self) -> str:
        return "".join(self.parts)

    @property
    def thinking(self) -> str:
        return "".join(self.thoughts)

    @property
    def refusal(self) -> str:
        return "".join(self.refusals)


class ReplyBuilder:
    """Collects choices by index. `tokens` is None unless the server counts them; `cut` are earlier tries."""

    def __init__(self) -> None:
        self.cut: Sequence[ReplyBuilder] = ()
        self.tokens: Tokens | None = None
        self.model = ""
        self._choices: dict[int, Choice] = {}
        self._characters = 0

    @property
    def choices(self) -> list[Choice]:
        return [self._choices[index] for index in sorted(self._choices)]

    @property
    def is_complete(self) -> bool:
        return bool(self._choices) and all(choice.finish is not None for choice in self._choices.values())

    def add(self, event: Any) -> None:
        """Raises `MalformedReply`, `Broken` or `TooLarge`."""
        if isinstance(event, Mapping) and event.get("error"):
            raise Broken(event["error"])
        choices = (event.get("choices") or []) if isinstance(event, Mapping) else None
        if not isinstance(choices, list):
            raise MalformedReply("no JSON object with choices")
        self.model = str(event.get("model") or self.model)
        self.tokens = _tokens(event.get("usage")) or self.tokens
        for position, choice in enumerate(choices):
            if not isinstance(choice, Mapping):
                raise MalformedReply("a choice that is no JSON object")
            index = choice.get("index", position)
            self._add_choice(self._choices.setdefault(index if isinstance(index, int) else position, Choice()), choice)

    def add_whole(self, body: Any) -> None:
        """Adds a complete reply; raises as `add`."""
        self.add(body)
        for choice in self._choices.values():
            choice.finish = choice.finish or "stop"

    def _add_choice(self, into: Choice, choice: Mapping[str, Any]) -> None:
        message = choice.get("delta") or choice.get("message") or {}
        if not isinstance(message, Mapping):
            raise MalformedReply("a message that is no JSON object")
        text = _text(message.get("content")) + _text(choice.get("text")) + _arguments(message.get("tool_calls"))
        refusal = _text(message.get("refusal"))
        thought = str(message.get("reasoning_content") or message.get("reasoning") or "")
        self._characters += len(text) + len(refusal) + len(thought)
        if self._characters > MOST_CHARACTERS:
            raise TooLarge
        into.parts.append(text)
        into.refusals.append(refusal)
        into.thoughts.append(thought)
        into.logprobs.extend(_logprobs(choice.get("logprobs")))
        ended = choice.get("finish_reason")
        into.finish = into.finish if ended is None else str(ended)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    if content is None or isinstance(content, str):
        return content or ""
    raise MalformedReply("a content that is no text")


def _arguments(calls: Any) -> str:
    """Of the first call of a tool."""
    first = calls[0] if isinstance(calls, list) and calls and isinstance(calls[0], Mapping) else {}
    function = first.get("function") if first.get("index", 0) == 0 else None
    return _text(function.get("arguments")) if isinstance(function, Mapping) else ""


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
