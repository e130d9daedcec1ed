"""Findings for continuous integration: SARIF 2.1.0, JUnit XML, GitHub workflow commands.

* Equal findings give equal bytes: sorted by file and place, without a time.
* Texts of files and sources are hostile. Each becomes one line without characters that XML forbids, that control a
  terminal or that reorder text; nothing in it can act as a command, a property or a link.
* A finding that fails by the rule `until` is an error and a failed test, any other at most a warning and a passed test.
  Without `until` nothing fails, and each finding has the level of its rule.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote
from xml.etree import ElementTree

import orjson

from toulmin import __version__
from toulmin.checking.findings import RULES, CheckedFile, Finding, Level, Unread
from toulmin.data import Claim, Place, Rule, content_id
from toulmin.formats.clean_text import title

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# GitHub's upload warns about other fingerprints under the name of its own.
FINGERPRINT = "toulminClaim/v1"
_COMMANDS: Mapping[Level, str] = {"error": "error", "warning": "warning", "note": "notice"}
_FORBIDDEN = re.compile(
    "[^\\x20-\\x7e\\xa0-\\u2029\\u202f-\\u2065\\u206a-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]"
)
# Half surrogate pairs that encode no byte of a file name.
_NO_BYTE = re.compile("[\\ud800-\\udc7f\\udd00-\\udfff]")
_File = TypeVar("_File", CheckedFile, Unread)


def _line(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", " ".join(text.split()))


def _sentences(finding: Finding) -> list[str]:
    lines = [f"“{_line(finding.claim.text)}”", _line(finding.message)]
    if finding.near is not None:
        source = f" in {_line(title(finding.passage))}" if finding.passage else ""
        lines.append(f"The nearest sentence{source}: “{_line(finding.near)}”")
    return lines


# ---------------------------------------------------------------- order and paths


def _position(claim: Claim) -> tuple[int, int, int, int]:
    return astuple(claim.place or Place(1, 1, 1, 1))


def _in_order(files: Iterable[_File]) -> list[_File]:
    return sorted(files, key=lambda file: file.path)


def _findings(file: CheckedFile, until: Rule | None) -> list[Finding]:
    """In order; likely ones only if these fail."""
    listed = (finding for finding in file.findings if finding.rule != "likely" or until == "likely")
    return sorted(listed, key=lambda finding: (_position(finding.claim), finding.level, finding.claim.text))


def _relative(path: str) -> str | None:
    """None for a path that is not below this folder."""
    try:
        return Path(_absolute(path)).relative_to(Path.cwd()).as_posix()
    except ValueError:
        return None


def _absolute(path: str) -> str:
    return Path(os.path.abspath(path)).as_posix()


def _shown(path: str) -> str:
    return _line(_relative(path) or _absolute(path))


def _artifact(path: str) -> dict[str, str]:
    below = _relative(path)
    if below is None:
        return {"uri": "file:///" + _quote(_absolute(path).lstrip("/"), "/:")}
    return {"uri": _quote(below, "/"), "uriBaseId": "%SRCROOT%"}


def _quote(path: str, safe: str) -> str:
    return quote(_NO_BYTE.sub("\ufffd", path), safe=safe, errors="surrogateescape")


# ---------------------------------------------------------------- SARIF


def sarif(files: Sequence[CheckedFile], *, until: Rule | None = None, unread: Sequence[Unread] = ()) -> bytes:
    """One result for each finding, suppressed if it has an excuse."""
    rules = [
        {"id": rule, "shortDescription": {"text": about.text}, "defaultConfiguration": {"level": about.level}}
        for rule, about in RULES.items()
    ]
    driver = {"name": "toulmin", "version": __version__, "rules": rules}
    results = [result for file in _in_order(files) for result in _results(file, until)]
    notifications = [_notification(file) for file in _in_order(unread)]
    invocation = {"executionSuccessful": not unread, "toolExecutionNotifications": notifications}
    run: dict[str, Any] = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints"}
    run |= {"invocations": [invocation], "results": results}
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return orjson.dumps(log, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _notification(file: Unread) -> dict[str, Any]:
    locations = [{"physicalLocation": {"artifactLocation": _artifact(file.path)}}]
    return {"level": "error", "message": {"text": _unlinked(_line(file.reason))}, "locations": locations}


def _results(file: CheckedFile, until: Rule | None) -> Iterator[dict[str, Any]]:
    artifact, times = _artifact(file.path), Counter[str]()
    for finding in _findings(file, until):
        # Without the line, so that edits above a finding do not change it; equal claims are numbered.
        excuse, fingerprint = finding.excuse, content_id(artifact["uri"], finding.rule, _line(finding.claim.text))
        times[fingerprint] += 1
        yield {
            "ruleId": finding.rule,
            "ruleIndex": list(RULES).index(finding.rule),
            "level": finding.level_for(until),
            "message": {"text": _unlinked("\n".join(_sentences(finding)))},
            "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": _region(finding.claim.place)}}],
            "relatedLocations": _related(finding),
            "partialFingerprints": {FINGERPRINT: f"{fingerprint}:{times[fingerprint]}"},
            # An empty list means "not suppressed", none "unknown".
            "suppressions": [{"kind": "external", "justification": _line(excuse)}] if excuse is not None else [],
        }


def _region(place: Place | None) -> dict[str, Any]:
    if place is None:
        return {"startLine": 1}
    return dict(zip(("startLine", "startColumn", "endLine", "endColumn"), astuple(place), strict=True))


def _related(finding: Finding) -> list[dict[str, Any]]:
    if finding.passage is None or not finding.passage.source.path:
        return []
    physical: dict[str, Any] = {"artifactLocation": _artifact(finding.passage.source.path)}
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.near:
        location["message"] = {"text": _unlinked(_line(finding.near))}
        if finding.near_place:
            physical["region"] = _region(finding.near_place) | {"snippet": {"text": _line(finding.near)}}
    return [location]


def _unlinked(text: str) -> str:
    """Breaks SARIF's links, `[text](target)`."""
    return text.replace("](", "] (")


