"""The dialogue of `toulmin prefer`."""

from __future__ import annotations

import re
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
    "informativeness": "Which one answers more of the question?",
}
LEAVE, BACK = "q", "u"


def collect_preferences(
    first: Path, second: Path, n: int | None, seed: int, annotator: str, out: Path | None, *, ask: bool
) -> dict[str, Any]:
    """Asks about the pairs that the annotator's file lacks; returns the shares of all annotators' choices.

    Raises `UsageError` outside a terminal.
    """
    out = out or preferences_path(first, second, annotator)
    shown = preference.pairs(_answers(first), _answers(second), n, seed, annotator)
    choices = preference.load_preferences(out)
    if ask:
        if not sys.stdin.isatty():
            raise UsageError("toulmin prefer needs a terminal to ask its questions; for the shares so far use --json.")
        _conversation(shown, choices, out)
    every = [preference.load_preferences(path) for path in _beside(out)]
    joint = preference.join_annotators(every)
    counts = {"n": len(joint), "annotators": len(every)}
    result = {"first": str(first), "second": str(second), **counts, "shares": preference.shares(joint)}
    if ask:
        _report(result, out)
    return result


def preferences_path(first: Path, second: Path, annotator: str = "") -> Path:
    if not re.fullmatch(r"[\w.-]*", annotator):
        raise UsageError(f"--by should be a name of letters, digits, dots, hyphens and underscores, not {annotator!r}.")
    return first / f"preferences-{second.resolve().name}{'@' if annotator else ''}{annotator}.jsonl"


def _beside(out: Path) -> list[Path]:
    """All annotators' files, which differ after the `@`."""
    stem = out.stem.partition("@")[0]
    return sorted(path for path in out.parent.glob("*.jsonl") if path.stem.partition("@")[0] == stem)


def _answers(folder: Path) -> tuple[Answer, ...]:
    return read_run(run_folders(folder)[0]).answers


def _conversation(
    shown: tuple[preference.AnswerPair, ...], choices: dict[str, preference.Preference], out: Path
) -> None:
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
    pair: preference.AnswerPair, place: int, total: int, console: Console
) -> dict[preference.Aspect, Side] | str:
    """A side for each aspect, or `LEAVE` or `BACK`."""
    console.print()
    console.print(Text(f"{place + 1} of {total}  ", "dim").append_text(words(pair.question, "bold")))
    named = {"A": pair.left, "B": pair.right}
    panels = [Panel(words(preference.blind_text(answer)), title=name) for name, answer in named.items()]
    console.print(Columns(panels, equal=True, expand=True))
    sides: dict[preference.Aspect, Side] = {}
    for aspect, question in QUESTIONS.items():
        key = _key(f"{question} [a/n/b] ", console)
        if key in (LEAVE, BACK):
            return key
        sides[aspect] = KEYS[key]
    return sides


def _key(prompt: str, console: Console) -> str:
    while True:
        try:
            typed = console.input(prompt, markup=False).strip().lower()
        except EOFError:
            return LEAVE
        if typed in (*KEYS, LEAVE, BACK):
            return typed
        console.print(f"Type a, n or b; {BACK} goes back, {LEAVE} leaves.")


def _report(result: dict[str, Any], out: Path) -> None:
    console = Console()
    console.print()
    console.print(f"{result['n']} pairs judged by {result['annotators']}; yours are in {out}.")
    for aspect, share in result["shares"].items():
        sides = f"{result['first']} {share['first']:.1f} %, no preference {share['neither']:.1f} %"
        console.say(f"{aspect}: {sides}, {result['second']} {share['second']:.1f} %")
