"""One real row in every table: `python experiments/all.py --model llama:smollm2 --limit 20`.

For each table and figure the paper's method and one baseline are run with the models that are named, over the shared
data (`stand_ins.py`), each paper's main table first. `RESULTS.md` is written again after every row; tables that this
command does not make stay as they are there. After a stop the same command continues; a complete table is not made
again while `OUT/tables` holds it.

On many cores, `--share I/N` answers the questions of every N-th panel and makes no table. The command without it then
makes all tables:

    seq 48 | xargs -P 16 -I I python experiments/all.py --share I/48 --concurrency 8 --set llama.parallel=8
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from textwrap import wrap
from time import monotonic

from bench import Bench, Choices, parts_used
from frame import Answers, Column, Experiment, NotHere, Panel, Row
from printing import WIDTH, Outcome, text
from run import EXPERIMENTS, METRIC_MODELS, count

from toulmin.config import parse_options
from toulmin.data import content_id
from toulmin.errors import ToulminError
from toulmin.evaluation.running import Progress

PLANNED, PLANNED_B, ONCE = "Plan-based (Var.A)", "Plan-based (Var.B)", "One-Retrieval"
# By table, the names of its rows that are run: the method and a baseline (all where none is named). Each paper's main
# table comes first.
ROWS: Mapping[str, tuple[str, ...]] = {
    "calm_table2": ("CaLM", "ICLCite"),
    "vtg_table1": ("VTG", "Vanilla"),
    "plan_table1": (PLANNED, ONCE),
    "a2r_table3": ("A2R, K=2", "ChatGPT, K=0"),
    "calm_table3": ("CaLM", "ICLCite"),
    "a2r_table4": ("A2R, K=2", "ChatGPT, K=0"),
    "a2r_table5": ("A2R, K=2", "ChatGPT, K=0"),
    "calm_table4": ("CaLM", "ICLCite"),
    "vtg_table2": ("VTG", "Vanilla"),
    "plan_table2": (PLANNED, ONCE),
    "calm_table5": ("tulu-2-dpo-13b", "No verification"),
    "calm_table6": ("Only cited documents", "Same as the main LM"),
    "vtg_table3": ("VTG", "w/o Verifier"),
    "vtg_table4": ("T = 5", "T = 1"),
    "plan_table3": (PLANNED_B, "w/o 2nd search"),
    "plan_table4": (PLANNED_B, "w/o unanswerable"),
    "plan_table5": (PLANNED, "w/o plan"),
    "plan_table6": ("Plan-based (Var.B), expanded", "One-Retrieval, expanded"),
    "plan_table7": (PLANNED, ONCE),
    "plan_table8": (),
    "plan_table9": (),
    "plan_table10": (PLANNED, ONCE),
    "calm_figure2": ("Tulu-2-dpo",),  # the families are models: with one model there is one row
    "calm_figure4": ("3 corrections", "0 corrections"),
    "vtg_figure3": ("M = 2", "M = 1", "N = 4", "N = 1"),
    "vtg_figure4": ("VTG", "Vanilla"),
}
SECONDS = Column("s a question", "seconds")
NOT_YET = "not answered yet: the same command goes on with it"
ABOUT = (
    "Tables and figures of the four papers with the paper's method and one baseline, made by `experiments/all.py` as"
    " each says. Neither the models nor the datasets are the papers': what can be compared is the method with the"
    " baseline, both ours, and with few questions only large differences mean anything. `s a question` is how long an"
    " answer took on that table's machine, without replies that an earlier row had already; a question whose replies"
    " were kept costs less than it would anew."
)
MORE = "All rows, with the papers' own models and data: `python experiments/run.py PAPER NAME` ([README](README.md))."


class TimeIsUp(Exception):
    """The hours that were granted are over; what was answered is kept."""


def main(argv: Sequence[str] | None = None) -> None:
    """Runs what the command line names; leaves with exit code 1 where something is missing at the end."""
    given = parser().parse_args(argv)
    try:
        sweep, names = Sweep(choices_of(given), given.results, given.hours, given.answered), given.only or list(ROWS)
        whole = sweep.run(names) if given.share is None else sweep.answer(names, *given.share)
    except ToulminError as error:
        print(error, file=sys.stderr)
        raise SystemExit(error.exit_code) from error
    raise SystemExit(0 if whole else 1)


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python experiments/all.py", description=ABOUT)
    options.add_argument("--model", default="llama:smollm2", metavar="SPEC", help="writes (default: %(default)s)")
    options.add_argument("--verifier", metavar="SPEC", help="CaLM's second model (default: the main model)")
    options.add_argument("--judge", default="embedded", metavar="SPEC", help="judges (default: %(default)s)")
    options.add_argument("--qa-model", metavar="DIR", help="the reader of Disambig-F1 (default: without that metric)")
    options.add_argument("--mauve-model", metavar="DIR", help="the GPT-2 of MAUVE (default: without that metric)")
    options.add_argument("--limit", type=count, default=20, metavar="N", help="questions a dataset (%(default)s)")
    options.add_argument("--seeds", type=count, default=1, metavar="N", help="runs to average (%(default)s)")
    options.add_argument("--only", nargs="+", choices=ROWS, metavar="PAPER_NAME", help="make only these tables")
    options.add_argument("--concurrency", type=count, default=1, metavar="N", help="questions at once (%(default)s)")
    options.add_argument("--share", type=share, metavar="I/N", help="answer a part of the panels and make no table")
    options.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of every run")
    options.add_argument("--hours", type=float, metavar="H", help="stop after that time; the next call continues")
    options.add_argument("--answered", metavar="WORDS", help="where the answers were made, if not here")
    options.add_argument(
        "--out", type=Path, default=Path("runs/experiments"), metavar="DIR", help="where runs are kept"
    )
    results = Path(__file__).with_name("RESULTS.md")
    options.add_argument("--results", type=Path, default=results, metavar="FILE", help="the file to write (RESULTS.md)")
    return options


def share(words: str) -> tuple[int, int]:
    """`2/8` as numbers; raises `argparse.ArgumentTypeError` for another form."""
    part, _, parts = words.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"should be a part and how many there are, such as 2/8, not {words!r}")
    return int(part), int(parts)


def choices_of(given: argparse.Namespace) -> Choices:
    """The options as values; raises `UsageError` where a setting is not NAME=VALUE."""
    return Choices(
        small=True,
        whole=True,
        model=given.model,
        verifier=given.verifier,
        judge=given.judge,
        qa_model=given.qa_model,
        mauve_model=given.mauve_model,
        limit=given.limit,
        seeds=given.seeds,
        settings=parse_options(tuple(given.set)),
        out=given.out,
        concurrency=given.concurrency,
    )


# ---------------------------------------------------------------- a table with the rows that are run


def choose_rows(experiment: Experiment, choices: Choices) -> Experiment:
    """The experiment with the rows of `ROWS`, their seconds, and what of the paper's the models stand in for."""
    wanted = ROWS[experiment.name]
    panels = []
    for panel in experiment.panels:
        rows = tuple(row for row in panel.rows if row.name in wanted or not wanted)
        if wanted and rows and all(isinstance(row.work, Answers) for row in rows):
            panels.append(replace(panel, columns=(*panel.columns, SECONDS), rows=tuple(map(_with_seconds, rows))))
        elif rows:
            panels.append(replace(panel, rows=rows))
    return replace(experiment, panels=tuple(panels), ours=(*experiment.ours, *_rules(experiment, panels, choices)))