# ---------------------------------------------------------------- JUnit


def junit(files: Sequence[CheckedFile], *, until: Rule | None = None, unread: Sequence[Unread] = ()) -> bytes:
    """One suite for each file, one case for each judged or failing claim; an excused one is skipped.

    A finding that does not fail by `until` is a passed case with output; an unread file is an error.
    """
    suites = ElementTree.Element("testsuites", name="toulmin")
    suites.extend([_suite(file, until) for file in _in_order(files)])
    suites.extend([_suite_unread(file) for file in _in_order(unread)])
    _count(suites)
    ElementTree.indent(suites)
    document: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _suite_unread(file: Unread) -> ElementTree.Element:
    path = _shown(file.path)
    suite = ElementTree.Element("testsuite", name=path)
    case = ElementTree.SubElement(suite, "testcase", name="can be read", classname=path, file=path)
    ElementTree.SubElement(case, "error", type="unread", message=_line(file.reason))
    _count(suite)
    return suite


def _suite(file: CheckedFile, until: Rule | None) -> ElementTree.Element:
    path = _shown(file.path)
    findings: dict[Claim, list[Finding]] = {}
    for finding in _findings(file, until):
        findings.setdefault(finding.claim, []).append(finding)
    judged = set(file.answer.claims)
    claims = [*file.answer.claims, *(claim for claim in findings if claim not in judged)]
    suite = ElementTree.Element("testsuite", name=path)
    for claim in sorted(claims, key=_position):
        if claim.support or claim in findings:
            suite.append(_case(claim, findings.get(claim, ()), until, path))
    _count(suite)
    return suite


def _case(claim: Claim, findings: Sequence[Finding], until: Rule | None, path: str) -> ElementTree.Element:
    line = str(_position(claim)[0])
    case = ElementTree.Element("testcase", name=_line(claim.text), classname=path, file=path, line=line)
    open_ = [finding for finding in findings if finding.excuse is None]
    if findings and not open_:
        ElementTree.SubElement(case, "skipped", message=_line(findings[0].excuse or ""))
    for finding in open_:
        sentences = "\n".join([f"{path}:{line}", *_sentences(finding)])
        if finding.fails(until):
            failure = ElementTree.SubElement(case, "failure", type=finding.rule, message=_line(finding.message))
            failure.text = sentences
        else:
            ElementTree.SubElement(case, "system-out").text = f"{finding.rule}, which fails nothing here\n{sentences}"
    return case


def _count(element: ElementTree.Element) -> None:
    cases = list(element.iter("testcase"))
    element.set("tests", str(len(cases)))
    for name, outcome in {"failures": "failure", "errors": "error", "skipped": "skipped"}.items():
        element.set(name, str(sum(case.find(outcome) is not None for case in cases)))


# ---------------------------------------------------------------- GitHub


def github(files: Sequence[CheckedFile], *, until: Rule | None = None, unread: Sequence[Unread] = ()) -> str:
    """One workflow command a line, for each finding without excuse and each unread file."""
    findings = [(_shown(file.path), finding) for file in _in_order(files) for finding in _findings(file, until)]
    lines = [_command(path, finding, until) for path, finding in findings if finding.excuse is None]
    for file in _in_order(unread):
        path = _property(_shown(file.path))
        lines.append(f"::error file={path},title=The file cannot be read::{_data(_line(file.reason))}")
    return "".join(f"{line}\n" for line in lines)


def _command(path: str, finding: Finding, until: Rule | None) -> str:
    line, column, end_line, _ = _position(finding.claim)
    properties = {"file": path, "line": line, "endLine": end_line}
    if finding.claim.place and line == end_line:  # GitHub accepts no column for several lines
        properties["col"] = column
    properties["title"] = f"{finding.rule}: {RULES[finding.rule].text}"
    texts = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.level_for(until)]} {texts}::{_data(chr(10).join(_sentences(finding)))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
