"""Draws replies from a transformers model, several at once.

* A reply depends only on its own prompt and `Draw`: every row has its own randomness, temperature, limit and stop
  strings.
* Adding noise to the logits and taking the largest (the Gumbel-max trick) samples the softmax exactly, so one
  greedy decoding serves rows of any temperature.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from threading import Event
from typing import Any

import torch
import transformers

from toulmin.parsing.wrapping import without_thinking
from toulmin.prompts.reflection import is_framing
from toulmin.prompts.replies import Finish, TokenLogprob, before_stop, tokens_between
from toulmin.runtime import torch_models
from toulmin.runtime.torch_models import LoadedModel

# ---------------------------------------------------------------- loads a model and its tokenizer


def load_language_model(path: str | os.PathLike[str], device: str, precision: str, download: bool) -> LoadedModel:
    options: dict[str, Any] = {"device": device, "precision": precision, "download": download, "padding": "left"}
    return torch_models.load_model(path, transformers.AutoModelForCausalLM, "language model", **options)


def controls_of(tokenizer: Any) -> re.Pattern[str]:
    """Matches texts that the tokenizer reads as control tokens, except reflection tokens, which prompts write on
    purpose.
    """
    return torch_models.controls_of(tokenizer, is_framing)


# ---------------------------------------------------------------- decoding


LEAST = -9999.0  # stands for minus infinity, which JSON does not have
_THINKING = "<think>"


@dataclass(frozen=True, slots=True)
class Draw:
    """How one reply is drawn. Temperature 0 takes the likeliest token; `top_k` 0 and `top_p` 1 are no restriction."""

    seed: int
    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    stop: tuple[str, ...] = ()
    logprobs: int | None = None


@dataclass(frozen=True, slots=True)
class Decoding:
    """A reply up to its stop string, without thinking (`thought`: there was some)."""

    text: str
    thought: bool
    finish: Finish
    prompt_tokens: int
    tokens: int
    logprobs: tuple[TokenLogprob, ...] | None


def draw_replies(
    model: Any, tokenizer: Any, prompts: Sequence[str], draws: Sequence[Draw], cancelled: Event
) -> list[Decoding]:
    """One reply for each prompt, in order; ends early, with partial replies, once `cancelled` is set."""
    if not prompts:
        return []
    rows = encode_prompts(tokenizer, prompts, padding=True, return_tensors="pt").to(model.device)
    width = rows["input_ids"].shape[1]
    chance = _Chance(draws, model.device)
    ends = _Ends(_Reader(tokenizer, prompts), draws, width, _ending_tokens(model, tokenizer), cancelled)
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
    """The prompts as tokens; a chat template has already written the special ones."""
    return tokenizer(list(prompts), add_special_tokens=tokenizer.chat_template is None, **options)


def _greedy(model: Any, tokenizer: Any, max_tokens: int) -> Any:
    """The model's own settings (end tokens, penalties) without its sampling."""
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
    """Adds each row's noise, so that the largest logit is the token drawn."""

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
        noise = torch.empty_like(scaled).exponential_(generator=self._sources[n])
        return scaled - noise.log()

    def _remember(self, n: int, logits: torch.Tensor, chosen: int, count: int) -> None:
        known = logits.log_softmax(dim=-1).clamp(min=LEAST)
        best = known.topk(min(count, known.shape[-1]))
        top = list(zip(best.indices.tolist(), best.values.tolist(), strict=True))
        self._told[n].append((chosen, float(known[chosen]), top))

    def logprobs_of(self, n: int, tokenizer: Any, count: int) -> tuple[TokenLogprob, ...] | None:
        """The log-probabilities of a row's first `count` tokens; None if not requested."""
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


class _Reader:
    """Decodes what the model wrote, including a `<think>` that its prompt ends with."""

    def __init__(self, tokenizer: Any, prompts: Sequence[str]) -> None:
        self.tokenizer = tokenizer
        special = {id for id, token in tokenizer.added_tokens_decoder.items() if token.special}
        special |= set(tokenizer.all_special_ids)
        self._unseen = frozenset(id for id in special if not is_framing(tokenizer.decode([id])))
        self._leads = [_THINKING if prompt.rstrip().endswith(_THINKING) else "" for prompt in prompts]

    def all(self, n: int, tokens: Sequence[int]) -> str:
        return self._leads[n] + self.part(tokens)

    def part(self, tokens: Sequence[int]) -> str:
        seen = [token for token in tokens if token not in self._unseen]
        return str(self.tokenizer.decode(seen, skip_special_tokens=False, clean_up_tokenization_spaces=False))


class _Ends(transformers.StoppingCriteria):
    def __init__(
        self, reader: _Reader, draws: Sequence[Draw], width: int, end_tokens: frozenset[int], cancelled: Event
    ) -> None:
        self._reader = reader
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
        recent = self._reader.part(written[-reach:].tolist())
        if not any(stop in recent for stop in stops):
            return False
        answer = without_thinking(self._reader.all(n, written.tolist()))
        return any(stop in answer for stop in stops)

    def reply_of_row(self, n: int, written: list[int], prompt_tokens: int, chance: _Chance) -> Decoding:
        length = self._lengths[n]
        tokens = written[:length]
        whole = self._reader.all(n, tokens)
        answer = without_thinking(whole)
        text = before_stop(self._draws[n].stop, answer)
        spoken = length - (1 if tokens and tokens[-1] in self._end_tokens else 0)
        logprobs = chance.logprobs_of(n, self._reader.tokenizer, spoken)
        return Decoding(
            text,
            answer != whole,
            self._finishes[n],
            prompt_tokens,
            length,
            None if logprobs is None else _of_text(logprobs, text),
        )


def _of_text(logprobs: Sequence[TokenLogprob], text: str) -> tuple[TokenLogprob, ...]:
    """The tokens of the text; all if it cannot be found (tokens that are parts of a character)."""
    at = "".join(entry.token for entry in logprobs).find(text)
    return tuple(logprobs) if at < 0 else tokens_between(logprobs, at, at + len(text))
