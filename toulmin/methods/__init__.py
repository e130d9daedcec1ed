"""The methods by name. Each takes a question and its own options and gives a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from toulmin.data import Answer
from toulmin.grounding.steps import Program
from toulmin.methods.direct import vanilla

Method = Callable[..., Program[Answer]]

METHODS: Mapping[str, Method] = {"vanilla": vanilla}
