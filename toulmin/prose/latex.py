"""The prose of LaTeX: the body's text; footnotes, cited keys and links are its citations.

Reads token by token without a tree, so depth costs nothing and an unmatched brace loses little. pylatexenc supplies the
characters of macros.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from pylatexenc.latex2text import LatexNodes2Text  # type: ignore[import-untyped]

from toulmin.prose.blocks import Prose, Writer, is_list_of_references, numbered_entries

_TOKEN = re.compile(
    r"%(?P<comment>[^\n]*+)(?:\n[^\S\n]*+(?=\S))?"
    r"|(?P<accent>\\(?:[`'^\"~=.]|[Hcdkruv](?![a-zA-Z]))[^\S\n]*+(?:\{\\?[a-zA-Z]?\}|\\[ij](?![a-zA-Z])|[a-zA-Z]))"
    r"|\\(?P<macro>[a-zA-Z@]++\*?|.)"
    r"|\$\$(?P<display>(?:[^$\\]++|\\.)*+)\$\$|\$(?P<math>(?:[^$\\]++|\\.)++)\$"
    r"|(?P<space>\s++)|(?P<sign>---?|``|''|[`~]|[!?]`)|(?P<bracket>[{}\[\]])"
    r"|[^\\%$\s{}\[\]`'~!?-]++(?:[ ][^\\%$\s{}\[\]`'~!?-]++)*+|.",
    re.DOTALL,
)
_SIGNS = {"---": "—", "--": "–", "``": "“", "''": "”", "`": "‘", "~": " ", "!`": "¡", "?`": "¿"}
_NAMES = {"LaTeX": "LaTeX", "TeX": "TeX", "BibTeX": "BibTeX", "S": "§", "P": "¶", "copyright": "©", "%": "%"} | {
    "pounds": "£", "euro": "€", "slash": "/", "-": "", "today": "", "newline": " ", "linebreak": " "
}  # fmt: skip
# Macros whose arguments are no words: all of them, or so many of the first.
_GONE = frozenset(
    "addbibresource addtocounter author autoref backmatter bibliography bibliographystyle color cref Cref date def"
    " definecolor documentclass eqref fontsize footnotemark footnotetext frontmatter geometry graphicspath hspace"
    " hypersetup include includegraphics index input label linespread lstset let nameref newcommand newcounter"
    " newenvironment newlength newtheorem nocite nocitep pagenumbering pageref pagestyle printbibliography"
    " providecommand ref renewcommand RequirePackage rule selectlanguage setcounter setlength thanks thispagestyle"
    " title usepackage vref vspace".split()
)
_SECTIONS = frozenset("part chapter section subsection subsubsection paragraph subparagraph".split())
_FIRST_GONE = {
    **dict.fromkeys("textcolor colorbox parbox raisebox rotatebox scalebox foreignlanguage hyperlink".split(), 1),
    **dict.fromkeys(("fcolorbox", "resizebox"), 2),
}
_ALL = 99
_CITES = re.compile(r"[a-zA-Z]*[Cc]ite(?!style|text|alias)[a-z]*")
_NOTES, _ADDRESSES = frozenset(("footnote", "endnote", "sidenote")), frozenset(("url", "nolinkurl", "path", "href"))
_SPECIAL = _NOTES | _ADDRESSES | frozenset("enquote verb lstinline ( [ ]".split())
_SEEN_ANYWHERE = frozenset("begin end verb lstinline ]".split())  # read also in left-out text, to find its end
_LONGEST_MATH = 2000
_RAW = frozenset("verbatim Verbatim lstlisting minted comment alltt filecontents".split())
_MATH = frozenset("math displaymath equation eqnarray align gather flalign multline alignat split".split())
_OTHERS = _MATH | frozenset(
    "quote quotation displayquote verse tabular tabularx longtable array tikzpicture picture algorithm algorithmic"
    " titlepage".split()
)
_OPTION = r"(?:\[(?:[^\[\]{}]|\{[^{}]*+\})*+\]\s*)"
_KEYS = re.compile(rf"\s*{_OPTION}*+\{{([^{{}}]*+)\}}")
_ADDRESS = re.compile(r"\s*(?:\[[^\[\]{}]{0,300}+\])?\s*\{((?:[^{}\\]|\\.)*+)\}")
_VERBATIM = re.compile(r"(?:\[[^\]\n]{0,200}\])?([^\sa-zA-Z*{\[])(.{0,1000}?)\1")
_NAME = re.compile(r"\s*\{([^{}\n]{1,80})\}")
_DEFINITION = re.compile(
    r"\\(?:(?:re|provide)?newcommand\*?|def)\s*\{?\\([a-zA-Z]+)\}?\s*\{([^{}\\#]{1,200})(?:\\xspace)?\}"
)
_OPENING = re.compile(r"\s*(?:\[[^\[\]{}]{0,300}+\])?\s*\{")
_BLANK = re.compile(r"\n[^\S\n]*\n")


class _Frame(NamedTuple):
    """An open group, option, or named environment."""

    closer: str
    is_left_out: bool = False
    arguments: int | None = None  # of the macro that still follow
    note: list[str] | None = None  # the words of a footnote
    link: tuple[int, str] | None = None
    ending: str = ""  # text for its end


def read(source: str) -> Prose:
    reader, position = _Reader(source), source.find(r"\begin{document}")
    if position > 0:
        for comment in re.finditer(r"(?m)^[^\S\n]*%(.*)$", source[:position]):
            reader.comment(comment[1])
    position = max(position, 0)
    while token := _TOKEN.match(source, position):
        position = reader.take(token)
    return reader.prose()


@lru_cache(maxsize=1)
def _converter() -> LatexNodes2Text:
    return LatexNodes2Text()


@lru_cache(maxsize=1000)
def _character(accent: str) -> str:
    r"""The letter with its accent: `\'{e}` is é."""
    return accent[1] if accent.endswith("{}") else str(_converter().latex_to_text(accent)).strip()


@lru_cache(maxsize=1000)
def _symbol(name: str) -> str | None:
    """The characters of a macro without arguments, if known."""
    if name in _NAMES:
        return _NAMES[name]
    known = _converter().latex_context.get_macro_spec(name)
    text = known.simplify_repl if known else None
    return text if isinstance(text, str) and text and "%" not in text else None


class _Reader:
    def __init__(self, source: str) -> None:
        self._source, self._writer = source, Writer(source)
        self._definitions = {match[1]: match[2] for match in _DEFINITION.finditer(source)}
        self._frames, self._environments, self._left_out = list[_Frame](), Counter[str](), 0
        self._arguments: int | None = None  # of the last macro: how many groups are left out, none where none follow
        self._is_fresh = False  # nothing stands between it and here
        self._space: int | None = None  # where white space stands that waits for a word
        self._begun = 0
        self._sinks: list[list[str]] = []  # where words go that are no prose
        self._entries: dict[str, list[str]] = {}
        self._is_references, self._lines = False, list[str]()
        self._item, self._items = "", 0
        self._ending = ""  # of the group that follows

    def comment(self, words: str) -> None:
        self._writer.comment(words.lstrip("%"))

    def take(self, token: re.Match[str]) -> int:
        """Reads a token and returns the offset of the next."""
        start, end = token.span()
        if token["comment"] is not None:
            self.comment(token["comment"])
        elif token["macro"]:
            return self._take_macro(token["macro"].rstrip("*") or "*", start, end)
        elif token["bracket"]:
            self._take_bracket(token["bracket"], start)
        elif token["space"]:
            if _BLANK.search(token["space"]):
                self._end_block(start)
            elif not (self._is_fresh and self._arguments is not None):
                self._put(" ", start)
                self._arguments = None
        else:
            self._arguments = None
            return self._take_text(token, start, end)
        return end

    def _take_text(self, token: re.Match[str], start: int, end: int) -> int:
        if token["display"] is not None:
            self._put(" ", start)
        elif token["math"] and _BLANK.search(token["math"]):
            self._put("$", start)  # a sign of money
            return start + 1
        elif token["math"]:
            self._put(token["math"].replace("\n", " "), start + 1)
        elif token["accent"]:
            self._put(_character(token["accent"]), start)
        else:
            self._put(_SIGNS.get(token[0], token[0]), start)
        return end

    def _take_bracket(self, bracket: str, start: int) -> None:
        arguments, self._arguments = self._arguments, None
        if bracket == "{":
            self._push(_Frame("}", bool(arguments), arguments - 1 if arguments else None, ending=self._ending))
            self._ending = ""
        elif bracket == "[" and arguments is not None and self._source[start - 1] not in " \t\n":
            self._push(_Frame("]", True, arguments))
        elif bracket == "}":
            while self._frames and self._frames[-1].closer == "]":
                self._pop(start)
            if self._frames and self._frames[-1].closer == "}":
                self._pop(start)
                if self._source[start + 1 : start + 2] == "{":  # two arguments are two words
                    self._put(" ", start)
        elif bracket == "]" and self._frames and self._frames[-1].closer == "]":
            self._pop(start)
        else:
            self._put(bracket, start)

    def _take_macro(self, name: str, start: int, end: int) -> int:
        self._arguments, self._is_fresh, self._ending = None, True, ""
        if self._left_out and name not in _SEEN_ANYWHERE:
            return end
        if name in ("begin", "end"):
            return self._take_environment(name, start, end)
        if name in self._definitions:
            self._put(self._definitions[name], start)
        elif name in _GONE or name in _SECTIONS:
            if name in _SECTIONS:
                self._begin_section(start, end)
            self._arguments, self._is_fresh = _ALL, True
        elif name in ("item", "par", "caption", "bibitem"):
            self._end_block(start)
            self._arguments = 0
            return self._begin_item(name, end)
        elif _CITES.fullmatch(name):
            return self._cite(name, start, end)
        elif name in _SPECIAL:
            return self._take_special(name, start, end)
        elif (text := _symbol(name)) is not None:
            self._put(text, start)
            self._arguments = 0 if name[0].isalpha() or name == "\\" else None
        else:
            self._arguments = _FIRST_GONE.get(name, 0)
        return end

    def _take_environment(self, macro: str, start: int, end: int) -> int:
        match = _NAME.match(self._source, end)
        if match is None:
            return end
        name, end = match[1].strip(), match.end()
        kind = name.rstrip("*")
        if kind in _RAW and macro == "begin":
            closing = self._source.find(f"\\end{{{name}}}", end)
            self._end_block(start)
            return len(self._source) if closing < 0 else closing
        if kind in _MATH:
            self._put(" ", start)
        else:
            self._end_block(start)
        closer = f"\\end{{{name}}}"
        if macro == "begin":
            self._environments[closer] += 1
            self._push(_Frame(closer, kind in _OTHERS, note=[] if kind == "thebibliography" else None))
            self._arguments, self._is_fresh = _ALL, False
        elif name == "document":
            return len(self._source)
        while self._environments[closer] and macro == "end" and self._pop(start) != closer:
            pass
        return end

    def _begin_section(self, start: int, end: int) -> None:
        while self._sinks and self._frames[-1].closer in ("}", "]"):  # a note without its end
            self._pop(start)
        self._end_block(start)
        title = _ADDRESS.match(self._source, end)
        is_list = title is not None and is_list_of_references(" ".join(title[1].split()))
        self._is_references, self._items = is_list, 0

    def _begin_item(self, name: str, end: int) -> int:
        key = _KEYS.match(self._source, end) if name == "bibitem" else None
        if key and self._sinks:
            self._sinks[-1] = self._entries[key[1].strip()] = []
        elif name == "item":
            self._items += 1
            if self._sink is None:
                self._item = "- "
            else:
                self._sink.append(f"{self._items}. ")
        return key.end() if key else end

    def _cite(self, name: str, start: int, end: int) -> int:
        """Cited keys leave no words, and no space before them."""
        self._space = None
        while match := _KEYS.match(self._source, end):
            for key in match[1].split(","):
                self._writer.point(self._writer.position, f"@{key.strip()}" if key.strip() else "", is_citation=True)
            end = match.end()
            if not name.endswith("cites"):
                return end
        self._arguments = _ALL
        return end

    def _take_special(self, name: str, start: int, end: int) -> int:
        """Reads macros with addresses, notes, code or mathematics."""
        if name == "[":
            self._put(" ", start)
            self._push(_Frame("\\]", True))
        elif name == "]" and self._frames and self._frames[-1].closer == "\\]":
            self._pop(start)
        elif name == "(" and (closing := self._source.find(r"\)", end, end + _LONGEST_MATH)) >= 0:
            self._put(self._source[end:closing].replace("\n", " "), end)
            return closing + 2
        elif name in ("verb", "lstinline") and (code := _VERBATIM.match(self._source, end)):
            self._put(code[2].replace("\n", " "), code.start(2))
            return code.end()
        elif name == "enquote":
            self._put("“", start)
            self._arguments, self._ending = 0, "”"
        elif name in _NOTES and (opening := _OPENING.match(self._source, end)):
            self._push(_Frame("}", note=[]))
            return opening.end()
        elif name in _ADDRESSES and (address := _ADDRESS.match(self._source, end)):
            return self._take_address(name, address)
        return end

    def _take_address(self, name: str, match: re.Match[str]) -> int:
        address = re.sub(r"\\([%_#&~{}])", r"\1", match[1])
        if name != "href":
            begun = self._put(address, match.start(1))
            if self._sink is None:
                self._point(begun, address)
        elif opening := _OPENING.match(self._source, match.end()):
            self._push(_Frame("}", link=(self._put("", match.start()), address)))
            return opening.end()
        return match.end()

    @property
    def _sink(self) -> list[str] | None:
        """Where words go that are no prose: those of a note, or of an entry of a list of references."""
        return self._sinks[-1] if self._sinks else self._lines if self._is_references else None

    def _point(self, begun: int, address: str) -> None:
        if self._sink is not None:
            self._sink.append(f" {address} ")
        else:
            self._writer.point(max(begun, self._begun), address, is_citation=False)

    def _put(self, text: str, offset: int) -> int:
        """Writes text after any waiting space; returns where it begins in the prose."""
        if self._left_out:
            pass
        elif self._sink is not None:
            self._sink.append(text)
        elif text.isspace():
            self._space = offset if self._space is None else self._space
        else:
            if self._writer.position == self._begun:
                self._writer.write(self._item, offset)
            elif self._space is not None:
                self._writer.write(" ", self._space)
            self._item, self._space, begun = "", None, self._writer.position
            self._writer.write(text, offset)
            return begun
        return self._writer.position

    def _push(self, frame: _Frame) -> None:
        self._frames.append(frame)
        self._left_out += frame.is_left_out
        self._sinks += [frame.note] if frame.note is not None else []

    def _pop(self, offset: int) -> str:
        frame = self._frames.pop()
        self._left_out -= frame.is_left_out
        self._arguments, self._is_fresh = frame.arguments, False
        self._environments[frame.closer] -= frame.closer in self._environments
        if frame.note is not None:
            words = "".join(self._sinks.pop())
            if frame.closer == "}" and self._sink is None:
                self._writer.point(self._writer.position, words, is_citation=True)
        if frame.link:
            self._point(*frame.link)
        if frame.ending:
            self._put(frame.ending, offset)
        return frame.closer

    def _end_block(self, offset: int) -> None:
        while self._frames and self._frames[-1].closer == "]":
            self._pop(offset)
        if self._sink is not None:
            self._sink.append("\n")
        else:
            self._writer.end_block(offset)
            self._space, self._begun, self._item = None, self._writer.position, ""

    def prose(self) -> Prose:
        self._sinks, self._is_references = [], False
        self._end_block(len(self._source))
        listed = {key: " ".join("".join(words).split()) for key, words in self._entries.items()}
        lines = [" ".join(line.split()) for line in "".join(["References\n", *self._lines]).splitlines()]
        prose = self._writer.prose(numbered_entries("\n".join(lines)) | dict(enumerate(listed.values(), 1)))
        pointers = (p._replace(target=listed.get(p.target.removeprefix("@")) or p.target) for p in prose.pointers)
        return replace(prose, pointers=tuple(pointers))
