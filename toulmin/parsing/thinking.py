"""Replies without thinking."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
    """A text without marks of thinking is returned unchanged.

    An unclosed mark removes all that follows (the reply was cut off), an unopened one all that precedes (the chat
    template opened it). Of channels (gpt-oss) only the last final one counts. A mark in back quotes is text.
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
