"""Feedback by aspect."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_SCORE = r"(?:\(?\d{1,3}(?:\.\d{1,2})?(?:\s?%|\s?/\s?\d{1,3})?\)?)"


def words_by_aspect(text: str, aspects: Sequence[str]) -> Mapping[str, str]:
    """The feedback under each aspect, by lower-case name. A name counts at the head of a line; "Correctness
    matters" opens nothing.
    """
    spelled = {_squeeze(name): name.lower() for name in aspects}
    heads = list(_heads(aspects).finditer(text))
    starts = [head.start() for head in heads]
    sections: dict[str, list[str]] = {}
    for head, end in zip(heads, [*starts[1:], len(text)], strict=False):
        remark = _without_stray_bold(text[head.end() : end].strip())
        if re.search(r"\w", remark):
            sections.setdefault(spelled[_squeeze(head["name"])], []).append(remark)
    return {name: "\n".join(parts) for name, parts in sections.items()}


def _without_stray_bold(text: str) -> str:
    """Drops the end of bold type that began before the name ("**Correctness: 50/100**")."""
    first, *below = text.split("\n")
    return "\n".join([first.removesuffix("**") if first.count("**") % 2 else first, *below])


def _squeeze(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.strip().lower())


def _heads(aspects: Sequence[str]) -> re.Pattern[str]:
    longest_first = sorted({_squeeze(name) for name in aspects}, key=len, reverse=True)
    names = "|".join(re.escape(name).replace(r"\ ", r"[\s_-]") for name in longest_first)
    return re.compile(
        rf"^(?:[^\w\n]{{0,9}}\d{{1,2}}[.)])?[^\w\n]{{0,9}}(?:feedback (?:on"
        rf"|for) (?:the )?)?(?P<name>{names})(?:\sscore)?[*_]{{0,3}}\s?(?:[-–—]?\s?{_SCORE})?"
        r"(?:[*_]{0,3}\s?[:：][*_]{0,3}|[*_]{0,3}\s[–—-]\s|[*_#]{0,3}[^\S\n]{0,3}$)",
        re.IGNORECASE | re.MULTILINE,
    )
