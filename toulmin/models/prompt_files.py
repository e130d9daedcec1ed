"""Prompt files: the shipped one, a user's that replaces part of it, and those of ALCE."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from toulmin.data import Passage
from toulmin.errors import UsageError, unknown_name
from toulmin.grounding.prompts import AnswerPrompt, Example
from toulmin.models.quoting import on_one_line, quoted, unlabelled
from toulmin.models.texts import PLACEHOLDER, Demonstration, Texts, Turn, Wording

FORMAT = 1
MOST_EXAMPLES = 4
_INSTRUCTIONS = re.compile(r"\.(?:system\w*|cited|uncited|memory)$")


def shipped_texts() -> Texts:
    """The texts of `prompts.toml`."""
    data = tomllib.loads(resources.files("toulmin.models").joinpath("prompts.toml").read_text("utf-8"))
    examples = data.pop("examples")
    del data["version"]
    return Texts(dict(_flat(data)), {kind: _examples(kind, found) for kind, found in examples.items()})


def replaced_texts(path: Path, shipped: Texts) -> Texts:
    """The shipped texts with those of the user's TOML file in place; raises `UsageError` for what cannot be one."""
    data = _toml(path)
    try:
        version = data.pop("version", FORMAT)
        if version != FORMAT:
            raise UsageError(f"expected version = {FORMAT}, which this Toulmin reads, not {version!r}.")
        examples = data.pop("examples", {})
        texts = {name: _checked(name, text, shipped) for name, text in _flat(data)}
        return Texts({**shipped.by_name, **texts}, {**shipped.demonstrations, **_own_examples(examples, shipped)})
    except UsageError as error:
        raise UsageError(f"The prompt file {path}: {error}") from None


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The prompt file {path} should be a readable text in UTF-8: {error}.") from error


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_read(path))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"The prompt file {path} should be TOML: {error}.") from error


def _flat(tables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested tables, by names such as "answer.cited.memory"."""
    for key, value in tables.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _checked(name: str, text: Any, shipped: Texts) -> str:
    """A text that can stand in the place of the shipped one: it shows what that shows, and asks for nothing else."""
    if name not in shipped.by_name:
        raise unknown_name("prompt text", name, shipped.by_name)
    if not isinstance(text, str) or not text.strip():
        raise UsageError(f"{name} should be a text that is not empty, not {text!r}.")
    known, found = _placeholders(shipped.by_name[name]), _placeholders(text)
    for placeholder in sorted(found - known):
        raise UsageError(f"{name}: {unknown_name('placeholder', placeholder, known)}")
    missing = sorted(known - found) if not _INSTRUCTIONS.search(name) else []
    if missing:
        raise UsageError(f"{name} should hold {{{missing[0]}}}, which the shipped text shows, and does not.")
    return text


def _placeholders(text: str) -> set[str]:
    return {found["name"] for found in PLACEHOLDER.finditer(text) if found["name"]}


# ---------------------------------------------------------------- worked examples


def _own_examples(examples: Any, shipped: Texts) -> dict[str, tuple[Demonstration, ...]]:
    if not isinstance(examples, dict):
        raise UsageError("examples should be tables such as [[examples.cited]].")
    for kind in examples:
        if kind not in shipped.demonstrations:
            raise unknown_name("kind of example", kind, shipped.demonstrations)
    return {kind: _examples(kind, found) for kind, found in examples.items()}


def _examples(kind: str, found: Any) -> tuple[Demonstration, ...]:
    if not isinstance(found, list) or len(found) > MOST_EXAMPLES:
        raise UsageError(f"examples.{kind} should be a list of at most {MOST_EXAMPLES} tables, [[examples.{kind}]].")
    return tuple(_example(f"examples.{kind}", one) for one in found)


def _example(where: str, one: Any) -> Demonstration:
    expected = {"question": str, "answer": str, "passages": list}
    allowed = {**expected, "draft": str, "rests_on": int}
    if not isinstance(one, dict):
        raise UsageError(f"{where} should be a table with question, passages and answer, not {one!r}.")
    for key, value in one.items():
        if key not in allowed:
            raise UsageError(f"{where}: {unknown_name('field', key, allowed)}")
        if not isinstance(value, allowed[key]):
            raise UsageError(f"{where}.{key} should be {allowed[key].__name__}, not {value!r}.")
    for key in expected:
        if not one.get(key):
            raise UsageError(f"{where} should have {key}, and has none.")
    example = Example(one["question"], _example_passages(where, one["passages"]), one["answer"].strip())
    return Demonstration(example, one.get("draft", ""), one.get("rests_on", 0))


def _example_passages(where: str, found: Sequence[Any]) -> tuple[Passage, ...]:
    for one in found:
        texts = (one.get("text"), one.get("title", "")) if isinstance(one, dict) else (None,)
        if not all(isinstance(text, str) for text in texts):
            raise UsageError(f"{where}: a passage should be a title and a text, not {one!r}.")
    return tuple(Passage.of(one["text"], one.get("title", "")) for one in found)


# ---------------------------------------------------------------- ALCE

_ALCE_PLACEHOLDER = re.compile(r"\{(INST|Q|D|A|ID|T|P)\}")
_ALCE_TEXTS = {"instruction": None, "demo_prompt": "{Q} {A}", "doc_prompt": "{ID} {P}", "demo_sep": None}
_ALCE_SHOTS = 2  # what ALCE's own runs show


@dataclass(frozen=True, slots=True)
class AlceFile:
    """A prompt file of ALCE: `demo_prompt` frames an example and the question alike, `doc_prompt` each passage."""

    instruction: str
    demo_prompt: str
    doc_prompt: str
    demo_sep: str
    demos: tuple[Example, ...]

    @property
    def shows_passages(self) -> bool:
        """Whether the prompt has a place for passages; those for closed-book runs have none."""
        return "{D}" in self.demo_prompt

    def wording(self, prompt: AnswerPrompt, data: str) -> Wording:
        """The prompt in the file's words alone, with the rule `data` about passages as instructions."""
        turns = tuple(
            Turn(self._framed(one.question, one.passages), quoted(one.answer)) for one in prompt.examples or self.demos
        )
        user = self._framed(prompt.question, prompt.passages)
        return Wording(data if prompt.passages else "", user, turns, self.demo_sep)

    def _framed(self, question: str, passages: Sequence[Passage]) -> str:
        values = {
            "INST": self.instruction,
            "Q": on_one_line(unlabelled(question)),
            "D": "".join(self._document(n, passage) for n, passage in enumerate(passages, start=1)),
            "A": "",
        }
        return _alce_filled(self.demo_prompt, values).rstrip()

    def _document(self, n: int, passage: Passage) -> str:
        """A passage on one line, as the file frames it: its text can begin no other."""
        title, text = on_one_line(unlabelled(passage.title)), on_one_line(unlabelled(passage.text))
        return _alce_filled(self.doc_prompt, {"ID": str(n), "T": title, "P": text})


def _alce_filled(template: str, values: Mapping[str, str]) -> str:
    return _ALCE_PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)


