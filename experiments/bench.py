"""Run an experiment: every row through `toulmin.run` and `toulmin.score`.

Run folders lie under `--out` and are named by their settings, so no question is answered twice, not even for rows of
different tables.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

import stand_ins
from frame import MAIN, VERIFIER, Answers, Column, Experiment, Interval, NotHere, Ours, Overall, Panel, Row, origin
from printing import Outcome
from stand_ins import Place

import toulmin
from toulmin.build.encoding import EMBEDDED as ENCODER
from toulmin.build.encoding import kept_vectors, label_of
from toulmin.build.sources import bm25_constants
from toulmin.build.study import CONCURRENCY
from toulmin.config import Settings, resolve_settings, settings_of
from toulmin.data import Answer, content_id
from toulmin.errors import ToulminError
from toulmin.evaluation.run_folder import read_run, run_folders
from toulmin.evaluation.running import Progress

SMALL = 3  # questions of a dataset in the small form
EMBEDDED, LEXICAL = "extractive", "lexical"
PROMPTS = Path(__file__).with_name("papers.toml")
# What no paper's retriever does, unless `--set` asks for it: passages that the first hits name take no places.
AS_IN_PAPERS: Mapping[str, Any] = {"links": False}


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command line says; `data` and `index` by the names of the experiment's sources, or of part of them.

    With `small`, stand-ins take the place of what was not named; with `whole`, they are searched in the whole corpus.
    `concurrency` and `watch` are those of `toulmin.run` (its `on_progress`).
    """

    small: bool = False
    whole: bool = False
    model: str = EMBEDDED
    verifier: str | None = None
    judge: str = LEXICAL
    qa_model: str | None = None
    mauve_model: str | None = None
    members: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    index: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None
    seeds: int | None = None
    only: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    out: Path = Path("runs/experiments")
    concurrency: int = CONCURRENCY
    watch: Callable[[Progress], None] | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A call of `toulmin.run`; the folder is named by all that its answers hang on."""

    dataset: Path
    folder: Path
    options: Mapping[str, Any]


class Bench:
    """What the rows of one experiment are run with."""

    def __init__(self, experiment: Experiment, choices: Choices) -> None:
        self.experiment, self.choices = experiment, choices
        self.seeds = choices.seeds or (1 if choices.small else experiment.setting.runs or 1)
        self.errors: list[ToulminError] = []
        self._known: dict[tuple[Path, str], Ours] = {}

    @property
    def settings(self) -> Mapping[str, Any]:
        """What every run is asked with, where a row has nothing of its own: the papers' prompts, sampling, `--set`."""
        sampling = self.experiment.setting.sampling
        usual = {"prompts": str(PROMPTS), "temperature": sampling.temperature, "top_p": sampling.top_p}
        return {**usual, **self.choices.settings}

    @cached_property
    def _stand_ins(self) -> Mapping[str, Place]:
        whole = self.choices.whole
        return stand_ins.places(self.choices.out / "stand-ins" / ("whole" if whole else "small"), whole=whole)

    @property
    def replies(self) -> str:
        """The file of replies: what two rows ask alike, such as a first draft, they are answered alike."""
        return str(self.choices.out / "replies.sqlite")

    def place(self, source: str) -> Place:
        """Where that dataset is; raises `NotHere` where nobody said."""
        if self.choices.small and not _value_for(self.choices.data, source):
            return self._stand_ins[source]
        path = _value_for(self.choices.data, source)
        if path is None:
            raise NotHere(f"no dataset was named: --data {source}=PATH ({origin(source)})")
        return Place(Path(path), _value_for(self.choices.index, source))

    def member(self, name: str) -> str:
        """The SPEC of a model that the experiment knows by name; in the small form the embedded writer stands in."""
        if name in self.choices.members:
            return self.choices.members[name]
        if self.choices.small and not name.startswith("self-rag"):
            return self.choices.model
        raise NotHere(f"no such model was named: --member {name}=SPEC ({self.experiment.members[name]})")

    def questions(self, work: Answers) -> int | None:
        """How many questions are asked."""
        return self.choices.limit or (SMALL if self.choices.small else work.questions)

    def request(self, work: Answers) -> Request:
        """What the work asks of `toulmin.run`; raises `NotHere` where something that it needs was not named."""
        place = self.place(work.source)
        if work.profile == "alce" and "qampari" in work.source and "qampari" not in str(place.path):
            raise NotHere(f"ALCE's evaluator knows QAMPARI by its file's path, and {place.path} has no qampari in it")
        options = {**AS_IN_PAPERS, **self.settings, **work.options, **self.choices.settings}
        if work.oracle:
            options["correctness"] = "oracle"
        seeds = tuple(range(1, self.seeds + 1)) if self.seeds > 1 else ()
        call: dict[str, Any] = {
            "index": place.index,
            "method": work.method,
            "model": self.choices.model if work.model is None else self.member(work.model),
            "verifier": self._verifier(work),
            "judge": self.choices.judge,
            "limit": self.questions(work),
            "seeds": seeds,
        }
        options = {**call, **options}
        folder = self.choices.out / "runs" / _folder_name(work, place, options)
        return Request(place.path, folder, {"cache": self.replies, "concurrency": self.choices.concurrency, **options})

    def run_of(self, work: Answers) -> Path:
        """The folder of the run that the work asks for, whole; raises what `toulmin.run` raises, and `NotHere`."""
        request = self.request(work)
        report = toulmin.run(request.dataset, out=request.folder, on_progress=self.choices.watch, **request.options)
        if report.error is not None:
            raise report.error
        return request.folder

    def _verifier(self, work: Answers) -> str | None:
        if work.verifier is None:
            return None
        if work.verifier == MAIN:
            return self.choices.model
        if work.verifier == VERIFIER:
            return self._verifier_spec()
        return self.member(work.verifier)

    def _verifier_spec(self) -> str:
        if self.choices.verifier is None and not self.choices.small:
            raise NotHere("CaLM contrasts two models, and no verifier was named: --verifier SPEC")
        return self.choices.verifier or self.choices.model

    def scores_of(self, work: Answers) -> Ours:
        """Its metrics, with what the answers took: calls, tokens and seconds a question, trials a claim."""
        key = (self.request(work).folder, work.profile)
        if key not in self._known:
            self._known[key] = self._score(work)
        return self._known[key]

    def _score(self, work: Answers) -> Ours:
        folder = self.run_of(work)
        servers = {name: value for name, value in self.choices.settings.items() if "." in name}
        scores = toulmin.score(
            folder,
            profile=work.profile,
            judge=self.choices.judge,
            qa_model=self.choices.qa_model,
            mauve_model=self.choices.mauve_model,
            **servers,
        )
        metrics = {**figures(scores), **usage_of(answers_of(folder))}
        return Ours(metrics, tuple(scores["notes"]), str(folder), scores["judge"])

    def figures_of(self, row: Row) -> Ours:
        """Our figures of a row; raises `NotHere` with the reason where there are none."""
        work = row.work
        if work is None:
            raise NotHere(row.absent or "")
        if isinstance(work, Answers):
            return self.scores_of(work)
        if isinstance(work, Overall):
            return self._overall(work)
        return work(self)

    def ask(self, row: Row) -> None:
        """Makes the runs that the row needs, without scoring them where that can wait; raises as `run_of`."""
        if isinstance(row.work, Answers):
            self.run_of(row.work)
        elif isinstance(row.work, Overall):
            for work in {id(part): part for parts in row.work.of.values() for part, _ in parts}.values():
                self.run_of(work)
        elif row.work is not None:
            row.work(self)

    def _overall(self, work: Overall) -> Ours:
        metrics, notes = {}, []
        for name, parts in work.of.items():
            values = [(answers, metric, self.scores_of(answers).metrics.get(metric)) for answers, metric in parts]
            missing = [f"{answers.source} has no {metric}" for answers, metric, figure in values if figure is None]
            if missing:
                notes.append(f"{name}: no mean over all datasets, since {', '.join(missing)}")
            else:
                metrics[name] = Interval(fmean(figure.value for _, _, figure in values if figure is not None))
        return Ours(metrics, tuple(notes))

    def outcomes(self) -> Iterator[Outcome]:
        """Every row, panel by panel, with our figures or why there are none; what failed is in `errors`, too."""
        for panel in self.experiment.panels:
            for row in panel.rows:
                if self.choices.only.lower() not in f"{panel.title} {row.name}".lower():
                    continue
                _report(f"{self.experiment.name}: {panel.title}, {row.name}")
                yield self.outcome(panel, row)

    def outcome(self, panel: Panel, row: Row) -> Outcome:
        """The row with our figures, or why there are none; what failed is in `errors`, too."""
        try:
            return Outcome(panel, row, with_means(self.figures_of(row), panel.columns))
        except NotHere as why:
            return Outcome(panel, row, None, str(why))
        except ToulminError as error:
            self.errors.append(error)
            return Outcome(panel, row, None, str(error))


