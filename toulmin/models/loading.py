"""A causal language model and its tokenizer, and which texts the tokenizer would take for commands."""

from __future__ import annotations

import os
import re
from typing import Any

from transformers import AutoModelForCausalLM

from toulmin.prompts.reflection import is_framing
from toulmin.runtime import torch_models
from toulmin.runtime.torch_models import Loaded


def loaded(path: str | os.PathLike[str], device: str, precision: str, download: bool) -> Loaded:
    """The language model of that folder or name; raises as `weights.loaded` does."""
    options: dict[str, Any] = {"device": device, "precision": precision, "download": download, "padding": "left"}
    return torch_models.loaded(path, AutoModelForCausalLM, "language model", **options)


def controls_of(tokenizer: Any) -> re.Pattern[str]:
    """Finds the texts that a tokenizer would read as control tokens.

    Reflection tokens are none: prompts for models that have them write them, and break up those of foreign text.
    """
    return torch_models.controls_of(tokenizer, is_framing)
