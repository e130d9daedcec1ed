"""Settings: flags over environment over `toulmin.toml` over defaults.

They build nothing; only the edges (command line, server, Python calls with `settings=None`) read environment and file.
"""

from __future__ import annotations

import os
import tomllib
import types
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from toulmin.data import Fusion, Policy, Style
from toulmin.errors import SourceError, UsageError, cause_of, unknown_name
from toulmin.runtime.shipped import is_ready

FILE = "toulmin.toml"
PREFIX = "TOULMIN_"
# Our environment variables that are not settings.
NOT_SETTINGS = frozenset({"TOULMIN_DATA", "TOULMIN_TOKEN"})
# Providers whose settings need no prefix `servers.`: `openai.base_url`.
PROVIDERS = ("openai", "completions", "local", "llama", "ollama", "lmstudio", "vllm", "llamacpp")
# Judges and encoders that need none either: `seq2seq.device`, `onnx.threads`.
_UNPREFIXED = (*PROVIDERS, "seq2seq", "cross", "onnx", "transformer")
Tables = Mapping[str, Mapping[str, Any]]


TRAINED = "embedded"  # the judge and reader of the installed weights


def _usual(kind: str) -> str:
    return TRAINED if is_ready(kind) else "lexical"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings.

    `options` are the method's parameters. `servers` holds settings by provider (`openai.base_url`) or server name,
    `prices` US dollars per million tokens by model; neither holds a key.
    """

    index: str = ".toulmin"
    method: str = "best"
    style: Style | None = None
    model: str = "extractive"
    verifier: str | None = None
    rewriter: str | None = None
    judge: str = field(default_factory=partial(_usual, "judge"))
    reader: str = field(default_factory=partial(_usual, "reader"))
    retriever: str | None = None
    only: tuple[str, ...] | None = None
    unsupported: Policy | None = None
    k: int | None = None
    words: int = 90
    encoder: str | None = None
    fusion: Fusion | None = None
    rerank_depth: int = 100
    encode_ahead: bool = True
    links: bool = True
    bm25_k1: float | None = None
    bm25_b: float | None = None
    passage_words: int | None = None
    ocr: str | None = None
    seed: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    shots: int | None = None
    prompts: str | None = None
    structured: bool | None = None
    small: bool | None = None
    cache: str | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    deadline: float | None = None
    uploads_mb: int = 2_000
    feedback_mb: int = 100
    answers_mb: int = 500
    servers: Tables = field(default_factory=dict)
    prices: Tables = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def override(self, **flags: Any) -> Settings:
        """Puts `flags` on top. None changes nothing; tables are merged. Raises `UsageError`."""
        changes = {name: value for name, value in flags.items() if value is not None}
        if isinstance(changes.get("options"), Mapping):
            changes["options"] = {**self.options, **changes["options"]}
        for table in {"servers", "prices"} & changes.keys():
            changes[table] = merge_tables(getattr(self, table), _check_setting(table, changes[table], "option"))
        return replace(self, **{name: _check_setting(name, value, "option") for name, value in changes.items()})

    def for_parts(self) -> Settings:
        """Only what the parts and sources of a session depend on, not the settings of a question."""
        plain = Settings(judge=self.judge, reader=self.reader)
        return replace(self, **{name: getattr(plain, name) for name in _OF_A_QUESTION})


_OF_A_QUESTION = ("method", "style", "only", "unsupported", "k", "max_calls", "max_tokens", "deadline", "options")
_KINDS = get_type_hints(Settings)
_COUNTS = frozenset("k words passage_words max_calls max_tokens rerank_depth uploads_mb feedback_mb answers_mb".split())
_TABLES = ("servers", "prices")


def merge_tables(ground: Tables, over: Tables) -> dict[str, dict[str, Any]]:
    return {name: {**ground.get(name, {}), **over.get(name, {})} for name in (*ground, *(over.keys() - ground.keys()))}


def to_tables(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Turns dotted names (`openai.base_url`, `servers.mine.window`, `prices.gpt-9.input`) into tables."""
    settings: dict[str, Any] = {}
    for name, value in flat.items():
        path = _path(name)
        if path is None:
            settings[name] = value
        else:
            table, row, key = path
            settings[table] = merge_tables(settings.get(table, {}), {row: {key: value}})
    return settings


def _path(name: str) -> tuple[str, str, str] | None:
    head, _, rest = name.partition(".")
    if head in _UNPREFIXED and rest:
        return "servers", head, rest
    row, dot, key = rest.rpartition(".")
    return (head, row, key) if head in _TABLES and dot and row else None


