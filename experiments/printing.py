"""An experiment's table in words, and as a document: the paper's figures beside ours, and what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

from frame import Column, Experiment, Figure, Interval, Ours, Panel, Row

SMALL = (
    "THE SMALL FORM: a few questions of stand-ins. Its numbers show that everything runs, and say nothing about the"
    " paper's."
)
WIDTH = 120
NONE = "-"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A row with our figures, or why there are none."""

    panel: Panel
    row: Row
    ours: Ours | None
    why: str | None = None


def text(experiment: Experiment, outcomes: Sequence[Outcome], here: Mapping[str, str], *, small: bool) -> str:
    """The whole table as a person reads it."""
    head = f"{SMALL} Written by {here['model']}; judged by {here['judge']}."
    lines = [experiment.title, *(wrap(head, WIDTH) if small else [])]
    for titles, panel, rows in _runs_once(experiment.panels, outcomes):
        title = titles[0] if len(titles) == 1 else f"{'; '.join(titles)}: one run here, as their questions are the same"
        lines += ["", *wrap(title, WIDTH), *_panel(panel, rows)]
    lines += ["", "What differs", *_differences(experiment, here)]
    for heading, items in (("What the paper says", experiment.says), ("Notes", _notes(outcomes))):
        if items:
            lines += ["", heading, *(line for item in items for line in _item(item))]
    return "\n".join(lines)


def _runs_once(
    panels: Sequence[Panel], outcomes: Sequence[Outcome]
) -> Iterator[tuple[list[str], Panel, list[Outcome]]]:
    """The panels that have rows, with their titles; those whose rows are the same runs become one, with all figures
    of the paper."""
    merged: list[tuple[list[str], Panel, list[Outcome]]] = []
    for panel in panels:
        rows = [outcome for outcome in outcomes if outcome.panel is panel]
        same = next((each for each in merged if _same_runs(each[2], rows)), None)
        if same is None and rows:
            merged.append(([panel.title], panel, rows))
        elif same is not None:
            same[0].append(panel.title)
            same[2][:] = [_with_lines(first, row, panel.title) for first, row in zip(same[2], rows, strict=True)]
    yield from merged


def _same_runs(some: Sequence[Outcome], others: Sequence[Outcome]) -> bool:
    """Whether each row has figures, and those of the same answers as its counterpart."""
    folders = [[row.ours and row.ours.folder for row in rows] for rows in (some, others)]
    columns = [rows[0].panel.columns if rows else () for rows in (some, others)]
    return all(folders[0]) and folders[0] == folders[1] and columns[0] == columns[1]


def _with_lines(outcome: Outcome, other: Outcome, title: str) -> Outcome:
    """The row with the paper's lines of its counterpart in another panel, which they name."""
    lines = (replace(line, by=f"{line.by}, {title}") for line in other.row.printed)
    return replace(outcome, row=replace(outcome.row, printed=(*outcome.row.printed, *lines)))