def _with_seconds(row: Row) -> Row:
    return replace(row, printed=tuple(replace(line, figures=(*line.figures, None)) for line in row.printed))


def _rules(experiment: Experiment, panels: Sequence[Panel], choices: Choices) -> Iterator[str]:
    """Which model answers a row that bears the name of another."""
    names = {row.name for panel in panels for row in panel.rows}
    for member in experiment.members:
        family, _, size = member.partition("/")
        if family in names:
            yield f"{family}: {choices.model if size else member_of(choices)} takes the place of this model"


def member_of(choices: Choices) -> str:
    """The model in the place of each that a row names."""
    return choices.verifier or choices.model


# ---------------------------------------------------------------- what is kept of a table


@dataclass(frozen=True, slots=True)
class Table:
    """A table in words, and what it took so far.

    `missing` says which of its rows have no figures and why, `empty` which columns have none in any row, and
    `made_with` which models, questions and machine it is of.
    """

    words: str
    missing: tuple[str, ...] = ()
    hours: float = 0.0
    empty: tuple[str, ...] = ()
    made_with: tuple[str, ...] = ()


def _replace(path: Path, words: str) -> None:
    """Writes the file in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.write_text(words, "utf-8")
    part.replace(path)


class Sweep:
    """All tables with one choice of models, and the file that shows them."""

    def __init__(
        self,
        choices: Choices,
        results: Path,
        hours: float | None = None,
        answered: str | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.choices, self.results, self.hours, self.answered = choices, results, hours, answered
        self._clock, self._begun = clock, clock()
        kept = (choices.model, choices.verifier, choices.judge, choices.qa_model, choices.mauve_model)
        key = content_id(json.dumps([*kept, choices.limit, choices.seeds, dict(choices.settings)], default=str))
        self.folder = choices.out / "tables" / key

    def run(self, names: Sequence[str]) -> bool:
        """Makes the named tables, in the order of `ROWS`; whether they are whole."""
        for name in (name for name in ROWS if name in names):
            if self._time_is_up():
                break
            table = self.table(name)
            if table is None or table.missing:
                self._make(name, table.hours if table else 0.0)
        self._write()
        tables = [self.table(name) for name in names]
        return all(table is not None and not table.missing for table in tables)

    def answer(self, names: Sequence[str], part: int, parts: int) -> bool:
        """Asks the questions of every `parts`-th panel of the tables, from that part on; whether all have answers.

        Whatever fails is told and left for `run`, so that the other panels have their answers.
        """
        experiments = [self._bench(name) for name in ROWS if name in names]
        panels = [(bench, panel) for bench in experiments for panel in bench.experiment.panels]
        whole = True
        for bench, panel in panels[part - 1 :: parts]:
            for row in panel.rows:
                label = f"{bench.experiment.name}: {panel.title}, {row.name}"
                bench.choices = replace(bench.choices, watch=self._watch(label))
                try:
                    bench.ask(row)
                except TimeIsUp:
                    return False
                except (ToulminError, NotHere) as error:
                    self._tell(f"{label}: {error}")
                    whole = False
        return whole

    def table(self, name: str) -> Table | None:
        """What is kept of a table; None where it was not begun."""
        path = self._path(name)
        if not path.is_file():
            return None
        values = json.loads(path.read_text("utf-8"))
        lists = {name: tuple(values[name]) for name in ("missing", "empty", "made_with")}
        return Table(values["words"], hours=values["hours"], **lists)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _make(self, name: str, before: float) -> None:
        """Runs the rows of a table; keeps and shows it after each of them."""
        bench = self._bench(name)
        experiment = bench.experiment
        rows = [(panel, row) for panel in experiment.panels for row in panel.rows]
        outcomes = [Outcome(panel, row, None, row.absent or NOT_YET) for panel, row in rows]
        begun = self._clock()
        for at, (panel, row) in enumerate(rows):
            label = f"{name}: {panel.title}, {row.name}"
            bench.choices = replace(bench.choices, watch=self._watch(label))
            outcomes[at] = self._outcome(bench, panel, row, label)
            missing = tuple(f"{each.panel.title}, {each.row.name}: {each.why}" for each in outcomes if is_missing(each))
            words = text(experiment, outcomes, parts_used(bench, outcomes), small=False)
            hours, empty = before + self._hours_since(begun), tuple(empty_columns(outcomes))
            kept = Table(words, missing, hours, empty, tuple(self._made_with()))
            _replace(self._path(name), json.dumps(asdict(kept), ensure_ascii=False))
            self._write()

    def _bench(self, name: str) -> Bench:
        experiment = choose_rows(EXPERIMENTS[name], self.choices)
        members = dict.fromkeys((n for n in experiment.members if "/" not in n), member_of(self.choices))
        return Bench(experiment, replace(self.choices, members=members))

    def _outcome(self, bench: Bench, panel: Panel, row: Row, label: str) -> Outcome:
        if row.absent is not None or self._time_is_up():
            return Outcome(panel, row, None, row.absent or NOT_YET)
        self._tell(label)
        try:
            outcome = bench.outcome(panel, row)
        except TimeIsUp:
            return Outcome(panel, row, None, NOT_YET)
        except Exception as error:  # a run of many hours does not end for one row
            traceback.print_exc()
            outcome = Outcome(panel, row, None, f"{type(error).__name__}: {error}")
        if outcome.ours is None:
            self._tell(f"{label}: no figures: {outcome.why}")
        return outcome

    def _watch(self, label: str) -> Callable[[Progress], None]:
        def watch(progress: Progress) -> None:
            self._tell(f"{label}: {progress.done} of {progress.total} questions")
            if progress.done < progress.total and self._time_is_up():
                raise TimeIsUp

        return watch

    def _time_is_up(self) -> bool:
        return self.hours is not None and self._hours_since(self._begun) > self.hours

    def _hours_since(self, then: float) -> float:
        return (self._clock() - then) / 3600

    def _tell(self, words: str) -> None:
        print(f"[{self._hours_since(self._begun):.2f} h] {words}", file=sys.stderr, flush=True)

    def _write(self) -> None:
        _replace(self.results, "\n".join(self._page()))

    def _page(self) -> Iterator[str]:
        standing = sections(self.results.read_text("utf-8")) if self.results.is_file() else {}
        made = {name: standing.get(EXPERIMENTS[name].title) for name in ROWS}
        for name, table in ((name, self.table(name)) for name in ROWS):
            made[name] = section(name, table) if table is not None else made[name]
        yield "# One real row in every table\n"
        yield from wrap(f"{ABOUT} {MORE}", WIDTH, break_on_hyphens=False)
        missing = [name for name, words in made.items() if words is None]
        yield from ("", *_item(f"not begun: {', '.join(missing) or 'nothing'}"))
        yield from (f"\n{words.rstrip()}" for words in made.values() if words is not None)
        yield ""

    def _made_with(self) -> Iterator[str]:
        """What a table was made with, line by line."""
        choices = self.choices
        settings = ", ".join(f"`{name}={value}`" for name, value in choices.settings.items()) or "none"
        yield f"date: {date.today():%Y-%m-%d}; {os.cpu_count()} cores, {platform.system()} {platform.machine()}"
        if self.answered:
            yield f"answered on: {self.answered}"
        yield f"model: `{choices.model}`; verifier: `{choices.verifier or choices.model}`; judge: `{choices.judge}`"
        yield f"settings: {settings}"
        yield f"questions: the first {choices.limit} of each dataset, or as many as it has; {choices.seeds} run(s)"


def section(name: str, table: Table) -> str:
    """The table's part of the page: its heading, what it was made with, what is missing, the table."""
    missing = (*table.missing, *table.empty)
    made = [*table.made_with, f"hours: {table.hours:.2f}", *(f"missing: {words}" for words in missing)]
    items = "\n".join(line for words in made for line in _item(words))
    return f"## {EXPERIMENTS[name].title}\n\n{items}\n\n```\n{table.words}\n```\n"


