"""What is made of several runs, or of one: a paired comparison with its report, and the same answers elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toulmin.build.scoring import Scoring, score_run
from toulmin.datasets.item import Item
from toulmin.errors import ModelError, SourceError, UsageError
from toulmin.evaluation.report_contents import Beside, Plot, RunShown, Scored
from toulmin.evaluation.report_page import WITHOUT_PLOTS, html
from toulmin.evaluation.run_folder import replace_file
from toulmin.evaluation.scores import SavedScore, Scorable, current_scores, digest, load_scores, read_scorable
from toulmin.evaluation.significance import Difference, compare_tables
from toulmin.formats import answer_json


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs with the scores that all of them have, in the same order of profiles and judges."""

    paths: tuple[Path, ...]
    found: tuple[tuple[Scorable, ...], ...]
    scores: tuple[tuple[SavedScore, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What each is called: its folder's name, or as much of its path as tells it from the others."""
        resolved = [path.resolve() for path in self.paths]
        for parts in range(1, max(len(path.parts) for path in resolved) + 1):
            names = tuple("/".join(path.parts[-parts:]) for path in resolved)
            if len(set(names)) == len(names):
                return names
        raise UsageError("A run is compared with another one; the same was named twice.")


async def scored_runs(paths: Sequence[Path], scoring: Scoring | None) -> Runs:
    """The runs with their scores: those that all have on disk, or (`scoring`) made now.

    Raises `UsageError` for runs without a common score where none is to be made.
    """
    found = tuple([await asyncio.to_thread(read_scorable, path) for path in paths])
    if scoring is not None:
        for path in paths:
            await score_run(path, scoring)
    every = [
        current_scores(path, sum(len(one.answered) for one in own), digest(own))
        for path, own in zip(paths, found, strict=True)
    ]
    wanted = None if scoring is None else (scoring.profile, scoring.judge.name if scoring.judge else None, None)
    shared = [one.key for one in every[0] if all(one.key in {o.key for o in other} for other in every)]
    keys = [key for key in shared if wanted in (None, key)]
    scores = tuple(tuple(next(one for one in own if one.key == key) for key in keys) for own in every)
    return Runs(tuple(paths), found, scores)


def differences(runs: Runs) -> tuple[Beside, ...]:
    """How far each later run is above the first one, paired on the questions that count in both."""
    _check_questions(runs)
    names, first = runs.names, runs.scores[0]
    found = []
    for name, own in zip(names[1:], runs.scores[1:], strict=True):
        for was, became in zip(first, own, strict=True):
            profile, judge, _ = was.key
            found.append(Beside(name, profile, judge, compare_tables(was.table, became.table)))
    if not any(one.n for beside in found for one in beside.differences.values()):
        raise UsageError("The runs have no question in common; compare runs over the same dataset.")
    return tuple(found)


def _check_questions(runs: Runs) -> None:
    """Raises `UsageError` where one id means different questions: ids are often just numbers."""
    first = _questions(runs.found[0])
    for name, own in zip(runs.names[1:], runs.found[1:], strict=True):
        for id, question in _questions(own).items():
            if first.get(id, question) != question:
                raise UsageError(
                    f"Question {id!r} is {first[id]!r} in {runs.names[0]}, but {question!r} in {name}; compare runs"
                    " over the same dataset."
                )


def _questions(found: Sequence[Scorable]) -> dict[str, str]:
    return {one.item.id: one.item.question for own in found for one in own.answered}


def outdated(runs: Runs) -> list[str]:
    """A note for each score beside a run that was made of other answers than it has now."""
    return [
        f"{name} was scored (profile {score['profile']}, judge {score['judge'] or 'none'}) before its answers changed;"
        " score it again to compare that."
        for name, path, own in zip(runs.names, runs.paths, runs.found, strict=True)
        for now in [digest(own)]
        for score in load_scores(path)
        if score.get("answers") != now
    ]


def other_judges(runs: Runs) -> list[str]:
    """A note for each judge whose name the runs share but not, as far as can be told, its model."""
    notes = []
    for own in zip(*runs.scores, strict=True):
        told = {one.document.get("judge_identity") for one in own}
        if len(told) > 1:
            notes.append(
                f"The runs were scored by models that are all called {own[0].document['judge']}, but are different ones"
                " or copies of one; score them again by one of them (--judge) to be sure."
            )
    return notes


def unpaired(runs: Runs) -> list[str]:
    """A note for each later run that does not answer the same questions as the first one."""
    first = set(_questions(runs.found[0]))
    notes = []
    for name, own in zip(runs.names[1:], runs.found[1:], strict=True):
        ids = set(_questions(own))
        if ids != first:
            notes.append(
                f"{runs.names[0]} has {len(first)} questions and {name} {len(ids)}: the difference is that of the"
                f" {len(first & ids)} in both, not of the two columns."
            )
    return notes


def document(runs: Runs, found: Sequence[Beside]) -> dict[str, Any]:
    """The document of `compare --json`: the scores of each run, and the differences to the first one."""
    return {
        "runs": [
            {"name": name, "path": str(path), "scores": [dict(one.document) for one in own]}
            for name, path, own in zip(runs.names, runs.paths, runs.scores, strict=True)
        ],
        "differences": [
            {
                "run": beside.run,
                "than": runs.names[0],
                "profile": beside.profile,
                "judge": beside.judge,
                "metrics": {name: _difference(one) for name, one in beside.differences.items()},
            }
            for beside in found
        ],
    }


def _difference(one: Difference) -> dict[str, Any]:
    return {"difference": one.difference, "low": one.low, "high": one.high, "probability": one.probability, "n": one.n}


# ---------------------------------------------------------------- the report


def shown(runs: Runs) -> tuple[RunShown, ...]:
    """The runs as a report shows them."""
    return tuple(
        _shown(name, own, scores) for name, own, scores in zip(runs.names, runs.found, runs.scores, strict=True)
    )


def _shown(name: str, found: Sequence[Scorable], scores: Sequence[SavedScore]) -> RunShown:
    items: dict[str, Item] = {one.item.id: one.item for own in found for one in own.answered}
    answers = [{**answer_json.document(one.answer), "id": one.item.id} for own in found for one in own.answered]
    return RunShown(
        name, tuple(items.values()), answers, [Scored(one.document, one.rows) for one in scores], _about(found)
    )


def _about(found: Sequence[Scorable]) -> dict[str, Any]:
    """What a run was made from, told in the order in which a person asks."""
    run = found[0].run
    if run is None:
        return {"file": found[0].source}
    about = run.about
    told = {"method": about["settings"].get("method"), "model": about["settings"].get("model")}
    told |= {
        "dataset": about["dataset"]["path"],
        "questions": len(run.items),
        "data sha256": about["dataset"]["sha256"],
    }
    told |= {"seeds": len(found)} if len(found) > 1 else {}
    told |= {"made": about["created"], "toulmin": about["toulmin"], "python": about["python"]}
    return told | {"settings": about["settings"], "index": about["index"], "parts": about.get("parts") or {}}


def written(runs: Runs, beside: Sequence[Beside], html: Path | None, plots: Path | None) -> list[str]:
    """Writes the report, the plots, or both; the notes say which files there are now, and what is missing in them."""
    found, notes = shown(runs), []
    if html is not None:
        notes.append(f"Report: {html}")
        if not write_html(html, found, beside):
            notes.append(WITHOUT_PLOTS)
    if plots is not None:
        notes += [f"Plot: {file}" for file in write_plots(plots, found)]
    return notes


def write_html(file: Path, runs: Sequence[RunShown], beside: Sequence[Beside]) -> bool:
    """Writes the report as one file; whether its plots could be drawn."""
    plots: tuple[Plot, ...] | None
    try:
        from toulmin.evaluation.plots import inline

        plots = inline(runs)
    except ImportError:
        plots = None
    _make_folder(file.parent)
    replace_file(file, html(runs, beside, plots, title=" and ".join(run.name for run in runs)).encode("utf-8"))
    return plots is not None


def write_plots(folder: Path, runs: Sequence[RunShown]) -> tuple[Path, ...]:
    """Writes the plots as SVG and PNG; raises `ModelError` without the library that draws them."""
    try:
        from toulmin.evaluation.plots import plots
    except ImportError as error:
        raise ModelError(WITHOUT_PLOTS) from error
    return plots(runs, folder)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(f"The folder {folder} cannot be made: {error}. Name another.") from error


# ---------------------------------------------------------------- other dialects


@dataclass(frozen=True, slots=True)
class Exported:
    """The files that an export wrote, and what was cut or left out, in words."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]


def export(run: Path, dialect: str, out: Path | None) -> Exported:
    """Writes the answers of a run in another dialect; of several seeds a file for each.

    Without `out` the file is `DIALECT.json` or `.jsonl` in the run's folder.
    """
    from toulmin.errors import unknown_name
    from toulmin.formats.export import DIALECTS, export_answers

    if dialect not in DIALECTS:
        raise unknown_name("dialect", dialect, DIALECTS)
    found = read_scorable(run)
    suffix = ".json" if DIALECTS[dialect].form == "document" else ".jsonl"
    files: list[Path] = []
    notes: list[str] = []
    for one in found:
        run_id = one.place.resolve().name
        about = {} if one.run is None else dict(one.run.about["settings"])
        answers, items = (a.answer for a in one.answered), [a.item for a in one.answered]
        made = export_answers(answers, items, dialect, run_id=run_id, settings=about)
        file = _target(one.place, out, dialect + suffix, several=len(found) > 1)
        _make_folder(file.parent)
        replace_file(file, made.data)
        files.append(file)
        notes.extend(made.notes)
    return Exported(tuple(files), tuple(notes))


def _target(place: Path, out: Path | None, name: str, *, several: bool) -> Path:
    folder = place if place.is_dir() else place.parent
    if out is None:
        return folder / name
    return out.with_name(f"{out.stem}-{place.name}{out.suffix}") if several else out
