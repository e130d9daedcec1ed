"""What a person does to run folders: other words for the same folder, other data, other runs beside it, full disks."""

from __future__ import annotations

import json
import os
import pty
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import damage
import pytest
from test_runs import Counting, answers_of, dataset

import toulmin
from toulmin.cli import preferring
from toulmin.cli.tables import run_report
from toulmin.errors import DiskFull, ModelError, SourceError, UsageError
from toulmin.evaluation.run_folder import begin, read_about, read_run, replace_file
from toulmin.evaluation.run_journal import Journal
from toulmin.evaluation.running import Limits


def run(file: Path, out: Path, **options: Any) -> Any:
    return toulmin.run(file, out=out, **{"method": "vanilla", **options})


def docs(folder: Path, text: str) -> Path:
    made = folder / "docs"
    made.mkdir(exist_ok=True)
    (made / "tower.txt").write_text(text, "utf-8")
    return made


def bare(folder: Path, *rows: dict[str, Any]) -> Path:
    """Questions without passages."""
    file = folder / "bare.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


# ---------------------------------------------------------------- the disk


def test_a_run_that_finds_no_room_says_so_and_goes_on_later(tmp_path: Path):
    file, out = dataset(tmp_path), tmp_path / "a"
    for _ in range(2):  # in a new folder, and in one that such a run has left
        with damage.full_disk(), pytest.raises(DiskFull, match=r"The disk is full.*Make room and try again"):
            run(file, out)
    assert run(file, out).progress.done == 12


def test_a_file_that_finds_no_room_leaves_the_one_before(tmp_path: Path):
    page = tmp_path / "page"
    page.write_bytes(b"old")
    with damage.full_disk(), pytest.raises(DiskFull, match="page could not be written"):
        replace_file(page, b"whole page")
    assert page.read_bytes() == b"old"


# ---------------------------------------------------------------- the folder


def test_a_refused_run_changes_nothing_in_the_folder(tmp_path: Path):
    file, out = dataset(tmp_path), tmp_path / "a"
    run(file, out)
    before = {path.name: path.read_bytes() for path in out.glob("*.json*")}
    with pytest.raises(UsageError, match="more than were asked for now"):
        run(file, out, limit=5)
    assert {path.name: path.read_bytes() for path in out.glob("*.json*")} == before
    assert len(read_run(out).items) == 12


def test_whoever_finds_a_folder_in_use_changes_nothing_in_it(tmp_path: Path):
    file, out = dataset(tmp_path), tmp_path / "a"
    run(file, out, model=Counting(failing=["11"]))
    with closing(Journal(out / "journal.sqlite")) as journal:
        journal._file.execute("DELETE FROM answers")  # as if the other process had not answered anything yet
        before = (out / "items.jsonl").read_bytes(), (out / "run.json").read_bytes()
        with pytest.raises(SourceError, match="in use by another process"):
            run(file, out, limit=5, k=2)
        assert ((out / "items.jsonl").read_bytes(), (out / "run.json").read_bytes()) == before


def test_a_run_that_was_refused_before_its_first_question_does_not_bind(tmp_path: Path):
    file, out = dataset(tmp_path), tmp_path / "a"
    with pytest.raises(UsageError, match="no judge called"):
        run(file, out, judge="lexicl")
    assert run(file, out, judge="lexical").progress.done == 12


def test_a_run_killed_before_its_first_answer_may_become_another(tmp_path: Path):
    file, out = dataset(tmp_path), tmp_path / "a"
    out.mkdir()
    (out / "run.json.new").write_bytes(b"{")
    begin(out, {"run": 1, "settings": {"method": "vtg"}}, ())
    assert run(file, out).progress.done == 12
    assert read_about(out)["settings"]["method"] == "vanilla"


def test_a_run_without_an_answer_is_told_as_one(tmp_path: Path):
    begin_in = tmp_path / "a"
    begin_in.mkdir()
    begin(begin_in, {"run": 1, "dataset": {"path": "q.jsonl"}}, ())
    with pytest.raises(SourceError, match="holds no answer yet; run it first"):
        toulmin.score(begin_in, judge="none")


