"""Files of saved answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from toulmin.data import Answer
from toulmin.errors import SourceError, UsageError, cause_of
from toulmin.evaluation.run_folder import ANSWERS, replace_file
from toulmin.formats import answer_json
from toulmin.formats.markdown import kept_claims, markdown, sidecar
from toulmin.formats.press import export_answer, form_of


def read_answers(path: Path) -> Iterator[Answer]:
    """The answers of a file of Answer documents (one, or one a line), of Markdown beside its sidecar, or of a run.

    Claims edited in the Markdown are left out. Raises `SourceError` without answers, `UsageError` for other documents.
    """
    if _is_markdown(path):
        text = _text_of(path)
        yield from (replace(each, claims=kept_claims(each, text)) for each in read_answers(sidecar(path)))
        return
    file = path / ANSWERS if path.is_dir() else path
    text = _text_of(file)
    try:
        listed = [json.loads(text)]
    except ValueError:
        listed = [line for line in text.split("\n") if line.strip()]  # a text may hold other line ends
    if not listed:
        raise SourceError(f"{file} should hold saved answers (`ask --json`), but is empty.")
    for n, document in enumerate(listed, start=1):
        try:
            yield answer_json.parse(document)
        except UsageError as error:
            raise UsageError(f"{file}, answer {n}: {error}") from error


def count_edited(path: Path) -> int:
    """How many saved claims a Markdown file no longer has in their original words; 0 for other files."""
    if not _is_markdown(path):
        return 0
    saved, kept = (sum(len(each.claims) for each in read_answers(file)) for file in (sidecar(path), path))
    return saved - kept


def _is_markdown(path: Path) -> bool:
    return path.suffix.lower() in (".md", ".markdown")


def _text_of(file: Path) -> str:
    expected = "saved answers (`ask --json`, or `ask --save FILE.md`, which writes FILE.md.json beside it)"
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{file} should hold {expected}, but cannot be read ({cause_of(error)}).") from error


def check_writable(paths: Iterable[str]) -> None:
    """Raises `UsageError` if answers cannot be rewritten there."""
    for file in map(Path, paths):
        if file.is_dir():
            raise UsageError(f"{file} is a run, and --update never changes runs; name a file of answers.")
        if _is_markdown(file) and any(markdown(each) != _text_of(file) for each in read_answers(sidecar(file))):
            raise UsageError(f"{file} was edited after saving, and --update would undo that; see `toulmin check`.")


def write_answers(path: Path, answers: Sequence[Answer]) -> None:
    """In the form that the name's ending selects, Markdown with its sidecar; else Answer documents, one a line."""
    documents, form = b"".join(answer_json.dumps(answer) + b"\n" for answer in answers), form_of(path)
    if _is_markdown(path):
        replace_file(sidecar(path), documents)
    if form is not None:
        documents = b"\n".join(export_answer(answer, form) for answer in answers)
    replace_file(path, documents)
