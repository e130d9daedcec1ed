"""Foreign text inside a prompt: what a document, a question or a reply says must not pass for the prompt's own words.

* A passage is set off by `<passage>` and the label `[n]`. In foreign text the first is written `&lt;passage>` and the
  second `\\[n]`, which is how a rendering writes a document's own "[3]" and what the readers of replies take back off.
* The marks by which chat models tell turns apart (`<|im_start|>`, `[INST]`, `<start_of_turn>` and their kin) lose their
  opening bracket in the same way, since some tokenizers obey them wherever they stand.
* Characters that nobody sees go: controls, breaks of no width, the tag characters that can spell hidden orders. A half
  of a surrogate pair, which no server takes, becomes U+FFFD.
"""

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


def quoted(text: str) -> str:
    """The text, harmless to the prompt around it, with its line breaks."""
    seen = _HALF_PAIR.sub("\ufffd", _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    return _TURN_IN_BRACKETS.sub("&#91;", _TAG.sub("&lt;", seen)).strip()


@lru_cache(maxsize=1024)  # worked examples stand in every prompt, and a passage in many of one question
def unlabelled(text: str) -> str:
    """The text, harmless too among passages that go by `[n]`: what looks like a label is escaped."""
    return _LABEL.sub(lambda found: found[1] * 2 + "\\" + found[2], quoted(text))


def on_one_line(text: str) -> str:
    """The text with single spaces for its white space, so that it cannot begin a line."""
    return " ".join(text.split())
