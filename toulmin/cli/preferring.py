"""`toulmin prefer`: each person chooses the better of two anonymous answers.

The questions are those of plan-based retrieval's human study (Godbole et al. 2024): fluency and informativeness.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from rich.columns import Columns
from rich.panel import Panel
from rich.text import Text

from toulmin.cli.terminal import Console, words
from toulmin.data import Answer, render
from toulmin.errors import SourceError, UsageError, cause_of
from toulmin.evaluation.run_folder import read_run, replace_file, run_folders

Aspect = Literal["fluency", "informativeness"]
Choice = Literal["first", "neither", "second"]
KEYS = "anb"  # for the left answer, none, the right answer
QUESTIONS: dict[Aspect, str] = {
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
    answers, others = (read_run(run_folders(folder)[0]).answers for folder in (first, second))
    shown = pairs(answers, others, n, seed, annotator)
    choices = load_preferences(out)
    if ask:
        if not sys.stdin.isatty():
            raise UsageError("toulmin prefer needs a terminal to ask its questions; for the shares so far use --json.")
        _conversation(shown, choices, out)
    every = [load_preferences(path) for path in _beside(out)]
    joint = join_annotators(every)
    counts = {"n": len(joint), "annotators": len(every)}
    result: dict[str, Any] = {"first": str(first), "second": str(second), **counts, "shares": shares(joint)}
    if ask:
        console = Console()
        console.print()
        console.print(f"{result['n']} pairs judged by {result['annotators']}; yours are in {out}.")
        for aspect, share in result["shares"].items():
            sides = f"{result['first']} {share['first']:.1f} %, no preference {share['neither']:.1f} %"
            console.say(f"{aspect}: {sides}, {result['second']} {share['second']:.1f} %")
    return result


def preferences_path(first: Path, second: Path, annotator: str = "") -> Path:
    if not re.fullmatch(r"[\w.-]*", annotator):
        raise UsageError(f"--by should be a name of letters, digits, dots, hyphens and underscores, not {annotator!r}.")
    return first / f"preferences-{second.resolve().name}{'@' if annotator else ''}{annotator}.jsonl"


def _beside(out: Path) -> list[Path]:
    """All annotators' files, which differ after the `@`."""
    stem = out.stem.partition("@")[0]
    return sorted(path for path in out.parent.glob("*.jsonl") if path.stem.partition("@")[0] == stem)


def _conversation(shown: tuple[AnswerPair, ...], choices: dict[str, Preference], out: Path) -> None:
    console = Console()
    console.print(f"{len(shown)} pairs. Keys: a, b, or n for no preference; {BACK} goes back, {LEAVE} leaves.")
    place = next((i for i, pair in enumerate(shown) if pair.id not in choices), len(shown))
    while place < len(shown):
        outcome = _judge_pair(shown[place], place, len(shown), console)
        if isinstance(outcome, Preference):
            choices[outcome.id] = outcome
            replace_file(out, lines(choices.values()))
            place += 1
        elif outcome == BACK:
            place = max(0, place - 1)
        else:
            return


def _judge_pair(pair: AnswerPair, place: int, total: int, console: Console) -> Preference | str:
    """The preference, or `LEAVE` or `BACK`."""
    console.print()
    console.print(Text(f"{place + 1} of {total}  ", "dim").append_text(words(pair.question, "bold")))
    named = {"A": pair.left, "B": pair.right}
    panels = [Panel(words(blind_text(answer)), title=name) for name, answer in named.items()]
    console.print(Columns(panels, equal=True, expand=True))
    choices: dict[Aspect, Choice] = {}
    for aspect, question in QUESTIONS.items():
        key = _key(f"{question} [a/n/b] ", console)
        if key in (LEAVE, BACK):
            return key
        choices[aspect] = pair.choice(key)
    return Preference(pair.id, **choices)


def _key(prompt: str, console: Console) -> str:
    while True:
        try:
            typed = console.input(prompt, markup=False).strip().lower()
        except EOFError:
            return LEAVE
        if typed in (*KEYS, LEAVE, BACK):
            return typed
        console.print(f"Type a, n or b; {BACK} goes back, {LEAVE} leaves.")


