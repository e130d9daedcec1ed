"""Replies that choose: a candidate by number, a verdict by word, or feedback by aspect."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from toulmin.data import Label
from toulmin.parsing.abstaining import is_abstention, is_nothing
from toulmin.parsing.lines import last_match

# ---------------------------------------------------------------- a candidate

_NUMBER = re.compile(r"(?<![\d.,])\d{1,6}(?!\d|[.,]\d)")
_DECIDES = re.compile(
    r"\b(?:most consistent|best|choose|chosen|pick|select(?:ed)?|final answer)\b[^\n]*", re.IGNORECASE
)


def choice_in(text: str, candidates: int) -> int | None:
    """The number (from 1) of the chosen candidate: the first of the last clause about a choice, else of all."""
    decisive = last_match(_DECIDES, text)
    start = max(text.rfind(stop, 0, decisive.start()) for stop in ".,;\n") + 1 if decisive else 0
    clauses = (text[start : decisive.end()] if decisive else "", text)
    numbers = (int(number) for clause in clauses for number in _NUMBER.findall(clause))
    return next((number for number in numbers if 1 <= number <= candidates), None)


# ---------------------------------------------------------------- a verdict

_LABEL = re.compile(
    r"\b(?:verdict|label|answer|judge?ment|conclusion|decision|rating)(?:[*_\"]{0,3}\s?[:：]|\sis\b|[*_]{0,3}\s?$)",
    re.IGNORECASE | re.MULTILINE,
)
# The quoted claim; a shorter quotation may be the verdict.
_QUOTED = re.compile(r"\"[^\"\n]{20,500}\"|“[^”\n]{20,500}”")
# "Not fully supported" must never be read as "supported".
_VERDICT = re.compile(
    r"(?P<denied>\b(?:not|no|none|nothing|never|neither|nor|cannot|whether|lacks?|lacking|insufficient|fails?"
    r"|[a-z]{1,8}n['’]t|partly|partially)\b[^.\n]{0,30}?)?"
    r"(?P<word>contradict|refute|inconsistent|unsupported|support|entail|unsure|uncertain)",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(r"\W*(?:(?P<yes>yes|true)|no|false)\b(?=\W*$|[,.!:;\n])", re.IGNORECASE)
_MEANS: dict[str, Label] = {
    "support": "supported",
    "entail": "supported",
    "unsupported": "unsupported",
    "contradict": "contradicted",
    "refute": "contradicted",
    "inconsistent": "contradicted",
}


def verdict_in(text: str) -> Label:
    """The verdict after its label, or at the start, or on which all words agree; else `unsure`."""
    reply = _QUOTED.sub("", _LABEL.split(text)[-1].replace("_", " "))
    verdicts = list(_VERDICT.finditer(reply))
    opening = _YES_OR_NO.match(reply)
    if opening is not None:
        contradicts = any(_label(verdict) == "contradicted" for verdict in verdicts)
        return "supported" if opening["yes"] else "contradicted" if contradicts else "unsupported"
    if not verdicts:
        return "unsupported" if is_nothing(reply) or is_abstention(reply, cites=True) else "unsure"
    if re.search(r"\w", reply[: verdicts[0].start()]) is None:
        return _label(verdicts[0])
    denied = [v for v in verdicts if v["denied"] is not None and _MEANS.get(v["word"].lower()) == "contradicted"]
    labels = {_label(verdict) for verdict in verdicts if verdict not in denied} or {"unsure"}
    return labels.pop() if len(labels) == 1 else "unsure"


def _label(verdict: re.Match[str]) -> Label:
    means, denied = _MEANS.get(verdict["word"].lower(), "unsure"), (verdict["denied"] or "").lower()
    if not denied:
        return means
    is_open = denied.startswith("part") or "whether" in denied
    return "unsupported" if means == "supported" and not is_open else "unsure"


# ---------------------------------------------------------------- feedback by aspect


_SCORE = r"(?:\(?\d{1,3}(?:\.\d{1,2})?(?:\s?%|\s?/\s?\d{1,3})?\)?)"
# Names of two scores of a list in the A2R paper (Table 10).
_ALIASES = {"qa recall": "answer recall", "qa precision": "answer precision"}


def words_by_aspect(text: str, aspects: Sequence[str]) -> Mapping[str, str]:
    """The feedback under each aspect, by lower-case name.

    A name opens a part as a heading or label, or as in A2R's Tables 7 to 10: "For the correctness aspect, ...".
    """
    spelled = {_squeeze(name): name.lower() for name in aspects}
    spelled |= {alias: name for alias, name in _ALIASES.items() if name in spelled.values()}
    longest_first = sorted(spelled, key=len, reverse=True)
    names = "|".join(re.escape(name).replace(r"\ ", r"[\s_-]") for name in longest_first)
    heads = sorted([*_heads(names).finditer(text), *_openings(names).finditer(text)], key=re.Match.start)
    starts = [head.start() for head in heads]
    sections: dict[str, list[str]] = {}
    for head, end in zip(heads, [*starts[1:], len(text)], strict=False):
        first, *below = text[head.end() : end].strip().split("\n")
        # A closing `**` is dropped whose opening stands before the name.
        remark = "\n".join([first.removesuffix("**") if first.count("**") % 2 else first, *below])
        if re.search(r"\w", remark):
            for name in re.findall(names, _squeeze(head["name"])):
                sections.setdefault(spelled[name], []).append(remark)
    return {name: "\n".join(parts) for name, parts in sections.items()}


def _squeeze(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.strip().lower())


def _openings(names: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?:^[^\w\n]{{0,9}}|(?<=[.!?…:])\s+)(?:For|Regarding|In terms of)\s(?:the\s)?"
        rf"(?P<name>(?:{names})(?:(?:,|,?\sand)\s(?:the\s)?(?:{names}))*)(?:\saspects?\b,?|,)",
        re.IGNORECASE | re.MULTILINE,
    )


def _heads(names: str) -> re.Pattern[str]:
    return re.compile(
        rf"^(?:[^\w\n]{{0,9}}\d{{1,2}}[.)])?[^\w\n]{{0,9}}(?:feedback (?:on"
        rf"|for) (?:the )?)?(?P<name>{names})(?:\s(?:score|aspect))?[*_]{{0,3}}\s?(?:[-–—]?\s?{_SCORE})?"
        r"(?:[*_]{0,3}\s?[:：][*_]{0,3}|[*_]{0,3}\s[–—-]\s|[*_#]{0,3}[^\S\n]{0,3}$)",
        re.IGNORECASE | re.MULTILINE,
    )