def with_means(ours: Ours, columns: Sequence[Column]) -> Ours:
    """The figures with those of columns that are means of others, where all of these are there."""
    means = {}
    for column in columns:
        parts = [ours.metrics.get(metric) for metric in column.mean_of]
        if parts and all(part is not None for part in parts):
            means[column.metric] = Interval(fmean(part.value for part in parts if part is not None))
    return Ours({**ours.metrics, **means}, ours.notes, ours.folder, ours.judge)


def figures(scores: Mapping[str, Any]) -> dict[str, Interval]:
    """The metrics of a document of scores that have a value."""
    return {
        name: Interval(metric["value"], metric["low"], metric["high"], metric["n"])
        for name, metric in scores["metrics"].items()
        if metric["value"] is not None
    }


def answers_of(folder: Path) -> tuple[Answer, ...]:
    """The answers of a run, of all its seeds."""
    return tuple(answer for seed in run_folders(folder) for answer in read_run(seed).answers)


def usage_of(answers: Sequence[Answer]) -> dict[str, Interval]:
    """What the answers took on average: calls of each role, tokens, seconds, and for VTG trials a claim."""
    if not answers:
        return {}
    tokens = [usage.tokens.values() for usage in (answer.usage for answer in answers)]
    means = {
        "calls_main": fmean(answer.usage.calls.get("main", 0) for answer in answers),
        "calls_verifier": fmean(answer.usage.calls.get("verifier", 0) for answer in answers),
        "tokens_in": fmean(sum(role.input for role in roles) for roles in tokens),
        "tokens_out": fmean(sum(role.output for role in roles) for roles in tokens),
        "seconds": fmean(answer.usage.seconds for answer in answers),
    }
    steps = (step for answer in answers for step in answer.rounds if step.kind == "claim" and step.chosen)
    tried = [step.trial for step in steps if step.trial]
    if tried:
        means["trials"] = fmean(tried)
    n = len({answer.id for answer in answers})
    return {name: Interval(value, n=n) for name, value in means.items()}


