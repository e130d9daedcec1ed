"""Prompt files of ALCE."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toulmin.data import Passage
from toulmin.errors import UsageError
from toulmin.prompts.files import read_text
from toulmin.prompts.quoting import escape_labels, on_one_line, quote
from toulmin.prompts.texts import Turn, Wording
from toulmin.prompts.types import AnswerPrompt, Example

_PLACEHOLDER = re.compile(r"\{(INST|Q|D|A|ID|T|P)\}")
_TEXTS = {"instruction": None, "demo_prompt": "{Q} {A}", "doc_prompt": "{ID} {P}", "demo_sep": None}
_SHOTS = 2  # as ALCE's own runs show


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
        """False for files for closed-book runs."""
        return "{D}" in self.demo_prompt

    def wording(self, prompt: AnswerPrompt, data: str) -> Wording:
        """The prompt in the file's words, with `data`, the rule about passages, as instructions."""
        turns = tuple(
            Turn(self._frame(example.question, example.passages), quote(example.answer))
            for example in prompt.examples or self.demos
        )
        user = self._frame(prompt.question, prompt.passages)
        return Wording(data if prompt.passages else "", user, turns, self.demo_sep)

    def _frame(self, question: str, passages: Sequence[Passage]) -> str:
        values = {
            "INST": self.instruction,
            "Q": on_one_line(escape_labels(question)),
            "D": "".join(self._document(n, passage) for n, passage in enumerate(passages, start=1)),
            "A": "",
        }
        return _fill_template(self.demo_prompt, values).rstrip()

    def _document(self, n: int, passage: Passage) -> str:
        # On one line, so that a passage's text cannot begin another passage.
        title, text = on_one_line(escape_labels(passage.title)), on_one_line(escape_labels(passage.text))
        return _fill_template(self.doc_prompt, {"ID": str(n), "T": title, "P": text})


def _fill_template(template: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), template)


def read_alce(path: Path, shots: int | None) -> AlceFile:
    """Reads a file with `shots` of its demonstrations (None: at most two); raises `UsageError`."""
    try:
        data = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise UsageError(f"The prompt file {path} should be JSON: {error}.") from error
    try:
        texts = {key: _text(data, key, needs) for key, needs in _TEXTS.items()}
        demos = tuple(_demo(demo) for demo in data.get("demos", ()))
        return AlceFile(**texts, demos=demos[: _shots(len(demos), shots)])
    except UsageError as error:
        raise UsageError(f"The prompt file {path}: {error}") from None


def _text(data: Any, key: str, needs: str | None) -> str:
    text = data.get(key) if isinstance(data, dict) else None
    if not isinstance(text, str):
        raise UsageError(f"expected a JSON object with the text {key!r}, as ALCE's prompt files have it.")
    for placeholder in (needs or "").split():
        if placeholder not in text:
            raise UsageError(f"{key} should hold {placeholder}, and does not.")
    return text


def _demo(record: Any) -> Example:
    try:
        docs = tuple(Passage.of(doc["text"], doc["title"]) for doc in record.get("docs", []))
        answer = record["answer"] if isinstance(record["answer"], str) else ", ".join(record["answer"])
        return Example(record["question"] + "", docs, answer)
    except (AttributeError, KeyError, TypeError):
        raise UsageError("each of demos should have question, answer and docs with title and text.") from None


def _shots(available: int, shots: int | None) -> int:
    if shots is None:
        return _SHOTS
    if shots > available:
        raise UsageError(f"shots={shots}, but the file holds {available} demonstrations: give {available} or fewer.")
    return shots