# ---------------------------------------------------------------- pairs and preferences


class AnswerPair(NamedTuple):
    """If `swapped`, the second run's answer is on the left."""

    id: str
    question: str
    left: Answer
    right: Answer
    swapped: bool

    def choice(self, key: str) -> Choice:
        """What the key of a side means for the runs."""
        choices: tuple[Choice, ...] = get_args(Choice)
        return choices[(KEYS[::-1] if self.swapped else KEYS).index(key)]


@dataclass(frozen=True, slots=True)
class Preference:
    """A person's choices for one pair; "first" is the first run, on whichever side."""

    id: str
    fluency: Choice
    informativeness: Choice

    def __post_init__(self) -> None:
        if not {self.fluency, self.informativeness} <= set(get_args(Choice)):
            raise ValueError(f"a preference is one of {', '.join(get_args(Choice))}")


def pairs(
    first: Sequence[Answer], second: Sequence[Answer], n: int | None = None, seed: int = 0, annotator: str = ""
) -> tuple[AnswerPair, ...]:
    """Questions that both runs answered, shuffled by the seed, at most `n`; each run is on the left in half of them.

    Raises `UsageError` without any.
    """
    others = {answer.id: answer for answer in second if answer.claims}
    both = [answer for answer in first if answer.claims and answer.id in others]
    if not both:
        raise UsageError("The two runs have no question that both answered; compare runs over the same dataset.")
    random.Random(seed).shuffle(both)
    sides = [place % 2 == 1 for place in range(len(both[:n]))]
    random.Random(f"{seed} {annotator}").shuffle(sides)
    shown = []
    for answer, swapped in zip(both, sides, strict=False):
        left, right = (others[answer.id], answer) if swapped else (answer, others[answer.id])
        shown.append(AnswerPair(answer.id, answer.question, left, right, swapped))
    return tuple(shown)


def blind_text(answer: Answer) -> str:
    """The words alone: marks, headings and layout could reveal the writer."""
    claims = tuple(replace(claim, section=None) for claim in answer.claims)
    return " ".join(render(claims, answer.style, numbers={}).text.split())


def shares(preferences: Iterable[Preference]) -> dict[Aspect, dict[Choice, float]]:
    """The share, 0 to 100, of each choice by aspect; zeros without preferences."""
    rows = list(preferences)
    counted = {aspect: Counter(getattr(row, aspect) for row in rows) for aspect in QUESTIONS}
    return {
        aspect: {choice: 100 * counts[choice] / len(rows) if rows else 0.0 for choice in get_args(Choice)}
        for aspect, counts in counted.items()
    }


def join_annotators(choices: Sequence[Mapping[str, Preference]]) -> list[Preference]:
    """What most annotators of a question chose; "neither" on a tie."""
    rows: dict[str, list[Preference]] = {}
    for preference in (preference for each in choices for preference in each.values()):
        rows.setdefault(preference.id, []).append(preference)
    return [Preference(id, *(_majority([getattr(p, a) for p in row]) for a in QUESTIONS)) for id, row in rows.items()]


def _majority(choices: Sequence[Choice]) -> Choice:
    (best, count), *others = Counter(choices).most_common()
    return "neither" if others and others[0][1] == count else best


def load_preferences(path: Path) -> dict[str, Preference]:
    """By question id; empty without a file. Raises `SourceError` for a damaged one."""
    if not path.exists():
        return {}
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return {row["id"]: Preference(str(row["id"]), row["fluency"], row["informativeness"]) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SourceError(
            f"{path} should hold preferences, one JSON object a line, but cannot be read: {cause_of(error)}."
        ) from error


def lines(preferences: Iterable[Preference]) -> bytes:
    rows = (json.dumps(asdict(preference), ensure_ascii=False) + "\n" for preference in preferences)
    return "".join(rows).encode("utf-8", "replace")
