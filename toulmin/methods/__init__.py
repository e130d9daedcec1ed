"""The answering methods by name; each takes a question and its own options and returns a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from toulmin.data import Answer
from toulmin.steps import Program

Method = Callable[..., Program[Answer]]

# The module of each method, imported on first use.
METHODS: Mapping[str, str] = {
    "best": "best",
    "closed": "direct",
    "vanilla": "direct",
    "summ": "direct",
    "snippet": "direct",
    "rerank": "sampling",
    "usc": "sampling",
    "self-refine": "sampling",
    "calm": "calm",
    "vtg": "vtg",
    "plan": "plan",
    "a2r": "a2r",
    "self-rag": "selfrag",
}


def load_method(name: str) -> Method:
    """Raises `KeyError` for a name that is not in `METHODS`."""
    method: Method = getattr(import_module(f"toulmin.methods.{METHODS[name]}"), name.replace("-", "_"))
    return method
