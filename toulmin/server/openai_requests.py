"""Requests of OpenAI's clients.

Rules of this file
* A parameter is done, or has no effect by its meaning, or is refused by its name: none is passed over in silence.
* A system message sets the length and the form of an answer. It never changes what is quoted or judged.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from toulmin.data import Answer
from toulmin.errors import UsageError
from toulmin.formats import answer_json
from toulmin.prompts.templates import estimate_tokens
from toulmin.server.requests import MOST_TURNS, Amount, EarlierTurn, Words

RESPONSE = "resp_"  # before the id of an answer, in that of a response
# How to sample, to bill, to cache or to call tools if a model does: nothing that is quoted depends on them.
NO_EFFECT = """temperature top_p frequency_penalty presence_penalty seed prediction reasoning reasoning_effort user
    metadata store service_tier safety_identifier prompt_cache_key prompt_cache_options prompt_cache_retention
    tools functions parallel_tool_calls max_tool_calls""".split()
# Values that ask for nothing. Any other value is refused, and so is a parameter that this file does not name.
HARMLESS: dict[str, list[Any]] = {"n": [1], "logprobs": [False], "top_logprobs": [0], "logit_bias": [{}]}
HARMLESS |= {"tool_choice": ["auto", "none"], "function_call": ["auto", "none"], "truncation": ["auto", "disabled"]}
HARMLESS |= {"modalities": [["text"]], "include": [[], ["reasoning.encrypted_content"]], "background": [False]}
_NUMBERS = dict(zip("one two three four five".split(), range(1, 6), strict=True)) | {"a single": 1}
_SENTENCES = re.compile(
    r"(?i)\b(?:in|within|only|exactly|(?:at|the) most|no more than|up to|max(?:imum)?(?: of)?|limit(?:ed)? to)"
    rf" (?:\w+ ?(?:or|to|-|–) ?)?({'|'.join(_NUMBERS)}|[1-9]\d?)(?: \w+)? sentences?\b"
)
_ORDER = r"(?<!not )(?<!n't )(?<!never )\b(?:be|keep|answer|reply|respond|write|format|return|give)\b"
_IS_BRIEF = re.compile(rf"{_ORDER}(?: \w+){{0,3}} (?:brief|concise|short|succinct)(?:ly)?\b", re.IGNORECASE)
_IS_LIST = re.compile(rf"{_ORDER}(?: \w+){{0,4}} (?:as|in|with) (?:an? )?(?:[\w-]+ )?list\b", re.IGNORECASE)


class ParameterRefused(UsageError):
    """A parameter that is not done, by its name."""

    http_status = 400

    def __init__(self, param: str, message: str) -> None:
        super().__init__(f"{param}: {message}")
        self.param = param


class Message(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"] | None = None
    content: str | list[dict[str, Any]] | None = None
    type: str = "message"
    id: str | None = None

    @property
    def text(self) -> str:
        parts = [{"text": self.content}] if isinstance(self.content, str) else self.content or []
        return str(answer_json.plain("\n".join(str(part.get("text") or part.get("refusal") or "") for part in parts)))

    def check(self, place: str) -> None:
        """Raises `ParameterRefused` for what is no text."""
        if self.role in ("tool", "function") or (self.role is None and self.type != "item_reference"):
            raise ParameterRefused(place, f"only questions and answers are read, no {self.role or self.type!r}.")
        for n, part in enumerate(self.content if isinstance(self.content, list) else ()):
            if part.get("type") not in ("text", "input_text", "output_text", "refusal"):
                raise ParameterRefused(f"{place}.content.{n}", f"only text is read, no {part.get('type')!r}.")


class Inquiry(NamedTuple):
    """What a request asks for; `followed` is what is followed of its system messages, None without any."""

    question: str
    history: list[EarlierTurn]
    tokens: int | None
    stop: tuple[str, ...]
    is_json: bool
    followed: dict[str, Any] | None

    def kept(self, answer: Answer) -> tuple[int, str]:
        """How many claims are before the limit, and OpenAI's word for the end; the first may exceed `tokens`."""
        text, most = answer.rendering.text, (self.followed or {}).get("sentences")
        for n, (_, end) in enumerate(answer.rendering.spans):
            if n == most or any(stop in text[:end] for stop in self.stop):
                return n, "stop"
            if n and self.tokens and estimate_tokens(text[:end]) > self.tokens:
                return n, "length"
        return len(answer.claims), "stop"


