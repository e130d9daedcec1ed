"""HTML: the text that a visitor of the page sees."""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from toulmin.data import Document
from toulmin.documents.plain import (
    cannot_read,
    check_size,
    counted,
    decode,
    make_document,
    marked,
    repair_text,
    set_apart,
    unmarked,
)
from toulmin.documents.tables import Cell, has_numbers, spread, table_rows
from toulmin.errors import SourceError

_UNSEEN = frozenset(
    "head script style nav template noscript iframe object svg canvas audio video datalist select del s strike".split()
)
# Navigation of a page, by role, and by class or id.
_AROUND_ROLES = frozenset("banner contentinfo navigation search".split())
_AROUND = frozenset(
    "headerlink docnav navheader navfooter breadcrumb breadcrumbs pagination related sphinxsidebar footer"
    " site-footer nosearch skip-link".split()
)
BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu ol p pre section summary table tbody"
    " tfoot thead tr ul".split()
)
_CELLS = frozenset(("td", "th"))
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
# A parser's time grows with the square of the depth. After a missing end tag it reopens formatting elements in each
# block, the same one at most three times; pages that are no trap rarely have ten of them open.
_DEEPEST, _MOST_REOPENED = 10_000, 2_000_000
_FORMATTING = "a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
_TAG = re.compile(rf"<(/?)(?:({_FORMATTING})(?![a-z0-9])([^<>]*)|([a-z][a-z0-9]*))")
_NEVER_CLOSED = frozenset(
    "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead tbody tfoot"
    " colgroup option optgroup rt rp html head body".split()
)

# Marks for borders of blocks and cells, after a term that is explained next, and around raised numbers. Repaired text
# never holds the first; `_text` removes the others.
_BLOCK, _CELL, _TERM = "\0", "\1", "\2"
_EXPLAINED = (
    "dt:has(+ dt), dt:has(+ dd > p:first-child), dt:has(+ dd:not(:has(p, dl, ul, ol, pre, table, div, h3, h4)))"
)
_LONGEST_TERMS = 80  # characters
_NUMBER_ALONE = re.compile(r"(?:Figure|Table|Example|Listing)\s+[\d.A-Z-]*\d[.:]?")  # of a picture without a caption
_ENDED = re.compile(r"[.!?…]\W*$")
_RAISED = re.compile("\4(\\[?)([^\4]*)\4")
_SPACE = re.compile(r"[ \t\n\f]+")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
# Some of Python's codecs are not character sets, and some are slow; pages declare these families.
_CHARACTER_SETS = re.compile(r"(iso8859|cp\d|koi8|shift_jis|euc|gb|big5|iso2022|mac|tis|hz)")


def html_document(path: Path, limit: int) -> Document:
    """A page's visible text, blank lines between blocks; the title is its `<title>` or first heading."""
    return _document(page_in(path, limit), path)  # in a child, whose limits cost nothing


def page_in(path: Path, limit: int) -> str:
    check_size(path, path.stat().st_size, limit)
    data = path.read_bytes()
    return decode(data, path, _charset_in(data)).text


def page_document(data: bytes, path: Path, charset: str | None = None) -> Document:
    """The page in these bytes. `charset` comes from a mail; `path` names the page in errors and supplies a missing
    title.
    """
    page = decode(data, path, _charset(charset) or _charset_in(data)).text
    if is_entangled(page):
        raise _entangled(path)
    return _document(page, path)


def _entangled(path: Path) -> SourceError:
    came = f"nests more than {_DEEPEST:,} elements, or leaves too many open"
    return cannot_read(path, came, "save the page again from a browser")


def _document(page: str, path: Path) -> Document:
    try:
        tree = LexborHTMLParser(page)
    except SelectolaxError as error:  # for want of memory: it reads anything else
        raise _entangled(path) from error
    lacks = Counter[str]()
    text = _visible(tree.root, lacks) if tree.root is not None else ""
    if not unmarked(text).strip():
        raise cannot_read(path, "shows no text: a page with words was expected", "save the page as it is displayed")
    document = make_document(text, _title(tree), path, fields=_fields(tree))
    remarks = counted(lacks["image"], "image", "without text") + counted(lacks["hidden"], "hidden passage", "left out")
    return replace(document, remarks=tuple(remarks))


