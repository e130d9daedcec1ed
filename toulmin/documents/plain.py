"""Decodes bytes to text, and reads plain text, source code and csv. Every loader passes its text through `repair_text`,
so that it can be stored as UTF-8.
"""

from __future__ import annotations

import codecs
import csv
import errno
import html
import io
import os
import re
import stat
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

from toulmin.data import Document, Heading
from toulmin.documents.metadata import Fields, metadata_of
from toulmin.documents.tables import table_text
from toulmin.errors import SourceError
from toulmin.text.language import UNSPACED, identify, rarity, stem

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNSTORABLE = re.compile("[\ud800-\udfff\0]")
_NUMBER = re.compile(r"[+\u2212-]?\d{1,4}\s*")
_STOPS = ".,;:!?…\"'”’»]%"  # the raised number after them is that of a note
_CLOSER = re.compile(rf"[^\W_]|[){re.escape(_STOPS)}]")
_NOT_ASCII = re.compile("[^\0-\x7f]")
_WESTERN = "cp1252"
_ENCODINGS = [_WESTERN, *"gb18030 big5 cp932 euc_jp cp949 cp1251 koi8_r cp1253 cp1250 iso8859_2 cp1254".split()]
_USUAL = 0.3  # probability that Western text is worth more: a few accents in English look like anything
_LEAST_WORTH = 0.5  # of Western text: few words read like nothing
# Lines that are looked at, and the share of lines from which all have one encoding: a few are UTF-8 by accident.
_SAMPLE, _NEARLY_ALL = 200, 0.9
_CUE = re.compile(r"(?m)^(?:(\d+):)?(\d\d):(\d\d)[.,]\d{3} +--> .*\n((?:.*\S.*\n)*)")
_CUE_MARK = re.compile(r"<[^<>]*>|\{[^{}]*\}")
_LONGEST_TITLE = 300
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
MOST_OF_A_TEXT = 25_000_000  # bytes of a file that is read as one text in this process, as it takes 35 times its size


class Unavailable(SourceError):
    """A file that may become readable later."""


class Overdue(Unavailable):
    """A file whose reading took all of its time on a busy machine: it is not tried again at once."""


def cannot_read(path: Path, came: str, remedy: str, kind: type[SourceError] = SourceError) -> SourceError:
    return kind(f"{repair_text(str(path))} {came}; {remedy}.")


def check_size(path: Path, size: int, limit: float) -> None:
    """Raises `SourceError` for more than `limit` bytes, and for none."""
    if size > limit:
        came = f"holds {size / 1e6:,.1f} MB, and at most {limit / 1e6:,.1f} MB are read"
        raise cannot_read(path, came, "split it, or raise the limit")
    if not size:
        raise empty(path)


def empty(path: Path) -> SourceError:
    return cannot_read(path, "is empty: text was expected", "remove it, or write something into it")


def repair_text(text: str) -> str:
    r"""The text with `\n` line ends; lone surrogates and null characters become U+FFFD."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isascii() and "\0" not in text else _UNSTORABLE.sub("\ufffd", text)


def set_apart(raised: str, before: str, is_note: bool = False) -> str:
    """A number as 10^4, or in brackets if it is a note's; other text stays."""
    if not _NUMBER.fullmatch(raised) or not _CLOSER.match(before):
        return raised
    return f"[{raised}]" if is_note or before in _STOPS else f"^{raised}"


def as_title(text: str) -> str:
    """The text on one line of at most 300 characters."""
    return " ".join(repair_text(text[: 2 * _LONGEST_TITLE]).split())[:_LONGEST_TITLE].strip()


def title_from(path: Path) -> str:
    """A title made from a file's name: `annual_report.txt` gives "Annual report"."""
    spaced = repair_text(path.stem).replace("_", " ")
    title = " ".join(re.sub(r"(?<=[^\W\d])-(?=[^\W\d])", " ", spaced).split())
    return title[:1].upper() + title[1:] if title.islower() else title


