"""Names that are certainly people, and forms of English verbs."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_TABLE = tomllib.loads(Path(__file__).with_name("english.toml").read_text("utf-8"))
_FIRST_NAMES = frozenset(_TABLE["first_names"].split())
_HONORIFIC = frozenset("sir dame lord lady king queen prince princess pope captain admiral general colonel dr".split())
_NO_PERSON = frozenset(_TABLE["no_person"].split())


def may_be_person(name: str) -> bool:
    """Two to four capitalised words, none typical of institutions or places."""
    words = name.replace(".", ". ").split()
    lower = [word.lower().strip(".,") for word in words]
    if not 2 <= len(words) <= 4 or any(word in _NO_PERSON for word in lower) or re.search(r"[\d&'’\"/]", name):
        return False
    is_capital = all(word[0].isupper() or word in ("de", "van", "von", "der", "la", "da", "di", "of") for word in words)
    return (
        is_capital and "of" not in lower and "The" not in words and not any(w.isupper() and len(w) > 2 for w in words)
    )


def is_person(name: str) -> bool:
    """Such a name that begins with a first name, initials or a title."""
    if not may_be_person(name):
        return False
    first = name.replace(".", ". ").split()[0]
    return first.lower() in _FIRST_NAMES | _HONORIFIC or re.fullmatch(r"[A-Z]\.", first) is not None


# ---------------------------------------------------------------- the forms of some English verbs


_REGULAR = _TABLE["regular_verbs"].split()

_DOUBLED = "admit commit equip ban plan ship drop stop stab trap transfer occur refer compel expel".split()

_IRREGULAR = _TABLE["irregular_verbs"]


class Verb(NamedTuple):
    """A verb's base, past, past participle, and present with "it".

    Only the tables' verbs are known; regular forms are built from the base, never guessed from an ending. Words to look
    up are in lower case.
    """

    base: str
    past: str
    participle: str
    present: str


def _present(base: str) -> str:
    if base == "have":
        return "has"
    if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o|go)$", base):
        return base + "es"
    return base[:-1] + "ies" if re.search(r"[^aeiou]y$", base) else base + "s"


def _past(base: str) -> str:
    if base in _DOUBLED:
        return base + base[-1] + "ed"
    if base.endswith("e"):
        return base + "d"
    return base[:-1] + "ied" if re.search(r"[^aeiou]y$", base) else base + "ed"


@lru_cache(maxsize=1)
def _verbs() -> tuple[Verb, ...]:
    rows = (row.split() for row in re.split(r"[|\n]", _IRREGULAR) if row.strip())
    irregular = [Verb(base, past, participle, _present(base)) for base, past, participle in rows]
    regular = sorted({*_REGULAR, *_DOUBLED})
    return (*(Verb(base, _past(base), _past(base), _present(base)) for base in regular), *irregular)


@lru_cache(maxsize=3)
def _verbs_by(form: str) -> dict[str, Verb]:
    return {getattr(verb, form): verb for verb in _verbs()}


def of_past(word: str) -> Verb | None:
    return _verbs_by("past").get(word)


def of_participle(word: str) -> Verb | None:
    return _verbs_by("participle").get(word)


def of_present(word: str) -> Verb | None:
    return _verbs_by("present").get(word)


def is_verb_form(word: str) -> bool:
    return any(word in _verbs_by(form) for form in ("past", "participle", "present"))
