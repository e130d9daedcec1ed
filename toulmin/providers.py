"""From a SPEC (`provider:model`) to the language model that it names."""

from __future__ import annotations

from toulmin.config import Settings
from toulmin.errors import unknown_name
from toulmin.run.kit import LanguageModel

MODELS = ("extractive",)


def model(spec: str, settings: Settings) -> LanguageModel:
    """The language model that a SPEC names."""
    if spec != "extractive":
        raise unknown_name("model", spec, MODELS)
    from toulmin.models.extractive import Extractive

    return Extractive(words=settings.words)
