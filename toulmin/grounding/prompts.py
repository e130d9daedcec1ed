"""The typed prompts: everything a method can ask of a language model, each a frozen value with named fields.

A prompt says what it wants by its type; how it is put into words is the business of the model that answers it, so the
embedded writer answers the same types by extraction. `read` turns a model's text into the prompt's own result,
leniently: what cannot be read is counted or left empty, never fatal. Passages are offered in order; the label that a
model sees beside the n-th is n, and `read` maps labels back to passage ids at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from toulmin.data import Claim, Label, Passage, Style
from toulmin.grounding.citing import Draft, Labels, list_items, read_draft, read_labels, without_marks
from toulmin.language import sentences

T = TypeVar("T")
Preset = Literal["cited", "expert", "plain", "simple", "list"]


class Prompt(Generic[T]):
    """One thing to ask of a model; `T` is what its reply is read into."""

    __slots__ = ()

    def read(self, text: str) -> T:
        """The reply's text as the prompt's result; never raises for odd text."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Example:
    """A worked answer to show a model: its question, passages, and the answer with `[n]` marks."""

    question: str
    passages: tuple[Passage, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A question of a plan with the answers found for it; no answers means not enough information."""

    question: str
    answers: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A part of an outline: a short name, what to write and what to leave to other parts."""

    title: str
    description: str


@dataclass(frozen=True, slots=True)
class AnswerPrompt(Prompt[Draft]):
    """Answer the question from the passages, citing them (`inline=False`: without citations).

    No passages at all asks for an answer from memory. `examples` stand in place of the preset's own demonstrations.
    `written` is a text already written about the question, from which with the passages the answer is to be drawn.
    """

    question: str
    passages: tuple[Passage, ...]
    style: Style = "long"
    examples: tuple[Example, ...] = ()
    preset: Preset = "cited"
    inline: bool = True
    written: str = ""

    def read(self, text: str) -> Draft:
        """The claims of the reply; a reply with no words is a draft without claims."""
        return read_draft(text, self.passages, self.style)


@dataclass(frozen=True, slots=True)
class NextClaim(Prompt[str | None]):
    """Write the one sentence that comes next after `written`, or say that the answer is complete."""

    question: str
    written: str
    passages: tuple[Passage, ...]
    style: Style = "long"

    def read(self, text: str) -> str | None:
        """The first sentence without marks; None for the end marker, an empty reply or a repetition."""
        plain = without_marks(text).strip()
        spans = sentences(plain)
        if not spans or re.match(r"\W*(end|done|none)\b\W*$", plain, re.IGNORECASE):
            return None
        first = plain[spans[0].start : spans[0].end]
        return None if first in self.written else first


@dataclass(frozen=True, slots=True)
class Cite(Prompt[Labels]):
    """Name the passages, one to three, that support the claim."""

    claim: str
    passages: tuple[Passage, ...]

    def read(self, text: str) -> Labels:
        """The cited passages in the order named."""
        return read_labels(text, self.passages)


@dataclass(frozen=True, slots=True)
class Queries(Prompt[tuple[str, ...]]):
    """Write at most `n` diverse questions whose answers would support the claim."""

    question: str
    written: str
    claim: str
    n: int = 3

    def read(self, text: str) -> tuple[str, ...]:
        """At most `n` distinct questions."""
        return list_items(text)[: self.n]


@dataclass(frozen=True, slots=True)
class Summarise(Prompt[str | None]):
    """Summarise the passage for the question in at most `words` words, or call it irrelevant."""

    question: str
    passage: Passage
    words: int = 50

    def read(self, text: str) -> str | None:
        """The summary, or None for an irrelevant passage."""
        return _relevant(text)


@dataclass(frozen=True, slots=True)
class Extract(Prompt[str | None]):
    """Copy the span of the passage that answers the question, able to stand alone, or call it irrelevant."""

    question: str
    passage: Passage

    def read(self, text: str) -> str | None:
        """The span, or None for an irrelevant passage."""
        return _relevant(text)


@dataclass(frozen=True, slots=True)
class Correct(Prompt[Draft]):
    """Correct and complete a draft; the first `rests_on` passages are those that it rests on."""

    question: str
    passages: tuple[Passage, ...]
    draft: tuple[Claim, ...]
    rests_on: int = 0
    style: Style = "long"

    def read(self, text: str) -> Draft:
        """The claims after the marker ("Corrected Answer:" or "Final Answer:"), else of the whole reply."""
        after = re.split(r"(?:corrected|final)\s+answer\W*:\W*", text, flags=re.IGNORECASE)[-1]
        return read_draft(after, self.passages, self.style)


@dataclass(frozen=True, slots=True)
class Outline(Prompt[tuple[Paragraph, ...]]):
    """Plan the paragraphs of a text about the topic from the passages."""

    topic: str
    passages: tuple[Passage, ...]

    def read(self, text: str) -> tuple[Paragraph, ...]:
        """The planned paragraphs; a reply without a recognisable one is one paragraph."""
        return tuple(Paragraph(*_title_and_rest(item)) for item in list_items(text))


@dataclass(frozen=True, slots=True)
class Questions(Prompt[tuple[str, ...]]):
    """Write stand-alone questions whose answers the described paragraph needs."""

    topic: str
    passages: tuple[Passage, ...]
    paragraph: Paragraph | None = None

    def read(self, text: str) -> tuple[str, ...]:
        """The distinct questions."""
        return list_items(text)


@dataclass(frozen=True, slots=True)
class Write(Prompt[Draft]):
    """Write about the topic from findings and passages, following the planned paragraphs."""

    topic: str
    passages: tuple[Passage, ...]
    findings: tuple[Finding, ...] = ()
    paragraphs: tuple[Paragraph, ...] = ()
    style: Style = "report"
    inline: bool = False

    def read(self, text: str) -> Draft:
        """The claims of the text."""
        return read_draft(text, self.passages, "long")


@dataclass(frozen=True, slots=True)
class Feedback(Prompt[Mapping[str, str]]):
    """Say for each scored aspect (0 to 100) what holds and what to mend, given the targets.

    Without scores the model judges the answer by itself (self-refine).
    """

    question: str
    passages: tuple[Passage, ...]
    claims: tuple[Claim, ...]
    scores: tuple[tuple[str, float], ...]
    targets: tuple[tuple[str, float], ...]

    def read(self, text: str) -> Mapping[str, str]:
        """The words said under each aspect's name; an aspect that was left out has no entry.

        Without scores everything that was said stands under "answer".
        """
        if not self.scores:
            return {"answer": text.strip()} if text.strip() else {}
        names = "|".join(re.escape(name) for name, _ in self.scores)
        parts = re.split(rf"(?im)^[^\w\n]*({names})[^\w\n]*:", text)
        return {name.lower(): part.strip() for name, part in zip(parts[1::2], parts[2::2], strict=True) if part.strip()}


@dataclass(frozen=True, slots=True)
class Refine(Prompt[Draft]):
    """Rewrite the answer so that it heeds the feedback; `history` holds earlier answers with theirs."""

    question: str
    passages: tuple[Passage, ...]
    claims: tuple[Claim, ...]
    feedback: Mapping[str, str]
    style: Style = "long"
    history: tuple[tuple[tuple[Claim, ...], Mapping[str, str]], ...] = ()

    def read(self, text: str) -> Draft:
        """The claims of the new answer."""
        return read_draft(text, self.passages, self.style)


@dataclass(frozen=True, slots=True)
class MostConsistent(Prompt[int]):
    """Choose among candidate answers the one that agrees most with the others."""

    question: str
    candidates: tuple[tuple[Claim, ...], ...]

    def read(self, text: str) -> int:
        """The position (from 0) of the chosen candidate; the first if none is named."""
        number = re.search(r"(?<!\d)\d{1,6}(?!\d)", text)
        chosen = int(number[0]) - 1 if number else 0
        return chosen if 0 <= chosen < len(self.candidates) else 0


@dataclass(frozen=True, slots=True)
class JudgeClaim(Prompt[Label]):
    """Say whether the passages together support the claim."""

    claim: str
    passages: tuple[Passage, ...]
    question: str | None = None

    def read(self, text: str) -> Label:
        """The verdict that is named first; what cannot be read, or is half denied, is `unsure`."""
        found = _VERDICT.search(text)
        if found is None:
            return "unsure"
        word, denied = found["word"].lower(), found["denied"]
        if word == "support" and (denied is None or not denied.lower().startswith("part")):
            return "supported" if denied is None else "unsupported"
        plain: dict[str, Label] = {"contradict": "contradicted", "unsupported": "unsupported"}
        return "unsure" if denied else plain.get(word, "unsure")


# "Not fully supported" must never be read as "supported".
_VERDICT = re.compile(
    r"(?P<denied>\b(?:not|no|never|neither|cannot|[a-z]{1,8}n['’]t|partly|partially)\b[^.\n]{0,30}?)?"
    r"(?P<word>contradict|unsupported|support|unsure)",
    re.IGNORECASE,
)


def _relevant(text: str) -> str | None:
    plain = text.strip()
    return None if not plain or re.match(r"\W*(not relevant|irrelevant)\b", plain, re.IGNORECASE) else plain


def _title_and_rest(item: str) -> tuple[str, str]:
    title, colon, rest = item.partition(":")
    return (title.strip(), rest.strip()) if colon and len(title) <= 60 else (item[:60].strip(), item)
