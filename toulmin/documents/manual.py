"""Manual pages in roff, with the macros of man and mdoc: paragraphs, and a block for each option after its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from toulmin.data import Document
from toulmin.documents.plain import cannot_read, make_document, marked, read_text, repair_text

_MANUAL = re.compile(r"(?m)^[.'][^\S\n]*(?:TH|SH|Dt|Sh)\b")
_TITLE = re.compile(r"(?m)^[.'][^\S\n]*(?:TH|Dt)[^\S\n]+\"?([^\s\"]+)\"?[^\S\n]+\"?(\d\w*)")
_DEFINITION = re.compile(r"(?ms)^[.'][^\S\n]*(?:de|ig)\b.*?(?:^\.\.[^\S\n]*$|\Z)|(?<![\\{])\\\n")
_STRING = re.compile(r"(?m)^[.'][^\S\n]*ds[^\S\n]+((?!--)\S{1,20})[^\S\n]+\"?(.{1,30})$")
_STRING_USE = re.compile(r"\\\*(?:\((..)|\[([^\[\]]*)\]|(.))")
_NAME = re.compile(r"(?m)^\.Nm[^\S\n]+(\w\S*)")
_NAMELESS = re.compile(r"(?m)^\.Nm(?=[^\S\n]*$|[^\S\n]+\W)")
_OVER_LINES = re.compile(r"(?ms)^(?>(\.It [^\n]*?)\bXo\b)((?:(?!\n\.(?:It|Xc)\b).)*+)\n\.Xc\b")
_REQUEST = re.compile(r"[.'][^\S\n]*([A-Za-z]{1,3}|\\\")?[^\S\n]*(.*)")
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)(?:"|$)|((?:\\.|\S)+)')
_PAIRS = Path(__file__).with_name("roff.txt").read_text("utf-8").split()  # names as in groff_char(7), and their signs
_SIGNS = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True)) | dict.fromkeys(" ~0", " ")
_ESCAPE = re.compile(
    r"\\(?:f(?:\(..|\[[^\[\]]*\]|.)|s[+-]?\d{1,2}|[mM]\[[^\[\]]*\]|[hvwD]'[^'\\]*'|\[u([0-9A-F]{4,6})\]"
    r"|(?:\[char|N')(\d{1,3})[\]']|(\*?\(..|\*?\[[^\[\]]*\]|\*.|\".*|.))"
)
_UNPRINTED = re.compile(r"[A-Za-z&)/,%:|^!?{}*\"]")
_HEADINGS = {"SH": 1, "SS": 2, "Sh": 1, "Ss": 2}
_BREAKS = {"PP", "P", "LP", "HP", "Pp", "sp", "RS", "RE", "br", "Bl", "El", "Bd", "Ed"}
_TERMS, _LITERAL, _FILLED = {"TP", "TQ"}, {"nf", "EX", "Vb"}, {"fi", "EE", "Ve"}
_FONTS, _MIXED = {"B", "I", "SM", "SB"}, {"BI", "BR", "IB", "IR", "RB", "RI"}
_SILENT = {"TH", "Dd", "Dt", "Os", "IX", "PD", "UE", "ME"}
_INLINE = set(
    "Nm Fl Ar Op Xr Em Sy Dq Sq Pq Qq Pa Cm Li Va Ev Nd Ic Dv Fn Ql Tn Ux Bx No Ns Ap Oo Oc Lk Mt Fa Ft Vt Er".split()
)


def manual_document(path: Path, limit: int) -> Document:
    """The title is the page's name and section, as in "ls(1)"."""
    source = read_text(path, limit)
    if not _MANUAL.search(source):
        raise cannot_read(path, "is no manual page: lines such as .TH or .SH were expected", "rename it")
    source = _DEFINITION.sub("", source)
    strings = dict(reversed(_STRING.findall(source)))  # the first definition is that of a terminal
    source = _STRING_USE.sub(lambda use: strings.get(use[use.lastindex or 0], use[0]), source)
    if name := _NAME.search(source):  # what describes itself leaves its name out
        source = _NAMELESS.sub(lambda line: f".Nm {name[1]}", source)
    source = _OVER_LINES.sub(lambda term: f"{term[1]}{term[2]}".replace("\n.", " "), source)
    text = repair_text("\n\n".join(block for block in map(str.strip, _blocks(source.split("\n"))) if block))
    title = _TITLE.search(source)
    return make_document(text, f"{title[1].lower()}({title[2]})" if title else "", path)


def _blocks(lines: list[str]) -> Iterator[str]:
    block, term, is_literal, is_term_next = "", "", False, False
    for line in lines:
        request = _REQUEST.fullmatch(line) if line[:1] in (".", "'") else None
        name, rest = (request[1] or "", request[2]) if request else ("", line)
        words = _words(name, rest) if request else _plain(line)
        if words is None or not (words or request):
            yield block
            block = ""
            is_term_next = name in _TERMS
            is_literal = (is_literal or name in _LITERAL) and name not in _FILLED
            term = term if name == "TQ" else ""
            if name in _HEADINGS:
                yield marked(_HEADINGS[name], " ".join(_arguments(rest)))
            elif name == "IP":
                term = (_arguments(rest) or [""])[0]
            elif name == "It":
                term = _inline(_arguments(rest))
        elif is_term_next and words:
            term, is_term_next = f"{term}, {words}".removeprefix(", "), False
        elif words:
            lead = f"{term} " if term in ("•", "-", "*") or re.fullmatch(r"\(?\d+[.)]", term) else f"{term}: "
            before = f"{block}{chr(10) if is_literal else ' '}" if block else lead if term else ""
            block, term = before + words.strip() if not is_literal else before + words, ""
    yield block


def _words(name: str, rest: str) -> str | None:
    """The words that a request prints on its line; None if it ends a block, "" if it prints nothing."""
    if name in _FONTS:
        return " ".join(_arguments(rest))
    if name in _MIXED:
        return "".join(_arguments(rest))
    if name in _INLINE:
        return _inline([name, *_arguments(rest)])
    if name in _HEADINGS.keys() | _BREAKS | _TERMS | _LITERAL | _FILLED | {"IP", "It"}:
        return None
    return "" if not name[:1].isupper() or name in _SILENT else " ".join(_arguments(rest))  # a macro of the page's own


def _arguments(rest: str) -> list[str]:
    return [_plain(quoted.replace('""', '"') or bare) for quoted, bare in _ARGUMENT.findall(rest)]


def _inline(words: list[str]) -> str:
    text, closing, prefix = "", "", ""
    for word in words:
        if word == "Op":
            text, prefix, closing = text + closing, "[", "]"
        elif word == "Fl":
            prefix += "-"
        elif word == "Nd":
            prefix = "– "
        elif word not in _INLINE:
            text += ("" if not text or word in list(".,;:)") else " ") + prefix + word
            prefix = ""
    return text + closing


def _plain(text: str) -> str:
    return _ESCAPE.sub(_sign, text)


def _sign(escape: re.Match[str]) -> str:
    """The sign; a name that is not known stays as it is written."""
    if escape[1] or escape[2]:
        return chr(min(int(escape[1], 16), 0x10FFFF) if escape[1] else int(escape[2]))
    name = (escape[3] or "").replace("[", "(", 1).removesuffix("]")
    return _SIGNS.get(name, "" if not name or _UNPRINTED.match(name) else escape[0] if name[0] == "(" else name)
