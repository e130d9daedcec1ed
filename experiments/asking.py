"""The command line that every experiment has."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from frame import Experiment

from toulmin.config import parse_options

EMBEDDED, LEXICAL = "extractive", "lexical"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says; `data` and `index` by the names of the experiment's sources, or of part of them."""

    small: bool = False
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
    json: Path | None = None


def asked_of(experiment: Experiment, argv: Sequence[str] | None) -> Asked:
    """Reads the command line; a wrong word ends the program with exit code 2, or raises `UsageError`."""
    parser = argparse.ArgumentParser(
        prog=f"python experiments/{experiment.name}.py",
        description=experiment.title,
        epilog=f"example: python experiments/{experiment.name}.py --small",
    )
    known = ", ".join(experiment.sources) or "none"
    parser.add_argument("--small", action="store_true", help="a few questions of stand-ins, no language model")
    parser.add_argument("--model", default=EMBEDDED, metavar="SPEC", help="the main model (default: %(default)s)")
    parser.add_argument("--verifier", metavar="SPEC", help="CaLM's second model")
    parser.add_argument("--judge", default=LEXICAL, metavar="SPEC", help="verifies and scores (default: %(default)s)")
    parser.add_argument("--qa-model", metavar="DIR", help="the reader of Disambig-F1 (default: without that metric)")
    parser.add_argument("--mauve-model", metavar="DIR", help="the GPT-2 of MAUVE (default: without that metric)")
    parser.add_argument("--member", action="append", default=[], metavar="NAME=SPEC", help="a model that a row names")
    parser.add_argument("--data", action="append", default=[], metavar="NAME=PATH", help=f"a dataset: {known}")
    parser.add_argument("--index", action="append", default=[], metavar="[NAME=]DIR", help="where it is searched")
    parser.add_argument("--limit", type=_count, metavar="N", help="questions of each dataset (default: the paper's)")
    parser.add_argument("--seeds", type=_count, metavar="N", help="runs to average (default: the paper's)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only rows whose panel and name hold this text")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of every run")
    parser.add_argument("--out", type=Path, default=Path("runs/experiments"), metavar="DIR", help="where runs are kept")
    parser.add_argument("--json", type=Path, metavar="FILE", help="writes the table as JSON, too")
    given = parser.parse_args(argv)
    data = _pairs(parser, "--data", given.data, named=True)
    for name in data:
        if not any(name in (source, source.partition("-")[0]) for source in experiment.sources):
            parser.error(f"--data {name}: this experiment has {known}")
    members = _pairs(parser, "--member", given.member, named=True)
    for name in members:
        if name not in experiment.members and f"{name.partition('/')[0]}/SIZE" not in experiment.members:
            parser.error(f"--member {name}: this experiment has {', '.join(experiment.members) or 'none'}")
    return Asked(
        small=given.small,
        model=given.model,
        verifier=given.verifier,
        judge=given.judge,
        qa_model=given.qa_model,
        mauve_model=given.mauve_model,
        members=members,
        data=data,
        index=_pairs(parser, "--index", given.index, named=False),
        limit=given.limit,
        seeds=given.seeds,
        only=given.only,
        settings=parse_options(tuple(given.set)),
        out=given.out,
        json=given.json,
    )


def _count(words: str) -> int:
    if not words.isdecimal() or int(words) < 1:
        raise argparse.ArgumentTypeError(f"a number from 1 was expected, not {words!r}")
    return int(words)


def _pairs(parser: argparse.ArgumentParser, option: str, given: Sequence[str], *, named: bool) -> dict[str, str]:
    """NAME=VALUE by name; a value without a name is for all, where that may be."""
    found = {}
    for words in given:
        name, equals, value = words.partition("=")
        if equals and name and value:
            found[name] = value
        elif named or equals:
            parser.error(f"{option} takes NAME=VALUE, not {words!r}")
        else:
            found[""] = words
    return found
