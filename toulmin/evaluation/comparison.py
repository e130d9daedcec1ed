"""Compares runs with the first of them: differences, notes, the document, the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from toulmin.errors import ModelError, UsageError
from toulmin.evaluation.report_contents import WITHOUT_PLOTS, Beside, RunShown, ScoreRecord, html
from toulmin.evaluation.run_folder import make_folder, replace_file
from toulmin.evaluation.scores import Scorable, current_scores, digest, key_of, load_scores, read_scorable, table_of
from toulmin.evaluation.significance import compare_tables
from toulmin.formats import answer_json

ScoreKey = tuple[str, str | None, str | None]  # profile, judge, and the run whose passages were evidence


@dataclass(frozen=True, slots=True)
class Run:
    """A run, its seeds, and the scores that all compared runs have, in one order of profiles and judges.

    `name` is the folder's name, or as much of its path as makes it unique.
    """

    name: str
    path: Path
    seeds: tuple[Scorable, ...]
    scores: tuple[ScoreRecord, ...]

    @property
    def questions(self) -> dict[str, str]:
        return {answered.item.id: answered.item.question for seed in self.seeds for answered in seed.answered}


def load_runs(paths: Sequence[Path], key: ScoreKey | None = None) -> tuple[Run, ...]:
    """The runs with the scores of that key, or with all scores that every run has now."""
    seeds = [read_scorable(path) for path in paths]
    scores = [
        current_scores(path, sum(len(seed.answered) for seed in run), digest(run))
        for path, run in zip(paths, seeds, strict=True)
    ]
    by_key = [{key_of(score.document): score for score in run} for run in scores]
    keys = [each for each in by_key[0] if key in (None, each) and all(each in run for run in by_key)]
    shared = [tuple(run[each] for each in keys) for run in by_key]
    return tuple(map(Run, _names(paths), paths, seeds, shared))


def _names(paths: Sequence[Path]) -> tuple[str, ...]:
    resolved = [path.resolve() for path in paths]
    for parts in range(1, max(len(path.parts) for path in resolved) + 1):
        names = tuple("/".join(path.parts[-parts:]) for path in resolved)
        if len(set(names)) == len(names):
            return names
    raise UsageError("A comparison needs different runs; one was named twice.")


def differences(runs: Sequence[Run]) -> tuple[Beside, ...]:
    """How far each later run is above the first, paired on the questions that count in both.

    Raises `UsageError` if one id means different questions.
    """
    first = runs[0].questions
    for run in runs[1:]:
        for id, question in run.questions.items():
            if first.get(id, question) != question:  # ids are often just numbers
                raise UsageError(
                    f"Question {id!r} is {first[id]!r} in {runs[0].name}, but {question!r} in {run.name}; compare runs"
                    " over the same dataset."
                )
    rows = [
        Beside(run.name, score.profile, score.judge, compare_tables(table_of(base), table_of(score)))
        for run in runs[1:]
        for base, score in zip(runs[0].scores, run.scores, strict=True)
    ]
    if not any(difference.n for row in rows for difference in row.differences.values()):
        raise UsageError("The runs share no question; compare runs over the same dataset.")
    return tuple(rows)


# ---------------------------------------------------------------- notes


def notes_on(runs: Sequence[Run]) -> Iterator[str]:
    """What a reader must know: runs with other questions, different models of one name, scores of earlier answers."""
    first = runs[0].questions.keys()
    for run in runs[1:]:
        if (ids := run.questions.keys()) != first:
            yield (
                f"{runs[0].name} has {len(first)} questions and {run.name} {len(ids)}: the difference covers the"
                f" {len(first & ids)} in both, so it is not that of the two columns."
            )
    for scores in zip(*(run.scores for run in runs), strict=True):
        if len({score.document.get("judge_identity") for score in scores}) > 1:
            judge = scores[0].document["judge"]
            yield (
                f"The runs were scored by different models, or copies, of the same name {judge}; score them again by"
                " one of them (--judge) to be sure."
            )
    for run in runs:
        now = digest(run.seeds)
        for score in load_scores(run.path):
            if score.get("answers") != now:
                by = f"profile {score['profile']}, judge {score['judge'] or 'none'}"
                yield f"{run.name} was scored ({by}) before its answers changed; score it again to compare it."


def document(runs: Sequence[Run], rows: Sequence[Beside]) -> dict[str, Any]:
    """The document of `compare --json`."""
    return {
        "runs": [
            {"name": run.name, "path": str(run.path), "scores": [dict(score.document) for score in run.scores]}
            for run in runs
        ],
        "differences": [
            {
                "run": row.run,
                "than": runs[0].name,
                "profile": row.profile,
                "judge": row.judge,
                "metrics": {name: asdict(difference) for name, difference in row.differences.items()},
            }
            for row in rows
        ],
    }


# ---------------------------------------------------------------- the report


def _run_to_show(run: Run) -> RunShown:
    every = [answered for seed in run.seeds for answered in seed.answered]
    items = {answered.item.id: answered.item for answered in every}
    answers = [{**answer_json.document(answered.answer), "id": answered.item.id} for answered in every]
    return RunShown(run.name, tuple(items.values()), answers, run.scores, _about(run.seeds))


def _about(seeds: Sequence[Scorable]) -> dict[str, Any]:
    run = seeds[0].run
    if run is None:
        return {"file": seeds[0].source}
    about = run.about
    return {
        "method": about["settings"].get("method"),
        "model": about["settings"].get("model"),
        "dataset": about["dataset"]["path"],
        "questions": len(run.items),
        "data sha256": about["dataset"]["sha256"],
        **({"seeds": len(seeds)} if len(seeds) > 1 else {}),
        "made": about["created"],
        "toulmin": about["toulmin"],
        "python": about["python"],
        "settings": about["settings"],
        "index": about["index"],
        "parts": about.get("parts") or {},
    }


def write_reports(runs: Sequence[Run], rows: Sequence[Beside], report: Path | None, plots: Path | None) -> list[str]:
    """Writes the report, the plots, or both; the notes name the files, and what they lack.

    Raises `ModelError` for plots without matplotlib.
    """
    shown, notes = tuple(map(_run_to_show, runs)), list[str]()
    drawing = import_module("toulmin.evaluation.plots") if find_spec("matplotlib") else None
    if report is not None:
        inline = None if drawing is None else drawing.inline(shown)
        make_folder(report.parent)
        replace_file(report, html(shown, rows, inline, title=" and ".join(run.name for run in runs)).encode("utf-8"))
        notes += [f"Report: {report}", *([WITHOUT_PLOTS] if inline is None else [])]
    if plots is not None:
        if drawing is None:
            raise ModelError(WITHOUT_PLOTS)
        notes += [f"Plot: {file}" for file in drawing.plots(shown, plots)]
    return notes
