"""A transformers model in this process (`pip install 'toulmin[local]'`). Importing this module loads torch."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from toulmin.data import Tokens
from toulmin.errors import ModelError, ToulminError, missing_libraries
from toulmin.models.received import without_system
from toulmin.models.server import RESAMPLING
from toulmin.parsing.wrapping import without_thinking
from toulmin.prompts.reflection import is_framing
from toulmin.prompts.replies import Finish, Reply, Result, TokenLogprob, before_stop, tokens_between, usable
from toulmin.prompts.templates import RenderedPrompt, Templates
from toulmin.steps import Generate
from toulmin.text.language import chunks

try:
    import torch
    import transformers
    from jinja2 import TemplateError

    from toulmin.runtime.torch_models import breaker_of, check, load_model, window_of
except ImportError as absent:
    raise missing_libraries("A local model", absent, "local") from absent

MAX_TOKENS = 1024  # of a reply, or a quarter of a small window
_RENDERINGS = 3  # attempts to fit a prompt: the chat template adds tokens of its own


# ---------------------------------------------------------------- decoding


LEAST = -9999.0  # stands for minus infinity, which JSON does not have
_THINKING = "<think>"


@dataclass(frozen=True, slots=True)
class Draw:
    """Temperature 0 takes the likeliest token; `top_k` 0 and `top_p` 1 do not restrict."""

    seed: int
    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    stop: tuple[str, ...] = ()
    logprobs: int | None = None


class Decoding(NamedTuple):
    """A reply up to its stop string, without its thinking; `thought`: it had some."""

    reply: Reply
    thought: bool


def draw_replies(
    model: Any, tokenizer: Any, prompts: Sequence[str], draws: Sequence[Draw], cancelled: Event
) -> list[Decoding]:
    """One reply for each prompt, in order; partial replies once `cancelled` is set."""
    if not prompts:
        return []
    rows = encode_prompts(tokenizer, prompts, padding=True, return_tensors="pt").to(model.device)
    width = rows["input_ids"].shape[1]
    chance = _Chance(draws, model.device)
    ends = _Ends(tokenizer, prompts, draws, width, _ending_tokens(model, tokenizer), cancelled)
    with torch.inference_mode():
        written = model.generate(
            input_ids=rows["input_ids"],
            attention_mask=rows["attention_mask"],
            tokenizer=tokenizer,  # needed for the model's own stop strings
            generation_config=_greedy(model, tokenizer, max(draw.max_tokens for draw in draws)),
            logits_processor=transformers.LogitsProcessorList([chance]),
            stopping_criteria=transformers.StoppingCriteriaList([ends]),
        )
    sizes = rows["attention_mask"].sum(dim=1).tolist()
    return [ends.reply_of_row(n, written[n, width:].tolist(), int(sizes[n]), chance) for n in range(len(draws))]


def encode_prompts(tokenizer: Any, prompts: Sequence[str], **options: Any) -> Any:
    """As tokens; a chat template writes the special ones."""
    return tokenizer(list(prompts), add_special_tokens=tokenizer.chat_template is None, **options)


def _greedy(model: Any, tokenizer: Any, max_tokens: int) -> Any:
    """The settings of the model (end tokens, penalties) without its sampling."""
    config = deepcopy(model.generation_config)
    # Neutral values: None would fall back to the model's own settings.
    config.update(do_sample=False, temperature=1.0, top_p=1.0, top_k=50, num_beams=1)
    config.update(max_new_tokens=max_tokens, max_length=None, pad_token_id=tokenizer.pad_token_id)
    return config


def _ending_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    eos = model.generation_config.eos_token_id
    named = eos if isinstance(eos, list) else [eos]
    candidates = (*named, tokenizer.eos_token_id, tokenizer.pad_token_id)  # a row that is padded has ended
    return frozenset(token for token in candidates if token is not None)


class _Chance(transformers.LogitsProcessor):
    """Adds noise to each row, so that the largest logit samples the softmax (Gumbel-max)."""

    def __init__(self, draws: Sequence[Draw], device: torch.device) -> None:
        self._draws = draws
        self._sources = [torch.Generator(device).manual_seed(draw.seed) for draw in draws]
        self._told: list[list[tuple[int, float, list[tuple[int, float]]]]] = [[] for _ in draws]

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        logits = scores.float()
        noisy = torch.stack([self._noisy(n, row) for n, row in enumerate(logits)])
        for n, draw in enumerate(self._draws):
            if draw.logprobs is not None:
                self._remember(n, logits[n], int(noisy[n].argmax()), draw.logprobs)
        return noisy  # type: ignore[return-value]

    def _noisy(self, n: int, logits: torch.Tensor) -> torch.Tensor:
        draw = self._draws[n]
        if draw.temperature <= 0:
            return logits
        scaled = _likeliest(logits / draw.temperature, draw.top_k, draw.top_p)
        return scaled - torch.empty_like(scaled).exponential_(generator=self._sources[n]).log()

    def _remember(self, n: int, logits: torch.Tensor, chosen: int, count: int) -> None:
        known = logits.log_softmax(dim=-1).clamp(min=LEAST)
        best = known.topk(min(count, known.shape[-1]))
        top = list(zip(best.indices.tolist(), best.values.tolist(), strict=True))
        self._told[n].append((chosen, float(known[chosen]), top))

    def logprobs_of(self, n: int, tokenizer: Any, count: int) -> tuple[TokenLogprob, ...] | None:
        """Of the first `count` tokens of a row; None if not requested."""
        if self._draws[n].logprobs is None:
            return None
        decode = tokenizer.decode
        return tuple(
            TokenLogprob(decode([token]), logprob, tuple((decode([other]), value) for other, value in top))
            for token, logprob, top in self._told[n][:count]
        )


def _likeliest(logits: torch.Tensor, top_k: int, top_p: float) -> torch.Tensor:
    if top_k <= 0 and top_p >= 1:
        return logits
    ordered, places = logits.sort(descending=True)
    if top_k > 0:
        ordered[top_k:] = -torch.inf
    if top_p < 1:
        mass = ordered.softmax(dim=-1)
        ordered[mass.cumsum(dim=-1) - mass >= top_p] = -torch.inf  # the token that crosses the limit stays
    return torch.empty_like(logits).scatter_(0, places, ordered)


class _Ends(transformers.StoppingCriteria):
    """Ends each row, and decodes it with the `<think>` that its prompt may end with."""

    def __init__(
        self,
        tokenizer: Any,
        prompts: Sequence[str],
        draws: Sequence[Draw],
        width: int,
        end_tokens: frozenset[int],
        cancelled: Event,
    ) -> None:
        self._tokenizer = tokenizer
        special = {id for id, token in tokenizer.added_tokens_decoder.items() if token.special}
        special |= set(tokenizer.all_special_ids)
        self._unseen = frozenset(id for id in special if not is_framing(tokenizer.decode([id])))
        self._leads = [_THINKING if prompt.rstrip().endswith(_THINKING) else "" for prompt in prompts]
        self._draws = draws
        self._width = width
        self._end_tokens = end_tokens
        self._cancelled = cancelled
        self._lengths = [0] * len(draws)
        self._finishes: list[Finish] = ["length"] * len(draws)
        self._done = [False] * len(draws)

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor, **_: Any) -> torch.BoolTensor:
        for n, token in enumerate(input_ids[:, -1].tolist()):
            if not self._done[n]:
                self._note(n, token, input_ids[n, self._width :])
        done = [is_done or self._cancelled.is_set() for is_done in self._done]
        return torch.tensor(done, device=input_ids.device)  # type: ignore[return-value]

    def _note(self, n: int, last: int, written: torch.Tensor) -> None:
        self._lengths[n] = len(written)
        if last in self._end_tokens or self._has_stopped(n, written):
            self._finishes[n] = "stop"
        self._done[n] = self._finishes[n] == "stop" or len(written) >= self._draws[n].max_tokens

    def _has_stopped(self, n: int, written: torch.Tensor) -> bool:
        stops = self._draws[n].stop
        if not stops:
            return False
        # A token is at least one byte, so a new stop string lies within the last `reach` tokens.
        reach = max(len(stop.encode("utf-8", "replace")) for stop in stops) + 3
        recent = self._decode(written[-reach:].tolist())
        if not any(stop in recent for stop in stops):
            return False
        answer = without_thinking(self._leads[n] + self._decode(written.tolist()))
        return any(stop in answer for stop in stops)

    def _decode(self, tokens: Sequence[int]) -> str:
        seen = [token for token in tokens if token not in self._unseen]
        return str(self._tokenizer.decode(seen, skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def reply_of_row(self, n: int, written: list[int], prompt_tokens: int, chance: _Chance) -> Decoding:
        length = self._lengths[n]
        tokens = written[:length]
        whole = self._leads[n] + self._decode(tokens)
        answer = without_thinking(whole)
        text = before_stop(self._draws[n].stop, answer)
        spoken = length - (1 if tokens and tokens[-1] in self._end_tokens else 0)
        logprobs = chance.logprobs_of(n, self._tokenizer, spoken)
        kept = None if logprobs is None else _of_text(logprobs, text)
        reply = Reply(text, tokens=Tokens(prompt_tokens, length), finish=self._finishes[n], logprobs=kept)
        return Decoding(reply, answer != whole)


def _of_text(logprobs: Sequence[TokenLogprob], text: str) -> tuple[TokenLogprob, ...]:
    """The tokens of the text; all if a token is part of a character."""
    at = "".join(entry.token for entry in logprobs).find(text)
    return tuple(logprobs) if at < 0 else tokens_between(logprobs, at, at + len(text))


# ---------------------------------------------------------------- the model


class _Job(NamedTuple):
    text: str
    draw: Draw
    omitted: int


class Local:
    """The model in the folder `path`, or of that name on the Hugging Face hub.

    Only `download=True` downloads; code of a model never runs. `device` is "auto" (the first GPU, else the CPU) or a
    device of torch; `precision` is "auto" (as saved) or one of `PRECISIONS`.

    `batch` prompts are answered at once and independently, up to rounding. `window` limits prompt and reply in tokens
    (None: the model's); a longer prompt loses passages from its end. Randomness comes from `seed`, `role`, `sample` and
    the prompt. If no temperature is set and the model's is 0, samples other than 0 are drawn at `RESAMPLING`.
    `thinking` needs a template that allows it; it counts towards `max_tokens`, but is not in the text.

    Raises `UsageError` for a setting out of range and `ModelError` for another kind of file.
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
        options: dict[str, Any] = {"device": device, "precision": precision, "download": download, "padding": "left"}
        kind = transformers.AutoModelForCausalLM
        self._model, self._tokenizer, identity = load_model(path, kind, "language model", **options)
        self._break_controls = breaker_of(self._tokenizer, is_framing)  # prompts write reflection tokens on purpose
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
        """One reply or error for each request, in order. Cancelling stops after the current token."""
        if self._is_closed:
            raise ModelError(f"{self.name} was closed; make another one.")
        cancelled = Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, self._replies, requests, cancelled)
        finally:
            cancelled.set()

    def key(self, request: Generate) -> str:
        """Everything that determines a reply, as JSON."""
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
        return [result for some in chunks(requests, self.batch) for result in self._batch(some, cancelled)]

    def _batch(self, requests: Sequence[Generate], cancelled: Event) -> list[Result]:
        jobs = [self._prepare(request) for request in requests]
        able = [job for job in jobs if isinstance(job, _Job)]
        try:
            done = draw_replies(self._model, self._tokenizer, [a.text for a in able], [a.draw for a in able], cancelled)
        except torch.OutOfMemoryError as error:
            raise ModelError(
                f"The memory of {self._model.device} does not hold {len(able)} prompts at once for {self.name}; set a"
                " smaller batch, window or max_tokens."
            ) from error
        replies = iter([self._reply(job, decoding) for job, decoding in zip(able, done, strict=True)])
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

    def _reply(self, job: _Job, decoding: Decoding) -> Result:
        reply = replace(decoding.reply, omitted=job.omitted, model=self.name)
        return usable(reply, decoding.thought, lambda what: f"{self.name} {what}")

    # -------------------------------------------------------------- the prompt

    def _render(self, request: Generate, max_tokens: int) -> RenderedPrompt:
        """With as many passages as fit; raises `ModelError` if none does."""
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
        """In the chat template, joined if there is none, with control tokens in documents broken up."""
        # A control token of a document would end our message; the templates only know the common ones.
        if self._tokenizer.chat_template is None:
            return self._break_controls(rendered.text)
        turns = [{"role": m.role, "content": self._break_controls(m.content)} for m in rendered.messages]
        try:
            return self._chat(turns)
        except TemplateError:  # some know no system message
            return self._chat(without_system(turns))

    def _chat(self, turns: Sequence[Mapping[str, str]]) -> str:
        options: dict[str, Any] = {"add_generation_prompt": True, "tokenize": False, **self._chat_options}
        return str(self._tokenizer.apply_chat_template(turns, **options))
