"""Other forms of marks."""

from __future__ import annotations

import re

from toulmin.parsing.marks import has_marks

_NOUN = r"(?:documents?|docs?|passages?|sources?|references?|refs?|snippets?|citations?|cites?|search results?)"
_NUMBERS = r"\d{1,3}(?:\s{0,2}(?:[,;&–-]|,?\s?and)\s{0,2}\d{1,3}){0,20}"
_NAMED = re.compile(rf"\((?:see |cf\. |from )?({_NOUN}\.?\s?[#:]?\s?{_NUMBERS})\)", re.IGNORECASE)

_MARKS = r"\[[^\[\]\n]{1,40}\](?:,? ?(?:and )?\[[^\[\]\n]{1,40}\]){0,20}"
_TITLED = re.compile(
    rf"\[((?:{_NOUN}\.?\s?[#:]?\s?)?\d{{1,3}})\s?[:,|–-]\s?(?=[^\[\]\n]{{0,20}}[^\W\d_])[^\[\]\n]{{2,80}}\]",
    re.IGNORECASE,
)
_ONLY_LABELS = re.compile(rf"\[(?:{_NOUN}|and|[\s\d,;:&#.–-])+\]", re.IGNORECASE)
_ENCLOSED = re.compile(rf"\((?:see |cf\. |from )?(?:{_NOUN}\s)?({_MARKS})\)", re.IGNORECASE)
_LED_IN = re.compile(
    r"(?P<before>^|[.!?]\s{1,3})"
    r"(?:according to|as (?:stated|noted|mentioned|described|reported|shown|indicated|seen) (?:in|by)|as per"
    r"|per|based on)\s"
    rf"(?:the )?(?:{_NOUN}\s?(?P<numbers>{_NUMBERS})|(?:{_NOUN}\s?)?(?P<marks>{_MARKS})),\s?(?P<first>\S{{1,60}})",
    re.IGNORECASE | re.MULTILINE,
)
_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED = re.compile(
    rf"(?:(?<=[.!?,;:”\"')。])|(?<=[^\W\d_]{{4}}))\s?[{_DIGITS}]{{1,9}}(?:[ ,⁠˒‚]{{1,2}}[{_DIGITS}]{{1,9}}){{0,20}}"
)
_RAISED_RUN = re.compile(rf"[{_DIGITS}]+")
_PLAIN = str.maketrans(_DIGITS, "0123456789")

_IN_PARENTHESES = re.compile(
    r"(?:(?<!\w)|(?<=[\u3000-\u9fff]))\((\d{1,3}(?:\s?[,;]\s?\d{1,3}){0,20})\)(?=[^\S\n]?(?:[.,;:!?。，]|$|\(\d))",
    re.MULTILINE,
)
_CUT_OFF = re.compile(r"\s?[\[【［][\d,; –-]{0,40}\s*\Z")


def bracket_marks(text: str, offered: int) -> str:
    """`offered` is how many passages could be cited."""
    text = _CUT_OFF.sub("", text)
    text = _TITLED.sub(_without_title, _ENCLOSED.sub(r"\1", _NAMED.sub(r"[\1]", text)))
    text = _LED_IN.sub(_after_first_word, text)
    text = _RAISED.sub(lambda raised: _bracket_superscript(raised[0], offered), text)
    return text if has_marks(text, offered) else _from_parentheses(text, offered)


def _without_title(titled: re.Match[str]) -> str:
    """Reads "[1, Kettle Rock]" as passage 1; "[1, 2 and 3]" and "[1, doc 2]" name more and stay."""
    return titled[0] if _ONLY_LABELS.fullmatch(titled[0]) else f"[{titled[1]}]"


def _after_first_word(led: re.Match[str]) -> str:
    first = led["first"]
    marks = f"[{led['numbers']}]" if led["numbers"] else led["marks"]
    return f"{led['before']}{first[:1].upper()}{first[1:]} {marks}"


def _bracket_superscript(text: str, offered: int) -> str:
    """Digits in a row are one label if that many passages were offered, else one each."""
    runs = [run.translate(_PLAIN) for run in _RAISED_RUN.findall(text)]
    return "".join(f"[{n}]" for run in runs for n in ([run] if int(run) <= offered else run))


def _from_parentheses(text: str, offered: int) -> str:
    numbers = [int(n) for group in _IN_PARENTHESES.findall(text) for n in re.findall(r"\d+", group)]
    return _IN_PARENTHESES.sub(r"[\1]", text) if all(1 <= n <= offered for n in numbers) else text
