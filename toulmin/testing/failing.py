"""Which claims of a checked document fail a test, and the message of the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

from toulmin.checking.findings import RULES, CheckedFile, Finding
from toulmin.cli.terminal import count_of, printable
from toulmin.data import Answer, Claim, Passage, Rule
from toulmin.errors import UsageError, unknown_name
from toulmin.prose.files import name_of

# What people keep says much that no source was written for; a reply that a program makes from sources must not.
OF_FILES: Rule = "absent"
OF_TEXTS: Rule = "unsupported"
ADVICE = "To leave out a claim, write a comment before it (`toulmin: skip REASON`) or a baseline."

TEXT = "the text"  # the name of what is no file


class Failure(NamedTuple):
    """`rule` may be "threshold"; `near` is the nearest sentence of `source`."""

    claim: Claim
    rule: str
    reason: str
    near: str | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Demands:
    """Each claim needs no finding by `fail_on` or a graver rule, and a support of `threshold`."""

    fail_on: str
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.fail_on not in RULES:
            raise unknown_name("rule", self.fail_on, RULES)
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise UsageError(f"A threshold is a support score from 0 to 1, not {self.threshold}.")

    def failures(self, checked: CheckedFile) -> list[Failure]:
        """In the order of the document."""
        findings = {id(finding.claim): finding for finding in checked.findings}
        failures = []
        for claim in checked.answer.claims:
            finding = findings.get(id(claim))
            if finding is not None and finding.fails(cast(Rule, self.fail_on)):
                failures.append(_by_rule(finding))
            elif self._is_below(claim) and not (finding and finding.excuse):
                failures.append(self._by_score(claim, finding, checked.answer))
        return failures

    def _is_below(self, claim: Claim) -> bool:
        return self.threshold is not None and claim.support is not None and claim.support.score < self.threshold

    def _by_score(self, claim: Claim, finding: Finding | None, answer: Answer) -> Failure:
        score = claim.support.score if claim.support else 0.0
        reason = f"its support is {score:.2f}, and the threshold {self.threshold}"
        if finding is not None:
            return _by_rule(finding)._replace(rule="threshold", reason=reason)
        citation = claim.citations[0]  # it is supported, so there is one
        quote = citation.quote.text if citation.quote else None
        return Failure(claim, "threshold", reason, quote, _source(answer.passage(citation.passage)))


def _by_rule(finding: Finding) -> Failure:
    source = _source(finding.passage) if finding.passage else ""
    return Failure(finding.claim, finding.rule, finding.message, finding.near, source)


def _source(passage: Passage) -> str:
    """The name of the source, a file relative to the working folder; empty for a text without a name."""
    path = passage.source.path
    if path is None:
        return passage.source.url or passage.source.record or passage.title
    return name_of(Path(path))


def describe(path: str, failures: Sequence[Failure], judged: int) -> str:
    """The message of a failed test; `judged` is the number of claims that were judged."""
    head = f"{path}: {len(failures)} of {count_of(judged, 'claim')} {'fails' if len(failures) == 1 else 'fail'}."
    advice = [] if path == TEXT else [ADVICE]  # a text is made by a program, and has no comments
    return "\n\n".join((head, *(_paragraph(path, failure) for failure in failures), *advice))


def _paragraph(path: str, failure: Failure) -> str:
    place = failure.claim.place
    where = f"{path}:{place.line}:{place.column}" if place else path
    lines = [f"{where}: {failure.rule}: {_line(failure.reason)}", f"  the claim:    “{_line(failure.claim.text)}”"]
    if failure.near:
        lines.append(f"  the nearest:  “{_line(failure.near)}” {_line(failure.source)}".rstrip())
    return "\n".join(lines)


def _line(text: str) -> str:
    return printable(" ".join(text.split()))
