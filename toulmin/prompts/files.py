"""Prompt files: the shipped texts, a user's replacements, and the quoting of foreign text.

* `<passage>` becomes `&lt;passage>`; a label `[n]` gets a backslash, which readers of replies remove.
* Marks of chat templates (`<|im_start|>`, `[INST]`) lose their opening bracket: some tokenizers obey them anywhere.
* Invisible characters are removed; lone surrogates become U+FFFD.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from toulmin.data import Passage, escape_marks
from toulmin.errors import UsageError, cause_of, unknown_name
from toulmin.prompts.structured import Schema
from toulmin.prompts.types import AnswerPrompt, Example, Shortened

# ---------------------------------------------------------------- texts and their placeholders


PLACEHOLDER = re.compile(r"\{\{(?P<literal>[a-z_]+)\}\}|(?P<space> ?)\{(?P<name>[a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Turn:
    """A worked example; `in_json` is its reply for a schema."""

    user: str
    reply: str
    in_json: str = ""


@dataclass(frozen=True, slots=True)
class Wording:
    """A prompt in words; `joint` separates examples and request in one message (None: each is a turn)."""

    system: str
    user: str
    turns: tuple[Turn, ...] = ()
    joint: str | None = None
    schema: Schema | None = None


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A worked example; the draft of a correction rests on the first `rests_on` passages.

    `shortened` holds the example over summaries and over extracts.
    """

    example: Example
    draft: str = ""
    rests_on: int = 0
    shortened: Mapping[str, Example] = field(default_factory=dict)

    def over(self, form: Shortened) -> Example:
        return self.shortened.get(form, self.example)


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts by name ("cite.system"), and worked examples by kind; `shots`: the number requested."""

    by_name: Mapping[str, str]
    demonstrations: Mapping[str, tuple[Demonstration, ...]] = field(default_factory=dict)
    shots: int | None = None

    def fill(self, name: str, **values: str) -> str:
        """Leaves out a block that has no words."""
        blocks = (_fill_block(block, values) for block in self.by_name[name].strip("\n").split("\n\n"))
        return "\n\n".join(block for block in blocks if block.strip())


def _fill_block(block: str, values: Mapping[str, str]) -> str:
    def fill_in(match: re.Match[str]) -> str:  # the space before an empty one goes, too
        words = values[match["name"]] if match["name"] else f"{{{match['literal']}}}"
        return (match["space"] or "") + words if words else ""

    return PLACEHOLDER.sub(fill_in, block).strip(" ")


# ---------------------------------------------------------------- foreign text inside a prompt


_OWN_TAGS = r"passage|draft|answer|text|feedback"
_TURNS = r"system|user|assistant|human|tool|start_of_turn|end_of_turn|bos|eos|pad|unk|s|think|im_start|im_end|eot_id"
_TAG = re.compile(rf"[<＜﹤‹〈](?=[^\w<>|｜]{{0,9}}(?:[|｜]|<\s*/?\s*sys\b|(?:{_OWN_TAGS}|{_TURNS})\b))", re.IGNORECASE)
_TURN_IN_BRACKETS = re.compile(r"\[(?=\s*/?\s*(?:inst|available_tools|tool_calls|tool_results)\s*\])", re.IGNORECASE)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def quote(text: str) -> str:
    """Makes the text harmless to the prompt around it."""
    seen = _HALF_PAIR.sub("\ufffd", _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    return _TURN_IN_BRACKETS.sub("&#91;", _TAG.sub("&lt;", seen)).strip()


@lru_cache(maxsize=1024)  # examples recur in every prompt, passages in many prompts of one question
def escape_labels(text: str) -> str:
    """Also escapes labels, for text among passages numbered `[n]`."""
    return escape_marks(quote(text))


def on_one_line(text: str) -> str:
    return " ".join(text.split())


# ---------------------------------------------------------------- a user's texts in place of the shipped ones


FORMAT = 1
MOST_EXAMPLES = 4
# These may be empty, and leave out placeholders of the shipped text.
_INSTRUCTIONS = re.compile(r"\.(?:system\w*|cited|uncited|memory)$|^parts\.(?:data|long|short|list|report|nothing\w+)$")
_MORE = {"correct": {"rests_on"}}  # placeholders that shipped texts of that prompt do not show
_DISPENSABLE = {"answer.user": {"written"}, "summarise.user": {"words"}, "queries.user": {"n"}} | {
    f"correct.{user}": {"basis", "rests_on"} for user in ("user", "user_list")
}


def load_shipped_texts(*, compact: bool = False) -> Texts:
    """`prompts.toml` with the examples of `demonstrations.toml`, or with `compact.toml` over it and no examples."""
    texts, examples = _read_shipped("prompts.toml"), {} if compact else _read_shipped("demonstrations.toml")
    by_name = dict(_flat(texts)) | (dict(_flat(_read_shipped("compact.toml"))) if compact else {})
    del by_name["version"]
    return Texts(by_name, {kind: _examples(kind, entries) for kind, entries in examples.items()})


def _read_shipped(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("toulmin.prompts").joinpath(name).read_text("utf-8"))


def replace_texts(path: Path, shipped: Texts) -> Texts:
    """The shipped texts with those of the user's TOML file in their place; raises `UsageError`."""
    data = read_file(path, "TOML", tomllib.loads)
    try:
        version = data.pop("version", FORMAT)
        if version != FORMAT:
            raise UsageError(f"expected version = {FORMAT}, which this Toulmin reads, not {version!r}.")
        examples = data.pop("examples", {})
        texts = {name: _valid_text(name, text, shipped) for name, text in _flat(data)}
        return Texts({**shipped.by_name, **texts}, {**shipped.demonstrations, **_user_examples(examples, shipped)})
    except (UsageError, RecursionError) as error:
        raise UsageError(f"The prompt file {path}: {error}") from None


