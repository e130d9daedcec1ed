"""The prose of Markdown, by markdown-it-py: footnotes, links, `[@key]` and numbers are its citations.

Blocks of HTML are read as HTML. Mathematics in a sentence stays as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from toulmin.prose.blocks import Prose, Writer, is_list_of_references, keys_in, numbered_entries
from toulmin.prose.html import Page

# They contain no sentence of the author's.
_OTHERS = frozenset(("blockquote", "table", "heading", "footnote_block"))
# A key, or a reference to a missing footnote; "[^a-z]" is neither.
_CITATION = re.compile(r"\s?\[(?:([^\[\]]*@[^\[\]]*)|\^(?!(?:\w-\w)+\])[\w.:-]+)\]")
_NUMBER = re.compile(r"\d{1,3}")
_MARK = re.compile(r"\[\d{1,3}\](?:\[\d{1,3}\])?")  # a link may have joined two
_MATH = ("math_inline", "math_inline_double")


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table").use(footnote_plugin).use(front_matter_plugin)
    # Pandoc's rules to distinguish mathematics from prices.
    rules = {"allow_space": False, "allow_digits": False, "allow_blank_lines": False, "double_inline": True}
    parser.use(dollarmath_plugin, **rules).use(tasklists_plugin)
    parser.use(container_plugin, "note", validate=lambda *_: True)  # `::: warning`, of whatever name
    # A joined text would hide its escaped characters and their places.
    return parser.disable("text_join")


def read(source: str) -> Prose:
    env: dict[str, Any] = {}
    tokens = _parser().parse(source, env)
    numbers = {n: each["href"] for n, each in env.get("references", {}).items() if _NUMBER.fullmatch(n)}
    lines = [0, *(match.end() for match in re.finditer("\n", source)), len(source) + 1]
    notes, writer, others, is_item, is_list = dict(_notes(tokens)), Writer(source), 0, False, False
    page = Page(source, writer)
    for n, token in enumerate(tokens):
        name = token.type.removesuffix("_open").removesuffix("_close")
        if name in _OTHERS:
            others += token.nesting
            if token.type == "heading_open":
                is_list = is_list_of_references(tokens[n + 1].content)
        elif name == "list_item":
            is_item = token.nesting > 0
        elif token.type == "html_block" and token.map and not others:
            page.read(lines[token.map[0]], min(lines[token.map[1]], len(source)))
        elif token.type == "inline" and token.map and not (others or is_list) and not _is_label(token.children or ()):
            start, end = lines[token.map[0]], min(lines[token.map[1]], len(source))
            if is_item:
                writer.write("- ", start)
            is_item = False
            children = list(_with_numbers(token.children or (), set(numbers.values())))
            _write(children, source, start, end, notes, writer)
            writer.end_block(end)
    return writer.prose({int(n): address for n, address in numbers.items()} | numbered_entries(source))


def _notes(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """The words of each footnote with its links, by number."""
    number = None
    for token in tokens:
        if token.type == "footnote_open":
            number = token.meta["id"]
        elif token.type == "inline" and number is not None:
            links = [str(child.attrs["href"]) for child in token.children or () if child.type == "link_open"]
            yield number, " ".join([token.content, *links])
        elif token.type == "footnote_close":
            number = None


def _is_label(children: Sequence[Token]) -> bool:
    """Whether a paragraph is only mathematics, or bold without being a sentence: a heading in all but name."""
    filled = [child for child in children if child.type != "text" or child.content]
    plain = [child for child in filled if child.type not in _MATH]
    if len(plain) < len(filled) and not any(re.search(r"\w", child.content) for child in plain):
        return True
    opened = [n for n, child in enumerate(filled) if child.type == "strong_open"]
    is_sentence = any(child.content.rstrip().endswith((".", "!", "?")) for child in filled[-2:-1])
    return opened == [0] and filled[-1].type == "strong_close" and not is_sentence


def _with_numbers(children: Sequence[Token], addresses: Set[str]) -> Iterator[Token]:
    """A link `[2]` to a numbered address (`[2]: notes.md`) becomes one token `number`: it is a mark."""
    coming = iter(enumerate(children))
    for n, child in coming:
        text = children[n + 1] if child.type == "link_open" and child.attrs["href"] in addresses else child
        if text is not child and _NUMBER.fullmatch(text.content) and children[n + 2].type == "link_close":
            yield Token("number", "", 0, content=text.content)
            next(coming), next(coming)
        else:
            yield child


def _write(
    children: Sequence[Token], source: str, start: int, end: int, notes: Mapping[int, str], writer: Writer
) -> None:
    """Finds the words of a paragraph in the source, one after another from `start`."""
    offset, link = start, (0, "")
    for child in children:
        if child.type == "link_open":
            link = writer.position, str(child.attrs["href"])
        elif child.type == "link_close":
            writer.point(link[0], link[1], is_citation=False)
        elif child.type == "footnote_ref":
            writer.point(writer.position, notes.get(child.meta["id"], ""), is_citation=True)
        elif child.type == "number" and (mark := _MARK.search(source, offset, end)):
            writer.write(mark[0], mark.start())
            offset = mark.end()
        elif child.type in ("softbreak", "hardbreak"):
            offset = source.find("\n", offset, end) if "\n" in source[offset:end] else offset
            writer.write(" ", offset)
        elif child.type in ("text", "text_special", "code_inline", "math_inline") and child.content:
            words = child.markup if child.type == "text_special" else child.content
            place = source.find(words, offset, end)
            offset = place if place >= 0 else offset
            _write_text(child, offset, writer)
            offset += len(words) if place >= 0 else 0
        elif child.type == "html_inline":
            offset = max(offset, source.find(child.content, offset, end))
            if child.content.startswith("<!--"):  # a token is one tag or one comment
                writer.comment(child.content[4:].removesuffix("-->"))


def _write_text(child: Token, offset: int, writer: Writer) -> None:
    """Writes the text without `[@key]` and `[^lost]`, which become pointers."""
    begun = 0
    for citation in _CITATION.finditer(child.content) if child.type == "text" else ():
        if targets := [f"@{key}" for key in keys_in(citation[1])] if citation[1] else [citation[0].strip()]:
            writer.write(child.content[begun : citation.start()], offset + begun)
            for target in targets:
                writer.point(writer.position, target, is_citation=True)
            begun = citation.end()
    writer.write(child.content[begun:], offset + begun)