def is_entangled(page: str) -> bool:
    """Whether the tree is too deep, or may be far larger than the page."""
    depth = formats = reopened = 0
    is_open, same = defaultdict[str, list[str]](list), Counter[tuple[str, str]]()
    for slash, formatting, attributes, other in _TAG.findall(page.lower()):
        if formats > 10:
            reopened += formats
        if other in _NEVER_CLOSED:
            continue
        opened, step = is_open[formatting or other], -1 if slash else 1
        if not slash:
            opened.append(attributes)
        elif opened:
            attributes = opened.pop()
        else:
            continue  # an end of nothing is passed over
        depth += step
        if formatting:
            key = (formatting, attributes)
            formats += step if min(same[key], same[key] + step) < 3 else 0
            same[key] += step
        if depth > _DEEPEST or reopened > _MOST_REOPENED:
            return True
    return False


def _charset_in(data: bytes) -> str | None:
    match = _CHARSET.search(data[:4096])
    return _charset(match[1].decode("ascii", "replace")) if match else None


def _charset(label: str | None) -> str | None:
    try:
        name = codecs.lookup(label).name if label else ""
    except (LookupError, ValueError):
        return None
    return name if _CHARACTER_SETS.match(name) else None


def _title(tree: LexborHTMLParser) -> str:
    nodes = map(tree.css_first, ("title", "h1"))
    return next(filter(None, (node.text().strip() for node in nodes if node is not None)), "")


def _fields(tree: LexborHTMLParser) -> list[tuple[str, object]]:
    """From JSON-LD, then the elements `meta` and the page's language."""
    pairs: list[tuple[str, object]] = []
    for script in tree.css('script[type="application/ld+json"]'):
        with suppress(ValueError, RecursionError, AttributeError, TypeError):  # no JSON, or no object
            data = json.loads(script.text())
            listed = data.get("@graph", [data]) if isinstance(data, dict) else data
            pairs += [pair for each in listed for pair in each.items()]
    metas = (node.attributes for node in tree.css("meta[content]"))
    pairs += [(meta.get("name") or meta.get("property") or "", meta["content"]) for meta in metas]
    return [*pairs, *(("lang", node.attributes.get("lang")) for node in tree.css("html"))]


def _visible(root: LexborNode, lacks: Counter[str] | None = None) -> str:
    pieces = _pieces(root, Counter() if lacks is None else lacks)
    paragraphs = (_tidy(paragraph) for paragraph in "".join(pieces).split(_BLOCK))
    return "\n\n".join(_with_terms(each for each in paragraphs if each and not _NUMBER_ALONE.fullmatch(each)))


def _with_terms(paragraphs: Iterable[str]) -> Iterator[str]:
    """Terms stand before what explains them, as in "-s, --sign: Make a signed tag", unless they are long."""
    terms: list[str] = []
    for paragraph in paragraphs:
        if paragraph.endswith(_TERM):
            terms += filter(None, [" ".join(paragraph[:-1].split())])
            continue
        lead = ", ".join(terms).rstrip(":")
        if 0 < len(lead) <= _LONGEST_TERMS and not _ENDED.search(lead):
            yield f"{lead}: {paragraph}"
        else:
            yield from (*terms, paragraph)
        terms = []
    yield from terms


def _on_one_line(node: LexborNode) -> str:
    return " ".join(unmarked(_visible(node)).split())


def _tidy(paragraph: str) -> str:
    cells = map(_strip_lines, _RAISED.sub(_set_apart, paragraph.replace("\u00ad", "")).split(_CELL))
    return " | ".join(cell for cell in cells if cell)


def _set_apart(raised: re.Match[str]) -> str:
    before = raised.string[max(0, raised.start() - 1) : raised.start()].replace("\4", "]")
    return set_apart(raised[2], before, bool(raised[1]))


def _strip_lines(text: str) -> str:
    return "\n".join(filter(None, (line.strip(" \t\f") for line in text.split("\n"))))


