"""Scores answers: metrics with intervals, and values and reasons for every question.

    scores.json                  {"scores": [...]}, one document for each profile and judge
    reasons-PROFILE-JUDGE.jsonl  one line a question, which explains every number

A result file's name prefixes them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson

from toulmin.data import Passage, content_id
from toulmin.datasets.loading import result_items
from toulmin.errors import SourceError, cause_of
from toulmin.evaluation.report_contents import ScoreRecord
from toulmin.evaluation.run_folder import RunRecord, read_lines, read_run, replace_file, run_folders
from toulmin.evaluation.significance import Table, interval
from toulmin.formats import answer_json
from toulmin.metrics.answered import Column, DerivedMetric, MetricTable, ScoringItem, answer_to_score
from toulmin.metrics.autoais import CITATION_F1, citation_metrics
from toulmin.metrics.choosing import QAMPARI, Models, measures
from toulmin.metrics.evidence_sets import attribution_metrics, evidence_of, evidence_overlap
from toulmin.metrics.judging import Judging
from toulmin.metrics.short_answers import DERIVED as QA_DERIVED
from toulmin.metrics.splitting import sentences
from toulmin.metrics.statements import Alce, Counting, Honest, output_to_score

# ---------------------------------------------------------------- answers to score, from runs or ALCE's files


@dataclass(frozen=True, slots=True)
class Scorable:
    """Answers to score; the scores go beside `place`.

    `source`, by which ALCE identifies datasets, is the path of a run's dataset or of the result file. `unanswered`
    counts a run's open questions. `run` is None for a result file.
    """

    place: Path
    source: str
    answered: tuple[ScoringItem, ...]
    run: RunRecord | None = None
    unanswered: int = 0

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(entry.item.id for entry in self.answered)

    @property
    def read(self) -> Mapping[str, tuple[Passage, ...]]:
        return {entry.item.id: evidence_of(entry.answer) for entry in self.answered}

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.unanswered:
            return ()
        return (f"{self.unanswered} questions of the run have no answer yet and are not scored.",)


def digest(scorables: Sequence[Scorable]) -> str:
    rows = [_digest_row(entry) for part in scorables for entry in part.answered]
    return hashlib.sha256(repr(rows).encode("utf-8", "backslashreplace")).hexdigest()


def _digest_row(entry: ScoringItem) -> list[Any]:
    answer = entry.answer
    claims = [(claim.text, [citation.passage for citation in claim.citations]) for claim in answer.claims]
    return [entry.item.id, answer.status, entry.output, claims, [passage.id for passage in evidence_of(answer)]]


def read_scorable(path: Path) -> tuple[Scorable, ...]:
    """A run folder, its seeds, or a result file of ALCE. Raises `SourceError` for anything else."""
    if path.is_file():
        return (Scorable(path, str(path), tuple(output_to_score(*result) for result in result_items(path))),)
    if not path.exists():
        raise SourceError(f"{path} does not exist; name a run folder, or a result file of ALCE.")
    return tuple(_of_run(folder) for folder in run_folders(path))


def _of_run(folder: Path) -> Scorable:
    run = read_run(folder)
    items = {item.id: item for item in run.items}
    strangers = [answer.id for answer in run.answers if answer.id not in items]
    if strangers:
        raise SourceError(
            f"{folder} answers {strangers[0]!r}, which is not one of its questions; run it again in another folder."
        )
    if not run.answers:
        raise SourceError(f"{folder} holds no answer yet; run it first.")
    answers = tuple(answer_to_score(items[answer.id], answer) for answer in run.answers)
    return Scorable(folder, str(run.about["dataset"]["path"]), answers, run, len(run.items) - len(answers))


# ---------------------------------------------------------------- scores


FILE = "scores.json"
# Metrics computed from others, by name: a score on disk has only their names and parts.
DERIVED: Mapping[str, DerivedMetric] = {made.name: made for made in (CITATION_F1, *QA_DERIVED)}


@dataclass(frozen=True, slots=True)
class Scores:
    """A run's metrics under one profile by one judge (None: no metric needed one).

    `ids[i]` is the question of the i-th values and reasons, one row a seed. `evidence` names the run that supplied
    passages (None: itself).
    """

    profile: str
    judge: str | None
    ids: tuple[str, ...]
    measured: MetricTable
    evidence: str | None = None
    judge_identity: str | None = None

    @property
    def table(self) -> Table:
        return Table(self.ids, self.measured.columns, self.measured.derived)


def merge_measures(parts: Sequence[MetricTable], count: int) -> MetricTable:
    reasons: list[dict[str, Any]] = [{} for _ in range(count)]
    for part in parts:
        for whole, reason in zip(reasons, part.reasons, strict=False):
            failed = whole.get("failed") or reason.get("failed")
            whole |= reason
            whole["failed"] = failed
    return MetricTable(
        tuple(column for part in parts for column in part.columns),
        tuple(made for part in parts for made in part.derived),
        tuple(reasons),
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def join_seeds(runs: Sequence[Scores]) -> Scores:
    by_name = [{column.name: column for column in run.measured.columns} for run in runs]
    known = {name for name in by_name[0] if all(name in columns for columns in by_name)}
    measured = MetricTable(
        tuple(_stack([columns[name] for columns in by_name]) for name in by_name[0] if name in known),
        tuple(made for made in runs[0].measured.derived if known.issuperset(made.of)),
        tuple(why for run in runs for why in run.measured.reasons),
        tuple(dict.fromkeys(note for run in runs for note in run.measured.notes)),
    )
    return replace(runs[0], ids=tuple(id for run in runs for id in run.ids), measured=measured)


def _stack(columns: Sequence[Column]) -> Column:
    weights = tuple(weight for part in columns for weight in part.weights or ())
    values = tuple(value for part in columns for value in part.values)
    return replace(columns[0], values=values, weights=None if columns[0].weights is None else weights)


# ---------------------------------------------------------------- as documents


def document(scores: Scores) -> dict[str, Any]:
    """The document of `score --json`; `table_of` needs its `scale` and `of`."""
    basis: dict[str, dict[str, Any]] = {column.name: {"scale": column.scale} for column in scores.measured.columns}
    basis |= {made.name: {"of": list(made.of)} for made in scores.measured.derived}
    return {
        "profile": scores.profile,
        "judge": scores.judge,
        "n": len(set(scores.ids)),
        "metrics": {name: asdict(bounds) | basis[name] for name, bounds in interval(scores.table).items()},
        "failed": len({id for id, why in zip(scores.ids, scores.measured.reasons, strict=True) if why.get("failed")}),
        "notes": list(scores.measured.notes),
        **({} if scores.evidence is None else {"evidence": scores.evidence}),
        **({} if scores.judge_identity is None else {"judge_identity": scores.judge_identity}),
    }


def lines(scores: Scores) -> Iterable[dict[str, Any]]:
    """A question's values by metric (None: it does not count) and reasons."""
    for place, (id, why) in enumerate(zip(scores.ids, scores.measured.reasons, strict=True)):
        yield {"id": id, "values": {column.name: _value(column, place) for column in scores.measured.columns}, **why}


