"""Removes what surrounds the words of a reply: `unwrap` is applied to every reply.

In this order: thinking; a chat template's tokens and all after the first end of turn; enclosing tags; code fences;
tables, whose rows become bullets; the bars of quoted lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toulmin.parsing.lines import last_match

# ---------------------------------------------------------------- replies without thinking


_NAMES = r"think|thinking|thoughts?|reasoning|scratchpad|seed:think|tool_call|tool_code|function_call"
_OPEN = rf"<(?:{_NAMES})>|\[THINK\]|◁think▷|<\|(?:START_THINKING|begin_of_thought)\|>"
_CLOSE = rf"</(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|(?:END_THINKING|end_of_thought)\|>"
_MARK = re.compile(rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})", re.IGNORECASE)
# Marks that only wrap the answer itself.
_WRAPPING = re.compile(r"<\|(?:START_RESPONSE|END_RESPONSE|begin_of_solution|end_of_solution)\|>", re.IGNORECASE)

_CHANNEL = re.compile(r"<\|channel\|>\s{0,9}(?P<name>\w{1,40})[^<]{0,100}<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
# What remains of the channels if a server removed their marks.
_BARE_CHANNELS = re.compile(r"\s*analysis(?=[A-Z\W]).*?assistantfinal", re.DOTALL)


def without_thinking(text: str) -> str:
    """A text without marks of thinking stays unchanged.

    An unclosed mark removes all after it (the reply was cut off), an unopened one all before it (the chat template
    opened it). Only the last final channel (gpt-oss) counts. A mark in back quotes is text.
    """
    answer = _final_channel(text)
    marks = [mark for mark in _MARK.finditer(answer) if not _is_spoken_of(mark)]
    if marks:
        answer = _WRAPPING.sub("", _outside(marks, answer))
    return text if answer == text else answer.strip()


def _is_spoken_of(mark: re.Match[str]) -> bool:
    return mark.string[mark.start() - 1 : mark.start()] == "`" and mark.string.startswith("`", mark.end())


def _outside(marks: Sequence[re.Match[str]], text: str) -> str:
    pieces: list[str] = []
    at, is_inside = 0, False
    for mark in marks:
        if mark["open"]:
            pieces += [] if is_inside else [text[at : mark.start()]]
        elif not is_inside:
            pieces = []
        at, is_inside = mark.end(), mark["open"] is not None
    return "".join(pieces) if is_inside else "".join([*pieces, text[at:]])


def _final_channel(text: str) -> str:
    channels = list(_CHANNEL.finditer(text))
    if not channels:
        bare = _BARE_CHANNELS.match(text)
        return text[bare.end() :] if bare else text
    finals = [channel for channel in channels if channel["name"] == "final"]
    return _CHANNEL_END.split(text[finals[-1].end() :], maxsplit=1)[0] if finals else ""


# ---------------------------------------------------------------- tags, tables and turns


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

_ATTRIBUTES = r"(?:\s[^<>]{0,200}=[^<>]{0,200})?"
_TAG_AT_HEAD = re.compile(rf"\s*<(?P<name>[A-Za-z]\w{{0,30}}){_ATTRIBUTES}>")
_DEEPEST = 5

_TABLE_HEAD = re.compile(
    r"^[^\S\n]{0,9}\|[^\n]*\|[^\S\n]*\n[^\S\n]{0,9}\|(?=[^\n]*-)[ \t:|-]*\|[^\S\n]*$", re.MULTILINE
)
_ROW = re.compile(r"^[^\S\n]{0,9}\|(?P<cells>[^\n]*)\|[^\S\n]*$", re.MULTILINE)


def unwrap(text: str) -> str:
    """Never raises."""
    words = _FENCE.sub("", _within_tags(_within_result(_one_turn(without_thinking(text)))))
    return _QUOTE_BAR.sub("", _ROW.sub(_bullet, _TABLE_HEAD.sub("", words)))


def _bullet(row: re.Match[str]) -> str:
    """The cells of a table's row, those of marks behind the words."""
    cells = [cell.strip() for cell in row["cells"].split("|") if cell.strip()]
    marks = [cell for cell in cells if cell.startswith(("[", "【"))]
    return f"- {' '.join([': '.join(cell for cell in cells if cell not in marks), *marks])}"


def _one_turn(text: str) -> str:
    turns = (_TOKEN.sub("", turn) for turn in _END_OF_TURN.split(text))
    return next((turn for turn in turns if turn.strip()), "")


def _within_result(text: str) -> str:
    """Unclosed tags reach to the end."""
    opened = last_match(_RESULT, text)
    return text[opened.end() :].split(f"</{opened['name']}>", 1)[0] if opened else text


def _within_tags(text: str) -> str:
    for _ in range(_DEEPEST):
        opened = _TAG_AT_HEAD.match(text)
        if opened is None or not text.rstrip().endswith(f"</{opened['name']}>"):
            break
        text = re.sub(rf"</?{re.escape(opened['name'])}{_ATTRIBUTES}>", "\n", text)
    return text
