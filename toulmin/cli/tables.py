"""Shows runs: progress, outcome and tables of scores."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from toulmin.cli.terminal import Console, count_of, print_json, progress_bar, words
from toulmin.errors import ModelError

if TYPE_CHECKING:
    from pathlib import Path

    from toulmin.build.scoring import QuestionSummary
    from toulmin.evaluation.running import Progress, RunReport
    from toulmin.formats.answer_table import Row
    from toulmin.indexing.update import Progress as Reading


def print_rows(rows: Sequence[Mapping[str, str]]) -> None:
    """A table of such rows, with their keys as its head."""
    table = Table(box=None, pad_edge=False)
    for head in rows[0]:
        table.add_column(head, overflow="fold")
    for row in rows:
        table.add_row(*map(words, row.values()))
    Console().print(table)


def answers(rows: Sequence[Row], out: Path | None, *, as_json: bool) -> int:
    """Prints a table of answers that is in no file; a file that cannot be read does not change the exit code."""
    from toulmin.formats.answer_table import cell_of, csv_file, json_file
    from toulmin.formats.manuscript import SIGNS

    if out is None and sys.stdout.isatty() and not as_json:
        cells = ((row, answer, cell_of(answer)) for row in rows for answer in row.answers)
        print_rows(
            [
                {
                    "document": row.document if answer is row.answers[0] else "",
                    "question": answer.question,
                    "answer": f"{SIGNS.get(cell.verdict, '–')} {cell.text or cell.quote}",
                    "place": cell.place,
                }
                for row, answer, cell in cells
            ]
        )
    elif out is None or as_json:
        sys.stdout.buffer.write(json_file(rows) if as_json else csv_file(rows))
        sys.stdout.buffer.flush()
    every = [answer for row in rows for answer in row.answers]
    counts = Counter(answer.status for answer in every)
    listed = ", ".join(f"{counts[status]} {status}" for status in ("answered", "abstained", "failed"))
    size = f"{count_of(len(rows), 'document')}, {count_of(len(rows[0].answers), 'question')}"
    Console(stderr=True).say(f"{size}: {listed}.")
    return ModelError.exit_code if any(answer.status == "failed" and answer.id for answer in every) else 0


# ---------------------------------------------------------------- runs


def run_document(report: RunReport) -> dict[str, Any]:
    now = report.progress
    return {
        "run": str(report.folder),
        "questions": now.total,
        **{name: getattr(now, name) for name in ("done", "asked", "abstained", "failed")},
        "calls": now.spent.calls,
        "tokens": now.spent.tokens,
        "cost": None if now.spent.usd is None else {"usd": now.spent.usd},
        "seconds": round(now.seconds, 3),
        "stopped": report.stopped,
        "notes": list(report.notes),
        **({"seeds": [run_document(seed_report) for seed_report in report.seeds]} if report.seeds else {}),
    }


def run_report(report: RunReport, *, as_json: bool) -> None:
    console, now = Console(stderr=as_json), report.progress
    if as_json:
        print_json(run_document(report))
    else:
        asked = "" if now.asked == now.done else f" ({now.asked} of them now)"
        console.print(
            f"{now.done} of {now.total} questions done{asked}: {now.done - now.abstained - now.failed} answered,"
            f" {now.abstained} abstained, {now.failed} failed."
        )
        parts = [f"{now.spent.calls:,} model calls", f"{now.spent.tokens:,} tokens"]
        if now.spent.usd is not None and now.spent.calls and now.spent.usd > 0:
            parts.append(f"{now.spent.usd:.4f} US dollars")
        parts += [f"{now.seconds:.1f} s", f"{now.rate:.1f} questions a second"]
        console.print(Text(" · ".join(parts), "dim"))
    for note in report.notes:
        console.say(note, "yellow")
    if report.stopped:
        console.say(report.stopped, "bold yellow")
    elif now.failed and not as_json:
        console.say("The notes of a failed answer give the reason; the same command asks again.", "yellow")
    if not report.stopped and not as_json:
        console.say(f"Score it with: toulmin score {report.folder}")


@contextmanager
def running() -> Iterator[tuple[Callable[[Reading], None] | None, Callable[[Progress], None] | None]]:
    """Shows a progress bar on standard error; yields what updates it, None outside a terminal."""
    with progress_bar(after="{task.fields[status]}", is_timed=False, status="") as update:
        yield (
            update and (lambda now: update(total=now.total_files, completed=now.done_files, status="files read")),
            update and (lambda now: update(total=now.total, completed=now.done, status=_progress_line(now))),
        )


def _progress_line(now: Progress) -> str:
    parts = [f"{now.rate:.1f}/s"]
    if now.seconds_left is not None:
        parts.append(f"{timedelta(seconds=round(now.seconds_left))} left")
    parts += [f"{now.failed} failed"] if now.failed else []
    parts.append(f"{now.spent.calls:,} calls")
    parts += [f"{now.spent.tokens:,} tokens"] if now.spent.tokens else []
    parts += [f"${now.spent.usd:.2f}"] if now.spent.usd else []
    return " ".join(parts)


# ---------------------------------------------------------------- scores


def scores(document: Mapping[str, Any]) -> None:
    console = Console()
    judge = document["judge"] or "none"
    console.say(f"profile {document['profile']} · judge {judge} · {document['n']} questions", "bold")
    grid = Table.grid(padding=(0, 2, 0, 0))
    for column in ("left", "right", "left", "left"):
        grid.add_column(justify=column)
    for name, metric in document["metrics"].items():
        count = "" if metric["n"] == document["n"] else f"of {metric['n']}"
        grid.add_row(f"  {name}", *map(Text, _value_cells(metric)), Text(count, "dim"))
    console.print(grid)
    console.print(Text("Brackets: 95 % intervals by a bootstrap over the questions.", "dim"))
    if document["failed"]:
        console.say(f"{document['failed']} questions failed and are left out.", "yellow")
    for note in document["notes"]:
        console.say(note, "dim")


def _value_cells(metric: Mapping[str, Any]) -> tuple[str, str]:
    if metric["value"] is None:
        return "–", ""
    if metric["low"] is None:
        return f"{metric['value']:.1f}", ""
    return f"{metric['value']:.1f}", f"[{metric['low']:.1f}, {metric['high']:.1f}]"


@contextmanager
def judging() -> Iterator[Callable[[int, int, str], None] | None]:
    """Shows a progress bar on standard error; None outside a terminal."""
    with progress_bar("{task.fields[status]}", status="Judging") as update:
        yield update and (lambda done, total, wave: update(status=f"Judging ({wave})", completed=done, total=total))


# ---------------------------------------------------------------- comparisons, exports, test sets


def comparison(document: Mapping[str, Any]) -> None:
    console = Console()
    runs = document["runs"]
    for place, first in enumerate(runs[0]["scores"]):
        console.say(f"profile {first['profile']} · judge {first['judge'] or 'none'}", "bold")
        scoring = (first["profile"], first["judge"])
        between = [d for d in document["differences"] if (d["profile"], d["judge"]) == scoring]
        console.print(_comparison_grid(runs, place, between))
    console.say(
        f"Differences to {runs[0]['name']} are paired on the questions that count in both, with 95 % intervals; real"
        " is the probability of any difference.",
        "dim",
    )
    for note in document["notes"]:
        console.say(note)


def _comparison_grid(runs: Sequence[Mapping[str, Any]], place: int, between: Sequence[Mapping[str, Any]]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column()
    grid.add_column(justify="right")
    heads = [words(runs[0]["name"], "bold")]
    for run in runs[1:]:
        grid.add_column(justify="right")
        grid.add_column()
        heads += [words(run["name"], "bold"), Text("difference", "dim")]
    grid.add_row("", *heads)
    for name in runs[0]["scores"][place]["metrics"]:
        row = [_value(runs[0], place, name)]
        for run, difference in zip(runs[1:], between, strict=True):
            row += [_value(run, place, name), _difference(difference["metrics"].get(name))]
        grid.add_row(f"  {name}", *row)
    return grid


def _value(run: Mapping[str, Any], place: int, name: str) -> Text:
    return Text(_value_cells(run["scores"][place]["metrics"].get(name, {"value": None}))[0])


def _difference(metric: Mapping[str, Any] | None) -> Text:
    if metric is None or metric["difference"] is None:
        return Text("")
    text = f"{metric['difference']:+.1f}"
    if metric["low"] is None:
        return Text(text)
    probability = metric["probability"]
    real = ">99 %" if probability > 0.99 else f"{100 * probability:.0f} %"
    text += f" [{metric['low']:+.1f}, {metric['high']:+.1f}] real {real}"
    return Text(text, "bold" if probability >= 0.95 else "")


_FEWER = "more questions need more sentences with a name and a date, a number or another name."


def questions_report(report: QuestionSummary, paths: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        print_json({**asdict(report), "file": str(report.file)})
        return
    console = Console()
    for note in report.notes:
        console.say(note, "yellow")
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(report.made.items()))
    console.say(f"{report.total} questions from {report.passages:,} passages: {kinds}.")
    if report.total < report.wanted:
        console.say(f"{report.total} of {report.wanted} questions were possible: {_FEWER}", "yellow")
    console.say(f"Answer them with: toulmin run {report.file} --docs {' --docs '.join(paths)} --out runs/first")
