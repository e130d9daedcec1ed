"""One answer as a document for people: the forms, and their writers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from toulmin.data import Answer
from toulmin.errors import unknown_name
from toulmin.formats import bibliography
from toulmin.formats.bibliography import PLAIN
from toulmin.formats.html_page import page
from toulmin.formats.latex import latex_file
from toulmin.formats.manuscript import Manuscript, Reference
from toulmin.formats.markdown import markdown

_LONGEST_NAME = 60


class Form(NamedTuple):
    """A form: `help` is a line for people, `ending` that of its files; `write` takes a style of references."""

    help: str
    ending: str
    media_type: str
    write: Callable[[Answer, str], str | bytes]
    has_style: bool = True


def _docx(answer: Answer, style: str) -> bytes:
    from toulmin.formats.footnoted_word import word_file  # loads lxml

    return word_file(answer, style)


def _references(name: str, ending: str, media_type: str, write: Callable[[Sequence[Reference]], bytes]) -> Form:
    help = f"The cited documents as {name}."
    return Form(help, ending, media_type, lambda answer, _: write(Manuscript(answer).references), has_style=False)


FORMS: Mapping[str, Form] = {
    "md": Form("Markdown with footnotes.", ".md", "text/markdown", markdown),
    "docx": Form(
        "A Word document with footnotes.",
        ".docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        _docx,
    ),
    "tex": Form("LaTeX with footnotes and its own bibliography.", ".tex", "application/x-tex", latex_file),
    "html": Form("One HTML file with the evidence inside.", ".html", "text/html", page),
    "csl": _references("CSL-JSON", ".csl.json", "application/vnd.citationstyles.csl+json", bibliography.csl_json),
    "ris": _references("RIS", ".ris", "application/x-research-info-systems", bibliography.ris),
    "bib": _references("BibTeX", ".bib", "application/x-bibtex", bibliography.bibtex),
}
_OTHER_ENDINGS = {".markdown": "md", ".htm": "html"}


def export_answer(answer: Answer, form: str, *, style: str = PLAIN) -> bytes:
    """The answer as a file: `md`, `docx`, `tex`, `html`, or its references as `csl`, `ris` or `bib`.

    `style` is a style of the Citation Style Language for the references (`apa`, `ieee`, ...), which needs the extra
    `cite`. Raises `UsageError` for an unknown form or style.
    """
    if form not in FORMS:
        raise unknown_name("format", form, FORMS)
    bibliography.check_style(style)
    written = FORMS[form].write(answer, style)
    return written.encode("utf-8") if isinstance(written, str) else written


def form_of(path: Path) -> str | None:
    """The form of a file's ending; None for other endings."""
    name = path.name.lower()
    endings = {form.ending: key for key, form in FORMS.items()} | _OTHER_ENDINGS
    return next((form for ending, form in endings.items() if name.endswith(ending)), None)


def file_name(answer: Answer, form: str) -> str:
    """A name from the question's words: letters, digits, hyphens and the ending."""
    words = re.findall(r"[^\W_]+", Manuscript(answer).title.lower())
    return f"{'-'.join(words)[:_LONGEST_NAME].rstrip('-') or 'answer'}{FORMS[form].ending}"