def read_alce(path: Path, shots: int | None) -> AlceFile:
    """A prompt file as the ALCE repository has them, with `shots` of its demonstrations (None: at most two)."""
    try:
        data = json.loads(_read(path))
    except json.JSONDecodeError as error:
        raise UsageError(f"The prompt file {path} should be JSON: {error}.") from error
    try:
        texts = {key: _alce_text(data, key, needs) for key, needs in _ALCE_TEXTS.items()}
        demos = tuple(_alce_demo(one) for one in data.get("demos", ()))
        return AlceFile(**texts, demos=demos[: _alce_shots(len(demos), shots)])
    except UsageError as error:
        raise UsageError(f"The prompt file {path}: {error}") from None


def _alce_text(data: Any, key: str, needs: str | None) -> str:
    text = data.get(key) if isinstance(data, dict) else None
    if not isinstance(text, str):
        raise UsageError(f"expected a JSON object with the text {key!r}, as ALCE's prompt files have it.")
    for placeholder in (needs or "").split():
        if placeholder not in text:
            raise UsageError(f"{key} should hold {placeholder}, and does not.")
    return text


def _alce_demo(one: Any) -> Example:
    """One demonstration; what ALCE keeps beside these fields (summaries of the passages) is not needed."""
    try:
        docs = tuple(Passage.of(doc["text"], doc["title"]) for doc in one.get("docs", []))
        answer = one["answer"] if isinstance(one["answer"], str) else ", ".join(one["answer"])
        return Example(one["question"] + "", docs, answer)
    except (AttributeError, KeyError, TypeError):
        raise UsageError("each of demos should have question, answer and docs with title and text.") from None


def _alce_shots(available: int, shots: int | None) -> int:
    if shots is None:
        return _ALCE_SHOTS
    if shots > available:
        raise UsageError(f"shots={shots}, but the file holds {available} demonstrations: give {available} or fewer.")
    return shots