# ---------------------------------------------------------------- headings

_MARKED = re.compile(r"\x02(\d)\x03\s*")
_LONGEST_HEADING = 200


def marked(level: int, words: str) -> str:
    """A heading's words after a mark of its level, by which `make_document` finds their offset."""
    return f"\x02{min(level, 9)}\x03{words}"


def marked_text(document: Document) -> str:
    """A document's text with marks, for a part of another document."""
    headings = [each for each in document.headings if document.text.startswith(each.words[:20], each.start)]
    places = [0, *(heading.start for heading in headings), len(document.text)]
    before, *parts = (document.text[start:end] for start, end in pairwise(places))
    return before + "".join(marked(each.level, part) for each, part in zip(headings, parts, strict=True))


def unmarked(text: str) -> str:
    return _MARKED.sub("", text)


def make_document(text: str, title: str, path: Path, pages: Sequence[int] = (), fields: Fields = ()) -> Document:
    """Builds the document of a text with marked headings; `pages` are offsets in that text, `fields` describe it.

    Without a title it is named after its file. Raises `SourceError` for a text without words.
    """
    if not unmarked(text).strip():
        raise empty(path)
    title = as_title(unmarked(title)) or title_from(path)
    marks, headings = list(_MARKED.finditer(text)), list[Heading]()
    gone = [0, *accumulate(len(mark[0]) for mark in marks)]  # characters of so many marks
    for mark, before in zip(marks, gone, strict=False):
        words = as_title(text[mark.end() : mark.end() + _LONGEST_HEADING].split("\n", 1)[0])
        if words and text[max(0, mark.start() - 1) : mark.start()] in ("", "\n"):
            headings.append(Heading(mark.start() - before, int(mark[1]), words))
    ends = [mark.end() for mark in marks]
    moved = tuple(start - gone[bisect_right(ends, start)] for start in pages)
    place, metadata = repair_text(str(path)), metadata_of(fields)
    return Document(unmarked(text), title, place, pages=moved, headings=tuple(headings), metadata=metadata)


def counted(number: int, name: str, what: str) -> list[str]:
    """A remark such as "2 images without text"; none for 0."""
    return [f"{number:,} {name}{'s' * (number != 1)} {what}"] if number else []


# ---------------------------------------------------------------- bytes to text


class Decoding(NamedTuple):
    text: str
    guess: str | None = None  # in words, how its encoding was guessed


def decode(data: bytes, path: Path, declared: str | None = None) -> Decoding:
    """Decodes by byte order mark, else as UTF-8, `declared` or, for lines that are not UTF-8, a guess.

    Raises `SourceError` for binary content and if nothing fits.
    """
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if marked is None and b"\0" in data:
        raise cannot_read(path, "holds null bytes: text was expected, not binary content", "save it as UTF-8 text")
    tried = [marked] if marked else ["utf-8", *([declared] if declared else [])]
    for name in tried:
        with suppress(UnicodeDecodeError, LookupError):
            return Decoding(repair_text(data.decode(name)))
    lines = data.split(b"\n")
    others = [line for line in lines if _utf8(line) is None]
    encoding = "utf-8" if not others else None if marked else _likeliest(b"\n".join(others[:_SAMPLE]))
    if encoding is None:
        came = f"cannot be decoded (tried {', '.join(tried)}): it is damaged, or in another encoding"
        raise cannot_read(path, came, "save it as UTF-8 text")
    is_mixed = len(others) < _NEARLY_ALL * sum(not line.isascii() for line in lines)
    texts = ((_utf8(line) if is_mixed else None) or line.decode(encoding, "replace") for line in lines)
    guess = f"{'partly ' * is_mixed}not UTF-8, read as {encoding}, a guess" if others else None
    return Decoding(repair_text("\n".join(texts)), guess)


def _utf8(line: bytes) -> str | None:
    # With at most one damaged byte in ten that are not ASCII; None for another encoding.
    text = line.decode("utf-8", "replace")
    return text if text.count("\ufffd") * 10 <= len(_NOT_ASCII.findall(text)) else None


