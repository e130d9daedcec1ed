"""True claims in other words: figures in another dress, a date told less exactly, words that mean the same."""

from __future__ import annotations

import random
import re

from claims.place import Place, capital, put
from claims.values import MONTHS, SPELT
from claims.words import SAME_AS

_MONTH = "|".join(MONTHS)
_AMERICAN = re.compile(rf"(?P<month>{_MONTH}) (?P<day>\d{{1,2}}), (?P<year>\d{{4}}),?")
_BRITISH = re.compile(rf"(?<!\d)(?P<day>\d{{1,2}}) (?P<month>{_MONTH}) (?P<year>\d{{4}})")
_SMALL = re.compile(r"(?<![\w.,$£€:/#-])(?<!No )(?:[2-9]|1\d|20)(?= [a-z]{4,}s\b)")
_SPELT = re.compile(rf"(?<![\w-])(?:{'|'.join(SPELT[2:])})(?= [a-z]{{4,}}s\b)")
_PERCENT = re.compile(r"(?<=\d)(?: ?%| percent| per cent)(?!\w)")
_THOUSANDS = re.compile(r"(?<![\d.,$])(?P<lead>\d{1,3}),(?P<tail>\d{3})(?![\d,.]\d|,\d)(?= [a-z])")
_CENTURY = re.compile(r"\b(?P<n>1[0-9]|20)th(?P<gap>[ -])century\b")
_ORDINALS = (
    "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_WORDS = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(SAME_AS, key=len, reverse=True)))})(?![\w-])")


def number_words(place: Place, chance: random.Random) -> str | None:
    """ "five" for "5", "5 %" for "5 percent", "1234" for "1,234", "nineteenth" for "19th"."""
    claim, found = place.claim, []
    found += [(*m.span(), SPELT[int(m[0])]) for m in _SMALL.finditer(claim)]
    found += [(*m.span(), str(SPELT.index(m[0]))) for m in _SPELT.finditer(claim)]
    found += [(*m.span(), " percent" if "%" in m[0] else "%") for m in _PERCENT.finditer(claim)]
    found += [(*m.span(), m["lead"] + m["tail"]) for m in _THOUSANDS.finditer(claim)]
    found += [(*m.span(), f"{_ORDINALS[int(m['n']) - 10]}{m['gap']}century") for m in _CENTURY.finditer(claim)]
    if not found:
        return None
    start, end, new = chance.choice(found)
    return put(claim, start, end, capital(new) if start == 0 else new)


def date_form(place: Place, chance: random.Random) -> str | None:
    """ "5 March 1990" for "March 5, 1990" and back."""
    claim = place.claim
    american, british = _AMERICAN.search(claim), _BRITISH.search(claim)
    if american:
        return put(claim, *american.span(), f"{american['day']} {american['month']} {american['year']}")
    if british:
        comma = "," if re.match(r" [a-z]", claim[british.end() :]) and chance.random() < 0.5 else ""
        return put(claim, *british.span(), f"{british['month']} {british['day']}, {british['year']}{comma}")
    return None


def date_rounded(place: Place, chance: random.Random) -> str | None:
    """ "in March 1990" or "in 1990" for "on 5 March 1990": less is said, and it is true."""
    for form in (_AMERICAN, _BRITISH):
        for match in form.finditer(place.claim):
            before = place.claim[: match.start()]
            if before.endswith((" on ", "On ")):
                new = match["year"] if chance.random() < 0.5 else f"{match['month']} {match['year']}"
                word = "In " if before.endswith("On ") else "in "
                comma = "," if match[0].endswith(",") and before.endswith("On ") else ""
                return put(place.claim, match.start() - 3, match.end(), word + new + comma)
    return None


def synonyms(place: Place, chance: random.Random) -> str | None:
    """Up to two words or turns for others that mean the same; nothing within a name or a quotation."""
    claim = place.claim
    found = [match for match in _WORDS.finditer(claim) if '"' not in claim and not _is_in_name(claim, match)]
    if not found:
        return None
    for match in sorted(chance.sample(found, min(2, len(found))), key=lambda one: -one.start()):
        new = SAME_AS[match[0]]
        article = re.search(r"\b[Aa]n? $", claim[: match.start()])
        start = article.start() if article else match.start()
        lead = claim[start] + ("n " if new[0] in "aeiou" else " ") if article else ""
        claim = put(claim, start, match.end(), lead + new)
    return claim


def _is_in_name(claim: str, match: re.Match[str]) -> bool:
    after = re.match(r" [A-Z]", claim[match.end() :])
    return match[0][0].isupper() or (after is not None and match[0] in ("film", "husband", "wife", "physician"))
