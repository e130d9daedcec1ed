"""Documents that people keep, held against their sources: what claims cite, what fails, and what is left out."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toulmin
from toulmin import demo
from toulmin.build.checking import read_baseline
from toulmin.checking.findings import CheckedFile, Finding, UnreadFiles, baseline_of
from toulmin.cli import run
from toulmin.data import Answer, Citation, Claim, Support
from toulmin.errors import ModelError
from toulmin.formats.markdown import markdown
from toulmin.judges.lexical import Lexical
from toulmin.judges.objections import RULES
from toulmin.prose.files import files_to_check
from toulmin.steps import Pair, Verdict

TRUE = "The Board of Longitude was dissolved in 1828."
FALSE = "The sea watch H4 was finished in 1762."


def checked(path: Path, text: str, **options: object) -> CheckedFile:
    path.write_text(text, "utf-8")
    (file,) = toulmin.check_files(path, **({"docs": demo.FOLDER, "judge": "lexical", "memo": False} | options))
    return file


def rules(file: CheckedFile) -> list[tuple[str, str]]:
    return [(finding.rule, finding.claim.text) for finding in file.findings]


def test_what_fails_has_its_place_its_rule_and_the_nearest_sentence(tmp_path: Path):
    file = checked(tmp_path / "page.md", f"# Watches\n\nNot long ago. {TRUE}\n\n* Some *words*.\n* **{FALSE}**\n")
    (finding,) = [finding for finding in file.findings if finding.rule == "contradicted"]
    assert (finding.claim.text, finding.level) == (FALSE, "error")
    place = finding.claim.place
    assert place is not None
    assert (place.line, place.column, place.end_column) == (6, 5, 5 + len(FALSE))
    assert "1759" in finding.message
    assert "1759" in (finding.near or "")
    assert finding.passage is not None
    assert (finding.passage.source.path or "").endswith("the_sea_watch_h4.md")
    assert TRUE not in [claim for _, claim in rules(file)]


def test_absent_names_numbers_and_dates_have_their_own_rule(tmp_path: Path):
    file = checked(
        tmp_path / "page.md", "The sea watch H4 had 4711 wheels.\n\nGardeners like roses in their gardens.\n"
    )
    assert [rule for rule, _ in rules(file)] == ["absent", "unsupported"]
    assert [len(file.failures(until)) for until in ("contradicted", "absent", "unsupported")] == [0, 1, 2]


@pytest.mark.parametrize(
    ("mark", "entry"),
    [
        ("[^1]", "[^1]: See longitude_act.md, at its end.\n"),
        ("[^1]", "[^1]: The Longitude Act, passed by Parliament.\n"),
        ("[^1]", "[^1]: [the act](sources/longitude_act.md)\n"),
        (" [1]", "## References\n\n1. The Longitude Act\n2. Another\n"),
        (" [2]", "[2]: sources/longitude_act.md\n"),
        (" [2][]", "[2]: <sources/longitude_act.md> 'an act'\n"),
        (" [@longitude_act]", ""),
        (" [@act]", ""),
    ],
)
def test_a_citation_is_held_against_what_it_names(tmp_path: Path, mark: str, entry: str):
    (tmp_path / "sources").symlink_to(demo.FOLDER)
    (tmp_path / "refs.bib").write_text("@book{act,\n  title = {The Longitude Act},\n}\n")
    front = "---\nbibliography: refs.bib\n---\n\n"
    watch = "The sea watch H4 was 13 centimetres across."
    right = checked(tmp_path / "page.md", f"{front}{TRUE[:-1]}{mark}.\n\n{entry}", docs=tmp_path / "sources")
    assert rules(right) == []
    wrong = checked(tmp_path / "page.md", f"{front}{watch[:-1]}{mark}.\n\n{entry}", docs=tmp_path / "sources")
    ((rule, claim),) = rules(wrong)
    assert (rule, claim) == ("unsupported", watch)
    assert "“The sea watch H4” does" in wrong.findings[0].message


def test_a_link_is_read_first_and_restricts_nothing(tmp_path: Path):
    (tmp_path / "sources").symlink_to(demo.FOLDER)
    text = "The sea watch H4 was 13 centimetres across, as told [elsewhere](sources/longitude_act.md#end).\n"
    assert rules(checked(tmp_path / "page.md", text, docs=tmp_path / "sources")) == []


def test_a_citation_of_nothing_fails_whatever_the_sources_say(tmp_path: Path):
    listed = checked(tmp_path / "page.md", f"{TRUE[:-1]} [7].\n\n## References\n\n1. The Longitude Act\n")
    assert [(f.rule, f.message.split(";")[0]) for f in listed.findings] == [
        ("citation", "cites [7], and the list of references has no such entry")
    ]
    (tmp_path / "refs.bib").write_text("@book{act,\n  title = {The Longitude Act},\n}\n")
    keyed = checked(tmp_path / "page.md", f"---\nbibliography: refs.bib\n---\n\n{TRUE[:-1]} [@lost].\n")
    assert [finding.rule for finding in keyed.findings] == ["citation"]
    assert "cites @lost, which no bibliography contains" in keyed.findings[0].message


@pytest.mark.parametrize(
    ("mark", "rest", "message"),
    [
        (" [@harrison1999]", "", "cites @harrison1999, which no bibliography contains"),
        ("[^9]", "", "cites [^9], and there is no such footnote"),
        ("[^1]", "[^1]: notes/gone.md\n", "cites notes/gone.md, and there is no such file"),
        ("[^1]", "[^1]: See [that](notes/gone.md#a).\n", "cites notes/gone.md, and there is no such file"),
        (" [1]", "[1]: notes/gone.md\n", "cites notes/gone.md, and there is no such file"),
    ],
)
def test_a_citation_of_nothing_fails_without_a_list_too(tmp_path: Path, mark: str, rest: str, message: str):
    (finding,) = checked(tmp_path / "page.md", f"{TRUE[:-1]}{mark}.\n\n{rest}").findings
    assert (finding.rule, finding.message.split(";")[0]) == ("citation", message)


@pytest.mark.parametrize(
    ("text", "file"),
    [
        (f"{TRUE[:-1]} [5].\n", ""),  # without a list it may be anything
        (f"{TRUE[:-1]}, see [it](notes/gone.md).\n", ""),
        (f"{TRUE[:-1]} [1].\n\n[1]: https://example.org/gone.md\n", ""),
        (f"{TRUE[:-1]} [1].\n\n[1]: other.md\n", "other.md"),
        (f"---\nbibliography:\n  - refs.bib\n  - 'more.json'\n---\n\n{TRUE[:-1]} [@a].\n", "more.json"),
        (f"---\nreferences:\n- id: a\n  title: X\n---\n\n{TRUE[:-1]} [@a].\n", ""),
    ],
)
def test_what_may_be_there_or_cites_nothing_restricts_nothing(tmp_path: Path, text: str, file: str):
    if file:
        (tmp_path / file).write_text('[{"id": "a"}]')
    assert [rule for rule, _ in rules(checked(tmp_path / "page.md", text)) if rule == "citation"] == []


def test_a_check_is_done_again_when_what_it_cites_comes_to_be(tmp_path: Path):
    text = f"{TRUE[:-1]} [1].\n\n[1]: other.md\n"
    assert [rule for rule, _ in rules(checked(tmp_path / "page.md", text, memo=tmp_path / "m.sqlite"))] == ["citation"]
    (tmp_path / "other.md").write_text("Another page.\n")
    assert rules(checked(tmp_path / "page.md", text, memo=tmp_path / "m.sqlite")) == []


def test_a_claim_that_cites_what_speaks_of_something_else_is_unsupported(tmp_path: Path):
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "roses.md").write_text("Roses need sun.\n")
    (tmp_path / "sources" / "clocks.md").write_text(f"{TRUE}\n")
    file = checked(tmp_path / "page.md", f"{TRUE}[^1]\n\n[^1]: roses.md\n", docs=tmp_path / "sources")
    assert [rule for rule, _ in rules(file)] == ["unsupported"]
    assert file.findings[0].message == "the cited passage does not say this; “Clocks” does"


def test_a_footnote_without_a_source_is_a_remark(tmp_path: Path):
    assert rules(checked(tmp_path / "page.md", f"{TRUE}[^1]\n\n[^1]: Which surprised many.\n")) == []


def test_a_document_and_its_copies_prove_nothing(tmp_path: Path):
    text = "".join(f"The lamp of Fanö number {n} was lit by keeper {n} in 19{n:02}.\n\n" for n in range(10, 18))
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "copy.md").write_text(text)
    (notes / "other.md").write_text("Nothing here.\n")
    file = checked(notes / "page.md", text, docs=notes)
    assert [rule for rule, _ in rules(file)] == ["absent"] * 8
    assert any("copy.md" in note for note in file.answer.notes)


def test_a_document_that_cites_itself_is_not_believed(tmp_path: Path):
    notes = tmp_path / "notes"
    shutil.copytree(demo.FOLDER, notes)
    file = checked(notes / "page.md", "The lamp of Fanö cost 4711 crowns.[^1]\n\n[^1]: page.md\n", docs=notes)
    assert [rule for rule, _ in rules(file)] == ["absent"]


class Failing:
    """A judge that cannot be reached."""

    name = "failing"

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        raise toulmin.ModelError("The judge is away.")


def test_a_check_whose_judge_fails_is_no_check(tmp_path: Path):
    with pytest.raises(toulmin.ModelError, match="The judge is away"):
        checked(tmp_path / "page.md", f"{FALSE}\n", judge=Failing())


def test_a_comment_leaves_a_claim_out_with_its_reason(tmp_path: Path):
    file = checked(tmp_path / "page.md", f"<!-- toulmin: skip told by a friend -->\n{FALSE}\n\n{TRUE}\n")
    assert rules(file) == []
    assert [claim.support is None for claim in file.answer.claims] == [True, False]
    assert file.notes == ("Left out by a comment: told by a friend.",)


class Silent:
    """A retriever whose documents nobody can list."""

    name = "silent"

    def search(self, queries: Sequence[str], k: int) -> list[tuple[()]]:
        return [()] * len(queries)


def test_a_comment_counts_where_documents_cannot_be_listed(tmp_path: Path):
    text = f"<!-- toulmin: skip told by a friend -->\n{FALSE}\n\n{TRUE}\n"
    file = checked(tmp_path / "page.md", text, docs=None, retriever=Silent())
    assert [claim for _, claim in rules(file)] == [TRUE]


def test_a_baseline_leaves_old_failures_out_and_new_ones_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    page, baseline = tmp_path / "page.md", tmp_path / "baseline.toml"
    old = checked(page, f"{FALSE}\n")
    content, claims = baseline_of([old], "unsupported", "it was so")
    baseline.write_bytes(content)
    assert claims == 1
    later = checked(page, f"{FALSE}\n\nThe sea watch H4 was finished in 1760.\n", baseline=baseline)
    assert [finding.excuse for finding in later.findings] == ["it was so", None]
    assert len(later.failures("unsure")) == 1
    mended = checked(page, f"{TRUE}\n", baseline=baseline)
    assert mended.notes == (f"No longer fails, remove it from the baseline: “{FALSE}”",)


def test_a_baseline_is_no_source(tmp_path: Path):
    notes = tmp_path / "notes"
    shutil.copytree(demo.FOLDER, notes)
    for name in ("known.toml", ".known.toml"):
        (notes / name).write_text(f'[[claim]]\nfile = "page.md"\ntext = "{FALSE}"\nreason = "so"\n')
    with pytest.raises(toulmin.UsageError, match=r"known\.toml lies among the sources"):
        checked(tmp_path / "page.md", f"{FALSE}\n", docs=notes, baseline=notes / "known.toml")
    (notes / "known.toml").unlink()
    file = checked(tmp_path / "page.md", f"{FALSE}\n", docs=notes, baseline=notes / ".known.toml")
    assert [rule for rule, _ in rules(file)] == ["contradicted"]


@given(st.lists(st.tuples(st.text(min_size=1), st.text(min_size=1)), unique_by=lambda pair: pair[0].strip()))
def test_a_baseline_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]):
    path = tmp_path_factory.mktemp("baseline") / "baseline.toml"
    rows = [(text, excuse) for text, excuse in rows if text.strip()]
    support = Support("unsupported", 0.1, "lexical-3")
    claims = tuple(Claim(text, support=support) for text, _ in rows)
    findings = tuple(
        Finding(claim, "unsupported", excuse=excuse) for claim, (_, excuse) in zip(claims, rows, strict=True)
    )
    answer = Answer("", "long", "check", "answered" if claims else "abstained", claims)
    path.write_bytes(baseline_of([CheckedFile("a\nb.md", answer, findings)], "unsure", "").content)
    assert read_baseline(path).get("a\nb.md", {}) == dict(rows)


@pytest.mark.parametrize("content", ["[[claim]]\nfile = 3", "claim = 3", "[[claim]]\nfile = 'a'", "\x00", "[["])
def test_what_is_no_baseline_is_refused(tmp_path: Path, content: str):
    (tmp_path / "baseline.toml").write_text(content)
    with pytest.raises(toulmin.UsageError, match=r"baseline.toml should be TOML with \[\[claim\]\] tables"):
        read_baseline(tmp_path / "baseline.toml")


def test_folders_are_searched_for_documents(tmp_path: Path):
    (tmp_path / "deep").mkdir()
    for name in ("a.md", "deep/b.html", "c.py", "d.txt"):
        (tmp_path / name).write_text("Some words.")
    assert [path.name for path in files_to_check([tmp_path])] == ["a.md", "d.txt", "b.html"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(toulmin.SourceError, match=r"Files of .*\.md.* were expected in .*empty; there are none"):
        files_to_check([tmp_path / "empty"])


def test_the_nearest_sentence_has_its_line_in_a_source_that_is_text(tmp_path: Path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "h4.md").write_text("# H4\n\nIt is old. The *sea watch* H4\nwas **finished in 1759**. It ran.\n")
    (finding,) = checked(tmp_path / "page.md", f"{FALSE}\n", docs=notes).findings
    place = finding.near_place
    assert place is not None
    assert (place.line, place.column, place.end_line, place.end_column) == (3, 12, 4, 23)
    paper = docx.Document()
    paper.add_paragraph("The sea watch H4 was finished in 1759.")
    paper.save(str(notes / "h4.docx"))
    (notes / "h4.md").unlink()
    (finding,) = checked(tmp_path / "page.md", f"{FALSE}\n", docs=notes).findings
    assert (finding.near is not None, finding.near_place) == (True, None)


def test_what_cannot_be_read_is_named_after_all_others_were_judged(tmp_path: Path):
    (tmp_path / "page.md").write_text(f"{FALSE}\n")
    (tmp_path / "damaged.docx").write_bytes(b"PK\3\4 no zip")
    with pytest.raises(toulmin.SourceError, match=r"damaged\.docx") as caught:
        toulmin.check_files(tmp_path, docs=demo.FOLDER, judge="lexical", memo=False)
    error = caught.value
    assert isinstance(error, UnreadFiles)
    assert [[rule for rule, _ in rules(file)] for file in error.checked] == [["contradicted"]]
    assert [Path(each.path).name for each in error.unread] == ["damaged.docx"]


# ---------------------------------------------------------------- judges


class Counting:
    """The lexical judge, which counts the pairs that it is asked about."""

    name = "counting"

    def __init__(self) -> None:
        self.pairs: list[Pair] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        self.pairs += pairs
        return Lexical().judge(pairs)


def test_kept_verdicts_of_words_are_of_the_rules_of_now():
    assert f"rules {RULES}" in Lexical.key


def test_a_check_is_kept_until_the_file_a_source_or_a_setting_changes(tmp_path: Path):
    notes, memo, judge = tmp_path / "notes", tmp_path / "verdicts.sqlite", Counting()
    shutil.copytree(demo.FOLDER, notes)
    options = {"docs": notes, "judge": judge, "memo": memo}
    first = checked(tmp_path / "page.md", f"{FALSE} {TRUE}\n", **options)
    asked = len(judge.pairs)
    assert asked
    again = checked(tmp_path / "page.md", f"{FALSE} {TRUE}\n", **options)
    assert (len(judge.pairs), rules(again)) == (asked, rules(first))
    assert again.findings == first.findings
    assert again.answer.claims == first.answer.claims
    watch = notes / "the_sea_watch_h4.md"
    watch.write_text(watch.read_text("utf-8").replace("1759", "1762"), "utf-8")
    assert rules(checked(tmp_path / "page.md", f"{FALSE} {TRUE}\n", **options)) == []
    assert rules(checked(tmp_path / "page.md", "The sea watch H4 was finished in 1759.\n", **options)) != []


def test_verdicts_outlive_a_change_of_other_sources(tmp_path: Path):
    notes, memo, judge = tmp_path / "notes", tmp_path / "verdicts.sqlite", Counting()
    shutil.copytree(demo.FOLDER, notes)
    checked(tmp_path / "page.md", f"{FALSE} {TRUE}\n", docs=notes, judge=judge, memo=memo)
    asked = len(judge.pairs)
    (notes / "new.md").write_text("Gardens have roses.\n", "utf-8")
    checked(tmp_path / "page.md", f"{FALSE} {TRUE}\n", docs=notes, judge=judge, memo=memo)
    assert len(judge.pairs) == asked


def test_a_damaged_check_is_done_again(tmp_path: Path):
    memo = tmp_path / "verdicts.sqlite"
    first = checked(tmp_path / "page.md", f"{FALSE} {TRUE}\n", memo=memo)
    with sqlite3.connect(tmp_path / "verdicts-checks.sqlite") as file:
        file.execute("UPDATE checks SET checked = '[]'")
    file.close()
    assert checked(tmp_path / "page.md", f"{FALSE} {TRUE}\n", memo=memo).findings == first.findings


# ---------------------------------------------------------------- the command


def command(tmp_path: Path, *more: str, judge: str = "lexical") -> int:
    page = tmp_path / "page.md"
    page.write_text(f"# Watches\n\n{FALSE} {TRUE}\n")
    return run(["check", str(page), "--docs", str(demo.FOLDER), "--judge", judge, *more])


def test_failures_are_listed_like_a_linters(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert command(tmp_path) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "page.md:3:1 ✗ contradicted" in out
    assert "nearest, " in out
    assert "2 claims in 1 file: 1 supported, 1 contradicted; judged by lexical-3." in out


@pytest.mark.parametrize(("more", "code"), [(["--fail-on", "contradicted"], 6), (["--strict"], 6), ([], 0)])
def test_the_exit_code_follows_the_rule(tmp_path: Path, more: list[str], code: int):
    assert command(tmp_path, *more) == code


HESITANT = """
from toulmin.steps import Verdict

