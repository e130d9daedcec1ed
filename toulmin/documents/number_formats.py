"""Numbers of sheets and charts as their format codes display them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache, partial
from xml.etree.ElementTree import Element

Show = Callable[[str], str]  # a number as it is displayed

# The formats that files name by a number alone.
_CODES = (
    '0|0.00|#,##0|#,##0.00|"$"#,##0_);("$"#,##0)|"$"#,##0_);("$"#,##0)|"$"#,##0.00_);("$"#,##0.00)'
    '|"$"#,##0.00_);("$"#,##0.00)|0%|0.00%|#,##0_);(#,##0)|#,##0_);(#,##0)|#,##0.00_);(#,##0.00)|#,##0.00_);(#,##0.00)'
    '|#,##0_);(#,##0);"-"|"$"#,##0_);("$"#,##0);"-"|#,##0.00_);(#,##0.00);"-"|"$"#,##0.00_);("$"#,##0.00);"-"'
)
_BUILT_IN = dict(zip(map(str, (*range(1, 11), *range(37, 45))), _CODES.split("|"), strict=True))
# Excel's built-in date formats, and the letters of other date formats; quoted and bracketed text is no format.
_DATES = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_DATE_FORMAT = re.compile(r"[dmyhs]", re.IGNORECASE)
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_ELAPSED_SIGN = re.compile(r'"(?P<words>[^"]*)"|\\(?P<sign>.)|\.0+|\[?(?P<unit>h+|m+|s+)\]?', re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"|\[[^\[\]]*\]|\\.|General')
_SECTION = re.compile(r'((?:"[^"]*"|\\.|\[[^\]]*\]|[^;])*);')
# Words, a currency, what is not displayed, digits, and other signs. Powers, fractions and conditions are not written.
_SIGN = re.compile(
    r'"(?P<words>[^"]*)"|\\(?P<sign>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]|[_*].|\[[^\]]*\]'
    r"|(?P<digits>[0#?][0#?,]*(?:\.[0#?]*)?|\.[0#?]+)|(?P<value>General|@)|(?P<other>.)"
)
_UNWRITTEN = re.compile(r"[0#?]\s*/|[eE][+-]|\[[<>=]")


def formats_of(styles: Element) -> dict[str, Show]:
    """How each style of cells shows a number."""
    codes = _BUILT_IN | {e.get("numFmtId", ""): e.get("formatCode", "") for e in styles.iterfind(".//{*}numFmt")}
    kinds = [entry.get("numFmtId", "0") for entry in styles.findall("{*}cellXfs/{*}xf")]
    return {str(n): format_of(codes.get(kind, ""), int(kind) in _DATES) for n, kind in enumerate(kinds)}


def format_of(code: str, is_date: bool = False) -> Show:
    if _ELAPSED.search(code):
        return partial(elapsed, code.partition(";")[0])
    if is_date or _DATE_FORMAT.search(_QUOTED.sub("", code)):
        return _date
    return partial(_formatted, code[:255]) if code and not _UNWRITTEN.search(code) else general


def general(value: str) -> str:
    short = f"{float(value):.12g}" if len(value) > 12 and "." in value else value
    return value if "e" in short else short


def _date(value: str) -> str:
    """Excel counts days from the end of 1899; below 1 it is a time of day."""
    days = float(value)
    moment = datetime(1899, 12, 30) + timedelta(seconds=round(days * 86_400))
    if 0 <= days < 1:
        return moment.strftime("%H:%M:%S")
    return moment.strftime("%Y-%m-%d" if days == int(days) else "%Y-%m-%d %H:%M:%S")


def elapsed(code: str, value: str) -> str:
    """Days as hours, minutes and seconds: those in brackets count all."""
    seconds = round(abs(float(value)) * 86_400)

    def shown(part: re.Match[str]) -> str:
        if not part["unit"]:
            return part["words"] or part["sign"] or ""
        count = seconds // {"h": 3600, "m": 60, "s": 1}[part["unit"][0].lower()]
        return str(count) if part[0][0] == "[" else f"{count % 60:0{len(part[0])}}"

    return "-" * (float(value) < 0) + _ELAPSED_SIGN.sub(shown, code)


def _formatted(code: str, value: str) -> str:
    number = float(value)
    signs = _signs_of(code, 1 if number < 0 else 2 if number == 0 else 0)
    if not signs or not abs(number) < 1e15:  # Excel keeps 15 digits
        return general(value)
    scaled = abs(number) * 100 ** sum(sign["other"] == "%" for sign in signs) * (1 + 4e-16)  # rounds halves up
    parts = [general(value) if sign["value"] else _shown(sign, scaled) for sign in signs]
    return " ".join(f"{'-' if number < 0 and ';' not in code else ''}{''.join(parts)}".split())


@lru_cache(maxsize=1000)
def _signs_of(code: str, at: int) -> list[re.Match[str]]:
    """Those of the format of positive numbers (0), of negative ones (1) or of zero; none if they cannot be written."""
    sections = _SECTION.findall(f"{code};")
    signs = list(_SIGN.finditer(sections[at] if at < len(sections) else sections[0]))
    return signs if sum(sign["digits"] is not None for sign in signs) < 2 else []


def _shown(sign: re.Match[str], number: float) -> str:
    if not sign["digits"]:
        return sign["words"] or sign["sign"] or sign["currency"] or sign["other"] or ""
    whole, _, decimals = sign["digits"].partition(".")
    digits = whole.rstrip(",")
    number /= 1000 ** (len(whole) - len(digits))
    left, _, right = f"{number:{',' * (',' in digits)}.{min(len(decimals), 15)}f}".partition(".")
    right = right[: decimals.count("0")] + right[decimals.count("0") :].rstrip("0")
    left = left.zfill(digits.count("0")) if digits.strip("#?,") or left != "0" else ""
    return f"{left}.{right}" if right else left
