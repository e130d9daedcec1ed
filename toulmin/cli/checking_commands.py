"""The commands that hold texts, documents and saved answers against sources."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from toulmin.cli import options
from toulmin.cli.commands import answer_job, app
from toulmin.cli.options import settings_from
from toulmin.data import Passage, Policy, Source
from toulmin.errors import SourceError, UsageError

if TYPE_CHECKING:
    from toulmin.checking.findings import CheckedFile
    from toulmin.checking.recheck import Recheck
    from toulmin.config import Settings

__all__ = ["app"]

Form = Literal["text", "json", "sarif", "junit", "github"]
Rule = Literal["contradicted", "citation", "absent", "unsupported", "unsure"]  # of `checking.findings`

_WATCH_SECONDS = 2.0
UNSUPPORTED = 6  # exit code of a check that fails, and of `recheck`


@app.command
def check(
    *files: Path,
    docs: options.Docs = (),
    index: options.Index = None,
    passages: Path | None = None,
    repair: bool = False,
    model: options.Model = None,
    judge: options.JudgeSpec = None,
    unsupported: Policy | None = None,
    k: int | None = None,
    set_: options.Sets = (),
    max_calls: options.MaxCalls = None,
    deadline: options.Deadline = None,
    format_: Annotated[Form | None, Parameter(name="--format")] = None,
    fail_on: Rule | None = None,
    baseline: Path | None = None,
    update_baseline: bool = False,
    strict: bool = False,
    save: Path | None = None,
    json: options.Json = False,
    explain: options.Explain = False,
) -> int:
    """Judges the claims of texts, and of documents that people keep, against the sources they cite.

    Example:  toulmin check README.md docs --docs sources --fail-on absent

    A text that somebody else wrote (txt, or standard input) is shown with its evidence. Of Markdown, HTML, docx, LaTeX
    and of several files what fails is listed with its line and column; docs/keep-true.md tells how to do that in tests
    and on every change.

    Parameters
    ----------
    files
        The texts, documents and folders to check (default: standard input).
    passages
        JSONL of {"id", "title", "text"}: `[n]` in the text means its n-th line.
    repair
        Change the citations of unsupported claims, rewrite or remove them, and show each change with its reason.
    unsupported
        With --repair, what to do with claims that cannot be repaired: keep, flag or drop (default).
    k
        How many passages to read for a claim that cites none.
    format_
        text, json, sarif (SARIF 2.1.0), junit (XML) or github (commands that annotate lines).
    fail_on
        Exit with code 6 for a claim that a source contradicts, for this and all graver failures: contradicted, citation
        (what is cited is nowhere), absent (a name, number or date that no source has), unsupported, unsure.
    baseline
        A TOML file of claims that fail nothing, each with its reason.
    update_baseline
        Write to the baseline what fails now, so that later only new failures do.
    strict
        Exit with code 6 if a claim (with --repair, of the repaired text) is not supported; --fail-on unsure.
    save
        Also write the result of one text to this file: of draft.docx to checked.docx a copy with a comment at each
        sentence that fails, otherwise as for toulmin ask.
    """
    chosen = settings_from(
        set_, index=index, model=model, judge=judge, unsupported=unsupported, k=k, max_calls=max_calls,
        deadline=deadline,
    )  # fmt: skip
    until: Rule | None = fail_on or ("unsure" if strict else None)
    is_listed = bool(format_ or fail_on or baseline)
    is_shown = bool(repair or passages or explain)
    if update_baseline and baseline is None:
        raise UsageError("Name the file to write: --baseline FILE --update-baseline.")
    if is_listed and (is_shown or not files or "-" in map(str, files)):
        raise UsageError(
            "--fail-on, --format and --baseline list what fails in files; leave out --repair, --passages and --explain,"
            " and name files."
        )
    if is_listed or (not is_shown and (len(files) > 1 or any(map(_is_document, files)))):
        form = format_ or ("answer" if json else "text")
        listing = Listing(form, until, baseline, is_updated=update_baseline, saved=save)
        return _list_failures(files, docs, index, judge, chosen, listing)
    return _check_text(
        files, docs, index, passages, chosen, repair=repair, strict=strict, save=save, json=json, explain=explain
    )


@app.command
def recheck(
    *answers: Path,
    docs: options.Docs = (),
    index: options.Index = None,
    judge: options.JudgeSpec = None,
    set_: options.Sets = (),
    update: bool = False,
    watch: bool = False,
    json: options.Json = False,
) -> int:
    """Says which claims of saved answers still stand in the sources as they are now; exit code 6 if one does not.

    Example:  toulmin recheck answer.json --docs notes

    Parameters
    ----------
    answers
        Files of Answer documents (`ask --json`, `check --json`), Markdown that `ask --save` wrote, or run folders.
    update
        Write the files anew: with the citations of now; what fell is repaired where another source says it, else taken
        away, with a note.
    watch
        Say it again whenever the sources say something else, until Ctrl-C.
    """
    from toulmin import sync
    from toulmin.cli import show

    if not answers:
        raise UsageError("Name a file with saved answers (`toulmin ask ... --json > FILE`), or a run folder.")
    chosen = settings_from(set_, index=index, judge=judge)
    look = partial(sync.recheck, *answers, docs=docs or None, index=index, update=update, settings=chosen)
    found = look()
    show.rechecks(found, as_json=json)
    while watch:
        time.sleep(_WATCH_SECONDS)
        before, found = _sayings(found), _look_when_back(look)
        if _sayings(found) != before:
            show.rechecks(found, as_json=json)
    return UNSUPPORTED if any(each.has_fallen for each in found) else 0


def _sayings(found: Sequence[Recheck]) -> list[object]:
    """What is shown of each claim."""
    return [(claim.state, claim.says, claim.now.citations) for each in found for claim in each.claims]


def _look_when_back(look: Callable[[], tuple[Recheck, ...]]) -> tuple[Recheck, ...]:
    """What a look finds once the files are there, which an editor or a checkout may take away for a moment."""
    from toulmin.cli import show

    is_told = False
    while True:
        try:
            return look()
        except SourceError as error:
            if not is_told:
                show.notes([f"{error} Waiting for it."])
            is_told = True
            time.sleep(_WATCH_SECONDS)


# ---------------------------------------------------------------- what they do


def _is_document(path: Path) -> bool:
    from toulmin.prose.files import READERS

    return path.is_dir() or path.suffix.lower() in READERS


@dataclass(frozen=True, slots=True)
class Listing:
    """How failures are listed: in which form, from which rule on they fail, and which are left out."""

    form: Form | Literal["answer"]  # the Answer document, of one file
    until: Rule | None
    baseline: Path | None
    is_updated: bool
    saved: Path | None  # the file for what is said of the only one


def _list_failures(
    files: tuple[Path, ...], docs: tuple[str, ...], index: str | None, judge: str | None, chosen: Settings, to: Listing
) -> int:
    from toulmin import sync
    from toulmin.checking.findings import UnreadFiles, baseline_of
    from toulmin.cli import show
    from toulmin.evaluation.run_folder import replace_file
    from toulmin.prose.files import files_to_check

    if to.saved and len(files_to_check(files)) > 1:
        raise UsageError("--save writes what is said of one document; name only one.")
    is_new = to.is_updated and to.baseline is not None and not to.baseline.exists()
    unread: UnreadFiles | None = None
    try:
        with show.indexing():
            checks = sync.check_files(
                *files, docs=docs or None, index=index, judge=judge, baseline=None if is_new else to.baseline,
                settings=chosen,
            )  # fmt: skip
    except UnreadFiles as error:
        if to.saved or to.is_updated or (not error.checked and to.form in ("answer", "text")):
            raise
        checks, unread = error.checked, error
    if to.saved:
        _save(checks[0], to.saved)
    if to.is_updated and to.baseline is not None:
        baseline = baseline_of(checks, to.until or "unsure", "failed when this file was written")
        replace_file(to.baseline, baseline.content)
        print(f"{to.baseline} names {baseline.claims} claims, which later checks leave out.", file=sys.stderr)
        return 0
    if to.form == "answer" and len(checks) == 1 and not unread:
        show.answer(checks[0].answer, as_json=True)
    else:
        form = "json" if to.form == "answer" else to.form
        show.failures(checks, form, to.until, unread.unread if unread else ())
    if unread:
        raise unread
    return UNSUPPORTED if to.until and any(file.failures(to.until) for file in checks) else 0


def _save(checked: CheckedFile, target: Path) -> None:
    """A copy of a Word document with a comment at each claim that fails; else the answer, by the ending of the file."""
    from toulmin.evaluation.run_folder import replace_file
    from toulmin.evaluation.saved_answers import write_answers

    path = Path(checked.path)
    if os.path.realpath(path) == os.path.realpath(target):
        raise UsageError(f"{target} is what was checked; name another file for what the check says of it.")
    if not path.suffix.lower() == target.suffix.lower() == ".docx":
        write_answers(target, [checked.answer])
        return
    from toulmin.prose.word import comment_on

    replace_file(target, comment_on(path, checked.remarks))


def _check_text(
    files: tuple[Path, ...],
    docs: tuple[str, ...],
    index: str | None,
    passages: Path | None,
    chosen: Settings,
    *,
    repair: bool,
    strict: bool,
    save: Path | None,
    json: bool,
    explain: bool,
) -> int:
    """One text with its evidence."""
    from toulmin.build import jobs
    from toulmin.build.sources import sources_of
    from toulmin.evaluation.saved_answers import write_answers

    if len(files) > 1 or (files and files[0].is_dir()):
        raise UsageError("One text at a time is shown with its evidence, repaired, or compared with --passages.")
    listed = _passages(passages) if passages else None
    path = files[0] if files and str(files[0]) != "-" else None
    job = jobs.check_job(_text(path), listed or (), chosen, repair=repair, path=path)
    sources = sources_of(docs or None, index, listed, None)
    outcome = answer_job(job, sources, chosen, json=json, explain=explain)
    if save is not None:
        write_answers(save, [outcome.answer])
    failing = [claim for claim in outcome.answer.claims if claim.fails]
    return outcome.exit_code or (UNSUPPORTED if strict and failing else 0)


def _text(file: Path | None) -> str:
    if file is None:
        if sys.stdin.isatty():
            raise UsageError(
                "Name a file to check, or send a text: toulmin check draft.txt  or  cat draft.txt | toulmin check"
            )
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        text = file.read_bytes().decode("utf-8")  # with its own line ends
    except FileNotFoundError as error:
        raise SourceError(f"There is no file {file}; check its name.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{file} should be a text file in UTF-8, but could not be read: {error}.") from error
    if not text.strip():
        raise UsageError(f"{file} is empty; a text to check needs words.")
    return text


def _passages(file: Path) -> tuple[Passage, ...]:
    """One uncut passage per line; `[n]` counts the lines."""
    from toulmin.documents.loaders import read_documents

    records = read_documents(file)
    return tuple(Passage.of(r.text, r.title, Source(0, len(r.text), path=str(file), record=r.record)) for r in records)
