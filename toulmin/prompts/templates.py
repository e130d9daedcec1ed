"""Typed prompts as messages to a language model, shortened to fit its window."""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any, Literal, NamedTuple

from toulmin.data import Passage
from toulmin.errors import ModelError, UsageError
from toulmin.prompts import files
from toulmin.prompts.structured import Schema, brief, sketch
from toulmin.prompts.types import AnswerPrompt, Prompt
from toulmin.prompts.wording import WORDINGS

# ---------------------------------------------------------------- token counts without a tokenizer


# A digit or sign is a token, and so is the space before it; the space before a word belongs to the word.
_OTHER = r"[^\sA-Za-z\x80-\U0010ffff]|[^\S\n]{2,}|[^\S\n](?=[^A-Za-z\s])"
_ENGLISH_PIECE = re.compile(rf"[A-Z]{{1,2}}(?![a-z])|[A-Za-z]{{1,4}}|{_OTHER}")
_FOREIGN_PIECE = re.compile(rf"[A-Za-z]{{1,2}}|{_OTHER}")
# Vocabularies hold whole English words, but split those of other languages, names and capitals into pieces.
_ENGLISH = frozenset(
    "the of and to in a an is was were for on that by with as are his her from at it its be or".split()
)
_ENGLISH_SHARE = 0.15

# Tokens per non-ASCII character. Vocabularies hold whole Cyrillic words, single Greek or Hebrew letters, and only
# the bytes of many scripts.
_WEIGHTS = (
    (re.compile(r"[\u0080-\u07ff]"), 1.5),
    (re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]"), 1.5),
    (re.compile(r"[\uac00-\ud7a3]"), 2.0),
    (re.compile(r"[\u0800-\u303f\u3100-\u4dff\ua000-\uabff\ud7a4-\uffff]"), 3.0),
    (re.compile(r"[\U00010000-\U0010ffff]"), 4.0),
)


def estimate_tokens(text: str) -> int:
    """Rarely too few, in any script: 1.2 to 1.5 times the true number for English prose, up to 2.5 times for most
    other languages (`benchmarks/results/tokens.txt`).
    """
    lines = text.split("\n")
    return ceil(sum(_of_line(line) for line in lines)) + len(lines) - 1


def _of_line(line: str) -> float:
    words = line.lower().split()
    is_english = sum(map(_ENGLISH.__contains__, words)) >= _ENGLISH_SHARE * len(words)
    size = len((_ENGLISH_PIECE if is_english else _FOREIGN_PIECE).findall(line))
    if line.isascii():
        return size
    return size + sum(weight * len(pattern.findall(line)) for pattern, weight in _WEIGHTS)


# ---------------------------------------------------------------- templates


_COMPACT = f"{files.FORMAT}-compact"
_ASKED = ("claim", "question", "topic")  # what a prompt may be about
_AROUND_A_MESSAGE = 8  # the most tokens that a chat template adds around a message


class Message(NamedTuple):
    role: Literal["system", "user", "assistant"]
    content: str


class RenderedPrompt(NamedTuple):
    """A prompt as it is sent, without `omitted` passages from the end, which did not fit."""

    messages: tuple[Message, ...]
    omitted: int = 0
    schema: Schema | None = None

    @property
    def text(self) -> str:
        """One text to be continued, for the completion route."""
        text = ""
        for before, message in zip((None, *self.messages), self.messages, strict=False):
            is_reply = message.role == "assistant"
            gap = " " if is_reply else "\n\n\n" if before and before.role == "assistant" else "\n\n"
            text += (gap if before else "") + message.content
        return text


# What a prompt asks, and a passage; gives the passage with the part of its text that bears on it.
Narrow = Callable[[str, Passage], Passage]


