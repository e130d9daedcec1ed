"""Kinds of thing that a name or its sentence makes certain, and forms of English verbs."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

WORDS = tomllib.loads(resources.files("toulmin.datasets").joinpath("words.toml").read_text("utf-8"))
_FIRST_NAMES = frozenset(WORDS["first_names"].split())
_HONORIFIC = frozenset("sir dame lord lady king queen prince princess pope captain admiral general colonel dr".split())
_NO_PERSON = frozenset(WORDS["no_person"].split())
_PROFESSIONS = frozenset(WORDS["professions"].split())
THINGS = frozenset(WORDS["things"].split())
_HEAD_ENDS = re.compile(
    r" (?:by|directed|written|in|of|that|which|from|on|at|based|located|who|for|with|and|produced|recorded|released)\b"
)


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


def is_profession(phrase: str) -> bool:
    """As in "an American poet and artist"."""
    return _head_noun(phrase) in _PROFESSIONS


def kind_of_thing(phrase: str) -> str | None:
    """Gives "film" for "a 1970 Indian drama film directed by ..."; None if unknown."""
    noun = _head_noun(phrase.replace(" and ", " & "))
    return noun if noun in THINGS else None


def _head_noun(phrase: str) -> str:
    head = _HEAD_ENDS.split(re.sub(r"^(?:an?|the) ", "", phrase), maxsplit=1)[0]
    words: list[str] = re.findall(r"[a-z]+", head.lower())
    return words[-1] if words else ""


# ---------------------------------------------------------------- the forms of some English verbs


_REGULAR = WORDS["regular_verbs"].split()

_DOUBLED = "admit commit equip ban plan ship drop stop stab trap transfer occur refer compel expel".split()

_IRREGULAR = WORDS["irregular_verbs"]


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
