"""The values of a text, each equal to its other forms, and a claim in the spelling of its sources.

1.2 million is 1,200,000; half is 50 %; 1.5 km is 1,500 m; "an hour and a half" is 90 minutes; "at least 5" is "5 or
more". A value of another sign, magnitude, unit or bound is another one. Conversions are exact.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from toulmin.text.figures import CURRENCIES, MINUS, ORDINAL_TENS, ORDINALS, SCALES, WORD, figures, spelt_value
from toulmin.text.language import STOPWORDS, fold, sentences, table_rows, terms, words

_OPEN_ROWS = [row.split() for row in table_rows("units.txt") if " = " in row]
_ROWS = [row.partition(":") for row in table_rows("units.txt") if " = " not in row]
_ENTRIES = [(kind, *each.split()) for kind, _, units in _ROWS for each in units.split("|")]
_SIZES = {name: (kind, Fraction(size)) for kind, size, name, *_ in _ENTRIES}
_ZEROS = {"fahrenheit": Fraction(-32), "kelvin": Fraction("-273.15")}
UNITS = {word.replace("_", " ") + end: each[2] for each in _ENTRIES for word in each[2:] for end in ("", "s")}
# A kind that does not say which of others it is, with the size and the zero there.
_OPEN = [(a, b.strip("-"), Fraction(size), Fraction(zero)) for a, _, b, size, zero in _OPEN_ROWS]


class Value(NamedTuple):
    """At `text[start:end]`; `span` includes the words of its bound, which is the opposite where they are denied ("not
    more than"). "~" and "~<" are about and nearly.

    `kind` is what is measured, "" for a bare number; `plain` is the number without its unit, 0 if there is none. Of a
    bare number, `digits` are as written, and `names` the words beside it that it may number.
    """

    kind: str
    amount: Fraction | tuple[Fraction, Fraction] | str
    plain: Fraction
    start: int
    end: int
    bound: str = ""
    span: tuple[int, int] = (0, 0)
    is_denied: bool = False
    digits: str = ""
    names: frozenset[str] = frozenset()


_HALF, _QUARTER = Fraction(1, 2), Fraction(1, 4)
_GLYPHS = {"½": _HALF, "¼": _QUARTER, "¾": Fraction(3, 4), "⅓": Fraction(1, 3), "⅔": Fraction(2, 3)}
_WORDS = {word: ("share", share) for word, share in _GLYPHS.items()} | {"half": ("share", _HALF)}
_WORDS |= {word: ("times", Fraction(2)) for word in ("twice", "double", "twofold")}
_WORDS |= {word: ("times", Fraction(3)) for word in ("thrice", "triple", "threefold")}
_PARTS = {"half": 2, "halve": 2, "quarter": 4} | {word: n for n, word in enumerate(ORDINALS) if n > 2}
_SHORT_SCALES = {"k": 10**3, "K": 10**3, "M": 10**6, "bn": 10**9, "B": 10**9, "m": 10**6}
_LONGEST = 100  # characters of a number
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
_COUNT = "an?|one|two|three|four|five|six|seven|eight|nine|ten"
_UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
_AND_HALF = r"\sand\sa\s(?:half|quarter)(?!\w)"
_QUANTITY = re.compile(
    rf"(?:(?P<over>\d+)/(?P<under>[1-9]\d?)(?![\d/])"
    rf"|(?P<digits>(?P<comma>(?:(?<=€)|(?<=€\s)|(?=[\d.]+,\d{{1,2}}\s?(?:{_UNIT})(?!\w)))"
    rf"(?:\d{{1,3}}(?:\.\d{{3}})+|\d+),\d{{1,2}}(?!\d|[.,]\d))"
    rf"|\d{{1,3}}(?:[,'’_ \u00a0\u202f]\d{{3}})+(?![\d,])(?:\.\d+)?|\d{{1,3}}(?:\.\d{{3}}){{2,}}(?!\d)"
    rf"|10(?=\^?(?P<tens>[-−⁻]?[\d⁰¹²³⁴-⁹]{{1,2}})(?!\w))(?:\^[-−]?\d|[⁻⁰¹²³⁴-⁹])[\d⁰¹²³⁴-⁹]*|\d+(?:\.\d+)?)"
    rf"(?:(?:\s?[x×]\s?10\^?|[eE])(?P<power>[-−⁻]?[\d⁰¹²³⁴-⁹]{{1,2}}))?"
    rf"(?P<glyph>[½¼¾⅓⅔])?(?P<nth>(?i:st|nd|rd|th)(?!\w))?"
    rf"|(?P<count>{_COUNT})[\s-](?P<part>(?:{'|'.join(_PARTS)})(?:s|(?!\s(?!of\b|the\b|less\b|more\b|as\b)\w)))(?!\w)"
    rf"|(?P<word>{'|'.join(_WORDS)})(?![^\W_])"
    rf"|(?P<number>(?:{WORD})(?:(?:[\s-]|\sand\s)(?:{WORD})(?!\w)){{0,20}})(?!\w)|(?P<article>an?)(?=\s))"
    rf"(?P<more>{_AND_HALF})?(?P<of>(?:\sof)?\san?(?=\s))?"
    rf"(?:(?P<scale>(?<=\d)(?-i:[kKMBm]|bn)|[\s-]?(?:{'|'.join(SCALES)}))(?![^\W_]))?"
    rf"(?P<measure>[\s\u00a0]?-?(?:°\s?(?=[CF]\b))?(?P<raised>(?:square|sq\.?|cubic)\s)?(?P<unit>{_UNIT})"
    rf"(?P<exponent>[²³]|\^[23])?(?![^\W_]))?(?:(?=(?:/|\sper\s)(?P<time>s|second|min|minute|h|hour)(?!\w)))?"
    rf"(?P<rest>{_AND_HALF})?",
    re.IGNORECASE,
)
# Letters that a pattern without case takes for another.
_LOOK_ALIKES = str.maketrans("ſıİ\u212a\u03bc\u039c", "siik\u00b5\u00b5")
_BEGINS = re.compile(r"(?<![\w.#])(?:\d|[½¼¾⅓⅔]|[^\W\d_]+)")
_BEGIN_WORDS = frozenset((*f"{WORD}|{_COUNT}|a|an".split("|"), *_WORDS))
_ROMAN = re.compile(r"(?<=\w )(?=[IVXLC]{2}|[VX])C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?!\w)")
_CENTURY = re.compile(r"(?:th)? century\b", re.IGNORECASE)
_LETTERS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_CURRENCY = re.compile(r"(?:USD?)?((?:\b[A-Z]{1,3})?[$£€¥₹])\s?\Z|\b(USD|EUR|GBP)\s\Z")  # "A$" is another one
_CODES = {"USD": "$", "EUR": "€", "GBP": "£"}
_NAMED = re.compile(r"([^\W\d_]+)\W{1,2}(?:the\s)?\Z", re.IGNORECASE)  # "World War II", "Henry the Eighth"
_FOLLOWS, _DIGITS = re.compile(r"\s([^\W\d_]+)"), re.compile(r"\d[\d,]*(?:\.\d+)?")
_HOURS = r"(?<![\d.:])(?P<hour>\d\d?)(?:[:.](?P<minutes>\d\d))?"
_CLOCK = re.compile(rf"{_HOURS}\s?(?P<half>[ap])\.?m\b|(?<![\d:])(\d\d?):(\d\d)(?![\d:])|\b(noon|midnight)\b", re.I)
# "a quarter to six in the evening"; without the part of the day either half may be meant.
_HOUR_WORDS = {word: n for n, word in enumerate(f"{_COUNT}|eleven|twelve".split("|")) if n}
_MINUTES = {"half": 30, "a quarter": 15, "quarter": 15, "five": 5, "ten": 10, "twenty": 20, "twenty-five": 25}
_TOLD = re.compile(
    rf"(?<!\w)(?:(?P<minutes>{'|'.join(_MINUTES)}|\d\d?)(?: minutes)? (?:(?P<past>past)|to) )?"
    rf"(?P<hour>{'|'.join(_HOUR_WORDS)}|\d\d?)(?![\w:.]\w)(?: o['’]clock)?"
    r" (?:in the (?:(?P<early>morning)|afternoon|evening)|at (?P<night>night))\b",
    re.IGNORECASE,
)
_DAY_MONTH_YEAR = re.compile(r"(?<![\d./])(\d\d?)(?:/(\d\d?)/|\.\s?(\d\d?)\.\s?)(\d{4})(?![\d/]|\.\d)")
_NO_HALF = frozenset("first second other latter better final last".split())
_NO_ARTICLE = frozenset(("second", "times", "degree", "pp"))  # "a second man"
_BOUNDS = ("", ">=", "<=", ">", "<", "~", "~<", ">=", "<=")
_OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}
_BEFORE = re.compile(
    r"(?:\b(?:(at least|(?:no|not) (?:fewer|less) than|(?:a )?minimum(?: of)?)|(at most|(?:no|not) more than|up to"
    r"|(?:a )?maximum(?: of)?|not exceeding)|(more than|over|above|exceed(?:s|ing)?|greater than|in excess of)"
    r"|((?:less|fewer) than|under|below)|(about|around|roughly|approximately|circa)|(nearly|almost|just under))\s"
    r"|(?:(>=|≥)|(<=|≤))\s?)\Z",
    re.IGNORECASE,
)
_DENIED = re.compile(  # but "not known whether more than" and "not only more than"
    r"(?:\b(?:not|never|cannot)|n['’]t)(?:\s(?!(?:and|because|but|if|just|only|or|that|whether)\b)\w+){0,4}\s\Z", re.I
)
_AFTER = re.compile(
    r"(?P<noun>(?:\s(?!or\b|and\b)\w+){0,2})(?:\s(?:or|and)\s(?:(?:more|above|over|older|longer|higher|greater|up|later|newer)"
    r"|(?P<less>less|earlier|fewer|below|under|younger|shorter|lower))\b|\sat\s(?:the\s)?(?:least|(?P<most>most))\b|\+)"
)
_OF_NAMES = ("roman", "ordinal", "")
_TO = re.compile(r"\s?[-–—]\s?|\sto\s\+?")
_OUT_OF = re.compile(r"\s(?:in|of|out of)\s(?:(?:every|the|its|our|their)\s)?")
_LABEL = re.compile(r"\b(?:page|step|chapter|part|section|volume|season|episode|day|week|round|stage|level)\s\Z", re.I)
_SIDES = re.compile(r"\s?(?:by|x|×)\s?")
_RANGE, _BESIDE = re.compile(r"\b(?:(between)|from)\s\Z", re.IGNORECASE), re.compile(r",?\s(?:and\s)?|")


@lru_cache(maxsize=1_024)
def values(text: str) -> tuple[Value, ...]:
    """In order, none overlapping; years are bare numbers."""
    text = text.translate(_LOOK_ALIKES)
    merged: list[Value] = []
    dates = (fact for fact in figures(text) if fact.kind == "date" and not fact.value.isdecimal())
    fixed = [
        *(Value("date", fact.value, Fraction(), fact.start, fact.end) for fact in dates),
        *_clocks(text),
        *_numeric_dates(text),
    ]
    for value in sorted((*fixed, *_numerals(text), *_quantities(text)), key=lambda value: (value.start, -value.end)):
        if not merged or value.start >= merged[-1].end:
            merged.append(value)
            if len(merged) > 1:
                merged[-2:] = _join(text, *merged[-2:])
        elif value.kind in ("date", "clock"):
            merged[-1] = value
    return tuple(_bounded(text, value) for value in merged)


def _clocks(text: str) -> Iterator[Value]:
    for match in _CLOCK.finditer(text):
        hour, minutes, word = int(match[1] or match[4] or 12), int(match[2] or match[5] or 0), match[6] or ""
        half = (match["half"] or {"m": "a", "n": "p"}.get(word[-8:-7] or word[:1], "")).lower()
        hour = hour % 12 + 12 * (half == "p") if half else hour * (hour != 24)
        yield Value("clock", Fraction(60 * hour + minutes), Fraction(), *match.span())
    for match in _TOLD.finditer(text):
        told, more = match["hour"].lower(), (match["minutes"] or "0").lower()
        hour, minutes = _HOUR_WORDS.get(told) or int(told), _MINUTES.get(more) or int(more)
        if hour <= 12 and minutes < 60:
            is_late = hour >= 6 if match["night"] else not match["early"]  # three at night is early
            minutes = minutes if match["past"] else -minutes
            yield Value("clock", Fraction(60 * (hour % 12 + 12 * is_late) + minutes), Fraction(), *match.span())


def _numeric_dates(text: str) -> Iterator[Value]:
    """Of 12/25/2024 and 25.12.2024; 3/4/2024 may be April's or March's."""
    for match in _DAY_MONTH_YEAR.finditer(text):
        day, month, year = int(match[1]), int(match[2] or match[3]), match[4]
        if match[2] and day <= 12 < month:
            day, month = month, day
        if month <= 12 and day <= 31 and (match[3] or day > 12 or day == month):
            yield Value("date", f"{year}-{month:02d}-{day:02d}", Fraction(), *match.span())


def _numerals(text: str) -> Iterator[Value]:
    for match in _ROMAN.finditer(text):
        worth = [_LETTERS[letter] for letter in match[0]]
        amount = Fraction(sum(-a if a < b else a for a, b in zip(worth, [*worth[1:], 0], strict=True)))
        if century := _CENTURY.match(text, match.end()):
            yield Value("date", f"C{amount}", Fraction(), match.start(), century.end())
        else:
            yield Value("roman", amount, amount, *match.span())


def _quantities(text: str) -> Iterator[Value]:
    done = 0
    for opening in _BEGINS.finditer(text):
        begins = opening.start() >= done and (opening[0].isdecimal() or opening[0].lower() in _BEGIN_WORDS)
        if begins and (match := _QUANTITY.match(text, opening.start())) and (value := _quantity(match)):
            yield value
            done = value.end


def _quantity(match: re.Match[str]) -> Value | None:
    number = _number(match)
    if number is None or number.kind == "ordinal":
        return number
    text, start, kind, plain, end = match.string, match.start(), number.kind, number.plain, number.end
    currency = _CURRENCY.search(text, max(0, start - 6), start)
    scale, unit = (match["scale"] or "").lstrip("-").strip(), UNITS[match["unit"].lower()] if _is_unit(match) else None
    if match["of"] and kind != "share":  # "twice a day" is not two days
        scale, unit = "", None
    is_money = currency or unit in (*CURRENCIES, "pound")
    if scale in ("m", "B") and not is_money:
        scale, unit, end = "", "m" if scale == "m" else "byte", match.end("scale")
    if rest := match["more"] or match["rest"]:
        plain += Fraction(1, 4 if rest.endswith("quarter") else 2)
        end = max(end, match.end("more"))
    if scale:
        plain, end = plain * (_SHORT_SCALES.get(scale) or SCALES[scale.lower()]), match.end("scale")
    if match["article"] and not (unit or scale):
        return None
    sign = None if currency else MINUS.search(text, max(0, start - 10), start)
    plain, start = -plain if sign else plain, sign.start("sign") if sign else start
    money = currency and (currency[1] or _CODES[currency[2]])
    if currency and money:
        return Value(money, plain, plain, currency.start(), end)
    if not unit:
        return Value(scale if scale in ("K", "M") else "" if scale else kind, plain, plain, start, end)
    kind, size = _SIZES[unit]
    exponent = match["exponent"] or (match["raised"] or " ")[0].lower()
    power = {"²": 2, "^2": 2, "s": 2, "³": 3, "^3": 3, "c": 3}.get(exponent, 1)
    amount = (plain + _ZEROS.get(unit, 0)) * size**power
    end = max(end, match.end("measure"), match.end("rest"))
    if match["time"] and kind in ("memory", "bits"):
        return Value(f"{kind}/s", amount / _SIZES[UNITS[match["time"].lower()]][1], plain, start, match.end("time"))
    return Value(f"{kind}{power}" if power > 1 else kind, amount, plain, start, end)


def _is_unit(match: re.Match[str]) -> bool:
    unit, after = match["unit"] or "", match.string[match.end("measure") :]
    if match["article"] and (len(unit) < 3 or UNITS[unit.lower()] in _NO_ARTICLE):
        return False
    is_capital = len(unit) == 1 and unit.isupper() and unit not in "CFKWVL"
    is_word = (unit == "in" and re.match(r"\s\w", after)) or match["measure"] == " x"
    return bool(unit) and not is_capital and not is_word


def _number(match: re.Match[str]) -> Value | None:
    def value(kind: str, amount: Fraction | int, end: int) -> Value:
        return Value(kind, Fraction(amount), Fraction(amount), match.start(), end)

    if match["over"]:
        return value("share", Fraction(int(match["over"]), int(match["under"])), match.end("under"))
    if match["digits"]:
        if len(match["digits"]) > _LONGEST:
            return None
        digits = match["digits"].replace(".", "").replace(",", ".") if match["comma"] else match["digits"]
        digits = "1" if match["tens"] else re.sub(r"[,'’_ \u00a0\u202f]", "", digits)
        amount = Fraction(digits.replace(".", "") if digits.count(".") > 1 else digits)
        amount *= Fraction(10) ** int((match["tens"] or match["power"] or "0").translate(_SUPERSCRIPTS))
        end = max(match.end(group) for group in ("digits", "power", "glyph", "nth"))
        return value("ordinal" if match["nth"] else "", amount + _GLYPHS.get(match["glyph"] or "", 0), end)
    if match["part"]:
        count = spelt_value([match["count"].lower()]) if match["count"][0] not in "aA" else 1
        return value("share", Fraction(count or 1, _PARTS[match["part"].lower().removesuffix("s")]), match.end("part"))
    if match["word"]:
        before = match.string[: match.start()].split()[-1:]
        is_noun = match["word"].lower() == "half" and before and before[0].lower() in _NO_HALF
        return None if is_noun else value(*_WORDS[match["word"].lower()], match.end("word"))
    if match["article"]:
        return value("", 1, match.end("article"))
    pieces = [word for word in re.findall(r"[a-z]+", match["number"].lower()) if word != "and"]
    spelt = spelt_value(pieces)
    kind = "ordinal" if pieces[-1] in (*ORDINALS, *ORDINAL_TENS) else ""
    return None if spelt is None else value(kind, spelt, match.end("number"))


def _join(text: str, a: Value, b: Value) -> list[Value]:
    """A range, a share ("one in five") or a sum ("1 hour 30 minutes") of neighbours; else both, with the unit of the
    second also the first's in "120 by 80 cm".
    """
    gap, lead = text[a.end : b.start], _RANGE.search(text, max(0, a.start - 8), a.start)
    if (a.kind, b.kind) == ("time", "length") and gap in ("", " ") and text[a.end - 1] + text[b.end - 1] == "hm":
        b = b._replace(kind="time", amount=60 * b.plain)  # "1h 30m"
    if not isinstance(a.amount, Fraction) or not isinstance(b.amount, Fraction) or not a.plain or not b.plain:
        return [a, b]
    if a.kind in ("", b.kind) and (_TO.fullmatch(gap) or (lead and lead[1] and gap == " and ")):
        first = a.amount if a.kind else a.amount * b.amount / b.plain
        return [Value(b.kind, (first, b.amount), b.plain, lead.start() if lead else a.start, b.end)]
    is_place = _LABEL.search(text, max(0, a.start - 9), a.start)  # "page 3 of 4"
    if a.kind == b.kind == "" and _OUT_OF.fullmatch(gap) and 0 < a.amount < b.amount <= 1000 and not is_place:
        return [Value("share", a.amount / b.amount, Fraction(), a.start, b.end)]
    is_sum = a.kind == b.kind and a.kind in ("length", "weight", "time", "months") and _BESIDE.fullmatch(gap)
    if is_sum and a.plain.denominator == 1 and a.amount / a.plain > b.amount:  # 450 cm and 60 mm are two lengths
        return [Value(a.kind, a.amount + b.amount, a.plain, a.start, b.end)]
    has_sides = not a.kind and b.kind == "length" and _SIDES.fullmatch(gap)
    return [a._replace(kind=b.kind, amount=a.amount * b.amount / b.plain) if has_sides else a, b]


def _bounded(text: str, value: Value) -> Value:
    if value.kind in _OF_NAMES:
        beside = _NAMED.search(text, max(0, value.start - 30), value.start), _FOLLOWS.match(text, value.end)
        names = {match[1].lower() for match in beside[: 1 + (value.kind == "ordinal")] if match}
        digits = _DIGITS.fullmatch(text, value.start, value.end)
        value = value._replace(names=frozenset(names - STOPWORDS), digits=digits[0].replace(",", "") if digits else "")
    if before := _BEFORE.search(text, max(0, value.start - 22), value.start):
        bound, start = _BOUNDS[before.lastindex or 0], before.start()
        if bound in _OPPOSITE and (denial := _DENIED.search(text, max(0, start - 60), start)):
            return value._replace(bound=_OPPOSITE[bound], span=(denial.start(), value.end), is_denied=True)
        return value._replace(bound=bound, span=(value.start if "~" in bound else start, value.end))
    if after := _AFTER.match(text, value.end):
        span = (value.start, value.end if after["noun"] else after.end())
        return value._replace(bound="<=" if after["less"] or after["most"] else ">=", span=span)
    return _without_bound(value)


def _without_bound(value: Value) -> Value:
    return value._replace(span=(value.start, value.end))


def _meanings(value: Value) -> set[tuple[str, object]]:
    known: set[tuple[str, object]] = {(value.kind, value.amount)}
    for _, kind, size, zero in (row for row in _OPEN if row[0] == value.kind):
        if isinstance(value.amount, Fraction):
            known.add((kind, (value.amount + zero) * size))
    return known


def is_same(mine: Value, theirs: Value) -> bool:
    """Whatever their bounds; a claim's degrees may be a source's °C, but no source's degrees a claim's."""
    if "roman" in (mine.kind, theirs.kind):  # "CI" is no 101
        is_named = {mine.kind, theirs.kind} <= {*_OF_NAMES} and not mine.names.isdisjoint(theirs.names)
        return is_named and mine.amount == theirs.amount
    if mine.digits != theirs.digits and mine.digits and theirs.digits and "." in mine.digits + theirs.digits:
        return False  # "Python 3.10" is not "Python 3.1"
    is_meant = theirs.kind != "degrees" and (mine.kind, mine.amount) in _meanings(theirs)
    return is_meant or (theirs.kind, theirs.amount) in _meanings(mine)


def is_like(a: Value, b: Value) -> bool:
    """Whether both measure the same."""
    return not {kind for kind, _ in _meanings(a)}.isdisjoint(kind for kind, _ in _meanings(b))


_NEAR = Fraction(1, 20)
_FIRST, _AROUND = 20, 300  # values, and characters on each side, that are compared with a claim


def is_within(mine: Value, theirs: Value) -> bool:
    """Whether the source's value, as "2.4 m" or "3–5 days", is in the claim's bound: "over 2 m", "about 50 %"."""
    bound, amount, ends = mine.bound, mine.amount, theirs.amount
    ends = (ends, ends) if isinstance(ends, Fraction) else ends
    if mine.kind != theirs.kind or not bound or theirs.bound not in ("", "~"):  # "up to 9" is not "up to 4"
        return False
    if not isinstance(amount, Fraction) or isinstance(ends, str):
        return False
    if "~" in bound:
        return all(abs(end - amount) <= abs(amount) * _NEAR and (bound == "~" or end <= amount) for end in ends)
    room = min(ends) - amount if bound[0] == ">" else amount - max(ends)
    return room > 0 or (room == 0 and "=" in bound)


# ---------------------------------------------------------------- a claim in the spelling of its sources


class Respelling(NamedTuple):
    """A claim as its sources write its values and names, and what was changed as (the claim's, the source's)."""

    text: str
    conversions: tuple[tuple[str, str], ...] = ()

    @property
    def note(self) -> str:
        return "the source writes " + " and ".join(f"“{theirs}” for “{mine}”" for mine, theirs in self.conversions)


def respell(claim: str, texts: Sequence[str]) -> Respelling:
    spelled = "\n".join(texts)
    lower, changes = spelled.lower(), _accents(claim, spelled)
    for value in values(claim):
        equal = [] if stands(claim, value.span, lower) else [v for v in values(spelled) if is_same(value, v)]
        is_open = len({spelled[slice(*other.span)] for other in equal}) > 1
        equal = _nearest(claim, spelled, equal) if is_open else equal
        alike = (other for other in equal if other.bound == value.bound)  # "not more than" must stay denied
        bound = next((other for other in alike if not value.is_denied and not other.is_denied), None)
        if bound:
            changes |= _change(claim, value, spelled, bound)
        elif equal and not stands(claim, (value.start, value.end), lower):
            changes |= _change(claim, _without_bound(value), spelled, _without_bound(equal[0]))
    changes = {span: theirs for span, theirs in changes.items() if theirs != claim[slice(*span)]}  # "4.3" of "4.3.2"
    conversions = [(claim[start:end], theirs) for (start, end), theirs in sorted(changes.items())]
    for (start, end), theirs in sorted(changes.items(), reverse=True):
        claim = claim[:start] + theirs + claim[end:]
    return Respelling(claim, tuple(conversions))


def _nearest(claim: str, text: str, equal: Sequence[Value]) -> list[Value]:
    """Those in the sentences with most of the claim's terms first; of long texts the first ones and what is around."""
    spans, wanted = sentences(text), set(terms(claim))
    ends = [end for _, end in spans]

    def score(value: Value) -> int:
        start, end = spans[min(bisect_right(ends, value.start), len(spans) - 1)] if spans else (0, 0)
        return len(wanted.intersection(terms(text[max(start, value.start - _AROUND) : min(end, value.end + _AROUND)])))

    return sorted(equal[:_FIRST], key=score, reverse=True)


def stands(claim: str, span: tuple[int, int], lower: str) -> bool:
    """Whether a text, in lower case, has the value as the claim writes it."""
    shown = claim[slice(*span)].lower()
    is_one = shown in ("one", "1")  # "one of them"
    return is_one or re.search(rf"(?<![\w.,−-]){re.escape(shown)}(?!\w|[.,]\d|/\w)", lower) is not None


def _change(claim: str, value: Value, text: str, other: Value) -> dict[tuple[int, int], str]:
    """With the article of "Louis the Fourteenth" and "the third quarter", which "Louis XIV" and "Q3" do without."""
    (start, end), theirs = value.span, text[slice(*other.span)]
    if (other.kind == "roman" or theirs[0] == "Q") and claim[:start].endswith("the "):
        start -= 4
    is_counted = other.kind == "ordinal" if value.kind == "roman" else other.kind == "date" and theirs[0].islower()
    has_article = is_counted and text[: other.start].endswith("the ") and not claim[:start].endswith("the ")
    return {(start, end): f"the {theirs}" if has_article else theirs}


def _accents(claim: str, spelled: str) -> dict[tuple[int, int], str]:
    if claim.isascii() and spelled.isascii():
        return {}
    plain = {fold(spelled[a:b]): spelled[a:b] for a, b in words(spelled)}
    known = {spelled[a:b].lower() for a, b in words(spelled)}
    spans = [(a, b) for a, b in words(claim) if claim[a:b].lower() not in known and fold(claim[a:b]) in plain]
    return {(a, b): plain[fold(claim[a:b])] for a, b in spans}