def read_file(path: Path, form: str, loads: Callable[[str], Any]) -> Any:
    try:
        return loads(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The prompt file {path} should be a readable text in UTF-8: {cause_of(error)}.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The prompt file {path} should be {form}: {error}.") from error


def _flat(tables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """By names such as "answer.cited.memory"."""
    for key, value in tables.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _valid_text(name: str, text: Any, shipped: Texts) -> str:
    if name not in shipped.by_name:
        raise unknown_name("prompt text", name, shipped.by_name)
    is_instruction = _INSTRUCTIONS.search(name) is not None
    if not isinstance(text, str) or not (text.strip() or is_instruction):
        raise UsageError(f"{name} should be a text that is not empty, not {text!r}.")
    shown, placeholders = _placeholders(shipped.by_name[name]), _placeholders(text)
    known = shown | _MORE.get(name.partition(".")[0], set())
    for placeholder in sorted(placeholders - known):
        raise UsageError(f"{name}: {unknown_name('placeholder', placeholder, known)}")
    missing = sorted(shown - placeholders - _DISPENSABLE.get(name, set())) if not is_instruction else []
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
    shortened = _shortened_examples(example, entry["passages"])
    return Demonstration(example, entry.get("draft", ""), entry.get("rests_on", 0), shortened)


_MARK = re.compile(r"\[(\d+)\]")


def _shortened_examples(example: Example, entries: Sequence[Mapping[str, Any]]) -> dict[str, Example]:
    texts = {form: [str(entry.get(form) or "") for entry in entries] for form in ("summary", "extraction")}
    return {form: _shorten_example(example, shorts) for form, shorts in texts.items() if any(shorts)}


def _shorten_example(example: Example, shorts: Sequence[str]) -> Example:
    """As in Summ and Snippet, without irrelevant passages; renumbers the others."""
    kept = [n for n, short in enumerate(shorts, start=1) if short and "irrelevant" not in short.lower()]
    passages = tuple(Passage.of(shorts[n - 1], example.passages[n - 1].title) for n in kept)
    numbers = {str(n): f"[{place}]" for place, n in enumerate(kept, start=1)}
    return Example(example.question, passages, _MARK.sub(lambda mark: numbers.get(mark[1], ""), example.answer))


def _example_passages(where: str, entries: Sequence[Any]) -> tuple[Passage, ...]:
    for entry in entries:
        texts = (entry.get("text"), entry.get("title", "")) if isinstance(entry, dict) else (None,)
        if not all(isinstance(text, str) for text in texts):
            raise UsageError(f"{where}: a passage should be a title and a text, not {entry!r}.")
    return tuple(Passage.of(entry["text"], entry.get("title", "")) for entry in entries)


# ---------------------------------------------------------------- prompt files of ALCE


_PLACEHOLDER = re.compile(r"\{(INST|Q|D|A|ID|T|P)\}")
_TEXTS = {"instruction": None, "demo_prompt": "{Q} {A}", "doc_prompt": "{ID} {P}", "demo_sep": None}
_SHOTS = 2  # as ALCE's own runs show


@dataclass(frozen=True, slots=True)
class AlceFile:
    """A prompt file of ALCE: `demo_prompt` frames examples and the question, `doc_prompt` each passage."""

    instruction: str
    demo_prompt: str
    doc_prompt: str
    demo_sep: str
    demos: tuple[Demonstration, ...]

    @property
    def shows_passages(self) -> bool:
        """False for files for closed-book runs."""
        return "{D}" in self.demo_prompt

    def wording(self, prompt: AnswerPrompt) -> Wording:
        examples = prompt.examples or tuple(demo.over(prompt.shortened) for demo in self.demos)
        turns = tuple(
            Turn(self._frame(example.question, example.passages), quote(example.answer)) for example in examples
        )
        return Wording("", self._frame(prompt.question, prompt.passages), turns, self.demo_sep)

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
    """With `shots` demonstrations (None: at most two); raises `UsageError`."""
    data = read_file(path, "JSON", json.loads)
    try:
        texts = {key: _text(data, key, needs) for key, needs in _TEXTS.items()}
        demos = tuple(_demo(demo) for demo in data.get("demos", ()))
        if shots is not None and shots > len(demos):
            available = f"the file holds {len(demos)} demonstrations: give {len(demos)} or fewer"
            raise UsageError(f"shots={shots}, but {available}.")
        return AlceFile(**texts, demos=demos[: _SHOTS if shots is None else shots])
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


def _demo(record: Any) -> Demonstration:
    try:
        docs = record.get("docs", [])
        answer = record["answer"] if isinstance(record["answer"], str) else ", ".join(record["answer"])
        passages = tuple(Passage.of(doc["text"], doc["title"]) for doc in docs)
        example = Example(record["question"] + "", passages, answer)
        return Demonstration(example, shortened=_shortened_examples(example, docs))
    except (AttributeError, KeyError, TypeError):
        raise UsageError("each of demos should have question, answer and docs with title and text.") from None
