"""What a person sees of runs: their progress, how they ended, and tables of their scores."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

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