def _sampling(bench: Bench) -> str:
    """Temperature and top_p of the runs, and of rows that have a temperature of their own."""
    if bench.choices.model == EMBEDDED:
        return "nothing drawn: the embedded writer has one reply to a prompt"
    works = {row.name: row.work for panel in bench.experiment.panels for row in panel.rows}
    set_here = "temperature" in bench.choices.settings
    rows = {name: {} if set_here else work.options for name, work in works.items() if isinstance(work, Answers)}
    others = [f"{name} {row['temperature']}" for name, row in rows.items() if "temperature" in row]
    usual = f"temperature {bench.settings['temperature']}, top_p {bench.settings['top_p']}"
    return "; ".join([usual, *(f"temperature of {other}" for other in others)])


def _value_for(given: Mapping[str, str], source: str) -> str | None:
    """What was given for a source: by its name, by that of its dataset, or for all."""
    return next((given[name] for name in (source, source.partition("-")[0], "") if name in given), None)


def _folder_name(work: Answers, place: Place, call: Mapping[str, Any]) -> str:
    prompts = Path(call["prompts"])
    words = prompts.read_text("utf-8") if prompts.is_file() else ""  # other words are another run
    key = content_id(str(place.path.resolve()), json.dumps(call, sort_keys=True, default=str), words)
    return f"{place.path.name.partition('.')[0]}-{work.method}-{key}"


def _report(words: str) -> None:
    if sys.stderr.isatty():
        print(words, file=sys.stderr)


def retrieval(place: Place, settings: Settings) -> str:
    """Where a dataset's questions, and the claims of their answers, are searched, and what ranks the passages."""
    k1, b = bm25_constants(settings)
    words = f"BM25 (k1 {k1:g}, b {b:g})"
    if place.index is None:
        return (
            "each question's own passages, in the dataset's order where that ranks them; evidence for claims is sought"
            f" within them too, by {words}, not in a corpus"
        )
    held, fusion = label_of(place.index), settings.fusion
    encoder = settings.encoder or (held.spec if held else ENCODER)
    if kept_vectors(held, settings) is not None:
        words += f", its first {settings.rerank_depth} ranked anew with {encoder}"
    elif held is not None and fusion != "lexical" and settings.encoder != "none":
        words = f"vectors of {encoder}" if fusion == "dense" else f"{words} and vectors of {encoder}, fused"
    links = ", with the passages that hits name" if settings.links else ""
    return f"index {place.index} for questions and evidence, by {words}{links}"


def parts_used(bench: Bench, outcomes: Sequence[Outcome]) -> dict[str, str]:
    """What was used here, under the names that a paper's setting has for it."""
    choices = bench.choices
    settings = resolve_settings(None, settings_of({**AS_IN_PAPERS, **choices.settings}))
    passages: dict[str, list[str]] = {}
    for source in bench.experiment.sources:
        try:
            place = bench.place(source)
            words = f"{place.stands_in or place.path}, {retrieval(place, settings)}"
        except NotHere as why:
            words = str(why)
        passages.setdefault(words, []).append(source)
    counts = sorted({figure.n for row in outcomes if row.ours for figure in row.ours.metrics.values() if figure.n})
    n = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else "".join(map(str, counts)) or "no"
    judges = sorted({row.ours.judge for row in outcomes if row.ours and row.ours.judge})
    return {
        "model": choices.model + (", the embedded writer: no language model" if choices.model == EMBEDDED else ""),
        "verifier": choices.verifier or (choices.model if choices.small else "none was named"),
        "sampling": _sampling(bench),
        "prompts": "none read" if choices.model == EMBEDDED else Path(bench.settings["prompts"]).name,
        "judge": ", ".join(judges) or "none",
        "passages": "; ".join(f"{', '.join(sources)}: {words}" for words, sources in passages.items()),
        "sample": f"{n} questions a metric",
        "runs": str(bench.seeds),
    }