def _value(column: Column, place: int) -> float | list[float] | None:
    value = column.values[place]
    return value if value is None or column.weights is None else [value, column.weights[place]]


def table_of(score: ScoreRecord) -> Table:
    columns, derived = [], []
    for name, metric in score.metrics.items():
        if "of" in metric:
            derived.append(DERIVED[name])
        else:
            columns.append(_column(name, [row["values"].get(name) for row in score.reasons], metric["scale"]))
    return Table(tuple(row["id"] for row in score.reasons), tuple(columns), tuple(derived))


def _column(name: str, cells: Sequence[Any], scale: float) -> Column:
    if not any(isinstance(value, list) for value in cells):
        return Column(name, tuple(cells), None, scale)
    values = tuple(None if value is None else value[0] for value in cells)
    return Column(name, values, tuple(0.0 if value is None else value[1] for value in cells), scale)


# ---------------------------------------------------------------- on disk


def _beside(run: Path, name: str) -> Path:
    return run / name if run.is_dir() else run.parent / f"{run.name}.{name}"


def reasons_name(score: Mapping[str, Any]) -> str:
    """The file of a document's reasons; a digest separates names whose characters were replaced."""
    parts = [score["profile"], score["judge"] or "none", *([score["evidence"]] if "evidence" in score else [])]
    shown = [re.sub(r"[^A-Za-z0-9._-]+", "_", part)[:80] for part in parts]
    pieces = shown if shown == parts and "evidence" not in score else [*shown, content_id(*parts)[:8]]
    return f"reasons-{'-'.join(pieces)}.jsonl"


