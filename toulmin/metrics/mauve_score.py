"""MAUVE by the `mauve-text` package, over features of a local GPT-2.

The features are that package's (last layer, last token, batches of 8, at most 512 tokens); its own code accepts only
names with "gpt2".
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from mauve import compute_mauve
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModel

from toulmin.errors import ModelError
from toulmin.runtime.torch_models import load_model

_TOKENS = 512
_BATCH = 8


class Featurizer:
    """Implements `references.Mauve`; ALCE's model is gpt2-large. Raises `ModelError` for a folder without a model."""

    def __init__(self, path: str | os.PathLike[str], device: str = "auto") -> None:
        self._model, self._tokenizer, _ = load_model(path, AutoModel, "GPT-2", device=device, precision="float32")
        self.name = os.path.basename(os.fspath(path).rstrip("/"))

    def __call__(self, human: Sequence[str], ours: Sequence[str]) -> float:
        """MAUVE, 0 to 1: a bucket for every ten texts, k-means seed 25."""
        features = [self.features(texts) for texts in (human, ours)]
        return float(compute_mauve(p_features=features[0], q_features=features[1]).mauve)

    def features(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row for each nonempty text. Raises `ModelError` for none."""
        rows = [self._tokenizer.encode(text, truncation=True, max_length=_TOKENS) for text in texts if text]
        if not rows:
            raise ModelError("MAUVE compares texts, but all of one side are empty; leave it out for this run.")
        states = [self._last_states(rows[i : i + _BATCH]) for i in range(0, len(rows), _BATCH)]
        return np.asarray(torch.cat(states).numpy())

    def _last_states(self, rows: Sequence[list[int]]) -> Any:
        sizes = torch.tensor([len(row) for row in rows])
        padded = pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
        mask = (torch.arange(padded.shape[1]) < sizes[:, None]).long()
        device = self._model.device
        with torch.inference_mode():
            states = self._model(input_ids=padded.to(device), attention_mask=mask.to(device)).last_hidden_state
        return states[torch.arange(len(rows)), sizes - 1].cpu()
