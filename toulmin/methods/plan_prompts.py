"""What each part is written from"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from toulmin.data import Passage, Section, Style
from toulmin.methods.memory import distinct
from toulmin.methods.plan_findings import Reading
from toulmin.methods.plan_questions import Inquiry, Plan
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt, Finding, Paragraph, Preset, Prompt, Write


@dataclass(frozen=True, slots=True)
class Part:
    """What is written in one go: the whole text, or one paragraph, which becomes a section.

    Its claims may cite `context`; `prompt` is None if there is nothing to write from.
    """

    context: tuple[Passage, ...]
    prompt: Prompt[Draft] | None
    paragraph: Paragraph | None = None
    shown: tuple[Passage, ...] = ()

    @property
    def section(self) -> Section | None:
        return Section(self.paragraph.title, self.paragraph.description) if self.paragraph else None


def titles(parts: Sequence[Part]) -> list[str]:
    return [part.section.title for part in parts if part.section]


def context(first: Sequence[Passage], inquiries: Sequence[Inquiry]) -> tuple[Passage, ...]:
    """The first search's passages, then each question's best one, then each one's second, and so on.

    A model's window cuts from the end: no question loses its best passage before another its third.
    """
    ranks = zip_longest(*(inquiry.passages for inquiry in inquiries))
    return distinct((*first, *(passage for passage in chain.from_iterable(ranks) if passage is not None)))


@dataclass(frozen=True, slots=True)
class Whole:
    """What a text is written from; `in_sections` makes a part of each paragraph."""

    topic: str
    style: Style
    first: tuple[Passage, ...]
    plan: Plan
    in_sections: bool

    def from_passages(self, *, inline: bool) -> tuple[Part, ...]:
        """Variant A: a part's passages in one prompt, for the whole text One-Retrieval's (A.2.2)."""
        return tuple(
            Part(passages, self._passages_prompt(passages, paragraph, inline=inline), paragraph, passages)
            for paragraph, inquiries in self._portions()
            for passages in [context(self.first, inquiries)]
        )

    def _passages_prompt(
        self, passages: tuple[Passage, ...], paragraph: Paragraph | None, *, inline: bool
    ) -> Prompt[Draft]:
        if paragraph is not None:
            return Write(self.topic, passages, (), (paragraph,), "long", inline)
        return self._whole_prompt(passages, inline=inline)

    def _whole_prompt(self, passages: tuple[Passage, ...], *, inline: bool = False, written: str = "") -> AnswerPrompt:
        """Asks for prose without headings, even in a report."""
        is_prose = self.style in ("long", "report")
        preset: Preset = "plain" if is_prose and not inline else "cited"
        return AnswerPrompt(self.topic, passages, "long" if is_prose else self.style, (), preset, inline, written)

    def from_findings(self, read: Sequence[Reading], *, skip: bool) -> tuple[Part, ...]:
        """Variant B: questions with answers (A.2.5); `skip` adds those without, marked so."""
        findings = {reading.inquiry: reading.finding for reading in read}
        parts = []
        for paragraph, inquiries in self._portions():
            asked = tuple(findings[inquiry] for inquiry in inquiries)
            shown = asked if skip else tuple(finding for finding in asked if finding.answers)
            parts.append(self._part_of_findings(context(self.first, inquiries), paragraph, shown))
        return tuple(parts)

    def _part_of_findings(
        self, passages: tuple[Passage, ...], paragraph: Paragraph | None, findings: tuple[Finding, ...]
    ) -> Part:
        holding = distinct(passage for finding in findings for passage in finding.passages)
        if not holding:
            return Part(passages, None, paragraph)
        if self.style in ("list", "short"):
            prompt: Prompt[Draft] = self._whole_prompt(holding, written=_pairs(findings))
        else:
            prompt = Write(self.topic, (), findings, (paragraph,) if paragraph else (), "long")
        return Part(passages, prompt, paragraph, holding)

    def _portions(self) -> list[tuple[Paragraph | None, tuple[Inquiry, ...]]]:
        if not self.in_sections:
            return [(None, self.plan.inquiries)]
        return [(paragraph, self.plan.of(n)) for n, paragraph in enumerate(self.plan.paragraphs)]


def _pairs(findings: Sequence[Finding]) -> str:
    return "\n".join(
        f"{finding.question} {'; '.join(finding.answers) or 'Not enough information.'}" for finding in findings
    )
