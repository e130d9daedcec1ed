"""What a check finds wrong in the documents that people keep: which claims fail, by which rule, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from toulmin.data import Answer, Claim, Passage, Place
from toulmin.errors import SourceError
from toulmin.formats import answer_json
from toulmin.formats.manuscript import place_of, printable

Rule = Literal["contradicted", "citation", "absent", "unsupported", "unsure"]
Level = Literal["error", "warning", "note"]


class About(NamedTuple):
    """How grave what a rule finds is, and what it says."""

    level: Level
    text: str


# The gravest first.
RULES: dict[Rule, About] = {
    "contradicted": About("error", "A source says something else"),
    "citation": About("error", "What is cited is not among the sources"),
    "absent": About("error", "A name is in no source that was read, or no passage has the numbers and dates"),
    "unsupported": About("warning", "No source that was read says it"),
    "unsure": About("note", "The judge is not sure that the sources say it"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim that fails by a rule; `near` is the sentence of `passage` that has most of its words.

    `near_place` is where that stands in its file, if that is a text and has it. `excuse` is the reason for which
    somebody leaves the claim out: it is shown, and fails nothing.
    """

    claim: Claim
    rule: Rule
    passage: Passage | None = None
    near: str | None = None
    excuse: str | None = None
    near_place: Place | None = None

    @property
    def level(self) -> Level:
        return RULES[self.rule].level

    def level_for(self, until: Rule | None) -> Level:
        """How grave it is where `until` fails a build: what does is an error, and what does not no more than a warning;
        where nothing fails, as grave as its rule.
        """
        if until is None:
            return self.level
        return "error" if _is_as_grave(self.rule, until) else "warning" if self.level == "error" else self.level

    def fails(self, until: Rule | None) -> bool:
        """Whether it fails a build by `until` or a graver rule; what somebody leaves out does not."""
        return until is not None and self.excuse is None and _is_as_grave(self.rule, until)

    @property
    def message(self) -> str:
        """What is wrong, in words."""
        reason = self.claim.support.reason if self.claim.support else None
        return reason or RULES[self.rule].text

    @property
    def remark(self) -> str:
        """What to write beside the claim: verdict, judge, reason, and a line with the nearest sentence of a source."""
        support = self.claim.support
        verdict = f"{support.label} ({support.score:.2f}), {printable(support.judge)}: " if support else ""
        source = f" in {printable(place_of(self.passage))}" if self.passage else ""
        near = f"\nNearest{source}: “{printable(self.near)}”" if self.near else ""
        return f"{verdict}{printable(self.message)}{near}"


def _is_as_grave(rule: Rule, other: Rule) -> bool:
    return list(RULES).index(rule) <= list(RULES).index(other)


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file whose claims were judged; each claim of the answer has its place in it."""

    path: str
    answer: Answer
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """As plain JSON values: the Answer document, and what fails by its number among the claims."""
        numbers = {id(claim): n for n, claim in enumerate(self.answer.claims)}
        findings = [_document(finding, numbers.get(id(finding.claim))) for finding in self.findings]
        answer = answer_json.document(self.answer)
        return {"path": self.path, "findings": findings, "notes": list(self.notes), "answer": answer}

    def failures(self, until: Rule) -> tuple[Finding, ...]:
        """What fails by `until` or a graver rule, and is left out by nobody."""
        return tuple(finding for finding in self.findings if finding.fails(until))


class Unread(NamedTuple):
    """A file that could not be read, and why in words."""

    path: str
    reason: str


class UnreadFiles(SourceError):
    """Some of the files to check could not be read (`unread`); `checked` are the others."""

    def __init__(self, checked: tuple[CheckedFile, ...], unread: tuple[Unread, ...]) -> None:
        super().__init__(" ".join(each.reason for each in unread))
        self.checked, self.unread = checked, unread


def _document(finding: Finding, n: int | None) -> dict[str, Any]:
    source = finding.passage.source if finding.passage else None
    said = {"near": finding.near, "source": (source.path or source.url) if source else None}
    about = {"claim": n, "rule": finding.rule, "level": finding.level, "message": finding.message}
    return answer_json.plain({**about, **said, "excuse": finding.excuse})  # type: ignore[no-any-return]