def _pieces(root: LexborNode, lacks: Counter[str]) -> Iterator[str]:
    """Text with marks at the borders of blocks and cells; counts what it lacks. Not recursive: pages nest too deep."""
    node: LexborNode | None = root
    outer = {table.mem_id for table in root.css("table:has(table)")}
    terms = {term.mem_id for term in root.css(_EXPLAINED)}
    while node is not None:
        is_seen = not (node.is_element_node and is_unseen(node.tag or "", node.attributes))
        rows = _rows(node) if is_seen and node.tag == "table" and node.mem_id not in outer else []
        raised = _raised(node) if is_seen and (node.tag == "sup" or _leads_to_note(node)) else ""
        if is_seen:
            images = node.css("img") if rows else [node] * (node.tag == "img")
            lacks["image"] += sum(image.attributes.get("alt") != "" for image in images)
            yield raised or _opening(node)
        elif node.tag not in _UNSEEN and _is_hidden(node.attributes):
            lacks["hidden"] += any(map(str.isalnum, node.text()))
        yield from (f"{row}{_BLOCK}" for row in rows)
        if is_seen and not rows and not raised and node.child is not None:
            node = node.child
            continue
        while node is not None and node.next is None:
            node = node.parent if node.mem_id != root.mem_id else None
            yield _TERM if node is not None and node.mem_id in terms else ""
            yield _BLOCK if node is not None and node.tag in BLOCKS else ""
        node = node.next if node is not None and node.mem_id != root.mem_id else None


def _leads_to_note(node: LexborNode) -> bool:
    return node.tag == "a" and "noteref" in f"{node.attributes.get('epub:type')} {node.attributes.get('role')}"


def _raised(node: LexborNode) -> str:
    """A number, or link with one, between marks; else ""."""
    leaf, is_note = node.child, node.tag == "a" or (node.parent is not None and node.parent.tag == "a")
    while leaf is not None and leaf.tag == "a" and leaf.next is None and not is_unseen("a", leaf.attributes):
        leaf, is_note = leaf.child, True
    words = _text(leaf).strip() if leaf is not None and leaf.is_text_node and leaf.next is None else ""
    return f"\4{'[' * is_note}{words}\4" if set_apart(words, "a") != words else ""


def _rows(table: LexborNode) -> list[str]:
    """The caption and rows of a table whose first rows name its columns; none for other tables.

    Each cell follows its column's name; in two columns of words, the first column is the name.
    """
    every = ((row, [cell for cell in row.iter() if cell.tag in _CELLS]) for row in table.css("tr"))
    rows = [(row, cells) for row, cells in every if cells]
    heads = next((n for n, (row, cells) in enumerate(rows) if not _names_columns(row, cells)), len(rows))
    if not heads or heads == len(rows) or sum(len(cells) for _, cells in rows[:heads]) < 2:
        return []
    lines = spread(list(map(_cell, cells)) for _, cells in rows)
    captions = list(map(_on_one_line, table.css("caption")))
    if len(lines[0]) == 2 and not has_numbers(lines[heads:]):
        return [*captions, *("\n".join(filter(None, line)) for line in lines)]
    return [*captions, *table_rows(lines, heads)]


def _names_columns(row: LexborNode, cells: list[LexborNode]) -> bool:
    is_above = row.parent is not None and row.parent.tag == "thead"
    is_corner_empty = len(cells) > 1 and not _on_one_line(cells[0])
    return is_above or all(cell.tag == "th" for cell in cells[is_corner_empty:])


def _cell(cell: LexborNode) -> Cell:
    columns, rows = (cell.attributes.get(name) or "" for name in ("colspan", "rowspan"))
    return Cell(_on_one_line(cell), *(int(span) if span.isdecimal() else 1 for span in (columns[:4], rows[:4])))


def is_unseen(tag: str, attributes: Mapping[str, str | None]) -> bool:
    """Whether an element is hidden or only navigates the page."""
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".split()
    return (
        tag in _UNSEEN
        or _is_hidden(attributes)
        or attributes.get("aria-hidden") == "true"
        or attributes.get("role") in _AROUND_ROLES
        or not _AROUND.isdisjoint(names)
    )


def _is_hidden(attributes: Mapping[str, str | None]) -> bool:
    return "hidden" in attributes or _HIDDEN_STYLE.search(attributes.get("style") or "") is not None


def _opening(node: LexborNode) -> str:
    if node.is_text_node:
        return _text(node)
    if node.tag in _CELLS:
        return _CELL
    if node.tag == "br":
        return "\n"
    if node.tag in HEADINGS:
        return _BLOCK + marked(int(node.tag[1]), "")
    return _BLOCK if node.tag in BLOCKS else ""


def _text(node: LexborNode) -> str:
    text = re.sub("[\1\2\4]", "\ufffd", repair_text(node.text_content or ""))
    parent = node.parent
    return text if parent is not None and parent.tag == "pre" else _SPACE.sub(" ", text)
