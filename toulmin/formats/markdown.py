"""An answer as Markdown with footnotes, and its sidecar for later checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from toulmin.data import Answer, Claim
from toulmin.formats.bibliography import PLAIN, entries
from toulmin.formats.manuscript import COLUMNS, Block, Manuscript, Note, Sentence

_SIGNS = re.compile(r"[\\`*_<>\[\]&~$#\n]")  # a backslash keeps a line end
_OPENING = re.compile(r"(?m)^(?:([-+=:])|(\d{1,9})([.)]))")  # what would make a line more than a paragraph
_REFERENCES, _EVIDENCE = "## References", "## Evidence"


def sidecar(path: Path) -> Path:
    """The file beside a Markdown file with its Answer document."""
    return path.with_name(f"{path.name}.json")


def markdown(answer: Answer, style: str = PLAIN) -> str:
    """Sentences with footnotes, the references in that style, and a table of evidence."""
    manuscript = Manuscript(answer)
    parts = [f"# {_escape(manuscript.title)}", *_body(manuscript.blocks)]
    if manuscript.silence:
        parts.append(_line(manuscript.silence))
    parts += _after(manuscript, style)
    return "\n\n".join([*parts, *map(_definition, manuscript.notes)]) + "\n"


def _body(blocks: tuple[Block, ...]) -> Iterator[str]:
    for block in blocks:
        text = _OPENING.sub(_protect, " ".join(map(_sentence, block.sentences)))
        yield {"heading": f"## {_escape(block.text)}", "item": f"* {text}"}.get(block.kind, text)


def _sentence(sentence: Sentence) -> str:
    marks = "".join(f"[^{note.n}]" for note in sentence.notes)
    return f"{_escape(sentence.text)}{marks}{f' [{sentence.flag}]' if sentence.flag else ''}"


def _after(manuscript: Manuscript, style: str) -> Iterator[str]:
    if manuscript.references:
        listed = zip(manuscript.references, entries(manuscript.references, style), strict=True)
        yield _REFERENCES
        yield "\n".join(f"{reference.n}. {_line(text)}" for reference, text in listed)
    if manuscript.removed:
        yield "## Taken away"
        yield _table(("Text", "Why"), manuscript.removed)
    if manuscript.sentences:
        yield _EVIDENCE
        yield _table(COLUMNS, manuscript.rows)
        yield f"> {_escape(manuscript.about)}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *(tuple(_escape(cell).replace("|", "\\|") for cell in row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _definition(note: Note) -> str:
    name = _escape(note.reference.place)
    place = f"[{name}](<{note.link}>)" if note.link else name
    title = "" if note.reference.title == note.reference.place else f"{_escape(note.reference.title)}, "
    where = f", {_escape(note.where)}" if note.where else ""
    quote = f"“{_escape(note.quote)}” " if note.quote else ""
    return f"[^{note.n}]: {_OPENING.sub(_protect, quote + title + place + where)}"


def _line(text: str) -> str:
    return _OPENING.sub(_protect, _escape(text))


def _protect(opening: re.Match[str]) -> str:
    return f"\\{opening[1]}" if opening[1] else f"{opening[2]}\\{opening[3]}"


def _escape(text: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", text)


def kept_claims(answer: Answer, text: str) -> tuple[Claim, ...]:
    """The claims whose original words the Markdown file still contains."""
    for heading in (_EVIDENCE, _REFERENCES):
        before, mark, _ = text.rpartition(f"\n{heading}\n")
        text = before if mark else text
    lines = "\n".join(line for line in text.split("\n") if not line.startswith("[^"))
    words = {each.claim: _escape(each.text) for each in Manuscript(answer).sentences}
    return tuple(c for c in answer.claims if words[c] in lines or _OPENING.sub(_protect, words[c]) in lines)
