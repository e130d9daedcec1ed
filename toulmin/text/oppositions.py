"""Negators, and sentences without their denial."""

from __future__ import annotations

import re
from typing import NamedTuple

_NEGATORS = frozenset(  # "failed to win" means "did not win"
    "not no never without cannot neither nor none nobody nothing nowhere fail failed fails failing unable".split()
)
# After a negator these cancel the negation or weaken it.
NOT_DENYING = frozenset(
    "only just merely simply necessarily always exactly entirely until less fewer doubt later".split()
)


def is_negator(word: str) -> bool:
    """Whether a word in lower case negates ("not", "doesn't", "without")."""
    return word in _NEGATORS or word.endswith(("n't", "n’t"))


_AUXILIARY = "is are was were am has have had do does did can could will would shall should may might must"
_FINITE = frozenset(_AUXILIARY.split())
_CONTRACTED = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall", "ain't": "is"}
# What opens a clause: a denial after it is not the sentence's own. "And" may open one, if a finite verb follows.
_CLAUSE = frozenset(
    "that which who whom whose if when while although though where since after before whether as so despite".split()
)
_TURNS = frozenset("but nor because until unless except than rather instead".split())  # these change what is denied
_UNDENIED = NOT_DENYING | frozenset("all every everyone everything more longer one matter both many much yet".split())
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]")


class Denial(NamedTuple):
    positive: str
    subject: str


def find_denial(sentence: str) -> Denial | None:
    """The single denial of the main verb, the subject or the object, found without a parser; else None."""
    tokens = list(_TOKEN.finditer(sentence))
    words = [token[0].lower().replace("’", "'") for token in tokens]
    negators = [at for at, word in enumerate(words) if is_negator(word)]
    if len(negators) != 1 or not _denies_whole(words, at := negators[0]):
        return None
    start, end = tokens[at].span()
    word, subject, rest = words[at], sentence[:start], sentence[end:]
    if word not in ("not", "never", "no"):
        return Denial(subject + _CONTRACTED.get(word, word.removesuffix("n't")) + rest, subject)
    rest = rest.lstrip()
    return Denial(subject + rest if subject else rest[:1].upper() + rest[1:], subject)


def _denies_whole(words: list[str], at: int) -> bool:
    word, before, after = words[at], words[:at], words[at + 1 :]
    clauses = [i for i, other in enumerate(words) if other in _CLAUSE or other in ";:—"]
    joined = any(other in ("and", "or") for other in words) and len(_FINITE.intersection(after)) > 0
    if (
        joined
        or not after
        or not _TURNS.isdisjoint(words)
        or after[0] in _UNDENIED
        or after[0].isdecimal()
        or any(i < at + 2 for i in clauses)
    ):
        return False
    finite = sum(other in _FINITE for other in before)
    if word == "not":
        return finite == 1 and at - next(i for i, other in enumerate(before) if other in _FINITE) <= _BETWEEN
    if word in ("never", "no"):
        return finite <= 1
    return finite == 0 and (word in _CONTRACTED or word.removesuffix("n't") in _FINITE)


_BETWEEN = 3  # words from the auxiliary to its "not": "has also not"