class Hesitant:
    name = "hesitant"

    def judge(self, pairs):
        return [Verdict("likely", 0.7, 0.0, self.name, (None,) * len(pair.premises)) for pair in pairs]
"""


@pytest.mark.parametrize(
    ("more", "code", "is_listed"),
    [([], 0, False), (["--fail-on", "unsure"], 0, False), (["--fail-on", "likely"], 6, True), (["--strict"], 6, True)],
)
def test_a_likely_claim_fails_only_the_strictest_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], code: int, is_listed: bool
):
    (tmp_path / "mine.py").write_text(HESITANT, "utf-8")
    assert command(tmp_path, *more, judge=f"{tmp_path / 'mine.py'}:Hesitant") == code
    out = " ".join(capsys.readouterr().out.split())
    assert "2 claims in 1 file: 2 likely; judged by hesitant." in out
    assert ("≈ likely 0.70" in out and "A source probably says it" in out) is is_listed


def test_a_likely_claim_of_an_answer_stays_and_is_marked():
    passage = toulmin.Passage.of("The lamp was lit in 1824.", "Lamp")
    support = Support("likely", 0.7, "hesitant", (passage.id,))
    claim = Claim("It was lit in 1824.", (Citation(passage.id),), support)
    answer = Answer("When?", "long", "mine", "answered", (claim,), (passage,), settings={"unsupported": "flag"})
    assert (claim.is_supported, claim.is_proven, claim.fails) == (True, False, False)
    assert answer.text == "It was lit in 1824 [1][likely]."
    assert "[likely]" in markdown(answer)


@pytest.mark.parametrize("form", ["json", "sarif", "junit", "github"])
def test_each_form_is_the_same_bytes_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str):
    outputs = []
    for _ in range(2):
        assert command(tmp_path, "--format", form, "--fail-on", "contradicted") == 6
        outputs.append(capsys.readouterr().out)
    assert "page.md" in outputs[0]
    if form == "json":
        first, second = map(json.loads, outputs)
        assert first["files"][0]["findings"] == second["files"][0]["findings"]
        claim = first["files"][0]["answer"]["claims"][0]
        assert claim["place"] == {"line": 3, "column": 1, "end_line": 3, "end_column": 1 + len(FALSE)}
    else:
        assert outputs[0] == outputs[1]


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "github"])
def test_a_damaged_file_loses_no_other_ones_report(tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str):
    (tmp_path / "damaged.docx").write_bytes(b"PK\3\4 no zip")
    assert command(tmp_path, str(tmp_path / "damaged.docx"), "--format", form, "--fail-on", "absent") == 3
    out, err = capsys.readouterr()
    assert "1762" in out
    assert "damaged.docx" in err
    assert form == "text" or "damaged.docx" in out


def test_no_baseline_is_written_without_a_file_that_cannot_be_read(tmp_path: Path):
    (tmp_path / "damaged.docx").write_bytes(b"PK\3\4 no zip")
    baseline = tmp_path / "baseline.toml"
    assert command(tmp_path, str(tmp_path / "damaged.docx"), "--baseline", str(baseline), "--update-baseline") == 3
    assert not baseline.exists()


def test_a_build_and_its_report_agree_on_what_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "page.md").write_text("The sea watch H4 had 4711 wheels.\n")
    for rule, code in (("contradicted", 0), ("absent", 6)):
        more = ["--docs", str(demo.FOLDER), "--judge", "lexical", "--format", "junit", "--fail-on", rule]
        assert run(["check", str(tmp_path / "page.md"), *more]) == code
        assert f'failures="{int(code == 6)}"' in capsys.readouterr().out


def test_a_baseline_is_written_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    baseline = str(tmp_path / "baseline.toml")
    assert command(tmp_path, "--baseline", baseline) == 3
    assert "--update-baseline writes one" in capsys.readouterr().err
    assert command(tmp_path, "--baseline", baseline, "--update-baseline") == 0
    assert command(tmp_path, "--baseline", baseline, "--fail-on", "unsure") == 0
    assert "1 in the baseline" in " ".join(capsys.readouterr().out.split())
    assert command(tmp_path, "--update-baseline", "--format", "text") == 2


@pytest.mark.parametrize("more", [["--repair"], ["--explain"], ["--passages", "sources.jsonl"]])
def test_what_lists_failures_is_never_ignored(tmp_path: Path, more: list[str], capsys: pytest.CaptureFixture[str]):
    assert command(tmp_path, "--fail-on", "contradicted", *more) == 2
    assert "--fail-on, --format and --baseline need files" in capsys.readouterr().err


@pytest.mark.parametrize("files", [[], ["--", "-"]])
def test_failures_are_listed_of_files_alone(files: list[str], capsys: pytest.CaptureFixture[str]):
    assert run(["check", "--docs", str(demo.FOLDER), "--fail-on", "absent", *files]) == 2
    assert "need files" in capsys.readouterr().err


def test_a_file_whose_check_fails_costs_no_other_its_report(tmp_path: Path):
    class Failing(Lexical):
        def judge(self, pairs: Sequence[Pair]) -> Sequence[Verdict]:
            if any("4711" in pair.claim for pair in pairs):
                raise ModelError("The judge gave up.")
            return super().judge(pairs)

    for name, claim in (("a.md", "The sea watch H4 had 4711 wheels."), ("b.md", FALSE)):
        (tmp_path / name).write_text(claim, "utf-8")
        options = {"docs": demo.FOLDER, "judge": Failing(), "memo": False}
    with pytest.raises(ModelError, match="gave up"):
        toulmin.check_files(tmp_path / "a.md", **options)
    with pytest.raises(UnreadFiles, match="gave up") as failed:
        toulmin.check_files(tmp_path / "a.md", tmp_path / "b.md", **options)
    assert [finding.claim.text for check in failed.value.checked for finding in check.findings] == [FALSE]
