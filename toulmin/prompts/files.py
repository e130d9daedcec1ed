"""Prompt files: the shipped texts, a user's replacements, and how foreign text is made harmless in a prompt.

* `<passage>` becomes `&lt;passage>`; a label `[n]` gets a backslash, as in renderings, which readers of replies
  remove.
* Marks of chat templates (`<|im_start|>`, `[INST]`) lose their opening bracket, since some tokenizers obey them
  anywhere.
* Invisible characters are removed; lone surrogates become U+FFFD.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from toulmin.data import Passage
from toulmin.errors import UsageError, unknown_name
from toulmin.prompts.texts import PLACEHOLDER, Demonstration, Texts
from toulmin.prompts.types import Example

FORMAT = 1
MOST_EXAMPLES = 4
_INSTRUCTIONS = re.compile(r"\.(?:system\w*|cited|uncited|memory)$")


def load_shipped_texts() -> Texts:
    """The texts of `prompts.toml` with the worked examples of `demonstrations.toml`."""
    texts, examples = _read_shipped("prompts.toml"), _read_shipped("demonstrations.toml")
    del texts["version"]
    return Texts(dict(_flat(texts)), {kind: _examples(kind, entries) for kind, entries in examples.items()})


def _read_shipped(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("toulmin.prompts").joinpath(name).read_text("utf-8"))


def replace_texts(path: Path, shipped: Texts) -> Texts:
    """The shipped texts with those of the user's TOML file in place; raises `UsageError` for an invalid file."""
    data = _toml(path)
    try:
        version = data.pop("version", FORMAT)
        if version != FORMAT:
            raise UsageError(f"expected version = {FORMAT}, which this Toulmin reads, not {version!r}.")
        examples = data.pop("examples", {})
        texts = {name: _valid_text(name, text, shipped) for name, text in _flat(data)}
        return Texts({**shipped.by_name, **texts}, {**shipped.demonstrations, **_user_examples(examples, shipped)})
    except UsageError as error:
        raise UsageError(f"The prompt file {path}: {error}") from None


def read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The prompt file {path} should be a readable text in UTF-8: {error}.") from error


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"The prompt file {path} should be TOML: {error}.") from error


def _flat(tables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """By names such as "answer.cited.memory"."""
    for key, value in tables.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _valid_text(name: str, text: Any, shipped: Texts) -> str:
    """Instructions may leave out placeholders of the shipped text."""
    if name not in shipped.by_name:
        raise unknown_name("prompt text", name, shipped.by_name)
    if not isinstance(text, str) or not text.strip():
        raise UsageError(f"{name} should be a text that is not empty, not {text!r}.")
    known, placeholders = _placeholders(shipped.by_name[name]), _placeholders(text)
    for placeholder in sorted(placeholders - known):
        raise UsageError(f"{name}: {unknown_name('placeholder', placeholder, known)}")
    missing = sorted(known - placeholders) if not _INSTRUCTIONS.search(name) else []
    if missing:
        raise UsageError(f"{name} should hold {{{missing[0]}}}, which the shipped text shows, and does not.")
    return text


def _placeholders(text: str) -> set[str]:
    return {match["name"] for match in PLACEHOLDER.finditer(text) if match["name"]}


# ---------------------------------------------------------------- worked examples


def _user_examples(examples: Any, shipped: Texts) -> dict[str, tuple[Demonstration, ...]]:
    if not isinstance(examples, dict):
        raise UsageError("examples should be tables such as [[examples.cited]].")
    for kind in examples:
        if kind not in shipped.demonstrations:
            raise unknown_name("kind of example", kind, shipped.demonstrations)
    return {kind: _examples(kind, entries) for kind, entries in examples.items()}


def _examples(kind: str, entries: Any) -> tuple[Demonstration, ...]:
    if not isinstance(entries, list) or len(entries) > MOST_EXAMPLES:
        raise UsageError(f"examples.{kind} should be a list of at most {MOST_EXAMPLES} tables, [[examples.{kind}]].")
    return tuple(_example(f"examples.{kind}", entry) for entry in entries)


def _example(where: str, entry: Any) -> Demonstration:
    expected = {"question": str, "answer": str, "passages": list}
    allowed = {**expected, "draft": str, "rests_on": int}
    if not isinstance(entry, dict):
        raise UsageError(f"{where} should be a table with question, passages and answer, not {entry!r}.")
    for key, value in entry.items():
        if key not in allowed:
            raise UsageError(f"{where}: {unknown_name('field', key, allowed)}")
        if not isinstance(value, allowed[key]):
            raise UsageError(f"{where}.{key} should be {allowed[key].__name__}, not {value!r}.")
    for key in expected:
        if not entry.get(key):
            raise UsageError(f"{where} should have {key}, and has none.")
    example = Example(entry["question"], _example_passages(where, entry["passages"]), entry["answer"].strip())
    return Demonstration(example, entry.get("draft", ""), entry.get("rests_on", 0))


def _example_passages(where: str, entries: Sequence[Any]) -> tuple[Passage, ...]:
    for entry in entries:
        texts = (entry.get("text"), entry.get("title", "")) if isinstance(entry, dict) else (None,)
        if not all(isinstance(text, str) for text in texts):
            raise UsageError(f"{where}: a passage should be a title and a text, not {entry!r}.")
    return tuple(Passage.of(entry["text"], entry.get("title", "")) for entry in entries)