def key_of(score: Mapping[str, Any]) -> tuple[str, str | None, str | None]:
    """Only scores with equal keys share a table."""
    return score["profile"], score["judge"], score.get("evidence")


def load_scores(run: Path) -> list[dict[str, Any]]:
    """Empty if the run was never scored. Raises `SourceError`."""
    path = _beside(run, FILE)
    if not path.exists():
        return []
    try:
        scores = list(json.loads(path.read_bytes())["scores"])
        for score in scores:
            reasons_name(score)  # which needs the fields that tell scores apart
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SourceError(
            f"{path} should hold scores, but cannot be read: {cause_of(error)}. Remove it and score again."
        ) from error
    return scores


def current_scores(run: Path, count: int, answers: str) -> tuple[ScoreRecord, ...]:
    scores = (score for score in load_scores(run) if score.get("answers") == answers)
    files = ((score, _beside(run, reasons_name(score))) for score in scores)
    records = (ScoreRecord(score, tuple(read_lines(path))) for score, path in files if path.is_file())
    return tuple(record for record in records if len(record.reasons) == count)


def save(run: Path, scores: Scores, answers: str) -> dict[str, Any]:
    """Writes scores and reasons, and returns the document; `answers` is the answers' digest."""
    score = {**document(scores), "answers": answers}
    replace_file(_beside(run, reasons_name(score)), as_lines(scores))
    every = [*(old for old in load_scores(run) if key_of(old) != key_of(score)), score]
    text = json.dumps({"scores": every}, indent=2, ensure_ascii=False)
    replace_file(_beside(run, FILE), text.encode("utf-8", "replace") + b"\n")
    return score


_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY


def as_lines(scores: Scores) -> Iterable[bytes]:
    for row in lines(scores):
        try:
            yield orjson.dumps(row, option=_OPTIONS)
        except TypeError:  # half a surrogate pair, which an output may hold
            yield orjson.dumps(answer_json.plain(row), option=_OPTIONS)


# ---------------------------------------------------------------- all metrics of a run


Profile = Literal["honest", "alce"]


class EvidenceRun(NamedTuple):
    name: str
    read: Mapping[str, Sequence[Passage]]


async def score_answers(
    answer_set: Scorable,
    profile: Profile,
    judging: Judging | None,
    models: Models | None = None,
    evidence: EvidenceRun | None = None,
    counting: Counting | None = None,
) -> Scores:
    """Every metric that applies to these answers.

    Without a judge, citation metrics are left out with a note. QA metrics and MAUVE need `models`. Reports, and answers
    with `evidence`, are also measured by their evidence.
    """
    answered, counting = answer_set.answered, counting or Counting()
    is_list = QAMPARI in answer_set.source  # ALCE knows a list by its path
    reader = Honest() if profile == "honest" else Alce(sentences, is_list, counting.at_most)
    parts = [MetricTable((), notes=answer_set.notes)]
    parts += measures(profile, answer_set.source, answered, models, reasoned=counting.cot)
    if judging is None:
        parts.append(MetricTable((), notes=("Citation metrics are left out: no judge was named.",)))
    else:
        parts.append(await citation_metrics(answered, reader, judging))
        if evidence is not None or any(a.answer.style == "report" for a in answered):
            read = None if evidence is None else evidence.read
            parts += [await attribution_metrics(answered, judging, read), evidence_overlap(answered, read)]
    return Scores(
        str(counting) if profile == "alce" else profile,
        None if judging is None else judging.name,
        answer_set.ids,
        merge_measures(parts, len(answered)),
        None if evidence is None else evidence.name,
        None if judging is None else judging.identity,
    )
