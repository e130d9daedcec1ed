"""An encoder-decoder that answers "1" or "0" as judge, such as TRUE (`pip install 'toulmin[judges]'`).

* It reads `premise: {passages} hypothesis: {claim}`, never cut off, with control tokens in documents broken up.
* A claim is entailed if the greedy reply of at most ten tokens is exactly `1`; decoding stops once that is decided.

ALCE (Gao et al. 2023) uses TRUE's slow tokenizer (sentencepiece), this judge the one that transformers loads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toulmin.errors import missing_libraries
from toulmin.runtime.windows import hypothesis, premise
from toulmin.steps import Pair, Verdict

try:
    import torch
    from transformers import AutoModelForSeq2SeqLM, StoppingCriteria, StoppingCriteriaList

    from toulmin.runtime import torch_models
except ImportError as absent:
    raise missing_libraries("A seq2seq judge", absent, "judges") from absent

BATCH_TOKENS = 16_384
ENTAILED = "1"
_REPLY = 10  # tokens at most
_FORMAT = "premise-hypothesis-1"


class Seq2Seq:
    """The encoder-decoder in the folder `path`, or of that name in the hub's cache (`download` may fetch it).

    `support` is the probability of `1` as first token, or 1.0 or 0.0 if other tokens decide; a claim is supported or
    unsupported. A batch has at most `batch_tokens` with padding, unless one pair is longer, and is halved if a GPU's
    memory is too small. Raises `UsageError` for a setting out of range and `ModelError` for another kind of model.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        device: str = "auto",
        precision: str = "auto",
        batch_tokens: int = BATCH_TOKENS,
        download: bool = False,
    ) -> None:
        torch_models.check("batch_tokens", batch_tokens, batch_tokens >= 1, "at least 1")
        options: dict[str, Any] = {"device": device, "precision": precision, "download": download}
        checkpoint = torch_models.load_model(path, AutoModelForSeq2SeqLM, "encoder-decoder (T5 and its kin)", **options)
        self.name = f"seq2seq:{Path(path).resolve().name}"
        self._model, self._tokenizer = checkpoint.model, checkpoint.tokenizer
        self._break_controls = torch_models.breaker_of(self._tokenizer)
        self._batch_tokens = batch_tokens
        ones = self._tokens([ENTAILED], special=False)[0]
        self._one = ones[0] if len(ones) == 1 else None
        self._may_entail: dict[tuple[int, ...], bool] = {}
        kind = type(self._tokenizer).__name__
        self.key = json.dumps(
            [checkpoint.identity, str(self._model.device.type), str(self._model.dtype), kind, _FORMAT]
        )

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Raises `ModelError` for a pair that does not fit into memory."""
        rows = self._tokens([f"premise: {premise(p.premises)} hypothesis: {hypothesis(p)}" for p in pairs])
        decisions = torch_models.in_batches(rows, len, self._batch_tokens, self._decide, self.name)
        return [
            Verdict("supported" if entailed else "unsupported", support, 0.0, self.name, (None,) * len(pair.premises))
            for pair, (entailed, support) in zip(pairs, decisions, strict=True)
        ]

    def _tokens(self, texts: Sequence[str], special: bool = True) -> list[list[int]]:
        if not texts:
            return []
        options: dict[str, Any] = {"add_special_tokens": special, "truncation": False, "verbose": False}
        ids: list[list[int]] = self._tokenizer([self._break_controls(text) for text in texts], **options)["input_ids"]
        return ids

    @torch.inference_mode()
    def _decide(self, rows: list[list[int]]) -> list[tuple[bool, float]]:
        batch = self._tokenizer.pad({"input_ids": rows}, pad_to_multiple_of=torch_models.MULTIPLE, return_tensors="pt")
        drawn = self._model.generate(
            input_ids=batch["input_ids"].to(self._model.device),
            attention_mask=batch["attention_mask"].to(self._model.device),
            max_new_tokens=_REPLY,
            do_sample=False,
            num_beams=1,
            output_logits=True,
            return_dict_in_generate=True,
            stopping_criteria=StoppingCriteriaList([_ReplyEnd(self._is_open)]),
        )
        replies = self._tokenizer.batch_decode(drawn.sequences, skip_special_tokens=True)
        entailed = [reply == ENTAILED for reply in replies]
        if self._one is None:
            return [(each, float(each)) for each in entailed]
        firsts = drawn.sequences[:, 1].tolist()  # after the token that starts the decoder
        shares = drawn.logits[0].float().softmax(dim=-1)[:, self._one].tolist()
        # The first token's share counts only if it agrees with the reply.
        return [
            (each, share if each == (first == self._one) else float(each))
            for each, first, share in zip(entailed, firsts, shares, strict=True)
        ]

    def _is_open(self, reply: tuple[int, ...]) -> bool:
        """Whether the reply may still become or stay `1`."""
        known = self._may_entail.get(reply)
        if known is None:
            text = self._tokenizer.decode(list(reply), skip_special_tokens=True).strip()
            known = self._may_entail[reply] = text in ("", ENTAILED)
        return known


class _ReplyEnd(StoppingCriteria):
    """Ends rows whose reply can no longer become `1`."""

    def __init__(self, is_open: Any) -> None:
        self._is_open = is_open

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        closed = [not self._is_open(tuple(row)) for row in input_ids.tolist()]
        return torch.tensor(closed, device=input_ids.device)
