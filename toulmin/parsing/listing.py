"""Reads questions and planned paragraphs from replies without a JSON schema."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from toulmin.parsing.abstaining import is_abstention
from toulmin.parsing.lines import Item, list_items, read_items, read_lines, without_emphasis
from toulmin.parsing.marks import lift
from toulmin.parsing.replying import is_courtesy, without_quotes
from toulmin.text.language import sentence_texts

# ---------------------------------------------------------------- questions

_ASKS = re.compile(r"[?？؟][\"”»’“]?")
# "Rewritten question:", or a title in bold type before a question.
_LABEL = re.compile(
    r"[^:：?？؟\n]{0,60}\b(?:question|query|q\d{0,2})\s?\d{0,3}\s?[:：][*\s]*"
    r"|\*\*[^*\n?？؟]{1,60}(?::\*\*|\*\*:)(?=\s*\S)",
    re.IGNORECASE,
)


def questions_in(text: str) -> tuple[str, ...]:
    """The distinct questions; without any question mark all items (keywords, requests)."""
    plain = lift(text).text
    lines = [plain[line.start : line.end] for line in read_lines(plain)]
    if len(lines) == 1:
        lines = sentence_texts(lines[0])
    asking = [line for line in lines if _ASKS.search(line) and not line.rstrip("*_ ").endswith((":", "："))]
    questions: dict[str, str] = {}
    for question in map(_clean_question, asking or list_items(plain)):
        if re.search(r"\w", question) and not (is_abstention(question) or is_courtesy(question)):
            questions.setdefault(question.casefold(), question)
    return tuple(questions.values())


def _clean_question(item: str) -> str:
    label = _LABEL.match(item)
    question = without_emphasis(item[label.end() :] if label else item).strip(" *_")
    ends = [mark.end() for mark in _ASKS.finditer(question)]
    return without_quotes(question[: ends[-1]] if ends else question).strip()


# ---------------------------------------------------------------- plans

_BOLD_LINE = re.compile(r"^[^\S\n]{0,3}\*\*([^*\n]{1,120})\*\*:?[^\S\n]*$", re.MULTILINE)
_HEADING = re.compile(r"^(#{1,6})[^\S\n][^\n]*$", re.MULTILINE)
_PART = re.compile(r"[*_#\s]{0,6}(?:(?:paragraph|section|part)\s?\d{1,3}\s?[:.)–—-]\s?|\d{1,3}[.)]\s)", re.IGNORECASE)
_PART_ALONE = re.compile(r"^[*_#\s]{0,6}(?:paragraph|section|part) \d{1,3}[*_:]{0,4}$", re.IGNORECASE | re.MULTILINE)
_INSTRUCTIONS = re.compile(r"^instructions?(?: for paragraph \d{1,3})?\s?[:：]\s?", re.IGNORECASE)
_TITLE = re.compile(r"(?P<title>[^:：–—]{1,80}?)(?:\s?[:：]\s?|\s[–—-]\s)(?P<rest>.+)")


class TitleLine(NamedTuple):
    title: str
    rest: str


def plan_in(text: str) -> tuple[TitleLine, ...]:
    """The distinct parts of a plan; empty without a plan."""
    plain = lift(text).text
    pieces = [list_items(piece) for piece in _PART_ALONE.split(plain)[1:]]  # as in the plan paper's samples
    headed = [Item(lines[0], lines[1:], False) for lines in pieces if lines]
    plain = _without_title(_BOLD_LINE.sub(r"## \1", plain))
    items = headed or read_items(plain) or _plain_parts(plain)
    return tuple(dict.fromkeys(_split_title(item) for item in items if re.search(r"\w", item.head)))


def _without_title(text: str) -> str:
    levels = _HEADING.findall(text)
    is_title = len(levels) > 1 and levels.count(min(levels)) == 1 and levels[0] == min(levels)
    return _HEADING.sub("", text, count=1) if is_title else text


def _plain_parts(text: str) -> Iterable[Item]:
    items = [Item(line, (), False) for line in list_items(text) if not is_courtesy(line)]
    return items if all(_TITLE.fullmatch(item.head) for item in items) else []


def _split_title(item: Item) -> TitleLine:
    lead = _PART.match(item.head)
    head = _INSTRUCTIONS.sub("", without_emphasis(item.head[lead.end() :] if lead else item.head).strip())
    match = _TITLE.fullmatch(head)
    title, rest = (match["title"], match["rest"]) if match else (head, "")
    return TitleLine(title.strip(" *:"), " ".join([rest, *item.below]).strip())
