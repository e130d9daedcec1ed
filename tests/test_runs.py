"""Runs over datasets: what lies in the folder, what is asked again, when a run stops, and what another run meets."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fork_server
import orjson
import pytest
from transcripts import transcript

import toulmin
from toulmin.data import Answer, Hit, Passage
from toulmin.errors import BudgetEnded, ModelError, SourceError, UsageError
from toulmin.evaluation.run_folder import read_run
from toulmin.evaluation.run_journal import entries
from toulmin.evaluation.running import Limits, Progress
from toulmin.formats import answer_json
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import AnswerPrompt
from toulmin.runtime import shipped
from toulmin.steps import Generate


def dataset(folder: Path, n: int = 12, **fields: Any) -> Path:
    """Questions about towers, each with two passages of its own."""
    rows = [
        {
            "id": f"t{i}",
            "question": f"When was the tower of town {i} lit?",
            "answers": [str(1800 + i)],
            "docs": [
                {"title": f"Town {i}", "text": f"The tower of town {i} was lit in {1800 + i}. It is tall."},
                {"title": "Boats", "text": f"Many boats of town {i} are painted blue."},
            ],
            **fields,
        }
        for i in range(n)
    ]
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


class Counting:
    """A model that says the first passage's first sentence, counts what it was asked, and fails when told to."""

    name = "counting"
    concurrency = 4

    def __init__(self, failing: Sequence[str] = (), usd: float | None = None) -> None:
        self.failing, self.usd = set(failing), usd
        self.asked: Counter[str] = Counter()

    def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        """One sentence with its mark for each."""
        return [self._reply(request.prompt) for request in requests]

    def _reply(self, prompt: Any) -> Reply:
        assert isinstance(prompt, AnswerPrompt)
        self.asked[prompt.question] += 1
        if any(f"town {number} " in prompt.question for number in self.failing):
            raise ModelError("The server is away; start it.")
        return Reply(f"{prompt.passages[0].text.split('. ')[0]} [1].", usd=self.usd)


