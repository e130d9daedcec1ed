"""Findings of a check: which claims of a document fail, by which rule, and where.

A baseline lists failing claims to ignore, each with its reason.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from toulmin.data import Answer, Citation, Claim, Passage, Place, Rule
from toulmin.errors import SourceError
from toulmin.formats import answer_json
from toulmin.formats.manuscript import place_of, printable
from toulmin.methods.check import hits_of
from toulmin.prose.blocks import Remark
from toulmin.prose.files import ProseFile
from toulmin.text.language import STOPWORDS, line_starts, sentences, terms
from toulmin.text.names import facts
from toulmin.text.overlap import has_most_of, nearest
from toulmin.text.wording import has_facts
from toulmin.verify import CITATION_RULE, NOT_FOUND

Level = Literal["error", "warning", "note"]
# Words, and their share, that a claim shares with the sentence that contradicts it; how many times longer this may be.
_ALIKE, _MOST_OF, _LONGER = 3, 0.6, 4


class About(NamedTuple):
    level: Level
    text: str


# The gravest first.
RULES: dict[Rule, About] = {
    "contradicted": About("error", "A source says something else"),
    "citation": About("error", "What is cited is not among the sources"),
    "absent": About("error", "A name is in no source that was read, or no passage has the numbers and dates"),
    "unsupported": About("warning", "No source that was read says it"),
    "disputed": About("warning", "A source says it, and another one says something else"),
    "unsure": About("note", "The judge is not sure that the sources say it"),
    "likely": About("note", "A source probably says it"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim that fails by a rule; `near` is the sentence of `passage` that shares most words with it.

    `near_place` is its place in its file, if that is a text. With an `excuse`, the reason to ignore the claim, it is
    listed but never fails a build.
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
        """An error if it fails a build by `until`, else at most a warning; without `until` the level of its rule."""
        if until is None:
            return self.level
        return "error" if _is_as_grave(self.rule, until) else "warning" if self.level == "error" else self.level

    def fails(self, until: Rule | None) -> bool:
        """Whether its rule is `until` or graver, and it has no excuse."""
        return until is not None and self.excuse is None and _is_as_grave(self.rule, until)

    @property
    def message(self) -> str:
        return (self.claim.support and self.claim.support.reason) or RULES[self.rule].text

    @property
    def remark(self) -> str:
        """A comment for the claim: verdict, judge, reason, and a line with the nearest sentence of a source."""
        support = self.claim.support
        verdict = f"{support.label} ({support.score:.2f}), {printable(support.judge)}: " if support else ""
        source = f" in {printable(place_of(self.passage, Citation(self.passage.id)))}" if self.passage else ""
        near = f"\nNearest{source}: “{printable(self.near)}”" if self.near else ""
        return f"{verdict}{printable(self.message)}{near}"


def _is_as_grave(rule: Rule, other: Rule) -> bool:
    return list(RULES).index(rule) <= list(RULES).index(other)


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file with judged claims; each claim of the answer has its place in the file."""

    path: str
    answer: Answer
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """The Answer document and the findings as plain JSON values; `claim` is an index."""
        numbers = {id(claim): n for n, claim in enumerate(self.answer.claims)}
        findings = [_document(finding, numbers.get(id(finding.claim))) for finding in self.findings]
        answer = answer_json.document(self.answer)
        return {"path": self.path, "findings": findings, "notes": list(self.notes), "answer": answer}

    @property
    def remarks(self) -> list[Remark]:
        failing = (finding for finding in self.findings if finding.excuse is None and finding.rule != "likely")
        return [Remark(finding.claim.place, finding.remark) for finding in failing if finding.claim.place]

    def failures(self, until: Rule) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.fails(until))


class Unread(NamedTuple):
    path: str
    reason: str


class UnreadFiles(SourceError):
    """Some files could not be read (`unread`); `checked` are the others."""

    def __init__(self, checked: tuple[CheckedFile, ...], unread: tuple[Unread, ...]) -> None:
        super().__init__(" ".join(each.reason for each in unread))
        self.checked, self.unread = checked, unread


def _document(finding: Finding, n: int | None) -> dict[str, Any]:
    source = finding.passage.source if finding.passage else None
    said = {"near": finding.near, "source": (source.path or source.url) if source else None}
    about = {"claim": n, "rule": finding.rule, "level": finding.level, "message": finding.message}
    return answer_json.plain({**about, **said, "excuse": finding.excuse})  # type: ignore[no-any-return]


# ---------------------------------------------------------------- what fails, and by which rule


