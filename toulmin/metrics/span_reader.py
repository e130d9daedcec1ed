"""An extractive QA model by the rules of transformers' former question-answering pipeline, which ALCE used.

The model reads the question with windows of the text, of at most 384 tokens that share 128. A window's best span of at
most 15 tokens, by product of probabilities, is widened to whole words; the best window wins, unless the lowest "no
answer" product is higher. Only windows of one length run together, as padding would change numbers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from transformers import AutoModelForQuestionAnswering

from toulmin.errors import ModelError
from toulmin.runtime.torch_models import load_model, window_of
from toulmin.text.language import chunks

WINDOW = 384
STRIDE = 128
LONGEST = 15
_QUESTION = 64  # tokens of a question that are read
_BATCH = 16
_OUT = -10_000.0  # replaces a logit that must not count

Floats = npt.NDArray[np.float64]


class _Window(NamedTuple):
    asked: int
    encoded: Any
    row: int  # of `encoded`


class _Span(NamedTuple):
    score: float
    first: int  # token of the window
    last: int


class SpanReader:
    """A model in a local folder. Raises `ModelError` for another folder or a tokenizer without offsets."""

    def __init__(self, path: str | os.PathLike[str], device: str = "auto") -> None:
        self._model, self._tokenizer, _ = load_model(
            path, AutoModelForQuestionAnswering, "extractive QA model", device=device, precision="float32"
        )
        self.name = os.path.basename(os.fspath(path).rstrip("/"))
        if not self._tokenizer.is_fast:
            raise ModelError(f"The tokenizer of {path} gives no offsets; name a model with a tokenizer.json.")
        self._window = min(WINDOW, window_of(self._model, self._tokenizer, None) or WINDOW)

    def answers(self, asked: Sequence[tuple[str, str]]) -> list[str]:
        windows = [window for i, pair in enumerate(asked) for window in self._windows(i, *pair)]
        by_length: dict[int, list[int]] = {}
        for place, window in enumerate(windows):
            by_length.setdefault(len(window.encoded["input_ids"][window.row]), []).append(place)
        logits: dict[int, tuple[Floats, Floats]] = {}
        for places in by_length.values():
            for batch in chunks(places, _BATCH):
                logits.update(zip(batch, self._run([windows[place] for place in batch]), strict=True))
        nothing = [np.inf] * len(asked)
        best: list[tuple[float, str]] = [(-np.inf, "")] * len(asked)
        for place, window in enumerate(windows):
            i = window.asked
            span, none = best_span(*logits[place], self._may_answer(window))
            nothing[i] = min(nothing[i], none)
            if span.score > best[i][0]:
                best[i] = span.score, self._words(window, span, asked[i][1])
        return ["" if none > score else words for none, (score, words) in zip(nothing, best, strict=True)]

    def _windows(self, i: int, question: str, text: str) -> Iterator[_Window]:
        most = min(_QUESTION, self._window // 4)
        cut = self._tokenizer(question, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        encoded = self._tokenizer(
            question[: cut[most - 1][1]] if len(cut) > most else question,
            text,
            truncation="only_second",
            max_length=self._window,
            stride=min(self._window // 2, STRIDE),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        yield from (_Window(i, encoded, row) for row in range(len(encoded["input_ids"])))

    def _run(self, windows: Sequence[_Window]) -> list[tuple[Floats, Floats]]:
        names = [name for name in self._tokenizer.model_input_names if name in windows[0].encoded]
        rows = {name: [window.encoded[name][window.row] for window in windows] for name in names}
        inputs = {name: torch.tensor(values, device=self._model.device) for name, values in rows.items()}
        with torch.inference_mode():
            out = self._model(**inputs)
        return list(zip(out.start_logits.cpu().numpy(), out.end_logits.cpu().numpy(), strict=True))

    def _may_answer(self, window: _Window) -> npt.NDArray[np.bool_]:
        """Tokens of the text, and of "no answer" (CLS)."""
        tokens = np.array(window.encoded["input_ids"][window.row])
        of_text = np.array([part == 1 for part in window.encoded.sequence_ids(window.row)])
        return np.asarray(of_text | (tokens == self._tokenizer.cls_token_id))

    def _words(self, window: _Window, span: _Span, text: str) -> str:
        encoded, row = window.encoded, window.row
        offsets = encoded["offset_mapping"][row]
        words = encoded.token_to_word(row, span.first), encoded.token_to_word(row, span.last)
        if None in words:
            return text[offsets[span.first][0] : offsets[span.last][1]]
        first, last = (encoded.word_to_chars(row, word, 1) for word in words)
        return text[first.start : last.end]


def best_span(starts: Floats, ends: Floats, may_answer: npt.NDArray[np.bool_]) -> tuple[_Span, float]:
    """The best span of a window and the probability of "no answer", which the first token stands for."""
    masked = [np.where(may_answer, logits, _OUT) for logits in (starts, ends)]
    start, end = (powers / powers.sum() for powers in (np.exp(logits - logits.max()) for logits in masked))
    none = float(start[0] * end[0])
    start[0] = end[0] = 0.0
    scores = np.tril(np.triu(np.outer(start, end)), LONGEST - 1)
    first, last = (int(place) for place in np.unravel_index(np.argmax(scores), scores.shape))
    return _Span(float(scores[first, last]), first, last), none
