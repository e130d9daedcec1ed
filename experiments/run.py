"""Run a table or figure of a paper and print it: `python experiments/run.py calm table2 --small`.

A paper's file holds its tables and figures as data; `bench.py` runs their rows and `printing.py` prints them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import wrap

import a2r
import calm
import plan
import vtg
from bench import EMBEDDED, LEXICAL, Bench, Choices, parts_used
from frame import VERIFIER, WIKIPEDIA, Answers, Experiment, origin
from printing import WIDTH, document, text

from toulmin.config import parse_options
from toulmin.errors import ToulminError

PAPERS = {"calm": calm.EXPERIMENTS, "vtg": vtg.EXPERIMENTS, "plan": plan.EXPERIMENTS, "a2r": a2r.EXPERIMENTS}
EXPERIMENTS: Mapping[str, Experiment] = {each.name: each for paper in PAPERS.values() for each in paper}
PROGRAM = "python experiments/run.py"
TRUE = "google/t5_xxl_true_nli_mixture"
METRIC_MODELS = {"mauve": "--mauve-model DIR", "QA-F1": "--qa-model DIR"}


def main(argv: Sequence[str] | None = None) -> None:
    """Runs what the command line names and prints its table; leaves with the exit code of a row's first error."""
    words = list(sys.argv[1:] if argv is None else argv)
    experiment = experiment_of(words[:2])
    options = parser_of(experiment)
    given = options.parse_args(words[2:])
    try:
        bench = Bench(experiment, choices_of(experiment, options, given))
        outcomes = list(bench.outcomes())
        parts = parts_used(bench, outcomes)
    except ToulminError as error:
        raise _exit(error) from error
    print(text(experiment, outcomes, parts, small=given.small))
    if given.json is not None:
        table = document(experiment, outcomes, parts, small=given.small)
        given.json.write_text(json.dumps(table, indent=2, ensure_ascii=False, allow_nan=False) + "\n", "utf-8")
    if bench.errors:
        raise _exit(bench.errors[0])


def _exit(error: ToulminError) -> SystemExit:
    print(error, file=sys.stderr)
    return SystemExit(error.exit_code)


def experiment_of(words: Sequence[str]) -> Experiment:
    """The experiment that a paper and a name stand for; `--help` and a wrong name end the program."""
    titles = "\n".join(f"  {name.replace('_', ' '):<14}{each.title}" for name, each in EXPERIMENTS.items())
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        usage=f"{PROGRAM} PAPER NAME [options]",
        description="Run a table or figure of a paper; `PAPER NAME --help` lists its options.",
        epilog=f"papers and names:\n{titles}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paper", choices=PAPERS, help="one of %(choices)s")
    parser.add_argument("name", help="a table or figure of it")
    given = parser.parse_args(words)
    name = f"{given.paper}_{given.name}"
    if name not in EXPERIMENTS:
        known = ", ".join(each.name.partition("_")[2] for each in PAPERS[given.paper])
        parser.error(f"{given.paper} has {known}, not {given.name!r}")
    return EXPERIMENTS[name]


