"""The prompt of Self-RAG models."""

from __future__ import annotations

import re

from toulmin.data import Passage
from toulmin.prompts.quoting import on_one_line, quote
from toulmin.prompts.reflection import NextSegment, is_reflection
from toulmin.prompts.texts import Texts, Wording

_OPEN_BRACKET = re.compile(r"\[(?=([^\[\]\n]{1,60}\]))")
_PARAGRAPH = re.compile(r"<(?=\s{0,9}/?\s{0,9}paragraph\b)", re.IGNORECASE)
_HEADING = re.compile(r"^(?=#{1,6}[^\S\n]*(?:instruction|input|response)\b)", re.IGNORECASE | re.MULTILINE)


def next_segment(prompt: NextSegment, texts: Texts) -> Wording:
    """One message, without a system message, which these models do not know. It ends where the model continues:
    after the passage, after [No Retrieval], or where it may choose either.
    """
    asked = texts.fill(
        "next_segment.user", task=texts.fill(f"next_segment.{prompt.style}"), question=_words(prompt.question)
    )
    return Wording("", f"{asked}\n{_escape_frame(prompt.written)}{_evidence(prompt, texts)}")


def _evidence(prompt: NextSegment, texts: Texts) -> str:
    if prompt.passage is not None:
        return texts.fill("next_segment.evidence", passage=_passage_text(prompt.passage))
    return texts.fill("next_segment.from_memory") if prompt.from_memory else ""


def _passage_text(passage: Passage) -> str:
    title = on_one_line(_words(passage.title))
    return "\n".join(part for part in (title, _words(passage.text)) if part)


def _words(text: str) -> str:
    return _OPEN_BRACKET.sub(lambda m: "&#91;" if is_reflection(f"[{m[1]}") else "[", _escape_frame(text))


def _escape_frame(text: str) -> str:
    return _HEADING.sub(r"\\", _PARAGRAPH.sub("&lt;", quote(text)))
