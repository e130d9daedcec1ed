"""Language models on OpenAI-compatible servers.

* A failed request is a `ModelError` in its place and affects no other.
* A `sample` other than 0 has its own seed, and the temperature `RESAMPLING` unless one is set.
* Fields of `_SPARED` that the server rejects by name are left out from then on. JSON of a schema is requested by
  `response_format`, then by words.
* A text never contains thinking. A reply of thinking alone, or cut off before its first word, is an error.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from toulmin.data import Tokens
from toulmin.errors import BudgetEnded, ModelError
from toulmin.models.received import SCHEMA, SYSTEM, ReplyBuilder, without_system
from toulmin.models.server import RESAMPLING, Price, Server
from toulmin.parsing.wrapping import without_thinking
from toulmin.prompts import replies
from toulmin.prompts.replies import EmptyReply, Finish, Form, Reply, Result, TokenLogprob
from toulmin.prompts.templates import RenderedPrompt, Templates, estimate_tokens
from toulmin.steps import Generate

if TYPE_CHECKING:
    from toulmin.models.client import Client
    from toulmin.models.failures import FailureContext, TooLong


# ---------------------------------------------------------------- from what a server sends to replies


class Reading(NamedTuple):
    asked: FailureContext
    omitted: int = 0
    stop: tuple[str, ...] = ()
    price: Price | None = None
    logprobs: bool = False
    form: Form = "text"

    def reply(self, received: ReplyBuilder) -> Result:
        """Without usable text, an `EmptyReply`."""
        plain = without_thinking(received.text)
        text, finish = replies.before_stop(self.stop, plain) or received.refusal, _finish(received)
        tokens = self.cost_of((received, *received.cut))
        reply = Reply(
            text,
            tokens=tokens,
            usd=self.price.of(tokens) if self.price else None,
            omitted=self.omitted,
            finish=finish,
            logprobs=_of_text(received.logprobs, text, self.stop) if self.logprobs else None,
            model=received.model or self.asked.model,
            form=self.form,
        )
        return replies.usable(reply, bool(received.thinking) or plain != received.text, self.asked.describe)

    def cost_of(self, tries: Sequence[ReplyBuilder]) -> Tokens:
        """Of all tries that brought a word, counted by the server or estimated."""
        counts = (each.tokens or self._estimate(each) for each in tries if each.has_begun)
        return sum(counts, Tokens())

    def _estimate(self, received: ReplyBuilder) -> Tokens:
        written = estimate_tokens(received.text) + estimate_tokens(received.thinking)
        return Tokens(estimate_tokens(self.asked.prompt), written)


def _finish(received: ReplyBuilder) -> Finish:
    if received.refusal:
        return "refused"
    if received.finish == "content_filter":
        return "filtered"
    return "length" if received.finish == "length" else "stop"


def _of_text(logprobs: Sequence[TokenLogprob], text: str, stops: Iterable[str]) -> tuple[TokenLogprob, ...] | None:
    """The tokens of the text, without thinking and stop sequence."""
    joined = "".join(entry.token for entry in logprobs)
    at = 0 if without_thinking(joined) == joined else max(0, joined.rfind(text.strip()))
    return replies.tokens_between(logprobs, at, at + len(replies.before_stop(stops, joined[at:]))) or None


# ---------------------------------------------------------------- remote


REPLY = 1024  # tokens of a known window that are reserved for a reply, if no limit is set
_RENDERINGS = 4  # of one prompt, each shorter than the last, while the server calls it too long
_SMALLER = 0.8
_NAMED = 3  # models that an error names
_LIMITS = ("max_completion_tokens", "max_tokens")
# Without these the server's own temperature or seed applies, and stop sequences are applied here.
_SPARED = frozenset({"stream_options", "temperature", "top_p", "seed", "stop", "logprobs", "top_logprobs", *_LIMITS})


class Chat:
    """A model on `/chat/completions`; a server that rejects one name of the token limit gets the other."""

    provider = "openai"  # whose interface it is, as traces name it
    _route = "/chat/completions"
    _limit = _LIMITS[0]  # on OpenAI's own server
    _ends: tuple[str, ...] = ()
    _can_be_held = True  # to a schema
    _first_temperature: float | None = None  # of a first draw, where none is set

    def __init__(
        self,
        model: str,
        server: Server | None = None,
        templates: Templates | None = None,
        prices: Mapping[str, Price] | None = None,
    ) -> None:
        self.name = model
        self._server = server or Server()
        self._templates = templates or Templates.default()
        self._price = (prices or {}).get(model)
        self._clients: dict[asyncio.AbstractEventLoop, Client] = {}
        self._left_out: frozenset[str] = frozenset()

    @property
    def concurrency(self) -> int:
        return self._server.concurrency

    @property
    def host(self) -> str:
        return self._server.host

    async def generate(self, requests: Sequence[Generate]) -> list[Result]:
        """One reply or error for each request, in order, with counted or estimated tokens."""
        return await asyncio.gather(*map(self._result, requests))

    def key(self, request: Generate) -> str:
        """Everything that determines a reply, as JSON, without the server's key."""
        draw = self._with_temperature(request)
        body = self._body(self._render(request, self._room(request)), draw, left_out=frozenset())
        for how in ("stream", "stream_options"):
            body.pop(how, None)
        asked = {"server": self._server.base_url, "route": self._route, "templates": self._templates.version}
        drawn = {"role": request.role, "sample": request.sample, "body": body}
        return json.dumps(asked | drawn, sort_keys=True, default=str)

    def seed_of(self, request: Generate) -> int | None:
        """The first draw of the main model has the configured seed; other samples and roles are independent of it."""
        seed = self._server.seed
        if request.sample == 0 and (seed is None or request.role == "main"):
            return seed
        digest = hashlib.sha256(f"{seed} {request.role} {request.sample}".encode()).digest()
        return int.from_bytes(digest[:4]) >> 1  # some servers keep 32 bits and a sign

    async def models(self) -> tuple[str, ...]:
        """The models that the server lists; raises `ModelError`."""
        return await self._client().models()

    async def aclose(self) -> None:
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    def check_key(self) -> None:
        """Raises `ModelError` if the server needs a key and has none."""
        from toulmin.models.failures import FailureContext

        FailureContext(self._server, self.name, "").check_key()

    def _client(self) -> Client:
        from toulmin.models.client import Client

        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients = {known: client for known, client in self._clients.items() if not known.is_closed()}
            self._clients[loop] = Client(self._server)
        return self._clients[loop]

    def _with_temperature(self, request: Generate) -> Generate:
        temperature = self._server.temperature if request.temperature is None else request.temperature
        if temperature is None:
            temperature = RESAMPLING if request.sample else self._first_temperature
        return replace(request, temperature=temperature)

    # -------------------------------------------------------------- one request

    async def _result(self, request: Generate) -> Result:
        await self._client().turn()
        try:
            return await self._ask(self._with_temperature(request))
        except (EmptyReply, BudgetEnded) as error:
            return error
        except ModelError as error:
            return ModelError(str(error))

    async def _ask(self, request: Generate) -> Result:
        """Shortens the prompt while the server calls it too long."""
        from toulmin.models.failures import NoSuchModel, TooLong

        room = self._room(request)
        for left in reversed(range(_RENDERINGS)):
            rendered = self._render(request, room)
            try:
                received, asked = await self._send(rendered, request)
            except NoSuchModel as error:
                raise ModelError(f"{error} {await self._suggest_models()}") from None
            except TooLong as error:
                room = self._smaller(error, rendered, request)
                if not left or room < 1:
                    raise
            else:
                wants_logprobs = request.logprobs is not None
                form: Form = "schema" if self._held(rendered, self._left_out) else "text"
                reading = Reading(asked, rendered.omitted, self._stops(request), self._price, wants_logprobs, form)
                return reading.reply(received)
        raise AssertionError("the last rendering returns or raises")

    async def _send(self, rendered: RenderedPrompt, request: Generate) -> tuple[ReplyBuilder, FailureContext]:
        """Leaves out rejected fields, so the body shrinks with each try."""
        from toulmin.models.failures import Failure, FailureContext, FieldRejection

        while True:
            body = self._body(rendered, request, self._left_out)
            asked = FailureContext(self._server, self.name, rendered.text, self._sparable(body), request.tries)
            try:
                return await self._client().ask(self._route, body, asked), asked
            except FieldRejection as error:
                self._left_out |= error.names
            except Failure as error:
                if not any(each.has_begun for each in error.cut):
                    raise
                tokens = Reading(asked).cost_of(error.cut)
                usd = self._price.of(tokens) if self._price else None
                raise EmptyReply(str(error), Reply("", tokens=tokens, usd=usd)) from None

    def _sparable(self, body: Mapping[str, Any]) -> frozenset[str]:
        has_system = any(message["role"] == SYSTEM for message in body.get("messages", ()))
        sparable = (_SPARED | {SCHEMA}) & body.keys()
        return frozenset(sparable) - self._server.extra.keys() | ({SYSTEM} if has_system else set())

    async def _suggest_models(self) -> str:
        with suppress(ModelError):
            listed = await self.models()
            near = get_close_matches(self.name, listed, n=_NAMED) or sorted(listed)[:_NAMED]
            return f"It has {', '.join(near)}." if near else "It lists no model."
        return "Is the base_url right?"

    # -------------------------------------------------------------- the body

    def _body(self, rendered: RenderedPrompt, request: Generate, left_out: frozenset[str]) -> dict[str, Any]:
        server = self._server
        first = self._limit if server.is_openai else _LIMITS[1]
        limit = next((name for name in (first, *_LIMITS) if name not in left_out), None)
        wanted: dict[str, Any] = {
            "temperature": request.temperature,
            "top_p": server.top_p,
            "seed": self.seed_of(request),
            "stop": list(self._stops(request)) or None,
            "stream_options": {"include_usage": True} if server.stream else None,
            **self._logprobs(request),
        }
        if limit is not None:
            wanted[limit] = request.max_tokens or server.max_tokens
        sent = {name: value for name, value in wanted.items() if value is not None and name not in left_out}
        sent |= self._held(rendered, left_out)
        return {"model": self.name, "stream": server.stream, **self._prompt(rendered, left_out), **sent, **server.extra}

    def _stops(self, request: Generate) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._server.stop, *request.stop, *self._ends)))

    def _render(self, request: Generate, room: int | None) -> RenderedPrompt:
        held = self._can_be_held and self._server.structured and request.logprobs is None
        return self._templates.render(request.prompt, room, structured=held)

    def _held(self, rendered: RenderedPrompt, left_out: frozenset[str]) -> dict[str, Any]:
        """The field that holds the server to the prompt's schema. Where it is refused, the prompt's words remain."""
        if rendered.schema is None or SCHEMA in left_out:
            return {}
        named = {"name": "reply", "strict": True, "schema": rendered.schema}
        return {SCHEMA: {"type": "json_schema", "json_schema": named}}

    def _prompt(self, rendered: RenderedPrompt, left_out: frozenset[str]) -> dict[str, Any]:
        messages = [{"role": message.role, "content": message.content} for message in rendered.messages]
        return {"messages": without_system(messages) if SYSTEM in left_out else messages}

    def _logprobs(self, request: Generate) -> dict[str, Any]:
        return {} if request.logprobs is None else {"logprobs": True, "top_logprobs": request.logprobs}

    # -------------------------------------------------------------- the window

    def _room(self, request: Generate) -> int | None:
        """Ignores windows that the server reports: prompts must not depend on the order of questions."""
        window = self._server.window
        return None if window is None else max(1, window - self._reply_room(request, min(REPLY, window // 4)))

    def _reply_room(self, request: Generate, otherwise: int) -> int:
        return request.max_tokens or self._server.max_tokens or otherwise

    def _smaller(self, error: TooLong, rendered: RenderedPrompt, request: Generate) -> int:
        size = estimate_tokens(rendered.text)
        if error.limit is not None:
            room = error.limit - self._reply_room(request, min(REPLY, error.limit // 4))
            if room < size:
                return room
        return int(_SMALLER * size)


class Completions(Chat):
    """A model on `/completions`, which continues the joined messages."""

    _route = "/completions"
    _limit = _LIMITS[1]
    _ends = ("\n\n\nQuestion:",)
    _can_be_held = False

    def _prompt(self, rendered: RenderedPrompt, left_out: frozenset[str]) -> dict[str, Any]:
        return {"prompt": rendered.text}

    def _logprobs(self, request: Generate) -> dict[str, Any]:
        return {"logprobs": request.logprobs}
