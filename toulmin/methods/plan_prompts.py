"""From a plan to the prompts that ask for its text: what each part is written from."""

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
    """What is written in one go: all of it, or one paragraph of the outline, which becomes a section.

    `context` are the passages that its claims may rest on; `prompt` is None where there is nothing to write from.
    """

    context: tuple[Passage, ...]
    prompt: Prompt[Draft] | None
    paragraph: Paragraph | None = None
    shown: tuple[Passage, ...] = ()

    @property
    def section(self) -> Section | None:
        """The section that the part becomes."""
        return Section(self.paragraph.title, self.paragraph.description) if self.paragraph else None


def titles(parts: Sequence[Part]) -> list[str]:
    """The titles of the sections that the parts become."""
    return [part.section.title for part in parts if part.section]


def context(first: Sequence[Passage], inquiries: Sequence[Inquiry]) -> tuple[Passage, ...]:
    """The passages of the first search, then the best one of each question, then each one's second, and so on.

    A model's window takes from the end, so that no question loses its best passage before another loses its third.
    """
    ranks = zip_longest(*(inquiry.passages for inquiry in inquiries))
    return distinct((*first, *(passage for passage in chain.from_iterable(ranks) if passage is not None)))


@dataclass(frozen=True, slots=True)
class Whole:
    """All that a text is written from; `in_sections` it is written in parts, one a paragraph of the plan."""

    topic: str
    style: Style
    first: tuple[Passage, ...]
    plan: Plan
    in_sections: bool

    def from_passages(self, *, inline: bool) -> tuple[Part, ...]:
        """Variant A: all passages of a part in one prompt; for the whole text that of One-Retrieval (A.2.2)."""
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
        """One paragraph, which has no headings as a report's own prompt would ask for; or an answer or a list."""
        is_prose = self.style in ("long", "report")
        preset: Preset = "plain" if is_prose and not inline else "cited"
        return AnswerPrompt(self.topic, passages, "long" if is_prose else self.style, (), preset, inline, written)

    def from_findings(self, read: Sequence[Reading], *, skip: bool) -> tuple[Part, ...]:
        """Variant B: the questions with their answers (A.2.5), and with `skip` those without, marked so."""
        findings = {one.inquiry: one.finding for one in read}
        parts = []
        for paragraph, inquiries in self._portions():
            asked = tuple(findings[inquiry] for inquiry in inquiries)
            shown = asked if skip else tuple(finding for finding in asked if finding.answers)
            parts.append(self._part_of_findings(context(self.first, inquiries), paragraph, shown))
        return tuple(parts)

    def _part_of_findings(
        self, passages: tuple[Passage, ...], paragraph: Paragraph | None, findings: tuple[Finding, ...]
    ) -> Part:
        """Where no question is answered there is nothing to write from, and no model is asked."""
        holding = distinct(passage for finding in findings for passage in finding.passages)
        if not holding:
            return Part(passages, None, paragraph)
        if self.style in ("list", "short"):
            prompt: Prompt[Draft] = self._whole_prompt(holding, written=_pairs(findings))
        else:
            prompt = Write(self.topic, (), findings, (paragraph,) if paragraph else (), "long")
        return Part(passages, prompt, paragraph, holding)

    def _portions(self) -> list[tuple[Paragraph | None, tuple[Inquiry, ...]]]:
        """What each part is about, and its questions."""
        if not self.in_sections:
            return [(None, self.plan.inquiries)]
        return [(paragraph, self.plan.of(n)) for n, paragraph in enumerate(self.plan.paragraphs)]


def _pairs(findings: Sequence[Finding]) -> str:
    """The questions with their answers as a text; a short answer or a list is drawn from it and the passages."""
    return "\n".join(f"{one.question} {'; '.join(one.answers) or 'Not enough information.'}" for one in findings)
