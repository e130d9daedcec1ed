"""The thinking that reasoning models write before they answer, and a reply without it.

Servers that know their model keep thinking apart; others, and proxies, pass it on between marks of the model's own:
* what stands between an opening mark and the next closing one goes;
* an opening mark at the head of a line that is never closed takes all that follows: the reply was cut off in thought;
* a closing mark that was never opened takes all that precedes it: the chat template had opened it in the prompt;
* of a reply in channels (gpt-oss) only the last final one is said.
"""

from __future__ import annotations

import re

_NAMES = r"think|thinking|thoughts?|reasoning|scratchpad|seed:think|tool_call|tool_code|function_call"
_OPEN = rf"<(?:{_NAMES})>|\[THINK\]|◁think▷|<\|(?:START_THINKING|begin_of_thought)\|>"
_CLOSE = rf"</(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|(?:END_THINKING|end_of_thought)\|>"
# Between back quotes the marks are spoken of.
_MARK = re.compile(rf"(?<!`)(?:(?P<open>{_OPEN})|(?P<close>{_CLOSE}))", re.IGNORECASE)

_CHANNEL = re.compile(r"<\|channel\|>\s{0,9}(?P<name>\w{1,40})[^<]{0,100}<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
# What is left of the channels where a server swallowed their marks.
_BARE_CHANNELS = re.compile(r"\s*analysis(?=[A-Z\W]).*?assistantfinal", re.DOTALL)


def without_thinking(text: str) -> str:
    """What is said in a reply; a text without marks of thinking is returned as it is."""
    if "<|channel|>" in text:
        return _final_channel(text)
    bare = _BARE_CHANNELS.match(text)
    return text[bare.end() :] if bare else _outside_marks(text)


def _outside_marks(text: str) -> str:
    said: list[str] = []
    at, opened = 0, None
    for mark in _MARK.finditer(text):
        if mark["close"]:
            said = said if opened else []
            at, opened = mark.end(), None
        elif opened is None:
            said.append(text[at : mark.start()])
            at, opened = mark.start(), mark
    return "".join(said) if opened and _begins_line(text, opened.start()) else "".join([*said, text[at:]])


def _begins_line(text: str, position: int) -> bool:
    return not text[max(0, position - 40) : position].rpartition("\n")[2].strip()


def _final_channel(text: str) -> str:
    finals = [channel for channel in _CHANNEL.finditer(text) if channel["name"] == "final"]
    return _CHANNEL_END.split(text[finals[-1].end() :], maxsplit=1)[0] if finals else ""