def parser_of(experiment: Experiment) -> argparse.ArgumentParser:
    """The options of an experiment."""
    program = f"{PROGRAM} {experiment.name.replace('_', ' ')}"
    parser = argparse.ArgumentParser(
        prog=program,
        description="\n".join(wrap(f"{experiment.title}. {experiment.about}", WIDTH)),
        epilog="\n".join(_needs(experiment, program)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = ", ".join(experiment.sources) or "none"
    parser.add_argument("--small", action="store_true", help="try it: a few questions, no language model")
    parser.add_argument("--model", default=EMBEDDED, metavar="SPEC", help="the main model (default: %(default)s)")
    parser.add_argument("--verifier", metavar="SPEC", help="CaLM's second model, which may run on another server")
    parser.add_argument("--judge", default=LEXICAL, metavar="SPEC", help="verifies and scores (default: %(default)s)")
    parser.add_argument("--qa-model", metavar="DIR", help="the reader of Disambig-F1 (default: without that metric)")
    parser.add_argument("--mauve-model", metavar="DIR", help="the GPT-2 of MAUVE (default: without that metric)")
    parser.add_argument("--member", action="append", default=[], metavar="NAME=SPEC", help="a model that a row names")
    parser.add_argument("--data", action="append", default=[], metavar="NAME=PATH", help=f"a dataset: {known}")
    parser.add_argument("--index", action="append", default=[], metavar="[NAME=]DIR", help="where it is searched")
    parser.add_argument("--limit", type=count, metavar="N", help="questions of each dataset (default: the paper's)")
    parser.add_argument("--seeds", type=count, metavar="N", help="runs to average (default: the paper's)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only rows whose panel and name hold this text")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of every run")
    parser.add_argument("--out", type=Path, default=Path("runs/experiments"), metavar="DIR", help="where runs are kept")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as JSON, too")
    return parser


def _needs(experiment: Experiment, program: str) -> Iterator[str]:
    """What the experiment needs in full, where it is to be had, and the commands."""
    yield "datasets (--data NAME=PATH):"
    for source, about in experiment.sources.items():
        yield from _entry(source, f"{about}; {origin(source)}")
    if list(_datasets_to_search(experiment)):
        yield from _entry("an index", f"to search: toulmin index psgs_w100.tsv --into DIR, of {WIKIPEDIA}")
    yield "models that rows name (--member NAME=SPEC):" if experiment.members else "models that rows name: none"
    for name, about in experiment.members.items():
        yield from _entry(name, about)
    yield f"\na trial:  {program} --small\nin full:  {' '.join(_full_command(experiment, program))}"


def _entry(name: str, about: str) -> list[str]:
    return wrap(f"{name}  {about}", WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _datasets_to_search(experiment: Experiment) -> Iterator[str]:
    """The datasets whose questions bring no passages: all but ALCE's."""
    return (source for source in experiment.sources if not origin(source).startswith("ALCE"))


def _full_command(experiment: Experiment, program: str) -> Iterator[str]:
    yield f"{program} --model openai:MODEL"
    works = [row.work for panel in experiment.panels for row in panel.rows if isinstance(row.work, Answers)]
    if any(work.verifier == VERIFIER for work in works):
        yield "--verifier second:MODEL --set servers.second.base_url=http://HOST:8000/v1"
    yield f"--judge seq2seq:{TRUE}"
    metrics = {column.metric for panel in experiment.panels for column in panel.columns}
    yield from [option for metric, option in METRIC_MODELS.items() if metric in metrics]
    yield from (f"--data {source}=PATH" for source in experiment.sources)
    yield from (f"--index {source}=DIR" for source in _datasets_to_search(experiment))
    yield from (f"--member {name}=SPEC" for name in experiment.members)


def choices_of(experiment: Experiment, parser: argparse.ArgumentParser, given: argparse.Namespace) -> Choices:
    """The options as values; a name that the experiment does not have ends the program with exit code 2.

    Raises `UsageError` where a setting is not NAME=VALUE.
    """
    known = ", ".join(experiment.sources) or "none"
    data = pairs(parser, "--data", given.data, named=True)
    for name in data:
        if not any(name in (source, source.partition("-")[0]) for source in experiment.sources):
            parser.error(f"--data {name}: this experiment has {known}")
    members = pairs(parser, "--member", given.member, named=True)
    for name in members:
        if name not in experiment.members and f"{name.partition('/')[0]}/SIZE" not in experiment.members:
            parser.error(f"--member {name}: this experiment has {', '.join(experiment.members) or 'none'}")
    return Choices(
        small=given.small,
        model=given.model,
        verifier=given.verifier,
        judge=given.judge,
        qa_model=given.qa_model,
        mauve_model=given.mauve_model,
        members=members,
        data=data,
        index=pairs(parser, "--index", given.index, named=False),
        limit=given.limit,
        seeds=given.seeds,
        only=given.only,
        settings=parse_options(tuple(given.set)),
        out=given.out,
    )


def count(words: str) -> int:
    if not words.isdecimal() or int(words) < 1:
        raise argparse.ArgumentTypeError(f"a number from 1 was expected, not {words!r}")
    return int(words)


def pairs(parser: argparse.ArgumentParser, option: str, given: Sequence[str], *, named: bool) -> dict[str, str]:
    """NAME=VALUE by name; a value without a name is for all, where that may be."""
    values = {}
    for words in given:
        name, equals, value = words.partition("=")
        if equals and name and value:
            values[name] = value
        elif named or equals:
            parser.error(f"{option} takes NAME=VALUE, not {words!r}")
        else:
            values[""] = words
    return values


if __name__ == "__main__":
    main()