def test_seeds_are_not_put_inside_a_single_run(tmp_path: Path):
    file = dataset(tmp_path)
    run(file, tmp_path / "a", seeds=[1])
    with pytest.raises(UsageError, match="contains a single run"):
        run(file, tmp_path / "a", seeds=[1, 2])
    run(file, tmp_path / "b", seeds=[1, 2])
    with pytest.raises(UsageError, match="holds runs of several seeds"):
        run(file, tmp_path / "b")


def test_documents_that_changed_in_place_are_another_run(tmp_path: Path):
    file = bare(tmp_path, *({"id": str(n), "question": f"When was tower {n} lit?"} for n in range(2)))
    out = tmp_path / "a"
    run(file, out, docs=docs(tmp_path, "The tower was lit in 1824."), limit=1)
    with pytest.raises(UsageError, match=r"index\.sha256"):
        run(file, out, docs=docs(tmp_path, "The tower was lit in 1825."))


def test_files_that_could_not_be_read_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = docs(tmp_path, "Ada Lovelace was born in London in 1815. Ada Lovelace died in London in 1852.")
    (folder / "minutes.docx").write_bytes(b"no archive")
    report = run(bare(tmp_path, {"id": "1", "question": "Where was Ada Lovelace born?"}), tmp_path / "a", docs=folder)
    assert "minutes.docx" in report.notes[0]
    run_report(report, as_json=False)
    assert "Not read:" in capsys.readouterr().out
    assert "minutes.docx" in toulmin.questions(folder, out=tmp_path / "made.jsonl").notes[0]


def test_a_finished_journal_needs_no_file_beside_it(tmp_path: Path):
    run(dataset(tmp_path), tmp_path / "a")
    journal = tmp_path / "a" / "journal.sqlite"
    reading = sqlite3.connect(f"{journal.as_uri()}?mode=ro", uri=True)
    assert reading.execute("PRAGMA journal_mode").fetchone() == ("delete",)  # the one mode that a read-only disk allows
    reading.close()