def findings_of(answer: Answer) -> tuple[Finding, ...]:
    """The failing claims of a check, each with its rule and the nearest sentence."""
    pool = {passage.id: passage for passage in answer.passages}
    searches = hits_of(answer)
    return tuple(
        _finding(claim, [pool[id] for id in (*_evidence(claim), *searches.get(n, ()))])
        for n, claim in enumerate(answer.claims)
        if claim.support and not claim.is_proven
    )


def _evidence(claim: Claim) -> tuple[str, ...]:
    return (*claim.support.evidence, *claim.support.elsewhere) if claim.support else ()


def _finding(claim: Claim, read: Sequence[Passage]) -> Finding:
    said = [(passage, passage.text[start:end]) for passage in read for start, end in sentences(passage.text)]
    near = nearest(claim.text, [sentence for _, sentence in said])
    passage, sentence = said[near] if near is not None else (None, None)
    return Finding(claim, _rule(claim, read, sentence or ""), passage, sentence)


def _rule(claim: Claim, read: Sequence[Passage], near: str) -> Rule:
    support = claim.support
    label = support.label if support else "unsure"
    if label == "likely" or (label == "contradicted" and _is_alike(claim.text, near)):
        return label
    if support and support.judge == CITATION_RULE and support.reason != NOT_FOUND:
        return "citation"
    text = claim.text[:1].lower() + claim.text[1:]  # a capital at the start of a sentence marks no name
    places = [f"{passage.title}. {passage.text}" for passage in read]
    figures = [text[fact.start : fact.end] for fact in facts(text) if fact.kind != "name"]
    if figures and not any(all(has_facts(place, figure) for figure in figures) for place in places):
        return "absent"
    if label in ("unsure", "disputed"):
        return label
    return "unsupported" if has_facts("", text, *places) else "absent"


def _is_alike(claim: str, near: str) -> bool:
    """Judges also find contradictions in sentences about something else."""
    is_sentence = len(terms(near)) <= _LONGER * len(terms(claim))  # not a table or code
    return is_sentence and has_most_of(near, {*terms(claim)} - STOPWORDS, _MOST_OF, at_least=_ALIKE)


# ---------------------------------------------------------------- a checked document


def complete_check(
    kept: ProseFile,
    answer: Answer,
    findings: tuple[Finding, ...],
    excuses: Mapping[str, str],
    texts: Callable[[str], str],
) -> CheckedFile:
    """`excuses` are by claim; `texts` returns the current text of a source, by its path."""
    findings = tuple(
        replace(each, excuse=excuses.get(each.claim.text), near_place=_near_place(each, texts)) for each in findings
    )
    known = {finding.claim.text for finding in findings}
    gone = [text for text in excuses if text not in known]
    notes = [f"No longer fails, remove it from the baseline: “{text}”" for text in gone]
    reasons = [skip.reason for skip in kept.prose.skips]
    notes += [f"Left out by a comment: {reason}." for reason in dict.fromkeys(reasons)]
    return CheckedFile(kept.name, answer, findings, tuple(notes))


def _near_place(finding: Finding, texts: Callable[[str], str]) -> Place | None:
    """Ignores marks and line ends between the words."""
    path = finding.passage.source.path if finding.near and finding.passage else None
    text = texts(path) if path else ""
    pattern = r"[\W_]+".join(re.findall(r"[^\W_]+", finding.near or ""))
    match = re.search(rf"\b{pattern}\b[.!?]?", text) if pattern else None
    return Place.between(line_starts(text), match.start(), match.end()) if match else None


# ---------------------------------------------------------------- baselines


class Baseline(NamedTuple):
    """The content of a baseline file, and the number of its claims."""

    content: bytes
    claims: int


def parse_baseline(text: str) -> dict[str, dict[str, str]]:
    """The reasons by file and claim. Raises `ValueError` for any other text."""
    reasons: dict[str, dict[str, str]] = {}
    try:
        for entry in tomllib.loads(text).get("claim", []):
            reasons.setdefault(str(entry["file"]), {})[str(entry["text"])] = str(entry["reason"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(str(error)) from error
    return reasons


def baseline_of(files: Sequence[CheckedFile], until: Rule, reason: str) -> Baseline:
    """A baseline of all that fails now; known reasons stay."""
    rows = [
        (file.path, finding.claim.text, finding.excuse or reason)
        for file in files
        for finding in file.findings
        if finding.excuse or finding in file.failures(until)
    ]
    tables = dict.fromkeys(
        f"\n[[claim]]\nfile = {_quote(a)}\ntext = {_quote(b)}\nreason = {_quote(c)}\n" for a, b, c in rows
    )
    head = "# Claims that `toulmin check --baseline` shows and fails nothing for, each with its reason.\n"
    return Baseline("".join([head, *tables]).encode("utf-8", "replace"), len(tables))


def _quote(text: str) -> str:
    """A TOML string: as in JSON, except for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
