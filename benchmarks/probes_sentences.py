"""Sentences of a page said again near to their own words, so that a probe is not always a copy.

Every rule keeps the truth of a sentence: it names the subject where a pronoun stood, leaves out what is in brackets,
moves an adverbial of time or place from one end to the other, and takes other words from a short list.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from probes_facts import Page, subject_name
from probes_wording import TABLES

from toulmin.text.language import sentences

SHORTEST, LONGEST = 6, 40  # words
_PRONOUN = re.compile(
    r"^(?!It (?:is|was|has been) [a-z]+ (?:to|that|for|who)\b)"
    r"(?:It|He|She|The (?:film|song|album|single|book|novel|band|series|show|school|town|city))"
    r"(?= (?:is|was|has|had|\w+ed|will|can)\b)"
)
_OPENING = re.compile(r"^(?P<when>(?:In|On|During|After|By) [^,.;:]{4,40}), (?P<rest>(?!and |but )[^;:]+)\.$")
_CLOSING = re.compile(
    r"^(?P<rest>[^,;:]{20,}?) (?P<when>(?:in|on|during) (?:[A-Z][a-z]+ )?(?:\d{1,2}, )?(?:1[5-9]|20)\d\d)\.$"
)


def whole(page: Page) -> list[str]:
    """The sentences of a page that stand alone: no list, no heading, no broken quotation or bracket."""
    parts = [page.text[a:b].strip() for a, b in sentences(page.text)]
    return [part for part in parts if _is_whole(part)]


def _is_whole(text: str) -> bool:
    closed = text.count("(") == text.count(")") and text.count('"') % 2 == 0
    long = SHORTEST <= len(text.split()) <= LONGEST
    return closed and long and text[0].isupper() and text.endswith(".") and "\n" not in text and "==" not in text


def reword(sentence: str, page: Page, keep: Sequence[str] = ()) -> str | None:
    """The sentence said again, with every text of `keep` in it as it stood; None where no rule changes it."""
    wording = _without_brackets(sentence)
    for step in (_with_title, _move, _other_words):
        changed = step(wording, page)
        if all(text in changed for text in keep):
            wording = changed
    return wording if wording != sentence and all(text in wording for text in keep) else None


def _without_brackets(text: str) -> str:
    return re.sub(r" ?\([^()]*\)", "", text)


def _with_title(text: str, page: Page) -> str:
    return _PRONOUN.sub(lambda match: subject_name(page.title), text, count=1)


def _move(text: str, page: Page) -> str:
    if (match := _OPENING.match(text)) and "," not in match["rest"]:
        rest, when = match["rest"], match["when"]
        return f"{rest[0].upper()}{rest[1:]} {when[0].lower()}{when[1:]}."
    if match := _CLOSING.match(text):
        rest, when = match["rest"], match["when"]
        small = rest[0].lower() + rest[1:] if re.match(r"(?:The|A|An|It|He|She|They|This|His|Her) ", rest) else rest
        return f"{when[0].upper()}{when[1:]}, {small}."
    return text


def _other_words(text: str, page: Page) -> str:
    for pattern, new in TABLES["synonyms"].items():
        text = re.sub(pattern, new, text)
    return text


# ---------------------------------------------------------------- negation
# Definitions ("is a town") are seldom denied by anybody, so a denied one would tell by itself; they are left alone.

_VERB = re.compile(
    r"\b(?:is|are|was|were|can|could|will|would|has been|have been|had been)\b(?= [a-z])"
    r"(?! (?:not|never|no|an?|the|one)\b)"
)
_DENIAL = re.compile(
    r"\b(?P<verb>is|are|was|were|can|could|will|would|has|have|had) (?:not|never)\b"
    r"(?! (?:only|just|merely|until|necessarily|to|so|all|every|always|simply|even|as|but|an?|the|one)\b)"
)
_ANY_DENIAL = re.compile(
    r"\b(?:not|never|no|nor|neither|none|without|cannot|nobody|nothing|but|although|though|however|rather|instead|unless|only"
    r"|hardly|few|until|yet|any|anymore|either|ever|because)\b|n['’]t\b",
    re.IGNORECASE,
)


def has_plain_denial(sentence: str) -> bool:
    """Whether the sentence denies once, by "not" or "never" behind an auxiliary, and in no other way."""
    return len(_ANY_DENIAL.findall(sentence)) == 1 and _DENIAL.search(sentence) is not None


def affirm(sentence: str) -> str:
    """The sentence without its one denial."""
    return _DENIAL.sub(lambda match: match["verb"], sentence, count=1)


def is_plain_statement(sentence: str) -> bool:
    """Whether the sentence denies nothing and has an auxiliary in its first clause."""
    verb = _VERB.search(sentence)
    return verb is not None and not _ANY_DENIAL.search(sentence) and not re.search(r"[,;]", sentence[: verb.start()])


def deny(sentence: str, chance: random.Random) -> str:
    """The sentence with "not" or, now and then, "never" behind its first auxiliary."""
    verb = _VERB.search(sentence)
    assert verb is not None, "ask is_plain_statement first"
    end = verb.start() + len(verb[0].split()[0])
    return f"{sentence[:end]} {'never' if chance.random() < 0.15 else 'not'}{sentence[end:]}"


# ---------------------------------------------------------------- two sentences merged

_TOLD = re.compile(
    r"^(?P<who>He|She|It) (?P<told>(?:is|was|has|had|[a-z]+ed|won|wrote|began|sang|became) [^;:]{12,110})\.$"
)
_NAMED = re.compile(r"(?<=[a-z,] )[A-Z]\w{3,}|\d{2,}")


def second_clause(page: Page) -> tuple[str, str] | None:
    """What the second sentence tells of the subject of the first: the pronoun, and a clause that names something."""
    two = [page.text[a:b].strip() for a, b in sentences(page.text)][:2]
    opens = (
        re.match(rf"{re.escape(subject_name(page.title))} (?:is|was) an? ", _without_brackets(two[0]))
        if len(two) == 2
        else None
    )
    match = _TOLD.match(_without_brackets(two[1])) if opens is not None and all(map(_is_whole, two)) else None
    if match is None or not _NAMED.search(match["told"]) or _ANY_DENIAL.search(match["told"]):
        return None
    return match["who"], match["told"]


def is_silent(page: Page, clause: str) -> bool:
    """Whether no name and no number of what is told stands in the page."""
    return not any(name in f"{page.title} {page.text}" for name in _NAMED.findall(clause))


def merge(subject: str, who: str, clause: str, first: str) -> str | None:
    """`first`, whose subject is named at its head, with what is told as a clause behind the subject."""
    if not first.startswith(f"{subject} ") or not re.match(
        r"(?:is|was|are|were|has|had|\w+ed) ", first[len(subject) + 1 :]
    ):
        return None
    if len(first.split()) > 28:
        return None
    return f"{subject}, {'which' if who == 'It' else 'who'} {clause}, {first[len(subject) + 1 :]}"
