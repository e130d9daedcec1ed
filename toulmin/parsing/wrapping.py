"""The words of a reply without what surrounds them: `unwrap` is applied to every reply.

Removed in this order: thinking; a chat template's tokens and all after the first end of turn; enclosing tags; JSON;
HTML; code fences; tables, whose rows become bullets; the bars of quoted lines.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence

from toulmin.parsing.structured import Shape, as_words
from toulmin.parsing.thinking import without_thinking

_END_OF_TURN = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|end|end_of_text|endoftext|end_of_turn|return)\|>|</s>(?=\s*(?:\Z|<))"
    r"|<end_of_turn>|<eos>"
)
_TOKEN = re.compile(r"<\|im_start\|>(?:assistant\b)?|<\|\w{1,40}\|>|<(?:s|bos|start_of_turn)>|\[cite_(?:start|end)\]")
_RESULT = re.compile(
    r"^[^\S\n]{0,9}<(?P<name>(?:\w{1,30}_)?(?:answer|response|output|solution|result))>", re.IGNORECASE | re.MULTILINE
)
_FENCE = re.compile(r"^[^\S\n]{0,9}(?:`{3,}|~{3,})[^\S\n]*\w{0,20}[^\S\n]*$\n?", re.MULTILINE)
_QUOTE_BAR = re.compile(r"^[^\S\n]{0,3}(?:>[^\S\n]?){1,3}", re.MULTILINE)

_INLINE = "b|strong|i|em|u|span|mark|small|code|a|font"
_BREAKING = "p|div|br|ul|ol|section|article|blockquote|html|body|hr|main"
_ATTRIBUTES = r"(?:\s[^<>]{0,200}=[^<>]{0,200})?"
_RAISED = re.compile(r"<sup>([\d,; ]{1,40})</sup>", re.IGNORECASE)
_TAG = re.compile(
    rf"<(?:(?P<inline>/?(?:{_INLINE}|sup))|(?P<item>li)|(?P<heading>h[1-6])"
    rf"|(?P<breaking>/?(?:{_BREAKING})|/li|/h[1-6])){_ATTRIBUTES}\s?/?>",
    re.IGNORECASE,
)
_TAG_AT_HEAD = re.compile(rf"\s*<(?P<name>[A-Za-z]\w{{0,30}}){_ATTRIBUTES}>")
_DEEPEST = 5
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

_ROW = re.compile(r"[^\S\n]{0,9}\|(?P<cells>[^\n]*)\|[^\S\n]*")
_RULE_CELL = re.compile(r"\s*:?-{1,200}:?\s*")
_ONLY_MARKS = re.compile(r"[\s,;]*(?:[\[【［][^\[\]【】［］]{1,40}[\]】］][\s,;]*)+")


def unwrap(text: str, shape: Shape) -> str:
    """The words of a reply; `shape` says what JSON may call them. Never raises."""
    words = _within_tags(_within_result(_one_turn(without_thinking(text))))
    words = _without_html(as_words(words, shape))
    return _QUOTE_BAR.sub("", _without_tables(_FENCE.sub("", words), ": " if shape.titled else ", "))


def _one_turn(text: str) -> str:
    turns = (_TOKEN.sub("", turn) for turn in _END_OF_TURN.split(text))
    return next((turn for turn in turns if turn.strip()), "")


def _within_result(text: str) -> str:
    """Unclosed tags reach to the end."""
    opened = next(iter(deque(_RESULT.finditer(text), maxlen=1)), None)
    return text[opened.end() :].split(f"</{opened['name']}>", 1)[0] if opened else text


def _within_tags(text: str) -> str:
    for _ in range(_DEEPEST):
        opened = _TAG_AT_HEAD.match(text)
        if opened is None or not text.rstrip().endswith(f"</{opened['name']}>"):
            break
        text = re.sub(rf"</?{re.escape(opened['name'])}{_ATTRIBUTES}>", "\n", text)
    return text


def _without_html(text: str) -> str:
    if "<" not in text:
        return text
    return _TAG.sub(_in_markdown, _RAISED.sub(lambda m: m[1].translate(_SUPERSCRIPT), text))


def _in_markdown(tag: re.Match[str]) -> str:
    if tag["inline"]:
        return ""
    return "\n- " if tag["item"] else "\n# " if tag["heading"] else "\n"


def _without_tables(text: str, joint: str) -> str:
    return "\n".join(_without_rows(text.split("\n"), joint)) if "|" in text else text


def _without_rows(lines: Sequence[str], joint: str) -> Iterator[str]:
    """Table rows become bullets; the row above the rule and the rule are dropped."""
    rows = [_cells(line) for line in [*lines, ""]]
    is_rule = [bool(row) and all(map(_RULE_CELL.fullmatch, row)) for row in rows]
    in_table, n = False, 0
    for i, line in enumerate(lines):
        in_table = is_rule[i] or (in_table and bool(rows[i]))
        n = 0 if is_rule[i] or not in_table else n + 1
        if not in_table and not is_rule[i + 1]:
            yield line
        elif in_table and not is_rule[i]:
            yield f"- {_join_cells(rows[i], n, joint)}"


def _cells(line: str) -> list[str]:
    row = _ROW.fullmatch(line)
    return row["cells"].split("|") if row else []


def _join_cells(cells: Sequence[str], n: int, joint: str) -> str:
    words = [cell.strip() for cell in cells if cell.strip()]
    if len(words) > 1 and words[0].rstrip(".") == str(n):
        words = words[1:]
    marks = [cell for cell in words if _ONLY_MARKS.fullmatch(cell)]
    return " ".join([joint.join(cell for cell in words if cell not in marks), *marks])
