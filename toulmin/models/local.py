"""A transformers model in this process (`pip install 'toulmin[local]'`). Importing this module loads torch."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from toulmin.data import Tokens
from toulmin.errors import ModelError, ToulminError, missing_libraries
from toulmin.models.received import without_system
from toulmin.prompts.replies import Reply, usable
from toulmin.prompts.templates import RenderedPrompt, Templates
from toulmin.steps import Generate

try:
    from jinja2 import TemplateError
    from torch import OutOfMemoryError

    from toulmin.models.decoding import Decoding, Draw, controls_of, draw_replies, encode_prompts, load_language_model
    from toulmin.runtime.torch_models import break_up, check, window_of
except ImportError as absent:
    raise missing_libraries("A local model", absent, "local") from absent

Result = Reply | ToulminError

MAX_TOKENS = 1024  # of a reply, or a quarter of a small window
RESAMPLING = 0.7
_RENDERINGS = 3  # attempts to fit a prompt: the chat template adds tokens of its own


class _Job(NamedTuple):
    text: str
    draw: Draw
    omitted: int


class Local:
    """The model in the folder `path`, or of that name on the Hugging Face hub.

    Only `download=True` fetches anything; code that comes with a model is never run. `device` is "auto" (the first
    GPU, else the CPU) or torch's name of one; `precision` is "auto" (as saved) or one of `PRECISIONS`.

    `batch` prompts are answered at once; a reply does not depend on its neighbours, up to rounding. `window` is the
    size of prompt and reply in tokens (None: the model's own); a prompt that is too long loses passages from its
    end. Randomness comes from `seed`, the request's `role` and `sample`, and the prompt. Where no temperature is set
    and the model's own is 0, samples other than 0 are drawn at `RESAMPLING`. `thinking` turns thinking on or off where
    the template allows it; it never appears in the text, but counts towards tokens and `max_tokens`.

    Raises `UsageError` for a setting out of range and `ModelError` for what is not a model.
    """

    concurrency = 1  # calls at once; each takes `batch` requests

    def __init__(
        self,
        path: str | os.PathLike[str],
        templates: Templates | None = None,
        *,
        batch: int = 8,
        device: str = "auto",
        precision: str = "auto",
        window: int | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
        top_p: float | None = None,
        seed: int = 0,
        thinking: bool | None = None,
        download: bool = False,
    ) -> None:
        check("batch", batch, batch >= 1, "at least 1")
        check("temperature", temperature, temperature is None or temperature >= 0, "0 or more")
        check("top_p", top_p, top_p is None or 0 < top_p <= 1, "above 0 and at most 1")
        check("max_tokens", max_tokens, max_tokens is None or max_tokens >= 1, "at least 1")
        self.batch = batch
        self.name = f"local:{Path(path).resolve().name}"
        self._templates = templates or Templates.default()
        self._seed = seed
        self._chat_options = {} if thinking is None else {"enable_thinking": thinking}
        self._model, self._tokenizer, identity = load_language_model(path, device, precision, download)
        self._controls = controls_of(self._tokenizer)
        self._window = window_of(self._model, self._tokenizer, window)
        self._max_tokens = max_tokens or (MAX_TOKENS if self._window is None else min(MAX_TOKENS, self._window // 4))
        holds = self._max_tokens >= 1 and (self._window is None or self._max_tokens < self._window)
        check("max_tokens", max_tokens, holds, f"at least 1 and less than the model's window of {self._window} tokens")
        defaults = self._model.generation_config
        self._temperature = temperature
        self._first_temperature = (defaults.temperature or 1.0) * bool(defaults.do_sample)
        self._top_p = top_p or defaults.top_p or 1.0
        self._top_k = defaults.top_k or 0
        self._stop = tuple(defaults.stop_strings or ())
        self._identity = [identity, str(self._model.device.type), str(self._model.dtype)]
        self._is_closed = False
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="local-model")

    async def generate(self, requests: Sequence[Generate]) -> list[Result]:
        """One reply or error for each request, in order. Cancelling stops it after the current token."""
        if self._is_closed:
            raise ModelError(f"{self.name} was closed; make another one.")
        cancelled = Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, self._replies, requests, cancelled)
        finally:
            cancelled.set()

    def key(self, request: Generate) -> str:
        """Everything that determines a reply, as JSON: for a cache."""
        messages = [[m.role, m.content] for m in self._templates.render(request.prompt).messages]
        draw = self._draw(request, "")
        drawn_by = [getattr(draw, name) for name in draw.__slots__]
        prompt = [self._templates.version, messages, self._window, self._chat_options]
        return json.dumps([self._identity, prompt, drawn_by, request.sample])

    async def aclose(self) -> None:
        self._is_closed = True
        self._worker.shutdown(wait=False, cancel_futures=True)

    # -------------------------------------------------------------- in the worker's thread

    def _replies(self, requests: Sequence[Generate], cancelled: Event) -> list[Result]:
        results: list[Result] = []
        for start in range(0, len(requests), self.batch):
            results += self._batch(requests[start : start + self.batch], cancelled)
        return results

    def _batch(self, requests: Sequence[Generate], cancelled: Event) -> list[Result]:
        jobs = [self._prepare(request) for request in requests]
        able = [job for job in jobs if isinstance(job, _Job)]
        try:
            done = draw_replies(self._model, self._tokenizer, [a.text for a in able], [a.draw for a in able], cancelled)
        except OutOfMemoryError as error:
            raise ModelError(
                f"The memory of {self._model.device} does not hold {len(able)} prompts at once for {self.name}; set a"
                " smaller batch, window or max_tokens."
            ) from error
        replies = iter([self._reply(job, reply) for job, reply in zip(able, done, strict=True)])
        return [next(replies) if isinstance(job, _Job) else job for job in jobs]

    def _prepare(self, request: Generate) -> _Job | ToulminError:
        try:
            draw = self._draw(request, "")
            rendered = self._render(request, draw.max_tokens)
        except ToulminError as error:
            return error
        text = self._text(rendered)
        return _Job(text, self._draw(request, text), rendered.omitted)

    def _draw(self, request: Generate, prompt: str) -> Draw:
        temperature = self._temperature if request.temperature is None else request.temperature
        if temperature is None:
            temperature = self._first_temperature or RESAMPLING * bool(request.sample)
        chance = hashlib.sha256(
            f"{self._seed} {request.role} {request.sample} {prompt}".encode("utf-8", "replace")
        ).digest()
        return Draw(
            seed=int.from_bytes(chance[:7]),
            max_tokens=request.max_tokens or self._max_tokens,
            temperature=temperature,
            top_p=self._top_p,
            top_k=self._top_k,
            stop=tuple(stop for stop in (*request.stop, *self._stop) if stop),
            logprobs=request.logprobs,
        )

    def _reply(self, job: _Job, reply: Decoding) -> Result:
        tokens = Tokens(reply.prompt_tokens, reply.tokens)
        whole = Reply(reply.text, None, tokens, None, job.omitted, reply.finish, reply.logprobs, self.name)
        return usable(whole, reply.thought, lambda what: f"{self.name} {what}")

    # -------------------------------------------------------------- the prompt

    def _render(self, request: Generate, max_tokens: int) -> RenderedPrompt:
        """With as many passages as fit; raises `ModelError` if not even one does."""
        if self._window is None:
            return self._templates.render(request.prompt)
        room = left = self._window - max_tokens
        for _ in range(_RENDERINGS):
            rendered = self._templates.render(request.prompt, max(1, left), self._count)
            over = self._count(self._text(rendered)) - room
            if over <= 0:
                return rendered
            left -= over  # what this model's chat template adds
        raise ModelError(
            f"{self.name} holds {self._window} tokens, {max_tokens} of them for its reply, but the prompt takes"
            f" {room + over}; set a smaller max_tokens, or ask with shorter passages."
        )

    def _count(self, text: str) -> int:
        return len(encode_prompts(self._tokenizer, [text])["input_ids"][0])

    def _text(self, rendered: RenderedPrompt) -> str:
        """The messages in the chat template, joined if there is none. Control tokens that a document spells out are
        broken up.
        """
        # A control token of a document would end our message; the templates only know the common ones.
        if self._tokenizer.chat_template is None:
            return self._controls.sub(break_up, rendered.text)
        turns = [{"role": m.role, "content": self._controls.sub(break_up, m.content)} for m in rendered.messages]
        try:
            return self._chat(turns)
        except TemplateError:  # some know no system message
            return self._chat(without_system(turns))

    def _chat(self, turns: Sequence[Mapping[str, str]]) -> str:
        options: dict[str, Any] = {"add_generation_prompt": True, "tokenize": False, **self._chat_options}
        return str(self._tokenizer.apply_chat_template(turns, **options))
