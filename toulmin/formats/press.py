"""One answer as a document that a person takes along: which forms there are, and each written down."""

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
from toulmin.formats.manuscript import Manuscript, Reference
from toulmin.formats.markdown import markdown

_LONGEST_NAME = 60


class Form(NamedTuple):
    """A form: a line for people, the ending of its files, and how an answer is written with a style of references."""

    help: str
    ending: str
    media_type: str
    write: Callable[[Answer, str], bytes]
    has_style: bool = True


def _docx(answer: Answer, style: str) -> bytes:
    from toulmin.formats.footnoted_word import word_file  # loads lxml

    return word_file(answer, style)


def _tex(answer: Answer, style: str) -> bytes:
    from toulmin.formats.latex import latex_file

    return latex_file(answer, style).encode("utf-8")


def _of_references(write: Callable[[Sequence[Reference]], bytes]) -> Callable[[Answer, str], bytes]:
    return lambda answer, style: write(Manuscript(answer).references)


FORMS: Mapping[str, Form] = {
    "md": Form("Markdown with footnotes.", ".md", "text/markdown", lambda *of: markdown(*of).encode("utf-8")),
    "docx": Form(
        "A Word document with footnotes.",
        ".docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        _docx,
    ),
    "tex": Form("LaTeX with footnotes and its own bibliography.", ".tex", "application/x-tex", _tex),
    "html": Form(
        "One HTML file with the evidence inside.", ".html", "text/html", lambda *of: page(*of).encode("utf-8")
    ),
    "csl": Form(
        "The cited documents as CSL-JSON.",
        ".csl.json",
        "application/vnd.citationstyles.csl+json",
        _of_references(bibliography.csl_json),
        has_style=False,
    ),
    "ris": Form(
        "The cited documents as RIS.",
        ".ris",
        "application/x-research-info-systems",
        _of_references(bibliography.ris),
        has_style=False,
    ),
    "bib": Form(
        "The cited documents as BibTeX.",
        ".bib",
        "application/x-bibtex",
        _of_references(bibliography.bibtex),
        has_style=False,
    ),
}
_OTHER_ENDINGS = {".markdown": "md", ".htm": "html"}


def export_answer(answer: Answer, form: str, *, style: str = PLAIN) -> bytes:
    """The answer as a file: `md`, `docx`, `tex`, `html`, or its references as `csl`, `ris` or `bib`.

    `style` is a style of the Citation Style Language for the list of references (`apa`, `ieee`, ...), which needs the
    extra `cite`. Raises `UsageError` for a form or a style that there is not.
    """
    if form not in FORMS:
        raise unknown_name("format", form, FORMS)
    bibliography.check_style(style)
    return FORMS[form].write(answer, style)


def form_of(path: Path) -> str | None:
    """The form that a file's ending names; None for any other ending."""
    name = path.name.lower()
    endings = {form.ending: key for key, form in FORMS.items()} | _OTHER_ENDINGS
    return next((form for ending, form in endings.items() if name.endswith(ending)), None)


def file_name(answer: Answer, form: str) -> str:
    """A name for the answer's file, made from the words of its question: letters, digits, hyphens and the ending."""
    words = re.findall(r"[^\W_]+", Manuscript(answer).title.lower())
    return f"{'-'.join(words)[:_LONGEST_NAME].rstrip('-') or 'answer'}{FORMS[form].ending}"
