"""From a SPEC (`provider:model`) to the language model that it names.

A provider is one of ours or a server that the settings name (`servers.NAME`). Keys come from the environment or from a
file of the user's, at the moment when a model is made, and go into nothing but that model.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from toulmin.config import PROVIDERS, Settings, fitting
from toulmin.data import Passage
from toulmin.driver.kit import LanguageModel
from toulmin.errors import UsageError, unknown_name
from toulmin.steps import Span

if TYPE_CHECKING:
    from toulmin.extractive.trained_reader import TrainedReader
    from toulmin.models.remote import Chat, Completions
    from toulmin.models.server import Server
    from toulmin.prompts.templates import Templates

FORMS = (
    "extractive, openai:MODEL, completions:MODEL, local:FOLDER, scripted:FILE,"
    " or NAME:MODEL for a server of yours (servers.NAME.base_url)"
)
ROUTES = ("chat", "completions")
LEXICAL = "lexical"
_REMEMBERED = 256  # questions whose spans are kept: samples and rounds ask the same again
# What a server's table may say beside the fields of `models.server.Server`.
_BESIDE: Mapping[str, Any] = {"key_variable": str, "key_file": str, "route": str}
_LOCAL: Mapping[str, Any] = {
    "batch": int,
    "device": str,
    "precision": str,
    "window": int,
    "max_tokens": int,
    "temperature": float,
    "top_p": float,
    "thinking": bool,
    "download": bool,
}


def model(spec: str, settings: Settings) -> LanguageModel:
    """The language model that a SPEC names, its replies kept where the settings name a cache; raises as `uncached`."""
    made = uncached(spec, settings)
    if settings.cache is None or is_embedded(spec):
        return made
    from toulmin.models.cache import Cached

    return Cached(made, settings.cache)


def uncached(spec: str, settings: Settings) -> LanguageModel:
    """The language model that a SPEC names, and nothing around it.

    Raises `UsageError` for a SPEC or a provider's setting that cannot be, `ModelError` for a local model that does not
    load, and `SourceError` for a file of replies that cannot be read.
    """
    provider, _, name = spec.partition(":")
    if spec == "extractive":
        return _extractive(settings)
    if provider not in ("openai", "completions", "local", "scripted", *settings.servers):
        raise _unknown(spec, provider, settings)
    if not name:
        raise UsageError(f"The model {spec!r} should name a model after its provider, as in {provider}:MODEL.")
    return _MAKERS.get(provider, remote)(provider, name, settings)


def is_embedded(spec: str) -> bool:
    """Whether the SPEC names the embedded writer, which has no window to fill."""
    return spec == "extractive"


def _unknown(spec: str, provider: str, settings: Settings) -> UsageError:
    near = unknown_name("model", provider, ("extractive", *PROVIDERS, "scripted", *settings.servers))
    return UsageError(f"{near} A model is named as {FORMS}.")


# ---------------------------------------------------------------- makers


def _extractive(settings: Settings) -> LanguageModel:
    from toulmin.build.encoding import meaning
    from toulmin.extractive.writer import Extractive

    check_reader(settings.reader)
    reader = _LateSpans(settings) if settings.reader != LEXICAL else None
    return Extractive(words=settings.words, meaning=meaning(settings), reader=reader)


def trained_reader(settings: Settings) -> TrainedReader | None:
    """The trained reader that the settings name, None where they name that of words; raises as `check_reader` does.

    Raises `ModelError` for one that does not load.
    """
    check_reader(settings.reader)
    if settings.reader == LEXICAL:
        return None
    folder = settings.reader.partition(":")[2]
    from toulmin.extractive.trained_reader import TrainedReader

    return TrainedReader(folder or None)


def check_reader(spec: str) -> None:
    """Raises `UsageError` for a SPEC that names no reader; nothing is loaded."""
    kind, colon, folder = spec.partition(":")
    if spec != LEXICAL and (kind != "embedded" or bool(colon) != bool(folder)):
        near = unknown_name("reader", spec, (LEXICAL, "embedded"))
        raise UsageError(f"{near} A reader is named as {LEXICAL}, embedded or embedded:FOLDER.")


class _LateSpans:
    """The trained reader, loaded with its first question; what it found is not looked for again at once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._reader: TrainedReader | None = None
        self._found: dict[tuple[str, tuple[Passage, ...]], Span | None] = {}

    def likeliest(self, question: str, passages: Sequence[Passage]) -> Span | None:
        if self._reader is None:
            self._reader = trained_reader(self._settings)
            assert self._reader is not None
        key = (question, tuple(passages))
        if key not in self._found:
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            self._found[key] = self._reader.likeliest(question, passages)
        return self._found[key]


