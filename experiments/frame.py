"""What an experiment is: a table or figure of a paper, row by row, and what answers each row here.

Values only; `bench.py` runs them and `printing.py` prints them. A paper's figure is written as the paper prints it, in
the paper's unit; None where it prints none, words where it prints words ("at most 4").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Figure = float | str | None


class NotHere(Exception):
    """There is no figure of ours for a row, and this is why, in words."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: the paper's heading, and the metric of ours that belongs under it.

    With `mean_of` it is the plain mean of those other metrics of the same row, and there is none where one is missing.
    """

    title: str
    metric: str
    mean_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PaperLine:
    """One line of figures of the paper, in the order of the panel's columns, and whose they are."""

    by: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """A dataset answered by a method and scored: `toulmin.run`, then `toulmin.score`.

    `source` names the dataset and `questions` is the paper's sample (None: all). `model` and `verifier` name members
    of the experiment (None: what `--model` names, and no verifier; `VERIFIER`: what `--verifier` names). `options` are
    those of `toulmin.run`. `oracle` hands the dataset's own metric to `a2r`.
    """

    source: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    questions: int | None = None
    profile: Literal["alce", "honest"] = "alce"
    model: str | None = None
    verifier: str | None = None
    oracle: bool = False


VERIFIER, MAIN = "verifier", "main"  # as `Answers.verifier`: what `--verifier` names, or the main model itself


@dataclass(frozen=True, slots=True)
class Overall:
    """Plain means over several works: of each of `of`, the values of the metrics that it is made of."""

    of: Mapping[str, tuple[tuple[Answers, str], ...]]


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure of ours with its 95 % interval, where there is one, and the number of questions that it is of."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None


@dataclass(frozen=True, slots=True)
class Ours:
    """Our figures of a row by metric, what should be said of them, and where the answers lie."""

    metrics: Mapping[str, Interval]
    notes: tuple[str, ...] = ()
    folder: str | None = None
    judge: str | None = None


Work = Answers | Overall | Callable[[Any], Ours]  # of the `Bench`, which knows this module


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its name in the paper, the paper's figures, and either what answers it here or why nothing does."""

    name: str
    printed: tuple[PaperLine, ...]
    work: Work | None = None
    absent: str | None = None

    def __post_init__(self) -> None:
        if (self.work is None) == (self.absent is None):
            raise ValueError(f"The row {self.name!r} needs either work or the reason why there is none.")


@dataclass(frozen=True, slots=True)
class Panel:
    """Rows under the same columns."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            for line in row.printed:
                if len(line.figures) != len(self.columns):
                    raise ValueError(f"{self.title}, {row.name}, {line.by}: a figure for each column was expected.")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How models draw: what the paper says, and what the runs here have where a row has nothing of its own."""

    paper: str
    temperature: float
    top_p: float


# What ALCE's own runs have, whose prompts and baselines CaLM and VTG take.
ALCE_SAMPLING = Sampling("no temperature and no top_p printed; ALCE's own runs have 0.5 and 1", 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Setting:
    """How the paper ran it, in words; `runs` is over how many runs its figures are means (None: it does not say)."""

    model: str
    judge: str
    passages: str
    sample: str
    prompts: str
    runs: int | None = None
    verifier: str | None = None
    parameters: str = ""
    sampling: Sampling = ALCE_SAMPLING


# Where the datasets are to be had, by the names that experiments give them.
_ALCE = "ALCE's files, ALCE-data.tar of https://huggingface.co/datasets/princeton-nlp/ALCE-data"
_OWN = "no list is published: JSON lines of your own, experiments/README.md shows one"
ORIGINS: Mapping[str, str] = {
    **dict.fromkeys(("asqa", "qampari", "eli5"), _ALCE),
    "2wiki": "https://github.com/Alab-NII/2wikimultihop",
    "nq": "NQ-open, https://github.com/google-research-datasets/natural-questions/tree/master/nq_open",
    "webq": "WebQuestions, https://nlp.stanford.edu/software/sempre/",
    **dict.fromkeys(("wiki-event", "wiki-ent", "researcher", "news-events"), _OWN),
}
WIKIPEDIA = "https://dl.fbaipublicfiles.com/dpr/wikipedia_split/psgs_w100.tsv.gz (DPR's passages of 2018-12-20)"


def origin(source: str) -> str:
    """Where the dataset of that name is to be had."""
    return ORIGINS.get(source) or ORIGINS[source.partition("-")[0]]


@dataclass(frozen=True, slots=True)
class Experiment:
    """One table or figure of a paper; `name` is the paper and the table, as in `calm_table2`.

    `about` is what it shows and how the paper made it, `says` what the paper tells beside its figures (of a figure
    whose points are drawn and not printed), `ours` what is done otherwise here whatever the models, `sources` what the
    names of the datasets mean, and `members` the models of the paper that a row needs by name (`--member NAME=SPEC`),
    each with what it is.
    """

    name: str
    title: str
    about: str
    setting: Setting
    panels: tuple[Panel, ...]
    sources: Mapping[str, str]
    says: tuple[str, ...] = ()
    ours: tuple[str, ...] = ()
    members: Mapping[str, str] = field(default_factory=dict)