class Named(Counting):
    """The same under another name: what a run was asked of is known by it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


def answers_of(folder: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (folder / "answers.jsonl").read_bytes().splitlines()]


def timeless(folder: Path) -> list[dict[str, Any]]:
    """The answers by id, times aside."""
    found = answers_of(folder)
    for answer in found:
        answer["usage"]["seconds"] = 0
    return sorted(found, key=lambda answer: str(answer["id"]))


# ---------------------------------------------------------------- the folder


def test_a_run_answers_every_question_in_the_order_of_the_dataset(tmp_path: Path):
    report = toulmin.run(dataset(tmp_path), out=tmp_path / "a", method="vanilla", model=Counting())
    assert [answer["id"] for answer in answers_of(tmp_path / "a")] == [f"t{i}" for i in range(12)]
    assert (report.progress.done, report.progress.failed, report.error) == (12, 0, None)


def test_run_json_holds_settings_versions_and_the_hash_of_the_data(tmp_path: Path):
    toulmin.run(dataset(tmp_path), out=tmp_path / "a", method="vanilla", k=2, max_calls=3)
    about = json.loads((tmp_path / "a" / "run.json").read_text("utf-8"))
    assert about["settings"]["method"] == "vanilla"
    assert about["settings"]["max_calls"] == 3
    assert about["settings"]["unsupported"] == "keep"
    assert about["toulmin"] == toulmin.__version__
    assert len(about["dataset"]["sha256"]) == 64


def test_a_run_does_not_go_on_with_other_trained_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = dataset(tmp_path)
    toulmin.run(file, out=tmp_path / "a", method="vanilla")
    monkeypatch.setattr(shipped, "ready", lambda: {"reader": "5e" * 32})
    with pytest.raises(UsageError, match=r"parts\.reader was None and is '5e5e"):
        toulmin.run(file, out=tmp_path / "a", method="vanilla")


def test_a_run_can_be_read_without_its_dataset(tmp_path: Path):
    file = dataset(tmp_path)
    toulmin.run(file, out=tmp_path / "a", method="vanilla")
    file.unlink()
    run = read_run(tmp_path / "a")
    assert run.items[3].gold.answers == (("1803",),)
    assert [answer.id for answer in run.answers] == [item.id for item in run.items]


def test_every_claim_is_kept_unless_something_else_is_said(tmp_path: Path):
    toulmin.run(dataset(tmp_path, 1), out=tmp_path / "a", method="vanilla")
    toulmin.run(dataset(tmp_path, 1), out=tmp_path / "b", method="vanilla", unsupported="drop")
    assert answers_of(tmp_path / "a")[0]["settings"]["unsupported"] == "keep"
    assert answers_of(tmp_path / "b")[0]["settings"]["unsupported"] == "drop"


def test_a_recorded_transcript_replays_the_answer(tmp_path: Path):
    toulmin.run(dataset(tmp_path, 2), out=tmp_path / "a", method="vanilla")
    recorded = transcript(tmp_path / "a" / "journal.sqlite", "t1")
    assert {entry.kind for entry in recorded.entries.values()} >= {"Search", "Generate AnswerPrompt", "Entail"}


def test_each_seed_is_a_run_of_its_own(tmp_path: Path):
    report = toulmin.run(dataset(tmp_path, 3), out=tmp_path / "a", method="vanilla", seeds=(7, 8))
    assert [one.folder.name for one in report.seeds] == ["seed-7", "seed-8"]
    assert report.progress.done == 6
    assert answers_of(tmp_path / "a" / "seed-8")[0]["settings"]["seed"] == 8


# ---------------------------------------------------------------- whence


def test_passages_are_each_questions_own(tmp_path: Path):
    toulmin.run(dataset(tmp_path), out=tmp_path / "a", method="vanilla")
    for i, answer in enumerate(answers_of(tmp_path / "a")):
        assert {p["text"].split("town ")[1].split()[0] for p in answer["passages"]} == {str(i)}


def test_a_named_retriever_replaces_the_questions_passages(tmp_path: Path):
    class One:
        def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
            return [[Hit(Passage.of("Towers are lit by lamps.", "Lamps"), 1.0)] for _ in queries]

    toulmin.run(dataset(tmp_path, 2), out=tmp_path / "a", method="vanilla", retriever=One())
    assert [p["title"] for answer in answers_of(tmp_path / "a") for p in answer["passages"]] == ["Lamps", "Lamps"]


def test_a_passage_withheld_from_a_question_is_not_found(tmp_path: Path):
    passage = Passage.of("The tower of town 0 was lit in 1800. It is tall.", "Town 0")
    toulmin.run(dataset(tmp_path, 1, withheld=[passage.id]), out=tmp_path / "a", method="vanilla")
    assert [p["title"] for p in answers_of(tmp_path / "a")[0]["passages"]] == ["Boats"]


def test_questions_without_passages_need_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bare.jsonl").write_text('{"id": "1", "question": "When was it lit?"}\n', "utf-8")
    with pytest.raises(SourceError, match="index"):
        toulmin.run("bare.jsonl", out="a")


def test_the_style_is_the_datasets_unless_one_is_named(tmp_path: Path):
    toulmin.run(dataset(tmp_path, 1, style="short"), out=tmp_path / "a", method="vanilla")
    toulmin.run(dataset(tmp_path, 1, style="short"), out=tmp_path / "b", method="vanilla", style="long")
    assert [answers_of(tmp_path / name)[0]["style"] for name in "ab"] == ["short", "long"]


def test_an_oracle_is_the_datasets_own_metric(tmp_path: Path):
    toulmin.run(dataset(tmp_path, 2), out=tmp_path / "a", method="a2r", correctness="oracle")
    answer = answers_of(tmp_path / "a")[0]
    assert answer["settings"]["correctness"] == "oracle"
    assessed = [one["scores"] for one in answer["rounds"] if one["kind"] == "assess"]
    assert assessed[0]["correctness (oracle)"] == 100.0


def test_citations_are_added_afterwards_where_that_is_asked(tmp_path: Path):
    toulmin.run(dataset(tmp_path, 1), out=tmp_path / "a", method="closed", attribute=True)
    assert answers_of(tmp_path / "a")[0]["settings"]["attribute"] is True


def test_a_method_that_cannot_add_citations_afterwards_says_so(tmp_path: Path):
    with pytest.raises(UsageError, match="attribute"):
        toulmin.run(dataset(tmp_path, 1), out=tmp_path / "a", method="vanilla", attribute=True)
    assert not (tmp_path / "a").exists()


# ---------------------------------------------------------------- going on


def test_a_finished_run_asks_nothing_again(tmp_path: Path):
    file, model = dataset(tmp_path), Counting()
    toulmin.run(file, out=tmp_path / "a", method="vanilla", model=model)
    report = toulmin.run(file, out=tmp_path / "a", method="vanilla", model=model)
    assert report.progress.asked == 0
    assert set(model.asked.values()) == {1}


def test_a_run_can_be_extended_by_a_higher_limit(tmp_path: Path):
    file, model = dataset(tmp_path), Counting()
    toulmin.run(file, out=tmp_path / "a", method="vanilla", model=model, limit=5)
    report = toulmin.run(file, out=tmp_path / "a", method="vanilla", model=model)
    assert (report.progress.asked, len(answers_of(tmp_path / "a"))) == (7, 12)


def test_a_lower_limit_is_refused(tmp_path: Path):
    file = dataset(tmp_path)
    toulmin.run(file, out=tmp_path / "a", method="vanilla")
    with pytest.raises(UsageError, match="12 questions, more than were asked for now"):
        toulmin.run(file, out=tmp_path / "a", method="vanilla", limit=5)


def test_only_what_failed_is_asked_again(tmp_path: Path):
    file, model = dataset(tmp_path), Counting(failing=["3", "5"])
    first = toulmin.run(file, out=tmp_path / "a", method="vanilla", model=model)
    model.failing.clear()
    second = toulmin.run(file, out=tmp_path / "a", method="vanilla", model=model)
    assert (first.progress.failed, second.progress.failed, second.progress.asked) == (2, 0, 2)
    assert {answer["status"] for answer in answers_of(tmp_path / "a")} == {"answered"}


@pytest.mark.parametrize(
    ("change", "told"),
    [({"method": "vtg"}, "settings.method was 'vanilla' and is 'vtg'"), ({"k": 3}, "settings.k was None and is 3")],
    ids=["method", "option"],
)
def test_another_run_is_not_mixed_into_the_folder(tmp_path: Path, change: dict[str, Any], told: str):
    file = dataset(tmp_path)
    toulmin.run(file, out=tmp_path / "a", method="vanilla")
    before = (tmp_path / "a" / "answers.jsonl").read_bytes()
    with pytest.raises(UsageError, match=told):
        toulmin.run(file, out=tmp_path / "a", **{"method": "vanilla", **change})
    assert (tmp_path / "a" / "answers.jsonl").read_bytes() == before


def test_a_dataset_that_changed_is_another_run(tmp_path: Path):
    toulmin.run(dataset(tmp_path), out=tmp_path / "a", method="vanilla")
    with pytest.raises(UsageError, match=r"dataset\.sha256"):
        toulmin.run(dataset(tmp_path, style="short"), out=tmp_path / "a", method="vanilla")


def test_a_dataset_that_only_moved_is_the_same(tmp_path: Path):
    file = dataset(tmp_path)
    toulmin.run(file, out=tmp_path / "a", method="vanilla")
    moved = file.rename(tmp_path / "moved.jsonl")
    assert toulmin.run(moved, out=tmp_path / "a", method="vanilla").progress.asked == 0


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "thesis.txt").write_text("mine", "utf-8")
    with pytest.raises(SourceError, match="contains other files"):
        toulmin.run(dataset(tmp_path), out=tmp_path / "a", method="vanilla")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["thesis.txt"]


def test_a_damaged_journal_is_told_by_name(tmp_path: Path):
    toulmin.run(dataset(tmp_path), out=tmp_path / "a", method="vanilla")
    (tmp_path / "a" / "journal.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(SourceError, match=r"journal\.sqlite cannot be used"):
        toulmin.run(dataset(tmp_path), out=tmp_path / "a", method="vanilla")


# ---------------------------------------------------------------- stopping


def test_a_run_out_of_money_resumes_with_more(tmp_path: Path):
    file, model = dataset(tmp_path), Counting(usd=0.5)
    options: dict[str, Any] = {"out": tmp_path / "a", "method": "vanilla", "model": model, "concurrency": 1}
    first = toulmin.run(file, limits=Limits(usd=2), **options)
    assert isinstance(first.error, BudgetEnded)
    assert 4 <= first.progress.done <= 5
    second = toulmin.run(file, **options)
    assert (second.error, second.progress.done, set(model.asked.values())) == (None, 12, {1})


def test_what_was_spent_before_counts(tmp_path: Path):
    file, model = dataset(tmp_path), Counting(usd=0.5)
    options: dict[str, Any] = {"out": tmp_path / "a", "method": "vanilla", "model": model, "concurrency": 1}
    toulmin.run(file, limits=Limits(calls=4), **options)
    assert toulmin.run(file, limits=Limits(calls=4), **options).progress.asked == 0


def test_money_cannot_be_limited_where_no_price_is_known(tmp_path: Path):
    report = toulmin.run(
        dataset(tmp_path), out=tmp_path / "a", method="vanilla", model=Counting(), limits=Limits(usd=2), concurrency=1
    )
    assert isinstance(report.error, UsageError)
    assert "prices.MODEL.input" in str(report.error)


def test_a_run_stops_after_failures_in_a_row(tmp_path: Path):
    model = Counting(failing=[str(i) for i in range(40)])
    report = toulmin.run(
        dataset(tmp_path, 40),
        out=tmp_path / "a",
        method="vanilla",
        model=model,
        limits=Limits(failures=5),
        concurrency=1,
    )
    assert isinstance(report.error, ModelError)
    assert report.progress.done <= 7
    assert "The server is away" in str(report.error)


def test_progress_tells_of_every_question(tmp_path: Path):
    seen: list[Progress] = []
    toulmin.run(dataset(tmp_path), out=tmp_path / "a", method="vanilla", on_progress=seen.append)
    assert [now.done for now in seen] == list(range(13))
    assert seen[-1].rate > 0
    assert seen[-1].seconds_left == 0


@pytest.mark.parametrize("limits", [{"usd": 0}, {"calls": -1}, {"failures": 0}], ids=str)
def test_a_limit_that_grants_nothing_is_refused(limits: dict[str, Any]):
    with pytest.raises(UsageError, match="must be above 0"):
        Limits(**limits)


# ---------------------------------------------------------------- being killed


RUN = """
import sys, time
import toulmin
from toulmin.steps import Reply