def _scripted(_: str, name: str, settings: Settings) -> LanguageModel:
    from toulmin.models.scripted import Scripted

    return Scripted.from_file(name, name=f"scripted:{Path(name).name}")


def _local(provider: str, name: str, settings: Settings) -> LanguageModel:
    table = _checked_table(provider, settings.servers.get(provider, {}), _LOCAL)
    from toulmin.models.local import Local

    general = {"temperature": settings.temperature, "seed": settings.seed}
    return Local(name, _templates(settings), **_set(general) | table)


_MAKERS: Mapping[str, Callable[[str, str, Settings], LanguageModel]] = {"scripted": _scripted, "local": _local}


def remote(provider: str, name: str, settings: Settings) -> Chat | Completions:
    """The model of that name behind a provider's server."""
    from toulmin.models.prices import read_prices
    from toulmin.models.remote import Chat, Completions

    route = settings.servers.get(provider, {}).get("route", "completions" if provider == "completions" else "chat")
    if route not in ROUTES:
        raise UsageError(f"The setting {provider}.route should be {' or '.join(ROUTES)}, not {route!r}.")
    kind = Completions if route == "completions" else Chat
    return kind(name, server(provider, settings), _templates(settings), read_prices(settings.prices))


def server(provider: str, settings: Settings) -> Server:
    """A provider's server; its own settings go before the general ones."""
    from toulmin.models.keys import VARIABLE, key_from
    from toulmin.models.server import Server

    kinds = {n: kind for n, kind in get_type_hints(Server).items() if n != "key"}
    own = _checked_table(provider, settings.servers.get(provider, {}), {**kinds, **_BESIDE})
    own.pop("route", None)
    variable, file = own.pop("key_variable", None), own.pop("key_file", None)
    if provider not in PROVIDERS and "base_url" not in own:
        raise UsageError(f"The server {provider!r} needs an address; set servers.{provider}.base_url.")
    # The usual variable holds the key of the usual provider: it is not sent to other servers unless they ask for it.
    if variable is None and provider in PROVIDERS:
        variable = VARIABLE
    elif variable and file is None and variable not in os.environ:
        raise UsageError(
            f"The setting {provider}.key_variable names {variable}, but the environment has no such variable. Set it,"
            " or leave the setting out where the server wants no key."
        )
    key = key_from(os.environ, variable or "", file)
    return Server(key=key, **_set({"temperature": settings.temperature, "seed": settings.seed}) | own)


def _checked_table(provider: str, table: Mapping[str, Any], kinds: Mapping[str, Any]) -> dict[str, Any]:
    """A provider's settings, each of a name and a type that it has."""
    for name in table:
        if name == "key":
            raise UsageError(
                f"The key of {provider} does not belong into settings; set {provider}.key_variable to the name of an"
                f" environment variable that holds it, or {provider}.key_file to a file that only you can read."
            )
        if name not in kinds:
            raise unknown_name(f"setting of {provider}", name, kinds)
    return {name: fitting(f"{provider}.{name}", value, kinds[name], "setting") for name, value in table.items()}


def _templates(settings: Settings) -> Templates:
    from toulmin.prompts.templates import Templates

    if settings.prompts is None:
        return Templates.shipped(settings.shots)
    return Templates.load(settings.prompts, settings.shots)


def _set(general: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in general.items() if value is not None}
