"""The thinking that reasoning models write before they answer, and how it is taken away.

Servers that know their model keep thinking apart; others pass it on between marks of the model's own. Rules, from left
to right:
* what stands between an opening and the next closing mark goes;
* an opening mark that is never closed takes all that follows it: the reply was cut off while it was thinking;
* a closing mark that was never opened takes all that precedes it: the template had opened it in the prompt;
* a reply in the form of gpt-oss keeps only what stands on its final channel.
"""

from __future__ import annotations

import re

_NAMES = r"think|thinking|thought|thoughts|reasoning|seed:think"
_MARK = re.compile(
    rf"""
    (?P<open> <(?:{_NAMES})> | \[THINK\] | ◁think▷ | <\|(?:START_THINKING|begin_of_thought)\|> )
    | (?P<close> </(?:{_NAMES})> | \[/THINK\] | ◁/think▷ | <\|(?:END_THINKING|end_of_thought)\|> )
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Marks that only wrap the answer itself.
_WRAPPING = re.compile(r"<\|(?:START_RESPONSE|END_RESPONSE|begin_of_solution|end_of_solution)\|>", re.IGNORECASE)

_CHANNEL = re.compile(r"<\|channel\|>\s*(?P<name>\w+)[^<]*<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
# What is left of gpt-oss's channels where a server swallowed their marks.
_BARE_CHANNELS = re.compile(r"\s*analysis(?=[A-Z\W]).*?assistantfinal", re.DOTALL)


def without_thinking(text: str) -> str:
    """The text of a reply without a model's thinking; a text without such marks is returned as it is."""
    said = _final_channel(text)
    if _MARK.search(said) is not None:
        said = _WRAPPING.sub("", _outside_marks(said))
    return text if said == text else said.strip()


def _outside_marks(text: str) -> str:
    kept, at, is_inside = "", 0, False
    for mark in _MARK.finditer(text):
        if mark["open"]:
            kept += "" if is_inside else text[at : mark.start()]
            is_inside = True
        else:
            kept = kept if is_inside else ""
            is_inside = False
        at = mark.end()
    return kept if is_inside else kept + text[at:]


def _final_channel(text: str) -> str:
    """What the last final channel says, up to the mark that ends it; the text itself where there are no channels."""
    channels = list(_CHANNEL.finditer(text))
    if not channels:
        bare = _BARE_CHANNELS.match(text)
        return text[bare.end() :] if bare else text
    finals = [channel for channel in channels if channel["name"] == "final"]
    said = text[finals[-1].end() :] if finals else ""
    return _CHANNEL_END.split(said, maxsplit=1)[0]