def _likeliest(data: bytes) -> str | None:
    # The encoding in which the text is orderly and reads most like a language; None if it is orderly in none.
    from charset_normalizer import from_bytes

    matches = from_bytes(data, cp_isolation=_ENCODINGS)
    worths = {_WESTERN: _LEAST_WORTH}
    for match in matches:
        is_western = _WESTERN in match.could_be_from_charset
        name = _WESTERN if is_western else match.encoding
        worths[name] = max(worths.get(name, 0), identify(str(match))[1] - match.chaos + _USUAL * is_western)
    return max(worths, key=worths.__getitem__) if matches else None


@contextmanager
def open_regular(path: Path) -> Iterator[io.BufferedReader]:
    """Raises `OSError` for what is no regular file, without waiting for it."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | _NO_WAIT)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        yield file


def read_text(path: Path, limit: int) -> str:
    """Raises `SourceError` for a file without words or above `limit` bytes."""
    with open_regular(path) as file:
        check_size(path, os.fstat(file.fileno()).st_size, min(limit, MOST_OF_A_TEXT))
        text = decode(file.read(), path).text
    if not text.strip():
        raise empty(path)
    return text


def text_document(path: Path, limit: int) -> Document:
    """Underlined lines are headings, a level for each kind in order of appearance; numbered lines are below them."""
    levels = dict[str, int]()

    def heading(line: re.Match[str]) -> str:
        is_heading = abs(len(line[1]) - len(line[2])) < 4 or len(line[2]) >= _NARROWEST
        return marked(levels.setdefault(line[3], len(levels) + 1), "") if is_heading else line[0]

    chapter = 0

    def section(line: re.Match[str]) -> str:
        nonlocal chapter
        number, *below = line[1].split(".")
        if not below and int(number) != chapter + 1:  # an item of a list
            return line[0]
        chapter = int(number)
        return marked(len(levels) + len(below) + 1, "")

    title = "" if path.suffix.lower() in (".txt", ".text") else title_from(path.with_name(f"{path.name}.txt"))
    text = _UNDERLINED.sub(heading, reflow(read_text(path, limit)))
    if any("." in line[1] for line in _NUMBERED.finditer(text)):
        text = _NUMBERED.sub(section, text)
    return make_document(text, title, path)


def subtitles_document(path: Path, limit: int) -> Document:
    """The words in paragraphs; the time of each line is a heading, but not in the text."""
    text, headings = "", list[Heading]()
    for hours, minutes, seconds, lines in _CUE.findall(read_text(path, limit) + "\n"):
        words = html.unescape(" ".join(_CUE_MARK.sub("", lines).split()))
        if words and not text.endswith((f"{words} ", f"{words}\n\n")):  # some repeat the line before
            headings.append(Heading(len(text), 1, f"{int(hours or 0)}:{minutes}:{seconds}"))
            text += words + ("\n\n" if _ENDED.search(words) and len(text) - text.rfind("\n") > 4 * _WIDEST else " ")
    if not text:
        raise cannot_read(path, "holds no subtitles: lines such as 00:01:02.000 --> were expected", "rename it")
    return Document(text.rstrip(), title_from(path), repair_text(str(path)), headings=tuple(headings))


def code_document(path: Path, limit: int) -> Document:
    """Unchanged; the title is the file's name."""
    return Document(read_text(path, limit), as_title(path.name), repair_text(str(path)))


def csv_document(path: Path, limit: int) -> Document:
    return make_document(table_text(csv_rows(path, limit)), "", path)


def csv_rows(path: Path, limit: int) -> list[list[str]]:
    text = read_text(path, limit)
    first = text.lstrip().split("\n", 1)[0]
    try:
        return list(csv.reader(io.StringIO(text), delimiter=max(",;\t", key=first.count)))
    except csv.Error as error:
        raise cannot_read(path, f"is a damaged csv ({error})", "save it again as csv") from error


