"""The commands of evaluation, and `export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

import toulmin
from toulmin.cli import options, show, tables
from toulmin.cli.checking_commands import app, read_text
from toulmin.cli.commands import sources_here
from toulmin.cli.options import settings_from
from toulmin.cli.terminal import print_json, printable
from toulmin.data import Policy, Style
from toulmin.errors import UsageError

__all__ = ["app"]

Seeds = Annotated[tuple[int, ...], Parameter(name="--seed", consume_multiple=False)]


@app.command
def run(
    dataset: Path,
    /,
    *,
    out: Path,
    docs: options.Docs = (),
    index: str | None = None,
    only: options.Only = (),
    style: Style | None = None,
    unsupported: Policy | None = None,
    parts: options.Parts = options.Parts(),
    attribute: bool = False,
    limit: int | None = None,
    split: str | None = None,
    seed: Seeds = (),
    concurrency: int = 16,
    on: str | None = None,
    workers: options.Workers = None,
    gpus_per_worker: options.Gpus = 0.0,
    stop_usd: float | None = None,
    stop_tokens: int | None = None,
    stop_calls: int | None = None,
    stop_failures: int = 20,
    json: options.Json = False,
) -> int:
    """Answer every question of a dataset into a run folder. The same command continues an interrupted run.

    Reads ALCE json, JSONL of {"id", "question", ...}, the formats of NQ, WebQ, 2WikiMultihopQA and HotpotQA, and BEIR
    folders.

    Example:  toulmin run questions.jsonl --index library/ --method vtg --out runs/vtg

    Parameters
    ----------
    dataset
        The file or folder with the questions; ALCE's: https://huggingface.co/datasets/princeton-nlp/ALCE-data
    out
        Write run.json, answers.jsonl and the journal of the run to this folder.
    index
        Answer from the index in this folder or at this address (default: each question's own passages, else .toulmin).
    style
        Write long, list, short or report (default: the dataset's style).
    unsupported
        Keep (default), flag or drop a claim that the judge does not support.
    attribute
        Add citations to an answer from memory (method closed).
    limit
        Answer only the first LIMIT questions; a later run may answer more.
    split
        Answer only the questions of this split (train, dev, ...).
    seed
        Use this seed for the model; repeatable. Several seeds make a run and a subfolder each.
    concurrency
        Let each worker answer this many questions at once.
    on
        Let the workers of a Ray cluster answer: ray starts one here, ray://HOST:PORT or ray:auto names one.
    stop_usd
        Stop at this cost in US dollars.
    stop_tokens
        Stop at this many tokens.
    stop_calls
        Stop at this many model calls.
    stop_failures
        Stop after this many failures in a row.
    """
    from toulmin.evaluation.running import Limits

    chosen = parts.settings(index=index, only=only or None, style=style, unsupported=unsupported)
    if len(set(seed)) < len(seed):
        raise UsageError("Each --seed makes a run; name every number once.")
    limits = Limits(stop_usd, stop_tokens, stop_calls, stop_failures)
    with tables.running() as (on_reading, on_progress):
        report = toulmin.run(
            dataset, out=out, docs=docs or None, index=index, seeds=seed, limit=limit, split=split,
            concurrency=concurrency, attribute=attribute, limits=limits, on=on, workers=workers,
            gpus_per_worker=gpus_per_worker, on_progress=on_progress, on_reading=on_reading, settings=chosen,
        )  # fmt: skip
    tables.run_report(report, as_json=json)
    return 0 if report.error is None else report.error.exit_code


@app.command
def table(
    questions: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    place: options.Place = options.Place(),
    style: Style | None = None,
    parts: options.Parts = options.Parts(),
    out: Path | None = None,
    json: options.Json = False,
) -> int:
    """Ask every document the same questions: a row a document, a column a question.

    Example:  toulmin table questions.txt --docs contracts/ --out answers.xlsx

    Parameters
    ----------
    questions
        A file with one question a line (# begins a comment), or -.
    style
        Write short (default), list, long or report.
    out
        Write to this .csv, .xlsx, .html or .json file; the same command continues an interrupted table.
    """
    options.check_target(out)
    chosen = parts.settings(index=place.index, only=place.only or None, style=style)
    lines = read_text(None if str(questions) == "-" else questions).lstrip("\ufeff").splitlines()
    asked = [line for line in lines if line.strip() and not line.startswith("#")]
    sources = sources_here(place, chosen)
    try:
        with tables.running() as (on_reading, on_progress):
            rows = toulmin.table(
                asked, docs=sources.docs or None, index=sources.index, out=out, settings=chosen,
                on_progress=on_progress, on_reading=on_reading,
            )  # fmt: skip
    except KeyboardInterrupt:
        kept = "the same command continues" if out else "without --out nothing is kept"
        print(f"toulmin: Interrupted; {kept}.", file=sys.stderr)
        return 130  # `cli.INTERRUPTED`; its module imports this one
    return tables.answers(rows, out, as_json=json)


@app.command
def score(
    run: Path,
    /,
    *,
    profile: Literal["honest", "alce"] = "honest",
    judge: str | None = None,
    evidence: Path | None = None,
    memo: Path | None = None,
    no_memo: bool = False,
    qa_model: Path | None = None,
    mauve_model: Path | None = None,
    cot: bool = False,
    at_most_citations: int = 3,
    on: str | None = None,
    workers: options.Workers = None,
    gpus_per_worker: options.Gpus = 0.0,
    set_: options.Sets = (),
    json: options.Json = False,
) -> int:
    """Score a run folder or an ALCE result file by every metric that applies. The scores are saved beside it.

    Example:  toulmin score runs/vtg --judge seq2seq:google/t5_xxl_true_nli_mixture --profile alce

    Parameters
    ----------
    run
        The run folder, an ALCE result file, or a file of readers' feedback (GET /v1/feedback of a server).
    profile
        Count like ALCE's evaluator (alce), or without its errors (honest, the default).
    judge
        Judge claims by embedded (default if installed), lexical (else), seq2seq:MODEL, cross:MODEL, model:SPEC,
        or none for string metrics only.
    evidence
        Judge the sentences against the passages of this other run too.
    memo
        Keep verdicts in this file (default: one in your cache folder).
    no_memo
        Neither keep nor reuse verdicts.
    qa_model
        Compute QA-EM, QA-F1 and QA-Hit with the extractive question-answering model in this folder.
    mauve_model
        Compute MAUVE with the GPT-2 in this folder.
    cot
        Read QAMPARI's lists after the first colon (profile alce).
    at_most_citations
        Judge this many of a sentence's citations (profile alce).
    on
        Let the workers of a Ray cluster judge: ray starts one here, ray://HOST:PORT or ray:auto names one.
    """

    chosen = settings_from(set_, judge=judge)
    with tables.judging() as on_progress:
        scores = toulmin.score(
            run, profile=profile, memo=memo or not no_memo, evidence=evidence, qa_model=qa_model,
            mauve_model=mauve_model, cot=cot, at_most_citations=at_most_citations, on=on, workers=workers,
            gpus_per_worker=gpus_per_worker, on_progress=on_progress, settings=chosen,
        )  # fmt: skip
    (print_json if json else tables.scores)(scores)
    return 0


@app.command
def prefer(
    first: Path,
    second: Path,
    /,
    *,
    n: int | None = None,
    seed: int = 0,
    by: str = "",
    out: Path | None = None,
    json: options.Json = False,
) -> int:
    """Show pairs of answers in hidden order, and record which reads better and which is more informative.

    Each choice is saved at once; the same command continues where you stopped. With --json it asks nothing and
    prints the shares of the choices so far. If several people compare, the majority counts.

    Example:  toulmin prefer runs/plan runs/vanilla --n 20

    Parameters
    ----------
    first
        A run folder.
    second
        Another run folder over the same questions.
    n
        Show at most this many pairs.
    seed
        Draw the questions and the order of each pair with this seed.
    by
        Record choices under your name, if several people compare the runs.
    out
        Write your choices to this file (default: preferences-SECOND@NAME.jsonl in the first run's folder).
    """
    from toulmin.cli import preferring

    shares = preferring.collect_preferences(first, second, n, seed, by, out, ask=not json)
    if json:
        print_json(shares)
    return 0


@app.command
def compare(
    runs: Annotated[tuple[Path, ...], Parameter(negative=())],
    /,
    *,
    profile: Literal["honest", "alce"] | None = None,
    judge: str | None = None,
    html: Path | None = None,
    plots: Path | None = None,
    set_: options.Sets = (),
    json: options.Json = False,
) -> int:
    """Compare runs over the same questions: each difference to the first run, with interval and probability.

    Example:  toulmin compare runs/before runs/after --html report.html

    Parameters
    ----------
    runs
        The run folders (or ALCE result files); the others are compared with the first.
    profile
        Score all runs by this profile first (default: that of the scores they share, else honest).
    judge
        Score all runs by this judge first (default: that of the scores they share, else the default).
    html
        Write a report of one file; each number opens the sentences that it counts.
    plots
        Write the plots to this folder, as SVG and PNG.
    """

    chosen = settings_from(set_, judge=judge)
    comparison = toulmin.compare(*runs, profile=profile, judge=judge, html=html, plots=plots, settings=chosen)
    (print_json if json else tables.comparison)(comparison)
    return 0


@app.command
def export(
    source: Path,
    /,
    *,
    as_: Annotated[str | None, Parameter(name=["--as", "--format"])] = None,
    style: str = "plain",
    out: Path | None = None,
) -> int:
    """Write saved answers, or those of a run, as documents or in another tool's format.

    Documents: md, docx, tex, html. References: csl, ris, bib. Other tools: alce, trec24, trec25, openai, responses,
    anthropic.

    Example:  toulmin export answer.json --as docx --style apa

    Parameters
    ----------
    source
        A file of saved answers (`ask --json`, `ask --save`), or a run folder.
    as_
        Write this format (default: that of OUT's ending).
    style
        List a document's references as plain, or in a style of the Citation Style Language: apa, ieee, nature, ...
    out
        Write to this file (default: beside the source), or several documents to this folder.
    """
    from toulmin.formats.press import form_of

    name = as_ or (form_of(out) if out else None)
    if name is None:
        raise UsageError("Name a format (--as docx) or a file with its ending (--out answer.docx).")
    made = toulmin.export(source, name, out=out, style=style)
    show.notes(made.notes)
    for file in made.files:
        print(printable(str(file)))
    return 0


@app.command
def questions(
    paths: Annotated[tuple[str, ...], Parameter(negative=())],
    /,
    *,
    out: Path,
    n: int = 100,
    seed: int = 0,
    set_: options.Sets = (),
    json: options.Json = False,
) -> int:
    """Make a test set from unlabelled files: questions that they answer, and some that they do not.

    Example:  toulmin questions notes/ --out questions.jsonl --n 50

    Parameters
    ----------
    paths
        Files and folders, or the folder or address of an index.
    out
        Write one question a line, with its gold passage, to this JSONL file.
    n
        Make at most this many questions.
    seed
        Draw the questions with this seed.
    """

    if not paths:
        raise UsageError("Name the files and folders to ask about, for example: toulmin questions notes/ --out q.jsonl")
    report = toulmin.questions(paths, out=out, n=n, seed=seed, settings=settings_from(set_))
    tables.questions_report(report, paths, as_json=json)
    return 0
