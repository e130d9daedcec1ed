"""The dialogue of `toulmin prefer`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Literal

from rich.columns import Columns
from rich.panel import Panel
from rich.text import Text

from toulmin.cli.terminal import Console, words
from toulmin.data import Answer
from toulmin.errors import UsageError
from toulmin.evaluation import preference
from toulmin.evaluation.run_folder import read_run, replace_file, run_folders

Side = Literal["left", "neither", "right"]
KEYS: dict[str, Side] = {"a": "left", "n": "neither", "b": "right"}
QUESTIONS: dict[preference.Aspect, str] = {
    "fluency": "Which one reads better?",
    "informativeness": "Which one tells you more of what the question asks?",
}
LEAVE, BACK = "q", "u"


def collect_preferences(
    first: Path, second: Path, n: int | None, seed: int, annotator: str, out: Path | None, *, ask: bool
) -> dict[str, Any]:
    """Asks about pairs missing from the annotator's file; returns the shares of what all annotators chose.

    Raises `UsageError` where standard input is no terminal.
    """
    out = out or preferences_path(first, second, annotator)
    shown = preference.pairs(_answers(first), _answers(second), n, seed, annotator)
    choices = preference.load_preferences(out)
    if ask:
        if not sys.stdin.isatty():
            raise UsageError("toulmin prefer asks a person at a terminal; use --json for the shares so far.")
        _conversation(shown, choices, out)
    every = [preference.load_preferences(path) for path in _beside(out)]
    joint = preference.join_annotators(every)
    shares, agreement = preference.shares(joint), preference.agreement(every)
    if ask:
        _report(f"{len(joint)} pairs judged by {len(every)}; yours are in {out}.", shares, agreement, first, second)
    return {
        "first": str(first),
        "second": str(second),
        "n": len(joint),
        "annotators": len(every),
        "shares": shares,
        "agreement": agreement,
    }


def preferences_path(first: Path, second: Path, annotator: str = "") -> Path:
    return first / f"preferences-{second.resolve().name}{'@' if annotator else ''}{annotator}.jsonl"


def _beside(out: Path) -> list[Path]:
    """The files of all annotators: they differ in what follows the `@`."""
    stem = out.stem.partition("@")[0]
    return sorted(path for path in out.parent.glob("*.jsonl") if path.stem.partition("@")[0] == stem)


def _answers(folder: Path) -> tuple[Answer, ...]:
    return read_run(run_folders(folder)[0]).answers


def _conversation(shown: tuple[preference.Shown, ...], choices: dict[str, preference.Preference], out: Path) -> None:
    console = Console()
    console.print(f"{len(shown)} pairs. Keys: a, b, or n for no preference; {BACK} goes back, {LEAVE} leaves.")
    place = next((i for i, pair in enumerate(shown) if pair.id not in choices), len(shown))
    while place < len(shown):
        answers = _judge_pair(shown[place], place, len(shown), console)
        if answers == LEAVE:
            return
        if answers == BACK:
            place = max(0, place - 1)
            continue
        assert not isinstance(answers, str)
        choices[shown[place].id] = preference.preference_of(shown[place], answers)
        replace_file(out, preference.lines(choices.values()))
        place += 1


def _judge_pair(
    pair: preference.Shown, place: int, total: int, console: Console
) -> dict[preference.Aspect, Side] | str:
    """A side for each aspect, or `LEAVE` or `BACK`."""
    console.print()
    console.print(Text(f"{place + 1} of {total}  ", "dim").append_text(words(pair.question, "bold")))
    console.print(Columns([_panel("A", pair.left), _panel("B", pair.right)], equal=True, expand=True))
    sides: dict[preference.Aspect, Side] = {}
    for aspect, question in QUESTIONS.items():
        key = _key(f"{question} [a/n/b] ", console)
        if key in (LEAVE, BACK):
            return key
        sides[aspect] = KEYS[key]
    return sides


def _panel(name: str, answer: Answer) -> Panel:
    return Panel(words(preference.blind_text(answer)), title=name)


def _key(prompt: str, console: Console) -> str:
    while True:
        try:
            typed = console.input(prompt, markup=False).strip().lower()
        except EOFError:
            return LEAVE
        if typed in (*KEYS, LEAVE, BACK):
            return typed
        console.print(f"Type a, n or b; {BACK} goes back, {LEAVE} leaves.")


def _report(
    head: str,
    shares: dict[preference.Aspect, dict[preference.Choice, float]],
    agreement: dict[preference.Aspect, float | None],
    first: Path,
    second: Path,
) -> None:
    console = Console()
    console.print()
    console.print(head)
    for aspect, share in shares.items():
        sides = f"{first} {share['first']:.1f} %, no preference {share['neither']:.1f} %"
        alike = "" if agreement[aspect] is None else f" (two annotators agree in {agreement[aspect]:.1f} %)"
        console.say(f"{aspect}: {sides}, {second} {share['second']:.1f} %{alike}")