def _panel(panel: Panel, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The lines of one panel, its columns aligned."""
    places = _places(panel)
    table = [["", "", *(column.title for column in panel.columns)]]
    for outcome in outcomes:
        table += _row(panel, outcome, places)
    widths = [max(len(line[n]) for line in table) for n in range(len(table[0]))]
    for line in table:
        names = [cell.ljust(width) for cell, width in zip(line[:2], widths, strict=False)]
        yield "  ".join([*names, *(cell.rjust(w) for cell, w in zip(line[2:], widths[2:], strict=True))]).rstrip()


def _row(panel: Panel, outcome: Outcome, places: int) -> Iterator[list[str]]:
    """Our line, its intervals where there are any, and a line for each of the paper's models."""
    known = outcome.ours.metrics if outcome.ours is not None else {}
    figures = [known.get(column.metric) for column in panel.columns]
    whose = "ours" if outcome.ours is not None else "ours: none"
    yield [
        outcome.row.name,
        whose,
        *(_cell(None if figure is None else figure.value, places) for figure in figures),
    ]
    spans = [_span(figure) for figure in figures]
    if any(spans):
        yield ["", "95 %", *spans]
    for line in outcome.row.printed:
        yield ["", f"paper: {line.by}", *(_cell(figure, places) for figure in line.figures)]


def _places(panel: Panel) -> int:
    """Decimal places of a panel: the most that a figure of the paper needs, two where it prints none."""
    printed = [figure for row in panel.rows for line in row.printed for figure in line.figures]
    decimals = [len(repr(figure).partition(".")[2]) for figure in printed if isinstance(figure, float)]
    return max(decimals, default=2)


def _cell(figure: Figure, places: int) -> str:
    if figure is None:
        return NONE
    return figure if isinstance(figure, str) else f"{figure:.{places}f}" if isinstance(figure, float) else str(figure)


def _span(figure: Interval | None) -> str:
    if figure is None or figure.low is None or figure.high is None:
        return ""
    return f"{figure.low:.1f}..{figure.high:.1f}"


# ---------------------------------------------------------------- below the table


def differences(experiment: Experiment, here: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """For each thing of the setting what the paper had, and what stands here."""
    setting = experiment.setting
    papers = {
        "model": setting.model,
        "verifier": setting.verifier,
        "judge": setting.judge,
        "sampling": setting.sampling.paper,
        "prompts": setting.prompts,
        "passages": setting.passages,
        "sample": setting.sample,
        "runs": "no number of runs" if setting.runs is None else str(setting.runs),
    }
    return {name: {"paper": words, "here": here[name]} for name, words in papers.items() if words}


def _differences(experiment: Experiment, here: Mapping[str, str]) -> Iterator[str]:
    for name, both in differences(experiment, here).items():
        yield from _item(f"{name}: the paper has {both['paper']}; here {both['here']}")
    if experiment.setting.parameters:
        yield from _item(f"parameters of the paper: {experiment.setting.parameters}")
    for words in experiment.ours:
        yield from _item(words)


def _notes(outcomes: Sequence[Outcome]) -> list[str]:
    """What the scores say of themselves, each once, and why figures of ours are missing."""
    notes = dict.fromkeys(note for outcome in outcomes if outcome.ours is not None for note in outcome.ours.notes)
    why: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.why is not None:
            why.setdefault(outcome.why, []).append(f"{outcome.panel.title}, {outcome.row.name}")
    return [*notes, *(f"no figures of ours for {'; '.join(rows)}: {words}" for words, rows in why.items())]


def _item(words: str) -> list[str]:
    return wrap(words, WIDTH, initial_indent="  * ", subsequent_indent="    ", break_on_hyphens=False)


# ---------------------------------------------------------------- as a document


def document(
    experiment: Experiment, outcomes: Sequence[Outcome], here: Mapping[str, str], *, small: bool
) -> dict[str, Any]:
    """The table as plain JSON values; a figure that is not there is null."""
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "small": small,
        "rows": [_line(outcome) for outcome in outcomes],
        "differs": differences(experiment, here),
        "prompts": experiment.setting.prompts,
        "parameters": experiment.setting.parameters,
        "says": list(experiment.says),
        "ours": list(experiment.ours),
        "notes": _notes(outcomes),
    }


def _line(outcome: Outcome) -> dict[str, Any]:
    columns = outcome.panel.columns
    return {
        "panel": outcome.panel.title,
        "name": outcome.row.name,
        "paper": {line.by: dict(zip(_titles(columns), line.figures, strict=True)) for line in outcome.row.printed},
        "ours": None if outcome.ours is None else _figures(columns, outcome.ours),
        "why": outcome.why,
        "folder": None if outcome.ours is None else outcome.ours.folder,
    }


def _titles(columns: Sequence[Column]) -> list[str]:
    return [column.title for column in columns]


def _figures(columns: Sequence[Column], ours: Ours) -> dict[str, dict[str, float | int | None] | None]:
    intervals = ((column.title, ours.metrics.get(column.metric)) for column in columns)
    return {
        title: None if interval is None else {name: getattr(interval, name) for name in ("value", "low", "high", "n")}
        for title, interval in intervals
    }
