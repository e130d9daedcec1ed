"""The commands of evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

import toulmin
from toulmin.cli import options
from toulmin.cli.checking_commands import app
from toulmin.cli.options import settings_from
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
    """Answers every question of a dataset into a run folder; after an interruption the same command continues.

    Reads ALCE json, JSONL of {"id", "question", ...}, the forms of NQ, WebQ, 2WikiMultihopQA and HotpotQA, and BEIR
    folders.

    Example:  toulmin run questions.jsonl --index library/ --method vtg --out runs/vtg

    Parameters
    ----------
    dataset
        The file or folder with the questions; ALCE's: https://huggingface.co/datasets/princeton-nlp/ALCE-data
    out
        The run folder: run.json, answers.jsonl, and the journal from which an interrupted run continues.
    index
        The folder or address of an index to answer from (default: each question's own passages, else .toulmin).
    style
        long, list, short or report (default: the dataset's).
    unsupported
        What to do with a claim that the judge does not support: keep (default), flag or drop it.
    attribute
        Add citations afterwards to an answer from memory (method closed).
    limit
        Answer only the first LIMIT questions; a later run may answer more.
    split
        Only the questions of that split (train, dev, ...).
    seed
        A seed for the model; repeatable: one run and one subfolder for each.
    concurrency
        How many questions each worker answers at once.
    on
        Let the workers of a Ray cluster answer: ray starts one here, ray://HOST:PORT or ray:auto names one.
    stop_usd
        Stop once the run has cost this many US dollars.
    stop_tokens
        Stop once the run has used this many tokens.
    stop_calls
        Stop once the run has made this many model calls.
    stop_failures
        Stop after this many failures in a row.
    """
    from toulmin.cli import tables
    from toulmin.evaluation.running import Limits

    chosen = parts.settings(index=index, style=style, unsupported=unsupported)
    if len(set(seed)) < len(seed):
        raise UsageError("Each --seed is a run of its own; name every number once.")
    limits = Limits(stop_usd, stop_tokens, stop_calls, stop_failures)
    with tables.running() as watching:
        report = toulmin.run(
            dataset, out=out, docs=docs or None, index=index, seeds=seed, limit=limit, split=split,
            concurrency=concurrency, attribute=attribute, limits=limits, on=on, workers=workers,
            gpus_per_worker=gpus_per_worker, on_progress=watching.on_progress, on_reading=watching.on_reading,
            settings=chosen,
        )  # fmt: skip
    tables.run_report(report, as_json=json)
    return 0 if report.error is None else report.error.exit_code


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
    """Scores a run folder or an ALCE result file: every metric that applies, with intervals, written beside it.

    Example:  toulmin score runs/vtg --judge seq2seq:google/t5_xxl_true_nli_mixture --profile alce

    Parameters
    ----------
    run
        The run folder, a result file of ALCE, or a file of readers' feedback (GET /v1/feedback of a server).
    profile
        honest (default) repairs ALCE's quirks; alce counts exactly as ALCE's evaluator does.
    judge
        What decides support: embedded (default if installed), lexical (else), seq2seq:MODEL, cross:MODEL,
        model:SPEC, grammar, or none for string metrics only.
    evidence
        Another run, whose passages this run's sentences are also judged against.
    memo
        The file that keeps verdicts (default: one in your cache folder).
    no_memo
        Neither keep nor reuse verdicts.
    qa_model
        The folder of an extractive question-answering model, for QA-EM, QA-F1 and QA-Hit.
    mauve_model
        The folder of a GPT-2, for MAUVE.
    cot
        With alce: QAMPARI's lists follow the first colon.
    at_most_citations
        With alce: how many of a sentence's citations are judged.
    on
        Let the workers of a Ray cluster judge, named as for toulmin run.
    """
    from toulmin.cli import tables
    from toulmin.cli.terminal import print_json

    chosen = settings_from(set_, judge=judge)
    with tables.judging() as on_progress:
        scores = toulmin.score(
            run, profile=profile, memo=memo or not no_memo, evidence=evidence, qa_model=qa_model,
            mauve_model=mauve_model, cot=cot, at_most_citations=at_most_citations, on=on, workers=workers,
            gpus_per_worker=gpus_per_worker, on_progress=on_progress, settings=chosen,
        )  # fmt: skip
    show = print_json if json else tables.scores
    show(scores)
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
    """Shows pairs of answers in hidden order, and records which reads better and which tells more.

    Each choice is saved at once; the same command continues where you stopped. With --json it asks nothing and
    prints the shares of the choices so far. Of several people the majority counts.

    Example:  toulmin prefer runs/plan runs/vanilla --n 20

    Parameters
    ----------
    first
        A run folder.
    second
        Another run folder over the same questions.
    n
        How many pairs to show at most.
    seed
        Draws the questions and the order of each pair.
    by
        Your name, if several people compare the runs.
    out
        The file of your choices (default: preferences-SECOND@NAME.jsonl in the first run's folder).
    """
    from toulmin.cli import preferring
    from toulmin.cli.terminal import print_json

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
    """Compares runs over the same questions: differences to the first one, with intervals and probabilities.

    Example:  toulmin compare runs/before runs/after --html report.html

    Parameters
    ----------
    runs
        The run folders (or ALCE result files); the others are compared with the first.
    profile
        Score all by this profile first (default: what all were scored by; else honest).
    judge
        Score all by this judge first (default: what all were scored by; else as for toulmin score).
    html
        Write a one-file report that needs no network; every number in it opens the sentences it counts.
    plots
        A folder for the plots, as SVG and PNG.
    """
    from toulmin.cli import tables
    from toulmin.cli.terminal import print_json

    chosen = settings_from(set_, judge=judge)
    comparison = toulmin.compare(*runs, profile=profile, judge=judge, html=html, plots=plots, settings=chosen)
    show = print_json if json else tables.comparison
    show(comparison)
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
    """Writes saved answers, or those of a run, as documents or in another tool's format.

    Documents: md, docx, tex, html; their references: csl, ris, bib. Other tools: alce, trec24, trec25, openai,
    responses, anthropic.

    Example:  toulmin export answer.json --as docx --style apa

    Parameters
    ----------
    source
        A file of saved answers (`ask --json`, `ask --save`), or a run folder.
    as_
        The format (default: what the ending of OUT names).
    style
        How a document lists its references: plain, or a style of the Citation Style Language such as apa, ieee, nature.
    out
        The file to write (default: beside the source), or the folder for documents of several answers.
    """
    from toulmin.cli import show, tables
    from toulmin.formats.press import form_of

    name = as_ or (form_of(out) if out else None)
    if name is None:
        raise UsageError("Name a format, for example --as docx, or a file that ends so: --out answer.docx.")
    made = toulmin.export(source, name, out=out, style=style)
    show.notes(made.notes)
    tables.files(made.files)
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
    """Makes a test set from unlabelled files: questions that they answer, and some that they do not.

    Example:  toulmin questions notes/ --out questions.jsonl --n 50

    Parameters
    ----------
    paths
        Files and folders, or the folder or address of an index.
    out
        The JSONL file to write, one question per line with its gold passage.
    n
        How many questions to make at most.
    seed
        Draws the questions.
    """
    from toulmin.cli import tables

    if not paths:
        raise UsageError("Name the files and folders to ask about, for example: toulmin questions notes/ --out q.jsonl")
    report = toulmin.questions(paths, out=out, n=n, seed=seed, settings=settings_from(set_))
    tables.questions_report(report, paths, as_json=json)
    return 0