class OpenAIRequest(BaseModel):
    """`model` is a method."""

    model_config = ConfigDict(extra="allow")
    model: str = "best"
    rewrite: StrictBool = True
    stream: StrictBool = False
    stream_options: dict[str, Any] | None = None

    def refuse_others(self) -> None:
        """Raises `ParameterRefused` for a parameter that is not done."""
        for name, value in (self.model_extra or {}).items():
            if value is not None and name not in NO_EFFECT and value not in HARMLESS.get(name, ()):
                done = f"only {HARMLESS[name]} is" if name in HARMLESS else "it is not"
                raise ParameterRefused(name, f"{done} done here.")


class ChatCompletion(OpenAIRequest):
    messages: Annotated[list[Message], Field(min_length=1, max_length=MOST_TURNS)]
    max_tokens: Amount | None = None
    max_completion_tokens: Amount | None = None
    stop: Words | Annotated[list[Words], Field(max_length=4)] | None = None
    response_format: dict[str, Any] | None = None
    verbosity: str | None = None

    def inquiry(self, messages: str = "messages", form: str = "response_format") -> Inquiry:
        """Raises `ParameterRefused` for what is not done; the arguments are the names of its parameters."""
        self.refuse_others()
        for n, message in enumerate(self.messages):
            message.check(f"{messages}.{n}")
        kind = (self.response_format or {}).get("type", "text")
        if kind not in ("text", "json_object"):
            raise ParameterRefused(form, f"only text and json_object (the Answer document) are done, not {kind!r}.")
        orders = [message.text for message in self.messages if message.role in ("system", "developer")]
        orders += ["Be brief."] if self.verbosity == "low" else []
        tokens = min(filter(None, (self.max_tokens, self.max_completion_tokens)), default=None)
        stop = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())
        followed = _followed(orders) if orders else None
        return Inquiry(*_conversation(self.messages), tokens, stop, kind == "json_object", followed)


class TextOptions(BaseModel):
    format: dict[str, Any] | None = None
    verbosity: str | None = None


class Response(OpenAIRequest):
    input: Words | Annotated[list[Message], Field(min_length=1, max_length=MOST_TURNS)]
    instructions: str | None = None
    previous_response_id: str | None = None
    max_output_tokens: Amount | None = None
    text: TextOptions = TextOptions()
    store: StrictBool | None = None

    def inquiry(self) -> Inquiry:
        self.refuse_others()
        orders = [Message(role="system", content=self.instructions)] if self.instructions else []
        asked = [Message(role="user", content=self.input)] if isinstance(self.input, str) else self.input
        options: dict[str, Any] = {"response_format": self.text.format, "verbosity": self.text.verbosity}
        options |= {"messages": [*asked, *orders], "max_tokens": self.max_output_tokens}
        return ChatCompletion.model_construct(**options).inquiry("input", "text.format")


def _followed(messages: list[str]) -> dict[str, Any]:
    """The form and the most sentences that system messages order."""
    orders = "\n".join(messages)
    most = [int(_NUMBERS.get(word.lower(), word)) for word in _SENTENCES.findall(orders)]
    most += [3] if _IS_BRIEF.search(orders) else []
    form: dict[str, Any] = {"style": "list"} if _IS_LIST.search(orders) else {}
    return {**form, "sentences": min(most)} if most else form


def _conversation(messages: list[Message]) -> tuple[str, list[EarlierTurn]]:
    """The last user message with text, and the turns before it; raises `UsageError` without one."""
    turns: list[EarlierTurn] = []
    for message in messages:
        if message.role == "user" and message.text.strip():
            turns.append(EarlierTurn.model_construct(question=message.text, answer=""))
        elif turns and message.role in ("assistant", None):
            turns[-1].answer = message.text
            turns[-1].id = (message.id or "").removeprefix(f"msg_{RESPONSE}")
    if not turns:
        raise UsageError("The messages should contain a question, but no message of the role user has text.")
    return turns[-1].question, turns[:-1]
