"""Compares runs with the first of them: differences, notes, the document, the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from toulmin.errors import ModelError, UsageError
from toulmin.evaluation.report_contents import WITHOUT_PLOTS, Beside, RunShown, ScoreRecord, html
from toulmin.evaluation.run_folder import make_folder, replace_file
from toulmin.evaluation.scores import Scorable, current_scores, digest, key_of, load_scores, read_scorable, table_of
from toulmin.evaluation.significance import compare_tables
from toulmin.formats import answer_json

ScoreKey = tuple[str, str | None, str | None]  # profile, judge, and the run whose passages were evidence


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs, the seeds of each, and the scores that all of them have, in one order of profiles and judges."""

    paths: tuple[Path, ...]
    seeds: tuple[tuple[Scorable, ...], ...]
    scores: tuple[tuple[ScoreRecord, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Each folder's name, or as much of its path as makes it unique."""
        resolved = [path.resolve() for path in self.paths]
        for parts in range(1, max(len(path.parts) for path in resolved) + 1):
            names = tuple("/".join(path.parts[-parts:]) for path in resolved)
            if len(set(names)) == len(names):
                return names
        raise UsageError("A comparison needs different runs; one was named twice.")


def load_runs(paths: Sequence[Path], key: ScoreKey | None = None) -> Runs:
    """The runs with the scores of that key, or with all scores that every run has now."""
    seeds = tuple(tuple(read_scorable(path)) for path in paths)
    every = [
        current_scores(path, sum(len(seed.answered) for seed in run), digest(run))
        for path, run in zip(paths, seeds, strict=True)
    ]
    by_key = [{key_of(score.document): score for score in reversed(run)} for run in every]
    first = (key_of(score.document) for score in every[0])
    shared = [candidate for candidate in first if all(candidate in run for run in by_key)]
    keys = [candidate for candidate in shared if key in (None, candidate)]
    return Runs(tuple(paths), seeds, tuple(tuple(run[key] for key in keys) for run in by_key))


def differences(runs: Runs) -> tuple[Beside, ...]:
    """How far each later run is above the first, paired on the questions that count in both."""
    _check_questions(runs)
    names, first = runs.names, runs.scores[0]
    rows = [
        Beside(name, score.profile, score.judge, compare_tables(table_of(base), table_of(score)))
        for name, scores in zip(names[1:], runs.scores[1:], strict=True)
        for base, score in zip(first, scores, strict=True)
    ]
    if not any(difference.n for row in rows for difference in row.differences.values()):
        raise UsageError("The runs share no question; compare runs over the same dataset.")
    return tuple(rows)


def _check_questions(runs: Runs) -> None:
    """Raises `UsageError` if one id means different questions: ids are often just numbers."""
    first = _questions(runs.seeds[0])
    for name, seeds in zip(runs.names[1:], runs.seeds[1:], strict=True):
        for id, question in _questions(seeds).items():
            if first.get(id, question) != question:
                raise UsageError(
                    f"Question {id!r} is {first[id]!r} in {runs.names[0]}, but {question!r} in {name}; compare runs"
                    " over the same dataset."
                )


def _questions(seeds: Sequence[Scorable]) -> dict[str, str]:
    return {answered.item.id: answered.item.question for seed in seeds for answered in seed.answered}


# ---------------------------------------------------------------- notes


def notes_on(runs: Runs) -> list[str]:
    """What a reader must know: runs with other questions, different models of one name, scores of earlier answers."""
    return [*_notes_on_questions(runs), *_notes_on_judges(runs), *_notes_on_old_scores(runs)]


def _notes_on_questions(runs: Runs) -> list[str]:
    first = set(_questions(runs.seeds[0]))
    later = zip(runs.names[1:], (set(_questions(seeds)) for seeds in runs.seeds[1:]), strict=True)
    return [
        f"{runs.names[0]} has {len(first)} questions and {name} {len(ids)}: the difference covers the"
        f" {len(first & ids)} in both, so it is not that of the two columns."
        for name, ids in later
        if ids != first
    ]


def _notes_on_judges(runs: Runs) -> list[str]:
    return [
        f"The runs were scored by different models, or copies, of the same name {scores[0].document['judge']}; score"
        " them again by one of them (--judge) to be sure."
        for scores in zip(*runs.scores, strict=True)
        if len({score.document.get("judge_identity") for score in scores}) > 1
    ]


def _notes_on_old_scores(runs: Runs) -> list[str]:
    return [
        f"{name} was scored (profile {score['profile']}, judge {score['judge'] or 'none'}) before its answers changed;"
        " score it again to compare it."
        for name, path, seeds in zip(runs.names, runs.paths, runs.seeds, strict=True)
        for now in [digest(seeds)]
        for score in load_scores(path)
        if score.get("answers") != now
    ]


def document(runs: Runs, rows: Sequence[Beside]) -> dict[str, Any]:
    """The document of `compare --json`."""
    return {
        "runs": [
            {"name": name, "path": str(path), "scores": [dict(score.document) for score in scores]}
            for name, path, scores in zip(runs.names, runs.paths, runs.scores, strict=True)
        ],
        "differences": [
            {
                "run": row.run,
                "than": runs.names[0],
                "profile": row.profile,
                "judge": row.judge,
                "metrics": {name: asdict(difference) for name, difference in row.differences.items()},
            }
            for row in rows
        ],
    }


# ---------------------------------------------------------------- the report


def _run_to_show(name: str, seeds: Sequence[Scorable], scores: Sequence[ScoreRecord]) -> RunShown:
    every = [answered for seed in seeds for answered in seed.answered]
    items = {answered.item.id: answered.item for answered in every}
    answers = [{**answer_json.document(answered.answer), "id": answered.item.id} for answered in every]
    return RunShown(name, tuple(items.values()), answers, scores, _about(seeds))


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


def write_reports(runs: Runs, rows: Sequence[Beside], report: Path | None, plots: Path | None) -> list[str]:
    """Writes the report, the plots, or both; the notes name the files, and what they lack.

    Raises `ModelError` for plots without matplotlib.
    """
    shown, notes = tuple(map(_run_to_show, runs.names, runs.seeds, runs.scores)), list[str]()
    drawing = _drawing()
    if report is not None:
        inline = None if drawing is None else drawing.inline(shown)
        make_folder(report.parent)
        replace_file(report, html(shown, rows, inline, title=" and ".join(runs.names)).encode("utf-8"))
        notes += [f"Report: {report}", *([WITHOUT_PLOTS] if inline is None else [])]
    if plots is not None:
        if drawing is None:
            raise ModelError(WITHOUT_PLOTS)
        notes += [f"Plot: {file}" for file in drawing.plots(shown, plots)]
    return notes


def _drawing() -> ModuleType | None:
    try:
        return import_module("toulmin.evaluation.plots")
    except ImportError:
        return None