# ---------------------------------------------------------------- lines to paragraphs

_RULE = re.compile(r"\s*(?:([-=~^\"'`#*+.:_])\1{2,}|%+)\s*")
_ITEM = re.compile(r"\s*(?:[-*•·+–]|\(?\d{1,3}[.)]|<\d{1,3}>)\s+(?=\S)")
# Of an item where several lines have it, and none beside them is without.
_SIGN = re.compile(r"\s*(?:[o?]|\d+(?:\.\d+)+\.?)\s+(?=\S)")
_SIGN_OR_ITEM = re.compile(f"{_SIGN.pattern}|{_ITEM.pattern}")
# Words and the line under them, but no columns, code or sentence.
_UNDERLINED = re.compile(
    r"(?m)(?<![^\n]\n)^ *+(?=(.{1,120})\n *(([=~-])\3{2,})$)(?![-$>*<#]|.*(?:\S {3,}\S|\||[.,;]$)|[^\w\n]*$)"
)
_NUMBERED = re.compile(  # a line alone, such as "5.2. Appointment"; the last line of a list of contents stays
    r"(?m)(?<![^\n]\n)^ *+(?=(\d{1,2}(?:\.\d{1,3})*)\.? +[A-Z][^\n]{1,78}[^\s.,;:]\n\n(?!\s*(?!\1\.)\d+\.\d))"
)
_OPTION = re.compile(r"\s*--?[A-Za-z?]")
_ROW = re.compile(r"\s*(?:[|>]|\$\s|\+--)")
_SPEAKER = re.compile(r"\s{4,}--\s")  # of a quotation
# Lines whose ends say something: rows of columns (a stop may stand before a wide gap in justified text), exports of a
# shell, quoted or drawn lines; settings below settings; and code, which is a whole chunk, or one of which this share of
# lines ends as code does.
_COLUMNS = re.compile(r"(?:[^\s.!?:] {3,}|\S {5,})\S|^\W*\\$|^export \w+=")
_SETTING = re.compile(r"\s*[A-Za-z_]\w*=\S")
_CODE, _MOST = re.compile(r"[{}]$|[)}\]='\"];$"), 0.4
_ENDED = re.compile(r"[.!?:;,…。！？](?:[\"'”’»)\]]*)$")
# Text is wrapped if its longest line has at most so many characters; a line continues if it is this share of the
# longest, or of the narrowest column.
_WIDEST, _NARROWEST, _FULL = 120, 60, 0.7


def reflow(text: str) -> str:
    """Joins wrapped lines and divided words, and separates headings, items, options and underlines by blank lines.

    Removes soft hyphens; otherwise changes only white space.
    """
    text = text.replace("\u00ad\n", "").replace("\u00ad", "")
    words = {match[0].casefold() for match in _WORDS.finditer(text)} if _DIVIDED_WORD.search(text) else set[str]()
    is_compound = partial(_keeps_hyphen, words)
    chunks = re.split(r"(\n(?:[^\S\n]*\n)+)", text)
    return "".join(_reflow_chunk(chunk, is_compound) if chunk.strip() else chunk for chunk in chunks)


def _reflow_chunk(chunk: str, is_compound: IsCompound) -> str:
    lines = [line.rstrip() for line in chunk.expandtabs().split("\n")]
    longest = max(map(len, lines))
    signs = [_indent(line) for line in lines if _SIGN.match(line)]
    is_list = len(signs) > 1 and {_indent(line) for line in lines if not _SIGN.match(line)}.isdisjoint(signs)
    item = _SIGN_OR_ITEM if is_list else _ITEM
    leads = [lead.end() if (lead := item.match(line)) else _indent(line) for line in lines]
    fixed = [_COLUMNS.search(line[lead:]) is not None for line, lead in zip(lines, leads, strict=True)]
    share = sum(is_row or line.endswith(";") for is_row, line in zip(fixed, lines, strict=True)) / len(lines)
    is_code = share >= _MOST or longest > _WIDEST or chunk.count("\\\n") > 1 or any(map(_CODE.search, lines))
    parts, is_first = [lines[0]], True
    for n, (before, after) in enumerate(pairwise(lines)):
        is_fixed = is_code or fixed[n] or fixed[n + 1] or (_SETTING.match(before) and _SETTING.match(after))
        full = _WIDEST * longest if is_fixed else _FULL * max(longest, _NARROWEST)
        joiner = _joiner(before, after, item, full, longest, is_first)
        is_first = joiner == "\n\n"
        if joiner == " ":
            after = after.lstrip()
            parts[-1], joiner = continue_line(parts[-1], after, is_compound), ""
        parts += [joiner, after]
    return "".join(parts)


