"""What a person sees of runs: their progress, how they ended, and tables of their scores."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from toulmin.cli.terminal import Console, words

if TYPE_CHECKING:
    from toulmin.runs.running import Progress, RunReport


def as_json_document(document: Any) -> None:
    """One JSON document on standard output."""
    import orjson

    sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()


# ---------------------------------------------------------------- runs


def run_document(report: RunReport) -> dict[str, Any]:
    """The report of a run as plain values."""
    now = report.progress
    told: dict[str, Any] = {
        "run": str(report.folder),
        "questions": now.total,
        "done": now.done,
        "asked": now.asked,
        "abstained": now.abstained,
        "failed": now.failed,
        "calls": now.spent.calls,
        "tokens": now.spent.tokens,
        "cost": None if now.spent.usd is None else {"usd": now.spent.usd},
        "seconds": round(now.seconds, 3),
        "stopped": report.stopped,
    }
    return told | ({"seeds": [run_document(one) for one in report.seeds]} if report.seeds else {})


def run_report(report: RunReport, *, as_json: bool) -> None:
    """How a run ended, and what to do next."""
    if as_json:
        as_json_document(run_document(report))
    console = Console(stderr=as_json)
    now = report.progress
    if not as_json:
        asked = "" if now.asked == now.done else f", {now.asked} of them now"
        console.print(
            f"{now.done} of {now.total} questions answered{asked}: {now.abstained} abstained, {now.failed} failed."
        )
        console.print(Text(" · ".join(_spent(now)), "dim"))
    if report.stopped:
        console.print(words(report.stopped, "bold yellow"))
    elif not as_json:
        console.print(words(f"Score it with:  toulmin score {report.folder}"))


def _spent(now: Progress) -> list[str]:
    parts = [f"{now.spent.calls:,} model calls", f"{now.spent.tokens:,} tokens"]
    if now.spent.usd is not None and now.spent.calls and now.spent.usd > 0:
        parts.append(f"{now.spent.usd:.4f} US dollars")
    return [*parts, f"{now.seconds:.1f} s", f"{now.rate:.1f} questions a second"]


@contextmanager
def running() -> Iterator[Callable[[Progress], None] | None]:
    """A progress bar on standard error with rate, time left and cost; None where that is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(24), MofNCompleteColumn(), TextColumn("{task.fields[told]}"))
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("run", total=None, told="")

        def on_progress(now: Progress) -> None:
            bar.update(task, total=now.total, completed=now.done, told=_told(now))

        yield on_progress


def _told(now: Progress) -> str:
    """Rate, time left, failures, calls, tokens and cost, in a line that fits beside a bar."""
    parts = [f"{now.rate:.1f}/s"]
    if now.seconds_left is not None:
        parts.append(f"{timedelta(seconds=round(now.seconds_left))} left")
    parts += [f"{now.failed} failed"] if now.failed else []
    parts.append(f"{now.spent.calls:,} calls")
    parts += [f"{now.spent.tokens:,} tokens"] if now.spent.tokens else []
    parts += [f"${now.spent.usd:.2f}"] if now.spent.usd else []
    return " ".join(parts)


# ---------------------------------------------------------------- scores


def scores(document: Mapping[str, Any], *, as_json: bool) -> None:
    """The metrics of a run with their intervals, and under which profile and judge they were counted."""
    if as_json:
        as_json_document(document)
        return
    console = Console()
    judge = document["judge"] or "none"
    console.print(words(f"profile {document['profile']} · judge {judge} · {document['n']} questions", "bold"))
    grid = Table.grid(padding=(0, 2, 0, 0))
    for column in ("left", "right", "left", "left"):
        grid.add_column(justify=column)
    for name, metric in document["metrics"].items():
        grid.add_row(f"  {name}", *map(Text, _shown(metric)), Text(_counted(metric, document), "dim"))
    console.print(grid)
    console.print(Text("Brackets hold 95 % intervals by a bootstrap over the questions.", "dim"))
    if document["failed"]:
        console.print(words(f"{document['failed']} questions failed and are left out.", "yellow"))
    for note in document["notes"]:
        console.print(words(note, "dim"))


def _shown(metric: Mapping[str, Any]) -> tuple[str, str]:
    """A value and its interval; a dash where no question counts."""
    if metric["value"] is None:
        return "–", ""
    if metric["low"] is None:
        return f"{metric['value']:.1f}", ""
    return f"{metric['value']:.1f}", f"[{metric['low']:.1f}, {metric['high']:.1f}]"


def _counted(metric: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    return "" if metric["n"] == document["n"] else f"of {metric['n']}"


@contextmanager
def judging() -> Iterator[Callable[[int, int, str], None] | None]:
    """A progress bar on standard error for each wave of judgements; None where that is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Judging", total=None)

        def on_progress(done: int, total: int, wave: str) -> None:
            bar.update(task, description=f"Judging ({wave})", completed=done, total=total)

        yield on_progress
