"""Simulation: draws that depend on nothing but what is drawn, and two parts that answer by chance.

The parts are negative controls: a method that is any better with them than without gains by something else than
checking. Nothing here is meant for answering people.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from toulmin.data import Claim, Passage, content_id
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import AnswerPrompt, Prompt
from toulmin.steps import Generate, Pair, Verdict
from toulmin.text.language import sentences

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Dice:
    """Draws by name: the same name gives the same draw in any order and any process, another name another one."""

    key: str

    def share(self, *name: object) -> float:
        """A number from 0 up to, but not including, 1; uniform over names."""
        text = "\x1f".join((self.key, *map(str, name)))
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=7).digest()
        return float(int.from_bytes(digest, "big") / 2**56)

    def falls(self, probability: float, *name: object) -> bool:
        """Whether something of that probability happens."""
        return self.share(*name) < probability

    def pick(self, options: Sequence[T], *name: object) -> T:
        """One of the options, each as likely."""
        return options[int(self.share(*name) * len(options))]

    def of(self, *name: object) -> Dice:
        """Dice for one matter, independent of those for another."""
        return Dice("\x1f".join((self.key, *map(str, name))))


def prompt_key(prompt: Prompt[Any]) -> str:
    """What a prompt asks, as a short key: its type and all its fields, passages by id."""
    keys = (_key_of(getattr(prompt, field.name)) for field in fields(prompt))  # type: ignore[arg-type]
    return content_id(type(prompt).__name__, *keys)


def _key_of(value: Any) -> str:
    if isinstance(value, Passage):
        return value.id
    if isinstance(value, Claim):
        return "\x1e".join((value.text, *value.cited))
    if isinstance(value, tuple):
        return "\x1d".join(map(_key_of, value))
    return str(value)


class ChanceJudge:
    """A judge that does not read: each pair is supported with probability one half (negative control)."""

    name = "simulation: chance judge"

    def __init__(self, seed: int = 0) -> None:
        self._dice = Dice(f"chance judge {seed}")

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """One verdict a pair, in order; equal pairs have equal verdicts."""
        return [self._verdict(pair) for pair in pairs]

    def _verdict(self, pair: Pair) -> Verdict:
        support = self._dice.share(pair.claim, pair.question, *(p.id for p in pair.premises))
        return Verdict("supported" if support >= 0.5 else "unsupported", support, 0.0, self.name)


class ChanceWriter:
    """A model that answers with sentences drawn by chance, or with nothing, each half the time (negative control).

    The sentences are those of the passages it is shown, or of `elsewhere` where that is given: words of the passages
    shown still tell which passages those were, words from elsewhere tell nothing at all.
    """

    name = "simulation: chance writer"
    concurrency = 64

    def __init__(self, seed: int = 0, elsewhere: Sequence[Passage] = ()) -> None:
        self._dice = Dice(f"chance writer {seed}")
        self._elsewhere = elsewhere

    def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        """One reply a request, in order; nothing for any prompt but `AnswerPrompt`."""
        return [Reply(self._write(request)) for request in requests]

    def _write(self, request: Generate) -> str:
        prompt = request.prompt
        if not isinstance(prompt, AnswerPrompt) or not prompt.passages:
            return ""
        dice = self._dice.of(prompt_key(prompt), request.sample)
        if dice.falls(0.5, "silent"):
            return ""
        count = 1 + int(dice.share("sentences") * 3)
        return " ".join(self._sentence(prompt.passages, dice.of(n)) for n in range(count))

    def _sentence(self, shown: Sequence[Passage], dice: Dice) -> str:
        label = 1 + int(dice.share("label") * len(shown))
        source = dice.pick(self._elsewhere, "elsewhere") if self._elsewhere else shown[label - 1]
        spans = sentences(source.text)
        if not spans:
            return ""
        start, end = dice.pick(spans, "sentence")
        return f"{' '.join(source.text[start:end].split())} [{label}]"