def _joiner(before: str, after: str, item: re.Pattern[str], full: float, longest: int, is_first: bool) -> str:
    """`full` is the length from which a line runs on; `is_first`: the line before begins its block."""
    if not before or not after or _RULE.fullmatch(after):
        return "\n\n" if after.endswith("%") else "\n"  # that separates, and underlines nothing
    if _RULE.fullmatch(before) or item.match(after):
        return "\n\n"
    indent, deeper = _indent(before), _indent(after) - _indent(before)
    if _ROW.match(before) or _ROW.match(after) or before.endswith("\\") or (deeper > 0 and _SPEAKER.match(after)):
        return "\n"
    if _OPTION.match(after) and (deeper < 0 or (deeper == 0 and _OPTION.match(before))):
        return "\n\n"
    is_title = is_first and not _ENDED.search(before.rstrip("?")) and after.lstrip()[:1].isupper()
    would_fit = is_title and deeper > 0 and len(before) + len(after.split()[0]) < longest
    runs_on = len(before) >= full and not would_fit
    if (lead := item.match(before)) and indent + deeper == lead.end():
        return " "
    if deeper and not (runs_on and (is_first or deeper > 0) and not before.endswith(":")):
        return "\n\n" if full <= _WIDEST else "\n"
    if runs_on:
        return " "
    return "\n\n" if is_title and before[-1] != "?" and len(after) >= full else "\n"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


# ---------------------------------------------------------------- divided words

_HYPHEN_AT_END = re.compile(r"[\u2010-]$")
# Begins at a word's first letter only: a search from each letter of a long word would take quadratic time.
_WORD_AT_END = re.compile(r"(?<![^\W\d_])[^\W\d_]+$")
_WORD_AT_START = re.compile(r"[^\W\d_]+")
_DIVIDED_WORD = re.compile(r"[^\W\d_][\u2010-][^\S\n]*\n")
_WORDS = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:-[^\W\d_]+)?")
_LINKS = frozenset("and or to und oder bis et ou".split())  # as in "short- and long-term"


IsCompound = Callable[[str, str], bool]
"""Whether the hyphen between two parts belongs to the word, as in well-known or Anglo-Saxon."""


def continue_line(before: str, after: str, is_compound: IsCompound) -> str:
    """A line and its joint to the next one: a space, nothing, or a compound's hyphen."""
    head = _HYPHEN_AT_END.sub("", before)
    first, second = _WORD_AT_END.search(head), _WORD_AT_START.match(after)
    if head == before or head[-1:] in ("", " ", "-") or (second and second[0] in _LINKS):
        return before + ("" if UNSPACED.search(before[-2:]) and UNSPACED.match(after) else " ")
    return head if first and second and not is_compound(first[0], second[0]) else f"{head}-"


def _keeps_hyphen(words: Set[str], first: str, second: str) -> bool:
    # People wrap a text at its hyphens, so one goes only if a word of the text, or a usual one, is left.
    whole = f"{first}{second}".casefold()
    if len(first) == 1 or second[0].isupper() or f"{first}-{second}".casefold() in words:
        return True
    return whole not in words and not is_known(whole)


def is_known(word: str) -> bool:
    """Whether it is a usual word of the language."""
    return rarity(stem(word)) < rarity("")
