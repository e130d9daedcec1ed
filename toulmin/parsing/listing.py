"""Questions and planned paragraphs, in the many forms in which models list them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from toulmin.parsing.abstaining import is_abstention
from toulmin.parsing.lines import Item, Line, list_items, read_items, read_lines, without_emphasis
from toulmin.parsing.marks import lift
from toulmin.parsing.replying import is_courtesy, without_quotes
from toulmin.text.language import sentences

# ---------------------------------------------------------------- questions

_ASKS = re.compile(r"[?？؟]")
_STOPPED = re.compile(r"[.!:。！：][\"”»)*_\s]*$")
_NUMBER = re.compile(r"[#(]?(?:\d{1,3}\s?[.):]|[a-hA-H]\))\s+")
_LABEL = re.compile(
    r"(?:search )?(?:question|query|q)\s?\d{0,3}\s?[:：.)]\s*"
    r"|(?:here(?: is|['’]s)|the|my|a|your|(?:re)?written|revised|new|stand-?alone)\b[^:：?？؟]{0,60}"
    r"\b(?:question|query)\s?[:：]\s*(?=\S)",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"^[^\w\"“„«'‘¿¡(\[{]+")
_BOLD_TITLE = re.compile(
    r"^([^\S\n]*(?:\d{1,3}[.)]|[-*•])[^\S\n]+)\*\*[^*\n?？؟]{1,60}(?::\*\*|\*\*:)(?=[^\S\n]*\S)", re.MULTILINE
)
_QUOTES_APART = re.compile(r"(?<=[\"”])\s*,\s*(?=[\"“])")
_NEXT_NUMBER = re.compile(r"(?<=[?？؟])\s+(?=\d{1,3}[.)]\s)")


def questions_in(text: str) -> tuple[str, ...]:
    """The distinct questions; if none has a question mark, all items (keywords, requests)."""
    plain = _BOLD_TITLE.sub(r"\1", lift(text).text)
    asked = _asking_items(plain) if _ASKS.search(plain) else list_items(plain)
    questions: dict[str, str] = {}
    for question in map(_clean_question, asked):
        if re.search(r"\w", question) and not (is_abstention(question) or is_courtesy(question)):
            questions.setdefault(question.casefold(), question)
    return tuple(questions.values())


def _asking_items(text: str) -> list[str]:
    items = _NEXT_NUMBER.sub("\n", _QUOTES_APART.sub("\n", text)) if text.count("\n") < 2 else text
    spoken = list(_items(items, list(read_lines(items))))
    last = spoken[-1:] if len(spoken) > 1 and not _STOPPED.search(spoken[-1]) and _ASKS.search(spoken[-2]) else []
    asking = [
        item
        for item in spoken[: len(spoken) - len(last)]
        if _ASKS.search(item) and not item.rstrip("*_ ").endswith((":", "："))
    ]
    if len(spoken) == 1:
        return [asking[0][span.start : span.end] for span in sentences(asking[0])]
    return [*asking, *last]


def _items(text: str, lines: list[Line]) -> Iterator[str]:
    """Each line is an item, unless it continues a marked item that has not yet asked."""
    item, is_open = "", False
    for line in lines:
        words = " ".join(text[line.start : line.end].split())
        if line.kind == "plain" and is_open and not line.after_blank and not _ASKS.search(item):
            item = f"{item} {words}"
            continue
        if item:
            yield item
        item, is_open = words, line.kind in ("number", "bullet", "label")
    if item:
        yield item


def _clean_question(item: str) -> str:
    question = without_emphasis(item)
    for lead in (_SIGNS, _NUMBER, _LABEL, _SIGNS):
        match = lead.match(question)
        question = question[match.end() :] if match else question
    ends = [mark.end() for mark in _ASKS.finditer(question)]
    if ends:
        closing = question[ends[-1] : ends[-1] + 1]
        question = question[: ends[-1]] + (closing if closing in ('"', "”", "»", "’", "“") else "")
    return without_quotes(question.strip()).strip()


# ---------------------------------------------------------------- plans

_BOLD_LINE = re.compile(r"^[^\S\n]{0,3}\*\*([^*\n]{1,120})\*\*:?[^\S\n]*$", re.MULTILINE)
_FIELDS = re.compile(
    r"^[*_]{0,3}(?:title|name)[*_]{0,3}:[*_]{0,3}[^\S\n]*([^\n]*)\n"
    r"[*_]{0,3}(?:description|content|text)[*_]{0,3}:[*_]{0,3}",
    re.IGNORECASE | re.MULTILINE,
)
_ROMAN = re.compile(r"^([^\S\n]{0,9})(?:[IVX]{1,5}|[A-H])[.)](?=[^\S\n]+\S)", re.MULTILINE)
_HEADING = re.compile(r"^(#{1,6})[^\S\n][^\n]*$", re.MULTILINE)
_PART = re.compile(
    r"[*_#\s]{0,6}(?:(?:paragraph|section|part|absatz|abschnitt|paragraphe|párrafo|段落)\s?\d{1,3}\s?[:.)：–—-]\s?"
    r"|\d{1,3}[.)]\s)",
    re.IGNORECASE,
)
_PART_WITH_TITLE = re.compile(r"((?:paragraph|section|part) \d{1,3}) \(([^()\n]{1,80})\)\s?:", re.IGNORECASE)
_PART_ALONE = re.compile(r"^[*_#\s]{0,6}(?:paragraph|section|part) \d{1,3}[*_:]{0,4}$", re.IGNORECASE | re.MULTILINE)
_INSTRUCTIONS = re.compile(r"^instructions?(?: for paragraph \d{1,3})?\s?[:：]\s?", re.IGNORECASE)
_TITLE = re.compile(r"(?P<title>[^:：–—]{1,80}?)(?:\s?[:：]\s?|\s(?:[–—-]|->|=>|→)\s)(?P<rest>.+)")


class Titled(NamedTuple):
    title: str
    rest: str


def plan_in(text: str) -> tuple[Titled, ...]:
    """The distinct titled parts of a plan; empty if no plan is recognised."""
    plain, fields = _FIELDS.subn(r"\n- \1: ", _PART_WITH_TITLE.sub(r"\1: \2:", lift(text).text))
    if _PART_ALONE.search(plain) and not fields and (parts := _numbered_parts(plain)):
        return parts
    plain = _PART_ALONE.sub("", plain) if fields else plain
    plain = _without_title(_BOLD_LINE.sub(r"## \1", _ROMAN.sub(r"\1- ", plain)))
    items = read_items(plain) or _plain_parts(plain)
    return tuple(dict.fromkeys(_split_title(item) for item in items if re.search(r"\w", item.head)))


def _numbered_parts(text: str) -> tuple[Titled, ...]:
    """One part under each line such as "Paragraph 1", as the plan paper's samples are."""
    lists = (list_items(piece) for piece in _PART_ALONE.split(text)[1:])
    return tuple(dict.fromkeys(_split_title(Item(lines[0], lines[1:], False)) for lines in lists if lines))


def _without_title(text: str) -> str:
    levels = _HEADING.findall(text)
    is_title = len(levels) > 1 and levels.count(min(levels)) == 1 and levels[0] == min(levels)
    return _HEADING.sub("", text, count=1) if is_title else text


def _plain_parts(text: str) -> Iterable[Item]:
    items = [Item(line, (), False) for line in list_items(text) if not is_courtesy(line)]
    return items if all(_TITLE.fullmatch(item.head) for item in items) else []


def _split_title(item: Item) -> Titled:
    lead = _PART.match(item.head)
    head = _INSTRUCTIONS.sub("", without_emphasis(item.head[lead.end() :] if lead else item.head).strip())
    match = _TITLE.fullmatch(head)
    title, rest = (match["title"], match["rest"]) if match else (head, "")
    return Titled(title.strip(" *:"), " ".join([rest, *item.below]).strip())