@dataclass(frozen=True, slots=True)
class Templates:
    """Texts for every typed prompt; `version` identifies texts and examples in cache keys."""

    version: str
    _texts: files.Texts
    _alce: files.AlceFile | None = None
    _shorten_passage: Narrow | None = None
    _is_for_small_model: bool = False

    @classmethod
    def compact(cls, shorten: Narrow | None = None, *, is_small: bool = False) -> Templates:
        """Short texts without examples; `shorten` cuts a passage. A small model writes one text in place of claims."""
        texts = files.load_shipped_texts(compact=True)
        return cls(_COMPACT, texts, _shorten_passage=shorten, _is_for_small_model=is_small)

    @classmethod
    def default(cls, shots: int | None = None) -> Templates:
        """The shipped texts, with `shots` worked examples before an answer (None: all). A correction has one, which
        only `shots=0` removes. Raises `UsageError` for more than there are.
        """
        return cls._of(files.load_shipped_texts(), shots)

    @classmethod
    def load(cls, path: str | Path, shots: int | None = None) -> Templates:
        """A TOML file replaces texts of `prompts.toml` by name; a JSON file is ALCE's and replaces `AnswerPrompt`.

        `shots` of None takes two demonstrations of ALCE. Raises `UsageError`.
        """
        file = Path(path)
        if file.suffix.lower() == ".toml":
            return cls._of(files.replace_texts(file, files.load_shipped_texts()), shots)
        if file.suffix.lower() == ".json":
            _check_shots(shots, files.MOST_EXAMPLES)
            return cls._of(files.load_shipped_texts(), None, files.read_alce(file, shots))
        raise UsageError(f"A prompt file ends in .toml, or in .json if it is one of ALCE's; {file.name!r} does not.")

    @classmethod
    def _of(cls, texts: files.Texts, shots: int | None, alce: files.AlceFile | None = None) -> Templates:
        _check_shots(shots, max(len(texts.demonstrations[kind]) for kind in ("cited", "list")))
        demonstrations = {kind: examples[:shots] for kind, examples in texts.demonstrations.items()}
        chosen = files.Texts(texts.by_name, demonstrations, shots)
        is_shipped = alce is None and chosen == files.load_shipped_texts()
        return cls(str(files.FORMAT) if is_shipped else f"{files.FORMAT}+{_digest(chosen, alce)}", chosen, alce)

    @property
    def are_shipped(self) -> bool:
        return self.version in (str(files.FORMAT), _COMPACT)

    def render(
        self,
        prompt: Prompt[Any],
        window: int | None = None,
        count: Callable[[str], int] = estimate_tokens,
        *,
        structured: bool = False,
    ) -> RenderedPrompt:
        """The prompt in at most `window` tokens (None: no limit); `structured` requests JSON if it has a schema.

        Leaves out passages from the end until one is left, then examples. Raises `ModelError` if that is too long.
        """
        whole = self._wording(prompt, structured)
        # A text never has more tokens than bytes, which are quick to count.
        if window is None or any(_size(whole, each) <= window for each in (lambda text: len(text.encode()), count)):
            return _rendered(whole)
        return self._shorten(prompt, window, count, structured)

    def _shorten(
        self, prompt: Prompt[Any], window: int, count: Callable[[str], int], structured: bool
    ) -> RenderedPrompt:
        passages: tuple[Any, ...] = getattr(prompt, "passages", ())

        def with_first(kept: int) -> files.Wording:
            shown = replace(prompt, passages=passages[:kept]) if passages else prompt  # type: ignore[type-var]
            return self._wording(shown, structured)

        fewer = range(1, len(passages))
        kept = bisect_right(fewer, window, key=lambda kept: _size(with_first(kept), count))
        if kept:
            return _rendered(with_first(kept), len(passages) - kept)
        least = with_first(1)
        for shots in reversed(range(len(least.turns))):
            fitting = replace(least, turns=least.turns[:shots])
            if _size(fitting, count) <= window:
                return _rendered(fitting, max(0, len(passages) - 1))
        raise _too_long(prompt, _size(replace(least, turns=()), count), window)

    def _wording(self, prompt: Prompt[Any], structured: bool) -> files.Wording:
        wording = self._prose(self._narrowed(prompt))
        schema = prompt.schema() if structured and wording.joint is None else None
        if schema is not None:
            short = brief(schema) if self._is_for_small_model else schema
            form = self._texts.fill("parts.json" if short is schema else "parts.json_brief", form=sketch(short))
            turns = tuple(replace(turn, reply=turn.in_json) for turn in wording.turns)
            wording = replace(wording, system=f"{wording.system}\n\n{form}", turns=turns, schema=short)
        if self._is_for_small_model:  # it heeds its own system message more than another
            return replace(wording, system="", user=f"{wording.system}\n\n{wording.user}".strip())
        return wording

    def _narrowed(self, prompt: Prompt[Any]) -> Prompt[Any]:
        passages: tuple[Passage, ...] = getattr(prompt, "passages", ())
        if self._shorten_passage is None or not passages:
            return prompt
        asked = next(text for name in _ASKED if (text := getattr(prompt, name, None)))
        shorter = tuple(self._shorten_passage(asked, passage) for passage in passages)
        return replace(prompt, passages=shorter)  # type: ignore[type-var]

    def _prose(self, prompt: Prompt[Any]) -> files.Wording:
        if isinstance(prompt, AnswerPrompt) and self._alce is not None and _is_for(self._alce, prompt):
            return self._alce.wording(prompt)
        words = WORDINGS.get(type(prompt))
        if words is None:
            known = ", ".join(kind.__name__ for kind in WORDINGS)
            raise UsageError(f"There are no words for a prompt of the type {type(prompt).__name__}; known: {known}.")
        return words(prompt, self._texts)


def _is_for(alce: files.AlceFile, prompt: AnswerPrompt) -> bool:
    """False if the file has no words for an answer from memory or from a text."""
    if prompt.passages and not alce.shows_passages:
        raise UsageError("The prompt file has no {D}, so it cannot show passages: use it with the method 'closed'.")
    return not prompt.written and alce.shows_passages == bool(prompt.passages)


def _rendered(wording: files.Wording, omitted: int = 0) -> RenderedPrompt:
    return RenderedPrompt(tuple(_messages(wording)), omitted, wording.schema)


def _messages(wording: files.Wording) -> Iterator[Message]:
    if wording.system:
        yield Message("system", wording.system)
    if wording.joint is not None:
        demonstrations = [f"{turn.user} {turn.reply}" for turn in wording.turns]
        yield Message("user", wording.joint.join([*demonstrations, wording.user]))
        return
    for turn in wording.turns:
        yield Message("user", turn.user)
        yield Message("assistant", turn.reply)
    yield Message("user", wording.user)


def _size(wording: files.Wording, count: Callable[[str], int]) -> int:
    return sum(count(message.content) + _AROUND_A_MESSAGE for message in _messages(wording))


def _too_long(prompt: Prompt[Any], size: int, window: int) -> ModelError:
    shown = " with one passage" if getattr(prompt, "passages", ()) else ""
    return ModelError(
        f"The prompt {type(prompt).__name__} takes about {size} tokens{shown}, but the model's window leaves {window}:"
        " use a model with a larger window, or set its window larger or its max_tokens smaller, or shorten passages."
    )


def _check_shots(shots: int | None, available: int) -> None:
    if shots is not None and not 0 <= shots <= available:
        raise UsageError(f"shots should be from 0 to {available}, the demonstrations that there are, not {shots}.")


def _digest(texts: files.Texts, alce: files.AlceFile | None) -> str:
    content = json.dumps([asdict(texts), asdict(alce) if alce else None], sort_keys=True)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]
