"""Documents as readable, sanitised HTML: their look, or their text, with the cited words marked.

* Nothing in a document is run, fetched or styled. A short list limits elements and attributes, links stay within the
  page, pictures are inside the file, and the page's policy forbids the rest. No attribute contains `<` or `>`, so
  brackets identify tags.
* What the document's text leaves out as unseen is left out here too.
* Words are marked by the letters of the document's text. If the look lacks them, the text is shown, whose offsets are
  exact.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import nh3
from selectolax.lexbor import LexborHTMLParser

from toulmin.data import BELOW
from toulmin.documents.archive import open_archive
from toulmin.documents.html import is_entangled, is_unseen, page_in
from toulmin.documents.loaders import MOST_BYTES, read_documents, reader_of
from toulmin.documents.markup import FRONT_MATTER
from toulmin.documents.office import workbook_of
from toulmin.documents.plain import cannot_read, csv_rows, read_text
from toulmin.documents.tables import cell_texts, empty_columns, padded, row_text, table_of
from toulmin.originals.alignment import LetterMap, Letters, Needle, find
from toulmin.originals.readable import LARGEST, opening, text_body
from toulmin.text.language import Span

# Characters of markup for each of the source, and in addition: unclosed elements are opened again and again.
_SWELLING, _SHORT = 10, 100_000
_MOST_ROWS = 1_000  # of a table; of a longer one those round the words
_LARGEST_SHEETS = 5_000_000  # bytes of a workbook that is read again for an answer
_ELEMENTS = frozenset(
    "a abbr address article aside b bdi bdo blockquote br caption center cite code col colgroup dd del details dfn div"
    " dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark ol p pre q rp rt ruby s"
    " samp section small span strike strong sub summary sup table tbody td tfoot th thead tr tt u ul var wbr".split()
)
_EMPTIED = frozenset("head script style template noscript iframe object svg math select textarea title xmp".split())
_ATTRIBUTES = {
    "*": {"id", "dir", "lang"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
    "ol": {"start"},
}
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp|bmp);base64,[\w+/=\s]*", re.ASCII)
_TAG_OR_TEXT = re.compile(r"<[^<>]*>|([^<>]+)")
# No escape is a letter, and letters are never escaped.
_RUN = re.compile(r"&#?\w+;|([^\W_]+)")
_CLOSING = re.compile(r"[^\w\s&<]*")  # of a sentence
# The column's name before each cell of a row's text; the table shows it once.
_COLUMN_NAME = re.compile(r"(?m)(?:^|(?<=; ))[^:;\n]{1,200}: ")

Rows = Mapping[int, Sequence[str]]


def look_of(path: Path, reader: str, words: Sequence[str], row: int) -> str | None:
    """The body of a document's look; None without a look, if it is too large, or if it lacks the words.

    `words` are those to mark, and the text before and after them; `row` counts the blocks before them in a table's
    text. Raises `SourceError` for an unreadable file.
    """
    look = _LOOKS.get(reader)
    if look is None or path.stat().st_size > LARGEST:
        return None
    body = look(path, row)
    return mark(body, *words) if 0 < len(body) <= LARGEST else None


def show(path: Path, _most: int, words: Sequence[str], start: int, row: int) -> dict[str, str]:
    """For a child process: the look, else the text if it has the words from `start` on."""
    reader, end = reader_of(path)[1], start + len(words[0])
    body, kind = look_of(path, reader, words, row), "look"
    if body is None:
        document = next(read_documents(path))
        if document.text[start:end] != words[0]:
            raise cannot_read(path, "no longer has the indexed words", "index again")
        body, kind = text_body(document, start, end), "text code" if reader == "code_document" else "text"
    return {"body": body, "kind": kind}


# ---------------------------------------------------------------- each kind


def _markdown(path: Path, _row: int) -> str:
    from markdown_it import MarkdownIt  # for this kind alone, as the others below

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return sanitise(parser.render(FRONT_MATTER.sub("", read_text(path, LARGEST), count=1)))


def _word(path: Path, _row: int) -> str:
    import docx
    import mammoth

    from toulmin.documents.word import make_visible

    with open_archive(path, MOST_BYTES, "Word document"), BytesIO() as file:
        document = docx.Document(str(path))
        make_visible(document)
        document.save(file)
        return sanitise(mammoth.convert_to_html(file).value)


def _sheets(path: Path, row: int) -> str:
    parts = []
    for name, rows in workbook_of(path, MOST_BYTES).sheets:
        if below := len(table_of(rows.values())[1]):
            parts.append(f"<h2>{html.escape(name)}</h2>{_table(list(rows.values()), row - 1)}")
            row -= 1 + below
    return "\n".join(parts)


def _table(rows: Sequence[Sequence[str]], row: int) -> str:
    heads, below = table_of(rows)
    first = min(max(0, row - _MOST_ROWS // 2), max(0, len(below) - _MOST_ROWS))
    shown = below[first : first + _MOST_ROWS]
    left_out = f'<p class="left-out">Rows {first + 1:,} to {first + len(shown):,} of {len(below):,}.</p>'
    head = f"<tr>{''.join(f'<th>{html.escape(name)}</th>' for name in heads)}</tr>" if heads else ""
    body = "\n".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>" for cells in shown)
    return f"{left_out if len(shown) < len(below) else ''}<table>{head}\n{body}</table>"


_LOOKS: Mapping[str, Callable[[Path, int], str]] = {
    "html_document": lambda path, _: sanitise(page_in(path, LARGEST)),
    "markdown_document": _markdown,
    "word_document": _word,
    "csv_document": lambda path, row: _table(csv_rows(path, LARGEST), row),
    "sheets_document": _sheets,
}


# ---------------------------------------------------------------- sanitising


def sanitise(markup: str) -> str:
    """Removes what is unseen, runs, is fetched or leads away; empty for markup that nests too deep or swells."""
    if is_entangled(markup):
        return ""
    tree = LexborHTMLParser(markup)
    root = tree.body or tree.root
    if root is None or len(root.html or "") > _SWELLING * len(markup) + _SHORT:
        return ""
    unseen = [node for node in root.css("*") if is_unseen(node.tag or "", node.attributes)]
    for node in reversed(unseen):  # those within first
        node.decompose()
    return nh3.clean(
        root.html or "",
        tags=set(_ELEMENTS),
        clean_content_tags=set(_EMPTIED),
        attributes=_ATTRIBUTES,
        attribute_filter=_attribute,
        url_schemes={"data"},
        link_rel=None,
    )


def _attribute(element: str, name: str, value: str) -> str | None:
    """The value, if the attribute may stay."""
    is_right = {"href": value.startswith("#"), "src": _PICTURE.fullmatch(value), "id": value != "marked"}
    return value if is_right.get(name, True) and not re.search("[<>]", value) else None


# ---------------------------------------------------------------- marking


def mark(body: str, words: str, before: str, after: str) -> str | None:
    """The body with a mark around the words in each text; None if unsure."""
    if not words:
        return body
    letters, texts = _letters_in(body)
    shown = LetterMap(letters, texts)
    for strip in (str, lambda text: _COLUMN_NAME.sub("", text)):
        wanted = Needle(*("".join(filter(str.isalnum, strip(text))) for text in (words, before, after)))
        if spans := find(wanted, shown):
            return _with_marks(body, sorted(letters.places[n] for span in spans for n in range(*span)))
    return None


def _letters_in(body: str) -> tuple[Letters, list[int]]:
    """The letters and digits between tags, their places in the body, and where each text begins."""
    letters, places, texts = list[str](), list[int](), list[int]()
    for start, end in _texts(body):
        texts.append(len(places))
        for run in _RUN.finditer(body, start, end):
            letters.append(run[1] or "")
            places += range(*run.span(1))
    return Letters("".join(letters), places), texts


def _texts(body: str) -> Iterator[Span]:
    return (Span(*piece.span()) for piece in _TAG_OR_TEXT.finditer(body) if piece[1])


def _with_marks(body: str, places: Sequence[int]) -> str:
    """Marks the letters at those places, with the signs between them and after a sentence."""
    parts, done = list[str](), 0
    for text in _texts(body):
        here = places[bisect_left(places, text.start) : bisect_left(places, text.end)]
        if not here:
            continue
        first, last = here[0], _CLOSING.match(body, here[-1] + 1, text.end).end()  # type: ignore[union-attr]
        if parts and not _has_letters(body, text.start, first):
            first = text.start
        if here[-1] < places[-1] and not _has_letters(body, last, text.end):
            last = text.end
        parts += [body[done:first], opening(not parts), body[first:last], "</mark>"]
        done = last
    return "".join([*parts, body[done:]])


def _has_letters(body: str, start: int, end: int) -> bool:
    return any(run[1] for run in _RUN.finditer(body, start, end))


# ---------------------------------------------------------------- the cells of a workbook


def print_cells(path: Path, _most: int, _digest: str, _folder: str, rows: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """For a child process, a label of each row's words: "B5", "row 5", or "" where none or several fit.

    A row is as that of `pdf_places.print_places`.
    """
    sheets = workbook_of(path, MOST_BYTES).sheets if path.stat().st_size <= _LARGEST_SHEETS else []
    return {"prints": [[[], _label(sheets, text, Span(*ends), section)] for text, _, ends, section in rows]}


def _label(sheets: Sequence[tuple[str, Rows]], text: str, words: Span, section: str) -> str:
    start = text.rfind("\n\n", 0, words.start + 1) + 2 if "\n\n" in text[: words.start + 1] else 0
    line, within = text[start:].split("\n\n", 1)[0], Span(words.start - start, words.end - start)
    found = [(name, label) for name, rows in sheets for label in _labels(rows, line, within)]
    named = [pair for pair in found if pair[0] == section.split(BELOW)[0]] if len(found) > 1 else found
    return named[0][1] if len(named) == 1 and words.end else ""


def _labels(rows: Rows, line: str, words: Span) -> Iterator[str]:
    heads, left = table_of(rows.values())[0], empty_columns(rows.values())
    for number, row in rows.items():
        cells = padded([cell.strip() for cell in row[left:]], len(heads))
        names = next((names for names in ([], heads) if row_text(cells, names) == line), None)
        if names is not None:
            held = list(_columns(cell_texts(cells, names), line, words))
            yield f"{_letters(left + held[0])}{number}" if len(held) == 1 else f"row {number}"


def _columns(parts: Sequence[str], line: str, words: Span) -> Iterator[int]:
    """Those of the row's cells that hold some of the words."""
    end = 0
    for column, part in enumerate(parts):
        start = line.index(part, end)
        end = start + len(part)
        if part and start < words.end and words.start < end:
            yield column


def _letters(column: int) -> str:
    """Of a column from 0: A, Z, AA."""
    return (_letters(column // 26 - 1) if column > 25 else "") + chr(65 + column % 26)
