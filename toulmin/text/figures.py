"""The numbers and dates of a text, each with one value for all its forms.

A number's value is its digits ("1234.5") without the unit: "12 %", "$12" and "twelve" are all "12"; a bare decimal
keeps its zeros ("3.10"). A date's value is `2007-06-29`, `2007-06`, `2007`, `--06-29` (no year), `--06`, `1990s`, `C19`
(a century), `44 BC` or `Q3`. Numbers in identifiers ("B-52", "4x4") and a lone "one", "first" or "second" do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Kind = Literal["number", "date", "name"]


@dataclass(frozen=True, slots=True)
class Fact:
    """At `text[start:end]`; equal facts have equal kind and value."""

    kind: Kind
    value: str
    start: int
    end: int


_MONTHS = "january february march april may june july august september october november december".split()
_MONTH_OF = {name[:3]: number for number, name in enumerate(_MONTHS, start=1)}
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen".split()
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
SCALES = {"dozen": 12, "hundred": 10**2, "thousand": 10**3, "lakh": 10**5, "million": 10**6, "crore": 10**7}
SCALES |= {"bn": 10**9, "billion": 10**9, "trillion": 10**12}
ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"
    " fifteenth sixteenth seventeenth eighteenth nineteenth".split()
)
ORDINAL_TENS = [word[:-1] + "ieth" for word in _TENS]
_DECADES = {word[:-1] + "ies": 10 * n for n, word in enumerate(_TENS, start=2)}
_WORTH = {word: n for words in (_UNITS, ORDINALS) for n, word in enumerate(words)}
_WORTH |= {word: 10 * n for words in (_TENS, ORDINAL_TENS) for n, word in enumerate(words, start=2)}
_ALONE_NO_FIGURE = frozenset({"one", "first", "second", "zero", "zeroth"})

# Units that may follow a number without a space; "k", "M" and "bn" multiply, and "m" after a currency sign.
ATTACHED = r"(?:[a-zµμ]{1,3}|[kMG]?[BWK]|[MG]|[kMG]?Hz)"
_ATTACHED_SCALES = {"k": 10**3, "K": 10**3, "M": 10**6, "bn": 10**9}
CURRENCIES = frozenset("$£€¥₹")

_MONTH = (
    r"(?i:Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|Jun(?:e|\.)?|Jul(?:y|\.)?"
    r"|Aug(?:ust|\.)?|Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)(?!\w)"
)
_MEASURE = r"(?:bytes|degrees|dollars|euros|grams|hours|kg|km|litres|liters|metres|meters|miles|minutes|tonnes)\b"
_YEAR = rf"(?:1\d{{3}}|20\d{{2}})(?![\w%]|[.,:]?\d|\s{_MEASURE})"
_ORDINAL = "|".join(ORDINALS[1:] + ORDINAL_TENS)
# A pattern is tried only at words that can begin one of its matches.
_FROM_DIGIT = re.compile(
    rf"(?<![\w.,])(?<!\w-)(?:"
    rf"(?P<iso>\d{{4}}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:T(?P<time>\d\d:\d\d))?(?!\d)"
    rf"|(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\s(?:of\s)?(?P<month>{_MONTH})(?:,?\s(?P<year>{_YEAR}))?"
    rf"|(?P<decade>\d{{3}}0|(?<=['’])\d0)['’]?s(?!\w)"
    rf"|(?P<century>\d{{1,2}})(?:st|nd|rd|th)[\s-](?:century|centuries)"
    rf"|(?P<quarter>[1-4])(?:st|nd|rd|th)[\s-]quarter(?!\w)"
    rf"|(?P<era>\d{{1,4}})\s(?:BCE?|B\.C\.(?:E\.)?)(?!\w)"
    rf"|(?P<from>1\d{{3}}|20\d\d)[-–/](?P<to>\d\d)(?![\w%]|[-.,:/]?\d)"
    rf"|(?P<only>{_YEAR})"
    rf"|(?P<clock>\d{{1,2}}:\d\d(?::\d\d)?)(?!\d)"
    rf"|(?P<number>\d+(?:[,\u00a0\u202f]\d{{3}})*(?:\.\d+)?)(?P<unit>{ATTACHED})?(?![^\W_]|[-‐][^\W\d_]+-?\d)"
    rf"(?:[\s-](?P<scale>dozen|hundred|thousand|lakh|million|crore|billion|trillion|bn)(?!\w))?"
    rf")"
)
_FROM_MONTH = re.compile(
    rf"(?P<month>{_MONTH})"
    rf"(?:\s(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?![\w%]|[.,:]\d))?(?:(?:,?\s|\sof\s)(?P<year>{_YEAR}))?"
)
WORD = "|".join(sorted([*_WORTH, *SCALES], key=len, reverse=True))
_SPELT = re.compile(
    rf"(?:(?P<century>{_ORDINAL})[\s-](?:century|centuries)"
    rf"|(?P<quarter>first|second|third|fourth)[\s-]quarter"
    rf"|(?:(?P<hundreds>eighteen|nineteen|twenty)[\s-])?(?P<decade>{'|'.join(_DECADES)})"
    rf"|(?<=the )(?P<day>(?:(?:twenty|thirty)[\s-])?(?:{_ORDINAL})) of (?P<month>{_MONTH})(?:,?\s(?P<year>{_YEAR}))?"
    rf"|(?P<words>(?:{WORD})(?:(?:[\s-]|\sand\s)(?:{WORD})(?!\w))*))(?!\w)",
    re.IGNORECASE,
)
MINUS = re.compile(r"(?:\A|(?<=[\s(\[=`'\"‘“$£€]))(?P<sign>(?:[-−–]|(?:minus|negative) )[$£€]?)\Z", re.IGNORECASE)
_MONTH_NUMBERS = frozenset(f"{n:02d}" for n in range(1, 13))
_SHARE = re.compile(r"\s?(?:%|per\s?cent)")
_QUARTER = re.compile(r"[Qq][1-4]")
_START = re.compile(r"\w+")
_MONTH_WORDS = frozenset(word for name in _MONTHS for word in (name, name.title(), name[:3].title())) | {"Sept"}
_ALSO_WORDS = frozenset(("May", "March", "Mar", "Jan", "August"))
_NUMBER_WORDS = frozenset(word for name in (*_WORTH, *_DECADES, "dozen") for word in (name, name.title()))
_AFTER_PREPOSITION = re.compile(r"\b(?:in|of|on|by|since|until|till|during|from|to|after|before|late|early)\s$", re.I)


def number(value: Decimal | int) -> str:
    """Without grouping."""
    plain = format(Decimal(value), "f")
    return "0" if plain == "-0" else plain


def _date(match: re.Match[str]) -> str:
    month = f"{_MONTH_OF[match['month'][:3].lower()]:02d}"
    day = (match["day"] or "").lower()
    tail = f"-{int(day) if day.isdecimal() else spelt_value(re.split('[ -]', day)) or 0:02d}" if day else ""
    return f"{match['year']}-{month}{tail}" if match["year"] else f"--{month}{tail}"


def _numeric(match: re.Match[str]) -> Decimal:
    """Trailing zeros count in a bare decimal: version 3.10 is not 3.1."""
    digits = re.sub(r"[,\u00a0\u202f]", "", match["number"])
    scale = SCALES.get(match["scale"] or "", 1) * _ATTACHED_SCALES.get(match["unit"] or "", 1)
    is_price = match.string[match.start() - 1 : match.start()] in CURRENCIES
    if match["unit"] == "m" and is_price:
        scale = 10**6
    is_bare = not (is_price or match["unit"] or match["scale"] or _SHARE.match(match.string, match.end()))
    return Decimal(digits) if is_bare else (Decimal(digits) * scale).normalize()


def _from_digit(match: re.Match[str]) -> Iterator[Fact]:
    start, end = match.span()
    if match["from"]:
        first, last = match["from"], match["from"][:2] + match["to"]
        if last <= first and match["to"] in _MONTH_NUMBERS:
            yield Fact("date", f"{first}-{match['to']}", start, end)
            return
        yield Fact("date", first, start, match.end("from"))
        if last > first:
            yield Fact("date", last, match.start("to"), end)
        else:
            yield Fact("number", number(int(match["to"])), match.start("to"), end)
    elif match["number"]:
        yield _signed(match, _numeric(match))
    elif match["clock"]:
        yield Fact("number", match["clock"], start, end)
    elif match["decade"]:
        yield Fact("date", f"{match['decade'] if len(match['decade']) == 4 else '19' + match['decade']}s", start, end)
    elif match["century"]:
        yield Fact("date", f"C{int(match['century'])}", start, end)
    elif match["quarter"]:
        yield Fact("date", f"Q{match['quarter']}", start, end)
    elif match["era"]:
        yield Fact("date", f"{int(match['era'])} BC", start, end)
    else:
        date = match["iso"] or match["only"] or _date(match)
        yield Fact("date", date, start, match.end("iso") if match["time"] else end)
        if match["time"]:
            yield Fact("number", match["time"], match.start("time"), end)


def _signed(match: re.Match[str], value: Decimal | int) -> Fact:
    sign = MINUS.search(match.string, max(0, match.start() - 10), match.start())
    return Fact("number", number(-value if sign else value), sign.start("sign") if sign else match.start(), match.end())


def _from_month(match: re.Match[str]) -> Iterator[Fact]:
    month = match["month"]
    lone = not match["day"] and not match["year"]
    if month.islower() and (lone or (month in ("may", "march", "august") and not match["year"])):
        return
    before = match.string[max(0, match.start() - 8) : match.start()]
    if lone and month in _ALSO_WORDS and not _AFTER_PREPOSITION.search(before):
        return
    yield Fact("date", _date(match), *match.span())


def spelt_value(words: list[str]) -> int | None:
    """205 for "two hundred and five"; None if not one number."""
    total = current = 0
    last = 10**15
    for word in words:
        scale = SCALES.get(word)
        if scale == 100:
            current, last = (current or 1) * 100, 100
        elif scale:
            total, current, last = total + (current or 1) * scale, 0, scale
        else:
            worth = _WORTH[word]
            if worth >= last or (last < 20 and last != 0) or (last in range(20, 100) and worth > 9):
                return None
            current, last = current + worth, worth or 1
    return total + current


def _spelt(match: re.Match[str]) -> Iterator[Fact]:
    if match["month"]:
        yield Fact("date", _date(match), *match.span())
        return
    if ordinal := match["century"] or match["quarter"]:
        yield Fact("date", f"{'C' if match['century'] else 'Q'}{_WORTH[ordinal.lower()]}", *match.span())
        return
    if match["decade"]:
        hundreds = 100 * _WORTH[(match["hundreds"] or "nineteen").lower()]
        yield Fact("date", f"{hundreds + _DECADES[match['decade'].lower()]}s", *match.span())
        return
    pieces = [m for m in re.finditer(r"[a-z]+", match[0].lower()) if m[0] != "and"]
    words = [piece[0] for piece in pieces]
    value = spelt_value(words)
    if value is None:
        for piece in pieces:
            if piece[0] in _WORTH and piece[0] not in _ALONE_NO_FIGURE:
                offset = match.start()
                yield Fact("number", number(_WORTH[piece[0]]), offset + piece.start(), offset + piece.end())
    elif len(words) > 1 or words[0] not in _ALONE_NO_FIGURE:
        yield _signed(match, value)


def figures(text: str) -> list[Fact]:
    """In order, none overlapping."""
    facts: list[Fact] = []
    done = 0
    for opening in _START.finditer(text):
        word, start = opening[0], opening.start()
        if start < done:
            continue
        if word[0].isdecimal():
            pattern, read = _FROM_DIGIT, _from_digit
        elif word in _MONTH_WORDS:
            pattern, read = _FROM_MONTH, _from_month
        elif _QUARTER.fullmatch(word):
            facts.append(Fact("date", word.upper(), start, opening.end()))
            continue
        elif word in _NUMBER_WORDS and text[start - 1 : start] != "-":
            pattern, read = _SPELT, _spelt
        else:
            continue
        if match := pattern.match(text, start):
            facts += read(match)
            done = facts[-1].end if facts else 0
    return facts
