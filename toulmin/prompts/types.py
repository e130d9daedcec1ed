"""The typed prompts: every request of a method to a language model.

The embedded writer answers all but `JudgeClaim` by extraction. `read` never fails: unreadable parts are counted or left
empty. The n-th passage has the label n. tests/zoo holds sample replies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from toulmin.data import Claim, Label, Passage, Style
from toulmin.parsing.abstaining import is_nothing
from toulmin.parsing.choosing import choice_in, verdict_in, words_by_aspect
from toulmin.parsing.citing import Draft, Labels, read_labels
from toulmin.parsing.lines import label
from toulmin.parsing.marks import bracket_marks
from toulmin.parsing.replying import plain_text, plan_in, questions_in, read_reply, without_courtesy
from toulmin.parsing.wrapping import unwrap
from toulmin.prompts import structured
from toulmin.prompts.structured import Schema
from toulmin.text.followup import Turn
from toulmin.text.language import sentence_texts, words

T = TypeVar("T")
Strays = tuple[tuple[int, ...], ...]  # of each claim, the numbers in its marks that no passage has
Preset = Literal["cited", "expert", "plain", "simple", "list"]
Shortened = Literal["", "summary", "extraction"]  # what stands for whole passages, as ALCE's prompt files call it


class Prompt(Generic[T]):
    """A request with the result `T`."""

    __slots__ = ()

    def schema(self) -> Schema | None:
        """Of a reply in JSON; None for prose."""
        return None

    def read(self, text: str, *, is_cut: bool = False) -> T:
        """The result of JSON of the schema, else of a text without thinking, tags and JSON around it.

        If it `is_cut`, the last sentence is dropped unless it is the only one. Never raises.
        """
        fields = structured.fields_of(text, self.schema())
        if fields is not None:
            return self.value(fields)
        words = unwrap(text)
        return self.result((structured.without_cut_end(words) or words) if is_cut else words)

    def read_begun(self, text: str) -> T | None:
        """The result of the whole sentences of a reply so far; None before one."""
        fields = structured.fields_of(text, self.schema())
        whole = "" if text.lstrip().startswith("{") else structured.without_cut_end(unwrap(text))
        return self.value(fields) if fields is not None else self.result(whole) if whole else None

    def result(self, text: str) -> T:
        raise NotImplementedError

    def value(self, fields: Mapping[str, Any]) -> T:
        """The result of an object of the schema."""
        raise NotImplementedError


class _CitedClaims:
    __slots__ = ()
    passages: tuple[Passage, ...]
    style: Style

    def schema(self) -> Schema | None:
        return structured.claims(self.passages, self.style)

    def value(self, fields: Mapping[str, Any]) -> Draft:
        return structured.draft_of(fields["claims"], self.passages, self.style)

    def result(self, text: str) -> Draft:
        """The claims after the last marker ("Final Answer:"), else of the whole reply."""
        return read_reply(text, self.passages, self.style)


class _ShortText:
    """A prompt for the content of one passage; None if it is irrelevant."""

    __slots__ = ()

    def schema(self) -> Schema:
        return structured.fields(text=structured.TEXT_OR_NONE)

    def value(self, fields: Mapping[str, Any]) -> str | None:
        return self.result(fields["text"] or "")

    def result(self, text: str) -> str | None:
        plain = plain_text(text)
        return None if is_nothing(plain) or _IRRELEVANT.match(plain) else plain


class _QuestionList:
    __slots__ = ()
    n: int | None = None

    def schema(self) -> Schema:
        return structured.fields(questions=structured.several(structured.TEXT, 1, self.n))

    def value(self, fields: Mapping[str, Any]) -> tuple[str, ...]:
        return structured.texts_of(fields["questions"])[: self.n]

    def result(self, text: str) -> tuple[str, ...]:
        return questions_in(text)[: self.n]


@dataclass(frozen=True, slots=True)
class Example:
    """A worked answer: its question, passages, and the answer with `[n]` marks."""

    question: str
    passages: tuple[Passage, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A question of a plan with its answers; none means not enough information."""

    question: str
    answers: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A part of an outline: a short name and what to write."""

    title: str
    description: str


@dataclass(frozen=True, slots=True)
class AnswerPrompt(_CitedClaims, Prompt[Draft]):
    """Answer the question from the passages (none: from memory), citing them if `inline`.

    `examples` replace the preset's. `written` is an earlier text to use; `shortened` names the form of the passages.
    `words` is the length of what the embedded writer quotes.
    """

    question: str
    passages: tuple[Passage, ...]
    style: Style = "long"
    examples: tuple[Example, ...] = ()
    preset: Preset = "cited"
    inline: bool = True
    written: str = ""
    shortened: Shortened = ""
    words: int | None = None

    def schema(self) -> Schema | None:
        return structured.claims(self.passages, self.style) if self.inline and self.preset != "plain" else None


@dataclass(frozen=True, slots=True)
class NextClaim(Prompt[str | None]):
    """Write the sentence after `written`, or end the answer."""

    question: str
    written: str
    passages: tuple[Passage, ...]
    style: Style = "long"

    def schema(self) -> Schema:
        return structured.fields(sentence=structured.TEXT_OR_NONE)

    def value(self, fields: Mapping[str, Any]) -> str | None:
        return self.result(fields["sentence"] or "")

    def result(self, text: str) -> str | None:
        """The first sentence; None for the end marker, an empty reply, a refusal or a repetition."""
        named = _SENTENCE_LABEL.match(text)
        sentence = text[named.end() if named else 0 :].lstrip(".… \n")
        claims = read_reply(sentence, self.passages, "long").claims
        written = set(map(_word_key, sentence_texts(self.written)))
        if not claims or _END.match(sentence) or _word_key(claims[0].text) in written:
            return None
        return claims[0].text


@dataclass(frozen=True, slots=True)
class Cite(Prompt[Labels]):
    """Name the passages, one to three, that support the claim."""

    claim: str
    passages: tuple[Passage, ...]

    def schema(self) -> Schema | None:
        return structured.fields(passages=structured.labels(len(self.passages))) if self.passages else None

    def value(self, fields: Mapping[str, Any]) -> Labels:
        return structured.cited(fields, self.passages)

    def result(self, text: str) -> Labels:
        """In order, without passages said not to support the claim."""
        if is_nothing(text):
            return Labels()
        marked = bracket_marks(text, len(self.passages))
        return read_labels(marked.replace(self.claim.rstrip(". "), ""), self.passages)


@dataclass(frozen=True, slots=True)
class Queries(_QuestionList, Prompt[tuple[str, ...]]):
    """Write at most `n` diverse questions whose answers would support the claim."""

    question: str
    written: str
    claim: str
    n: int = 3


@dataclass(frozen=True, slots=True)
class Summarise(_ShortText, Prompt[str | None]):
    """Summarise the passage for the question in at most `words` words, or call it irrelevant."""

    question: str
    passage: Passage
    words: int = 50


@dataclass(frozen=True, slots=True)
class Extract(_ShortText, Prompt[str | None]):
    """Copy the span of the passage that answers the question and can stand alone, or call it irrelevant."""

    question: str
    passage: Passage


@dataclass(frozen=True, slots=True)
class Correct(_CitedClaims, Prompt[Draft]):
    """Correct and complete a draft that rests on the first `rests_on` passages."""

    question: str
    passages: tuple[Passage, ...]
    draft: tuple[Claim, ...]
    rests_on: int = 0
    style: Style = "long"


@dataclass(frozen=True, slots=True)
class Outline(Prompt[tuple[Paragraph, ...]]):
    """Plan the paragraphs of a text about the topic from the passages."""

    topic: str
    passages: tuple[Passage, ...]

    def schema(self) -> Schema:
        part = structured.fields(title=structured.TEXT, description=structured.TEXT)
        return structured.fields(paragraphs=structured.several(part, 1))

    def value(self, fields: Mapping[str, Any]) -> tuple[Paragraph, ...]:
        listed = fields["paragraphs"]
        parts = (Paragraph(*(" ".join(part[key].split()) for key in ("title", "description"))) for part in listed)
        return tuple(part for part in parts if part.title) or (Paragraph(self.topic, ""),)

    def result(self, text: str) -> tuple[Paragraph, ...]:
        """Without a recognisable plan, one paragraph on the topic."""
        planned = tuple(Paragraph(part.title, part.rest) for part in plan_in(text))
        return planned or (Paragraph(self.topic, plain_text(text)),)


@dataclass(frozen=True, slots=True)
class Questions(_QuestionList, Prompt[tuple[str, ...]]):
    """Write stand-alone questions whose answers the paragraph needs."""

    topic: str
    passages: tuple[Passage, ...]
    paragraph: Paragraph | None = None


@dataclass(frozen=True, slots=True)
class Write(Prompt[Draft]):
    """Write about the topic from findings and passages, following the paragraphs."""

    topic: str
    passages: tuple[Passage, ...]
    findings: tuple[Finding, ...] = ()
    paragraphs: tuple[Paragraph, ...] = ()
    style: Style = "report"
    inline: bool = False

    def result(self, text: str) -> Draft:
        return read_reply(text, self.passages, "long")


@dataclass(frozen=True, slots=True)
class Feedback(Prompt[Mapping[str, str]]):
    """Criticise each scored aspect (0 to 100); without scores, the answer as a whole (self-refine)."""

    question: str
    passages: tuple[Passage, ...]
    claims: tuple[Claim, ...]
    scores: tuple[tuple[str, float], ...]
    targets: tuple[tuple[str, float], ...]
    strays: Strays = ()

    def result(self, text: str) -> Mapping[str, str]:
        """The words under each aspect named; without scores, all under "answer"."""
        feedback = without_courtesy(text)
        if not self.scores:
            return {"answer": feedback} if feedback else {}
        return words_by_aspect(feedback, [name for name, _ in self.scores])


@dataclass(frozen=True, slots=True)
class Refine(_CitedClaims, Prompt[Draft]):
    """Rewrite the answer according to the feedback; `history` holds earlier answers with theirs."""

    question: str
    passages: tuple[Passage, ...]
    claims: tuple[Claim, ...]
    feedback: Mapping[str, str]
    style: Style = "long"
    history: tuple[tuple[tuple[Claim, ...], Mapping[str, str]], ...] = ()
    strays: Strays = ()


@dataclass(frozen=True, slots=True)
class MostConsistent(Prompt[int]):
    """Choose the candidate answer that agrees most with the others."""

    question: str
    candidates: tuple[tuple[Claim, ...], ...]

    def schema(self) -> Schema | None:
        numbers = range(1, len(self.candidates) + 1)
        return structured.fields(number=structured.one_of(numbers)) if numbers else None

    def value(self, fields: Mapping[str, Any]) -> int:
        return self.result(str(fields["number"]))

    def result(self, text: str) -> int:
        """The position (from 0) of the chosen candidate; 0 if none is named."""
        return (choice_in(text, len(self.candidates)) or 1) - 1


@dataclass(frozen=True, slots=True)
class Rewrite(Prompt[str]):
    """Write the question so that it can be read without the turns before it."""

    question: str
    turns: tuple[Turn, ...]

    def schema(self) -> Schema:
        return structured.fields(question=structured.TEXT)

    def value(self, fields: Mapping[str, Any]) -> str:
        return next(iter(structured.texts_of([fields["question"]])), "")

    def result(self, text: str) -> str:
        """The first question of the reply, or its first line; empty for a refusal or an empty reply."""
        return next(iter(questions_in(text)), "")


@dataclass(frozen=True, slots=True)
class JudgeClaim(Prompt[Label]):
    """Say whether the passages together support the claim."""

    claim: str
    passages: tuple[Passage, ...]
    question: str | None = None

    def schema(self) -> Schema:
        return structured.fields(verdict=structured.one_of(["supported", "unsure", "unsupported", "contradicted"]))

    def value(self, fields: Mapping[str, Any]) -> Label:
        verdict: Label = fields["verdict"]
        return verdict

    def result(self, text: str) -> Label:
        """`unsure` for what cannot be read or is half denied."""
        return verdict_in(text)


_IRRELEVANT = re.compile(r"\W*(?:(?:not |ir)relevant\b|$)", re.IGNORECASE)
_SENTENCE_LABEL = label(r"(?:the )?(?:(?:next|new|following) )?(?:sentence|claim|statement)(?: \d{1,3})?(?: is)?")
_END = re.compile(
    r"\W*(?:END\b(?=\W*$|\W*\n|[.:\])>*]|\s[-–—])"
    r"|(?i:(?:end|done|none|n/a|end of (?:the )?(?:answer|text|response))\b\W*$"
    r"|(?:the |this )?(?:answer|text) is (?:now |already )?complete\b"
    r"|(?:there (?:is|are) )?(?:no|nothing) (?:further|more|additional|else|other|new)\b))"
)


def _word_key(text: str) -> tuple[str, ...]:
    return tuple(text[word.start : word.end].casefold() for word in words(text))