def sections(page: str) -> dict[str, str]:
    """The tables of a page by their titles, as they stand there."""
    parts = re.split(r"^## (.*)\n", page, flags=re.MULTILINE)[1:]
    return {title: f"## {title}\n{words.rstrip()}\n" for title, words in zip(parts[::2], parts[1::2], strict=True)}


def _item(words: str) -> list[str]:
    return wrap(words, WIDTH, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False)


def empty_columns(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The columns that no row of a panel has a figure for, each once with the reason."""
    titles: dict[tuple[str, str], dict[str, None]] = {}
    for panel in {outcome.panel.title: outcome.panel for outcome in outcomes}.values():
        rows = [each.ours.metrics for each in outcomes if each.panel.title == panel.title and each.ours is not None]
        for column in panel.columns if rows else ():
            if not any(column.metric in metrics for metrics in rows):
                titles.setdefault((column.title, _why_empty(column)), {})[panel.title] = None
    for (title, why), panels in titles.items():
        yield f"{title} of {'; '.join(panels)}: {why}"


def _why_empty(column: Column) -> str:
    needed = next((METRIC_MODELS[metric] for metric in (column.metric, *column.mean_of) if metric in METRIC_MODELS), "")
    if not needed:
        return "nothing asked here has what it needs"
    return f"{'a mean with a metric that' if column.mean_of else 'the metric'} needs a model, {needed}"


def is_missing(outcome: Outcome) -> bool:
    """Whether figures are due: rows that only people can fill never have any."""
    return outcome.ours is None and outcome.row.absent is None


if __name__ == "__main__":
    main()
