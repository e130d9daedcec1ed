"""The commands that check texts, documents and saved answers against sources."""

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

from toulmin.cli import options, show
from toulmin.cli.commands import answer_job, app
from toulmin.cli.options import settings_from
from toulmin.cli.terminal import count_of
from toulmin.data import Passage, Policy, Rule, Source
from toulmin.errors import SourceError, UsageError, cause_of

if TYPE_CHECKING:
    from toulmin.checking.findings import CheckedFile
    from toulmin.checking.recheck import Recheck
    from toulmin.config import Settings

__all__ = ["app"]

Form = Literal["text", "json", "sarif", "junit", "github"]

_WATCH_SECONDS = 2.0
UNSUPPORTED = 6  # exit code of a check that fails, and of `recheck`


@Parameter(name="*")
@dataclass(frozen=True)
class Listing:
    """How failures are listed.

    Parameters
    ----------
    format_
        List the failures as text, json, sarif (SARIF 2.1.0), junit (XML) or github (annotations of lines).
    fail_on
        Exit with code 6 if a claim fails so or worse: contradicted, citation (the cited source is missing), absent (no
        source has a name, number or date), unsupported, disputed (another source contradicts it), unsure, likely.
    baseline
        Leave out the claims of this TOML file, each with its reason.
    update_baseline
        Write the current failures to the baseline; later checks report only new ones.
    strict
        Exit with code 6 if a claim (with --repair, of the repaired text) is not supported; same as --fail-on likely.
    save
        Write the result for one text to this file too. A Word document becomes a copy with a comment at each failing
        sentence; other endings as for toulmin ask.
    """

    format_: Annotated[Form | None, Parameter(name="--format")] = None
    fail_on: Rule | None = None
    baseline: Path | None = None
    update_baseline: bool = False
    strict: bool = False
    save: Path | None = None

    @property
    def until(self) -> Rule | None:
        return self.fail_on or ("likely" if self.strict else None)


@Parameter(name="*")
@dataclass(frozen=True)
class TextView:
    """How one text is read and shown.

    Parameters
    ----------
    passages
        Read cited passages from this JSONL of {"id", "title", "text"}: `[n]` in the text means line n.
    repair
        Correct or remove unsupported claims, and show each change with its reason.
    """

    passages: Path | None = None
    repair: bool = False
    json: options.Json = False
    explain: options.Explain = False


@app.command
def check(
    *files: Path,
    place: options.Place = options.Place(),
    view: TextView = TextView(),
    listing: Listing = Listing(),
    model: str | None = None,
    judge: options.JudgeSpec = None,
    unsupported: Policy | None = None,
    k: int | None = None,
    set_: options.Sets = (),
    max_calls: options.MaxCalls = None,
    deadline: options.Deadline = None,
) -> int:
    """Check every claim of a text or document against your sources.

    Example:  toulmin check README.md docs --docs sources --fail-on absent

    A single text file, or standard input, is shown with its evidence. For Markdown, HTML, docx, LaTeX and several
    files, failing claims are listed by line and column. docs/keep-true.md shows checks in tests and on every change.

    Parameters
    ----------
    files
        The texts, documents and folders to check (default: standard input).
    model
        With --repair: write with this model, as provider:model (default: extractive, the embedded writer).
    unsupported
        With --repair: keep, flag or drop (default) a claim that cannot be repaired.
    k
        Find this many passages for a claim that cites none.
    """
    chosen = settings_from(
        set_, index=place.index, only=place.only or None, model=model, judge=judge, unsupported=unsupported, k=k,
        max_calls=max_calls, deadline=deadline,
    )  # fmt: skip
    options.check_target(listing.save)
    is_listed = bool(listing.format_ or listing.fail_on or listing.baseline)
    is_shown = bool(view.repair or view.passages or view.explain)
    if listing.update_baseline and listing.baseline is None:
        raise UsageError("Name the file to write: --baseline FILE --update-baseline.")
    if is_listed and (is_shown or not files or "-" in map(str, files)):
        raise UsageError(
            "--fail-on, --format and --baseline need files, and do not go with --repair, --passages or --explain."
        )
    if is_listed or (not is_shown and (len(files) > 1 or any(map(_is_document, files)))):
        return _list_failures(files, place, judge, chosen, listing, "answer" if view.json else "text")
    return _check_text(files, place, chosen, view, listing)


@app.command
def recheck(
    *answers: Path,
    place: options.Place = options.Place(),
    judge: options.JudgeSpec = None,
    set_: options.Sets = (),
    update: bool = False,
    watch: bool = False,
    json: options.Json = False,
) -> int:
    """Check which claims of saved answers the sources still support; exit code 6 if one fails.

    Example:  toulmin recheck answer.json --docs notes

    Parameters
    ----------
    answers
        Files of Answer documents (`ask --json`, `check --json`), Markdown of `ask --save`, or run folders.
    update
        Rewrite the files with current citations. Repair claims that another source supports; remove the rest, with a
        note.
    watch
        Keep running; report again when a source changes. Stop with Ctrl-C.
    """
    from toulmin import sync

    if not answers:
        raise UsageError("Name a file of saved answers (`toulmin ask ... --json > FILE`) or a run folder.")
    chosen = settings_from(set_, index=place.index, judge=judge)
    look = partial(sync.recheck, *answers, docs=place.docs or None, index=place.index, update=update, settings=chosen)
    rechecks = look()
    show.rechecks(rechecks, as_json=json)
    while watch:
        time.sleep(_WATCH_SECONDS)
        before, rechecks = _states(rechecks), _look_again(look)
        if _states(rechecks) != before:
            show.rechecks(rechecks, as_json=json)
    return UNSUPPORTED if any(each.has_fallen for each in rechecks) else 0