def test_a_pipe_is_written_into(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    replace_file(pipe, b"answers")
    assert reader.communicate(timeout=10)[0] == b"answers"
    assert pipe.is_fifo()


def test_a_file_is_on_the_disk_before_it_takes_the_place_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    synced: list[tuple[int, bytes]] = []

    def sync(number: int) -> None:
        synced.append((os.fstat(number).st_size, (tmp_path / "page").read_bytes()))

    (tmp_path / "page").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", sync)
    replace_file(tmp_path / "page", b"whole page")
    assert (synced, (tmp_path / "page").read_bytes()) == ([(10, b"old")], b"whole page")


def test_a_link_keeps_its_place(tmp_path: Path):
    (tmp_path / "new").symlink_to(tmp_path / "report.html")
    replace_file(tmp_path / "new", b"page")
    assert ((tmp_path / "new").is_symlink(), (tmp_path / "report.html").read_bytes()) == (True, b"page")


# ---------------------------------------------------------------- how it ends


def test_a_run_in_which_every_question_failed_is_no_success(tmp_path: Path):
    model = Counting(failing=[str(n) for n in range(12)])
    report = run(dataset(tmp_path), tmp_path / "a", model=model)
    assert isinstance(report.error, ModelError)
    assert "The server is away" in str(report.error)


def test_what_is_left_is_counted_when_the_run_has_ended(tmp_path: Path):
    report = run(dataset(tmp_path), tmp_path / "a", model=Counting(), concurrency=4, limits=Limits(calls=1))
    assert f"{12 - report.progress.done} of 12 questions are left" in str(report.error)


def test_one_failure_does_not_make_the_cost_unknown(tmp_path: Path):
    model = Counting(failing=["0"], usd=0.5)
    report = run(dataset(tmp_path), tmp_path / "a", model=model, concurrency=1, limits=Limits(usd=100))
    assert (report.error, report.progress.spent.usd, report.progress.done) == (None, 5.5, 12)


def test_failed_and_abstained_questions_are_not_called_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run_report(run(dataset(tmp_path), tmp_path / "a", model=Counting(failing=["3"])), as_json=False)
    assert "12 of 12 questions done: 11 answered, 0 abstained, 1 failed." in capsys.readouterr().out


# ---------------------------------------------------------------- comparing


def test_scores_of_answers_that_were_asked_again_are_out_of_date(tmp_path: Path):
    file, model = dataset(tmp_path), Counting(failing=["3"])
    for name in ("a", "b"):
        model.failing = {"3"}
        run(file, tmp_path / name, model=model)
        toulmin.score(tmp_path / name, judge="none")
        model.failing = set()
        run(file, tmp_path / name, model=model)
    found = toulmin.compare(tmp_path / "a", tmp_path / "b", memo=False)
    assert found["runs"][0]["scores"][0]["metrics"]["failed"]["value"] == 0
    assert "a was scored (profile honest, judge none) before its answers changed" in found["notes"][0]


def test_one_id_for_two_questions_is_no_pair(tmp_path: Path):
    folder = docs(tmp_path, "The tower was lit in 1824. The mill was built in 1790.")
    for name, question in (("a", "When was the tower lit?"), ("b", "When was the mill built?")):
        run(bare(tmp_path, {"id": "1", "question": question, "answers": ["1824"]}), tmp_path / name, docs=folder)
    with pytest.raises(UsageError, match="Question '1' is 'When was the tower lit\\?' in a, but"):
        toulmin.compare(tmp_path / "a", tmp_path / "b", judge="none")


def test_a_comparison_tells_which_questions_are_not_in_both(tmp_path: Path):
    file = dataset(tmp_path)
    run(file, tmp_path / "a", limit=5)
    run(file, tmp_path / "b")
    notes = toulmin.compare(tmp_path / "a", tmp_path / "b", judge="none")["notes"]
    assert notes == [
        "a has 5 questions and b 12: the difference covers the 5 in both, so it is not that of the two columns."
    ]


# ---------------------------------------------------------------- preferences


def test_what_was_said_of_one_pair_of_runs_is_not_said_of_another(tmp_path: Path):
    assert preferring.preferences_path(tmp_path / "a", tmp_path / "b") != preferring.preferences_path(
        tmp_path / "a", tmp_path / "c"
    )


def test_a_person_is_told_the_keys(tmp_path: Path):
    file = dataset(tmp_path)
    for name in ("a", "b"):
        run(file, tmp_path / name)
    command = [sys.executable, "-c", "from toulmin.cli import main; main()", "prefer"]
    ours, theirs = pty.openpty()
    os.write(ours, b"a\nn\nq\n")
    person = subprocess.Popen(
        [*command, str(tmp_path / "a"), str(tmp_path / "b")], stdin=theirs, stdout=subprocess.PIPE, text=True
    )
    said, _ = person.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert "Which one reads better? [a/n/b]" in said
    assert "1 pairs judged" in said
    assert len((tmp_path / "a" / "preferences-b.jsonl").read_text("utf-8").splitlines()) == 1
    assert len(answers_of(tmp_path / "a")) == 12


def test_a_judge_that_is_none_is_told_before_anything_is_read(tmp_path: Path):
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": "1", "question": "When?"}\n', "utf-8")
    with pytest.raises(UsageError, match="no judge called 'lexicle'"):
        toulmin.run(file, out=tmp_path / "a", docs=tmp_path / "nowhere", judge="lexicle")
    assert not (tmp_path / "a").exists()


def test_a_run_killed_while_it_makes_its_journal_can_be_begun_again(tmp_path: Path):
    out = tmp_path / "run"
    out.mkdir()
    for name in ("journal.lock", "journal.sqlite", "journal.sqlite-journal"):
        (out / name).touch()
    run(dataset(tmp_path), out)
    assert len(read_run(out).answers) > 0
