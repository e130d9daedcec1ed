"""Loads a model and its tokenizer."""

from __future__ import annotations

import os
import re
from typing import Any

from transformers import AutoModelForCausalLM

from toulmin.prompts.reflection import is_framing
from toulmin.runtime import torch_models
from toulmin.runtime.torch_models import Loaded


def load_language_model(path: str | os.PathLike[str], device: str, precision: str, download: bool) -> Loaded:
    options: dict[str, Any] = {"device": device, "precision": precision, "download": download, "padding": "left"}
    return torch_models.loaded(path, AutoModelForCausalLM, "language model", **options)


def controls_of(tokenizer: Any) -> re.Pattern[str]:
    """Matches texts that the tokenizer reads as control tokens, except reflection tokens, which prompts write on
    purpose.
    """
    return torch_models.controls_of(tokenizer, is_framing)
