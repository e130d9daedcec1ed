"""Foreign text inside a prompt."""

from __future__ import annotations

import re
from functools import lru_cache

from toulmin.data import MARK_OPENING

_OWN_TAGS = r"passage|draft|answer|text|feedback"
_TURNS = r"system|user|assistant|human|tool|start_of_turn|end_of_turn|bos|eos|pad|unk|s|think|im_start|im_end|eot_id"
_TAG = re.compile(
    rf"[<＜﹤‹〈](?=[^\w<>|｜]{{0,9}}(?:[|｜]|<\s*/?\s*sys\b|(?:{_OWN_TAGS}|{_TURNS})\b))",
    re.IGNORECASE,
)
_TURN_IN_BRACKETS = re.compile(r"\[(?=\s*/?\s*(?:inst|available_tools|tool_calls|tool_results)\s*\])", re.IGNORECASE)
_LABEL = re.compile(rf"(?<!\\)(\\*)([\[【［])(?={MARK_OPENING})", re.IGNORECASE)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def quote(text: str) -> str:
    """The text, harmless to the prompt around it."""
    seen = _HALF_PAIR.sub("\ufffd", _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    return _TURN_IN_BRACKETS.sub("&#91;", _TAG.sub("&lt;", seen)).strip()


@lru_cache(maxsize=1024)  # examples recur in every prompt, passages in many prompts of one question
def escape_labels(text: str) -> str:
    """Also escapes what looks like a label, for text among passages numbered `[n]`."""
    return _LABEL.sub(lambda match: match[1] * 2 + "\\" + match[2], quote(text))


def on_one_line(text: str) -> str:
    return " ".join(text.split())