def _states(rechecks: Sequence[Recheck]) -> list[object]:
    """What is shown of each claim."""
    return [(claim.state, claim.says, claim.now.citations) for each in rechecks for claim in each.claims]


def _look_again(look: Callable[[], tuple[Recheck, ...]]) -> tuple[Recheck, ...]:
    """Waits for files that an editor or a checkout removes for a moment."""

    is_noted = False
    while True:
        try:
            return look()
        except SourceError as error:
            if not is_noted:
                show.notes([f"{error} Waiting for it."])
            is_noted = True
            time.sleep(_WATCH_SECONDS)


def _is_document(path: Path) -> bool:
    from toulmin.prose.files import READERS

    return path.is_dir() or path.suffix.lower() in READERS


def _list_failures(
    files: tuple[Path, ...], place: options.Place, judge: str | None, chosen: Settings, to: Listing, usual: str
) -> int:
    """Lists in `to.format_`, else as `usual`: text, or the Answer document of one file."""
    from toulmin import sync
    from toulmin.checking.findings import UnreadFiles, baseline_of
    from toulmin.evaluation.run_folder import replace_file
    from toulmin.prose.files import files_to_check

    form = to.format_ or usual
    if to.save and len(files_to_check(files)) > 1:
        raise UsageError("--save writes the result for one document; name only one.")
    is_new = to.update_baseline and to.baseline is not None and not to.baseline.exists()
    unread: UnreadFiles | None = None
    try:
        checks = sync.check_files(
            *files, docs=place.docs or None, index=place.index, judge=judge,
            baseline=None if is_new else to.baseline, settings=chosen,
        )  # fmt: skip
    except UnreadFiles as error:
        if to.save or to.update_baseline or (not error.checked and form in ("answer", "text")):
            raise
        checks, unread = error.checked, error
    if to.save:
        _save(checks[0], to.save)
    if to.update_baseline and to.baseline is not None:
        baseline = baseline_of(checks, to.until or "unsure", "failed when this file was written")
        replace_file(to.baseline, baseline.content)
        print(
            f"{to.baseline} lists {count_of(baseline.claims, 'claim')}, which later checks leave out.", file=sys.stderr
        )
        return 0
    if form == "answer" and len(checks) == 1 and not unread:
        show.answer(checks[0].answer, as_json=True)
    else:
        show.failures(checks, "json" if form == "answer" else form, to.until, unread.unread if unread else ())
    if unread:
        raise unread
    return UNSUPPORTED if to.until and any(file.failures(to.until) for file in checks) else 0


def _save(checked: CheckedFile, target: Path) -> None:
    """Writes a copy of a Word document with a comment at each failing claim, else the answer in the ending's format."""
    from toulmin.evaluation.run_folder import replace_file
    from toulmin.evaluation.saved_answers import write_answers

    path = Path(checked.path)
    if os.path.realpath(path) == os.path.realpath(target):
        raise UsageError(f"{target} is the checked file; name another file for the result.")
    if not path.suffix.lower() == target.suffix.lower() == ".docx":
        write_answers(target, [checked.answer])
        return
    from toulmin.build.checking import commented_copy

    replace_file(target, commented_copy(checked))


def _check_text(files: tuple[Path, ...], place: options.Place, chosen: Settings, view: TextView, to: Listing) -> int:
    """One text with its evidence."""
    from toulmin.build import jobs
    from toulmin.build.sources import sources_of

    if len(files) > 1 or (files and files[0].is_dir()):
        raise UsageError("--repair, --passages and --explain take one text at a time; name one file.")
    listed = _passages(view.passages) if view.passages else None
    path = files[0] if files and str(files[0]) != "-" else None
    job = jobs.check_job(read_text(path), listed or (), chosen, repair=view.repair, path=path)
    sources = sources_of(place.docs or None, place.index, listed)
    outcome = answer_job(job, sources, chosen, json=view.json, explain=view.explain, save=to.save)
    is_failing = any(claim.support and not claim.is_proven for claim in outcome.answer.claims)
    return outcome.exit_code or (UNSUPPORTED if to.strict and is_failing else 0)


def read_text(file: Path | None) -> str:
    if file is None:
        if sys.stdin.isatty():
            raise UsageError("Name a file to check (toulmin check draft.txt) or pipe a text into toulmin check.")
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        text = file.read_bytes().decode("utf-8")  # keeps its line ends
    except FileNotFoundError as error:
        raise SourceError(f"There is no file {file}; check its name.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(
            f"{file} should be a text file in UTF-8, but could not be read: {cause_of(error)}."
        ) from error
    if not text.strip():
        raise UsageError(f"{file} is empty; name a text with words.")
    return text


def _passages(file: Path) -> tuple[Passage, ...]:
    """One uncut passage a line; `[n]` counts lines."""
    from toulmin.documents.loaders import read_documents

    records = read_documents(file)
    return tuple(Passage.of(r.text, r.title, Source(0, len(r.text), path=str(file), record=r.record)) for r in records)
