r"""An answer as LaTeX: a footnote with the source's words for each citation, `\cite`, and a table of evidence.

The file contains its bibliography and needs only standard packages. With pdfTeX, characters that its fonts lack are
shown by number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import resources
from itertools import groupby

from toulmin.data import Answer
from toulmin.formats.bibliography import PLAIN, entries, tex
from toulmin.formats.manuscript import COLUMNS, Block, Manuscript, Note, Sentence

_WIDTHS = (7, 45, 25, 18, 48, 45, 33)  # of the columns of the evidence, in millimetres
_DIGITS = re.compile("[0-9a-f]{16}(?=[0-9a-f])")


def latex_file(answer: Answer, style: str = PLAIN) -> str:
    manuscript = Manuscript(answer)
    head = resources.files("toulmin.formats").joinpath("preamble.tex").read_text("utf-8")
    names = f"\\title{{{tex(manuscript.title)}}}\n\\author{{}}\n\\date{{{tex(manuscript.about)}}}"
    parts = [f"{head}{names}\n\\begin{{document}}\n\\maketitle"]
    parts += [_run(kind, list(blocks)) for kind, blocks in groupby(manuscript.blocks, lambda block: block.kind)]
    parts.append(tex(manuscript.silence))
    if manuscript.references:
        listed = zip(manuscript.references, entries(manuscript.references, style), strict=True)
        items = (f"\\bibitem{{{reference.key}}} {_breaking(text)}" for reference, text in listed)
        arguments = f"{{{len(manuscript.references)}}}\\raggedright"
        parts.append(_environment("thebibliography", items, arguments))
    if manuscript.removed:
        parts += [r"\section*{Taken away}", _table(("Text", "Why"), manuscript.removed, (100, 50))]
    if manuscript.sentences:
        table = _table(COLUMNS, manuscript.rows, _WIDTHS)
        parts.append(_environment("landscape", [r"\section*{Evidence}", table]))
    return "\n\n".join(part for part in [*parts, r"\end{document}"] if part) + "\n"


def _run(kind: str, blocks: list[Block]) -> str:
    if kind == "heading":
        return "\n\n".join(f"\\section*{{{tex(block.text)}}}" for block in blocks)
    texts = [" ".join(map(_sentence, block.sentences)) for block in blocks]
    return "\n\n".join(texts) if kind == "paragraph" else _environment("itemize", (f"\\item {{}}{t}" for t in texts))


def _sentence(sentence: Sentence) -> str:
    notes = "".join(f"\\footnote{{{_note(note)}}}" for note in sentence.notes)
    return f"{tex(sentence.text)}{notes}" + (f" \\textbf{{[{sentence.flag}]}}" if sentence.flag else "")


def _note(note: Note) -> str:
    quote = f"“{tex(note.quote)}” " if note.quote else ""
    title = "" if note.reference.title == note.reference.place else f"\\emph{{{tex(note.reference.title)}}}, "
    where = f", {tex(note.where)}" if note.where else ""
    place = _breaking(note.reference.place)
    if note.reference.url:
        place = f"\\href{{{_address(note.link)}}}{{{place}}}"
    return f"{quote}{title}{place}{where} \\cite{{{note.reference.key}}}"


def _address(url: str) -> str:
    """Escapes what LaTeX would read in a percent-encoded address."""
    signs = {"~": r"\%7E", "$": r"\%24", "[": r"\%5B", "]": r"\%5D"} | {sign: f"\\{sign}" for sign in "%#&_"}
    return "".join(signs.get(sign, sign) for sign in url)


def _breaking(text: str) -> str:
    """A path or address that may break after slashes."""
    return tex(text).replace("/", r"\slash{}")


def _environment(name: str, lines: Iterable[str], arguments: str = "") -> str:
    return "\n".join([f"\\begin{{{name}}}{arguments}", *lines, f"\\end{{{name}}}"])


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], widths: tuple[int, ...]) -> str:
    columns = "".join(f">{{\\raggedright\\arraybackslash}}p{{{width}mm}}" for width in widths)
    names = " & ".join(f"\\textbf{{{tex(name)}}}" for name in head)
    lines = (" & ".join(_cell(cell) for cell in row) for row in rows)
    body = [f"{names} \\\\ \\hline \\endhead", *(f"{line} \\\\ \\hline" for line in lines)]
    return _environment("longtable", body, f"{{{columns}}}")


def _cell(text: str) -> str:
    """Braces keep a bracket at the start from being an option of the line before."""
    words = _DIGITS.sub(r"\g<0>\\allowbreak{}", text) if re.fullmatch("[0-9a-f]{64}", text) else _breaking(text)
    return f"{{\\scriptsize {words}}}" if text else ""