def load(environ: Mapping[str, str], folder: Path) -> Settings:
    """Reads `toulmin.toml` in `folder`, then the `TOULMIN_*` variables over it.

    `OPENAI_BASE_URL` is the default address of `openai`. Raises `SourceError` for invalid TOML and `UsageError` for
    a wrong name or value.
    """
    values = _from_file(folder / FILE)
    if environ.get("OPENAI_BASE_URL"):
        address = {"openai": {"base_url": environ["OPENAI_BASE_URL"]}}
        values["servers"] = merge_tables(address, values.get("servers", {}))
    for name, text in environ.items():
        if name.startswith(PREFIX) and name not in NOT_SETTINGS:
            key = name.removeprefix(PREFIX).lower()
            values[key] = _check_setting(key, parse_value(text), f"environment variable {name}")
    return Settings(**values)


def resolve_settings(settings: Settings | None, options: Mapping[str, Any]) -> Settings:
    """Puts `options` over `settings`, by default those of `load`."""
    return (load(os.environ, Path()) if settings is None else settings).override(**options)


def settings_of(options: Mapping[str, Any], **specs: Any) -> dict[str, Any]:
    """Splits options into settings and, under "options", those of the method."""
    known = {name for name in Settings.__dataclass_fields__ if name != "options"}
    options = to_tables(options)
    nested = options.get("options") or {}
    if not isinstance(nested, Mapping):
        raise UsageError(f"options should be a table of names and values, not {nested!r}.")
    method_options = dict(nested) | {n: v for n, v in options.items() if n not in known and n != "options"}
    named = {name: value for name, value in options.items() if name in known}
    named |= {name: value for name, value in specs.items() if isinstance(value, str)}
    return named | ({"options": method_options} if method_options else {})


def cache_folder() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("toulmin")


def no_options(settings: Settings) -> None:
    """Raises `UsageError` for options, because no method runs."""
    for option in settings.options:
        raise unknown_name("setting", option, (name for name in Settings.__dataclass_fields__ if name != "options"))


def _from_file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        servers = {name: table.pop(name) for name in _UNPREFIXED if name in table}
        if servers:
            table["servers"] = {**table.get("servers", {}), **servers}
        return {name: _check_setting(name, value, f"setting in {path}") for name, value in table.items()}
    except (OSError, ValueError, RecursionError) as error:
        raise SourceError(
            f"{path} should be a TOML file, but could not be read: {cause_of(error)}. Fix or remove it."
        ) from error


def _check_setting(name: str, value: Any, where: str) -> Any:
    if name not in _KINDS:
        raise unknown_name(where, name, (f.name for f in fields(Settings)))
    value = convert(name, value, _KINDS[name], where)
    if name in _TABLES and not all(isinstance(row, Mapping) for row in value.values()):
        raise UsageError(f"The {where} {name!r} should be a table of tables, such as [{name}.NAME], not {value!r}.")
    if name in _COUNTS and value < (least := int(name != "uploads_mb")):
        raise UsageError(f"The {where} {name!r} should be at least {least}, not {value!r}.")
    return value


def convert(name: str, value: Any, kind: Any, where: str) -> Any:
    """Converts a value to a type hint (int to float, list to tuple); raises `UsageError`."""
    if isinstance(value, int) and not isinstance(value, bool) and float in _parts(kind) and int not in _parts(kind):
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and kind is str:
        value = str(value)
    if isinstance(value, list):
        value = tuple(value)
    if isinstance(value, str) and any(get_origin(part) is tuple for part in _parts(kind)):
        value = (value,)
    if not any(_fits(part, value) for part in _parts(kind)):
        raise UsageError(f"The {where} {name!r} should be {_in_words(kind)}, not {value!r}.")
    return value


def check_table(owner: str, table: Mapping[str, Any], kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Converts a table of settings (`seq2seq.device`) to the types of its owner; raises `UsageError`."""
    for name in table:
        if name not in kinds:
            raise unknown_name(f"setting of {owner}", name, kinds)
    return {name: convert(f"{owner}.{name}", value, kinds[name], "setting") for name, value in table.items()}


def is_plain(kind: Any) -> bool:
    """Whether its values are text, numbers, booleans or choices."""
    return all(get_origin(part) is Literal or part in (bool, int, float, str, type(None)) for part in _parts(kind))


def _fits(part: Any, value: Any) -> bool:
    if get_origin(part) is Literal:
        return value in get_args(part)
    if isinstance(value, bool):
        return part is bool
    if get_origin(part) is tuple:
        return isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    return isinstance(value, Mapping if get_origin(part) is not None else part)


def _parts(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _in_words(kind: Any) -> str:
    words = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    shown: list[str] = []
    for part in _parts(kind):
        if get_origin(part) is Literal:
            shown.extend(repr(choice) for choice in get_args(part))
        elif part is not type(None):
            other = "a list of texts" if get_origin(part) is tuple else "a table of names and values"
            shown.append(words.get(part, other))
    return " or ".join(shown)


def parse_value(text: str) -> Any:
    """Parses a TOML value (7, 0.5, true, "words", [1, 2]); anything else is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def parse_options(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Raises `UsageError` for anything but NAME=VALUE."""
    options = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--set should have NAME=VALUE (--set k=8), not {pair!r}.")
        options[name.strip()] = parse_value(value)
    return options