class Slow:
    name, concurrency = "slow", 4
    async def generate(self, requests):
        import asyncio
        with open(sys.argv[3], "a") as log:
            log.write(requests[0].prompt.question + "\\n")
        await asyncio.sleep(0.01)
        return [Reply(request.prompt.passages[0].text.split(". ")[0] + " [1].") for request in requests]

if __name__ == "__main__":
    toulmin.run(sys.argv[1], out=sys.argv[2], method="vanilla", model=Slow(), concurrency=4)
"""


def start(tmp_path: Path, file: Path, out: str, log: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(fork_server.python(RUN, str(file), str(tmp_path / out), str(tmp_path / log)))


def test_a_run_killed_again_and_again_ends_as_one_that_was_not(tmp_path: Path):
    file, kills = dataset(tmp_path, 120), 4
    assert start(tmp_path, file, "whole", "log-whole").wait(60) == 0
    drawn = random.Random(5)
    log = tmp_path / "log"
    for _ in range(kills):
        process = start(tmp_path, file, "cut", "log")
        was = _asked(log)
        while process.poll() is None and _asked(log) <= was:
            time.sleep(0.005)
        time.sleep(drawn.uniform(0, 0.15))
        process.send_signal(fork_server.KILL)
        process.wait(10)
    assert start(tmp_path, file, "cut", "log").wait(60) == 0
    assert timeless(tmp_path / "cut") == timeless(tmp_path / "whole")
    assert _asked(log) <= 120 + 4 * kills  # what was in flight, four at a time, and no more


def _asked(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


def test_two_processes_cannot_answer_into_one_folder(tmp_path: Path):
    file = dataset(tmp_path, 120)
    process = start(tmp_path, file, "a", "log")
    try:
        while process.poll() is None and _asked(tmp_path / "log") < 8:
            time.sleep(0.01)
        with pytest.raises(SourceError, match="in use by another process"):
            toulmin.run(file, out=tmp_path / "a", method="vanilla", model=Named("slow"))
    finally:
        process.send_signal(fork_server.KILL)
        process.wait(10)


def test_a_run_can_be_read_while_it_goes_on(tmp_path: Path):
    process = start(tmp_path, dataset(tmp_path, 120), "a", "log")
    try:
        while process.poll() is None and _asked(tmp_path / "log") < 20:
            time.sleep(0.01)
        found = list(entries(tmp_path / "a" / "journal.sqlite"))
    finally:
        process.send_signal(fork_server.KILL)
        process.wait(10)
    assert 0 < len(found) < 120
    assert all(isinstance(answer_json.parse(entry.answer), Answer) for entry in found)
