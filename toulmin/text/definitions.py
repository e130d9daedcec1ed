"""Questions about the meaning of a term ("What is a docstring?"), and entries of glossaries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from toulmin.text.language import terms

_KIND = r"(?:option|flag|switch|setting|variable)"
_ASKS = re.compile(
    rf"[^\w-]*(?:what(?:['’]s| is| are| was| were| does| do)|define)\s+(?:meant by\s+)?(?P<article>(?:an?|the)\s+)?"
    rf"(?:{_KIND}\s+)?(?:(?P<option>--?\w[\w-]*)(?:\s+{_KIND})?|(?P<term>\S+(?:\s\S+){{0,2}}?))"
    r"(?:\s+(?:means?|stand for|do|for))?(?P<place>\s+(?:in|of|for)\s+.+?)?\W*",
    re.IGNORECASE,
)
_LONGEST_ENTRY = 60  # characters of the line that names it
_SAYS = re.compile(
    r"(?:(?:an?|the)\s+)?(?P<subject>\S+(?:\s\S+){0,3}?)\s+(?P<verb>is|are|means|refers to|denotes)\b", re.IGNORECASE
)
# As dictionaries set it: ":diehard Any pattern", "Koumiss \\Kou\"miss\\, n.", "beacon (n.) A fire", "beacon: A fire".
_ENTRY = re.compile(
    r":(?P<marked>[^\s:]+(?:\s[^\s:]+){0,2}?):?\s|(?P<plain>[^\s:\\(,]+(?:\s[^\s:\\(,]+){0,2})"
    r"(?::\s|\s\\|\s\(|\s[-–—]+\s|,\s(?:n|v|adj|adv)\b)"
)
# The head of a dictionary's entry, whose meaning may follow in the next paragraph.
HEADWORD = re.compile(r"[^\s\\(,]+(?:\s[^\s\\(,]+){0,2}(?:\s\\|,\s(?:n|v|adj|adv)\b)")


@lru_cache(maxsize=1024)
def defined_terms(question: str) -> tuple[str, ...]:
    """The stems of "docstring" in "What is a docstring?", "-L" of "What does -L do?"; none for another question."""
    match = _ASKS.fullmatch(question)
    if match and match["option"]:
        return (match["option"],)
    is_part = match and (match["article"] or "").strip().lower() == "the" and (match["place"] or "").startswith(" of")
    return tuple(terms(match["term"])) if match and not is_part else ()


def is_entry(line: Sequence[str], sought: Sequence[str]) -> bool:
    """Whether a line of these stems is the term, perhaps after a section's number."""
    return tuple(line[-len(sought) :]) == sought and not any(map(str.isalpha, line[: -len(sought)]))


def has_entry(text: str, sought: Sequence[str]) -> bool:
    lines = [line.strip() for line in text.split("\n")]
    alone = (line for line in lines[:-1] if 0 < len(line) <= _LONGEST_ENTRY)
    return any(is_entry(terms(line), sought) for line in alone) or any(_begins_entry(line, sought) for line in lines)


def _begins_entry(line: str, sought: Sequence[str]) -> bool:
    if sought[0].startswith("-"):  # "-L, --local": a small letter is another option
        return re.match(rf"(?:-\S+\s)?{re.escape(sought[0])}(?![\w-])", line) is not None
    entry = _ENTRY.match(line)
    return entry is not None and tuple(terms(entry["marked"] or entry["plain"])) == tuple(sought)


def says_what_it_is(sentence: str, sought: Sequence[str]) -> bool:
    """Whether a sentence is an entry of a dictionary, or begins with the term and "is", "means" or the like; not
    "generators is", as in code.
    """
    if _begins_entry(sentence, sought):
        return True
    match = _SAYS.match(sentence)
    if match is None or tuple(stems := terms(match["subject"])) != tuple(sought):
        return False
    is_plural = match["subject"].endswith("s") and not stems[-1].endswith("s")
    return match["verb"].lower() == "are" or not is_plural
